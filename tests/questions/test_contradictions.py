"""Contradictions against brute force over all subsets and all labellings."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from samecluster.errors import ContradictionError, ProtocolError
from samecluster.oracles import LabelOracle, NoisyOracle
from samecluster.questions.conflicts.answer_book import AnswerBook
from samecluster.questions.conflicts.contradictions import (
    Contradiction,
    SameGraph,
    contradictions,
    every_contradiction,
)
from samecluster.questions.conflicts.correlation_clustering import resolve
from samecluster.questions.conflicts.follow_up import halving, same_question_elsewhere
from samecluster.questions.conflicts.weights import suspects
from samecluster.questions.ledger import Ledger
from samecluster.questions.pair import Answer, Question, Verdict

N = 5
pairs = st.tuples(st.integers(0, N - 1), st.integers(0, N - 1)).filter(lambda p: p[0] != p[1])
verdicts = st.sampled_from([Verdict.SAME, Verdict.SAME, Verdict.DIFFERENT, Verdict.UNSURE])
answer = st.builds(
    lambda p, v, who: Answer(Question(*p), v, who), pairs, verdicts, st.sampled_from(["a", "b"])
)
few = st.lists(answer, max_size=9, unique=True)
many = st.lists(answer, max_size=16, unique=True)


def partitions(n: int = N) -> list[list[int]]:
    """All labellings of n items, each partition once."""
    found: list[list[int]] = [[]]
    for _ in range(n):
        found = [[*p, c] for p in found for c in range(max(p, default=-1) + 2)]
    return found


PARTITIONS = np.array(partitions())


def labellings(answers) -> np.ndarray:
    """Which of all partitions fit all answers."""
    fits = np.ones(len(PARTITIONS), dtype=bool)
    for a in answers:
        if a.verdict is not Verdict.UNSURE:
            equal = PARTITIONS[:, a.question.item] == PARTITIONS[:, a.question.comparator]
            fits &= equal == (a.verdict is Verdict.SAME)
    return fits


def possible(answers) -> bool:
    return bool(labellings(answers).any())


def minimal_sets(answers) -> set[frozenset[Answer]]:
    """All minimal sets that no partition fits, by trying all subsets."""
    found: list[frozenset[Answer]] = []
    for size in range(1, len(answers) + 1):
        for subset in map(frozenset, combinations(answers, size)):
            if not any(known <= subset for known in found) and not possible(subset):
                found.append(subset)
    return set(found)


def is_minimal(found: Contradiction) -> bool:
    return not possible(found) and all(
        possible(found[:i] + found[i + 1 :]) for i in range(len(found))
    )


@given(few)
def test_every_contradiction_is_what_trying_all_subsets_finds(answers) -> None:
    found = list(every_contradiction(answers))
    assert {frozenset(one) for one in found} == minimal_sets(answers)
    assert len({frozenset(one) for one in found}) == len(found), "one was given twice"
    assert [len(one) for one in found] == sorted(len(one) for one in found)
    for one in found:
        assert one[-1].verdict is Verdict.DIFFERENT
        assert all(a.verdict is Verdict.SAME for a in one[:-1])


@given(few)
def test_each_different_answer_in_conflict_is_given_a_smallest_set(answers) -> None:
    brute = minimal_sets(answers)
    found = contradictions(answers)
    assert {frozenset(one) for one in found} <= brute
    smallest = {
        a: min(len(s) for s in brute if a in s)
        for a in answers
        if a.verdict is Verdict.DIFFERENT and any(a in s for s in brute)
    }
    assert {one[-1]: len(one) for one in found} == smallest
    assert [len(one) for one in found] == sorted(smallest.values())


@given(many)
def test_statements_say_at_once_whether_an_answer_fits(answers) -> None:
    said = AnswerBook()
    for a in answers:
        fitting = [b for b in said.answers if b not in said.refused]
        found = said.add(a)
        assert bool(found) is not possible([*fitting, a])
        assert said.answers[-1] == a
        if found:
            assert is_minimal(found)
            assert a in found
            assert set(found) <= {*fitting, a}
            shorter = (c for c in every_contradiction([*fitting, a]) if a in c)
            assert len(found) == len(next(shorter))
    assert len(said.contradictions) == len(said.refused)
    assert list(said.ledger) == list(Ledger(a for a in answers if a not in said.refused))


@given(many, st.data())
def test_after_a_retraction_all_is_as_if_it_had_never_been_said(answers, data) -> None:
    said = AnswerBook(answers)
    gone = data.draw(st.sets(st.sampled_from(answers))) if answers else set()
    said.retract(*gone)
    never = AnswerBook(a for a in answers if a not in gone)
    assert said.answers == never.answers
    assert said.refused == never.refused
    assert list(said.ledger) == list(never.ledger)
    if gone:
        with pytest.raises(ProtocolError, match="nothing to retract"):
            said.retract(*gone)


def in_conflict(answers) -> set[Answer]:
    """The "different" answers that cannot be right with all "same" answers."""
    same = [a for a in answers if a.verdict is Verdict.SAME]
    return {a for a in answers if a.verdict is Verdict.DIFFERENT and not possible([*same, a])}


@given(many)
def test_suspects_are_the_answers_whose_retraction_alone_ends_contradictions(answers) -> None:
    before = in_conflict(answers)
    ranked = suspects(answers)
    claimed = {s.answer: {found[-1] for found in s.resolves} for s in ranked}
    for a in answers:
        ended = before - in_conflict([b for b in answers if b != a])
        assert claimed.get(a, set()) == ended
    gains = [s.gain for s in ranked]
    assert gains == sorted(gains, reverse=True)
    for s in ranked:
        if s.answer.verdict is Verdict.SAME:
            assert s.against == len(s.resolves), "with equal weights each contradiction counts one"


weights = st.dictionaries(answer, st.integers(1, 6).map(float), max_size=10)


def cheapest(weighed) -> tuple[float, list[set[Answer]]]:
    """The least weight of answers that must be wrong, and all sets that attain it."""
    sets = [{a for a in weighed if not labellings([a])[p]} for p in range(len(PARTITIONS))]
    costs = [sum(weighed[a] for a in gone) for gone in sets]
    least = min(costs)
    return least, [gone for gone, cost in zip(sets, costs, strict=True) if cost == least]


@given(weights)
def test_an_outvoted_different_answer_is_wrong_in_every_cheapest_explanation(weighed) -> None:
    answers = list(weighed)
    _, explanations = cheapest(weighed)
    for s in suspects(answers, weighed.__getitem__):
        assert s.weight == weighed[s.answer]
        if s.answer.verdict is Verdict.DIFFERENT and s.gain > 0:
            assert all(s.answer in gone for gone in explanations)


@given(weights)
def test_what_speaks_against_a_lone_different_answer_is_the_cheapest_cut(weighed) -> None:
    if len(in_conflict(weighed)) == 1:
        ranked = suspects(weighed, weighed.__getitem__)
        (lone,) = (s for s in ranked if s.answer.verdict is Verdict.DIFFERENT)
        same = {a: weighed[a] for a in weighed if a.verdict is Verdict.SAME}
        assert lone.against == cheapest({**same, lone.answer: 1e6})[0]


@given(st.dictionaries(answer, st.integers(0, 4).map(float), max_size=12))
def test_resolving_keeps_what_fits_together_and_names_what_stays_open(weighed) -> None:
    answers = list(weighed)
    found = resolve(answers, weighed.__getitem__)
    everything = (*found.kept, *found.retracted, *found.doubted)
    assert len(everything) == len(answers)
    assert set(everything) == set(answers)
    assert possible(found.kept)
    if possible(answers):
        assert set(found.kept) == set(answers)
    assert len(found.open) == len(found.doubted)
    for contradiction in found.open:
        assert is_minimal(contradiction)
        assert len(set(contradiction) & set(found.doubted)) == 1
        assert len(set(contradiction) & set(found.kept)) == len(contradiction) - 1
    for a in found.retracted:
        assert not possible([*found.kept, a]), "nothing that is kept speaks against it"


def random_weights(seed: int) -> dict[Answer, float]:
    """Up to 14 answers about five items, right three times in four."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(3, size=N)
    weighed = {}
    for _ in range(int(rng.integers(3, 15))):
        i, j = map(int, rng.choice(N, size=2, replace=False))
        same = bool((labels[i] == labels[j]) != (rng.random() < 0.25))
        weighed[Answer(Question(i, j), Verdict.of(same))] = float(rng.integers(1, 4))
    return weighed


def test_what_is_retracted_is_wrong_in_a_cheapest_explanation_almost_always() -> None:
    """The problem is hard and the search is local; on small sets it is hardly ever misled."""
    n_decided = n_elsewhere = 0
    for seed in range(1500):
        weighed = random_weights(seed)
        found = resolve(weighed, weighed.__getitem__)
        _, explanations = cheapest(weighed)
        if found.retracted and not found.doubted:
            n_decided += 1
            n_elsewhere += set(found.retracted) not in explanations
    assert n_decided > 300
    assert n_elsewhere <= 0.01 * n_decided


@given(st.tuples(*[st.integers(1, 5)] * 3))
def test_in_a_triangle_the_lightest_answer_goes_and_a_tie_stays_open(heavy) -> None:
    triangle = [
        Answer(Question(0, 1), Verdict.SAME),
        Answer(Question(1, 2), Verdict.SAME),
        Answer(Question(0, 2), Verdict.DIFFERENT),
    ]
    weighed = dict(zip(triangle, map(float, heavy), strict=True))
    resolution = resolve(triangle, weighed.__getitem__)
    if heavy.count(min(heavy)) == 1:
        assert resolution.retracted == (min(triangle, key=weighed.__getitem__),)
        assert not resolution.open
    else:
        assert not resolution.retracted
        assert len(resolution.open) == 1


def test_an_answer_that_its_own_voters_no_longer_believe_weighs_nothing() -> None:
    triangle = [
        Answer(Question(0, 1), Verdict.SAME),
        Answer(Question(1, 2), Verdict.SAME),
        Answer(Question(0, 2), Verdict.DIFFERENT),
    ]
    resolution = resolve(triangle, lambda a: -4.0 if a == triangle[1] else 2.0)
    assert resolution.retracted == (triangle[1],)


@given(many, st.integers(1, 4))
def test_a_question_elsewhere_asks_the_same_and_was_never_asked(answers, each) -> None:
    asked = {a.question for a in answers}
    for found in contradictions(answers):
        rest = [a for a in answers if a not in found]
        questions = same_question_elsewhere(found, answers, each=each)
        assert set(questions) == set(found)
        # Only "same" answers are relied on, so that another contradiction does no harm.
        fit = labellings(a for a in rest if a.verdict is Verdict.SAME)
        assert fit.any()
        for a, instead in questions.items():
            assert len(set(instead)) == len(instead) <= each
            i, j = a.question.pair
            for q in instead:
                assert q not in asked
                meant = PARTITIONS[:, i] == PARTITIONS[:, j]
                means = PARTITIONS[:, q.item] == PARTITIONS[:, q.comparator]
                assert (meant == means)[fit].all()


def test_all_pairs_elsewhere_are_found_the_nearest_first() -> None:
    chains = [(0, 2), (2, 3), (1, 4)]
    rest = [Answer(Question(i, j), Verdict.SAME) for i, j in chains]
    clash = (
        Answer(Question(0, 1), Verdict.SAME, "a"),
        Answer(Question(0, 1), Verdict.DIFFERENT, "b"),
    )
    found = same_question_elsewhere(
        clash, [*rest, *clash, Answer(Question(1, 2), Verdict.UNSURE)], each=9
    )
    expected = [(0, 4), (2, 4), (1, 3), (3, 4)]
    for a in clash:
        assert [q.pair for q in found[a]] == expected
    assert same_question_elsewhere(clash, clash)[clash[0]] == (), "nobody else is in these groups"


@given(many)
def test_a_halving_question_splits_a_contradiction_in_two(answers) -> None:
    for found in contradictions(answers):
        question = halving(found, answers)
        if question is None:
            continue
        assert len(found) >= 4
        assert question not in {a.question for a in answers}
        halves = []
        for verdict in (Verdict.SAME, Verdict.DIFFERENT):
            told = Answer(question, verdict)
            (smaller,) = minimal_sets((*found, told)) - {frozenset(found)}
            assert len(smaller) < len(found)
            halves.append(smaller - {told})
        assert halves[0] | halves[1] == set(found)
        assert not halves[0] & halves[1]


def test_long_contradictions_are_halved_in_the_middle_unless_that_was_asked() -> None:
    chain = [Answer(Question(i, i + 1), Verdict.SAME) for i in range(7)]
    (found,) = contradictions([*chain, Answer(Question(0, 7), Verdict.DIFFERENT)])
    assert halving(found, found) == Question(0, 4)
    unsure = Answer(Question(0, 4), Verdict.UNSURE)
    assert halving(found, [*found, unsure]) == Question(1, 5)
    assert halving(found[:2], found) is None


def test_a_smallest_set_can_be_smaller_than_the_ledgers() -> None:
    chain = [Answer(Question(i, i + 1), Verdict.SAME) for i in range(5)]
    short = Answer(Question(0, 5), Verdict.SAME, "said although it was implied")
    wrong = Answer(Question(0, 5), Verdict.DIFFERENT)
    assert AnswerBook([*chain, short]).add(wrong) == (short, wrong)
    with pytest.raises(ContradictionError) as error:
        Ledger([*chain, short]).record(wrong)
    assert len(error.value.witness) == 6


@given(st.integers(0, 10_000))
def test_paths_are_shortest(seed) -> None:
    rng = np.random.default_rng(seed)
    said = [
        Answer(Question(int(i), int(j)), Verdict.SAME)
        for i, j in rng.integers(12, size=(16, 2))
        if i != j
    ]
    graph = SameGraph(said)
    for start in range(12):
        distances = graph.distances(start)
        assert graph.size(start) == len(distances)
        for goal in range(12):
            assert graph.connected(start, goal) is (goal in distances)
            if goal != start and goal in distances:
                path = graph.path(start, goal)
                assert len(path) == distances[goal]
                assert not possible_path_gap(path, start, goal)


def possible_path_gap(path: tuple[Answer, ...], start: int, goal: int) -> bool:
    here = start
    for a in path:
        if here not in a.question.pair:
            return True
        here = sum(a.question.pair) - here
    return here != goal


def questions_with_redundancy(labels: np.ndarray, rng: np.random.Generator) -> list[Question]:
    """Each item against up to three earlier ones of its own cluster and one of each other."""
    questions = []
    for item in range(3, len(labels)):
        for cluster in range(3):
            earlier = rng.permutation(np.flatnonzero(labels[:item] == cluster))
            n = 3 if cluster == labels[item] else 1
            questions += [Question(item, int(j)) for j in earlier[:n]]
    return questions


def settled_as_they_come(seed: int, p: float) -> tuple[bool, int, int]:
    """One person errs per pair; each contradiction is asked elsewhere until none is open.

    Whether all items are then told apart as in truth, and the numbers of questions before and on
    top.
    """
    labels = np.arange(60) % 3
    person = NoisyOracle(LabelOracle(labels), p, "pair", random_state=seed)
    questions = questions_with_redundancy(labels, np.random.default_rng(seed))
    answers: list[Answer] = []
    said = AnswerBook()
    n_more = 0
    for question in questions:
        answers.append(Answer(question, person.answer(question)))
        if not said.add(answers[-1]):
            continue
        for _ in range(20):
            resolution = resolve(answers)
            if not resolution.open:
                break
            instead = same_question_elsewhere(resolution.open[0], resolution.kept, asked=answers)
            new = {q: None for qs in instead.values() for q in qs}
            if not new:
                break
            answers += [Answer(q, person.answer(q)) for q in new]
            n_more += len(new)
        said = AnswerBook(resolution.kept)
    right = not said.refused and all(
        said.ledger.implied(Question(i, j)) is Verdict.of(bool(labels[i] == labels[j]))
        for i, j in combinations(range(60), 2)
    )
    return right, len(questions), n_more


def test_one_persons_errors_per_pair_are_found_by_asking_elsewhere() -> None:
    runs = [settled_as_they_come(seed, 0.05) for seed in range(20)]
    # 50 of 60 seeds end right; in the others wrong answers agree, and outvote a right one or none.
    assert sum(right for right, _, _ in runs) >= 14


def test_many_answers_with_few_contradictions_are_searched_from_both_ends() -> None:
    """A hub with many items around it, and contradictions between them."""
    n = 20_000
    said = [Answer(Question(0, i), Verdict.SAME) for i in range(1, n)]
    wrong = [Answer(Question(i, i + 1), Verdict.DIFFERENT) for i in range(1, n, 40)]
    found = contradictions(said + wrong)
    assert len(found) == len(wrong)
    assert all(len(one) == 3 for one in found)
    assert not resolve(said + wrong).retracted, "each is two against one, and nobody knows which"


@given(many)
def test_a_seam_is_an_answer_without_which_its_group_falls_in_two(answers) -> None:
    graph = SameGraph(answers)
    items = {item for answer in answers for item in answer.question.pair}
    for start in items:
        group = {item for item in items if graph.connected(item, start)}
        found = dict(graph.seams(start))
        assert set(found) == graph.bridges([start])
        for answer, part in found.items():
            without = SameGraph(one for one in answers if one != answer)
            far = {item for item in group if not without.connected(item, start)}
            assert set(part) == far
            assert len(part) == len(far)
