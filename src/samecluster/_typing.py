"""Array types used in every layer. Nothing but type names belongs here."""

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]

Array: TypeAlias = npt.NDArray[Any]
"""An array whose number type is chosen for speed (single precision, narrow integers)."""
