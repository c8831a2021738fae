"""What benchmarks/measured.md says of lifts is what the benchmark measures."""

import re
from pathlib import Path

import pytest

from benchmarks.lifts import CASES, HEADINGS, row

PAGE = (Path(__file__).parents[2] / "benchmarks" / "measured.md").read_text()


def cells_of(name: str) -> list[str]:
    (line,) = [line for line in PAGE.splitlines() if line.startswith(f"| {name} |")]
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_the_page_has_a_row_for_every_case_and_says_the_goals() -> None:
    assert "| " + " | ".join(HEADINGS) + " |" in PAGE
    for case in CASES:
        cells = cells_of(case.name)
        for cell, goal in zip(cells[3:6], (case.with_k, case.without_k), strict=False):
            assert f"(≤ {goal}" in cell
            numbers = [int(n) for n in re.findall(r"\d+", cell.partition("(")[0])]
            assert ("missed" in cell) == (max(numbers) > goal)


@pytest.mark.parametrize("case", [CASES[0], CASES[1], CASES[4]], ids=lambda case: case.name)
def test_the_first_seed_is_as_the_page_says(case) -> None:
    measured = row(case, 10_000, 1, others=False)
    for now, said in zip(measured[3:], cells_of(case.name)[3:6], strict=True):
        assert re.findall(r"\d+", now)[0] == re.findall(r"\d+", said)[0]
