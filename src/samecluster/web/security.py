"""Where requests may come from: checks before any operation sees a request.

- Host: a page of another name that was pointed at this machine (DNS rebinding) is turned away.
- Origin and Sec-Fetch-Site: requests that another site makes with this browser's cookie (CSRF).
- Every response forbids frames, guesses at its type, and scripts that are not the page's own.
"""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Iterable
from dataclasses import dataclass

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from samecluster.web.errors import HttpError

CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "content-security-policy": CONTENT_POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
}
LARGEST_HEAD = 32 * 1024
_LOCAL = frozenset({"localhost", "127.0.0.1", "::1"})
_FORBIDDEN = 403


def is_local(host: str) -> bool:
    """Whether only this machine reaches a server on this host."""
    if host == "localhost":
        return True
    address = _address(host)
    return address is not None and address.is_loopback


@dataclass(frozen=True)
class Hosts:
    """The names that this server goes by."""

    names: frozenset[str]
    any_address: bool

    @classmethod
    def of(cls, host: str, also: Iterable[str] = ()) -> Hosts:
        """The names of a server that listens on ``host``.

        On all addresses of a machine it goes by any of them: no name server can point a foreign
        name at a bare address.
        """
        names = {*_LOCAL, host.lower(), *(name.lower() for name in also)}
        address = _address(host)
        everywhere = address is not None and address.is_unspecified
        if everywhere:
            names |= {socket.gethostname().lower(), socket.getfqdn().lower()}
        return cls(frozenset(names), everywhere)

    def check(self, header: str | None) -> None:
        """HttpError unless a Host header has one of the names, with any port."""
        name = _name_in(header or "")
        if name in self.names or (self.any_address and _address(name) is not None):
            return
        raise HttpError(
            _FORBIDDEN,
            "this server does not go by that name; open the link that it printed, or start it "
            "with --allow-host NAME",
        )


class Guard:
    """Checks the size and the Host of every request, and adds the headers to every response."""

    def __init__(self, app: ASGIApp, hosts: Hosts) -> None:
        self._app, self._hosts = app, hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        # Browsers may cache the page's own files if they revalidate them; data they may not.
        is_file = not scope["path"].startswith(("/api/", "/join"))
        caching = "no-cache" if is_file else "no-store"

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers[name] = value
                headers.setdefault("cache-control", caching)
            await send(message)

        try:
            _check_size(scope)
            self._hosts.check(Headers(scope=scope).get("host"))
        except HttpError as error:
            refused = JSONResponse({"error": str(error)}, error.status)
            await refused(scope, receive, guarded)
            return
        await self._app(scope, receive, guarded)


def check_origin(headers: Headers, method: str) -> None:
    """HttpError if another site makes this request.

    Browsers say where a request comes from; programs say nothing, and need the secret anyway.
    """
    origin, site = headers.get("origin"), headers.get("sec-fetch-site")
    from_elsewhere = origin is not None and origin.partition("://")[2] != headers.get("host")
    allowed = ("same-origin",) if method == "POST" else ("same-origin", "none")
    if from_elsewhere or (site is not None and site not in allowed):
        raise HttpError(_FORBIDDEN, "requests from other sites are refused; use the page itself")
    if method == "POST" and headers.get("x-samecluster") != "1":
        raise HttpError(_FORBIDDEN, "the header X-Samecluster: 1 is missing")


def _check_size(scope: Scope) -> None:
    size = len(scope["raw_path"]) + len(scope["query_string"])
    size += sum(len(name) + len(value) for name, value in scope["headers"])
    if size > LARGEST_HEAD:
        raise HttpError(431, f"address and headers are larger than {LARGEST_HEAD:,} bytes")


def _name_in(header: str) -> str:
    """The name in a Host header, without port and brackets."""
    if header.startswith("["):
        name, _, rest = header[1:].partition("]")
        return name.lower() if not rest or _is_port(rest) else ""
    name, colon, port = header.partition(":")
    return name.lower() if not colon or _is_port(f":{port}") else ""


def _is_port(text: str) -> bool:
    return text.startswith(":") and text[1:].isascii() and text[1:].isdigit()


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None
