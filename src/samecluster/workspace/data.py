"""Data as a session takes it: a table, the features that were made of it, and keys of items."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from samecluster._typing import FloatArray, IntArray
from samecluster.points.files import FilePoints
from samecluster.points.protocol import Points
from samecluster.points.survey import Survey
from samecluster.recovery.result.premises import Premise, PreparedFeatures
from samecluster.sessions.session import Session
from samecluster.sessions.storage.sqlite import SqliteStore
from samecluster.tables import Table
from samecluster.tables.features.inspect import Inspection, inspect_selection
from samecluster.tables.features.select import ColumnSelection, select_columns
from samecluster.workspace.known_answers import labels_as_hints
from samecluster.workspace.stored_preparation import StoredPreparation


@dataclass(frozen=True, eq=False)
class BlockData:
    """Data in blocks: where it is, what it looks like, and which rows are items.

    Passes over all rows go over ``points``: the files themselves, or Dask, whose workers read them.
    """

    path: str
    files: FilePoints
    points: Points
    survey: Survey
    rows: IntArray

    @property
    def name(self) -> str:
        return Path(self.path).name


@dataclass(frozen=True, eq=False)
class SessionData:
    """Data as a session takes it.

    ``rows`` are the rows of the table that are items: the item in row i of X is row rows[i] of the
    table. With ``blocks`` the table is a sample of data in blocks. ``files`` are what was read.
    """

    table: Table
    notes: tuple[str, ...]
    preparation: StoredPreparation
    rows: IntArray
    X: FloatArray
    keys: list[str]
    contents: list[str] | None
    choice: ColumnSelection | None = None
    blocks: BlockData | None = None
    files: tuple[Path, ...] = ()

    def session(self, store: SqliteStore, **how: Any) -> Session:
        """The session in a store, with this data; ``how`` goes to `Session.open`."""
        return Session.open(
            store,
            self.keys,
            self.X,
            contents=self.contents,
            hints=self.hints(),
            prepared=self.premises(),
            **how,
        )

    def premises(self) -> tuple[Premise, ...]:
        """What a margin of the features is about that it would not be of the table."""
        features = self.preparation.features
        n = features.missing_in(self.table).n_cells if features.missing == "median" else 0
        logarithms = features.logarithms
        return (PreparedFeatures(n, logarithms),) if n or logarithms else ()

    def inspection(self) -> Inspection:
        """How the data is read and used, to be shown before the first question."""
        if self.choice is None:
            return inspect_selection(select_columns(self.table, self.preparation.options))
        return inspect_selection(self.choice, self.X)

    def told(self) -> tuple[str, ...]:
        """What was done without being asked, to be shown where the inspection is not."""
        return (*self.notes, *(() if self.choice is None else self.choice.notes))

    def hints(self) -> list[str | None] | None:
        """The labels that only guide the questions, as the data has them now."""
        return labels_as_hints(self.table, self.rows, self.preparation.hint_column)
