"""All cases of the corpus, each in a process of its own: ``python -m tests.hostile.campaign``.

Prints how many were accepted and refused, and every one that broke a promise.
"""

import importlib
import json
import os
import resource
import shutil
import signal
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from samecluster.errors import InvalidInputError
from samecluster.proof.checker import BadProof, check
from samecluster.proof.files import read_lines
from tests.cases.command_line import run
from tests.hostile.corpus import Case, Material, cases

CPU_SECONDS, GIB = 20, 2.0
WARM = (
    "cli.commands.verify",
    "cli.terminal.conversation",
    "web.server",
    "workspace.open",
    "reports.page",
)


def troubles_of(case: Case, folder: Path, material: Material) -> tuple[int, list[str]]:
    """The exit code of a case that is played here, and which promises it breaks."""
    try:
        done = run(*case.arguments, text="q\nq\nq\n")
    except BaseException:
        return 1, [f"traceback: {traceback.format_exc()[-600:]}"]
    found = [] if done.returncode in (0, 1, 2) else [f"exit code {done.returncode}"]
    told = done.stdout + done.stderr
    if {char for char in told if not char.isprintable()} - {"\n"}:
        found.append(f"control characters: {told[:200]!a}")
    if "Traceback" in told or (done.returncode and not told.strip()):
        found.append(f"no words: {told[-300:]}")
    if not done.returncode and (case.is_wrong or _proves_what_is_false(case, folder, material)):
        found.append(f"silently accepted: {told[-200:]}")
    return done.returncode, found


def _proves_what_is_false(case: Case, folder: Path, material: Material) -> bool:
    """Whether an accepted proof puts items together that are not, under answers that are right."""
    if case.group != "proofs":
        return False
    try:
        labels = check(
            np.load(folder / case.arguments[1]), read_lines(folder / case.arguments[2])
        ).labels
    except (BadProof, InvalidInputError):
        return False
    truth = np.load(material.folder / "truth.npy")
    return any(len(set(truth[labels == one])) > 1 for one in set(labels[labels >= 0].tolist()))


def played(case: Case, folder: Path, material: Material) -> dict[str, Any]:
    """A case in a child process: its exit code, troubles, CPU seconds and GiB."""
    _apart(lambda: case.make(folder))  # what making a large file takes is not counted
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS + 2, CPU_SECONDS + 4))
        signal.signal(signal.SIGXCPU, signal.SIG_DFL)
        try:
            os.chdir(folder)
            os.environ["XDG_STATE_HOME"] = str(folder / "state")
            os.write(writing, json.dumps(troubles_of(case, folder, material)).encode()[:60_000])
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        told = pipe.read()
    _, status, used = os.wait4(child, 0)
    cpu, gib = used.ru_utime + used.ru_stime, used.ru_maxrss / (1 << 20)
    code, found = json.loads(told) if told else (1, [f"ended by signal {os.WTERMSIG(status)}"])
    if cpu > CPU_SECONDS:
        found.append(f"{cpu:.0f} seconds of CPU")
    if gib > GIB:
        found.append(f"{gib:.1f} GiB of memory")
    return {
        "group": case.group,
        "name": case.name,
        "code": code,
        "troubles": found,
        "cpu": cpu,
        "gib": gib,
    }


def _apart(make: Callable[[], Any]) -> None:
    child = os.fork()
    if not child:
        code = 1
        try:
            make()
            code = 0
        finally:
            os._exit(code)
    assert os.waitpid(child, 0)[1] == 0, "the case could not be made"


def campaign(groups: list[str]) -> list[dict[str, Any]]:
    """Play all cases, or those of some groups."""
    for name in WARM:
        importlib.import_module(f"samecluster.{name}")
    played_cases = []
    with tempfile.TemporaryDirectory() as name:
        material = Material.made(Path(name))
        for number, case in enumerate(cases(material)):
            if not groups or case.group in groups:
                folder = Path(name, f"case {number}")
                folder.mkdir()
                played_cases.append(played(case, folder, material))
                shutil.rmtree(folder, ignore_errors=True)
    return played_cases


if __name__ == "__main__":
    results = campaign(sys.argv[1:])
    for one in results:
        if one["troubles"]:
            print(one["group"], one["name"], *one["troubles"], sep=" | ")
    print(Counter((one["group"], "accepted" if not one["code"] else "refused") for one in results))
    most = max(results, key=lambda one: one["cpu"]), max(results, key=lambda one: one["gib"])
    print(f"{len(results)} cases; most CPU {most[0]['cpu']:.1f} s ({most[0]['name']}), most memory "
          f"{most[1]['gib']:.2f} GiB ({most[1]['name']})")  # fmt: skip
    sys.exit(any(one["troubles"] for one in results))
