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
How often points are left on sheets, found in choices and in none of the known groups is corrected
by the answers so far (`corrected`): without that, nine of ten points on a sheet were marked on
letters and vowels, as those that wait stay likely on paper.
The model is anything that has the methods of `LookModel`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import combinations, islice
from typing import NamedTuple, Protocol

import numpy as np

from samecluster._typing import BoolArray, FloatArray, IntArray
from samecluster.questions.look_sizes import LookSizes
from samecluster.recovery.cluster_names import ClusterNames
from samecluster.recovery.predict.looks.corrected import Corrected
from samecluster.recovery.predict.model import GroupModel

_OF_MARKED = 0.1  # what a mark is worth beside a label: one group less of the few that are likely
_DOUBTFUL = 4  # times a sheet's size: the most doubtful points, of which unlike ones are taken
_LAID_OUT = 3  # sheets at most; of more groups none promises much less, and each takes as long
_SPREAD = 3.0  # random points that one tells as much as about missing groups: asked ones are spread
_SURPRISE = 0.05  # the least that a model leaves to other groups, however sure it was
_NOISE = 0.1  # of similarities, so that a copy of what is on the sheet still has some worth
_ROUNDS = 50  # of the iteration for the share of groups that nobody has met; a few come close
_FIRST_ANSWERS = 30.0  # answers that a label's worth is measured by while there are few


class LookModel(GroupModel, Protocol):
    """A model that also draws points, and remembers what it said and what was ruled out."""

    def foretell(self, items: Iterable[int]) -> None:
        """Keep what is said of points whose answers came together, before they are learned."""
        ...

    def drawn_items(self, count: int, skip: Collection[int]) -> list[int]:
        """Rows drawn at random among those that are not known."""
        ...

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


class Stakes(NamedTuple):
    """What is at stake now.

    ``unseen`` is the share of points in groups that nobody has met, ``found`` the size of one of
    these, ``worth`` how many labels that may be wrong depend on one that becomes known.
    """

    unseen: float
    found: float
    worth: float


@dataclass(frozen=True)
class Draft:
    """An offer that takes a while to work out, and the most that it can be worth."""

    kind: str
    most: float
    finished: Callable[[], Offer | None]


@dataclass
class LookChoice:
    """Chooses looks.

    ``waiting`` are points that were marked and are not placed yet, each with the probability that
    the model gave to the groups which are still open for it. ``left`` and ``hit`` are about points
    that are left on a sheet and found in a choice, ``new`` about points that waited and found a
    group.
    """

    model: LookModel
    names: ClusterNames
    looks: LookSizes
    waiting: dict[int, float] = field(default_factory=dict)
    told_apart_in_vain: set[tuple[int, int]] = field(default_factory=set)
    left: Corrected = field(default_factory=Corrected)
    hit: Corrected = field(default_factory=Corrected)
    new: Corrected = field(default_factory=Corrected)
    _said_new: dict[int, float] = field(default_factory=dict)

    def best(self, skip: Collection[int]) -> Offer | None:
        """The look of most value per second; None if nothing is left to be asked."""
        chances = self.model.chances()
        open_ = np.ones(len(chances), dtype=np.bool_)
        open_[[*self.names.name_of, *skip]] = False
        self._drop_placed(open_)
        stakes = self._stakes(chances)
        offers = [*self._waiting_choices(chances, stakes), *self._boards(chances)]
        drafts = [
            *self._fresh_choices(chances, open_, skip, stakes),
            *self._sheets(chances, open_, stakes.worth),
        ]
        return self._best_of(offers, drafts)

    def _best_of(self, offers: list[Offer], drafts: list[Draft]) -> Offer | None:
        """The best per second; drafts are finished only as long as they promise more."""
        cost: dict[str, float] = asdict(self.looks.seconds)

        def per_second(offer: Offer) -> float:
            return offer.value / cost[offer.kind]

        best = max(offers, key=per_second, default=None)
        for draft in sorted(drafts, key=lambda one: -one.most / cost[one.kind]):
            if best is not None and draft.most / cost[draft.kind] <= per_second(best):
                break
            offer = draft.finished()
            if offer is not None and (best is None or per_second(offer) > per_second(best)):
                best = offer
        return best

    def _drop_placed(self, open_: BoolArray) -> None:
        """Points that wait no longer: whether they found a group."""
        for item in [item for item in self.waiting if not open_[item]]:
            del self.waiting[item]
            said, name = self._said_new.pop(item, None), self.names.name_of.get(item)
            if said is not None and name is not None:
                came = self.names.representative(name) == item
                self.new.heard(np.array([said]), np.array([False]), np.array([came]))

    def mark(self, item: int, chance: float) -> None:
        """A point is out of a group that it was in with this chance."""
        self.waiting[item] = self.waiting.get(item, 1.0) * max(1.0 - chance, _SURPRISE)

    def _unseen(self) -> float:
        """The share of points in groups that nobody has met: the least of three guesses.

        That of the model; of Good and Turing, by groups with one member; and by how long ago the
        last group was found. They all go by points that were placed, so that those that wait, out
        of all the groups that they might have been in, are counted beside them.
        """
        asked, known = list(self.names.name_of), self.model.unseen()
        founders = {self.names.representative(name) for name in self.names.alive}
        since = next(n for n, item in enumerate(reversed(asked)) if item in founders)
        alone = sum(len(self.names.members[name]) == 1 for name in self.names.alive)
        turing = (alone + 0.5) / (len(asked) + 1.0)
        usual = min(turing, 1.0 / (_SPREAD * since + 2.0), 1.0 if known is None else known)
        return max(usual, self._unseen_by_waiting())

    def _unseen_by_waiting(self) -> float:
        """The share u that agrees with the chances of what waits to be in no known group."""
        share, total = 0.5, len(self.names.name_of) + len(self.waiting)
        for _ in range(_ROUNDS if self.waiting else 0):
            share = float(self._new_of(share, list(self.waiting)).sum()) / total
        return share if self.waiting else 0.0

    def _new_of(self, unseen: float, items: Sequence[int]) -> FloatArray:
        """(m,) the chance that items are in groups that nobody has met, of which there is a share.

        Of those that wait, corrected by what came of others.
        """
        said = self._out_of_all(unseen, items)
        waits = np.array([item in self.waiting for item in items], dtype=np.bool_)
        return np.where(waits, self.new.chances(said, np.zeros_like(waits)), said)

    def _out_of_all(self, unseen: float, items: Sequence[int]) -> FloatArray:
        """(m,) the same by the model alone.

        What it gave to groups that an item is out of now speaks for an unknown one.
        """
        left = np.array([self.waiting.get(item, 1.0) for item in items])
        return np.asarray(unseen / (unseen + (1.0 - unseen) * left))

    def _stakes(self, chances: FloatArray) -> Stakes:
        n, k = chances.shape
        unseen, wrong = self._unseen(), float(np.sum(1.0 - chances.max(axis=1)))
        found = min(unseen * n, n / max(k, 1))
        return Stakes(unseen, found, 1.0 + wrong / (len(self.names.name_of) + _FIRST_ANSWERS))

    def _waiting_choices(self, chances: FloatArray, stakes: Stakes) -> Iterable[Offer]:
        if self.waiting:
            items = sorted(self.waiting)
            values = self._values(chances, items, stakes)
            at = int(values.argmax())
            yield Offer("choice", float(values[at]), (items[at],))

    def _fresh_choices(
        self, chances: FloatArray, open_: BoolArray, skip: Collection[int], stakes: Stakes
    ) -> Iterable[Draft]:
        """A choice for the point that the model would ask about."""
        doubt = float(1.0 - chances[open_].max(axis=1).min(initial=1.0))

        def finished() -> Offer | None:
            item = self.model.next_item(skip)
            if item is None:
                return None
            return Offer("choice", float(self._values(chances, [item], stakes)[0]), (item,))

        if open_.any():
            most = (1.0 - stakes.unseen) * doubt * stakes.worth + stakes.unseen * stakes.found
            yield Draft("choice", most, finished)

    def _values(self, chances: FloatArray, items: Sequence[int], stakes: Stakes) -> FloatArray:
        """(m,) what choices for items are worth."""
        waits = np.array([item in self.waiting for item in items])
        doubts = np.where(waits, 1.0, 1.0 - chances[items].max(axis=1))
        hits = self.hit.chances(self.shown(chances[items]), waits)
        said, new = self._out_of_all(stakes.unseen, items), self._new_of(stakes.unseen, items)
        self._said_new |= dict(zip(items, said.tolist(), strict=True))
        return np.asarray((1.0 - new) * hits * doubts * stakes.worth + new * stakes.found)

    def shown(self, chances: FloatArray) -> FloatArray:
        """(m,) the chance of the groups that a choice shows, from those of all groups (m, k)."""
        return np.asarray(np.sort(chances, axis=1)[:, -self.looks.choice :].sum(axis=1))

    def _sheets(self, chances: FloatArray, open_: BoolArray, worth: float) -> Iterable[Draft]:
        """Sheets of the groups that promise most; items are chosen once a sheet may be the best."""
        items = np.flatnonzero(open_)
        if not len(items) or self.looks.sheet < 2:
            return
        best = chances[items].argmax(axis=1)
        marked = np.isin(items, list(self.waiting))
        left = self.left.chances(chances[items, best], marked)
        # Who was marked elsewhere is wanted here: a label comes only where it is looked for.
        doubts = np.where(marked, 1.0, 1.0 - left)
        gains = worth * doubts * (left + (1.0 - left) * _OF_MARKED)
        drafts: list[Draft] = []
        for column, group in enumerate(self.names.alive):
            mine = np.flatnonzero(best == column)
            order = mine[np.argsort(-gains[mine], kind="stable")]
            inside = (at for at in order if group not in self.model.outside(int(items[at])))
            most = list(islice(inside, _DOUBTFUL * self.looks.sheet))
            if len(most) > 1:
                laid_out = partial(self._laid_out, group, items[most], gains[most])
                promise = float(gains[most[: self.looks.sheet]].sum())
                drafts.append(Draft("sheet", promise, laid_out))
        yield from sorted(drafts, key=lambda one: -one.most)[:_LAID_OUT]

    def _laid_out(self, group: int, items: IntArray, gains: FloatArray) -> Offer:
        chosen, value = self._diverse(items, gains)
        return Offer("sheet", value, tuple(items[chosen].tolist()), group)

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
