"""Records of weights (`sdp`, `differ`): what they show holds, and one bit too much is refused."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from samecluster._typing import FloatArray
from samecluster.geometry.semidefinite.certificates import (
    Certificate,
    exact_certificate,
    shown,
    widened,
)
from samecluster.geometry.semidefinite.solver import Feasibility, decide
from samecluster.proof.checker import (
    BadProof,
    VerifiedProof,
    _dominated,
    _is_psd,
    check,
)
from samecluster.proof.fingerprint import fingerprint
from samecluster.proof.log import ProofLog

MARGIN = 1.25
TAU = 2.0**-30


def checked(
    X: FloatArray, records: list[Any], margin: float = MARGIN, tau: float = TAU
) -> VerifiedProof:
    log = ProofLog(fingerprint(X), margin, None, np.full(X.shape[1], tau))
    return check(X, [log.header(), *records], resolution=math.inf)


def refused_at(X: FloatArray, records: list[Any], margin: float = MARGIN, tau: float = TAU) -> int:
    with pytest.raises(BadProof) as caught:
        checked(X, records, margin, tau)
    return caught.value.record


# -- a line, where all that holds does so with equality ------------------------------------------
#
# 1.25 = −0.25·0 + 1.25·1, and (0.25 + 1.25)² = 1 + 1.25: with λ = |w|·Σ|w| both conditions are
# equalities, so that any weight that is larger or smaller by one bit breaks one of them.

LINE = np.array([[0.0], [1.0], [1.25], [30.0], [31.0], [0.5]])
AT_0, AT_1 = 0.375, 1.875


def ulp_more(weight: float) -> float:
    return float(np.nextafter(weight, np.inf))


def ulp_less(weight: float) -> float:
    return float(np.nextafter(weight, 0.0))


KNOWN = [["cluster", 0], ["answer", 1, 0, "same"], ["answer", 3, 0, "different"], ["cluster", 3]]
WITHOUT_2 = [["cluster", 1], ["answer", 2, 1, "different"]]
TWO_NAMES = [["cluster", 0], ["cluster", 1], ["answer", 2, 0, "different"]]


def record(add: str, *fields: Any) -> list[Any]:
    log = ProofLog("", 1.0, None, np.zeros(0))
    getattr(log, add)(*fields)
    return list(log.records[0])


def inside(
    items: list[int],
    weight: float = 1.0,
    columns: tuple[tuple[int, float], ...] = ((0, AT_0), (1, AT_1)),
    non_members: tuple[tuple[int, float], ...] = (),
    cluster: int = 0,
) -> list[Any]:
    items_of = np.array(items, dtype=np.int64)
    return record("add_weights", cluster, True, items_of, list(columns), list(non_members), weight)


def outside(
    items: list[int],
    weight: float = AT_0,
    columns: tuple[tuple[int, float], ...] = ((1, AT_1),),
    non_members: tuple[tuple[int, float], ...] = ((2, 1.0),),
    cluster: int = 0,
) -> list[Any]:
    items_of = np.array(items, dtype=np.int64)
    return record("add_weights", cluster, False, items_of, list(columns), list(non_members), weight)


def differ(
    a: int = 0,
    b: int = 1,
    columns: tuple[tuple[int, float], ...] = ((0, AT_0), (1, AT_1)),
    non_members: tuple[tuple[int, float], ...] = ((2, 1.0),),
) -> list[Any]:
    return record("add_differ", a, b, list(columns), list(non_members))


def test_each_kind_of_record_shows_what_it_says() -> None:
    found = checked(LINE, [*KNOWN, inside([2, 5])])
    assert found.labels.tolist() == [0, 0, 0, 1, -1, 0]
    assert found.n_records["sdp"] == 2
    # If 0 were with 1, then 1.25 would be too; with 0 outside, its own cluster is another one.
    assert not checked(LINE, [*WITHOUT_2, ["cluster", 0]]).all_different
    assert checked(LINE, [*WITHOUT_2, ["cluster", 0], outside([0])]).all_different
    assert checked(LINE, [*WITHOUT_2, outside([0]), ["cluster", 0]]).all_different
    # So is what lies beyond 1.25, and the item at 0.5 is not.
    found = checked(LINE, [*WITHOUT_2, outside([0, 3, 4]), ["cluster", 3], ["cluster", 4]])
    assert found.n_records["sdp"] == 3
    assert refused_at(LINE, [*WITHOUT_2, outside([0, 3, 5, 4])]) == 4
    assert not checked(LINE, TWO_NAMES).all_different
    found = checked(LINE, [*TWO_NAMES, differ()])
    assert found.all_different
    assert found.n_records["differ"] == 1
    assert checked(LINE, [*TWO_NAMES, differ(1, 0)]).all_different


@pytest.mark.parametrize("change", [ulp_more, ulp_less])
def test_one_unit_in_the_last_place_of_any_weight_decides(change) -> None:
    members = (0, change(AT_0)), (1, change(AT_1))
    for columns in ((members[0], (1, AT_1)), ((0, AT_0), members[1])):
        assert refused_at(LINE, [*KNOWN, inside([2], columns=columns)]) == 4
        assert refused_at(LINE, [*TWO_NAMES, differ(columns=columns)]) == 3
    assert refused_at(LINE, [*KNOWN, inside([2], weight=change(1.0))]) == 4
    assert refused_at(LINE, [*WITHOUT_2, outside([0], weight=change(AT_0))]) == 2
    assert refused_at(LINE, [*WITHOUT_2, outside([0], columns=members[1:])]) == 2
    others = ((2, change(1.0)),)
    assert refused_at(LINE, [*WITHOUT_2, outside([0], non_members=others)]) == 2
    assert refused_at(LINE, [*TWO_NAMES, differ(non_members=others)]) == 3
    margin = change(MARGIN)
    if margin < MARGIN:
        assert refused_at(LINE, [*KNOWN, inside([2])], margin) == 4
        assert refused_at(LINE, [*WITHOUT_2, outside([0])], margin) == 2
        assert refused_at(LINE, [*TWO_NAMES, differ()], margin) == 3
    else:
        checked(LINE, [*KNOWN, inside([2])], margin)
        checked(LINE, [*WITHOUT_2, outside([0])], margin)
        checked(LINE, [*TWO_NAMES, differ()], margin)


FORGED: dict[str, tuple[list[Any], int]] = {
    "column not known": ([*KNOWN, inside([2], columns=((5, AT_0), (1, AT_1)))], 4),
    "column of another cluster": ([*KNOWN, inside([2], columns=((3, AT_0), (1, AT_1)))], 4),
    "column that does not exist": ([*KNOWN, inside([2], columns=((-2, 1.0), (1, AT_1)))], 4),
    "column of no weight not known": (
        [*KNOWN, inside([2], columns=((0, AT_0), (1, AT_1), (5, 0.0)))],
        4,
    ),
    "the item as a column": ([*KNOWN, inside([2], columns=((2, 1.0),))], 4),
    "one item for another": ([*KNOWN, inside([5, 2], columns=((5, 1.0), (1, 1.0)))], 4),
    "non-member not known": ([*KNOWN, inside([2], non_members=((5, 2.0**-60),))], 4),
    "non-member that is a member": ([*KNOWN, inside([2], non_members=((1, 2.0**-60),))], 4),
    "the item as a non-member": ([*KNOWN, inside([2], non_members=((2, 2.0**-60),))], 4),
    "a resolution as a non-member": ([*KNOWN, inside([2], non_members=((-1, 1.0),))], 4),
    "negative weight": ([*KNOWN, inside([2], columns=((0, -AT_0), (1, AT_1)))], 4),
    "negative weight outside": ([*KNOWN, inside([2], non_members=((3, -(2.0**-60)),))], 4),
    "a non-member as a column, by a negative weight": (
        [*KNOWN, inside([2], columns=((1, 1.0),), non_members=((3, -1.0),))],
        4,
    ),
    "a certificate of the other side, by a negative weight": (
        [*WITHOUT_2, inside([0], -AT_0, columns=((1, AT_1),), non_members=((2, 1.0),))],
        2,
    ),
    "out by a certificate of the other side": (
        [*KNOWN, outside([2], -1.0, columns=((0, AT_0), (1, AT_1)), non_members=())],
        4,
    ),
    "no weight on the item": ([*KNOWN, inside([2], weight=0.0)], 4),
    "negative weight on the item": ([*KNOWN, inside([2], weight=-1.0)], 4),
    "infinite weights": ([*KNOWN, inside([2], np.inf, ((0, np.inf), (1, np.inf)))], 4),
    "weight that is no number": ([*KNOWN, inside([2], np.nan)], 4),
    "no columns": ([*KNOWN, inside([2], columns=())], 4),
    "wrong cluster": ([*KNOWN, inside([2], cluster=1)], 4),
    "no such cluster": ([*KNOWN, inside([2], cluster=2)], 4),
    "cluster below zero": ([*KNOWN, inside([4], columns=((5, 1.0),), cluster=-1)], 4),
    "item known already": ([*KNOWN, inside([1])], 4),
    "item known elsewhere": ([*KNOWN, inside([3])], 4),
    "item known already, later": ([*KNOWN, inside([2, 5, 1])], 6),
    "item out of reach": ([*KNOWN, inside([4])], 4),
    "item out of reach, later": ([*KNOWN, inside([2, 4])], 5),
    "item twice": ([*KNOWN, inside([2, 2])], 4),
    "no items": ([*KNOWN, inside([])], 4),
    "no such item": ([*KNOWN, inside([6])], 4),
    "item below zero": ([*KNOWN, inside([-1])], 4),
    "no such side": ([*KNOWN, [*inside([2])[:2], "near", *inside([2])[3:]]], 4),
    "one field too few": ([*KNOWN, inside([2])[:-1]], 4),
    "items that are no list": ([*KNOWN, ["sdp", 0, "in", 2, *inside([2])[4:]]], 4),
    "items that are no integers": ([*KNOWN, ["sdp", 0, "in", [2.0], *inside([2])[4:]]], 4),
    "weights that are no text": ([*KNOWN, ["sdp", 0, "in", [2], [[0, 1]], [], "0x1p0"]], 4),
    "inside although an answer says outside": (
        [*KNOWN, ["answer", 2, 0, "different"], inside([2])],
        5,
    ),
    "out of a known member": ([*WITHOUT_2, outside([1])], 2),
    "out with a non-member that is not known": (
        [["cluster", 1], ["cluster", 2], outside([0])],
        2,
    ),
    "out without a non-member": ([*WITHOUT_2, outside([0], non_members=())], 2),
    "out without weight on a non-member": (
        [*WITHOUT_2, outside([0], 2.0**-60, (), non_members=((2, 0.0),))],
        2,
    ),
    "out by the item itself": ([*WITHOUT_2, outside([0], columns=((0, AT_0), (1, AT_1)))], 2),
    "out of another cluster": ([*WITHOUT_2, ["cluster", 3], outside([0], cluster=1)], 3),
    "out that does not dominate": ([*WITHOUT_2, outside([5, 0])], 2),
    "out that does not dominate, later": ([*WITHOUT_2, outside([0, 5])], 3),
    "out twice": ([*WITHOUT_2, outside([0, 0])], 2),
    "differ of one name": ([*TWO_NAMES, differ(0, 0)], 3),
    "differ from a name that is not there": ([*TWO_NAMES, differ(0, 2)], 3),
    "differ with a column not known": ([*TWO_NAMES, differ(columns=((5, AT_0), (1, AT_1)))], 3),
    "differ with a column of a third": (
        [*TWO_NAMES, ["cluster", 5], differ(0, 2, columns=((1, AT_1), (5, AT_0)))],
        4,
    ),
    "differ with a non-member not known": ([*TWO_NAMES, differ(non_members=((5, 1.0),))], 3),
    "differ with a non-member of a third": (
        [*TWO_NAMES, ["cluster", 5], differ(1, 2, columns=((1, 1.0), (5, 1.0)))],
        4,
    ),
    "differ without non-members": ([*TWO_NAMES, differ(non_members=())], 3),
    "differ without weights": (
        [*TWO_NAMES, differ(columns=((0, 0.0),), non_members=((2, 0.0),))],
        3,
    ),
    "differ with a negative weight": (
        [*TWO_NAMES, differ(columns=((0, AT_0), (1, AT_1), (1, -(2.0**-60))))],
        3,
    ),
    "differ with a member as a non-member, by a negative weight": (
        [
            *TWO_NAMES,
            ["answer", 5, 0, "same"],
            differ(columns=((0, 0.5), (1, 0.5), (5, -1.0)), non_members=()),
        ],
        4,
    ),
    "differ of names that are one": ([*TWO_NAMES, ["answer", 0, 1, "same"], differ()], 4),
    "differ after which they are one": ([*TWO_NAMES, differ(), ["answer", 0, 1, "same"]], 4),
}


@pytest.mark.parametrize("name", FORGED)
def test_a_forged_record_is_named(name) -> None:
    records, at = FORGED[name]
    assert refused_at(LINE, records) == at


def test_columns_of_the_resolution_count_and_are_of_no_use_at_zero() -> None:
    """1.25 from 1 alone needs a jump of 0.25, which the resolution allows if it is large enough."""
    start = [["cluster", 1]]
    weights = 1.0 * 1.25, 0.25 * 1.25  # of 1.25 = 1 + 0.25·1 at τ = 1; (1 + 0.25)² ≤ 1 + 1.25
    by_resolution = inside([2], columns=((1, weights[0]), (-1, weights[1])))
    assert checked(LINE, [*start, by_resolution], tau=1.0).labels[2] == 0
    assert refused_at(LINE, [*start, by_resolution], tau=0.5) == 1
    assert refused_at(LINE, [*start, by_resolution], tau=0.0) == 1
    assert refused_at(LINE, [*start, inside([2], columns=((-1, 2.0),))], tau=0.0) == 1
    assert checked(LINE, [*KNOWN, inside([2])], tau=0.0).labels[2] == 0


# -- certificates as a recovery makes them -------------------------------------------------------


def shell(rng, count, d, least, most) -> FloatArray:
    points = rng.normal(size=(count, d))
    lengths = rng.uniform(least, most, size=count) / np.linalg.norm(points, axis=1)
    return np.asarray(points * lengths[:, None])


def lifted(points: FloatArray) -> FloatArray:
    return np.column_stack([points, np.ones(len(points))])


def weights_of(names, weights) -> list[tuple[int, float]]:
    return [(int(n), float(w)) for n, w in zip(names, weights, strict=True) if w > 0]


class Ball:
    """A cluster that is a stretched ball, some of what is in it and out of it known."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        d = int(rng.integers(1, 4))
        self.margin = float(rng.choice([0.1, 0.5, 1.0]))
        edge = np.sqrt(1.0 + self.margin)
        counts = 8, 6, 12, 12
        parts = [
            shell(rng, counts[0], d, 0.6, 1.0),
            shell(rng, counts[1], d, 1.01 * edge, 1.4 * edge),
            shell(rng, counts[2], d, 0.0, 1.0),
            shell(rng, counts[3], d, 1.01 * edge, 1.6 * edge),
        ]
        self.X = np.vstack(parts) @ (rng.normal(size=(d, d)) + np.eye(d))
        self.rows = lifted(self.X)
        ends = np.cumsum(counts)
        self.members, self.others = np.arange(8), np.arange(8, ends[1])
        self.unknown = np.arange(ends[1], ends[3])
        self.truth = np.repeat([True, False, True, False], counts)
        self.known: list[Any] = [["cluster", 0]]
        self.known += [["answer", int(i), 0, "same"] for i in self.members[1:]]
        self.known += [["answer", int(i), 0, "different"] for i in self.others]

    def certificate(self, y: int, inside: bool) -> Certificate | None:
        """With y as the last of the other side, if that is impossible."""
        members = self.members if inside else np.append(self.members, y)
        others = np.append(self.others, y) if inside else self.others
        positives, negatives = self.rows[members], self.rows[others]
        found = decide(positives, negatives, 1 + self.margin)
        if found.verdict is not Feasibility.INFEASIBLE:
            return None
        return exact_certificate(found.lam, found.mu, positives, negatives, self.margin)

    def record(self, y: int, inside: bool) -> list[Any] | None:
        """All unknown items that one certificate shows, y the first."""
        found = self.certificate(y, inside)
        if found is None or not (found.mu if inside else found.lam)[-1] > 0:
            return None
        members = self.members if inside else np.append(self.members, y)
        others = np.append(self.others, y) if inside else self.others
        at = len(others if inside else members) - 1
        found = widened(found, self.margin, inside=inside, at=at)
        rows = self.rows[self.unknown]
        are_shown = shown(found, self.rows[members], self.rows[others], at, rows, inside=inside)
        items = np.append(y, np.setdiff1d(self.unknown[are_shown], [y]))
        columns = weights_of(self.members, found.lam[: len(self.members)])
        non_members = weights_of(self.others, found.mu[: len(self.others)])
        weight = float((found.mu if inside else found.lam)[-1])
        return record("add_weights", 0, inside, items, columns, non_members, weight)


@given(st.integers(0, 10**6), st.booleans())
def test_certificates_show_many_items_and_only_what_is_true(seed, inside) -> None:
    ball = Ball(seed)
    n_shown = 0
    for y in ball.unknown:
        made = ball.record(int(y), inside)
        if made is None:
            continue
        items = made[3]
        found = checked(ball.X, [*ball.known, made], ball.margin)
        assert found.n_records["sdp"] == len(items)
        assert (ball.truth[items] == inside).all()
        assert not inside or (found.labels[items] == 0).all()
        n_shown += len(items)
        # One that it does not show is refused under its own number.
        start = len(ball.known)
        for stranger in ball.unknown[ball.truth[ball.unknown] != inside][:4]:
            forged = [*made[:3], [*items, int(stranger)], *made[4:]]
            assert refused_at(ball.X, [*ball.known, forged], ball.margin) == start + len(items)
        # Nor does it show anything if the other side is not known, or the name is another.
        without = [r for r in ball.known if r[1] != made[4][-1][0]]
        if made[4][-1][0] > 0:
            assert refused_at(ball.X, [*without, made], ball.margin) == start - 1
        named = [*ball.known, ["cluster", int(ball.others[0])]]
        assert refused_at(ball.X, [*named, [made[0], 1, *made[2:]]], ball.margin) == start + 1
    assume(n_shown)


def test_one_certificate_may_show_many_items() -> None:
    ball = Ball(9)
    made = [ball.record(int(y), inside=True) for y in ball.unknown]
    assert max(len(found[3]) for found in made if found is not None) >= 6


@given(st.integers(0, 10**6))
def test_two_names_differ_if_what_is_outside_one_lies_between_them(seed) -> None:
    rng = np.random.default_rng(seed)
    d, margin = int(rng.integers(1, 4)), float(rng.choice([0.1, 0.5, 1.0]))
    gap = np.append(6.0, np.zeros(d - 1))
    # Two balls, and between them points that are known to be outside of one of them.
    X = np.vstack(
        [
            shell(rng, 6, d, 0.5, 1.0),
            shell(rng, 6, d, 0.5, 1.0) + gap,
            shell(rng, 4, d, 0.0, 0.5) + gap / 2,
        ]
    )
    rows = lifted(X)
    known: list[Any] = [["cluster", 0], ["cluster", 6]]
    known += [["answer", i, 0, "same"] for i in range(1, 6)]
    known += [["answer", i, 6, "same"] for i in range(7, 12)]
    known += [["answer", i, int(rng.choice([0, 6])), "different"] for i in range(12, 16)]
    found = decide(rows[:12], rows[12:], 1 + margin)
    # A thin ellipsoid may hold both balls and none of the four points (1 of 2,000 seeds).
    assume(found.verdict is Feasibility.INFEASIBLE)
    exact = exact_certificate(found.lam, found.mu, rows[:12], rows[12:], margin)
    assert exact is not None
    columns = weights_of(range(12), exact.lam)
    non_members = weights_of(range(12, 16), exact.mu)
    assert not checked(X, known, margin).all_different
    made = record("add_differ", 0, 1, columns, non_members)
    assert checked(X, [*known, made], margin).all_different
    for name, _ in [c for c in columns if c[0] not in (0, 6)] + non_members:
        without = [r for r in known if r[1] != name]
        assert refused_at(X, [*without, made], margin) == len(without)


# -- the verdict is that of exact arithmetic -----------------------------------------------------


def determinant(matrix: list[list[Fraction]]) -> Fraction:
    """By expansion: slow, and nothing like elimination."""
    if not matrix:
        return Fraction(1)
    minors = ([row[:j] + row[j + 1 :] for row in matrix[1:]] for j in range(len(matrix)))
    return sum(
        ((-1) ** j * matrix[0][j] * determinant(minor) for j, minor in enumerate(minors)),
        Fraction(0),
    )


def psd_by_minors(matrix: list[list[Fraction]]) -> bool:
    """All principal minors, not only the leading ones, are at least 0."""
    size = len(matrix)
    return all(
        determinant([[matrix[i][j] for j in chosen] for i in chosen]) >= 0
        for count in range(1, size + 1)
        for chosen in itertools.combinations(range(size), count)
    )


def weighted_sum(rows, weights) -> list[list[Fraction]]:
    """Σ weight · row rowᵀ."""
    matrix = [[Fraction(0)] * len(rows[0]) for _ in rows[0]]
    for row, weight in zip(rows, weights, strict=True):
        exact = [Fraction(float(value)) for value in row]
        for i, j in itertools.product(range(len(exact)), repeat=2):
            matrix[i][j] += Fraction(float(weight)) * exact[i] * exact[j]
    return matrix


@given(st.integers(0, 10**6), st.integers(1, 4), st.integers(0, 5), st.integers(0, 2))
def test_positive_semidefinite_is_that_of_all_minors(seed, size, plus, minus) -> None:
    """Small integers make singular matrices often."""
    rng = np.random.default_rng(seed)
    rows = np.vstack([rng.integers(-2, 3, size=(plus + minus, size)), np.zeros((1, size))])
    matrix = weighted_sum(rows, [1] * plus + [-1] * minus + [0])
    whole = np.array([[int(value) for value in row] for row in matrix], dtype=object)
    assert _is_psd(whole) == psd_by_minors(matrix)


@given(
    st.integers(0, 10**6),
    st.integers(1, 3),
    st.sampled_from(["in", "out", "differ"]),
    st.sampled_from([0, 40, 300, 900]),
)
def test_weights_are_judged_as_by_rationals(seed, d, kind, spread) -> None:
    """Few small numbers times powers of two, even tiny and huge: one bit decides."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 3, size=(8, d)) * np.exp2(rng.integers(-spread, spread + 1, size=d))
    tau = float(2.0 ** rng.integers(-3, 2))
    names = [0, 1, 2, -1]
    lam = rng.integers(0, 3, size=4) * 2.0 ** int(rng.integers(-1, 2))
    mu = rng.integers(0, 3, size=2) / 2.0
    w = float(rng.integers(1, 3)) / 2.0
    rows = [*lifted(X[:3]), np.append(tau * np.eye(d)[0], 0.0), *lifted(X[4:6]), lifted(X)[6]]
    sign = {"in": -1, "out": 1, "differ": 0}[kind]
    matrix = weighted_sum(rows, [*lam, *(-mu), sign * w])
    total = lam.sum() + w * (kind == "out"), mu.sum() + w * (kind == "in")
    follows = psd_by_minors(matrix) and total[1] > 0 and total[0] <= 2.0 * total[1]
    known: list[Any] = [["cluster", 0], ["answer", 1, 0, "same"]]
    known += [["cluster", 2]] if kind == "differ" else [["answer", 2, 0, "same"]]
    known += [["answer", 4, 0, "different"], ["answer", 5, 0, "different"]]
    columns = list(zip(names, lam.tolist(), strict=True))
    non_members = list(zip([4, 5], mu.tolist(), strict=True))
    if kind == "differ":
        made = record("add_differ", 0, 1, columns, non_members)
    else:
        made = record("add_weights", 0, kind == "in", np.array([6]), columns, non_members, w)
    if follows:
        checked(X, [*known, made], 1.0, tau)
    else:
        assert refused_at(X, [*known, made], 1.0, tau) == 5


@given(st.integers(0, 10**6), st.integers(1, 4), st.integers(0, 5), st.integers(0, 2))
def test_many_rows_are_judged_as_each_by_itself(seed, size, plus, minus) -> None:
    """However many eigenvalues of the matrix are at or below 0."""
    rng = np.random.default_rng(seed)
    parts = np.vstack([rng.integers(-2, 3, size=(plus + minus, size)), np.zeros((1, size))])
    matrix = weighted_sum(parts, [1] * plus + [-1] * minus + [0])
    whole = np.array([[int(value) for value in row] for row in matrix], dtype=object)
    rows = rng.integers(-2, 3, size=(12, size)).astype(object)
    for weight in (-2, -1, 1, 2):
        expected = [psd_by_minors((whole + weight * np.outer(row, row)).tolist()) for row in rows]
        found = _dominated(whole, weight, rows).tolist()
        # What follows the first that does not hold is never looked at.
        end = expected.index(False) + 1 if False in expected else len(rows)
        assert found[:end] == expected[:end]
        good = rows[np.array(expected)]
        if len(good):
            found = _dominated(whole, weight, np.vstack([good[:1], rows])).tolist()
            assert found == [True, *expected]
