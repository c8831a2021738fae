"""The checker accepts what follows and nothing else, down to the last bit."""

import json
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.optimize import linprog

from samecluster import Certify, recover
from samecluster._resolution import column_spread
from samecluster.instances import make_ellipsoids
from samecluster.oracles import LabelOracle
from samecluster.proof import checker
from samecluster.proof.checker import BadProof, VerifiedProof
from samecluster.proof.fingerprint import fingerprint
from samecluster.proof.log import ProofLog, renumbered

LINE = np.array([[0.0], [1.0], [1.5], [np.nextafter(1.5, 2)], [40.0], [41.0], [2.0]])
TAU = 2.0**-30


def header(X: Any, margin: float, k: int | None, tau: float = TAU) -> dict[str, Any]:
    resolution = np.full(X.shape[1], tau)
    return ProofLog(fingerprint(X), margin, k, resolution).header()


def check(X: Any, lines: list[Any]) -> VerifiedProof:
    """With any resolution; how large one may be has tests of its own."""
    return checker.check(X, lines, resolution=math.inf)


def checked(X: Any, records: list[Any], margin: float = 3.0, k: int | None = 2) -> VerifiedProof:
    return check(X, [header(X, margin, k), *records])


@pytest.mark.parametrize(
    "X",
    [LINE[:3], np.arange(6.0).reshape(2, 3), np.asfortranarray(np.eye(3)), np.eye(2)[:, ::-1]],
    ids=["column", "table", "by columns", "view"],
)
def test_the_fingerprint_of_a_log_is_what_the_checker_computes(X) -> None:
    assert fingerprint(X) == checker.fingerprint(X) == fingerprint(X.astype(np.float32))
    assert fingerprint(X) != fingerprint(X.reshape(-1, 1)) or X.shape[1] == 1
    assert fingerprint(X) != fingerprint(X + 2.0**-40)


START = [["cluster", 0], ["answer", 1, 0, "same"], ["answer", 4, 0, "different"], ["cluster", 4]]


def test_an_honest_log_passes_and_says_what_it_shows() -> None:
    found = checked(LINE, [*START, ["in", 0, [[2, 0, 1], [6, 2, 0]]], ["answer", 5, 4, "same"]])
    assert found.labels.tolist() == [0, 0, 0, -1, 1, 1, 0]
    assert found.all_different
    assert found.n_records == {"cluster": 2, "answer": 3, "in": 2}


@pytest.mark.parametrize(
    ("margin", "kinds"), [(1.0, {"in", "count"}), (0.1, {"out", "last", "sdp"})]
)
def test_a_log_holds_for_the_same_rows_in_another_order(margin, kinds) -> None:
    made = make_ellipsoids(150, 2, 3, margin, random_state=1)
    proof = recover(
        made.X,
        LabelOracle(made.labels),
        method=Certify(kernel="numpy", effort="thorough"),
        margin=margin,
        n_clusters=3,
        random_state=0,
    ).proof
    assert proof is not None
    rows, X = np.random.default_rng(0).permutation(150), np.empty((150, 2))
    X[rows] = made.X
    other = ProofLog(fingerprint(X), margin, 3, proof.resolution)

    def shown(log: ProofLog, points: Any, records: Any) -> VerifiedProof:
        lines = json.dumps([log.header(), *records], default=np.ndarray.tolist)
        return check(points, json.loads(lines))

    before = shown(proof, made.X, proof.records)
    after = shown(other, X, [renumbered(record, rows) for record in proof.records])
    assert kinds <= {record[0] for record in proof.records}
    assert after.n_records == before.n_records
    assert np.array_equal(after.labels[rows], before.labels)


@pytest.mark.parametrize("tau", [TAU, 0.0])
def test_one_unit_in_the_last_place_decides(tau) -> None:
    """At γ=3 the members 0 and 1 reach up to 1.5 and not a bit farther."""
    lines = [header(LINE, 3.0, 2, tau), *START]
    assert check(LINE, [*lines, ["in", 0, [[2, 0, 1]]]]).n_by_rationals == 1
    with pytest.raises(BadProof, match="record 4: item 3 not shown in 0"):
        check(LINE, [*lines, ["in", 0, [[3, 0, 1]]]])


FORGED: dict[str, tuple[list[Any], int]] = {
    "wrong cluster": ([*START, ["in", 1, [[2, 0, 1]]]], 4),
    "support used before it is known": ([*START, ["in", 0, [[6, 2, 0], [2, 0, 1]]]], 4),
    "support that is not known at all": ([*START, ["in", 0, [[6, 3, 0]]]], 4),
    "support of an item itself": ([*START, ["in", 0, [[2, 2, 1]]]], 4),
    "support that does not span": ([*START, ["in", 0, [[2, 0, 0]]]], 4),
    "only resolution columns": ([*START, ["in", 0, [[2, -1, -1]]]], 4),
    "too few columns": ([*START, ["in", 0, [[2, 0]]]], 4),
    "a column that does not exist": ([*START, ["in", 0, [[2, 0, -2]]]], 4),
    "an item that does not exist": ([*START, ["in", 0, [[99, 0, 1]]]], 4),
    "a cluster that does not exist": ([*START, ["in", 7, [[2, 0, 1]]]], 4),
    "a cluster below zero": ([*START, ["in", -1, [[2, 3, 6]]]], 4),
    "weights too large": ([*START, ["in", 0, [[6, 0, 1]]]], 4),
    "an item shown twice": ([*START, ["in", 0, [[2, 0, 1], [2, 0, 1]]]], 5),
    "an item in two clusters": ([*START, ["in", 0, [[4, 0, 1]]]], 4),
    "a member shown again": ([*START, ["in", 0, [[1, 0, 1]]]], 4),
    "an item of another name": ([*START, ["cluster", 2], ["in", 0, [[2, 0, 1]]]], 5),
    "last before k clusters are known": ([["cluster", 0], ["last", 2, 0]], 1),
    "last with clusters that may be one": ([["cluster", 0], ["cluster", 4], ["last", 2, 0]], 2),
    "last with clusters that may be one, outside one of them": (
        [["cluster", 0], ["cluster", 4], ["answer", 2, 4, "different"], ["last", 2, 0]],
        3,
    ),
    "last without being outside the others": ([*START, ["last", 2, 0]], 4),
    "count while an item has no name": ([*START, ["count"]], 4),
    "count with another number of names": ([["cluster", i] for i in range(7)] + [["count"]], 7),
    "a name that was merged away": (
        [["cluster", 0], ["cluster", 1], ["answer", 0, 1, "same"], ["in", 1, [[2, 0, 1]]]],
        3,
    ),
    "out with a non-member that is not known": ([*START, ["out", 5, 0, 3, [0, 5]]], 4),
    "out with a member": ([*START, ["out", 5, 0, 1, [0, 5]]], 4),
    "out that is not reached": ([*START, ["out", 2, 0, 4, [0, 2]]], 4),
    "out with a number between columns": ([*START, ["out", 5, 1, 0, [5, -0.5]]], 4),
    "out with too few columns": ([*START, ["out", 5, 0, 4, [5]]], 4),
    "out with too many columns": ([*START, ["out", 5, 0, 4, [5, 0, 1]]], 4),
    "out of an item that does not exist": ([*START, ["out", 7, 0, 4, [7, 0]]], 4),
    "out of a column": ([*START, ["out", -1, 0, 4, [-1, 0]]], 4),
    "out with a column as non-member": ([*START, ["out", 5, 0, -1, [5, 0]]], 4),
    "out of a cluster that does not exist": ([*START, ["out", 5, 2, 4, [5, 0]]], 4),
    "last in a cluster that does not exist": ([*START, ["last", 5, 2]], 4),
    "in although an answer says otherwise": (
        [*START, ["answer", 6, 0, "different"], ["in", 0, [[2, 0, 1], [6, 2, 0]]]],
        6,
    ),
    "out of a known member": ([*START, ["out", 1, 0, 4, [0, 1]]], 4),
    "answer between strangers": ([*START, ["answer", 2, 3, "same"]], 4),
    "answers that contradict": ([*START, ["answer", 1, 0, "different"]], 4),
    "same across clusters": ([*START, ["answer", 1, 4, "same"]], 4),
    "an unknown verdict": ([*START, ["answer", 2, 0, "perhaps"]], 4),
    "an unknown kind": ([*START, ["put", 2, 0]], 4),
    "a private rule": ([*START, ["_put", 2, 0]], 4),
    "no record at all": ([*START, 17], 4),
}


@pytest.mark.parametrize("name", FORGED)
def test_a_forged_record_is_named(name) -> None:
    records, at = FORGED[name]
    with pytest.raises(BadProof) as caught:
        checked(LINE, records)
    assert caught.value.record == at


def test_altered_data_and_headers_are_refused() -> None:
    good = header(LINE, 3.0, 2)
    for forged in (
        {**good, "margin": (0.0).hex()},
        {**good, "margin": "nan"},
        {**good, "resolution": []},
        {**good, "resolution": ["-0x1p0"]},
        {**good, "resolution": ["inf"]},
        {**good, "resolution": ["0x1p0", "0x1p0"]},
        {**good, "resolution": [0.5]},
        {**good, "margin": "-0x1p-1"},
        {**good, "margin": "inf"},
        {key: value for key, value in good.items() if key != "margin"},
        ["cluster", 0],
        17,
        {**good, "format": "other"},
        {},
    ):
        with pytest.raises(BadProof) as caught:
            check(LINE, [forged])
        assert caught.value.record == -1
    with pytest.raises(BadProof, match="header"):
        check(LINE, [])
    altered = LINE.copy()
    altered[6] = np.nextafter(altered[6], 3)
    with pytest.raises(BadProof, match="other data"):
        check(altered, [good])


def test_names_may_turn_out_to_be_one_cluster_and_are_counted_at_the_end() -> None:
    X = np.array([[0.0], [1.0], [1.25], [9.0]])
    names = [["cluster", 0], ["cluster", 1], ["cluster", 3], ["answer", 0, 1, "same"]]
    found = checked(X, [*names, ["in", 0, [[2, 0, 1]]], ["count"]], margin=2.0)
    assert found.labels.tolist() == [0, 0, 0, 2]
    assert found.n_clusters == 2
    assert found.all_different
    # Without the count nothing says that the two names differ.
    assert not checked(X, [*names, ["in", 0, [[2, 0, 1]]]], margin=2.0).all_different
    # What an item was outside of stays so under the name that is kept.
    apart = [["cluster", 0], ["cluster", 1], ["answer", 1, 3, "different"], ["cluster", 3]]
    merged = [*apart, ["answer", 0, 1, "same"]]
    assert checked(X, merged, margin=2.0).all_different
    with pytest.raises(BadProof, match="different clusters"):
        checked(X, [*merged, ["answer", 0, 3, "same"]], margin=2.0)


def test_exclusion_and_elimination_follow() -> None:
    """-0.6, were it in the cluster of 0 and 1 (γ=3), would bring 2 into it, which is outside."""
    X = np.array([[0.0], [1.0], [1.7], [-0.6], [9.0]])
    start = [["cluster", 0], ["answer", 1, 0, "same"], ["answer", 2, 0, "different"]]
    out = ["out", 3, 0, 2, [3, 1]]
    found = checked(X, [*start, out])
    assert found.labels.tolist() == [0, 0, -1, -1, -1]
    with pytest.raises(BadProof):
        checked(X, [*start, ["out", 3, 0, 2, [0, 1]]])
    # With k = 2 and the second cluster named by item 2, item 3 must be in it.
    found = checked(X, [*start, out, ["cluster", 2], ["last", 3, 1]])
    assert found.labels.tolist() == [0, 0, 1, 1, -1]


def determinant(rows: list[list[Fraction]]) -> Fraction:
    """By expansion: slow, and nothing like elimination."""
    if not rows:
        return Fraction(1)
    minors = ([row[:j] + row[j + 1 :] for row in rows[1:]] for j in range(len(rows)))
    return sum(
        ((-1) ** j * rows[0][j] * determinant(minor) for j, minor in enumerate(minors)),
        Fraction(0),
    )


def weights_by_cramer(columns, target) -> list[Fraction] | None:
    whole = determinant(columns)
    if whole == 0:
        return None
    return [
        determinant([*columns[:j], target, *columns[j + 1 :]]) / whole for j in range(len(columns))
    ]


def basis_of(X, members, y, tau):
    """Optimal columns by HiGHS, filled up to d+1 independent ones; and the gauge."""
    d = X.shape[1]
    columns = np.vstack(
        [
            np.column_stack([X[members], np.ones(len(members))]),
            np.column_stack([np.eye(d) * tau, np.zeros(d)]),
        ]
    )
    names = [*members, *(-1 - j for j in range(d))]
    target = np.append(X[y], 1.0)
    solved = linprog(np.ones(2 * len(names)), A_eq=np.hstack([columns.T, -columns.T]), b_eq=target)
    assume(solved.status == 0)
    weights = solved.x[: len(names)] - solved.x[len(names) :]
    order = np.argsort(-np.abs(weights))
    chosen: list[int] = []
    for at in order:
        if np.linalg.matrix_rank(columns[[*chosen, at]]) == len(chosen) + 1:
            chosen.append(int(at))
    return [names[at] for at in chosen[: d + 1]], float(np.abs(weights).sum())


@given(st.integers(0, 10**6), st.integers(1, 4), st.integers(1, 8), st.floats(0.05, 3.0))
def test_reach_records_are_judged_as_by_rationals(seed, d, m, margin) -> None:
    """Whatever the floats say first, the verdict is that of exact arithmetic."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m + 6, d)).round(int(rng.integers(1, 12)))
    members = list(range(m))
    records = [["cluster", 0], *(["answer", i, 0, "same"] for i in members[1:])]
    for y in range(m, m + 6):
        columns, gauge = basis_of(X, members, y, TAU)
        vectors = [
            [*map(Fraction, X[name].tolist()), Fraction(1)]
            if name >= 0
            else [Fraction(TAU) if i == -1 - name else Fraction(0) for i in range(d + 1)]
            for name in columns
        ]
        weights = weights_by_cramer(vectors, [*map(Fraction, X[y].tolist()), Fraction(1)])
        follows = weights is not None and sum(map(abs, weights)) ** 2 <= 1 + Fraction(margin)
        assert not follows or gauge <= math.sqrt(1 + margin) * (1 + 1e-7)
        try:
            passed = checked(X, [*records, ["in", 0, [[y, *columns]]]], margin).labels[y] == 0
        except BadProof:
            passed = False
        assert passed == follows


def smallest_margin(total: Fraction) -> float:
    """The least float γ with total² ≤ 1 + γ."""
    margin = float(total**2 - 1)
    while total**2 > 1 + Fraction(margin):
        margin = math.nextafter(margin, math.inf)
    while total**2 <= 1 + Fraction(math.nextafter(margin, 0)):
        margin = math.nextafter(margin, 0)
    return margin


@given(st.integers(0, 10**6), st.integers(1, 4), st.sampled_from([0.0, 1.0, 1e6, 1e12]))
def test_the_last_bit_of_the_margin_decides_however_ill_the_numbers_are(seed, d, shift) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(d + 2, d)) * 10.0 ** rng.uniform(-6, 6, size=d) + shift
    weights = weights_by_cramer(
        [[*map(Fraction, row.tolist()), Fraction(1)] for row in X[:-1]],
        [*map(Fraction, X[-1].tolist()), Fraction(1)],
    )
    assume(weights is not None and sum(map(abs, weights)) > 1)
    assert weights is not None
    margin = smallest_margin(sum(map(abs, weights), Fraction(0)))
    records = [["cluster", 0], *(["answer", i, 0, "same"] for i in range(1, d + 1))]
    records.append(["in", 0, [[d + 1, *range(d + 1)]]])
    assert checked(X, records, margin).labels[d + 1] == 0
    if (below := math.nextafter(margin, 0)) > 0:
        with pytest.raises(BadProof):
            checked(X, records, below)
    # With room, floats decide.
    if shift <= 1.0 and np.linalg.cond((X[1:-1] - X[0]) / np.ptp(X, axis=0)) < 1e4:
        assert checked(X, records, margin * (1 + 1e-6)).n_by_rationals == 0


def test_more_columns_than_items_are_no_obstacle() -> None:
    """In four dimensions two points reach a third with the help of three resolution columns."""
    X = np.zeros((3, 4))
    X[:, 0] = 0.0, 1.0, 1.25
    start = [["cluster", 0], ["answer", 1, 0, "same"]]
    found = checked(X, [*start, ["in", 0, [[2, 0, 1, -2, -3, -4]]]])
    assert found.labels.tolist() == [0, 0, 0]


def test_a_resolution_of_zero_is_allowed_and_its_columns_are_of_no_use() -> None:
    lines = [header(LINE, 3.0, 2, tau=0.0), *START]
    assert check(LINE, [*lines, ["in", 0, [[2, 0, 1]]]]).labels[2] == 0
    # The zero vector is never one of d+1 independent columns, not even beside an equal point.
    twins = np.array([[0.0], [0.0], [1.0], [9.0]])
    start = [header(twins, 3.0, None, tau=0.0), ["cluster", 0]]
    with pytest.raises(BadProof, match="record 1"):
        check(twins, [*start, ["in", 0, [[1, 0, -1]]]])
    with pytest.raises(BadProof, match="record 2"):
        check(twins, [*start, ["answer", 2, 0, "different"], ["out", 3, 0, 2, [3, -1]]])
    assert check(twins, [*start, ["answer", 2, 0, "same"], ["in", 0, [[1, 0, 2]]]]).labels[1] == 0
    # It may be zero in one direction only: there the others still count.
    flat = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, 0.0], [0.5, 1e-9]])
    head = ProofLog(fingerprint(flat), 3.0, None, np.array([0.0, 1e-9])).header()
    start = [head, ["cluster", 0], ["answer", 1, 0, "same"]]
    assert check(flat, [*start, ["in", 0, [[2, 0, 1, -2]]]]).labels[2] == 0
    assert check(flat, [*start, ["in", 0, [[3, 0, 1, -2]]]]).labels[3] == 0
    with pytest.raises(BadProof, match="record 2"):
        check(flat, [*start, ["in", 0, [[2, 0, 1, -1]]]])


@given(st.integers(0, 10**6))
def test_points_that_are_almost_on_a_line_are_judged_as_by_rationals(seed) -> None:
    """They differ from a line by a few units in the last place: no inverse in floats is right."""
    rng = np.random.default_rng(seed)
    along = rng.integers(0, 4, size=(4, 1)) / 4.0
    X = 1.0 + np.hstack([along, along]) + rng.integers(-2, 3, size=(4, 2)) * 2.0**-51
    rows = [[*map(Fraction, row.tolist()), Fraction(1)] for row in X]
    weights = weights_by_cramer(rows[:3], rows[3])
    follows = weights is not None and sum(map(abs, weights)) ** 2 <= 4
    records = [["cluster", 0], ["answer", 1, 0, "same"], ["answer", 2, 0, "same"]]
    try:
        passed = checked(X, [*records, ["in", 0, [[3, 0, 1, 2]]]]).labels[3] == 0
    except BadProof:
        passed = False
    assert passed == follows


def test_large_numbers_without_a_zero_are_decided() -> None:
    X = (LINE + 1.0) * 2.0**70
    lines = [header(X, 3.0, 2, 2.0**70), *START]
    assert check(X, [*lines, ["in", 0, [[2, 0, 1]]]]).n_by_rationals == 1
    columns = [[0, (1.0).hex()], [1, (3.0).hex()]]  # |w|·Σ|w| for 1.5 = −0.5·0 + 1.5·1
    assert check(X, [*lines, ["sdp", 0, "in", [2], columns, [], (1.0).hex()]]).labels[2] == 0
    with pytest.raises(BadProof):
        check(X, [*lines, ["in", 0, [[6, 0, 1]]]])


@pytest.mark.parametrize("scale", [1e-150, 1e150, 2.0**-1060])
def test_numbers_of_any_size_are_decided(scale) -> None:
    X = LINE * scale
    records = [*START, ["in", 0, [[2, 0, 1]]]]
    lines = [header(X, 3.0, 2, TAU * min(scale, 1.0)), *records]
    exact = Fraction(float(X[2, 0])) / Fraction(float(X[1, 0])) <= Fraction(3, 2)
    if exact:
        assert check(X, lines).labels[2] == 0
    else:
        with pytest.raises(BadProof):
            check(X, lines)


ROW = np.array([[0.0], [1.0], [1.5], [3.0], [40.0], [41.0], [2.0]])
ANY = [["cluster", 0], ["in", 0, [[i, 0, -1] for i in range(1, 7)]]]


@pytest.mark.parametrize("tau", [1e300, 40.0, 2.0**-9])
def test_a_resolution_above_what_values_differ_by_proves_nothing(tau) -> None:
    """With any resolution one cluster would follow from no answer."""
    with pytest.raises(BadProof, match=r"header: resolution .* of column 0 is .* of its spread"):
        checker.check(ROW, [header(ROW, 3.0, None, tau), *ANY])
    assert (
        checker.check(ROW, [header(ROW, 3.0, None, 2.0**-12), ["cluster", 0]]).resolution
        == 2.0**-12
    )


def test_whoever_checks_may_allow_more() -> None:
    lines = [header(ROW, 3.0, None, 50.0), *ANY]
    assert checker.check(ROW, lines, resolution=1e3).n_clusters == 1
    with pytest.raises(BadProof, match="at most 10 of it is allowed"):
        checker.check(ROW, lines, resolution=10.0)


def test_far_values_do_not_widen_what_a_resolution_may_be() -> None:
    X = np.vstack([np.arange(40.0)[:, None], [[1e12], [-1e300]]])
    s = checker.spread(X[:, 0])
    assert 1.0 <= s <= 3.0
    checker.check(X, [header(X, 1.0, None, s * 2.0**-10)])
    with pytest.raises(BadProof, match="spread"):
        checker.check(X, [header(X, 1.0, None, np.nextafter(s * 2.0**-10, 1.0))])


def test_a_column_of_one_value_may_have_any_resolution() -> None:
    """Its columns have weight 0 in any combination, and no cluster has a boundary along it."""
    X = np.column_stack([ROW[:, 0], np.full(7, 3.0)])
    lines = [ProofLog(fingerprint(X), 3.0, 2, np.array([2.0**-30, 1e300])).header()]
    known = [["cluster", 0], ["answer", 1, 0, "same"]]
    assert checker.check(X, [*lines, *known, ["in", 0, [[2, 0, 1, -2]]]]).labels[2] == 0
    with pytest.raises(BadProof, match="item 5 not shown"):
        checker.check(X, [*lines, *known, ["in", 0, [[5, 0, 1, -2]]]])


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=60))
def test_the_checker_and_the_recovery_agree_on_the_spread(values) -> None:
    """Each has code of its own; by its definition it is a distance from the median that occurs."""
    column = np.array(values)
    s = checker.spread(column)
    assert s == column_spread(column[:, None])[0]
    ranked = sorted(map(Fraction, values))
    away = sorted(abs(v - ranked[(len(ranked) - 1) // 2]) for v in ranked)
    away = [a for a in away if a > 0]
    if away:
        largest = Fraction(float(np.finfo(np.float64).max))
        truth = min(away[(len(away) - 1) // 10], largest)
        assert abs(Fraction(s) - truth) <= truth * Fraction(2) ** -52
    else:
        assert s == 0.0
