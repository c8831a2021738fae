"""Arrays of floats as JSON text and back, bit for bit, on any machine."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np

from samecluster._typing import FloatArray

__all__ = ["packed", "unpacked"]


def packed(array: FloatArray) -> dict[str, Any]:
    """An array as a shape and the bytes of its numbers, in base 64."""
    little_endian = np.ascontiguousarray(array, dtype="<f8")
    return {
        "shape": list(array.shape),
        "float64": base64.b64encode(little_endian.tobytes()).decode("ascii"),
    }


def unpacked(stored: dict[str, Any]) -> FloatArray:
    """The array that was packed."""
    flat = np.frombuffer(base64.b64decode(stored["float64"]), dtype="<f8")
    return flat.reshape(stored["shape"]).astype(np.float64)
