"""A folder of images as a table: names, contents, and pixels at one size. Pillow is an extra."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from samecluster._extras import pillow
from samecluster._files import MAX_BYTES, check_size
from samecluster._typing import FloatArray
from samecluster.errors import InvalidInputError
from samecluster.tables.column import TypedColumn
from samecluster.tables.messages import reason_of
from samecluster.tables.reading.image_shapes import colour_features, shape_features
from samecluster.tables.table import Table

ADVICE = (
    "That tells drawings, scans and aligned pictures apart. For photographs, vectors from an image "
    "model are far better: --embed MODEL, or --vectors FILE."
)
IMAGE_BY = ("shapes", "pixels")
"""What images are compared by."""
CONTENT = "content"
"""The column that has a hash of each file."""
_SUFFIXES = (".png", ".jpg", ".jpeg", ".gif", ".bmp", ".tif", ".tiff", ".webp")
_FLOAT, _UNPACKED = 8, 12  # bytes of a value, and of a pixel of an image and two copies of it
_GRAY = ("1", "L", "LA", "I", "I;16")


def is_image_folder(table: Table) -> bool:
    """The table was made of a folder of images."""
    return table.format == "images"


def read_images(
    folder: Path, size: int | None, max_bytes: int = MAX_BYTES, image_by: str = "pixels"
) -> Table:
    """All images in a folder and the folders in it, in the order of their names.

    Columns are `name` (the path inside the folder) and `content` (a hash of the file). An item is
    known by its content, so files may be renamed and the folder moved. With a ``size`` the table
    has the pixels of each image at size by size, 0 to 1, as the matrix ``pixels``; or with
    ``image_by`` "shapes" what they show as the matrix ``shapes``, and ``colours`` if they have any.
    """
    if image_by not in IMAGE_BY:
        listed = " or ".join(map(repr, IMAGE_BY))
        raise InvalidInputError(f"--image-by must be {listed}, got {image_by!r}")
    files = sorted(
        (file for file in folder.rglob("*") if file.suffix.lower() in _SUFFIXES and file.is_file()),
        key=lambda file: file.relative_to(folder).as_posix(),
    )
    if not files:
        raise InvalidInputError(
            f"{folder} is a folder without images ({', '.join(_SUFFIXES)}); name a file or a "
            "folder of images"
        )
    names = [file.relative_to(folder).as_posix() for file in files]
    contents = [_content(file) for file in files]
    matrices = {} if size is None else {"pixels": _pixels(files, size, max_bytes)}
    if image_by == "shapes" and size is not None:
        matrices = _shapes(matrices["pixels"], size)
    columns = [TypedColumn("name", names), TypedColumn(CONTENT, contents)]
    return Table(
        folder.name,
        columns,
        format="images",
        matrices=matrices,
        incidental=frozenset({"name"}),
        origin=folder,
    )


def _shapes(pixels: FloatArray, size: int) -> dict[str, FloatArray]:
    if pixels.shape[1] == size**2:
        return {"shapes": shape_features(pixels.reshape(-1, size, size))}
    coloured = pixels.reshape(-1, size, size, 3)
    found = {"shapes": shape_features(coloured.mean(axis=3))}
    return {**found, "colours": colour_features(coloured)}


def _content(file: Path) -> str:
    try:
        return hashlib.blake2b(file.read_bytes(), digest_size=16).hexdigest()
    except OSError as error:
        raise InvalidInputError(f"{file} cannot be read: {error.strerror}") from None


def _pixels(files: list[Path], size: int, max_bytes: int) -> FloatArray:
    if size < 1:
        raise InvalidInputError(f"the size of images must be at least 1 pixel, got {size}")
    check_size(f"pixels of {len(files):,} images", len(files) * size**2 * _FLOAT, max_bytes)
    pictures = [_picture(file, size, max_bytes) for file in files]
    if all(picture.mode == "L" for picture in pictures):
        flat = [np.asarray(picture).ravel() for picture in pictures]
    else:
        n_values = len(files) * size**2 * 3
        check_size(f"pixels of {len(files):,} images", n_values * _FLOAT, max_bytes)
        flat = [np.asarray(picture.convert("RGB")).ravel() for picture in pictures]
    return np.array(flat, dtype=np.float64) / 255.0


def _picture(file: Path, size: int, max_bytes: int) -> Any:
    """An image upright, at size by size, in gray or in colour."""
    with opened_picture(file, max_bytes) as (opened, _):
        mode = "L" if opened.mode in _GRAY else "RGB"
        return opened.convert(mode).resize((size, size), pillow()[0].Resampling.BOX)


@contextmanager
def opened_picture(file: Path, max_bytes: int = MAX_BYTES) -> Iterator[tuple[Any, Any]]:
    """An image upright, and Pillow's module of operations on it."""
    image, operations = pillow()
    try:
        with warnings.catch_warnings():
            # Its limit is a matter of taste; ours is the memory.
            warnings.simplefilter("ignore", image.DecompressionBombWarning)
            opened = image.open(file)
        with opened:
            check_size(file, opened.width * opened.height * _UNPACKED, max_bytes)
            operations.exif_transpose(opened, in_place=True)
            yield opened, operations
    except (OSError, ValueError, SyntaxError, image.DecompressionBombError) as error:
        raise InvalidInputError(
            f"{file} is no image that can be read: {reason_of(error)}"
        ) from None
