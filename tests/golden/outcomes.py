"""What of a run is written down: counts as they are, everything long as a hash.

Labels keep their numbers, answers and the lines of a proof their order: all of it is behaviour.
"""

import gzip
import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from samecluster import LargeRecovery, LearnedCluster, Recovery, Session, SqliteStore
from samecluster.errors import ContradictionError, RefutedError

Outcome = dict[str, Any]

_DIGITS = 16


def of_recovery(found: Recovery) -> Outcome:
    """Of a recovery in memory."""
    told: Outcome = {
        "questions": found.n_questions,
        **of_labels(found.labels, found.how_codes),
        "answers": of_answers(found.answers),
        "rounds": len(found.rounds),
    }
    if found.proof is not None:
        told["proof"] = of_lines(found.proof.lines())
    if found.probability is not None:
        told["probability"] = _rounded(np.nansum(found.probability) / len(found.labels))
    told |= _of_search_and_audit(found)
    counted = {
        "exceptions": len(found.exceptions),
        "retracted": len(found.retracted),
        "refutations": len(found.refutations),
    }
    return told | {name: count for name, count in counted.items() if count}


def of_large(found: LargeRecovery, proof: Path | None = None) -> Outcome:
    """Of a recovery in blocks, and the file of its proof."""
    told: Outcome = {
        "questions": found.n_questions,
        **of_labels(found.labels, found.how_codes),
        "answers": of_answers(found.answers),
        "sample": found.n_sample,
        "sweeps": found.n_sweeps,
    }
    if proof is not None:
        told["proof"] = of_file(proof)
    return told | _of_search_and_audit(found)


def of_session(session: Session, store: SqliteStore) -> Outcome:
    """Of a session: what is known, and every event but the time of it."""
    events = ((event.kind, event.who, dict(event.body)) for event in store.read())
    return {
        **of_recovery(session.snapshot()),
        "questions": session.state.n_questions,
        "ended": bool(session.progress().ended),
        "events": of_lines(events),
    }


def of_learned(learned: LearnedCluster, X: Any, n_questions: int) -> Outcome:
    """Of one cluster that was learned: which points it is said to hold."""
    inside = learned.contains(X)
    return {
        "questions": n_questions,
        "sample": learned.n_sample,
        "error": _rounded(learned.error),
        "inside": int(inside.sum()),
        "labels": _hashed(inside.astype("<i8").tobytes()),
    }


def of_trouble(error: ContradictionError | RefutedError) -> Outcome:
    """Of a run that ends with an error: which, and by which answers."""
    answers = error.witness if isinstance(error, ContradictionError) else error.answers
    told: Outcome = {"raised": type(error).__name__, "answers": of_answers(answers)}
    if isinstance(error, RefutedError):
        told |= {"item": error.item, "largest_margin": _rounded(error.largest_margin)}
    return told


def of_labels(labels: Any, how: Any) -> Outcome:
    """Of labels and of how they are known, by code or in words."""
    labels, how = np.asarray(labels), np.asarray(how)
    words = how.astype("<i8").tobytes() if how.dtype.kind == "i" else "\n".join(how).encode()
    return {
        "clusters": len(np.unique(labels[labels >= 0])),
        "labels": _hashed(labels.astype("<i8").tobytes()),
        "how": _hashed(words),
    }


def of_arrays(arrays: Iterable[Any]) -> str:
    """Of numbers, to the last digit."""
    return _hashed(b"".join(np.asarray(array, dtype="<f8").tobytes() for array in arrays))


def of_answers(answers: Iterable[Any]) -> str:
    """Of answers in their order: who said what about which pair."""
    lines = (
        f"{a.question.item} {a.question.comparator} {a.verdict.value} {a.who}" for a in answers
    )
    return _hashed("\n".join(lines).encode())


def of_lines(lines: Iterable[Any]) -> str:
    """Of lines of JSON, in which there may be arrays."""
    written = (json.dumps(line, default=lambda array: array.tolist()) for line in lines)
    return _hashed("\n".join(written).encode())


def of_file(path: Path) -> str:
    """Of what is in a file, unpacked if its name says so."""
    packed = path.read_bytes()
    return _hashed(gzip.decompress(packed) if path.suffix == ".gz" else packed)


def _of_search_and_audit(found: Recovery | LargeRecovery) -> Outcome:
    told: Outcome = {}
    if found.search is not None:
        margin = found.search.margin
        told["margin"] = None if margin is None else _rounded(margin)
        told["margins_refuted"] = len(found.search.refuted)
    if found.audit is not None:
        told["audits"] = found.audit.n_audits
        told["wrong_at_most"] = found.audit.n_wrong_at_most
        told["audit_rounds"] = found.audit.n_rounds
    return told


def _rounded(value: Any) -> float:
    """So many digits as do not depend on the order of a sum."""
    return float(f"{float(value):.6g}")


def _hashed(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()[:_DIGITS]
