"""``samecluster reproduce``: the paper's figures and statements, run again."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from rich.markup import escape
from rich.progress import BarColumn, Progress, ProgressColumn, TextColumn, TimeElapsedColumn
from rich.progress import Task as BarTask
from rich.table import Table as ShownTable
from rich.text import Text

from samecluster._files import written_file
from samecluster._parameters import check_at_least
from samecluster.cli.terminal.screen import Screen
from samecluster.errors import InvalidInputError
from samecluster.experiments.catalogue import all_experiments
from samecluster.experiments.experiment import Experiment, Results, Task
from samecluster.experiments.plots import MISSING, can_draw, draw
from samecluster.experiments.report import Section, report, write_tables
from samecluster.experiments.running import ResultStore, available_cores, missing_tasks, run_tasks
from samecluster.workspace.typed_command import typed_again

_RESULTS = "results.jsonl"


def run_reproduce(what: str, runs: int | None, quick: bool, out: Path, force: bool = False) -> bool:
    """Run what is missing and write everything; False if Ctrl-C stopped it."""
    console = Screen()
    if runs is not None:
        check_at_least("runs", runs, 1)
    experiments = all_experiments(quick, runs)
    chosen = list(experiments.values()) if what == "all" else [experiments[what]]
    store = ResultStore(_folder(out, force) / _RESULTS)
    if not can_draw():
        console.print(
            f"No pictures this time: {MISSING}",
            "Then run the same command again: it draws them and computes nothing twice.",
            sep="\n",
            soft_wrap=True,
        )
    try:
        results = _run([task for one in chosen for task in one.tasks()], store, console)
    except KeyboardInterrupt:
        console.print(
            f"Stopped. What is done is kept in {store.path}.",
            f"To go on from there: {typed_again()}",
            sep="\n",
            soft_wrap=True,
        )
        return False
    # Experiments that ran before with the same settings stay in the report.
    complete = [
        one for one in experiments.values() if all(task.key in results for task in one.tasks())
    ]
    with console.status("writing tables and pictures"):
        sections = [_written(one, results, out) for one in complete]
        with written_file(out / "report.md", lambda _: True) as partial:
            partial.write_text(report(sections, quick), "utf-8")
    console.print(_outcomes([section for section in sections if section.experiment in chosen]))
    console.print(f"Report: {out / 'report.md'}", soft_wrap=True)
    return True


def _folder(out: Path, force: bool) -> Path:
    """The folder, if it is new, empty or one of ours, which all that is in it then is."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        if any(out.iterdir()) and not force and not (out / _RESULTS).is_file():
            raise InvalidInputError(
                f"{out} holds other files; name another folder, or use it with --force"
            )
    except OSError as error:
        raise InvalidInputError(f"cannot write to {out}: {error.strerror}") from error
    return out


def _run(tasks: list[Task], store: ResultStore, console: Screen) -> Results:
    missing = missing_tasks(tasks, store)
    total = len({task.key for task in tasks})
    there = total - len(missing)
    if there:
        console.print(f"{there:,} of {total:,} measurements are there already.")
    if not missing:
        return store.load()
    columns = (
        TextColumn("{task.fields[done]:,} of {task.fields[all]:,} measurements"),
        BarColumn(),
        TimeElapsedColumn(),
        _TimeLeft(),
    )
    with Progress(*columns, console=console) as progress:
        weight = sum(task.weight for task in missing)
        bar = progress.add_task("", total=weight, done=there, all=total, since=0.0)
        done = there

        def advance(task: Task) -> None:
            nonlocal done
            done += 1
            elapsed = progress.tasks[0].elapsed
            progress.update(bar, advance=task.weight, done=done, since=elapsed)

        return run_tasks(tasks, store, on_done=advance)


class _TimeLeft(ProgressColumn):
    """The time that is left: as expected at first, soon as measured.

    Measurements take seconds each, the long ones come first, and their weights are about seconds.
    """

    EXPECTED = 10.0
    """Seconds of work that the expectation counts for beside what was measured."""

    def render(self, task: BarTask) -> Text:
        since = float(task.fields["since"])
        pace = (since + self.EXPECTED / available_cores()) / (task.completed + self.EXPECTED)
        left = pace * (task.remaining or 0.0) - ((task.elapsed or 0.0) - since)
        return Text(f"{timedelta(seconds=max(0, round(left)))} left")


def _written(experiment: Experiment, results: Results, out: Path) -> Section:
    tables = experiment.tables(results)
    write_tables(tables, out)
    picture = draw(experiment.name, tables, out)[0].name if can_draw() else None
    return Section(experiment, tables, experiment.outcomes(tables), picture)


def _outcomes(sections: list[Section]) -> ShownTable:
    table = ShownTable(title="what the paper states")
    for heading in ("statement", "measured", "outcome"):
        table.add_column(heading)
    for section in sections:
        for outcome in section.outcomes:
            word = "holds" if outcome.holds else "falls short"
            table.add_row(escape(outcome.statement), escape(outcome.measured), word)
    return table
