"""Data frames of any make as points, and results as frames of the kind that came in."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from samecluster._extras import has_static_embedding, imported
from samecluster._typing import FloatArray
from samecluster.errors import InvalidInputError
from samecluster.points.array import validated
from samecluster.tables.column import TypedColumn
from samecluster.tables.features.options import FeatureOptions
from samecluster.tables.features.preparation import Preparation
from samecluster.tables.features.select import ColumnSelection, select_columns
from samecluster.tables.reading.frames import as_table
from samecluster.tables.result_files import NAMES
from samecluster.tables.table import Table

_KINDS = ("pandas", "polars", "pyarrow")
_MISSING = ("median", "error")
# What the command line advises, in words of Python; ids and dropped rows are its own.
_ELSEWHERE = re.compile(
    r"--id \S+ or |--missing drop [^,;]*, |, or the rows with --missing drop|,[^,]* --na \S+(?=,)"
)
_OPTION = re.compile(r"--(features|text|categories|ignore|missing)( (?!or\b)([^\s,;:)]+))?")
_LOG = logging.getLogger("samecluster")


def is_frame(X: Any) -> bool:
    """Whether X has columns with names: a data frame, or a mapping of columns."""
    if isinstance(X, Mapping | Table):
        return not hasattr(X, "shape")  # a sparse matrix of older SciPy is a mapping, too
    return hasattr(type(X), "columns") and hasattr(X, "__getitem__")


@dataclass(frozen=True)
class ColumnChoice:
    """What a user says about the columns of a frame; all None where nothing is said.

    ``features`` are columns of numbers, ``text`` and ``categories`` those of words, ``ignore`` is
    left out. ``missing`` says what becomes of missing cells: "median" or "error".
    """

    features: Any = None
    text: Any = None
    categories: Any = None
    ignore: Any = None
    missing: str | None = None

    @property
    def said(self) -> list[str]:
        return [name for name, value in vars(self).items() if value is not None]

    def options(self, kinds: Sequence[str], logarithms: bool) -> FeatureOptions:
        """As the command line would have it; a column of a type for categories is one."""
        if self.missing not in (None, *_MISSING):
            raise InvalidInputError(
                f"missing must be 'median' or 'error', got {self.missing!r}; rows without values "
                "are left out by leaving them out of the frame"
            )
        named = {name: _names(getattr(self, name)) for name in ("text", "categories", "ignore")}
        taken = {*named["text"], *named["ignore"], *_names(self.features)}
        categories = named["categories"]
        if self.categories is None:
            categories = tuple(name for name in kinds if name not in taken)
        return FeatureOptions(
            features=None if self.features is None else _names(self.features),
            ignore=named["ignore"],
            categories=categories,
            texts=named["text"],
            text_method="meaning" if has_static_embedding() else "words",
            logarithms=logarithms,
            missing=self.missing or "median",
        )


@dataclass(frozen=True, eq=False)
class FrameFeatures:
    """How the columns of a frame became points.

    ``preparation`` is None where all columns are numbers that are used as they are. ``uses`` say
    what became of each column; ``kind`` is the library of the frame, and ``index`` what its rows
    go by in pandas.
    """

    columns: tuple[str, ...]
    preparation: Preparation | None
    uses: tuple[str, ...]
    kind: str
    index: Any = None
    n_filled: int = 0

    @property
    def names(self) -> tuple[str, ...]:
        """The columns of the points, where each is a column of the frame."""
        if self.preparation is None:
            return self.columns
        numbers = self.preparation.number_columns
        return numbers if len(numbers) == self.preparation.width else ()

    def points(self, rows: Any) -> FloatArray:
        """Other rows (m, d) as the points that they are; arrays have the columns in their order."""
        if self.preparation is None:
            if not is_frame(rows):
                return np.asarray(rows)
            table = as_table(rows, "rows")
            for name in self.columns:
                table.column(name)
            return np.column_stack([_numbers(table, name) for name in self.columns])
        if not is_frame(rows):
            rows = _named(rows, self.columns)
        with _in_python_words():
            return self.preparation.apply(as_table(rows, "rows"))


def points_of(
    X: Any, choice: ColumnChoice, logarithms: bool
) -> tuple[FloatArray, FrameFeatures | None]:
    """X as points (n, d), and how they were made if it is a frame.

    A frame of numbers without gaps is used as it is, unless something is said about its columns;
    any other is prepared as the command line does it. What is used is written to the log
    "samecluster".
    """
    if not is_frame(X):
        if choice.said:
            raise InvalidInputError(
                f"{choice.said[0]}= is about the columns of a data frame, and X has none with names"
            )
        return validated(X), None
    if hasattr(X, "collect"):
        raise InvalidInputError("a lazy frame has no rows yet; pass X.collect()")
    table, kind = as_table(X, "X"), type(X).__module__.partition(".")[0]
    index = X.index if kind == "pandas" else None
    if not choice.said and all(_is_plain(column) for column in table.columns.values()):
        features = FrameFeatures(table.names, None, (), kind, index)
        return validated(X if kind == "pandas" else features.points(table)), features
    with _in_python_words():
        options = choice.options(_category_columns(X, table), logarithms)
        selection = select_columns(table, options)
        preparation = Preparation.of_selection(selection)
        points = validated(preparation.apply(table))
    uses = _uses(selection)
    _LOG.info("%s", "\n".join(uses))
    n_filled = selection.missing.n_cells
    return points, FrameFeatures(table.names, preparation, uses, kind, index, n_filled)


def result_columns(
    labels: Any, how: Any, probability: Any, prefix: str = ""
) -> dict[str, np.ndarray[Any, Any]]:
    """The columns that results have, by name."""
    values = (np.asarray(labels), np.asarray(how, dtype=object), np.asarray(probability))
    return {prefix + name: found for name, found in zip(NAMES, values, strict=True)}


def frame_of(columns: Mapping[str, Any], kind: str, index: Any = None) -> Any:
    """A frame of a kind; pandas where the kind is none that is known."""
    kind = kind if kind in _KINDS else "pandas"
    module = imported(kind, f"a frame of results needs {kind}: pip install {kind}")
    if kind == "pandas":
        return module.DataFrame(dict(columns), index=index)
    plain = {name: values.tolist() for name, values in columns.items()}
    return module.DataFrame(plain) if kind == "polars" else module.table(plain)


def joined(frame: Any, columns: Mapping[str, Any]) -> Any:
    """The frame with more columns, as one of its own kind."""
    kind = type(frame).__module__.partition(".")[0]
    if kind not in _KINDS:
        raise InvalidInputError(f"join takes a frame of {', '.join(_KINDS)}, got {type(frame)}")
    names = list(getattr(frame, "column_names", None) or frame.columns)
    n = frame.num_rows if kind == "pyarrow" else len(frame)
    for name, values in columns.items():
        if name in names:
            raise InvalidInputError(f"the frame has a column {name!r} already; pass prefix='new_'")
        if len(values) != n:
            raise InvalidInputError(f"the frame has {n:,} rows, and the result {len(values):,}")
    added = frame_of(columns, kind, getattr(frame, "index", None))
    if kind == "pandas":
        return imported("pandas", "").concat([frame, added], axis=1)
    if kind == "polars":
        return frame.hstack(added)
    for name in columns:
        frame = frame.append_column(name, added[name])
    return frame


def asked_with_rows(ask: Callable[[Any, Any], Any], X: Any) -> Callable[[int, int], Any]:
    """A function of two row numbers, of one of two rows as mappings of their columns."""
    columns = {c.name: c for c in as_table(X, "X").columns.values() if isinstance(c, TypedColumn)}

    def row(number: int) -> dict[str, Any]:
        cells = ((name, column.values[number]) for name, column in columns.items())
        return {n: cell.item() if isinstance(cell, np.generic) else cell for n, cell in cells}

    return lambda one, two: ask(row(one), row(two))


def _names(given: Any) -> tuple[str, ...]:
    if given is None:
        return ()
    return (given,) if isinstance(given, str) else tuple(map(str, given))


def _named(rows: Any, columns: Sequence[str]) -> dict[str, Any]:
    array = np.asarray(rows)
    if array.ndim != 2 or array.shape[1] != len(columns):
        raise InvalidInputError(f"new rows must have {len(columns)} columns, as the old ones")
    return {name: array[:, at].tolist() for at, name in enumerate(columns)}


def _is_plain(column: Any) -> bool:
    """Whether a column is of numbers that are all there."""
    values = column.values
    is_number = isinstance(values, np.ndarray) and values.dtype.kind in "fiub"
    return is_number and not np.isnan(values).any()


def _numbers(table: Table, name: str) -> Any:
    column: Any = table.column(name)
    if not _is_plain(column):
        raise InvalidInputError(f"{table.source}: column {name!r} must have a number in each row")
    return column.values


def _category_columns(X: Any, table: Table) -> tuple[str, ...]:
    """The columns whose type says that they hold categories."""
    if isinstance(X, Mapping):
        return ()
    types = {
        name: str(getattr(X[name], "dtype", getattr(X[name], "type", ""))) for name in table.names
    }
    starts = ("category", "categorical", "enum", "dictionary")
    return tuple(name for name, kind in types.items() if kind.lower().startswith(starts))


def _uses(selection: ColumnSelection) -> tuple[str, ...]:
    """A line about each column, and what else was done."""
    lines = [f"{use.name}: {'' if use.used else 'not used, '}{use.why}" for use in selection.uses]
    return tuple(_as_python(line) for line in (*lines, *selection.notes))


def _as_python(line: str) -> str:
    rest = _ELSEWHERE.sub("", line)
    return _OPTION.sub(lambda one: f"{one[1]}=" + (repr(one[3]) if one[3] else ""), rest)


@contextmanager
def _in_python_words() -> Iterator[None]:
    """Errors that name parameters, where the command line has options."""
    try:
        yield
    except InvalidInputError as error:
        raise InvalidInputError(_as_python(str(error))) from None
