"""What each kind of task measures."""

from __future__ import annotations

from collections.abc import Callable

from samecluster.errors import SameClusterError
from samecluster.experiments.experiment import Row, Task
from samecluster.experiments.one_cluster import measure_cluster
from samecluster.experiments.recoveries import measure
from samecluster.experiments.sampling import measure_samples

__all__ = ["perform"]

_MEASURES: dict[str, Callable[[Row], Row]] = {
    "recovery": measure,
    "sampling": measure_samples,
    "one-cluster": measure_cluster,
}


def perform(task: Task) -> Row:
    """Carry a task out. The same task gives the same result, wherever and whenever it runs."""
    try:
        return _MEASURES[task.kind](task.settings)
    except SameClusterError as error:
        # Errors with arguments of their own do not survive the way between processes.
        raise SameClusterError(f"{task.kind} {task.settings}: {error}") from None
