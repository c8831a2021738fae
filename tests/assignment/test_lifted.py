"""New rows and files of results in a lift: the same promises as without one."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import samecluster
from samecluster import How, recover
from samecluster.errors import InvalidInputError
from samecluster.instances import make_moons_with_margin, make_nested, make_rings, make_spirals
from samecluster.oracles import LabelOracle
from tests.cases.campaign import LONG
from tests.cases.result_files import edited

MAKERS: list[Callable[..., Any]] = [make_rings, make_moons_with_margin, make_spirals, make_nested]


AUTO: dict[str, Any] = {"margin": "auto", "lift": "auto", "n": 2000}


def halves(
    make: Callable[..., Any], seed: int, n: int = 800, **options: Any
) -> tuple[Any, Any, Any]:
    """A recovery of half of the rows, the others, and their labels by the recovery's numbers."""
    made = make(n, random_state=seed)
    old = np.random.default_rng(seed).permutation(n) < n // 2
    given = {"margin": made.margin, "lift": made.lift, "random_state": seed} | options
    found = recover(made.X[old], LabelOracle(made.labels[old]), **given)
    number = np.empty(made.n_clusters, dtype=np.int64)
    number[made.labels[old]] = found.labels
    return found, made.X[~old], number[made.labels[~old]]


@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
def test_what_is_proven_of_new_rows_is_right(make) -> None:
    n_proven, wrong = 0, []
    for seed in range(40 if LONG else 3):
        found, new, truth = halves(make, seed)
        said = found.predict(new)
        proven = said.how_codes == How.PROVEN
        assert np.array_equal(said.labels[proven], truth[proven])
        wrong.append(np.mean(said.labels != truth))  # of what is predicted, too
        n_proven += int(proven.sum())
    assert np.mean(wrong) < 0.03
    assert n_proven > 0.5 * 400 * (40 if LONG else 3)
    assert f"the margin {found.margin:.3g} in the quadratic lift of columns 0, 1 holds" in str(said)


def test_proven_new_rows_are_in_reach_of_old_members_in_the_lift() -> None:
    """An independent solver finds weights that show it."""
    from scipy.optimize import linprog

    found, new, _ = halves(make_moons_with_margin, 0)
    said, lift = found.predict(new), found.lift
    for row in np.flatnonzero(said.how_codes == How.PROVEN)[:10]:
        members = lift.apply(found.points[found.labels == said.labels[row]])
        columns = np.column_stack([members, np.ones(len(members))]).T
        both, target = np.hstack([columns, -columns]), np.append(lift.apply(new[[row]])[0], 1.0)
        solved = linprog(np.ones(both.shape[1]), A_eq=both, b_eq=target, method="highs")
        assert solved.fun <= np.sqrt(1.0 + found.margin) + 1e-6


def test_a_row_in_reach_of_two_clusters_in_the_lift_is_not_proven() -> None:
    found, _, _ = halves(make_rings, 0)
    between = np.array([[1.5, 0.0], [0.0, -1.5], [1.45, 0.1]])
    said = found.predict(between)
    assert not (said.how_codes == How.PROVEN).any()


def test_in_a_guessed_lift_new_rows_are_inferred() -> None:
    found, new, truth = halves(make_rings, 0, **AUTO)
    said = found.predict(new)
    assert (said.how_codes == How.INFERRED).any()
    assert not (said.how_codes == How.PROVEN).any()
    assert np.array_equal(said.labels, truth)


def test_a_lift_of_ones_own_labels_new_rows_and_is_not_kept_in_a_file(tmp_path) -> None:
    def squares(points):
        return np.column_stack([points, (points**2).sum(axis=1)])

    found, new, truth = halves(make_rings, 0, lift=squares)
    said = found.predict(new)
    assert np.array_equal(said.labels, truth)
    assert "in what the lift 'squares' returned" in str(said)
    with pytest.raises(InvalidInputError, match=r"'squares' .* since a function is not stored"):
        found.save(tmp_path / "found.result")
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize("options", [{}, AUTO], ids=["given", "auto"])
def test_a_loaded_result_labels_new_rows_in_the_same_way(tmp_path, options) -> None:
    found, new, _ = halves(make_rings, 1, **options)
    path = tmp_path / "found.result"
    found.save(path)
    again = samecluster.load(path)
    assert (again.lift, again.assumptions) == (found.lift, found.assumptions)
    one, other = again.predict(new), found.predict(new)
    assert str(one) == str(other)
    assert np.array_equal(one.labels, other.labels)
    assert np.array_equal(one.how_codes, other.how_codes)


def test_names_of_columns_are_kept(tmp_path) -> None:
    made = make_rings(300, random_state=0)
    frame = pd.DataFrame(made.X, columns=["height", "width"])
    found = recover(frame, LabelOracle(made.labels), margin=2.0, lift="quadratic", random_state=0)
    found.save(tmp_path / "found.result")
    said = samecluster.load(tmp_path / "found.result").assumptions[-1]
    assert said == found.assumptions[-1]
    assert "the quadratic lift of columns height, width" in said


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("degree", 3),
        ("degree", True),
        ("columns", [0]),
        ("columns", [1, 0]),
        ("shift", ["0x0.0p+0", "0x1.0p+0"]),
        ("exponent", [3, 3]),
        ("kind", "own"),
        ("kind", "spline"),
        (None, None),
    ],
    ids=str,
)
def test_a_forged_lift_in_a_file_is_refused(tmp_path, part, value) -> None:
    found, _, _ = halves(make_rings, 1)
    path, forged = tmp_path / "found.result", tmp_path / "forged.result"
    found.save(path)

    def forge(head: dict[str, Any]) -> None:
        first = head["proof"][0]
        if part is None:
            del first["lift"]
        else:
            first["lift"][part] = value

    edited(path, forged, forge)
    with pytest.raises(InvalidInputError, match=r"forged\.result (cannot be read|is no result)"):
        samecluster.load(forged)
