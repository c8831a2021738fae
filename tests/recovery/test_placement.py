"""Placing points by comparing them with members: who is asked what, and what is not asked."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from samecluster.questions.look import pairs_of
from samecluster.questions.pair import Question, Verdict
from samecluster.questions.run import Plan
from samecluster.recovery.placement import MAX_COMPARATORS, Placement, belongs

SAME, DIFFERENT, UNSURE = Verdict.SAME, Verdict.DIFFERENT, Verdict.UNSURE
Answering = Callable[[Question], Verdict]


def driven(plan: Plan[Any], answer: Answering) -> tuple[Any, list[list[Question]]]:
    """What a plan returns, and the batches that it asked."""
    asked: list[list[Question]] = []
    verdicts: Sequence[Verdict] | None = None
    try:
        while True:
            batch = pairs_of(next(plan) if verdicts is None else plan.send(verdicts))
            asked.append(batch)
            verdicts = [answer(question) for question in batch]
    except StopIteration as end:
        return end.value, asked


def placed(placement: Placement, items: Sequence[int], answer: Answering):
    return driven(placement.place(items), answer)


def with_clusters(n_clusters: int | None, *clusters: Sequence[int]) -> Placement:
    placement = Placement(n_clusters)
    for first, *others in clusters:
        name = placement.found(first)
        for item in others:
            placement.add(item, name)
    return placement


def by_label(labels: Sequence[int]) -> Answering:
    return lambda question: Verdict.of(labels[question.item] == labels[question.comparator])


@given(st.lists(st.integers(0, 4), min_size=1, max_size=25), st.integers(1, 6), st.booleans())
def test_every_item_gets_its_cluster_in_few_questions(labels, batch, known_k) -> None:
    k = len(set(labels))
    placement = Placement(k if known_k else None)
    found: dict[int, int] = {}
    n_questions = 0
    for begin in range(0, len(labels), batch):
        items = list(range(begin, min(begin + batch, len(labels))))
        clusters, asked = placed(placement, items, by_label(labels))
        found.update(zip(items, clusters, strict=True))
        n_questions += sum(map(len, asked))
        for questions in asked:
            assert len({question.item for question in questions}) == len(questions)
    pairs = {(found[i], labels[i]) for i in range(len(labels))}
    assert len(pairs) == k == len(placement.names.alive)
    assert placement.names.name_of == found
    if batch == 1:
        # One question for each cluster tried, in the order in which clusters were found; the last
        # of all k is not asked about.
        order = list(dict.fromkeys(labels))
        expected, known = 0, 0
        for label in labels:
            at = order.index(label)
            new = at == known
            tried = known if new else at + 1
            known += new
            if known_k and known == k and not new and at == k - 1:
                tried -= 1
            expected += tried
        assert n_questions == expected


def test_the_last_cluster_left_is_not_asked_about() -> None:
    clusters, asked = placed(with_clusters(2, [0], [1]), [5], lambda q: DIFFERENT)
    assert clusters == [1]
    assert asked == [[Question(5, 0)]]
    clusters, asked = placed(with_clusters(None, [0], [1]), [5], lambda q: DIFFERENT)
    assert clusters == [2], "there is always room for one more"
    assert asked == [[Question(5, 0)], [Question(5, 1)]]


def test_unsure_excludes_nothing() -> None:
    """The one cluster left is no conclusion if another was left only because nobody was sure."""
    answers = {0: UNSURE, 1: DIFFERENT, 2: DIFFERENT}
    placement = with_clusters(3, [0], [1], [2])
    clusters, asked = placed(placement, [5], lambda q: answers[q.comparator])
    assert clusters == [-1]
    assert [q.comparator for (q,) in asked] == [0, 1, 2]
    clusters, _ = placed(with_clusters(None, [0], [1]), [5], lambda q: answers[q.comparator])
    assert clusters == [-1], "an item that may be in a cluster founds no other"


def test_unsure_tries_other_members_and_then_other_clusters() -> None:
    placement = with_clusters(None, [0, 10, 11, 12], [1, 13])
    clusters, asked = placed(placement, [5], lambda q: SAME if q.comparator == 13 else UNSURE)
    assert [q.comparator for (q,) in asked] == [0, 10, 11, 1, 13]
    assert MAX_COMPARATORS == 3
    assert clusters == [1]
    assert placement.names.members[1] == [1, 13, 5]


def test_a_batch_is_asked_about_at_once_and_known_items_not_at_all() -> None:
    placement = with_clusters(None, [0], [1])
    clusters, asked = placed(placement, [5, 0, 4, 5, 6], by_label([0, 1, 9, 9, 0, 1, 1]))
    assert clusters == [1, 0, 0, 1, 1]
    assert asked == [
        [Question(5, 0), Question(4, 0), Question(6, 0)],
        [Question(5, 1), Question(6, 1)],
    ]


class Clever(Placement):
    """Knows that even items are not in cluster 0; likes the last cluster best."""

    def __init__(self) -> None:
        super().__init__(2)
        self.events: list[object] = []

    def order(self, item: int) -> Sequence[int]:
        del item
        return self.names.alive[::-1]

    def excluded(self, item: int, cluster: int) -> bool:
        return cluster == 0 and item % 2 == 0

    def heard(self, question: Question, cluster: int, verdict: Verdict) -> None:
        assert question.item not in self.names.name_of, "told before it is acted upon"
        self.events.append((question.pair, cluster, verdict))

    def eliminated(self, item: int, cluster: int) -> None:
        self.events.append((item, cluster))


def test_what_a_subclass_knows_saves_questions() -> None:
    placement = Clever()
    for item in (1, 2):
        placement.found(item)
    clusters, asked = placed(placement, [4, 5], lambda q: DIFFERENT)
    assert clusters == [1, 0]
    assert asked == [[Question(5, 2)]]
    assert placement.events == [(4, 1), ((2, 5), 1, DIFFERENT), (5, 0)]
    assert set(placement.names.name_of) == {1, 2}, "eliminated items are not asked members"


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [([SAME], SAME), ([UNSURE, DIFFERENT], DIFFERENT), ([UNSURE] * 3, UNSURE)],
)
def test_belongs_asks_until_somebody_is_sure(verdicts, expected) -> None:
    left = list(verdicts)
    found, asked = driven(belongs(9, [1, 2, 3, 4]), lambda q: left.pop(0))
    assert found is expected
    assert not left
    assert [q.comparator for (q,) in asked] == [1, 2, 3][: len(verdicts)]


def test_with_all_clusters_found_an_item_in_none_is_left_open() -> None:
    """Excluded from every one of them: neither a new cluster nor a label."""

    class Nowhere(Placement):
        def excluded(self, item: int, cluster: int) -> bool:
            del item, cluster
            return True

    placement = Nowhere(1)
    placement.found(0)
    clusters, asked = placed(placement, [3], lambda q: SAME)
    assert (clusters, asked) == ([-1], [])
    assert np.array_equal(placement.names.alive, [0])
