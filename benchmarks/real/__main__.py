"""`make bench-real`: all sets and baselines; with options, a part of them.

A first look: ``python -m benchmarks.real --sets quick --seeds 1 --most 200``.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from benchmarks.real.course import as_record, checkpoints
from benchmarks.real.sets import QUICK, SETS


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.real", description=__doc__)
    parser.add_argument("--sets", default="all", help="'all', 'quick', or names with commas")
    parser.add_argument("--seeds", type=int, default=5, help="how many, from 0")
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--methods", default="predict,certify", help="names with commas")
    parser.add_argument("--most", type=int, default=1000, help="questions")
    parser.add_argument("--stops", action="store_true", help="end runs when they end themselves")
    parser.add_argument("--out", type=Path, help="append one JSON object a line")
    chosen = parser.parse_args()
    names = {"all": SETS, "quick": QUICK}.get(chosen.sets) or tuple(chosen.sets.split(","))
    for name in names:
        for method in chosen.methods.split(","):
            for seed in range(chosen.first_seed, chosen.first_seed + chosen.seeds):
                _one(name, method, seed, chosen)


def _one(name: str, method: str, seed: int, chosen: argparse.Namespace) -> None:
    found = checkpoints(name, method, seed, chosen.most, chosen.stops)
    if chosen.out is not None:
        with chosen.out.open("a", encoding="utf-8") as file:
            for one in found:
                print(json.dumps(as_record(name, method, seed, one)), file=file)
    parts = [
        f"{one.questions}: {100 * one.error:.2f}"
        + (f" (said {100 * one.said:.2f})" if one.said is not None else "")
        + f" {one.groups} groups, {one.asked} asked, {one.cpu:.0f} s"
        for one in found
    ]
    print(f"{name} {method} seed {seed}", *parts, sep="\n    ", flush=True)


if __name__ == "__main__":
    main()
