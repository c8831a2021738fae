"""The results as tables of the docs: errors beside those of others, and said against true."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.real.sets import SETS

_HERE = Path(__file__).parent
RESULTS = _HERE / "results.jsonl"
_ROOT = _HERE.parents[1]
OURS = ("predict", "certify")
PAGES = {_ROOT / "docs" / "prediction.md": (100, 200, 500, 1000), _ROOT / "README.md": (200,)}
"""Where the table stands, and the numbers of questions in it."""

Records = list[dict[str, Any]]

_BEGIN, _END = "<!-- bench-real -->", "<!-- end of bench-real -->"
_TITLES = {
    "predict": "samecluster, `predict`",
    "certify": "samecluster, nothing declared",
    "graph": "graph",
    "svm": "RBF SVM, k given",
    "cobras": "COBRAS",
    "activeml": "scikit-activeml, k given",
}
_AS_GOOD = 0.005  # points of a percent: less is a tie in the table
_FEWEST = 50  # answers from which on what is said is compared with the truth
_FACTOR, _POINTS = 2.0, 0.003


def read(path: Path = RESULTS) -> Records:
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def write_tables() -> None:
    for page, marks in PAGES.items():
        page.write_text(with_table(page.read_text(encoding="utf-8"), marks), encoding="utf-8")


def with_table(text: str, marks: tuple[int, ...]) -> str:
    """A page with the table of now between its two comments."""
    before, _, rest = text.partition(_BEGIN)
    _, _, after = rest.partition(_END)
    records = read()
    lines = [table(records, marks), "", behind(records, marks), "", closeness(records)]
    return before + "\n".join([_BEGIN, "", *lines, "", _END]) + after


def table(records: Records, marks: tuple[int, ...]) -> str:
    """Errors in %, the least of each set and mark in bold; means of the seeds that were run."""
    at = "/".join(f"{mark:,}" for mark in marks)
    lines = [f"| % wrong at {at} questions | {' | '.join(_TITLES.values())} |"]
    lines.append("|---|" + "---|" * len(_TITLES))
    for name in _measured(records):
        means = _means(records, name, marks)
        best = {mark: min(v for (_, m), v in means.items() if m == mark) for mark in _marks(means)}
        cells = (
            "/".join(_cell(means.get((method, mark)), best.get(mark, 0.0)) for mark in marks)
            for method in _TITLES
        )
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def behind(records: Records, marks: tuple[int, ...]) -> str:
    """Where others are ahead of both of ours, said in a sentence; and when it was measured."""
    places = []
    for name in _measured(records):
        means = _means(records, name, marks)
        for mark in _marks(means):
            at = {method: v for (method, m), v in means.items() if m == mark}
            ours = min((at[method] for method in OURS if method in at), default=np.inf)
            first = min(at, key=at.__getitem__)
            if at[first] < ours - _AS_GOOD:
                places.append(f"{name} at {mark:,} ({_TITLES[first]})")
    dates = sorted({one["date"] for one in records})
    seeds = sorted({len(_seeds(records, name, m)) for name in SETS for m in _TITLES} - {0})
    return (
        f"Others are ahead at {', '.join(places) or 'none of these'}. Means of {seeds[0]} to "
        f"{seeds[-1]} seeds, {dates[-1]}."
    )


def closeness(records: Records) -> str:
    """How often what runs said of their error was close to it."""
    close = [is_close(said, true) for _, said, true in said_and_true(records)]
    return (
        f"What runs said of their error was within a factor of two of it, or .3 points, at "
        f"{sum(close)} of {len(close)} checkpoints."
    )


def _measured(records: Records) -> list[str]:
    return [name for name in SETS if any(one["set"] == name for one in records)]


def _seeds(records: Records, name: str, method: str) -> set[int]:
    return {one["seed"] for one in records if (one["set"], one["method"]) == (name, method)}


def _means(records: Records, name: str, marks: tuple[int, ...]) -> dict[tuple[str, int], float]:
    found = {(m, mark): _mean(records, name, m, mark) for m in _TITLES for mark in marks}
    return {key: value for key, value in found.items() if value is not None}


def _marks(means: dict[tuple[str, int], float]) -> list[int]:
    return sorted({mark for _, mark in means})


def _mean(records: Records, name: str, method: str, mark: int) -> float | None:
    found = [
        r["error"]
        for r in records
        if (r["set"], r["method"], r["questions"]) == (name, method, mark)
    ]
    return 100 * float(np.mean(found)) if found else None


def _cell(value: float | None, best: float) -> str:
    if value is None:
        return "–"
    shown = f"{value:.2g}" if value < 10 else f"{value:.0f}"
    return f"**{shown}**" if value <= best else shown


def said_and_true(records: Records) -> Iterator[tuple[str, float, float]]:
    """What runs of ours said of their error, and what it was."""
    for one in records:
        if one.get("said") is not None and one["questions"] >= _FEWEST and "ended" not in one:
            yield one["set"], one["said"], one["error"]


def is_close(said: float, true: float) -> bool:
    """Within a factor of two, or .3 points."""
    return abs(said - true) <= _POINTS or 1 / _FACTOR <= said / max(true, 1e-9) <= _FACTOR
