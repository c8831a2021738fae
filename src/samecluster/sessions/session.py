"""A session: questions for people, answers that are kept, and what is known from them.

Calls must come one at a time, but for those of its ``intake``. Only rows that were read elsewhere
come in here: this room reads no data files. A session only joins its parts, and offers their
methods as its own.
"""

from __future__ import annotations

import functools
import json
import secrets
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Concatenate, ParamSpec, TypeVar

from samecluster._typing import FloatArray, IntArray
from samecluster.api import premises_of
from samecluster.errors import (
    DataMismatchError,
    InvalidInputError,
    SchemaError,
    SessionNotFoundError,
    StoreError,
)
from samecluster.points.array import validated
from samecluster.questions.pair import Verdict
from samecluster.recovery.result.premises import Premise
from samecluster.sessions.answer_desk import AnswerDesk
from samecluster.sessions.conflicts import Conflict
from samecluster.sessions.declarations import Declarations
from samecluster.sessions.disagreement import Disagreement
from samecluster.sessions.event_log import Recorder
from samecluster.sessions.intake import Intake
from samecluster.sessions.known_labels import KnownLabels
from samecluster.sessions.parameters import checked_parameters
from samecluster.sessions.progress import Progress, reason_of_end
from samecluster.sessions.question_queue import QuestionQueue
from samecluster.sessions.running.engine import Engine
from samecluster.sessions.running.second_looks import SecondLooks
from samecluster.sessions.state.items import Items
from samecluster.sessions.state.state import State
from samecluster.sessions.state.votes import pair_of
from samecluster.sessions.storage.events import Event, format_for
from samecluster.sessions.storage.store import Store
from samecluster.tables import Preparation, as_table
from samecluster.tables.frame_points import ColumnChoice, is_frame, points_of
from samecluster.validation import checked_hint

Part = TypeVar("Part")
Arguments = ParamSpec("Arguments")
Returned = TypeVar("Returned")


def _utc_now() -> datetime:
    return datetime.now(UTC)


def _offered(
    method: Callable[Concatenate[Part, Arguments], Returned], part: str
) -> Callable[Concatenate[Session, Arguments], Returned]:
    """A method of a part as a method of the session that holds it in the attribute ``part``.

    Signature, types and docstring are those of the part, so that there is one place for them.
    """

    @functools.wraps(method)
    def offered(self: Session, /, *args: Arguments.args, **named: Arguments.kwargs) -> Returned:
        return method(getattr(self, part), *args, **named)

    return offered


def _prepared_as_before(X: Any, state: State) -> FloatArray:
    """The rows of a frame as the points that they were when the session began."""
    stored = state.preparation.get("features")
    if not is_frame(X) or stored is None:
        return points_of(X, ColumnChoice(), logarithms=False)[0]
    return validated(Preparation.from_json(json.dumps(stored)).apply(as_table(X, "X")))


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
        prepared: Sequence[Premise] = (),
    ) -> None:
        self._known = KnownLabels(state, Engine(X, hints), tuple(prepared))
        self._log = Recorder(store, state, clock, self._known)
        self._queue = QuestionQueue(state, self._known, clock)
        self._answers = AnswerDesk(self._log, self._queue)
        self.intake = Intake(self._log, self._queue, self._answers.sent_before)
        self._log.on_event = self._close_question
        self._declarations = Declarations(self._log, self._known, self._queue)
        self._second_looks = SecondLooks(self._log, self._known, self._queue)
        self._disagreement = Disagreement(self._log, self._known, self._queue, self._second_looks)

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
        prepared: Sequence[Premise] = (),
        columns: Mapping[str, Any] | None = None,
    ) -> Session:
        """Begin a session in an empty store.

        Parameters
        ----------
        store : where events are kept, such as ``SqliteStore(path, create=True)``
        keys : n texts, all different: what answers refer to
        X : (n, d) points, one per row; or a data frame, as in `samecluster.start`. Open it again
            with such a frame: its columns are prepared as they were here.
        preparation : how X was made from the data, to make it again; JSON only
        parameters : n_clusters, margin, method, audit and expected_error as in `samecluster.start`
            (a method with settings as ``{"name": "certify", "batch": 8}``); max_questions and
            max_looks, for all people together; looks, also with sizes as ``{"choice": 6, "sheet":
            12, "board": 12}``; and opinions, the number of people that each question is put to
        contents : a text for each row that changes if and only if the row does, where the rows of X
            may differ in the last digits from one machine to the other
        hints : (n,) groups that only say where to ask first, as ``hint`` of `samecluster.start`.
            They belong to the data and are not stored: pass them again to `open`.
        who, clock : the person who begins, and a function that tells the time
        seed : the same seed gives the same questions
        prepared : premises about how X was made, for claims that rest on a margin of X. They belong
            to the data and are not stored: pass them again to `open`.
        columns : of a frame: ``{"text": "note", "ignore": ["id"]}``, by the names of `start`
        """
        if next(iter(store.read()), None) is not None:
            raise StoreError("the store holds a session already; open it, or choose another place")
        checked = checked_parameters(parameters or {})
        choice, by_margin = ColumnChoice(**columns or {}), checked.get("margin", "auto") == "auto"
        X, frame = points_of(X, choice, logarithms=by_margin)
        if frame is not None and frame.preparation is not None:
            made = json.loads(frame.preparation.to_json())
            preparation = {**(preparation or {}), "features": made}
            prepared = (*prepared, *premises_of(frame))
        if checked.get("looks", "") is None:
            del checked["looks"]  # older programs do not know the word
        body = {
            "format": format_for(checked),
            **Items.of(keys, X, contents).body(),
            "preparation": dict(preparation or {}),
            "parameters": checked,
            "seed": secrets.randbits(31) if seed is None else seed,
        }
        session = cls(store, State(), X, checked_hint(hints, len(X)), clock, prepared)
        session._log.record_if_usable("opened", who, body)
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
        prepared: Sequence[Premise] = (),
    ) -> Session:
        """Go on with a session.

        DataMismatchError if it is about other rows, unless ``update`` says to take these in.
        """
        state = State(store.read())
        if not state.n_events:
            raise SessionNotFoundError("the store holds no session; create one first")
        try:
            checked_parameters(state.parameters)
        except InvalidInputError as error:
            raise SchemaError(f"the session was given unusable parameters: {error}") from None
        X = _prepared_as_before(X, state)
        hints = checked_hint(hints, len(X))
        session = cls(store, state, X, hints, clock, prepared)
        items = Items.of(keys, X, contents)
        changes = state.items.changes(items)
        if changes and update:
            session._declarations.take_rows(items.body(), Engine(X, hints), changes, None, who)
        elif changes:
            raise DataMismatchError(
                f"the session is about other data ({changes}); to go on with these rows, run "
                "`samecluster update SESSION DATA` (in Python: Session.open(..., update=True))"
            )
        return session

    ask = _offered(QuestionQueue.ask, "_queue")
    ask_looks = _offered(QuestionQueue.ask_looks, "_queue")
    look = _offered(QuestionQueue.look, "_queue")
    question = _offered(QuestionQueue.question, "_queue")
    release = _offered(QuestionQueue.release, "_queue")
    renew = _offered(QuestionQueue.renew, "_queue")

    tell = _offered(AnswerDesk.tell, "_answers")
    tell_look = _offered(AnswerDesk.tell_look, "_answers")
    flag = _offered(AnswerDesk.flag, "_answers")
    judge = _offered(AnswerDesk.judge, "_answers")
    undo = _offered(AnswerDesk.undo, "_answers")
    retract = _offered(AnswerDesk.retract, "_answers")

    take_in = _offered(Recorder.take_in, "_log")

    def show_numbers(self) -> None:
        """People are about to see cluster numbers, which have to stay from here on."""
        self._log.keep_numbers(self._known.new_numbers())

    def _close_question(self, event: Event) -> None:
        if "items" in event.body:
            verdict = Verdict(event.body.get("verdict", Verdict.UNSURE))
            self._queue.close(pair_of(event.body["items"]), event.who, verdict)

    @property
    def state(self) -> State:
        """What the events add up to, to look at."""
        return self._log.state

    events = _offered(Recorder.events, "_log")
    snapshot = _offered(KnownLabels.snapshot, "_known")
    anchors = _offered(KnownLabels.anchors, "_known")
    aliases = _offered(KnownLabels.aliases, "_known")
    cluster = _offered(KnownLabels.cluster, "_known")
    prepare = _offered(KnownLabels.prepare, "_known")
    judged_answers = _offered(KnownLabels.judged_answers, "_known")

    set_parameters = _offered(Declarations.set_parameters, "_declarations")
    widen = _offered(Declarations.widen, "_declarations")
    use_measured_seconds = _offered(Declarations.use_measured_seconds, "_declarations")
    let_people_check = _offered(Declarations.let_people_check, "_declarations")
    let_models_answer = _offered(Declarations.let_models_answer, "_declarations")
    name = _offered(Declarations.name, "_declarations")
    names = _offered(Declarations.names, "_declarations")
    import_answers = _offered(Declarations.import_answers, "_declarations")
    contradictions_with = _offered(Declarations.contradictions_with, "_declarations")
    update = _offered(Declarations.update, "_declarations")
    confirm = _offered(Declarations.confirm, "_declarations")

    look_again = _offered(SecondLooks.look_again, "_second_looks")
    ranked_conflicts = _offered(Disagreement.ranked_conflicts, "_disagreement")
    doubt = _offered(Disagreement.doubt, "_disagreement")
    merge = _offered(Disagreement.merge, "_disagreement")
    split = _offered(Disagreement.split, "_disagreement")
    make_exception = _offered(Disagreement.make_exception, "_disagreement")
    preview = _offered(Disagreement.preview, "_disagreement")
    preview_answer = _offered(Disagreement.preview_answer, "_disagreement")
    apply = _offered(Disagreement.apply, "_disagreement")

    @property
    def trouble(self) -> list[Conflict]:
        """What does not fit together, with the answers concerned and remedies."""
        return self._disagreement.conflicts()

    def progress(self) -> Progress:
        """How far the session is."""
        known, run = self._known.snapshot(), self._known.engine.run
        return Progress(
            n_items=len(known.labels),
            n_clusters=len(self._known.anchors()),
            n_questions=self.state.n_questions,
            n_looks=self.state.n_looks,
            by_how=known.by_how,
            n_trouble=len(self.trouble),
            audit=known.audit,
            ended=reason_of_end(self.state, known, run.done, run.labelling.cut_short),
        )

    def finish(self, who: str | None = None) -> None:
        """Note that the work is done. Whatever happens next opens the session again."""
        self._log.record("closed", who, {})

    close = _offered(Recorder.close, "_log")

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
