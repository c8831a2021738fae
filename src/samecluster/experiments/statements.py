"""The paper's remaining statements, each with what it takes to hold and what was measured.

The sampling lemma and Theorem 2 (both `one_cluster`), and the share of all k·n questions that
RECUR needs to get most labels right (on the runs of Figure 3).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

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
from samecluster.experiments.figure3 import Figure3
from samecluster.experiments.one_cluster import SIZES, cluster_task, sampling_task
from samecluster.experiments.published import published_curves

CONSTANTS = (0.5, 1.0, 2.0, 4.5)
"""Sample constants b; the last one is the default of RECUR here."""
_K = 5
_ERROR, _SHARE = 0.05, 0.03


@dataclass(frozen=True)
class Statements:
    """Settings of the three experiments; the third shares its runs with Figure 3."""

    sampling_n: int = 20_000
    sampling_dimensions: tuple[int, ...] = (2, 4, 8)
    sampling_clusters: tuple[int, ...] = (2, 5, 10)
    trials: int = 20
    cluster_n: int = 100_000
    shapes: tuple[tuple[int, int], ...] = ((1, 1), (2, 2), (2, 8), (3, 3), (4, 4))
    margins: tuple[float, ...] = (1.0, 0.5, 0.2, 0.1, 0.05)
    runs: int = 10
    figure3: Figure3 = field(default_factory=Figure3)

    name = "statements"
    title = "The remaining statements"

    @classmethod
    def sized(cls, quick: bool, runs: int | None) -> Statements:
        return cls(runs=runs or (3 if quick else 10), figure3=Figure3.sized(quick, runs))

    def about(self) -> str:
        return (
            f"*Sampling.* {self.runs} instances of {self.sampling_n:,} points for each setting, "
            f"{self.trials} samples each. The paper leaves b open (“sufficiently large”); RECUR "
            f"uses {CONSTANTS[-1]:g} here. “Halving”: each cluster has half the size of the one "
            "before.\n\n"
            f"*One cluster.* {self.runs} instances of {self.cluster_n:,} points, k={_K}, for each "
            "margin γ and rank r: a sample of one cluster is enclosed and its ellipsoid is cut "
            "into cells. The bound is the number of all cells; with few points most are empty, so "
            "the questions stop growing at the number of points inside. The proof counts a margin "
            "above 1/2 as 1/2.\n\n"
            "*Five per cent.* The RECUR runs of Figure 3, until the error is at most "
            f"{_ERROR:.0%}; k·n = {_K * self.figure3.n:,} questions label everything."
        )

    def _samplings(self) -> list[tuple[str, int, int, float]]:
        return [
            (sizes, d, k, b)
            for sizes in SIZES
            for d in self.sampling_dimensions
            for k in self.sampling_clusters
            for b in CONSTANTS
        ]

    def _sampling_tasks(self, sizes: str, d: int, k: int, b: float) -> list[Task]:
        return [
            sampling_task(self.sampling_n, d, k, sizes, b, self.trials, run)
            for run in range(self.runs)
        ]

    def _cluster_tasks(self, rank: int, d: int, margin: float) -> list[Task]:
        return [cluster_task(self.cluster_n, d, rank, margin, run) for run in range(self.runs)]

    def _recur_tasks(self, d: int) -> list[Task]:
        return [self.figure3.task(d, "recur-published", run) for run in range(self.figure3.runs)]

    def tasks(self) -> list[Task]:
        return (
            [task for case in self._samplings() for task in self._sampling_tasks(*case)]
            + [
                task
                for rank, d in self.shapes
                for margin in self.margins
                for task in self._cluster_tasks(rank, d, margin)
            ]
            + [task for d in self.figure3.dimensions for task in self._recur_tasks(d)]
        )

    def tables(self, results: Results) -> list[ResultTable]:
        return [
            ResultTable(
                "sampling", self._sampling_rows(results), _SAMPLING_CAPTION, _SAMPLING_COLUMNS
            ),
            ResultTable(
                "one_cluster", self._cluster_rows(results), _CLUSTER_CAPTION, _CLUSTER_COLUMNS
            ),
            ResultTable("five_percent", self._five_rows(results), _FIVE_CAPTION, _FIVE_COLUMNS),
        ]

    def _sampling_rows(self, results: Results) -> list[Row]:
        rows: list[Row] = []
        for sizes, d, k, b in self._samplings():
            found = [results[task.key] for task in self._sampling_tasks(sizes, d, k, b)]
            if b == CONSTANTS[0]:
                rows.append({"sizes": sizes, "d": d, "k": k, "trials": self.trials * self.runs})
            rows[-1][f"b={b:g}"] = mean_of(found, "enough") / self.trials
            rows[-1]["inside"] = mean_of(found, "inside") * k
        return rows

    def _cluster_rows(self, results: Results) -> list[Row]:
        rows = []
        for rank, d in self.shapes:
            for margin in self.margins:
                found = [results[task.key] for task in self._cluster_tasks(rank, d, margin)]
                rows.append(
                    {
                        "rank": rank,
                        "d": d,
                        "margin": margin,
                        "questions": mean_of(found, "questions"),
                        "most_questions": max(row["questions"] for row in found),
                        "inside": mean_of(found, "inside"),
                        "bound": min(row["bound"] for row in found),
                        "constant": max(row["constant"] for row in found),
                        "within": all(row["questions"] <= row["bound"] for row in found),
                        "exact": sum(row["exact"] for row in found),
                    }
                )
        return rows

    def _five_rows(self, results: Results) -> list[Row]:
        rows: list[Row] = []
        everything = _K * self.figure3.n
        for d in self.figure3.dimensions:
            curves = [results[task.key]["curve"] for task in self._recur_tasks(d)]
            # γ=10 guarantees nothing: a run that never gets there counts as asking everything.
            never = [everything, everything]
            reached = [next((at for at in c if at[2] <= _ERROR), never) for c in curves]
            asked = sum(at[0] for at in reached) / len(reached)
            counted = sum(at[1] for at in reached) / len(reached)
            theirs = _published_until(d)
            rows.append(
                {
                    "d": d,
                    "questions": asked,
                    "share": asked / everything,
                    "most_share": max(at[0] for at in reached) / everything,
                    "counted": counted,
                    "counted_share": counted / everything,
                    "published": theirs,
                    "published_share": None if theirs is None else theirs / 500_000,
                }
            )
        return rows

    def outcomes(self, tables: Sequence[ResultTable]) -> list[Outcome]:
        sampling, cluster, five = (table.rows for table in tables)
        least = min(row[f"b={CONSTANTS[-1]:g}"] for row in sampling)
        shares = [row["share"] for row in five]
        counted = [row["counted_share"] for row in five]
        few = f"mean below {_SHARE:.0%} at every d"
        return [
            Outcome(
                "a sample of b·d²·ln k points gives |C ∩ E| ≥ n/4k at least half of the time",
                f"b={CONSTANTS[-1]:g}: in at least half of the samples of every setting",
                f"in {least:.0%} of the samples at least",
                least >= 0.5,
            ),
            Outcome(
                "C ∩ E is learned with at most max{2^r, O((r/γ) ln(r/γ))^r} questions",
                "every run below the bound of the proof",
                f"{sum(row['within'] for row in cluster)} of {len(cluster)} settings; O-constant "
                f"at most {max(row['constant'] for row in cluster):.1f}",
                all(row["within"] for row in cluster),
            ),
            Outcome(
                "C ∩ E is learned exactly: no cell mixes clusters",
                "every run",
                f"{sum(row['exact'] for row in cluster)} of {self.runs * len(cluster)} runs",
                all(row["exact"] == self.runs for row in cluster),
            ),
            Outcome(
                "error ≤ 5 % with fewer than 3 % of k·n questions, counted as the authors did",
                few,
                f"at most {max(counted):.2%}",
                max(counted) < _SHARE,
            ),
            Outcome(
                "the same with every question counted",
                few,
                f"at most {max(shares):.2%}; {max(row['most_share'] for row in five):.2%} in a run",
                max(shares) < _SHARE,
            ),
        ]


def _published_until(d: int) -> float | None:
    """Mean number of published questions until the error is small enough."""
    curves = rows_where(published_curves(), d=d)
    if not curves:
        return None
    first = {
        run: min(row["questions"] for row in curves if row["run"] == run and row["error"] <= _ERROR)
        for run in {row["run"] for row in curves}
    }
    return float(sum(first.values()) / len(first))


_SAMPLING_CAPTION = (
    "How often the sample's ellipsoid holds n/4k points of its cluster, by b; and for the largest "
    "b how much it holds on average, as a share of n/k."
)
_SAMPLING_COLUMNS = {
    "sizes": ResultColumn("sizes"),
    "d": ResultColumn("d", "d"),
    "k": ResultColumn("k", "d"),
    **{f"b={b:g}": ResultColumn(f"b={b:g}", ".1%") for b in CONSTANTS},
    "inside": ResultColumn("inside, share of n/k", ".1%"),
}
_CLUSTER_CAPTION = (
    "Questions for one cluster against the bound. The O-constant is the least a with questions ≤ "
    "(a·(r/γ)·ln(r/γ))^r in every run."
)
_CLUSTER_COLUMNS = {
    "rank": ResultColumn("r", "d"),
    "d": ResultColumn("d", "d"),
    "margin": ResultColumn("γ", "g"),
    "questions": ResultColumn("questions", ",.1f"),
    "most_questions": ResultColumn("most", ",d"),
    "inside": ResultColumn("points inside", ",.0f"),
    "bound": ResultColumn("bound", ",.4g"),
    "constant": ResultColumn("O-constant", ".2f"),
    "exact": ResultColumn("exact runs", "d"),
}
_FIVE_CAPTION = "Questions until the error is at most 5 %, and their share of k·n."
_FIVE_COLUMNS = {
    "d": ResultColumn("d", "d"),
    "questions": ResultColumn("questions", ",.0f"),
    "share": ResultColumn("share of k·n", ".2%"),
    "most_share": ResultColumn("largest", ".2%"),
    "counted": ResultColumn("counted as published", ",.0f"),
    "counted_share": ResultColumn("share", ".2%"),
    "published": ResultColumn("published", ",.0f"),
    "published_share": ResultColumn("share", ".2%"),
}
