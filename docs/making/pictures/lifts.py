"""Rings, moons and spirals proven in the quadratic lift: what was asked, and what is certain."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from samecluster import Recovery, recover
from samecluster._typing import FloatArray
from samecluster.geometry.reach.kernel import Kernel
from samecluster.instances import (
    LiftedInstance,
    make_moons_with_margin,
    make_rings,
    make_spirals,
)
from samecluster.oracles import LabelOracle
from samecluster.plots.style import LIGHT
from samecluster.proof.log import ProofLog
from samecluster.recovery.certify.closure import Closure

_SHOWN = 120  # points drawn of each cluster
_MEMBERS = 1_500  # whose reach is drawn, of each cluster
_GRID = 90  # points a side at which it is decided what is certain


def picture() -> Figure:
    figure = Figure(figsize=(8.4, 3.1))
    made = (
        ("two rings", make_rings(10_000, random_state=0)),
        ("two moons", make_moons_with_margin(10_000, random_state=0)),
        ("two spirals", make_spirals(10_000, turns=1.0, random_state=0)),
    )
    for panel, (name, instance) in zip(figure.subplots(1, 3), made, strict=True):
        _draw(panel, name, instance)
    return figure


def _draw(panel: Axes, name: str, made: LiftedInstance) -> None:
    found = recover(
        made.X,
        LabelOracle(made.labels),
        n_clusters=2,
        margin=made.margin,
        lift=made.lift,
        random_state=0,
    )
    low, high = made.X.min(axis=0), made.X.max(axis=0)
    room = 0.15 * (high - low)
    x, y = (np.linspace(a, b, _GRID) for a, b in zip(low - room, high + room, strict=True))
    grid = np.array([[a, b] for b in y for a in x])
    for label in range(2):
        colour = LIGHT.clusters[label]
        inside = _certain(made, found, label, grid).reshape(_GRID, _GRID)
        panel.contourf(x, y, inside, levels=[0.5, 1.5], colors=[colour], alpha=0.22)
        own = made.X[(found.labels == label) & (found.how == "proven")][:_SHOWN]
        panel.scatter(own[:, 0], own[:, 1], s=2, color=colour, linewidths=0)
    asked = made.X[found.how == "asked"]
    panel.scatter(
        asked[:, 0], asked[:, 1], s=26, marker="D", color="white", edgecolors=LIGHT.ink, zorder=3
    )
    panel.set_title(f"{name}: {found.n_questions} questions", loc="left", fontsize=10)
    panel.set_aspect("equal")
    panel.set_axis_off()


def _certain(made: LiftedInstance, found: Recovery, label: int, grid: FloatArray) -> FloatArray:
    """1.0 where a point would be proven to be in a cluster, by the members that are known."""
    assert found.lift is not None
    assert found.proof is not None
    members = made.X[found.labels == label][:_MEMBERS]
    lifted = found.lift.apply(np.vstack([members, grid]))
    tau = found.proof.resolution
    log = ProofLog("", made.margin, None, tau)
    closure = Closure(lifted, made.margin, tau, log, Kernel(), seed=0)
    for member in range(len(members)):
        closure.ask(member, 0)
    reached = closure.exclusion.reached(closure.clusters[0], np.arange(len(members), len(lifted)))
    inside = np.zeros(len(grid))
    inside[np.asarray(reached) - len(members)] = 1.0
    return inside
