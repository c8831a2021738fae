"""The authors' published results, as far as the report needs them (see data/README.md)."""

from __future__ import annotations

import csv
from functools import cache
from importlib import resources

from samecluster.experiments.experiment import Row, rows_where

_TYPES = {"d": int, "run": int, "round": int, "questions": int, "error": float}
_NAMES = {"scq-k-means": "scq", "scq-k-means, whitened": "scq-whitened"}


def _read(name: str) -> list[Row]:
    text = resources.files("samecluster.experiments").joinpath("data", name).read_text("utf-8")
    return [
        {column: _TYPES.get(column, str)(cell) for column, cell in row.items()}
        for row in csv.DictReader(text.splitlines())
    ]


@cache
def published_results() -> tuple[Row, ...]:
    """One row per run: dataset, d, algorithm (named as here), run, questions, error."""
    return tuple(
        row | {"algorithm": _NAMES.get(row["algorithm"], "recur-published")}
        for row in _read("published_results.csv")
    )


@cache
def published_curves() -> tuple[Row, ...]:
    """RECUR round by round: d, run, questions, error; each run ends with its result."""
    ends = rows_where(published_results(), dataset="general", algorithm="recur-published")
    rounds = [*_read("published_curves.csv"), *ends]
    return tuple(sorted(rounds, key=lambda row: (row["d"], row["run"], row["questions"])))
