"""Many people at once: each asks, answers by the truth, and sends again what got no reply."""

import asyncio
import json
import time
import uuid
from dataclasses import dataclass, field
from typing import Any

import httpx
import numpy as np

from samecluster.sessions.question import question_id
from samecluster.sessions.state.state import State
from samecluster.sessions.storage.sqlite import SqliteStore
from samecluster.web.links import Participant, Participants, links_file
from tests.web.served import Data

_MOST_ATTEMPTS = 2_000


@dataclass
class Crowd:
    """What happened: answers that were acknowledged, who held what, and how long answers took."""

    data: Data
    acknowledged: list[tuple[str, str, str]] = field(default_factory=list)
    holder: dict[str, str] = field(default_factory=dict)
    n_double_leases: int = 0
    n_resent: int = 0
    seconds: list[float] = field(default_factory=list)
    messages: set[str] = field(default_factory=set)
    asks: str = "next"
    n_late: int = 0
    replies: list[tuple[str, str, str]] = field(default_factory=list)

    def secrets(self, n_people: int) -> dict[str, str]:
        people = Participants(links_file(self.data.session))
        names = [f"person {number}" for number in range(n_people)]
        return {name: people.invite(Participant(name, "annotator")) for name in names}

    async def label(self, base: str, secrets: dict[str, str], answers_each: int) -> None:
        await asyncio.gather(
            *(self._one(base, name, secret, answers_each) for name, secret in secrets.items())
        )

    async def _one(self, base: str, name: str, secret: str, n_answers: int) -> None:
        headers = {"Authorization": f"Bearer {secret}", "X-Samecluster": "1"}
        async with httpx.AsyncClient(base_url=base, headers=headers, timeout=120) as client:
            given = 0
            while given < n_answers:
                reply = await self._send(client, self.asks, count=1)
                if reply["ended"]:
                    return
                for look in reply.get("looks", ()):
                    await self._reply(client, name, look)
                    given += 1
                for question in reply.get("questions", ()):
                    self._hold(question["id"], name)
                    await self._answer(client, name, question)
                    given += 1
                if reply["waiting"]:
                    await asyncio.sleep(0.05)

    def _hold(self, id_: str, name: str) -> None:
        self.n_double_leases += self.holder.get(id_, name) != name
        self.holder[id_] = name

    async def _answer(self, client: httpx.AsyncClient, name: str, question: dict[str, Any]) -> None:
        verdict = self.data.verdict(question)
        start = time.perf_counter()
        await self._send(
            client, "answers", question=question["id"], verdict=verdict, key=str(uuid.uuid4())
        )
        self.seconds.append(time.perf_counter() - start)
        self.acknowledged.append((question["id"], verdict, name))

    async def _reply(self, client: httpx.AsyncClient, name: str, look: dict[str, Any]) -> None:
        """Reply to a look; after a kill somebody else may have settled all of it."""
        if look["kind"] == "pair":
            self._hold(look["question"]["id"], name)
            await self._answer(client, name, look["question"])
            return
        reply, key = self.data.reply(json.loads(look["id"])), str(uuid.uuid4())
        sent = await self._send(client, "looks", look=look["id"], reply=reply, key=key, seconds=1.5)
        if "error" in sent:
            assert "no longer open" in sent["error"]
            self.n_late += 1
        else:
            self.replies.append((key, json.dumps(reply), name))

    async def _send(self, client: httpx.AsyncClient, path: str, **body: Any) -> Any:
        """As a page does: until it is acknowledged, with the same key."""
        for _ in range(_MOST_ATTEMPTS):
            try:
                response = await client.post(f"/api/v1/{path}", json=body)
                if response.status_code == 200 or (path, response.status_code) == ("looks", 409):
                    return response.json()
                self.messages.add(response.text)
                assert response.status_code == 503, response.text
            except httpx.TransportError:
                pass
            self.n_resent += 1
            await asyncio.sleep(0.05)
        raise AssertionError(f"the server did not come back: {self.messages}")

    def check(self) -> None:
        """Everything that was acknowledged is in the file, once a person."""
        store = SqliteStore(self.data.session, read_only=True)
        answers = list(State(store.read()).answers())
        store.close()
        said = [(question_id(one.items), one.verdict.value, str(one.who)) for one in answers]
        lost = set(self.acknowledged) - set(said)
        assert not lost, f"{len(lost)} acknowledged answers are lost"
        assert len(said) == len({(id_, who) for id_, _, who in said}), "an answer was doubled"
        assert len(said) == len(self.acknowledged)
        assert not any("locked" in text for text in self.messages), self.messages

    def check_looks(self) -> None:
        """Every acknowledged reply is one event, and no pair has two votes of one person."""
        store = SqliteStore(self.data.session, read_only=True)
        events = list(store.read())
        store.close()
        kept = [
            (event.body["key"], json.dumps(event.body["reply"]), str(event.who))
            for event in events
            if event.kind == "looked"
        ]
        assert len(kept) == len(set(kept)), "a reply was doubled"
        assert set(kept) == set(self.replies), "an acknowledged reply was lost"
        said = [(one.pair, one.who) for one in State(events).answers()]
        assert len(said) == len(set(said)), "an answer was doubled"

    def __str__(self) -> str:
        slowest = float(np.percentile(self.seconds, 95))
        return (
            f"{len(self.acknowledged):,} answers acknowledged, 0 lost, 0 doubled, "
            f"{self.n_double_leases} double leases, {self.n_resent} sent again; 95 % of answers "
            f"acknowledged within {1000 * slowest:.0f} ms"
        )
