"""Prediction by looks: playing what `look_choice` chose, until little is expected to be wrong."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations

import numpy as np

from samecluster.questions.look import Board, CheckSheet, Look, Sheet
from samecluster.questions.look_sizes import LookSizes
from samecluster.questions.pair import Verdict
from samecluster.questions.run import Plan
from samecluster.recovery.cluster_names import ClusterNames
from samecluster.recovery.predict.looks.look_choice import LookChoice, LookModel, Offer
from samecluster.recovery.predict.placing import ModelPlacement

_UNSURE = Verdict.UNSURE
# Every 16th look is a sheet of random points: 60 of them in 80 looks. If none of 60 is the first
# of its group, at most 5 % of all are in groups that nobody has met
_AT_RANDOM = 16
_MARKED_BEFORE = 0.5  # the chance of a group that a point was in before it was marked, if unknown


class LookPlay:
    """Looks at points of a model, and what their replies do to groups and to what waits.

    ``aside`` are points that nobody could place: they are not shown again. ``waiting`` are points
    that were marked before and are not placed yet.
    """

    def __init__(
        self,
        model: LookModel,
        names: ClusterNames,
        placing: ModelPlacement,
        looks: LookSizes,
        aside: set[int],
        waiting: Iterable[int] = (),
    ) -> None:
        self._names, self._placing, self._model = names, placing, model
        self._looks, self._aside = looks, aside
        self.choice = LookChoice(model, names, looks)
        for item in waiting:
            self.choice.mark(item, _MARKED_BEFORE)
        self._n_looks = 0

    def start(self, items: Sequence[int]) -> Plan[None]:
        """Sort the first points, spread over the data, into groups on one board."""
        if len(items) > 2 and self._looks.board > 2:
            yield from self._compare(items)
        else:
            yield from self._place(items)

    def next(self) -> Plan[bool]:
        """Put the look of most value, or one at random; False if nothing is left to be asked."""
        yield from self._found_lost()
        self._n_looks += 1
        if self._n_looks % _AT_RANDOM == 0 and self._looks.sheet > 1:
            drawn = self._model.drawn_items(self._looks.sheet, self._aside)
            if drawn:
                yield from self._check(drawn)
                return True
        offer = self.choice.best(self._aside)
        if offer is None:
            return False
        if offer.kind == "choice":
            yield from self._choose(offer.items[0])
        elif offer.kind == "sheet":
            yield from self._sort(offer)
        else:
            members = self._names.members
            yield from self._compare([members[group][0] for group in offer.groups])
        return True

    def _found_lost(self) -> Plan[None]:
        """Points that were marked on the sheets of all groups found one, without a look."""
        for item in [item for item in self.choice.waiting if item not in self._names.name_of]:
            if self._model.outside(item).issuperset(self._names.alive):
                yield from self._place([item])

    def _choose(self, item: int) -> Plan[None]:
        """Place a point: at first among the likeliest groups."""
        names, chances = self._names, self._model.chances()[[item]]
        marked = np.array([item in self.choice.waiting])
        likely = np.argsort(-chances[0], kind="stable")[: self._looks.choice]
        first = {names.representative(names.alive[at]) for at in likely.tolist()}
        yield from self._place([item])
        found = names.representative(names.name_of[item]) if item in names.name_of else item
        if found != item:
            hit = np.array([found in first])
            self.choice.hit.heard(self.choice.shown(chances), marked, hit)

    def _place(self, items: Sequence[int]) -> Plan[None]:
        clusters = yield from self._placing.place(items)
        unplaced = {i for i, c in zip(items, clusters, strict=True) if c < 0}
        self._model.foretell(unplaced)
        self._aside |= unplaced

    def _sort(self, offer: Offer) -> Plan[None]:
        """A sheet beside the member that is most like its items; what is marked waits."""
        members = self._names.members[offer.group]
        alike = self._model.alike(members, offer.items)
        sheet = Sheet.of(members[int(alike.mean(axis=1).argmax())], offer.items)
        yield from self._sorted(sheet, [offer.group] * len(offer.items))

    def _check(self, items: Sequence[int]) -> Plan[None]:
        """Points drawn at random, each beside the likeliest member of its likeliest group."""
        chances, alive = self._model.chances(), self._names.alive
        likeliest = {item: alive[int(chances[item].argmax())] for item in items}
        cells = {i: group for i, group in likeliest.items() if group not in self._model.outside(i)}
        if cells:
            beside = [(item, self._placing.comparator(item, g, ())) for item, g in cells.items()]
            yield from self._sorted(CheckSheet.of(beside), list(cells.values()))
        if len(cells) < len(items):  # a single group, and they are outside of it
            yield from self._place([item for item in items if item not in cells])

    def _sorted(self, sheet: Look, groups: Sequence[int]) -> Plan[None]:
        """What belongs into its group gets its name, what is marked waits."""
        verdicts = yield [sheet]
        items = [question.item for question in sheet.questions]
        self._placing.expect(items)
        columns = [self._names.alive.index(group) for group in groups]
        said = self._model.chances()[items, columns]
        clear = np.array([verdict is not _UNSURE for verdict in verdicts])
        marked = np.array([item in self.choice.waiting for item in items])
        left = np.array([verdict is Verdict.SAME for verdict in verdicts])
        self.choice.left.heard(said[clear], marked[clear], left[clear])
        self._model.foretell(items)
        for at, (question, verdict) in enumerate(zip(sheet.questions, verdicts, strict=True)):
            self._placing.heard(question, groups[at], verdict)
            if verdict is Verdict.SAME:
                self._placing.add(question.item, groups[at])
            elif verdict is Verdict.DIFFERENT:
                self.choice.mark(question.item, float(said[at]))
        unsure = [q.item for q, v in zip(sheet.questions, verdicts, strict=True) if v is _UNSURE]
        if unsure:  # other members may be clearer
            yield from self._place(unsure)

    def _compare(self, items: Sequence[int]) -> Plan[None]:
        """A board of members of groups, and of points that stand for themselves."""
        pairs = list(combinations(items, 2))
        verdicts = dict(zip(pairs, (yield [Board.of(items)]), strict=True))
        self._placing.expect(items)
        name_of = self._names.name_of
        for at, item in enumerate(items):
            said = {other: verdicts[other, item] for other in items[:at]}
            same = [other for other in said if said[other] is Verdict.SAME and other in name_of]
            if item in name_of:
                continue
            if same:
                self._placing.add(item, name_of[same[0]])
            elif Verdict.UNSURE not in said.values():
                self._placing.found(item)
        for (one, other), verdict in verdicts.items():
            if one in name_of and other in name_of and name_of[one] != name_of[other]:
                self._told(one, other, verdict)
        self._aside |= {item for item in items if item not in name_of}

    def _told(self, one: int, other: int, verdict: Verdict) -> None:
        pair = sorted(self._names.name_of[item] for item in (one, other))
        self._placing.take((min(one, other), max(one, other)), verdict)
        if verdict is Verdict.UNSURE:
            self.choice.told_apart_in_vain.add((pair[0], pair[1]))
