"""Draw all pictures of the documentation into docs/pictures: ``make docs-pictures``."""

from __future__ import annotations

import importlib
from pathlib import Path

import matplotlib as mpl

from samecluster.plots.style import LIGHT, applied

NAMES = (
    "margin",
    "reach",
    "closure",
    "proof",
    "progress",
    "mangled",
    "lifts",
    "looks",
    "calibration",
)
FOLDER = Path(__file__).parents[2] / "pictures"


def draw(name: str, path: Path) -> None:
    """Draw one picture into an SVG file; letters are shapes, so it looks the same everywhere."""
    module = importlib.import_module(f"docs.making.pictures.{name}")
    with applied(LIGHT), mpl.rc_context({"svg.hashsalt": "samecluster", "svg.fonttype": "path"}):
        module.picture().savefig(path, format="svg", metadata={"Date": None}, dpi=150)


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name in NAMES:
        draw(name, FOLDER / f"{name}.svg")
