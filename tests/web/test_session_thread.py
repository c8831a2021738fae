"""The line before the session: who comes first, what is told meanwhile, and how it ends."""

import asyncio
import contextlib
import threading
from typing import Any

import pytest

from samecluster.errors import InvalidInputError, StoreError
from samecluster.instances import make_ellipsoids
from samecluster.questions.pair import Verdict
from samecluster.sessions.intake import SentAnswer
from samecluster.sessions.session import Session
from samecluster.sessions.storage.store import MemoryStore
from samecluster.web.session_thread import SessionThread, Urgency

N = 60


@pytest.fixture
def thread():
    made = make_ellipsoids(n=N, d=2, k=3, random_state=0)
    keys = [f"row {row}" for row in range(N)]
    session = Session.create(
        MemoryStore(), keys, made.X, parameters={"method": "everything"}, seed=0
    )
    with contextlib.closing(SessionThread(session)) as thread:
        yield thread


def answer(session: Session) -> int:
    (question,) = session.ask("Ann")
    return session.tell(question.id, "different", "Ann")


def test_answers_come_before_questions_and_questions_before_looks(thread) -> None:
    order = []
    blocked = threading.Event()

    async def crowd() -> None:
        first = asyncio.create_task(thread.call(lambda session: blocked.wait(), Urgency.ANSWER))
        await asyncio.sleep(0.05)
        later = [
            asyncio.create_task(thread.call(lambda session, kind=kind: order.append(kind), kind))
            for kind in (Urgency.LOOK, Urgency.ASK, Urgency.ANSWER)
        ]
        await asyncio.sleep(0.05)
        blocked.set()
        await asyncio.gather(first, *later)

    asyncio.run(crowd())
    assert order == [Urgency.ANSWER, Urgency.ASK, Urgency.LOOK]


def test_a_summary_of_every_answer_comes_by_itself_and_wakes_who_watches(thread) -> None:
    async def watch() -> int:
        watcher = thread.watch()
        sequence = await thread.call(answer, Urgency.ANSWER)
        while thread.summary.sequence < sequence:
            watcher.clear()
            await watcher.wait()
        thread.unwatch(watcher)
        return int(thread.summary.progress["n_questions"])

    assert asyncio.run(watch()) == 1


def test_a_call_that_fails_fails_alone(thread) -> None:
    async def calls() -> Any:
        with pytest.raises(InvalidInputError):
            await thread.call(lambda session: session.tell("nonsense", "same"))
        return await thread.call(answer)

    assert asyncio.run(calls()) == 2


def test_a_closed_thread_does_what_is_in_line_and_refuses_what_comes_later(thread) -> None:
    async def calls() -> None:
        under_way = asyncio.create_task(thread.call(answer))
        await asyncio.sleep(0)
        assert await asyncio.to_thread(thread.close)
        assert await under_way == 2
        with pytest.raises(StoreError, match="being stopped"):
            await thread.call(answer)

    asyncio.run(calls())


def test_many_answers_at_once_are_all_taken(thread) -> None:
    async def crowd() -> Any:
        return await asyncio.gather(*(thread.call(answer, Urgency.ANSWER) for _ in range(40)))

    assert sorted(asyncio.run(crowd())) == list(range(2, 42))


def sent(session: Session, who: str) -> SentAnswer:
    (question,) = session.ask(who, lease_seconds=60)
    return SentAnswer(question.id, Verdict.DIFFERENT, who, f"answer-of-{who}")


def test_answers_are_acknowledged_while_the_session_is_busy_in_few_commits(
    thread, monkeypatch: pytest.MonkeyPatch
) -> None:
    people, commits, blocked = "abcdefgh", list[int](), threading.Event()
    append = MemoryStore.append

    def counted(store: MemoryStore, events: Any) -> list[int]:
        commits.append(len(events))
        return append(store, events)

    monkeypatch.setattr(MemoryStore, "append", counted)

    async def crowd() -> Any:
        answers = await thread.call(lambda session: [sent(session, who) for who in people])
        begun = threading.Event()

        def wait(session: Session) -> None:
            begun.set()
            blocked.wait()

        busy = asyncio.create_task(thread.call(wait, Urgency.ANSWER))
        await asyncio.to_thread(begun.wait, 60)
        with thread._session._log.lock:  # the first one has to wait, and so all do
            tasks = [asyncio.create_task(thread.answer(one)) for one in answers]
            await asyncio.sleep(0.2)
            assert not commits
        numbers = await asyncio.wait_for(asyncio.gather(*tasks), 60)
        assert not busy.done()
        assert thread._session.state.n_events == 1
        blocked.set()
        await busy
        again = await asyncio.gather(*(thread.answer(one) for one in answers))
        assert again == numbers
        return numbers

    assert sorted(asyncio.run(crowd())) == list(range(2, 2 + len(people)))
    assert len(commits) <= 2
    assert sum(commits) == len(people)


def test_an_answer_that_cannot_be_kept_is_an_error_and_may_come_again(
    thread, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def send() -> int:
        answer = await thread.call(lambda session: sent(session, "Ann"))
        with monkeypatch.context() as patch:

            def full(store: MemoryStore, events: Any) -> list[int]:
                raise StoreError("the disk is full")

            patch.setattr(MemoryStore, "append", full)
            with pytest.raises(StoreError, match="full"):
                await thread.answer(answer)
        number: int = await thread.answer(answer)
        return number

    assert asyncio.run(send()) == 2
