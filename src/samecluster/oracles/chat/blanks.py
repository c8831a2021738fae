"""Items that show nothing: a model is not asked about them, and nothing is said of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from samecluster.oracles.chat.item_values import is_blank
from samecluster.questions.look import (
    Board,
    CheckSheet,
    Choice,
    Look,
    Marks,
    Reply,
    Sheet,
    Unions,
    unsure_of,
)


def without_blanks(look: Look, shown: Callable[[int], Any]) -> tuple[Look | None, frozenset[int]]:
    """A look without the items that show nothing, and these; None if too little is left."""
    blank = frozenset(item for item in look.shown if is_blank(shown(item)))
    if not blank:
        return look, blank
    match look:
        case Sheet():
            items = tuple(item for item in look.items if item not in blank)
            usable = items and look.reference not in blank
            return Sheet(look.reference, items) if usable else None, blank
        case CheckSheet():
            cells = tuple(cell for cell in look.cells if blank.isdisjoint(cell))
            decoys = tuple(item for item in look.decoys if item in dict(cells))
            asked = len(decoys) < len(cells)
            return CheckSheet(cells, decoys) if asked else None, blank
        case Board():
            items = tuple(item for item in look.items if item not in blank)
            return Board(items) if len(items) > 1 else None, blank
        case Choice():
            # Members that stand for nothing but themselves can be left out; a group cannot.
            groups = tuple(
                tuple(i for i in group if i == group[0] or i not in blank) for group in look.groups
            )
            firsts = {look.item, *(group[0] for group in groups)}
            return None if firsts & blank else Choice(look.item, groups), blank
    return None, blank


def with_unsure(look: Look, reply: Reply | None, blank: frozenset[int]) -> Reply:
    """The reply to the whole look; all of it is unsure if there is none."""
    if reply is None:
        return unsure_of(look)
    if not isinstance(reply, Marks | Unions):
        return reply
    cells = look.cells if isinstance(look, CheckSheet) else [(item,) for item in look.shown]
    hidden = (cell[0] for cell in cells if not blank.isdisjoint(cell))
    return replace(reply, unsure=(*reply.unsure, *hidden))
