"""``samecluster margin``: what the groups of labelled data look like to this method."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from rich.table import Table

from samecluster._typing import FloatArray, IntArray
from samecluster.cli.terminal.screen import Screen, shown
from samecluster.errors import InvalidInputError
from samecluster.lifts.polynomial import Polynomial
from samecluster.recovery.margin_diagnosis import (
    MOST_BREAKERS,
    ClusterDiagnosis,
    components_with_margins,
    diagnose,
    diagnose_lifts,
)
from samecluster.tables import Preparation
from samecluster.tables import Table as DataTable
from samecluster.tables.features.select import select_columns
from samecluster.tables.known_answers import read_labels
from samecluster.workspace.request import Request

_SHOWN = 8  # rows named per group
_ENOUGH = 2.0  # a margin: larger ones hardly save a question
_POINTS_PER_COLUMN = 20  # fewer in a group, and proofs hardly save a question


def run_margin(request: Request) -> None:
    """Print each group's margin, rank and size, what breaks margins, and what may help."""
    if request.labels is None:
        raise InvalidInputError("name the column that has each row's group with --labels COLUMN")
    console = Screen()
    loaded = request.load()
    source = loaded.table
    # Margins are the same in any scale, so numbers stay as they are.
    choice = select_columns(source, replace(request.wanted(source.names), scale=False))
    preparation = Preparation.of_selection(choice)
    X, rows = preparation.apply(source), preparation.kept(source)
    numbers, names = _grouped(source, request.labels, rows)
    for line in (*loaded.notes, *choice.notes):
        console.print(line)
    with console.status(f"looking at {len(names)} groups in {X.shape[1]} columns"):
        found = diagnose(X, numbers)
    console.print(f"{len(X):,} rows, {X.shape[1]} columns of numbers")
    table = Table()
    for heading in ("group", "rows", "rank", "margin", "rows of other groups in the way"):
        table.add_column(
            heading, justify="left" if heading.startswith(("group", "rows of")) else "right"
        )
    for cluster in found:
        table.add_row(
            shown(names[cluster.label]),
            f"{cluster.size:,}",
            str(cluster.rank),
            _margin_text(cluster.margin),
            shown(_in_the_way(cluster, source, rows)),
        )
    console.print(table)
    for line in _advice(found, X.shape[1]):
        console.print(line)
    _show_lifts(console, X, numbers, names)
    if len(names) > 1 and X.shape[1] > 1:
        with console.status("looking at principal components"):
            count = components_with_margins(X, numbers)
        if count is not None and count < X.shape[1]:
            console.print(f"Every group has a margin in the first {count} principal components.")


def _show_lifts(console: Screen, X: FloatArray, numbers: IntArray, names: list[str]) -> None:
    """Print the margins in the lifts of degree 1, 2 and 3, and which of them to declare."""
    with console.status("looking at lifts"):
        lifts = diagnose_lifts(X, numbers)
    table = Table(title="margins in lifts: columns, their squares and products, ...")
    table.add_column("degree", justify="right")
    table.add_column("lifted columns", justify="right")
    for name in names[:_SHOWN]:
        table.add_column(shown(name), justify="right")
    table.add_column("least", justify="right")
    table.add_column("questions", justify="right")
    for found in lifts:
        each = [found.margins[at] if found.margins else None for at in range(len(names))]
        table.add_row(
            str(found.degree),
            str(found.n_columns),
            *(_margin_text(margin) for margin in each[:_SHOWN]),
            _margin_text(min(found.margins) if found.margins else None),
            "" if found.n_questions is None else f"about {found.n_questions:,}",
        )
    console.print(table)
    useful = [found for found in lifts if found.n_questions is not None]
    if useful and useful[0].degree > 1 and useful[0].margins:
        least = _rounded_down(min(min(useful[0].margins), _ENOUGH))
        console.print(
            f"--lift {Polynomial(useful[0].degree).name} --margin {least:g} proves labels."
        )


def _margin_text(margin: float | None) -> str:
    if margin is None:
        return "not tried"
    return f"{margin:.3g}" if margin > 0 else "none"


def _grouped(source: DataTable, labels: str, rows: IntArray) -> tuple[IntArray, list[str]]:
    """The group of each of these rows (0 to k-1, or -1 where it is not known), and the groups'
    names."""
    known = dict(read_labels(source, labels))
    known = {row: known[row] for row in rows.tolist() if row in known}
    if not known:
        raise InvalidInputError(f"{source.source}: column {labels!r} is empty")
    names = sorted(set(known.values()))
    place = {name: at for at, name in enumerate(names)}
    numbers = [place[known[row]] if row in known else -1 for row in rows.tolist()]
    return np.array(numbers), names


def _in_the_way(cluster: ClusterDiagnosis, source: DataTable, rows: IntArray) -> str:
    if cluster.breakers is None:
        return f"more than {MOST_BREAKERS}"
    return source.row_names(rows[cluster.breakers], _SHOWN) if len(cluster.breakers) else ""


def _advice(found: tuple[ClusterDiagnosis, ...], d: int) -> list[str]:
    lines = []
    least = min(cluster.margin for cluster in found)
    if least > 0:
        lines.append(
            f"Declare a margin of at most {_rounded_down(least):g}: it holds for every group."
        )
    else:
        lines.append(
            "Not every group has a margin: with these columns labels cannot all be proven."
        )
    small = min(cluster.size for cluster in found)
    if small < _POINTS_PER_COLUMN * d:
        lines.append(
            f"The smallest group has {small:,} rows in {d} columns. With so few, proofs hardly "
            "save a question; fewer columns may help."
        )
    return lines


def _rounded_down(value: float) -> float:
    digits = f"{value:.2e}"
    rounded = float(digits)
    return rounded if rounded <= value else float(f"{value * 0.99:.2e}")
