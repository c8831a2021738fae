"""Which labels answers hold, and which pairs of labels they tell apart, whatever else is assumed.

The *holders* of a label are asked items of it that "same" answers connect with each other: they all
are in one true cluster, which the label stands for. Two labels are *separated* if an answer says
that holders of the two differ. Others may stand for one cluster, however sure each label is.

*From members to clusters.* Connect two labels if no answer separates them, let a component be
labels that are connected, and its size the number of items with them. Claim: if at most U items are
outside the cluster that their label stands for, the clustering error on labelled items is at most
U + Σ (size of a component − size of its largest label); U, if answers separate all labels.

*Proof.* Let c(L) be the cluster that label L stands for. If c(L) = c(M), no right answer separates
L and M, so they are in one component. For each cluster keep the largest of its labels and match it
with the cluster; c is one to one on labels kept. An item is on the wrong side only if its label is
not kept, or it is not in c(L): at most U items for the latter. In a component the labels not kept
have at most its size minus its largest label, which is kept. ∎
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from samecluster._typing import Array
from samecluster.questions.ledger import Ledger
from samecluster.questions.pair import Verdict
from samecluster.recovery.result.how import How


@dataclass(frozen=True)
class LabelGap:
    """Pairs of labels that no answer separates, and what follows if some of them are one cluster.

    ``n_more_wrong`` bounds how many labels are wrong then, beside those of items that are not in
    the cluster of their label.
    """

    n_pairs: int = 0
    n_more_wrong: int = 0


class AnsweredLabels:
    """Labels (n,) and how they are known, as far as answers alone hold and separate them.

    ``sizes`` says how many items have each label, ``joined`` whether answers put all asked items of
    each label together.

    >>> from samecluster.questions.pair import Answer, Question
    >>> said = [(0, 1, "same"), (0, 2, "different"), (5, 6, "same")]
    >>> ledger = Ledger(Answer(Question(i, j), Verdict(v)) for i, j, v in said)
    >>> labels, how = np.array([0, 0, 1, 1, 2, 0, 0]), np.full(7, How.ASKED)
    >>> answered = AnsweredLabels(labels, how, ledger)
    >>> answered.holders(0), answered.holders(2), answered.are_separated(0, 1)
    ([0, 1], [], True)
    >>> list(answered.open_pairs()), answered.gap()
    ([(0, 2), (1, 2)], LabelGap(n_pairs=2, n_more_wrong=3))
    """

    def __init__(self, labels: Array, how: Array, ledger: Ledger) -> None:
        groups: dict[int, dict[int, list[int]]] = {}  # by label, then by group of "same" answers
        spoken = [answer for answer in ledger if answer.verdict is not Verdict.UNSURE]
        for item in dict.fromkeys(item for answer in spoken for item in answer.question.pair):
            if how[item] == How.ASKED and labels[item] >= 0:
                of_label = groups.setdefault(int(labels[item]), {})
                of_label.setdefault(ledger.representative(item), []).append(item)
        self._holders: dict[int, list[int]] = {}
        self._held_by: dict[int, list[int]] = {}
        for label, by_group in groups.items():
            root = max(by_group, key=lambda group: len(by_group[group]))
            self._holders[label] = by_group[root]
            self._held_by.setdefault(root, []).append(label)
        self.joined = all(len(by_group) == 1 for by_group in groups.values())
        self._differ: dict[int, set[int]] = {}
        for answer in spoken:
            if answer.verdict is Verdict.DIFFERENT:
                self._separate(*(ledger.representative(item) for item in answer.question.pair))
        counts = np.bincount(labels[labels >= 0])
        self.sizes = {label: int(counts[label]) for label in np.flatnonzero(counts).tolist()}
        self._labels, self._how = labels, how

    def _separate(self, one: int, other: int) -> None:
        for a in self._held_by.get(one, ()):
            for b in self._held_by.get(other, ()):
                self._differ.setdefault(a, set()).add(b)
                self._differ.setdefault(b, set()).add(a)

    @property
    def held_items(self) -> list[int]:
        """All holders."""
        return [item for holders in self._holders.values() for item in holders]

    def holders(self, label: int) -> list[int]:
        """Items by which answers hold a label, in the order of the answers; none if none do."""
        return self._holders.get(label, [])

    def standing_for(self, label: int) -> list[int]:
        """The holders of a label, or the item that it is named after where no answer holds it."""
        return self.holders(label) or [named_after(label, self._labels, self._how)]

    def are_separated(self, a: int, b: int) -> bool:
        return b in self._differ.get(a, ())

    def separated_pairs(self) -> Iterator[tuple[int, int]]:
        """Pairs of labels that answers separate, the smaller number first."""
        return ((a, b) for a, others in self._differ.items() for b in others if a < b)

    def open_pairs(self) -> Iterator[tuple[int, int]]:
        """Pairs of labels that no answer separates; first those where most labels are at stake."""
        largest_first = sorted(self.sizes, key=lambda label: -self.sizes[label])
        for at, smaller in enumerate(largest_first):
            for larger in largest_first[:at]:
                if not self.are_separated(larger, smaller):
                    yield larger, smaller

    def gap(self, different: Iterable[tuple[int, int]] = ()) -> LabelGap:
        """What is open now, or would be if answers told these pairs apart, too."""
        differ = {label: set(others) for label, others in self._differ.items()}
        for a, b in different:
            differ.setdefault(a, set()).add(b)
            differ.setdefault(b, set()).add(a)
        n = len(self.sizes)
        n_open = (n * (n - 1) - sum(map(len, differ.values()))) // 2
        return LabelGap(n_open, sum(map(self._lost, self._components(differ))))

    def _lost(self, component: list[int]) -> int:
        """Labels that are wrong if all of a component is one cluster, matched with its largest."""
        sizes = [self.sizes[label] for label in component]
        return sum(sizes) - max(sizes)

    def _components(self, differ: dict[int, set[int]]) -> Iterator[list[int]]:
        """Labels that are connected by pairs that nothing separates."""
        left = set(self.sizes)
        while left:
            found = [left.pop()]
            for label in found:
                near = left - differ.get(label, set())
                left -= near
                found += near
            yield found


def named_after(label: int, labels: Array, how: Array) -> int:
    """The item that says which cluster a label stands for, where no answer holds the label.

    The first of those that are known best. A predicted item in its place would give the label two
    meanings: what is compared with that item gets the label, and so has what is known without it.
    """
    return int(np.argmax(np.where(labels == label, how, -1)))
