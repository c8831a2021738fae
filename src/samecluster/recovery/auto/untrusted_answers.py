"""What the answers of somebody who errs come to, a language model for instance: which of them are
likely wrong, and the labels that are left. Nothing here is more than a guess for people to check.

Who errs, errs on pairs and misreads items, and one wrong "same" puts two clusters under one label,
as answers are joined. So every "same" that alone holds a part to its group is weighed: for it
speaks how rarely its giver errs, against it how little alike the two sides are. What it loses is a
part with a label of its own if it is large (people join labels that are one on a board that they
see in any case, and need five looks or so to find and divide one that is two), and otherwise items
that its giver misread: they get the label that the others predict. How often it errs is learned
from the same weighing, and where people answered from their answers.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from threadpoolctl import threadpool_limits

from samecluster._typing import FloatArray, IntArray
from samecluster.questions.conflicts.correlation_clustering import resolve
from samecluster.questions.pair import Answer, Question, Verdict
from samecluster.questions.reliability import log_odds
from samecluster.recovery.auto.error_model import USUAL, ErrorModel, ErrorRecord
from samecluster.recovery.cluster_names import ClusterNames
from samecluster.recovery.predict.model import Predictor
from samecluster.recovery.predict.unlikely import AnswerFit, Seam

_LARGE, _FEWEST = 0.03, 4  # share of the items asked about, and items, of a part with its own label
_SURE_OF_LARGE = 0.95  # of a "same" that joins large parts: to be wrong about it is dear
_FEW_ASKED = 20  # items asked about below which likeness says too little to doubt an answer
_LEAST = 1e-3  # no likeness speaks stronger than this against a group


@dataclass(frozen=True, eq=False)
class Reading:
    """Labels (n,) that untrusted answers come to, the answers that were doubted, and the record."""

    labels: IntArray
    doubted: tuple[Answer, ...]
    record: ErrorRecord


# Small products: see `points.block_work.on_one_thread`.
@threadpool_limits.wrap(limits=1, user_api="blas")  # type: ignore[untyped-decorator]
def read_answers(
    X: FloatArray, answers: Sequence[Answer], trusted: Collection[Question] = (), room: int = 12
) -> Reading | None:
    """Labels from answers that may be wrong, but for those to ``trusted`` questions.

    Up to ``room`` labels, also a part that is likely right where it is gets a label of its own.
    None where answers are too few to doubt any.
    """
    sure = [one for one in answers if one.verdict is not Verdict.UNSURE]
    if len({item for one in sure for item in one.question.pair}) < _FEW_ASKED:
        return None
    reading = _Weighing(X, sure, trusted)
    reading.learn_rates()
    reading.part_large(room)
    reading.learn_rates()
    reading.doubt_items()
    return reading.result()


class _Weighing:
    """The answers that are kept, and what is known of their giver."""

    def __init__(
        self, X: FloatArray, answers: Sequence[Answer], trusted: Collection[Question]
    ) -> None:
        self._X, self._trusted = X, frozenset(trusted)
        outvoted = resolve(answers, lambda one: 3.0 if one.question in self._trusted else 1.0)
        self._kept = list(outvoted.kept)
        self._wrong = dict.fromkeys(outvoted.retracted, 1.0)
        self._items = sorted({item for one in self._kept for item in one.question.pair})
        self._fit = AnswerFit(X, self._kept)
        self._model = ErrorModel(USUAL.error, 1.0)
        self._untaught: set[int] = set()

    @property
    def _large(self) -> int:
        return max(_FEWEST, round(_LARGE * len(self._items)))

    def learn_rates(self) -> None:
        """From single items: whether they are where they are said to be."""
        items = [seam for seam in self._fit.seams() if len(seam.part) == 1]
        chances = np.array([(seam.own, seam.other) for seam in items]).reshape(-1, 2)
        said = np.zeros(len(items), dtype=np.int64)
        self._model = ErrorModel.fitted(np.maximum(chances, _LEAST), said)

    def part_large(self, room: int) -> None:
        """Take back, one after the other, what joins large parts that are hardly alike."""
        for _ in range(len(self._kept)):
            seams = self._fit.seams(self._large)
            weighed = [(self._right(seam, 1.0 - seam.own), seam) for seam in seams]
            right, seam = min(weighed, key=lambda one: one[0], default=(1.0, None))
            n_labels = sum(len(group) >= self._large for group in self._fit.groups)
            if seam is None or right >= (_SURE_OF_LARGE if n_labels < room else 0.5):
                return
            self._kept.remove(seam.answer)
            self._wrong[seam.answer] = 1.0 - right
            self._fit = AnswerFit(self._X, self._kept, self._fit)

    def doubt_items(self) -> None:
        """Do not learn from items that likeness puts elsewhere, more than answers hold them."""
        for seam in self._fit.seams():
            if len(seam.part) < self._large:
                right = self._right(seam, seam.other)
                self._wrong[seam.answer] = 1.0 - right
                self._untaught.update(seam.part if right < 0.5 else ())
        for group in range(len(self._fit.groups)):
            self._untaught.update(self._doubtful_group(group))

    def _right(self, seam: Seam, against: float) -> float:
        """P(right) of a "same", if only it and how alike the two sides are tells."""
        if seam.answer.question in self._trusted:
            return 1.0
        chances = np.maximum([[seam.own, against]], _LEAST)
        return float(self._model.posterior(chances, np.zeros(1, dtype=np.int64))[0, 0])

    def _doubtful_group(self, group: int) -> list[int]:
        """The items of a small group that likely belongs elsewhere."""
        members = self._fit.groups[group]
        if len(members) >= self._large or len(self._fit.groups) < 2:
            return []
        where, chance = self._fit.elsewhere(group)
        sides = {frozenset((a, b)) for a in members for b in self._fit.groups[where]}
        apart = [one for one in self._kept if frozenset(one.question.pair) in sides]
        if any(one.question in self._trusted for one in apart):
            return []
        likeness = log_odds(min(max(chance, _LEAST), 1.0 - _LEAST)) / self._model.dullness
        return members if likeness > len(apart) * USUAL.weight else []

    def result(self) -> Reading:
        """Labels of all items: by answers that are kept, and predicted from these."""
        names = ClusterNames()
        model = Predictor(self._X, names, np.random.default_rng(0), self._items)
        said = np.full(len(self._X), -1, dtype=np.int64)
        for group in self._fit.groups:
            # What only differs was never placed: a label of one item would help nobody.
            members = [i for i in group if i not in self._untaught and len(group) > 1]
            for item in members:
                if item == members[0]:
                    names.found(item)
                else:
                    names.add(item, names.name_of[members[0]])
                model.learn(item)
            said[group] = names.name_of[members[0]] if members else -1
        labels = said
        if names.alive:
            labels = np.where(said >= 0, said, model.prediction().groups)
        record = ErrorRecord().after(self._wrong)
        doubted = [one for one, wrong in self._wrong.items() if wrong > 0.5]
        return Reading(labels, tuple(doubted), record)
