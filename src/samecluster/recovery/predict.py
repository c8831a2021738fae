"""Predict: ask where the answer teaches most, and predict every other label with a probability.

Needs no margin and no number of clusters, and proves nothing. For real data, whose clusters touch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from samecluster._typing import IntArray
from samecluster.errors import InvalidInputError
from samecluster.questions.pair import Question, Verdict
from samecluster.questions.run import Plan
from samecluster.recovery.placing import MAX_COMPARATORS, Placing
from samecluster.recovery.predictor import Predictor
from samecluster.recovery.problem import Labelling, Problem
from samecluster.recovery.result import How, Recovery

__all__ = ["Predict"]

_COMPARED_ANYWAY = 2
_IMPLAUSIBLE = 0.05
_ANY_AFFINITY = 0.02


@dataclass(frozen=True)
class Predict:
    """Settings of predict.

    Parameters
    ----------
    max_questions : stop there, with the best labels so far. None goes on until all is asked; of
        more than 4,000 points that is all of a core of 2,000.
    """

    max_questions: int | None = 200

    def __post_init__(self) -> None:
        if self.max_questions is not None and not self.max_questions >= 1:
            raise InvalidInputError(f"max_questions must be at least 1, got {self.max_questions}")

    @property
    def name(self) -> str:
        return "predict"

    def plan(self, problem: Problem, labelling: Labelling) -> Plan[Recovery]:
        asking = _Asking(problem, labelling)
        yield from _limited(asking.play(), labelling, self.max_questions)
        return asking.result()


def _limited(plan: Plan[None], labelling: Labelling, max_questions: int | None) -> Plan[None]:
    """Play a plan until it ends or the questions are used up, wherever it is then."""
    try:
        batch = next(plan)
        while max_questions is None or labelling.n_questions < max_questions:
            batch = plan.send((yield batch))
    except StopIteration:
        return


class _Asking:
    """One run of predict."""

    def __init__(self, problem: Problem, labelling: Labelling) -> None:
        self.labelling = labelling
        self.model = Predictor(problem.X, problem.rng)
        self.placing = _PlacingByModel(problem.n_clusters, self.model)
        self.aside: set[int] = set()

    def play(self) -> Plan[None]:
        """Points and pairs of groups by turns, until there is nothing left to ask."""
        while True:
            item = self.model.next_item(skip=self.aside)
            if item is not None:
                (cluster,) = yield from self.placing.place([item])
                if cluster < 0:
                    self.aside.add(item)
                self._write()
            pair = self.placing.open_pair()
            if pair is not None:
                (verdict,) = yield [Question(*pair)]
                self.placing.take(pair, verdict)
                self._write()
            if item is None and pair is None:
                return

    def _write(self) -> None:
        """Labels as they stand now; of large data only the asked ones, for the time it takes."""
        if self.model.is_whole:
            self._write_predicted()
        known = self.model.known
        groups = np.fromiter(known.values(), dtype=np.int64)
        self._mark(np.fromiter(known, dtype=np.int64), groups, How.ASKED)
        self.labelling.close_round()

    def _write_predicted(self) -> None:
        prediction = self.model.prediction()
        open_ = np.ones(len(prediction.groups), dtype=np.bool_)
        open_[list(self.model.known)] = False
        items = np.flatnonzero(open_)
        self._mark(items, prediction.groups[items], How.PREDICTED)
        self.labelling.probability = prediction.probability

    def _mark(self, items: IntArray, groups: IntArray, how: How) -> None:
        """Write what changed; other labels keep the round in which they became what they are."""
        now = self.labelling
        changed = (now.labels[items] != groups) | (now.how[items] != how)
        now.mark(items[changed], groups[changed], how)

    def result(self) -> Recovery:
        """Everything that can be said, with the groups numbered without gaps."""
        self._write_predicted()
        self._write()
        for number, name in enumerate(np.unique(self.labelling.labels).tolist()):
            self.labelling.rename(name, number)
        return self.labelling.recovery()


class _PlacingByModel(Placing):
    """Placing that tries the likeliest group first and shows the most similar asked member.

    After two "different" and with nothing plausible left, a point founds a group of its own, and
    whether that is really another one is left open. Pairs of groups that nobody has told apart are
    compared later, those first where most points would have the wrong label.
    """

    def __init__(self, n_clusters: int | None, model: Predictor) -> None:
        super().__init__(n_clusters)
        self.model = model
        self.alive: list[int] = []
        self.different: set[tuple[int, int]] = set()
        self.unsure: set[tuple[int, int]] = set()
        self._differs: set[int] = set()

    @property
    def all_found(self) -> bool:
        k = len(self.alive)
        return k == self.n_clusters and len(self.different) == k * (k - 1) // 2

    def place(self, items: Sequence[int]) -> Plan[list[int]]:
        self._differs = set()
        return super().place(items)

    def order(self, item: int) -> Sequence[int]:
        return [group for group, _ in self.model.order(item)]

    def comparator(self, item: int, cluster: int, tried: Sequence[int]) -> int:
        left = [member for member in self.members[cluster] if member not in tried]
        return left[int(self.model.alike([item], left).argmax())]

    def excluded(self, item: int, cluster: int) -> bool:
        if self.all_found or len(self._differs) < _COMPARED_ANYWAY:
            return False
        return dict(self.model.order(item))[cluster] < _IMPLAUSIBLE

    def heard(self, question: Question, cluster: int, verdict: Verdict) -> None:
        if verdict is Verdict.DIFFERENT:
            self._differs.add(cluster)
            self.model.rule_out(question.item, cluster)

    def add(self, item: int, cluster: int) -> None:
        super().add(item, cluster)
        if cluster not in self.alive:
            self.alive.append(cluster)
        self.model.learn(item, cluster)
        self.different |= {_ordered(cluster, other) for other in self._differs}

    def open_pair(self) -> tuple[int, int] | None:
        """Members of two groups that may be one; of those with most points and most alike."""
        sizes = self.model.sizes()
        best, best_value = None, 0.0
        for a, b in combinations(self.alive, 2):
            if _ordered(a, b) in self.different:
                continue
            pair, affinity = self._closest(a, b)
            value = (affinity + _ANY_AFFINITY) * min(sizes[a], sizes[b])
            if pair is not None and value > best_value:
                best, best_value = pair, value
        return best

    def _closest(self, a: int, b: int) -> tuple[tuple[int, int] | None, float]:
        """The most similar members of two groups that were not tried; None after enough tries."""
        ours, theirs = self.members[a], self.members[b]
        alike = self.model.alike(ours, theirs)
        tried = [
            (i, j) for i, j in self.unsure if {self.cluster_of[i], self.cluster_of[j]} == {a, b}
        ]
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
        kept, gone = _ordered(self.cluster_of[pair[0]], self.cluster_of[pair[1]])
        if verdict is Verdict.UNSURE:
            self.unsure.add(pair)
        elif verdict is Verdict.DIFFERENT:
            self.different.add((kept, gone))
        else:
            self._merge(kept, gone)

    def _merge(self, kept: int, gone: int) -> None:
        self.model.merge(kept, gone)
        self.alive.remove(gone)
        self.members[kept] += self.members[gone]
        self.members[gone] = []
        for item in self.members[kept]:
            self.cluster_of[item] = kept
        self.different = {
            _ordered(*(kept if name == gone else name for name in pair)) for pair in self.different
        }


def _ordered(a: int, b: int) -> tuple[int, int]:
    return (a, b) if a < b else (b, a)
