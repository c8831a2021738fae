"""Labels for rows that a session is not about, by its answers; nobody is asked anything."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any

from samecluster._extras import pyarrow
from samecluster._files import check_output
from samecluster.assignment.labeller import RowLabeller
from samecluster.errors import InvalidInputError
from samecluster.recovery.result.how import How, ways
from samecluster.recovery.result.sentences import count
from samecluster.tables.messages import brief, first_few
from samecluster.tables.reading.blocks import SIZE, is_large, table_blocks
from samecluster.tables.result_files import is_result_file
from samecluster.tables.table import Table
from samecluster.tables.writing import Found, format_of, write_blocks
from samecluster.workspace.export import ResultFiles, Snapshot
from samecluster.workspace.open import OpenSession
from samecluster.workspace.request import Request
from samecluster.workspace.status import how_counts


@dataclass
class NewLabels:
    """What was said about new rows, counted over all blocks."""

    how: Counter[How] = field(default_factory=Counter)
    n_rows: int = 0
    refuted: list[str] = field(default_factory=list)
    unseen: dict[str, set[str]] = field(default_factory=dict)
    premise: str = ""

    def lines(self, out: str) -> list[str]:
        """What to tell the user."""
        lines = [f"{out} has {count(self.n_rows, 'row')}: {ways(self.how)}."]
        if self.premise:
            lines.append(f"Proven and inferred {self.premise}.")
        if self.refuted:
            lines.append(
                f"In reach of two clusters, so that the margin does not hold with them: "
                f"{first_few(self.refuted)}. Their labels are predicted."
            )
        for column, texts in self.unseen.items():
            lines.append(
                f"Categories that the session has not seen, in column {brief(column)!r}: "
                f"{first_few(sorted(map(brief, texts)))}. They count as none of those known."
            )
        return lines

    def facts(self) -> dict[str, Any]:
        """The same as data."""
        return {
            "rows": self.n_rows,
            "how": how_counts(self.how),
            "in_two_reaches": self.refuted,
            "unseen_categories": {name: sorted(found) for name, found in self.unseen.items()},
            "premise": self.premise,
        }


def label_new_rows(
    opened: OpenSession, new: Request, files: ResultFiles, size: int = SIZE
) -> NewLabels:
    """Write the rows of a request with labels by what a session knows.

    Features are made as in the session. Files larger than ``size`` are read, labelled and written
    in blocks; nothing is left of the result if a later block cannot be used.
    """
    assert files.out is not None
    source = Path(new.data)
    inputs = (*opened.inputs, *files.inputs, source)
    check_output(files.out, is_result_file, force=files.force, inputs=inputs)
    known = Snapshot.of(opened.session)
    if not opened.session.state.facts:
        raise InvalidInputError(f"{opened.path} has no answers yet; `samecluster label` asks")
    tables = _tables(opened, new, files.out, size)
    first = next(tables)
    chosen, labels = format_of(first, files.out), NewLabels()
    if chosen == "parquet":
        pyarrow()  # says how to install it if it is missing
    write_blocks(
        _found(opened, known, chain([first], tables), labels),
        files.out,
        chosen,
        prefix=files.prefix,
        raw=files.raw,
        named=bool(known.names),
        force=files.force,
        inputs=inputs,
    )
    return labels


def _tables(opened: OpenSession, new: Request, out: str, size: int) -> Iterator[Table]:
    """The rows; in blocks if the result is of the same kind, or types would differ by block."""
    preparation = opened.data.preparation
    if preparation.reading.get("vectors") is not None and new.vectors is None:
        raise InvalidInputError(
            f"the session has its features from vectors; name those of {new.data} with "
            "--new-vectors FILE"
        )
    read = replace(new, **preparation.reading_for(new))
    dialect = opened.table.dialect
    if read.header is None and opened.table.format == "csv" and dialect is not None:
        read = replace(read, header=dialect.header)
    suffix, wanted = Path(new.data).suffix.lower(), Path(out).suffix.lower()
    if read.vectors is None and is_large(new.data, size) and (suffix == wanted or out == "-"):
        yield from table_blocks(new.data, read.asked(preparation.words_replace), size)
    else:
        yield read.load(preparation.words_replace).table


def _found(
    opened: OpenSession, known: Snapshot, tables: Iterable[Table], labels: NewLabels
) -> Iterator[Found]:
    features, labeller = opened.data.preparation.features, RowLabeller(known.recovery)
    for table in tables:
        if table.is_matrix and len(table.names) > len(features.columns):
            raise InvalidInputError(
                f"{table.source} has {count(len(table.names), 'column')}, and the session has "
                f"{count(len(features.columns), 'feature')}"
            )
        for column, texts in features.unseen_categories(table).items():
            labels.unseen.setdefault(column, set()).update(texts)
        rows = features.kept(table)
        assigned = labeller.assign(features.apply(table))
        labels.n_rows += len(table)
        labels.how.update(assigned.by_how)
        labels.how[How.UNASSIGNED] += len(table) - len(rows)
        labels.refuted += [table.row_name(int(rows[at])) for at in assigned.refuted.tolist()]
        labels.premise = labels.premise or assigned.premise
        names = [known.names.get(label, label) for label in assigned.labels.tolist()]
        yield Found(table, names, assigned.how.tolist(), assigned.probability, rows)
