"""Reading numbers from files for commands that need no more than that."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from samecluster.errors import InvalidInputError

__all__ = ["load_points"]


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


def _is_numbers(line: str) -> bool:
    try:
        [float(cell) for cell in line.split(",")]
    except ValueError:
        return False
    return True
