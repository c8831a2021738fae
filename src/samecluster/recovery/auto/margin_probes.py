"""Questions where a guessed margin would most likely fail, once labels follow from it."""

from __future__ import annotations

import numpy as np

from samecluster._typing import IntArray
from samecluster.questions.pair import Question, Verdict
from samecluster.questions.run import Plan
from samecluster.recovery.certify.plan import CertifyRun
from samecluster.recovery.distances import ScaledDistances
from samecluster.recovery.predict.clouds import Clouds
from samecluster.recovery.predict.similarity import features
from samecluster.recovery.result.how import How

# Questions at risky labels; chosen by benchmarks/imperfect (goal: at most 60 for the search)
_PROBES = 15
# Of these every third is drawn at random, wherever it looks safe: misfits lie on the outside, and a
# group in the middle of another one has none. With half of the labels wrong, five miss it 1 in 32
_DRAWN_EVERY = 3
_LOOKED_AT = 8000  # inferred points among which misfits are looked for: more only takes time


class MarginProbes:
    """Probes of what a run of certify has inferred under a guessed margin."""

    def __init__(self, asking: CertifyRun, near: ScaledDistances, seed: int) -> None:
        self._asking, self._near, self._seed = asking, near, seed
        self._labelling, self._batch = asking.labelling, asking.settings.batch

    def hold(self, n_before: int) -> Plan[bool]:
        """Ask about clusters that were told apart, and points put into one, without a question.

        False as soon as an answer is against it. ``n_before`` probes were put under other margins.
        """
        parted = self._parted()
        for start in range(0, len(parted), self._batch):
            if Verdict.SAME in (yield parted[start : start + self._batch]):
                return False
        risky, n_asked = self._risky(), self._labelling.n_questions
        while risky:
            n_probes = n_before + self._labelling.n_questions - n_asked
            at_once = min(self._batch, _PROBES - n_probes)
            if at_once <= 0:
                break
            put, risky = risky[:at_once], risky[at_once:]
            if Verdict.DIFFERENT in (yield put):
                return False
        return True

    def _parted(self) -> list[Question]:
        """For each cluster its nearest other one, by asked members, if no answers part them."""
        names = self._asking.names
        members = {name: names.members[name] for name in names.alive}
        nearest: list[Question] = []
        for name, own in members.items():
            others = [item for other in members if other != name for item in members[other]]
            if others and own:
                gaps = [(float(self._near.distances(item, others).min()), item) for item in own]
                item = min(gaps)[1]
                nearest.append(Question(item, self._near.first(item, others)[0]))
        return [question for question in nearest if self._labelling.implied(question) is None]

    def _risky(self) -> list[Question]:
        """Inferred points beside an asked member of their cluster, the riskiest first.

        A cluster that another one has swallowed shows as a component of the guide in which nobody
        was asked. After the middles of such come those points of each cluster, by turns, that suit
        another one best, and random ones among them.
        """
        labels, members = self._labelling.labels, self._asking.names.members
        inferred = np.flatnonzero(self._labelling.how == How.INFERRED)
        drawn = np.random.default_rng(self._seed).permutation(inferred)[:_LOOKED_AT]
        ranked = _every_so_often(drawn.tolist(), [*self._unheard(), *self._misfits(drawn)])
        return [
            Question(item, self._near.first(item, members[int(labels[item])])[0])
            for item in list(dict.fromkeys(ranked))[:_PROBES]
        ]

    def _unheard(self) -> list[int]:
        """The middle of each component without an asked point, if it is inferred."""
        sample, components = self._asking.sample, self._asking.guide.components
        how = self._labelling.how[sample.rows]
        found = []
        for component in np.unique(components).tolist():
            own = np.flatnonzero(components == component)
            if (how[own] == How.ASKED).any():
                continue
            points = sample.points[own]
            middle = own[int(np.sum((points - points.mean(axis=0)) ** 2, axis=1).argmin())]
            if how[middle] == How.INFERRED:
                found.append(int(sample.rows[middle]))
        return found

    def _misfits(self, items: IntArray) -> list[int]:
        if not len(items):
            return []
        names, groups = np.unique(self._labelling.labels[items], return_inverse=True)
        points = features(self._asking.known.points, items)[items]
        worst_first = np.argsort(-Clouds(points, groups, len(names)).misfits(), kind="stable")
        turn = np.zeros(len(items), dtype=np.int64)
        for group in range(len(names)):
            own = worst_first[groups[worst_first] == group]
            turn[own] = np.arange(len(own))
        by_turns = worst_first[np.argsort(turn[worst_first], kind="stable")]
        return [int(item) for item in items[by_turns[:_PROBES]]]


def _every_so_often(drawn: list[int], ranked: list[int]) -> list[int]:
    """Ranked items, each run of ``_DRAWN_EVERY`` with one that was drawn at its end, if any."""
    run = _DRAWN_EVERY - 1
    runs = enumerate(range(0, len(ranked), run))
    return [item for n, at in runs for item in (*ranked[at : at + run], *drawn[n : n + 1])]
