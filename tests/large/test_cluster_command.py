"""`samecluster cluster --in-blocks`: a session on a sample, driven by a program or by the truth."""

import json
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from samecluster import How, clustering_error
from samecluster.cli.main import app
from samecluster.errors import DataMismatchError, InvalidInputError, StoreError
from samecluster.instances import make_ellipsoids
from samecluster.large.answer_log import read_answer_log
from samecluster.questions.pair import Answer, Question, Verdict
from samecluster.sessions.storage.sqlite import SqliteStore
from samecluster.workspace.open import open_session
from samecluster.workspace.request import Request
from tests.cases.large_session_cases import answer_all, folder_of, small_sample, write_parquet

MADE = make_ellipsoids(3_000, 2, 3, random_state=4)
RNG = np.random.default_rng(0)
# Two large clusters and one of which a sample of 600 rows holds nothing.
CENTRES = np.repeat([[0.0, 0.0], [60.0, 60.0], [0.0, 90.0]], [2_000, 2_000, 3], axis=0)
RARE, RARE_LABELS = RNG.normal(size=(4_003, 2)) + CENTRES, np.repeat([0, 1, 2], [2_000, 2_000, 3])

PROGRAM = """
import json, sys, time
import numpy as np
labels = np.load(sys.argv[1])
for line in sys.stdin:
    question = json.loads(line)
    one, other = (labels[int(question[key]["key"][4:])] for key in ("item", "comparator"))
    assert set(question["item"]["fields"]) == {"x0", "x1"}, question
    time.sleep(float(sys.argv[2]))
    verdict = "same" if one == other else "different"
    print(json.dumps({"id": question["id"], "verdict": verdict}), flush=True)
"""

__all__ = ["small_sample"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    np.save(tmp_path / "points.npy", MADE.X)
    np.save(tmp_path / "labels.npy", MADE.labels)
    (tmp_path / "program.py").write_text(PROGRAM)
    return tmp_path


def program(folder: Path, pause: float = 0.0) -> tuple[str, str]:
    run = [sys.executable, folder / "program.py", folder / "labels.npy", pause]
    return "--oracle-cmd", shlex.join(map(str, run))


def truth(folder: Path) -> tuple[str, str]:
    return "--truth", str(folder / "labels.npy")


def arguments(folder: Path, *options: object) -> list[str]:
    return ["cluster", str(folder / "points.npy"), "--in-blocks", *map(str, options)]


def clustered(folder: Path, *options: object) -> dict[str, Any]:
    """The facts that the command prints."""
    done = CliRunner().invoke(app, [*arguments(folder, *options), "--json"])
    assert done.exit_code == 0, (done.output, done.exception)
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def refused(folder: Path, *options: object) -> str:
    done = CliRunner().invoke(app, arguments(folder, *options))
    assert isinstance(done.exception, InvalidInputError), done.exception
    return str(done.exception)


def n_answers(folder: Path) -> int:
    path = folder / "points.npy.samecluster"
    if not path.exists():
        return 0
    try:
        store = SqliteStore(path, read_only=True)
        try:
            return sum(event.kind == "answered" for event in store.read())
        finally:
            store.close()
    except StoreError:  # it is just being made
        return 0


def verified(data: Path, proof: Path) -> str:
    done = CliRunner().invoke(app, ["verify", str(data), str(proof)])
    assert done.exit_code == 0, done.output
    return " ".join(done.output.split())


def test_the_truth_or_a_program_answers(folder) -> None:
    """Both lead to the same labels, in files; a second run takes the answers of the first."""
    declared = ("--margin", "1", "--clusters", "3")
    told = clustered(folder, *truth(folder), *declared, "-o", folder / "found")
    assert told["points"] == 3_000
    assert told["questions"] == n_answers(folder) > 3
    labels, how = folder_of(folder / "found")
    assert clustering_error(labels, MADE.labels) == 0
    assert told["labels"] == {"asked": int((how == 4).sum()), "proven": int((how == 3).sum())}
    again = CliRunner().invoke(
        app, arguments(folder, *truth(folder), *declared, "-o", folder / "again")
    )
    assert "Labels of all rows are in" in again.output
    assert n_answers(folder) == told["questions"]
    assert (np.load(folder / "again" / "labels.npy") == labels).all()
    (folder / "points.npy.samecluster").unlink()
    other = clustered(folder, *program(folder), *declared, "-o", folder / "program")
    assert other["questions"] == told["questions"]
    assert (np.load(folder / "program" / "labels.npy") == labels).all()


def test_it_goes_on_with_a_session_that_a_person_began(folder) -> None:
    """`label --in-blocks` and `cluster` have one file; later neither needs --in-blocks."""
    request = Request(str(folder / "points.npy"), in_blocks=True, margin="1")
    with open_session(request) as opened:
        answer_all(opened, MADE.labels, most=3)
    done = CliRunner().invoke(
        app,
        [
            *("cluster", str(folder / "points.npy"), *program(folder), "--who", "label file"),
            *("--join", "-o", str(folder / "found")),
        ],
    )
    assert done.exit_code == 0, done.output
    assert "Going on with" in done.output
    assert clustering_error(folder_of(folder / "found")[0], MADE.labels) == 0


@pytest.mark.usefixtures("small_sample")
@pytest.mark.parametrize("margin", ["1", "auto"])
def test_an_audit_is_of_all_rows_and_is_not_repeated(folder, margin) -> None:
    """Rows outside the sample are asked about and become items; the same command asks nothing."""
    options = (*truth(folder), "--margin", margin, "--audit", "0.05,0.9")
    told = clustered(folder, *options, "-o", folder / "found")
    assert told["audit"]["met"]
    assert told["audit"]["of"] > 2_900, "it is not about the 600 rows of the sample"
    assert told["items"] > 600
    assert clustering_error(folder_of(folder / "found")[0], MADE.labels) < 0.05
    assert told["labels"]["asked"] > told["audit"]["checks"]
    if margin == "1":
        again = clustered(folder, *options)
        assert again["questions"] == told["questions"]
        assert again["audit"] == told["audit"]


@pytest.mark.usefixtures("small_sample")
def test_an_audit_finds_labels_that_are_wrong_and_the_session_learns_of_them(folder) -> None:
    """Rows of a third group that the first answers did not tell from the second."""
    centres = np.repeat([[0.0, 0.0], [60.0, 60.0], [75.0, 60.0]], [2_000, 2_000, 400], axis=0)
    labels = np.repeat([0, 1, 2], [2_000, 2_000, 400])
    np.save(folder / "points.npy", RNG.normal(size=(4_400, 2)) + centres)
    np.save(folder / "labels.npy", np.minimum(labels, 1))
    before = clustered(folder, *truth(folder), "--margin", "1")
    assert before["labels"]["proven"] > 4_000
    assert not before["trouble"]
    np.save(folder / "labels.npy", labels)
    told = clustered(folder, *truth(folder), "--audit", "0.05,0.9", "-o", folder / "found")
    assert told["audit"]["checks"] > 45, "as failures are found, more checks are needed"
    _, how = folder_of(folder / "found")
    assert np.count_nonzero(how[4_000:] == How.UNASSIGNED), "what was found wrong is corrected"
    assert told["questions"] > before["questions"]
    assert [one["kind"] for one in told["trouble"]] == ["refutation"], "the margin does not hold"


def test_a_guessed_margin_and_an_audit_are_told(folder) -> None:
    done = CliRunner().invoke(app, arguments(folder, *truth(folder), "--audit", "0.05,0.9"))
    assert "Nobody declared a margin:" in done.output
    assert "of the labels are wrong (90 % confidence" in done.output
    assert "All 3,000 rows: " in done.output


@pytest.mark.usefixtures("small_sample")
def test_rows_that_the_sample_cannot_decide_join_it_and_the_proof_is_of_all_rows(folder) -> None:
    np.save(folder / "points.npy", RARE)
    np.save(folder / "labels.npy", RARE_LABELS)
    files = ("-o", folder / "found", "--proof", folder / "proof.jsonl.gz")
    done = CliRunner().invoke(app, arguments(folder, *truth(folder), "--margin", "1", *files))
    assert done.exit_code == 0, done.output
    assert "join the sample" in done.output
    check = f"samecluster verify {folder / 'points.npy'} {folder / 'proof.jsonl.gz'}"
    assert check in done.output
    labels, how = folder_of(folder / "found")
    assert clustering_error(labels, RARE_LABELS) == 0
    assert (how >= How.PROVEN).all()
    shown = verified(folder / "points.npy", folder / "proof.jsonl.gz")
    assert "The proof holds: 4,003 of 4,003 labels in 3 clusters" in shown


@pytest.mark.usefixtures("small_sample")
@pytest.mark.parametrize("suffix", ["jsonl.gz", "parquet"])
def test_export_proves_all_rows_of_chosen_columns(tmp_path, suffix) -> None:
    """Where the data has other columns, the points that the proof is about are beside it."""
    data = write_parquet(tmp_path, MADE.X)
    with open_session(
        Request(str(data), in_blocks=True, id_column="shell", margin="1", clusters="3")
    ) as opened:
        answer_all(opened, MADE.labels)
    proof = tmp_path / f"proof.{suffix}"
    done = CliRunner().invoke(
        app, ["export", str(data), "-o", str(tmp_path / "found"), "--proof", str(proof)]
    )
    assert done.exit_code == 0, done.output
    assert f"samecluster verify {tmp_path / 'proof.points.npy'} {proof}" in done.output
    shown = verified(tmp_path / "proof.points.npy", proof)
    assert "The proof holds: 3,000 of 3,000 labels in 3 clusters" in shown
    assert "and there are 3 clusters" in shown, "every row is counted, not only the sample"


@pytest.mark.usefixtures("small_sample")
def test_while_questions_are_left_the_proof_is_of_what_follows_so_far(folder) -> None:
    with open_session(Request(str(folder / "points.npy"), in_blocks=True, margin="1")) as opened:
        answer_all(opened, MADE.labels, most=5)
    proof, out = folder / "proof.jsonl.gz", folder / "found"
    done = CliRunner().invoke(
        app, ["export", str(folder / "points.npy"), "-o", str(out), "--proof", str(proof)]
    )
    assert "Not known without more questions" in done.output
    _, how = folder_of(out)
    shown = verified(folder / "points.npy", proof)
    n_known = int(shown.partition(" of 3,000 labels")[0].rpartition(" ")[2].replace(",", ""))
    assert n_known >= np.count_nonzero(how >= How.PROVEN) > 0


def test_without_a_declared_margin_there_is_no_proof_to_write(folder) -> None:
    done = CliRunner().invoke(
        app, arguments(folder, *truth(folder), "--proof", folder / "proof.jsonl.gz")
    )
    assert "There is no proof to write, as nothing is proven" in done.output
    assert not (folder / "proof.jsonl.gz").exists()


@pytest.mark.usefixtures("small_sample")
def test_a_budget_is_kept_and_the_rest_is_predicted(folder) -> None:
    told = clustered(folder, *truth(folder), "--margin", "1", "--max-questions", "3")
    assert told["questions"] == 3
    assert told["labels"]["predicted"] > 100


def test_no_session_leaves_no_file_and_a_report_is_about_the_sample(folder) -> None:
    before = {path.name for path in folder.iterdir()}
    told = clustered(folder, *truth(folder), "--no-session", "--report", folder / "report.html")
    assert told["session"] is None
    assert {path.name for path in folder.iterdir()} == before | {"report.html"}


@pytest.mark.usefixtures("small_sample")
def test_a_column_of_names_may_be_the_truth(tmp_path) -> None:
    """It is no feature, and a program does not see it."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = {f"x{at}": MADE.X[:, at] for at in range(2)}
    kinds = pa.array([f"kind {label}" for label in MADE.labels])
    pq.write_table(pa.table(columns | {"kind": kinds}), tmp_path / "points.parquet")
    done = CliRunner().invoke(
        app,
        [
            *("cluster", str(tmp_path / "points.parquet"), "--in-blocks", "--truth", "kind"),
            *("--margin", "1", "-o", str(tmp_path / "found")),
        ],
    )
    assert done.exit_code == 0, done.output
    assert "Error against the truth: 0.00%" in done.output
    assert clustering_error(folder_of(tmp_path / "found")[0], MADE.labels) == 0


def test_ctrl_c_keeps_the_answers_and_the_same_command_goes_on(folder) -> None:
    """A real one, while the program is thinking about a question."""
    options = ("--margin", "1", "--clusters", "3", "-o", folder / "found")
    command = arguments(folder, *program(folder, 0.3), *options)
    with subprocess.Popen(
        [sys.executable, "-m", "samecluster", *command], stderr=subprocess.PIPE, text=True
    ) as running:
        while n_answers(folder) < 3:
            assert running.poll() is None
            time.sleep(0.05)
        running.send_signal(signal.SIGINT)
        _, said = running.communicate()
    assert running.returncode == 130, said
    assert "Stopped. All answers are kept; the same command goes on." in said
    assert not (folder / "found").exists()
    before = n_answers(folder)
    told = clustered(folder, *program(folder), *options)
    assert told["questions"] == n_answers(folder) > before
    assert clustering_error(np.load(folder / "found" / "labels.npy"), MADE.labels) == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "somebody must answer"),
        (["--truth", "species"], "columns have names in Parquet only"),
        (["--truth", "nothing.npy"], "there is no file nothing.npy"),
        (["--truth", "TRUTH", "--features", "x"], "columns can only be chosen in Parquet files"),
        (["--truth", "TRUTH", "--id", "a"], "columns have names in Parquet only"),
        (["--truth", "TRUTH", "--reduce", "1"], "--reduce does not go with --in-blocks"),
        (["--truth", "TRUTH", "-o", "labels.csv"], "-o must name a folder"),
        (["--truth", "TRUTH", "--prefix", "a"], "--prefix does not go with data in blocks"),
        (["--truth", "TRUTH", "--proof", "no/such/file"], "there is no folder no/such"),
        (["--truth", "TRUTH", "-o", "FOLDER"], "exists already"),
        (["--truth", "TRUTH", "--audit", "2"], "audit must be"),
        (
            ["--truth", "TRUTH", "--audit", "0.1", "--max-questions", "9"],
            "--max-questions does not go with --audit of data in blocks",
        ),
        (["--truth", "TRUTH", "--dask", "a", "--proof", "p"], "--proof does not go with --dask"),
    ],
)
def test_what_cannot_be_used_is_refused_and_leaves_nothing(folder, options, message) -> None:
    before = sorted(folder.iterdir())
    given = {"TRUTH": folder / "labels.npy", "FOLDER": folder}
    assert message in refused(folder, *(given.get(one, one) for one in options))
    assert sorted(folder.iterdir()) == before


def test_a_truth_of_another_length_is_refused(folder) -> None:
    np.save(folder / "few.npy", MADE.labels[:10])
    assert "one label for each of 3,000 rows" in refused(folder, "--truth", folder / "few.npy")


# -- answers that were kept before there were sessions ---------------------------------------------

GOLDEN = Path(__file__).parents[1] / "golden" / "answers-1.jsonl"
"""Written by `samecluster cluster points.npy --in-blocks --truth labels.npy --margin 1`, before
sessions, about `make_ellipsoids(3_000, 2, 3, random_state=4)`; the last line is cut short."""


def test_answers_of_the_old_kind_are_imported_once(folder) -> None:
    """They are not asked again, and one line says so; the file stays as it is."""
    old = folder / "points.npy.answers.jsonl"
    old.write_bytes(GOLDEN.read_bytes())
    known = read_answer_log(GOLDEN, 3_000)
    fresh = clustered(folder, *truth(folder), "--margin", "1", "--no-session")
    first = CliRunner().invoke(
        app, arguments(folder, *truth(folder), "--margin", "1", "-o", folder / "found")
    )
    assert first.exit_code == 0, first.output
    line = f"{len(known)} answers of {old} imported into {folder / 'points.npy.samecluster'}"
    assert first.output.count(line) == 1
    assert n_answers(folder) <= fresh["questions"]
    assert clustering_error(folder_of(folder / "found")[0], MADE.labels) == 0
    again = CliRunner().invoke(app, arguments(folder, *truth(folder)))
    assert again.exit_code == 0, again.output
    assert "imported into" not in again.output
    assert old.read_bytes() == GOLDEN.read_bytes()


@pytest.mark.usefixtures("small_sample")
def test_rows_of_old_answers_that_are_not_in_the_sample_join_it(folder) -> None:
    (folder / "points.npy.answers.jsonl").write_bytes(GOLDEN.read_bytes())
    rows = {row for answer in read_answer_log(GOLDEN, 3_000) for row in answer.question.pair}
    told = clustered(folder, *truth(folder), "--margin", "1")
    assert 600 < told["items"] <= 600 + len(rows)
    assert told["labels"]["asked"] >= len(rows)


HEADER = '{"rows": 10, "columns": 2}\n'
LINE = '{"item": 7, "comparator": 3, "verdict": "same"}\n'


def test_an_answer_that_was_half_written_is_dropped(tmp_path) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_text(HEADER + LINE + '{"item": 4, "compar')
    assert read_answer_log(path, 10) == [Answer(Question(7, 3), Verdict.SAME)]
    path.write_text("")
    assert read_answer_log(path, 10) == []


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("nonsense", "line 3 is no JSON"),
        ('{"item": 1}', "line 3 is no answer"),
        ('{"item": 1, "comparator": 1, "verdict": "same"}', "line 3 is no answer"),
        ('{"item": 1, "comparator": 2, "verdict": "maybe"}', "line 3 is no answer"),
    ],
)
def test_a_line_that_is_no_answer_is_named(line, message, tmp_path) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_text(HEADER + LINE + line + "\n")
    with pytest.raises(StoreError, match=message):
        read_answer_log(path, 10)


def test_answers_about_other_data_are_not_taken(tmp_path) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_text(HEADER + LINE)
    with pytest.raises(DataMismatchError, match="10 rows, not 11"):
        read_answer_log(path, 11)
