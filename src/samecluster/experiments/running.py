"""Carrying tasks out on all cores, and keeping each result as soon as it is there.

Nothing heavy is imported before a task runs.
"""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing.synchronize import Event
from pathlib import Path

from samecluster.errors import SameClusterError
from samecluster.experiments.experiment import Row, Task

_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
_LOOK_UP = 0.5
"""Seconds between two looks of a worker at whether it is still needed."""


class ResultStore:
    """Results on disk: one JSON line each, appended when a task is done.

    A line that a crash cut off counts as not there.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def load(self) -> dict[str, Row]:
        """All results by the key of their task."""
        if not self.path.exists():
            return {}
        found = {}
        for line in self.path.read_text("utf-8", errors="replace").splitlines():
            with contextlib.suppress(ValueError, KeyError, TypeError):
                record = json.loads(line)
                found[record["key"]] = record["result"]
        return found

    def append(self, task: Task, result: Row) -> None:
        record = {"key": task.key, "kind": task.kind, "settings": task.settings, "result": result}
        line = json.dumps(record, allow_nan=False).encode() + b"\n"
        with self.path.open("ab+") as file:
            end = file.seek(0, os.SEEK_END)
            file.seek(max(end - 1, 0))
            # Do not glue the new line to one that was cut off.
            file.write(line if file.read(1) in (b"", b"\n") else b"\n" + line)


def available_cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def missing_tasks(tasks: Sequence[Task], store: ResultStore) -> list[Task]:
    """The tasks without a result, each once, the longest first, lest cores idle at the end."""
    known = store.load()
    missing = {task.key: task for task in tasks if task.key not in known}
    return sorted(missing.values(), key=lambda task: -task.weight)


def run_tasks(
    tasks: Sequence[Task],
    store: ResultStore,
    workers: int | None = None,
    on_done: Callable[[Task], None] | None = None,
) -> dict[str, Row]:
    """Results of all tasks, by key; those in the store are not computed again.

    Whatever stops it (an error, Ctrl-C, a crash), the results so far are in the store, and the
    same call goes on from there. One worker means this very process.
    """
    missing = missing_tasks(tasks, store)
    workers = min(workers or available_cores(), max(len(missing), 1))
    done = _here(missing) if workers == 1 else _in_processes(missing, workers)
    with contextlib.closing(done):
        for task, result in done:
            store.append(task, result)
            if on_done is not None:
                on_done(task)
    return store.load()


def _here(tasks: Sequence[Task]) -> Generator[tuple[Task, Row]]:
    for task in tasks:
        yield task, perform(task)


def _in_processes(tasks: Sequence[Task], workers: int) -> Generator[tuple[Task, Row]]:
    # Processes are spawned, not forked: linear algebra may have threads by now.
    context = multiprocessing.get_context("spawn")
    stop = context.Event()
    executor = ProcessPoolExecutor(workers, context, _begin, (stop, os.getpid()))
    try:
        with _one_thread_each():
            futures = {executor.submit(perform, task): task for task in tasks}
        for future in as_completed(futures):
            yield futures[future], future.result()
    except BaseException:
        stop.set()
        raise
    finally:
        executor.shutdown(cancel_futures=True)


def perform(task: Task) -> Row:
    """Carry a task out. The same task gives the same result, wherever and whenever it runs."""
    from samecluster.experiments.one_cluster import measure_cluster, measure_samples
    from samecluster.experiments.recoveries import measure

    measures = {"recovery": measure, "sampling": measure_samples, "one-cluster": measure_cluster}
    try:
        return measures[task.kind](task.settings)
    except SameClusterError as error:
        # Errors with arguments of their own do not survive the way between processes.
        raise SameClusterError(f"{task.kind} {task.settings}: {error}") from None


def _begin(stop: Event, parent: int) -> None:
    """Start a worker: Ctrl-C is the parent's business, and without it there is nothing to do."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_leave, args=(stop, parent), daemon=True).start()


def _leave(stop: Event, parent: int) -> None:
    while os.getppid() == parent and not stop.wait(_LOOK_UP):
        pass
    os._exit(1)


@contextlib.contextmanager
def _one_thread_each() -> Iterator[None]:
    """Processes started meanwhile keep their linear algebra to one thread."""
    before = {name: os.environ.get(name) for name in _THREADS}
    os.environ.update(dict.fromkeys(_THREADS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
