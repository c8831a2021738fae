"""Prediction by looks: playing what `look_choice` chose, until little is expected to be wrong."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations

from samecluster.questions.look import Board, LookSizes, Sheet
from samecluster.questions.pair import Verdict
from samecluster.questions.run import Plan
from samecluster.recovery.cluster_names import ClusterNames
from samecluster.recovery.predict.looks.look_choice import LookChoice, LookModel, Offer
from samecluster.recovery.predict.placing import ModelPlacement

_UNSURE = Verdict.UNSURE
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

    def start(self, items: Sequence[int]) -> Plan[None]:
        """Sort the first points, spread over the data, into groups on one board."""
        if len(items) > 2 and self._looks.board > 2:
            yield from self._compare(items)
        else:
            yield from self._place(items)

    def next(self) -> Plan[bool]:
        """Put the look of most value; False if nothing is left to be asked."""
        offer = self.choice.best(self._aside)
        if offer is None:
            return False
        if offer.kind == "choice":
            yield from self._place(offer.items)
        elif offer.kind == "sheet":
            yield from self._sort(offer)
        else:
            members = self._names.members
            yield from self._compare([members[group][0] for group in offer.groups])
        return True

    def _place(self, items: Sequence[int]) -> Plan[None]:
        clusters = yield from self._placing.place(items)
        self._aside |= {i for i, c in zip(items, clusters, strict=True) if c < 0}

    def _sort(self, offer: Offer) -> Plan[None]:
        """A sheet beside the member that is most like its items; what is marked waits."""
        members = self._names.members[offer.group]
        alike = self._model.alike(members, offer.items)
        sheet = Sheet.of(members[int(alike.mean(axis=1).argmax())], offer.items)
        verdicts = yield [sheet]
        self._placing.expect(offer.items)
        chances = self._model.chances()[:, self._names.alive.index(offer.group)]
        for question, verdict in zip(sheet.questions, verdicts, strict=True):
            self._placing.heard(question, offer.group, verdict)
            if verdict is Verdict.SAME:
                self._placing.add(question.item, offer.group)
            elif verdict is Verdict.DIFFERENT:
                self.choice.mark(question.item, float(chances[question.item]))
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
