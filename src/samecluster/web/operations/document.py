"""The OpenAPI document, made from the declared operations, and the operation that serves it.

docs/openapi.json is what ``python -m samecluster.web.operations.document`` prints; a test compares
them.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import Any

from samecluster.web.context import Call, ServerContext
from samecluster.web.operations import answer, decide, files, read
from samecluster.web.operations.declared import (
    ERROR,
    DeclaredReply,
    Operation,
    Operations,
    Parameter,
)
from samecluster.web.operations.schema import SHARED, Schema, string

OPERATIONS = Operations(
    [*answer.OPERATIONS, *read.OPERATIONS, *decide.OPERATIONS, *files.OPERATIONS]
)
_HEAD: Mapping[str, Any] = {
    "openapi": "3.1.0",
    "info": {
        "title": "samecluster labelling",
        "version": "1",
        "license": {"name": "MIT", "identifier": "MIT"},
        "description": "The JSON API that the page of `samecluster serve` uses, for other "
        "interfaces. Get in with a personal link (`/join?token=SECRET` sets a cookie) or with "
        "`Authorization: Bearer SECRET`. Fields may be added to replies; anything else gets "
        "another number after /api/.",
    },
    "servers": [{"url": "/"}],
    "security": [{"cookie": []}, {"bearer": []}],
}
_SECURITY_SCHEMES = {
    "cookie": {
        "type": "apiKey",
        "in": "cookie",
        "name": "samecluster",
        "description": "Set by /join; its name goes on with a hash of the session's place.",
    },
    "bearer": {"type": "http", "scheme": "bearer"},
}
_ERRORS = {
    400: ("Malformed", "The request is not of the shape that this file gives, or no HTTP."),
    401: ("Unknown", "No valid personal link: neither cookie nor Authorization header."),
    403: (
        "Refused",
        "Wrong Host, another site's request, a missing X-Samecluster header, or for owners only.",
    ),
    404: ("NotFound", "There is no such thing."),
    409: ("Conflict", "It does not fit the state of the session."),
    413: ("TooLarge", "The body is larger than 64 KiB."),
    415: ("NotJson", "The body must be application/json."),
    422: ("Unusable", "The shape is right, but a value names nothing in this session."),
    431: ("HeadTooLarge", "Address and headers are larger than 32 KiB."),
    503: (
        "Unavailable",
        "The session cannot be written or is being closed; nothing was lost, send it again.",
    ),
}
_OF_ANY_REQUEST = (400, 403, 431)
_OF_A_LINK = (401, 503)
_OF_A_BODY = (413, 415, 422)
_PAGE_HEADER = {
    "name": "X-Samecluster",
    "in": "header",
    "required": True,
    "schema": string(enum=["1"]),
    "description": "Only scripts of the page itself can send it.",
}


@OPERATIONS.declare(
    "GET /openapi.json",
    "This file.",
    reply=DeclaredReply("This file.", {"application/json": {"type": "object"}}),
    open_to_all=True,
)
async def _openapi(_: ServerContext, __: Call) -> Any:
    return document()


def document() -> dict[str, Any]:
    """The OpenAPI document, as JSON."""
    paths: dict[str, dict[str, Any]] = {}
    for operation in OPERATIONS:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _described(operation)
    components = {
        "schemas": SHARED,
        "responses": {name: _error(status) for status, (name, _) in _ERRORS.items()},
        "securitySchemes": _SECURITY_SCHEMES,
    }
    return {**_HEAD, "paths": paths, "components": components}


def as_text() -> str:
    """The document as docs/openapi.json has it."""
    return json.dumps(document(), indent=2) + "\n"


def _described(operation: Operation) -> dict[str, Any]:
    for_owners, has_body = operation.for_owners, operation.body is not None
    found: dict[str, Any] = {
        "operationId": operation.id,
        "summary": f"{operation.summary} For owners." if for_owners else operation.summary,
    }
    if for_owners:
        found["x-role"] = "owner"
    if operation.open_to_all:
        found["security"] = []
    parameters = [*map(_parameter, operation.parameters), *([_PAGE_HEADER] if has_body else [])]
    if parameters:
        found["parameters"] = parameters
    if operation.body is not None:
        found["requestBody"] = {"required": True, "content": _content(_json(operation.body))}
    return {**found, "responses": _responses(operation)}


def _responses(operation: Operation) -> dict[str, Any]:
    reply = operation.reply
    found = {"200": {"description": reply.description, "content": _content(reply.content)}}
    errors = {*operation.errors, *_OF_ANY_REQUEST}
    if not operation.open_to_all:
        errors.update(_OF_A_LINK)
    if operation.body is not None:
        errors.update(_OF_A_BODY)
    for status in sorted(errors):
        found[str(status)] = {"$ref": f"#/components/responses/{_ERRORS[status][0]}"}
    return found


def _parameter(parameter: Parameter) -> dict[str, Any]:
    return {
        "name": parameter.name,
        "in": parameter.place,
        "required": parameter.required,
        "schema": parameter.schema,
    }


def _error(status: int) -> dict[str, Any]:
    # What is no HTTP at all is refused by the server below, in plain text.
    plain = {"text/plain": string()} if status == 400 else {}
    return {"description": _ERRORS[status][1], "content": _content({**_json(ERROR), **plain})}


def _json(schema: Schema) -> Mapping[str, Schema]:
    return {"application/json": schema}


def _content(schemas: Mapping[str, Schema]) -> dict[str, Any]:
    return {kind: {"schema": schema} for kind, schema in schemas.items()}


if __name__ == "__main__":
    sys.stdout.write(as_text())
