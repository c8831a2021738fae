"""Answering: keys, buttons and touch do what they say, once."""

import pytest

from tests.web.browser.labelling import DESK, PHONE, answers_in, somebody
from tests.web.served import begin, in_thread, write_data


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """A session that does not end soon."""
    data = write_data(tmp_path_factory.mktemp("keys"), n=120)
    begin(data, method="everything")
    with in_thread(data) as running:
        yield running


@pytest.fixture
def ann(chromium, served):
    with somebody(chromium, served.link, served.data) as person:
        yield person


def settled(ann, served) -> int:
    """How many answers stand, once the page has sent all it has."""
    ann.wait_until_saved()
    return len(answers_in(served.data))


def test_a_held_key_answers_once(ann, served) -> None:
    before = settled(ann, served)
    ann.next()
    for _ in range(4):  # without a release in between, the browser calls these repeats
        ann.page.keyboard.down("s")
    ann.page.keyboard.up("s")
    assert settled(ann, served) == before + 1


def test_keys_with_modifiers_do_nothing(ann, served) -> None:
    before = settled(ann, served)
    ann.next()
    for held in ("Control", "Alt", "Meta"):
        ann.page.keyboard.press(f"{held}+d")
    assert settled(ann, served) == before


def test_keys_are_off_while_somebody_writes_a_note(ann, served) -> None:
    before = settled(ann, served)
    shown = ann.next()
    ann.page.keyboard.press("f")
    ann.page.get_by_label("What is wrong with it?").press_sequentially("sdu? blurred")
    assert ann.page.locator(".question").get_attribute("data-question") == shown["question"]
    assert settled(ann, served) == before
    ann.page.get_by_role("button", name="Flag and go on").click()
    ann.before = shown["question"]
    assert ann.next()["question"] != shown["question"]
    ann.wait_until_saved()
    assert "sdu? blurred" in [said.note for said in answers_in(served.data)]


def test_escape_leaves_the_question_as_it_was(ann) -> None:
    shown = ann.next()
    ann.page.keyboard.press("f")
    ann.page.get_by_label("What is wrong with it?").fill("never mind")
    ann.page.keyboard.press("Escape")
    assert ann.next()["question"] == shown["question"]


def test_another_key_is_kept_and_none_means_two_things(ann) -> None:
    ann.next()
    ann.page.keyboard.press("?")
    ann.page.get_by_role("button", name="Change the key for Same").click()
    ann.page.keyboard.press("d")
    ann.page.keyboard.press("Escape")
    ann.page.reload()
    shown = ann.next()
    assert ann.page.locator(".answers .same kbd").inner_text() == "D"
    assert ann.page.locator(".answers .different kbd").inner_text() == "S"
    ann.page.keyboard.press("d")
    ann.before = shown["question"]
    ann.next()
    assert "same" in ann.page.locator(".said").inner_text()


def test_single_keys_can_be_turned_off(ann) -> None:
    ann.next()
    ann.page.get_by_role("button", name="Help").click()
    ann.page.get_by_label("Answer with single keys").uncheck()
    ann.page.keyboard.press("Escape")
    shown = ann.next()
    ann.page.keyboard.press("s")
    assert ann.next()["question"] == shown["question"]
    ann.page.locator(".answers .same").click()
    ann.before = shown["question"]
    assert ann.next()["question"] != shown["question"]


def test_undo_brings_back_what_was_said(ann, served) -> None:
    before = settled(ann, served)
    first = ann.answer("unsure")
    ann.next()
    ann.page.keyboard.press("Backspace")
    ann.before = None
    ann.page.wait_for_function(
        "id => document.querySelector('.question').dataset.question === id", arg=first["question"]
    )
    assert "unsure" in ann.page.locator(".said").inner_text()
    assert settled(ann, served) == before


def test_touch_answers(chromium, served) -> None:
    with somebody(
        chromium, served.link, served.data, viewport=PHONE, has_touch=True, is_mobile=True
    ) as ann:
        shown = ann.next()
        ann.page.locator(".answers .different").tap()
        ann.before = shown["question"]
        assert ann.next()["question"] != shown["question"]


@pytest.mark.parametrize("size", [DESK, PHONE], ids=["desk", "phone"])
def test_a_question_fits_the_screen(size, chromium, served) -> None:
    with somebody(chromium, served.link, served.data, viewport=size) as ann:
        ann.next()
        page = ann.page
        beyond = page.evaluate(
            "() => [document.documentElement.scrollWidth, document.documentElement.scrollHeight]"
        )
        assert beyond == [size["width"], size["height"]]
        box = page.locator(".answers .unsure").bounding_box()
        assert box is not None
        assert box["x"] + box["width"] <= size["width"]
        assert box["y"] + box["height"] <= size["height"]


def test_a_new_question_is_spoken(ann) -> None:
    shown = ann.next()
    spoken = ann.page.locator("#spoken").inner_text()
    assert shown["item"] in spoken
    assert shown["comparator"] in spoken
