"""Connections that say nothing, requests that do not end, lines without number."""

import contextlib
import logging
import socket
import time

import pytest

from samecluster.cli.commands import serve
from samecluster.web import limits
from samecluster.web.limits import LineLimit
from samecluster.web.links import links_file
from tests.web.served import TOKEN, Served, in_thread, write_data

UNFINISHED = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-A: "
NO_BODY = (
    f"POST /api/v1/next HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {TOKEN}\r\n"
    "X-Samecluster: 1\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{"
).encode()


def connections(served: Served, n: int, said: bytes) -> list[socket.socket]:
    port = int(served.base.rpartition(":")[2])
    made = [socket.create_connection(("127.0.0.1", port)) for _ in range(n)]
    for one in made:
        with contextlib.suppress(ConnectionError):  # it may be closed already
            one.sendall(said)
    return made


def is_closed(connection: socket.socket) -> bool:
    """Waits until it is: a server that never closes it keeps this waiting."""
    try:
        while connection.recv(65536):
            pass
    except ConnectionError:
        pass
    connection.close()
    return True


@pytest.mark.parametrize("said", [b"", UNFINISHED, NO_BODY])
def test_a_request_that_does_not_arrive_is_not_waited_for(tmp_path, monkeypatch, said) -> None:
    monkeypatch.setattr(limits, "_LONGEST_REQUEST", 0.3)
    monkeypatch.setattr(limits, "_LOOK", 0.1)
    with in_thread(write_data(tmp_path)) as served:
        held = connections(served, 5, said)
        with served.owner().client.stream("GET", "/api/v1/events") as events:
            heard = events.iter_text()
            assert "progress" in next(heard)
            assert all(is_closed(one) for one in held)
            time.sleep(1.0)
            (question,) = served.owner().next()
            served.owner().answer(question, served.data.verdict(question))
            assert any("event: progress" in text for text in heard), "a stream is not idle"


def test_many_idle_connections_shut_nobody_out(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(limits, "_MOST_CONNECTIONS", 20)
    with in_thread(write_data(tmp_path)) as served:
        owner = served.owner()
        (question,) = owner.next()
        held = connections(served, 60, b"") + connections(served, 60, UNFINISHED)
        for _ in range(3):
            owner.answer(question, served.data.verdict(question))
            (question,) = served.invite("Ann").next()
        assert served.serving is not None
        assert len(served.serving._server.server_state.connections) <= 22
        assert all(is_closed(one) for one in held[:90]), "the oldest went"
        for one in held[90:]:
            one.close()


def test_lines_of_one_kind_are_limited_and_counted() -> None:
    now, told = [0.0], []
    logger = logging.Logger("a server")
    logger.addFilter(LineLimit(lambda: now[0]))
    logger.addHandler(handler := logging.Handler())
    handler.emit = lambda record: told.append(record.getMessage())  # type: ignore[method-assign]
    for number in range(1000):
        logger.error("no files left (%d)", number)
    logger.error("something else")
    assert len(told) == 6
    now[0] += 60
    for number in range(2):
        logger.error("no files left (%d)", number)
    assert len(told) == 8, "another line of the code is another kind"


def test_how_many_lines_were_left_out_is_said() -> None:
    now, told = [0.0], []
    logger = logging.Logger("a server")
    logger.addFilter(LineLimit(lambda: now[0]))
    logger.addHandler(handler := logging.Handler())
    handler.emit = lambda record: told.append(record.getMessage())  # type: ignore[method-assign]
    for number in range(1001):
        now[0] = 60.0 * (number == 1000)
        logger.error("no files left")
    assert told[-1] == "no files left (and 995 lines like this before)"


def test_the_file_with_the_owners_link_goes(tmp_path, monkeypatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    session = tmp_path / "s.samecluster"
    page = links_file(session).with_suffix(".html")
    page.parent.mkdir(parents=True, exist_ok=True)
    with serve._opened_page("http://127.0.0.1/join?token=secret", session):
        assert opened == [page.as_uri()]
        assert "token=secret" in page.read_text()
        assert page.stat().st_mode & 0o777 == 0o600
    assert not page.exists(), "with the server"
    monkeypatch.setattr(serve, "_READING_SECONDS", 0.0)
    with serve._opened_page("http://127.0.0.1/join?token=secret", session):
        while page.exists():
            time.sleep(0.01)
