"""docs/rooms.md, made from the docstrings of the packages: ``python -m docs.making.rooms``."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

_PACKAGE = Path(__file__).parents[2] / "src" / "samecluster"
_HEAD = """# Rooms

This page is made by `python -m docs.making.rooms > docs/rooms.md` from what each package and each
module on the top level says of itself. Paths are below `src/samecluster/`;
[architecture](architecture.md) has the floors.

| room | what belongs there |
|---|---|
"""


def rooms_as_markdown() -> str:
    """Every package and every top module, with the first paragraph of its docstring."""
    packages = sorted(_PACKAGE.rglob("__init__.py"))[1:]
    modules = sorted(set(_PACKAGE.glob("*.py")) - {_PACKAGE / "__init__.py"})
    places = {f"{path.parent.relative_to(_PACKAGE)}/": path for path in packages}
    places |= {path.name: path for path in modules}
    return _HEAD + "".join(f"| `{place}` | {_told(path)} |\n" for place, path in places.items())


def _told(path: Path) -> str:
    first, _, _ = (ast.get_docstring(ast.parse(path.read_text())) or "").partition("\n\n")
    return " ".join(first.replace("``", "`").replace("|", "\\|").split())


if __name__ == "__main__":
    sys.stdout.write(rooms_as_markdown())
