"""Folders of images, and vectors that live apart from what is shown."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from samecluster.errors import InvalidInputError
from samecluster.tables import FeatureOptions, Preparation, as_table, item_keys, read_table
from samecluster.tables.reading.load import load_data
from samecluster.tables.reading.vectors import join_vectors
from samecluster.tables.writing import write_results


@pytest.fixture
def folder(tmp_path):
    """Five pictures, two of them with the same bytes, and a file that is no picture."""
    place = tmp_path / "pictures"
    (place / "inner").mkdir(parents=True)
    for at, name in enumerate(["b.png", "a.PNG", "inner/c.bmp", "d.png"]):
        Image.new("RGB", (8, 6), (60 * at, 10, 200)).save(place / name, format=name[-3:].lower())
    (place / "e.png").write_bytes((place / "d.png").read_bytes())
    (place / "notes.txt").write_text("no picture")
    return place


def test_a_folder_of_images_is_a_table_of_pixels_in_the_order_of_names(folder) -> None:
    table = read_table(folder, image_size=4)
    assert list(table.column("name").texts) == ["a.PNG", "b.png", "d.png", "e.png", "inner/c.bmp"]
    assert table.matrices["pixels"].shape == (5, 4 * 4 * 3)
    assert table.matrices["pixels"][0, :3].tolist() == [60 / 255, 10 / 255, 200 / 255]
    preparation = Preparation.fit(table, FeatureOptions(reduce=2))
    X = preparation.apply(table)
    assert X.shape == (5, 2)
    assert np.array_equal(X[2], X[3])
    assert Preparation.from_json(preparation.to_json()).apply(table).tobytes() == X.tobytes()
    without = read_table(folder, image_size=None)
    with pytest.raises(InvalidInputError, match="comes without the pixels"):
        preparation.apply(without)
    with pytest.raises(InvalidInputError, match="the pixels have 12 columns, not 48"):
        preparation.apply(read_table(folder, image_size=2))


def test_gray_images_have_one_number_a_pixel(tmp_path) -> None:
    for name in "ab":
        Image.new("L", (5, 5), 51).save(tmp_path / f"{name}.png")
    pixels = read_table(tmp_path, image_size=3).matrices["pixels"]
    assert pixels.tolist() == [[0.2] * 9] * 2


def test_an_image_is_known_by_its_content_not_by_its_name(folder) -> None:
    before = dict(zip(*keyed(folder), strict=True))
    (folder / "b.png").rename(folder / "renamed.png")
    moved = folder.rename(folder.with_name("moved"))
    after = dict(zip(*keyed(moved), strict=True))
    assert after["renamed.png"] == before["b.png"]
    assert before["e.png"] == before["d.png"] + "#2"
    assert item_keys(read_table(moved, image_size=None), "name")[0] == "a.PNG"


def keyed(folder):
    table = read_table(folder, image_size=None)
    return table.column("name").texts, item_keys(table)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("x.png", b"no picture", "x.png is no image that can be read"),
        ("x.txt", b"text", "is a folder without images"),
    ],
)
def test_what_is_no_image_is_named(name, content, message, tmp_path) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InvalidInputError, match=message):
        read_table(tmp_path)


def test_a_truncated_image_is_named(folder) -> None:
    whole = (folder / "inner/c.bmp").read_bytes()
    (folder / "inner/c.bmp").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InvalidInputError, match=r"c.bmp is no image that can be read"):
        read_table(folder)
    with pytest.raises(InvalidInputError, match="size of images must be at least 1"):
        read_table(folder, image_size=0)


def test_pixels_come_with_advice(folder) -> None:
    assert "--embed MODEL" in load_data(folder, image_size=4).notes[1]


def test_vectors_are_joined_by_the_order_of_the_names(folder, tmp_path) -> None:
    vectors = tmp_path / "vectors.npy"
    np.save(vectors, np.arange(10.0).reshape(5, 2))
    with pytest.raises(InvalidInputError, match="say --order name"):
        load_data(folder, vectors=vectors)
    loaded = load_data(folder, vectors=vectors, order="name")
    assert list(loaded.table.matrices) == ["vectors"]
    assert loaded.table.matrices["vectors"][4].tolist() == [8, 9]
    assert loaded.notes[1] == "  a.PNG - row 0 of vectors.npy"
    assert loaded.notes[-1] == "  inner/c.bmp - row 4 of vectors.npy"
    np.save(vectors, np.zeros((4, 2)))
    with pytest.raises(InvalidInputError, match=r"vectors.npy has 4 rows and pictures has 5"):
        load_data(folder, vectors=vectors, order="name")


def test_first_and_last_three_pairs_are_listed() -> None:
    joined = join_vectors(as_table({"x": list(range(9))}), as_table(np.zeros((9, 2))))
    assert [pair[0] for pair in joined.pairs] == [f"row {i}" for i in (0, 1, 2, 6, 7, 8)]


@pytest.mark.parametrize("kind", ["csv", "parquet", "jsonl"])
def test_vectors_are_joined_by_id(kind, tmp_path) -> None:
    """With columns of numbers or a column of lists, and vectors that no item needs."""
    data, file = tmp_path / "data.csv", tmp_path / f"vectors.{kind}"
    data.write_text("id,says\nb,hello\na,world\n")
    if kind == "csv":
        file.write_text("p,id,q\n1,a,2\n3,b,4\n5,c,6\n")
    else:
        columns = {"id": ["a", "b", "c"], "v": [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]}
        rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        if kind == "parquet":
            pq.write_table(pa.table(columns), file)
        else:
            file.write_text("\n".join(map(json.dumps, rows)))
    loaded = load_data(data, id_column="id", vectors=file)
    assert loaded.table.matrices["vectors"].tolist() == [[3, 4], [1, 2]]
    assert loaded.notes[0].startswith("Vectors are joined by id (id); for no item: 1.")
    preparation = Preparation.fit(loaded.table, FeatureOptions(id_column="id"))
    assert preparation.apply(loaded.table).shape == (2, 2)
    assert preparation.columns == ()


@pytest.mark.parametrize(
    ("vectors", "message"),
    [
        ({"id": ["a"], "p": [1.0]}, "data, row 1, column 'id': vectors has no vector for 'b'"),
        ({"id": ["a", "a"], "p": [1.0, 2.0]}, "vectors, row 1, column 'id': the id 'a' is also"),
        ({"id": ["a", "b"], "p": ["x", "y"]}, "vectors has no column of numbers only"),
        ({"id": ["a", "b"], "p": [[1, 2], [3]]}, "row 1, column 'p': a list of 2 numbers"),
        ({"id": ["a", "b"], "p": [[1], ["x"]]}, "column 'p': lists of numbers are needed"),
        ({"id": ["a", "b"], "p": [[1.0], [float("inf")]]}, "row 1, number 0 of the vector: inf"),
        ({"p": [1.0, 2.0, 3.0]}, "vectors has 3 rows and data has 2"),
    ],
)
def test_vectors_that_do_not_fit_are_named(vectors, message) -> None:
    table = as_table({"id": ["a", "b"], "says": ["x", "y"]})
    with pytest.raises(InvalidInputError, match=message):
        join_vectors(table, as_table(vectors, "vectors"), id_column="id")


def test_order_needs_vectors_and_a_known_word(folder, tmp_path) -> None:
    with pytest.raises(InvalidInputError, match="there are no --vectors"):
        load_data(folder, order="name")
    with pytest.raises(InvalidInputError, match="order must be 'name', got 'size'"):
        join_vectors(as_table([[1], [2]]), as_table([[1], [2]]), order="size")


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_results_name_images_and_have_no_hashes(folder, tmp_path, suffix) -> None:
    table, out = read_table(folder, image_size=None), tmp_path / f"labels.{suffix}"
    write_results(table, out, [0] * 5, ["asked"] * 5, [1.0] * 5)
    assert read_table(out).names == ("name", "cluster", "how", "probability")
