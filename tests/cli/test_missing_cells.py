"""Missing cells do not stop the first run: what is done about them is asked once, or said."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from samecluster.errors import InvalidInputError
from samecluster.workspace.open import open_session, reopen
from samecluster.workspace.request import Request
from tests.cases.command_line import run
from tests.cli.test_label import PROMPT, terminal

GOLDEN = Path(__file__).parents[1] / "golden" / "tables"
FILLED = "2 missing cells are filled in: by the median of the column, marked in a 0/1 column (x)."


@pytest.fixture
def gaps(tmp_path: Path) -> Path:
    """Two clear groups, two missing cells, and a column of ids."""
    rng = np.random.default_rng(0)
    lines = ["name,patient_id,x,y,truth"]
    for row in range(40):
        x = "" if row in (3, 17) else f"{20 * (row % 2) + rng.normal():.3f}"
        lines.append(f"n{row},{row // 2},{x},{9 * (row % 2) + rng.normal():.3f},{row % 2}")
    path = tmp_path / "gaps.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def words_of(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize(("key", "n_items"), [("m", 40), ("d", 38)])
def test_a_person_is_asked_once_in_the_terminal(gaps: Path, key: str, n_items: int) -> None:
    with terminal("label", gaps, "--id", "name", "--ignore", "truth") as screen:
        asked = words_of(screen.until("m, d, s, q: "))
        assert "2 cells are missing, in lines 5 and 19 (x). What is to be done?" in asked
        screen.press(key)
        shown = words_of(screen.until(PROMPT))
        assert (FILLED in shown) is (key == "m")
        assert f"{n_items} items" in shown
        assert "Left out: patient_id, as it looks like an identifier." in shown
        screen.press("q")
        assert screen.exit_code() == 0
    with terminal("label", gaps) as screen:
        assert "What is to be done" not in screen.until(PROMPT)
        screen.press("q")


@pytest.mark.parametrize("key", ["s", "q"])
def test_a_person_who_stops_leaves_no_session(gaps: Path, key: str) -> None:
    with terminal("label", gaps, "--id", "name") as screen:
        screen.until("m, d, s, q: ")
        screen.press(key)
        assert screen.exit_code() == 2
        assert "line 5, column 'x': no value; 2 rows have missing values" in words_of(screen.shown)
    assert [file.name for file in gaps.parent.iterdir()] == ["gaps.csv"]


def test_where_nobody_can_be_asked_medians_are_used_and_said(gaps: Path) -> None:
    inspected = run("inspect", gaps, "--id", "name", "--truth", "truth")
    labelled = run("label", gaps, "--id", "name", "--ignore", "truth", text="q\n")
    other = gaps.with_name("other.samecluster")
    clustered = run("cluster", gaps, "--id", "name", "--truth", "truth", "--session", other)
    for done in (inspected, labelled, clustered):
        assert done.returncode == 0, done.stderr
        told = words_of(done.stdout + done.stderr)
        assert FILLED in told
        assert "Left out: patient_id, as it looks like an identifier." in told


def test_a_session_keeps_its_rows_and_columns_when_it_is_opened_updated_and_exported(
    gaps: Path,
) -> None:
    session = Path(f"{gaps}.samecluster")
    with open_session(Request(str(gaps), id_column="name", ignore=["truth"])) as opened:
        X = opened.data.X
        assert X.shape == (40, 3)
    with reopen(session) as again:
        assert again.data.X.tobytes() == X.tobytes()
    lines = [*gaps.read_text().splitlines(), "new,99,5.5,,0", "other,98,,1.0,1"]
    gaps.write_text("\n".join(lines) + "\n")
    seen = json.loads(run("update", session, gaps, "--json").stdout)
    assert (seen["added"], seen["changed"]) == (["new", "other"], [])
    with reopen(session) as updated:
        assert updated.data.X[:40].tobytes() == X.tobytes()
        assert np.isfinite(updated.data.X).all()
        assert updated.data.X[40:, 2].tolist() == [0, 1], "y had no gap, and has no mark"
    out = gaps.with_name("out.csv")
    assert run("export", session, "-o", out).returncode == 0
    assert len(out.read_text().splitlines()) == 43
    with pytest.raises(InvalidInputError, match="--missing cannot change in a session"):
        open_session(Request(str(gaps), missing_cells="drop"))


def test_words_for_no_value_are_added_to_the_usual_ones(gaps: Path) -> None:
    gaps.write_text(
        gaps.read_text().replace("n3,1,,", "n3,1,k.A.,").replace("n17,8,,", "n17,8,NA,")
    )
    done = run("inspect", gaps, "--id", "name", "--na", "k.A.")
    assert FILLED in words_of(done.stdout)


def test_a_session_of_before_keeps_its_preparation(tmp_path: Path) -> None:
    """There --na replaced the usual words (NA is a category), and rows were dropped."""
    for file in GOLDEN.iterdir():
        shutil.copy(file, tmp_path)
    session = tmp_path / "table-1.csv.samecluster"
    with reopen(session) as opened:
        assert opened.data.X.shape == (23, 4)
        assert opened.data.X[:, 2:].sum(axis=1).tolist() == [1] * 23
        assert opened.session.state.n_questions == 3
        assert opened.session.ask("ann")
    assert run("export", session, "-o", tmp_path / "out.csv").returncode == 0
    with pytest.raises(InvalidInputError, match="--missing cannot change"):
        open_session(Request(str(tmp_path / "table-1.csv"), missing_cells="median"))


def test_proofs_say_that_they_are_about_filled_cells(gaps: Path) -> None:
    """Also when the session is opened again, and when more cells are missing after an update."""
    session = Path(f"{gaps}.samecluster")
    options = ("--id", "name", "--truth", "truth", "--margin", "0.5")
    assert run("cluster", gaps, *options).returncode == 0
    facts = json.loads(run("status", session, "--json").stdout)
    (proven,) = [claim for claim in facts["claims"] if claim["kind"] == "proven"]
    (prepared,) = [one for one in proven["premises"] if one["kind"] == "prepared"]
    assert prepared["details"] == {"n_filled": 2, "logarithms": []}
    assert "that is so with 2 missing cells filled in by medians and the answers" in proven["text"]
    gaps.write_text(gaps.read_text() + "new,99,5.5,,0\n")
    assert run("update", session, gaps).returncode == 0
    with reopen(session) as opened:
        (premise,) = opened.session.snapshot().prepared
        assert str(premise) == "that is so with 3 missing cells filled in by medians"


def test_margin_has_the_options_that_its_messages_name(gaps: Path) -> None:
    looked = ("margin", gaps, "--labels", "truth", "--id", "name")
    filled = run(*looked)
    assert FILLED in words_of(filled.stdout)
    stopped = run(*looked, "--missing", "error")
    assert stopped.returncode == 2
    assert "leave out the column with --ignore, or the rows with --missing drop" in stopped.stderr
    for options, rows, columns in (("--missing drop", 38, 2), ("--ignore x", 40, 1)):
        done = run(*looked, *options.split())
        assert f"{rows} rows, {columns} column" in done.stdout, done.stderr
        assert "Declare a margin of at most" in done.stdout
    assert "--labels COLUMN" in run("margin", gaps).stderr
