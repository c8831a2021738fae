"""How many audits show that at most 1 % of the labels are wrong, at 95 % confidence.

Four ways, each with rounds to come (the confidence is never spent on the first round alone):

- split: round 1 has 0.8·δ; weights 0.8 on "none wrong" and 0.2 falling like exp(−3W/(εN));
- betting: round 1 has 0.8·δ; the average of bets that fail q = f·m_t, f = 0, .05, .1, .2, .35, .5;
- `Audit`, and `Audit(pairs=True)` with wrong labels spread evenly over equal groups.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from samecluster import Verdict
from samecluster._typing import BoolArray, FloatArray, IntArray
from samecluster.recovery.audit.audit import Audit
from samecluster.recovery.audit.evidence import Coin, Urn

ERROR, DELTA, RUNS = 0.01, 0.05, 1000
SHARES = (0.0, 0.1, 0.25, 0.5)
LONGEST = 15_000  # draws that pairs are followed for


def claim_times(claims: Callable[[int, int], bool], n: int, most: int) -> IntArray:
    """For f = 0, 1, …: the least number of draws with f failures that meets the goal."""
    times = []
    for failures in range(most + 1):
        too_few, enough = max(0, failures - 1), n
        while enough - too_few > 1:
            middle = (too_few + enough) // 2
            if claims(middle, failures):
                enough = middle
            else:
                too_few = middle
        times.append(enough)
    return np.array(times)


def failures_of(n: int, wrong: int) -> BoolArray:
    """(runs, n) which draws without replacement meet one of ``wrong`` labels."""
    rng = np.random.default_rng(wrong)
    fails = np.zeros((RUNS, n), dtype=bool)
    for run in fails:
        run[rng.choice(n, wrong, replace=False)] = True
    return fails


def stops(times: IntArray, fails: BoolArray) -> float:
    """The mean number of draws until the goal is met."""
    count = np.minimum(np.cumsum(fails, axis=1, dtype=np.int32), len(times) - 1)
    met = np.arange(1, fails.shape[1] + 1) >= times[count]
    return float(np.mean(np.where(met.any(axis=1), met.argmax(axis=1) + 1, fails.shape[1])))


def split_times(n: int) -> IntArray:
    allowed = int(ERROR * n)
    urn, every = Urn(n, allowed + 1), np.arange(12 * allowed, dtype=float)
    weights = np.exp(-3 * every / (ERROR * n))
    weights *= 0.2 / weights.sum()
    weights[0] += 0.8

    def claims(draws: int, failures: int) -> bool:
        logs = urn.log_likelihood(every, draws, failures)
        bar = urn.log_likelihood(np.array([allowed + 1.0]), draws, failures)[0]
        return bool(bar == -np.inf or weights @ np.exp(logs - bar) >= 1 / (0.8 * DELTA))

    return claim_times(claims, n, allowed)


def betting_stops(n: int, fails: BoolArray) -> float:
    limit = int(ERROR * n) + 1
    share = np.array([0.0, 0.05, 0.1, 0.2, 0.35, 0.5])
    weights = np.array([0.75, 0.05, 0.05, 0.05, 0.05, 0.05])
    wealth: FloatArray = np.zeros((len(fails), len(share)))
    count, stopped = np.zeros(len(fails)), np.full(len(fails), n)
    for t in range(n):
        chance = ((limit - count) / (n - t))[:, None]
        going = (stopped == n) & (chance[:, 0] > 0)
        met = going & ((chance[:, 0] >= 1) | (np.exp(wealth) @ weights >= 1 / (0.8 * DELTA)))
        stopped[met] = t
        if not np.any(going & ~met):
            break
        with np.errstate(divide="ignore", invalid="ignore"):
            success = np.log((1 - share * chance) / (1 - chance))
            wealth += np.where(fails[:, t, None], np.log(share), success)
        count += fails[:, t]
    return float(np.mean(stopped))


def audit_times(n: int) -> IntArray:
    allowed = int(ERROR * n)
    urn = Urn(n, allowed + 1)
    return claim_times(lambda m, f: urn.excludes(allowed + f + 1, m, f, DELTA), n, allowed)


def pair_stops(n: int, groups: int, share: float) -> float:
    """Wrong labels agree with no other label, so a pair fails if one of its two is wrong."""
    limit, size = int(ERROR * n) + 1, n // groups
    single, pair = float(limit), (size - 1) / 2
    wrong = share * ERROR * size
    right = (size - wrong) * (size - wrong - 1) / (size * (size - 1))
    chance = (single * wrong / size + pair * (1 - right)) / (single + pair)
    bar = limit / (groups * (single + pair))
    coin = Coin(bar)
    times = claim_times(lambda m, f: coin.excludes(bar, m, f, DELTA), LONGEST, 150)
    rng = np.random.default_rng(groups)
    return stops(times, rng.random((RUNS, LONGEST)) < chance)


def second_round(n: int) -> None:
    """What a failure at the 100th audit costs, if none fails any more."""
    labels, rng = np.zeros(n, dtype=np.int64), np.random.default_rng(0)
    audit = Audit(np.arange(n), labels, error=ERROR, confidence=1 - DELTA, rng=rng)
    for check in audit.next_checks(100):
        audit.take(check, Verdict.of(check.number < 99))
    print(
        f"  after a failure at audit 100: going on {audit.n_more()} more, "
        f"new round {audit.n_more(new_round=True)} more"
    )


def main() -> None:
    for n in (20_000, 1_800):
        print(f"N = {n:,}: mean audits at a true error of 0, 0.1, 0.25, 0.5 of the target")
        fails = [failures_of(n, round(share * ERROR * n)) for share in SHARES]
        rows = {
            "split": [stops(split_times(n), f) for f in fails],
            "betting": [betting_stops(n, f if f.any() else f[:1]) for f in fails],
            "Audit": [stops(audit_times(n), f) for f in fails],
            "Audit, pairs, 5 groups": [pair_stops(n, 5, share) for share in SHARES],
            "Audit, pairs, 10 groups": [pair_stops(n, 10, share) for share in SHARES],
        }
        for name, means in rows.items():
            print(f"  {name:24}" + "".join(f"{mean:8,.0f}" for mean in means))
        second_round(n)


if __name__ == "__main__":
    main()
