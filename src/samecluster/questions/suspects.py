"""Which answer of a contradiction is likely wrong.

Each answer carries a weight: the log-odds of being right, from votes or from a declared error rate.
An answer is suspect if the contradictions around it would go if it alone were taken back. What
speaks against it is what would have to be wrong if it were right; an answer that has more against
it than for it is outvoted. A tie is left open: it takes another answer, asked elsewhere
(`samecluster.questions.elsewhere`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from samecluster.questions.contradictions import Contradiction, SameGraph, contradictions
from samecluster.questions.pair import Answer, Verdict

__all__ = ["Resolution", "Suspect", "resolve", "suspects"]

Weight: TypeAlias = Callable[[Answer], float]

_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Suspect:
    """An answer, the contradictions that end if it alone is retracted, and what it weighs.

    ``against`` is the weight of what would have to be wrong if this answer were right.
    """

    answer: Answer
    resolves: tuple[Contradiction, ...]
    weight: float
    against: float

    @property
    def gain(self) -> float:
        return self.against - self.weight

    def __str__(self) -> str:
        return (
            f"{self.answer}: resolves {len(self.resolves)}, "
            f"weight {self.weight:.2g} for and {self.against:.2g} against"
        )


@dataclass(frozen=True, slots=True)
class Resolution:
    """Answers that were outvoted, those that remain, and the contradictions still among them."""

    kept: tuple[Answer, ...]
    retracted: tuple[Answer, ...]
    open: tuple[Contradiction, ...]


def suspects(answers: Iterable[Answer], weight: Weight | None = None) -> list[Suspect]:
    """Answers whose retraction alone ends contradictions, the most suspect first.

    ``weight`` gives the log-odds of an answer; by default each weighs 1, and an answer ranks by
    the number of contradictions that end without it.

    >>> from samecluster.questions.pair import Question
    >>> said = [(0, 1, "same"), (1, 2, "same"), (1, 3, "same")]
    >>> said += [(0, 2, "different"), (0, 3, "different")]
    >>> print(suspects(Answer(Question(i, j), Verdict(v)) for i, j, v in said)[0])
    0 and 1 same: resolves 2, weight 1 for and 2 against
    """
    said = list(dict.fromkeys(answers))
    weights = _weights(said, weight)
    found = contradictions(said)
    if not found:
        return []
    graph = SameGraph(said)
    bridges = _bridges(graph, {answer.question.item for *_, answer in found})
    resolved: dict[Answer, list[Contradiction]] = {}
    for contradiction in found:
        for answer in contradiction[:-1]:
            if answer in bridges:
                resolved.setdefault(answer, []).append(contradiction)
        # Another "different" of that pair, said by somebody else, is a contradiction of its own.
        resolved[contradiction[-1]] = [contradiction]
    ranked = [
        Suspect(
            answer, tuple(sets), weights[answer], _against(answer, sets, graph, bridges, weights)
        )
        for answer, sets in resolved.items()
    ]
    newest = {answer: -number for number, answer in enumerate(said)}
    return sorted(ranked, key=lambda suspect: (-suspect.gain, newest[suspect.answer]))


def resolve(answers: Iterable[Answer], weight: Weight | None = None) -> Resolution:
    """Retract what is outvoted, one answer after the other, until only ties are open."""
    kept = list(dict.fromkeys(answers))
    retracted: list[Answer] = []
    while outvoted := _outvoted(suspects(kept, weight)):
        kept = [answer for answer in kept if answer not in outvoted]
        retracted += outvoted
    return Resolution(tuple(kept), tuple(retracted), tuple(contradictions(kept)))


def _weights(answers: Iterable[Answer], weight: Weight | None) -> dict[Answer, float]:
    # Log-odds below zero, an answer that its own voters no longer believe, weigh nothing.
    return {answer: 1.0 if weight is None else max(weight(answer), 0.0) for answer in answers}


def _against(
    answer: Answer,
    sets: Sequence[Contradiction],
    graph: SameGraph,
    bridges: Collection[Answer],
    weights: dict[Answer, float],
) -> float:
    if answer.verdict is Verdict.SAME or all(other in bridges for other in sets[0][:-1]):
        return sum(min(weights[a] for a in found if a != answer) for found in sets)
    return _flow(graph, *answer.question.pair, weights)


def _outvoted(ranked: Sequence[Suspect]) -> list[Answer]:
    """Suspects with more against them than for them, and no equal in their contradictions.

    No two of them share a contradiction, so that each is judged as if it were the only one.
    """
    best: dict[Contradiction, list[float]] = {}
    for suspect in ranked:
        for contradiction in suspect.resolves:
            best.setdefault(contradiction, []).append(suspect.gain)
    return [
        suspect.answer
        for suspect in ranked
        if suspect.gain > _ROUNDING
        and all(_leads(suspect.gain, best[contradiction]) for contradiction in suspect.resolves)
    ]


def _leads(gain: float, gains: Sequence[float]) -> bool:
    """Whether a gain is the largest, and the only one so large."""
    return sum(other > gain - _ROUNDING for other in gains) == 1


def _bridges(graph: SameGraph, starts: Iterable[int]) -> set[Answer]:
    """The "same" answers without which the items of these groups fall apart."""
    parent: dict[int, int] = {}
    depth: dict[int, int] = {}
    # Each item points past the part of its way up that lies on a cycle.
    top: dict[int, int] = {}

    def climb(item: int) -> int:
        root = item
        while top[root] != root:
            root = top[root]
        while top[item] != root:
            top[item], item = root, top[item]
        return root

    for start in starts:
        if start in depth:
            continue
        depth[start], top[start] = 0, start
        for here in (queue := [start]):
            for there in graph.neighbours(here):
                if there not in depth:
                    depth[there], parent[there], top[there] = depth[here] + 1, here, there
                    queue.append(there)
        for here in queue:
            for there, said in graph.neighbours(here).items():
                if len(said) == 1 and (parent.get(there) == here or parent.get(here) == there):
                    continue
                a, b = climb(here), climb(there)
                while a != b:
                    if depth[a] < depth[b]:
                        a, b = b, a
                    top[a] = parent[a]
                    a = climb(a)
    return {graph.neighbours(item)[above][0] for item, above in parent.items() if top[item] == item}


def _flow(graph: SameGraph, start: int, goal: int, weights: dict[Answer, float]) -> float:
    """The least weight of "same" answers that separates two items (maximum flow)."""
    room: dict[tuple[int, int], float] = {}

    def left(a: int, b: int) -> float:
        if (a, b) not in room:
            room[a, b] = sum(weights[answer] for answer in graph.neighbours(a)[b])
        return room[a, b]

    total = 0.0
    while True:
        before = {start: start}
        for here in (queue := [start]):
            if goal in before:
                break
            for there in graph.neighbours(here):
                if there not in before and left(here, there) > _ROUNDING:
                    before[there] = here
                    queue.append(there)
        if goal not in before:
            return total
        steps = list(_steps(before, goal))
        push = min(left(a, b) for a, b in steps)
        for a, b in steps:
            room[a, b] = left(a, b) - push
            room[b, a] = left(b, a) + push
        total += push


def _steps(before: dict[int, int], goal: int) -> Iterator[tuple[int, int]]:
    while before[goal] != goal:
        yield before[goal], goal
        goal = before[goal]
