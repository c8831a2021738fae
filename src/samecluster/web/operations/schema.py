"""openapi.json, read: which operations there are, and whether a request has the shape it gives.

The file is the only place that says what may be sent. The check knows the part of JSON Schema that
the file uses for requests, no more.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from samecluster.web.errors import HttpError

__all__ = ["FILE", "Operation", "operations"]

FILE = Path(__file__).with_name("openapi.json")

_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
    "null": (type(None),),
}
_MALFORMED = 400


@dataclass(frozen=True)
class Operation:
    """Something that can be asked of the server."""

    id: str
    method: str
    path: str
    for_owners: bool
    open_to_all: bool
    parameters: tuple[Mapping[str, Any], ...]
    body: Mapping[str, Any] | None

    def read_parameters(self, given: Mapping[str, str], place: str) -> dict[str, Any]:
        """What was given in the path or the query, checked, with defaults; others are ignored."""
        found: dict[str, Any] = {}
        for one in self.parameters:
            name, schema = one["name"], one["schema"]
            if one["in"] != place:
                continue
            if name in given:
                found[name] = _from_text(given[name], schema, name)
                check(found[name], schema, name)
            elif one["required"]:
                raise HttpError(_MALFORMED, f"{name} is missing; see /api/v1/openapi.json")
            elif "default" in schema:
                found[name] = schema["default"]
        return found

    def read_body(self, data: bytes) -> dict[str, Any]:
        """The fields of a body, checked."""
        try:
            body = json.loads(data)
        except (ValueError, RecursionError):
            raise HttpError(_MALFORMED, "the body is not JSON in UTF-8") from None
        assert self.body is not None
        check(body, self.body, "the body")
        found: dict[str, Any] = body
        return found


@cache
def operations() -> tuple[Operation, ...]:
    """All operations of the file, in its order."""
    return tuple(_operations(_document()))


def check(value: Any, schema: Mapping[str, Any], where: str) -> None:
    """Refusal that names the field if the value is not as the schema says."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        check(value, _document()["components"]["schemas"][name], where)
        return
    allowed = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    if not any(_is(value, kind) for kind in allowed):
        raise _wrong(where, " or ".join(allowed))
    if "enum" in schema and value not in schema["enum"]:
        raise _wrong(where, f"one of {', '.join(schema['enum'])}")
    if isinstance(value, str):
        _check_text(value, schema, where)
    elif isinstance(value, list):
        _check_size(len(value), schema, "Items", where)
        for at, one in enumerate(value):
            check(one, schema["items"], f"{where}[{at}]")
    elif isinstance(value, dict):
        _check_fields(value, schema, where)
    elif value is not None:
        _check_bounds(value, schema, where)


def _operations(document: Mapping[str, Any]) -> Iterator[Operation]:
    for path, methods in document["paths"].items():
        for method, told in methods.items():
            body = told.get("requestBody")
            yield Operation(
                told["operationId"],
                method.upper(),
                path,
                told.get("x-role") == "owner",
                told.get("security") == [],
                tuple(told.get("parameters", ())),
                None if body is None else body["content"]["application/json"]["schema"],
            )


@cache
def _document() -> Mapping[str, Any]:
    found: Mapping[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return found


def _is(value: Any, kind: str) -> bool:
    # To Python true is a number; to JSON it is not.
    return isinstance(value, _TYPES[kind]) and (kind == "boolean" or not isinstance(value, bool))


def _from_text(text: str, schema: Mapping[str, Any], where: str) -> Any:
    if schema["type"] != "integer":
        return text
    if not re.fullmatch(r"-?[0-9]{1,18}", text):
        raise _wrong(where, "a whole number")
    return int(text)


def _check_text(value: str, schema: Mapping[str, Any], where: str) -> None:
    _check_size(len(value), schema, "Length", where)
    if "pattern" in schema and not re.search(schema["pattern"], value):
        raise _wrong(where, f"of the form {schema['pattern']}")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise _wrong(where, "text without lone surrogates") from None


def _check_size(size: int, schema: Mapping[str, Any], what: str, where: str) -> None:
    least, most = schema.get(f"min{what}", 0), schema.get(f"max{what}", size)
    if not least <= size <= most:
        unit = "characters" if what == "Length" else "entries"
        raise _wrong(where, f"of {least} to {most} {unit}; it has {size}")


def _check_bounds(value: float, schema: Mapping[str, Any], where: str) -> None:
    least, most = schema.get("minimum", value), schema.get("maximum", value)
    if not least <= value <= most:
        raise _wrong(where, f"from {least} to {most}")


def _check_fields(value: Mapping[str, Any], schema: Mapping[str, Any], where: str) -> None:
    known = schema["properties"]
    for name in schema.get("required", ()):
        if name not in value:
            raise HttpError(_MALFORMED, f"{where} has no {name!r}; see /api/v1/openapi.json")
    for name, one in value.items():
        if name not in known:
            raise HttpError(_MALFORMED, f"{where} has a field that is not known: {name[:40]!r}")
        check(one, known[name], name)


def _wrong(where: str, allowed: str) -> HttpError:
    return HttpError(_MALFORMED, f"{where} must be {allowed}")
