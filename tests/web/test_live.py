"""Server-sent events: each summary once, and the end with the server."""

import asyncio
import contextlib
import json
from itertools import islice

import pytest

from samecluster.web import live
from samecluster.web.links import Participants, links_file
from samecluster.web.plot import Plot
from samecluster.web.session_thread import SessionThread
from samecluster.web.snapshot import SessionSummary, nothing_known
from tests.cases.session_cases import instance, new_session
from tests.web.served import in_thread, write_data

N = 40


class Keys:
    """What a plot needs of views."""

    key = title = staticmethod(str)


@pytest.fixture
def made():
    session = new_session(instance(N), method="everything")
    plot = Plot(instance(N).X, ("x", "y"), Keys())  # type: ignore[arg-type]
    with contextlib.closing(SessionThread(session)) as thread:
        yield thread, plot


def told(events: list[str]) -> list[tuple[str, dict]]:
    parts = [event.strip().split("\n") for event in events]
    return [
        (kind.removeprefix("event: "), json.loads(data.removeprefix("data: ")))
        for kind, data in parts
    ]


def test_a_watcher_hears_progress_at_once_and_later_only_news(made, monkeypatch) -> None:
    thread, plot = made
    monkeypatch.setattr(live, "_PAUSE", 0.0)

    async def watch() -> list[str]:
        await thread.call_and_see(lambda session: session.prepare())
        events = live.stream(thread, plot)
        heard = [await anext(events), await anext(events)]
        await thread.call_and_see(lambda session: session.prepare())
        heard += [await anext(events), await anext(events)]
        thread.stop()
        return heard + [event async for event in events]

    heard = told(asyncio.run(watch()))
    kinds = [kind for kind, _ in heard]
    assert kinds == ["progress", "labels"] * 2, "a stopped thread ends the stream"
    assert heard[0][1]["n_items"] == N
    assert heard[3][1]["version"] == heard[1][1]["version"] + 1


def test_silence_is_broken_by_comments(made, monkeypatch) -> None:
    thread, plot = made
    monkeypatch.setattr(live, "_SILENCE", 0.01)
    monkeypatch.setattr(live, "_LOOK", 0.01)
    monkeypatch.setattr(live, "_PAUSE", 0.0)

    async def watch() -> str:
        await thread.call_and_see(lambda session: session.prepare())
        events = live.stream(thread, plot)
        heard = [await anext(events) for _ in range(3)]
        await events.aclose()  # type: ignore[attr-defined]
        return heard[-1]

    assert asyncio.run(watch()) == ": still here\n\n"


def test_the_stream_of_a_link_that_was_revoked_ends(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(live, "_SILENCE", 0.1)
    monkeypatch.setattr(live, "_LOOK", 0.1)
    data = write_data(tmp_path)
    with in_thread(data) as served:
        ann, bob = served.invite("Ann"), served.invite("Bob")
        with (
            ann.client.stream("GET", "/api/v1/events") as hers,
            bob.client.stream("GET", "/api/v1/events") as his,
        ):
            heard, goes_on = hers.iter_text(), his.iter_text()
            assert "event: progress" in next(heard)
            assert "event: progress" in next(goes_on)
            assert Participants(links_file(data.session)).revoke("Ann") == 1
            assert len(list(islice(heard, 50))) < 50, "it ends by itself"
            (question,) = bob.next()
            bob.answer(question, data.verdict(question))
            assert any("event: progress" in text for text in goes_on), "another link holds"


def summary(version: int, *, trouble: int = 0, ended: str = "") -> SessionSummary:
    progress = {"n_trouble": trouble, "ended": ended}
    return SessionSummary(version, 0, nothing_known(9), {}, {}, progress, {})


@pytest.mark.parametrize(
    ("before", "now", "kinds"),
    [
        (None, summary(0), ["progress", "labels"]),
        (None, summary(0, trouble=2, ended="x"), ["progress", "labels", "trouble", "ended"]),
        (summary(1), summary(1, ended="x"), []),
        (summary(1, trouble=1), summary(2, trouble=1), ["progress", "labels"]),
        (summary(1, trouble=1), summary(2), ["progress", "labels", "trouble"]),
        (summary(1, ended="x"), summary(2, ended="x"), ["progress", "labels"]),
        (summary(1, ended="x"), summary(2, ended="y"), ["progress", "labels", "ended"]),
        (summary(1, ended="x"), summary(2), ["progress", "labels"]),
    ],
)
def test_nothing_is_told_twice(made, before, now, kinds) -> None:
    assert [kind for kind, _ in live.news(before, now, made[1])] == kinds
