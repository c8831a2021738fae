"""From an open session to a server that answers, until it is stopped."""

from __future__ import annotations

import socket
import ssl
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

import uvicorn

from samecluster.errors import InvalidInputError
from samecluster.web.app import build_app
from samecluster.web.board import Board
from samecluster.web.desk import Desk
from samecluster.web.images import images_of
from samecluster.web.people import People, Person, links_file, place_of
from samecluster.web.plot import Plot
from samecluster.web.security import Hosts, is_local
from samecluster.web.views import Views
from samecluster.workbench.opening import Opened

__all__ = ["PORT", "Place", "bind", "serve"]

PORT = 8321
_ANY = 0
_GRACE = 2
"""Seconds that requests under way have when the server is stopped."""
_LONGEST_HEAD = 32 * 1024


@dataclass(frozen=True)
class Place:
    """Where the server is to be found.

    Attributes
    ----------
    host, port : where it listens; port None for the usual one, or another if that is taken
    allow_hosts : more names that it goes by
    tls_cert, tls_key : files that make it speak HTTPS
    """

    host: str = "127.0.0.1"
    port: int | None = None
    allow_hosts: tuple[str, ...] = ()
    tls_cert: Path | None = None
    tls_key: Path | None = None

    def __post_init__(self) -> None:
        if (self.tls_cert is None) != (self.tls_key is None):
            raise InvalidInputError("--tls-cert and --tls-key go together; one of them is missing")
        for option, file in (("--tls-cert", self.tls_cert), ("--tls-key", self.tls_key)):
            if file is not None and not file.is_file():
                raise InvalidInputError(f"{option}: there is no file {file}")

    @property
    def is_secure(self) -> bool:
        return self.tls_cert is not None

    def address(self, port: int) -> str:
        """What to put before a path."""
        host = {"0.0.0.0": socket.gethostname(), "::": socket.gethostname()}.get(
            self.host, self.host
        )
        shown = f"[{host}]" if ":" in host else host
        return f"{'https' if self.is_secure else 'http'}://{shown}:{port}"

    def warning(self) -> str | None:
        """What to tell the user before others can read along."""
        if self.is_secure or is_local(self.host):
            return None
        return (
            "Warning: this is plain HTTP beyond your own machine: whoever is on the network can "
            "read items, answers and links. Use --tls-cert and --tls-key, or a tunnel such as "
            "ssh -L."
        )


def bind(place: Place, before: str | None) -> socket.socket:
    """A socket that listens; on the port of last time (in ``before``) unless one is named."""
    if place.port is not None:
        return _bound(place.host, place.port)
    last = (before or "").rpartition(":")[2]
    for port in (int(last) if last.isdigit() else PORT, PORT):
        try:
            return _bound(place.host, port)
        except InvalidInputError:
            continue
    return _bound(place.host, _ANY)


def serve(
    opened: Opened,
    data: str,
    place: Place,
    *,
    columns: tuple[str, ...],
    image_column: str | None = None,
    token: str | None = None,
    who: str | None = None,
    lease_seconds: float = 120.0,
    ready: Callable[[str], None],
) -> bool:
    """Serve a session until Ctrl-C; ``ready`` is told the link of the owner.

    The session is closed at the end: False if it was still thinking and was left as it is, which
    costs nothing but time when it is opened again.
    """
    people = People(links_file(opened.path))
    listening = bind(place, people.address)
    try:
        address = place.address(listening.getsockname()[1])
        owner = Person(who, "owner")
        if token is not None:
            people.accept(token, owner)
        secret = token or people.invite(owner, start=True)
        people.set_address(address)
        desk = _desk(opened, data, columns, image_column, people, lease_seconds)
        server = _server(desk, place, opened.path)
        ready(f"{address}/join?token={secret}")
        try:
            server.run(sockets=[listening])
        finally:
            closed = desk.board.close()
        return closed
    finally:
        listening.close()


def _desk(
    opened: Opened,
    data: str,
    columns: tuple[str, ...],
    image_column: str | None,
    people: People,
    lease_seconds: float,
) -> Desk:
    images = images_of(opened, data, image_column)
    views = Views(opened, columns, images)
    preparation = opened.prepared.kept.preparation
    plot = Plot(opened.prepared.X, preparation.number_columns, views)
    return Desk(opened, Board(opened.session), views, plot, images, people, lease_seconds)


def _server(desk: Desk, place: Place, session: Path) -> uvicorn.Server:
    hosts = Hosts.of(place.host, place.allow_hosts)
    app = build_app(desk, hosts, f"samecluster-{place_of(session)}", secure=place.is_secure)
    config = uvicorn.Config(
        app,
        http="h11",
        ws="none",
        lifespan="off",
        log_level="warning",
        access_log=False,  # links would be in it
        server_header=False,
        proxy_headers=False,
        h11_max_incomplete_event_size=_LONGEST_HEAD,
        timeout_graceful_shutdown=_GRACE,
        ssl_certfile=place.tls_cert,
        ssl_keyfile=place.tls_key,
    )
    try:
        config.load()
    except (ssl.SSLError, OSError) as error:
        raise InvalidInputError(f"--tls-cert and --tls-key cannot be used: {error}") from None
    return _Server(config, desk.board)


class _Server(uvicorn.Server):
    """Lets those who watch go when it is told to stop: they would wait for ever."""

    def __init__(self, config: uvicorn.Config, board: Board) -> None:
        super().__init__(config)
        self._board = board

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self._board.stop()
        super().handle_exit(sig, frame)


def _bound(host: str, port: int) -> socket.socket:
    try:
        family, kind, protocol, _, where = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listening = socket.socket(family, kind, protocol)
    except OSError as error:
        raise InvalidInputError(f"--host {host} is no address of this machine: {error}") from None
    if sys.platform != "win32":
        # A server that was killed a moment ago does not keep the port; on Windows this would let
        # two servers share it.
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind(where)
        listening.listen(128)
    except OSError as error:
        listening.close()
        raise InvalidInputError(
            f"cannot listen on {host} port {port} ({error.strerror}); choose another with --port"
        ) from None
    return listening
