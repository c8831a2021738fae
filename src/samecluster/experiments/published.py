"""The authors' published results, as far as the report needs them (see data/README.md)."""

from __future__ import annotations

import csv
from functools import cache
from importlib import resources

from samecluster.experiments.experiment import Row

__all__ = ["published_curves", "published_results"]


def _read(name: str) -> list[dict[str, str]]:
    text = resources.files("samecluster.experiments").joinpath("data", name).read_text("utf-8")
    return list(csv.DictReader(text.splitlines()))


@cache
def published_results() -> tuple[Row, ...]:
    """One row a run: dataset, d, algorithm (named as here), run, questions, error."""
    names = {"scq-k-means": "scq", "scq-k-means, whitened": "scq-whitened"}
    return tuple(
        {
            "dataset": row["dataset"],
            "d": int(row["d"]),
            "algorithm": names.get(row["algorithm"], "recur-published"),
            "run": int(row["run"]),
            "questions": int(row["questions"]),
            "error": float(row["error"]),
        }
        for row in _read("published_results.csv")
    )


@cache
def published_curves() -> tuple[Row, ...]:
    """RECUR round by round: d, run, questions, error; each run ends with its result."""
    rounds = [
        {
            "d": int(row["d"]),
            "run": int(row["run"]),
            "questions": int(row["questions"]),
            "error": float(row["error"]),
        }
        for row in _read("published_curves.csv")
    ]
    ends = [
        {name: row[name] for name in ("d", "run", "questions", "error")}
        for row in published_results()
        if row["dataset"] == "general" and row["algorithm"] == "recur-published"
    ]
    return tuple(sorted(rounds + ends, key=lambda row: (row["d"], row["run"], row["questions"])))
