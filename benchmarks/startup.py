"""What ``samecluster --help`` costs beside ``python -c 'import typer'``, in processor time."""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

REPEATS, GOAL = 15, 1.2


def seconds(arguments: list[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    helps, imports = [], []
    script = str(Path(sys.executable).with_name("samecluster"))
    for _ in range(REPEATS):  # alternating, so that both meet the same noise
        imports.append(seconds(["-c", "import typer"]))
        helps.append(seconds([script, "--help"]))
    ratio = min(helps) / min(imports)
    print(f"samecluster --help / import typer = {ratio:.2f} (goal: at most {GOAL})")


if __name__ == "__main__":
    main()
