"""What answers of a liar come to: wrong ones are doubted, and do not join clusters."""

from collections import Counter

import numpy as np
import pytest

from samecluster.instances import make_ellipsoids
from samecluster.oracles import LabelOracle, NoisyOracle
from samecluster.questions.pair import Answer, Question, Verdict
from samecluster.recovery.auto.untrusted_answers import read_answers

MADE = make_ellipsoids(n=600, d=3, k=4, random_state=1)


def answers_of(oracle, seed=0, references=4, each=12):
    """Items beside references of their cluster, and references with each other."""
    rng, truth = np.random.default_rng(seed), MADE.labels
    found, firsts = [], []
    for cluster in range(4):
        members = rng.permutation(np.flatnonzero(truth == cluster)).tolist()
        ones = [members.pop() for _ in range(references)]
        firsts.append(ones[0])
        found += [Question(one, ones[0]) for one in ones[1:]]
        found += [Question(members.pop(), one) for one in ones for _ in range(each)]
    found += [Question(a, b) for a in firsts for b in firsts if a < b]
    return [Answer(q, oracle.answer(q)) for q in found]


def n_mixed(labels):
    """Items whose label is mostly that of another cluster."""
    most = (Counter(MADE.labels[labels == one].tolist()).most_common(1) for one in set(labels))
    return len(labels) - sum(number for ((_, number),) in most)


def is_wrong(answer):
    one, other = (MADE.labels[item] for item in answer.question.pair)
    return (answer.verdict is Verdict.SAME) != (one == other)


RIGHT = answers_of(LabelOracle(MADE.labels))


def test_right_answers_are_hardly_doubted() -> None:
    found = read_answers(MADE.X, RIGHT)
    assert len(found.doubted) <= 0.02 * len(RIGHT)
    assert n_mixed(found.labels) <= 6
    assert found.record.same.error < 0.05


@pytest.mark.parametrize("seed", range(3))
def test_one_wrong_same_does_not_put_two_clusters_under_one_label(seed) -> None:
    firsts = {
        c: next(a.question for a in RIGHT if MADE.labels[a.question.item] == c) for c in (0, 1)
    }
    joint = Answer(Question(firsts[0].item, firsts[1].item), Verdict.SAME)
    rng = np.random.default_rng(seed)
    # Nobody has told the two apart, as no answer is asked for that others imply.
    apart = {firsts[0].item, firsts[0].comparator, firsts[1].item, firsts[1].comparator}
    others = [a for a in RIGHT if a.verdict is Verdict.SAME or not set(a.question.pair) <= apart]
    said = [*others, joint]
    said = [said[at] for at in rng.permutation(len(said))]
    found = read_answers(MADE.X, said)
    assert joint in found.doubted
    assert n_mixed(found.labels) <= 6


def test_what_people_said_is_never_doubted() -> None:
    said = answers_of(NoisyOracle(LabelOracle(MADE.labels), 0.08, "item", 3))
    doubted = read_answers(MADE.X, said).doubted
    assert doubted
    found = read_answers(MADE.X, said, trusted={answer.question for answer in doubted})
    assert not set(found.doubted) & set(doubted)


@pytest.mark.parametrize("seed", range(3))
def test_items_that_a_liar_misreads_are_found_and_counted(seed) -> None:
    said = answers_of(NoisyOracle(LabelOracle(MADE.labels), 0.06, "item", seed), seed)
    found = read_answers(MADE.X, said)
    wrong = {answer for answer in said if is_wrong(answer)}
    wrong_same = {answer for answer in wrong if answer.verdict is Verdict.SAME}
    assert len(found.doubted) <= 2 * len(wrong) + 2
    assert wrong_same <= set(found.doubted)
    assert n_mixed(found.labels) <= len(wrong) + 6


def test_few_answers_say_too_little_to_doubt_any() -> None:
    assert read_answers(MADE.X, RIGHT[:9]) is None
