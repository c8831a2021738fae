"""Settings for all tests: Hypothesis is reproducible here and explores in ``make test-long``.

Tests do without compiled linear programs, as users do who have not installed the extra ``fast``:
numba takes more than ten seconds for each number of columns, far longer than what is tested.
Modules whose runs are about them have ``pytestmark = pytest.mark.compiled``. (The complete test is
compiled once for all columns, and stays.)
"""

import os
import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from samecluster.geometry.reach.kernel import Kernel

_common = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("usual", _common, derandomize=True, max_examples=60)
settings.register_profile("long", _common, max_examples=2000)
settings.load_profile(os.environ.get("SAMECLUSTER_TESTS", "usual"))

# A shell lets what it starts in the background ignore Ctrl-C, and tests of it would wait in vain.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

WITHOUT_NUMBA = str(Path(__file__).with_name("without_numba"))
collect_ignore = ["without_numba"]


def _uncompiled(kernel: Kernel) -> object:
    """Programs that a test passes are used; whoever leaves the choice to the kernel has none."""
    return None if callable(kernel._compiled) else kernel._compiled


@pytest.fixture(scope="module", autouse=True)
def without_compiled_programs(request: pytest.FixtureRequest):
    with pytest.MonkeyPatch.context() as patch:
        if request.node.get_closest_marker("compiled") is None:
            patch.setattr(Kernel, "compiled", property(_uncompiled))
            path = [WITHOUT_NUMBA, *filter(None, [os.environ.get("PYTHONPATH")])]
            patch.setenv("PYTHONPATH", os.pathsep.join(path))
        yield
