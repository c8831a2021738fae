"""What an experiment is made of: tasks, tables of their results, and outcomes.

Experiments are pure: they neither run their tasks nor write files.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

import samecluster

Row: TypeAlias = dict[str, Any]
"""Names and plain values: what a task gives, and what a line of a CSV file holds."""

Results: TypeAlias = Mapping[str, Row]
"""What each task gave, by its key."""

_FORMAT = 1
"""Raise it when tasks of the same settings measure something else than before."""


@dataclass(frozen=True)
class Task:
    """One measurement: what to measure, with which settings, and about how long it takes.

    The key names the settings and the version of this package: results of other settings or of
    another version are never taken for this task's.
    """

    kind: str
    settings: Row
    weight: float = field(default=1.0, compare=False)

    @property
    def key(self) -> str:
        told = [_FORMAT, samecluster.__version__, self.kind, self.settings]
        text = json.dumps(told, sort_keys=True, allow_nan=False)
        return hashlib.sha256(text.encode()).hexdigest()[:20]


@dataclass(frozen=True)
class ResultColumn:
    """A column of a report's table: its heading, and the format of its values."""

    heading: str
    format: str = ""


@dataclass(frozen=True)
class ResultTable:
    """Rows for a CSV file; those with columns are also shown in the report."""

    name: str
    rows: list[Row]
    caption: str = ""
    columns: Mapping[str, ResultColumn] = field(default_factory=dict)


@dataclass(frozen=True)
class Outcome:
    """A statement, what it takes for it to hold, and what was measured.

    ``note`` says why it may fall short, and is shown if it does.
    """

    statement: str
    wanted: str
    measured: str
    holds: bool
    note: str = ""


class Experiment(Protocol):
    """Settings of an experiment, and what follows from them."""

    @property
    def name(self) -> str: ...

    @property
    def title(self) -> str: ...

    def about(self) -> str:
        """What was run, and how to read it, in Markdown."""
        ...

    def tasks(self) -> list[Task]: ...

    def tables(self, results: Results) -> list[ResultTable]: ...

    def outcomes(self, tables: Sequence[ResultTable]) -> list[Outcome]: ...


def rows_where(rows: Sequence[Row], **wanted: Any) -> list[Row]:
    """The rows that have these values."""
    return [row for row in rows if all(row[name] == value for name, value in wanted.items())]


def mean_of(rows: Sequence[Row], column: str) -> float:
    return sum(float(row[column]) for row in rows) / len(rows)
