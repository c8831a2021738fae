"""`make bench-real`: all sets, ours and the baselines; with options, a part of them.

Runs that are in the file of results are not run again, so that it can be stopped and go on. A first
look: ``python -m benchmarks.real --sets quick --seeds 1 --most 200 --out first.jsonl``.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from benchmarks.real.course import MARKS, Checkpoint, as_record, baseline, checkpoints
from benchmarks.real.sets import QUICK, SETS
from benchmarks.real.tables import OURS, RESULTS, read, write_tables

METHODS = (*OURS, "graph", "svm", "cobras", "activeml")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.real", description=__doc__)
    parser.add_argument("--sets", default="all", help="'all', 'quick', or names with commas")
    parser.add_argument("--seeds", type=int, default=5, help="how many, from 0")
    parser.add_argument("--methods", default=",".join(METHODS), help="names with commas")
    parser.add_argument("--most", type=int, default=1000, help="questions")
    parser.add_argument("--out", type=Path, default=RESULTS, help="one JSON object per line")
    parser.add_argument("--tables", action="store_true", help="only write the tables into the docs")
    chosen = parser.parse_args()
    names = {"all": SETS, "quick": QUICK}.get(chosen.sets) or tuple(chosen.sets.split(","))
    done = {(one["set"], one["method"], one["seed"]) for one in read(chosen.out)}
    for seed in range(0 if chosen.tables else chosen.seeds):
        for name in names:
            for method in chosen.methods.split(","):
                if (name, method, seed) not in done:
                    _one(name, method, seed, chosen)
    if chosen.out == RESULTS:
        write_tables()


def _one(name: str, method: str, seed: int, chosen: argparse.Namespace) -> None:
    marks = [mark for mark in MARKS if mark <= chosen.most]
    run = checkpoints if method in OURS else baseline
    found = run(name, method, seed, marks)
    with chosen.out.open("a", encoding="utf-8") as file:
        for one in found:
            print(json.dumps(as_record(name, method, seed, one)), file=file)
    print(f"{name} {method} seed {seed}", *map(_said, found), sep="\n    ", flush=True)


def _said(one: Checkpoint) -> str:
    said = f" (said {100 * one.said:.2f})" if one.said is not None else ""
    return f"{one.questions}: {100 * one.error:.2f}{said}, {one.cpu:.0f} s"


if __name__ == "__main__":
    main()
