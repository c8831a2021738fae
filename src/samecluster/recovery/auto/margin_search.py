"""Certify without a margin: guess one, and lower it to what the answers allow.

It starts from an optimistic margin. Answers that refute it lower it, and everything is inferred
anew from the answers; none is lost and none is asked again. Where nothing refutes it, questions go
to the labels that look riskiest. Points that belong to no cluster are kept as exceptions, so that
one of them does not take the margin away from everybody (docs/how_it_works.md).

Where proofs cannot pay, or no margin of use is left, prediction does the work. Nothing here is
proven: labels are asked, inferred or predicted.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from samecluster._typing import FloatArray, IntArray
from samecluster.errors import RefutedError
from samecluster.lifts.lift import ColumnMap
from samecluster.points.array import unit_scaled
from samecluster.points.block_work import on_one_thread
from samecluster.questions.pair import Question, Verdict
from samecluster.questions.run import Plan
from samecluster.recovery.answer_groups import AnswerGroups
from samecluster.recovery.auto.lift_choice import LiftChoice
from samecluster.recovery.certify.plan import Certify, CertifyRun
from samecluster.recovery.distances import ScaledDistances
from samecluster.recovery.label_comparison import LabelComparison
from samecluster.recovery.labelling import Labelling
from samecluster.recovery.predict.clouds import Clouds
from samecluster.recovery.predict.fill import follow_clouds, mostly_known
from samecluster.recovery.predict.plan import PredictRun
from samecluster.recovery.predict.similarity import features
from samecluster.recovery.problem import BudgetSpent, Problem
from samecluster.recovery.result.how import How
from samecluster.recovery.result.result import MarginSearch, Recovery

# The margin of the paper's instances; a guess that is too large is refuted cheaply (decision 10)
_OPTIMISTIC = 1.0
# Proofs at γ=0.05, d=4 take about 250 questions already (benchmarks/questions)
_USELESS = 0.02
# Margin below which a lift is tried where one may be: proofs at γ=0.2, d=4 take 33 questions
_LIFTED_BELOW = 0.2
# A margin equal to the largest allowed one is refuted by definition (theory, section 7)
_BELOW = 0.95
# At most this share of a refuted margin is tried next, so that _TRIES steps reach _USELESS
_STEP = 0.6
_TRIES = 12  # refutations: 0.6^8 is below _USELESS already; the others are for exceptions
# Questions at risky labels; chosen by benchmarks/imperfect (goal: at most 60 for the search)
_PROBES = 15
# Of these every third is drawn at random, wherever it looks safe: misfits lie on the outside, and a
# group in the middle of another one has none. With half of the labels wrong, five miss it 1 in 32
_DRAWN_EVERY = 3
# Proofs are tried where spanning all groups takes at most 1 question in 50 points (decision 10)
_LABELS_A_QUESTION = 50
# Questions in all that may pass without a label that follows from each, and beyond the rank if that
# is more: one group is spanned by then, and labels follow if the margin is of use
_UNPAID, _UNPAID_BEYOND_RANK = 20, 4
# Rows by which the rank is told: 2,000 are far more than columns, and an SVD of them is quick
_RANK_ROWS = 2000
# Pairs of clusters that are compared at the end: all of ten clusters, or those with most at stake
_COMPARED = 45
_LOOKED_AT = 8000  # inferred points among which misfits are looked for: more only takes time
_FLAT = 1e-9  # singular values below this share of the largest are rounding, not a direction
# Exceptions per hundred asked items: twice the 1 % background of benchmarks/imperfect
_EXCEPTIONS_A_HUNDRED = 2
# Allowed however few items were asked, or the first stray would take the margin away
_FEWEST_EXCEPTIONS = 3
_NEAR_STRAYS = 2  # exceptions that a new one is compared with: two strays of a kind are a cluster


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

    @property
    def name(self) -> str:
        return "certify"

    @property
    def batch(self) -> int:
        return self.certify.batch

    def plan(self, problem: Problem, labelling: Labelling) -> Plan[Recovery]:
        search = MarginSearchRun(self, problem, labelling)
        yield from search.play()
        return search.result()


class MarginSearchRun:
    """One run."""

    def __init__(
        self, settings: CertifyWithoutMargin, problem: Problem, labelling: Labelling
    ) -> None:
        self.settings, self.problem, self.labelling = settings, problem, labelling
        self.seed = int(problem.rng.integers(2**31))
        # What was found out before, if labels are drawn anew after an audit.
        before = labelling.search or MarginSearch(_OPTIMISTIC, (), 0)
        self.margin, self.refuted = before.margin, list(before.refuted)
        self.n_searching = before.n_questions
        self.n_compared = 0
        self.is_spent = False
        self.exceptions = {*problem.exceptions, *labelling.exceptions}
        self.n_clusters = problem.n_clusters
        self.near = ScaledDistances(problem.X)
        self.lift, self.choice = before.lift or problem.lift, LiftChoice(problem.X)
        if settings.lifts and labelling.search is None:
            begin = self.choice.first(problem.n_clusters, self.seed)
            self.lift, self.margin = begin or (self.lift, self.margin)
        self.rank, self.n_before_lift = _rank(problem.X, self.seed, self.lift), 0

    def play(self) -> Plan[None]:
        if not self._proofs_may_pay():
            self.margin = None
        for _ in range(_TRIES):
            self.labelling.reset()
            if self.margin is not None:
                yield from self._infer()
            self._note()
            yield from on_one_thread(self._predict())
            if self.is_spent or not (yield from self._finds_one_cluster_in_two()):
                return

    def result(self) -> Recovery:
        """Everything that can be said; clusters of one asked point alone are no clusters."""
        self._set_strays_apart()
        self.labelling.number_clusters()
        self._note()
        return self.labelling.recovery()

    def _note(self) -> None:
        refuted = tuple(self.refuted)
        self.labelling.search = MarginSearch(self.margin, refuted, self.n_searching, self.lift)
        self.labelling.note_exceptions(self.exceptions)

    # -- inference -------------------------------------------------------------------------------

    def _proofs_may_pay(self, n_groups: int = 2) -> bool:
        """Whether spanning so many clusters would take few questions for the labels it gives."""
        return _LABELS_A_QUESTION * n_groups * (self.rank + 1) <= len(self.problem.X)

    def _infer(self) -> Plan[None]:
        """Try one margin after the other, until one stands or none is of use."""
        while self.margin is not None:
            try:
                asking = self._asking(self.margin)
                if not self._proofs_may_pay(len(asking.guide.alive())):
                    self.margin = None
                    self._lift_higher()
                    continue
                if not (yield from self._while_it_pays(asking.play())):
                    self.margin = None
                    self._lift_higher()
                    continue
                if (yield from self._stands(asking)):
                    self.labelling.number_clusters()
                    return
                self._asking(self.margin).begin()  # most often that says by how much
                self._lower(self.margin)
            except RefutedError as refuted:
                before = self.labelling.n_questions
                yield from self._give_in(refuted)
                self.n_searching += self.labelling.n_questions - before
            if self.margin is None:
                self._lift_higher()
        self.labelling.reset()

    def _lift_higher(self) -> None:
        """Begin again in the next lift, if there may be one and proofs in it may pay."""
        lift = self.choice.after(self.lift) if self.settings.lifts else None
        if lift is None or not self._proofs_may_pay():
            return
        self.lift, self.margin, self.refuted = lift, _OPTIMISTIC, []
        self.exceptions = set(self.problem.exceptions)
        self.rank = _rank(self.problem.X, self.seed, lift)
        self.n_before_lift = self.labelling.n_questions
        if not self._proofs_may_pay():
            self.margin = None

    def _while_it_pays(self, plan: Plan[None]) -> Plan[bool]:
        """Play inference as long as labels follow from its questions; whether it came to its end.

        Answers of an attempt that is given up are not lost: prediction begins with them.
        """
        allowed = max(_UNPAID, self.rank + _UNPAID_BEYOND_RANK)
        try:
            batch = next(plan)
            while True:
                followed = int(np.count_nonzero(self.labelling.how == How.INFERRED))
                if self.labelling.n_questions - self.n_before_lift - followed > allowed:
                    plan.close()
                    return False
                batch = plan.send((yield batch))
        except StopIteration:
            return True

    def _asking(self, margin: float) -> CertifyRun:
        self.labelling.reset()
        self._note()
        problem = replace(
            self.problem,
            n_clusters=self.n_clusters,
            margin=margin,
            rng=np.random.default_rng(self.seed),
            answers=self.labelling.answers,
            guessed=True,
            exceptions=frozenset(self.exceptions),
            lift=self.lift,
        )
        return CertifyRun(self.settings.certify, problem, self.labelling)

    def _give_in(self, refuted: RefutedError) -> Plan[None]:
        """Take the refuting point for an exception, or go below what the answers allow."""
        confirmed = self.problem.confirmed
        if confirmed is not None and any(a.question not in confirmed for a in refuted.answers):
            raise refuted
        if refuted.cluster is None and self.n_clusters is not None:
            self.n_clusters = None  # more clusters than were declared: go by the answers
            return
        if (yield from self._is_exception(refuted.item)):
            self.exceptions.add(refuted.item)
            return
        self._lower(refuted.largest_margin)

    def _lower(self, largest: float) -> None:
        assert self.margin is not None
        if self.margin not in self.refuted:
            self.refuted.append(self.margin)
        # What is allowed was looked for among few points: closures of all reach farther.
        lower = min(_BELOW * largest, _STEP * self.margin)
        least = _USELESS
        if self.settings.lifts and self.lift is None:
            least = _LIFTED_BELOW
        self.margin = lower if lower >= least and len(self.refuted) < _TRIES else None

    def _is_exception(self, item: int) -> Plan[bool]:
        """Whether a point differs from every group with two asked members, and few such do.

        And from its nearest neighbour: the first point that is asked of a cluster is none.
        """
        groups = AnswerGroups(self.labelling.answers)
        n_asked = len(groups.items)
        cap = max(_FEWEST_EXCEPTIONS, n_asked * _EXCEPTIONS_A_HUNDRED // 100)
        if item not in groups.items or len(self.exceptions) >= cap or groups.size(item) > 1:
            return False
        others = [group for group in groups.members() if len(group) > 1]
        near = self.near.first(item, sorted(self.exceptions))[:_NEAR_STRAYS]
        mate = self.near.neighbour(item)
        for group in (*others, *([stray] for stray in near), [mate]):
            member = self.near.first(item, group)[0]
            (verdict,) = yield [Question(item, member)]
            if verdict is not Verdict.DIFFERENT:
                # Two of a kind are no exceptions: the margin has to make room for them.
                self.exceptions.discard(member)
                return False
        return True

    def _stands(self, asking: CertifyRun) -> Plan[bool]:
        """Whether the margin survives questions where it would most likely fail."""
        before = self.labelling.n_questions
        survived = yield from self._probe(asking)
        self.n_searching += self.labelling.n_questions - before
        return survived

    def _probe(self, asking: CertifyRun) -> Plan[bool]:
        """Ask about clusters that were told apart, and points put into one, without a question."""
        batch, parted = self.settings.batch, self._parted(asking)
        for start in range(0, len(parted), batch):
            if Verdict.SAME in (yield parted[start : start + batch]):
                return False
        before, risky = self.labelling.n_questions, self._risky(asking)
        while risky:
            n_probes = self.n_searching - self.n_compared + self.labelling.n_questions - before
            at_once = min(batch, _PROBES - n_probes)
            if at_once <= 0:
                break
            put, risky = risky[:at_once], risky[at_once:]
            if Verdict.DIFFERENT in (yield [Question(*pair) for pair in put]):
                return False
        before = self.labelling.n_questions
        split = yield from self._finds_one_cluster_in_two()
        self.n_compared += self.labelling.n_questions - before
        return not split

    def _finds_one_cluster_in_two(self) -> Plan[bool]:
        """Whether labels that no answer separates turn out to be one cluster.

        Single points that were asked about are left alone: they get no label in the end. Of many
        clusters that a model has told apart it has compared those that it had doubts about.
        """
        answered = self.labelling.answered()
        are_many = answered.gap().n_pairs > _COMPARED
        if self.margin is None and are_many:
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

    def _parted(self, asking: CertifyRun) -> list[Question]:
        """For each cluster its nearest other one, by asked members, if no answers part them."""
        members = {name: asking.names.members[name] for name in asking.names.alive}
        nearest: list[Question] = []
        for name, own in members.items():
            others = [item for other in members if other != name for item in members[other]]
            if others and own:
                gaps = [(float(self.near.distances(item, others).min()), item) for item in own]
                item = min(gaps)[1]
                nearest.append(Question(item, self.near.first(item, others)[0]))
        return [question for question in nearest if self.labelling.implied(question) is None]

    def _risky(self, asking: CertifyRun) -> list[tuple[int, int]]:
        """Inferred points with an asked member of their cluster, the riskiest first.

        A cluster that another one has swallowed shows as a component of the guide in which nobody
        was asked. After the middles of such come those points of each cluster, by turns, that suit
        another one best, and random ones among them.
        """
        inferred = np.flatnonzero(self.labelling.how == How.INFERRED)
        drawn = np.random.default_rng(self.seed).permutation(inferred)[:_LOOKED_AT]
        ranked = _every_so_often(drawn.tolist(), [*self._unheard(asking), *self._misfits(drawn)])
        pairs = []
        for item in list(dict.fromkeys(ranked))[:_PROBES]:
            members = asking.names.members[int(self.labelling.labels[item])]
            pairs.append((item, self.near.first(item, members)[0]))
        return pairs

    def _unheard(self, asking: CertifyRun) -> list[int]:
        """The middle of each component without an asked point, if it is inferred."""
        how, components = self.labelling.how[asking.sample.rows], asking.guide.components
        found = []
        for component in np.unique(components).tolist():
            own = np.flatnonzero(components == component)
            if (how[own] == How.ASKED).any():
                continue
            points = asking.sample.points[own]
            middle = own[int(np.sum((points - points.mean(axis=0)) ** 2, axis=1).argmin())]
            if how[middle] == How.INFERRED:
                found.append(int(asking.sample.rows[middle]))
        return found

    def _misfits(self, items: IntArray) -> list[int]:
        if not len(items):
            return []
        names, groups = np.unique(self.labelling.labels[items], return_inverse=True)
        clouds = Clouds(features(self.problem.X, items)[items], groups, len(names))
        worst_first = np.argsort(-clouds.misfits(), kind="stable")
        turn = np.zeros(len(items), dtype=np.int64)
        for group in range(len(names)):
            own = worst_first[groups[worst_first] == group]
            turn[own] = np.arange(len(own))
        by_turns = worst_first[np.argsort(turn[worst_first], kind="stable")]
        return [int(item) for item in items[by_turns[:_PROBES]]]

    # -- prediction ------------------------------------------------------------------------------

    def _predict(self) -> Plan[None]:
        """Predict what is left; ask where it teaches most if too much of it may be wrong."""
        problem = replace(
            self.problem,
            n_clusters=self.n_clusters,
            margin=self.margin,
            answers=self.labelling.answers,
            exceptions=frozenset(self.exceptions),
        )
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

    def _set_strays_apart(self) -> None:
        groups = AnswerGroups(self.labelling.answers)
        sizes = np.bincount(self.labelling.labels[self.labelling.labels >= 0])
        for item, *rest in groups.members():
            label = int(self.labelling.labels[item])
            if not rest and label >= 0 and sizes[label] == 1:
                self.exceptions.add(item)
        self.labelling.set_apart(self.exceptions)


def _every_so_often(drawn: list[int], ranked: list[int]) -> list[int]:
    """Ranked items, each run of ``_DRAWN_EVERY`` with one that was drawn at its end, if any."""
    run = _DRAWN_EVERY - 1
    runs = enumerate(range(0, len(ranked), run))
    return [item for n, at in runs for item in (*ranked[at : at + run], *drawn[n : n + 1])]


def _rank(X: FloatArray, seed: int, lift: ColumnMap | None) -> int:
    """The number of directions in which the (lifted) points vary, by a sample of them."""
    rows: IntArray = np.random.default_rng(seed).permutation(len(X))[:_RANK_ROWS]
    points = unit_scaled(X[rows] if lift is None else lift.apply(X[rows]))
    spread = np.linalg.svd(points - points.mean(axis=0), compute_uv=False)
    return int(np.count_nonzero(spread > _FLAT * max(float(spread[0]), 1e-300)))
