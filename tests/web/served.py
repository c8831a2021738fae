"""Servers to test: data, a session, and the real thing in a thread or in a process of its own."""

import contextlib
import csv
import os
import re
import ssl
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from samecluster.instances import make_ellipsoids
from samecluster.web.links import Participant, Participants, links_file
from samecluster.web.server import Address, ServeOptions, Server
from samecluster.workspace.open import open_session
from samecluster.workspace.request import Request
from tests.sessions.test_slips import some_digits

TOKEN = "0123456789abcdef0123"
TLS = ssl.create_default_context()
"""Made once: each client would read all certificates again, which takes longer than a request."""


@dataclass
class Data:
    """A table, where it is, and the group of each id."""

    path: Path
    truth: dict[str, int]

    @property
    def session(self) -> Path:
        return self.path.with_name(self.path.name + ".samecluster")

    def verdict(self, question: dict[str, Any]) -> str:
        same = self.truth[question["item"]["key"]] == self.truth[question["comparator"]["key"]]
        return "same" if same else "different"

    def reply(self, look: dict[str, Any]) -> dict[str, Any]:
        """The true reply to a look about keys."""
        truth = self.truth
        if look["kind"] == "choice":
            here = truth[look["item"]]
            groups = [at for at, one in enumerate(look["groups"]) if truth[one[0]] == here]
            return {"groups": groups} if groups else {"none": True}
        if look["kind"] == "sheet":
            here = truth[look["reference"]]
            return {"marked": [key for key in look["items"] if truth[key] != here]}
        if look["kind"] == "checks":
            return {"marked": [one for one, two in look["cells"] if truth[one] != truth[two]]}
        sets: dict[int, list[str]] = {}
        for key in look["items"]:
            sets.setdefault(truth[key], []).append(key)
        return {"joined": [one for one in sets.values() if len(one) > 1]}


def write_data(folder: Path, n: int = 120, k: int = 3, name: str = "shells.csv") -> Data:
    made = make_ellipsoids(n=n, d=2, k=k, random_state=0)
    path = folder / name
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["shell", "length", "width", "note"])
        for row, (x, label) in enumerate(zip(made.X.tolist(), made.labels, strict=True)):
            writer.writerow([f"s{row}", *x, f"note {label} {row}"])
    return Data(path, {f"s{row}": int(label) for row, label in enumerate(made.labels)})


def write_some_digits(folder: Path) -> Data:
    """300 digits by their pixels, about which one slip is found."""
    X, labels = some_digits(0)
    data = Data(folder / "digits.csv", {f"s{row}": int(k) for row, k in enumerate(labels)})
    with data.path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["shell", *(f"p{j}" for j in range(64))])
        writer.writerows([f"s{row}", *x] for row, x in enumerate(X.tolist()))
    return data


def begin(data: Data, **parameters: Any) -> None:
    """A session beside the data, with these parameters."""
    with open_session(Request(str(data.path), id_column="shell")) as opened:
        if parameters:
            opened.session.set_parameters(**parameters)


@dataclass
class Person_:
    """Somebody with a link: requests as a program makes them."""

    client: httpx.Client
    last: int = 0
    keys: Iterator[str] = field(default_factory=lambda: iter(lambda: str(uuid.uuid4()), None))

    def get(self, path: str, **params: Any) -> Any:
        response = self.client.get(f"/api/v1/{path}", params=params)
        assert response.status_code == 200, response.text
        return response.json()

    def post(self, path: str, **body: Any) -> Any:
        response = self.client.post(f"/api/v1/{path}", json=body)
        assert response.status_code == 200, response.text
        self.last = max(self.last, response.json().get("sequence", 0))
        return response.json()

    def progress(self) -> Any:
        """Progress that has taken in all answers of this person."""
        while (progress := self.get("progress"))["sequence"] < self.last:
            time.sleep(0.01)
        return progress

    def next(self, count: int = 1) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.post("next", count=count)["questions"]
        return found

    def answer(self, question: dict[str, Any], verdict: str, key: str | None = None) -> Any:
        return self.post(
            "answers", question=question["id"], verdict=verdict, key=key or next(self.keys)
        )


@dataclass
class Served:
    """A server that runs."""

    link: str
    data: Data
    serving: Server | None = None
    clients: list[httpx.Client] = field(default_factory=list)

    @property
    def base(self) -> str:
        return self.link.partition("/join")[0]

    def client(self, secret: str | None = TOKEN, **headers: str) -> httpx.Client:
        known = {} if secret is None else {"Authorization": f"Bearer {secret}"}
        sent = {"X-Samecluster": "1", **known, **headers}
        client = httpx.Client(base_url=self.base, headers=sent, timeout=60, verify=TLS)
        self.clients.append(client)
        return client

    def close(self) -> None:
        for client in self.clients:
            client.close()

    def owner(self) -> Person_:
        return Person_(self.client())

    def invite(self, name: str, role: str = "annotator") -> Person_:
        secret = Participants(links_file(self.data.session)).invite(Participant(name, role))
        return Person_(self.client(secret))


@contextlib.contextmanager
def in_thread(
    data: Data, address: Address | None = None, *, show: tuple[str, ...] = (), **options: Any
) -> Iterator[Served]:
    """The server in a thread of this process, on a free port."""
    opened = open_session(Request(str(data.path), id_column="shell"))
    with opened:
        given = ServeOptions(show=show, **{"token": TOKEN, **options})
        serving = Server(opened, str(data.path), address or Address(port=0), given)
        thread = threading.Thread(target=serving.run)
        thread.start()
        try:
            with contextlib.closing(Served(serving.link, data, serving)) as served:
                yield served
        finally:
            serving.stop()
            thread.join()


@contextlib.contextmanager
def in_process(data: Data, *options: str) -> Iterator[tuple[Served, subprocess.Popen[str]]]:
    """The command in a process of its own, to be killed."""
    process = start_process(data, *options)
    try:
        with contextlib.closing(Served(link_of(process), data)) as served:
            yield served, process
    finally:
        kill(process)


def kill(process: "subprocess.Popen[str]") -> None:
    process.kill()
    process.wait()
    assert process.stdout is not None
    process.stdout.close()


def start_process(data: Data, *options: str) -> "subprocess.Popen[str]":
    """Asks pairs unless the options say otherwise."""
    command = [sys.executable, "-m", "samecluster", "serve", str(data.path), "--no-browser"]
    looks = () if "--looks" in options else ("--looks", "pairs")
    if "auto" in options:
        command[2] = "tests.web.glances_server"
    return subprocess.Popen(
        [*command, "--token", TOKEN, *looks, *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )


def link_of(process: "subprocess.Popen[str]") -> str:
    assert process.stdout is not None
    said = ""
    for line in process.stdout:
        said += line
        if found := re.search(r"Open (\S+)", line):
            return found[1]
    raise AssertionError(f"no link was printed: {said}")
