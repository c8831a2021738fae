"""Libraries that come with an extra of the package: imported when needed, named when missing."""

from __future__ import annotations

import importlib
from typing import Any

from samecluster.errors import InvalidInputError

__all__ = ["dask", "dask_dataframe", "dask_distributed", "needs_server", "pyarrow"]


def pyarrow() -> tuple[Any, Any]:
    """The modules pyarrow and pyarrow.parquet."""
    try:
        return importlib.import_module("pyarrow"), importlib.import_module("pyarrow.parquet")
    except ImportError as error:
        raise InvalidInputError(
            "Parquet files need pyarrow: pip install samecluster[parquet]"
        ) from error


def dask() -> tuple[Any, Any]:
    """The modules dask and dask.array."""
    try:
        return importlib.import_module("dask"), importlib.import_module("dask.array")
    except ImportError as error:
        raise InvalidInputError("Dask is missing: pip install samecluster[dask]") from error


def dask_dataframe() -> Any:
    """The module dask.dataframe."""
    try:
        return importlib.import_module("dask.dataframe")
    except ImportError as error:
        raise InvalidInputError(
            "Dask DataFrames are missing: pip install samecluster[dask]"
        ) from error


def dask_distributed() -> Any:
    """The module distributed."""
    try:
        return importlib.import_module("distributed")
    except ImportError as error:
        raise InvalidInputError(
            "work on a Dask cluster needs distributed: pip install samecluster[dask]"
        ) from error


def needs_server() -> None:
    """InvalidInputError that says what to install unless there is what serves a page."""
    try:
        importlib.import_module("starlette")
        importlib.import_module("uvicorn")
    except ImportError as error:
        raise InvalidInputError(
            "The labelling page needs Starlette and uvicorn: pip install samecluster[serve]"
        ) from error
