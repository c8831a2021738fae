"""``samecluster demo``: the paper's instance, recovered before your eyes."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from samecluster import How, Recovery, clustering_error, recover
from samecluster._files import written_file
from samecluster.cli.terminal.screen import CompilingColumn, Screen
from samecluster.errors import InvalidInputError
from samecluster.instances import Instance, make_ellipsoids
from samecluster.oracles import LabelOracle
from samecluster.proof.checker import check
from samecluster.proof.files import is_proof_file, save_proof
from samecluster.workspace.typed_command import typed


def run_demo(
    n: int,
    d: int,
    k: int,
    margin: float,
    condition: float,
    seed: int,
    save: Path | None,
    force: bool = False,
) -> None:
    console = Screen()
    with console.waiting("making the points"):
        instance = make_ellipsoids(n, d, k, margin, condition, random_state=seed)
    console.print(
        f"{n:,} points in {d} columns, {k} clusters of margin {margin:g}, each stretched and "
        "rotated in its own way.",
        "A simulated oracle knows the clusters; the algorithm does not.",
        sep="\n",
    )
    start = time.perf_counter()
    recovery = _recover(instance, seed, console)
    seconds = time.perf_counter() - start
    assert recovery.proof is not None
    with console.status("checking the proof"):
        verified = check(instance.X, recovery.proof.lines())
    proven = verified.all_different and not clustering_error(verified.labels, recovery.labels)
    console.print(_table(instance, recovery, seconds, proven))
    if save is not None:
        _save(instance, recovery, save, force)
        console.print(
            "To check the proof yourself: "
            + typed("verify", save / "data.npy", save / "proof.jsonl.gz"),
            soft_wrap=True,
        )
    console.print(
        "With a table, a folder of pictures or texts of your own:",
        f"  {typed('serve', 'YOUR.csv')}  asks you in the browser, a screen at a time",
        f"  {typed('label', 'YOUR.csv')}  asks you here",
        sep="\n",
        soft_wrap=True,
    )


def _save(instance: Instance, recovery: Recovery, folder: Path, force: bool) -> None:
    proof = folder / "proof.jsonl.gz"
    assert recovery.proof is not None
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInputError(f"cannot write to {folder}: {error.strerror}") from error

    def is_ours(_: Path) -> bool:
        return proof.is_file() and is_proof_file(proof)

    with (
        written_file(folder / "data.npy", is_ours, force=force) as partial,
        partial.open("wb") as file,
    ):
        np.save(file, instance.X)
    save_proof(recovery.proof, proof, force=force)


def _recover(instance: Instance, seed: int, console: Screen) -> Recovery:
    n = len(instance.X)
    columns = (
        TextColumn("recovering"),
        BarColumn(),
        TextColumn("{task.completed:,.0f} labels"),
        TextColumn("{task.fields[questions]:,} questions"),
        TimeElapsedColumn(),
        CompilingColumn(),
    )
    with Progress(*columns, console=console) as progress:
        task = progress.add_task("", total=n, questions=0)
        recovery = recover(
            instance.X,
            LabelOracle(instance.labels),
            n_clusters=instance.n_clusters,
            margin=instance.margin,
            random_state=seed,
            on_progress=lambda known: progress.update(
                task, completed=known.n_labelled, questions=known.n_questions
            ),
        )
        progress.update(task, completed=n, questions=recovery.n_questions)
    return recovery


def _table(instance: Instance, recovery: Recovery, seconds: float, proven: bool) -> Table:
    n, k = len(instance.X), instance.n_clusters
    table = Table(show_header=False, title="recovered")
    table.add_column()
    table.add_column(justify="right")
    table.add_row("points", f"{n:,}")
    table.add_row("clusters", f"{k}")
    table.add_row("questions asked", f"{recovery.n_questions:,}")
    table.add_row("questions to label everything (k·n)", f"{k * n:,}")
    table.add_row("labels asked", f"{recovery.count(How.ASKED):,}")
    table.add_row("labels proven", f"{recovery.count(How.PROVEN):,}")
    table.add_row("proof checked in exact arithmetic", "it holds" if proven else "IT DOES NOT HOLD")
    table.add_row("error", f"{clustering_error(recovery.labels, instance.labels):.2%}")
    table.add_row("time", f"{seconds:.1f} s")
    return table
