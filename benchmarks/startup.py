"""What ``samecluster --help`` costs beside ``python -c 'import typer'``. Goal: at most 4 times."""

from __future__ import annotations

import subprocess
import sys
import time

REPEATS, GOAL = 15, 4.0


def seconds(arguments: list[str]) -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def main() -> None:
    helps, imports = [], []
    for _ in range(REPEATS):  # alternating, so that both meet the same noise
        imports.append(seconds(["-c", "import typer"]))
        helps.append(seconds(["-m", "samecluster", "--help"]))
    ratio = min(helps) / min(imports)
    print(f"samecluster --help / import typer = {ratio:.2f} (goal: at most {GOAL:.0f})")


if __name__ == "__main__":
    main()
