"""A session: questions for people, answers that are kept, and what is known from them.

Calls must come one at a time; a server holds a lock around them. Only rows that were read elsewhere
come in here: this room reads no data files.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from samecluster._typing import FloatArray, IntArray
from samecluster.errors import (
    AnswerError,
    DataMismatchError,
    InvalidInputError,
    SessionNotFoundError,
    StoreError,
)
from samecluster.points.array import validated
from samecluster.questions.pair import Verdict
from samecluster.recovery.result.how import How
from samecluster.sessions.conflicts import Conflict, Effect, Remedy, contradictions_in, trouble_in
from samecluster.sessions.disagreement import between, doubting, re_anchored
from samecluster.sessions.parameters import checked_answers, checked_parameters
from samecluster.sessions.progress import Progress
from samecluster.sessions.question import SessionQuestion, checked_verdict, pair_from
from samecluster.sessions.question_queue import QuestionQueue
from samecluster.sessions.running.look_ahead import LookAhead
from samecluster.sessions.state.items import Changes, Items
from samecluster.sessions.state.state import State
from samecluster.sessions.state.votes import Vote
from samecluster.sessions.storage.events import FORMAT, Event
from samecluster.sessions.storage.store import Store
from samecluster.validation import checked_hint

__all__ = ["Session"]

_LISTED = 5


def _utc_now() -> datetime:
    return datetime.now(UTC)


class Session(QuestionQueue):
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
        X : (n, d) points, one a row
        preparation : how X was made from the data, for whoever makes it again; JSON only
        parameters : n_clusters, margin, method and audit as in `samecluster.start` (a method with
            settings as ``{"name": "certify", "batch": 8}``); max_questions; and opinions, the
            number of people that each question is put to
        contents : a text for each row that changes if and only if the row does, where the rows of X
            may differ in the last digits from one machine to the other
        hints : (n,) groups that only say where to ask first, as ``hint`` of `samecluster.start`.
            They belong to the data and are not stored: pass them again to `open`.
        who, clock : who begins, and a function that tells the time
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
        _, engine = session._imagine(session._draft("opened", who, body))
        session._append("opened", who, body)
        session._engine = engine
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
        session = cls(store, state, X, checked_hint(hints, len(X)), clock)
        items = Items.of(keys, X, contents)
        changes = state.items.changes(items)
        if changes and update:
            session._take_rows(items, X, session._hints, changes, {}, who)
        elif changes:
            raise DataMismatchError(
                f"the session is about other data ({changes}); to go on with these rows, run "
                "`samecluster update SESSION DATA` (in Python: Session.open(..., update=True))"
            )
        return session

    # -- what is declared, named and known before ------------------------------------------------

    def set_parameters(self, *, who: str | None = None, **changes: Any) -> None:
        """Change n_clusters, margin, method, audit, max_questions or opinions from here on."""
        body = {"parameters": checked_parameters(changes)}
        _, engine = self._imagine(self._draft("parameters", who, body))
        self._append("parameters", who, body)
        self._engine = engine

    def widen(self, at_once: int, who: str | None = None) -> None:
        """See to it that there are so many questions at a time, for several who answer.

        Not once an audit has begun, which would have to begin anew.
        """
        method = self._state.parameters.get("method") or "certify"
        settings: dict[str, Any] = {"name": method} if isinstance(method, str) else dict(method)
        has_batches = settings["name"] in ("certify", "predict")
        if has_batches and settings.get("batch", 1) < at_once and self.snapshot().audit is None:
            self.set_parameters(method={**settings, "batch": at_once}, who=who)

    def name(self, cluster: int, text: str, who: str | None = None) -> None:
        """Name a cluster. The name belongs to its anchor item, as the number does."""
        anchor = self._anchor(cluster)
        self._append("named", who, {"anchor": anchor, "number": cluster, "text": text})

    def names(self) -> dict[int, str]:
        """The names of the clusters that there are now."""
        names = self._state.names
        return {number: names[number] for number in self.anchors() if number in names}

    def import_answers(
        self,
        answers: Iterable[tuple[str, str, Verdict | str]],
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
        body = {"source": source, "answers": checked_answers(answers, self._state.items)}
        if not despite_contradictions:
            self._refuse_contradictions(body)
        return self._append("imported", who, body)

    def contradictions_with(
        self, answers: Iterable[tuple[str, str, Verdict | str]], source: str
    ) -> list[tuple[Vote, ...]]:
        """The sets of answers that could not all be right if these were imported."""
        return self._contradictions(
            {"source": source, "answers": checked_answers(answers, self._state.items)}
        )

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
        changes = self._state.items.changes(items)
        if changes:
            hinted = checked_hint(hints, len(X))
            self._take_rows(items, X, hinted, changes, self._new_numbers(), who, preparation)
        return changes

    def confirm(self, keys: Iterable[str], who: str | None = None) -> None:
        """Say that answers about changed items hold for what they are now."""
        self._append("updated", who, {"confirmed": [self._checked_key(key) for key in keys]})

    # -- disagreement ----------------------------------------------------------------------------

    def doubt(self, item: str, who: str | None = None) -> list[SessionQuestion]:
        """ "This label is wrong": questions that put the item against asked members, next to come.

        Its own cluster first; "same" ends it.
        """
        pairs = doubting(self._checked_key(item), self.snapshot(), self._state, who)
        return [self._want(pair, who) for pair in pairs]

    def merge(self, a: int, b: int, who: str | None = None) -> SessionQuestion | None:
        """Two clusters are one: the question that decides it, next to come.

        None if this person was asked about all their asked members.
        """
        self._anchor(a), self._anchor(b)
        if a == b:
            raise InvalidInputError(f"two different clusters are needed, got {a} twice")
        pair = between(a, b, self.snapshot(), self._state, who)
        return None if pair is None else self._want(pair, who)

    def split(
        self, cluster: int, items: Iterable[str], who: str | None = None
    ) -> list[SessionQuestion]:
        """These do not belong to the cluster: each against its anchor, next to come."""
        anchor = self._anchor(cluster)
        chosen = [self._checked_key(item) for item in items]
        return [self._want((item, anchor), who) for item in chosen if item != anchor]

    def make_exception(self, item: str, who: str | None = None, note: str = "") -> int:
        """Keep an item's answers from the run; take that back with `retract`."""
        return self._append("flagged", who, {"item": self._checked_key(item), "note": note})

    @property
    def trouble(self) -> list[Conflict]:
        """What does not fit together, with the answers concerned and remedies."""
        self.prepare()
        return trouble_in(self._state, self._engine)

    def preview(self, remedy: Remedy) -> Effect:
        """What a remedy would do to the labels. Takes as long as a resume."""
        return self._effect(*(self._draft(kind, None, body) for kind, body in remedy.events))

    def preview_answer(
        self, question_id: str, verdict: Verdict | str, who: str | None = None
    ) -> Effect:
        """What an answer would do to the labels."""
        pair, verdict = pair_from(question_id, self._state.items), checked_verdict(verdict)
        if verdict is Verdict.UNSURE:
            return Effect(0, 0, 0)
        body = {"items": pair, "verdict": verdict.value, "role": self._role(pair)}
        return self._effect(self._draft("answered", who, body))

    def apply(self, remedy: Remedy, who: str | None = None) -> None:
        """Choose a remedy."""
        for kind, body in remedy.events:
            self._append(kind, who, body)

    # -- the whole -------------------------------------------------------------------------------

    def progress(self) -> Progress:
        """How far the session is."""
        known = self.snapshot()
        return Progress(
            n_items=len(known.labels),
            n_clusters=len(self.anchors()),
            n_questions=self._state.n_questions,
            by_how={how: known.count(how) for how in How},
            n_trouble=len(self.trouble),
            audit=known.audit,
            ended=self._ended(),
        )

    def finish(self, who: str | None = None) -> None:
        """Note that the work is done. Whatever happens next opens the session again."""
        self._append("closed", who, {})

    def close(self) -> None:
        """Close the store."""
        self._store.close()

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _take_rows(
        self,
        items: Items,
        X: FloatArray,
        hints: IntArray | None,
        changes: Changes,
        numbers: Mapping[str, int],
        who: str | None,
        preparation: Mapping[str, Any] | None = None,
    ) -> None:
        numbers = {**numbers, **re_anchored(self._state, changes)}
        made = {} if preparation is None else {"preparation": dict(preparation)}
        draft = self._draft("updated", who, {**items.body(), **made}, numbers)
        before = self._X, self._hints
        self._X, self._hints = X, hints
        try:
            _, engine = self._imagine(draft)
            self._commit(draft)
        except Exception:
            self._X, self._hints = before
            raise
        self._engine, self._seen, self._wanted = engine, None, {}
        self._ahead = LookAhead(X, hints)

    def _ended(self) -> str:
        budget = self._state.parameters.get("max_questions")
        if self._state.finished:
            return "finished"
        if budget is not None and self._state.n_questions >= budget:
            return f"the budget of {budget:,} questions is spent"
        if not self._engine.run.done:
            return ""
        audit = self.snapshot().audit
        return "the bound is met" if audit is not None and audit.met else "nothing is left to ask"

    def _effect(self, *drafts: Event) -> Effect:
        before = self.snapshot()
        after = self._number(*self._imagine(*drafts)).recovery
        return Effect.between(before, after)

    def _anchor(self, cluster: int) -> str:
        anchors = self.anchors()
        if cluster not in anchors:
            known = ", ".join(map(str, sorted(anchors))) or "none yet"
            raise InvalidInputError(f"cluster must be one of {known}, got {cluster!r}")
        return anchors[cluster]

    def _checked_key(self, key: str) -> str:
        if key not in self._state.items.row_of:
            raise InvalidInputError(f"item must be a key of the data, got {key!r}")
        return key

    def _contradictions(self, body: Mapping[str, Any]) -> list[tuple[Vote, ...]]:
        before = set(contradictions_in(self._state))
        state = self._state.copy()
        event = self._draft("imported", None, body)
        state.apply(Event(event.kind, event.at, None, event.body, state.n_events + 1))
        return [found for found in contradictions_in(state) if found not in before]

    def _refuse_contradictions(self, body: Mapping[str, Any]) -> None:
        found = self._contradictions(body)
        if found:
            listed = "".join(f"\n  {'; '.join(map(str, said))}" for said in found[:_LISTED])
            more = f"\n  and {len(found) - _LISTED} more" if len(found) > _LISTED else ""
            raise AnswerError(
                f"nothing was imported: {len(found)} sets of answers cannot all be right:{listed}"
                f"{more}\ncorrect the source or take answers back first"
            )
