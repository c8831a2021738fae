"""Cells that should be numbers and are not: all of them in one line, and what may be done."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from itertools import islice

from samecluster.tables.column import Column
from samecluster.tables.messages import brief
from samecluster.tables.reading.dialect import number_pattern
from samecluster.tables.table import Table

_MOST_CELLS = 10  # different cells that a message names
_SAMPLE, _NEARLY_ALL = 1000, 0.8  # cells that are looked at, and their share that must be alike
_MOST_UNITS = 3  # g, kg and the like; more are the letters of codes such as 12a
_WITH_UNIT = re.compile(r"[-+]?\d+(?:[.,]\d+)?\s*([^\W\d_]{1,4}(?:[/²³]\w{0,4})?|[%°€$£])")
_DATE = re.compile(r"(?:\d{4}-\d\d?-\d\d?|\d\d?[./]\d\d?[./]\d{2,4})(?:[T ].*)?")
UNITS = "numbers with a unit"
_LONGEST_SHOWN = 30  # characters of a cell in a message of one line


def shown_cell(cell: str) -> str:
    """A cell as it is quoted in a message."""
    return repr(brief(cell, _LONGEST_SHOWN))


def not_quite_numbers(column: Column) -> str | None:
    """What a column has if nearly all its cells are numbers with a unit, or dates."""
    cells = [cell.strip() for cell in islice(column.texts, _SAMPLE) if cell.strip()]
    enough = max(1.0, _NEARLY_ALL * len(cells))
    measured = [found for cell in cells if (found := _WITH_UNIT.fullmatch(cell))]
    if len(measured) >= enough and len({found[1] for found in measured}) <= _MOST_UNITS:
        example = shown_cell(measured[0][0])
        return f"{UNITS}, such as {example}; write the number alone to use them"
    dates = [cell for cell in cells if _DATE.fullmatch(cell)]
    if len(dates) >= enough:
        return f"dates, such as {shown_cell(dates[0])}; write a number, such as the month, instead"
    return None


def bad_cells_message(table: Table, columns: Sequence[Column]) -> str | None:
    """The cells of some columns that are no finite numbers, equal ones once; None if there are
    none."""
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
    alike: dict[tuple[int, str, int], list[int]] = {}
    for row, at, is_infinite in bad:
        alike.setdefault((at, columns[at].texts[row], is_infinite), []).append(row)
    told = [
        f"{table.row_names(rows)}, column {brief(columns[at].name)!r}: "
        f"{shown_cell(cell)} is no {'finite ' * is_infinite}number"
        for (at, cell, is_infinite), rows in islice(alike.items(), _MOST_CELLS)
    ]
    if len(alike) > _MOST_CELLS:
        told.append(f"and {len(alike) - _MOST_CELLS:,} more")
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
