"""Deduction: labels without questions, all of them right and proven; and when to skip it."""

import numpy as np

from samecluster._typing import IntArray
from samecluster.instances import Instance, make_ellipsoids
from samecluster.proof.checker import check
from samecluster.questions.pair import Question, Verdict
from samecluster.recovery.certify.deduction import Deduction
from samecluster.recovery.certify.knowledge import Knowledge
from tests.recovery.certify.brute_force import knowing, line


def asked_about(made: Instance, n_each: int, n_clusters: int | None) -> Knowledge:
    """The first items of each cluster are known, and that the clusters differ."""
    clusters = [np.flatnonzero(made.labels == c)[:n_each] for c in range(made.n_clusters)]
    known = knowing(made.X, made.margin, *map(np.ndarray.tolist, clusters), n_clusters=n_clusters)
    for a, items in enumerate(clusters):
        for b in range(a):
            known.take_answer(Question(int(items[0]), int(clusters[b][0])), b, Verdict.DIFFERENT)
    known.close()
    return known


def deduction_of(known: Knowledge, labels: IntArray, exhaustive: bool = False) -> Deduction:
    return Deduction(known, lambda items: labels[items], False, exhaustive, seed=0)


def test_what_is_deduced_is_right_and_proven() -> None:
    n_deduced = 0
    kinds = set()
    for seed in range(3):
        made = make_ellipsoids(120, 2, 3, margin=0.3, random_state=seed)
        known = asked_about(made, 5, 3)
        before = known.open_points()
        deduction = deduction_of(known, made.labels, exhaustive=True)
        gained = deduction.conclude(before)
        labels = known.closure.labels
        assert ((labels == made.labels) | (labels < 0)).all()
        outside = known.outside[np.arange(120), made.labels]
        assert not outside.any(), "no item is shown outside its own cluster"
        verified = check(made.X, known.log.lines())
        assert (verified.labels == labels).all()
        assert gained == (len(known.open_points()) < len(before))
        n_deduced += len(before) - len(known.open_points())
        kinds |= {record[0] for record in known.log.records}
    assert n_deduced > 20
    assert {"out", "sdp", "last"} <= kinds


def test_with_an_unknown_number_of_clusters_nothing_is_the_last_one_left() -> None:
    made = make_ellipsoids(120, 2, 3, margin=0.3, random_state=0)
    known = asked_about(made, 5, None)
    deduction_of(known, made.labels).conclude(known.open_points())
    assert "last" not in {record[0] for record in known.log.records}


def test_the_next_question_is_one_that_rules_something_out() -> None:
    made = make_ellipsoids(120, 2, 3, margin=0.2, random_state=1)
    known = asked_about(made, 5, 3)
    deduction = deduction_of(known, made.labels)
    deduction.conclude(known.open_points())
    open_ = known.open_points()
    assert len(open_) > 10
    best = deduction.best(open_, 4)
    assert len(best) == len(set(best)) == 4
    assert set(best) <= set(open_.tolist())
    assert deduction.best(open_, 1) == best[:1]
    item, pool = best[0], deduction.possible[int(made.labels[best[0]])]
    own = np.array([item])
    before = len(pool.factors)
    known.take_answer(
        Question(item, known.names.representative(int(made.labels[item]))),
        int(made.labels[item]),
        Verdict.SAME,
    )
    pool.refresh(known.outsiders(int(made.labels[item])))
    assert len(pool.factors) <= before
    assert len(pool.undecided(own, True)) == 0 or len(pool.factors) == 0


def test_names_are_told_apart_by_what_lies_between_them() -> None:
    X = line(0, 1, 20, 21, 10, 50)
    known = knowing(X, 1.0, [0, 1], [2, 3])
    deduction = deduction_of(known, np.array([0, 0, 1, 1, 2, 2]))
    assert not deduction.tell_apart(0, 1), "one cluster could hold both"
    for cluster, member in ((0, 0), (1, 2)):
        known.take_answer(Question(5, member), cluster, Verdict.DIFFERENT)
    assert not deduction.tell_apart(0, 1), "50 is not between them"
    for cluster, member in ((0, 0), (1, 2)):
        known.take_answer(Question(4, member), cluster, Verdict.DIFFERENT)
    assert deduction.tell_apart(0, 1)
    assert known.names.are_different(0, 1)
    assert known.log.records[-1][0] == "differ"
    check(X, known.log.lines())


class Counted(Deduction):
    """Notes when it does its work, and finds nothing."""

    def __init__(self, known: Knowledge, exhaustive: bool) -> None:
        super().__init__(known, lambda items: items * 0, False, exhaustive, seed=0)
        self.turn, self.worked_at = 0, list[int]()

    def conclude(self, open_: IntArray) -> bool:
        found = super().conclude(open_)
        self.turn += 1
        return found

    def _sweep(self, open_: IntArray) -> None:
        del open_
        self.worked_at.append(self.turn)

    def _test(self, open_: IntArray) -> None:
        del open_


def test_after_finding_nothing_it_is_skipped_for_more_and_more_rounds() -> None:
    known = knowing(line(0, 1, 5, 9), 1.0, [0, 1])
    usual, exhaustive = Counted(known, False), Counted(known, True)
    for deduction in (usual, exhaustive):
        assert not any(deduction.conclude(known.open_points()) for _ in range(24))
    assert usual.worked_at == [0, 2, 6, 14, 22]
    assert exhaustive.worked_at == list(range(24))
