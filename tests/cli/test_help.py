"""Help that is whole: every command in a group, every summary on a line, options under headings."""

import shlex
import sys
from pathlib import Path
from unittest.mock import patch

import pytest
import typer

from samecluster.cli.main import COMMANDS, app
from samecluster.workspace.typed_command import typed, typed_again
from tests.cases.command_line import run, run_apart

GROUP = typer.main.get_command(app)
NAMES = [name for commands in COMMANDS.values() for name in commands]


def test_the_help_has_every_command_and_no_summary_is_cut() -> None:
    told = " ".join(run("-h").stdout.split())
    assert told == " ".join(run("--help").stdout.split())
    for commands in COMMANDS.values():
        for name, summary in commands.items():
            assert f"{name} {summary}" in told
    assert "..." not in told.replace("[ARGS]...", "")
    assert next(iter(COMMANDS["Commands"])) == "label"


@pytest.mark.parametrize("name", NAMES)
def test_every_command_has_help_with_an_example_that_fits_on_a_line(name, monkeypatch) -> None:
    told = run(name, "-h").stdout
    (example,) = [line for line in told.splitlines() if "Example: " in line]
    words = shlex.split(example.partition("Example: ")[2])
    assert words[:2] == ["samecluster", name]
    assert "Options:" in told
    assert "list[" not in told


def test_options_are_under_headings() -> None:
    told = run("cluster", "-h").stdout
    headings = [line for line in told.splitlines() if line.endswith(":") and line[0] != " "]
    assert headings[:3] == ["Arguments:", "Who answers:", "Results:"]
    assert {"Session:", "Features:", "Questions:", "Reading the data:"} <= set(headings)
    assert told.index("Questions:") < told.index("--max-questions")


def test_the_shell_completes_commands_and_options(monkeypatch) -> None:
    monkeypatch.setenv("_SAMECLUSTER_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", "samecluster cl")
    monkeypatch.setenv("COMP_CWORD", "1")
    assert run_apart().stdout.split() == ["cluster"]
    monkeypatch.setenv("COMP_WORDS", "samecluster cluster --max")
    monkeypatch.setenv("COMP_CWORD", "2")
    assert set(run_apart().stdout.split()) == {
        "--max-questions",
        "--max-looks",
        "--max-memory",
        "--max-cost",
    }


def test_a_wrong_name_gets_a_suggestion() -> None:
    done = run("clustr")
    assert done.returncode == 2
    assert "No such command 'clustr'" in done.stderr


def test_a_command_is_printed_so_that_it_can_be_typed() -> None:
    words = ["samecluster", "label", "my data.csv", "--show", "a b"]
    with patch.object(sys, "argv", words):
        assert shlex.split(typed_again()) == words
    with patch.object(sys, "argv", ["/x/samecluster/__main__.py", "status"]):
        assert shlex.split(typed_again()) == [sys.executable, "-m", "samecluster", "status"]


def test_a_program_that_is_not_found_by_its_name_goes_by_its_path(tmp_path, monkeypatch) -> None:
    program = tmp_path / "samecluster"
    program.write_text("")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", "")
    with patch.object(sys, "argv", [str(program)]):
        assert shlex.split(typed("status")) == [str(program), "status"]
        monkeypatch.setenv("PATH", str(tmp_path))
        assert typed("status") == "samecluster status"


def data(folder: Path) -> Path:
    rows = [f"{x},{'red' if x % 2 else 'blue'},{x * 7 % 5}" for x in range(12)]
    (folder / "my data.csv").write_text("\n".join(["size,kind,other", *rows, ""]))
    return folder / "my data.csv"


def test_what_is_shown_is_remembered_and_printed(tmp_path) -> None:
    file = data(tmp_path)
    first = run("label", file, "--show", "kind", text="y\nq\n").stdout
    assert "--show kind" in first
    assert "kind" in first
    again = run("label", file, text="q\n").stdout.partition("Going on with")[2]
    assert "kind" in again
    assert "other" not in again
    other = run("label", file, "--show", "other", text="q\n").stdout.partition("Going on with")[2]
    assert "other" in other


def test_data_without_a_session_is_told_how_to_begin_one(tmp_path) -> None:
    file = data(tmp_path)
    for command in ("status", "history", "undo"):
        done = run(command, file)
        assert done.returncode == 1
        assert f"samecluster label '{file}'" in done.stderr
        assert f"samecluster serve '{file}'" in done.stderr
    assert "label" in run("status", tmp_path).stderr


def test_a_question_mark_says_what_keys_do(tmp_path) -> None:
    told = run("label", data(tmp_path), text="?\nq\n").stdout
    for words in ("yes, both are in one group", "take the last answer back", "quit; all answers"):
        assert words in told


def test_probabilities_have_four_digits_and_are_certain_only_if_they_are(tmp_path) -> None:
    from samecluster.tables import as_table
    from samecluster.tables.writing import write_results

    out = tmp_path / "out.csv"
    shares = [1.0, 0.99999, 0.123456789, None]
    write_results(as_table({"x": [1, 2, 3, 4]}), str(out), [0, 0, 0, 0], ["asked"] * 4, shares)
    ends = [line.rpartition(",")[2] for line in out.read_text().splitlines()[1:]]
    assert ends == ["1.0", "0.9999", "0.1235", ""]
