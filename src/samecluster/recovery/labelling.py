"""What is known so far: the one place where a plan writes labels and what came with them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from copy import copy

import numpy as np
import numpy.typing as npt

from samecluster._typing import FloatArray, IntArray
from samecluster.proof.log import ProofLog
from samecluster.questions.ledger import Ledger
from samecluster.questions.look import n_looks_of, n_shown_of
from samecluster.questions.pair import Answer, Question, Verdict
from samecluster.recovery.allowed_groups import allowed_chances
from samecluster.recovery.problem import Problem
from samecluster.recovery.result.audit_report import AuditReport
from samecluster.recovery.result.claims import Foresight, GivenCheck
from samecluster.recovery.result.how import How
from samecluster.recovery.result.label_separation import AnsweredLabels
from samecluster.recovery.result.result import MarginSearch, Recovery, Round


class Labelling:
    """What is known so far. A plan writes on it by its methods; it can be read between batches.

    Attributes
    ----------
    labels, how : (n,) the cluster of each item, -1 for none, and how it is known (`How`)
    probability : (n,) the probability that each label is right; None where no model predicts
    foresight : how often the model's predictions could be compared with answers
    given : what people saw of labels that others gave
    exceptions : items that answers put outside every group
    search : how a margin that nobody declared was found
    audit : what an audit has shown so far
    proof : the log of the method that labels now, if it writes one
    resolution : lengths (d) that a margin is one at, for methods that prove labels without a log
    ground : how labels are known that the method calls asked and no answer holds: those of points
        that it named without a question, or joined with asked ones by what it assumes
    cut_short : whether the budget had no room for the next look
    """

    def __init__(self, problem: Problem, method: str, ledger: Ledger) -> None:
        n = len(problem.X)
        self.labels: IntArray = np.full(n, -1, dtype=np.int64)
        self.how: npt.NDArray[np.int8] = np.zeros(n, dtype=np.int8)
        self.probability: FloatArray | None = None
        self.foresight: Foresight | None = None
        self.given: GivenCheck | None = None
        self._round_of: npt.NDArray[np.int32] = np.full(n, -1, dtype=np.int32)
        self._rounds: list[Round] = []
        self._problem = problem
        self._method = method
        self._ledger = ledger
        self._given = len(ledger)
        self._kept_back = 0
        self._shown: Labelling | None = None
        self._counted = 0
        self.exceptions: tuple[int, ...] = ()
        self.search: MarginSearch | None = None
        self.audit: AuditReport | None = None
        self.proof: ProofLog | None = None
        self.ground = How.INFERRED
        self.resolution: tuple[float, ...] = ()
        self.cut_short = False

    @property
    def n_questions(self) -> int:
        """Questions asked so far; answers that were there before do not count."""
        return len(self._ledger) - self._given

    @property
    def n_looks(self) -> int:
        """Looks put so far, each a screen answered as a whole; a pair alone is one, too."""
        return n_looks_of(tuple(self._ledger)[self._given :])

    @property
    def answers(self) -> tuple[Answer, ...]:
        """All answers so far, also those that were there before, but for what is kept back."""
        return tuple(self._ledger)[self._kept_back :]

    @contextmanager
    def kept_back(self) -> Iterator[None]:
        """A method in here begins as if nobody had been asked yet; what is known costs nothing.

        Until it has had as many answers as it does not know of, the labels of before are shown.
        """
        self._kept_back, self._shown = len(self._ledger), copy(self)
        self.labels, self.how = self.labels.copy(), self.how.copy()
        self._round_of = self._round_of.copy()
        self.reset()
        try:
            yield
        finally:
            self._kept_back, self._shown = 0, None

    def implied(self, question: Question) -> Verdict | None:
        """What the answers say about a pair, by themselves or by transitivity."""
        return self._ledger.implied(question)

    @property
    def n_labelled(self) -> int:
        return int(np.count_nonzero(self.how))

    def unlabelled(self) -> IntArray:
        return np.flatnonzero(self.how == How.UNASSIGNED)

    def mark(self, items: IntArray, label: int | IntArray, how: How) -> None:
        """Write the labels of items, whatever they were before."""
        self.labels[items] = label
        self.how[items] = how
        self._round_of[items] = len(self._rounds)

    def confirm(self, item: int, label: int) -> None:
        """Write a label that answers about the item itself have shown."""
        self.mark(np.array([item]), label, How.ASKED)
        if self.probability is not None:
            self.probability[item] = 1.0

    def set_apart(self, items: Iterable[int]) -> None:
        """Take the labels from items that are in none of the groups; they become exceptions."""
        apart = sorted(items)
        self.mark(np.array(apart, dtype=np.int64), -1, How.UNASSIGNED)
        self.note_exceptions([*self.exceptions, *apart])

    def note_exceptions(self, items: Iterable[int]) -> None:
        """These items, and no others, are exceptions; their labels stay as they are for now."""
        self.exceptions = tuple(sorted(set(items)))

    def note_probability(
        self, probability: FloatArray | None, foresight: Foresight | None = None
    ) -> None:
        self.probability, self.foresight = probability, foresight

    def answered(self) -> AnsweredLabels:
        """Which labels answers hold and separate, now."""
        return AnsweredLabels(self.labels, self.how, self._ledger)

    def allowed_chances(self, items: IntArray, chances: FloatArray, groups: IntArray) -> FloatArray:
        """Chances (m, k) of groups (k,) for open items (m,) without what answers exclude."""
        asked = dict.fromkeys(item for answer in self._ledger for item in answer.question.pair)
        rows = np.flatnonzero(np.isin(items, np.fromiter(asked, dtype=np.int64)))
        open_ = items[rows].tolist()
        label_of = {i: int(self.labels[i]) for i in asked if self.how[i] > How.PREDICTED}
        found = chances.copy()
        found[rows] = allowed_chances(open_, chances[rows], groups, label_of, self._ledger)
        return found

    def unheld_labels(self) -> dict[int, int]:
        """Labels that are known and that no answer holds, each with its first item."""
        answered = self.answered()
        known = self.how >= How.INFERRED
        return {
            label: int(np.argmax(known & (self.labels == label)))
            for label in answered.sizes
            if not answered.holders(label) and (known & (self.labels == label)).any()
        }

    def keep_asked_to_answers(self) -> None:
        """Call only those labels asked that answers hold; the others have the method's ground."""
        self.how = self._how_by_answers()

    def _how_by_answers(self) -> npt.NDArray[np.int8]:
        how = self.how.copy()
        how[how == How.ASKED] = self.ground
        how[self.answered().held_items] = How.ASKED
        return how

    def rename(self, name: int, to: int) -> None:
        """Give all points of one name another."""
        self.labels[self.labels == name] = to

    def reset(self) -> None:
        """Forget all labels, not the answers: they are about to be drawn from these anew."""
        self.labels[:], self.how[:], self._round_of[:] = -1, How.UNASSIGNED, -1
        self.probability, self.foresight, self.proof = None, None, None

    def extend(self, count: int) -> None:
        """Make room for more points, of which nothing is known."""
        self.labels = np.concatenate([self.labels, np.full(count, -1, dtype=np.int64)])
        self.how = np.concatenate([self.how, np.zeros(count, dtype=np.int8)])
        self._round_of = np.concatenate([self._round_of, np.full(count, -1, dtype=np.int32)])

    def number_clusters(self) -> None:
        """Number clusters without gaps, by the first answer about a member of each.

        So a cluster keeps its number when labels are drawn anew from these answers and more.
        """
        asked = [item for answer in self._ledger for item in answer.question.pair]
        names = dict.fromkeys(self.labels[asked].tolist()) if asked else {}
        names |= dict.fromkeys(np.unique(self.labels).tolist())
        order = [name for name in names if name >= 0]
        number = np.full(max(order, default=-1) + 2, -1, dtype=np.int64)
        number[order] = np.arange(len(order))
        self.labels = number[self.labels]

    def _up_to_date(self) -> tuple[IntArray, npt.NDArray[np.int8]]:
        """Labels, and how they are known, by answers that came after predictions were written, too.

        Methods that predict against their answers do so as published.
        """
        labels, how = self.labels.copy(), self._how_by_answers()
        if self.ground is How.PREDICTED or not (how == How.PREDICTED).any():
            return labels, how
        sure = how if self.probability is None else how + self.probability
        together: dict[int, list[int]] = {}
        for item in dict.fromkeys(item for said in self._ledger for item in said.question.pair):
            together.setdefault(self._ledger.representative(item), []).append(item)
        for items in together.values():
            surest = max(items, key=lambda item: float(sure[item]))
            for item in items if labels[surest] >= 0 else ():
                if how[item] == How.PREDICTED:
                    labels[item] = labels[surest]
        for answer in self._ledger:
            one, other = answer.question.pair
            if answer.verdict is Verdict.DIFFERENT and labels[one] == labels[other]:
                guessed = [item for item in (one, other) if how[item] == How.PREDICTED]
                if guessed:
                    gone = min(guessed, key=lambda item: float(sure[item]))
                    items = together[self._ledger.representative(gone)]
                    items = [item for item in items if how[item] == How.PREDICTED]
                    labels[items], how[items] = -1, How.UNASSIGNED
        return labels, how

    def close_round(self) -> None:
        self._rounds.append(Round(self.n_questions - self._counted, self.n_labelled))
        self._counted = self.n_questions

    def recovery(self) -> Recovery:
        """All that is known now, as a result of its own."""
        if self._shown is not None and len(self.answers) < self._kept_back:
            return self._shown.recovery()
        labels, how = self._up_to_date()
        return Recovery(
            labels=labels,
            how_codes=how,
            n_questions=self.n_questions,
            n_looks=self.n_looks,
            n_shown=n_shown_of(tuple(self._ledger)[self._given :]),
            rounds=tuple(self._rounds),
            round_of=self._round_of.copy(),
            answers=tuple(self._ledger),
            points=self._problem.X,
            prepared=self._problem.prepared,
            frame=self._problem.frame,
            method=self._method,
            margin=self._problem.margin if self.search is None else self.search.margin,
            n_clusters=self._problem.n_clusters,
            proof=self.proof,
            resolution=self.resolution,
            probability=None if self.probability is None else self.probability.copy(),
            foresight=self.foresight,
            given=self.given,
            exceptions=self.exceptions,
            search=self.search,
            audit=None if self.audit is None else self.audit.about(self.answered(), len(self.how)),
        )
