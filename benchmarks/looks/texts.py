"""A text set with about 80 groups: docstrings of installed packages, by subpackage.

Read from the sources, nothing is imported; the packages are those that the development
requirements pin, so that the set is the same everywhere.
"""

from __future__ import annotations

import ast
import importlib.util
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

PACKAGES = ("scipy", "sklearn", "numpy", "pandas", "matplotlib", "hypothesis", "mypy")
_GROUPS, _MOST = 80, 40  # the largest groups, each of 25 docstrings or more; of each so many
_SHORTEST = 80  # characters: less tells nobody where it belongs
_COLUMNS = 256

Data = tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]


def docstrings_by_module() -> Data:
    """Texts as columns of latent semantic analysis, and their groups."""
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer

    groups: dict[str, list[str]] = {}
    for package in PACKAGES:
        for group, text in _docstrings(package):
            groups.setdefault(group, []).append(text)
    groups = {group: list(dict.fromkeys(texts))[:_MOST] for group, texts in groups.items()}
    large = sorted(groups, key=lambda group: (-len(groups[group]), group))[:_GROUPS]
    texts = [text for group in large for text in groups[group]]
    labels = np.repeat(np.arange(len(large)), [len(groups[group]) for group in large])
    weights = TfidfVectorizer(sublinear_tf=True, min_df=3, max_df=0.2).fit_transform(texts)
    points = TruncatedSVD(_COLUMNS, random_state=0).fit_transform(weights)
    return np.asarray(points, dtype=np.float64), labels


def _docstrings(package: str) -> Iterator[tuple[str, str]]:
    """Docstrings of functions and classes with the subpackage that they are in."""
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        return
    root = Path(spec.origin).parent
    for path in sorted(root.rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        if any(part in ("tests", "testing", "_vendor") for part in parts):
            continue
        tree = ast.parse(path.read_text(encoding="utf-8", errors="replace"))
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                text = ast.get_docstring(node) or ""
                if len(text) >= _SHORTEST:
                    yield ".".join((package, *parts[:1])), text
