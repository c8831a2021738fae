"""Predict: ask where the answer teaches most, and predict every other label with a probability.

Needs no margin and no number of clusters, and proves nothing. For real data, whose clusters touch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
from samecluster.recovery.predict.looks.look_play import LookPlay
from samecluster.recovery.predict.model import Predictor
from samecluster.recovery.predict.placing import ModelPlacement
from samecluster.recovery.problem import BudgetSpent, Problem
from samecluster.recovery.result.claims import Foresight
from samecluster.recovery.result.how import How
from samecluster.recovery.result.result import Recovery


@dataclass(frozen=True)
class Predict:
    """Settings of predict.

    Parameters
    ----------
    expected_error : stop once the model expects at most this share of the labels to be wrong. 0
        goes on until all is asked; of more than 50,000 points that is all of a core of 5,000.
    batch : how many points to ask about at once, for several people answering
    """

    expected_error: float = 0.001
    batch: int = 1

    def __post_init__(self) -> None:
        check_share("expected_error", self.expected_error)
        check_at_least("batch", self.batch, 1)

    @property
    def name(self) -> str:
        return "predict"

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
        self, problem: Problem, labelling: Labelling, expected_error: float, batch: int = 1
    ) -> None:
        self.labelling = labelling
        self.target, self.batch = expected_error, batch
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
        self._first = self._unmet(first, problem.hints)

    def _begin_with(self, answers: Sequence[Answer], unheld: Mapping[int, int]) -> None:
        """Take in what is known already: groups of answers, labels, then what is different."""
        loose = AnswerGroups(answers).separate_pairs()
        spoken = [answer for answer in answers if answer.question not in loose]
        groups = AnswerGroups(spoken).members()
        for first, *others in (group for group in groups if len(group) > 1):
            name = self.placing.found(first)
            for item in others:
                self.placing.add(item, name)
        for (item,) in (group for group in groups if len(group) == 1):
            self._recall(item, spoken)
        self._adopt_labels(unheld)
        for answer in spoken:
            known = self.names.name_of.keys() >= set(answer.question.pair)
            if known and answer.verdict is Verdict.DIFFERENT:
                self.placing.take(answer.question.pair, answer.verdict)

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
        while self.expected_error > self.target or self.model.is_starting:
            items = self._next_items()
            if items:
                clusters = yield from self.placing.place(items)
                self.aside |= {i for i, c in zip(items, clusters, strict=True) if c < 0}
                self._write()
            joined = yield from self._join_groups()
            if not items and not joined:
                return

    def _join_groups(self) -> Plan[bool]:
        """Ask about pairs of groups as long as that is worth more than placing; whether any was."""
        asked = False
        while pairs := self.placing.open_pairs(self.batch, len(self.labelling.answers)):
            verdicts = yield [Question(*pair) for pair in pairs]
            for pair, verdict in zip(pairs, verdicts, strict=True):
                self.placing.take(pair, verdict)
            self._write()
            asked = True
        return asked

    def _play_looks(self) -> Plan[None]:
        """The first points, and then whatever look is worth most."""
        marked = (i for a in self.labelling.answers for i in a.question.pair)
        waiting = [item for item in marked if item not in self.names.name_of]
        play = LookPlay(self.model, self.names, self.placing, self.looks, self.aside, waiting)
        while self.model.is_starting and (items := self._first_items()):
            yield from play.start(items)
            self._write()
        while self.expected_error > self.target:
            if not (yield from play.next()):
                return
            self._write()

    def _first_items(self) -> list[int]:
        """Points spread over the data, or one of each hint: enough for a board."""
        chosen = [item for item in self._first if item not in self.aside][: self.looks.board]
        self._first = [item for item in self._first if item not in chosen]
        return chosen or self.model.spread_items(self.looks.board, self.aside)

    def _next_items(self) -> list[int]:
        chosen = [item for item in self._first if item not in self.aside][: self.batch]
        self._first = [item for item in self._first if item not in chosen]
        while len(chosen) < self.batch:
            item = self.model.next_item(skip={*self.aside, *chosen})
            if item is None:
                break
            chosen.append(item)
        return chosen

    def _write(self) -> None:
        """Labels as they stand now; of large data only the asked ones, for the time it takes.

        Before a few points were asked there is nothing to predict from.
        """
        if self.model.is_whole and not self.model.knows_little:
            self._write_predicted()
        known = self.names.name_of
        groups = np.fromiter(known.values(), dtype=np.int64)
        self._mark(np.fromiter(known, dtype=np.int64), groups, How.ASKED)
        self.labelling.close_round()

    def _write_predicted(self) -> None:
        prediction = self.model.prediction()
        open_ = self.labelling.how <= How.PREDICTED
        open_[[*self.names.name_of, *self.exceptions]] = False
        items = np.flatnonzero(open_)
        self._mark(items, prediction.groups[items], How.PREDICTED)
        # A model that has seen next to nothing is sure of itself, and wrong.
        sure = None if self.model.knows_little else prediction.probability
        foresight = Foresight(self.model.n_records, self.model.unseen())
        self.labelling.note_probability(sure, foresight)

    def _mark(self, items: IntArray, groups: IntArray, how: How) -> None:
        """Write what changed; other labels keep the round in which they became what they are."""
        now = self.labelling
        changed = (now.labels[items] != groups) | (now.how[items] != how)
        now.mark(items[changed], groups[changed], how)

    def result(self) -> Recovery:
        """Everything that can be said, with the groups numbered without gaps."""
        self.write_all()
        self.labelling.number_clusters()
        return self.labelling.recovery()

    def write_all(self) -> None:
        if self.names.name_of:
            self._write_predicted()
            self._write()
