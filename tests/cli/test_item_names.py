"""People see items by id, file name, or line and first words; hashes are for --json."""

import json
import re

import numpy as np
import pytest
from PIL import Image

from tests.cases.command_line import run

HASH = re.compile(r"[0-9a-f]{16}")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    rows = [
        f"{kind},{x:.3f}" for kind in ("red", "blue") for x in rng.normal(kind == "red", 0.1, 9)
    ]
    (tmp_path / "d.csv").write_text("\n".join(["kind,size", *rows, ""]))
    pictures = tmp_path / "pictures"
    pictures.mkdir()
    for number in range(8):
        noise = np.random.default_rng(number).integers(0, 255, (8, 8), dtype=np.uint8)
        Image.fromarray(noise).save(pictures / f"p{number}.png")
    return tmp_path


def said(*arguments: object, text: str = "") -> str:
    done = run(*arguments, text=text)
    assert done.returncode == 0, done.stderr
    assert not HASH.search(done.stdout), done.stdout
    return done.stdout


def test_rows_are_known_by_line_and_first_words(folder) -> None:
    said("label", "d.csv", text="y\nn\nq\n")
    assert re.search(r"such as line \d+ \((red|blue), ", said("status", "d.csv"))
    told = said("history", "d.csv")
    assert re.search(r"line \d+ \((red|blue), .* and line \d+ \(.* same", told)
    line = re.search(r"line \d+", told)
    assert line is not None
    assert line[0] in said("doubt", "d.csv", line[0], text="q\n")
    said("split", "d.csv", "0", line[0], text="q\n")
    assert re.search(r"Taken back: answer \d+: line ", said("undo", "d.csv"))
    (event,) = [json.loads(x) for x in run("history", "d.csv", "--json").stdout.splitlines()][1:2]
    assert all(HASH.match(key) for key in event["body"]["items"])


def test_pictures_are_known_by_file_name(folder) -> None:
    said("label", "pictures", text="y\nq\n")
    assert re.search(r"such as p\d\.png", said("status", "pictures"))
    said("doubt", "pictures", "p1.png", text="q\n")
    done = run("doubt", "pictures", "p99.png")
    assert done.returncode == 2
    assert "by its file name" in done.stderr


def test_without_its_data_history_names_no_item(folder) -> None:
    said("label", "d.csv", text="y\nq\n")
    (folder / "d.csv").rename(folder / "elsewhere.csv")
    assert "an item and an item same" in said("history", "d.csv.samecluster")


def test_rows_that_came_are_named_and_those_gone_are_counted(folder) -> None:
    said("label", "d.csv", text="y\nq\n")
    lines = (folder / "d.csv").read_text().splitlines()
    (folder / "d.csv").write_text("\n".join([*lines[:-1], "green,5.5", ""]))
    told = said("update", "d.csv", "d.csv", "--dry-run")
    assert "added: line 19 (green, 5.5)" in told
    assert "removed:" not in told
    assert "1 removed" in told


def test_ids_that_look_like_hashes_stay(folder) -> None:
    ids = [f"{number:032x}" for number in range(6)]
    rows = [f"{key},{number}.5" for number, key in enumerate(ids)]
    (folder / "i.csv").write_text("\n".join(["id,size", *rows, ""]))
    assert run("label", "i.csv", "--id", "id", text="y\nq\n").returncode == 0
    assert any(key in run("status", "i.csv").stdout for key in ids)
