"""Shapes of JSON: short functions that write JSON Schema, and the check of a value against it.

The functions take JSON Schema's own keywords, as in ``string(maxLength=9)``. The check knows the
part of JSON Schema that requests use, no more.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, TypeAlias

from samecluster.web.errors import HttpError

Schema: TypeAlias = Mapping[str, Any]
"""A JSON Schema."""

SHARED: dict[str, Schema] = {}
"""Schemas that have a name of their own in the OpenAPI document."""

MALFORMED = 400
_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
    "null": (type(None),),
}


def string(**keywords: Any) -> Schema:
    return {"type": "string", **keywords}


def integer(**keywords: Any) -> Schema:
    return {"type": "integer", **keywords}


def boolean(**keywords: Any) -> Schema:
    return {"type": "boolean", **keywords}


def choice(*values: str) -> Schema:
    return string(enum=list(values))


def array(items: Schema, **keywords: Any) -> Schema:
    return {"type": "array", "items": items, **keywords}


def record(optional: Mapping[str, Schema] | None = None, **fields: Schema) -> Schema:
    """An object with exactly these fields, and perhaps some that may be left out.

    >>> record(count=integer(minimum=1))["required"]
    ['count']
    """
    required = {"required": list(fields)} if fields else {}
    properties = {**fields, **(optional or {})}
    return {"type": "object", "additionalProperties": False, **required, "properties": properties}


def nullable(schema: Schema, **keywords: Any) -> Schema:
    """The schema, or null."""
    if "$ref" in schema:
        return {"anyOf": [schema, {"type": "null"}], **keywords}
    null_too = {"enum": [*schema["enum"], None]} if "enum" in schema else {}
    return {**schema, "type": [schema["type"], "null"], **null_too, **keywords}


def shared(name: str, schema: Schema) -> Schema:
    """A reference to the schema, which gets a name of its own in the OpenAPI document."""
    SHARED[name] = schema
    return {"$ref": f"#/components/schemas/{name}"}


TEXT = string()
COUNT = integer(minimum=0)
NUMBER: Schema = {"type": "number"}
OBJECT: Schema = {"type": "object"}


def check(value: Any, schema: Schema, where: str) -> None:
    """HttpError that names the field if the value is not as the schema says."""
    if "$ref" in schema:
        schema = SHARED[schema["$ref"].rpartition("/")[2]]
    allowed = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    if not any(_is(value, kind) for kind in allowed):
        raise wrong(where, " or ".join(allowed))
    if "enum" in schema and value not in schema["enum"]:
        raise wrong(where, f"one of {', '.join(schema['enum'])}")
    if isinstance(value, str):
        _check_text(value, schema, where)
    elif isinstance(value, list):
        _check_size(len(value), schema, "Items", where)
        for at, entry in enumerate(value):
            check(entry, schema["items"], f"{where}[{at}]")
    elif isinstance(value, dict):
        _check_fields(value, schema, where)
    elif value is not None:
        _check_bounds(value, schema, where)


def _is(value: Any, kind: str) -> bool:
    # To Python true is a number; to JSON it is not.
    return isinstance(value, _TYPES[kind]) and (kind == "boolean" or not isinstance(value, bool))


def _check_text(value: str, schema: Schema, where: str) -> None:
    _check_size(len(value), schema, "Length", where)
    # To Python, unlike to JSON Schema, "$" also matches before a newline at the end.
    if "pattern" in schema and not re.fullmatch(schema["pattern"], value):
        raise wrong(where, f"of the form {schema['pattern']}")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise wrong(where, "text without lone surrogates") from None


def _check_size(size: int, schema: Schema, what: str, where: str) -> None:
    least, most = schema.get(f"min{what}", 0), schema.get(f"max{what}", size)
    if not least <= size <= most:
        unit = "characters" if what == "Length" else "entries"
        raise wrong(where, f"of {least} to {most} {unit}; it has {size}")


def _check_bounds(value: float, schema: Schema, where: str) -> None:
    least, most = schema.get("minimum", value), schema.get("maximum", value)
    if not least <= value <= most:
        raise wrong(where, f"from {least} to {most}")


def _check_fields(value: Mapping[str, Any], schema: Schema, where: str) -> None:
    known = schema["properties"]
    for name in schema.get("required", ()):
        if name not in value:
            raise HttpError(MALFORMED, f"{where} has no {name!r}; see /api/v1/openapi.json")
    for name, field in value.items():
        if name not in known:
            raise HttpError(MALFORMED, f"{where} has a field that is not known: {name[:40]!r}")
        check(field, known[name], name)


def wrong(where: str, allowed: str) -> HttpError:
    """The error for a value that is not what is allowed."""
    return HttpError(MALFORMED, f"{where} must be {allowed}")
