"""A program that labels, to be killed: it answers by the truth and notes what was acknowledged."""

import os
from pathlib import Path

from samecluster.sessions.session import Session
from samecluster.sessions.storage.sqlite import SqliteStore
from tests.cases.session_cases import FAST, instance, keys_of

N = 80


def label(path: Path, seed: int) -> None:
    """Go on with the session until it is done. Each line of the acknowledged file is one answer."""
    made = instance(N, 3, seed)
    acknowledged = os.open(path.with_suffix(".acknowledged"), os.O_APPEND | os.O_CREAT | os.O_RDWR)
    store = SqliteStore(path, create=True)
    if next(iter(store.read()), None) is None:
        parameters = {"margin": made.margin, "method": FAST}
        session = Session.create(store, keys_of(N), made.X, parameters=parameters, seed=seed)
    else:
        session = Session.open(store, keys_of(N), made.X)
    send_last_again(session, path)
    while questions := session.ask():
        i, j = questions[0].rows
        verdict = "same" if made.labels[i] == made.labels[j] else "different"
        session.tell(questions[0].id, verdict)
        os.write(acknowledged, f"{questions[0].id} {verdict}\n".encode())
    session.close()


def send_last_again(session: Session, path: Path) -> None:
    """As a page does that has not heard whether its answer arrived."""
    lines = acknowledged(path)
    if lines:
        session.tell(*lines[-1])


def acknowledged(path: Path) -> list[tuple[str, str]]:
    file = path.with_suffix(".acknowledged")
    lines = file.read_text().splitlines() if file.exists() else []
    return [(line.split()[0], line.split()[1]) for line in lines]
