"""`samecluster cluster --llm` against a real server on this machine."""

import csv
import json
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from examples.chat_server import ChatServerExample, Habits
from samecluster import How, clustering_error
from samecluster.oracles import LabelOracle
from samecluster.oracles.base import checked_reply
from samecluster.oracles.chat.item_values import data_url
from samecluster.sessions.running.drivers import drive_session
from samecluster.workspace.open import open_session, reopen
from samecluster.workspace.request import Request
from tests.cases.command_line import run
from tests.oracles.chat.tickets import MADE, TEXTS, TRUTH, server

SECRET = "sk-very-secret-4711"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch) -> Path:
    with (tmp_path / "tickets.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["ticket", "width", "height", "message", "topic"])
        for row, (point, text) in enumerate(zip(MADE.X.tolist(), TEXTS, strict=True)):
            writer.writerow([f"T-{row}", *point, text, TRUTH[text]])
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SAMECLUSTER_LLM_KEY", SECRET)
    return tmp_path


def cluster(at, *more, yes=True):
    sending = ["--yes"] if yes else []
    return run(
        "cluster", "tickets.csv", "--id", "ticket", "--truth", "topic", "--show", "message",
        "--llm", at.url, "--model", "tiny", "--criterion", "same topic", *sending, *more,
    )  # fmt: skip


def told(done) -> dict[str, Any]:
    facts: dict[str, Any] = json.loads(done.stdout)
    return facts


def test_a_model_finds_the_groups_and_is_named_in_log_and_claims(folder) -> None:
    with server(Habits(prose=0.2), key=SECRET) as at:
        done = cluster(at, "--prices", "0.15,0.60", "--max-cost", "2", "--json")
        assert done.returncode == 0, done.stderr
        n_sent = at.account.n_requests
        again = cluster(at, "--json")
    facts = told(done)
    assert facts["error"] == 0
    assert facts["people"] == ["model tiny"]
    assert facts["by_how"]["asked"] == facts["by_how"]["proven"] == 0
    assert "inferred, by model tiny, right if" in " ".join(facts["rests_on"])
    assert "column message goes to 127.0.0.1:" in done.stderr
    assert "at most $" in done.stderr
    assert f"tiny: {facts['looks']} looks, " in done.stderr
    assert facts["looks"] < facts["questions"] / 2, "it was asked pair by pair"
    assert told(again)["labelled"] == facts["labelled"]
    assert at.account.n_requests == n_sent
    kept = folder / "tickets.csv.samecluster-llm.jsonl"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert kept.name in done.stderr
    for path in folder.iterdir():
        assert SECRET.encode() not in path.read_bytes()
    assert SECRET not in done.stdout + done.stderr
    assert "T-1" not in kept.read_text(), "the id was sent"


def test_nothing_is_sent_before_somebody_agrees(folder) -> None:
    with server() as at:
        done = cluster(at, yes=False)
        assert done.returncode == 2
        assert "nothing was sent: say --yes to send it to 127.0.0.1:" in done.stderr
        assert at.account.n_requests == 0
    assert not (folder / "tickets.csv.samecluster").exists()


def test_the_same_run_elsewhere_costs_nothing_with_the_cache(folder) -> None:
    with server(key=SECRET) as at:
        assert cluster(at).returncode == 0
        before = at.account.n_requests
        (folder / "tickets.csv.samecluster").unlink()
        assert cluster(at).returncode == 0
        assert at.account.n_requests == before
        (folder / "tickets.csv.samecluster").unlink()
        kept = folder / "tickets.csv.samecluster-llm.jsonl"
        kept.unlink()
        assert cluster(at, "--no-cache").returncode == 0
        assert at.account.n_requests == 2 * before
        assert not kept.exists()


def test_at_the_limit_of_cost_there_are_labels_and_the_command_goes_on(folder) -> None:
    with server(key=SECRET) as at:
        cost = "--prices", "1,4", "--parallel", "1"
        done = cluster(at, *cost, "--max-cost", "0.0045", "--json")
        assert done.returncode == 0
        assert "Stopped: max_cost is $0.0045" in done.stderr
        assert at.account.cost((1, 4)) <= 0.0045
        n_asked = told(done)["questions"]
        assert n_asked > 0
        done = cluster(at, *cost, "--max-cost", "2", "--json")
        assert told(done)["error"] == 0
        assert at.account.n_requests == told(done)["looks"]


def test_a_server_that_fails_costs_no_answer(folder) -> None:
    with server(Habits(broken=0.1), key=SECRET) as at:
        for _ in range(100):
            done = cluster(at, "--retries", "0", "--parallel", "1")
            if done.returncode == 0:
                break
            assert done.returncode == 1
            assert "(500: Something went wrong)" in done.stderr
            assert "Traceback" not in done.stderr
        assert done.returncode == 0
        assert set(at.account.charges.values()) == {1}


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--audit", "0.05"], "an audit counts answers of people alone, and here model tiny"),
        (["--who", "ann"], "a model goes by its own name"),
        (["--oracle-cmd", "true"], "--llm and --oracle-cmd exclude each other"),
        (["--in-blocks"], "--llm does not go with --in-blocks"),
        (["--max-cost", "1"], "--max-cost needs prices"),
        (["--prices", "cheap"], "--prices must be two numbers"),
        (["--criterion", " "], "criterion must say"),
        (["--model", ""], "--llm needs the name of a model"),
        (["--llm", "http://192.0.2.1/v1"], "would get the key unencrypted"),
        (["--llm", "nowhere"], "the address of a chat server"),
        (["--show", "topic"], "is the truth, not to be seen"),
        (["--parallel", "0"], "parallel must be at least 1"),
    ],
)
def test_wrong_options_are_one_line_and_leave_nothing(folder, more, words) -> None:
    with server(key=SECRET) as at:
        done = cluster(at, *more)
        assert done.returncode == 2
        assert words in done.stderr.splitlines()[-1]
        assert at.account.n_requests == 0
    assert not (folder / "tickets.csv.samecluster").exists()
    assert SECRET not in done.stderr


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"key": "another"}, "the key is refused: set SAMECLUSTER_LLM_KEY"),
        ({"model": "large"}, "no such model"),
        ({"habits": Habits(refusal=1.0)}, "try another model or template"),
    ],
)
def test_what_the_server_refuses_is_said(folder, options, words) -> None:
    with server(**{"key": SECRET, **options}) as at:
        done = cluster(at, "--retries", "1")
    assert done.returncode == 1
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert SECRET not in done.stderr


def test_without_a_server_it_is_one_line_and_nothing_is_lost(folder) -> None:
    with server(key=SECRET) as at:
        pass
    done = cluster(at, "--retries", "1")
    assert done.returncode == 1
    assert "no server answers there" in done.stderr
    assert "the same command goes on" in done.stderr
    assert "Traceback" not in done.stderr


def test_blank_and_overlong_texts_are_said_and_stop_nothing(folder) -> None:
    with (folder / "tickets.csv").open(newline="") as file:
        rows = list(csv.reader(file))
    for row in rows[1:20]:
        row[3] = ""
    rows[30][3] += " and so on" * 2_000
    with (folder / "tickets.csv").open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    with server(truth={**TRUTH, rows[30][3]: rows[30][4]}, key=SECRET) as at:
        done = cluster(at, "--max-questions", "120", "--json")
    assert done.returncode == 0, done.stderr
    assert told(done)["labelled"] == 200
    assert "Traceback" not in done.stderr


def check(who="ann", **more):
    """What somebody who never errs does with `samecluster label` or `serve`."""
    opened = open_session(Request("tickets.csv", who=who, **more))
    right = LabelOracle(MADE.labels)
    with opened:
        line = opened.check_line()
        drive_session(
            opened.session,
            lambda looks: ((look, checked_reply(right, look)) for look in looks),
            who=who,
            looks=True,
        )
        return opened.session.snapshot(), opened.session.state, line


def test_people_check_the_labels_of_a_model_in_the_same_session(folder) -> None:
    with server(Habits(item_error=0.05), key=SECRET) as at:
        done = cluster(at)
        assert done.returncode == 0, done.stderr
        assert "samecluster serve tickets.csv --audit 0.05" in done.stdout
        found, state, line = check(audit="0.05")
        assert line is not None
        assert "check the labels that model tiny gave" in line
        again = cluster(at)
        assert again.returncode == 2
        assert "has answers of ann" in again.stderr
        again = cluster(at, "--join")
        assert again.returncode == 2
        assert "an audit counts answers of people alone" in again.stderr
    assert found.audit is not None
    assert found.audit.met
    people = state.answers_of_people()
    seen = {state.items.row_of[key] for pair in people["ann"] for key in pair}
    asked = set(np.flatnonzero(found.how_codes == How.ASKED).tolist())
    assert asked <= seen, "asked means asked of people"
    assert not found.count(How.PROVEN)
    n_said = len(people["ann"])
    told_so = " ".join(found.assumptions)
    assert f"checked by ann ({n_said} answers)" in told_so
    assert "inferred, by model tiny, right if the labels that model tiny gave are right" in told_so
    assert clustering_error(found.labels, MADE.labels) <= 0.05
    done = run("history", "tickets.csv.samecluster")
    assert "people's answers count alone; they check labels of model tiny" in done.stdout
    with reopen(Path("tickets.csv.samecluster")) as opened:
        assert opened.session.snapshot().labels.tolist() == found.labels.tolist()
        assert opened.session.snapshot().how.tolist() == found.how.tolist()


def test_a_model_may_go_on_after_people_and_then_nothing_is_asked(folder) -> None:
    with server(key=SECRET) as at:
        assert cluster(at, "--max-questions", "5").returncode == 0
        check(max_questions="20")
        assert cluster(at).returncode == 2
        facts = told(cluster(at, "--join", "--json"))
    assert sorted(facts["people"]) == ["ann", "model tiny"]
    assert facts["by_how"]["asked"] == 0, "labels rest on what the model said, too"
    found, _, line = check()
    assert line is not None, "and people check them anew"
    assert found.count(How.ASKED)


def test_the_budget_of_a_model_is_no_limit_for_people_and_they_may_set_their_own(folder) -> None:
    with server(key=SECRET) as at:
        assert cluster(at, "--max-questions", "5", "--max-looks", "3").returncode == 0
        _, state, _ = check(max_looks="2")
    assert state.parameters.get("max_questions") is None
    assert state.parameters["max_looks"] == 2
    found, state, _ = check()
    assert state.parameters["max_looks"] == 2, "what people declared stays"
    assert found.n_looks == 2


def test_people_audit_the_labels_of_a_model(folder) -> None:
    """As the command says at its end: with the labels as hints, and answers of people alone."""
    with server(Habits(item_error=0.05), key=SECRET) as at:
        assert cluster(at, "-o", "labels.csv").returncode == 0
    done = run(
        "cluster", "labels.csv", "--id", "ticket", "--features", "width,height", "--truth", "topic",
        "--labels", "cluster", "--labels-as", "hint", "--audit", "0.05", "--json",
    )  # fmt: skip
    facts = told(done)
    assert any("Audit, whatever the labels rest on: at most" in line for line in facts["rests_on"])
    assert facts["error"] <= 0.05
    assert not any("model tiny" in line for line in facts["rests_on"])


def test_from_a_shell_in_a_process_of_its_own(folder) -> None:
    with server(key=SECRET) as at:
        command = [sys.executable, "-m", "samecluster", "cluster", "tickets.csv", "--yes"]
        options = ["--llm", at.url, "--model", "tiny", "--criterion", "same", "--show", "message"]
        done = subprocess.run(
            [*command, *options, "--ignore", "topic", "-o", "labels.csv"],
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
        )
    assert done.returncode == 0, done.stderr
    assert "Nobody has checked what model tiny said." in done.stdout
    with open("labels.csv", newline="") as file:
        assert {row["how"] for row in csv.DictReader(file)} <= {"inferred", "predicted"}


def test_of_a_folder_the_pictures_are_sent_and_not_their_names(folder) -> None:
    Image = pytest.importorskip("PIL.Image")
    (folder / "pictures").mkdir()
    truth = {}
    for number in range(24):
        gray = np.random.default_rng(number).integers(0, 60, (16, 16), dtype=np.uint8)
        (gray if number % 2 else gray.T)[:8] += 180
        file = folder / "pictures" / f"secret-{number}.png"
        Image.fromarray(gray).save(file)
        truth[data_url(file.read_bytes())] = str(number % 2)
    with ChatServerExample(truth, Habits(), key=SECRET) as at:
        done = run(
            "cluster", "pictures", "--llm", at.url, "--model", "tiny", "--criterion",
            "same half bright", "--yes", "-o", "labels.csv",
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "the pictures themselves go to" in done.stdout + done.stderr
    kept = next(folder.glob("*-llm.jsonl")).read_text()
    assert "secret-" not in kept
    rows = list(csv.DictReader((folder / "labels.csv").read_text().splitlines()))
    found = [row["cluster"] for row in rows]
    true = [int(row["name"].split("-")[1].split(".")[0]) % 2 for row in rows]
    assert clustering_error(np.unique(found, return_inverse=True)[1], np.array(true)) == 0
