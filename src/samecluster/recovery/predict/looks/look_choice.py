"""Which look comes next in prediction: by value per second, over choices, sheets and boards.

Values are labels that are expected to become right. They are estimates to choose by, and nothing
rests on them. Let p be the model's probabilities of the known groups and u the share of points in
groups that nobody has met.

- A *choice* places one point: it settles the point and, m times as much, what depends on it. With
  the chance that the point is in none of the known groups it finds a group of min(u·n, n/k) points.
- A *sheet* of a group shows points predicted in it, doubtful and unlike each other. A point
  that is left is settled; one that is marked is out of one group, which is worth little until it is
  placed: marked points wait for the sheet of their next likely group, or a choice.
- A *board* tells groups apart. If two are one, the labels of the smaller are wrong.

So choices win while groups are missing, sheets afterwards, and boards wherever twins are likely.
The model is anything that has the methods of `LookModel`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import asdict, dataclass, field
from itertools import combinations, islice
from typing import Protocol

import numpy as np

from samecluster._typing import FloatArray, IntArray
from samecluster.questions.look import LookSizes
from samecluster.recovery.cluster_names import ClusterNames
from samecluster.recovery.predict.model import GroupModel

_OF_MARKED = 0.1  # what a mark is worth beside a label: one group less of the few that are likely
_DOUBTFUL = 4  # times a sheet's size: the most doubtful points, of which unlike ones are taken
_SPREAD = 3.0  # random points that one tells as much as about missing groups: asked ones are spread
_SURPRISE = 0.05  # the least that a model leaves to other groups, however sure it was
_NOISE = 0.1  # of similarities, so that a copy of what is on the sheet still has some worth
_FIRST_ANSWERS = 30.0  # answers that a label's worth is measured by while there are few


class LookModel(GroupModel, Protocol):
    """A model that also remembers what was ruled out."""

    def outside(self, item: int) -> set[int]:
        """The groups that a point is known not to be in."""
        ...


@dataclass(frozen=True)
class Offer:
    """A look that could come next: a choice for ``items[0]``, a sheet of a group, a board.

    ``group`` is the name of the sheet's group; ``groups`` are those of the board.
    """

    kind: str
    value: float
    items: tuple[int, ...] = ()
    group: int = -1
    groups: tuple[int, ...] = ()


@dataclass
class LookChoice:
    """Chooses looks.

    ``waiting`` are points that were marked and are not placed yet, each with the probability that
    the model gave to the groups which are still open for it.
    """

    model: LookModel
    names: ClusterNames
    looks: LookSizes
    waiting: dict[int, float] = field(default_factory=dict)
    told_apart_in_vain: set[tuple[int, int]] = field(default_factory=set)

    def best(self, skip: Collection[int]) -> Offer | None:
        """The look of most value per second; None if nothing is left to be asked."""
        chances = self.model.chances()
        asked = np.fromiter(self.names.name_of, dtype=np.int64)
        open_ = np.ones(len(chances), dtype=np.bool_)
        open_[asked] = False
        open_[list(skip)] = False
        self.waiting = {item: left for item, left in self.waiting.items() if open_[item]}
        cost: dict[str, float] = asdict(self.looks.seconds)

        def per_second(offer: Offer) -> float:
            return offer.value / cost[offer.kind]

        offers = [*self._choices(chances, skip, self._unseen()), *self._boards(chances)]
        least = max(map(per_second, offers), default=0.0) * cost["sheet"]
        offers += self._sheets(chances, np.flatnonzero(open_), least)
        return max(offers, key=per_second, default=None)

    def mark(self, item: int, chance: float) -> None:
        """A point is out of a group that it was in with this chance."""
        self.waiting[item] = self.waiting.get(item, 1.0) * max(1.0 - chance, _SURPRISE)

    def _unseen(self) -> float:
        """The share of points in groups that nobody has met: the least of three guesses.

        That of the model; of Good and Turing, by groups with one member; and by how long ago the
        last group was found.
        """
        asked, known = list(self.names.name_of), self.model.unseen()
        founders = {self.names.representative(name) for name in self.names.alive}
        since = next(n for n, item in enumerate(reversed(asked)) if item in founders)
        alone = sum(len(self.names.members[name]) == 1 for name in self.names.alive)
        turing = (alone + 0.5) / (len(asked) + 1.0)
        return min(turing, 1.0 / (_SPREAD * since + 2.0), 1.0 if known is None else known)

    def _worth(self, chances: FloatArray) -> float:
        """How many labels that are expected to be wrong depend on one that becomes known."""
        wrong = float(np.sum(1.0 - chances.max(axis=1)))
        return 1.0 + wrong / (len(self.names.name_of) + _FIRST_ANSWERS)

    def _choices(
        self, chances: FloatArray, skip: Collection[int], unseen: float
    ) -> Iterable[Offer]:
        n, k = chances.shape
        found, worth = min(unseen * n, n / max(k, 1)), self._worth(chances)
        candidates = set(self.waiting)
        if (item := self.model.next_item(skip)) is not None:
            candidates.add(item)
        for item in sorted(candidates):
            likely = np.sort(chances[item])[::-1]
            doubt = 1.0 if item in self.waiting else 1.0 - float(likely[0])
            # What the model gave to groups that it is out of now speaks for an unknown one.
            new = unseen / (unseen + (1.0 - unseen) * self.waiting.get(item, 1.0))
            shown = float(likely[: self.looks.choice].sum())
            value = (1.0 - new) * shown * doubt * worth + new * found
            yield Offer("choice", value, (item,))

    def _sheets(self, chances: FloatArray, open_: IntArray, least: float) -> Iterable[Offer]:
        """Sheets worth more than ``least`` and those before them: others need not be laid out."""
        if not len(open_) or self.looks.sheet < 2:
            return
        best = chances[open_].argmax(axis=1)
        doubts, worth = 1.0 - chances[open_, best], self._worth(chances)
        # Who was marked elsewhere is wanted here: a label comes only where it is looked for.
        doubts[np.isin(open_, list(self.waiting))] = 1.0
        found: list[tuple[float, int, IntArray, FloatArray]] = []
        for column, group in enumerate(self.names.alive):
            mine, settles = open_[best == column], chances[open_[best == column], column]
            gains = doubts[best == column] * (settles + (1.0 - settles) * _OF_MARKED)
            order = np.argsort(-gains, kind="stable").tolist()
            inside = (at for at in order if group not in self.model.outside(int(mine[at])))
            most = list(islice(inside, _DOUBTFUL * self.looks.sheet))
            if len(most) > 1:
                most_worth = worth * float(gains[most[: self.looks.sheet]].sum())
                found.append((most_worth, group, mine[most], gains[most]))
        for most_worth, group, items, gains in sorted(found, key=lambda one: -one[0]):
            if most_worth < least:
                return
            chosen, value = self._diverse(items, gains)
            least = max(least, value * worth)
            yield Offer("sheet", value * worth, tuple(items[chosen].tolist()), group)

    def _diverse(self, items: IntArray, gains: FloatArray) -> tuple[list[int], float]:
        """Places of items that gain much and are unlike each other, and what they gain in all."""
        cover = self.model.alike(items.tolist(), items.tolist()).astype(np.float64)
        chosen: list[int] = []
        total = 0.0
        for _ in range(min(self.looks.sheet, len(items))):
            left = np.clip(np.diagonal(cover), 0.0, 1.0) * gains
            left[chosen] = -1.0
            at = int(left.argmax())
            chosen.append(at)
            total += float(left[at])
            cover = cover - np.outer(cover[:, at], cover[at]) / (cover[at, at] + _NOISE)
        return chosen, total

    def _boards(self, chances: FloatArray) -> Iterable[Offer]:
        """The groups around the likeliest twins, weighed by the smaller of each two."""
        alive = self.names.alive
        if len(alive) < 2 or self.looks.board < 3:
            return
        sizes = chances.sum(axis=0)
        at_stake = self.model.same_groups() * np.minimum(sizes[:, None], sizes)
        for a, b in combinations(range(len(alive)), 2):
            known = self.names.are_different(alive[a], alive[b])
            if known or (alive[a], alive[b]) in self.told_apart_in_vain:
                at_stake[a, b] = at_stake[b, a] = 0.0
        np.fill_diagonal(at_stake, 0.0)
        if not at_stake.max() > 0.0:
            return
        chosen = list(np.unravel_index(at_stake.argmax(), at_stake.shape))
        while len(chosen) < min(self.looks.board, len(alive)):
            adds = at_stake[chosen].sum(axis=0)
            adds[chosen] = -1.0
            if adds.max() <= 0.0:
                break
            chosen.append(adds.argmax())
        value = float(at_stake[np.ix_(chosen, chosen)].sum()) / 2.0
        yield Offer("board", value, groups=tuple(alive[int(at)] for at in chosen))
