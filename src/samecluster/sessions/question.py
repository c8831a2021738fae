"""Questions and looks as people see them: keys, and an id that means the same tomorrow."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, unquote

from samecluster.errors import InvalidInputError
from samecluster.questions.look import CheckSheet, Look
from samecluster.questions.pair import Question, Verdict
from samecluster.sessions.state.items import Items
from samecluster.sessions.state.votes import Pair, pair_of
from samecluster.sessions.storage.look_format import LargeLook, Looked, look_body, text_of


@dataclass(frozen=True)
class SessionQuestion:
    """Are ``item`` and ``comparator`` in the same cluster?

    Attributes
    ----------
    id : made from the two keys, so that it is the same in any order, process and year
    item, comparator : keys; the comparator stands for the cluster it is known to be in
    rows : their row numbers in the data as it is now
    before : what the same person said, if this is asked again after an undo
    """

    id: str
    item: str
    comparator: str
    rows: tuple[int, int]
    before: Verdict | None = None

    @classmethod
    def about(cls, pair: Pair, items: Items, before: Verdict | None = None) -> SessionQuestion:
        """The question about two keys, in the order in which they are to be shown."""
        one, two = pair
        return cls(question_id(pair), one, two, (items.row_of[one], items.row_of[two]), before)

    @property
    def look(self) -> Question:
        """The same about rows."""
        return Question(*self.rows)


@dataclass(frozen=True)
class SessionLook:
    """Several pairs on one screen, to be answered as a whole.

    Attributes
    ----------
    id : the look about keys, as text
    look : the same about the rows of the data as it is now: a Choice, a Sheet, a Board, or the
        CheckSheet of an audit, which also knows its decoys: keep these from whoever answers
    body : the look about keys, as JSON has it
    before : what the same person replied, as JSON has it, if this is asked again after an undo
    """

    id: str
    look: LargeLook
    body: Mapping[str, Any]
    before: Mapping[str, Any] | None = None

    @classmethod
    def of(cls, looked: Looked, items: Items) -> SessionLook:
        """The look, with the reply in it as the one before; InvalidInputError if rows are gone."""
        body, before = json.loads(looked.id), json.loads(looked.reply or "null")
        look = looked.look(lambda key: items.row_of[items.checked_key(key)])
        return cls(looked.id, look, body, before)

    @classmethod
    def about(cls, look: LargeLook, items: Items) -> SessionLook:
        """A look about rows."""
        body = look_body(look, items.keys.__getitem__)
        return cls(text_of(body), look, body)


def look_for_people(look: Look, items: Items) -> SessionQuestion | SessionLook:
    """A look about rows as people see it."""
    if isinstance(look, Question):
        return SessionQuestion.about(keys_of(look.shown, items), items)
    return SessionLook.about(look, items)


def pairs_on(look: Look, items: Items) -> list[tuple[str, str]]:
    """The keys of all pairs on a screen, decoys as the rest: no id of a look tells them apart."""
    cells = look.cells if isinstance(look, CheckSheet) else [one.shown for one in look.questions]
    return [keys_of(cell, items) for cell in cells]


def keys_of(rows: Iterable[int], items: Items) -> tuple[str, str]:
    """Two rows by their keys."""
    one, two = rows
    return items.keys[one], items.keys[two]


def question_id(items: Iterable[str]) -> str:
    """The id of a pair: both keys, made safe for addresses.

    >>> question_id(["b:2", "a"]) == question_id(["a", "b:2"]) == "a:b%3A2"
    True
    """
    return ":".join(quote(key, safe="") for key in pair_of(items))


def pair_named(id_: str) -> Pair:
    """The pair of an id, in the data or not; InvalidInputError if it is no id."""
    keys = [unquote(part) for part in id_.split(":")] if isinstance(id_, str) else []
    if len(keys) != 2 or keys[0] == keys[1]:
        raise InvalidInputError(f"{id_!r} is not the id of a question; take it from ask()")
    return pair_of(keys)


def pair_from(id_: str, items: Items) -> Pair:
    """The pair of an id; InvalidInputError if it is none, or about rows that are not there."""
    pair = pair_named(id_)
    for key in pair:
        if key not in items.row_of:
            raise InvalidInputError(f"question {id_!r} is about {key!r}, which is not in the data")
    return pair


def checked_verdict(verdict: Verdict | str) -> Verdict:
    try:
        return Verdict(verdict)
    except ValueError:
        allowed = ", ".join(repr(one.value) for one in Verdict)
        raise InvalidInputError(f"verdict must be one of {allowed}, got {verdict!r}") from None
