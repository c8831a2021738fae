"""What docs/reproducible.md promises: the same settings give the same run; others, true labels."""

import json
import os
import subprocess
import sys
from functools import cache
from typing import Any

import numpy as np
import pytest

from samecluster import How, clustering_error
from samecluster.instances import make_ellipsoids, make_hypercube
from samecluster.proof.checker import check

pytestmark = pytest.mark.compiled
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
SCRIPT = """
import json, sys
from threadpoolctl import threadpool_info
from samecluster import Certify, recover
from samecluster.oracles import LabelOracle
from tests.project.test_reproducible import instances

told = {"threads": [one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"]}
for name, made in instances().items():
    found = recover(
        made.X,
        LabelOracle(made.labels),
        n_clusters=len(set(made.labels.tolist())),
        margin=made.margin,
        method=Certify(kernel=sys.argv[1]),
        random_state=3,
    )
    told[name] = {
        "questions": [str(answer) for answer in found.answers],
        "labels": found.labels.tolist(),
        "how": found.how_codes.tolist(),
        "proof": list(found.proof.lines()),
    }
print(json.dumps(told, default=lambda array: array.tolist()))
"""
SETTINGS = [(1, "compiled"), (2, "compiled"), (1, "numpy")]


@cache
def instances() -> dict[str, Any]:
    """Rounded, so that the data itself does not depend on last digits."""
    made: dict[str, Any] = {
        "stretched": make_ellipsoids(n=300, d=3, k=3, random_state=1),
        "narrow": make_ellipsoids(n=200, d=2, k=3, margin=0.3, fill="shell", random_state=2),
        "hypercube": make_hypercube(12, 80, 1.0, random_state=0),  # many choices between equals
    }
    for one in made.values():
        one.X[:] = np.round(one.X, 7)
    return made


def told(threads: int, kernel: str) -> Any:
    if kernel == "compiled":
        pytest.importorskip("numba")
    settings = {**os.environ, **dict.fromkeys(THREADS, str(threads))}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, kernel], env=settings, check=True, capture_output=True
    )
    return json.loads(done.stdout)


first_time = cache(told)


@pytest.mark.parametrize(("threads", "kernel"), SETTINGS[:2])
def test_the_same_settings_give_the_same_questions_labels_and_proof(threads, kernel) -> None:
    assert told(threads, kernel) == first_time(threads, kernel)


@pytest.mark.parametrize(("threads", "kernel"), SETTINGS)
def test_whatever_the_settings_what_is_proven_is_true(threads, kernel) -> None:
    found = dict(first_time(threads, kernel))
    if (os.cpu_count() or 1) >= threads:
        assert set(found.pop("threads")) == {threads}, "the setting does not reach BLAS"
    for name, one in found.items():
        made = instances()[name]
        labels, how = np.array(one["labels"]), np.array(one["how"])
        assert (how >= How.PROVEN).all()
        assert clustering_error(labels, made.labels) == 0
        shown = check(made.X, one["proof"]).labels
        assert (shown[how == How.PROVEN] >= 0).all()
        assert clustering_error(shown[shown >= 0], made.labels[shown >= 0]) == 0
