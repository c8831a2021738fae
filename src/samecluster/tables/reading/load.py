"""Data as a user names it: a table, and vectors to go with it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from samecluster.errors import InvalidInputError
from samecluster.tables.reading.detect import IMAGE_SIZE, read_table
from samecluster.tables.reading.dialect import CsvOptions
from samecluster.tables.reading.images import ADVICE, is_image_folder
from samecluster.tables.reading.vectors import join_vectors
from samecluster.tables.table import Table


@dataclass(frozen=True, eq=False)
class LoadedData:
    """A table that is ready to be prepared, and lines for the user about how it was made.

    ``files`` are those that it was read from, or the folder.
    """

    table: Table
    notes: tuple[str, ...]
    files: tuple[Path, ...] = ()


def load_data(
    path: str | Path,
    options: CsvOptions | None = None,
    *,
    id_column: str | None = None,
    vectors: str | Path | None = None,
    order: str | None = None,
    image_size: int = IMAGE_SIZE,
    image_by: str = "shapes",
    embed: str | None = None,
) -> LoadedData:
    """Read a table or a folder of images, and join the vectors in another file if there are any.

    With a model to ``embed`` images by, nothing else is made of them.
    """
    if embed is not None and vectors is not None:
        raise InvalidInputError("features are from --embed or from --vectors, not from both")
    if order is not None and vectors is None:
        raise InvalidInputError("--order says how vectors are joined, but there are no --vectors")
    if embed is not None:
        return LoadedData(read_table(path, options, image_size=None), (), (Path(path),))
    if vectors is None:
        table = read_table(path, options, image_size=image_size, image_by=image_by)
        sized = f"Images are compared by their {image_by}, at {image_size} by {image_size} pixels."
        return LoadedData(table, (sized, ADVICE) if is_image_folder(table) else (), (Path(path),))
    table = read_table(path, options, image_size=None)
    joined = join_vectors(table, read_table(vectors, options), id_column=id_column, order=order)
    unused = f"; for no item: {joined.n_unused:,}" if joined.n_unused else ""
    notes = [f"Vectors are joined {joined.how}{unused}. The first and the last pairs:"]
    notes += [f"  {item} - {vector} of {Path(vectors).name}" for item, vector in joined.pairs]
    return LoadedData(joined.table, tuple(notes), (Path(path), Path(vectors)))
