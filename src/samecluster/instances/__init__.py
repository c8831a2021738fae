"""Generators of clusterings with a known margin, for tests, benchmarks and the demo."""

from samecluster.instances.ellipsoids import Instance, make_ellipsoids

__all__ = ["Instance", "make_ellipsoids"]
