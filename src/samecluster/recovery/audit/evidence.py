"""What random draws say about how many labels are wrong, at every moment of the drawing.

Numbers only: no items, no questions, no random state. The theorem behind `Evidence`:

Let W be the truth (a number of wrong labels, or a chance that a draw fails) and L_W the chance of
the draws seen so far, m of them with f failures. For any weights π that sum to 1,

    E(W) = Σ_{V ≤ W} π(V)·L_V/L_W + Σ_{V > W} π(V)

is, under the truth W, a nonnegative supermartingale that starts at 1 (each L_V/L_W is a likelihood
ratio; a martingale, unless V allows draws that W does not). By Ville's inequality it ever reaches
1/α with probability at most α (Ville 1939; Waudby-Smith and Ramdas 2020 for draws without
replacement). So "every W with E(W) ≥ 1/α is excluded" is wrong with probability at most α over all
moments together, whatever decides when to look or to stop.

The weights above W lie idle, which makes the test one-sided and gives three facts that the code
rests on; write Ŵ for the W of largest likelihood, and note that L_W rises up to Ŵ and falls after.

1. Every term of E falls in W up to Ŵ and rises from there. So E(Ŵ) = min E ≤ 1, and what is
   excluded is everything from some number above Ŵ on: bisection finds it.
2. For V < W, L_V/L_W falls with every failure in place of a success. So counting a success as a
   failure (an answer "unsure", an answer still to come) never excludes more.
3. For V < W, L_V/L_W rises with every further success. So E(W) does.
"""

from __future__ import annotations

import abc
import math

import numpy as np

from samecluster._typing import FloatArray

# How the weights π are split, for a limit that is to be shown (costs: benchmarks/measured.md).
_NONE = 0.74
"""On "nothing is wrong", the common case."""
_FEW = 0.2
"""On shares from 0.05 to 0.7 of the limit, falling like exp(−4·share): failures are survived."""
_MANY = 0.03
"""On the limit times 1, 2, 4, …: bounds worth telling where the limit is far from met."""
_IDLE = 0.03
"""On "all is wrong", which stays idle for every W: the least that is left after a round."""

_FEW_SHARES = np.linspace(0.05, 0.7, 24)  # the shares that _FEW is spread over

# From here on three terms of Stirling's series are exact in double precision.
_SMALL = 50.0

# More than the few dozen roundings of one log-likelihood ratio can add up to.
_ULPS = 64.0 * float(np.finfo(np.float64).eps)


class Evidence(abc.ABC):
    """The E of the module's theorem; subclasses know the chance of what was drawn.

    ``support`` are the V, rising, and ``weights`` the π(V).
    """

    def __init__(self, limit: float, top: float, few: FloatArray) -> None:
        many = limit * 2.0 ** np.arange(max(0, math.ceil(math.log2(top / limit))))
        slopes = np.exp(-4.0 * few / limit)
        self._top = top
        self.support = np.concatenate([[0.0], few, many, [top]])
        weights = np.concatenate(
            [
                [_NONE],
                _FEW * slopes / slopes.sum() if len(few) else few,
                np.full(len(many), _MANY / max(1, len(many))),
                [_IDLE],
            ]
        )
        self.weights = weights / weights.sum()

    @abc.abstractmethod
    def log_likelihood(self, wrong: FloatArray, draws: int, failures: int) -> FloatArray:
        """log L of each number or chance in ``wrong``; −inf for what was seen to be impossible."""

    @abc.abstractmethod
    def likeliest(self, draws: int, failures: int) -> float:
        """Ŵ, for one draw or more."""

    @abc.abstractmethod
    def rounding(self, draws: int) -> float:
        """A bound on the rounding error of a log-likelihood ratio."""

    def log_strength(self, wrong: float, draws: int, failures: int) -> float:
        """log E(wrong): how strongly the draws speak against this number; inf if impossible."""
        return float(self.log_strengths(np.array([wrong]), draws, failures)[0])

    def log_strengths(self, wrong: FloatArray, draws: int, failures: int) -> FloatArray:
        """log E of each number in ``wrong`` (w,)."""
        logs = self.log_likelihood(np.append(wrong, self.support), draws, failures)
        own, others = logs[: len(wrong), None], logs[len(wrong) :]
        impossible = own[:, 0] == -np.inf
        idle = self.support > wrong[:, None]
        ratios = np.where(idle, 0.0, others - np.where(own == -np.inf, 0.0, own))
        largest = np.maximum(ratios.max(axis=1), 0.0)  # so nothing overflows below
        shares = np.exp(ratios - largest[:, None]) @ self.weights
        with np.errstate(divide="ignore"):
            return np.where(impossible, np.inf, largest + np.log(shares))

    def excludes(self, wrong: float, draws: int, failures: int, level: float) -> bool:
        """Whether ``wrong`` and everything above it is excluded at this level."""
        if wrong > self._top:
            return True
        if draws == 0 or wrong <= self.likeliest(draws, failures):
            return False
        needed = -math.log(level) + self.rounding(draws)
        return self.log_strength(wrong, draws, failures) >= needed

    def left(self, draws: int, failures: int) -> float:
        """min E, the share of the level that is left if the drawing ends here (see `Audit`)."""
        if draws == 0:
            return 1.0
        weakest = self.log_strength(self.likeliest(draws, failures), draws, failures)
        return min(1.0, math.exp(weakest - self.rounding(draws)))


class Urn(Evidence):
    """Draws without replacement from n labels; to be shown: fewer than ``limit`` are wrong.

    Examples
    --------
    >>> urn = Urn(20_000, limit=201)
    >>> urn.excludes(201, 310, 0, level=0.05), urn.excludes(201, 311, 0, level=0.05)
    (False, True)
    """

    def __init__(self, n: int, limit: int) -> None:
        few = np.unique(np.round(_FEW_SHARES * limit))
        super().__init__(limit, n, few[(few > 0) & (few < limit)])
        self._n = n

    def log_likelihood(self, wrong: FloatArray, draws: int, failures: int) -> FloatArray:
        return np.asarray(
            _log_falling(wrong, failures) + _log_falling(self._n - wrong, draws - failures)
        )

    def likeliest(self, draws: int, failures: int) -> float:
        # L_W ≥ L_{W−1} iff W ≤ failures·(n+1)/draws.
        return min(failures * (self._n + 1) // draws, self._n - draws + failures)

    def rounding(self, draws: int) -> float:
        return _ULPS * (1.0 + (draws + _SMALL) * math.log(self._n + 1.0))


class Coin(Evidence):
    """Draws that fail with a chance of at least p; to be shown: p is below ``limit``.

    The chance may vary from draw to draw, also with what was drawn before. With one above p, the
    terms V ≤ p of E(p) only fall faster, so that it stays a supermartingale.
    """

    def __init__(self, limit: float) -> None:
        super().__init__(limit, 1.0, _FEW_SHARES * limit)

    def log_likelihood(self, wrong: FloatArray, draws: int, failures: int) -> FloatArray:
        from scipy.special import xlog1py, xlogy  # slow to load, and no first question needs it

        return np.asarray(xlogy(failures, wrong) + xlog1py(draws - failures, -wrong))

    def likeliest(self, draws: int, failures: int) -> float:
        return failures / draws

    def rounding(self, draws: int) -> float:
        return _ULPS * (1.0 + 1e3 * draws)  # no logarithm of a double is beyond 745


def _log_falling(numbers: FloatArray, factors: int) -> FloatArray:
    """log of a(a−1)…(a−factors+1) for whole a; −inf if the product is 0.

    The difference of two log gammas would lose all digits for large a. So it is taken term by term
    in Stirling's series, and the rounding error is one of the product, not of a!.
    """
    from scipy.special import gammaln  # slow to load, and no first question needs it

    left = numbers - factors
    x, y = np.maximum(numbers, _SMALL), np.maximum(left, _SMALL)
    large = factors * np.log(x) - (y + 0.5) * np.log1p(-factors / (y + factors)) - factors
    small = gammaln(np.maximum(numbers, 0.0) + 1.0) - gammaln(np.maximum(left, 0.0) + 1.0)
    logs = np.where(left >= _SMALL, large + _stirling(x) - _stirling(y), small)
    return np.where(left >= 0, logs, -np.inf)


def _stirling(x: FloatArray) -> FloatArray:
    """log x! − ((x + 1/2) log x − x + log(2π)/2), to the last digit for x ≥ 50."""
    return np.asarray((1.0 - (1.0 / 30.0 - 1.0 / 105.0 / x**2) / x**2) / (12.0 * x))
