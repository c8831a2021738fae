"""What an installation of each tool takes on disk, with all that it depends on, in MB.

``.venv-peers/bin/python -m benchmarks.peers.sizes``
"""

from __future__ import annotations

from importlib.metadata import distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

TOOLS = (
    "scikit-learn",
    "samecluster",
    "scikit-activeml",
    "cobras-ts",
    "active-semi-supervised-clustering",
)


def closure(name: str, found: set[str]) -> set[str]:
    """The names of a distribution and of all that it needs, extras left out."""
    if canonicalize_name(name) not in found:
        found.add(canonicalize_name(name))
        for line in distribution(name).requires or ():
            needed = Requirement(line)
            if needed.marker is None or needed.marker.evaluate({"extra": ""}):
                closure(needed.name, found)
    return found


def megabytes(name: str) -> float:
    """The files of a distribution; those of an editable one are its package's."""
    files = [Path(str(one.locate())) for one in distribution(name).files or ()]
    if name == "samecluster":
        files += (Path(__file__).parents[2] / "src/samecluster").rglob("*.*")
    kept = [one for one in files if one.is_file() and one.suffix != ".pyc"]
    return sum(one.stat().st_size for one in kept) / 1e6


def main() -> None:
    for tool in TOOLS:
        needed = closure(tool, set())
        own, whole = megabytes(tool), sum(map(megabytes, needed))
        print(f"{tool}: {own:.1f} MB, {whole:.0f} MB with {len(needed) - 1} others")


if __name__ == "__main__":
    main()
