"""A program that answers samecluster's questions as a language model might. It is not one.

It reads one JSON question a line and writes one JSON answer a line (docs/oracle_command.md). Where
a real one would send both items to a model, this one compares their fields: text by its letters,
numbers by their ratio. Replace `judge`, and keep the rest.

    samecluster cluster DATA.csv --oracle-cmd "python examples/oracle_llm_like.py" --parallel 4
"""

from __future__ import annotations

import argparse
import difflib
import json
import sys
import time
from typing import Any


def alikeness(one: Any, two: Any) -> float | None:
    """From 0 to 1; None if it cannot be told."""
    if one is None or two is None:
        return None
    if isinstance(one, str) or isinstance(two, str):
        letters = difflib.SequenceMatcher(None, str(one).casefold(), str(two).casefold())
        return letters.ratio()
    largest = max(abs(one), abs(two))
    return 1.0 if largest == 0 else max(0.0, 1.0 - abs(one - two) / largest)


def judge(item: dict[str, Any], comparator: dict[str, Any], threshold: float) -> tuple[str, str]:
    """A verdict and the reason for it."""
    told = [alikeness(item[name], comparator[name]) for name in item if name in comparator]
    known = [value for value in told if value is not None]
    if not known:
        return "unsure", "nothing to compare"
    mean = sum(known) / len(known)
    note = f"{mean:.0%} alike in {len(known)} of {len(told)} fields"
    if abs(mean - threshold) < 0.05:
        return "unsure", note
    return ("same" if mean > threshold else "different"), note


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--threshold", type=float, default=0.7, help="alike enough to be the same")
    options.add_argument("--delay", type=float, default=0.0, help="seconds to think, as models do")
    chosen = options.parse_args()
    for line in sys.stdin:
        question = json.loads(line)
        time.sleep(chosen.delay)
        verdict, note = judge(
            question["item"]["fields"], question["comparator"]["fields"], chosen.threshold
        )
        sys.stdout.write(json.dumps({"id": question["id"], "verdict": verdict, "note": note}))
        sys.stdout.write("\n")
        # Without this the answer would wait in a buffer, and so would samecluster.
        sys.stdout.flush()


if __name__ == "__main__":
    main()
