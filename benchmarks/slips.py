"""`make bench-slips`: is one slip of a person found, and how often is somebody bothered who makes
none? Twelve slips of each kind on each set, by looks and by pairs; every line ends with value and
goal."""

from __future__ import annotations

import argparse
from collections import Counter

from benchmarks.real.sets import data
from tests.cases.slipping import Outcome, one_session

SETS = ("digits", "iris", "wine", "segment")
MOST = {True: 60, False: 160}
"""Looks and pairs after which a session is left."""


def honest(name: str, looks: bool, seeds: int) -> list[Outcome]:
    X, labels = data(name)
    most = MOST[looks]
    return [one_session(X, labels, looks=looks, most=most, seed=seed) for seed in range(seeds)]


def slipping(name: str, looks: bool, slip: str, before: list[Outcome]) -> list[Outcome]:
    """Two slips for each honest session, early and in the middle of it."""
    X, labels = data(name)
    found = [
        one_session(X, labels, looks=looks, slip=slip, slip_at=at, most=MOST[looks], seed=seed)
        for seed, one in enumerate(before)
        for at in (one.n_looks // 5, one.n_looks // 2)
    ]
    return [one for one in found if one.slipped]


def report(name: str, looks: bool, seeds: int) -> None:
    what = f"{name}, {'looks' if looks else 'pairs'}"
    honest_ones = honest(name, looks, seeds)
    n_looks = sum(one.n_looks for one in honest_ones)
    n_alarms = sum(one.n_pointed_out for one in honest_ones)
    n_checks = sum(one.n_checks for one in honest_ones)
    print(f"{what}: {n_checks} checks in {n_looks} looks of honest people")
    print(f"{what}: alarms per 50 looks {50 * n_alarms / n_looks:.2g} / 1")
    for slip in ("split", "merge"):
        ended = slipping(name, looks, slip, honest_ones)
        found = [one for one in ended if one.found]
        ways = dict(Counter(one.found for one in found))
        told = [one for one in found if one.found == "contradiction"]
        first = sum(one.first for one in told)
        kinds = dict(Counter(one.slipped for one in ended))
        print(
            f"{what}: {slip}, in {kinds}, found {ways}, the wrong one first {first} / {len(told)}"
        )
        print(f"{what}: {slip} found {len(found)} / {10 * len(ended) / 12:.3g}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.slips", description=__doc__)
    parser.add_argument("set", nargs="*", choices=[*SETS, []], help="all, if none is named")
    parser.add_argument("--seeds", type=int, default=6, help="how many, from 0")
    chosen = parser.parse_args()
    for name in chosen.set or SETS:
        for looks in (True, False):
            report(name, looks, chosen.seeds)


if __name__ == "__main__":
    main()
