"""How often the interval for the questions left is right, over all moments of runs.

Run with ``python -m benchmarks.remaining``; the aim is 80 %.
"""

import sys

import numpy as np

from samecluster import start
from samecluster.instances import make_ellipsoids
from samecluster.recovery.remaining import remaining_questions

RUNS = 12


def course_length(seed: int) -> int:
    """Questions of a run with nothing declared."""
    rng = np.random.default_rng(seed)
    k, d = int(rng.integers(2, 7)), int(rng.integers(2, 5))
    made = make_ellipsoids(n=300, d=d, k=k, margin=1.0, condition=10.0, random_state=seed)
    run, asked = start(made.X, random_state=seed), 0
    while run.pending:
        i, j = run.pending[0].pair
        run.tell(run.pending[0], same=bool(made.labels[i] == made.labels[j]))
        asked += 1
    return asked


def main(runs: int = RUNS) -> None:
    right = by_thirds = np.zeros(3)
    for seed in range(runs):
        total = course_length(seed)
        moments = np.arange(1, total)
        held = np.array(
            [
                (left := remaining_questions(int(t))) is not None
                and left.low <= total - t <= left.high
                for t in moments
            ]
        )
        thirds = np.minimum(3 * moments // total, 2)
        right = right + np.bincount(thirds, held, 3)
        by_thirds = by_thirds + np.bincount(thirds, minlength=3)
    print(f"{runs} runs, {int(by_thirds.sum())} moments; the 80 % interval for questions left is")
    print(f"right at {right.sum() / by_thirds.sum():.0%} of them", end="; ")
    for word, share in zip(("first", "middle", "last"), right / by_thirds, strict=True):
        print(f"{word} third {share:.0%}", end=" ")
    print()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
