"""Which names are one cluster: pairs of them are told apart by proof where possible, else asked."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

from samecluster.questions.look import Board
from samecluster.questions.pair import Question, Verdict
from samecluster.questions.run import Plan
from samecluster.recovery.certify.deduction import Deduction
from samecluster.recovery.certify.knowledge import Knowledge
from samecluster.recovery.cluster_names import ordered
from samecluster.recovery.placement import MAX_COMPARATORS


class NamePairs:
    """Pairs of names that may be one cluster. Without a ``deduction`` no certificate is looked for.

    Pairs about which nobody was sure are not asked about again.
    """

    def __init__(self, known: Knowledge, deduction: Deduction | None) -> None:
        self.known, self.names, self.deduction = known, known.names, deduction
        self._undecided_pairs: set[tuple[int, int]] = set()

    def unsettled(
        self, names: Sequence[int], count: int, by_proof: bool = True
    ) -> list[tuple[int, int]]:
        """At most ``count`` pairs of these names that may be one cluster, the nearest first.

        What shows on the way to be different, ``by_proof``, is written into the log.
        """
        gaps: dict[tuple[int, int], float] = {}
        norms = {name: self.known.norms(self.names.representative(name)) for name in names}
        for a, b in permutations(names, 2):
            pair = ordered(a, b)
            if not self.names.are_different(a, b) and pair not in self._undecided_pairs:
                gaps[pair] = min(gaps.get(pair, float("inf")), float(norms[a][b]))
        pairs: list[tuple[int, int]] = []
        for a, b in sorted(gaps, key=lambda pair: gaps[pair]):
            if len(pairs) == count:
                break
            if not (by_proof and self._shown_different(a, b)):
                pairs.append((a, b))
        return pairs

    def _shown_different(self, a: int, b: int) -> bool:
        """Whether two names can be told apart without a question."""
        one, other = self.names.representative(a), self.names.representative(b)
        if self.known.try_to_exclude(one, b) or self.known.try_to_exclude(other, a):
            return True
        return self.deduction is not None and self.deduction.tell_apart(a, b)

    def ask_by_board(self, names: Sequence[int]) -> Plan[None]:
        """Show the founders of names side by side: which of them are one cluster?"""
        board = Board.of(self.names.representative(name) for name in names)
        verdicts = yield [board]
        name_of = self.names.name_of
        for question, verdict in zip(board.questions, verdicts, strict=True):
            item, shown = question.item, question.comparator
            if verdict is Verdict.UNSURE:
                self._undecided_pairs.add(ordered(name_of[item], name_of[shown]))
            elif name_of[item] != name_of[shown]:  # else an earlier answer made them one
                self.known.take_answer(question, name_of[shown], verdict)

    def ask(self, pairs: Sequence[tuple[int, int]]) -> Plan[None]:
        """Compare two names by asked members of both, by another pair of members if unsure."""
        members, name_of = self.names.members, self.names.name_of
        for attempt in range(MAX_COMPARATORS):
            questions = []
            for a, b in pairs:
                item = members[b][min(attempt, len(members[b]) - 1)]
                questions.append(Question(item, self.known.nearest(item, a, members[a])))
            verdicts = yield questions
            unsure = []
            for pair, question, verdict in zip(pairs, questions, verdicts, strict=True):
                kept = name_of[question.comparator]
                if verdict is Verdict.UNSURE:
                    unsure.append(pair)
                elif name_of[question.item] != kept:  # else an earlier answer made them one
                    self.known.take_answer(question, kept, verdict)
            pairs = [pair for pair in unsure if set(pair) <= set(self.names.alive)]
            if not pairs:
                break
        self._undecided_pairs.update(pairs)
