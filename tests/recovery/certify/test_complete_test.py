"""The complete test: what no ellipsoid of the margin allows is concluded, with the right sign."""

import numpy as np
import pytest

from samecluster.errors import RefutedError
from samecluster.geometry.semidefinite.solver import Feasibility, decide
from samecluster.proof.checker import check
from samecluster.questions.pair import Question, Verdict
from samecluster.recovery.certify.complete_test import CompleteTest, EllipsoidPool, lifted
from samecluster.recovery.certify.knowledge import Knowledge
from tests.recovery.certify.brute_force import knowing, line, rows

# Members 0 and 10 reach 12.07 at γ=1. As members, 13 would reach 15.7 and 12.5 only 15.1.
POINTS = (0, 10, 15.3, 11, 13, 12.5, 13.1, 5)
NON_MEMBER, REACHED, BEYOND, OPEN, BEYOND_TOO, MIDDLE = 2, 3, 4, 5, 6, 7


def pool_over(*points: float) -> tuple[Knowledge, EllipsoidPool]:
    known = knowing(line(*points), 1.0, [0, 1])
    known.take_answer(Question(NON_MEMBER, 0), 0, Verdict.DIFFERENT)
    pool = EllipsoidPool(known, 0, None)
    pool.refresh(known.outsiders(0))
    return known, pool


def test_what_cannot_be_outside_is_inside() -> None:
    known, pool = pool_over(*POINTS)
    shown = pool.test(REACHED, False, rows(REACHED, MIDDLE, OPEN, BEYOND))
    assert shown is not None
    assert {REACHED} <= set(shown.tolist()) <= {REACHED, MIDDLE}
    assert (known.closure.labels[shown] == 0).all()
    assert known.closure.labels[[OPEN, BEYOND]].tolist() == [-1, -1]
    assert not known.outside[[REACHED, MIDDLE, OPEN, BEYOND], 0].any()
    assert check(known.points, known.log.lines()).labels[REACHED] == 0


def test_what_cannot_be_inside_is_outside() -> None:
    known, pool = pool_over(*POINTS)
    shown = pool.test(BEYOND, True, rows(REACHED, OPEN, BEYOND, BEYOND_TOO))
    assert shown is not None
    assert set(shown.tolist()) == {BEYOND, BEYOND_TOO}, "one certificate for a region"
    assert known.outside[:, 0].nonzero()[0].tolist() == [NON_MEMBER, BEYOND, BEYOND_TOO]
    assert (known.closure.labels[shown] == -1).all()
    check(known.points, known.log.lines())


def test_what_may_be_both_leaves_ellipsoids_that_show_it() -> None:
    known, pool = pool_over(*POINTS)
    n_records = len(known.log.records)
    for inside in (True, False):
        assert pool.undecided(rows(OPEN), inside).tolist() == [OPEN]
        assert pool.test(OPEN, inside, rows(OPEN)) is None
        assert pool.undecided(rows(OPEN), inside).tolist() == []
    assert len(pool.factors) == 2
    assert len(known.log.records) == n_records
    lengths = pool.lengths(lifted(known.closure.X))
    assert (lengths[[0, 1]] <= pool.largest * (1 + 1e-9)).all()
    assert (lengths[NON_MEMBER] > 2.0 * pool.largest).all(), "each has the margin"
    depth, other = pool.cuts(rows(OPEN), np.array([True]))
    assert depth.shape == other.shape == (1, 2)
    assert other.any(), "one of them shows that it may be outside"
    known.take_answer(Question(OPEN, 0), 0, Verdict.SAME)
    pool.refresh(known.outsiders(0))
    assert len(pool.factors) == 1, "an answer rules out what it contradicts"


def test_knowledge_that_is_impossible_by_itself_is_refuted() -> None:
    """The certificate needs no weight on the item: it would say anything about any item."""
    _, pool = pool_over(0, 10, 11, 12, 60)
    with pytest.raises(RefutedError):
        pool.test(4, False, rows(4))


@pytest.mark.parametrize("gap", [1.15, 1.5, 3.0])
def test_working_sets_decide_what_all_rows_decide(gap) -> None:
    """A disc and a ring around it: the test begins with few of both and adds what it gets wrong."""
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, 2 * np.pi, size=200)
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    inner, outer = lifted(circle[:100] * rng.uniform(0.9, 1, (100, 1))), lifted(gap * circle[100:])
    limit = 2.0
    whole = decide(inner, outer, limit, polish=6)
    test = CompleteTest(np.arange(100), inner, np.arange(100, 200), outer, limit)
    members, others = [0, 1, 2], [100]
    found = test.run(members, others, None)
    assert found is not None
    assert found.verdict is whole.verdict
    assert (found.verdict is Feasibility.FEASIBLE) == (gap**2 > limit)
    assert len(members) + len(others) < 150
    if found.verdict is Feasibility.FEASIBLE:
        squares = [np.sum((rows @ found.factor.T) ** 2, axis=1) for rows in (inner, outer)]
        assert squares[1].min() > limit * squares[0].max()


def test_without_non_members_nothing_is_decided() -> None:
    rows_ = lifted(line(0, 1, 2))
    test = CompleteTest(np.arange(3), rows_, np.zeros(0, int), rows_[:0], 2.0)
    assert test.run([0, 1], [], None) is None
