"""Libraries that come with an extra of the package: imported when needed, named when missing."""

from __future__ import annotations

import importlib
from typing import Any

from samecluster.errors import InvalidInputError


def pyarrow() -> tuple[Any, Any]:
    """The modules pyarrow and pyarrow.parquet."""
    first, second = _modules(
        "Parquet files need pyarrow: pip install samecluster[parquet]", "pyarrow", "pyarrow.parquet"
    )
    return first, second


def dask() -> tuple[Any, Any]:
    """The modules dask and dask.array."""
    first, second = _modules("Dask is missing: pip install samecluster[dask]", "dask", "dask.array")
    return first, second


def dask_distributed() -> Any:
    """The module distributed."""
    (found,) = _modules(
        "work on a Dask cluster needs distributed: pip install samecluster[dask]", "distributed"
    )
    return found


def httpx() -> Any:
    """The module httpx."""
    (found,) = _modules("language models need httpx: pip install samecluster[llm]", "httpx")
    return found


def needs_server() -> None:
    """InvalidInputError that says what to install unless there is what serves a page."""
    _modules(
        "The labelling page needs Starlette and uvicorn: pip install samecluster[serve]",
        "starlette",
        "uvicorn",
    )


def _modules(if_missing: str, *names: str) -> list[Any]:
    try:
        return [importlib.import_module(name) for name in names]
    except ImportError as error:
        raise InvalidInputError(if_missing) from error
