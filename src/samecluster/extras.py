"""Libraries that come with an extra of the package: imported when needed, named when missing."""

from __future__ import annotations

import importlib
from typing import Any

from samecluster.errors import InvalidInputError

__all__ = ["needs_server", "pyarrow"]


def pyarrow() -> tuple[Any, Any]:
    """The modules pyarrow and pyarrow.parquet."""
    try:
        return importlib.import_module("pyarrow"), importlib.import_module("pyarrow.parquet")
    except ImportError as error:
        raise InvalidInputError(
            "Parquet files need pyarrow: pip install samecluster[parquet]"
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
