"""The command on data in blocks: who answers, Ctrl-C and going on, and the file of answers."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from samecluster import clustering_error
from samecluster.cli.commands.large import LargeRequest, cluster_large
from samecluster.cli.main import app
from samecluster.cli.options import OracleCommandOptions
from samecluster.errors import DataMismatchError, InvalidInputError, StoreError
from samecluster.instances import make_ellipsoids
from samecluster.large.answer_log import AnswerLog
from samecluster.questions.pair import Answer, Question, Verdict

MADE = make_ellipsoids(3_000, 2, 3, random_state=4)

PROGRAM = """
import json, sys, time
import numpy as np
labels = np.load(sys.argv[1])
for line in sys.stdin:
    question = json.loads(line)
    one, other = (labels[int(question[key]["key"][4:])] for key in ("item", "comparator"))
    assert len(question["item"]["fields"]) == 2
    time.sleep(float(sys.argv[2]))
    verdict = "same" if one == other else "different"
    print(json.dumps({"id": question["id"], "verdict": verdict}), flush=True)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    np.save(tmp_path / "points.npy", MADE.X)
    np.save(tmp_path / "labels.npy", MADE.labels)
    (tmp_path / "program.py").write_text(PROGRAM)
    return tmp_path


def request(folder: Path, pause: float | None = None, **changed: Any) -> LargeRequest:
    program = f"{sys.executable} {folder}/program.py {folder}/labels.npy {pause}"
    given: dict[str, Any] = {
        "data": folder / "points.npy",
        "features": None,
        "truth": str(folder / "labels.npy"),
        "program": None if pause is None else OracleCommandOptions(program, 1, 30.0, 0),
        "declared": {"n_clusters": 3, "margin": 1.0},
        "out": folder / "found",
        "proof": None,
    }
    return LargeRequest(**given | changed)


def n_answers(folder: Path) -> int:
    kept = folder / "points.npy.answers.jsonl"
    return len(kept.read_text().splitlines()) - 1 if kept.exists() else 0


def test_the_truth_or_a_program_answers(folder, capsys) -> None:
    """Both lead to the same labels, in files; a second run takes the answers of the first."""
    cluster_large(request(folder), json=True)
    told = json.loads(capsys.readouterr().out)
    assert told["points"] == 3_000
    assert told["questions"] == n_answers(folder) > 3
    labels = np.load(folder / "found" / "labels.npy")
    assert clustering_error(labels, MADE.labels) == 0
    cluster_large(request(folder, out=folder / "again"), json=False)
    assert "Labels are in" in capsys.readouterr().out
    assert n_answers(folder) <= told["questions"] + 2
    assert clustering_error(np.load(folder / "again" / "labels.npy"), labels) == 0
    (folder / "points.npy.answers.jsonl").unlink()
    cluster_large(request(folder, 0.0, out=folder / "program"), json=False)
    assert (np.load(folder / "program" / "labels.npy") == labels).all()


def test_a_guessed_margin_and_an_audit_are_told(folder, capsys) -> None:
    cluster_large(request(folder, declared={"audit": (0.05, 0.9)}, out=None), json=False)
    told = capsys.readouterr().out
    assert "guessed" in told
    assert "of the labels are wrong (90 % confidence" in told


def test_ctrl_c_keeps_the_answers_and_the_same_command_goes_on(folder, capsys) -> None:
    """A real one, while the program is thinking about a question."""
    code = (
        "import sys; from pathlib import Path; sys.path.insert(0, sys.argv[1])\n"
        "from tests.large.test_cluster_command import cluster_large, request\n"
        "cluster_large(request(Path(sys.argv[2]), 0.3), json=False)"
    )
    root = Path(__file__).parents[2]
    with subprocess.Popen(
        [sys.executable, "-c", code, str(root), str(folder)], stderr=subprocess.PIPE, text=True
    ) as running:
        while n_answers(folder) < 3:
            assert running.poll() is None
            time.sleep(0.05)
        running.send_signal(signal.SIGINT)
        _, said = running.communicate()
    assert "Exit" in said or running.returncode == 130
    assert "Stopped. Answers are kept in" in said
    assert not (folder / "found").exists()
    kept = AnswerLog(folder / "points.npy.answers.jsonl", 3_000, 2).answers
    cluster_large(request(folder), json=True)
    assert json.loads(capsys.readouterr().out)["questions"] > len(kept)
    log = AnswerLog(folder / "points.npy.answers.jsonl", 3_000, 2)
    assert log.answers[: len(kept)] == kept
    assert len({answer.question for answer in log.answers}) == len(log.answers)
    assert clustering_error(np.load(folder / "found" / "labels.npy"), MADE.labels) == 0


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"truth": None}, "somebody must answer"),
        ({"truth": "species"}, "columns can only be chosen in Parquet files"),
        ({"data": Path("nothing.npy")}, "does not exist"),
        ({"features": ["x"]}, "columns can only be chosen in Parquet files"),
    ],
)
def test_what_cannot_be_used_is_refused_and_leaves_nothing(folder, changed, message) -> None:
    before = sorted(folder.iterdir())
    with pytest.raises(InvalidInputError, match=message):
        cluster_large(request(folder, **changed), json=False)
    assert sorted(folder.iterdir()) == before


def test_a_truth_of_another_length_is_refused(folder) -> None:
    np.save(folder / "few.npy", MADE.labels[:10])
    with pytest.raises(InvalidInputError, match=r"one label for each of 3,000 rows"):
        cluster_large(request(folder, truth=str(folder / "few.npy")), json=False)


ANSWER = Answer(Question(7, 3), Verdict.SAME)


def test_an_answer_that_was_half_written_is_dropped(tmp_path) -> None:
    """What came before it stays, and the file can be gone on with."""
    path = tmp_path / "answers.jsonl"
    AnswerLog(path, 10, 2).append(ANSWER)
    with path.open("a") as file:
        file.write('{"item": 4, "compar')
    log = AnswerLog(path, 10, 2)
    assert log.answers == [ANSWER]
    log.append(Answer(Question(1, 2), Verdict.UNSURE))
    assert len(AnswerLog(path, 10, 2).answers) == 2


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
    AnswerLog(path, 10, 2).append(ANSWER)
    with path.open("a") as file:
        file.write(line + "\n")
    with pytest.raises(StoreError, match=message):
        AnswerLog(path, 10, 2)


def test_answers_about_other_data_are_not_taken(tmp_path) -> None:
    path = tmp_path / "answers.jsonl"
    AnswerLog(path, 10, 2).append(ANSWER)
    with pytest.raises(DataMismatchError, match="10 rows of 2 columns, not 11 rows of 2"):
        AnswerLog(path, 11, 2)


def test_the_command_takes_data_in_blocks(folder) -> None:
    runner = CliRunner()
    points, truth = str(folder / "points.npy"), str(folder / "labels.npy")
    told = runner.invoke(
        app,
        [
            "cluster",
            points,
            "--in-blocks",
            "--truth",
            truth,
            "--margin",
            "1",
            "-o",
            f"{folder}/out",
        ],
    )
    assert told.exit_code == 0, told.output
    assert clustering_error(np.load(folder / "out" / "labels.npy"), MADE.labels) == 0
    refused = runner.invoke(app, ["cluster", points, "--in-blocks", "--truth", truth, "--id", "a"])
    assert isinstance(refused.exception, InvalidInputError)
    assert str(refused.exception).startswith("--id does not go with --in-blocks")
