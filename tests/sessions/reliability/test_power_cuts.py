"""Cut the power at every write of a session's life: what was acknowledged is there."""

import random
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from samecluster.errors import StoreError
from samecluster.questions.pair import Verdict
from samecluster.sessions.intake import SentAnswer
from samecluster.sessions.session import Session
from samecluster.sessions.storage.events import Event
from samecluster.sessions.storage.sqlite import SqliteStore
from tests.cases.campaign import runs
from tests.cases.session_cases import Clock, answer_events, instance, keys_of, new_session, truth
from tests.sessions.reliability.power import Disk, folder_in_memory, recorded, written

NAME = "life.samecluster"
N = 30


@dataclass(frozen=True)
class Life:
    """The disk of a session from its making to its end, and all of its events."""

    disk: Disk
    events: tuple[Event, ...]


@cache
def life(synchronous: str = "") -> Life:
    made, rng = instance(N), random.Random(3)
    with folder_in_memory() as folder, recorded(synchronous) as disk:
        path = folder / NAME
        session = new_session(made, SqliteStore(path, create=True), method="everything")
        disk.acknowledge(session.state.n_events)
        for days in range(4):
            for step in range(12):
                _live(session, rng, step)
                disk.acknowledge(session.state.n_events)
            session.close()
            with closing(SqliteStore(path, read_only=True)) as store:
                assert len(list(store.read())) == disk.acknowledged(len(disk.operations))
            if days < 3:
                store = SqliteStore(path)
                session = Session.open(store, keys_of(N), made.X, clock=Clock())
        with closing(SqliteStore(path)) as store:
            return Life(disk, tuple(store.read()))


def _live(session: Session, rng: random.Random, step: int) -> None:
    if step == 5:
        session.undo("ann")
    elif step == 7:
        one, two = (f"item {row}" for row in rng.sample(range(N), 2))
        session.import_answers([(one, two, "unsure")] * 40, f"a file {rng.random()}")
    elif step in (3, 10):
        asked = {who: session.ask(who, lease_seconds=60)[0] for who in ("ben", "cid", "dee")}
        said = {who: Verdict(truth(question, instance(N))) for who, question in asked.items()}
        together = [SentAnswer(asked[who].id, said[who], who) for who in asked]
        assert None not in session.intake.take(together), "all in one commit"
        session.take_in()
    else:
        (question,) = session.ask("ann")
        if step == 9:
            session.flag(question.id, "a note " * 200, "ann")
        else:
            session.tell(question.id, truth(question, instance(N)), "ann")


def n_found(one: Life, end: int, seed: int, folder: Path) -> int:
    """Events in the file after a cut; StoreError if it cannot be opened."""
    written(one.disk.image(end, random.Random(seed)), folder)
    with closing(SqliteStore(folder / NAME, create=True)) as store:
        found = list(store.read())
        assert tuple(found) == one.events[: len(found)], "and nothing that was never written"
        assert store.append(answer_events(1)) == [len(found) + 1], "it goes on"
    return len(found)


def n_lost(one: Life, n_cuts: int) -> tuple[int, int]:
    """Cuts after which acknowledged events are missing, and all events acknowledged before."""
    lost = acknowledged = 0
    for cut in range(n_cuts):
        # Each operation in turn, then again with other losses.
        end = 1 + (cut * 61) % len(one.disk.operations)
        before, found = one.disk.acknowledged(end), -1
        with suppress(StoreError), folder_in_memory() as folder:
            found = n_found(one, end, cut, folder)
        lost += found < before
        acknowledged += before
    return lost, acknowledged


def test_no_acknowledged_answer_is_lost_when_the_power_fails() -> None:
    one, n_cuts = life(), runs(200, 2_000)
    kinds = {operation.kind for operation in one.disk.operations}
    assert kinds == {"create", "delete", "write", "truncate", "sync", "ack"}
    lost, acknowledged = n_lost(one, n_cuts)
    assert not lost
    print(
        f"{n_cuts:,} cuts of the power at {len(one.disk.operations):,} operations: "
        f"{acknowledged:,} events acknowledged before, 0 lost"
    )


def test_a_log_that_is_not_synced_at_each_answer_is_noticed() -> None:
    """Otherwise the test above would show nothing."""
    lost, _ = n_lost(life("NORMAL"), 60)
    assert lost > 10
