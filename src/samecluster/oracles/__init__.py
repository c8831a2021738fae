"""Who answers: simulated labels, functions, noise over any of them, and panels of several people.

An oracle has one method that matters, ``answer(question) -> Verdict``. Write your own by
subclassing `Oracle`; wrap a plain function with `FunctionOracle` or `RowOracle`.

`ComparisonOracle` answers another question, the paper's CMP: which of two pairs is closer?
"""

from samecluster.oracles.base import Oracle, as_oracle
from samecluster.oracles.comparisons import ComparisonOracle
from samecluster.oracles.functions import FunctionOracle, RowOracle
from samecluster.oracles.labels import LabelOracle
from samecluster.oracles.noisy import NoisyOracle
from samecluster.oracles.outcome import Outcome, Person
from samecluster.oracles.panel import Panel

__all__ = [
    "ComparisonOracle",
    "FunctionOracle",
    "LabelOracle",
    "NoisyOracle",
    "Oracle",
    "Outcome",
    "Panel",
    "Person",
    "RowOracle",
    "as_oracle",
]
