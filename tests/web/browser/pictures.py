"""Handwritten digits as pictures, with a table beside them."""

import csv
from pathlib import Path

from PIL import Image
from sklearn.datasets import load_digits

from tests.web.served import Data

OPTIONS = ("--id", "digit", "--image-column", "picture", "--show", "digit", "--reduce", "5")


def write_digits(folder: Path, n: int, n_kinds: int) -> Data:
    """The first ``n`` of the digits 0, 1, ... of load_digits, of so many kinds."""
    loaded = load_digits()
    rows = [row for row, label in enumerate(loaded.target) if label < n_kinds][:n]
    (folder / "pictures").mkdir()
    path = folder / "digits.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["digit", "picture", *(f"pixel {i}" for i in range(64))])
        for row in rows:
            picture = f"pictures/{row:04}.png"
            Image.fromarray((255 - 15.9 * loaded.images[row]).astype("uint8")).save(
                folder / picture
            )
            writer.writerow([f"d{row}", picture, *loaded.data[row]])
    return Data(path, {f"d{row}": int(loaded.target[row]) for row in rows})
