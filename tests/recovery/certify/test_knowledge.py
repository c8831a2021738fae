"""Knowledge: what answers and the margin imply, and when they cannot all be right."""

import numpy as np
import pytest

from samecluster.errors import RefutedError
from samecluster.proof.checker import check
from samecluster.questions.pair import Question, Verdict
from samecluster.recovery.certify.knowledge import Knowledge
from tests.recovery.certify.brute_force import knowing, labelled, line, rows

SAME, DIFFERENT = Verdict.SAME, Verdict.DIFFERENT


def three_pairs(n_clusters: int | None = None, parted: bool = True) -> Knowledge:
    """Clusters {0, 1}, {10, 11} and points 20 (item 4), 10.5 (item 5), 40 (item 6); γ=1."""
    known = knowing(line(0, 1, 10, 11, 20, 10.5, 40), 1.0, [0, 1], [2, 3], n_clusters=n_clusters)
    if parted:
        known.take_answer(Question(2, 0), 0, DIFFERENT)
    return known


def test_an_answer_same_makes_a_member() -> None:
    known = three_pairs()
    known.take_answer(Question(4, 2), 1, SAME)
    assert known.names.name_of[4] == 1
    assert known.closure.labels[4] == 1
    assert known.names.members == [[0, 1], [2, 3, 4]]
    known.take_answer(Question(6, 2), 1, Verdict.UNSURE)
    assert 6 not in known.names.name_of
    assert not known.outside[6].any()
    assert ("answer", 2, 6, "unsure") not in known.log.records


def test_different_clusters_follow_from_an_item_in_one_and_outside_another() -> None:
    known = three_pairs(parted=False)
    assert not known.names.are_different(0, 1)
    known.take_answer(Question(5, 0), 0, DIFFERENT)
    assert not known.names.are_different(0, 1), "nothing says where the item is"
    known.close()
    known.take_answer(Question(5, 0), 0, DIFFERENT)
    assert labelled(known.closure, 1) == {2, 3, 5}
    assert known.names.are_different(0, 1)
    assert known.non_members(0).tolist() == [2, 3, 5]
    assert known.outsiders(0).tolist() == [2, 3, 5]
    assert known.non_members(1).tolist() == [0, 1]


def test_an_answer_between_two_names_merges_all_that_is_known_of_them() -> None:
    known = three_pairs(parted=False)
    assert known.found_cluster(4) == 2
    known.take_answer(Question(6, 2), 1, DIFFERENT)
    known.take_answer(Question(4, 2), 1, DIFFERENT)
    told = []
    known.names.on_merge(lambda kept, gone: told.append((kept, gone)))
    known.take_answer(Question(2, 1), 0, SAME)
    assert told == [(0, 1)]
    assert known.alive == known.closure.alive == [0, 2]
    assert labelled(known.closure) == {0, 1, 2, 3}
    assert known.names.are_different(0, 2)
    assert known.names.all_different
    assert known.outside[6].tolist() == [True, False, False]
    assert known.non_members(0).tolist() == [4, 6]
    known.close()
    assert labelled(known.closure) == {0, 1, 2, 3, 5}


@pytest.mark.parametrize(
    ("n_clusters", "parted", "expected"),
    [(2, True, 1), (2, False, -1), (3, True, -1), (None, True, -1)],
)
def test_the_last_cluster_left_needs_all_clusters_and_that_they_differ(
    n_clusters, parted, expected
) -> None:
    known = three_pairs(n_clusters, parted)
    known.take_answer(Question(4, 0), 0, DIFFERENT)
    known.eliminate(rows(4, 5, 6))
    assert known.closure.labels[4] == expected
    assert (("last", 4, 1) in known.log.records) == (expected == 1)
    assert known.closure.labels[[5, 6]].tolist() == [-1, -1]
    assert 4 not in known.names.name_of, "what is proven is never a comparator"
    check(known.points, known.log.lines())


def test_an_item_outside_all_clusters_is_a_refutation_only_if_all_are_known() -> None:
    for n_clusters in (2, 3):
        known = three_pairs(n_clusters)
        for cluster, member in ((0, 0), (1, 2)):
            known.take_answer(Question(6, member), cluster, DIFFERENT)
        if n_clusters == 3:
            known.eliminate(rows(6))
            known.raise_if_in_no_cluster(6)
            continue
        known.raise_if_in_no_cluster(4)
        with pytest.raises(RefutedError) as caught:
            known.raise_if_in_no_cluster(6)
        assert (caught.value.item, caught.value.cluster) == (6, None)
        with pytest.raises(RefutedError):
            known.eliminate(rows(4, 6))


def test_as_many_names_as_clusters_are_the_clusters() -> None:
    known = three_pairs(2, parted=False)
    assert not known.all_known
    known.count()
    assert known.all_known
    assert known.log.records[-1] == ("count",)


@pytest.mark.parametrize("cluster", [0, 1])
def test_a_non_member_in_reach_is_refuted_whatever_the_cluster(cluster) -> None:
    known = knowing(line(0, 2, 10, 12, 1, 11), 1.0, [0, 1], [2, 3])
    item = (4, 5)[cluster]
    known.take_answer(Question(item, (0, 2)[cluster]), cluster, DIFFERENT)
    with pytest.raises(RefutedError) as caught:
        known.close()
    assert (caught.value.item, caught.value.cluster) == (item, cluster)
    assert len(caught.value.answers) == 2


def test_names_that_differ_by_proof_and_are_one_by_answers_are_refuted() -> None:
    known = knowing(line(0, 1, 10, 11, 5, 30), 1.0, [0, 1], [2, 3])
    known.names.mark_different(0, 1)
    known.take_answer(Question(2, 0), 0, SAME)
    with pytest.raises(RefutedError):
        known.close()


def test_an_item_is_excluded_by_a_non_member_that_it_would_bring_into_reach() -> None:
    known = knowing(line(0, 10, 16, 19, 12.5, 60), 1.0, [0, 1])
    assert not known.try_to_exclude(2, 0), "no non-member is known"
    known.take_answer(Question(3, 0), 0, DIFFERENT)
    assert known.try_to_exclude(2, 0)
    assert known.outside[2, 0]
    assert known.log.records[-1][:4] == ("out", 2, 0, 3)
    n_records = len(known.log.records)
    assert known.try_to_exclude(2, 0)
    assert not known.try_to_exclude(4, 0), "12.5 with 0 reaches 15.1, not 19"
    assert len(known.log.records) == n_records
    assert known.exclude_many(0, rows(2, 4, 5), rows(3)) == 2
    assert known.outside[:, 0].tolist() == [False, False, True, True, False, True]
    check(known.points, known.log.lines())


def test_what_was_shown_outside_and_comes_into_reach_is_refuted() -> None:
    known = knowing(line(0, 10, 16, 19, 30), 1.0, [0, 1])
    known.take_answer(Question(3, 0), 0, DIFFERENT)
    known.exclude_many(0, rows(2), rows(3))
    known.close()
    known._told_outside.clear()  # only the conclusion is left to speak against it
    known.take_answer(Question(4, 0), 0, SAME)
    with pytest.raises(RefutedError):
        known.close()


def test_levels_are_climbed_one_by_one() -> None:
    X = np.random.default_rng(0).normal(size=(9000, 2))
    known = knowing(X, 1.0, range(12))
    known.close()
    sizes = [known.level_size]
    assert set(known.open_points().tolist()).isdisjoint(labelled(known.closure))
    assert not known.climb(at_most=sizes[0])
    while known.climb():
        sizes.append(known.level_size)
    assert sizes == known.closure.level_sizes
    assert sizes[-1] == 9000
    assert len(labelled(known.closure)) + len(known.open_points()) == 9000


def test_norms_of_names_that_are_gone_are_infinite() -> None:
    known = three_pairs(parted=False)
    known.take_answer(Question(2, 0), 0, SAME)
    assert np.isfinite(known.norms(4)).tolist() == [True, False]
    assert known.nearest(4, 0, [0, 1, 3, 2]) == 3
