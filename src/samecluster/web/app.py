"""The application: a route for each declared operation, the page's files, and the way in."""

from __future__ import annotations

import os
import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from samecluster.errors import SameClusterError, StoreError
from samecluster.web.context import Call, ServerContext
from samecluster.web.errors import HttpError, status_of
from samecluster.web.links import Participant
from samecluster.web.operations.declared import Operation
from samecluster.web.operations.document import OPERATIONS
from samecluster.web.security import Guard, Hosts, check_origin

LARGEST_BODY = 64 * 1024
_STATIC = Path(__file__).with_name("static")
_MONTH = 30 * 24 * 3600
_NOBODY = Participant(None, "annotator")
_ABSOLUTE = re.compile(r"(^|[\s('\"])(/|[A-Za-z]:\\)")

Endpoint = Callable[[Request], Awaitable[Response]]


def build_app(
    context: ServerContext, hosts: Hosts, cookie: str, *, secure: bool = False
) -> Starlette:
    """The application of a session; ``cookie`` is the name under which browsers keep the link."""
    routes = [
        Route(operation.path, _endpoint(operation, context, cookie), methods=[operation.method])
        for operation in OPERATIONS
    ]
    return Starlette(
        routes=[
            *routes,
            Route("/join", _join(context, cookie, secure), methods=["GET"]),
            Mount("/", StaticFiles(directory=_STATIC, html=True)),
        ],
        middleware=[Middleware(Guard, hosts=hosts)],
        exception_handlers={
            HttpError: _refused,
            SameClusterError: _failed(context),
            HTTPException: _not_found,
            Exception: _internal_error,
        },
    )


def _endpoint(operation: Operation, context: ServerContext, cookie: str) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        check_origin(request.headers, request.method)
        secret = _secret(request, cookie)
        person = _NOBODY if operation.open_to_all else _person(secret, context)
        if operation.for_owners and not person.is_owner:
            raise HttpError(403, "only owners of the session may do this; ask whoever invited you")
        given = operation.read_parameters(request.path_params, "path")
        given |= operation.read_parameters(request.query_params, "query")
        if operation.body is not None:
            given |= operation.read_body(await _body(request))
        call = Call(person, given, lambda: context.people.person(secret) is not None)
        result: Any = await operation.handler(context, call)
        return result if isinstance(result, Response) else JSONResponse(result)

    return endpoint


def _secret(request: Request, cookie: str) -> str:
    """The secret that came along, as a cookie or in the Authorization header."""
    scheme, _, secret = request.headers.get("authorization", "").partition(" ")
    return secret if scheme.lower() == "bearer" else request.cookies.get(cookie, "")


def _person(secret: str, context: ServerContext) -> Participant:
    """The person whose link has this secret."""
    person = context.people.person(secret) if secret else None
    if person is None:
        raise HttpError(
            401, "open your personal link first; whoever runs this session can invite you"
        )
    context.note(person)
    return person


async def _body(request: Request) -> bytes:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise HttpError(415, "the body must be JSON: Content-Type: application/json")
    length = request.headers.get("content-length", "0")
    if length.isascii() and length.isdigit() and int(length) > LARGEST_BODY:
        raise _too_large()
    data = bytearray()
    try:
        async for piece in request.stream():
            data += piece
            if len(data) > LARGEST_BODY:
                raise _too_large()
    except ClientDisconnect:
        raise HttpError(400, "the body ended early") from None
    return bytes(data)


def _too_large() -> HttpError:
    return HttpError(413, f"the body is larger than {LARGEST_BODY:,} bytes")


def _join(context: ServerContext, cookie: str, secure: bool) -> Endpoint:
    async def join(request: Request) -> Response:
        secret = request.query_params.get("token", "")
        if request.headers.get("sec-fetch-dest", "document") != "document":
            raise HttpError(403, "open the link in the address line")
        if context.people.person(secret) is None:
            return PlainTextResponse(
                "This link is not valid, or not any more. Whoever runs this session can make a new "
                "one: samecluster invite SESSION NAME\n",
                401,
            )
        response = RedirectResponse("/", 303)
        response.set_cookie(
            cookie, secret, max_age=_MONTH, httponly=True, samesite="strict", secure=secure
        )
        return response

    return join


async def _refused(_: Request, error: Exception) -> Response:
    assert isinstance(error, HttpError)
    # What is left of a body that was refused unread must not be taken for the next request.
    headers = {"connection": "close"} if error.status in (413, 415) else None
    return JSONResponse({"error": str(error)}, error.status, headers=headers)


def _failed(context: ServerContext) -> Callable[[Request, Exception], Awaitable[Response]]:
    # Where files are on this machine is nobody's business who only has a link.
    folders = {str(place.parent) + os.sep for place in context.files()}

    async def failed(_: Request, error: Exception) -> Response:
        assert isinstance(error, SameClusterError)
        text = context.names.in_text(str(error))
        for folder in sorted(folders, key=len, reverse=True):
            text = text.replace(folder, "")
        if isinstance(error, StoreError) and _ABSOLUTE.search(text):
            text = "the session cannot be used now; its terminal says why, and nothing is lost"
        return JSONResponse({"error": text}, status_of(error))

    return failed


async def _not_found(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    texts = {404: "there is nothing at this address", 405: "this address takes another method"}
    text = texts.get(error.status_code, "this request cannot be answered")
    return JSONResponse({"error": text}, error.status_code, headers=error.headers)


async def _internal_error(_: Request, __: Exception) -> Response:
    text = "something is wrong in the server, which says more in its terminal; answers are kept"
    return JSONResponse({"error": text}, 500)
