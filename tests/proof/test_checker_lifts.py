"""The checker computes lifted columns itself, and refuses lifts that are forged or unknown."""

import ast
import copy
import inspect
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from samecluster import recover
from samecluster.lifts.polynomial import Polynomial
from samecluster.oracles import LabelOracle
from samecluster.proof import checker
from samecluster.proof.checker import BadProof, check

ANGLE = np.random.default_rng(0).uniform(0, 2 * np.pi, 300)
LABELS = np.arange(300) % 2
X = np.column_stack([(1 + LABELS) * np.cos(ANGLE), (1 + LABELS) * np.sin(ANGLE), np.full(300, 7.0)])
FOUND: Any = recover(X, LabelOracle(LABELS), margin=2.0, lift="quadratic", random_state=0)
LINES = [*FOUND.proof.lines()]


def with_lift(**changes: Any) -> list[Any]:
    lines = copy.deepcopy(LINES)
    lines[0]["lift"] |= changes
    return lines


def test_the_checker_imports_nothing_of_the_package() -> None:
    tree = ast.parse(inspect.getsource(checker))
    imported = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom | ast.Import)]
    assert not any("samecluster" in ast.unparse(node) for node in imported)


@given(
    st.integers(1, 4),
    st.lists(
        st.lists(st.floats(-1e6, 1e6, allow_nan=False), min_size=3, max_size=3),
        min_size=2,
        max_size=8,
    ),
)
@example(2, [[0.0, 0.0, 0.0], [0.0, 1.0, 5e-324]])  # a column with the smallest range there is
def test_the_checker_computes_the_same_bits(degree, rows) -> None:
    points = np.array(rows)
    low, high = points.min(axis=0), points.max(axis=0)
    if not (high > low).any():
        return
    lift = Polynomial(degree).fitted(low, high)

    def need(holds: bool, reason: str) -> None:
        assert holds, reason

    found, said = checker.lifted(points, {"lift": lift.to_json()}, need)
    assert np.array_equal(found, lift.apply(points))
    if len(lift.columns) > 1:
        assert said == lift.said()


def test_an_honest_proof_passes() -> None:
    assert (check(X, LINES).labels >= 0).all()


FORGED: dict[str, dict[str, Any]] = {
    "a kind that nobody knows": {"kind": "kernel"},
    "degree 5": {"degree": 5},
    "degree true": {"degree": True},
    "another degree": {"degree": 3},
    "a lower degree": {"degree": 1},
    "fewer columns": {"columns": [0]},
    "columns in another order": {"columns": [1, 0]},
    "a column that does not vary": {"columns": [0, 2]},
    "one more number": {"shift": [(0.0).hex()] * 3},
    "a shift that is no number": {"shift": ["0x0.0p+0", "nan"]},
    "a shift beyond all values": {"shift": [(1e12).hex()] * 2},
    "an infinite shift": {"shift": ["inf", "0x0.0p+0"]},
    "an exponent that makes all points one": {"exponent": [900, 900]},
    "an exponent that makes all infinite": {"exponent": [-1000, -1000]},
    "an exponent that is no number": {"exponent": ["2", "2"]},
    "exponents with a fraction": {"exponent": [1.5, 2]},
    "a field that does not exist": {"monomials": [[0, 1]]},
}


@pytest.mark.parametrize("name", FORGED)
def test_forged_lifts_are_refused_in_the_header_or_at_a_record(name) -> None:
    with pytest.raises(BadProof):
        check(X, with_lift(**FORGED[name]))


@pytest.mark.parametrize("lift", [None, "quadratic", {}, [], {"kind": "polynomial"}, {"kind": []}])
def test_lifts_that_cannot_be_read_are_refused(lift) -> None:
    lines = copy.deepcopy(LINES)
    lines[0]["lift"] = lift
    with pytest.raises(BadProof, match="header"):
        check(X, lines)


def test_a_lift_and_a_format_that_knows_none_do_not_go_together() -> None:
    old = [{**LINES[0], "format": "samecluster-proof-1"}, *LINES[1:]]
    with pytest.raises(BadProof, match="the format is not 'samecluster-proof-2'"):
        check(X, old)
    plain = {name: value for name, value in LINES[0].items() if name != "lift"}
    with pytest.raises(BadProof, match="the format is not 'samecluster-proof-1'"):
        check(X, [plain, *LINES[1:]])
    with pytest.raises(BadProof):
        check(X, [{**plain, "format": "samecluster-proof-1"}, *LINES[1:]])


def test_a_polynomial_proof_cannot_be_passed_off_as_one_of_a_function() -> None:
    lines = copy.deepcopy(LINES)
    lines[0]["lift"] = {"kind": "own", "name": "quadratic"}
    with pytest.raises(BadProof):
        check(X, lines)


def test_a_resolution_must_be_fine_in_lifted_columns() -> None:
    lines = copy.deepcopy(LINES)
    lines[0]["resolution"][3] = (0.5).hex()
    with pytest.raises(BadProof, match=r"resolution 0\.5 of column 3"):
        check(X, lines)


@given(
    st.integers(0, 1),
    st.one_of(
        st.floats(-1e3, 1e3, allow_nan=False).map(lambda x: ("shift", x.hex())),
        st.integers(-2000, 2000).map(lambda x: ("exponent", x)),
    ),
)
def test_other_numbers_prove_what_is_true_or_nothing(at, change) -> None:
    """Any stated numbers are a lift of their own: then what is shown must still be the truth."""
    field, value = change
    numbers = list(LINES[0]["lift"][field])
    numbers[at] = value
    try:
        found = check(X, with_lift(**{field: numbers}))
    except BadProof:
        return
    for label in set(found.labels.tolist()) - {-1}:
        assert len(set(LABELS[found.labels == label])) == 1
