"""Reading numbers from files for commands that need no more than that."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

from samecluster.errors import InvalidInputError

__all__ = ["load_labelled", "load_points"]


def load_points(path: Path) -> Any:
    """A table of numbers from .npy, or from .csv with or without a header line."""
    import numpy as np

    from samecluster.points.array import validated

    if not path.exists():
        raise InvalidInputError(f"there is no file {path}")
    try:
        if path.suffix == ".npy":
            return validated(np.load(path, allow_pickle=False))
        if path.suffix == ".csv":
            lines = path.read_text().splitlines()
            skip = 1 if lines and not _is_numbers(lines[0]) else 0
            return validated(np.loadtxt(lines, delimiter=",", skiprows=skip, ndmin=2))
    except (ValueError, OSError, EOFError) as error:
        raise InvalidInputError(f"{path}: {error}") from error
    raise InvalidInputError(f"{path}: only .npy and .csv files of numbers can be read")


def load_labelled(path: Path, labels: str) -> tuple[Any, Any, list[str]]:
    """Numbers and labels (0 to k-1, or -1 for an empty cell) of a .csv, and the groups' names.

    Columns other than ``labels`` that do not hold numbers only are left out.
    """
    import numpy as np

    from samecluster.points.array import validated

    if not path.exists():
        raise InvalidInputError(f"there is no file {path}")
    if path.suffix != ".csv":
        raise InvalidInputError(f"{path}: a .csv file with a header line is needed")
    try:
        with path.open(newline="") as file:
            lines = [row for row in csv.reader(file) if row]
    except (ValueError, OSError, csv.Error) as error:
        raise InvalidInputError(f"{path}: {error}") from error
    if len(lines) < 2:
        raise InvalidInputError(f"{path}: a header line and at least one row are needed")
    header, *rows = lines
    if len(set(header)) < len(header):
        raise InvalidInputError(f"{path}: two columns have the same name")
    if labels not in header:
        known = ", ".join(header)
        raise InvalidInputError(f"{path} has no column {labels!r}; it has {known}")
    uneven = next((i for i, row in enumerate(rows, 2) if len(row) != len(header)), None)
    if uneven is not None:
        raise InvalidInputError(f"{path}, line {uneven}: {len(header)} cells expected")
    columns = dict(zip(header, zip(*rows, strict=True), strict=True))
    cells = columns.pop(labels)
    numbers = [column for column in columns.values() if all(map(_is_numbers, column))]
    if not numbers:
        raise InvalidInputError(f"{path} has no column of numbers beside {labels!r}")
    names = sorted({cell for cell in cells if cell.strip()})
    place = {name: at for at, name in enumerate(names)}
    X = validated(np.array(numbers, dtype=np.float64).T)
    return X, np.array([place.get(cell, -1) for cell in cells], dtype=np.int64), names


def _is_numbers(line: str) -> bool:
    try:
        [float(cell) for cell in line.split(",")]
    except ValueError:
        return False
    return True
