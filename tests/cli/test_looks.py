"""Looks in the terminal: choices by digits, sheets and boards by numbers in a line."""

import io
import json
from collections.abc import Iterator

import pytest

from samecluster.cli.terminal.conversation import Conversation
from samecluster.cli.terminal.look_display import reply_of
from samecluster.cli.terminal.prompt import VERDICTS
from samecluster.cli.terminal.screen import Screen
from samecluster.errors import InvalidInputError
from samecluster.sessions.question import SessionLook
from samecluster.workspace.open import open_session
from samecluster.workspace.request import Request
from samecluster.workspace.status import left_line, minutes_left, questions_left
from tests.cases.look_cases import GLANCES
from tests.web.served import Data, begin, write_data

SHEET = SessionLook("", None, {"kind": "sheet", "reference": "a", "items": ["b", "c", "d"]})  # type: ignore[arg-type]
CHECKS = SessionLook("", None, {"kind": "checks", "cells": [["b", "a"], ["c", "d"]]})  # type: ignore[arg-type]
BOARD = SessionLook("", None, {"kind": "board", "items": ["a", "b", "c", "d"]})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("look", "line", "reply"),
    [
        (SHEET, "", {"marked": []}),
        (SHEET, "1 3", {"marked": ["b", "d"]}),
        (SHEET, " 1,3 ", {"marked": ["b", "d"]}),
        (SHEET, "2 U3", {"marked": ["c"], "unsure": ["d"]}),
        (SHEET, "r 2", {"marked": ["c"], "odd_reference": True}),
        (CHECKS, "", {"marked": []}),
        (CHECKS, "2 u1", {"marked": ["c"], "unsure": ["b"]}),
        (BOARD, "", {"joined": []}),
        (BOARD, "1 3", {"joined": [["a", "c"]]}),
        (BOARD, "1 3; 2 4", {"joined": [["a", "c"], ["b", "d"]]}),
        (BOARD, "1 2 u4", {"joined": [["a", "b"]], "unsure": ["d"]}),
    ],
)
def test_a_line_is_a_reply(look, line, reply) -> None:
    assert reply_of(look, line) == reply


@pytest.mark.parametrize(
    ("look", "line"),
    [
        (SHEET, "4"),
        (SHEET, "0"),
        (SHEET, "u"),
        (SHEET, "1; 2"),
        (SHEET, "y"),
        (CHECKS, "3"),
        (CHECKS, "r"),
        (BOARD, "1"),
        (BOARD, "r"),
    ],
)
def test_other_lines_are_refused(look, line) -> None:
    with pytest.raises(InvalidInputError):
        reply_of(look, line)


def test_the_keys_of_terminal_and_page_agree() -> None:
    assert VERDICTS["y"] is VERDICTS["s"]
    assert VERDICTS["n"] is VERDICTS["d"]


def answers(data: Data, session, is_line: bool) -> str:
    """What somebody types who knows the truth."""
    (look,) = session.ask_looks()
    if not isinstance(look, SessionLook):
        same = data.truth[look.item] == data.truth[look.comparator]
        return "s" if same else "n"
    reply = data.reply(json.loads(look.id))
    if look.body["kind"] == "choice":
        assert not is_line
        return "0" if "none" in reply else str(reply["groups"][0] + 1)
    assert is_line
    items = look.body.get("items") or [cell[0] for cell in look.body["cells"]]
    number = {key: str(at) for at, key in enumerate(items, start=1)}
    sets = reply.get("joined", [reply.get("marked", [])])
    return "; ".join(" ".join(number[key] for key in one) for one in sets)


AUDITED = ("Which do not belong with the line above them?", "decoys overlooked")
ALL_KINDS = ("Which do not belong?", "Which are one?", "Which group?", "no number '99'")


@pytest.mark.parametrize(
    ("n", "parameters", "expected"),
    [
        (24, {"method": GLANCES}, ALL_KINDS),
        (240, {"margin": 1.0, "audit": [0.05, 0.9]}, AUDITED),
    ],
    ids=["all kinds", "audit"],
)
def test_a_whole_session_by_looks(tmp_path, n, parameters, expected) -> None:
    data = write_data(tmp_path, n=n, k=3)
    begin(data, looks="auto", **parameters)
    out = io.StringIO()
    with open_session(Request(str(data.path), id_column="shell")) as opened:
        session = opened.session
        firsts: Iterator[str] = iter(["99", "b"])

        def key() -> str | None:
            return answers(data, session, False) if session.ask_looks() else "q"

        def line() -> str | None:
            return next(firsts, None) or answers(data, session, True)

        screen = Screen(file=out, width=100)
        Conversation(opened, screen, ("length", "width"), None, key, line=line).hold()
        labels = session.snapshot().labels.tolist()
        truth = [data.truth[key] for key in opened.data.keys]
        assert len(set(zip(labels, truth, strict=True))) == 3
        assert session.state.seconds["sheet"].n_looks
    told = out.getvalue()
    assert all(words in told for words in expected)
    assert "There is no answer of yours to take back." in told


def test_minutes_go_by_the_seconds_that_were_measured_checks_apart(tmp_path) -> None:
    data = write_data(tmp_path, n=240, k=3)
    begin(data, margin=1.0, looks="auto", audit=[0.02, 0.95])
    with open_session(Request(str(data.path), id_column="shell")) as opened:
        session, n_answers, n_checks = opened.session, 0, 0
        while n_checks < 5:
            assert n_checks or minutes_left(session, questions_left(session)) is None
            (look,) = session.ask_looks()
            assert isinstance(look, SessionLook)
            is_check = look.body["kind"] == "checks"
            before = session.state.n_questions
            reply = data.reply(json.loads(look.id))
            session.tell_look(look.id, reply, seconds=15.0 if is_check else 100.0)
            n_checks += is_check
            n_answers += (session.state.n_questions - before) * is_check
        left = questions_left(session)
        assert left is not None
        pace = n_checks * 15.0 / n_answers / 60
        assert minutes_left(session, left) == (
            round(pace * left.low, 1),
            round(pace * left.high, 1),
        )
        assert f"about {max(1, round(pace * left.high))} minute" in left_line(session)
