"""Who answers: labels, functions, programs, language models, noise over any of them, panels.

An oracle has one method that matters, ``answer(question) -> Verdict``. Write your own by
subclassing `Oracle`; wrap a plain function with `FunctionOracle` or `RowOracle`.

`ComparisonOracle` answers another question, the paper's CMP: which of two pairs is closer?
"""

from samecluster.oracles.base import Oracle, as_oracle
from samecluster.oracles.chat.oracle import ChatOracle
from samecluster.oracles.command import CommandOracle
from samecluster.oracles.command_protocol import ShownItem
from samecluster.oracles.comparisons import ComparisonOracle
from samecluster.oracles.confirmed import ConfirmedOracle
from samecluster.oracles.functions import FunctionOracle, RowOracle
from samecluster.oracles.labels import LabelOracle
from samecluster.oracles.noisy import NoisyOracle
from samecluster.oracles.panel.panel import Panel
from samecluster.oracles.panel.report import PanelOutcome, Person
from samecluster.oracles.several_at_once import Retry, SeveralAtOnce

__all__ = [
    "ChatOracle",
    "CommandOracle",
    "ComparisonOracle",
    "ConfirmedOracle",
    "FunctionOracle",
    "LabelOracle",
    "NoisyOracle",
    "Oracle",
    "Panel",
    "PanelOutcome",
    "Person",
    "Retry",
    "RowOracle",
    "SeveralAtOnce",
    "ShownItem",
    "as_oracle",
]

Outcome, Shown = PanelOutcome, ShownItem  # older names, still importable
