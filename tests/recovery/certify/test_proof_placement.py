"""Placement by proof and answers: what is asked, what is excluded, and what is logged."""

from samecluster.questions.pair import Question, Verdict
from samecluster.recovery.certify.proof_placement import ProofPlacement
from tests.recovery.certify.brute_force import knowing, line
from tests.recovery.test_placement import driven

SAME, DIFFERENT, UNSURE = Verdict.SAME, Verdict.DIFFERENT, Verdict.UNSURE


def test_the_nearest_asked_member_is_shown_and_answers_are_logged() -> None:
    known = knowing(line(0, 5, 9, 20, 3, 12), 1.0, [0, 1, 2], [3])
    placement = ProofPlacement(known, lambda item: [1, 0])
    found, batches = driven(
        placement.place([4, 5]), lambda q: Verdict.of(q.comparator != 3 and q.item == 4)
    )
    assert batches == [
        [Question(4, 3), Question(5, 3)],
        [Question(4, 1), Question(5, 2)],
    ]
    assert found == [0, 2]
    assert known.closure.labels[[4, 5]].tolist() == [0, 2]
    assert ("cluster", 5) in known.log.records
    assert known.names.are_different(0, 1)
    assert known.names.are_different(0, 2)


def test_another_member_is_shown_where_it_is_unsure() -> None:
    known = knowing(line(0, 5, 9, 12), 1.0, [0, 1, 2])
    placement = ProofPlacement(known, lambda item: [0])
    found, batches = driven(placement.place([3]), lambda q: UNSURE)
    assert [q.comparator for (q,) in batches] == [2, 1, 0]
    assert found == [-1]
    assert 3 not in known.names.name_of


def test_what_is_excluded_by_proof_is_not_asked_about() -> None:
    known = knowing(line(0, 10, 16, 19), 1.0, [0, 1], [3])
    known.take_answer(Question(3, 0), 0, DIFFERENT)
    placement = ProofPlacement(known, lambda item: [0, 1])
    found, batches = driven(placement.place([2]), lambda q: SAME)
    assert batches == [[Question(2, 3)]]
    assert found == [1]


def test_the_last_cluster_left_is_logged_and_its_item_never_a_comparator() -> None:
    known = knowing(line(0, 1, 20, 8), 1.0, [0, 1], [2], n_clusters=2)
    placement = ProofPlacement(known, lambda item: [0, 1])
    assert not placement.all_found, "the two names may be one cluster"
    known.take_answer(Question(2, 0), 0, DIFFERENT)
    assert placement.all_found
    found, batches = driven(placement.place([3]), lambda q: DIFFERENT)
    assert found == [1]
    assert len(batches) == 1
    assert known.log.records[-1] == ("last", 3, 1)
    assert known.closure.labels[3] == 1
    assert known.names.members == [[0, 1], [2]]
