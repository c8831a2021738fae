"""The lines that pass between this package and a command that answers: one JSON object per line.

docs/oracle_command.md describes them for users, docs/oracle_command.schema.json for machines. This
is version 1, for pairs; `command_looks` has version 2.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from samecluster.errors import OracleError
from samecluster.questions.pair import Verdict

VERSION = 1
_QUOTED = 200  # characters of a line that cannot be read are shown: about two lines of a terminal


@dataclass(frozen=True)
class ShownItem:
    """What a program sees of an item: its key, and those of its fields that were chosen."""

    key: str
    fields: Mapping[str, Any] = field(default_factory=dict)


def question_line(identity: str, item: ShownItem, comparator: ShownItem) -> bytes:
    """A question as a line.

    >>> question_line("1", ShownItem("a", {"size": 2.5}), ShownItem("b", {"size": math.nan}))
    ... # doctest: +NORMALIZE_WHITESPACE
    b'{"version": 1, "id": "1", "item": {"key": "a", "fields": {"size": 2.5}},
    "comparator": {"key": "b", "fields": {"size": null}}}\\n'
    """
    question = {"item": shown_item(item), "comparator": shown_item(comparator)}
    return as_line({"version": VERSION, "id": identity, **question})


def read_reply(line: bytes, identity: str) -> tuple[Verdict, str | None]:
    """The verdict on a question from a line, and a note; OracleError if it is about another.

    >>> read_reply(b'{"id": "1", "verdict": "same", "note": "twins"}', "1")
    (<Verdict.SAME: 'same'>, 'twins')
    """
    said, note = read_answer(line, identity)
    words = [verdict.value for verdict in Verdict]
    if said.get("verdict") not in words:
        raise OracleError(
            f'"verdict" must be one of {", ".join(words)}, but it wrote {quoted(line)}'
        )
    return Verdict(said["verdict"]), note


def read_answer(line: bytes, identity: str) -> tuple[dict[str, Any], str | None]:
    """The members of an answer to what has this id, and its note."""
    try:
        said = json.loads(line)
    except (ValueError, RecursionError):
        said = None
    if not isinstance(said, dict):
        raise OracleError(
            "it wrote a line that is no JSON object (anything but answers belongs on standard "
            f"error): {quoted(line)}"
        )
    if said.get("id") != identity:
        raise OracleError(f'it must answer with "id": "{identity}", but it wrote {quoted(line)}')
    note = said.get("note")
    if note is not None and not isinstance(note, str):
        raise OracleError(f'"note" must be text, but it wrote {quoted(line)}')
    return said, note


def as_line(told: Mapping[str, Any]) -> bytes:
    return json.dumps(told, allow_nan=False).encode() + b"\n"


def shown_item(item: ShownItem) -> dict[str, Any]:
    """An item as JSON can hold it."""
    return {"key": item.key, "fields": {name: json_cell(of) for name, of in item.fields.items()}}


def json_cell(value: Any) -> str | int | float | bool | None:
    """A field as JSON can hold it: NaN and infinity as null, unknown types as text."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, str | int | float):
        return value
    return str(value)


def quoted(line: bytes) -> str:
    """A line that cannot be read, for a message."""
    text = line.decode("utf-8", errors="replace").strip()
    return repr(text if len(text) <= _QUOTED else text[:_QUOTED] + "…")
