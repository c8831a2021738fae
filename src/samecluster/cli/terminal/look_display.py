"""Looks in the terminal: what is shown of them, and how a line of text answers those of many pairs.

A choice is answered by the digit of a group. A sheet and a board are answered by numbers in a line.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from rich.table import Table as Grid

from samecluster.cli.terminal.screen import Screen, shown
from samecluster.errors import InvalidInputError
from samecluster.questions.look import CheckSheet, Choice, Sheet
from samecluster.sessions.question import SessionLook, SessionQuestion
from samecluster.tables.display import ShownCell
from samecluster.tables.display import shown as cells_of
from samecluster.workspace.open import OpenSession
from samecluster.workspace.pair_display import compared, differing

MOST_DIGITS = 9
_LONGEST_OF_TWO = 300  # characters of a cell; two long texts still fit on a screen
_LONGEST = 160  # characters of a text; a sheet of twelve still fits on a screen
_MEMBERS = 2  # of a group in the terminal, where each takes a line

ASKED = {
    "choice": "Which group? 1 to {n}, 0 none of these, u unsure, {more}b back, q quit: ",
    "sheet": "Which do not belong? Numbers such as 2 5, Enter if all belong; u3 if unsure about 3, "
    "r if the reference is the odd one; b back, q quit: ",
    "checks": "Which do not belong with the line above them? Numbers such as 2 5, Enter if all do; "
    "u3 if unsure about 3; b back, q quit: ",
    "board": "Which are one? Numbers such as 2 5, sets apart by a semicolon, Enter if all differ; "
    "u3 if unsure about 3; b back, q quit: ",
}


def print_pair(
    console: Screen, opened: OpenSession, question: SessionQuestion, columns: Sequence[str]
) -> None:
    """Both items, one line per column of the table; where they differ much, the line is marked."""
    grid = Grid(box=None, pad_edge=False, show_header=False)
    grid.add_column(style="dim")
    for _ in range(2):
        grid.add_column(overflow="fold", ratio=1)
    grid.add_column()
    for cells in compared(opened, question.rows, columns):
        style = "bold" if cells.differs else ""
        grid.add_row(
            shown(cells.left.column),
            shown(_compared_cell(cells.left), style=style),
            shown(_compared_cell(cells.right), style=style),
            shown("differs" if cells.differs else "", style="dim"),
        )
    console.print(grid)


def _compared_cell(cell: ShownCell) -> str:
    text = cell.text if len(cell.text) <= _LONGEST_OF_TWO else cell.text[:_LONGEST_OF_TWO] + " ..."
    if cell.percentile is None:
        return text or "(blank)"
    return f"{text}  (above {cell.percentile:.0f} %)"


def print_look(
    console: Screen,
    opened: OpenSession,
    look: SessionLook,
    columns: Sequence[str],
    names: Mapping[str, str],
    page: int = 0,
) -> None:
    """All items of a look, a line each, with the columns that differ among them.

    ``names`` are those of groups, by the key of the member that stands for them.
    """
    seen = look.look
    told = differing(opened, seen.shown, columns) or list(columns)
    grid = Grid(box=None, pad_edge=False)
    grid.add_column("")
    for name in (opened.options.id_column or "item", *told):
        grid.add_column(shown(name), style="", overflow="fold")

    def line(sign: str, row: int, style: str = "") -> None:
        cells = cells_of(opened.table, opened.table_row(row), told)
        texts = [opened.data.keys[row], *map(_brief, cells)]
        grid.add_row(shown(sign, style="bold"), *(shown(text, style=style) for text in texts))

    if isinstance(seen, Choice):
        line("?", seen.item, "bold")
        for place, group in enumerate(shown_groups(seen, page), start=1):
            for at, row in enumerate(group[:_MEMBERS]):
                named = names.get(opened.data.keys[group[0]])
                line(f"{place}{f' {named}' if named else ''}" if at == 0 else "", row)
    else:
        if isinstance(seen, Sheet):
            line("with", seen.reference, "bold")
        for number, row in enumerate(seen.items, start=1):
            if isinstance(seen, CheckSheet):
                line("with", seen.cells[number - 1][1])
            line(str(number), row, "bold" if isinstance(seen, CheckSheet) else "")
    console.print(grid)


def shown_groups(choice: Choice, page: int) -> tuple[tuple[int, ...], ...]:
    """The groups of a choice on a page: as many as there are digits."""
    return choice.groups[page * MOST_DIGITS : (page + 1) * MOST_DIGITS]


def reply_of(look: SessionLook, line: str) -> dict[str, Any]:
    """The reply that a line of numbers stands for; InvalidInputError if it is none."""
    kind = look.body["kind"]
    items = [cell[0] for cell in look.body["cells"]] if kind == "checks" else look.body["items"]
    sets = [part.replace(",", " ").split() for part in line.strip().lower().split(";")]
    words = [word for one in sets for word in one]
    unsure = [_item(items, word[1:]) for word in words if word.startswith("u")]
    is_odd = kind == "sheet" and "r" in words
    apart = "r" if is_odd else ""
    chosen = [
        [_item(items, word) for word in one if not word.startswith("u") and word != apart]
        for one in sets
    ]
    if kind in ("sheet", "checks") and len(sets) == 1:
        reply: dict[str, Any] = {"marked": chosen[0]}
    elif kind == "board":
        reply = {"joined": [one for one in chosen if one]}
        if any(len(one) == 1 for one in reply["joined"]):
            raise InvalidInputError("A set needs two numbers or more.")
    else:
        raise InvalidInputError("Give numbers with blanks between them.")
    if unsure:
        reply["unsure"] = unsure
    return {**reply, "odd_reference": True} if is_odd else reply


def _brief(cell: ShownCell) -> str:
    """A cell in little space: a number with few digits, the beginning of a text."""
    if cell.percentile is not None:
        return f"{float(cell.text):.5g}"
    return cell.text if len(cell.text) <= _LONGEST else cell.text[:_LONGEST] + " ..."


def _item(items: Sequence[str], word: str) -> str:
    if not re.fullmatch("[0-9]{1,3}", word) or not 1 <= int(word) <= len(items):
        raise InvalidInputError(f"There is no number {word!r} on the screen: 1 to {len(items)}.")
    return items[int(word) - 1]
