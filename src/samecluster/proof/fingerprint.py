"""The fingerprint by which a proof names the data that it is about.

The checker has its own: it shares no code with what writes proofs.
"""

from __future__ import annotations

import hashlib

import numpy as np

from samecluster._typing import Array


def fingerprint(X: Array) -> str:
    """SHA-256 of the shape (n, d) and of the rows as little-endian doubles."""
    data = np.ascontiguousarray(X, dtype="<f8")
    hashed = hashlib.sha256(repr(data.shape).encode())
    hashed.update(data.data)
    return hashed.hexdigest()
