"""The bundled example: scanned digits as pictures, to try the page with.

The scans come with scikit-learn. PNG is written by hand, as it is four chunks of a gray image, and
Pillow is not always there.
"""

from __future__ import annotations

import csv
import struct
import zlib
from pathlib import Path

import numpy as np

from samecluster._typing import Array
from samecluster.errors import InvalidInputError

NAME = "digits"
_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_EIGHT_BIT_GRAY = bytes([8, 0, 0, 0, 0])


def write_digits(folder: Path) -> Path:
    """A folder with a picture of each digit, and a table with their pixels; the table's path.

    What is there already is kept.
    """
    table = folder / f"{NAME}.csv"
    if table.exists():
        return table
    from sklearn.datasets import load_digits

    scans = load_digits().images.astype(np.uint8)
    try:
        (folder / "images").mkdir(parents=True, exist_ok=True)
        for number, scan in enumerate(scans):
            dark_on_light = gray_png(255 - 15 * scan)
            (folder / "images" / f"{number:04}.png").write_bytes(dark_on_light)
        _write_table(table, scans)
    except OSError as error:
        raise InvalidInputError(
            f"the example cannot be written to {folder.absolute()} ({error.strerror}); go to a "
            "folder that can be written"
        ) from None
    return table


def gray_png(pixels: Array) -> bytes:
    """A PNG of (height, width) gray values from 0, black, to 255.

    >>> gray_png(np.zeros((2, 3)))[:8]
    b'\\x89PNG\\r\\n\\x1a\\n'
    """
    height, width = pixels.shape
    # Each row begins with the number of its filter: none.
    rows = np.column_stack([np.zeros(height, np.uint8), pixels.astype(np.uint8)]).tobytes()
    head = struct.pack(">II", width, height) + _EIGHT_BIT_GRAY
    return b"".join(
        (
            _SIGNATURE,
            _chunk(b"IHDR", head),
            _chunk(b"IDAT", zlib.compress(rows, 9)),
            _chunk(b"IEND", b""),
        )
    )


def _chunk(kind: bytes, data: bytes) -> bytes:
    check = zlib.crc32(kind + data)
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", check)


def _write_table(table: Path, scans: Array) -> None:
    unfinished = table.with_suffix(".unfinished")
    with unfinished.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "image", *(f"pixel {at // 8} {at % 8}" for at in range(64))])
        for number, scan in enumerate(scans):
            name = f"{number:04}"
            writer.writerow([name, f"images/{name}.png", *scan.ravel().tolist()])
    unfinished.replace(table)
