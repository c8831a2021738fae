"""A text set: docstrings of installed packages; which package, or which subpackage, is the group.

Read from the sources, nothing is imported. The packages are those that the development
requirements pin, so the texts are the same everywhere: their checksums are compared.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

_BY_MODULE = ("scipy", "sklearn", "numpy", "pandas", "matplotlib", "hypothesis", "mypy")
_BY_PACKAGE = (
    *("IPython", "PIL", "anyio", "click", "coverage", "dask", "distributed", "filelock"),
    *("fsspec", "graphql", "httpx", "huggingface_hub", "hypothesis"),
    *("ipywidgets", "jedi", "jinja2", "joblib", "matplotlib", "mypy", "numba", "numpy"),
    *("pandas", "playwright", "polars", "psutil", "requests", "rich"),
    *("schemathesis", "scipy", "sklearn", "tornado", "traitlets", "typer"),
)
_SHORTEST = 80  # characters: less tells nobody where it belongs

Data = tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]


@cache
def docstrings_by_module() -> Data:
    """The 80 largest subpackages, at most 40 docstrings of each."""
    found = ((".".join(where[:2]), text) for where, text in _docstrings(_BY_MODULE))
    return _as_columns(
        found, most_groups=80, most=40, fewest=25, columns=256, checksum="8a3cbfe3afb0814d"
    )


@cache
def docstrings_by_package() -> Data:
    """All packages with 48 docstrings or more, at most 500 of each."""
    found = ((where[0], text) for where, text in _docstrings(_BY_PACKAGE))
    return _as_columns(
        found, most_groups=99, most=500, fewest=48, columns=300, checksum="fbf9bd14cecc3e23"
    )


def _as_columns(
    found: Iterable[tuple[str, str]],
    most_groups: int,
    most: int,
    fewest: int,
    columns: int,
    checksum: str,
) -> Data:
    """Latent semantic analysis of the texts, and their groups."""
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.preprocessing import normalize

    groups: dict[str, list[str]] = {}
    for group, text in found:
        groups.setdefault(group, []).append(text)
    groups = {group: list(dict.fromkeys(texts))[:most] for group, texts in groups.items()}
    large = sorted(groups, key=lambda group: (-len(groups[group]), group))[:most_groups]
    large = [group for group in large if len(groups[group]) >= fewest]
    texts = [text for group in large for text in groups[group]]
    digest = hashlib.sha256("\0".join(texts).encode()).hexdigest()[:16]
    if digest != checksum:
        raise SystemExit(
            f"the docstrings have checksum {digest} instead of {checksum}: other versions than "
            "those of requirements-dev.txt are installed"
        )
    labels = np.repeat(np.arange(len(large)), [len(groups[group]) for group in large])
    weights = TfidfVectorizer(sublinear_tf=True, min_df=3, max_df=0.2).fit_transform(texts)
    points = TruncatedSVD(columns, random_state=0).fit_transform(weights)
    # Unit length, as texts are compared by the angle between them: a long one is no farther off.
    return np.asarray(normalize(points), dtype=np.float64), labels


def _docstrings(packages: Iterable[str]) -> Iterator[tuple[tuple[str, ...], str]]:
    """Docstrings of functions and classes with the package and the modules that they are in."""
    for package in packages:
        spec = importlib.util.find_spec(package)
        if spec is None or spec.origin is None:
            raise SystemExit(f"{package} is missing: make .venv/developer installs it")
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
                        yield (package, *parts), text
