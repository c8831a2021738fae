"""What would be used of a table and why, and whether proofs or prediction will carry the work."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from samecluster._resolution import resolution_of
from samecluster._typing import FloatArray
from samecluster.errors import InvalidInputError
from samecluster.tables.features.options import FeatureOptions
from samecluster.tables.features.preparation import Preparation
from samecluster.tables.features.select import ColumnSelection, ColumnUse, select_columns
from samecluster.tables.item_keys import item_keys
from samecluster.tables.messages import count
from samecluster.tables.table import Table

# A group needs about d+1 answers before its shape proves anything; with fewer than ten times as
# many rows in each of five groups, asking costs about as much as it saves.
_GROUPS, _ROWS_PER_ANSWER = 5, 10
_MANY_FEATURES = 30  # with more, d+1 answers per group are tedious although proofs would pay
_LEAST_KEPT = 0.5  # with less, what tells groups apart is as a rule among what is lost
_VARIANCE_KEPT = 0.95  # a usual share; less may lose what tells groups apart
# Before the first answer nothing is known that tells how many there will be (recovery/forecast.py).
_FORECAST = "How many questions are left is said while you answer."
_SAMPLE_ROWS = 1_000  # enough for a share of variance to two digits, in milliseconds


@dataclass(frozen=True)
class Inspection:
    """Columns used and ignored, how the file is written, and what to expect.

    ``problems`` keep the table from being used as it is. ``proofs_pay`` says whether proofs can
    be expected to save questions; if not, prediction carries the work. ``variance_kept`` is the
    share that ``suggested_reduce`` principal components have. ``notes`` say what is done without
    being asked.
    """

    source: str
    n_rows: int
    n_dropped: int
    n_filled: int
    n_features: int
    columns: tuple[ColumnUse, ...]
    features_from: tuple[str, ...]
    separator: str | None
    decimal: str | None
    encoding: str | None
    header: bool | None
    scaled: bool
    proofs_pay: bool
    suggested_reduce: int | None
    variance_kept: float | None
    problems: tuple[str, ...]
    notes: tuple[str, ...] = ()
    resolution: tuple[float, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """As plain values, for ``--json``."""
        return asdict(self)

    def __str__(self) -> str:
        lines = [*self.heading()]
        width = max((len(use.name) for use in self.columns), default=0)
        for use in self.columns:
            said = "used" if use.used else "ignored"
            lines.append(f"  {said:7}  {use.name:{width}}  {use.why}")
        return "\n".join([*lines, *self.notes, *self.expectations()])

    def heading(self) -> list[str]:
        """Size and way of writing."""
        size = f"{count(self.n_rows, 'row')}, {count(len(self.columns), 'column')}"
        lines = [f"{self.source}: {size}"]
        if self.separator is not None:
            named = {"\t": "tab", ",": "comma", ";": "semicolon", "|": "bar"}
            separator = named.get(self.separator, repr(self.separator))
            mark = "comma" if self.decimal == "," else "point"
            header = "" if self.header else ", no header line"
            lines.append(f"separator {separator}, decimal {mark}, encoding {self.encoding}{header}")
        return lines

    def expectations(self) -> list[str]:
        """What the features are, and what will carry the work."""
        if self.problems:
            return [f"Problem: {problem}" for problem in self.problems]
        n = self.n_rows - self.n_dropped
        dropped = f" ({self.n_dropped:,} left out for missing values)" if self.n_dropped else ""
        source = f", from {' and '.join(self.features_from)}" if self.features_from else ""
        scaled = "standardised" if self.scaled else "as they are, not standardised"
        features = count(self.n_features, "feature")
        lines = [f"{count(n, 'item')}{dropped} with {features}{source}, {scaled}."]
        lines.append(self._work())
        if self.suggested_reduce is not None and self.variance_kept is not None:
            lines.append(
                f"--reduce {self.suggested_reduce} keeps {self.variance_kept:.0%} of the variance "
                "and makes proofs cheaper."
            )
        return lines

    def _work(self) -> str:
        if self.proofs_pay:
            return (
                "Enough rows per feature for proofs, if groups are well apart (--margin NUMBER). "
                f"{_FORECAST}"
            )
        return (
            "Few rows for so many features: proofs will hardly save a question. Prediction carries "
            f"the work, and labels have probabilities. {_FORECAST}"
        )


def inspect_table(table: Table, options: FeatureOptions | None = None) -> Inspection:
    """Look at a table as it would be used.

    >>> from samecluster.tables import as_table
    >>> print(inspect_table(as_table({"x": [0.5, 1.5, 9.5], "kind": ["a", "b", "a"]})))
    data: 3 rows, 2 columns
      used     x     number, standardised
      ignored  kind  text of 2 kinds: --categories kind would use it
    3 items with 1 feature, standardised.
    Few rows for so many features: proofs will hardly save a question. Prediction carries the \
work, and labels have probabilities. How many questions are left is said while you answer.
    """
    return inspect_selection(select_columns(table, options or FeatureOptions()))


def inspect_selection(selection: ColumnSelection, X: FloatArray | None = None) -> Inspection:
    """As `inspect_table`, for columns that have been chosen; X if they were prepared already."""
    table, options = selection.table, selection.options
    problems = (*selection.problems, *_bad_ids(table, options.id_column))
    if problems:
        X = None
    elif X is None:
        X = Preparation.of_selection(selection).apply(table)
    n, d = X.shape if X is not None else (0, 0)
    reduce, share = (None, None) if X is None or options.reduce else _suggested(X)
    dialect = table.dialect
    cells = dialect if table.format == "csv" else None
    return Inspection(
        source=table.source,
        n_rows=len(table),
        n_dropped=selection.missing.n_rows if options.drop_missing else 0,
        n_filled=selection.missing.n_rows if options.missing == "median" else 0,
        n_features=d,
        columns=selection.uses,
        features_from=tuple(table.matrices),
        separator=cells.separator if cells else None,
        decimal=cells.decimal if cells else None,
        encoding=dialect.encoding if dialect else None,
        header=cells.header if cells else None,
        scaled=options.scale,
        proofs_pay=_proofs_pay(n, d),
        suggested_reduce=reduce,
        variance_kept=share,
        problems=problems,
        notes=selection.notes,
        resolution=() if X is None else tuple(resolution_of(X).tolist()),
    )


def _bad_ids(table: Table, id_column: str | None) -> list[str]:
    try:
        if id_column is not None:
            item_keys(table, id_column)
    except InvalidInputError as error:
        return [str(error)]
    return []


def _proofs_pay(n: int, d: int) -> bool:
    return _ROWS_PER_ANSWER * (d + 1) <= n / _GROUPS


def _suggested(X: FloatArray) -> tuple[int | None, float | None]:
    """How many components to keep so that proofs pay, and the share of variance that they have."""
    n, d = X.shape
    most = n // (_GROUPS * _ROWS_PER_ANSWER) - 1
    if (_proofs_pay(n, d) and d <= _MANY_FEATURES) or most < 2:
        return None, None
    sample = X if n <= _SAMPLE_ROWS else X[:: -(-n // _SAMPLE_ROWS)]
    centred = sample - sample.mean(axis=0)
    gram = centred @ centred.T if len(sample) < d else centred.T @ centred
    variances = np.clip(np.linalg.eigvalsh(gram)[::-1], 0.0, None)
    shares = np.cumsum(variances) / max(float(variances.sum()), np.finfo(float).tiny)
    kept = min(int(np.searchsorted(shares, _VARIANCE_KEPT)) + 1, most, len(shares))
    if kept < 2 or kept >= d or shares[kept - 1] < _LEAST_KEPT:
        return None, None
    return kept, float(min(shares[kept - 1], 1.0))
