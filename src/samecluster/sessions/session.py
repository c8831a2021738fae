"""A session: questions for people, answers that are kept, and what is known from them.

Calls must come one at a time; a server holds a lock around them. Only rows that were read elsewhere
come in here: this room reads no data files. A session only joins its parts: the log of events, the
labels that follow from it, and the queue of questions.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, TypeAlias

from samecluster._typing import FloatArray, IntArray
from samecluster.errors import (
    DataMismatchError,
    InvalidInputError,
    ProtocolError,
    SessionNotFoundError,
    StoreError,
)
from samecluster.points.array import validated
from samecluster.questions.pair import Verdict
from samecluster.recovery.result.how import How
from samecluster.recovery.result.result import Recovery
from samecluster.sessions.conflicts import (
    Conflict,
    Effect,
    Remedy,
    conflicts_in,
    new_contradictions,
    refuse_contradictions,
)
from samecluster.sessions.disagreement import new_anchors, pair_between, pairs_about
from samecluster.sessions.event_log import EventLog
from samecluster.sessions.known_labels import KnownLabels
from samecluster.sessions.parameters import checked_answers, checked_parameters
from samecluster.sessions.progress import Progress, reason_of_end
from samecluster.sessions.question import SessionQuestion, checked_verdict, pair_from
from samecluster.sessions.question_queue import QuestionQueue
from samecluster.sessions.running.engine import Engine
from samecluster.sessions.state.items import Changes, Items
from samecluster.sessions.state.state import State
from samecluster.sessions.state.votes import Vote, pair_of
from samecluster.sessions.storage.events import FORMAT, Event
from samecluster.sessions.storage.store import Store
from samecluster.validation import checked_hint

__all__ = ["Session"]

Answers: TypeAlias = Iterable[tuple[str, str, Verdict | str]]
"""Two keys with a verdict each."""


def _utc_now() -> datetime:
    return datetime.now(UTC)


class Session:
    """Ask and tell with a memory: no answer is lost, asked twice, or impossible to take back.

    Make one with `create` or `open`. Wherever ``who`` is asked for it is the name of a person, or
    None for nobody in particular.

    >>> from samecluster.instances import make_ellipsoids
    >>> from samecluster.sessions.storage.store import MemoryStore
    >>> made = make_ellipsoids(n=200, d=2, k=2, random_state=0)
    >>> keys = [f"row {i}" for i in range(200)]
    >>> parameters = {"n_clusters": 2, "margin": 1.0}
    >>> session = Session.create(MemoryStore(), keys, made.X, parameters=parameters, seed=0)
    >>> while questions := session.ask():
    ...     i, j = questions[0].rows
    ...     same = made.labels[i] == made.labels[j]
    ...     number = session.tell(questions[0].id, "same" if same else "different")
    >>> session.progress().n_labelled
    200
    """

    def __init__(
        self,
        store: Store,
        state: State,
        X: FloatArray,
        hints: IntArray | None,
        clock: Callable[[], datetime],
    ) -> None:
        self._log = EventLog(store, state, clock)
        self._known = KnownLabels(state, Engine(X, hints))
        self._queue = QuestionQueue(state, self._known, clock)

    @classmethod
    def create(
        cls,
        store: Store,
        keys: Sequence[str],
        X: Any,
        *,
        preparation: Mapping[str, Any] | None = None,
        parameters: Mapping[str, Any] | None = None,
        contents: Sequence[str] | None = None,
        hints: Any = None,
        who: str | None = None,
        clock: Callable[[], datetime] = _utc_now,
        seed: int | None = None,
    ) -> Session:
        """Begin a session in an empty store.

        Parameters
        ----------
        store : where events are kept, such as ``SqliteStore(path, create=True)``
        keys : n texts, all different: what answers refer to
        X : (n, d) points, one per row
        preparation : how X was made from the data, to make it again; JSON only
        parameters : n_clusters, margin, method and audit as in `samecluster.start` (a method with
            settings as ``{"name": "certify", "batch": 8}``); max_questions; and opinions, the
            number of people that each question is put to
        contents : a text for each row that changes if and only if the row does, where the rows of X
            may differ in the last digits from one machine to the other
        hints : (n,) groups that only say where to ask first, as ``hint`` of `samecluster.start`.
            They belong to the data and are not stored: pass them again to `open`.
        who, clock : the person who begins, and a function that tells the time
        seed : the same seed gives the same questions
        """
        if next(iter(store.read()), None) is not None:
            raise StoreError("the store holds a session already; open it, or choose another place")
        X = validated(X)
        body = {
            "format": FORMAT,
            **Items.of(keys, X, contents).body(),
            "preparation": dict(preparation or {}),
            "parameters": checked_parameters(parameters or {}),
            "seed": secrets.randbits(31) if seed is None else seed,
        }
        session = cls(store, State(), X, checked_hint(hints, len(X)), clock)
        session._append_if_usable("opened", who, body)
        return session

    @classmethod
    def open(
        cls,
        store: Store,
        keys: Sequence[str],
        X: Any,
        *,
        contents: Sequence[str] | None = None,
        hints: Any = None,
        update: bool = False,
        who: str | None = None,
        clock: Callable[[], datetime] = _utc_now,
    ) -> Session:
        """Go on with a session.

        DataMismatchError if it is about other rows, unless ``update`` says to take these in.
        """
        state = State(store.read())
        if not state.n_events:
            raise SessionNotFoundError("the store holds no session; create one first")
        X = validated(X)
        hints = checked_hint(hints, len(X))
        session = cls(store, state, X, hints, clock)
        items = Items.of(keys, X, contents)
        changes = state.items.changes(items)
        if changes and update:
            session._take_rows(items, Engine(X, hints), changes, {}, who)
        elif changes:
            raise DataMismatchError(
                f"the session is about other data ({changes}); to go on with these rows, run "
                "`samecluster update SESSION DATA` (in Python: Session.open(..., update=True))"
            )
        return session

    # -- questions and answers -------------------------------------------------------------------

    def ask(
        self, who: str | None = None, count: int = 1, lease_seconds: float | None = None
    ) -> list[SessionQuestion]:
        """Up to ``count`` questions for a person; none if there is nothing to ask them now.

        What the person has undone comes first, and alone. With ``lease_seconds`` nobody else gets
        these questions for that time; asking again gives the same ones, and renews it.
        """
        return self._queue.ask(who, count, lease_seconds)

    def question(self, id_: str) -> SessionQuestion:
        """The question of an id, to show it again."""
        return self._queue.question(id_)

    def release(self, who: str | None = None) -> None:
        """Let others have the questions that were leased to this person, who has left."""
        self._queue.release(who)

    def renew(
        self, ids: Iterable[str], who: str | None = None, lease_seconds: float = 60.0
    ) -> list[str]:
        """The person is still looking: lease those that are still theirs for that time from now.

        Returns the ids of these; others may have got the rest.
        """
        return self._queue.renew(ids, who, lease_seconds)

    def tell(
        self,
        question_id: str,
        verdict: Verdict | str,
        who: str | None = None,
        *,
        key: str | None = None,
    ) -> int:
        """Take an answer in, and return its sequence number once it is safe.

        Telling the same again changes nothing and returns the same number, also after a restart.
        With a ``key`` of the sender's that holds even if the answer was undone in between. Another
        verdict of the same person replaces the one before.
        """
        verdict = checked_verdict(verdict)
        kind = "unsure" if verdict is Verdict.UNSURE else "answered"
        body = {} if verdict is Verdict.UNSURE else {"verdict": verdict.value}
        return self._take_answer(question_id, verdict, who, key, kind, body)

    def flag(
        self, question_id: str, note: str, who: str | None = None, *, key: str | None = None
    ) -> int:
        """Say that a question cannot be answered as it stands, and why; counts as "unsure"."""
        return self._take_answer(question_id, Verdict.UNSURE, who, key, "flagged", {"note": note})

    def undo(
        self, who: str | None = None, lease_seconds: float | None = None
    ) -> SessionQuestion | None:
        """Take a person's last answer back and ask it again first. None if there is none left.

        With ``lease_seconds`` nobody else is asked it for that time.
        """
        last = self.state.last_answer(who)
        if last is None:
            return None
        self._append("retracted", who, {"sequence": last.sequence, "undo": True})
        return self._queue.hand_out(last.items, who, lease_seconds, last.verdict)

    def retract(
        self, sequence: int, items: Iterable[str] | None = None, who: str | None = None
    ) -> None:
        """Take back an answer, an exception or a whole import by its sequence number.

        With ``items`` only what an import said about these two.
        """
        votes = self.state.book.votes_of_event(sequence)
        body: dict[str, Any] = {"sequence": sequence}
        if items is not None:
            pair = pair_of(items)
            votes = [vote for vote in votes if vote.pair == pair]
            body["items"] = list(pair)
        if not votes and sequence not in self.state.exceptions.values():
            raise ProtocolError(f"event {sequence} is no answer that stands; nothing to take back")
        self._append("retracted", who, body)

    # -- what is known ---------------------------------------------------------------------------

    @property
    def state(self) -> State:
        """What the events add up to, to look at."""
        return self._log.state

    def events(self) -> Iterator[Event]:
        """All that has happened, in order, as the store has it."""
        return self._log.read()

    def snapshot(self) -> Recovery:
        """What is known now, with cluster numbers that stay."""
        return self._known.recovery

    def anchors(self) -> dict[int, str]:
        """The anchor item of each cluster."""
        return self._known.anchors

    def prepare(self) -> None:
        """Work out the next questions now rather than when they are asked for."""
        self._known.follow()

    def progress(self) -> Progress:
        """How far the session is."""
        known = self.snapshot()
        return Progress(
            n_items=len(known.labels),
            n_clusters=len(self.anchors()),
            n_questions=self.state.n_questions,
            by_how={how: known.count(how) for how in How},
            n_trouble=len(self.trouble),
            audit=known.audit,
            ended=reason_of_end(self.state, known, self._known.engine.run.done),
        )

    # -- what is declared, named and known before ------------------------------------------------

    def set_parameters(self, *, who: str | None = None, **changes: Any) -> None:
        """Change n_clusters, margin, method, audit, max_questions or opinions from here on."""
        self._append_if_usable("parameters", who, {"parameters": checked_parameters(changes)})

    def widen(self, at_once: int, who: str | None = None) -> None:
        """Have at least ``at_once`` questions at a time, for several people who answer.

        Not once an audit has begun, which would have to begin again.
        """
        method = self.state.parameters.get("method") or "certify"
        settings: dict[str, Any] = {"name": method} if isinstance(method, str) else dict(method)
        has_batches = settings["name"] in ("certify", "predict")
        if has_batches and settings.get("batch", 1) < at_once and self.snapshot().audit is None:
            self.set_parameters(method={**settings, "batch": at_once}, who=who)

    def name(self, cluster: int, text: str, who: str | None = None) -> None:
        """Name a cluster. The name belongs to its anchor item, as the number does."""
        body = {"anchor": self._known.anchor(cluster), "number": cluster, "text": text}
        self._append("named", who, body)

    def names(self) -> dict[int, str]:
        """The names of the clusters that there are now."""
        names = self.state.names
        return {number: names[number] for number in self.anchors() if number in names}

    def import_answers(
        self,
        answers: Answers,
        source: str,
        *,
        who: str | None = None,
        despite_contradictions: bool = False,
    ) -> int:
        """Take in what is known already: pairs of keys with a verdict, and where they come from.

        They do not count as questions, and can be taken back as a whole by the sequence number that
        is returned. AnswerError, and nothing is written, if they contradict each other or what was
        said before; with ``despite_contradictions`` what was said first is believed.
        """
        body = {"source": source, "answers": checked_answers(answers, self.state.items)}
        if not despite_contradictions:
            refuse_contradictions(self._contradictions_with(body))
        return self._append("imported", who, body)

    def contradictions_with(self, answers: Answers, source: str) -> list[tuple[Vote, ...]]:
        """The sets of answers that could not all be right if these were imported."""
        body = {"source": source, "answers": checked_answers(answers, self.state.items)}
        return self._contradictions_with(body)

    def update(
        self,
        keys: Sequence[str],
        X: Any,
        *,
        contents: Sequence[str] | None = None,
        hints: Any = None,
        preparation: Mapping[str, Any] | None = None,
        who: str | None = None,
    ) -> Changes:
        """Go on with other rows. All answers are kept.

        Those about removed or changed items are set aside, until the item is there again or is
        confirmed. An audit speaks of the rows before. ``preparation`` replaces that of `create`.
        """
        X = validated(X)
        items = Items.of(keys, X, contents)
        changes = self.state.items.changes(items)
        if changes:
            engine, numbers = Engine(X, checked_hint(hints, len(X))), self._known.new_numbers()
            self._take_rows(items, engine, changes, numbers, who, preparation)
        return changes

    def confirm(self, keys: Iterable[str], who: str | None = None) -> None:
        """Say that answers about changed items hold for what they are now."""
        self._append("updated", who, {"confirmed": [*map(self.state.items.checked_key, keys)]})

    # -- disagreement ----------------------------------------------------------------------------

    def doubt(self, item: str, who: str | None = None) -> list[SessionQuestion]:
        """ "This label is wrong": questions that put the item against asked members, next to come.

        Its own cluster first; "same" ends it.
        """
        item = self.state.items.checked_key(item)
        pairs = pairs_about(item, self.snapshot(), self.state, who)
        return [self._queue.want(pair, who) for pair in pairs]

    def merge(self, a: int, b: int, who: str | None = None) -> SessionQuestion | None:
        """Two clusters are one: the question that decides it, next to come.

        None if this person was asked about all their asked members.
        """
        self._known.anchor(a), self._known.anchor(b)
        if a == b:
            raise InvalidInputError(f"two different clusters are needed, got {a} twice")
        pair = pair_between(a, b, self.snapshot(), self.state, who)
        return None if pair is None else self._queue.want(pair, who)

    def split(
        self, cluster: int, items: Iterable[str], who: str | None = None
    ) -> list[SessionQuestion]:
        """These do not belong to the cluster: each against its anchor, next to come."""
        anchor = self._known.anchor(cluster)
        chosen = [self.state.items.checked_key(item) for item in items]
        return [self._queue.want((item, anchor), who) for item in chosen if item != anchor]

    def make_exception(self, item: str, who: str | None = None, note: str = "") -> int:
        """Keep an item's answers from the run; take that back with `retract`."""
        item = self.state.items.checked_key(item)
        return self._append("flagged", who, {"item": item, "note": note})

    @property
    def trouble(self) -> list[Conflict]:
        """What does not fit together, with the answers concerned and remedies."""
        return conflicts_in(self.state, self._known.engine.refutation)

    def preview(self, remedy: Remedy) -> Effect:
        """What a remedy would do to the labels. Takes as long as a resume."""
        return self._effect(*(self._log.draft(kind, None, body) for kind, body in remedy.events))

    def preview_answer(
        self, question_id: str, verdict: Verdict | str, who: str | None = None
    ) -> Effect:
        """What an answer would do to the labels."""
        pair, verdict = pair_from(question_id, self.state.items), checked_verdict(verdict)
        if verdict is Verdict.UNSURE:
            return Effect(0, 0, 0)
        body = {"items": pair, "verdict": verdict.value, "role": self._queue.role(pair)}
        return self._effect(self._log.draft("answered", who, body))

    def apply(self, remedy: Remedy, who: str | None = None) -> None:
        """Choose a remedy."""
        for kind, body in remedy.events:
            self._append(kind, who, body)

    # -- the end ---------------------------------------------------------------------------------

    def finish(self, who: str | None = None) -> None:
        """Note that the work is done. Whatever happens next opens the session again."""
        self._append("closed", who, {})

    def close(self) -> None:
        """Close the store."""
        self._log.close()

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- how the parts work together -------------------------------------------------------------

    def _append(self, kind: str, who: str | None, body: Mapping[str, Any]) -> int:
        return self._commit(self._log.draft(kind, who, body, self._known.new_numbers()))

    def _commit(self, event: Event) -> int:
        """Write an event down, after one that an audit has begun if that was not said yet.

        From then on a new epoch has to do with a smaller share of what the confidence leaves.
        """
        begun = []
        if self._known.has_new_audit():
            error, confidence = self.state.parameters["audit"]
            begun = [self._log.draft("audit", None, {"error": error, "confidence": confidence})]
        return self._log.append([*begun, event])

    def _append_if_usable(self, kind: str, who: str | None, body: Mapping[str, Any]) -> None:
        """Write an event down only if a run can follow it."""
        imagined = self._known.of_state(self._log.imagined(self._log.draft(kind, who, body)))
        imagined.follow()
        self._append(kind, who, body)
        self._known.replace_run(imagined)

    def _take_answer(
        self,
        id_: str,
        verdict: Verdict,
        who: str | None,
        key: str | None,
        kind: str,
        body: dict[str, Any],
    ) -> int:
        before = None if key is None else self.state.book.event_of_key(key)
        if before is not None:
            return before
        pair = pair_from(id_, self.state.items)
        vote = self.state.vote(pair, who)
        if vote is None or vote.verdict is not verdict or vote.note != body.get("note"):
            body |= {"items": list(self._queue.shown_items(pair)), "role": self._queue.role(pair)}
            if key is not None:
                body["key"] = key
            sequence = self._append(kind, who, body)
        else:
            sequence = vote.sequence
        self._queue.close(pair, who, verdict)
        return sequence

    def _take_rows(
        self,
        items: Items,
        engine: Engine,
        changes: Changes,
        numbers: Mapping[str, int],
        who: str | None,
        preparation: Mapping[str, Any] | None = None,
    ) -> None:
        body = items.body() | ({} if preparation is None else {"preparation": dict(preparation)})
        numbers = {**numbers, **new_anchors(self.state, changes)}
        draft = self._log.draft("updated", who, body, numbers)
        imagined = KnownLabels(self._log.imagined(draft), engine)
        imagined.follow()
        self._commit(draft)
        self._known.replace_run(imagined)
        self._queue.drop_wanted()

    def _effect(self, *drafts: Event) -> Effect:
        after = self._known.of_state(self._log.imagined(*drafts))
        return Effect.between(self.snapshot(), after.recovery)

    def _contradictions_with(self, body: Mapping[str, Any]) -> list[tuple[Vote, ...]]:
        after = self._log.imagined(self._log.draft("imported", None, body))
        return new_contradictions(self.state, after)
