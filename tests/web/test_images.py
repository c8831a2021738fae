"""Images: only files inside the data's folder, only what is an image by content."""

import csv
import struct
from pathlib import Path

import numpy as np
import pytest

from samecluster.web.example_data import gray_png
from samecluster.web.images import LARGEST, Images, image_type
from samecluster.web.server import Address, ServeOptions, Server
from samecluster.workspace.open import open_session
from samecluster.workspace.request import Request
from tests.web.served import TOKEN, Data, in_thread
from tests.web.test_security import TRAVERSALS

PNG = gray_png(np.arange(12).reshape(3, 4))
SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
HEADS = {
    "image/png": PNG,
    "image/jpeg": b"\xff\xd8\xff\xe0rest",
    "image/gif": b"GIF89arest",
    "image/webp": b"RIFF\x10\0\0\0WEBPVP8 ",
    "image/bmp": b"BM" + struct.pack("<IHHI", 70, 0, 0, 54),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "outside.png").write_bytes(PNG)
    inner = tmp_path / "inner"
    (inner / "pictures").mkdir(parents=True)
    (inner / "pictures" / "a.png").write_bytes(PNG)
    (inner / "link out.png").symlink_to(tmp_path / "outside.png")
    (inner / "link in.png").symlink_to(inner / "pictures" / "a.png")
    (inner / "folder out").symlink_to(tmp_path)
    (inner / "fake.png").write_bytes(SVG)
    (inner / "page.png").write_bytes(b"<!doctype html><script>alert(1)</script>")
    (inner / "drawing.svg").write_bytes(SVG)
    (inner / "named.txt").write_bytes(PNG)
    return inner


@pytest.mark.parametrize(("kind", "head"), HEADS.items())
def test_the_type_is_read_from_the_content(kind, head) -> None:
    assert image_type(head) == kind


@pytest.mark.parametrize("head", [SVG, b"", b"<html>", b"BM", b"GIF8", b"\x89PNG", b"%PDF-1.7"])
def test_everything_else_is_no_image(head) -> None:
    assert image_type(head) is None


@pytest.mark.parametrize(
    "name",
    [
        *TRAVERSALS,
        "../outside.png",
        "pictures/../../outside.png",
        "link out.png",
        "folder out/outside.png",
        "pictures",
        "",
        ".",
        "a\0b.png",
        "x" * 5000,
        "http://127.0.0.1/outside.png",
        "/dev/zero",
        "/proc/self/environ",
        "fake.png",
        "page.png",
        "drawing.svg",
    ],
)
def test_cells_that_lead_elsewhere_have_no_image(folder, name) -> None:
    images = Images(folder, [name])
    assert images.address(0) is None
    for opaque in images._by_id:
        assert images.read(opaque) is None


@pytest.mark.parametrize(
    "name", ["pictures/a.png", "link in.png", "./pictures//a.png", "named.txt"]
)
def test_files_inside_the_folder_are_shown(folder, name) -> None:
    images = Images(folder, [name])
    address = images.address(0)
    assert address is not None
    assert name not in address
    assert images.read(address.rpartition("/")[2]) == (PNG, "image/png")


def test_a_file_that_was_exchanged_meanwhile_is_not_shown(folder) -> None:
    images = Images(folder, ["pictures/a.png"])
    opaque = str(images.address(0)).rpartition("/")[2]
    (folder / "pictures" / "a.png").unlink()
    (folder / "pictures" / "a.png").symlink_to(folder.parent / "outside.png")
    assert images.read(opaque) is None


def test_enormous_files_are_not_read(folder) -> None:
    with (folder / "huge.png").open("wb") as file:
        file.write(PNG)
        file.truncate(LARGEST + 1)
    assert Images(folder, ["huge.png"]).address(0) is None


def picture_table(folder: Path, column: str = "photo") -> Data:
    rows = 12
    with (folder / "shells.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["shell", "length", "width", column, "found at"])
        for row in range(rows):
            name = f"pictures/{row}.png"
            (folder / name).write_bytes(gray_png(np.full((2, 2), row)))
            writer.writerow([f"s{row}", row % 2 * 9 + row / 10, row, name, "beach"])
    return Data(folder / "shells.csv", {f"s{row}": row % 2 for row in range(rows)})


def test_a_column_of_paths_becomes_pictures_on_the_page(folder) -> None:
    with in_thread(picture_table(folder)) as served:
        owner = served.owner()
        assert owner.get("session")["kind"] == "image"
        (question,) = owner.next()
        address = question["item"]["image"]
        assert "pictures" not in address
        cells = [{"column": "found at", "text": "beach", "percentile": None}]
        assert question["item"]["cells"] == cells, "beside a picture there are words, no numbers"
        shown = owner.client.get(address)
        assert shown.headers["content-type"] == "image/png"
        assert shown.headers["x-content-type-options"] == "nosniff"
        assert shown.content.startswith(b"\x89PNG")
        assert owner.client.get("/api/v1/images/" + "0" * 32).status_code == 404
        assert served.client(None).get(address).status_code == 401


def test_a_folder_of_images_is_shown_by_name(tmp_path) -> None:
    pytest.importorskip("PIL")
    folder = tmp_path / "scans"
    folder.mkdir()
    for number in range(8):
        pixels = np.full((6, 6), 200 * (number % 2) + number)
        (folder / f"scan {number}.png").write_bytes(gray_png(pixels))
    opened = open_session(Request(str(folder)))
    with opened:
        serving = Server(opened, str(folder), Address(port=0), ServeOptions(token=TOKEN))
        item = serving.context.views.item(3)
        assert item["title"] == "scan 3.png"
        assert item["image"].startswith("/api/v1/images/")
        serving.close()
