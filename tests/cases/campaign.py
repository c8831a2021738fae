"""How long campaigns are: a smaller number of the same runs by default, all in `make test-long`."""

import os

LONG = os.environ.get("SAMECLUSTER_TESTS") == "long"


def runs(quick: int, long: int) -> int:
    """How many runs a campaign has: ``quick`` in `make test`, ``long`` in `make test-long`."""
    return long if LONG else quick
