"""Looks and replies as JSON, about keys: in events, in ids of looks, and in the page's API.

A look is ``{"kind": "sheet", "reference": key, "items": [key, ...]}``, with the fields of its
class. The sheet of an audit is ``{"kind": "checks", "cells": [[key, key of its reference], ...]}``:
nothing in it says which cells are decoys, only the event that answers it does.

A reply to a choice is one of ``{"groups": [place, ...]}``, ``{"none": true}`` and ``{"unsure":
true}``; to a sheet of either kind ``{"marked": [key, ...]}``, to a board ``{"joined": [[key, key],
...]}``, all with ``"unsure": [key, ...]`` if there are such items, and a sheet with
``"odd_reference": true`` if that was said.
"""

from __future__ import annotations

import itertools
import json
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from samecluster.errors import InvalidInputError
from samecluster.questions.look import Board, CheckSheet, Choice, Marks, Picks, Reply, Sheet, Unions
from samecluster.questions.look import verdicts_of as _verdicts_of
from samecluster.questions.pair import Verdict

LargeLook: TypeAlias = Choice | Sheet | CheckSheet | Board
_KINDS: dict[str, type[LargeLook]] = {
    "choice": Choice,
    "sheet": Sheet,
    "checks": CheckSheet,
    "board": Board,
}
# The fields of each kind, and how deep lists of keys are nested in them.
_DEPTHS: dict[str, dict[str, int]] = {
    "choice": {"item": 0, "groups": 2},
    "sheet": {"reference": 0, "items": 1},
    "checks": {"cells": 2},
    "board": {"items": 1},
}
_NO_LOOK = "is not a look; take it from ask_looks()"


@dataclass(frozen=True, slots=True)
class Looked:
    """A look about keys and, if there is one, the reply to it; both as JSON of one form.

    ``id`` is the look itself, so that it means the same look tomorrow. ``decoys`` are the items of
    an audit's sheet whose cells are known to be wrong: they are no answers.
    """

    id: str
    reply: str = ""
    decoys: tuple[str, ...] = field(default=(), compare=False)

    @property
    def kind(self) -> str:
        return str(json.loads(self.id)["kind"])

    @property
    def keys(self) -> list[str]:
        """All items on the screen."""
        numbers = _numbers()
        self.look(numbers.__getitem__)
        return list(numbers)

    def look(self, number_of: Callable[[str], int]) -> LargeLook:
        """The look about numbers that stand for the keys, such as rows."""
        look = _look(json.loads(self.id), number_of)
        if isinstance(look, CheckSheet) and self.decoys:
            return replace(look, decoys=tuple(map(number_of, self.decoys)))
        return look

    def answered(self, number_of: Callable[[str], int]) -> LargeLook:
        """The same as it was answered: a sheet of an audit knows what was overlooked."""
        look = self.look(number_of)
        if isinstance(look, CheckSheet):
            reply = _reply("checks", json.loads(self.reply), number_of)
            assert isinstance(reply, Marks)
            return look.answered(reply)
        return look

    def verdicts(self) -> list[tuple[tuple[str, str], Verdict]]:
        """What the reply says, pair of keys by pair; InvalidInputError if it does not fit."""
        numbers = _numbers()
        look = self.look(numbers.__getitem__)
        reply = _reply(self.kind, json.loads(self.reply), numbers.__getitem__)
        keys = list(numbers)
        return [((keys[q.item], keys[q.comparator]), v) for q, v in _verdicts_of(look, reply)]


def _numbers() -> defaultdict[str, int]:
    """Numbers for keys, in the order in which they turn up."""
    return defaultdict(itertools.count().__next__)


def text_of(value: Any) -> str:
    """JSON of one form."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def look_body(look: LargeLook, key_of: Callable[[int], str]) -> dict[str, Any]:
    kind = next(name for name, made in _KINDS.items() if isinstance(look, made))
    told = {name: _renamed(getattr(look, name), key_of) for name in _DEPTHS[kind]}
    return {"kind": kind, **told}


def checked_look(value: Any) -> Looked:
    """A look from its id or its JSON; InvalidInputError if it is none."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            value = None
    _look(value, _numbers().__getitem__)
    return Looked(text_of(value))


def checked_reply(look: Looked, reply: Any) -> Looked:
    """The look with a reply; InvalidInputError if it does not fit."""
    found = Looked(look.id, text_of(reply))
    found.verdicts()
    return found


def reply_body(reply: Reply, key_of: Callable[[int], str]) -> dict[str, Any]:
    """A reply about rows as one about keys."""
    match reply:
        case Picks(groups, unsure):
            chosen: dict[str, Any] = {"groups": list(groups)} if groups else {}
            return {**chosen, "unsure": True} if unsure else chosen or {"none": True}
        case Marks(marked, doubted, odd):
            body = {"marked": _renamed(marked, key_of), "unsure": _renamed(doubted, key_of)}
            body["odd_reference"] = odd
        case Unions(joined, doubted):
            body = {"joined": _renamed(joined, key_of), "unsure": _renamed(doubted, key_of)}
        case _:
            raise InvalidInputError(f"{reply!r} is not the reply to a look of several pairs")
    return {name: value for name, value in body.items() if value or name in ("marked", "joined")}


def _look(body: Any, number_of: Callable[[str], int]) -> LargeLook:
    kind = str(body.get("kind")) if isinstance(body, dict) else ""
    depths = _DEPTHS.get(kind)
    if depths is None or body.keys() != {"kind", *depths}:
        raise InvalidInputError(f"{_shown(body)} {_NO_LOOK}")
    is_whole = all(_is_nested(body[name], depth) for name, depth in depths.items())
    if not is_whole or any(len(cell) != 2 for cell in body.get("cells", ())):
        raise InvalidInputError(f"{_shown(body)} {_NO_LOOK}")
    return _KINDS[kind](**{name: _renamed(body[name], number_of) for name in depths})


def _reply(kind: str, body: Any, number_of: Callable[[str], int]) -> Reply:
    if not isinstance(body, dict):
        raise InvalidInputError(f"the reply to a {kind} must be a record, got {_shown(body)}")
    if kind == "choice":
        return _picks(body)
    first, depth = ("joined", 2) if kind == "board" else ("marked", 1)
    flags = {"odd_reference"} if kind == "sheet" else set()
    if first not in body or body.keys() - {first, "unsure"} - flags:
        raise InvalidInputError(f"the reply to a {kind} has {first!r}, and 'unsure' if needed")
    unsure, odd = body.get("unsure", []), body.get("odd_reference", False)
    if not _is_nested(body[first], depth) or not _is_nested(unsure, 1) or odd not in (True, False):
        raise InvalidInputError(f"{first!r} and 'unsure' list keys of items on the {kind}")
    told, doubted = _renamed(body[first], number_of), _renamed(unsure, number_of)
    return Unions(told, doubted) if kind == "board" else Marks(told, doubted, odd)


def _picks(body: Mapping[str, Any]) -> Picks:
    if len(body) == 1:
        if body.get("unsure") is True:
            return Picks(unsure=True)
        if body.get("none") is True:
            return Picks()
        groups = body.get("groups")
        if isinstance(groups, list) and groups and all(type(place) is int for place in groups):
            return Picks(tuple(dict.fromkeys(groups)))
    raise InvalidInputError(
        'a choice is answered with one of {"groups": [place, ...]}, {"none": true} and '
        '{"unsure": true}'
    )


def _renamed(value: Any, name: Callable[[Any], Any]) -> Any:
    """Items in nested lists by other names; lists of keys, tuples of numbers."""
    if isinstance(value, list):
        return tuple(_renamed(one, name) for one in value)
    if isinstance(value, tuple):
        return [_renamed(one, name) for one in value]
    return name(value)


def _is_nested(value: Any, depth: int) -> bool:
    if depth == 0:
        return isinstance(value, str)
    return isinstance(value, list) and all(_is_nested(one, depth - 1) for one in value)


def _shown(value: Any) -> str:
    return ascii(value)[:80]
