"""Predict: ask where the answer teaches most, and predict every other label with a probability.

Needs no margin and no number of clusters, and proves nothing. For real data, whose clusters touch.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from samecluster._parameters import check_at_least, check_share
from samecluster._typing import IntArray
from samecluster.questions.look import PAIRS, LookSizes
from samecluster.questions.pair import Answer, Question, Verdict
from samecluster.questions.run import Plan
from samecluster.recovery.answer_groups import AnswerGroups
from samecluster.recovery.cluster_names import ClusterNames
from samecluster.recovery.hints import one_of_each_hint
from samecluster.recovery.labelling import Labelling
from samecluster.recovery.placement import MAX_COMPARATORS, Placement
from samecluster.recovery.predict.look_play import LookPlay
from samecluster.recovery.predict.model import Predictor
from samecluster.recovery.problem import BudgetSpent, Problem
from samecluster.recovery.result.how import How
from samecluster.recovery.result.result import Recovery

# Groups that a point is compared with before it may found one; with one, groups multiply
_COMPARED_ANYWAY = 2
_IMPLAUSIBLE = 0.05  # score, of about 1 for certain; 0.02 to 0.15 made no difference on real sets
_ANY_AFFINITY = 0.02  # so that large groups that nothing joins are compared at last


@dataclass(frozen=True)
class Predict:
    """Settings of predict.

    Parameters
    ----------
    expected_error : stop once the model expects at most this share of the labels to be wrong. 0
        goes on until all is asked; of more than 4,000 points that is all of a core of 2,000.
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
        self.model = Predictor(problem.X, self.names, problem.rng, include)
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
        """Points and pairs of groups by turns, until little is expected to be wrong."""
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
            pairs = self.placing.open_pairs(self.batch)
            if pairs:
                verdicts = yield [Question(*pair) for pair in pairs]
                for pair, verdict in zip(pairs, verdicts, strict=True):
                    self.placing.take(pair, verdict)
                self._write()
            if not items and not pairs:
                return

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
        self.labelling.note_probability(sure)

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


class ModelPlacement(Placement):
    """Placing that tries the likeliest group first and shows the most similar asked member.

    After two "different" and with nothing plausible left, a point founds a group of its own, and
    whether that is really another one is left open. Pairs of groups that nobody has told apart are
    compared later, those first where most points would have the wrong label.
    """

    def __init__(
        self,
        n_clusters: int | None,
        names: ClusterNames,
        model: Predictor,
        looks: LookSizes = PAIRS,
    ) -> None:
        super().__init__(n_clusters, names, looks)
        self.model = model
        self.unsure: set[tuple[int, int]] = set()
        # Of each point that is being placed: the groups that it was found to be outside of.
        self._differs: dict[int, set[int]] = {}

    @property
    def all_found(self) -> bool:
        return super().all_found and self.names.all_different

    def place(self, items: Sequence[int]) -> Plan[list[int]]:
        self._differs = {item: self._known_outside(item) for item in items}
        return super().place(items)

    def _known_outside(self, item: int) -> set[int]:
        """What sheets have said about a point before it is placed."""
        return set() if self.looks.pairs_only else self.model.outside(item)

    def order(self, item: int) -> Sequence[int]:
        return [group for group, _ in self.model.order(item)]

    def comparator(self, item: int, cluster: int, tried: Sequence[int]) -> int:
        left = [member for member in self.names.members[cluster] if member not in tried]
        return left[int(self.model.alike([item], left).argmax())]

    def excluded(self, item: int, cluster: int) -> bool:
        if cluster in self._known_outside(item):
            return True
        if self.all_found or len(self._differs[item]) < _COMPARED_ANYWAY:
            return False
        return dict(self.model.order(item))[cluster] < _IMPLAUSIBLE

    def founds_another(self, item: int, outside: Collection[int]) -> bool:
        """Whether an item that is outside some groups is plausible in none of the others."""
        if len(outside) < min(_COMPARED_ANYWAY, len(self.names.alive)):
            return False
        return all(s < _IMPLAUSIBLE for g, s in self.model.order(item) if g not in outside)

    def heard(self, question: Question, cluster: int, verdict: Verdict) -> None:
        if verdict is Verdict.DIFFERENT:
            self._differs.setdefault(question.item, set()).add(cluster)
            self.model.rule_out(question.item, cluster)

    def add(self, item: int, cluster: int) -> None:
        super().add(item, cluster)
        self._learn(item, cluster)

    def found(self, item: int) -> int:
        name = super().found(item)
        self._learn(item, name)
        return name

    def _learn(self, item: int, cluster: int) -> None:
        self.model.learn(item)
        for other in self._differs.get(item, set()) | self._known_outside(item):
            self.names.mark_different(cluster, other)

    def open_pairs(self, count: int) -> list[tuple[int, int]]:
        """Members of two groups that may be one; of those with most points and most alike.

        No group is in two of the pairs, as one answer may decide about both.
        """
        sizes = self.model.sizes()
        found = []
        for a, b in combinations(self.names.alive, 2):
            if self.names.are_different(a, b):
                continue
            pair, affinity = self._closest(a, b)
            value = (affinity + _ANY_AFFINITY) * min(sizes[a], sizes[b])
            if pair is not None and value > 0.0:
                found.append((value, pair))
        chosen: list[tuple[int, int]] = []
        used: set[int] = set()
        for _, pair in sorted(found, key=lambda one: -one[0]):
            groups = {self.names.name_of[item] for item in pair}
            if len(chosen) < count and used.isdisjoint(groups):
                chosen.append(pair)
                used |= groups
        return chosen

    def _closest(self, a: int, b: int) -> tuple[tuple[int, int] | None, float]:
        """The most similar members of two groups that were not tried; None after enough tries."""
        ours, theirs, name_of = self.names.members[a], self.names.members[b], self.names.name_of
        alike = self.model.alike(ours, theirs)
        tried = [(i, j) for i, j in self.unsure if {name_of[i], name_of[j]} == {a, b}]
        if len(tried) >= min(MAX_COMPARATORS, alike.size):
            return None, 0.0
        for at in np.argsort(-alike, axis=None, kind="stable"):
            i, j = np.unravel_index(at, alike.shape)
            pair = _ordered(ours[i], theirs[j])
            if pair not in self.unsure:
                return pair, float(alike[i, j])
        return None, 0.0

    def take(self, pair: tuple[int, int], verdict: Verdict) -> None:
        """Whether members of two groups are in the same cluster."""
        kept, gone = _ordered(*(self.names.name_of[item] for item in pair))
        if verdict is Verdict.UNSURE:
            self.unsure.add(pair)
        elif verdict is Verdict.DIFFERENT:
            self.names.mark_different(kept, gone)
        else:
            self.names.merge(kept, gone)


def _ordered(a: int, b: int) -> tuple[int, int]:
    return (a, b) if a < b else (b, a)
