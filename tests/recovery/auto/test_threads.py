"""Prediction where nothing is declared works on one BLAS thread, as the method "predict" does."""

import numpy as np
from threadpoolctl import threadpool_info, threadpool_limits

from samecluster import start
from samecluster.recovery.predict.plan import PredictRun


def test_the_model_of_a_run_with_nothing_declared_works_on_one_thread(monkeypatch) -> None:
    """On several, small products wait for each other: 100 times the CPU on a busy machine."""
    seen: set[int] = set()
    chosen = PredictRun.play

    def watched(run: PredictRun):
        seen.update(lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas")
        return (yield from chosen(run))

    monkeypatch.setattr(PredictRun, "play", watched)
    with threadpool_limits(2, user_api="blas"):
        run = start(np.random.default_rng(0).normal(size=(60, 12)), random_state=0)
    assert run.pending
    assert seen == {1}
