"""Somebody slips in the terminal: the answer is named, shown, and taken back by one key."""

import csv
import io

from samecluster.cli.terminal.conversation import Conversation
from samecluster.cli.terminal.screen import Screen
from samecluster.workspace.open import open_session
from samecluster.workspace.request import Request
from tests.sessions.test_slips import some_digits


def test_a_slip_in_the_terminal_is_said_shown_and_taken_back_by_one_key(tmp_path) -> None:
    X, truth = some_digits(0)
    path = tmp_path / "digits.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([f"pixel {j}" for j in range(64)])
        writer.writerows(X.tolist())
    out, n = io.StringIO(), 0
    wrong: list[int] = []
    with open_session(Request(str(path), scale=False, seed=0)) as opened:
        session = opened.session

        def key() -> str | None:
            nonlocal n
            if session.trouble:
                return "1"
            (question,) = session.ask()
            n += 1
            one, two = (opened.table_row(row) for row in question.rows)
            same = truth[one] == truth[two]
            if n > 12 and same and not wrong:
                wrong.append(session.state.n_events + 1)
                same = False
            return "q" if n > 120 else "y" if same else "n"

        Conversation(opened, Screen(file=out, width=100), ("pixel 20",), None, key).hold()
        assert wrong[0] not in [vote.sequence for vote in session.state.answers()]
        assert not session.trouble
    told = " ".join(out.getvalue().split())
    assert f"answer {wrong[0]}: line " in told
    assert "different does not fit the other answers: look again." in told
    assert "The likeliest to be wrong is about these two:" in told
    assert f"1 take back answer {wrong[0]}: line " in told
