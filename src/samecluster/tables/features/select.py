"""Which columns are used, why the others are not, and what stands in the way."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from samecluster._extras import has_static_embedding
from samecluster._resolution import far_values
from samecluster.tables.column import Column, Numbers
from samecluster.tables.features.bad_cells import (
    UNITS,
    bad_cells_message,
    not_quite_numbers,
    shown_cell,
)
from samecluster.tables.features.identifiers import why_identifier
from samecluster.tables.features.logarithms import has_long_tail
from samecluster.tables.features.missing import MissingCells
from samecluster.tables.features.options import FeatureOptions
from samecluster.tables.messages import brief
from samecluster.tables.table import Table

_FEW_CATEGORIES = 20  # of more kinds each becomes a column, and words say more
# One or two texts are errors in a column of any length; in a long one a tenth of the cells may be
# (an unlisted mark for "no value"). With more, the column is text in which some cells are digits.
_FEW_ERRORS, _ERRORS_PER_NUMBER = 2, 0.1
_LONGEST_LIST = 80  # characters of names of columns in a line that can be copied
_TEXT_AS = {
    "words": "text, as {} numbers by its words",
    "meaning": "text, as 256 numbers by its meaning",
}
_MIXED = "numbers and text mixed"
_SAMPLE = 1000  # cells that tell whether a column has sentences
_FEWEST_WORDS = 3  # per text; names and codes have fewer
_MOST_ROWS = 3  # named in a note
_MOST_REASONS = 4  # columns whose reason is part of a message


@dataclass(frozen=True)
class ColumnUse:
    """What becomes of a column, and why."""

    name: str
    used: bool
    why: str
    is_identifier: bool = False
    is_logarithm: bool = False


@dataclass(frozen=True, eq=False)
class ColumnSelection:
    """The columns of numbers to use, what becomes of every column, and what stands in the way."""

    table: Table
    options: FeatureOptions
    numbers: tuple[str, ...]
    uses: tuple[ColumnUse, ...]
    faults: tuple[str, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns that features are made of."""
        return (*self.numbers, *self.options.categories, *self.options.texts)

    @property
    def logarithms(self) -> tuple[str, ...]:
        """The columns of numbers that are used as logarithms."""
        return tuple(use.name for use in self.uses if use.is_logarithm)

    @cached_property
    def missing(self) -> MissingCells:
        """The cells without a value in columns that are used."""
        return MissingCells.of(self.table, self.numbers, self.columns)

    @property
    def notes(self) -> tuple[str, ...]:
        """What is done without being asked, in a line each, and how to have it otherwise."""
        doubtful = [use.name for use in self.uses if use.is_identifier]
        notes = [left_out_note(doubtful, self.numbers)] if doubtful else []
        if self.logarithms:
            names = brief(", ".join(self.logarithms), _LONGEST_LIST)
            notes.append(
                f"Used as logarithms, for their long tails: {names} (not with --no-scale, nor if "
                "--margin is declared at the start)."
            )
        notes += [
            f"Not used: {brief(use.name)}, {use.why}."
            for use in self.uses
            if use.why.startswith(UNITS)
        ]
        if self.options.missing == "median" and self.missing.n_cells:
            notes.append(self.missing.note())
        if self.options.texts and self.options.embed is None and not has_static_embedding():
            notes.append(
                "Text is compared by the words that texts share. By meaning is better for English: "
                "pip install samecluster[text]"
            )
        return (*notes, *self._far_values())

    def _far_values(self) -> Iterator[str]:
        """Columns of numbers in which a few are far beyond all others, as codes for "none" are."""
        for name in self.numbers:
            values = self.table.column(name).numbers.values
            rows = np.flatnonzero(np.isfinite(values))
            if not len(rows):
                continue
            for found in far_values(np.asarray(values[rows], dtype=np.float64)[:, None]):
                which = self.table.row_names(rows[found.rows], _MOST_ROWS)
                yield found.said(repr(brief(name)), which)

    @cached_property
    def problems(self) -> tuple[str, ...]:
        """All that keeps the table from being used, one line per problem."""
        source = self.table.source
        found = list(self.faults)
        if len(self.table) < 2:
            return (*found, f"{source} has only 1 row; at least 2 are needed")
        n_kept = len(self.table) - (self.missing.n_rows if self.options.drop_missing else 0)
        if self.missing.stops(self.options.missing):
            found.append(self.missing.problem())
        elif n_kept < 2:
            found.append(f"{source}: fewer than 2 rows are without missing values")
        return tuple(found)


def select_columns(table: Table, options: FeatureOptions) -> ColumnSelection:
    """Decide for each column of a table whether it is used, and why."""
    for name in (*(options.features or ()), *options.categories, *options.texts, *options.roles):
        table.column(name)
    for name in options.ignore:
        table.column(name)
    uses = [_use(table, column, options) for column in table.columns.values()]
    others = {*options.categories, *options.texts}
    numbers = [use.name for use in uses if use.used and use.name not in others]
    if options.features is not None:
        numbers = list(dict.fromkeys(options.features))
    empty = [name for name in numbers if not table.column(name).numbers.n_numbers]
    faults = [_no_numbers(table, table.column(name)) for name in empty]
    read = {use.name for use in uses if use.why == _MIXED} | {*numbers} - {*empty}
    if bad := bad_cells_message(
        table, [table.columns[name] for name in table.names if name in read]
    ):
        faults.append(bad)
    given = table.matrices or options.embeds_pictures_of(table)
    if not (numbers or options.categories or options.texts or given or faults):
        prose = [use.name for use in uses if _is_prose(table.column(use.name), options)]
        if len(prose) == 1:
            return select_columns(table, replace(options, texts=tuple(prose)))
        faults.append(_nothing_to_use(table, uses))
    if options.embed is not None and not (options.texts or options.embeds_pictures_of(table)):
        faults.append("--embed is for a folder of images, or for text: name it with --text COLUMN")
    return ColumnSelection(table, options, tuple(numbers), tuple(uses), tuple(faults))


def _use(table: Table, column: Column, options: FeatureOptions) -> ColumnUse:
    name = column.name
    named = options.roles.get(name)
    if named is not None:
        return ColumnUse(name, False, named)
    if name in options.categories:
        count = len(set(column.texts))
        return ColumnUse(name, True, f"categories ({count:,}), one column each")
    if name in options.texts and options.embed is not None:
        return ColumnUse(name, True, f"text, as a vector by {brief(options.embed)}")
    if name in options.texts:
        return ColumnUse(name, True, _TEXT_AS[options.text_method].format(options.text_dimensions))
    if name in options.ignore:
        return ColumnUse(name, False, "left out as asked")
    if options.features is not None:
        if name not in options.named:
            return ColumnUse(name, False, "not among the features named")
        return _number(table, column, options)
    if options.texts or table.matrices or options.embeds_pictures_of(table):
        instead = "text" if options.texts else next(iter(table.matrices), "pictures")
        is_number = column.numbers.n_numbers and not column.numbers.has_text
        also = f"; --features {brief(name)} adds it" if is_number else ""
        return ColumnUse(name, False, f"shown only: features are the {instead}{also}")
    return _by_content(table, column, options)


def _no_numbers(table: Table, column: Column) -> str:
    name = brief(column.name)
    if (why := not_quite_numbers(column)) is None:
        why = f"there are no numbers in it; use it with --categories {name} or --text {name}"
    return f"{table.source}, column {name!r}: {why}, or leave it out"


def _by_content(table: Table, column: Column, options: FeatureOptions) -> ColumnUse:
    numbers, name = column.numbers, column.name
    if bool(numbers.missing.all()):
        return ColumnUse(name, False, "empty")
    if numbers.has_text:
        if _is_typing_error(numbers):
            return ColumnUse(name, False, _MIXED)
        return ColumnUse(name, False, _text(column))
    values = numbers.values
    present = values if not numbers.missing.any() else values[~numbers.missing]
    if len(column) > 1 and bool((present == present[0]).all()):
        first = column.texts[int(np.argmin(numbers.missing))]
        return ColumnUse(name, False, f"constant: always {shown_cell(first)}")
    why = None if table.is_matrix else why_identifier(column)
    if why is not None:
        return ColumnUse(name, False, why, is_identifier=True)
    return _number(table, column, options)


def left_out_note(doubtful: Sequence[str], numbers: Sequence[str]) -> str:
    """That columns look like identifiers, and what to say about them."""
    left, used = (",".join(names) for names in (doubtful, (*numbers, *doubtful)))
    what = "it looks like an identifier" if len(doubtful) == 1 else "they look like identifiers"
    named = f" {shlex.quote(used)}" if len(used) <= _LONGEST_LIST else " and all columns to use"
    return (
        f"Left out: {brief(left, _LONGEST_LIST)}, as {what}. Settle it with --ignore "
        f"{shlex.quote(brief(left, _LONGEST_LIST))}, or use it with --features{named}."
    )


def _is_typing_error(numbers: Numbers) -> bool:
    """Few cells among the numbers are text: probably mistakes, not codes."""
    n_texts, n_numbers = len(numbers.not_numbers), numbers.n_numbers
    few = n_texts <= _FEW_ERRORS or n_texts <= _ERRORS_PER_NUMBER * n_numbers
    return few and n_texts <= n_numbers


def _number(table: Table, column: Column, options: FeatureOptions) -> ColumnUse:
    if not options.scale:
        return ColumnUse(column.name, True, "number")
    # The columns of an array are as a rule in one unit.
    if options.logarithms and not table.is_matrix and has_long_tail(column):
        return ColumnUse(column.name, True, "logarithm, standardised", is_logarithm=True)
    return ColumnUse(column.name, True, "number, standardised")


def _text(column: Column) -> str:
    if (why := not_quite_numbers(column)) is not None:
        return why
    kinds, name = len(set(column.texts)), brief(column.name)
    if kinds == len(column):
        return f"text, all different: --id {name} or --text {name} would use it"
    if kinds <= _FEW_CATEGORIES:
        return f"text of {kinds} kinds: --categories {name} would use it"
    return f"text of {kinds:,} kinds: --text {name} would use it"


def _is_prose(column: Column, options: FeatureOptions) -> bool:
    """Texts of several words, few of them alike: what else could groups go by."""
    if column.name in (*options.roles, *options.ignore) or options.features is not None:
        return False
    texts = [text for text in column.texts if text.strip()]
    return len(set(texts)) > max(_FEW_CATEGORIES, len(texts) // 2) and has_sentences(column)


def has_sentences(column: Column) -> bool:
    """Whether its texts have several words as a rule."""
    texts = [text for text in column.texts[:_SAMPLE] if text.strip()]
    return sum(len(text.split()) for text in texts) >= max(_FEWEST_WORDS * len(texts), 1)


def _nothing_to_use(table: Table, uses: list[ColumnUse]) -> str:
    why = "; ".join(f"{brief(use.name)!r}: {use.why}" for use in uses[:_MOST_REASONS])
    more = f"; and {len(uses) - _MOST_REASONS:,} more" if len(uses) > _MOST_REASONS else ""
    return (
        f"{table.source} has no column of numbers to use ({why}{more}); name some with --features, "
        "--categories or --text"
    )
