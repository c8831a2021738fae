"""RECUR, the paper's algorithm (Algorithm 2), with TessellationLearn (Algorithm 1) inside.

Each round draws points until a cluster C has a sample S_C, encloses S_C in its minimum-volume
ellipsoid E, cuts E into cells that lie all in C or all outside, and asks one question a cell.
Instead of E it can take a low-stretch separator, which leaves the rest of the sample out.

Two things the paper leaves open are settled here. First, points that were asked about carry their
label from then on and are not drawn again. Second, the constant b of the sample size b·d²·ln k is
4.5: for a sample of m points, the expected share of C outside the ellipsoid is at most
d(d+3)/2/(m+1), because an ellipsoid of minimum volume is fixed by at most d(d+3)/2 of its points
and each of m+1 exchangeable points is equally likely to be one of them; with b = 4.5 that is at
most 1/2 for every d ≥ 1 and k ≥ 2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from samecluster._parameters import check_one_of, check_positive, check_share
from samecluster._typing import IntArray
from samecluster.errors import InvalidInputError
from samecluster.geometry import tolerance
from samecluster.geometry.ellipsoid import Ellipsoid
from samecluster.geometry.hull import expand_hull, sound_expansion
from samecluster.geometry.mvee import enclosing_ellipsoid
from samecluster.geometry.separator import low_stretch_separator
from samecluster.geometry.tessellation import Tessellation, group_cells, slack
from samecluster.points.array import UnitScaling
from samecluster.questions.pair import Question, Verdict
from samecluster.questions.run import Plan
from samecluster.recovery.labelling import Labelling
from samecluster.recovery.placement import MAX_COMPARATORS, Placement
from samecluster.recovery.problem import Problem
from samecluster.recovery.result.how import How
from samecluster.recovery.result.result import Recovery


@dataclass(frozen=True)
class Recur:
    """Settings of RECUR.

    Parameters
    ----------
    sampling : "until" draws until some cluster has b·d²·ln k samples, as in the paper's
        Algorithm 2; "batches" draws 10·k points a round, as in its experiments
    sample_constant : the b above
    epsilon : stop once at most this share of the points has no label
    expansion : greedy hull expansion before the ellipsoid is computed: "sound" blows the hull up
        by (1+√(1+γ))/2, which never takes in a foreign point; "paper" by 1+γ/d, the paper's
        heuristic, which may; None does without
    ellipsoid : what is tessellated: "mvee", the minimum-volume ellipsoid of the known members, or
        "separator", the ellipsoid of least stretch around them that leaves out the points of
        other clusters drawn in the round; where no separator is found, the MVEE takes its place
    capped : count a margin above 1/2 as 1/2 in the tessellation, as its proof demands
    within : only consider points inside this multiple of the sample's ellipsoid in a round
    hull_members : at most this many members span the hull in the expansion

    With the default `capped` and without the "paper" expansion every label is right if the
    declared margin is. Otherwise the labels that were not asked count as inferred.
    """

    sampling: Literal["until", "batches"] = "until"
    sample_constant: float = 4.5
    epsilon: float = 0.0
    expansion: Literal["sound", "paper"] | None = "sound"
    ellipsoid: Literal["mvee", "separator"] = "mvee"
    capped: bool = True
    within: float | None = None
    hull_members: int | None = None

    name = "recur"

    def __post_init__(self) -> None:
        check_one_of("sampling", self.sampling, "until", "batches")
        if self.expansion not in ("sound", "paper", None):
            raise InvalidInputError(
                f'expansion is "sound", "paper" or None, got {self.expansion!r}'
            )
        check_one_of("ellipsoid", self.ellipsoid, "mvee", "separator")
        check_share("epsilon", self.epsilon)
        check_positive("sample_constant", self.sample_constant)

    @classmethod
    def as_published(cls) -> Recur:
        """The settings of the paper's experiments, which fed γ=10 to data of margin 1.

        They trade the guarantee for fewer questions: see the docs before you use them.
        """
        return cls(sampling="batches", expansion="paper", capped=False, within=1.1, hull_members=50)

    @property
    def guaranteed(self) -> bool:
        """Whether labels that were not asked are proven under the declared margin."""
        return self.capped and self.expansion != "paper"

    def plan(self, problem: Problem, labelling: Labelling) -> Plan[Recovery]:
        return RecurRun(self, problem, labelling).play()


class RecurRun:
    """One run of RECUR: what its rounds share."""

    def __init__(self, settings: Recur, problem: Problem, labelling: Labelling) -> None:
        self.settings = settings
        self.problem = problem
        self.labelling = labelling
        scaling = UnitScaling.of(problem.X)
        self.points = scaling.apply(problem.X)
        labelling.resolution = tuple(np.ldexp(tolerance.RESOLUTION, scaling.exponent).tolist())
        self.n_clusters = problem.known_n_clusters(settings.name)
        self.placing = Placement(self.n_clusters)
        self.known_how = How.PROVEN if settings.guaranteed else How.INFERRED
        labelling.ground = self.known_how
        # Points that stayed unsure: asking again would not help, so they are left alone.
        self.aside: set[int] = set()
        self.margin = problem.known_margin(settings.name)
        self.thickness = _thickness(self.margin, self.points.shape[1])

    def play(self) -> Plan[Recovery]:
        n = len(self.points)
        while len(left := self._left()) > self.settings.epsilon * n:
            drawn = yield from self._sample(left)
            self._mark_asked(drawn)
            if drawn:
                cluster = max(drawn, key=lambda c: len(drawn[c]))
                sample = np.array(drawn.pop(cluster), dtype=np.int64)
                foreign = np.array([i for items in drawn.values() for i in items], dtype=np.int64)
                yield from self._learn(cluster, sample, foreign)
            self.labelling.close_round()
        return self.labelling.recovery()

    def _left(self) -> IntArray:
        left = self.labelling.unlabelled()
        if self.aside:
            left = np.setdiff1d(left, np.fromiter(self.aside, dtype=np.int64))
        return left

    def _mark_asked(self, drawn: dict[int, list[int]]) -> None:
        for cluster, items in drawn.items():
            self.labelling.mark(np.array(items, dtype=np.int64), cluster, How.ASKED)

    def _sample(self, left: IntArray) -> Plan[dict[int, list[int]]]:
        """Draw points and find their clusters: the distinct points drawn, by cluster."""
        if self.settings.sampling == "batches":
            size = min(10 * self.n_clusters, len(left))
            draws = self.problem.rng.choice(left, size=size, replace=False)
            found = yield from self._place(draws)
            return _grouped(draws, found)
        wanted = self._sample_size()
        counts = np.zeros(self.n_clusters, dtype=np.int64)
        grouped: dict[int, list[int]] = {}
        while counts.max() < wanted:
            if self.aside and np.isin(left, list(self.aside)).all():
                break
            # This many more draws are needed whatever they turn out to be.
            draws = self.problem.rng.choice(left, size=wanted - int(counts.max()))
            found = yield from self._place(draws)
            for cluster, items in _grouped(draws, found).items():
                counts[cluster] += np.count_nonzero(np.asarray(found) == cluster)
                grouped[cluster] = list(dict.fromkeys(grouped.get(cluster, []) + items))
        return grouped

    def _sample_size(self) -> int:
        d = int(self.points.shape[1])
        size = self.settings.sample_constant * d**2 * math.log(self.n_clusters)
        return max(1, math.ceil(size))

    def _place(self, draws: IntArray) -> Plan[list[int]]:
        items = [int(item) for item in draws]
        found = yield from self.placing.place(items)
        self.aside.update(item for item, c in zip(items, found, strict=True) if c < 0)
        return found

    def _learn(self, cluster: int, sample: IntArray, foreign: IntArray) -> Plan[None]:
        """TessellationLearn: label what lies in the sample's ellipsoid and in the cluster.

        ``foreign`` are the points that were drawn with the sample and are not in the cluster.
        """
        nearby = self._nearby(sample)
        grown = self._expand(sample, nearby)
        self.labelling.mark(grown, cluster, self.known_how)
        members = np.concatenate([sample, grown])
        others = np.setdiff1d(nearby, grown, assume_unique=True)
        inside, cells = self._tessellate(members, others, foreign)
        known = np.isin(cells, cells[: len(members)])[len(members) :]
        cells = cells[len(members) :]
        self.labelling.mark(inside[known], cluster, self.known_how)
        yield from self._ask_cells(cluster, inside[~known], cells[~known])

    def _nearby(self, sample: IntArray) -> IntArray:
        """The points without label that this round considers."""
        left = self._left()
        if self.settings.within is None:
            return left
        enclosing = enclosing_ellipsoid(self.points[sample], thickness=self.thickness)
        around = enclosing.ellipsoid.scaled(self.settings.within)
        return left[around.contains(self.points[left], off_span=self.thickness)]

    def _tessellate(
        self, members: IntArray, others: IntArray, foreign: IntArray
    ) -> tuple[IntArray, IntArray]:
        """The others inside the members' ellipsoid, and the cells of members and these."""
        ellipsoid, rounding = self._enclose(members, foreign)
        contained = ellipsoid.contains(
            self.points[others], off_span=self.thickness, slack=tolerance.ROUNDING
        )
        inside = others[contained]
        tessellation = Tessellation(
            ellipsoid.rank,
            self.margin,
            stretch=rounding / max(ellipsoid.rank, 1),
            capped=self.settings.capped,
        )
        both = self.points[np.concatenate([members, inside])]
        return inside, group_cells(tessellation.keys(ellipsoid.whiten(both)))

    def _enclose(self, members: IntArray, foreign: IntArray) -> tuple[Ellipsoid, float]:
        """The ellipsoid E to tessellate and ρ: some translate of E/ρ is in the members' hull."""
        points = self.points[members]
        if self.settings.ellipsoid == "mvee":
            enclosing = enclosing_ellipsoid(points, thickness=self.thickness)
            return enclosing.ellipsoid, enclosing.rounding
        found = low_stretch_separator(points, self.points[foreign], thickness=self.thickness)
        return found.ellipsoid, found.rounding

    def _expand(self, sample: IntArray, candidates: IntArray) -> IntArray:
        if self.settings.expansion is None:
            return candidates[:0]
        dimension, margin = self.points.shape[1], self.margin
        if self.settings.expansion == "paper":
            factor = 1.0 + margin / dimension
        else:
            # Members and points may lie off a flat hull's span by the thickness: pay for it.
            off_span = dimension * self.thickness / tolerance.RESOLUTION
            factor = sound_expansion(margin) - off_span * (1.0 + math.sqrt(1.0 + margin)) / 2.0
        return expand_hull(
            self.points, sample, candidates, factor, self.thickness, self.settings.hull_members
        )

    def _ask_cells(self, cluster: int, items: IntArray, cells: IntArray) -> Plan[None]:
        """One question a cell; if nobody is sure, one more about another of its points."""
        representative = self.placing.names.representative(cluster)
        order = np.argsort(cells, kind="stable")
        mates = np.split(items[order], np.flatnonzero(np.diff(cells[order])) + 1)
        waiting = [cell for cell in mates if len(cell)]
        for attempt in range(MAX_COMPARATORS):
            if not waiting:
                return
            asked = [int(cell[min(attempt, len(cell) - 1)]) for cell in waiting]
            verdicts = yield [Question(item, representative) for item in asked]
            for item, cell, verdict in zip(asked, waiting, verdicts, strict=True):
                if verdict is Verdict.SAME:
                    self._take_cell(cluster, item, cell)
            waiting = [
                cell
                for cell, verdict in zip(waiting, verdicts, strict=True)
                if verdict is Verdict.UNSURE
            ]

    def _take_cell(self, cluster: int, asked: int, mates: IntArray) -> None:
        self.labelling.mark(mates, cluster, self.known_how)
        self.labelling.mark(np.array([asked]), cluster, How.ASKED)
        self.placing.add(asked, cluster)


def _thickness(margin: float, dimension: int) -> float:
    """How far off a flat sample's span (a column) a point may lie and still be judged in it.

    A cluster boundary is no sharper than the resolution τ in any column, so an offset of v·τ a
    column changes d_W by at most v·d. That must stay within what the tessellation's proof leaves.
    """
    spare = slack(margin) / 4.0
    return tolerance.RESOLUTION * min(spare if spare > 0 else 1e-3, 1e-3) / dimension


def _grouped(items: IntArray, clusters: list[int]) -> dict[int, list[int]]:
    """Distinct items by cluster, without those that have none."""
    grouped: dict[int, list[int]] = {}
    for item, cluster in dict(zip(items.tolist(), clusters, strict=True)).items():
        if cluster >= 0:
            grouped.setdefault(cluster, []).append(item)
    return grouped
