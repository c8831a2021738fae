"""Figure 1: three aligned stretched clusters, a hundred questions, and a baseline at chance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from samecluster.experiments.aligned import LAYOUTS, make_aligned
from samecluster.experiments.experiment import (
    Outcome,
    ResultColumn,
    Results,
    ResultTable,
    Row,
    Task,
    mean_of,
    rows_where,
)
from samecluster.experiments.recoveries import ALGORITHMS, MARGIN, aligned_task

DRAWN = ("recur-batches", "scq", "certify")
"""The algorithms in the picture."""
_COMPARED = {
    "side by side": (*DRAWN, "recur", "recur-published", "recur-unsound", "scq-whitened", "random"),
    "in a triangle": ("recur-batches", "scq", "scq-whitened", "certify"),
}
_PAPER_QUESTIONS = 105
_STRETCH = 20.0


@dataclass(frozen=True)
class Figure1:
    """Settings: points, runs on instances of their own, and points in the picture."""

    n: int = 100_000
    runs: int = 10
    shown: int = 4_000

    name = "figure1"
    title = "Figure 1: three aligned clusters"

    @classmethod
    def sized(cls, quick: bool, runs: int | None) -> Figure1:
        return cls(runs=runs or (3 if quick else 10))

    def about(self) -> str:
        return (
            f"{self.n:,} points in three equal ellipses of margin {MARGIN:g}, "
            f"{_STRETCH:g} times as long as they are thick, all pointing the same way; "
            f"{self.runs} runs, each on points of its own. The picture shows the first run, "
            f"{min(self.shown, self.n):,} of its points, side by side. "
            f"The paper reports {_PAPER_QUESTIONS} questions for RECUR; it does not say how its "
            "instance was made, nor with which settings RECUR ran. Points without a label count "
            "as wrong, so the baseline can do worse than labels drawn at random."
        )

    def tasks(self) -> list[Task]:
        return [self._task(*case) for case in self._cases()]

    def _cases(self) -> list[tuple[str, str, int]]:
        return [
            (layout, algorithm, run)
            for layout in LAYOUTS
            for algorithm in _COMPARED[layout]
            for run in range(self.runs)
        ]

    def _task(self, layout: str, algorithm: str, run: int) -> Task:
        drawn = layout == LAYOUTS[0] and run == 0 and algorithm in DRAWN
        shown = min(self.shown, self.n) if drawn else 0
        return aligned_task(algorithm, self.n, layout, _STRETCH, shown, run)

    def tables(self, results: Results) -> list[ResultTable]:
        runs: list[Row] = []
        for layout, algorithm, run in self._cases():
            found = results[self._task(layout, algorithm, run).key]
            case = {"layout": layout, "algorithm": algorithm, "run": run}
            runs.append(case | {name: found[name] for name in ("questions", "counted", "error")})
        summary = [
            _summary(layout, algorithm, rows_where(runs, layout=layout, algorithm=algorithm))
            for layout in LAYOUTS
            for algorithm in _COMPARED[layout]
        ]
        return [
            ResultTable("figure1", summary, "Means over the runs.", _COLUMNS),
            ResultTable("figure1_runs", runs),
            *self._picture(results),
        ]

    def _picture(self, results: Results) -> list[ResultTable]:
        """The points of the picture with their labels, and the points that were asked about."""
        instance = make_aligned(self.n, LAYOUTS[0], _STRETCH, MARGIN, 0)
        found = {name: results[self._task(LAYOUTS[0], name, 0).key] for name in DRAWN}
        points: list[Row] = [
            {
                "x": float(instance.X[i, 0]),
                "y": float(instance.X[i, 1]),
                "true": int(instance.labels[i]),
                **{name: found[name]["labels"][i] for name in DRAWN},
            }
            for i in range(min(self.shown, self.n))
        ]
        asked: list[Row] = [
            {"algorithm": name, "x": float(instance.X[i, 0]), "y": float(instance.X[i, 1])}
            for name in DRAWN
            for i in found[name]["asked"]
        ]
        return [ResultTable("figure1_points", points), ResultTable("figure1_asked", asked)]

    def outcomes(self, tables: Sequence[ResultTable]) -> list[Outcome]:
        rows = tables[0].rows
        at = {(row["layout"], row["algorithm"]): row for row in rows}
        side, triangle = LAYOUTS
        recur, certify = at[side, "recur-batches"], at[side, "certify"]
        baseline, chance = at[side, "scq"], at[side, "random"]
        raw, whitened = at[triangle, "scq"], at[triangle, "scq-whitened"]
        return [
            Outcome(
                "RECUR solves Figure 1 exactly in about a hundred questions",
                f"every run exact, at most {2 * _PAPER_QUESTIONS} questions on average",
                f"{recur['exact']} of {self.runs} exact, {recur['questions']:.0f} questions",
                recur["exact"] == self.runs and recur["questions"] <= 2 * _PAPER_QUESTIONS,
            ),
            Outcome(
                "SCQ-k-means is no better than random labels on Figure 1",
                "mean error at least that of random labels, less one point in a hundred",
                f"{baseline['error']:.1%}, random labels {chance['error']:.1%}",
                baseline["error"] >= chance["error"] - 0.01,
            ),
            Outcome(
                "certify solves Figure 1 exactly in about ten questions (not in the paper)",
                "every run exact, at most 12 questions on average",
                f"{certify['exact']} of {self.runs} exact, {certify['questions']:.1f} questions",
                certify["exact"] == self.runs and certify["questions"] <= 12,
            ),
            Outcome(
                "whitening helps SCQ-k-means where clusters are aligned",
                "in a triangle: mean error above 20 % raw, below 5 % whitened",
                f"{raw['error']:.1%} raw, {whitened['error']:.1%} whitened",
                raw["error"] > 0.2 and whitened["error"] < 0.05,
            ),
        ]


def _summary(layout: str, algorithm: str, rows: list[Row]) -> Row:
    errors = [row["error"] for row in rows]
    return {
        "layout": layout,
        "algorithm": algorithm,
        "label": ALGORITHMS[algorithm].label,
        "runs": len(rows),
        "questions": mean_of(rows, "questions"),
        "counted": mean_of(rows, "counted"),
        "error": mean_of(rows, "error"),
        "least_error": min(errors),
        "largest_error": max(errors),
        "exact": sum(error == 0 for error in errors),
    }


_COLUMNS = {
    "layout": ResultColumn("centres"),
    "label": ResultColumn("algorithm"),
    "questions": ResultColumn("questions", ",.1f"),
    "counted": ResultColumn("counted as published", ",.1f"),
    "error": ResultColumn("error", ".2%"),
    "least_error": ResultColumn("least", ".2%"),
    "largest_error": ResultColumn("largest", ".2%"),
    "exact": ResultColumn("exact runs", "d"),
}
