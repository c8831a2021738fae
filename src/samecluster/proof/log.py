"""The log of a proof, as a recovery writes it. The checker's docstring says what records mean.

Records are kept in the order in which they were found; runs of `in` records, of which there may be
millions, as arrays.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from samecluster._typing import Array, FloatArray, IntArray
from samecluster.lifts.lift import ColumnMap, lift_from_json

FORMAT = "samecluster-proof-1"
LIFTED_FORMAT = "samecluster-proof-2"
"""The same with a lift in the header: who does not know lifts must not read it."""

FORMATS = (FORMAT, LIFTED_FORMAT)
_ROWS_PER_LINE = 8192  # about 0.5 MB of JSON: a reader holds one line, however long the proof
_NUMBERS_PER_LINE = 1_000_000  # the same for rows of more than a hundred numbers
_OF_MANY = {"in": 2, "sdp": 3}  # kinds that show many items, and the field that has them

FIELDS: dict[str, tuple[str, ...]] = {
    "cluster": ("item",),
    "answer": ("item", "other", "word"),
    "in": ("cluster", "rows"),
    "out": ("item", "cluster", "other", "columns"),
    "last": ("item", "cluster"),
    "count": (),
    "sdp": ("cluster", "word", "items", "inner", "outer", "weight"),
    "differ": ("cluster", "other", "inner", "outer"),
}
"""What a record of each kind has, in order; `differ` has another cluster where others have an item,
and names in ``inner`` and ``outer`` come with weights."""


class ProofLog:
    """What was concluded, and from what.

    Parameters
    ----------
    fingerprint : of the coordinates the proof is about
    margin, n_clusters : as declared; n_clusters may be None
    resolution : (d,) τ of each column, lifted ones if there is a lift
    lift : the lift that the margin is one in
    """

    def __init__(
        self,
        fingerprint: str,
        margin: float,
        n_clusters: int | None,
        resolution: FloatArray,
        lift: ColumnMap | None = None,
    ) -> None:
        self.fingerprint = fingerprint
        self.margin = margin
        self.n_clusters = n_clusters
        self.resolution = resolution
        self.lift = lift
        self._records: list[tuple[Any, ...]] = []

    def __len__(self) -> int:
        return sum(len(r[_OF_MANY[r[0]]]) if r[0] in _OF_MANY else 1 for r in self._records)

    @property
    def records(self) -> tuple[tuple[Any, ...], ...]:
        """All records in order; `in` records in runs: ("in", cluster, rows of y and columns)."""
        return tuple(self._records)

    def add_cluster(self, item: int) -> None:
        self._records.append(("cluster", int(item)))

    def add_answer(self, item: int, comparator: int, verdict: str) -> None:
        self._records.append(("answer", int(item), int(comparator), verdict))

    def add_inside(self, cluster: int, items: Array, columns: Array) -> None:
        """Items (m,) with their columns (m, d+1): items, or -1-j for τ_j."""
        rows: npt.NDArray[np.int32] = np.column_stack([items, columns]).astype(np.int32)
        self._records.append(("in", int(cluster), rows))

    def add_outside(self, item: int, cluster: int, non_member: int, columns: Array) -> None:
        self._records.append(("out", int(item), int(cluster), int(non_member), columns.tolist()))

    def add_count(self) -> None:
        self._records.append(("count",))

    def add_last(self, item: int, cluster: int) -> None:
        self._records.append(("last", int(item), int(cluster)))

    def add_weights(
        self,
        cluster: int,
        inside: bool,
        items: Array,
        columns: list[tuple[int, float]],
        non_members: list[tuple[int, float]],
        weight: float,
    ) -> None:
        """An `sdp` record: one certificate for all items, each of which weighs ``weight`` in it."""
        self._records.append(
            (
                "sdp",
                int(cluster),
                "in" if inside else "out",
                np.asarray(items, dtype=np.int64).tolist(),
                _in_hexadecimal(columns),
                _in_hexadecimal(non_members),
                float(weight).hex(),
            )
        )

    def add_differ(
        self, a: int, b: int, columns: list[tuple[int, float]], non_members: list[tuple[int, float]]
    ) -> None:
        """A certificate that two names are not of one cluster."""
        weighed = _in_hexadecimal(columns), _in_hexadecimal(non_members)
        self._records.append(("differ", int(a), int(b), *weighed))

    def header(self) -> dict[str, Any]:
        lift = {} if self.lift is None else {"lift": self.lift.to_json()}
        return {
            "format": LIFTED_FORMAT if lift else FORMAT,
            "fingerprint": self.fingerprint,
            "margin": float(self.margin).hex(),
            "n_clusters": self.n_clusters,
            "resolution": [float(tau).hex() for tau in self.resolution],
            **lift,
        }

    def lines(self) -> Iterator[Any]:
        """The header and the records, as the checker reads them; long ones in parts."""
        yield self.header()
        for record in self._records:
            yield from in_parts(record)

    @classmethod
    def from_lines(cls, lines: Iterator[Any]) -> ProofLog:
        """A log from lines as written; what they claim is not checked here."""
        header = next(lines)
        log = cls(
            header["fingerprint"],
            float.fromhex(header["margin"]),
            header["n_clusters"],
            np.array([float.fromhex(tau) for tau in header["resolution"]]),
            lift_from_json(header.get("lift")),
        )
        for kind, *fields in lines:
            if kind == "in":
                fields = [fields[0], np.asarray(fields[1], dtype=np.int32)]
            log._records.append((kind, *fields))
        return log


def in_parts(record: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    """A record as lines: one, or several if it is about very many items."""
    at = _OF_MANY.get(record[0])
    if at is None:
        yield record
        return
    width = len(record[at][0]) if record[0] == "in" and len(record[at]) else 1
    step = min(_ROWS_PER_LINE, max(1, _NUMBERS_PER_LINE // width))
    for start in range(0, len(record[at]), step):
        part = record[at][start : start + step]
        yield (*record[:at], part, *record[at + 1 :])


def renumbered(record: tuple[Any, ...], rows: IntArray) -> tuple[Any, ...]:
    """A record about a sample, as one about the data whose row ``rows[i]`` is item i."""

    def row(item: int) -> int:
        return int(rows[item]) if item >= 0 else item

    def of_rows(field: str, value: Any) -> Any:
        if field == "rows":
            return np.where(value >= 0, rows[value], value)
        if field == "item" or (field == "other" and kind != "differ"):
            return row(value)
        if field in ("columns", "items"):
            return [row(item) for item in value]
        if field in ("inner", "outer"):
            return [[row(item), weight] for item, weight in value]
        return value

    kind, *values = record
    return kind, *(of_rows(*pair) for pair in zip(FIELDS[kind], values, strict=True))


def _in_hexadecimal(weighed: list[tuple[int, float]]) -> list[list[Any]]:
    """Weights as text that loses nothing."""
    return [[int(name), float(weight).hex()] for name, weight in weighed]
