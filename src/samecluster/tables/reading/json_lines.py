"""Tables from JSON lines: one object per line, one column per key."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from samecluster._files import MAX_BYTES
from samecluster.errors import InvalidInputError
from samecluster.tables.column import TypedColumn
from samecluster.tables.messages import first_repeated, reason_of
from samecluster.tables.reading.dialect import Dialect, decoded
from samecluster.tables.table import Table


def parse_json_lines(data: bytes, source: str, _: int = MAX_BYTES) -> Table:
    """The table in the bytes of a file; a key that a line does not have is a missing value."""
    text, encoding, mark = decoded(data, source, None)
    return table_of_json(text, source, Dialect(encoding=encoding, byte_order_mark=mark))


def table_of_json(
    text: str, source: str, dialect: Dialect, before: int = 0, names: Sequence[str] = ()
) -> Table:
    """The table in a text after so many lines; it has at least the columns ``names``."""
    numbers, kept, objects = [], [], []
    for number, line in enumerate(text.replace("\r\n", "\n").split("\n"), before + 1):
        if line.strip():
            objects.append(_object(line, f"{source}, line {number}"))
            numbers.append(number)
            kept.append(line.strip())
    if not objects:
        raise InvalidInputError(f"{source} is empty: one JSON object a line is needed")
    names = list(dict.fromkeys((*names, *(name for found in objects for name in found))))
    if not names:
        raise InvalidInputError(f"{source}: the objects have no keys, so there are no columns")
    columns = [TypedColumn(name, [found.get(name) for found in objects]) for name in names]
    lines = np.array(numbers, dtype=np.int64)
    return Table(source, columns, format="jsonl", dialect=dialect, lines=lines, origin=kept)


def _object(line: str, place: str) -> dict[str, Any]:
    try:
        found = json.loads(line, object_pairs_hook=_once)
    except RecursionError:
        raise InvalidInputError(f"{place}: nested too deeply") from None
    except ValueError as error:
        hint = "; a file that is one JSON array must be written as one object a line"
        shown = hint if line.lstrip().startswith("[") else ""
        raise InvalidInputError(f"{place}: not JSON ({reason_of(error)}){shown}") from None
    if not isinstance(found, dict):
        raise InvalidInputError(
            f'{place}: an object such as {{"x": 1.5}} is needed, got {type(found).__name__}'
        )
    if "\\u" in line and not _is_text(found):
        raise InvalidInputError(f"{place}: half of a character (a lone surrogate) in a text")
    return found


def _is_text(found: dict[str, Any]) -> bool:
    try:
        json.dumps(found, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    twice = first_repeated(name for name, _ in pairs)
    if twice is not None:
        raise ValueError(f"the key {twice!r} is there twice")
    return dict(pairs)
