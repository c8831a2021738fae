"""The reason for one label, in words: which points, which weights, and how they add up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from samecluster.recovery.result import Recovery

__all__ = ["explain"]


def explain(recovery: Recovery, item: int) -> str:
    """The proof of an item's label as text."""
    label = int(recovery.labels[item])
    if label < 0:
        return f"Item {item} has no label."
    how = str(recovery.how[item])
    if how == "asked":
        return f"Item {item} is in cluster {label} by answers: {_answers(recovery, item)}."
    if recovery.proof is None:
        return f"Item {item} is in cluster {label}, {how} by {recovery.method}."
    return f"Item {item} is in cluster {label}, proven: " + _reason(recovery, item)


def _answers(recovery: Recovery, item: int) -> str:
    said = [
        f"{a.question.comparator if a.question.item == item else a.question.item} {a.verdict.value}"
        for a in recovery.answers
        if item in a.question.pair
    ]
    return ", ".join(said) if said else "it is the first known member"


def _reason(recovery: Recovery, item: int) -> str:
    log = recovery.proof
    assert log is not None
    for record in log.records:
        if record[0] == "in":
            rows = np.flatnonzero(record[2][:, 0] == item)
            if len(rows):
                return _combination(recovery, record[2][int(rows[0])])
        elif record[0] == "last" and record[1] == item:
            return (
                f"it is outside the {log.n_clusters} clusters but this one "
                f"(given that there are {log.n_clusters})."
            )
        elif record[0] == "sdp" and item in record[1]:
            return (
                f"no ellipsoid of margin {log.margin:g} holds the {len(record[4])} members named "
                f"in the proof and leaves out this item and {len(record[5])} known non-members."
            )
    raise AssertionError(f"the log has no record of item {item}")


def _combination(recovery: Recovery, row: Any) -> str:
    """y = Σ w x, with the weights worked out again from the columns."""
    log = recovery.proof
    assert log is not None
    item, columns = int(row[0]), [int(name) for name in row[1:]]
    X, d = recovery.points, len(log.resolution)
    vectors = np.zeros((d + 1, d + 1))
    for at, name in enumerate(columns):
        if name >= 0:
            vectors[:, at] = np.append(X[name] - X[item], 1.0)
        else:
            vectors[-1 - name, at] = log.resolution[-1 - name]
    weights = np.linalg.solve(vectors, np.append(np.zeros(d), 1.0))
    terms = ", ".join(
        f"{weight:+.4g} × item {name}" if name >= 0 else f"{weight:+.2g} × resolution {-1 - name}"
        for name, weight in zip(columns, weights, strict=True)
        if weight
    )
    total, limit = float(np.abs(weights).sum()), float(np.sqrt(1.0 + log.margin))
    return f"it is {terms}. The sizes of the weights add up to {total:.6g} ≤ √(1+γ) = {limit:.6g}."
