"""Names of clusters: any sequence of merges and differences agrees with sets of items."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from samecluster.recovery.cluster_names import ClusterNames


class NaiveNames:
    """Clusters as sets of items, differences as pairs of items: nothing is ever renamed."""

    def __init__(self) -> None:
        self.clusters: dict[int, set[int]] = {}
        self.apart: list[tuple[int, int]] = []

    def differ(self, a: int, b: int) -> bool:
        one, other = self.clusters[a], self.clusters[b]
        return any((i in one and j in other) or (j in one and i in other) for i, j in self.apart)


steps = st.lists(
    st.tuples(st.sampled_from(["found", "add", "merge", "differ"]), st.integers(0, 99)),
    max_size=40,
)


@given(steps, st.randoms(use_true_random=False))
def test_any_steps_agree_with_sets_of_items(steps, random) -> None:
    names, naive, told = ClusterNames(), NaiveNames(), []
    names.on_merge(lambda kept, gone: told.append((kept, gone)))
    merges = []
    for item, (step, _) in enumerate(steps):
        if step == "found" or not names.alive:
            naive.clusters[names.found(item)] = {item}
            continue
        a, b = random.choice(names.alive), random.choice(names.alive)
        if step == "add":
            names.add(item, a)
            naive.clusters[a].add(item)
        elif step == "differ" and a != b:
            names.mark_different(a, b)
            i, j = (random.choice(sorted(naive.clusters[name])) for name in (a, b))
            naive.apart.append((i, j))
        elif step == "merge" and a != b and not naive.differ(a, b):
            names.merge(a, b)
            naive.clusters[a] |= naive.clusters.pop(b)
            merges.append((a, b))
    assert told == merges
    assert names.alive == sorted(naive.clusters)
    for name, items in enumerate(names.members):
        assert len(items) == len(set(items))
        assert set(items) == naive.clusters.get(name, set())
        assert all(names.name_of[item] == name for item in items)
        assert names.is_single(name) == (len(items) == 1)
    assert list(names.name_of) == sorted(names.name_of), "in the order of the answers"
    pairs = [(a, b) for a in names.alive for b in names.alive if a != b]
    for a, b in pairs:
        assert names.are_different(a, b) == naive.differ(a, b)
    assert names.all_different == all(naive.differ(a, b) for a, b in pairs)
    names.mark_all_different()
    assert names.all_different
    assert all(names.are_different(a, b) for a, b in pairs)
    assert not any(names.are_different(a, a) for a in names.alive)


def test_holders_are_told_in_order_while_both_names_are_alive() -> None:
    names, told = ClusterNames(), []
    for item in (7, 8, 9):
        names.found(item)
    for holder in "ab":
        names.on_merge(lambda *pair, me=holder: told.append((me, pair, list(names.alive))))
    names.merge(2, 0)
    assert told == [("a", (2, 0), [0, 1, 2]), ("b", (2, 0), [0, 1, 2])]
    assert names.alive == [1, 2]
    assert names.members == [[], [8], [9, 7]], "the one that stays keeps its representative"
    assert names.representative(2) == 9
    assert names.name_of == {7: 2, 8: 1, 9: 2}


def test_an_item_keeps_its_first_name() -> None:
    names = ClusterNames()
    for item in (3, 4):
        names.found(item)
    names.add(3, 1)
    assert names.members == [[3], [4]]


@pytest.mark.parametrize("swap", [False, True])
def test_a_merge_of_names_that_differ_is_seen_as_a_conflict(swap) -> None:
    names = ClusterNames()
    for item in (3, 4, 5):
        names.found(item)
    names.mark_different(1, 0)
    names.merge(*((1, 0) if swap else (0, 1)))
    kept = 1 if swap else 0
    assert names.are_different(kept, kept)
    assert not names.are_different(kept, 2)
