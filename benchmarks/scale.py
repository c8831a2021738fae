"""Data larger than memory: time beside one cheap pass over the same blocks, memory, questions.

The data is generated in blocks on disk. Every size runs in a process of its own, whose peak memory
is what the system says; the cheap pass (distances to five centres, the nearest one) and the time of
merely reading run in the same process, before and after, so that like is compared with like. On
Dask a scheduler and two workers run beside it, warmed up; their processor time and memory are not
in the table. "label" is the work of `samecluster label --in-blocks` and `export`, with answers from
the truth: a session about the sample, a sweep when nothing is left to ask, and one that writes.
`samecluster serve` does the same. Use ``--quick`` for at most 1,000,000 points.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import resource
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from samecluster import How
from samecluster._extras import dask_distributed
from samecluster.geometry.reach.kernel import compiled_programs
from samecluster.instances import make_ellipsoids
from samecluster.large.api import recover_large
from samecluster.oracles import LabelOracle
from samecluster.points.files import open_points
from samecluster.workspace.export import ResultFiles
from samecluster.workspace.in_blocks.all_rows import labelled_rows, swept, taken_in
from samecluster.workspace.open import OpenSession, open_session
from samecluster.workspace.request import Request

BLOCK = 65_536
# The ellipsoids' own points, from which the others are drawn: so many that hardly any row has a
# near copy in the sample, which would make it easier than it is.
GROWN = 2_000_000


def generate(path: Path, n: int, d: int, rank: int | None, dtype: str) -> None:
    """Points of five clusters in blocks."""
    made = make_ellipsoids(min(GROWN, 2 * n), d, 5, rank=rank, margin=1.1, random_state=0)
    rng = np.random.default_rng(1)
    X = np.lib.format.open_memmap(path, mode="w+", dtype=dtype, shape=(n, d))
    labels = np.lib.format.open_memmap(
        path.with_suffix(".labels.npy"), mode="w+", dtype=np.int8, shape=(n,)
    )
    parts = [made.X[made.labels == c] for c in range(5)]
    for begin in range(0, n, BLOCK):
        size = min(BLOCK, n - begin)
        labels[begin : begin + size] = rng.integers(5, size=size)
        for c, part in enumerate(parts):
            mine = np.flatnonzero(labels[begin : begin + size] == c)
            X[begin + mine] = between(part, len(mine), rng)
    X.flush()
    labels.flush()


def between(points: Any, count: int, rng: np.random.Generator) -> Any:
    """Points near given ones, on the way to others. That margin 1 holds is not shown, but a label
    that is wrong would be counted."""
    one, other = points[rng.integers(len(points), size=(2, count))]
    share = rng.beta(0.3, 6.0, size=(count, 1))
    return (1 - share) * one + share * other


def pass_over(path: Path, work: Callable[[Any], Any]) -> tuple[float, float]:
    """Seconds and seconds of CPU."""
    begin, cpu = time.perf_counter(), time.process_time()
    for block in open_points(path).blocks(BLOCK):
        work(block)
    return time.perf_counter() - begin, time.process_time() - cpu


def nearest_centre(centres: Any) -> Callable[[Any], Any]:
    sizes = (centres**2).sum(axis=1)
    return lambda block: np.argmin(sizes - 2 * (block @ centres.T), axis=1)


def measure(path: str, out: str, options: dict[str, Any], sender: Any) -> None:
    """In a child process: the recovery and the passes beside it."""
    with ExitStack() as stack:
        if options.pop("workers", None):
            options["dask"] = stack.enter_context(two_workers(path)).scheduler_address
        sender.send(measured(path, out, options))


@contextmanager
def two_workers(path: str) -> Iterator[Any]:
    """A cluster on this machine, whose workers have loaded all that they need."""
    started = dask_distributed().LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None
    )
    with started as cluster:
        few = Path(path).with_suffix(".few.npy")
        warm = make_ellipsoids(400_000, open_points(path).d, 5, random_state=9)
        np.save(few, warm.X)
        recover_large(
            few,
            LabelOracle(warm.labels),
            n_clusters=5,
            margin=1.0,
            sample=9_000,
            dask=cluster.scheduler_address,
        )
        few.unlink()
        yield cluster


def measured(path: str, out: str, options: dict[str, Any]) -> dict[str, Any]:
    source = Path(path)
    labels = np.load(source.with_suffix(".labels.npy"), mmap_mode="r")
    d = open_points(source).d
    in_session = options.pop("label", False)
    if compiled_programs() is not None:
        compile_first(d)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    centres = np.random.default_rng(0).normal(size=(5, d))
    cheap = [pass_over(source, nearest_centre(centres))]
    reading = pass_over(source, len)
    begin, cpu = time.perf_counter(), time.process_time()
    declared = {"n_clusters": 5, "margin": 1.0, "random_state": 0, "out": out}
    settings: dict[str, Any] = declared | options
    if in_session:
        found = labelled(source, labels, settings)
    else:
        recovered = recover_large(source, LabelOracle(labels), **settings)
        found = {
            "questions": recovered.n_questions,
            "sample": recovered.n_sample,
            "sweeps": recovered.n_sweeps,
        }
    spent, cpu = time.perf_counter() - begin, time.process_time() - cpu
    cheap.append(pass_over(source, nearest_centre(centres)))
    return {
        "spent": spent,
        "cpu": cpu,
        "cheap": float(np.mean(cheap, axis=0)[0]),
        "cheap_cpu": float(np.mean(cheap, axis=0)[1]),
        "reading": reading[0],
        **found,
        "wrong": wrong_labels(np.load(f"{out}/labels.npy", mmap_mode="r"), labels),
        "unknown": int(np.count_nonzero(np.load(f"{out}/how.npy") == How.UNASSIGNED)),
        "before": before / 2**20,
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
    }


def compile_first(d: int) -> None:
    """Also what only sweeps over very many rows use."""
    warm = make_ellipsoids(400_000, d, 5, rank=4 if d > 8 else None, random_state=9)
    recover_large(
        warm.X, LabelOracle(warm.labels), n_clusters=5, margin=1.0, sample=9_000, random_state=0
    )


def labelled(source: Path, truth: Any, settings: dict[str, Any]) -> dict[str, int]:
    """A session from its first question to the labels of all rows."""
    request = Request(
        str(source),
        in_blocks=True,
        session=Path(f"{settings['out']}.samecluster"),
        margin=str(settings["margin"]),
        clusters=str(settings["n_clusters"]),
        seed=0,
    )
    n_sweeps = 1
    with open_session(request) as opened:
        while True:
            answer(opened, truth)
            to_ask = swept(opened, lambda _: None).to_ask
            n_sweeps += 1
            if to_ask is None or not len(to_ask.rows):
                break
            opened = taken_in(opened, to_ask, None)
        with labelled_rows(opened, ResultFiles(settings["out"]), lambda _: None):
            pass
        progress = opened.session.progress()
    return {"questions": progress.n_questions, "sample": progress.n_items, "sweeps": n_sweeps}


def answer(opened: OpenSession, truth: Any) -> None:
    """Answer until nothing is left to ask."""
    assert opened.blocks is not None
    while questions := opened.session.ask():
        one, other = opened.blocks.rows[list(questions[0].rows)]
        verdict = "same" if truth[one] == truth[other] else "different"
        opened.session.tell(questions[0].id, verdict)


def wrong_labels(found: Any, truth: Any) -> int:
    """Rows whose cluster is not mostly of their own true one."""
    counts = np.zeros((int(found.max()) + 2, 5), dtype=np.int64)
    for begin in range(0, len(truth), 1 << 20):
        part = slice(begin, begin + (1 << 20))
        np.add.at(counts, (found[part], truth[part]), 1)
    return int(len(truth) - counts.max(axis=1).sum())


def called(options: dict[str, Any]) -> str:
    """What is special about a case."""
    names = {"workers": "Dask, 2 workers", "audit": "audit", "threads": "1 thread"}
    names |= {"label": "label", "margin": "guessed margin"}
    return ", ".join(name for key, name in names.items() if key in options) or "all cores"


def run(folder: Path, n: int, d: int, rank: int | None, dtype: str, **options: Any) -> Any:
    path = folder / f"{n}x{d}{dtype}.npy"
    context = multiprocessing.get_context("spawn")
    if not path.exists():  # not in this process: children inherit its peak of memory
        made = context.Process(target=generate, args=(path, n, d, rank, dtype))
        made.start()
        made.join()
    receiver, sender = context.Pipe(duplex=False)
    out = tempfile.mkdtemp(dir=folder)
    child = context.Process(target=measure, args=(str(path), f"{out}/found", options, sender))
    child.start()
    sender.close()
    found = receiver.recv()
    child.join()
    return found


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--flat", action="store_true", help="d=16, rank 4 only")
    parser.add_argument("--only", action="store_true", help="the largest size, d=8, float64 only")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    console = Console(width=150)
    sizes = [100_000, 1_000_000] + ([] if given.quick else [10_000_000])
    cases: list[tuple[int, int, int | None, str, dict[str, Any]]] = []
    cases += [(n, d, None, "f8", {}) for d in (4, 8) for n in sizes]
    n = sizes[-1]
    cases += [(n, 8, None, "f4", {}), (n, 8, None, "f8", {"threads": 1})]
    cases += [(n, 8, None, "f8", {"workers": 2})]
    cases += [(n, 8, None, "f8", {"margin": "auto"}), (n, 8, None, "f8", {"audit": (0.01, 0.95)})]
    cases += [(n, 8, None, "f8", {"label": True})]
    cases += [(n, 8, None, "f8", {"label": True, "margin": "auto"})]
    cases += [(1_000_000, 16, 4, "f8", {})]
    if given.flat:
        cases = cases[-1:]
    if given.only:
        cases = [case for case in cases if case[:2] == (n, 8) and case[3] == "f8"]
    table = Table(title="recover_large, five clusters, margin 1")
    columns = "n,d,numbers,how,time / cheap pass,CPU / its CPU,µs a point,reading µs a point"
    columns += ",questions,sample,sweeps,wrong,peak GiB"
    for heading in columns.split(","):
        table.add_column(heading, justify="right")
    everything = []
    with tempfile.TemporaryDirectory(dir=".", prefix="scale-") as name:
        for n, d, rank, dtype, options in cases:
            found = run(Path(name), n, d, rank, dtype, **options)
            assert found["wrong"] == 0 or options.get("margin") == "auto"
            assert found["unknown"] == 0 or options.get("margin") == "auto"
            everything.append({"n": n, "d": d, "dtype": dtype, **found})
            cells = [
                f"{n:,}",
                f"{d}" if rank is None else f"{d} rank {rank}",
                dtype,
                called(options),
                f"{found['spent'] / found['cheap']:.1f}",
                f"{found['cpu'] / found['cheap_cpu']:.1f}",
                f"{1e6 * found['spent'] / n:.2f}",
                f"{1e6 * found['reading'] / n:.3f}",
                str(found["questions"]),
                f"{found['sample']:,}",
                str(found["sweeps"]),
                str(found["wrong"]),
                f"{found['peak']:.2f} ({found['before']:.2f} before)",
            ]
            table.add_row(*cells)
            console.print(" ".join(cells), highlight=False)
    console.print(table)
    console.print(
        "goals at n=10,000,000, d=8: time / cheap pass 12, peak 1.5 GiB, questions at most those "
        "at n=100,000 + 10 %; µs a point must not grow from n=100,000 on; on Dask 1.3 times the "
        "time of all cores"
    )
    if given.json is not None:
        given.json.write_text(json.dumps(everything, indent=1))


if __name__ == "__main__":
    main()
