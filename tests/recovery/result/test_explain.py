"""The reason for one label in words, for labels that rest on weights."""

import numpy as np

from samecluster.proof.checker import check, fingerprint
from samecluster.proof.log import ProofLog
from samecluster.recovery.result.explain import explain
from samecluster.recovery.result.how import How
from samecluster.recovery.result.result import Recovery


def test_a_label_by_weights_names_what_carries_weight_and_the_sums() -> None:
    """1.25 = −0.25·0 + 1.25·1 with λ = |w|·Σ|w| and something more, which pays for item 3."""
    X = np.array([[0.0], [1.0], [1.25], [30.0], [0.5]])
    log = ProofLog(fingerprint(X), 1.5, None, np.array([2.0**-30]))
    log.add_cluster(0)
    log.add_answer(1, 0, "same")
    log.add_answer(3, 0, "different")
    log.add_cluster(3)
    # An item may be shown to be outside one cluster before it is shown to be in another.
    log.add_weights(1, False, np.array([4]), [(3, 0.02)], [(0, 1.0)], 1.1)
    columns = [(0, 0.4), (1, 2.0), (-1, 0.0)]
    log.add_weights(0, True, np.array([2, 4]), columns, [(3, 2.0**-20)], 1.0)
    assert check(X, log.lines()).labels.tolist() == [0, 0, 0, 1, 0]
    how = np.array([How.ASKED, How.ASKED, How.PROVEN, How.ASKED, How.PROVEN], dtype=np.int8)
    found = Recovery(
        labels=np.array([0, 0, 0, 1, 0]),
        how_codes=how,
        n_questions=2,
        rounds=(),
        round_of=np.zeros(5, dtype=np.int32),
        answers=(),
        points=X,
        method="certify",
        margin=1.5,
        n_clusters=None,
        proof=log,
    )
    for item in (2, 4):
        text = explain(found, item)
        assert f"Item {item} is in cluster 0, proven" in text
        assert "item 0 (0.4), item 1 (2)" in text
        assert "this item (1), item 3 (9.537e-07)" in text
        assert "resolution" not in text, "what has no weight is not named"
        assert "at most to 2.4" in text
        assert "(1+γ) × 1 = 2.5" in text
