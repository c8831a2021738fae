"""Answers that may be wrong: they are put again, outvoted, retracted, or listed as open."""

from typing import Any

import numpy as np
import pytest

from samecluster import Answer, Question, Verdict, clustering_error, recover
from samecluster.errors import ContradictionError, RefutedError
from samecluster.instances import make_ellipsoids
from samecluster.oracles import LabelOracle, NoisyOracle, Panel
from samecluster.oracles.base import Oracle
from samecluster.proof.checker import check
from samecluster.recovery.auto.repair import AnswerRepair


class Lying(Oracle):
    """Right, but for the pairs named; counts what it was asked."""

    def __init__(self, labels, lies) -> None:
        self.labels, self.lies = labels, {frozenset(pair) for pair in lies}
        self.asked: list[frozenset[int]] = []

    def answer(self, question: Question) -> Verdict:
        pair = frozenset(question.pair)
        self.asked.append(pair)
        i, j = question.pair
        return Verdict.of((self.labels[i] == self.labels[j]) != (pair in self.lies))


def lie_about_each_answer(n: int, d: int, seed: int, margin: float):
    """A right run, and one for each of its answers in which that answer is a lie."""
    made = make_ellipsoids(n, d, 3, random_state=seed)
    right = recover(
        made.X, LabelOracle(made.labels), n_clusters=3, margin=margin, random_state=seed
    )
    for answer in right.answers:
        oracle = Lying(made.labels, [answer.question.pair])
        found = recover(
            made.X, oracle, n_clusters=3, margin=margin, error_rate=0.05, random_state=seed
        )
        yield made, oracle, answer, found


@pytest.mark.parametrize("seed", range(2))
def test_one_lie_is_found_or_listed(seed) -> None:
    """Whichever answer is wrong: no label is wrong, unless open refutations list the lie."""
    n_mended = 0
    for made, oracle, lie, found in lie_about_each_answer(800, 2, seed, 1.0):
        labelled = found.labels >= 0
        error = clustering_error(found.labels[labelled], made.labels[labelled])
        listed = {a.question for refutation in found.refutations for a in refutation.answers}
        assert error == 0 or lie.question in listed
        n_mended += lie.question in {a.question for a in found.retracted}
        assert len(oracle.asked) == len(set(oracle.asked)) == found.n_questions
    assert n_mended >= 3


def test_what_rests_on_kept_answers_is_proven_from_them() -> None:
    """The proof after mending holds, and has no answer that was retracted."""
    for made, _, _, found in lie_about_each_answer(800, 2, 0, 1.0):
        assert found.proof is not None
        checked = check(made.X, found.proof.lines())
        proven = found.how == "proven"
        assert (checked.labels[proven] >= 0).all()
        told = {frozenset(r[1:3]) for r in found.proof.records if r[0] == "answer"}
        assert not told & {frozenset(a.question.pair) for a in found.retracted}


def test_trusted_answers_are_never_put_again() -> None:
    made = make_ellipsoids(800, 2, 3, random_state=0)
    right = recover(made.X, LabelOracle(made.labels), n_clusters=3, margin=1.0, random_state=0)
    for answer in right.answers:
        oracle = Lying(made.labels, [answer.question.pair])
        with pytest.raises(RefutedError) as raised:
            recover(made.X, oracle, n_clusters=3, margin=1.0, random_state=0)
        assert answer.question in {a.question for a in raised.value.answers}


@pytest.mark.parametrize("p", [0.01, 0.05, 0.10])
def test_five_people_who_err_give_exact_labels(p) -> None:
    for seed in range(6):
        made = make_ellipsoids(3_000, 4, 5, random_state=seed)
        truth = LabelOracle(made.labels)
        people = {str(i): NoisyOracle(truth, p=p, random_state=10 * seed + i) for i in range(5)}
        found = recover(made.X, Panel(people), n_clusters=5, margin=1.0, random_state=seed)
        labelled = found.labels >= 0
        assert clustering_error(found.labels[labelled], made.labels[labelled]) == 0
        assert labelled.mean() > 0.999


def test_open_refutations_are_part_of_the_assumptions() -> None:
    """One item that everybody takes for a stranger, in the middle of its cluster."""
    made = make_ellipsoids(800, 2, 3, random_state=0)
    labels = made.labels.copy()
    right = recover(made.X, LabelOracle(labels), n_clusters=3, margin=1.0, random_state=0)
    item = right.answers[4].question.item
    labels[item] = 77
    found = recover(
        made.X, LabelOracle(labels), n_clusters=3, margin=1.0, error_rate=0.05, random_state=0
    )
    assert [refutation.item for refutation in found.refutations] == [item]
    assert found.labels[item] == -1
    assert item in found.exceptions
    others = np.arange(800) != item
    assert clustering_error(found.labels[others], labels[others]) == 0
    (proven,) = (line for line in found.assumptions if "proven" in line)
    assert "the answers are right, also these" in proven
    assert "but for 1 exception" in proven


def test_a_contradiction_is_asked_about_elsewhere() -> None:
    truth = np.array([0, 0, 0, 0, 1])
    oracle = Lying(truth, [(0, 2)])
    mending = AnswerRepair(oracle.answer)

    def said(i: int, j: int) -> Answer:
        return Answer(Question(i, j), oracle.answer(Question(i, j)))

    mending.hear([said(0, 1), said(1, 2), said(1, 3), said(3, 4)])
    lie = said(0, 2)
    mending.mend(ContradictionError((*mending.kept[:2], lie)))
    assert lie in mending.retracted
    assert not mending.open


def test_looks_are_counted_over_all_that_was_mended() -> None:
    """Pair by pair a look is a question, also where a contradiction was mended on the way."""
    made = make_ellipsoids(n=600, d=2, k=3, margin=1.0, random_state=0)
    mended = 0
    for seed in range(4):
        person = NoisyOracle(LabelOracle(made.labels), p=0.08, random_state=seed)
        limited: Any = {"max_looks": 60} if seed % 2 else {"max_questions": 60}
        found = recover(made.X, person, margin=1.0, error_rate=0.08, random_state=0, **limited)
        mended += bool(found.retracted)
        assert found.n_looks == found.n_questions
        assert found.n_shown == 2 * found.n_questions
    assert mended, "or nothing was tested"
