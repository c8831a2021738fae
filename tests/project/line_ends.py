"""``python -m tests.project.line_ends FILE...``: one newline at the end, no blanks before any."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

_BLANKS_COUNT = {".svg", ".csv", ".ipynb"}  # written by programs, or data


def troubles(path: Path) -> list[str]:
    """What is wrong with the ends of a text file, in a line each."""
    text = path.read_bytes()
    found = []
    if text and (not text.endswith(b"\n") or text.endswith(b"\n\n")):
        found.append(f"{path}: does not end with one newline")
    if path.suffix not in _BLANKS_COUNT:
        for number, line in enumerate(text.split(b"\n"), start=1):
            if line != line.rstrip():
                found.append(f"{path}:{number}: ends with a blank")
    return found


def main(names: Iterable[str]) -> int:
    found = [line for name in names for line in troubles(Path(name))]
    for line in found:
        print(line)
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
