"""`make bench-real-constants`: how much worse is each set if no constant was chosen on it?

Each constant of prediction that was chosen while looking at real sets is tried at a smaller and at
a larger value, one at a time, on samples of at most 2,000 rows. Then, for each set, every constant
takes the value that is best on the *other* sets, and all rows of the set are run with these. What
it loses (or gains) against the constants of now is what the figures of `make bench-real` owe to
having looked at it.

Runs are kept in a file, so that it can be stopped and go on.
"""

from __future__ import annotations

import argparse
import importlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.real.course import checkpoints
from benchmarks.real.sets import SETS, data

MARKS = (100, 200)
ROWS = 2000
RESULTS = Path(__file__).with_name("constants.jsonl")
_ROOM = "samecluster.recovery.predict"
_AT_LEAST = 0.5  # per cent, added to errors before they are compared: below that sets are done
# Standard errors, over the sets, by which another value must be better to be taken: less is chance
_BETTER = 2.0

Values = tuple[tuple[str, float], ...]
"""Constants that differ from those of now, by name."""

Run = tuple[Values, str, int]


@dataclass(frozen=True)
class Constant:
    """A constant of some modules of `recovery.predict`, and the values that it is tried at."""

    name: str
    modules: tuple[str, ...]
    others: tuple[float, float]

    @property
    def key(self) -> str:
        return f"{self.modules[0]}.{self.name}"


CHOSEN = (
    Constant("_START", ("choice.point_choice",), (8, 20)),
    Constant("_FIRST", ("choice.similarity_choice",), (10, 25)),
    Constant("_GROWTH", ("choice.similarity_choice",), (1.25, 2.0)),
    Constant("_DOUBTFUL", ("choice.point_choice",), (60, 600)),
    Constant("_TRUSTED", ("choice.similarity_choice",), (0.5, 0.9)),
    Constant("_GRAPH", ("choice.similarity_choice",), (0.0, 0.02)),
    Constant("_STAYING", ("choice.similarity_choice",), (0.0, 0.02)),
    Constant("_MISFITS_BELOW", ("choice.point_choice",), (0.0, 0.2)),
    Constant("_STEERING_SHARPNESS", ("choice.point_choice",), (6.0, 24.0)),
    Constant("DRAWN_EVERY", ("certainty", "choice.point_choice"), (5, 16)),
    Constant("_AGAINST", ("certainty",), (1.0, 9.0)),
    Constant("SHARPNESS", ("calibration", "core_model"), (5.0, 13.0)),
    Constant("RATHER_NEW", ("sameness", "placing"), (0.35, 0.65)),
    Constant("_HALF_LIFE", ("sameness",), (50.0, 200.0)),
    Constant("_COMPARED_ANYWAY", ("placing",), (1, 4)),
    Constant("_PATIENCE", ("placing",), (3.0, 8.0)),
    Constant("_MANY_GROUPS", ("placing",), (14, 28)),
    Constant("_FALL", ("placing",), (0.1, 0.4)),
    Constant("_FALL_OF_MANY", ("placing",), (0.15, 0.6)),
    Constant("NEIGHBOURS", ("graph",), (7, 15)),
    Constant("_REACH", ("graph",), (0.98, 0.995)),
    Constant("NOISE", ("gaussian_process", "choice.point_choice"), (0.003, 0.03)),
    Constant("_COMPONENTS", ("similarity",), (30, 100)),
    Constant("_ROUNDNESS", ("similarity",), (0.05, 0.2)),
)
_BY_KEY = {one.key: one for one in CHOSEN}


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.real.constants", description=__doc__
    )
    parser.add_argument("--sets", default=",".join(SETS), help="names with commas")
    parser.add_argument("--seeds", type=int, default=2, help="how many, from 0")
    parser.add_argument("--out", type=Path, default=RESULTS, help="one JSON object per line")
    parser.add_argument("--workers", type=int, default=2, help="processes")
    chosen = parser.parse_args()
    names, seeds = chosen.sets.split(","), range(chosen.seeds)
    samples = [f"{name}:{ROWS}" for name in names]
    tried: list[Values] = [(), *(((one.key, v),) for one in CHOSEN for v in one.others)]
    runs = Runs(chosen.out, chosen.workers)
    runs.make([(values, name, seed) for values in tried for name in samples for seed in seeds])
    scores = {
        values: np.array([runs.score(values, name, seeds) for name in samples]) for values in tried
    }
    print("\n".join(_effects(scores)), flush=True)
    without = {name: best_values(scores, names.index(name)) for name in names}
    compared = [(values, name) for name in names for values in ((), without[name])]
    runs.make([(values, name, seed) for values, name in compared for seed in seeds])
    print(f"\n| set | % wrong at {'/'.join(map(str, MARKS))} | if it was not looked at | changed |")
    print("|---|---|---|---|")
    for name in names:
        now, then = runs.errors((), name, seeds), runs.errors(without[name], name, seeds)
        changed = ", ".join(f"{key} {value:g}" for key, value in without[name]) or "nothing"
        print(f"| {name} | {_percent(now)} | {_percent(then)} | {changed} |", flush=True)


class Runs:
    """Errors of runs, made once and kept in a file."""

    def __init__(self, path: Path, workers: int) -> None:
        self._path, self._workers = path, workers
        self._errors: dict[Run, list[float]] = {}
        for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
            one = json.loads(line)
            values = tuple((key, value) for key, value in one["values"])
            self._errors[values, one["set"], one["seed"]] = one["errors"]

    def make(self, runs: Sequence[Run]) -> None:
        """Those that are missing; each in a process of its own, as constants are set in it."""
        missing = [run for run in dict.fromkeys(runs) if run not in self._errors]
        for name in {name for _, name, _ in missing}:
            data(name)  # read once, by the process that the others come from
        with get_context("fork").Pool(self._workers, maxtasksperchild=1) as pool:
            for run, errors in pool.imap_unordered(_made, missing, chunksize=1):
                values, name, seed = self._keep(run, errors)
                print(name, seed, dict(values), _percent(np.array(errors)), flush=True)

    def _keep(self, run: Run, errors: list[float]) -> Run:
        self._errors[run] = errors
        record = dict(zip(("values", "set", "seed"), run, strict=True)) | {"errors": errors}
        with self._path.open("a", encoding="utf-8") as file:
            print(json.dumps(record), file=file)
        return run

    def errors(self, values: Values, name: str, seeds: Sequence[int]) -> Any:
        return np.mean([self._errors[values, name, seed] for seed in seeds], axis=0)

    def score(self, values: Values, name: str, seeds: Sequence[int]) -> float:
        """The mean logarithm of the errors: halving a small one counts as much as a large one."""
        return float(np.log(100.0 * self.errors(values, name, seeds) + _AT_LEAST).mean())


def _made(run: Run) -> tuple[Run, list[float]]:
    values, name, seed = run
    for key, value in values:
        for module in _BY_KEY[key].modules:
            setattr(importlib.import_module(f"{_ROOM}.{module}"), _BY_KEY[key].name, value)
    found = checkpoints(name, "predict", seed, MARKS)
    return run, [round(one.error, 6) for one in found]


def best_values(scores: Mapping[Values, Any], left_out: int) -> Values:
    """For each constant the value that is best on the sets without one of them."""
    counted = np.arange(len(scores[()])) != left_out
    found: list[tuple[str, float]] = []
    for one in CHOSEN:
        gains = {v: (scores[()] - scores[((one.key, v),)])[counted] for v in one.others}
        best = max(gains, key=lambda value: gains[value].mean())
        if gains[best].mean() > _BETTER * gains[best].std() / np.sqrt(counted.sum()):
            found.append((one.key, best))
    return tuple(found)


def _effects(scores: Mapping[Values, Any]) -> Iterator[str]:
    """A line per constant and value: by how much errors grow in the mean of all sets."""
    for values, found in scores.items():
        for key, value in values:
            yield f"{key} {value:g}: errors {100 * np.expm1((found - scores[()]).mean()):+.1f} %"


def _percent(shares: Any) -> str:
    return "/".join(f"{100 * share:.2f}" for share in shares)


if __name__ == "__main__":
    main()
