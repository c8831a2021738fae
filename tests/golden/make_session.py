"""Makes the golden session of this format: `python -m tests.golden.make_session`, once a format.

A file that was released is never made again; later releases must read it.
"""

import json
from pathlib import Path

from samecluster.instances import make_ellipsoids
from samecluster.sessions.session import Session
from samecluster.sessions.storage.sqlite import SqliteStore
from tests.cases.look_cases import tell
from tests.cases.session_cases import FAST, Clock

FOLDER = Path(__file__).parent
N = 40


def main() -> None:
    made = make_ellipsoids(N, 2, 3, random_state=11)
    rows = [[round(float(value), 6) for value in row] for row in made.X]
    keys = [f"specimen {row:02d}" for row in range(N)]
    clock = Clock()
    path = FOLDER / "session-3.samecluster"
    path.unlink(missing_ok=True)
    with Session.create(
        SqliteStore(path, create=True),
        keys,
        rows,
        preparation={"columns": ["length", "width"], "scaling": "standard"},
        parameters={"margin": made.margin, "method": FAST, "max_questions": 500, "looks": "auto"},
        who="ann",
        clock=clock,
        seed=1,
    ) as session:
        rows[0][0] += 0.001
        happen(session, clock, made.labels.tolist(), keys, rows)
        expected = {
            "keys": keys,
            "X": rows,
            "truth": made.labels.tolist(),
            "events": [
                [event.sequence, event.kind, event.at, event.who, dict(event.body)]
                for event in session.events()
            ],
            "facts": [[*fact.items, fact.verdict.value] for fact in session.state.facts.values()],
            "n_questions": session.state.n_questions,
            "numbers": session.state.numbers,
            "names": session.names(),
        }
    (FOLDER / "session-3.json").write_text(json.dumps(expected, indent=1) + "\n")


def happen(
    session: Session, clock: Clock, truth: list[int], keys: list[str], rows: list[list[float]]
) -> None:
    """Something of every kind."""

    def answer(count: int, who: str) -> None:
        for _ in range(count):
            clock.move(3)
            (question,) = session.ask(who)
            i, j = question.rows
            session.tell(question.id, "same" if truth[i] == truth[j] else "different", who)

    def look(count: int, who: str) -> None:
        for _ in range(count):
            clock.move(9)
            (shown,) = session.ask_looks(who)
            tell(session, shown, truth, who)

    look(3, "ann")
    session.undo("ann")
    look(2, "ann")
    answer(2, "ann")
    answer(2, "model m")
    session.let_people_check("ann")
    answer(1, "ben")
    session.let_models_answer("ann")
    session.tell(session.ask("ben")[0].id, "unsure", "ben")
    session.flag(session.ask("ben")[0].id, "blurred", "ben")
    known = [["specimen 30", "specimen 31"], ["specimen 32", "specimen 33"]]
    pairs = [
        (a, b, "same" if truth[int(a[-2:])] == truth[int(b[-2:])] else "different")
        for a, b in known
    ]
    session.import_answers(pairs, "labels of last year.csv", who="ann")
    session.set_parameters(margin=0.5, who="ann")
    session.name(0, "striped", "ann")
    answer(3, "ben")
    session.retract(3, who="ann")
    look(1, "ben")
    answer(2, "ann")
    session.update(keys, rows, who="ben")
    session.confirm(keys[:3], who="ben")
    session.let_people_check("ben")
    session.set_parameters(audit=(0.1, 0.8), who="ann")
    while not session.state.audited:
        answer(1, "ann")
    session.finish("ann")


if __name__ == "__main__":
    main()
