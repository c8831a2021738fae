"""What reading and preparing a table costs beside importing pandas and reading the same file.

A CSV of 100,000 rows: an id and ten columns of numbers with all their digits. Each side is a
process of its own. Goal: at most 1.5 times, so that a whole start may take 4 times.

pandas is no dependency: it is looked for in this Python, or in the one named by PANDAS_PYTHON.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

ROWS, COLUMNS, REPEATS, GOAL = 100_000, 10, 7, 1.5
OURS = (
    "import sys\n"
    "from samecluster.tables import Preparation, FeatureOptions, item_keys, read_table\n"
    "table = read_table(sys.argv[1])\n"
    "preparation = Preparation.fit(table, FeatureOptions(id_column='id'))\n"
    "assert preparation.apply(table).shape[1] == 10\n"
    "item_keys(table, 'id')\n"
)
BY_CONTENT = OURS.replace("item_keys(table, 'id')", "item_keys(table)")
PANDAS = "import sys, pandas\npandas.read_csv(sys.argv[1])\n"


def write_table(path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(ROWS, COLUMNS))
    with path.open("w") as file:
        file.write(",".join(["id", *(f"x{column}" for column in range(COLUMNS))]) + "\n")
        for row, values in enumerate(X.tolist()):
            file.write(",".join([f"item-{row}", *map(repr, values)]) + "\n")


def seconds(python: str, program: str, path: Path) -> float:
    start = time.perf_counter()
    subprocess.run([python, "-c", program, str(path)], check=True)
    return time.perf_counter() - start


def pandas_python() -> str:
    """A Python that has pandas; without one the benchmark ends here, saying what to install."""
    for python in (sys.executable, os.environ.get("PANDAS_PYTHON")):
        if (
            python
            and not subprocess.run(
                [python, "-c", "import pandas"], stderr=subprocess.DEVNULL
            ).returncode
        ):
            return python
    print(
        "pandas is not installed, so there is nothing to compare with: install it in a venv of its "
        "own and name its Python with PANDAS_PYTHON"
    )
    sys.exit()


def main() -> None:
    python = pandas_python()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "table.csv")
        write_table(path)
        times: dict[str, list[float]] = {"pandas": [], "by id": [], "by content": []}
        for _ in range(REPEATS):  # alternating, so that all meet the same noise
            times["pandas"].append(seconds(python, PANDAS, path))
            times["by id"].append(seconds(sys.executable, OURS, path))
            times["by content"].append(seconds(sys.executable, BY_CONTENT, path))
    least = {name: min(found) for name, found in times.items()}
    for keys in ("by id", "by content"):
        ratio = least[keys] / least["pandas"]
        print(
            f"read and prepare, items {keys} / import pandas and read = {ratio:.2f} "
            f"(goal: at most {GOAL})"
        )


if __name__ == "__main__":
    main()
