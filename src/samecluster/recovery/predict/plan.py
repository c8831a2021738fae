"""Predict: ask where the answer teaches most, and predict every other label with a probability.

Needs no margin and no number of clusters, and proves nothing. For real data, whose clusters touch.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from samecluster._parameters import check_at_least, check_share
from samecluster._typing import IntArray
from samecluster.points.block_work import on_one_thread
from samecluster.questions.pair import Answer, Question, Verdict
from samecluster.questions.run import Plan
from samecluster.recovery.answer_groups import AnswerGroups
from samecluster.recovery.cluster_names import ClusterNames
from samecluster.recovery.hints import one_of_each_hint
from samecluster.recovery.labelling import Labelling
from samecluster.recovery.placement import UnplacedPoint
from samecluster.recovery.predict.looks.look_play import LookPlay
from samecluster.recovery.predict.model import Predictor
from samecluster.recovery.predict.placing import ModelPlacement
from samecluster.recovery.problem import BudgetSpent, Problem
from samecluster.recovery.result.claims import Foresight
from samecluster.recovery.result.how import How
from samecluster.recovery.result.result import Recovery

_BEFORE_RECORDS = 0.001  # expected error at which all is known, as far as a new model can tell


@dataclass(frozen=True)
class Predict:
    """Settings of predict.

    Parameters
    ----------
    expected_error : stop once the model expects at most this share of the labels to be wrong, and
        50 answers or more show what that is worth (below 0.1 % also before). 0 goes on until all is
        asked; of more than 50,000 points that is one of each cell, or all of a sample.
    batch : how many points to ask about at once, for several people answering
    """

    expected_error: float = 0.001
    batch: int = 1

    name = "predict"

    def __post_init__(self) -> None:
        check_share("expected_error", self.expected_error)
        check_at_least("batch", self.batch, 1)

    def plan(self, problem: Problem, labelling: Labelling) -> Plan[Recovery]:
        return on_one_thread(self._plan(problem, labelling))

    def _plan(self, problem: Problem, labelling: Labelling) -> Plan[Recovery]:
        teaching = PredictRun(problem, labelling, self.expected_error, self.batch)
        with suppress(BudgetSpent):
            yield from teaching.play()
        return teaching.result()


class PredictRun:
    """One run of predict. Labels that are proven or inferred already are left as they are."""

    def __init__(
        self,
        problem: Problem,
        labelling: Labelling,
        expected_error: float,
        batch: int = 1,
        is_audited: bool = False,
    ) -> None:
        self.labelling = labelling
        self.target, self.batch, self._is_audited = expected_error, batch, is_audited
        asked = {item for answer in problem.answers for item in answer.question.pair}
        first = [] if problem.hints is None else one_of_each_hint(problem.X, problem.hints)
        self.names = ClusterNames()
        unheld = labelling.unheld_labels()
        include = sorted(asked.union(first, unheld.values()))
        self.model = Predictor(problem.X, self.names, problem.rng, include, problem.first)
        self.looks = problem.looks
        self.placing = ModelPlacement(problem.n_clusters, self.names, self.model, self.looks)
        self.exceptions = problem.exceptions
        self.aside: set[int] = set(problem.exceptions)
        self._begin_with(problem.counted_answers, unheld)
        self.model.end_of_known_answers()
        self._first = self._unmet(first, problem.hints)

    def _begin_with(self, answers: Sequence[Answer], unheld: Mapping[int, int]) -> None:
        """Take in what is known already: groups of answers, labels, then what is different."""
        loose = AnswerGroups(answers).separate_pairs()
        spoken = [answer for answer in answers if answer.question not in loose]
        groups = AnswerGroups(spoken).members()
        self._place_as_answered(spoken, [group for group in groups if len(group) > 1])
        for (item,) in (group for group in groups if len(group) == 1):
            self._recall(item, spoken)
        self._adopt_labels(unheld)
        for answer in spoken:
            known = self.names.name_of.keys() >= set(answer.question.pair)
            if known and answer.verdict is Verdict.DIFFERENT:
                self.placing.take(answer.question.pair, answer.verdict)

    def _place_as_answered(self, answers: Sequence[Answer], groups: Iterable[list[int]]) -> None:
        """Place the members of groups in the order in which they were answered about.

        What the model says of each before it is placed is what its probabilities are judged by:
        one group after the other, it would be judged by guesses among the first few groups.
        """
        group_of = {item: group[0] for group in groups for item in group}
        names: dict[int, int] = {}
        questions = (answer.question for answer in answers)
        asked = (item for one in questions for item in (one.comparator, one.item))
        for item in dict.fromkeys(item for item in asked if item in group_of):
            first = group_of[item]
            if first in names:
                self.placing.add(item, names[first])
            else:
                names[first] = self.placing.found(item)

    def _recall(self, item: int, answers: Sequence[Answer]) -> None:
        """An item that only differs: it founded a group, unless it was still being placed."""
        others = [sum(a.question.pair) - item for a in answers if item in a.question.pair]
        outside = {self.names.name_of[i] for i in others if i in self.names.name_of}
        for group in outside:
            self.model.rule_out(item, group)
        if self.placing.founds_another(item, outside):
            self.placing.found(item)

    def _adopt_labels(self, unheld: Mapping[int, int]) -> None:
        """Call clusters that are known already as they are called here, and the other way round.

        What nobody was asked about is named after its first item. Asked items that have one label
        stay together, unless answers part them. Single points may have to be placed again.
        """
        now, answered, name_of = self.labelling, self.labelling.answered(), self.names.name_of
        names = {label: self.placing.found(item) for label, item in unheld.items()}
        for label, size in answered.sizes.items():
            for item in answered.holders(label)[:1]:
                if item not in name_of and size > 1:
                    self.placing.found(item)
                names[label] = name_of.get(item, -1)
        for item in [i for i in name_of if now.how[i] == How.ASKED and now.labels[i] >= 0]:
            label = int(now.labels[item])
            kept, gone = names[label], name_of[item]
            if kept not in (gone, -1) and not self._are_parted(item, answered.holders(label)[0]):
                self.names.merge(kept, gone)
                names = {label: kept if name == gone else name for label, name in names.items()}
        renamed = np.full(max(names, default=-1) + 2, -1)
        renamed[list(names)] = list(names.values())
        now.labels = renamed[now.labels]
        now.how[now.labels < 0] = How.UNASSIGNED

    def _are_parted(self, one: int, other: int) -> bool:
        return self.labelling.implied(Question(one, other)) is Verdict.DIFFERENT

    def _unmet(self, first: list[int], hints: IntArray | None) -> list[int]:
        """Those of the first items whose hint group has no known member yet."""
        if hints is None:
            return []
        known = list(self.names.name_of)
        met = set(hints[known].tolist()) if known else set()
        return [item for item in first if int(hints[item]) not in met]

    @property
    def expected_error(self) -> float:
        """The share of labels that the model expects to be wrong."""
        return self.model.expected_error if self.names.name_of else 1.0

    def play(self) -> Plan[None]:
        """Points, and pairs of groups where that is worth more, until little may be wrong."""
        if not self.model.knows_little:
            self.write_all()  # what was known before a run that begins again stays known
        if not self.looks.pairs_only:
            yield from self._play_looks()
            return
        waiting: list[UnplacedPoint] = []
        while True:
            alone = self.batch == 1 and bool(waiting)  # one point is placed before anything else
            n_answers = len(self.labelling.answers)
            pairs = [] if alone else self.placing.open_pairs(self.batch, n_answers)
            room = 0 if alone or self._is_done() else self.batch - len(pairs) - len(waiting)
            waiting += map(UnplacedPoint, self._next_items(room, [one.item for one in waiting]))
            if not waiting and not pairs:
                return
            waiting = yield from self._ask(waiting, pairs)
            if self.batch > 1 or not waiting:
                self._write()
            elif self._predicts_at_once:
                self._write_predicted()  # the answer may exclude what was predicted of the point

    def _is_done(self) -> bool:
        return not self.model.is_starting and self.expected_error <= self._allowed()

    def _allowed(self) -> float:
        """The expected error to stop at; hardly any as long as nothing shows what it is worth.

        What is audited afterwards is shown by that.
        """
        tells = self._is_audited or Foresight(self.model.n_records, None).tells
        return self.target if tells else min(self.target, _BEFORE_RECORDS)

    def _ask(
        self, placed: list[UnplacedPoint], pairs: list[tuple[int, int]]
    ) -> Plan[list[UnplacedPoint]]:
        """A round: a question per point that is being placed, and about pairs of groups.

        Points that are placed make room for others while the rest waits, so that there is as much
        to ask in every round. Returns those that wait.
        """
        self.placing.expect([one.item for one in placed])
        also = [Question(*pair) for pair in pairs]
        waiting, verdicts = yield from self.placing.place_round(placed, also)
        for pair, verdict in zip(pairs, verdicts, strict=True):
            self.placing.take(pair, verdict)
        if Verdict.SAME in verdicts:
            self.placing.recall(waiting)
        unplaced = {one.item for one in placed if one not in waiting and one.cluster < 0}
        self.model.foretell(unplaced)
        self.aside |= unplaced
        return waiting

    def _play_looks(self) -> Plan[None]:
        """The first points, and then whatever look is worth most."""
        marked = (i for a in self.labelling.answers for i in a.question.pair)
        waiting = [item for item in marked if item not in self.names.name_of]
        play = LookPlay(self.model, self.names, self.placing, self.looks, self.aside, waiting)
        while self.model.is_starting and (items := self._first_items()):
            yield from play.start(items)
            self._write()
        while self.expected_error > self._allowed():
            if not (yield from play.next()):
                return
            self._write()

    def _first_items(self) -> list[int]:
        """Points spread over the data, or one of each hint: enough for a board."""
        chosen = [item for item in self._first if item not in self.aside][: self.looks.board]
        self._first = [item for item in self._first if item not in chosen]
        return chosen or self.model.points.spread_items(self.looks.board, self.aside)

    def _next_items(self, count: int, waiting: Sequence[int]) -> list[int]:
        """Points to place next, beside those that are being placed."""
        chosen = [item for item in self._first if item not in self.aside][: max(count, 0)]
        self._first = [item for item in self._first if item not in chosen]
        while len(chosen) < count:
            item = self.model.points.next_or_drawn_item(self.aside, [*waiting, *chosen])
            if item is None:
                break
            chosen.append(item)
        return chosen

    def _write(self, all_rows: bool = False) -> None:
        """Labels as they stand now; of large data only the asked ones, for the time it takes.

        Before a few points were asked there is nothing to predict from.
        """
        known = self.names.name_of
        groups = np.fromiter(known.values(), dtype=np.int64)
        self._mark(np.fromiter(known, dtype=np.int64), groups, How.ASKED)
        if all_rows or self._predicts_at_once:
            self._write_predicted()
        self.labelling.close_round()

    @property
    def _predicts_at_once(self) -> bool:
        return self.model.rows.follow_at_once and not self.model.knows_little

    def _write_predicted(self) -> None:
        open_ = self.labelling.how <= How.PREDICTED
        open_[[*self.names.name_of, *self.exceptions]] = False
        chances, items = self.model.chances(), np.flatnonzero(open_)
        groups = np.array(self.names.alive)
        chances[items] = self.labelling.allowed_chances(items, chances[items], groups)
        prediction = self.model.prediction(chances)
        found = prediction.groups[items] >= 0
        self._mark(items[found], prediction.groups[items[found]], How.PREDICTED)
        self._mark(items[~found], prediction.groups[items[~found]], How.UNASSIGNED)
        # A model that has seen next to nothing is sure of itself, and wrong.
        sure = None if self.model.knows_little else prediction.probability
        modelled = None if self.model.rows.are_whole else len(self.model.rows.core)
        foresight = Foresight(self.model.n_records, self.model.unseen(), modelled)
        self.labelling.note_probability(sure, foresight)

    def _mark(self, items: IntArray, groups: IntArray, how: How) -> None:
        """Write what changed; other labels keep the round in which they became what they are."""
        now = self.labelling
        changed = (now.labels[items] != groups) | (now.how[items] != how)
        now.mark(items[changed], groups[changed], how)

    def result(self) -> Recovery:
        """Everything that can be said, with the groups numbered without gaps."""
        self.write_all()
        while (stray := self._stray()) is not None:
            self.placing.found(stray)
            self.write_all()
        self.labelling.number_clusters()
        return self.labelling.recovery()

    def _stray(self) -> int | None:
        """An item that answers part from every known group: it is in another one."""
        if self.placing.all_found or not self.names.name_of:
            return None
        left = set(np.flatnonzero(self.labelling.labels < 0).tolist()) - set(self.exceptions)
        return min(left, default=None)

    def write_all(self) -> None:
        if self.names.name_of:
            self._write(all_rows=True)
