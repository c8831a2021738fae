"""The run under a session: made from the facts of its state, and brought up to date as they grow.

Answers that the declared margin does not allow make a plan give up. A session must not: its run is
begun again with weaker assumptions, and what was refuted is kept for whoever decides about it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

from samecluster._typing import FloatArray, IntArray
from samecluster.api import METHODS, RecoveryRun, start
from samecluster.errors import (
    ContradictionError,
    GeometryError,
    InvalidInputError,
    RefutedError,
    SameClusterError,
)
from samecluster.questions.ledger import Ledger
from samecluster.questions.pair import Answer, Question, Verdict
from samecluster.recovery.result.result import Recovery
from samecluster.sessions.state.items import Items
from samecluster.sessions.state.state import OWN_PARAMETERS, State
from samecluster.sessions.state.votes import SettledPair

__all__ = ["Engine", "weaker_margin"]

_ATTEMPTS = 8
_BELOW, _ALMOST = 0.9, 0.999
_FIRST = 0.8


class Engine:
    """The run of a state.

    ``refuted`` is why weaker assumptions than the declared ones are in use, or None. With
    ``passing_over`` it goes on as if nobody could say where these items belong. ``hints`` (n,) are
    those of `samecluster.start`.
    """

    def __init__(
        self,
        X: FloatArray,
        items: Items,
        *,
        hints: IntArray | None = None,
        passing_over: Iterable[str] = (),
    ) -> None:
        self._X, self._items, self._hints = X, items, hints
        self._passed_over = {items.row_of[key] for key in passing_over}
        self._epoch = -1
        self._told: list[SettledPair] = []
        self._parameters: dict[str, Any] = {}
        self._run: RecoveryRun | None = None
        self._seed = self._attempts = 0
        self._given: list[SettledPair] = []
        self._silent: set[int] = set()
        self._unheard: list[Answer] = []
        self.refuted: SameClusterError | None = None

    @property
    def run(self) -> RecoveryRun:
        assert self._run is not None, "follow a state first"
        return self._run

    def follow(self, state: State) -> None:
        """Bring the run to where the state is; from scratch only if something was taken back."""
        n_told = len(self._told)
        if self._epoch != state.epoch or state.told[:n_told] != self._told:
            self._begin(state)
        for fact in state.told[len(self._told) :]:
            self._tell(fact, is_ahead=fact.pair in state.ahead)

    def question(self, items: Iterable[str]) -> Question:
        """A question about keys as one about rows."""
        one, two = (self._items.row_of[key] for key in items)
        return Question(one, two)

    def differ(self, one: str, two: str) -> bool:
        """Whether two items are known for good to be in different clusters, given their labels."""
        implied = self.run.ledger.implied(self.question((one, two)))
        return self.run.done or implied is Verdict.DIFFERENT

    def recovery(self) -> Recovery:
        """What is known now."""
        return self.run.result if self.run.done else self.run.snapshot()

    def _begin(self, state: State) -> None:
        self._epoch, self._told, self._run, self.refuted = -1, [], None, None
        self._attempts = 0
        self._parameters = _for_the_run(state)
        # Checks of an audit must be drawn anew after the labels may have been chosen by what the
        # last ones found. Otherwise the same draws let a run that begins again use what was worked
        # out before.
        self._seed = state.seed + len(state.audited - {state.epoch})
        self._given = state.given
        excepted = (self._items.row_of.get(key) for key in state.exceptions)
        self._silent = {row for row in excepted if row is not None}
        self._start()
        self._epoch = state.epoch

    def _tell(self, fact: SettledPair, is_ahead: bool) -> None:
        self._told.append(fact)
        answer = Answer(self.question(fact.items), fact.verdict)
        try:
            before = set(self.run.pending) if self._unheard else set()
            if self.run.awaits(answer.question):
                self.run.tell(answer.question, answer.verdict)
                self._pass_over_silent()
            elif is_ahead:
                self._unheard.append(answer)
                with suppress(ContradictionError):
                    self.run.learn(answer)
                self._pass_over_silent()
            elif self.run.ledger.known(answer.question) is None:
                # Another machine or version, whose plan asks something else: no fact is lost by it.
                self._start()
            if self._unheard and self._must_hear(before):
                self._start()
        except (RefutedError, GeometryError) as error:
            self._weaken(error)
            self._start()

    def _must_hear(self, before: set[Question]) -> bool:
        """Whether the run has to begin anew from all answers, also those put ahead of their turn.

        While labels are missing, what was put ahead is worth more than what the plan has made up
        its mind about. Once all have one, it only checks them, and goes on unless they are wrong.
        """
        if self.run.done:
            return not self._agree()
        is_further = not before.issuperset(self.run.pending)
        return is_further and self.run.labelling.n_labelled < len(self._X)

    def _agree(self) -> bool:
        """Whether labels say the same as answers that the plan may not have come to."""
        labels = self.run.result.labels
        for answer in self._unheard:
            one, two = (int(labels[row]) for row in answer.question.pair)
            told = Verdict.UNSURE if min(one, two) < 0 else Verdict.of(one == two)
            if answer.verdict not in (told, Verdict.UNSURE):
                return False
        return True

    def _start(self) -> None:
        """Begin a run with all facts so far."""
        self._unheard = []
        answers = self._fitting((*self._given, *self._told))
        while True:
            try:
                self._run = start(
                    self._X,
                    answers=answers,
                    hint=self._hints,
                    random_state=self._seed,
                    **self._parameters,
                )
                self._pass_over_silent()
                return
            except (RefutedError, GeometryError) as error:
                self._weaken(error)

    def _pass_over_silent(self) -> None:
        """Where a plan gets no answer, "unsure" lets it go on to something else."""
        if not self._silent and not self._passed_over:
            return
        while about := [q for q in self.run.pending if self._is_silent(q)]:
            self.run.tell(about[0], Verdict.UNSURE)

    def _is_silent(self, question: Question) -> bool:
        return question.item in self._passed_over or not self._silent.isdisjoint(question.pair)

    def _fitting(self, facts: Iterable[SettledPair]) -> list[Answer]:
        """The facts that do not contradict earlier ones."""
        ledger = Ledger()
        for fact in facts:
            try:
                ledger.record(Answer(self.question(fact.items), fact.verdict))
            except ContradictionError:
                continue
        return list(ledger)

    def _weaken(self, error: SameClusterError) -> None:
        """Assume less, so that the facts are allowed: other clusters, a margin, nothing at all."""
        self.refuted = self.refuted or error
        self._attempts += 1
        parameters = dict(self._parameters)
        margin = parameters.get("margin")
        if not isinstance(error, RefutedError) or self._attempts > _ATTEMPTS:
            parameters |= {"method": METHODS["everything"](), "n_clusters": None}
        elif error.cluster is None and parameters.get("n_clusters") is not None:
            parameters["n_clusters"] = None
        elif isinstance(margin, float) and error.largest_margin > 0:
            parameters["margin"] = weaker_margin(margin, error.largest_margin)
        else:
            parameters |= {"method": METHODS["everything"](), "n_clusters": None}
        self._parameters = parameters


def weaker_margin(margin: float, largest: float) -> float:
    """A margin strictly below the largest one that the answers allow."""
    return _BELOW * largest if largest < _ALMOST * margin else margin / 2


def _for_the_run(state: State) -> dict[str, Any]:
    """The parameters of `samecluster.start`, from what JSON can hold."""
    chosen = {name: v for name, v in state.parameters.items() if name not in OWN_PARAMETERS}
    if isinstance(chosen.get("method"), Mapping):
        chosen["method"] = _method(**chosen["method"])
    if chosen.get("max_questions") is not None:
        chosen["max_questions"] = max(1, chosen["max_questions"] - state.n_asked_before)
    if chosen.get("audit") is not None:
        error, confidence = chosen["audit"]
        earlier = len(state.audited - {state.epoch})
        chosen["audit"] = (error, 1 - (1 - confidence) * _share(earlier))
    return chosen


def _share(earlier: int) -> float:
    """What an audit gets of 1 − confidence after so many audits; all such shares add up to 1."""
    return _FIRST if not earlier else (1 - _FIRST) / (earlier * (earlier + 1))


def _method(name: str | None = None, **settings: Any) -> Any:
    if name not in METHODS:
        raise InvalidInputError(f"method must be one of {', '.join(METHODS)}, got {name!r}")
    try:
        return METHODS[name](**settings)
    except TypeError as error:
        raise InvalidInputError(f"method {name!r} has no such setting: {error}") from None
