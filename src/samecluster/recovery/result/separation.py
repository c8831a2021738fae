"""Which clusters are told apart, and by what: answers alone, or a proof under its premises."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from samecluster._typing import Array
from samecluster.proof.log import ProofLog
from samecluster.questions.ledger import Ledger
from samecluster.questions.pair import Answer, Verdict
from samecluster.recovery.result.how import How

__all__ = ["ClusterSeparation", "ProofSummary", "separation", "summary_of"]

Pairs = frozenset[tuple[int, int]]


@dataclass(frozen=True)
class ProofSummary:
    """What a proof log says beside the labels.

    ``resolution`` has a length per column, ``rests_on_count`` says whether the number of clusters
    was used, and ``different`` has pairs of items that the log puts into different clusters.
    """

    resolution: tuple[float, ...]
    rests_on_count: bool
    different: Pairs


def summary_of(log: ProofLog | None, row_of: Callable[[int], int] = int) -> ProofSummary | None:
    """The summary of a log; ``row_of`` gives the row of an item of the log, if they differ."""
    if log is None:
        return None
    founders: list[int] = []
    different: set[tuple[int, int]] = set()
    for record in log.records:
        if record[0] == "cluster":
            founders.append(record[1])
        different.update(_told_apart(record, founders))
    return ProofSummary(
        tuple(np.asarray(log.resolution, dtype=float).tolist()),
        any(record[0] in ("last", "count") for record in log.records),
        frozenset((row_of(one), row_of(other)) for one, other in different),
    )


def _told_apart(record: tuple[Any, ...], founders: list[int]) -> Iterator[tuple[int, int]]:
    """Pairs of items in different clusters, by a record of a proof log."""
    kind, *fields = record
    if kind == "out":
        yield fields[0], founders[fields[1]]
    elif kind == "differ":
        yield founders[fields[0]], founders[fields[1]]
    elif kind == "sdp" and fields[1] == "out":
        yield from ((int(item), founders[fields[0]]) for item in fields[2])
    elif kind == "count":
        yield from combinations(founders, 2)


@dataclass(frozen=True)
class ClusterSeparation:
    """Clusters, and which pairs of them (the smaller number first) are different by what.

    ``labels`` are all clusters. ``by_answers`` are pairs that answers separate, and
    ``by_proof`` those that follow from answers and the premises of a proof. ``joined`` says whether
    answers alone put the asked items of each cluster together.
    """

    labels: tuple[int, ...]
    by_answers: Pairs
    by_proof: Pairs
    joined: bool


def separation(
    labels: Array, how_codes: Array, answers: Iterable[Answer], proof: ProofSummary | None
) -> ClusterSeparation:
    """What separates the clusters of labels (n,)."""
    found = np.flatnonzero(np.bincount(labels[labels >= 0])) if len(labels) else np.zeros(0, int)
    answers = tuple(answers)
    group_of = _groups(answers)
    cores = _cores(labels, how_codes, group_of)
    core_of = {group: label for label, (group, *_) in cores.items()}
    by_answers, also = set(), set()
    for answer in answers:
        if answer.verdict is not Verdict.DIFFERENT:
            continue
        one, other = answer.question.pair
        direct = {core_of.get(group_of[one]), core_of.get(group_of[other])}
        if len(direct) == 2 and None not in direct:
            by_answers.add(_ordered(direct))
        also.add((one, other))
    by_proof = {
        _ordered({int(labels[one]), int(labels[other])})
        for one, other in also | (frozenset() if proof is None else proof.different)
        if min(how_codes[one], how_codes[other]) >= How.INFERRED and labels[one] != labels[other]
    }
    return ClusterSeparation(
        tuple(found.tolist()),
        frozenset(by_answers),
        frozenset(by_proof - by_answers),
        all(len(groups) == 1 for groups in cores.values()),
    )


def _groups(answers: Iterable[Answer]) -> dict[int, int]:
    """For each item that occurs in an answer one that stands for all that answers join to it."""
    same = Ledger(answer for answer in answers if answer.verdict is Verdict.SAME)
    spoken = (answer.question for answer in answers if answer.verdict is not Verdict.UNSURE)
    return {item: same.representative(item) for question in spoken for item in question.pair}


def _cores(
    labels: Array, how_codes: Array, group_of: Mapping[int, int]
) -> dict[int, tuple[int, ...]]:
    """For each label its groups of asked items, the largest first."""
    sizes: dict[int, dict[int, int]] = {}
    for item, group in group_of.items():
        label = int(labels[item])
        if label >= 0 and how_codes[item] == How.ASKED:
            counted = sizes.setdefault(label, {})
            counted[group] = counted.get(group, 0) + 1
    return {
        label: tuple(sorted(counted, key=lambda group: (-counted[group], group)))
        for label, counted in sizes.items()
    }


def _ordered(pair: set[Any]) -> tuple[int, int]:
    one, other = sorted(pair)
    return one, other
