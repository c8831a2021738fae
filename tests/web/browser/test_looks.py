"""Choices, sheets and boards in the browser: by keys and by touch, after reloads and lost
connections, without scrolling, and for everybody."""

import json
import os
from itertools import count
from time import monotonic
from typing import Any

import pytest

from samecluster import clustering_error
from samecluster.sessions.state.state import State
from samecluster.sessions.storage.sqlite import SqliteStore
from samecluster.workspace.open import open_session
from samecluster.workspace.request import Request
from tests.cases.look_cases import GLANCES
from tests.web.browser.labelling import DESK, PHONE, Somebody, somebody
from tests.web.browser.pictures import write_digits
from tests.web.browser.test_accessible import objections
from tests.web.served import (
    Data,
    begin,
    in_process,
    in_thread,
    write_data,
    write_some_digits,
)

LONG = os.environ.get("SAMECLUSTER_TESTS") == "long"
SHOTS = os.environ.get("SAMECLUSTER_SCREENSHOTS")  # a folder, to look at every tenth screen
N, N_KINDS = (1797, 10) if LONG else (60, 4)
# Of a few pictures every one is asked about, so that all kinds of looks are seen; of all of them
# what a new user is asked, nothing declared.
PIXELS: Any = {"id_column": "digit", "ignore": ["picture"], "reduce": None if LONG else 5}
ASKED: Any = {} if LONG else {"method": {"name": GLANCES, "sheet": 12}}
HALF = {"width": 830, "height": 680}  # of a screen, or a notebook
TOUCH = {"viewport": PHONE, "has_touch": True, "is_mobile": True}
PICTURES = ("--image-column", "picture", "--show", "digit", "--looks", "auto")


@pytest.fixture
def data(tmp_path) -> Data:
    data = write_data(tmp_path, n=24, k=3)
    begin(data, method={"name": GLANCES, "sheet": 7}, looks="auto")
    return data


@pytest.fixture
def served(data):
    with in_thread(data) as served:
        yield served


def events(data: Data) -> list[Any]:
    store = SqliteStore(data.session, read_only=True)
    found = list(store.read())
    store.close()
    return found


def last_reply(data: Data) -> Any:
    return next(one.body["reply"] for one in reversed(events(data)) if one.kind == "looked")


class Hands:
    """How somebody answers a look: by keys, or by fingers."""

    def __init__(self, person: Somebody, touches: bool) -> None:
        self.person, self.page, self.touches = person, person.page, touches

    def answer(self) -> dict[str, Any]:
        """Answer what is shown by the truth."""
        shown = self.person.next()
        if "ended" in shown:
            return shown
        self.person.before = shown["question"]
        if shown.get("kind", "pair") == "pair":
            self._press("s" if self.person.truth(shown) == "same" else "d", ".answers button")
        else:
            self._reply(json.loads(shown["question"]))
        return shown

    def _reply(self, look: dict[str, Any]) -> None:
        reply = self.person.data.reply(look)
        if look["kind"] == "choice":
            if "none" in reply:
                self._press("0", ".answers .none")
            else:
                self._at(reply["groups"][0], ".card-of-group")
            return
        sets = reply.get("joined", [reply.get("marked", [])])
        for number, one in enumerate(sets):
            if number:
                self._press("a", ".answers .another")
            items = look.get("items") or [cell[0] for cell in look["cells"]]
            for key in one:
                self._at(items.index(key), ".cell")
        self._press("Enter", ".answers .send")

    def _at(self, place: int, cells: str) -> None:
        cell = self.page.locator(f".question:not(.passed) {cells}").nth(place)
        if self.touches:
            cell.tap()
        elif place < 9:
            self.page.keyboard.press(f"{place + 1}")
        else:
            cell.focus()
            self.page.keyboard.press("Space")

    def _press(self, key: str, selector: str) -> None:
        if not self.touches:
            self.page.keyboard.press(key)
            return
        found = self.page.locator(f".question:not(.passed) {selector}")
        (found.first if key != "d" else found.nth(1)).tap()


@pytest.mark.parametrize("touches", [False, True], ids=["keys", "touch"])
def test_the_digits_by_looks_alone(tmp_path, chromium, touches) -> None:
    data = write_digits(tmp_path, N, N_KINDS)
    with open_session(Request(str(data.path), **PIXELS)) as opened:
        opened.session.set_parameters(looks="auto", **ASKED)
    context = TOUCH if touches else {"viewport": DESK}
    with (
        in_process(data, *PICTURES) as (served, _),
        somebody(chromium, served.link, data, **context) as ada,
    ):
        hands, kinds, numbers, begun = Hands(ada, touches), set(), count(1), monotonic()
        while "ended" not in (shown := hands.answer()):
            kinds.add(shown.get("kind", "pair"))
            if SHOTS and ada.before and (number := next(numbers)) % 10 == 0:
                name = f"{'touch' if touches else 'keys'}-{number}-{shown.get('kind')}.png"
                ada.page.screenshot(path=f"{SHOTS}/{name}")
        assert shown["ended"] == "Nothing is left to ask."
        ada.wait_until_saved()
        assert kinds >= {"sheet", "board", "choice"}
    state = State(events(data))
    said = [fact for fact in state.facts.values() if fact.verdict.value != "unsure"]
    assert said
    for fact in said:
        one, two = fact.items
        assert (fact.verdict.value == "same") == (data.truth[one] == data.truth[two])
    assert state.seconds["sheet"].seconds >= 0
    taken = f"{monotonic() - begun:.0f} seconds"
    print(f"{N} pictures: {state.n_looks} looks, {state.n_questions} pairs settled, {taken}")
    with open_session(Request(str(data.path), **PIXELS)) as opened:
        found = opened.session.snapshot().labels
        error = clustering_error(found, [data.truth[key] for key in opened.data.keys])
    print(f"{error:.2%} of the labels are wrong")
    assert error <= 0.01


def until(person: Somebody, kind: str) -> dict[str, Any]:
    hands, kinds = Hands(person, touches=False), []
    while (shown := person.next()).get("kind") != kind:
        kinds.append(shown.get("kind"))
        assert len(kinds) < 60, kinds
        hands.answer()
    return shown


@pytest.fixture
def audited(tmp_path):
    """A server whose session soon checks its labels."""
    data = write_data(tmp_path, n=240, k=3)
    begin(data, margin=1.0, looks="auto", audit=[0.05, 0.9])
    with in_thread(data) as served:
        yield served


@pytest.mark.parametrize("kinds", [("sheet", "board", "choice"), ("checks",)])
@pytest.mark.parametrize("size", [DESK, HALF, PHONE], ids=["desk", "half a screen", "phone"])
def test_looks_fit_the_window_and_axe_finds_nothing(request, chromium, size, kinds) -> None:
    found = []
    served = request.getfixturevalue("audited" if "checks" in kinds else "served")
    with somebody(chromium, served.link, served.data, viewport=size) as ada:
        for kind in kinds:
            until(ada, kind)
            if kind != "choice":
                ada.page.keyboard.press("1")
                ada.page.keyboard.press("ArrowRight")
                ada.page.keyboard.press("u")
            for scheme in ("light", "dark"):
                ada.page.emulate_media(color_scheme=scheme)
                found += objections(ada, f"{kind}, {scheme}")
            over = ada.page.evaluate(
                "() => [document.documentElement.scrollHeight - innerHeight,"
                " document.documentElement.scrollWidth - innerWidth]"
            )
            assert over == [0, 0], kind
            cut = ada.page.evaluate(
                "() => [...document.querySelectorAll('.bar button')].filter("
                "one => one.scrollWidth > one.clientWidth).map(one => one.textContent)"
            )
            assert not cut, kind
            ada.page.keyboard.press("l")
            ada.page.locator("dialog[open]").wait_for()
            found += objections(ada, f"{kind}, larger")
            ada.page.keyboard.press("Escape")
    assert not found, "\n".join(found)


def test_a_check_for_slips_comes_before_the_end_is_said(tmp_path, chromium) -> None:
    data = write_some_digits(tmp_path)
    begin(data, looks="auto")
    with in_thread(data) as served, somebody(chromium, served.link, data) as ada:
        ada.page.evaluate(
            """() => { window.ends = 0; new MutationObserver(() => {
              if (document.querySelector('.end')) window.ends += 1;
            }).observe(document.getElementById('view'), {childList: true}); }"""
        )
        hands, said = Hands(ada, touches=False), []
        while "ended" not in hands.answer():
            said += ada.page.locator(".again").all_inner_texts()
            assert not ada.page.evaluate("window.ends")
        assert "A check for slips." in said
        ada.page.wait_for_timeout(1000)
        assert ada.page.locator(".end").count() == 1


def test_arrows_and_space_mark_u_doubts_and_a_reload_keeps_it(served, chromium) -> None:
    with somebody(chromium, served.link, served.data) as ada:
        sheet = json.loads(until(ada, "sheet")["question"])
        for key in ("ArrowRight", "Space", "ArrowDown", "u", "r"):
            ada.page.keyboard.press(key)
        marked = ada.page.locator('.cell[data-mark="marked"]').get_attribute("data-key")
        unsure = ada.page.locator('.cell[data-mark="unsure"]').get_attribute("data-key")
        assert marked == sheet["items"][1]
        ada.page.reload()
        again = ada.next()
        assert json.loads(again["question"]) == sheet
        assert ada.page.locator('.cell[data-mark="marked"]').get_attribute("data-key") == marked
        assert ada.page.locator('.cell[data-mark="unsure"]').get_attribute("data-key") == unsure
        assert events(served.data)[-1].kind != "looked", "nothing is said before Enter"
        ada.page.keyboard.press("Enter")
        ada.before = again["question"]
        ada.next()
        ada.wait_until_saved()
        said = {"marked": [marked], "unsure": [unsure], "odd_reference": True}
        assert last_reply(served.data) == said
        ada.page.keyboard.press("Backspace")
        ada.page.wait_for_function(
            "id => document.querySelector('.question')?.dataset.question === id",
            arg=again["question"],
        )
        assert ada.page.locator('.cell[data-mark="marked"]').get_attribute("data-key") == marked


def test_checks_are_answered_undone_and_kept_over_a_reload_and_decoys_look_like_the_rest(
    audited, chromium
) -> None:
    with somebody(chromium, audited.link, audited.data) as ada:
        shown = until(ada, "checks")
        truth = audited.data.reply(json.loads(shown["question"]))["marked"]
        while not truth:  # none of its cells is wrong: it has no decoys
            Hands(ada, touches=False).answer()
            shown = until(ada, "checks")
            truth = audited.data.reply(json.loads(shown["question"]))["marked"]
        skeletons = ada.page.evaluate(
            """() => [...document.querySelectorAll('.cell')].map(cell =>
              [cell, ...cell.querySelectorAll('*')].filter(node => node.tagName !== 'KBD').map(
                node => [node.tagName, node.className, ...node.getAttributeNames()].join(' ')
              ).join().replace(' aria-keyshortcuts', '').replace('tabindex', ''))"""
        )
        assert len(set(skeletons)) == 1
        for key in ("ArrowRight", "Space", "ArrowDown", "u"):
            ada.page.keyboard.press(key)
        marked = ada.page.locator('.cell[data-mark="marked"]').get_attribute("data-key")
        ada.page.reload()
        assert ada.next()["question"] == shown["question"]
        assert ada.page.locator('.cell[data-mark="marked"]').get_attribute("data-key") == marked
        ada.page.locator('.cell[data-mark="marked"]').first.click()
        ada.page.locator('.cell[data-mark="unsure"]').evaluate("cell => cell.focus()")
        ada.page.keyboard.press("u")
        assert not ada.page.locator('.cell:not([data-mark=""])').count()
        Hands(ada, touches=False).answer()
        ada.next()
        ada.wait_until_saved()
        last = next(one for one in reversed(events(audited.data)) if one.kind == "looked")
        assert last.body["reply"]["marked"] == truth
        assert last.body["decoys"]
        ada.page.keyboard.press("Backspace")
        ada.page.wait_for_function(
            "id => document.querySelector('.question')?.dataset.question === id",
            arg=shown["question"],
        )
        again = ada.page.locator('.cell[data-mark="marked"]').evaluate_all(
            "cells => cells.map(cell => cell.dataset.key)"
        )
        assert sorted(again) == sorted(truth)
        ada.before = None
        while "ended" not in (shown := Hands(ada, touches=False).answer()):
            pass
    state = State(events(audited.data))
    assert state.seconds["checks"].n_looks > 4


def test_a_choice_of_several_groups_of_none_and_unsure(served, chromium) -> None:
    with somebody(chromium, served.link, served.data) as ada:
        first = until(ada, "choice")
        ada.page.keyboard.press("Shift+Digit2")
        assert ada.page.locator(".card-of-group").nth(1).get_attribute("aria-pressed") == "true"
        ada.page.keyboard.press("Shift+Digit2")
        ada.page.keyboard.press("u")
        ada.before = first["question"]
        ada.next()
        ada.wait_until_saved()
        assert last_reply(served.data) == {"unsure": True}
        ada.page.keyboard.press("Backspace")
        ada.page.wait_for_function(
            "id => document.querySelector('.question')?.dataset.question === id",
            arg=first["question"],
        )
        ada.before = None
        Hands(ada, touches=False).answer()
        ada.next()
        ada.wait_until_saved()
        truth = served.data.reply(json.loads(first["question"]))
        assert last_reply(served.data) == truth


def test_a_reply_without_a_connection_is_kept_over_a_reload_and_taken_once(
    served, chromium
) -> None:
    with somebody(chromium, served.link, served.data) as ada:
        ada.next()
        ada.page.route("**/api/v1/looks", lambda route: route.abort())
        Hands(ada, touches=False).answer()
        ada.page.get_by_text("1 answer waiting for the connection").wait_for()
        ada.page.reload()
        ada.page.get_by_text("1 answer waiting for the connection").wait_for()
        ada.page.unroute("**/api/v1/looks")
        ada.wait_until_saved()
    assert [one.kind for one in events(served.data)].count("looked") == 1
