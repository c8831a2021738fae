"""The engine: parameters of its run, and what it assumes when answers refute a margin."""

import pytest

from samecluster.sessions.running.engine import audit_share, weaker_margin


def test_the_shares_of_all_audits_of_a_session_add_up_to_one() -> None:
    shares = [audit_share(earlier) for earlier in range(10_000)]
    assert shares == sorted(shares, reverse=True)
    assert 0.9999 < sum(shares) < 1


@pytest.mark.parametrize("margin", [0.01, 1.0, 50.0])
@pytest.mark.parametrize("share", [1e-6, 0.3, 0.99, 0.9995, 1.0, 2.0])
def test_a_weaker_margin_is_below_both_the_old_one_and_the_largest_allowed(margin, share) -> None:
    weaker = weaker_margin(margin, share * margin)
    assert 0 < weaker < margin
    assert weaker < share * margin
