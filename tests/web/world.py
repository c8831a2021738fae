"""One seed, one world: a served session with its people, clock, network and disk, in one thread.

The application, the session and its store are the real ones. Simulated are time, which moves from
one happening to the next; the network, which delays, doubles, reorders and loses requests and
replies; and what happens to the server and its files. Everything that happens follows from the
seed, so that a failure can be watched again.
"""

import heapq
import json
import os
import random
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest

from samecluster.errors import StoreError
from samecluster.recovery.result.how import How
from samecluster.sessions.intake import SentAnswer
from samecluster.sessions.question import question_id
from samecluster.sessions.session import Session
from samecluster.sessions.state.state import State
from samecluster.sessions.storage.events import Event
from samecluster.sessions.storage.look_format import checked_look
from samecluster.sessions.storage.sqlite import SqliteStore
from samecluster.web.app import build_app
from samecluster.web.context import ServerContext
from samecluster.web.links import Participant, Participants
from samecluster.web.plot import Plot
from samecluster.web.security import Hosts
from samecluster.web.snapshot import SessionSummary
from samecluster.web.views import Views
from samecluster.workspace.data import SessionData
from samecluster.workspace.open import OpenSession, open_session
from samecluster.workspace.request import Request
from tests.cases.look_cases import GLANCES
from tests.cases.session_cases import AT, FAST, Clock
from tests.sessions.reliability.power import folder_in_memory
from tests.web.served import Data, write_data

LEASE = 60.0
N = 18
METHODS: tuple[Any, ...] = (*["everything"] * 5, *[GLANCES] * 3, FAST, {**FAST, "batch": 4})
"""Most worlds ask about everything: what is tested here does not depend on what is asked, and
proofs take most of the time."""
CROWDS = (1, 1, 2, 2, 3, 4, 6, 8, 16, 32)
_MOST_ATTEMPTS = 8
_MOST_HAPPENINGS = 5_000
"""Far more than there are in a world; more would be a loop."""


@dataclass(frozen=True, eq=False)
class Beginning:
    """A session that was begun: the bytes of its file, and the data that it is about."""

    content: bytes
    data: SessionData
    table: Data
    plot: Plot


@cache
def beginning(method: int, opinions: int) -> Beginning:
    with TemporaryDirectory() as folder:
        table = write_data(Path(folder), n=N, k=3)
        with open_session(Request(str(table.path), id_column="shell", margin="0.5")) as opened:
            looks = "auto" if METHODS[method] == GLANCES else "pairs"
            opened.session.set_parameters(method=METHODS[method], opinions=opinions, looks=looks)
        plot = Plot(opened.data.X, ("length", "width"), Views(opened, ("length",), None))
        return Beginning(table.session.read_bytes(), opened.data, table, plot)


class _CalmThread:
    """Stands for the session's threads: calls are made at once, summaries now and then. Most
    answers are kept while the session is busy, and taken in later."""

    closing = False

    def __init__(self, session: Session, rng: random.Random) -> None:
        self._session, self._rng, self._version = session, rng, 0
        self.n_taken = 0
        self.summary = SessionSummary.blank(session)

    async def call(self, work: Callable[[Session], Any], urgency: Any = None) -> Any:
        del urgency
        self._session.take_in()
        try:
            return work(self._session)
        finally:
            if self._rng.random() < 0.3:
                self.publish()

    async def answer(self, answer: SentAnswer) -> Any:
        if self._rng.random() < 0.8:
            (number,) = self._session.intake.take([answer])
            if number is not None:
                self.n_taken += 1
                return number
        return await self.call(lambda session: session.judge(answer))

    def publish(self) -> None:
        self._version += 1
        self._session.take_in()
        self._session.show_numbers()
        self.summary = SessionSummary.of(self._session, self._version)


class Server:
    """The application of a session file, from its start to its end."""

    def __init__(self, path: Path, begun: Beginning, people: Participants, world: "World") -> None:
        self.store = SqliteStore(path)
        self.session = begun.data.session(self.store, clock=world.clock)
        opened = OpenSession(self.session, begun.data, path, is_new=False)
        self.thread = _CalmThread(self.session, world.rng)
        views = Views(opened, ("length", "note"), None)
        context = ServerContext(opened, self.thread, views, begun.plot, None, people, LEASE)  # type: ignore[arg-type]
        self._app = build_app(context, Hosts.of("127.0.0.1"), "cookie")
        self.leases: dict[str, tuple[str, float]] = {}

    def reply(self, secret: str, path: str, body: dict[str, Any]) -> tuple[int, str]:
        """Status and text of what the application answers to a POST."""
        sent: list[dict[str, Any]] = []
        headers = {
            "host": "127.0.0.1",
            "authorization": f"Bearer {secret}",
            "x-samecluster": "1",
            "content-type": "application/json",
        }
        scope = {
            "type": "http",
            "method": "POST",
            "path": f"/api/v1/{path}",
            "raw_path": b"",
            "root_path": "",
            "query_string": b"",
            "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
        }

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": json.dumps(body).encode(), "more_body": False}

        async def send(message: Any) -> None:
            sent.append(message)

        called = self._app(scope, receive, send)
        with pytest.raises(StopIteration):  # nothing in there waits
            called.send(None)
        text = b"".join(message.get("body", b"") for message in sent)
        return sent[0]["status"], text.decode()


@dataclass
class Person:
    """Somebody with a link, and what they are doing.

    ``waits_for`` is the number of the request that they have sent and have no reply to.
    """

    name: str
    secret: str
    screen: list[dict[str, Any]] = field(default_factory=list)
    before: list[str] = field(default_factory=list)
    n_sent: int = 0
    n_keys: int = 0
    waits_for: int | None = None
    is_gone: bool = False

    def key(self) -> str:
        """Everybody numbers answers alike."""
        self.n_keys += 1
        return f"answer-{self.n_keys:04d}"


class World:
    """What is going on, and what must be true of it.

    ``acknowledged`` are answers that got a 200: (person, key), with the event that was named.
    """

    def __init__(self, seed: int, folder: Path, n_steps: int = 45) -> None:
        self.seed, self.rng, self.folder = seed, random.Random(seed), folder
        self.begun = beginning(self.rng.randrange(len(METHODS)), self.rng.choice((1, 1, 1, 2)))
        self.clock, self.now, self.n_steps = Clock(), 0.0, n_steps
        self._due: list[tuple[float, int, Callable[[], object]]] = []
        self._n_due = 0
        self.path = folder / "0" / "shells.samecluster"
        self.path.parent.mkdir()
        self.path.write_bytes(self.begun.content)
        self.errs = self.rng.random() < 0.3
        self.loss = self.rng.choice((0.0, 0.05, 0.25))
        self.share_of_looks = self.rng.choice((0.0, 0.5, 1.0))
        self.calm = self.rng.random() < 0.1
        self.links = Participants(folder / "links.json")
        self.people = [self._person(n) for n in range(self.rng.choice(CROWDS))]
        self.model, self.log = State(), list[Event]()
        self.n_questions_at: list[int] = [0]
        self.items_at: list[int] = [0]
        self.asked_about: set[str] = set()
        self.acknowledged: dict[tuple[str, str], tuple[str, str, str | None, int]] = {}
        self.repeated: set[tuple[str, str]] = set()
        self.counts: Counter[str] = Counter()
        self.is_out_of_place = self.was_written_to = False
        self.server: Server | None = self._started()
        for person in self.people:
            self.later(self.rng.random() * 20, partial(self._act, person))
        if not self.calm:
            for _ in range(self.rng.randint(1, 8)):
                self.later(self.rng.random() * 4 * n_steps, self.rng.choice(self._accidents()))

    # -- time --------------------------------------------------------------------------------------

    def later(self, seconds: float, happening: Callable[[], object]) -> None:
        self._n_due += 1
        heapq.heappush(self._due, (self.now + seconds, self._n_due, happening))

    def run(self) -> None:
        for _ in range(_MOST_HAPPENINGS):
            if not self._due or self.counts["requests"] >= self.n_steps:
                break
            at, _, happening = heapq.heappop(self._due)
            self.clock.move(at - self.now)
            self.now = at
            happening()
            self._check_log()
        else:
            raise AssertionError("the world does not end")
        if self.server is None:
            self._start()
        self._restart()
        self._check_end()
        assert self.server is not None
        self.server.session.close()

    # -- people and the network --------------------------------------------------------------------

    def _person(self, number: int) -> Person:
        name = f"person {number}"
        if number % 8 == 1:
            return Person(name, self.links.invite(Participant(name, "annotator")))
        secret = f"{'secretof':x<20}{number:04d}"
        self.links.accept(secret, Participant(name, "owner" if number == 0 else "annotator"))
        return Person(name, secret)

    def _act(self, person: Person) -> None:
        if person.waits_for is not None or person.is_gone:
            return
        if not person.screen:
            path = "looks/next" if self.rng.random() < self.share_of_looks else "next"
            self._send(person, path, {"count": self.rng.randint(1, 3)})
            return
        question, luck = person.screen[0], self.rng.random()
        if question.get("kind", "pair") != "pair" and (luck < 0.76 or luck >= 0.98):
            self._reply(person, question["id"])
        elif luck < 0.70:
            self._answer(person, question["id"])
        elif luck < 0.76:
            body = {"question": question["id"], "note": "blurred", "key": person.key()}
            self._send(person, "flags", body)
        elif luck < 0.84:
            self._send(person, "looks/undo" if self.rng.random() < 0.7 else "undo", {})
        elif luck < 0.88 and person.before:
            self._answer(person, self.rng.choice(person.before))  # perhaps in another way
        elif luck < 0.92:
            self._send(person, "release", {})
        elif luck < 0.94:
            self._send(person, "heartbeat", {"questions": [one["id"] for one in person.screen]})
        elif luck < 0.97:
            self.later(1.5 * LEASE, lambda: self._act(person))  # answers late
        elif luck < 0.98:
            person.is_gone = True
        else:
            self._check_group(person, question["item"]["key"])

    def _answer(self, person: Person, id_: str) -> None:
        one, two = id_.split(":")
        truth = self.begun.table.truth
        is_same = (truth[one] == truth[two]) != (self.errs and self.rng.random() < 0.15)
        verdict = "same" if is_same else "different"
        verdict = "unsure" if self.rng.random() < 0.05 else verdict
        body = {"question": id_, "verdict": verdict, "key": person.key()}
        self._send(person, "answers", body)

    def _reply(self, person: Person, id_: str) -> None:
        """Reply to a look by the truth, or with a slip, or in a way that does not fit."""
        look = json.loads(id_)
        reply = self.begun.table.reply(look)
        if self.errs and self.rng.random() < 0.2:
            wrong: dict[str, Any] = {
                "choice": {"none": True},
                "sheet": {"marked": []},
                "board": {"joined": []},
            }
            reply = wrong[look["kind"]]
        if look["kind"] != "choice" and self.rng.random() < 0.1:
            first = "marked" if look["kind"] == "sheet" else "joined"
            reply = {first: [], "unsure": look["items"]}
        if self.rng.random() < 0.05:
            reply = {**reply, "none": True, "marked": ["stranger"]}
        body = {"look": id_, "reply": reply, "key": person.key(), "seconds": 2.0}
        self._send(person, "looks", body)

    def _check_group(self, person: Person, item: str) -> None:
        """Reply to a sheet of the person's own, as the board of groups has them."""
        anchors = self.server.thread.summary.anchors if self.server else {}
        others = sorted({*self.begun.table.truth} - {item, *anchors.values()})
        references = [anchor for anchor in anchors.values() if anchor != item]
        if not references:
            self._send(person, "release", {})
            return
        items = [item, *others[: 1 + len(others) % 3]]
        look = {"kind": "sheet", "reference": references[0], "items": items}
        reply = self.begun.table.reply(look)
        body = {"look": json.dumps(look), "reply": reply, "key": person.key(), "seconds": 2.0}
        self._send(person, "looks", body)

    def _send(self, person: Person, path: str, body: dict[str, Any]) -> None:
        person.n_sent += 1
        person.waits_for = person.n_sent
        self._transmit(person, person.n_sent, path, body, 1)

    def _transmit(
        self, person: Person, number: int, path: str, body: dict[str, Any], attempt: int
    ) -> None:
        """Send once, perhaps twice on the way, and again if there is no reply."""
        if person.waits_for != number:
            return
        if attempt > _MOST_ATTEMPTS:
            person.waits_for, person.screen = None, []
            self.later(10.0, lambda: self._act(person))
            return
        for _ in range(2 if self.rng.random() < self.loss else 1):
            if self.rng.random() >= self.loss:
                delay = self.rng.expovariate(2.0 if self.rng.random() < 0.9 else 0.05)
                self.later(delay, lambda: self._arrive(person, number, path, body))
        self.later(5.0, lambda: self._transmit(person, number, path, body, attempt + 1))

    def _arrive(self, person: Person, number: int, path: str, body: dict[str, Any]) -> None:
        if self.server is None:
            return
        status, text = self.server.reply(person.secret, path, body)
        self.counts["requests"] += 1
        self.counts[f"status {status}"] += 1
        if self.rng.random() < 0.01 and not self.calm and not self.is_out_of_place:
            self._kill()  # committed, and not acknowledged
            return
        self._check_reply(person, path, body, status, text)
        if self.rng.random() >= self.loss:
            delay = self.rng.expovariate(2.0)
            self.later(delay, lambda: self._hear(person, number, path, body, status, text))

    def _hear(
        self,
        person: Person,
        number: int,
        path: str,
        body: dict[str, Any],
        status: int,
        text: str,
    ) -> None:
        if person.waits_for != number or status == 503:
            return  # 503 means: try again later, which happens anyway
        person.waits_for = None
        if status == 401:
            person.is_gone = True
        elif status == 200:
            self._take_in(person, path, body, json.loads(text))
        else:
            person.screen = []
        self.later(self.rng.expovariate(0.3), lambda: self._act(person))

    def _take_in(self, person: Person, path: str, body: dict[str, Any], reply: Any) -> None:
        if path == "next":
            person.screen = reply["questions"]
        elif path == "looks/next":
            person.screen = [one["question"] or one for one in reply["looks"]]
        elif path == "looks":
            person.screen = [one for one in person.screen if one["id"] != body["look"]]
        elif path == "looks/undo" and reply["look"] is not None:
            person.screen = [reply["look"]["question"] or reply["look"]]
        elif path in ("answers", "flags"):
            person.before.append(body["question"])
            person.screen = [one for one in person.screen if one["id"] != body["question"]]
        elif path == "undo" and reply["question"] is not None:
            person.screen = [reply["question"]]
        elif path == "release":
            person.screen = []

    # -- accidents ---------------------------------------------------------------------------------

    def _accidents(self) -> list[Callable[[], object]]:
        return [
            self._restart,
            self._kill,
            self._fill_disk,
            self._move_away,
            lambda: self._take_away(delete=True),
            lambda: self._take_away(delete=False),
            self._write_as_another,
            self._try_to_write,
            lambda: self.clock.move(-self.rng.random() * 86_400),
            lambda: self.links.revoke(self.people[1 % len(self.people)].name),
            self._stop_for_a_while,
        ]

    def _started(self) -> Server:
        return Server(self.path, self.begun, self.links, self)

    def _start(self) -> None:
        self.server = self._started()
        self.counts["starts"] += 1
        # A key that only repeated what stood is not in the log, and is forgotten with the process.
        self.repeated |= {
            key for key, said in self.acknowledged.items() if self._key_of(said[3]) != key[1]
        }
        self._check_log()

    def _stop(self) -> Server:
        """As Ctrl-C; whoever runs the server does what it says if the file is gone."""
        assert self.server is not None
        server, self.server = self.server, None
        if self.is_out_of_place:
            with pytest.raises(StoreError, match="are saved in") as told:
                server.session.close()
            copies = self.path.parent.glob("*.saved*.samecluster")
            (copy,) = (copy for copy in copies if f" {copy}:" in str(told.value))
            copy.replace(self.path)
        else:
            server.session.close()
        self.is_out_of_place = self.was_written_to = False
        return server

    def _restart(self) -> None:
        if self.server is None:
            return
        rudely = self.was_written_to
        before = self._stop().session
        self._start()
        assert self.server is not None
        after = self.server.session
        if not rudely:
            assert before.state == after.state, "the state after a restart is the one before"
            one, two = before.snapshot(), after.snapshot()
            np.testing.assert_array_equal(one.labels, two.labels)
            np.testing.assert_array_equal(one.how_codes, two.how_codes)

    def _kill(self) -> None:
        """The process dies: a new one finds the files as they are, and nothing else."""
        if self.server is None or self.is_out_of_place:
            return
        folder = self.folder / f"{self.now}"
        folder.mkdir(exist_ok=True)
        moved = folder / self.path.name
        for end in ("", "-wal"):
            if Path(f"{self.path}{end}").exists():
                shutil.copy(f"{self.path}{end}", f"{moved}{end}")
        before, rudely = self.server.session, self.was_written_to
        self.server.session.close()
        self.path, self.was_written_to = moved, False
        self._start()
        assert rudely or self.server.session.state == before.state
        self.counts["kills"] += 1

    def _stop_for_a_while(self) -> None:
        if self.server is not None:
            self._stop()
            self.later(20.0, lambda: None if self.server else self._start())

    def _fill_disk(self) -> None:
        if self.server is not None:
            connection = self.server.store._open
            (pages,) = connection.execute("PRAGMA page_count").fetchone()
            connection.execute(f"PRAGMA max_page_count = {pages}").fetchall()
            self.counts["full disks"] += 1
            self.later(30.0, partial(self._make_room, connection))

    def _make_room(self, connection: Any) -> None:
        if self.server is not None and self.server.store._open is connection:
            connection.execute("PRAGMA max_page_count = 1000000").fetchall()

    def _move_away(self) -> None:
        if self.server is None or self.is_out_of_place:
            return
        elsewhere, server = self.path.with_name("elsewhere"), self.server
        self.path.rename(elsewhere)
        self.is_out_of_place = True
        self.counts["files moved"] += 1

        def back() -> None:
            if self.server is server and self.is_out_of_place and elsewhere.exists():
                elsewhere.replace(self.path)
                self.is_out_of_place = False

        self.later(20.0, back)

    def _take_away(self, delete: bool) -> None:
        if self.server is None or self.is_out_of_place:
            return
        if delete:
            self.path.unlink()
        else:
            older = self.path.with_name("older")
            shutil.copy(self.path, older)
            older.replace(self.path)
        self.is_out_of_place = True
        self.counts["files deleted or replaced"] += 1
        self.later(20.0, self._restart)

    def _try_to_write(self) -> None:
        if self.server is not None and not self.is_out_of_place and not self.was_written_to:
            with pytest.raises(StoreError, match="open for writing"):
                SqliteStore(self.path)

    def _write_as_another(self) -> None:
        """Somebody removes the lock, and writes with another program."""
        if self.server is None or self.is_out_of_place:
            return
        Path(f"{self.path}-lock").unlink(missing_ok=True)
        with closing(SqliteStore(self.path)) as intruder:
            intruder.append([Event("closed", AT, "intruder", {})])
        self.was_written_to = True
        self.counts["other writers"] += 1
        self.later(20.0, self._restart)

    # -- what must be true -------------------------------------------------------------------------

    def _check_log(self) -> None:
        """Take in what is new in the log, which only grows."""
        if self.server is None:
            return
        for event in self.server.store.read(after=len(self.log)):
            self.log.append(event)
            self.model.apply(event)
            self.asked_about.update(event.body.get("items", ()))
            for one, two, *_ in event.body["answers"] if event.kind == "looked" else ():
                self.asked_about |= {one, two}
            self.n_questions_at.append(self.model.n_questions)
            self.items_at.append(len(self.asked_about))
        if not self.was_written_to:
            session = self.server.session
            state = session.state
            if session._log.waiting:
                state = state.copy()
                for event in session._log.waiting:
                    state.apply(event)
            assert state == self.model, "the state is what the log says"

    def _check_reply(
        self, person: Person, path: str, body: dict[str, Any], status: int, text: str
    ) -> None:
        assert status in (200, 401, 409, 422, 503), (status, text)
        for other in self.people:
            assert other.secret not in text, "nobody sees a secret"
        assert str(self.folder) not in text, "nobody sees a path"
        before = len(self.log)
        self._check_log()
        if status != 200:
            assert len(self.log) == before, "what is refused is not written"
            return
        if self.is_out_of_place or self.was_written_to:
            assert len(self.log) <= before + self.was_written_to, "nothing goes into a lost file"
        reply = json.loads(text)
        if "progress" in reply:
            self._check_progress(reply["progress"])
        if path in ("answers", "flags"):
            self._check_answer(person, body, reply["sequence"])
        elif path == "looks":
            said = (body["look"], json.dumps(body["reply"]), None, reply["sequence"])
            self._check_said(person, body["key"], said)
            self.counts["replies"] += 1
        self._check_leases(person, path, body, reply)

    def _check_answer(self, person: Person, body: dict[str, Any], sequence: int) -> None:
        said = (body["question"], body.get("verdict", "unsure"), body.get("note"), sequence)
        self._check_said(person, body["key"], said)

    def _check_said(
        self, person: Person, its_key: str, said: tuple[str, str, str | None, int]
    ) -> None:
        key = person.name, its_key
        if key in self.repeated:
            self.acknowledged[key] = said
        assert self.acknowledged.setdefault(key, said) == said, "one key, one answer"
        self._check_is_in_log(key)

    def _key_of(self, sequence: int) -> str | None:
        key: str | None = self.log[sequence - 1].body.get("key")
        return key

    def _check_is_in_log(self, key: tuple[str, str]) -> None:
        id_, verdict, note, sequence = self.acknowledged[key]
        event = self.log[sequence - 1]
        assert event.who == key[0]
        if event.kind == "looked" and not id_.startswith("{"):
            said = {question_id(answer[:2]): answer[2] for answer in event.body["answers"]}
            assert (said.get(id_), note) == (verdict, None), "said before, as part of a look"
            return
        if event.kind == "looked":
            assert event.body["look"] == json.loads(id_), "a look is kept as a whole"
            assert event.body["reply"] == json.loads(verdict)
            return
        assert question_id(event.body["items"]) == id_
        assert event.body.get("verdict", "unsure") == verdict
        assert event.body.get("note") == note

    def _check_progress(self, progress: dict[str, Any]) -> None:
        """It may be behind the log, but says nothing that the log up to there does not bear."""
        sequence, by_how = progress["sequence"], progress["by_how"]
        assert sequence <= len(self.log)
        if sequence:  # 0: nothing was worked out since the start
            assert progress["n_questions"] == self.n_questions_at[sequence]
        assert sum(by_how.values()) == progress["n_items"] == N
        # The first item of a group is in it by definition.
        assert by_how["asked"] <= self.items_at[sequence] + max(1, progress["n_clusters"])
        by_definition = max(1, progress["n_clusters"])
        assert self.items_at[sequence] or by_how["asked"] + by_how["proven"] <= by_definition

    def _check_leases(self, person: Person, path: str, body: dict[str, Any], reply: Any) -> None:
        assert self.server is not None
        leases = self.server.leases
        if path in ("answers", "flags") and leases.get(body["question"], ("",))[0] == person.name:
            del leases[body["question"]]
        if path == "looks":
            for id_ in _pairs_of(body["look"]):
                if leases.get(id_, ("",))[0] == person.name:
                    del leases[id_]
        if path == "release":
            self.server.leases = {id_: one for id_, one in leases.items() if one[0] != person.name}
        if path == "heartbeat":
            held = [id_ for one in reply["held"] for id_ in _pairs_of(one)]
            leases.update(dict.fromkeys(held, (person.name, self.now + LEASE)))
        for question in reply.get("questions", ()):
            self._lease(person, question["id"])
        for look in reply.get("looks", ()):
            if (
                look["before"] is None
            ):  # what somebody undid is shown to them also if others have it
                for id_ in _pairs_of(look["id"]):
                    self._lease(person, id_)

    def _lease(self, person: Person, id_: str) -> None:
        assert self.server is not None
        holder, until = self.server.leases.get(id_, (person.name, 0.0))
        assert holder == person.name or until <= self.now, "a question is leased twice"
        self.server.leases[id_] = person.name, self.now + LEASE

    def _check_end(self) -> None:
        """What another process finds in the file."""
        assert self.server is not None
        with closing(SqliteStore(self.path, read_only=True)) as store:
            found = list(store.read())
        assert found == self.log, "the log never changes, it only grows"
        for key in self.acknowledged:
            self._check_is_in_log(key)
        keys = Counter((event.who, event.body["key"]) for event in found if "key" in event.body)
        assert max(keys.values(), default=1) == 1, "an answer is in the log twice"
        self.server.thread.publish()
        self._check_progress(dict(self.server.thread.summary.progress))
        known = self.server.session.snapshot()
        sure = known.how_codes >= min(int(How.PROVEN), int(How.ASKED))
        if not self.errs and sure.any():
            keys_in_order = self.begun.data.keys
            truth = np.array([self.begun.table.truth[key] for key in keys_in_order])
            # Groups may still turn out to be one, but none holds what belongs apart.
            pairs = set(zip(known.labels[sure].tolist(), truth[sure].tolist(), strict=True))
            assert len(pairs) == len(set(known.labels[sure].tolist())), "a proven label is wrong"


def _pairs_of(id_: str) -> list[str]:
    """The ids of the pairs of a look, or of the pair itself."""
    if not id_.startswith("{"):
        return [id_]
    numbers = dict[str, int]()
    look = checked_look(id_).look(lambda key: numbers.setdefault(key, len(numbers)))
    keys = list(numbers)
    return [question_id((keys[q.item], keys[q.comparator])) for q in look.questions]


@contextmanager
def _told(seed: int) -> Iterator[None]:
    try:
        yield
    except BaseException as error:
        error.add_note(f"to see it again: SAMECLUSTER_WORLD={seed} pytest tests/web/test_worlds.py")
        raise


def run_world(seed: int) -> World:
    """A world from its beginning to its end; a failure names the seed."""
    with folder_in_memory() as folder, _told(seed):
        world = World(seed, Path(os.path.realpath(folder)))
        try:
            world.run()
        finally:
            if world.server is not None:
                world.server.store._let_go()
        return world
