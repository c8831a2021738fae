"""What the answers say, and what they imply.

"Same" is an equivalence: groups are kept in a union-find forest, "different" as edges between
groups. Only answers enter; what a theorem proves never does, so the ledger can always be rebuilt
from the answers alone.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator

from samecluster.errors import ContradictionError
from samecluster.questions.pair import Answer, Question, Verdict


class Ledger:
    """Answers, and what follows from them by transitivity.

    >>> ledger = Ledger()
    >>> ledger.record(Answer(Question(0, 1), Verdict.SAME))
    True
    >>> ledger.record(Answer(Question(1, 2), Verdict.DIFFERENT))
    True
    >>> ledger.implied(Question(0, 2))
    <Verdict.DIFFERENT: 'different'>
    """

    def __init__(self, answers: Iterable[Answer] = ()) -> None:
        self._clear()
        for answer in answers:
            self.record(answer)

    def _clear(self) -> None:
        self._answers: list[Answer] = []
        self._parent: dict[int, int] = {}
        self._size: dict[int, int] = {}
        # Of each group's root: the roots of groups known to differ, with the answer that says so.
        self._differs: dict[int, dict[int, Answer]] = {}
        # The "same" answers that joined two groups: a forest, so paths in it are unique.
        self._joined: dict[int, list[Answer]] = {}
        self._unsure: set[tuple[int, int]] = set()

    def __len__(self) -> int:
        return len(self._answers)

    def __iter__(self) -> Iterator[Answer]:
        return iter(self._answers)

    def implied(self, question: Question) -> Verdict | None:
        """The verdict that the answers so far imply, or None."""
        a, b = self._root(question.item), self._root(question.comparator)
        if a == b:
            return Verdict.SAME
        return Verdict.DIFFERENT if b in self._differs.get(a, ()) else None

    def representative(self, item: int) -> int:
        """An item that stands for all that are known to be in the same cluster as this one."""
        return self._root(item)

    def different_from(self, item: int) -> Iterator[int]:
        """Representatives of what is known to be in other clusters than this item."""
        return iter(self._differs.get(self._root(item), ()))

    def known(self, question: Question) -> Verdict | None:
        """Like `implied`, and UNSURE for a pair that was answered so and is still open."""
        verdict = self.implied(question)
        if verdict is None and question.pair in self._unsure:
            return Verdict.UNSURE
        return verdict

    def record(self, answer: Answer) -> bool:
        """Take an answer in. False if it says nothing new.

        Raises ContradictionError, and changes nothing, if earlier answers imply the opposite.
        """
        question, verdict = answer.question, answer.verdict
        implied = self.implied(question)
        if verdict is Verdict.UNSURE:
            if implied is not None or question.pair in self._unsure:
                return False
            self._unsure.add(question.pair)
        elif implied is verdict:
            return False
        elif implied is not None:
            raise ContradictionError((*self.reasons(question), answer))
        elif verdict is Verdict.SAME:
            self._join(answer)
        else:
            a, b = self._root(question.item), self._root(question.comparator)
            self._differs.setdefault(a, {})[b] = answer
            self._differs.setdefault(b, {})[a] = answer
        self._answers.append(answer)
        return True

    def record_all(self, answers: Iterable[Answer]) -> int:
        """Take in the answers of one look; how many say something new.

        All or none: raises ContradictionError, and changes nothing, if they do not fit together
        with each other and with what was said before.
        """
        kept = list(self._answers)
        try:
            return sum([self.record(answer) for answer in answers])
        except ContradictionError:
            self._clear()
            for answer in kept:
                self.record(answer)
            raise

    def reasons(self, question: Question) -> tuple[Answer, ...]:
        """A smallest chain of recorded answers that implies the verdict; empty if none does."""
        a, b = question.item, question.comparator
        root_a, root_b = self._root(a), self._root(b)
        if root_a == root_b:
            return tuple(self._path(a, b))
        edge = self._differs.get(root_a, {}).get(root_b)
        if edge is None:
            return ()
        near, far = edge.question.item, edge.question.comparator
        if self._root(near) != root_a:
            near, far = far, near
        return (*self._path(a, near), edge, *self._path(far, b))

    def _root(self, item: int) -> int:
        return root_of(self._parent, item)

    def _join(self, answer: Answer) -> None:
        a, b = answer.question.item, answer.question.comparator
        self._joined.setdefault(a, []).append(answer)
        self._joined.setdefault(b, []).append(answer)
        keep, drop = self._root(a), self._root(b)
        size_keep, size_drop = self._size.pop(keep, 1), self._size.pop(drop, 1)
        if size_keep < size_drop:
            keep, drop = drop, keep
        self._parent[drop] = keep
        self._size[keep] = size_keep + size_drop
        for other, edge in self._differs.pop(drop, {}).items():
            self._differs[other].pop(drop)
            self._differs[other].setdefault(keep, edge)
            self._differs.setdefault(keep, {}).setdefault(other, edge)

    def _path(self, start: int, goal: int) -> list[Answer]:
        """The "same" answers that lead from one item to another of its group."""
        came_by: dict[int, tuple[int, Answer] | None] = {start: None}
        queue = deque([start])
        while goal not in came_by:
            here = queue.popleft()
            for answer in self._joined.get(here, ()):
                there = sum(answer.question.pair) - here
                if there not in came_by:
                    came_by[there] = (here, answer)
                    queue.append(there)
        path: list[Answer] = []
        while (step := came_by[goal]) is not None:
            goal, answer = step
            path.append(answer)
        return path[::-1]


def root_of(parent: dict[int, int], item: int) -> int:
    """The root of an item in a union-find forest; the way there is made short."""
    root = item
    while (above := parent.get(root, root)) != root:
        root = above
    while item != root:
        parent[item], item = root, parent[item]
    return root
