"""Wrong answers, reproducible and persistent, over any oracle."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import Literal

import numpy as np

from samecluster._parameters import check_one_of, check_share
from samecluster.errors import InvalidInputError
from samecluster.oracles.base import Oracle, OverOracle, checked_reply
from samecluster.questions.look import Board, CheckSheet, Choice, Marks, Picks, Sheet, Unions
from samecluster.questions.pair import Question, Verdict


class NoisyOracle(OverOracle):
    """An oracle that errs with probability p, always in the same way on the same thing.

    Parameters
    ----------
    oracle : the oracle whose answers are distorted
    p : probability of an error, below 1
    unit : "pair" flips each pair on its own: another comparator gives a fresh draw. "item"
        misjudges whole items: every comparison with a misjudged item is flipped (twice, that is
        not at all, between two of them), and only another person can tell.
    mischoice : probability that a choice is answered with a wrong group (or "none" where there is
        no other); p if None
    overlook : probability that an item which does not belong is left unmarked on a sheet, and that
        one which should be joined is left alone on a board; p if None. One look is one draw per
        item: for each reference anew with the unit "pair", always the same with "item".
    random_state : a whole number: the person. Two oracles of one number err alike, two of
        different numbers independently, whatever they are asked and in whatever order.

    Examples
    --------
    >>> from samecluster.oracles import LabelOracle
    >>> noisy = NoisyOracle(LabelOracle([0, 0]), p=0.3, random_state=1)
    >>> noisy.answer(Question(0, 1)) is noisy.answer(Question(1, 0))
    True
    """

    def __init__(
        self,
        oracle: Oracle,
        p: float,
        unit: Literal["pair", "item"] = "pair",
        random_state: int = 0,
        *,
        mischoice: float | None = None,
        overlook: float | None = None,
    ) -> None:
        check_share("p", p)
        self._mischoice = p if mischoice is None else mischoice
        self._overlook = p if overlook is None else overlook
        check_share("mischoice", self._mischoice)
        check_share("overlook", self._overlook)
        check_one_of("unit", unit, "pair", "item")
        if not isinstance(random_state, int | np.integer):
            # A generator would be spent in the order of the questions.
            raise InvalidInputError(f"random_state must be a whole number, got {random_state!r}")
        super().__init__(oracle)
        self._p = p
        self._unit = unit
        self._seed = int(random_state)

    def __repr__(self) -> str:
        return f"NoisyOracle({self._oracle!r}, p={self._p}, unit={self._unit!r})"

    def answer(self, question: Question) -> Verdict:
        verdict = self._oracle.answer(question)
        if verdict is Verdict.UNSURE or not self._flips(question):
            return verdict
        return Verdict.DIFFERENT if verdict is Verdict.SAME else Verdict.SAME

    def choose(self, choice: Choice) -> Picks:
        reply = checked_reply(self._oracle, choice)
        assert isinstance(reply, Picks)
        shown = tuple(group[0] for group in choice.groups)
        seen = (choice.item, *shown) if self._unit == "pair" else (choice.item,)
        if reply.unsure or not self._errs(*seen, p=self._mischoice):
            return reply
        others = [place for place in range(len(shown)) if place not in reply.groups]
        return Picks((others[self._toss(*seen, 1) % len(others)],) if others else ())

    def sort(self, sheet: Sheet | CheckSheet) -> Marks:
        reply = checked_reply(self._oracle, sheet)
        assert isinstance(reply, Marks)
        beside = dict(sheet.cells)
        noticed = (i for i in reply.marked if not self._overlooks(i, beside[i]))
        return replace(reply, marked=tuple(noticed))

    check = sort

    def join(self, board: Board) -> Unions:
        reply = checked_reply(self._oracle, board)
        assert isinstance(reply, Unions)
        noticed = (
            tuple(i for i in group if i == group[0] or not self._overlooks(i, group[0]))
            for group in reply.joined
        )
        return replace(reply, joined=tuple(group for group in noticed if len(group) > 1))

    def _overlooks(self, item: int, beside: int) -> bool:
        seen = (item, beside) if self._unit == "pair" else (item,)
        return self._errs(*seen, p=self._overlook)

    def _flips(self, question: Question) -> bool:
        if self._unit == "pair":
            return self._errs(*question.pair)
        return self._errs(question.item) != self._errs(question.comparator)

    def _errs(self, *numbers: int, p: float | None = None) -> bool:
        """A coin that falls the same way whenever it is tossed for the same numbers."""
        return self._toss(*numbers) < (self._p if p is None else p) * 2.0**64

    def _toss(self, *numbers: int) -> int:
        text = ",".join(map(str, (self._seed, *numbers))).encode()
        return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "big")
