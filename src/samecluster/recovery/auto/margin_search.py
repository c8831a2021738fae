"""Certify without a margin: guess one, and lower it to what the answers allow.

It starts from an optimistic margin (`margin_guess`). Answers that refute it lower it, and all is
inferred anew from the answers; none is lost and none is asked again. Where nothing refutes it,
questions go to the labels that look riskiest (`margin_probes`). Points that belong to no cluster
are kept as `exceptions`, so that one of them does not take the margin away from everybody
(docs/how_it_works.md).

Where proofs cannot pay, or no margin of use is left, prediction does the work. Nothing here is
proven: labels are asked, inferred or predicted.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np

from samecluster.errors import RefutedError
from samecluster.points.block_work import on_one_thread
from samecluster.questions.run import Plan
from samecluster.recovery.auto.exceptions import becomes_exception, set_strays_apart
from samecluster.recovery.auto.margin_guess import TRIES, MarginGuess
from samecluster.recovery.auto.margin_probes import MarginProbes
from samecluster.recovery.certify.plan import Certify, CertifyRun
from samecluster.recovery.distances import ScaledDistances
from samecluster.recovery.label_comparison import LabelComparison
from samecluster.recovery.labelling import Labelling
from samecluster.recovery.predict.fill import follow_clouds, mostly_known
from samecluster.recovery.predict.plan import PredictRun
from samecluster.recovery.problem import BudgetSpent, Problem
from samecluster.recovery.result.result import Recovery

# Pairs of clusters that are compared at the end: all of ten clusters, or those with most at stake
_COMPARED = 45

T = TypeVar("T")


@dataclass(frozen=True)
class CertifyWithoutMargin:
    """Certify with a margin that is guessed, and prediction where that does not help.

    ``expected_error`` is the share of wrong labels at which prediction stops asking. With ``lifts``
    polynomial lifts are tried where the columns as they are have no margin of use. ``is_audited``
    says that an audit follows.
    """

    certify: Certify = field(default_factory=Certify)
    expected_error: float = 0.001
    lifts: bool = False
    is_audited: bool = False

    name = "certify"

    @property
    def batch(self) -> int:
        return self.certify.batch

    def plan(self, problem: Problem, labelling: Labelling) -> Plan[Recovery]:
        search = MarginSearchRun(self, problem, labelling)
        yield from search.play()
        return search.result()


class MarginSearchRun:
    """One run: what is tried is its ``guess``, and what came of it is noted on the labelling."""

    def __init__(
        self, settings: CertifyWithoutMargin, problem: Problem, labelling: Labelling
    ) -> None:
        self.settings, self.problem, self.labelling = settings, problem, labelling
        self.seed = int(problem.rng.integers(2**31))
        self.guess = MarginGuess(problem, labelling, settings.lifts, self.seed)
        self.n_compared = 0
        self.is_spent = False
        self.n_clusters = problem.n_clusters
        self.near = ScaledDistances(problem.X)
        labelling.note_exceptions([*problem.exceptions, *labelling.exceptions])

    def play(self) -> Plan[None]:
        """Infer under a margin, predict the rest; once more if two labels are one cluster."""
        for _ in range(TRIES):
            yield from self._infer()
            self.guess.note()
            yield from on_one_thread(self._predict())
            if self.is_spent or not (yield from self._finds_one_cluster_in_two()):
                return

    def result(self) -> Recovery:
        """Everything that can be said."""
        set_strays_apart(self.labelling)
        self.labelling.number_clusters()
        self.guess.note()
        return self.labelling.recovery()

    def _problem_now(self) -> Problem:
        return replace(
            self.problem,
            n_clusters=self.n_clusters,
            margin=self.guess.margin,
            answers=self.labelling.answers,
            exceptions=frozenset(self.labelling.exceptions),
        )

    # -- inference -------------------------------------------------------------------------------

    def _infer(self) -> Plan[None]:
        """Try one margin after the other, until one stands or none is of use."""
        while self.guess.margin is not None:
            try:
                asking = self._asking()
                if not (yield from self._while_it_pays(asking)):
                    self.guess.margin = None
                elif (yield from self._searching(self._stands(asking))):
                    self.labelling.number_clusters()
                    return
                else:
                    self._asking().begin()  # most often that says by how much
                    self.guess.lower(self.guess.margin)
            except RefutedError as refuted:
                yield from self._searching(self._give_in(refuted))
            if self.guess.margin is None:
                self.guess.lift_higher()
        self.labelling.reset()

    def _asking(self) -> CertifyRun:
        """Certify under the margin that is tried now, from the answers so far."""
        self.labelling.reset()
        self.guess.note()
        rng = np.random.default_rng(self.seed)
        problem = replace(self._problem_now(), rng=rng, guessed=True, lift=self.guess.lift)
        return CertifyRun(self.settings.certify, problem, self.labelling)

    def _while_it_pays(self, asking: CertifyRun) -> Plan[bool]:
        """Play inference as long as labels follow from its questions; whether it came to its end.

        Answers of an attempt that is given up are not lost: prediction begins with them.
        """
        if not self.guess.proofs_may_pay(len(asking.guide.alive())):
            return False
        plan = asking.play()
        try:
            batch = next(plan)
            while self.guess.proofs_pay():
                batch = plan.send((yield batch))
        except StopIteration:
            return True
        plan.close()
        return False

    def _searching(self, plan: Plan[T]) -> Plan[T]:
        """Play a part of the search; its questions count as spent on it."""
        before = self.labelling.n_questions
        found = yield from plan
        self.guess.n_questions += self.labelling.n_questions - before
        return found

    def _give_in(self, refuted: RefutedError) -> Plan[None]:
        """Take the refuting point for an exception, or go below what the answers allow."""
        confirmed = self.problem.confirmed
        if confirmed is not None and any(a.question not in confirmed for a in refuted.answers):
            raise refuted
        if refuted.cluster is None and self.n_clusters is not None:
            self.n_clusters = None  # more clusters than were declared: go by the answers
        elif not (yield from becomes_exception(refuted.item, self.labelling, self.near)):
            self.guess.lower(refuted.largest_margin)

    def _stands(self, asking: CertifyRun) -> Plan[bool]:
        """Whether the margin survives questions where it would most likely fail."""
        probes = MarginProbes(asking, self.near, self.seed)
        if not (yield from probes.hold(self.guess.n_questions - self.n_compared)):
            return False
        before = self.labelling.n_questions
        split = yield from self._finds_one_cluster_in_two()
        self.n_compared += self.labelling.n_questions - before
        return not split

    # -- prediction and comparison ---------------------------------------------------------------

    def _predict(self) -> Plan[None]:
        """Predict what is left; ask where it teaches most if too much of it may be wrong."""
        problem = self._problem_now()
        if mostly_known(self.labelling):
            expected = follow_clouds(problem, self.labelling)
            if expected is not None and expected <= self.settings.expected_error:
                return
        wanted = self.settings
        teaching = PredictRun(
            problem, self.labelling, wanted.expected_error, wanted.batch, wanted.is_audited
        )
        try:
            yield from teaching.play()
        except BudgetSpent:
            self.is_spent = True
        teaching.write_all()

    def _finds_one_cluster_in_two(self) -> Plan[bool]:
        """Whether labels that no answer separates turn out to be one cluster.

        Single points that were asked about are left alone: they get no label in the end. Of many
        clusters that a model has told apart it has compared those that it had doubts about.
        """
        answered = self.labelling.answered()
        are_many = answered.gap().n_pairs > _COMPARED
        if self.guess.margin is None and are_many:
            return False
        at_most = _COMPARED - self.n_compared if are_many else _COMPARED
        strays = {
            label
            for label, size in answered.sizes.items()
            if size == 1 and len(answered.holders(label)) == 1
        }
        comparison = LabelComparison(self.near, self.settings.batch)
        try:
            same = yield from comparison.play(answered, max(at_most, 0), strays)
        except BudgetSpent:
            self.is_spent = True
            return False
        return same is not None
