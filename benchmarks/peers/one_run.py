"""One tool on one instance, in a process of its own: lines of JSON on standard output.

``python -m benchmarks.peers.one_run TOOL INSTANCE SEED``. The limit on the processor's time is the
kernel's, so it also ends a tool that never comes back.
"""

from __future__ import annotations

import resource
import sys
import time

from benchmarks.peers.counting import CountingOracle, Exact, LimitReached, Trace
from benchmarks.peers.instances import INSTANCES
from benchmarks.peers.tools import TOOLS
from samecluster.errors import OracleError

QUESTIONS = 3000
SECONDS = 90
# Questions without an error after which a tool that does not know is taken to be done.
PATIENCE = 300


def limit_time() -> None:
    """From now on the process has so many seconds of the processor."""
    until = int(time.process_time()) + SECONDS
    resource.setrlimit(resource.RLIMIT_CPU, (until, resource.RLIM_INFINITY))


def main() -> None:
    tool, instance, seed = sys.argv[1], sys.argv[2], int(sys.argv[3])
    case = INSTANCES[instance][1](seed)
    oracle = CountingOracle(case.labels, QUESTIONS)
    trace = Trace(case.labels, oracle, sys.stdout, PATIENCE, on_restart=limit_time)
    limit_time()
    try:
        TOOLS[tool].run(case, oracle, trace, seed)
    except Exact:
        trace.end("exact")
    except (LimitReached, OracleError):
        if not oracle.limit_reached:
            raise
        trace.end("limit")
    else:
        trace.end("stopped")


if __name__ == "__main__":
    main()
