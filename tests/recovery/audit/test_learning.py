"""When an audit begins again: it ends, and false claims stay as rare as promised."""

import numpy as np
import pytest

from samecluster.questions.pair import Verdict
from samecluster.recovery.audit.audit import Audit
from tests.cases.campaign import runs

SHEET = 11


class Checked:
    """Labels of N items, some wrong; learning mends a share of these and touches nothing else."""

    def __init__(self, n, allowed, n_wrong, mended, seed, decoys=None, kind=Audit):
        self.rng = np.random.default_rng(seed)
        self.wrong = np.arange(n) < n_wrong
        self.labels, self.asked, self.mended = np.zeros(n, int), np.zeros(n, bool), mended
        draws = np.random.default_rng(seed + 10_000)
        self.audit = kind(
            np.arange(n), self.labels, error=allowed, confidence=0.95, rng=draws, decoys=decoys
        )
        self.n_sheets, self.n_rounds, self.is_false = 0, 1, False

    def play(self):
        """True if the bound was ever below the number of wrong labels."""
        while not self.audit.met and (checks := self.audit.next_checks(SHEET)):
            self.n_sheets += 1
            self.audit.note_decoys(self.n_sheets, 0)
            failed = False
            for check in checks:
                self.audit.take(check, Verdict.of(not self.wrong[check.item]))
                failed |= bool(self.wrong[check.item])
                self.wrong[check.item], self.asked[check.item] = False, True
            self.note_bound()
            if failed and not self.audit.met and self.audit.is_better_again():
                self.learn()
        return self

    def learn(self):
        self.n_rounds += 1
        mended = np.flatnonzero(self.wrong & (self.rng.random(len(self.wrong)) < self.mended))
        self.wrong[mended], self.labels = False, self.labels.copy()
        self.labels[mended] = 1
        left = np.flatnonzero(~self.asked)
        self.audit.new_round(left, self.labels[left])
        self.note_bound()

    def note_bound(self):
        self.is_false |= bool(self.audit.n_wrong_at_most < self.wrong.sum())


class Forgetful(Audit):
    """An audit that takes each round for its first."""

    def new_round(self, items, labels):
        super().new_round(items, labels)
        self._capital, self._carried = 1.0, len(items)

    def is_better_again(self):
        return self._n_rounds < 20


def test_labels_that_nothing_is_learned_about_are_drawn_anew_once_at_most() -> None:
    """The docstrings of a liar, 5 % wrong where 10 % are allowed: it began again until no
    confidence was left, and never said what it had seen."""
    for seed in range(10):
        done = Checked(300, 0.1, 15, mended=0.0, seed=seed, decoys=1 / SHEET).play()
        assert done.audit.met
        assert done.n_rounds <= 2


def test_labels_that_learning_mends_are_drawn_anew() -> None:
    for seed in range(10):
        done = Checked(1800, 0.1, 180, mended=1.0, seed=seed, decoys=1 / SHEET).play()
        assert done.audit.met
        assert done.n_rounds == 2
        assert done.n_sheets <= 12


@pytest.mark.campaign
@pytest.mark.parametrize("mended", [0.0, 0.1, 0.5])
@pytest.mark.parametrize("decoys", [None, 1 / SHEET])
def test_false_claims_are_as_rare_as_promised_however_often_it_begins_again(mended, decoys) -> None:
    """From as many wrong labels as leave one too many, or twice as many, whatever is learned."""
    n_runs = runs(30, 2_000)
    for n_wrong in (31, 62):
        done = [Checked(300, 0.1, n_wrong, mended, seed, decoys).play() for seed in range(n_runs)]
        n_false = sum(one.is_false for one in done)
        assert n_false <= 0.05 * n_runs + 2 * np.sqrt(0.05 * 0.95 * n_runs)


def test_that_test_can_fail() -> None:
    """The same with all of the confidence in every round."""
    done = [Checked(300, 0.1, 62, 0.1, seed, kind=Forgetful).play() for seed in range(80)]
    assert sum(one.is_false for one in done) > 8
