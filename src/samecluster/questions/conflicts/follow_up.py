"""What to ask to find the wrong answer of a contradiction: the same thing, about other items.

If each pair is an error of its own, a question about other items of the same groups is a fresh
draw, also from the person who erred. If a person misjudges whole items it is not: then the doubted
item has to be put to another person.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterable, Iterator, Sequence

from samecluster.questions.conflicts.contradictions import Contradiction, SameGraph
from samecluster.questions.pair import Answer, Question


def same_question_elsewhere(
    contradiction: Contradiction,
    answers: Iterable[Answer],
    each: int = 1,
    asked: Iterable[Answer] = (),
) -> dict[Answer, tuple[Question, ...]]:
    """For each answer of a contradiction, questions that ask the same thing about other items.

    Both items of an answer may be replaced by items that other ``answers`` connect with them; the
    fewest answers away first. Pairs of ``answers`` and ``asked``, also with "unsure", are left out:
    the same person would say the same. Rely on answers that fit together, and name the others that
    were given as ``asked``. An answer whose items have no company has no such question;
    then another person must be asked, or the items be compared with others first.
    """
    said = list(answers)
    closed = {answer.question for answer in (*said, *asked, *contradiction)}
    doubted = set(contradiction)
    graph = SameGraph(answer for answer in said if answer not in doubted)
    items = {item for answer in contradiction for item in answer.question.pair}
    company = _company(graph, items)
    return {
        answer: tuple(_fresh_pairs(company[i], company[j], closed, each))
        for answer in contradiction
        for i, j in [answer.question.pair]
    }


def halving(contradiction: Contradiction, answers: Iterable[Answer]) -> Question | None:
    """A question across a contradiction that tells in which half of it an answer is wrong.

    If its answer is right, so says the half that contradicts it. None for three answers or fewer,
    and if all such pairs were asked before.
    """
    asked = {answer.question for answer in answers}
    items = _around(contradiction)
    n = len(items)
    for gap in range(n // 2, 1, -1):
        for start in range(n):
            question = Question(items[start], items[(start + gap) % n])
            if question not in asked:
                return question
    return None


def _company(graph: SameGraph, items: Collection[int]) -> dict[int, list[tuple[int, int]]]:
    """For each item those that are nearest to it of all these items, as (distance, item)."""
    company = {item: [(0, item)] for item in sorted(items)}
    nearest = {item: item for item in company}
    distance = dict.fromkeys(company, 0)
    for here in (queue := list(company)):
        for there in graph.neighbours(here):
            if there not in nearest:
                nearest[there], distance[there] = nearest[here], distance[here] + 1
                company[nearest[here]].append((distance[there], there))
                queue.append(there)
    return company


def _fresh_pairs(
    ones: Sequence[tuple[int, int]],
    twos: Sequence[tuple[int, int]],
    asked: Collection[Question],
    n: int,
) -> Iterator[Question]:
    """Up to n pairs that were not asked, by the distance of both together."""
    heap = [(0, 0, 0)]
    seen = {(0, 0)}
    while heap and n > 0:
        _, i, j = heapq.heappop(heap)
        question = Question(ones[i][1], twos[j][1])
        if question not in asked:
            n -= 1
            yield question
        for k, m in ((i + 1, j), (i, j + 1)):
            if k < len(ones) and m < len(twos) and (k, m) not in seen:
                seen.add((k, m))
                heapq.heappush(heap, (ones[k][0] + twos[m][0], k, m))


def _around(contradiction: Contradiction) -> list[int]:
    """The items of a contradiction in the order of its cycle."""
    if len(contradiction) < 3:
        return list(contradiction[0].question.pair)
    items = [next(iter(set(contradiction[0].question.pair) - set(contradiction[1].question.pair)))]
    for answer in contradiction[:-1]:
        items.append(sum(answer.question.pair) - items[-1])
    return items
