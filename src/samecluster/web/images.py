"""Images of items: files inside the data's folder, known to browsers by opaque ids only.

The type of a file is read from its first bytes, never from its name. SVG is no image here: it can
hold script.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

from samecluster.errors import InvalidInputError
from samecluster.tables.reading.images import is_image_folder
from samecluster.workspace.open import OpenSession

LARGEST = 32 * 2**20
_HEAD = 16
_ENDINGS = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp")


def image_type(head: bytes) -> str | None:
    """The media type that a file has by its first bytes, or None if it is no image to show."""
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if head.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if head.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if head.startswith(b"RIFF") and head[8:12] == b"WEBP":
        return "image/webp"
    if head.startswith(b"BM") and head[6:10] == b"\0\0\0\0":
        return "image/bmp"
    return None


class Images:
    """The image of each item.

    Parameters
    ----------
    folder : nothing outside of it is ever read
    names : the path of each item's image inside the folder; empty where there is none
    column : the column of the table that has the names
    inside : addresses have the images in them, for a page without a server
    """

    def __init__(
        self, folder: Path, names: Sequence[str], column: str = "name", *, inside: bool = False
    ) -> None:
        self._folder, self._names, self.column = folder.resolve(), names, column
        self._inside = inside

    def address(self, row: int) -> str | None:
        """Where a browser gets the image of an item; None if there is none to show."""
        opaque = _opaque(self._names[row])
        if not self._inside:
            return f"/api/v1/images/{opaque}" if self.file(self._names[row]) else None
        found = self.read(opaque)
        if found is None:
            return None
        return f"data:{found[1]};base64,{base64.b64encode(found[0]).decode('ascii')}"

    def read(self, opaque: str) -> tuple[bytes, str] | None:
        """The image of an opaque id and its media type; None if there is none."""
        file = self.file(self._by_id.get(opaque, ""))
        if file is None:
            return None
        data = file.read_bytes()
        kind = image_type(data[:_HEAD])
        return None if kind is None else (data, kind)

    def file(self, name: str) -> Path | None:
        """The file of a name if it is an image inside the folder, whatever the name says."""
        if not name or "\0" in name:
            return None
        try:
            file = (self._folder / name).resolve(strict=True)
            if not file.is_relative_to(self._folder) or not file.is_file():
                return None
            if file.stat().st_size > LARGEST:
                return None
            with file.open("rb") as opened:
                return file if image_type(opened.read(_HEAD)) else None
        except (OSError, ValueError, RuntimeError):
            return None

    @cached_property
    def _by_id(self) -> dict[str, str]:
        return {_opaque(name): name for name in self._names if name}


def images_of(
    opened: OpenSession, data: str, column: str | None, *, inside: bool = False
) -> Images | None:
    """The images of a session's items: a folder of them, or a column that has their paths.

    Without ``column`` one is taken whose cells all end like images, if there is one.
    """
    table = opened.table
    if is_image_folder(table):
        return Images(Path(data), _cells(opened, "name"), inside=inside)
    if column is None:
        column = next((name for name in table.names if _looks_like_paths(opened, name)), None)
    if column is None:
        return None
    if column in (opened.options.truth, opened.options.labels):
        raise InvalidInputError(f"--image-column: column {column!r} is not to be seen")
    folder = Path(data).absolute().parent
    return Images(folder, _cells(opened, column), column, inside=inside)


def _cells(opened: OpenSession, column: str) -> list[str]:
    texts = opened.table.column(column).texts
    return [texts[row] for row in opened.data.rows.tolist()]


def _looks_like_paths(opened: OpenSession, name: str) -> bool:
    column = opened.table.column(name)
    if name in (opened.options.truth, opened.options.labels) or not column.numbers.has_text:
        return False
    texts = column.texts
    few = (texts[row] for row in range(min(20, len(texts))))
    return all(text.lower().endswith(_ENDINGS) for text in few)


def _opaque(name: str) -> str:
    # Only ids that were made from the data lead to a file, so no secret is needed in them; and
    # they stay the same when the server is started again.
    return hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
