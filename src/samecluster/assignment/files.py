"""A result in one file: arrays and JSON in a zip. Nothing in it can run.

``result.json`` has the format, the version that wrote it, the fingerprint of the points and what is
no array; the arrays are .npy members. Reading checks all of it before anything is made of it.
"""

from __future__ import annotations

import io
import json
import math
import zipfile
import zlib
from collections.abc import Iterable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

import samecluster
from samecluster._files import MAX_BYTES, check_input, check_size, written_file
from samecluster._typing import Array, FloatArray
from samecluster.errors import InvalidInputError
from samecluster.lifts.lift import ColumnMap, lift_from_json
from samecluster.lifts.polynomial import Polynomial, PolynomialColumns
from samecluster.points.array import validated
from samecluster.proof.fingerprint import fingerprint
from samecluster.proof.log import ProofLog
from samecluster.questions.ledger import Ledger
from samecluster.questions.pair import Answer, Question, Verdict
from samecluster.recovery.result.audit_report import AuditReport
from samecluster.recovery.result.claims import Foresight, GivenCheck
from samecluster.recovery.result.how import How
from samecluster.recovery.result.premises import PreparedFeatures
from samecluster.recovery.result.result import MarginSearch, Recovery, Refutation, Round
from samecluster.tables import Preparation
from samecluster.tables.frame_points import FrameFeatures

FORMAT = "samecluster-result-1"
_HEAD = "result.json"
_ARRAYS = {"labels": "<i8", "how_codes": "|i1", "round_of": "<i4", "points": "<f8"}
_PLAIN = ("n_questions", "method", "margin", "n_clusters", "n_looks", "n_shown")


def save_recovery(recovery: Recovery, path: str | Path, *, force: bool = False) -> None:
    """Write a result to one file, which appears when it is complete.

    The file holds the coordinates of all rows, and who gave which answer.
    """
    if recovery.lift is not None:
        _check_lift(recovery.lift, recovery.points)
    arrays = {name: getattr(recovery, name) for name in _ARRAYS}
    kinds = dict(_ARRAYS)
    if recovery.probability is not None:
        arrays["probability"], kinds["probability"] = recovery.probability, "<f8"
    head = {
        "format": FORMAT,
        "written_by": samecluster.__version__,
        "fingerprint": fingerprint(recovery.points),
        "arrays": sorted(arrays),
        **{name: getattr(recovery, name) for name in _PLAIN},
        "rounds": [[one.n_questions, one.n_labelled] for one in recovery.rounds],
        "answers": _written(recovery.answers),
        "retracted": _written(recovery.retracted),
        "refutations": [[one.item, _written(one.answers)] for one in recovery.refutations],
        "exceptions": list(recovery.exceptions),
        "resolution": list(recovery.resolution),
        "search": None if recovery.search is None else _search(recovery.search),
        "lift_names": list(getattr(recovery.lift, "names", ())),
        "audit": None if recovery.audit is None else _audit(recovery.audit),
        "prepared": [asdict(one) for one in recovery.prepared],  # all are PreparedFeatures
        "proof": None if recovery.proof is None else list(recovery.proof.lines()),
        "models": list(recovery.models),
        "foresight": recovery.foresight,
        "given": recovery.given,
        "frame": _frame(recovery.frame),
        "claims": [claim.as_dict() for claim in recovery.claims],
    }
    with (
        written_file(path, is_result_file, force=force) as partial,
        zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED, compresslevel=3) as file,
    ):
        file.writestr(_HEAD, json.dumps(head, default=_as_list))
        for name, values in arrays.items():
            packed = io.BytesIO()
            np.lib.format.write_array(packed, np.ascontiguousarray(values, kinds[name]), (1, 0))
            file.writestr(f"{name}.npy", packed.getvalue())


def load(path: str | Path) -> Recovery:
    """Read a result that `Recovery.save` wrote; it labels the same rows in the same way.

    InvalidInputError in one line if the file is damaged, or no such result.
    """
    source = Path(path)
    check_input(source)
    try:
        with zipfile.ZipFile(source) as file:
            check_size(source, sum(member.file_size for member in file.infolist()), MAX_BYTES)
            head = json.loads(file.read(_HEAD))
            if not isinstance(head, dict) or head.get("format") != FORMAT:
                raise ValueError(f"its format is not {FORMAT}")
            kinds = dict(_ARRAYS)
            if "probability" in head["arrays"]:
                kinds["probability"] = "<f8"
            arrays = {name: _array(file.read(f"{name}.npy"), kinds[name]) for name in kinds}
        return _checked(head, arrays)
    except InvalidInputError as error:
        raise InvalidInputError(f"{source} cannot be read: {error}") from None
    except (
        ArithmeticError,
        AttributeError,
        LookupError,
        OSError,
        RuntimeError,
        TypeError,
        ValueError,
        StopIteration,
        EOFError,
        zipfile.BadZipFile,
        zlib.error,
    ) as error:
        said = " ".join(str(error).split()) or type(error).__name__
        raise InvalidInputError(
            f"{source} is no result of samecluster, or damaged: {said[:200]}"
        ) from None


def is_result_file(path: Path) -> bool:
    """Whether a file is a zip with the head of a result."""
    try:
        with zipfile.ZipFile(path) as file, file.open(_HEAD) as head:
            return head.read(len(FORMAT) + 40).startswith(f'{{"format": "{FORMAT}"'.encode())
    except (OSError, KeyError, ValueError, RuntimeError, zipfile.BadZipFile, zlib.error):
        return False


def _checked(head: dict[str, Any], arrays: dict[str, Array]) -> Recovery:
    """A result, if its parts fit together."""
    points, labels, how = validated(arrays["points"]), arrays["labels"], arrays["how_codes"]
    n = len(points)
    if any(values.shape != (n,) for name, values in arrays.items() if name != "points"):
        raise ValueError(f"its arrays are not all about {n} rows")
    if fingerprint(points) != head["fingerprint"]:
        raise ValueError("its points are not those of its fingerprint")
    if not np.isin(how, list(How)).all() or ((labels >= 0) != (how != How.UNASSIGNED)).any():
        raise ValueError("its labels and how they are known do not fit together")
    if labels.min() < -1 or labels.max() >= n:
        raise ValueError("its labels are no numbers of clusters")
    answers = tuple(_read(head["answers"], n))
    Ledger(answers)  # which refuses contradictions
    margin, search = head["margin"], head["search"]
    if margin is not None and not (isinstance(margin, float) and 0 < margin < math.inf):
        raise ValueError(f"its margin is {margin!r}")
    if search is not None:
        lift = _lift(lift_from_json(search.get("lift")), head, points)
        search = MarginSearch(**{**search, "refuted": tuple(search["refuted"]), "lift": lift})
    elif margin is None and (how >= How.INFERRED).any() and head["proof"] is not None:
        raise ValueError("it has a proof without a margin")
    audit = head["audit"]
    proof = None if head["proof"] is None else ProofLog.from_lines(iter(head["proof"]))
    if proof is not None:
        lift = proof.lift = _lift(proof.lift, head, points)
        width = points.shape[1] if lift is None else lift.width
        if len(proof.resolution) != width or (search and search.lift != lift):
            raise ValueError("its proof is about other columns")
    plain: dict[str, Any] = {name: head[name] for name in _PLAIN}
    found = Recovery(
        **plain | arrays | {"points": points},
        rounds=tuple(Round(*one) for one in head["rounds"]),
        answers=answers,
        retracted=tuple(_read(head["retracted"], n)),
        refutations=tuple(
            Refutation(item, tuple(_read(said, n))) for item, said in head["refutations"]
        ),
        exceptions=tuple(_row(item, n) for item in head["exceptions"]),
        resolution=tuple(map(float, head["resolution"])),
        search=search,
        audit=None if audit is None else AuditReport(**audit),
        prepared=tuple(
            PreparedFeatures(one["n_filled"], tuple(one["logarithms"])) for one in head["prepared"]
        ),
        proof=proof,
        models=tuple(map(str, head["models"])),
        foresight=_foresight(head["foresight"]),
        given=_given(head["given"]),
        frame=_read_frame(head["frame"], points.shape[1]),
    )
    if [claim.as_dict() for claim in found.claims] != head["claims"]:
        raise ValueError("it claims what does not follow from it")
    return found


def _search(search: MarginSearch) -> dict[str, Any]:
    lift = None if search.lift is None else search.lift.to_json()
    return {**asdict(replace(search, lift=None)), "lift": lift}


def _lift(
    stored: ColumnMap | None, head: dict[str, Any], points: FloatArray
) -> PolynomialColumns | None:
    """The lift that was stored, with what its columns are called, if it is one of these points."""
    if stored is None:
        return None
    lift = _check_lift(stored, points)
    names = tuple(map(str, head["lift_names"]))
    if names and len(names) != len(lift.columns):
        raise ValueError("its lift has another number of columns than names")
    return replace(lift, names=names)


def _check_lift(lift: ColumnMap, points: FloatArray) -> PolynomialColumns:
    """The lift, if anybody can compute it from the points again."""
    if not isinstance(lift, PolynomialColumns):
        raise InvalidInputError(
            f"a result in {lift.said()} cannot be kept in a file, since a function is not stored; "
            "keep its labels and its proof"
        )
    if lift != Polynomial(lift.degree).fitted(points.min(axis=0), points.max(axis=0)):
        raise InvalidInputError("its lift is not that of its points")
    return lift


def _foresight(kept: Any) -> Foresight | None:
    if kept is None:
        return None
    n_records, unseen, n_modelled = kept
    return Foresight(
        int(n_records),
        None if unseen is None else float(unseen),
        None if n_modelled is None else int(n_modelled),
    )


def _given(kept: Any) -> GivenCheck | None:
    if kept is None:
        return None
    by, n_seen, n_wrong, is_used = kept
    return GivenCheck(tuple(map(str, by)), int(n_seen), int(n_wrong), bool(is_used))


def _frame(features: FrameFeatures | None) -> dict[str, Any] | None:
    """How the columns of a frame became points; its index stays with the frame."""
    if features is None:
        return None
    made = features.preparation
    kept = {name: getattr(features, name) for name in ("columns", "uses", "kind", "n_filled")}
    return {**kept, "preparation": None if made is None else json.loads(made.to_json())}


def _read_frame(kept: Any, width: int) -> FrameFeatures | None:
    if kept is None:
        return None
    made = kept["preparation"]
    preparation = None if made is None else Preparation.from_json(json.dumps(made))
    columns = tuple(map(str, kept["columns"]))
    if (len(columns) if preparation is None else preparation.width) != width:
        raise ValueError("its frame has another number of features")
    uses = tuple(map(str, kept["uses"]))
    return FrameFeatures(
        columns, preparation, uses, str(kept["kind"]), n_filled=int(kept["n_filled"])
    )


def _array(packed: bytes, kind: str) -> Array:
    """An array of an .npy member, whose size is checked before anything of that size is made."""
    file = io.BytesIO(packed)
    if np.lib.format.read_magic(file) != (1, 0):
        raise ValueError("an array of another version")
    shape, by_columns, dtype = np.lib.format.read_array_header_1_0(file)
    body = file.read()
    if dtype.str != kind or by_columns or len(body) != math.prod(shape) * dtype.itemsize:
        raise ValueError("an array that is not as its header says")
    return np.frombuffer(body, dtype).reshape(shape).astype(dtype.newbyteorder("="))


def _audit(report: AuditReport) -> dict[str, Any]:
    """Without the gap, which follows from labels and answers."""
    return {name: value for name, value in asdict(report).items() if name != "gap"}


def _written(answers: Iterable[Answer]) -> list[list[Any]]:
    return [[a.question.item, a.question.comparator, a.verdict.value, a.who] for a in answers]


def _read(answers: Any, n: int) -> list[Answer]:
    return [
        Answer(Question(_row(item, n), _row(other, n)), Verdict(verdict), who)
        for item, other, verdict, who in answers
    ]


def _row(item: Any, n: int) -> int:
    if type(item) is not int or not 0 <= item < n:
        raise ValueError(f"{item!r} is no row")
    return item


def _as_list(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    raise TypeError(f"cannot write {type(value).__name__}")
