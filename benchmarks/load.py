"""32 people at once for ten minutes, on a session that does not run out of questions.

Ratios of one run: how long acknowledgements take beside those of a person alone, and how much
memory the server has beside after its first minute. The seconds behind the ratios are printed too;
they are those of this machine as busy as it is. Only loopback addresses are used.
"""

from __future__ import annotations

import argparse
import asyncio
import csv
import itertools
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import numpy as np

from samecluster.instances import make_ellipsoids
from samecluster.workspace.open import open_session
from samecluster.workspace.request import Request

TOKEN = "0123456789abcdef0123"
PAUSE = 1.0
"""Seconds that a person looks at a question, on average: half to one and a half. Programs would
answer at once; a crowd that answers at the same instant, every second, is not what people do."""


@dataclass
class Load:
    """Seconds until each answer was acknowledged and each question came, and the server's memory in
    MiB, with times."""

    seconds: list[float] = field(default_factory=list)
    waits: list[float] = field(default_factory=list)
    memory: list[tuple[float, float]] = field(default_factory=list)
    acknowledged: list[tuple[str, str, str]] = field(default_factory=list)


def write_table(path: Path, n: int, k: int) -> dict[str, int]:
    made = make_ellipsoids(n=n, d=3, k=k, random_state=0)
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "a", "b", "c"])
        writer.writerows([f"s{row}", *x] for row, x in enumerate(made.X.tolist()))
    return {f"s{row}": int(label) for row, label in enumerate(made.labels)}


async def label(
    base: str, secrets: dict[str, str], truth: dict[str, int], most: float, pause: float = PAUSE
) -> Load:
    """People who ask and answer until the time is up."""
    load, end, luck = Load(), time.monotonic() + most, random.Random(0)

    async def one(name: str, secret: str) -> None:
        headers = {"Authorization": f"Bearer {secret}", "X-Samecluster": "1"}
        async with httpx.AsyncClient(base_url=base, headers=headers, timeout=None) as client:
            for number in itertools.count():
                if time.monotonic() >= end:
                    return
                start = time.perf_counter()
                asked = (await client.post("/api/v1/next", json={"count": 1})).json()
                load.waits.append(time.perf_counter() - start)
                assert not asked["ended"], "the session has run out of questions"
                for question in asked["questions"]:
                    await asyncio.sleep(pause * luck.uniform(0.5, 1.5))
                    load.seconds.append(await answer(client, name, question, number))
                if not asked["questions"]:
                    await asyncio.sleep(0.2)

    async def answer(client: httpx.AsyncClient, name: str, question: Any, number: int) -> float:
        same = truth[question["item"]["key"]] == truth[question["comparator"]["key"]]
        verdict = "same" if same else "different"
        body = {"question": question["id"], "verdict": verdict, "key": f"answer-{number:06d}"}
        start = time.perf_counter()
        reply = await client.post("/api/v1/answers", json=body)
        assert reply.status_code == 200, reply.text
        load.acknowledged.append((question["id"], verdict, name))
        return time.perf_counter() - start

    await asyncio.gather(*(one(name, secret) for name, secret in secrets.items()))
    return load


async def watched(process: subprocess.Popen[str], load: list[tuple[float, float]]) -> None:
    """The memory of the server, every second."""
    start = time.monotonic()
    while True:
        status = Path(f"/proc/{process.pid}/status").read_text().split("VmRSS:")[1]
        load.append((time.monotonic() - start, int(status.split()[0]) / 1024))
        await asyncio.sleep(1.0)


async def both(
    process: subprocess.Popen[str],
    base: str,
    secrets: dict[str, str],
    truth: dict[str, int],
    t: float,
) -> Load:
    memory: list[tuple[float, float]] = []
    watching = asyncio.create_task(watched(process, memory))
    load = await label(base, secrets, truth, t)
    watching.cancel()
    load.memory = memory
    return load


def main() -> None:
    given = argparse.ArgumentParser(description=__doc__)
    given.add_argument("--minutes", type=float, default=10.0)
    given.add_argument("--people", type=int, default=32)
    given.add_argument("--rows", type=int, default=20_000)
    given.add_argument("--groups", type=int, default=200)
    given.add_argument("--method", default="everything")
    options = given.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_STATE_HOME"] = folder
        table = Path(folder) / "rows.csv"
        truth = write_table(table, options.rows, options.groups)
        with open_session(Request(str(table), id_column="id")) as opened:
            opened.session.set_parameters(method=options.method)
        measure(table, truth, options.people, 60.0 * options.minutes)


def measure(table: Path, truth: dict[str, int], n_people: int, seconds: float) -> None:
    from samecluster.web.links import Participant, Participants, links_file

    command = [sys.executable, "-m", "samecluster", "serve", str(table), "--id", "id"]
    process = subprocess.Popen(
        [*command, "--token", TOKEN, "--no-browser", "--port", "0"],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    try:
        assert process.stdout is not None
        link = next(line for line in process.stdout if line.startswith("Open "))
        base = link.split()[1].partition("/join")[0]
        alone = asyncio.run(label(base, {"alone": TOKEN}, truth, min(60.0, seconds)))
        people = Participants(links_file(table.with_name(f"{table.name}.samecluster")))
        names = [f"person {number}" for number in range(n_people)]
        secrets = {name: people.invite(Participant(name, "annotator")) for name in names}
        load = asyncio.run(both(process, base, secrets, truth, seconds))
    finally:
        process.kill()
        process.communicate()
    tell(alone, load, n_people)


def tell(alone: Load, load: Load, n_people: int) -> None:
    median = statistics.median(alone.seconds)
    slow = float(np.percentile(load.seconds, 95))
    print(f"{len(load.seconds):,} answers of {n_people} people, {len(alone.seconds)} of one alone")
    print(f"95 % acknowledged within {slow / median:.1f} x the median of one person")
    for what, one in (("alone", alone), ("together", load)):
        acknowledged = _milliseconds(one.seconds)
        print(f"{what}: acknowledged after {acknowledged}, next after {_milliseconds(one.waits)}")
    end, last = load.memory[-1]
    begin, first = next(one for one in load.memory if one[0] >= min(60.0, end / 2))
    minutes = [f"{mib / first:.3f}" for at, mib in load.memory if int(at) % 60 == 0]
    print(f"memory / after the first minute, by minutes: {' '.join(minutes)}")
    each = 1024 * (last - first) / (len(load.seconds) * (1 - begin / end))
    print(f"memory at the end / after the first minute: {last / first:.3f}", end="")
    print(f", about {each:.1f} KiB per answer")


def _milliseconds(seconds: list[float]) -> str:
    half, most, all_ = 1000 * np.percentile(seconds, [50, 95, 100])
    return f"{half:.1f} ms (95 %: {most:.1f}, all: {all_:.1f})"


if __name__ == "__main__":
    main()
