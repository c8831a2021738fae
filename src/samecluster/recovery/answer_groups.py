"""The groups that "same" answers make, for plans that start from answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from samecluster.questions.ledger import Ledger
from samecluster.questions.pair import Answer, Question, Verdict

_FEW = 3  # an isolated component of at most 3 answers comes from an audit, not from a plan


class AnswerGroups:
    """Items that were asked about, in groups that the answers join.

    >>> from samecluster.questions.pair import Question
    >>> said = [(3, 5, "same"), (5, 8, "different"), (5, 2, "same")]
    >>> AnswerGroups(Answer(Question(i, j), Verdict(v)) for i, j, v in said).members()
    [[3, 5, 2], [8]]
    """

    def __init__(self, answers: Iterable[Answer]) -> None:
        self._spoken = [answer for answer in answers if answer.verdict is not Verdict.UNSURE]
        self._ledger = Ledger(a for a in self._spoken if a.verdict is Verdict.SAME)
        self._n_answers = Counter(i for answer in self._spoken for i in answer.question.pair)
        self.items = list(self._n_answers)
        self._members: dict[int, list[int]] = {}
        for item in self.items:
            self._members.setdefault(self._ledger.representative(item), []).append(item)

    def members(self) -> list[list[int]]:
        """Each group's items, all in the order of the answers."""
        return list(self._members.values())

    def isolated_pairs(self) -> set[Question]:
        """Pairs that were found the same and never compared with anything else.

        None if there is nothing else. They come from audits, and say little about the clusters.
        """
        isolated = {
            answer.question
            for answer in self._spoken
            if all(self._n_answers[item] == 1 for item in answer.question.pair)
            and answer.verdict is Verdict.SAME
        }
        return isolated if len(isolated) < len(self._spoken) else set()

    def separate_pairs(self) -> set[Question]:
        """Like `isolated_pairs`, also of a few items that audits happened to share.

        For plans that compare every group with others: there, what stands alone was not asked by
        the plan. Others may ask about each group by itself first.
        """
        together = Ledger(Answer(answer.question, Verdict.SAME) for answer in self._spoken)
        connected: dict[int, list[Answer]] = {}
        for answer in self._spoken:
            representative = together.representative(answer.question.item)
            connected.setdefault(representative, []).append(answer)
        _, *others = sorted(connected.values(), key=len, reverse=True) or [[]]
        return {
            answer.question
            for answers in others
            if len(answers) <= _FEW and all(a.verdict is Verdict.SAME for a in answers)
            for answer in answers
        }

    def size(self, item: int) -> int:
        """How many items the group of an item has."""
        return len(self._members[self._ledger.representative(item)])
