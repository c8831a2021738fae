"""What the owner of a session says: parameters, names, answers from elsewhere, other rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from samecluster.points.array import validated
from samecluster.questions.pair import Answer, Verdict
from samecluster.recovery.auto.untrusted_answers import read_answers
from samecluster.sessions.conflicts import (
    direct_contradictions,
    new_contradictions,
    refuse_contradictions,
)
from samecluster.sessions.event_log import Recorder
from samecluster.sessions.known_labels import KnownLabels
from samecluster.sessions.parameters import (
    check_people_only,
    checked_answers,
    checked_parameters,
    looks_in_use,
    refuse_other_lift,
)
from samecluster.sessions.question_queue import QuestionQueue
from samecluster.sessions.running.engine import Engine
from samecluster.sessions.state.items import Changes, Items
from samecluster.sessions.state.numbering import new_anchors
from samecluster.sessions.state.votes import Pair, Vote
from samecluster.sessions.storage.events import format_for
from samecluster.validation import checked_hint

_TIMED = 12  # looks of a kind from which on their mean says how long they take
_QUICKEST = 0.2  # seconds on average in which a person can see anything: less is a program
_UNLIKE = 1.5  # times as long, or as short, as was thought: less does not change what is chosen


class Declarations:
    """Where declarations become events. `samecluster.Session` has these methods."""

    def __init__(self, log: Recorder, known: KnownLabels, queue: QuestionQueue) -> None:
        self._log, self._known, self._queue = log, known, queue

    def set_parameters(self, /, *, who: str | None = None, **changes: Any) -> None:
        """Change n_clusters, margin, method, audit, expected_error, opinions, looks or a budget."""
        checked = checked_parameters(changes)
        refuse_other_lift(checked, self._log.state.parameters)
        state = self._log.state
        check_people_only(checked, () if state.trust.people_only else state.book.models)
        body: dict[str, Any] = {"parameters": checked}
        if format_for(checked) > 1:
            body["format"] = format_for(checked)
        self._log.record_if_usable("parameters", who, body)

    def widen(self, at_once: int, who: str | None = None) -> None:
        """Have at least ``at_once`` questions at a time, for several people who answer.

        Not once an audit has begun, which would have to begin again.
        """
        method = self._log.state.parameters.get("method") or "certify"
        settings: dict[str, Any] = {"name": method} if isinstance(method, str) else dict(method)
        has_batches = settings["name"] in ("certify", "predict")
        is_narrow = has_batches and settings.get("batch", 1) < at_once
        if is_narrow and self._known.snapshot().audit is None:
            self.set_parameters(method={**settings, "batch": at_once}, who=who)

    def use_measured_seconds(self, who: str | None = None) -> None:
        """Choose looks from now on by how long they took people, where enough were timed.

        Not once an audit has begun, which would have to begin again, nor once nothing is left to
        ask; nor for small differences.
        """
        state = self._log.state
        looks = looks_in_use(state.parameters)
        if looks is None or not state.seconds or self._known.snapshot().audit is not None:
            return
        if self._known.engine.run.done:
            return
        used = asdict(looks.seconds)
        measured = {
            kind: round(timed.mean, 1)
            for kind, timed in state.seconds.items()
            if kind in used and timed.n_looks >= _TIMED and timed.mean >= _QUICKEST
        }
        if any(not 1 / _UNLIKE < took / used[kind] < _UNLIKE for kind, took in measured.items()):
            self.set_parameters(look_seconds=used | measured, who=who)

    def let_people_check(self, who: str | None = None) -> tuple[str, ...]:
        """From here on only answers of people count, who check the labels that models gave.

        The names of these models; none, and nothing happens, where no model has answered or people
        check already.
        """
        state = self._log.state
        models = tuple(state.book.models)
        if not models or state.trust.people_only:
            return ()
        body = {"people": True, "labels": self._labels_read(), "models": list(models)}
        self._log.record_if_usable("trusted", who, body)
        return models

    def _labels_read(self) -> list[int]:
        """What all answers so far come to, if those of models may be wrong."""
        state, found = self._log.state, self._known.snapshot()
        question, looks = self._known.engine.question, looks_in_use(state.parameters)
        by_people = set[Pair]().union(*state.answers_of_people().values())
        reading = read_answers(
            found.points,
            [Answer(question(fact.items), fact.verdict) for fact in state.facts.values()],
            trusted={question(pair) for pair in state.facts.keys() & by_people},
            room=0 if looks is None else looks.board,
        )
        labels = found.labels if reading is None else reading.labels.copy()
        labels[[state.items.row_of[item] for item in state.book.exceptions]] = -1
        return [int(label) for label in labels]

    def let_models_answer(self, who: str | None = None) -> None:
        """End what `let_people_check` began: answers of models count where people gave none."""
        state = self._log.state
        if state.trust.people_only:
            check_people_only(state.parameters, state.trust.models)
            self._log.record_if_usable("trusted", who, {"people": False})

    def name(self, cluster: int, text: str, who: str | None = None) -> None:
        """Name a cluster. The name belongs to its anchor item, as the number does."""
        number = self._known.cluster(cluster)
        body = {"anchor": self._known.anchors()[number], "number": number, "text": text}
        self._log.record("named", who, body)

    def names(self) -> dict[int, str]:
        """The names of the clusters that there are now; without one of its own that of an alias."""
        names, aliases = self._log.state.names, self._known.aliases()
        also = {aliases[n]: names[n] for n in sorted(aliases, reverse=True) if n in names}
        own = {number: names[number] for number in self._known.anchors() if number in names}
        return also | own

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
        checked = checked_answers(answers, self._log.state.items)
        if not despite_contradictions:
            refuse_contradictions(self.contradictions_with(checked, source))
        return self._log.record("imported", who, {"source": source, "answers": checked})

    def contradictions_with(
        self, answers: Iterable[tuple[str, str, Verdict | str]], source: str
    ) -> list[tuple[Vote, ...]]:
        """The sets of answers that could not all be right if these were imported."""
        state = self._log.state
        checked = checked_answers(answers, state.items)
        votes = [
            Vote(state.n_events + 1, (one, other), Verdict(verdict), source=source)
            for one, other, verdict in checked
        ]
        body = {"source": source, "answers": checked}
        after = self._log.imagined(self._log.draft("imported", None, body))
        return direct_contradictions(state, votes) + new_contradictions(state, after)

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
        changes = self._log.state.items.changes(items)
        if changes:
            made = {} if preparation is None else {"preparation": dict(preparation)}
            engine = Engine(X, checked_hint(hints, len(X)))
            self.take_rows({**items.body(), **made}, engine, changes, self._known, who)
        return changes

    def take_rows(
        self,
        body: Mapping[str, Any],
        engine: Engine,
        changes: Changes,
        known: KnownLabels | None,
        who: str | None,
    ) -> None:
        """Go on with the rows of an engine, which an event's body describes.

        ``known`` is what was known with the rows before, if they are at hand.
        """
        new, aliases = ({}, {}) if known is None else (known.new_numbers(), known.aliases())
        numbers = {**new, **new_anchors(self._log.state, changes, aliases)}
        self._log.record_if_usable("updated", who, body, (engine, numbers))
        self._queue.take_rows()

    def confirm(self, keys: Iterable[str], who: str | None = None) -> None:
        """Say that answers about changed items hold for what they are now."""
        checked = [self._log.state.items.checked_key(key) for key in keys]
        self._log.record("updated", who, {"confirmed": checked})
