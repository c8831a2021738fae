"""Texts in groups, and a server that plays a model which knows them."""

from typing import Any

from examples.chat_server import ChatServerExample, Habits
from samecluster.instances import make_ellipsoids
from samecluster.oracles import ChatOracle

MADE = make_ellipsoids(n=200, d=2, k=4, random_state=1)
TEXTS = [f"ticket {row}: about {'abcd'[label]}" for row, label in enumerate(MADE.labels)]
TRUTH = {text: f"group {label}" for text, label in zip(TEXTS, MADE.labels, strict=True)}
QUICK: dict[str, Any] = {"key": "", "backoff": 0.001, "timeout": 20.0}


def server(
    habits: Habits | None = None, truth: dict[str, str] = TRUTH, **more: Any
) -> ChatServerExample:
    return ChatServerExample(truth, habits, **more)


def oracle(at: ChatServerExample, **more: Any) -> ChatOracle:
    return ChatOracle(at.url, "tiny", TEXTS, "same topic", **{**QUICK, **more})
