"""What a user asks for when a session begins or goes on: options, not yet checked,
and the parameters (margin, number of clusters, audit, budget) that follow from them.

Nothing heavy is imported before it is needed, as help texts are made from it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from samecluster._extras import has_static_embedding
from samecluster._files import MAX_BYTES
from samecluster.errors import InvalidInputError

if TYPE_CHECKING:
    from samecluster.tables import CsvOptions, FeatureOptions
    from samecluster.tables.reading.load import LoadedData


_MOST_GIB = 1 << 30  # as many bytes as a size can have
_OPTIONS = {"id_column": "id", "separator": "sep", "missing": "na", "missing_cells": "missing"}
_SEPARATORS = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "space": " "}


@dataclass(frozen=True)
class Request:
    """The data, how to read it, what of it to use, what is known, and what is declared.

    None, or nothing, where the user has not said: a session that exists then keeps what it has.
    """

    data: str
    session: Path | None = None
    who: str | None = None
    show: list[str] | None = None
    id_column: str | None = None
    features: list[str] | None = None
    ignore: list[str] | None = None
    categories: list[str] | None = None
    text: list[str] | None = None
    text_by: str | None = None
    embed: str | None = None
    vectors: Path | None = None
    order: str | None = None
    image_size: int | None = None
    image_by: str | None = None
    scale: bool | None = None
    reduce: int | None = None
    missing_cells: str | None = None
    drop_missing: bool = False
    labels: str | None = None
    labels_as: str | None = None
    pairs: Path | None = None
    truth: str | None = None
    margin: str | None = None
    lift: str | None = None
    clusters: str | None = None
    audit: str | None = None
    stop_at: str | None = None
    max_questions: str | None = None
    max_looks: str | None = None
    looks: str | None = None
    seed: int | None = None
    separator: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    missing: list[str] | None = None
    header: bool | None = None
    max_memory: float | None = None
    in_blocks: bool = False
    dask: str | None = None

    def __post_init__(self) -> None:
        if self.who is not None and not self.who.strip():
            raise InvalidInputError("--who must be a name, got nothing")

    def asked(self, words_replace: bool = False) -> CsvOptions:
        """How the data is written, as far as the user says so.

        Words that stand for no value are added to the usual ones, or replace them.
        """
        from samecluster.tables import CsvOptions
        from samecluster.tables.reading.dialect import MISSING

        usual = () if words_replace else MISSING
        separator = None if self.separator is None else _SEPARATORS.get(self.separator)
        return CsvOptions(
            separator or self.separator,
            self.decimal,
            self.encoding,
            (*usual, *self.missing) if self.missing else None,
            self.header,
            self.max_bytes(),
        )

    def max_bytes(self) -> int:
        """What data may take in memory."""
        given = self.max_memory
        if given is not None and not 0 < given < _MOST_GIB:
            raise InvalidInputError(f"--max-memory must be GiB above 0, got {given:g}")
        return MAX_BYTES if given is None else int(given * (1 << 30))

    def load(self, words_replace: bool = False) -> LoadedData:
        """Read the data; ``words_replace`` as in `asked`."""
        from samecluster.tables.reading.load import load_data

        chosen = {"image_size": self.image_size, "image_by": self.image_by, "embed": self.embed}
        said: dict[str, Any] = {name: value for name, value in chosen.items() if value is not None}
        return load_data(
            self.data,
            self.asked(words_replace),
            id_column=self.id_column,
            vectors=self.vectors,
            order=self.order,
            **said,
        )

    def wanted(self, names: tuple[str, ...]) -> FeatureOptions:
        """What is to be done with the columns ``names`` of a table."""
        from samecluster.tables import FeatureOptions

        return FeatureOptions(
            features=listed(self.features, names) if self.features else None,
            ignore=listed(self.ignore, names),
            id_column=self.id_column,
            truth=self.truth,
            labels=self.labels,
            categories=listed(self.categories, names),
            texts=listed(self.text, names),
            text_method=self.text_by or ("meaning" if has_static_embedding() else "words"),
            embed=self.embed,
            scale=self.scale is not False,
            reduce=self.reduce,
            drop_missing=self.drop_missing,
            logarithms=self.margin in (None, "auto"),
            missing=self.missing_cells or ("drop" if self.drop_missing else "median"),
        )

    def checked_labels_as(self) -> str | None:
        """What the column of labels is for, if the user says so."""
        if self.labels_as not in (None, "known", "hint"):
            raise InvalidInputError(
                f"--labels-as must be 'known' or 'hint', got {self.labels_as!r}"
            )
        if self.labels_as is not None and self.labels is None:
            raise InvalidInputError("--labels-as needs the column of the labels: --labels COLUMN")
        return self.labels_as

    def refuse_all_but(self, usable: Collection[str], with_what: str) -> None:
        """InvalidInputError that names the first option given that is not among the usable."""
        for field in fields(self):
            if field.name not in usable and getattr(self, field.name) != field.default:
                option = option_of(field.name)
                raise InvalidInputError(f"{option} does not go with {with_what}; leave it out")

    def declared(self) -> dict[str, Any]:
        """The parameters of a session that were given; those that were not are left out.

        >>> Request("shells.csv", margin="0.5", clusters="unknown", audit="0.01").declared()
        {'margin': 0.5, 'n_clusters': None, 'audit': [0.01, 0.95]}
        """
        found: dict[str, Any] = {}
        for field, (parameter, words, read, allowed) in _DECLARED.items():
            text = getattr(self, field)
            if text is not None:
                found[parameter] = _read(option_of(field), text, words, read, allowed)
        return found if self.lift is None else {**found, "lift": self.lift}


def option_of(field: str) -> str:
    """What the option of a field, or of another parameter, is called on the command line."""
    return f"--{_OPTIONS.get(field, field.replace('_', '-'))}"


def listed(given: list[str] | None, names: tuple[str, ...]) -> tuple[str, ...]:
    """Column names, separated by commas unless the comma belongs to a name."""
    found: list[str] = []
    for text in given or ():
        found += [text] if text in names else [part.strip() for part in text.split(",")]
    return tuple(found)


def _read(
    option: str, text: str, words: dict[str, Any], read: Callable[[str], Any], allowed: str
) -> Any:
    if text.strip().lower() in words:
        return words[text.strip().lower()]
    try:
        return read(text)
    except ValueError:
        raise InvalidInputError(f"{option} must be {allowed}, got {text!r}") from None


def _refused(text: str) -> str:
    raise ValueError(text)


def _share(text: str) -> float:
    percent = text.strip().endswith("%")
    share = float(text.strip().removesuffix("%")) / (100 if percent else 1)
    if not 0 <= share < 1:
        raise ValueError(text)
    return share


_CONFIDENCE = 0.95  # of an audit whose error alone is given; the customary one


def _error_and_confidence(text: str) -> list[float]:
    error, *confidence = (float(part) for part in text.split(","))
    if len(confidence) > 1:
        raise ValueError(text)
    return [error, *(confidence or [_CONFIDENCE])]


_DECLARED: dict[str, tuple[str, dict[str, Any], Callable[[str], Any], str]] = {
    "margin": ("margin", {"auto": "auto"}, float, "a number above 0, or auto"),
    "clusters": ("n_clusters", {"unknown": None, "auto": None}, int, "a whole number, or unknown"),
    "audit": (
        "audit",
        {"none": None},
        _error_and_confidence,
        "an error and a confidence such as 0.01,0.95, or none",
    ),
    "stop_at": ("expected_error", {"auto": None}, _share, "a share such as 2% or 0.02, or auto"),
    "max_questions": ("max_questions", {"none": None}, int, "a whole number, or none"),
    "max_looks": ("max_looks", {"none": None}, int, "a whole number, or none"),
    # "pairs" is as in a session that never heard of looks.
    "looks": ("looks", {"auto": "auto", "pairs": None}, _refused, "auto or pairs"),
}
"""By field of a request: the parameter of a session, words with a value of their own, how else a
text is read, and what is allowed."""
