"""The command line as a user meets it; once in a process of its own, with nothing around it."""

import subprocess

import samecluster
from tests.cases.command_line import command, run


def test_demo_shows_the_table() -> None:
    done = run("demo", "--points", "3000", "--dimension", "2", "--clusters", "3")
    assert done.returncode == 0, done.stderr
    for words in ("points", "3,000", "questions asked", "9,000", "error", "0.00%", "time"):
        assert words in done.stdout
    for next_step in ("serve YOUR.csv", "label YOUR.csv"):
        assert f"samecluster {next_step}" in done.stdout


def test_errors_are_one_line_without_traceback() -> None:
    done = subprocess.run(
        command("demo", "--points", "3", "--clusters", "5"),
        capture_output=True,
        text=True,
        env={"PATH": ""},
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.strip() == "samecluster: n must be at least k and k at least 1, got n=3, k=5"


def test_help_and_version() -> None:
    assert "demo" in run("--help").stdout
    assert "Example: samecluster demo" in run("demo", "--help").stdout
    assert run("--version").stdout.strip() == f"samecluster {samecluster.__version__}"
