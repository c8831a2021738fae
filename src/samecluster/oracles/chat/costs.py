"""Tokens and money: what was spent, and what the next request could cost at most."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from samecluster.errors import CostLimitError, InvalidInputError
from samecluster.oracles.chat.prompts import ChatPrompt

# The most that a picture costs at the models known to us (36,835 tokens in tiles of the dearest).
_TOKENS_PER_PICTURE = 40_000
_TOKENS_PER_MESSAGE = 20  # what servers put around a message, with the schema of the answer
_TOKENS_OF_SCHEMA = 500


@dataclass(frozen=True)
class Prices:
    """Money for a million tokens of prompts and for a million of replies."""

    prompt: float
    reply: float

    @classmethod
    def checked(cls, prices: Any) -> Prices | None:
        """Two numbers from 0 on, or None."""
        if prices is None:
            return None
        try:
            prompt, reply = (float(price) for price in prices)
        except (TypeError, ValueError):
            prompt = reply = -1.0
        if not (0 <= prompt < float("inf") and 0 <= reply < float("inf")):
            raise InvalidInputError(
                "prices must be two numbers, for a million tokens of prompts and of replies, such "
                f"as (0.15, 0.60), got {prices!r}"
            )
        return cls(prompt, reply)

    def of(self, n_prompt: int, n_reply: int) -> float:
        return (n_prompt * self.prompt + n_reply * self.reply) / 1e6


def most_prompt_tokens(prompt: ChatPrompt) -> int:
    """No tokenizer makes more: a token has at least one byte."""
    return (
        prompt.n_bytes
        + _TOKENS_PER_PICTURE * prompt.n_pictures
        + _TOKENS_PER_MESSAGE * len(prompt.messages)
        + _TOKENS_OF_SCHEMA
    )


@dataclass
class Bill:
    """What one request cost, as far as it is known."""

    n_prompt: int
    n_reply: int
    is_known: bool = False
    is_sent: bool = False

    def settle(self, n_prompt: int | None, n_reply: int | None) -> None:
        """What the server says it counted; where it says nothing, the most that it can be."""
        self.n_prompt = self.n_prompt if n_prompt is None else n_prompt
        self.n_reply = self.n_reply if n_reply is None else n_reply
        self.is_known = True


@dataclass
class Spending:
    """What an oracle has used so far; threads share it.

    Attributes
    ----------
    n_requests : prompts that were paid for
    n_prompt_tokens, n_reply_tokens : as the servers counted them
    cost : money for them; None without prices
    unconfirmed : money at most for requests whose replies did not arrive, and which the server may
        charge all the same
    n_looks, n_cached, n_unreadable, n_cut : looks answered, prompts that had been paid for before,
        looks without a reply in form, texts that were shortened
    """

    prices: Prices | None = None
    max_cost: float | None = None
    n_requests: int = 0
    n_prompt_tokens: int = 0
    n_reply_tokens: int = 0
    unconfirmed: float = 0.0
    n_looks: int = 0
    n_cached: int = 0
    n_unreadable: int = 0
    n_cut: int = 0
    _set_aside: dict[int, float] = field(default_factory=dict, repr=False)  # by bill under way
    _changed: threading.Condition = field(default_factory=threading.Condition, repr=False)

    @property
    def cost(self) -> float | None:
        if self.prices is None:
            return None
        return self.prices.of(self.n_prompt_tokens, self.n_reply_tokens)

    @property
    def most(self) -> float:
        """What may have been charged, at most."""
        return (self.cost or 0.0) + self.unconfirmed

    def add(self, **counts: int) -> None:
        """Count looks and the like."""
        with self._changed:
            for name, count in counts.items():
                setattr(self, name, getattr(self, name) + count)

    def __str__(self) -> str:
        parts = [f"{self.n_looks:,} looks"]
        parts.append(f"{self.n_prompt_tokens + self.n_reply_tokens:,} tokens")
        if self.cost is not None:
            parts.append(money(self.cost))
        if self.unconfirmed:
            parts.append(f"at most {money(self.unconfirmed)} for replies that did not arrive")
        for count, one, more in (
            (self.n_cached, "reply known from before", "replies known from before"),
            (
                self.n_unreadable,
                "look without an answer in form",
                "looks without an answer in form",
            ),
            (self.n_cut, "text shortened", "texts shortened"),
        ):
            if count:
                parts.append(f"{count:,} {one if count == 1 else more}")
        return ", ".join(parts)

    @contextmanager
    def billed(self, n_prompt: int, n_reply: int) -> Iterator[Bill]:
        """A bill for one request of at most so many tokens; CostLimitError if it may cost too much.

        What requests under way may cost is set aside until it is known.
        """
        most = self.prices.of(n_prompt, n_reply) if self.prices else 0.0
        bill = Bill(n_prompt, n_reply)
        self._put_aside(bill, most)
        try:
            yield bill
        finally:
            with self._changed:
                del self._set_aside[id(bill)]
                if bill.is_known:
                    self.n_requests += 1
                    self.n_prompt_tokens += bill.n_prompt
                    self.n_reply_tokens += bill.n_reply
                elif bill.is_sent:
                    self.unconfirmed += most
                self._changed.notify_all()

    def _put_aside(self, bill: Bill, most: float) -> None:
        with self._changed:
            if self.max_cost is not None:
                self._changed.wait_for(
                    lambda: not self._set_aside or self._fits(most)  # others may cost less
                )
                if not self._fits(most):
                    raise CostLimitError(
                        f"max_cost is {money(self.max_cost)}, {money(self.most)} are spent, and "
                        f"the next request could cost {money(most)}; raise it to go on"
                    )
            self._set_aside[id(bill)] = most

    def _fits(self, most: float) -> bool:
        under_way = sum(self._set_aside.values())
        return self.max_cost is None or self.most + under_way + most <= self.max_cost


def money(amount: float) -> str:
    """Two digits after the point, or as many as it takes to see something.

    >>> money(2.0), money(0.000123), money(0.0)
    ('$2.00', '$0.00012', '$0.00')
    """
    if amount >= 0.1 or amount == 0:
        return f"${amount:,.2f}"
    return f"${float(f'{amount:.2g}'):.10f}".rstrip("0")
