"""Images by their shapes: shifted or turned ones stay near, and old sessions keep pixels."""

import numpy as np
import pytest
from PIL import Image
from scipy import ndimage
from sklearn.datasets import load_digits

from samecluster.errors import InvalidInputError
from samecluster.tables import FeatureOptions, Preparation
from samecluster.tables.reading.detect import read_table
from samecluster.tables.reading.image_shapes import colour_features, shape_features
from samecluster.workspace.request import Request
from samecluster.workspace.stored_preparation import StoredPreparation
from tests.cases.command_line import run


def scanned(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Digits of scikit-learn at 28 by 28, each moved, turned, stretched and noisy."""
    found, rng = load_digits(), np.random.default_rng(seed)
    chosen = rng.choice(len(found.target), n, replace=False)
    pictures = []
    for picture in found.images[chosen] / 16:
        page = np.zeros((28, 28))
        down, across = rng.integers(2, 7, 2)
        page[down : down + 20, across : across + 20] = ndimage.zoom(picture, 2.5, order=1)
        turn, slant, size = (
            np.deg2rad(rng.normal(0, 8)),
            rng.normal(0, 0.15),
            rng.uniform(0.85, 1.15),
        )
        about = (
            np.array([[np.cos(turn), slant - np.sin(turn)], [np.sin(turn), np.cos(turn)]]) * size
        )
        centre = np.array([13.5, 13.5])
        page = ndimage.affine_transform(page, about, offset=centre - about @ centre, order=1)
        pictures.append(np.clip(page + rng.normal(0, 0.05, page.shape), 0, 1))
    return np.array(pictures), found.target[chosen]


def neighbours_agree(X: np.ndarray, groups: np.ndarray) -> float:
    """The share of items whose nearest neighbour is of their group."""
    squares = (X**2).sum(axis=1)
    distance = squares[:, None] + squares - 2 * X @ X.T
    np.fill_diagonal(distance, np.inf)
    return float((groups[distance.argmin(axis=1)] == groups).mean())


def test_scanned_digits_are_nearer_by_shapes_than_by_pixels() -> None:
    pictures, groups = scanned(300)
    shapes = neighbours_agree(shape_features(pictures), groups)
    assert shapes > neighbours_agree(pictures.reshape(300, -1), groups) + 0.05
    assert shapes > 0.8


def test_digits_as_they_are_lose_nothing() -> None:
    found = load_digits()
    large = np.array([ndimage.zoom(one, 4, order=1) for one in found.images / 16])
    assert neighbours_agree(shape_features(large), found.target) > 0.99


@pytest.mark.parametrize("size", [1, 2, 3, 8, 32])
def test_every_size_and_flat_pictures_have_finite_features(size) -> None:
    flat = np.full((2, size, size), 0.5)
    noise = np.random.default_rng(0).random((3, size, size))
    for pictures in (flat, noise):
        assert np.isfinite(shape_features(pictures)).all()
    coloured = np.random.default_rng(1).random((3, size, size, 3))
    assert colour_features(coloured).shape == (3, 48)
    assert np.isfinite(colour_features(coloured)).all()


def test_an_edge_counts_in_its_own_direction_only() -> None:
    edge = np.zeros((1, 32, 32))
    edge[:, :, 16:] = 1.0
    histogram = shape_features(edge).reshape(9, 5, 5).sum(axis=(1, 2))
    assert histogram[0] > 0
    assert not histogram[1:].any()
    assert np.array_equal(shape_features(edge), shape_features(1 - edge)), "an edge has no sign"


@pytest.fixture
def folder(tmp_path):
    for number in range(8):
        noise = np.random.default_rng(number).integers(0, 255, (12, 12), dtype=np.uint8)
        Image.fromarray(noise).save(tmp_path / f"{number}.png")
    return tmp_path


def test_a_folder_is_read_by_shapes_and_colours(folder) -> None:
    gray = read_table(folder, image_by="shapes")
    assert {name: m.shape for name, m in gray.matrices.items()} == {"shapes": (8, 225)}
    Image.fromarray(np.zeros((5, 5, 3), dtype=np.uint8)).save(folder / "black.png")
    coloured = read_table(folder, image_by="shapes")
    shapes = {name: matrix.shape for name, matrix in coloured.matrices.items()}
    assert shapes == {"shapes": (9, 225), "colours": (9, 48)}
    with pytest.raises(InvalidInputError, match="--image-by must be 'shapes' or 'pixels'"):
        read_table(folder, image_by="smell")


def test_a_session_keeps_what_its_images_are_compared_by(folder) -> None:
    assert run("label", folder, "--image-by", "pixels", text="q\n").returncode == 0
    assert run("label", folder, text="q\n").returncode == 0
    done = run("label", folder, "--image-by", "shapes", text="q\n")
    assert done.returncode == 2
    assert "--image-by cannot change" in done.stderr


def test_a_session_of_before_knows_pixels_only(folder) -> None:
    table = read_table(folder)
    reading = StoredPreparation.reading_of(Request(str(folder)))
    assert reading.pop("image_by") == "shapes"
    options = FeatureOptions()
    stored = StoredPreparation(Preparation.fit(table, options), options, table.names, reading)
    again = StoredPreparation.from_json(stored.to_json())
    assert again.reading_for(Request(str(folder)))["image_by"] == "pixels"
