"""Every numeric tolerance, named, with its reason.

Lengths are relative: coordinates are scaled so that each column spans about one unit
(`samecluster.points.array.unit_scaled`) before geometry sees them.
"""

RESOLUTION = 1e-9
"""Differences below this share of a column's range mean nothing to RECUR (theory: resolution τ).

Floats cannot hold a flat cluster exactly, so "lies in the span" needs a length. A cluster boundary
is taken to be no sharper than this in any column. (That of certify is in `resolution`.)
"""

ROUNDING_NOISE = 1e-13
"""Rounding noise of coordinates that went through a few operations, as a share of the largest."""

ROUNDING = 1e-9
"""Relative slack that covers rounding in ellipsoid and cell computations.

It is always taken to the safe side: an ellipsoid that must contain points is a little larger, an
expanded hull that must stay inside a cluster a little smaller.
"""

PRICE = 1e-9
"""A simplex column must improve the value by this share, or cycling in the last bits may occur."""
