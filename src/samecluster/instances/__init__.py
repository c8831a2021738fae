"""Generators of clusterings with a known margin, for tests, benchmarks and the demo.

`comparisons` holds the instance of the paper's last section, which is not a clustering.
"""

from samecluster.instances.curved import (
    LiftedInstance,
    make_moons_with_margin,
    make_nested,
    make_rings,
    make_spirals,
)
from samecluster.instances.ellipsoids import Instance, make_ellipsoids
from samecluster.instances.instance import LatentInstance
from samecluster.instances.kmeans_trap import make_kmeans_trap
from samecluster.instances.lower_bounds import make_hypercube, make_packing

__all__ = [
    "Instance",
    "LatentInstance",
    "LiftedInstance",
    "make_ellipsoids",
    "make_hypercube",
    "make_kmeans_trap",
    "make_moons_with_margin",
    "make_nested",
    "make_packing",
    "make_rings",
    "make_spirals",
]
