"""Where to ask: spread points of one suspected cluster after the other, then what needs most."""

import numpy as np
import pytest

from samecluster._typing import IntArray
from samecluster.questions.pair import Question, Verdict
from samecluster.recovery.certify.choose import QuestionChooser
from samecluster.recovery.certify.guide.guide import UNCLAIMED, Guide
from samecluster.recovery.certify.knowledge import Knowledge
from samecluster.recovery.certify.sample import Sample
from tests.recovery.certify.brute_force import gauge, knowing, labelled, line

LABELS = np.repeat([0, 1, 2], 60)


def three_clouds(seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    means = np.array([[0.0, 0.0], [40.0, 0.0], [0.0, 70.0]])
    return np.asarray(rng.normal(size=(180, 2)) * [1.0, 3.0] + means[LABELS])


def chooser_over(
    known: Knowledge, hints: IntArray, batch: int = 1, guessed: bool = False, size: int = 10**6
) -> QuestionChooser:
    """The guide begins with the hints, so that tests know what it believes."""
    order = np.arange(len(known.points))[:size]
    sample = Sample.first(known.points, order, len(known.points))
    guide = Guide(sample.points, None, 0, hints[sample.rows])
    return QuestionChooser(sample, guide, known, batch, guessed)


def answered(chooser: QuestionChooser, items: list[int]) -> None:
    """True answers about items, as the plan takes them in."""
    known = chooser.known
    by_label = {int(LABELS[item]): name for item, name in known.names.name_of.items()}
    for item in items:
        name = by_label.get(int(LABELS[item]))
        if name is None:
            name = by_label[int(LABELS[item])] = known.found_cluster(item)
        else:
            representative = known.names.representative(name)
            known.take_answer(Question(item, representative), name, Verdict.SAME)
        chooser.learn({item: name})


def test_each_group_is_spanned_before_the_next_and_then_nothing_is_left() -> None:
    known = knowing(three_clouds(), 1.0)
    chooser = chooser_over(known, LABELS)
    asked: list[int] = []
    while items := chooser.spread(known.open_points()):
        assert len(items) == 1
        asked += items
        answered(chooser, items)
    groups = LABELS[asked].tolist()
    assert sorted(groups) == [0] * 3 + [1] * 3 + [2] * 3, "d + 1 points span a cluster"
    assert groups == sorted(groups, key=groups.index), "one group after the other"
    assert len(set(asked)) == 9


def test_a_batch_spans_at_once() -> None:
    known = knowing(three_clouds(), 1.0)
    chooser = chooser_over(known, LABELS, batch=3)
    items = chooser.spread(known.open_points())
    assert len(set(LABELS[items].tolist())) == 1
    lifted = np.column_stack([known.points[items], np.ones(3)])
    assert np.linalg.matrix_rank(lifted) == 3
    everything = chooser_over(known, LABELS, batch=50).spread(known.open_points())
    assert sorted(LABELS[everything].tolist()) == [0] * 3 + [1] * 3 + [2] * 3


def test_the_first_group_is_near_the_middle_and_the_next_near_a_claimed_one() -> None:
    at = np.array([[0.0, 0.0], [40.0, 0.0], [110.0, 0.0]])
    known = knowing(np.random.default_rng(0).normal(size=(180, 2)) + at[LABELS], 1.0)
    chooser = chooser_over(known, LABELS, batch=3)
    order = []
    while items := chooser.spread(known.open_points()):
        order.append(int(LABELS[items[0]]))
        answered(chooser, items)
    assert order == [1, 0, 2]


def test_a_stranger_in_a_group_is_not_the_first_to_be_asked_about() -> None:
    X = three_clouds()
    X = np.concatenate([X[:60]] * 4 + [X[60:]])
    hints = np.concatenate([np.zeros(240, int), LABELS[60:]])
    X[7] = [0.0, 15.0]
    known = knowing(X, 1.0)
    chosen = chooser_over(known, hints, batch=3).spread(known.open_points())
    assert 7 not in chosen
    assert len(chosen) == 3


def test_points_that_are_not_open_or_not_in_the_sample_are_not_chosen() -> None:
    known = knowing(three_clouds(), 1.0)
    chooser = chooser_over(known, LABELS, batch=9, size=100)
    assert set(chooser.spread(known.open_points())) <= set(range(100))
    assert set(chooser.spread(np.arange(20, 30))) <= set(range(20, 30))
    assert chooser.spread(np.arange(100, 180)) == []


def test_each_component_gets_one_name_without_a_question_and_never_more_than_declared() -> None:
    known = knowing(three_clouds(), 1.0, n_clusters=2)
    chooser = chooser_over(known, LABELS)
    assert chooser.may_name(0)
    assert not chooser.may_name(1)
    answered(chooser, [0])
    assert not chooser.may_name(2), "its group has a name"
    assert chooser.may_name(60)
    answered(chooser, [60])
    assert not chooser.may_name(120), "there are as many names as clusters"


def test_the_farthest_points_are_those_with_the_largest_gauge_of_each_cluster() -> None:
    X = line(0, 1, 100, 101, 2, 3, 6, 4, 97, 90)
    known = knowing(X, 1.0, [0, 1], [2, 3])
    chooser = chooser_over(known, np.array([0, 0, 1, 1, 0, 0, 0, 0, 1, 1]), batch=3)
    open_ = known.open_points()
    of_first = {item: gauge(X[:2], X[item]) for item in (4, 5, 6, 7)}
    of_second = {item: gauge(X[2:4], X[item]) for item in (8, 9)}
    assert chooser.farthest(open_) == [max(of, key=of.__getitem__) for of in (of_first, of_second)]
    chooser.batch = 1
    assert chooser.farthest(open_) == [6], "where most are open"
    nobody = knowing(X, 1.0)
    assert chooser_over(nobody, np.zeros(10, int)).farthest(open_) == [int(open_[0])]


def test_labelled_points_far_from_all_asked_ones_are_looked_at() -> None:
    X = line(0, 10, *np.linspace(0.5, 9.5, 19), 40)
    known = knowing(X, 1.0, [0, 1])
    known.close()
    chooser = chooser_over(known, np.zeros(22, int))
    found = chooser.far_from_asked()
    assert 0 < len(found) <= 8
    assert set(found) <= labelled(known.closure) - {0, 1}
    assert X[found[0], 0] == pytest.approx(5.0, abs=0.6), "the middle is farthest from both ends"


def test_the_likely_cluster_is_that_of_the_guide_or_the_nearest() -> None:
    known = knowing(line(0, 1, 50, 51, 2, 49, 53, 4), 1.0, [0, 1], [2, 3])
    hints = np.array([0, 0, 1, 1, 0, 1, 2, 2])
    chooser = chooser_over(known, hints, size=7)
    for item in (0, 2):
        chooser.learn({item: known.names.name_of[item]})
    assert chooser.guess(np.arange(8)).tolist() == [0, 0, 1, 1, 0, 1, 1, 0]
    chooser.guide.groups[4] = 1  # the guide is believed, even against distance
    assert chooser.guess(np.array([4])).tolist() == [1]
    assert chooser.plausible(4) == [1, 0]
    assert chooser.plausible(7) == [0, 1]


def test_a_merge_moves_the_groups_of_the_guide() -> None:
    known = knowing(line(0, 1, 50, 51, 2, 49), 1.0, [0, 1], [2, 3])
    chooser = chooser_over(known, np.array([0, 0, 1, 1, 0, 1]))
    for item in (0, 2):
        chooser.learn({item: known.names.name_of[item]})
    assert chooser.guide.groups.tolist() == [0, 0, 1, 1, 0, 1]
    known.names.merge(1, 0)
    assert chooser.guide.groups.tolist() == [1] * 6


def test_under_a_guessed_margin_single_points_are_strays_and_only_one_is_tried() -> None:
    X = line(0, 1, 50, 60, 70, 52)
    for guessed in (False, True):
        known = knowing(X, 1.0, [0, 1], [2], [3], [4])
        chooser = chooser_over(known, np.zeros(6, int), guessed=guessed)
        chooser.note_unasked(2)
        assert [chooser.is_stray(name) for name in range(4)] == [False, guessed, False, guessed]
        assert not chooser.is_stray(UNCLAIMED)
        order = chooser.plausible(5)
        assert sorted(order) == ([0, 1, 2] if guessed else [0, 1, 2, 3])


def test_many_single_points_amid_others_are_no_groups_to_grow() -> None:
    """Six names of one point each, beside which a point of another cluster was found."""
    X = line(*range(0, 100, 10), *range(3, 103, 10))
    hints = np.array([*range(10), *range(10)])
    known = knowing(X, 1.0, *([item] for item in range(10)))
    chooser = chooser_over(known, hints, batch=20, guessed=True)
    chooser.guide.groups[:] = hints
    chooser.guide.refit(known.closure.labels.astype(int), known.outside, rounds=0)
    everywhere = {int(chooser.guide.groups[i]) for i in chooser.spread(known.open_points())}
    assert everywhere == set(range(10))
    chooser.note_placed([0, 1, 2, 3, 4], [9, 9, 9, 9, 4])
    assert set(chooser.guide.groups[chooser.spread(known.open_points())]) == everywhere
    chooser.note_placed([5], [-1])
    left = {int(chooser.guide.groups[i]) for i in chooser.spread(known.open_points())}
    assert left == {4, 6, 7, 8}
