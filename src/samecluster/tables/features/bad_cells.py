"""Cells that should be numbers and are not: all of them in one line, and what may be done."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from samecluster.tables.column import Column
from samecluster.tables.messages import brief
from samecluster.tables.reading.dialect import number_pattern
from samecluster.tables.table import Table

_MOST_CELLS = 10  # cells that a message names
_LONGEST_SHOWN = 30  # characters of a cell in a message of one line


def shown_cell(cell: str) -> str:
    """A cell as it is quoted in a message."""
    return repr(brief(cell, _LONGEST_SHOWN))


def bad_cells_message(table: Table, columns: Sequence[Column]) -> str | None:
    """The cells of some columns that are no finite numbers, by row; None if there are none."""
    bad = sorted(
        (row, at, is_infinite)
        for at, column in enumerate(columns)
        for rows, is_infinite in ((column.numbers.not_numbers, 0), (column.numbers.infinite, 1))
        for row in rows.tolist()
    )
    if not bad:
        return None
    first, at, _ = bad[0]
    other = _other_decimal(table, columns[at].texts[first])
    if other is not None:
        return (
            f"{table.place(first, columns[at].name)}: {shown_cell(columns[at].texts[first])} is no "
            f"number with decimal mark {other[0]!r}; name the other one with --decimal {other[1]}"
        )
    told = [
        f"{table.row_name(row)}, column {brief(columns[at].name)!r}: "
        f"{shown_cell(columns[at].texts[row])} is no {'finite ' * is_infinite}number"
        for row, at, is_infinite in bad[:_MOST_CELLS]
    ]
    if len(bad) > _MOST_CELLS:
        told.append(f"and {len(bad) - _MOST_CELLS:,} more")
    named = [columns[at].name for at in sorted({at for _, at, _ in bad})]
    words = list(dict.fromkeys(columns[at].texts[row].strip() for row, at, _ in bad))
    word = f" {shlex.quote(words[0])}" if len(words) == 1 and len(words[0]) < _LONGEST_SHOWN else ""
    return (
        f"{table.source}, {'; '.join(told)}; correct {'it' if len(bad) == 1 else 'them'}, count as "
        f"missing with --na{word}, or leave out with --ignore {shlex.quote(brief(','.join(named)))}"
    )


def _other_decimal(table: Table, cell: str) -> tuple[str, str] | None:
    """The decimal mark in use and the other one, if the cell is a number with that."""
    dialect = table.dialect
    if dialect is None or dialect.separator == ",":
        return None
    other = "." if dialect.decimal == "," else ","
    return (dialect.decimal, other) if number_pattern(other).fullmatch(cell) else None
