"""All that was said, also what contradicts: list, retract, rebuild.

A ledger refuses an answer that contradicts earlier ones, and forgets what it refused. Here every
answer is kept, beside a ledger of those that fit together.
"""

from __future__ import annotations

from collections.abc import Iterable

from samecluster.errors import ProtocolError
from samecluster.questions.conflicts.contradictions import Contradiction, SameGraph
from samecluster.questions.ledger import Ledger
from samecluster.questions.pair import Answer, Verdict


class AnswerBook:
    """Every answer, a ledger of those that fit together, and the contradictions of the others.

    ``ledger`` always holds what an earlier answer did not contradict. It is built again, as
    another object, after an answer was retracted.

    >>> from samecluster.questions.pair import Question
    >>> said = AnswerBook()
    >>> for i, j, verdict in [(0, 1, "same"), (1, 2, "same"), (0, 2, "different")]:
    ...     found = said.add(Answer(Question(i, j), Verdict(verdict)))
    >>> print("; ".join(map(str, found)))
    0 and 1 same; 1 and 2 same; 0 and 2 different
    >>> said.retract(found[0])
    >>> said.contradictions, len(said.ledger)
    ([], 2)
    """

    def __init__(self, answers: Iterable[Answer] = ()) -> None:
        self._said: dict[Answer, None] = {}
        self._build(answers)

    @property
    def answers(self) -> tuple[Answer, ...]:
        """All answers that were not retracted, in the order in which they came."""
        return tuple(self._said)

    @property
    def refused(self) -> tuple[Answer, ...]:
        """The answers that contradicted earlier ones and are not in the ledger."""
        return tuple(self._refused)

    @property
    def contradictions(self) -> list[Contradiction]:
        """For each refused answer a smallest set, with it, that cannot all be right.

        As small as when the answer came; answers since then may have made a smaller one.
        """
        return sorted(self._refused.values(), key=len)

    def add(self, answer: Answer) -> Contradiction:
        """Take an answer in. Empty if it fits; else a smallest set of answers that cannot.

        Whether it fits is known in almost constant time; the set takes a search of the groups.
        """
        if answer in self._said:
            return self._refused.get(answer, ())
        self._said[answer] = None
        # Asking first spares the ledger the search for its own, longer witness.
        implied = self.ledger.implied(answer.question)
        if answer.verdict is Verdict.UNSURE or implied in (None, answer.verdict):
            self.ledger.record(answer)
            self._fitting.add(answer)
            return ()
        self._refused[answer] = self._smallest(answer)
        return self._refused[answer]

    def retract(self, *answers: Answer) -> None:
        """Take answers back, and build the ledger again from the others in their order."""
        for answer in answers:
            if answer not in self._said:
                raise ProtocolError(f"nobody said {answer}; there is nothing to retract")
        gone = set(answers)
        self._build([answer for answer in self._said if answer not in gone])

    def _build(self, answers: Iterable[Answer]) -> None:
        self.ledger = Ledger()
        # What is in the ledger, and what it left out because it was implied: shorter chains.
        self._fitting = SameGraph()
        self._refused: dict[Answer, Contradiction] = {}
        self._said = {}
        for answer in answers:
            self.add(answer)

    def _smallest(self, answer: Answer) -> Contradiction:
        """Of the answers that fit together and one that does not."""
        graph = self._fitting
        a, b = answer.question.pair
        if answer.verdict is Verdict.DIFFERENT:
            return (*graph.path(a, b), answer)
        near, far = graph.distances(a), graph.distances(b)
        total: dict[Answer, tuple[int, int, int]] = {}
        for other in graph.different:
            for one, two in (other.question.pair, other.question.pair[::-1]):
                if one in near and two in far:
                    total[other] = (near[one] + far[two], one, two)
        best = min(total, key=lambda other: total[other][0])
        _, one, two = total[best]
        return (*graph.path(one, a), answer, *graph.path(b, two), best)
