"""Which answer of a contradiction is likely wrong.

Each answer carries a weight: the log-odds of being right, from votes or from a declared error rate.
An answer is suspect if the contradictions around it would go if it alone were taken back. What
speaks against it is what would have to be wrong if it were right. What follows from all answers
together is for `samecluster.questions.conflicts.correlation_clustering`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from samecluster.questions.conflicts.contradictions import Contradiction, SameGraph, contradictions
from samecluster.questions.pair import Answer, Verdict

Weight: TypeAlias = Callable[[Answer], float]

_ROUNDING = 1e-9  # weights are log-odds of size 1 to 10: sums that differ by less are equal


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
    weights = weigh(said, weight)
    graph = SameGraph(said)
    found = contradictions(said)
    bridges = graph.bridges(answer.question.item for *_, answer in found)
    in_group: dict[int, float] = {}
    for *_, answer in found:
        group = graph.group(answer.question.item)
        in_group[group] = in_group.get(group, 0.0) + weights[answer]
    ranked = []
    for answer, sets in _single_retractions(found, bridges).items():
        if answer.verdict is Verdict.SAME:
            against = sum(weights[different] for *_, different in sets)
        else:
            others = in_group[graph.group(answer.question.item)] - weights[answer]
            against = _against_different(sets[0], graph, bridges, weights, others)
        ranked.append(Suspect(answer, tuple(sets), weights[answer], against))
    newest = {answer: -number for number, answer in enumerate(said)}
    return sorted(ranked, key=lambda suspect: (-suspect.gain, newest[suspect.answer]))


def weigh(answers: Iterable[Answer], weight: Weight | None) -> dict[Answer, float]:
    """The weight of each answer. One that its own voters no longer believe weighs nothing."""
    return {answer: 1.0 if weight is None else max(weight(answer), 0.0) for answer in answers}


def _single_retractions(
    found: Iterable[Contradiction], bridges: Collection[Answer]
) -> dict[Answer, list[Contradiction]]:
    resolved: dict[Answer, list[Contradiction]] = {}
    for contradiction in found:
        for answer in contradiction[:-1]:
            if answer in bridges:
                resolved.setdefault(answer, []).append(contradiction)
        # Another "different" of that pair, said by another person, is a contradiction of its own.
        resolved[contradiction[-1]] = [contradiction]
    return resolved


def _against_different(
    found: Contradiction,
    graph: SameGraph,
    bridges: Collection[Answer],
    weights: Mapping[Answer, float],
    others: float,
) -> float:
    """The least weight of "same" answers that would have to be wrong, beyond ``others``.

    If these were wrong, the other "different" answers of the group (weight ``others``) might be
    right at the same time. What is left over speaks against this one alone.
    """
    a, b = found[-1].question.pair
    if all(answer in bridges for answer in found[:-1]):
        least = min(weights[answer] for answer in found[:-1])
    else:
        around = (
            sum(weights[answer] for said in graph.neighbours(item).values() for answer in said)
            for item in (a, b)
        )
        # No cut weighs more than all answers about one of the two; often that tells enough.
        least = _flow(graph, a, b, weights) if min(around) > others else 0.0
    return max(least - others, 0.0)


def _flow(graph: SameGraph, start: int, goal: int, weights: Mapping[Answer, float]) -> float:
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
