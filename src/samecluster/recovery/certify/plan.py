"""Certify: ask where it proves most, and prove every label.

The reach of a cluster's known members is the set of points that every cluster of margin γ that
holds them must hold (docs/theory.md). After every answer the reach of each cluster is closed; the
next question goes where the known members are short of what probably belongs to them. It ends when
every point is asked or proven, with a log that anybody can check.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from samecluster._typing import FloatArray, IntArray
from samecluster.errors import InvalidInputError
from samecluster.geometry.reach.kernel import Kernel, compiled_programs
from samecluster.points.array import unit_scaled
from samecluster.questions.pair import Answer, Question, Verdict
from samecluster.questions.run import Plan
from samecluster.recovery.answer_groups import AnswerGroups
from samecluster.recovery.certify.deduction import Deduction
from samecluster.recovery.certify.guide.guide import UNBORN, Guide
from samecluster.recovery.certify.knowledge import Knowledge
from samecluster.recovery.certify.levels import LARGEST_LEVEL, sample_seed
from samecluster.recovery.labelling import Labelling
from samecluster.recovery.placement import MAX_COMPARATORS, Placement
from samecluster.recovery.problem import Problem
from samecluster.recovery.result.how import How
from samecluster.recovery.result.result import Recovery

__all__ = ["Certify"]

_SAMPLE = 4_096
_SMALL = 16_384  # data up to this size is looked at as a whole: it may hold rare clusters
_KNOWN_SHOWN = 400
_SPANNED = 1e-6
_GAUGED = 400
_FINER = 8
_USUAL = 0.99
_LOOKED_FOR = 8
_WIDE_MARGIN = 0.5  # below it, knowing which clusters differ helps more than more members
_PATIENCE = 10  # questions beyond two spanning sets
_MANY_STRAYS = 6  # so many are no clusters that wait for their second member
_WORTH_ASKING = 2e-4  # share of the points that a question must prove, or two points


@dataclass(frozen=True)
class Certify:
    """Settings of certify.

    Parameters
    ----------
    batch : how many points to ask about at once, for several people answering
    resolution : share of each column's range below which differences carry no meaning
    effort : "fast" uses the reach and single exclusion. "thorough" also the complete test, and
        asks where an answer rules out most of what is possible. "auto" is fast until the reach
        stalls, and then thinks for up to about a second to save a question.
    kernel : "numpy", "compiled" (needs the extra ``samecluster[fast]``) or "auto": compiled where
        it is installed. All prove the same kind of labels; the questions may differ slightly.
    """

    batch: int = 1
    resolution: float = 1e-9
    effort: Literal["auto", "fast", "thorough"] = "auto"
    kernel: Literal["auto", "numpy", "compiled"] = "auto"

    def __post_init__(self) -> None:
        if not self.batch >= 1:
            raise InvalidInputError(f"batch must be at least 1, got {self.batch}")
        if not 0 < self.resolution < 1:
            raise InvalidInputError(f"resolution must be between 0 and 1, got {self.resolution}")
        if self.effort not in ("auto", "fast", "thorough"):
            raise InvalidInputError(f'effort is "auto", "fast" or "thorough", got {self.effort!r}')
        if self.kernel not in ("auto", "numpy", "compiled"):
            raise InvalidInputError(f'kernel is "auto", "numpy" or "compiled", got {self.kernel!r}')
        if self.kernel == "compiled" and compiled_programs() is None:
            raise InvalidInputError(
                "the compiled kernel needs numba: pip install samecluster[fast]"
            )

    @property
    def name(self) -> str:
        return "certify"

    def plan(self, problem: Problem, labelling: Labelling) -> Plan[Recovery]:
        asking = CertifyRun(self, problem, labelling)
        yield from asking.play()
        return asking.result()


class CertifyRun:
    """One run of certify.

    With a guessed margin it stops where questions prove little, and takes a point that differs
    from all clusters with two asked members for a stray, not for a cluster to be told apart.
    """

    def __init__(self, settings: Certify, problem: Problem, labelling: Labelling) -> None:
        self.settings = settings
        self.labelling = labelling
        self.guessed, self.exceptions = problem.guessed, problem.exceptions
        self.margin, self.answers = problem.known_margin(settings.name), problem.counted_answers
        seed = sample_seed(problem.rng)
        kernel = Kernel(None if settings.kernel == "numpy" else compiled_programs)
        self.known = Knowledge(
            problem.X,
            self.margin,
            problem.n_clusters,
            settings.resolution,
            kernel,
            seed,
            problem.survey,
        )
        self.known.closure.set_apart(np.array(sorted(self.exceptions), dtype=np.int64))
        labelling.proof = self.known.log
        n = len(problem.X) if problem.survey is None else problem.survey.n
        size = min(_SAMPLE if n > _SMALL else n, len(problem.X))
        self.sample = self.known.closure.order[:size].astype(np.int64)
        self.place_in_sample = np.full(len(problem.X), -1, dtype=np.int64)
        self.place_in_sample[self.sample] = np.arange(len(self.sample))
        self.points = unit_scaled(problem.X[self.sample])
        hints = None if problem.hints is None else problem.hints[self.sample]
        self.guide = Guide(self.points, problem.n_clusters, seed, hints)
        self.guide.refit(*self._sample_view())
        self.refined = False
        self.thinking = None
        if settings.effort != "fast":
            compiled = settings.kernel != "numpy"
            tireless = settings.effort == "thorough"
            self.thinking = Deduction(self.known, self._guess, compiled, tireless, seed)
        self.names = self.known.names
        self.names.on_merge(lambda kept, gone: labelling.rename(gone, kept))
        self.names.on_merge(self._merge_groups)
        self.placing = ProofPlacement(problem.n_clusters, self.known, self._plausible)
        self.current: int | None = None
        # What stayed unsure: points without label, and pairs of names that may be one cluster.
        self.aside: set[int] = set(problem.exceptions)
        self.left_open: set[tuple[int, int]] = set()
        self.claimed: set[int] = set()
        self.loose: set[Question] = set()
        # With a guessed margin, once the reach stalled: questions and labels after each step.
        self.course: list[tuple[int, int]] = []
        # Names of one asked point each, near which another one was asked that belongs elsewhere.
        self.barren: set[int] = set()
        # Names that a point got without being compared with anything.
        self.unheard: set[int] = set()
        self.given_up = False

    def play(self) -> Plan[None]:
        """Grow one group after the other, then find out which of them are one cluster.

        That two groups differ is left for last: if there are as many as clusters were declared,
        and every point is in one of them, they are the clusters, and no question is needed.
        """
        self.begin()
        while True:
            open_ = self._open()
            items = self._spread_items(open_)
            if items and self._may_found(items[0]):
                name = self.placing.found(items[0])
                self.unheard.add(name)
                self._conclude({items[0]: name})
            elif items:
                yield from self._ask_about(items)
            elif len(open_) and self.known.climb(at_most=LARGEST_LEVEL):
                # More points may prove what more questions would: look at them first.
                self._write()
            elif len(open_) and self.margin >= _WIDE_MARGIN:
                yield from self._go_on(open_)
            elif not len(open_) and self._may_count():
                self.known.count()
            elif pairs := self._unsettled_pairs():
                yield from self._ask_pairs(pairs)
            elif len(open_):
                yield from self._go_on(open_)
            else:
                self.known.refuse_if_too_many()
                yield from self._look_for_more()
                self._refuse_parted_pairs()
                return

    def extend(self, points: FloatArray) -> None:
        """Take in more points of the data that the problem's X is a sample of."""
        self.known.extend(points)
        self.labelling.extend(len(points))
        nowhere = np.full(len(points), -1, dtype=np.int64)
        self.place_in_sample = np.concatenate([self.place_in_sample, nowhere])

    def begin(self) -> None:
        """Take in answers that were given before, in their order, and what follows from them.

        Pairs that nothing else was compared with found no cluster: they are looked at in the end.
        """
        self.loose = AnswerGroups(self.answers).loose_pairs()
        for answer in self.answers:
            if answer.question not in self.loose:
                self._recall(answer)
        if self.names.name_of:
            self._conclude(self.names.name_of)

    def _refuse_parted_pairs(self) -> None:
        """RefutedError if two items are in different clusters although an answer joins them."""
        for question in self.loose:
            one, other = self.known.closure.labels[list(question.pair)].tolist()
            if min(one, other) >= 0 and one != other:
                raise self.known.refuted(question.item, int(other))

    def _recall(self, answer: Answer) -> None:
        name_of = self.names.name_of
        item, comparator = answer.question.item, answer.question.comparator
        if comparator not in name_of:
            item, comparator = comparator, item
        if comparator not in name_of:
            self.known.found_cluster(comparator)
        if name_of.get(item) != name_of[comparator]:
            self.known.take_answer(Question(item, comparator), name_of[comparator], answer.verdict)

    def _go_on(self, open_: IntArray) -> Plan[None]:
        """The reach has stalled: think, and ask if that did not help."""
        if self.guessed and not self.course:
            self.course.append((self.labelling.n_questions, self.labelling.n_labelled))
        if self.thinking is None:
            yield from self._ask_about(self._farthest(open_))
            return
        if not self.refined:
            self.refined = True
            if self.margin < _WIDE_MARGIN:
                self.known.refine(_FINER)
                self._write()
                return
        again = self.thinking.conclude(open_)
        self._write()
        open_ = self._open()
        if again or not len(open_):
            return
        items = self.thinking.best(open_, self.settings.batch) if self.margin < _WIDE_MARGIN else []
        yield from self._ask_about(items or self._farthest(open_))

    def _may_found(self, item: int) -> bool:
        """Whether to name the item's cluster without asking: once for each component.

        If the name turns out to be one too many, a question between two groups will show it.
        """
        group = int(self.guide.groups[self.place_in_sample[item]])
        k = self.known.log.n_clusters
        if group < UNBORN or group in self.claimed or len(self.known.alive) == k:
            return False
        self.claimed.add(group)
        return True

    def _ask_about(self, items: list[int]) -> Plan[None]:
        groups = self._guess(np.array(items)).tolist()
        found = yield from self.placing.place(items)
        for group, cluster in zip(groups, found, strict=True):
            if cluster != group:
                self.barren |= {name for name in (group, cluster) if self._is_single(name)}
        for item in (i for i, c in zip(items, found, strict=True) if c < 0):
            self.known.refuse_if_homeless(item)
            self.aside.add(item)
        self._conclude({i: c for i, c in zip(items, found, strict=True) if c >= 0})

    def result(self) -> Recovery:
        """Names of clusters without gaps, in the order in which they were found."""
        for number, name in enumerate(self.known.alive):
            self.labelling.rename(name, number)
        return self.labelling.recovery()

    def _look_for_more(self) -> Plan[None]:
        """With fewer clusters than declared: ask about points far from all that were asked.

        If the margin is wrong, one cluster may have swallowed another, and this may show it.
        """
        k = self.known.log.n_clusters
        if k is None or len(self.known.alive) >= k:
            return
        for item in self._far_from_asked():
            cluster = int(self.known.closure.labels[item])
            question = Question(item, self.names.representative(cluster))
            (verdict,) = yield [question]
            self.known.take_answer(question, cluster, verdict)
            if verdict is Verdict.DIFFERENT:
                raise self.known.refuted(item, cluster)

    def _far_from_asked(self) -> list[int]:
        """Points of the sample one after the other, each the farthest from all asked before it."""
        places = self.place_in_sample[list(self.names.name_of)]
        gaps = np.full(len(self.sample), np.inf)
        found: list[int] = []
        for at in [*places[places >= 0].tolist(), *([-1] * _LOOKED_FOR)]:
            if at < 0:
                at = int(gaps.argmax())
                found.append(int(self.sample[at]))
            gaps = np.minimum(gaps, np.sum((self.points - self.points[at]) ** 2, axis=1))
        labels, asked = self.known.closure.labels, self.names.name_of
        return [item for item in found if labels[item] >= 0 and item not in asked]

    # -- which groups are one cluster ------------------------------------------------------------

    def _may_count(self) -> bool:
        """Whether every point has a name, and there are as many names as clusters."""
        known = self.known
        enough = len(known.alive) == known.log.n_clusters
        complete = not self.aside and not self.given_up
        return enough and complete and not self.names.all_different

    def _unsettled_pairs(self) -> list[tuple[int, int]]:
        """A batch of pairs of names that may be one cluster, the nearest first."""
        known, alive = self.known, [name for name in self.known.alive if not self._is_stray(name)]
        gaps: dict[tuple[int, int], float] = {}
        for a in alive:
            norms = known.norms(self.names.representative(a))
            for b in alive:
                settled = self.names.are_different(a, b) or (a, b) in self.left_open
                if a != b and not settled:
                    pair = (min(a, b), max(a, b))
                    gaps[pair] = min(gaps.get(pair, np.inf), float(norms[b]))
        pairs: list[tuple[int, int]] = []
        for a, b in sorted(gaps, key=lambda pair: gaps[pair]):
            if len(pairs) == self.settings.batch:
                break
            if not self._shown_different(a, b):
                pairs.append((a, b))
        return pairs

    def _is_stray(self, name: int) -> bool:
        """With a guessed margin: whether a name is that of a single point, by answers."""
        return self._is_single(name) and name not in self.unheard

    def _is_single(self, name: int) -> bool:
        return self.guessed and self.names.is_single(name)

    def _shown_different(self, a: int, b: int) -> bool:
        """Whether two names can be told apart without a question."""
        one, other = self.names.representative(a), self.names.representative(b)
        if self.known.try_to_exclude(one, b) or self.known.try_to_exclude(other, a):
            return True
        return self.thinking is not None and self.thinking.tell_apart(a, b)

    def _ask_pairs(self, pairs: list[tuple[int, int]]) -> Plan[None]:
        """Compare two groups by asked members of both, another pair of them if unsure."""
        members = self.names.members
        for attempt in range(MAX_COMPARATORS):
            questions = []
            for a, b in pairs:
                item = members[b][min(attempt, len(members[b]) - 1)]
                questions.append(Question(item, self.known.nearest(item, a, members[a])))
            verdicts = yield questions
            unsure = []
            for pair, question, verdict in zip(pairs, questions, verdicts, strict=True):
                if verdict is Verdict.UNSURE:
                    unsure.append(pair)
                elif self.names.name_of[question.item] != self.names.name_of[question.comparator]:
                    kept = self.names.name_of[question.comparator]
                    self.known.take_answer(question, kept, verdict)
            pairs = [pair for pair in unsure if set(pair) <= set(self.known.alive)]
            if not pairs:
                break
        self.left_open |= {*pairs, *((b, a) for a, b in pairs)}
        self._conclude({})

    def _merge_groups(self, kept: int, gone: int) -> None:
        self.guide.groups[self.guide.groups == gone] = kept
        self.guide.refit(*self._sample_view())

    def _open(self) -> IntArray:
        """Points of the level without label, after climbing to a level that has some."""
        while True:
            open_ = self.known.open_points()
            if self.aside:
                open_ = open_[~np.isin(open_, np.fromiter(self.aside, dtype=np.int64))]
            if self._stalled():
                open_ = open_[:0]
            if len(open_) or not self.known.climb():
                return open_
            self._write()

    def _stalled(self) -> bool:
        """Whether, with a guessed margin, the latest questions proved too little to go on."""
        if self.course and not self.given_up:
            now, labels = self.labelling.n_questions, self.labelling.n_labelled
            self.course.append((now, labels))
            window = 2 * (self.points.shape[1] + 1) + _PATIENCE
            worth = window * max(2.0, _WORTH_ASKING * self.known.level_size)
            earlier = [had for asked, had in self.course if asked <= now - window]
            self.given_up = bool(earlier) and labels - earlier[-1] < worth
        return self.given_up

    def _conclude(self, placed: Mapping[int, int]) -> None:
        """Draw all conclusions from new answers, which placed items in clusters."""
        asked = {item: c for item, c in placed.items() if item in self.names.name_of}
        items, labels = np.fromiter(asked, np.int64), np.fromiter(asked.values(), np.int64)
        self.labelling.mark(items, labels, How.ASKED)
        self.known.close()
        for item, cluster in placed.items():
            at = int(self.place_in_sample[item])
            if at >= 0:
                self.guide.learn(at, cluster, *self._sample_view())
        self._write()
        self.labelling.close_round()

    def _write(self) -> None:
        labels = self.known.closure.labels
        new = np.flatnonzero((labels >= 0) & (self.labelling.how == How.UNASSIGNED))
        how = How.INFERRED if self.guessed else How.PROVEN
        self.labelling.mark(new, labels[new].astype(np.int64), how)

    def _sample_view(self) -> tuple[IntArray, np.ndarray]:
        labels = self.known.closure.labels[self.sample].astype(np.int64)
        return labels, self.known.outside[self.sample]

    # -- where to ask ----------------------------------------------------------------------------

    def _spread_items(self, open_: IntArray) -> list[int]:
        """Spread points of one group after the other; none where all groups are spanned."""
        in_sample = self.place_in_sample[open_]
        in_sample = in_sample[in_sample >= 0]
        chosen: list[int] = []
        groups = self._group_order(in_sample)
        for group in groups:
            mine = in_sample[self.guide.groups[in_sample] == group]
            chosen += self._spread(group, mine, self.settings.batch - len(chosen))
            if len(chosen) >= self.settings.batch:
                break
        if chosen:
            self.current = int(self.guide.groups[chosen[0]])
        return [int(self.sample[at]) for at in chosen]

    def _group_order(self, in_sample: IntArray) -> list[int]:
        """The group in hand first, then grown ones, then the unborn one nearest to the known."""
        alive = [int(g) for g in np.unique(self.guide.groups[in_sample])]
        barren = {name for name in self.barren if self._is_single(name)}
        if len(barren) >= _MANY_STRAYS:
            alive = [group for group in alive if group not in barren]
        born = [g for g in self.guide.alive() if g < UNBORN]
        middle = self.points.mean(axis=0)

        def rank(group: int) -> tuple[int, float]:
            if group == self.current:
                return 0, 0.0
            if group < UNBORN:
                return 1, -float(np.count_nonzero(self.guide.groups == group))
            near = [self.guide.mean(other) for other in born] or [middle]
            gap = min(float(np.sum((self.guide.mean(group) - other) ** 2)) for other in near)
            return 2, gap

        return sorted(alive, key=rank)

    def _spread(self, group: int, candidates: IntArray, count: int) -> list[int]:
        """Candidates far off the span of the group's known members, one after the other.

        Not the farthest: a few strangers in a large group would be the first to be asked about.
        """
        lifted = self._lifted(group, candidates)
        away = np.sum(lifted**2, axis=1)
        usual = away <= np.quantile(away, _USUAL) if len(away) else away > 0
        if usual.any():
            candidates, lifted = candidates[usual], lifted[usual]
        known = np.flatnonzero(self.known.closure.labels[self.sample] == group)
        if len(known):
            _, singular, rows = np.linalg.svd(
                self._lifted(group, known[-_KNOWN_SHOWN:]), full_matrices=False
            )
            rows = rows[singular > _SPANNED * singular[0]]
            lifted = lifted - (lifted @ rows.T) @ rows
        chosen: list[int] = []
        while len(chosen) < count and len(lifted):
            size = np.sum(lifted**2, axis=1)
            at = int(size.argmax())
            if size[at] < _SPANNED:
                break
            chosen.append(int(candidates[at]))
            direction = lifted[at] / np.sqrt(size[at])
            lifted = lifted - np.outer(lifted @ direction, direction)
        return chosen

    def _lifted(self, group: int, at: IntArray) -> np.ndarray:
        whitened = self.guide.whiten(group, self.points[at])
        return np.column_stack([whitened, np.ones(len(at))])

    def _farthest(self, open_: IntArray) -> list[int]:
        """The open points that need most to be reached, in the cluster with most of them."""
        if not self.names.members:
            return [int(open_[0])]
        cluster = self.known.closure.nearest(open_)
        largest = int(np.bincount(cluster).argmax())
        # `open_` is in random order, so its beginning is a fair sample.
        mine = open_[cluster == largest][:_GAUGED]
        gauges = self.known.closure.gauges(largest, mine)
        order = np.argsort(-gauges, kind="stable")
        return [int(i) for i in mine[order[: self.settings.batch]]]

    def _guess(self, items: IntArray) -> IntArray:
        """The likely cluster of each item; what is not in the sample goes with the nearest."""
        at = self.place_in_sample[items]
        groups = np.where(at >= 0, self.guide.groups[at], UNBORN)
        strange = groups >= UNBORN
        if strange.any() and self.known.alive:
            groups[strange] = self.known.closure.nearest(items[strange])
        return groups

    def _plausible(self, item: int) -> list[int]:
        """Clusters, the likeliest first."""
        at = int(self.place_in_sample[item])
        norms = self.known.norms(item)
        if at >= 0 and self.guide.groups[at] < len(norms):
            norms[self.guide.groups[at]] = -1.0
        order = sorted(self.known.alive, key=lambda name: float(norms[name]))
        strays = [name for name in order if self._is_stray(name)]
        return [name for name in order if name not in strays[1:]]


class ProofPlacement(Placement):
    """Placing that tries the likeliest cluster first, shows the nearest asked member, excludes
    what can be excluded for nothing, and writes all of it into the log."""

    def __init__(
        self, n_clusters: int | None, known: Knowledge, plausible: Callable[[int], Sequence[int]]
    ) -> None:
        super().__init__(n_clusters, known.names)
        self.known = known
        self.plausible = plausible

    @property
    def all_found(self) -> bool:
        return self.known.all_known

    def order(self, item: int) -> Sequence[int]:
        return self.plausible(item)

    def comparator(self, item: int, cluster: int, tried: Sequence[int]) -> int:
        left = [member for member in self.names.members[cluster] if member not in tried]
        return self.known.nearest(item, cluster, left)

    def excluded(self, item: int, cluster: int) -> bool:
        return self.known.try_to_exclude(item, cluster)

    def heard(self, question: Question, cluster: int, verdict: Verdict) -> None:
        self.known.take_answer(question, cluster, verdict)

    def found(self, item: int) -> int:
        return self.known.found_cluster(item)

    def eliminated(self, item: int, cluster: int) -> None:
        # Not an asked member: a proven one must never serve as comparator.
        self.known.take_last(item, cluster)
