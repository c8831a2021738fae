"""``samecluster label`` and ``export`` on data in blocks, in a terminal and in pipes."""

import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from samecluster import clustering_error
from samecluster.cli.main import app
from samecluster.errors import InvalidInputError
from samecluster.instances import make_ellipsoids
from samecluster.workspace.open import open_session
from samecluster.workspace.request import Request
from tests.cases.large_session_cases import answer_all, folder_of, small_sample, write_parquet
from tests.cli.test_label import PROMPT, Terminal

MADE = make_ellipsoids(6_000, 2, 3, random_state=4)
# The command itself, with samples of 600 rows.
PROGRAM = """
import sys
import samecluster.workspace.in_blocks.sample as sampling
from samecluster.cli.main import main
sampling.sample_size = lambda n, d: 600
main()
"""

__all__ = ["small_sample"]


def invoked(*arguments: object) -> Any:
    return CliRunner().invoke(app, [str(one) for one in arguments])


def right_key(shown: str, truth: Any) -> str:
    one, two = re.findall(r"^shell +s(\d+) +s(\d+)", shown, re.MULTILINE)[-1]
    return "y" if truth[int(one)] == truth[int(two)] else "n"


def labelled_in_a_terminal(data: Path, truth: Any, *options: str) -> str:
    """All that is shown until nothing is left to ask; questions are answered by the truth."""
    screen = Terminal([sys.executable, "-c", PROGRAM, "label", str(data), *options])
    try:
        seen = new = ""
        while not new.endswith("b, q: "):
            new += screen.until(": ")
            if new.endswith(PROMPT):
                screen.press(right_key(new, truth))
                seen, new = seen + new, ""
        screen.press("s")
        assert screen.exit_code() == 0
        return f"{seen}{new}{screen.shown}".replace("\r", "")
    finally:
        screen.close()


def test_label_looks_at_all_rows_and_export_writes_them(tmp_path: Path) -> None:
    """The inspection, questions about sampled rows with the columns that were asked for, and the
    sweep by itself; then the same from the session alone."""
    data = write_parquet(tmp_path, MADE.X)
    options = ["--in-blocks", "--id", "shell", "--show", "shell,note", "--margin", "1"]
    shown = labelled_in_a_terminal(data, MADE.labels, *options)
    assert "points.parquet, 600 of 6,000 rows" in shown
    assert "The items are a sample: 600 of the 6,000 rows of points.parquet" in shown
    assert "Looking at the 5,400 rows outside the sample." in shown
    assert re.search(r"All 6,000 rows: \d+ asked, [\d,]+ proven\.", shown)
    assert re.search(r"^note +note \d+ +note \d+", shown, re.MULTILINE)
    assert f"samecluster label {data} --in-blocks".replace(" ", "") in "".join(shown.split())
    done = invoked("export", f"{data}.samecluster", "-o", tmp_path / "found")
    assert done.exit_code == 0, done.output
    assert "Labels of all rows are in" in done.output
    assert clustering_error(folder_of(tmp_path / "found")[0], MADE.labels) == 0
    assert "sample: 600 of the 6,000 rows" in " ".join(invoked("status", data).output.split())


def test_rows_join_while_somebody_labels(tmp_path: Path) -> None:
    """A cluster that the sample does not hold is asked about in the same run of the command."""
    rng = np.random.default_rng(0)
    centres = np.repeat([[0.0, 0.0], [60.0, 60.0], [0.0, 90.0]], [4_000, 4_000, 3], axis=0)
    X, truth = rng.normal(size=(8_003, 2)) + centres, np.repeat([0, 1, 2], [4_000, 4_000, 3])
    data = write_parquet(tmp_path, X)
    shown = labelled_in_a_terminal(data, truth, "--in-blocks", "--id", "shell", "--margin", "1")
    assert "Out of reach of the answers, so that they join the sample" in shown
    done = invoked("export", f"{data}.samecluster", "-o", tmp_path / "found")
    assert done.exit_code == 0, done.output
    assert clustering_error(folder_of(tmp_path / "found")[0], truth) == 0


@pytest.mark.usefixtures("small_sample")
def test_export_says_what_does_not_go_with_blocks(tmp_path: Path) -> None:
    data = write_parquet(tmp_path, MADE.X)
    with open_session(Request(str(data), in_blocks=True, margin="1")) as opened:
        answer_all(opened, MADE.labels)
    session = f"{data}.samecluster"
    before = sorted(tmp_path.iterdir())
    for arguments, message in (
        (["-o", tmp_path / "labels.csv"], "-o must name a folder"),
        (["-o", "-"], "-o must name a folder"),
        (["-o", tmp_path / "found", "--proof", tmp_path / "a" / "p"], f"{tmp_path}/a/p cannot"),
        (["-o", tmp_path], f"out: {tmp_path} exists already"),
        (["-o", tmp_path / "found", "--prefix", "x"], "--prefix does not go with data in blocks"),
    ):
        refused = invoked("export", session, *arguments)
        assert isinstance(refused.exception, InvalidInputError)
        assert str(refused.exception).startswith(message)
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.usefixtures("small_sample")
def test_export_says_which_rows_need_questions(tmp_path: Path) -> None:
    data = write_parquet(tmp_path, MADE.X)
    with open_session(Request(str(data), in_blocks=True, margin="1")) as opened:
        answer_all(opened, MADE.labels, most=3)
    done = invoked("export", f"{data}.samecluster", "-o", tmp_path / "found")
    assert "rows. `samecluster label` asks them" in done.output
