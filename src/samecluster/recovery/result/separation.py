"""What a proof says beside the labels, and which clusters it tells apart under its premises."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from samecluster._typing import Array
from samecluster.proof.log import ProofLog
from samecluster.questions.pair import Answer, Verdict
from samecluster.recovery.result.how import How

Pairs = frozenset[tuple[int, int]]


@dataclass(frozen=True)
class ProofSummary:
    """What a proof log says beside the labels.

    ``resolution`` has a length per column, ``rests_on_count`` says whether the number of clusters
    was used, ``different`` has pairs of items that the log puts into different clusters, and
    ``lift`` says in which lift the margin is one; empty for none.
    """

    resolution: tuple[float, ...]
    rests_on_count: bool
    different: Pairs
    lift: str = ""


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
        "" if log.lift is None else log.lift.said(),
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


def separated_by_proof(
    labels: Array, how_codes: Array, answers: Iterable[Answer], proof: ProofSummary | None
) -> Pairs:
    """Pairs of labels (n,), the smaller number first, that are different clusters by answers and
    the premises of a proof."""
    different = {a.question.pair for a in answers if a.verdict is Verdict.DIFFERENT}
    return frozenset(
        _ordered(int(labels[one]), int(labels[other]))
        for one, other in different | (frozenset() if proof is None else proof.different)
        if min(how_codes[one], how_codes[other]) >= How.INFERRED and labels[one] != labels[other]
    )


def _ordered(one: int, other: int) -> tuple[int, int]:
    return (one, other) if one < other else (other, one)
