"""The pictures of the documentation show what the pages say of them."""

import itertools
import re
from pathlib import Path

import numpy as np
import pytest

from docs.making.pictures import looks, plane, progress, proof, reach
from docs.making.pictures.__main__ import FOLDER, NAMES, draw
from samecluster import clustering_error

PAGE = (FOLDER.parent / "how_it_works.md").read_text()


def test_all_pictures_are_there_and_small_and_nothing_else() -> None:
    drawn = {f"{name}.svg" for name in NAMES}
    assert {path.name for path in FOLDER.iterdir()} == {*drawn, "page.png"}
    for path in FOLDER.iterdir():
        assert path.stat().st_size < 150_000, path.name
    for path in FOLDER.glob("*.svg"):
        assert not re.search(r"<image[^>]*href=\"(?!data:)", path.read_text())


@pytest.mark.parametrize("name", ["margin", "reach", "closure", "proof"])
def test_a_picture_is_drawn_anew_alike(name, tmp_path) -> None:
    """As many shapes as in the file that is kept: other versions round coordinates otherwise."""
    draw(name, tmp_path / "new.svg")
    shapes = [
        (Path(folder) / name).read_text().count("<use")
        for folder, name in ((tmp_path, "new.svg"), (FOLDER, f"{name}.svg"))
    ]
    assert shapes[0] == shapes[1] > 50


def test_the_run_in_the_plane_is_exact_with_six_questions() -> None:
    made, found = plane.run()
    assert (len(made.X), found.n_questions, clustering_error(found.labels, made.labels)) == (
        450,
        6,
        0,
    )
    assert "450 points in three ellipses, recovered exactly with six questions" in PAGE


def test_no_foreign_point_is_within_the_enlarged_ellipse_and_the_nearest_touches_it() -> None:
    made, _ = plane.run()
    norms = made.ellipsoids[plane.CLUSTER].norms(made.X)
    own = made.labels == plane.CLUSTER
    ratio = norms[~own].min() / norms[own].max()
    assert 1 < ratio / np.sqrt(1 + plane.MARGIN) < 1.01


def test_weights_of_the_reach_are_those_of_the_page() -> None:
    made, _ = plane.run()
    known = made.X[plane.known_by_step()[0]]
    own = np.flatnonzero(made.labels == plane.CLUSTER)
    sizes = {int(item): np.abs(reach.weights_of(int(item), known)).sum() for item in own}
    reached = [item for item, size in sizes.items() if size <= np.sqrt(1 + plane.MARGIN)]
    assert len(reached) - 3 == 88
    weights = reach.weights_of(max(reached, key=sizes.__getitem__), known)
    assert sorted(np.round(weights, 2)) == [-0.11, 0.53, 0.58]
    assert "88 points are in it after three answers" in PAGE


def test_what_is_proven_in_a_step_is_in_the_reach_of_the_step_before() -> None:
    made, _ = plane.run()
    steps = plane.known_by_step()
    assert [len(steps[0]), len(steps[1]), len(steps[-1])] == [3, 91, 150]
    assert "After five steps all 150 points" in PAGE
    assert len(steps) == 6
    for before, after in itertools.pairwise(steps):
        corners = plane.reach_outline(made.X[before], plane.MARGIN)
        edges = np.diff(corners, axis=0)
        for point in made.X[np.setdiff1d(after, before)]:
            away = point - corners[:-1]
            assert (edges[:, 0] * away[:, 1] - edges[:, 1] * away[:, 0] >= -1e-9).all()


def test_the_proof_in_the_picture_rests_on_the_three_answers() -> None:
    steps = plane.known_by_step()
    item = int(steps[-1][-1])
    used = proof.chain(item)
    answers = set(steps[0].tolist())
    assert {one for support in used.values() for one in support} - used.keys() == answers
    assert len(answers.intersection(used[item])) == 2
    assert f"The label of item {item}" in PAGE


def test_the_picture_of_the_readme_shows_proven_labels_and_the_numbers_of_its_text() -> None:
    told = {}
    for method in ("certify", "recur"):
        asked, known = zip(*progress.curve(method), strict=True)
        assert list(known) == sorted(known)
        assert known[-1] == progress.N
        told[method] = asked[-1]
    readme = (FOLDER.parents[1] / "README.md").read_text()
    assert f"certify proves all {progress.N:,} labels with {told['certify']} questions" in readme
    assert f"RECUR with {told['recur']:,}" in readme


def test_the_first_picture_of_the_readme_is_the_run_that_its_text_tells_of() -> None:
    found, readme = looks.run(), " ".join((FOLDER.parents[1] / "README.md").read_text().split())
    n_looks, error = found.errors[-1]
    assert (n_looks, round(error * 17.97)) == (found.n_looks, found.n_wrong)
    assert f"{found.told}](docs/pictures/looks.svg)" in readme
    assert f"It stops by itself; {found.told}." in readme
    sheet, odd = looks.shown_sheet()
    assert "A sheet of twelve digits with four odd ones marked" in readme
    assert (len(sheet.items), len(odd)) == (12, 4)
