"""Pairs of names: told apart by proof where possible, asked about otherwise, nearest first."""

from collections.abc import Callable

from samecluster.questions.pair import Question, Verdict
from samecluster.recovery.certify.deduction import Deduction
from samecluster.recovery.certify.knowledge import Knowledge
from samecluster.recovery.certify.pairs import NamePairs
from tests.recovery.certify.brute_force import knowing, line
from tests.recovery.test_placement import driven

SAME, DIFFERENT, UNSURE = Verdict.SAME, Verdict.DIFFERENT, Verdict.UNSURE


def four_names() -> Knowledge:
    """{0, 1, 2}, {10, 11}, {40, 41}, {90}."""
    X = line(0, 1, 2, 10, 11, 40, 41, 90, 25)
    return knowing(X, 1.0, [0, 1, 2], [3, 4], [5, 6], [7])


def asked(pairs: NamePairs, some: list[tuple[int, int]], answer: Callable[[Question], Verdict]):
    return driven(pairs.ask(some), answer)[1]


def test_the_nearest_come_first_and_what_is_known_is_left_out() -> None:
    known = four_names()
    pairs = NamePairs(known, None)
    assert pairs.unsettled([0, 1, 2], 1) == [(0, 1)]
    assert sorted(pairs.unsettled([0, 1, 2], 9)) == [(0, 1), (0, 2), (1, 2)]
    known.names.mark_different(1, 0)
    assert (0, 1) not in pairs.unsettled([0, 1, 2], 9)
    assert pairs.unsettled([3], 9) == []


def test_names_that_exclusion_tells_apart_are_not_asked_about() -> None:
    known = four_names()
    for cluster, member in ((0, 0), (2, 5)):
        known.take_answer(Question(8, member), cluster, DIFFERENT)  # 25 lies between them
    pairs = NamePairs(known, None)
    assert pairs.unsettled([0, 2], 9) == []
    assert known.names.are_different(0, 2)
    assert "out" in {record[0] for record in known.log.records}


def test_names_that_a_certificate_tells_apart_are_not_asked_about() -> None:
    class Clever(Deduction):
        def tell_apart(self, a: int, b: int) -> bool:
            return (a, b) == (0, 2)

    known = four_names()
    clever = Clever(known, lambda items: items, False, False, seed=0)
    assert sorted(NamePairs(known, clever).unsettled([0, 1, 2], 9)) == [(0, 1), (1, 2)]


def test_answers_merge_or_part() -> None:
    known = four_names()
    pairs = NamePairs(known, None)
    batches = asked(pairs, [(0, 1), (2, 3)], lambda q: SAME if q.item == 3 else DIFFERENT)
    assert batches == [[Question(3, 2), Question(7, 6)]], "the nearest asked members are shown"
    assert known.alive == [0, 2, 3]
    assert known.names.are_different(2, 3)


def test_an_answer_that_an_earlier_one_of_the_batch_implies_changes_nothing() -> None:
    known = four_names()
    asked(NamePairs(known, None), [(0, 1), (0, 2), (1, 2)], lambda q: SAME)
    assert known.alive == [0, 3]
    answers = [record for record in known.log.records if record[0] == "answer"]
    assert len(answers) == 4 + 2


def test_after_three_unsure_answers_a_pair_is_left_alone() -> None:
    known = four_names()
    pairs = NamePairs(known, None)
    batches = asked(pairs, [(0, 1)], lambda q: UNSURE)
    assert [[q.item for q in batch] for batch in batches] == [[3], [4], [4]]
    assert (0, 1) not in pairs.unsettled([0, 1, 2], 9)
    assert known.alive == [0, 1, 2, 3]
    assert not known.names.are_different(0, 1)


def test_an_unsure_pair_is_asked_about_again_only_while_both_names_are_alive() -> None:
    known = four_names()
    answers = {3: SAME, 5: UNSURE, 6: UNSURE}
    batches = asked(NamePairs(known, None), [(0, 1), (1, 2)], lambda q: answers[q.item])
    assert len(batches) == 1
    assert known.alive == [0, 2, 3]
