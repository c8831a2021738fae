"""From an open session to a server that answers until it is stopped."""

from __future__ import annotations

import socket
import ssl
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

import uvicorn
from starlette.applications import Starlette

from samecluster.errors import InvalidInputError
from samecluster.web.app import build_app
from samecluster.web.context import ServerContext
from samecluster.web.images import Images, images_of
from samecluster.web.limits import LimitedProtocol, limit_lines
from samecluster.web.links import Participant, Participants, links_file, session_id
from samecluster.web.plot import Plot
from samecluster.web.security import LARGEST_HEAD, Hosts, is_local
from samecluster.web.session_thread import SessionThread
from samecluster.web.views import Views
from samecluster.workspace.open import OpenSession
from samecluster.workspace.pair_display import checked_columns

PORT = 8321
_ANY = 0
_GRACE = 2
"""Seconds that requests under way have when the server is stopped."""


@dataclass(frozen=True)
class Address:
    """Where the server listens, and the names that it goes by.

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

    def base_url(self, port: int) -> str:
        """The URL of the server, without a path."""
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


def bind(address: Address, last_url: str | None) -> socket.socket:
    """A socket that listens on the port of the address, or else on that of ``last_url``."""
    if address.port is not None:
        return _bound(address.host, address.port)
    last = (last_url or "").rpartition(":")[2]
    for port in (int(last) if last.isdigit() else PORT, PORT):
        try:
            return _bound(address.host, port)
        except InvalidInputError:
            continue
    return _bound(address.host, _ANY)


@dataclass(frozen=True)
class ServeOptions:
    """How a session is served.

    Attributes
    ----------
    show : columns to show of items; a selection of all if empty
    image_column : the column with paths of images, if it is not found by itself
    token : the secret of the owner's link; random if None
    who : the name of the owner
    lease_seconds : how long a question is kept for the person who got it
    images_inside : replies have the images in them, for a page that cannot fetch any
    """

    show: Sequence[str] = ()
    image_column: str | None = None
    token: str | None = None
    who: str | None = None
    lease_seconds: float = 120.0
    images_inside: bool = False


class Server:
    """A server that listens already, with the link of the owner; `run` makes it answer.

    Attributes
    ----------
    context : what its operations work on
    app : the application, to be called without a socket
    link : the personal link of the owner
    """

    def __init__(
        self, opened: OpenSession, data: str, address: Address, options: ServeOptions
    ) -> None:
        people = Participants(links_file(opened.path))
        owner = Participant(options.who, "owner")
        if options.token is not None:
            people.accept(options.token, owner)
        self.context = server_context(opened, data, people, options)
        try:
            hosts = Hosts.of(address.host, address.allow_hosts)
            cookie = f"samecluster-{session_id(opened.path)}"
            self.app = build_app(self.context, hosts, cookie, secure=address.is_secure)
            self._server = _UvicornServer(_config(self.app, address), self.context.thread)
            self._listening = bind(address, people.address)
        except BaseException:
            self.context.thread.close()
            raise
        url = address.base_url(self._listening.getsockname()[1])
        people.set_address(url)
        secret = options.token or people.invite(owner, start=True)
        self.link = f"{url}/join?token={secret}"

    def run(self) -> None:
        """Answer until `stop` or Ctrl-C, then close the session."""
        try:
            self._server.run(sockets=[self._listening])
        finally:
            self.close()

    def stop(self) -> None:
        """Make `run` return, from another thread."""
        self.context.thread.stop()
        self._server.should_exit = True

    def close(self) -> None:
        """Close session and socket; a session that is busy is left alone: its answers are safe."""
        self.context.thread.close()
        self._listening.close()


def server_context(
    opened: OpenSession, data: str, people: Participants, options: ServeOptions
) -> ServerContext:
    """What the operations of a session work on."""
    images = images_of(opened, data, options.image_column, inside=options.images_inside)
    columns = checked_columns(opened, options.show)
    if images is not None and not options.show:
        columns = tuple(name for name in columns if _is_shown_beside_picture(opened, name, images))
    views = Views(opened, columns, images)
    names = opened.data.preparation.features.number_columns
    plot = Plot(opened.data.X, names, views)
    return ServerContext(
        opened, SessionThread(opened.session), views, plot, images, people, options.lease_seconds
    )


def _is_shown_beside_picture(opened: OpenSession, column: str, images: Images) -> bool:
    """Whether to show a column beside the picture: if it has words. Numbers say less than it."""
    return column != images.column and opened.table.column(column).numbers.has_text


def _config(app: Starlette, address: Address) -> uvicorn.Config:
    config = uvicorn.Config(
        app,
        http=LimitedProtocol,
        ws="none",
        lifespan="off",
        log_level="warning",
        access_log=False,  # links would be in it
        server_header=False,
        proxy_headers=False,
        h11_max_incomplete_event_size=LARGEST_HEAD,
        timeout_graceful_shutdown=_GRACE,
        ssl_certfile=address.tls_cert,
        ssl_keyfile=address.tls_key,
    )
    limit_lines()
    try:
        config.load()
    except (ssl.SSLError, OSError) as error:
        raise InvalidInputError(f"--tls-cert and --tls-key cannot be used: {error}") from None
    return config


class _UvicornServer(uvicorn.Server):
    """Ends the event streams when it is told to stop; it would wait for them."""

    def __init__(self, config: uvicorn.Config, session_thread: SessionThread) -> None:
        super().__init__(config)
        self._session_thread = session_thread

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self._session_thread.stop()
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
