"""Certify: ask where it proves most, and prove every label.

The reach of a cluster's known members is the set of points that every cluster of margin γ that
holds them must hold (docs/theory.md). After every answer the reach of each cluster is closed; the
next question goes where the known members are short of what probably belongs to them. It ends when
every point is asked or proven, with a log that a checker can verify.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from samecluster._parameters import check_at_least, check_one_of, check_share
from samecluster._resolution import resolution_of
from samecluster._typing import FloatArray, IntArray
from samecluster.errors import InvalidInputError
from samecluster.geometry.reach.kernel import Kernel, compiled_programs
from samecluster.questions.pair import Answer, Question, Verdict
from samecluster.questions.run import Plan
from samecluster.recovery.answer_groups import AnswerGroups
from samecluster.recovery.certify.choose import QuestionChooser
from samecluster.recovery.certify.deduction import Deduction
from samecluster.recovery.certify.guide.guide import Guide
from samecluster.recovery.certify.knowledge import Knowledge
from samecluster.recovery.certify.levels import LARGEST_LEVEL, sample_seed
from samecluster.recovery.certify.pairs import NamePairs
from samecluster.recovery.certify.proof_placement import ProofPlacement
from samecluster.recovery.certify.sample import Sample
from samecluster.recovery.certify.stall_watch import StallWatch
from samecluster.recovery.labelling import Labelling
from samecluster.recovery.problem import Problem
from samecluster.recovery.result.how import How
from samecluster.recovery.result.result import Recovery

# Times as many directions along which members become columns, once the reach stalls at a small
# margin: each member proves little there, so that missing ones matter.
_FINER = 8
# Below it, knowing which clusters differ helps more than more members, and the questions that rule
# out most ellipsoids more than those that need most. At margin 0.2, doing without takes 2 to 3
# times as many questions (500 points in d=3: 138 and not 46).
_WIDE_MARGIN = 0.5


@dataclass(frozen=True)
class Certify:
    """Settings of certify.

    Parameters
    ----------
    batch : how many points to ask about at once, for several people answering
    resolution : share of each column's spread below which differences carry no meaning; the spread
        is the 10 % quantile of the distances from the median that are not 0. The margin is one at
        this resolution: no boundary of a cluster is sharper. None takes 2⁻²⁶, about 1.5e-8, and up
        to 2⁻²⁰ where values far from 0 are stored no better. With 0 the margin is the paper's own;
        then groups that are flat need as many questions as they have points.
    effort : "fast" uses the reach and single exclusion. "thorough" also the complete test, and
        asks where an answer rules out most of what is possible. "auto" is fast until the reach
        stalls, and then thinks for up to about a second to save a question.
    kernel : "numpy", "compiled" (needs the extra ``samecluster[fast]``) or "auto": compiled where
        it is installed. All prove the same kind of labels; the questions may differ slightly.
    """

    batch: int = 1
    resolution: float | None = None
    effort: Literal["auto", "fast", "thorough"] = "auto"
    kernel: Literal["auto", "numpy", "compiled"] = "auto"

    name = "certify"

    def __post_init__(self) -> None:
        check_at_least("batch", self.batch, 1)
        if self.resolution is not None:
            check_share("resolution", self.resolution)
        check_one_of("effort", self.effort, "auto", "fast", "thorough")
        check_one_of("kernel", self.kernel, "auto", "numpy", "compiled")
        if self.kernel == "compiled" and compiled_programs() is None:
            raise InvalidInputError(
                "the compiled kernel needs numba: pip install samecluster[fast]"
            )

    def plan(self, problem: Problem, labelling: Labelling) -> Plan[Recovery]:
        asking = CertifyRun(self, problem, labelling)
        yield from asking.play()
        return asking.result()


class CertifyRun:
    """One run of certify.

    With a guessed margin it stops where questions prove little.
    """

    def __init__(self, settings: Certify, problem: Problem, labelling: Labelling) -> None:
        self.settings, self.labelling, self.guessed = settings, labelling, problem.guessed
        self.looks, self._first = problem.looks, problem.first
        self.margin, self.answers = problem.known_margin(settings.name), problem.counted_answers
        seed = sample_seed(problem.rng)
        self.known = _knowledge(settings, problem, self.margin, seed)
        labelling.proof = self.known.log
        labelling.ground = How.INFERRED if self.guessed else How.PROVEN
        self.names = self.known.names
        self.names.on_merge(lambda kept, gone: labelling.rename(gone, kept))
        n = len(problem.X) if problem.survey is None else problem.survey.n
        self.sample = Sample.first(problem.lifted, self.known.closure.order, n)
        hints = None if problem.hints is None else problem.hints[self.sample.rows]
        unlifted = None if problem.lift is None else problem.X[self.sample.rows]
        self.guide = Guide(self.sample.points, problem.n_clusters, seed, hints, unlifted)
        # In a lift spanning a group takes many questions, and the guide may cut clusters.
        compares_first = problem.lift is not None and problem.n_clusters is None
        self.chooser = QuestionChooser(
            self.sample,
            self.guide,
            self.known,
            settings.batch,
            self.guessed,
            problem.looks.sheet,
            compares_first,
        )
        self.deduction = None
        if settings.effort != "fast":
            compiled, exhaustive = settings.kernel != "numpy", settings.effort == "thorough"
            guess = self.chooser.guess
            self.deduction = Deduction(self.known, guess, compiled, exhaustive, seed)
        self.pairs = NamePairs(self.known, self.deduction)
        self.doubts = compares_first and self.guessed
        self.placement = ProofPlacement(
            self.known, self.chooser.plausible, problem.looks, self.doubts
        )
        self.stall = StallWatch(problem.lifted.shape[1])
        self._refined = False
        # Points that get no label: exceptions, and those that answers leave unsure.
        self._set_aside: set[int] = set(problem.exceptions)
        # Pairs that nothing else was compared with: they found no cluster, and come in the end.
        self._isolated_pairs = AnswerGroups(self.answers).isolated_pairs()

    def play(self) -> Plan[None]:
        """Grow one group after the other, then find out which of them are one cluster.

        That two groups differ is left for last: if there are as many as clusters were declared,
        and every point is in one of them, they are the clusters, and no question is needed.
        """
        self.begin()
        while self.doubts and (pairs := self._unsettled_pairs(by_proof=False)):
            yield from self._tell_apart(pairs)
            self._conclude({})
        while True:
            open_ = self._open()
            if items := self.chooser.spread(open_):
                yield from self._span_group(items)
            elif len(open_) and self.known.climb(at_most=LARGEST_LEVEL):
                # More points may prove what more questions would: look at them first.
                self._write()
            elif len(open_) and self.margin >= _WIDE_MARGIN:
                yield from self._deduce_or_ask(open_)
            elif not len(open_) and self._may_count():
                self.known.count()
            elif pairs := self._unsettled_pairs():
                yield from self._tell_apart(pairs)
                self._conclude({})
            elif len(open_):
                yield from self._deduce_or_ask(open_)
            else:
                break
        self.known.raise_if_too_many()
        yield from self._look_for_more()
        self._raise_if_joined_pairs_are_parted()

    def result(self) -> Recovery:
        """Names of clusters without gaps, in the order in which they were found."""
        for number, name in enumerate(self.names.alive):
            self.labelling.rename(name, number)
        return self.labelling.recovery()

    def extend(self, points: FloatArray) -> None:
        """Take in more points of the data that the problem's X is a sample of."""
        self.known.extend(points)
        self.labelling.extend(len(points))
        self.sample.extend(len(points))

    # -- answers that were given before ----------------------------------------------------------

    def begin(self) -> None:
        """Take in answers that were given before, in their order, and what follows from them."""
        for answer in self.answers:
            if answer.question not in self._isolated_pairs:
                self._recall(answer)
        if self.names.name_of:
            self._conclude(self.names.name_of)

    def _recall(self, answer: Answer) -> None:
        name_of = self.names.name_of
        item, comparator = answer.question.item, answer.question.comparator
        if comparator not in name_of:
            item, comparator = comparator, item
        if comparator not in name_of:
            self.known.found_cluster(comparator)
        if name_of.get(item) != name_of[comparator]:
            self.known.take_answer(Question(item, comparator), name_of[comparator], answer.verdict)

    def _raise_if_joined_pairs_are_parted(self) -> None:
        """RefutedError if two items are in different clusters although an answer joins them."""
        for question in self._isolated_pairs:
            one, other = self.known.closure.labels[list(question.pair)].tolist()
            if min(one, other) >= 0 and one != other:
                raise self.known.refuted(question.item, int(other))

    # -- phases ----------------------------------------------------------------------------------

    def _span_group(self, items: list[int]) -> Plan[None]:
        """Name groups that have no name yet, or ask about points that span more of theirs."""
        named: dict[int, int] = {}
        for item in items:
            if self.chooser.may_name(item):
                named[item] = self.placement.found(item)
                self.chooser.note_unasked(named[item])
        if named:
            self._conclude(named)
        else:
            yield from self._ask_about(items)

    def _deduce_or_ask(self, open_: IntArray) -> Plan[None]:
        """The reach has stalled: deduce, and ask if that did not help."""
        if self.guessed:
            self.stall.start(self.labelling.n_questions, self.labelling.n_labelled)
        if self.deduction is None:
            yield from self._ask_about(self.chooser.farthest(open_))
            return
        if not self._refined:
            self._refined = True
            if self.margin < _WIDE_MARGIN:
                self.known.refine(_FINER)
                self._write()
                return
        again = self.deduction.conclude(open_)
        self._write()
        open_ = self._open()
        if again or not len(open_):
            return
        narrow = self.margin < _WIDE_MARGIN
        items = self.deduction.best(open_, self.settings.batch) if narrow else []
        yield from self._ask_about(items or self.chooser.farthest(open_))

    def _ask_about(self, items: list[int]) -> Plan[None]:
        guessed = self.chooser.guess(np.array(items)).tolist()
        if len(items) > 1 and self.looks.sheet > 1:
            alive = set(self.names.alive)
            likely = {i: g for i, g in zip(items, guessed, strict=True) if g in alive}
            if len(set(likely.values())) == 1:
                yield from self.placement.sort(list(likely), next(iter(likely.values())))
            elif likely:
                yield from self.placement.check(likely)
        found = yield from self.placement.place(items)
        self.chooser.note_placed(guessed, found)
        placed = {item: cluster for item, cluster in zip(items, found, strict=True) if cluster >= 0}
        for item in (i for i in items if i not in placed):
            self.known.raise_if_in_no_cluster(item)
            self._set_aside.add(item)
        self._conclude(placed)

    def _may_count(self) -> bool:
        """Whether every point has a name, and there are as many names as clusters."""
        enough = len(self.names.alive) == self.known.log.n_clusters
        complete = not self._set_aside and not self.stall.stopped
        return enough and complete and not self.names.all_different

    def _tell_apart(self, pairs: list[tuple[int, int]]) -> Plan[None]:
        """Compare names, all on one board if boards may be used."""
        names = dict.fromkeys(name for pair in pairs for name in pair)
        if len(names) > 2 and self.looks.board > 2:
            yield from self.pairs.ask_by_board(list(names)[: self.looks.board])
        else:
            yield from self.pairs.ask(pairs)

    def _unsettled_pairs(self, by_proof: bool = True) -> list[tuple[int, int]]:
        names = [name for name in self.names.alive if not self.chooser.is_stray(name)]
        on_board = self.looks.board * (self.looks.board - 1) // 2
        return self.pairs.unsettled(names, max(self.settings.batch, on_board), by_proof)

    def _look_for_more(self) -> Plan[None]:
        """With fewer clusters than declared: ask about points far from all that were asked.

        If the margin is wrong, one cluster may have swallowed another, and this may show it.
        """
        k = self.known.log.n_clusters
        if k is None or len(self.names.alive) >= k:
            return
        for item in self.chooser.far_from_asked():
            cluster = int(self.known.closure.labels[item])
            question = Question(item, self.names.representative(cluster))
            (verdict,) = yield [question]
            self.known.take_answer(question, cluster, verdict)
            if verdict is Verdict.DIFFERENT:
                raise self.known.refuted(item, cluster)

    # -- conclusions -----------------------------------------------------------------------------

    def _open(self) -> IntArray:
        """Points of the level without label, after climbing to a level that has some.

        Only those to be asked about first, as long as there are any.
        """
        while True:
            open_ = self.known.open_points()
            if self._set_aside:
                open_ = open_[~np.isin(open_, np.fromiter(self._set_aside, dtype=np.int64))]
            now = self.labelling.n_questions, self.labelling.n_labelled
            if self.stall.look(*now, self.known.level_size):
                open_ = open_[:0]
            if len(open_) or not self.known.climb():
                first = open_[:0] if self._first is None else open_[self._first[open_]]
                return first if len(first) else open_
            self._write()

    def _conclude(self, placed: Mapping[int, int]) -> None:
        """Draw all conclusions from new answers, which placed items in clusters."""
        asked = {item: c for item, c in placed.items() if item in self.names.name_of}
        items, labels = np.fromiter(asked, np.int64), np.fromiter(asked.values(), np.int64)
        self.labelling.mark(items, labels, How.ASKED)
        self.known.close()
        self.chooser.learn(placed)
        self._write()
        self.labelling.close_round()

    def _write(self) -> None:
        labels = self.known.closure.labels
        new = np.flatnonzero((labels >= 0) & (self.labelling.how == How.UNASSIGNED))
        self.labelling.mark(new, labels[new].astype(np.int64), self.labelling.ground)


def resolution_in(settings: Certify, problem: Problem) -> FloatArray:
    """The resolution of each column, of a lift if there is one; by the extent of all rows."""
    extent = None if problem.survey is None else problem.survey.extent
    return resolution_of(problem.lifted, settings.resolution, extent)


def _knowledge(settings: Certify, problem: Problem, margin: float, seed: int) -> Knowledge:
    kernel = Kernel(None if settings.kernel == "numpy" else compiled_programs)
    known = Knowledge(
        problem.X,
        margin,
        problem.n_clusters,
        resolution_in(settings, problem),
        kernel,
        seed,
        problem.survey,
        problem.lift,
    )
    known.closure.set_apart(np.array(sorted(problem.exceptions), dtype=np.int64))
    return known
