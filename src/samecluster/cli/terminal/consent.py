"""Before rows leave the machine: which, to whom, at what cost; and may they?"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from samecluster.cli.options import LanguageModel
from samecluster.cli.terminal.keyboard import read_key
from samecluster.cli.terminal.prompt import Prompt
from samecluster.cli.terminal.screen import Screen, shown
from samecluster.errors import InvalidInputError
from samecluster.oracles import ChatOracle
from samecluster.oracles.chat.costs import money
from samecluster.questions.look import Sheet
from samecluster.workspace.open import OpenSession
from samecluster.workspace.rehearsal import rehearsed_looks

_SAMPLE = 50  # looks whose prompts say how long one is

PICTURES = "pictures"
"""What is shown of a folder of images where nobody named columns."""


def agree(
    console: Screen,
    opened: OpenSession,
    oracle: ChatOracle,
    model: LanguageModel,
    columns: Sequence[str],
    cache: Path,
) -> None:
    """Say what is sent where and what it may cost; InvalidInputError unless the user agrees."""
    n = len(opened.data.keys)
    where = f"{oracle.host} (model {model.name})"
    names = ", ".join(columns)
    if not names:
        raise InvalidInputError("the model would see nothing: name columns with --show")
    what = f"columns {names} go" if len(columns) > 1 else f"column {names} goes"
    if list(columns) == [PICTURES]:
        what = "the pictures themselves go"
    lines = [f"Of {n:,} rows, {what} to {where}, as far as they are asked about."]
    if not opened.session.state.n_looks:
        lines.append(_estimate(console, opened, oracle, n, model.confirm))
    if model.is_kept:
        lines.append(f"Prompts and replies are kept in {cache}, which only you can read.")
    for line in lines:
        console.print(shown(line), soft_wrap=True)
    if model.is_agreed:
        return
    if not (console.is_terminal and sys.stdin.isatty()):
        raise InvalidInputError(f"nothing was sent: say --yes to send it to {oracle.host}")
    prompt = Prompt(console, read_key)
    prompt.say("Send it?")
    if prompt.read_one_of(["y", "n"]) != "y":
        raise InvalidInputError("nothing was sent")


def _estimate(console: Screen, opened: OpenSession, oracle: ChatOracle, n: int, twice: bool) -> str:
    """Looks by a rehearsal, tokens by prompts of random sheets as large as its looks."""
    budget = opened.session.state.parameters.get("max_questions")
    with console.status("rehearsing"):
        looks, size = rehearsed_looks(opened.data.X, opened.session.state.parameters)
    looks = (2 if twice else 1) * (looks if budget is None else min(looks, budget))
    if (most_looks := opened.session.state.parameters.get("max_looks")) is not None:
        looks = min(looks, most_looks)
    rng = np.random.default_rng(0)
    drawn = (rng.choice(n, min(size, n), replace=False).tolist() for _ in range(_SAMPLE))
    sheets = [Sheet.of(first, others) for first, *others in drawn]
    about, *most = (looks * tokens // _SAMPLE for tokens in oracle.tokens(sheets))
    said = f"About {looks:,} looks, {about / 1e6:.2g} M tokens"
    spending = oracle.spending
    if spending.prices is None:
        return f"{said}; for the cost give --prices."
    dearest = spending.prices.of(*most)
    limit = dearest if spending.max_cost is None else min(dearest, spending.max_cost)
    usual = min(spending.prices.of(about, 0), limit)
    return f"{said}, about {money(usual)} and at most {money(limit)} at the prices given."
