"""Looks as lines, version 2 of what passes between this package and a command that answers.

Answers go by place: a verdict per cell of a sheet, a group per item of a board. Places that are
null or left out were not answered: what is there is kept, and the rest is put again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from samecluster.errors import OracleError
from samecluster.oracles.command_protocol import ShownItem, as_line, quoted, read_answer, shown_item
from samecluster.questions.look import (
    Board,
    CheckSheet,
    Choice,
    Look,
    Marks,
    Picks,
    Reply,
    Sheet,
    Unions,
)
from samecluster.questions.pair import Question, Verdict

VERSION = 2
_UNSURE = Verdict.UNSURE.value


def look_line(identity: str, look: Look, shown: Callable[[int], ShownItem]) -> bytes:
    """A look as a line.

    >>> look_line("1", Board((4, 5, 6)), lambda row: ShownItem(str(row)))
    ... # doctest: +NORMALIZE_WHITESPACE
    b'{"version": 2, "id": "1", "kind": "board", "items": [{"key": "4", "fields": {}},
    {"key": "5", "fields": {}}, {"key": "6", "fields": {}}]}\\n'
    """

    def of(item: int) -> dict[str, Any]:
        return shown_item(shown(item))

    said: dict[str, Any]
    match look:
        case Question():
            said = {"kind": "pair", "item": of(look.item), "comparator": of(look.comparator)}
        case Choice():
            groups = [[of(member) for member in group] for group in look.groups]
            said = {"kind": "choice", "item": of(look.item), "groups": groups}
        case Sheet() | CheckSheet():
            cells = [{"item": of(item), "reference": of(beside)} for item, beside in look.cells]
            said = {"kind": "sheet", "cells": cells}
        case Board():
            said = {"kind": "board", "items": [of(item) for item in look.items]}
    return as_line({"version": VERSION, "id": identity, **said})


def read_look(line: bytes, identity: str, look: Look) -> tuple[Reply, str | None]:
    """The reply to a look from a line, and a note; OracleError if it does not fit the look.

    >>> read_look(b'{"id": "1", "verdicts": ["same", null]}', "1", Sheet(0, (7, 8)))
    (Marks(marked=(), unsure=(), odd_reference=False, skipped=(8,)), None)
    """
    said, note = read_answer(line, identity)
    try:
        match look:
            case Question():
                return Verdict(said["verdict"]), note
            case Choice():
                return _picks(said, look), note
            case Sheet() | CheckSheet():
                return _marks(said["verdicts"], look), note
            case Board():
                return _unions(said["groups"], look), note
    except (KeyError, TypeError, ValueError) as error:
        raise OracleError(
            f"it must answer {_WANTED[type(look)]}, but it wrote {quoted(line)}"
        ) from error


_WANTED: dict[type, str] = {
    Question: '"verdict" with same, different or unsure',
    Choice: '"chosen" with the places of the groups chosen, or "verdict" with unsure',
    Sheet: '"verdicts" with same, different, unsure or null for each cell',
    CheckSheet: '"verdicts" with same, different, unsure or null for each cell',
    Board: '"groups" with a number or text for each item, equal for those that are one',
}


def _picks(said: dict[str, Any], choice: Choice) -> Picks:
    if "chosen" not in said:
        if said["verdict"] != _UNSURE:
            raise ValueError
        return Picks(unsure=True)
    places = said["chosen"]
    if not all(type(p) is int and 0 <= p < len(choice.groups) for p in places):
        raise ValueError
    return Picks(tuple(dict.fromkeys(places)))


def _marks(said: list[Any], sheet: Sheet | CheckSheet) -> Marks:
    found = _by_item(said, sheet.items)
    verdicts = {item: None if word is None else Verdict(word) for item, word in found.items()}

    def those(verdict: Verdict | None) -> tuple[int, ...]:
        return tuple(item for item, said in verdicts.items() if said is verdict)

    return Marks(those(Verdict.DIFFERENT), those(Verdict.UNSURE), skipped=those(None))


def _unions(said: list[Any], board: Board) -> Unions:
    groups: dict[Any, list[int]] = {}
    for item, group in _by_item(said, board.items).items():
        if not (group is None or isinstance(group, str) or type(group) is int):
            raise ValueError
        groups.setdefault(group, []).append(item)
    skipped, unsure = groups.pop(None, []), groups.pop(_UNSURE, [])
    joined = tuple(tuple(group) for group in groups.values() if len(group) > 1)
    return Unions(joined, tuple(unsure), tuple(skipped))


def _by_item(said: list[Any], items: tuple[int, ...]) -> dict[int, Any]:
    """What was said of each item; None for the rest."""
    if not isinstance(said, list) or len(said) > len(items):
        raise ValueError
    return dict(zip(items, [*said, *[None] * (len(items) - len(said))], strict=True))
