"""The list of the paper's statements has them all, and what it names exists."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "paper.md").read_text()
ROWS = re.findall(
    r"^- \*\*(.+?)\*\*: (.+?)(?: → (.+))?$",
    PAGE.partition("## Statement by statement")[2].partition("\n## ")[0],
    re.MULTILINE,
)
STATEMENTS = {"Theorem": 10, "Lemma": 12, "Definition": 4, "Algorithm": 2}


def numbers(kind: str) -> set[int]:
    """Which numbers of a kind of statement have a row."""
    found: set[int] = set()
    for row in ROWS:
        for first, last in re.findall(rf"{kind}s? (\d+)(?: to (\d+))?", row[0]):
            found |= set(range(int(first), int(last or first) + 1))
    return found


@pytest.mark.parametrize("kind", STATEMENTS)
def test_every_statement_has_a_row(kind) -> None:
    assert numbers(kind) == set(range(1, STATEMENTS[kind] + 1))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_code_and_tests_of_a_row_exist(row) -> None:
    _, code, tests = row
    if not tests:
        assert code.endswith(": –"), "code and tests, or a dash where there is nothing to run"
    else:
        assert re.search(r"`[\w/]+\.py: \w", code)
        assert re.search(r"`[\w/]+\.py::\w", tests)
    for path, names in re.findall(r"`([\w/]+\.py): ([\w, ]+)`", code):
        base = ROOT if path.startswith("benchmarks/") else ROOT / "src" / "samecluster"
        text = (base / path).read_text()
        for name in names.split(", "):
            assert re.search(rf"^ *(def|class) {name}\b", text, re.MULTILINE), f"{path}: {name}"
    for path, name in re.findall(r"`([\w/]+\.py)::(\w+)`", tests):
        assert f"def {name}(" in (ROOT / "tests" / path).read_text(), f"{path}::{name}"
    for quoted in re.findall(r"`([^`]+)`", code + tests):
        assert re.fullmatch(r"[\w/]+\.py(: [\w, ]+|::\w+)", quoted), f"unreadable: {quoted}"
