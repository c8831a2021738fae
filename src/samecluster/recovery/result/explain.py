"""The reason for one label, in words: which points, which weights, and how they add up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from samecluster.proof.log import ProofLog
    from samecluster.recovery.result.result import Recovery


def explain(recovery: Recovery, item: int) -> str:
    """The proof of an item's label as text."""
    label = int(recovery.labels[item])
    if label < 0 and item in recovery.exceptions:
        return (
            f"Item {item} is in no cluster that was found, by answers: {_answers(recovery, item)}."
        )
    if label < 0:
        return f"Item {item} has no label."
    how = str(recovery.how[item])
    if how == "asked":
        return f"Item {item} is in cluster {label} by answers: {_answers(recovery, item)}."
    if how == "predicted":
        return f"Item {item} is in cluster {label} by prediction{_likely(recovery, item)}."
    if recovery.proof is None:
        return f"Item {item} is in cluster {label}, {how} by {recovery.method}."
    return f"Item {item} is in cluster {label}, {how}: " + _reason(recovery, item)


def _likely(recovery: Recovery, item: int) -> str:
    if recovery.probability is None:
        return ""
    likely = 100 * float(recovery.probability[item])
    # Not 100 %, however sure the model is.
    return f", right with a probability of {min(likely, 99.9):.3g} % as the model sees it"


def _answers(recovery: Recovery, item: int) -> str:
    said = [
        f"{a.question.comparator if a.question.item == item else a.question.item} {a.verdict.value}"
        for a in recovery.answers
        if item in a.question.pair
    ]
    return ", ".join(said)


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
        elif record[0] == "sdp" and record[2] == "in" and item in record[3]:
            return _contradiction(log, *record[4:])
    return _founder(recovery, item)


def _founder(recovery: Recovery, item: int) -> str:
    """Items that the log has as first members, or by answers that do not reach all others."""
    said = _answers(recovery, item)
    if not said:
        return "its cluster is named after it, and nobody was asked about it."
    return f"by answers ({said}), and by members that the margin puts into one cluster with it."


def _combination(recovery: Recovery, row: Any) -> str:
    """y = Σ w x, with the weights worked out again from the columns."""
    log = recovery.proof
    assert log is not None
    item, columns = int(row[0]), [int(name) for name in row[1:]]
    members = [name for name in columns if name >= 0]
    rows = recovery.points[[item, *members]]
    own, *others = rows if log.lift is None else log.lift.apply(rows)
    d, X = len(log.resolution), dict(zip(members, others, strict=True))
    vectors = np.zeros((d + 1, d + 1))
    for at, name in enumerate(columns):
        if name >= 0:
            vectors[:, at] = np.append(X[name] - own, 1.0)
        else:
            vectors[-1 - name, at] = log.resolution[-1 - name]
    weights = np.linalg.solve(vectors, np.append(np.zeros(d), 1.0))
    terms = ", ".join(
        f"{weight:+.4g} × item {name}" if name >= 0 else f"{weight:+.2g} × resolution {-1 - name}"
        for name, weight in zip(columns, weights, strict=True)
        if weight
    )
    total, limit = float(np.abs(weights).sum()), float(np.sqrt(1.0 + log.margin))
    inside = "" if log.lift is None else f", in {log.lift.said()}"
    return (
        f"it is {terms}{inside}. The sizes of the weights add up to {total:.6g} ≤ √(1+γ) = "
        f"{limit:.6g}."
    )


def _contradiction(log: ProofLog, columns: Any, non_members: Any, weight: str) -> str:
    """Why the item cannot be outside: the weights on members and non-members do not add up."""
    margin, inside = log.margin, "" if log.lift is None else f" in {log.lift.said()}"
    inner, outer = _weighed(columns), _weighed(non_members)
    own = float.fromhex(weight)
    lam = sum(weight for _, weight in inner)
    mu = sum(weight for _, weight in outer) + own
    others = f", {_listed(outer)}" if outer else ""
    return (
        f"no ellipsoid of margin {margin:g}{inside} can hold {_listed(inner)} and "
        f"leave out this item ({own:.4g}){others} (weights in brackets). With these weights the "
        "squared lengths of the first add up to at least those of the others, whatever the "
        f"ellipsoid; but at most to {lam:.6g}, and the others to more than (1+γ) × {mu:.6g} = "
        f"{(1.0 + margin) * mu:.6g}."
    )


def _weighed(pairs: Any) -> list[tuple[str, float]]:
    named = [
        (f"item {name}" if name >= 0 else f"resolution {-1 - name}", float.fromhex(weight))
        for name, weight in pairs
    ]
    return [(name, weight) for name, weight in named if weight]


def _listed(weighed: list[tuple[str, float]]) -> str:
    return ", ".join(f"{name} ({weight:.4g})" for name, weight in weighed)
