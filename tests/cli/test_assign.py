"""``samecluster assign``: new rows by the answers of a session."""

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from samecluster.errors import InvalidInputError
from samecluster.instances import make_ellipsoids
from samecluster.recovery.result.how import How
from samecluster.workspace.export import ResultFiles
from samecluster.workspace.new_rows import NewLabels, label_new_rows
from samecluster.workspace.open import open_session, reopen
from samecluster.workspace.request import Request
from tests.cases.command_line import run

MADE = make_ellipsoids(500, 2, 3, random_state=0)


def write(path: Path, rows: Any, columns: str = "id,a,b,kind", **other: Any) -> Path:
    """Rows of the instance as CSV, in any order of columns; ``other`` replaces cells."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns.split(","))
        for row in rows:
            a, b = MADE.X[row].tolist()
            kind = "abc"[MADE.labels[row]]
            cells = {"id": f"i{row}", "a": a, "b": b, "kind": kind} | other
            writer.writerow([cells[name] for name in columns.split(",")])
    return path


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A session about the first 300 rows, answered to the end."""
    data = write(tmp_path_factory.mktemp("assign") / "d.csv", range(300))
    done = run("cluster", data, "--truth", "kind", "--id", "id", "--margin", "1")
    assert done.returncode == 0, done.stderr
    return data.with_name("d.csv.samecluster")


def assign(session: Path, new: Path, out: Path, size: int = 1 << 25, **how: Any) -> NewLabels:
    with reopen(session, read_only=True) as opened:
        return label_new_rows(opened, Request(data=str(new)), ResultFiles(str(out), **how), size)


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_new_rows_get_the_clusters_of_the_session(session: Path, tmp_path: Path) -> None:
    new, out = write(tmp_path / "n.csv", range(250, 500)), tmp_path / "o.csv"
    before = session.read_bytes()
    done = run("assign", session, new, "-o", out)
    assert done.returncode == 0, done.stderr
    assert "has 250 rows: " in done.stdout
    assert "if the margin 1 holds for the old rows and the new row together" in done.stdout
    assert session.read_bytes() == before
    found = rows_of(out)
    assert len({(row["kind"], row["cluster"]) for row in found}) == 3
    assert {row["how"] for row in found} <= {"asked", "proven"}
    again = run("assign", session, new, "-o", out, "--json")
    counts = json.loads(again.stdout)["how"]
    assert counts["asked"] + counts["proven"] == 250
    exported = tmp_path / "e.csv"
    assert run("export", session, "-o", exported).returncode == 0
    old = {row["id"]: (row["cluster"], row["how"]) for row in rows_of(exported)}
    for row in found:
        assert (row["cluster"], row["how"]) == old.get(row["id"], (row["cluster"], row["how"]))


def test_blocks_and_the_order_of_columns_make_no_difference(session: Path, tmp_path: Path) -> None:
    new = write(tmp_path / "n.csv", range(200, 500), "kind,b,id,a")
    whole, parts = tmp_path / "w.csv", tmp_path / "p.csv"
    assign(session, new, whole)
    labels = assign(session, new, parts, size=900)
    assert parts.read_bytes() == whole.read_bytes()
    assert labels.n_rows == 300
    straight = tmp_path / "s.csv"
    assign(session, write(tmp_path / "t.csv", range(200, 500)), straight)
    assert [row["cluster"] for row in rows_of(straight)] == [
        row["cluster"] for row in rows_of(whole)
    ]


def test_rows_far_away_are_in_no_cluster(session: Path, tmp_path: Path) -> None:
    new, out = write(tmp_path / "n.csv", [1], a=1e6), tmp_path / "o.csv"
    assert assign(session, new, out).how[How.UNASSIGNED] == 1
    (row,) = rows_of(out)
    assert (row["cluster"], row["how"], row["probability"]) == ("", "unassigned", "")


def test_missing_cells_are_filled_as_in_the_session(session: Path, tmp_path: Path) -> None:
    new, out = write(tmp_path / "n.csv", [1, 2], a=""), tmp_path / "o.csv"
    assign(session, new, out)
    assert len(rows_of(out)) == 2


BAD: dict[str, tuple[str, str]] = {
    "a column less": ("id,a\ni1,2\n", "n.csv has no column 'b'; it has id, a"),
    "text for numbers": ("id,a,b\ni1,2,3\ni2,many,3\n", "'many'"),
    "no rows": ("id,a,b\n", "n.csv has no rows"),
    "nothing": ("", "n.csv is empty"),
    "infinite": ("id,a,b\ni1,inf,3\n", "inf"),
    "result columns": ("id,a,b,cluster\ni1,2,3,4\n", "has a column 'cluster' already"),
    "late": ("id,a,b\n" + "i,1,2\n" * 50 + "i,1\n", "line 52"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_cannot_be_used_is_said_in_one_line(session: Path, tmp_path: Path, name: str) -> None:
    text, message = BAD[name]
    new = tmp_path / "n.csv"
    new.write_text(text)
    for size in (1 << 25, 20):
        with pytest.raises(InvalidInputError) as error:
            assign(session, new, tmp_path / "o.csv", size)
        assert message in str(error.value)
        assert "\n" not in str(error.value)
        assert [file.name for file in tmp_path.iterdir()] == ["n.csv"]


def test_files_that_are_no_results_stay(session: Path, tmp_path: Path) -> None:
    new, out = write(tmp_path / "n.csv", range(9)), tmp_path / "mine.csv"
    out.write_text("precious\n")
    with pytest.raises(InvalidInputError, match="no result of samecluster"):
        assign(session, new, out)
    assert out.read_text() == "precious\n"
    for taken in (new, session, session.with_suffix("")):
        with pytest.raises(InvalidInputError, match="name another"):
            assign(session, new, taken, force=True)
    assign(session, new, out, force=True)
    assign(session, new, out)  # ours by now
    assert len(rows_of(out)) == 9


def test_a_session_without_answers_has_nothing_to_say(tmp_path: Path) -> None:
    data = write(tmp_path / "d.csv", range(50))
    with open_session(Request(data=str(data))) as opened:
        path = opened.path
    with pytest.raises(InvalidInputError, match="no answers yet"):
        assign(path, data, tmp_path / "o.csv")


def test_names_categories_and_arrays(tmp_path: Path) -> None:
    data = write(tmp_path / "d.csv", range(200))
    options = ("--truth", "id", "--categories", "kind", "--features", "a,b")
    with data.open(newline="") as file:
        rows = list(csv.reader(file))
    with data.open("w", newline="") as file:
        csv.writer(file).writerows([rows[0], *([r[3], *r[1:]] for r in rows[1:])])
    assert run("cluster", data, *options).returncode == 0
    session = data.with_name("d.csv.samecluster")
    assert run("name", session, 0, "=first").returncode == 0
    new, out = write(tmp_path / "n.csv", range(200, 260)), tmp_path / "o.jsonl"
    assign(session, new, out)
    assert "=first" in {json.loads(line)["cluster"] for line in out.read_text().splitlines()}
    odd = write(tmp_path / "m.csv", range(5), kind="never")
    labels = assign(session, odd, tmp_path / "p.csv")
    assert labels.unseen == {"kind": {"never"}}
    assert "has not seen, in column 'kind': never" in labels.lines("p.csv")[-1]


def test_arrays_need_the_same_number_of_columns(tmp_path: Path) -> None:
    np.save(tmp_path / "d.npy", MADE.X[:200])
    np.save(tmp_path / "truth.npy", MADE.labels[:200])
    data = tmp_path / "d.npy"
    done = run("cluster", data, "--truth", tmp_path / "truth.npy", "--margin", "1", "--in-blocks",
               "-o", tmp_path / "labels")  # fmt: skip
    assert done.returncode == 0, done.stderr
    session, new = data.with_name("d.npy.samecluster"), tmp_path / "n.npy"
    np.save(new, MADE.X[200:])
    assert assign(session, new, tmp_path / "o.csv").how[How.PROVEN] > 290
    for wrong, message in ((3, "n.npy has 3 columns"), (1, "no column 'x1'")):
        np.save(new, np.ones((4, wrong)))
        with pytest.raises(InvalidInputError, match=message):
            assign(session, new, tmp_path / "o.csv")
