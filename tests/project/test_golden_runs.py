"""What the program does is what it did: the golden runs, the quick ones unless there is time."""

import os
from functools import cache

import pytest

from tests.golden.cases import ARITHMETIC, RUNS
from tests.golden.runs import computed, differences, expected

pytest.importorskip("numba")  # Without it another kernel works, whose questions may differ.

pytestmark = pytest.mark.compiled
LONG = os.environ.get("SAMECLUSTER_TESTS") == "long"
NEEDED = {"blocks of dask": "dask"}
NAMES = sorted(name for name in RUNS if LONG or RUNS[name].quick)


def found(name: str) -> list[str]:
    ((_, outcome, _),) = computed([name])
    return differences(name, outcome, expected())


@cache
def computes_alike() -> bool:
    return not found(ARITHMETIC)


@pytest.mark.parametrize("name", [name for name in NAMES if name != ARITHMETIC])
def test_a_run_ends_as_it_did(name) -> None:
    if name in NEEDED:
        pytest.importorskip(NEEDED[name])
    if not RUNS[name].quick and not computes_alike():
        pytest.skip("BLAS here gives other last digits than where the golden file was made")
    assert found(name) == []


def test_the_file_has_all_runs_and_no_others() -> None:
    assert sorted(expected()) == sorted(RUNS)
