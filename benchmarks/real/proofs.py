"""`make bench-real-proofs`: what the attempt at proofs costs where nothing is declared.

The goal: on every set the mean error with nothing declared at q + 20 questions is at most that of
prediction alone at q. Both are run with the same seeds.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.real.course import checkpoints
from benchmarks.real.sets import SETS
from samecluster._typing import FloatArray

MARKS = (50, 100, 200)
ALLOWANCE = 20


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.real.proofs", description=__doc__)
    parser.add_argument("--sets", default=",".join(SETS), help="names with commas")
    parser.add_argument("--seeds", type=int, default=5, help="how many, from 0")
    chosen = parser.parse_args()
    table = Table("set", "predict alone", f"nothing declared, {ALLOWANCE} more", "goal")
    for name in chosen.sets.split(","):
        alone = errors(name, "predict", MARKS, chosen.seeds)
        declared = errors(name, "certify", [mark + ALLOWANCE for mark in MARKS], chosen.seeds)
        met = "met" if (declared <= alone).all() else "missed"
        table.add_row(name, _percent(alone), _percent(declared), met)
        print(name, _percent(alone), _percent(declared), met, flush=True)
    Console().print(table)


def errors(name: str, method: str, marks: Sequence[int], seeds: int) -> FloatArray:
    """Mean share of wrong labels at each mark; a run that ended before keeps its last."""
    runs = [checkpoints(name, method, seed, marks) for seed in range(seeds)]
    shares: FloatArray = np.mean([[one.error for one in run] for run in runs], axis=0)
    return shares


def _percent(shares: FloatArray) -> str:
    return " / ".join(f"{100 * share:.2f}" for share in shares)


if __name__ == "__main__":
    main()
