"""Who said what: every vote of a panel, those that were given before it was made too."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable

from samecluster.errors import InvalidInputError
from samecluster.questions.pair import Answer, Question, Verdict


class PanelVotes:
    """The votes on each question (``on``), and all of them in the order in which they came.

    Parameters
    ----------
    given : answers given before: they become votes when it is that person's turn
    """

    def __init__(self, given: Iterable[Answer], names: Collection[str]) -> None:
        self.on: defaultdict[Question, list[Answer]] = defaultdict(list)
        self.in_order: list[Answer] = []
        self.n_by: Counter[str] = Counter()
        self._given: dict[tuple[Question, str | None], Verdict] = {}
        for answer in given:
            if answer.who not in names:
                raise InvalidInputError(f"an answer is by {answer.who!r}, who is not on the panel")
            key = (answer.question, answer.who)
            if self._given.setdefault(key, answer.verdict) is not answer.verdict:
                raise InvalidInputError(f"{answer.who} gave two verdicts on {answer.question}")

    def given(self, questions: Iterable[Question], name: str) -> dict[Question, Verdict]:
        """What a person said of these questions before there was a panel."""
        return {q: said for q in questions if (said := self._given.get((q, name)))}

    def cast(self, question: Question, verdict: Verdict, name: str) -> None:
        vote = Answer(question, verdict, name)
        self.on[question].append(vote)
        self.in_order.append(vote)
        self.n_by[name] += 1
