"""`--lift` on the command line: margins are shown, rings proven, other lifts refused."""

import csv
from pathlib import Path

import numpy as np
import pytest

from samecluster.instances import make_rings
from tests.cases.command_line import run


@pytest.fixture
def rings(tmp_path: Path) -> Path:
    made = make_rings(600, random_state=0)
    path = tmp_path / "rings.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "x", "y", "kind"])
        for row, (point, label) in enumerate(zip(made.X.tolist(), made.labels, strict=True)):
            writer.writerow([f"p{row}", *point, "ab"[label]])
    return path


def test_margins_in_lifts_are_shown_and_say_what_to_declare(rings) -> None:
    shown = run("margin", rings, "--labels", "kind")
    assert shown.returncode == 0, shown.stderr
    lines = [line.split() for line in shown.stdout.splitlines() if "about" in line]
    assert [line[1] for line in lines] == ["2", "3"]
    assert "--lift quadratic --margin 2 proves labels." in shown.stdout


def test_rings_are_proven_verified_and_keep_their_lift(rings, tmp_path) -> None:
    begin = ("cluster", rings, "--truth", "kind", "--id", "id")
    out, proof = tmp_path / "labels.csv", tmp_path / "proof.jsonl.gz"
    declared = ("--lift", "quadratic", "--margin", "2", "--clusters", "2")
    done = run(*begin, *declared, "-o", out, "--proof", proof)
    assert done.returncode == 0, done.stderr
    assert "in the quadratic lift of columns 0, 1" in done.stdout
    assert "0.00% of the labels are wrong" in done.stdout
    verified = run("verify", tmp_path / "proof.points.npy", proof)
    assert verified.returncode == 0
    assert "in the quadratic lift of columns x0, x1" in " ".join(verified.stdout.split())

    answers = (tmp_path / "rings.csv.samecluster").read_bytes()
    other = run(*begin, "--lift", "cubic", "-o", tmp_path / "more.csv")
    assert other.returncode == 2
    assert "the lift of a session stays (it is quadratic, and cubic was given)" in other.stderr
    assert len(other.stderr.strip().splitlines()) >= 1
    assert (tmp_path / "rings.csv.samecluster").read_bytes() == answers
    again = run(*begin, "--lift", "quadratic", "-o", tmp_path / "again.csv")
    assert again.returncode == 0
    assert (tmp_path / "again.csv").read_text() == out.read_text()


def test_a_lift_that_does_not_exist_leaves_no_session(rings) -> None:
    done = run("cluster", rings, "--truth", "kind", "--id", "id", "--lift", "round", "-o", "no.csv")
    assert done.returncode == 2
    assert 'lift must be "linear", "quadratic"' in done.stderr
    assert not rings.with_name("rings.csv.samecluster").exists()


def test_a_degree_that_makes_too_many_columns_is_one_line(tmp_path) -> None:
    path = tmp_path / "wide.csv"
    values = np.random.default_rng(0).normal(size=(30, 12)).tolist()
    rows = [[f"c{j}" for j in range(12)], *values]
    path.write_text("\n".join(",".join(map(str, [*row, "kind"][:13])) for row in rows))
    done = run("cluster", path, "--truth", "kind", "--lift", "quartic", "--margin", "1", "-o", "no")
    assert done.returncode == 2
    said = " ".join(done.stderr.split())
    assert "lift: degree 4 makes 1,819 columns of 12, and at most 400 are allowed" in said
    assert "Traceback" not in done.stderr


def test_rows_in_blocks_are_proven_in_the_lift(tmp_path) -> None:
    made = make_rings(40_000, random_state=1)
    np.save(tmp_path / "big.npy", made.X)
    np.save(tmp_path / "truth.npy", made.labels)
    proof = tmp_path / "proof.parquet"
    begin = ("cluster", tmp_path / "big.npy", "--in-blocks", "--truth", tmp_path / "truth.npy")
    declared = ("--lift", "quadratic", "--margin", "2")
    done = run(*begin, *declared, "-o", tmp_path / "found", "--proof", proof)
    assert done.returncode == 0, done.stderr
    assert "All 40,000 rows: 12 asked, 39,988 proven." in done.stdout
    assert run("verify", tmp_path / "big.npy", proof).returncode == 0
