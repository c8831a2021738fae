"""Habits that are written down are kept: hooks, tools, ends of lines."""

import re
import subprocess
from pathlib import Path

import pytest

from tests.project.line_ends import main, troubles

ROOT = Path(__file__).parents[2]
BINARY = {".png", ".samecluster", ".gz", ".npy", ".parquet"}


def test_hooks_fetch_nothing_and_use_the_pinned_tools() -> None:
    hooks = (ROOT / ".pre-commit-config.yaml").read_text()
    assert re.findall(r"repo: (\S+)", hooks) == ["local"]
    pinned = (ROOT / "requirements-dev.txt").read_text()
    for tool in re.findall(r"entry: \.venv/bin/(\w+)", hooks):
        assert tool == "python" or re.search(rf"^{tool}==", pinned, re.MULTILINE), tool


def test_the_tools_of_the_makefile_are_pinned() -> None:
    pinned = (ROOT / "requirements-dev.txt").read_text()
    for tool in ("ruff", "mypy", "codespell", "coverage", "pytest", "hatchling"):
        assert re.search(rf"^{tool}==", pinned, re.MULTILINE), tool


def test_all_text_files_end_well() -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("no repository here")
    paths = [ROOT / name for name in listed.stdout.split("\0") if name]
    for path in paths:
        # A file of a program that was stopped in the middle of a line ends as it does.
        if path.is_file() and path.suffix not in BINARY and path.parent.name != "golden":
            assert troubles(path) == []


def test_a_file_that_ends_badly_is_named(tmp_path, capsys) -> None:
    path = tmp_path / "a.txt"
    path.write_text("one \ntwo")
    assert main([str(path)]) == 1
    assert capsys.readouterr().out.splitlines() == [
        f"{path}: does not end with one newline",
        f"{path}:1: ends with a blank",
    ]
    path.write_text("one\n")
    assert main([str(path)]) == 0
