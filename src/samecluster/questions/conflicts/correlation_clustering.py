"""The grouping that the answers as a whole speak for, and the answers that it outvotes.

With errors per pair, and log-odds as weights, the most likely grouping is the one that leaves the
least weight of answers wrong (correlation clustering). That is hard in general; here groups are
joined along the heaviest sums of answers, then single items are moved and groups joined while that
helps, and at last one retraction is exchanged for another. An answer counts as outvoted only if no
such exchange is as good; otherwise it takes another answer, asked elsewhere
(`samecluster.questions.conflicts.follow_up`).
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from samecluster.questions.conflicts.answer_book import AnswerBook
from samecluster.questions.conflicts.contradictions import Contradiction, SameGraph
from samecluster.questions.conflicts.weights import Weight, weigh
from samecluster.questions.ledger import Ledger
from samecluster.questions.pair import Answer, Question, Verdict

_ROUNDING = 1e-9  # weights are log-odds of size 1 to 10: sums that differ by less are equal

# For each item the items it was compared with: the weight for "same" less that for "different".
Signed: TypeAlias = dict[int, dict[int, float]]


@dataclass(frozen=True, slots=True)
class Resolution:
    """Answers that fit together, those they outvote, and those that are set aside in doubt.

    ``open`` gives for each answer in doubt a smallest contradiction of it with ``kept``: something
    in it is wrong, and it might as well be another one of that set.
    """

    kept: tuple[Answer, ...]
    retracted: tuple[Answer, ...]
    doubted: tuple[Answer, ...]
    open: tuple[Contradiction, ...]


def resolve(answers: Iterable[Answer], weight: Weight | None = None) -> Resolution:
    """Which answers the others outvote, and which contradictions cannot be decided yet.

    Give it all answers each time, also those that it retracted before: a retraction is no fact,
    and what was outvoted once may be right in the light of later answers. ``weight`` is as in
    `suspects`.

    >>> said = [(0, 1, "same"), (1, 2, "same"), (0, 2, "different")]
    >>> answers = [Answer(Question(i, j), Verdict(v)) for i, j, v in said]
    >>> len(resolve(answers).open)
    1
    >>> answers += [Answer(Question(1, 3), Verdict.SAME), Answer(Question(0, 3), Verdict.DIFFERENT)]
    >>> [str(answer) for answer in resolve(answers).retracted]
    ['0 and 1 same']
    """
    said = list(dict.fromkeys(answers))
    graph = SameGraph(said)
    doubted = {
        graph.group(answer.question.item)
        for answer in graph.different
        if graph.connected(*answer.question.pair)
    }
    near = [a for a in said if not doubted.isdisjoint(map(graph.group, a.question.pair))]
    outvoted, aside = _outvoted_and_aside(near, weigh(near, weight))
    statements = AnswerBook(a for a in said if a not in outvoted and a not in aside)
    return Resolution(
        statements.answers,
        tuple(answer for answer in said if answer in outvoted),
        tuple(answer for answer in said if answer in aside),
        tuple(sorted((statements.add(answer) for answer in said if answer in aside), key=len)),
    )


def _nets(answers: Iterable[Answer], weights: Mapping[Answer, float]) -> dict[Question, float]:
    """For each pair the weight for "same" less the weight for "different"."""
    nets: dict[Question, float] = {}
    for answer in answers:
        if answer.verdict is not Verdict.UNSURE:
            sign = 1.0 if answer.verdict is Verdict.SAME else -1.0
            nets[answer.question] = nets.get(answer.question, 0.0) + sign * weights[answer]
    return nets


def _outvoted_and_aside(
    answers: Sequence[Answer], weights: Mapping[Answer, float]
) -> tuple[set[Answer], set[Answer]]:
    """The answers that go: outvoted, or with something as light that could go instead."""
    nets = _nets(answers, weights)
    facts = {
        Answer(question, Verdict.of(net > 0)): abs(net)
        for question, net in nets.items()
        if abs(net) > _ROUNDING
    }
    wrong = _wrong(facts, signed_weights(nets))
    rivals = _as_light(facts, _instead_of_each(facts, wrong))
    doubtful = {fact.question for pair in rivals.items() for fact in pair}
    ledger = Ledger(fact for fact in facts if fact not in wrong)
    for answer in answers:
        if answer.verdict is not Verdict.UNSURE and ledger.implied(answer.question) is None:
            # As much for "same" as for "different", and nothing else speaks to it.
            doubtful.add(answer.question)
            ledger.record(answer)
    gone = {
        answer
        for answer in answers
        if answer.verdict is not Verdict.UNSURE
        and ledger.implied(answer.question) is not answer.verdict
    }
    aside = {answer for answer in gone if answer.question in doubtful}
    return gone - aside, aside


def _wrong(facts: Mapping[Answer, float], signed: Signed) -> set[Answer]:
    """Facts that are wrong in the best grouping that was found."""
    starts = [_together(signed, facts, _refused(facts)), joined(signed)]
    for groups in starts:
        move_and_join(signed, groups)
    best = min(starts, key=lambda groups: _total(facts, _against(groups, facts)))
    return _improved(signed, best, facts)


def _refused(facts: Mapping[Answer, float]) -> set[Answer]:
    """What a ledger that takes the heaviest facts first would refuse."""
    wrong = set(facts)
    _take_back(facts, wrong)
    return wrong


def _against(groups: Mapping[int, int], facts: Iterable[Answer]) -> set[Answer]:
    """The facts that a grouping contradicts."""

    def together(question: Question) -> bool:
        return groups[question.item] == groups[question.comparator]

    return {fact for fact in facts if Verdict.of(together(fact.question)) is not fact.verdict}


def _exchange(facts: Mapping[Answer, float], wrong: set[Answer]) -> None:
    """Retract one fact instead of others while that is lighter, in place."""
    while True:
        _take_back(facts, wrong)
        instead = _instead_of_each(facts, wrong)
        ended: dict[Answer, float] = {}
        for fact, others in instead.items():
            for other in others:
                ended[other] = ended.get(other, 0.0) + facts[fact]
        better = (other for other, total in ended.items() if total > facts[other] + _ROUNDING)
        for other in sorted(better, key=lambda other: (facts[other] - ended[other], str(other))):
            trial = wrong | {other}
            _take_back(facts, trial, last=other)
            if _total(facts, trial) < _total(facts, wrong) - _ROUNDING:
                wrong.clear()
                wrong |= trial
                break
        else:
            return


def _take_back(
    facts: Mapping[Answer, float], wrong: set[Answer], last: Answer | None = None
) -> None:
    """Drop from ``wrong`` what need not be there, the heaviest first; ``last`` comes last."""
    ledger = Ledger(fact for fact in facts if fact not in wrong)
    for fact in sorted(wrong, key=lambda fact: (fact == last, -facts[fact], fact.question.pair)):
        if ledger.implied(fact.question) in (None, fact.verdict):
            ledger.record(fact)
            wrong.remove(fact)


def _total(facts: Mapping[Answer, float], wrong: Iterable[Answer]) -> float:
    return sum(facts[fact] for fact in wrong)


def _as_light(
    facts: Mapping[Answer, float], instead: Mapping[Answer, Collection[Answer]]
) -> dict[Answer, Answer]:
    """For wrong facts the lightest that could be retracted instead, if it weighs no more."""
    lightest = {
        fact: min(others, key=facts.__getitem__) for fact, others in instead.items() if others
    }
    return {f: other for f, other in lightest.items() if facts[other] <= facts[f] + _ROUNDING}


def _instead_of_each(
    facts: Mapping[Answer, float], wrong: Collection[Answer]
) -> dict[Answer, list[Answer]]:
    """For each wrong fact those that could be retracted instead of it."""
    graph = SameGraph(fact for fact in facts if fact not in wrong)
    bridges = graph.bridges(item for fact in wrong for item in fact.question.pair)
    between: dict[tuple[int, int], list[Answer]] = {}
    for fact in graph.different:
        ends = sorted(map(graph.group, fact.question.pair))
        between.setdefault((ends[0], ends[1]), []).append(fact)
    return {
        fact: sorted(_instead(fact, graph, bridges, between), key=str)
        for fact in sorted(wrong, key=str)
    }


def _instead(
    fact: Answer,
    graph: SameGraph,
    bridges: Collection[Answer],
    between: Mapping[tuple[int, int], Sequence[Answer]],
) -> set[Answer]:
    """Each fact of a graph without contradictions that alone would make room for this one."""
    a, b = fact.question.pair
    if fact.verdict is Verdict.DIFFERENT:
        return {other for other in graph.path(a, b) if other in bridges}
    ends = sorted(map(graph.group, (a, b)))
    instead: set[Answer] | None = None
    for different in between[ends[0], ends[1]]:
        c, d = different.question.pair
        if not graph.connected(a, c):
            c, d = d, c
        chain = (*graph.path(a, c), *graph.path(b, d))
        found = {different, *(other for other in chain if other in bridges)}
        instead = found if instead is None else instead & found
        if not instead:
            break
    return instead or set()


def _improved(signed: Signed, groups: dict[int, int], facts: Mapping[Answer, float]) -> set[Answer]:
    """The facts that are wrong after all that helps was done to a grouping."""
    least = set(facts)
    while True:
        move_and_join(signed, groups)
        wrong = _against(groups, facts)
        _exchange(facts, wrong)
        if _total(facts, wrong) >= _total(facts, least) - _ROUNDING:
            return least
        least = wrong
        groups = _together(signed, facts, wrong)


def _together(
    items: Iterable[int], facts: Iterable[Answer], wrong: Collection[Answer]
) -> dict[int, int]:
    """A group number for each item, by the facts that are not wrong."""
    graph = SameGraph(fact for fact in facts if fact not in wrong)
    return {item: graph.group(item) for item in items}


def signed_weights(nets: Mapping[Question, float]) -> Signed:
    """Both ways round, from what speaks for "same" (less what speaks against it) for each pair."""
    signed: Signed = {}
    for question, net in nets.items():
        a, b = question.pair
        signed.setdefault(a, {})[b] = net
        signed.setdefault(b, {})[a] = net
    return signed


def move_and_join(signed: Signed, groups: dict[int, int]) -> None:
    """Move single items and join whole groups while that leaves less wrong, in place."""
    again = True
    while again:
        _move(signed, groups)
        between: Signed = {}
        for a, row in signed.items():
            for b, net in row.items():
                if groups[a] != groups[b]:
                    sums = between.setdefault(groups[a], {})
                    sums[groups[b]] = sums.get(groups[b], 0.0) + net
        merged = joined(between)
        again = any(number != group for group, number in merged.items())
        for item, group in groups.items():
            groups[item] = merged.get(group, group)


def joined(signed: Signed) -> dict[int, int]:
    """Join the two groups with the largest sum between them until no sum is above zero."""
    rows = {item: dict(row) for item, row in signed.items()}
    groups = {item: item for item in rows}
    members = {item: [item] for item in rows}
    heap = [(-net, a, b) for a, row in rows.items() for b, net in row.items() if a < b and net > 0]
    heapq.heapify(heap)
    while heap:
        net, a, b = heapq.heappop(heap)
        if a not in rows or rows[a].get(b) != -net:
            continue
        keep, drop = (a, b) if len(rows[a]) >= len(rows[b]) else (b, a)
        for item in members[drop]:
            groups[item] = keep
        members[keep] += members.pop(drop)
        for other, sum_ in rows.pop(drop).items():
            del rows[other][drop]
            if other != keep:
                total = rows[keep].get(other, 0.0) + sum_
                rows[keep][other] = rows[other][keep] = total
                if total > _ROUNDING:
                    heapq.heappush(heap, (-total, min(keep, other), max(keep, other)))
    return groups


def _move(signed: Signed, groups: dict[int, int]) -> None:
    """Move single items to where more speaks for them, in place."""
    unused = max((*groups, *groups.values()), default=0) + 1
    again = True
    while again:
        again = False
        for item, row in signed.items():
            sums: dict[int, float] = {unused: 0.0, groups[item]: 0.0}
            for other, net in row.items():
                sums[groups[other]] = sums.get(groups[other], 0.0) + net
            best = max(sums, key=sums.__getitem__)
            if sums[best] > sums[groups[item]] + _ROUNDING:
                groups[item] = best
                unused += best == unused
                again = True
