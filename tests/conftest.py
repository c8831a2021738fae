"""Settings for all tests: Hypothesis is reproducible here and explores in ``make test-long``."""

import os

from hypothesis import HealthCheck, settings

_common = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("usual", _common, derandomize=True, max_examples=60)
settings.register_profile("long", _common, max_examples=2000)
settings.load_profile(os.environ.get("SAMECLUSTER_TESTS", "usual"))
