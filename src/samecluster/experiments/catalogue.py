"""All experiments, by the name that ``samecluster reproduce`` knows them by."""

from __future__ import annotations

from samecluster.experiments.experiment import Experiment
from samecluster.experiments.figure1 import Figure1
from samecluster.experiments.figure3 import Figure3
from samecluster.experiments.statements import Statements
from samecluster.experiments.theory import Theory


def all_experiments(quick: bool, runs: int | None) -> dict[str, Experiment]:
    """The experiments at full or quick size, with this number of runs unless None."""
    made: list[Experiment] = [
        kind.sized(quick, runs) for kind in (Figure1, Figure3, Statements, Theory)
    ]
    return {experiment.name: experiment for experiment in made}
