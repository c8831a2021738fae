"""Answers that cannot all be right, by the logic of same and different alone.

Such a set is minimal if it is a cycle with exactly one "different" in it: a chain of "same" answers
and a "different" between its ends. It is given in that order, the "different" last. Which of the
answers is wrong, and what to ask next, is for `samecluster.questions.conflicts.weights`.
Geometry is no business of this module.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TypeAlias

from samecluster.questions.ledger import root_of
from samecluster.questions.pair import Answer, Verdict

Contradiction: TypeAlias = tuple[Answer, ...]


def contradictions(answers: Iterable[Answer]) -> list[Contradiction]:
    """For each "different" answer that cannot be right with the rest, a smallest such set.

    Smallest sets first; the first one is a smallest of all. Empty if all answers can be right.

    >>> from samecluster.questions.pair import Question
    >>> said = [(0, 1, "same"), (1, 2, "same"), (2, 3, "same"), (0, 2, "same"), (0, 3, "different")]
    >>> for found in contradictions(Answer(Question(i, j), Verdict(v)) for i, j, v in said):
    ...     print("; ".join(map(str, found)))
    0 and 2 same; 2 and 3 same; 0 and 3 different
    """
    graph = SameGraph(answers)
    found = [
        (*graph.path(*answer.question.pair), answer)
        for answer in graph.different
        if graph.connected(*answer.question.pair)
    ]
    return sorted(found, key=len)


def every_contradiction(answers: Iterable[Answer]) -> Iterator[Contradiction]:
    """All minimal sets of answers that cannot all be right, smallest first.

    There can be exponentially many; they are found as they are taken.
    """
    graph = SameGraph(answers)
    conflicts = [a for a in graph.different if graph.connected(*a.question.pair)]
    longest = max((graph.size(a.question.item) - 1 for a in conflicts), default=0)
    distances: dict[int, dict[int, int]] = {}
    for length in range(1, longest + 1):
        for answer in conflicts:
            start, goal = answer.question.pair
            if goal not in distances:
                distances[goal] = graph.distances(goal)
            for path in _paths(graph, [start], goal, length, distances[goal]):
                yield (*path, answer)


def _paths(
    graph: SameGraph, visited: list[int], goal: int, length: int, distances: Mapping[int, int]
) -> Iterator[tuple[Answer, ...]]:
    """All simple paths of exactly that length, as the answers along them."""
    here = visited[-1]
    if here == goal:
        if length == 0:
            yield ()
        return
    for there, said in graph.neighbours(here).items():
        if there in visited or distances[there] > length - 1:
            continue
        for rest in _paths(graph, [*visited, there], goal, length - 1, distances):
            for answer in said:
                yield (answer, *rest)


class SameGraph:
    """All "same" answers as a graph over items, and the "different" answers beside it.

    Unlike a ledger it keeps answers that say nothing new, and answers that contradict each other.
    What one person said twice about a pair is kept once.
    """

    def __init__(self, answers: Iterable[Answer] = ()) -> None:
        self.different: list[Answer] = []
        self._said: set[Answer] = set()
        self._neighbours: dict[int, dict[int, list[Answer]]] = {}
        self._parent: dict[int, int] = {}
        self._size: dict[int, int] = {}
        for answer in answers:
            self.add(answer)

    def add(self, answer: Answer) -> None:
        if answer in self._said:
            return
        self._said.add(answer)
        if answer.verdict is Verdict.DIFFERENT:
            self.different.append(answer)
        elif answer.verdict is Verdict.SAME:
            a, b = answer.question.pair
            self._neighbours.setdefault(a, {}).setdefault(b, []).append(answer)
            self._neighbours.setdefault(b, {}).setdefault(a, []).append(answer)
            self._join(self.group(a), self.group(b))

    def neighbours(self, item: int) -> Mapping[int, Sequence[Answer]]:
        """The items that answers say are the same as this one, with those answers."""
        return self._neighbours.get(item, {})

    def group(self, item: int) -> int:
        """An item that stands for all that "same" answers connect with this one."""
        return root_of(self._parent, item)

    def connected(self, a: int, b: int) -> bool:
        return self.group(a) == self.group(b)

    def size(self, item: int) -> int:
        """The number of items that "same" answers connect with this one, itself included."""
        return self._size.get(self.group(item), 1)

    def distances(self, start: int) -> dict[int, int]:
        """The least number of "same" answers from one item to each that is connected with it."""
        distances = {start: 0}
        for here in (queue := [start]):
            for there in self.neighbours(here):
                if there not in distances:
                    distances[there] = distances[here] + 1
                    queue.append(there)
        return distances

    def path(self, start: int, goal: int) -> tuple[Answer, ...]:
        """A shortest chain of "same" answers between two connected items.

        Searched from both ends, always where fewer answers have to be looked at: a comparator
        that was used often is met and not opened.
        """
        if start == goal:
            return ()
        before: tuple[dict[int, int], dict[int, int]] = ({start: start}, {goal: goal})
        fronts = [[start], [goal]]
        while True:
            works = [sum(len(self.neighbours(item)) for item in front) for front in fronts]
            side = int(works[1] < works[0])
            near, far = before[side], before[1 - side]
            fronts[side] = self._next_front(fronts[side], near)
            meeting = next((item for item in fronts[side] if item in far), None)
            if meeting is not None:
                ahead, back = (_walk(way, meeting) for way in before)
                items = [*ahead[::-1], *back[1:]]
                return tuple(self._neighbours[a][b][0] for a, b in pairwise(items))

    def bridges(self, starts: Iterable[int]) -> set[Answer]:
        """The "same" answers without which the groups of these items fall apart."""
        one_of_each = {self.group(start): start for start in starts}.values()
        return {answer for start in one_of_each for answer, _, _ in self._seams([start])}

    def seams(self, start: int) -> Iterator[tuple[Answer, list[int]]]:
        """The "same" answers without which the group of an item falls in two, and the part that
        each of them holds to the item."""
        items = [start]
        for answer, begin, end in self._seams(items):
            yield answer, items[begin:end]

    def _seams(self, items: list[int]) -> Iterator[tuple[Answer, int, int]]:
        """The seams around the one item that is there; others are added as they are met.

        They are met depth first, so that a part is met in one go: it is from here to before there.
        """
        start = items[0]
        above: dict[int, int] = {}
        order, open_ = {start: 0}, [(start, iter(self.neighbours(start)))]
        low = {start: 0}
        while open_:
            here, others = open_[-1]
            there = next((one for one in others if one != above.get(here)), None)
            if there is not None and there in order:
                low[here] = min(low[here], order[there])
            elif there is not None:
                above[there] = here
                order[there] = low[there] = len(items)
                items.append(there)
                open_.append((there, iter(self.neighbours(there))))
            else:
                open_.pop()
                up = above.get(here)
                if up is None:
                    continue
                low[up] = min(low[up], low[here])
                said = self._neighbours[here][up]
                if low[here] == order[here] and len(said) == 1:
                    yield said[0], order[here], len(items)

    def _next_front(self, front: list[int], before: dict[int, int]) -> list[int]:
        reached = []
        for here in front:
            for there in self.neighbours(here):
                if there not in before:
                    before[there] = here
                    reached.append(there)
        return reached

    def _join(self, a: int, b: int) -> None:
        if a == b:
            return
        size_a, size_b = self._size.pop(a, 1), self._size.pop(b, 1)
        keep, drop = (a, b) if size_a >= size_b else (b, a)
        self._parent[drop] = keep
        self._size[keep] = size_a + size_b


def _walk(before: Mapping[int, int], item: int) -> list[int]:
    """The items from here back to where the search began."""
    items = [item]
    while before[item] != item:
        item = before[item]
        items.append(item)
    return items
