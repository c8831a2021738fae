"""What a user wants done with the columns of a table."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from samecluster._parameters import check_at_least
from samecluster.errors import InvalidInputError
from samecluster.tables.table import Table

MISSING = ("median", "drop", "error")
"""What may be done with rows that lack a value."""
TEXT_METHODS = ("words", "meaning")
"""What text becomes numbers by."""
_LISTED = ", ".join(map(repr, MISSING))


@dataclass(frozen=True)
class FeatureOptions:
    """What a user wants done with the columns.

    ``features`` names the columns of numbers; None takes all that look like measurements (or none
    of them, if there are ``texts``, vectors or pixels to use instead). ``categories`` become 0/1
    columns, ``texts`` become ``text_dimensions`` numbers each by their words, or with
    ``text_method`` "meaning" 256 by a model (extra ``text``), or the vectors of the model ``embed``
    (extra ``embed``), which makes those of a folder of images, too. ``missing`` says what becomes
    of rows that lack a value: "error"; "drop", as ``drop_missing`` says, too; or "median": numbers
    are the median of their column, marked in a 0/1 column, and texts and categories none of those
    known.
    With ``logarithms`` columns with a long tail are used as such, if columns are scaled.
    """

    features: tuple[str, ...] | None = None
    ignore: tuple[str, ...] = ()
    id_column: str | None = None
    truth: str | None = None
    labels: str | None = None
    categories: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    scale: bool = True
    reduce: int | None = None
    drop_missing: bool = False
    text_dimensions: int = 50
    missing: str = "error"
    logarithms: bool = False
    text_method: str = "words"
    embed: str | None = None

    def __post_init__(self) -> None:
        for name in ("reduce", "text_dimensions"):
            value = getattr(self, name)
            if value is not None:
                check_at_least(name, value, 1)
        if self.text_method not in TEXT_METHODS:
            listed = ", ".join(map(repr, TEXT_METHODS))
            raise InvalidInputError(f"text_method must be {listed}, got {self.text_method!r}")
        if self.missing not in MISSING:
            raise InvalidInputError(f"missing must be {_LISTED}, got {self.missing!r}")
        if self.drop_missing and self.missing == "median":
            raise InvalidInputError("rows with missing values cannot be both dropped and filled in")
        is_dropped = self.drop_missing or self.missing == "drop"
        object.__setattr__(self, "drop_missing", is_dropped)
        object.__setattr__(self, "missing", "drop" if is_dropped else self.missing)
        roles = {"the id": self.id_column, "the truth": self.truth, "the labels": self.labels}
        for name in (*(self.features or ()), *self.categories, *self.texts):
            for role, column in roles.items():
                if name == column:
                    raise InvalidInputError(f"column {name!r} cannot be a feature and {role}")

    @cached_property
    def named(self) -> frozenset[str]:
        """The features that are named."""
        return frozenset(self.features or ())

    @cached_property
    def roles(self) -> dict[str, str]:
        """Columns that are never features, and what they are instead."""
        given = ((self.id_column, "the id"), (self.truth, "the truth"), (self.labels, "the labels"))
        return {name: role for name, role in given if name is not None}

    def embeds_pictures_of(self, table: Table) -> bool:
        """Whether features are the vectors that a model makes of the pictures of a folder."""
        return self.embed is not None and table.format == "images"
