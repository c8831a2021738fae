"""Sessions for tests: small data, a truth that answers, and a clock that is set by hand."""

from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

import numpy as np

from samecluster.instances import Instance, make_ellipsoids
from samecluster.sessions.question import SessionQuestion
from samecluster.sessions.session import Session
from samecluster.sessions.storage.events import FORMAT, Event
from samecluster.sessions.storage.store import MemoryStore, Store

FAST = {"name": "certify", "kernel": "numpy", "effort": "fast"}
AT = "2026-01-31T12:00:00+00:00"


@cache
def instance(n: int = 90, k: int = 3, seed: int = 0) -> Instance:
    return make_ellipsoids(n, 2, k, random_state=seed)


def keys_of(n: int) -> list[str]:
    return [f"item {row}" for row in range(n)]


class Clock:
    """Time stands still until it is moved."""

    def __init__(self) -> None:
        self.now = datetime(2026, 1, 31, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def move(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


def new_session(
    made: Instance | None = None,
    store: Store | None = None,
    clock: Clock | None = None,
    **parameters: Any,
) -> Session:
    made = made or instance()
    return Session.create(
        store or MemoryStore(),
        keys_of(len(made.X)),
        made.X,
        parameters={"margin": made.margin, "method": FAST, **parameters},
        clock=clock or Clock(),
        seed=7,
    )


def store_of(session: Session) -> MemoryStore:
    """A store with the session's events, as another process would find them."""
    store = MemoryStore()
    store.append(list(session.events()))
    return store


def reopened(session: Session, made: Instance | None = None) -> Session:
    """The session as another process would find it."""
    made = made or instance()
    return Session.open(store_of(session), keys_of(len(made.X)), made.X, clock=Clock())


def kinds(session: Session) -> list[str]:
    """The kinds of all events, in order."""
    return [event.kind for event in session.events()]


def truth(question: SessionQuestion, made: Instance | None = None) -> str:
    i, j = question.rows
    labels = (made or instance()).labels
    return "same" if labels[i] == labels[j] else "different"


def other(verdict: str) -> str:
    return "different" if verdict == "same" else "same"


def answer_all(session: Session, made: Instance | None = None, who: str | None = None) -> int:
    n = 0
    while questions := session.ask(who):
        session.tell(questions[0].id, truth(questions[0], made), who)
        n += 1
    return n


def answer(session: Session, n: int, made: Instance | None = None) -> list[SessionQuestion]:
    asked = []
    for _ in range(n):
        (question,) = session.ask()
        session.tell(question.id, truth(question, made))
        asked.append(question)
    return asked


def same_known(one: Session, two: Session) -> None:
    """Both sessions are in the same state, ask the same next, and know the same labels."""
    assert one.state == two.state
    a, b = one.snapshot(), two.snapshot()
    np.testing.assert_array_equal(a.labels, b.labels)
    np.testing.assert_array_equal(a.how_codes, b.how_codes)
    assert a.answers == b.answers
    assert a.n_questions == b.n_questions
    assert one.ask(count=3) == two.ask(count=3)


def opened_event(n: int, **parameters: Any) -> Event:
    """The first event of a session about the keys of n rows."""
    body = {
        "format": FORMAT,
        "keys": keys_of(n),
        "digests": "0" * 16 * n,
        "preparation": {},
        "parameters": parameters,
        "seed": 1,
    }
    return Event("opened", AT, None, body)


def answer_event(
    one: str, two: str, verdict: str, who: str | None = "ann", role: str = "plan", **more: Any
) -> Event:
    body = {"items": [one, two], "verdict": verdict, "role": role, **more}
    return Event("answered", AT, who, body)


def answer_events(n: int) -> list[Event]:
    """Answers about n pairs that have no item in common."""
    return [answer_event(f"a{i}", f"b{i}", "same") for i in range(n)]
