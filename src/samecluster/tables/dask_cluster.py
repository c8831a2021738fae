"""The connection to a Dask cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from samecluster.errors import InvalidInputError
from samecluster.extras import dask_distributed

__all__ = ["connected"]

_PATIENCE = "10s"


@contextmanager
def connected(address: str) -> Iterator[Any]:
    """The client of a scheduler, which Dask uses until the end of the block."""
    distributed = dask_distributed()
    try:
        client = distributed.Client(address, timeout=_PATIENCE)
    except (OSError, ValueError) as error:
        raise InvalidInputError(
            f"no Dask scheduler answers at {address} ({error}); start one with `dask scheduler` "
            "and workers with `dask worker ADDRESS`, or correct the address"
        ) from None
    with client:
        yield client
