"""The run under a session: made from the facts of its state, and brought up to date as they grow.

Answers that the declared margin does not allow make a plan give up. A session must not: its run is
begun again with weaker assumptions, and what was refuted is kept for the person who decides.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from itertools import zip_longest
from typing import Any

import numpy as np

from samecluster._typing import FloatArray, IntArray
from samecluster.api import METHODS, RecoveryRun, start
from samecluster.asking import all_answers
from samecluster.errors import (
    ContradictionError,
    GeometryError,
    InvalidInputError,
    RefutedError,
    SameClusterError,
)
from samecluster.questions.pair import Answer, Question, Verdict
from samecluster.recovery.auto.given_labels import GivenLabels
from samecluster.recovery.result.result import Recovery
from samecluster.sessions.parameters import looks_in_use
from samecluster.sessions.state.state import BUDGETS, OWN_PARAMETERS, State
from samecluster.sessions.state.votes import SettledPair
from samecluster.sessions.storage.look_format import LargeLook, Looked

_ATTEMPTS = 8
"""Steps by which assumptions are weakened before a run does without any; each is a run from the
beginning, for which somebody waits."""

_BELOW_LARGEST, _IS_BELOW = 0.9, 0.999
"""A margin that the answers refute becomes this share of the largest one that they allow, so that
the next answers do not refute it at once; if the largest is not below this share of the refuted one
(it is found by bisection, up to rounding), the margin is halved instead."""

_SHARE_OF_EARLY = 1 / 32
"""The share of all answers that early ones must be before a run begins again with them. A run from
the beginning takes as long as there are answers, so that this bounds the work per answer; with few
answers any early one is worth it."""

_NOTHING_ASSUMED = dict.fromkeys(("n_clusters", "lift", "expected_error"))

_MOST_STARTS = 4
"""The last of this many runs from the beginning is begun with all facts. A plan that asks something
else than was answered (another machine, other threads) does so at nearly every look from there on:
a session of 120 looks took minutes to open."""

_FIRST_AUDIT = 0.8
"""The share of 1 − confidence that the first audit of a session gets: most sessions have only one.
Later ones divide the rest among them, however many there will be."""


class Engine:
    """The run of a state.

    ``refutation`` is why weaker assumptions than the declared ones are in use, or None. Questions
    about items in ``skipped`` are answered "unsure", as if nobody could say where these belong.
    ``hints`` (n,) are those of `samecluster.start`.
    """

    def __init__(
        self, X: FloatArray, hints: IntArray | None = None, skipped: Iterable[str] = ()
    ) -> None:
        self._X, self._hints, self._skipped = X, hints, frozenset(skipped)
        self._epoch = self._followed = -1
        self._initial_facts: list[SettledPair] = []
        self._told_facts: list[SettledPair] = []
        self._early_answers: list[Answer] = []
        self._parameters: dict[str, Any] = {}
        self._seed = self._attempts = 0
        self._row_of: Mapping[str, int] = {}
        self._first: list[int] | None = None
        self._exception_rows: set[int] = set()
        self._skipped_rows: set[int] = set()
        self._run: RecoveryRun | None = None
        self._is_stale = False
        self._last_look: tuple[Looked, LargeLook] | None = None
        self.refutation: SameClusterError | None = None

    def fresh(self, skipped: Iterable[str] = ()) -> Engine:
        """Another engine for the same rows, which has followed nothing yet."""
        return Engine(self._X, self._hints, skipped)

    @property
    def run(self) -> RecoveryRun:
        assert self._run is not None, "follow a state first"
        return self._run

    def follow(self, state: State) -> None:
        """Bring the run to where the state is; from scratch only if something was taken back."""
        if self._epoch == state.epoch and self._followed == state.n_events:
            return
        told, n_told = state.run_facts.told, len(self._told_facts)
        if self._epoch != state.epoch or told[:n_told] != self._told_facts:
            self._begin(state)
        new = told[len(self._told_facts) :]
        n_starts = 0
        for at, (fact, after) in enumerate(zip_longest(new, new[1:]), start=1):
            self._tell(fact, is_early=fact.pair in state.run_facts.early)
            # What one look says is taken in as a whole.
            is_same_look = after and fact.looked is not None and after.looked is fact.looked
            if self._is_stale and not is_same_look:
                n_starts += 1
                if n_starts == _MOST_STARTS:
                    self._told_facts += new[at:]
                self._start()
                if n_starts == _MOST_STARTS:
                    break
        self._followed = state.n_events

    def follow_from_all(self, state: State) -> None:
        """Begin the run of a state with all its facts at once, in whatever order they came."""
        self._begin(state, list(state.facts.values()))

    def go_past(self, questions: Iterable[Question]) -> None:
        """Go on as if nobody could say where the items of these belong."""
        self._skipped_rows.update(question.item for question in questions)
        try:
            self._skip_questions()
        except (RefutedError, GeometryError) as error:
            self._weaken(error)
            self._start()

    def question(self, items: Iterable[str]) -> Question:
        """A question about keys as one about rows."""
        one, two = (self._row_of[key] for key in items)
        return Question(one, two)

    def recovery(self) -> Recovery:
        """What is known now."""
        return self.run.result if self.run.done else self.run.snapshot()

    def _begin(self, state: State, facts: list[SettledPair] | None = None) -> None:
        self._epoch, self._told_facts, self._run, self.refutation = -1, [], None, None
        self._attempts = 0
        self._parameters = run_parameters(state)
        if self._skipped:
            # What it skips would use up a budget, which the queue keeps in any case.
            self._parameters |= dict.fromkeys(BUDGETS)
        # Checks of an audit must be drawn again after the labels may have been chosen by what the
        # last ones found. Otherwise the same draws let a run that begins again use what was worked
        # out before.
        self._seed = state.seed + len(state.audited - {state.epoch})
        self._initial_facts = state.run_facts.initial if facts is None else facts
        self._row_of = state.items.row_of
        self._first = sorted(self._rows(state.newcomers)) or None
        self._exception_rows = self._rows(state.book.exceptions)
        self._skipped_rows = self._rows(self._skipped)
        self._start()
        self._epoch = state.epoch

    def _rows(self, items: Iterable[str]) -> set[int]:
        return {self._row_of[item] for item in items if item in self._row_of}

    def _tell(self, fact: SettledPair, is_early: bool) -> None:
        self._told_facts.append(fact)
        answer = self._answer(fact)
        try:
            if self.run.awaits(answer.question):
                self.run.take(answer)
                self._skip_questions()
            elif is_early and self.run.ledger.known(answer.question) is None:
                self._early_answers.append(answer)
                with suppress(ContradictionError):
                    self.run.learn(answer)
                self._skip_questions()
            elif self.run.ledger.known(answer.question) is None:
                # A fact that nobody asked for; or another machine or version, whose plan asks
                # something else. No fact is lost by it.
                self._is_stale = True
            if self._early_answers and self._must_use_early_answers():
                self._start()
        except (RefutedError, GeometryError) as error:
            self._weaken(error)
            self._start()

    def _must_use_early_answers(self) -> bool:
        """Whether the run has to begin again from all answers, also from the early ones.

        While labels are missing, early answers are worth more than what the plan has worked out
        without them. Once all rows have a label, it only checks them, and goes on unless an early
        answer says that one is wrong.
        """
        if self.run.done:
            return not self._labels_agree()
        n_facts = len(self._initial_facts) + len(self._told_facts)
        are_many = len(self._early_answers) >= _SHARE_OF_EARLY * n_facts
        return are_many and self.run.labelling.n_labelled < len(self._X)

    def _labels_agree(self) -> bool:
        """Whether labels say the same as early answers, which the plan may not have come to."""
        labels = self.run.result.labels
        for answer in self._early_answers:
            one, two = (int(labels[row]) for row in answer.question.pair)
            verdict = Verdict.UNSURE if min(one, two) < 0 else Verdict.of(one == two)
            if answer.verdict not in (verdict, Verdict.UNSURE):
                return False
        return True

    def _start(self) -> None:
        """Begin a run with all facts so far."""
        self._early_answers, self._is_stale = [], False
        answers = all_answers(map(self._answer, (*self._initial_facts, *self._told_facts)))
        while True:
            try:
                self._run = start(
                    self._X,
                    answers=answers,
                    hint=self._hints,
                    first=self._first,
                    random_state=self._seed,
                    **self._parameters,
                )
                self._skip_questions()
                return
            except (RefutedError, GeometryError) as error:
                self._weaken(error)

    def _skip_questions(self) -> None:
        """Where a plan gets no answer, "unsure" lets it go on to something else."""
        if not self._exception_rows and not self._skipped_rows:
            return
        while about := [q for q in self.run.pending if self._is_skipped(q)]:
            self.run.tell(about[0], Verdict.UNSURE)

    def _is_skipped(self, question: Question) -> bool:
        is_exception = not self._exception_rows.isdisjoint(question.pair)
        return is_exception or question.item in self._skipped_rows

    def _answer(self, fact: SettledPair) -> Answer:
        """A fact about rows. Those of one look have one and the same look, by which it counts."""
        question, looked = self.question(fact.items), fact.looked
        if looked is None or not self._row_of.keys() >= set(looked.keys):
            return Answer(question, fact.verdict)
        if self._last_look is None or self._last_look[0] is not looked:
            self._last_look = (looked, looked.answered(self._row_of.__getitem__))
        return Answer(question, fact.verdict, look=self._last_look[1])

    def _weaken(self, error: SameClusterError) -> None:
        """Assume less, so that the facts are allowed: other clusters, a margin, nothing at all."""
        self.refutation = self.refutation or error
        self._attempts += 1
        parameters = dict(self._parameters)
        margin = parameters.get("margin")
        refuted = error if isinstance(error, RefutedError) and self._attempts <= _ATTEMPTS else None
        if refuted and refuted.cluster is None and parameters.get("n_clusters") is not None:
            parameters["n_clusters"] = None
        elif refuted and isinstance(margin, float) and refuted.largest_margin > 0:
            parameters["margin"] = weaker_margin(margin, refuted.largest_margin)
        else:
            parameters |= {"method": METHODS["everything"](), **_NOTHING_ASSUMED}
        self._parameters = parameters


def weaker_margin(margin: float, largest: float) -> float:
    """A margin strictly below the largest one that the answers allow."""
    return _BELOW_LARGEST * largest if largest < _IS_BELOW * margin else margin / 2


def run_parameters(state: State) -> dict[str, Any]:
    """The parameters of `samecluster.start`, from what JSON can hold."""
    others = (*OWN_PARAMETERS, "looks", "look_seconds")
    chosen = {name: value for name, value in state.parameters.items() if name not in others}
    if isinstance(chosen.get("method"), Mapping):
        chosen["method"] = _method(**chosen["method"])
    for budget, spent in state.spent_before.items():
        if chosen.get(budget) is not None:
            chosen[budget] = max(1, chosen[budget] - spent)
    if (given := state.trust.labels) is not None:
        labels = [given.get(key, -1) for key in state.items.keys]
        otherwise = chosen.get("method") or "certify"
        batch = getattr(otherwise, "batch", 1)
        if getattr(otherwise, "name", otherwise) == "predict":
            otherwise = METHODS["certify"](batch=batch)  # prediction is for those who err
        chosen["method"] = GivenLabels(np.array(labels), otherwise, state.trust.models, batch)
    if (looks := looks_in_use(state.parameters)) is not None:
        chosen["looks"] = looks
    if chosen.get("audit") is not None:
        error, confidence = chosen["audit"]
        earlier = len(state.audited - {state.epoch})
        chosen["audit"] = (error, 1 - (1 - confidence) * audit_share(earlier))
    return chosen


def audit_share(earlier: int) -> float:
    """What an audit gets of 1 − confidence after ``earlier`` others; all shares add up to 1."""
    return _FIRST_AUDIT if not earlier else (1 - _FIRST_AUDIT) / (earlier * (earlier + 1))


def _method(name: str | None = None, **settings: Any) -> Any:
    if name not in METHODS:
        raise InvalidInputError(f"method must be one of {', '.join(METHODS)}, got {name!r}")
    try:
        return METHODS[name](**settings)
    except TypeError as error:
        raise InvalidInputError(f"method {name!r} has no such setting: {error}") from None
