"""Options that several commands share: how data is read and which of it is used."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from samecluster.tables import Asked, Wanted

__all__ = [
    "Categories",
    "Data",
    "Decimal",
    "DropMissing",
    "Encoding",
    "Features",
    "Header",
    "IdColumn",
    "Ignore",
    "ImageSize",
    "Json",
    "Labels",
    "Missing",
    "Order",
    "Reduce",
    "Scale",
    "Separator",
    "Text",
    "Truth",
    "Vectors",
    "asked_of",
    "listed",
    "wanted_of",
]

Data = Annotated[
    str,
    typer.Argument(
        help="A .csv, .tsv, .parquet, .jsonl, .npy or .npz file, a folder of images, or - for CSV "
        "from standard input."
    ),
]
Separator = Annotated[str | None, typer.Option("--sep", help="The separator; 'tab' for a tab.")]
Decimal = Annotated[str | None, typer.Option("--decimal", help="The decimal mark: . or ,")]
Encoding = Annotated[str | None, typer.Option("--encoding", help="Such as utf-8 or cp1252.")]
Missing = Annotated[
    list[str] | None,
    typer.Option("--na", help="A cell that stands for no value, instead of NA, NaN, null, ..."),
]
Header = Annotated[
    bool | None, typer.Option("--header/--no-header", help="Whether the first line has names.")
]
IdColumn = Annotated[str | None, typer.Option("--id", help="The column that names the items.")]
Truth = Annotated[str | None, typer.Option("--truth", help="The column with the true groups.")]
Labels = Annotated[
    str | None, typer.Option("--labels", help="The column with groups known already, else blank.")
]
Features = Annotated[
    list[str] | None,
    typer.Option("--features", help="Columns of numbers to use: a,b,c or several times."),
]
Ignore = Annotated[list[str] | None, typer.Option("--ignore", help="Columns to leave out.")]
Categories = Annotated[
    list[str] | None, typer.Option("--categories", help="Columns of categories to use.")
]
Text = Annotated[list[str] | None, typer.Option("--text", help="Columns of text to use.")]
Vectors = Annotated[
    Path | None, typer.Option("--vectors", help="A file with the features, such as embeddings.")
]
Order = Annotated[
    str | None, typer.Option("--order", help="'name': vectors are in the order of image names.")
]
ImageSize = Annotated[int, typer.Option("--image-size", help="Pixels a side that images get.")]
Scale = Annotated[
    bool, typer.Option("--scale/--no-scale", help="Whether columns are standardised.")
]
Reduce = Annotated[int | None, typer.Option("--reduce", help="Use this many principal components.")]
DropMissing = Annotated[
    bool, typer.Option("--drop-missing", help="Leave out rows with missing values.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def asked_of(
    separator: str | None,
    decimal: str | None,
    encoding: str | None,
    missing: list[str] | None,
    header: bool | None,
) -> Asked:
    """How the data is written, as far as options say so."""
    from samecluster.tables import Asked

    named = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "space": " "}
    separator = None if separator is None else named.get(separator, separator)
    return Asked(separator, decimal, encoding, tuple(missing) if missing else None, header)


def wanted_of(
    names: tuple[str, ...],
    *,
    features: list[str] | None,
    ignore: list[str] | None,
    categories: list[str] | None,
    text: list[str] | None,
    id_column: str | None,
    truth: str | None,
    labels: str | None,
    scale: bool,
    reduce: int | None,
    drop_missing: bool,
) -> Wanted:
    """What is to be done with the columns ``names`` of a table."""
    from samecluster.tables import Wanted

    return Wanted(
        features=listed(features, names) if features else None,
        ignore=listed(ignore, names),
        id_column=id_column,
        truth=truth,
        labels=labels,
        categories=listed(categories, names),
        texts=listed(text, names),
        scale=scale,
        reduce=reduce,
        drop_missing=drop_missing,
    )


def listed(given: list[str] | None, names: tuple[str, ...]) -> tuple[str, ...]:
    """Column names, separated by commas unless the comma belongs to a name."""
    found: list[str] = []
    for text in given or ():
        found += [text] if text in names else [part.strip() for part in text.split(",")]
    return tuple(found)
