"""Looks by the page's API: what is shown, taken and refused, and what older requests still get."""

import json
from typing import Any

import pytest

from tests.cases.look_cases import GLANCES
from tests.web.served import Person_, Served, begin, in_thread, write_data


@pytest.fixture
def served(tmp_path):
    data = write_data(tmp_path, n=24, k=3)
    begin(data, method=GLANCES, looks="auto")
    with in_thread(data) as served:
        yield served


def next_look(person: Person_) -> dict[str, Any]:
    (look,) = person.post("looks/next", count=1)["looks"]
    found: dict[str, Any] = look
    return found


def reply(served: Served, person: Person_, look: dict[str, Any]) -> Any:
    if look["kind"] == "pair":
        return person.answer(look["question"], served.data.verdict(look["question"]))
    true = served.data.reply(json.loads(look["id"]))
    return person.post("looks", look=look["id"], reply=true, key=next(person.keys), seconds=2.5)


def look_of(served: Served, person: Person_, kind: str) -> dict[str, Any]:
    while (look := next_look(person))["kind"] != kind:
        reply(served, person, look)
    return look


def test_a_session_by_looks_from_the_first_to_the_end(served) -> None:
    owner, kinds = served.owner(), set()
    while (asked := owner.post("looks/next", count=2))["looks"]:
        for look in asked["looks"][:1]:
            kinds.add(look["kind"])
            reply(served, owner, look)
    assert asked["ended"] == "nothing is left to ask"
    assert {"sheet", "board", "choice"} <= kinds
    progress = owner.progress()
    assert progress["n_looks"] < progress["n_questions"]
    assert progress["by_how"]["unassigned"] == 0
    people = owner.get("people")
    assert people["invite"].endswith(" NAME")
    assert str(served.data.session) in people["invite"]
    (person,) = people["people"]
    assert person["n_looks"] == progress["n_looks"]


def test_what_is_on_the_screen(served) -> None:
    owner = served.owner()
    sheet = look_of(served, owner, "sheet")
    told = json.loads(sheet["id"])
    assert sheet["item"]["key"] == told["reference"]
    assert [item["key"] for item in sheet["items"]] == told["items"]
    assert set(sheet["differs"]) <= {"length", "width", "note"}
    choice = look_of(served, owner, "choice")
    told = json.loads(choice["id"])
    assert choice["item"]["key"] == told["item"]
    shown = [[item["key"] for item in group["members"]] for group in choice["groups"]]
    assert shown == told["groups"]
    assert owner.post("heartbeat", questions=[choice["id"]])["held"] == [choice["id"]]


@pytest.mark.parametrize(
    ("kind", "wrong"),
    [
        ("choice", {"groups": [17]}),
        ("choice", {"groups": [0], "none": True}),
        ("choice", {"groups": []}),
        ("choice", {"marked": []}),
        ("sheet", {"marked": ["stranger"]}),
        ("sheet", {}),
        ("sheet", {"none": True}),
        ("board", {"joined": [["s0", "stranger"]]}),
        ("board", {"joined": [["s0", "s5"], ["s5", "s10"]]}),
    ],
)
def test_a_reply_that_does_not_fit_is_a_conflict_in_a_line(served, kind, wrong) -> None:
    owner = served.owner()
    look = look_of(served, owner, kind)
    before = served.data.session.read_bytes()
    body = {"look": look["id"], "reply": wrong, "key": next(owner.keys)}
    response = owner.client.post("/api/v1/looks", json=body)
    assert response.status_code == 409, response.text
    assert "\n" not in response.json()["error"]
    assert next_look(owner)["id"] == look["id"]
    assert served.data.session.read_bytes() == before


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"look": "s0:s1", "reply": {"none": True}}, 422),
        ({"look": '{"kind":"board","items":["s0","stranger"]}', "reply": {"joined": []}}, 422),
        ({"look": '{"kind":"board","items":["s0","s1","s2"]}', "reply": {"sets": []}}, 400),
        ({"look": '{"kind":"board","items":["s0","s1","s2"]}', "reply": {"joined": "all"}}, 400),
        ({"look": '{"kind":"board","items":["s0","s1","s2"]}'}, 400),
        ({"look": '{"kind":"checks","cells":[["s0"],["s1","s2"]]}', "reply": {"marked": []}}, 422),
        ({"look": '{"kind":"checks","cells":[]}', "reply": {"marked": []}}, 422),
        (
            {
                "look": '{"kind":"checks","cells":[["s0","s1"]],"decoys":["s0"]}',
                "reply": {"marked": []},
            },
            422,
        ),
    ],
)
def test_what_is_no_look_or_reply_is_refused(served, body, status) -> None:
    owner = served.owner()
    response = owner.client.post("/api/v1/looks", json={"key": next(owner.keys), **body})
    assert response.status_code == status, response.text


def test_a_look_that_is_settled_and_a_join_of_what_is_separate(served) -> None:
    owner, ann = served.owner(), served.invite("ann")
    board = look_of(served, owner, "board")
    reply(served, owner, board)
    late = {"look": board["id"], "reply": served.data.reply(json.loads(board["id"]))}
    for sent in (late, {**late, "reply": {"joined": [json.loads(board["id"])["items"]]}}):
        response = ann.client.post("/api/v1/looks", json={**sent, "key": next(ann.keys)})
        assert response.status_code == 409
        assert "no longer open" in response.json()["error"]
    truth = served.data.truth
    one, two = next((a, b) for a in truth for b in truth if truth[a] != truth[b])
    known = owner.post("answers", question=f"{one}:{two}", verdict="different", key="answer-01")
    third = next(key for key in truth if key not in (one, two))
    made = json.dumps({"kind": "board", "items": [one, two, third]})
    body = {"look": made, "reply": {"joined": [[one, two]]}, "key": "answer-02"}
    assert owner.client.post("/api/v1/looks", json=body).status_code == 409
    assert known["sequence"]


def test_the_checks_of_an_audit_and_their_decoys(tmp_path) -> None:
    data = write_data(tmp_path, n=240, k=3)
    begin(data, margin=1.0, looks="auto", audit=[0.05, 0.9])
    with in_thread(data) as served:
        owner, n_wrong = served.owner(), 0
        for _ in range(3):
            checks = look_of(served, owner, "checks")
            told = json.loads(checks["id"])
            assert told == {"kind": "checks", "cells": told["cells"]}
            shown = zip(checks["items"], checks["references"], strict=True)
            assert [[item["key"], beside["key"]] for item, beside in shown] == told["cells"]
            assert all(item.keys() == checks["items"][0].keys() for item in checks["items"])
            n_wrong += len(served.data.reply(told)["marked"])
            reply(served, owner, checks)
        assert n_wrong, "decoys were among them, and look like the rest"
        undone = owner.post("looks/undo")["look"]
        assert (undone["id"], undone["kind"]) == (checks["id"], "checks")
        assert undone["before"] == served.data.reply(told)
        body = {"look": undone["id"], "reply": {"marked": ["s0", "stranger"]}, "key": "answer-01"}
        assert owner.client.post("/api/v1/looks", json=body).status_code == 409
        while owner.post("looks/next", count=1)["looks"]:
            reply(served, owner, next_look(owner))
        assert "0 of" in owner.progress()["audit"]["text"]
        assert owner.progress()["audit"]["met"]
        assert owner.progress()["n_trouble"] == 0


def test_undo_takes_the_look_back_and_older_requests_go_on_working(served) -> None:
    owner = served.owner()
    sheet = look_of(served, owner, "sheet")
    said = served.data.reply(json.loads(sheet["id"]))
    first = owner.post("looks", look=sheet["id"], reply=said, key="answer-01")
    again = owner.post("looks", look=sheet["id"], reply=said, key="answer-01")
    assert first["sequence"] == again["sequence"], "the same key is taken once"
    undone = owner.post("looks/undo")["look"]
    assert (undone["id"], undone["before"]) == (sheet["id"], said)
    assert next_look(owner)["id"] == sheet["id"]
    reply(served, owner, sheet)
    question = owner.post("undo")["question"]
    assert question["comparator"]["key"] == sheet["item"]["key"]
    (pair,) = owner.next()
    owner.answer(pair, served.data.verdict(pair))
    assert owner.post("undo")["question"]["id"] == pair["id"]
