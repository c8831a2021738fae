"""The clustering error against the definition: all permutations tried."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from samecluster import clustering_error
from samecluster.errors import InvalidInputError

labellings = st.integers(1, 12).flatmap(
    lambda n: st.tuples(
        st.lists(st.integers(-1, 3), min_size=n, max_size=n),
        st.lists(st.integers(0, 3), min_size=n, max_size=n),
    )
)


def by_definition(found: list[int], truth: list[int]) -> float:
    """min over σ of the points outside C_i ∩ Ĉ_σ(i), with empty clusters where numbers differ."""
    best = max(
        sum(f == sigma[t] for f, t in zip(found, truth, strict=True))
        for sigma in permutations(range(4))
    )
    return 1 - best / len(found)


@given(labellings)
def test_it_is_the_minimum_over_all_matchings(pair) -> None:
    found, truth = pair
    assert clustering_error(found, truth) == pytest.approx(by_definition(found, truth))


@given(labellings, st.permutations(range(4)))
def test_names_of_clusters_do_not_matter(pair, renamed) -> None:
    found, truth = pair
    named = np.array(["a", "b", "c", "d"])[[renamed[t] for t in truth]]
    assert clustering_error(found, named) == clustering_error(found, truth)


def test_different_lengths_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="same length"):
        clustering_error([0, 1], [0, 1, 1])
