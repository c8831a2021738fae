"""axe-core finds nothing to object to in any view, light or dark, on a desk or a phone."""

import os
from importlib.resources import files
from typing import Any, Literal

import pytest

from tests.web.browser.labelling import DESK, PHONE, somebody
from tests.web.browser.pictures import OPTIONS, write_digits
from tests.web.served import in_process, in_thread, write_data

# The package carries axe-core; nothing else of it is used.
AXE = files("axe_playwright_python").joinpath("axe.min.js").read_text()
LONG = os.environ.get("SAMECLUSTER_TESTS") == "long"
DEVICES: dict[str, dict[str, Any]] = {
    "desk, light": {"viewport": DESK, "color_scheme": "light"},
    "phone, dark": {"viewport": PHONE, "color_scheme": "dark", "has_touch": True},
}
if LONG:
    DEVICES |= {
        "desk, dark": {"viewport": DESK, "color_scheme": "dark"},
        "phone, light": {"viewport": PHONE, "color_scheme": "light", "has_touch": True},
    }


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """A session with some answers, three of which cannot all be right."""
    data = write_data(tmp_path_factory.mktemp("accessible"), n=60)
    a, b, c = [item for item, label in data.truth.items() if label == 0][:3]
    with in_thread(data, who="Ada") as running:
        owner = running.owner()
        with owner.client:
            for pair in ((a, b), (b, c)):
                owner.answer({"id": ":".join(pair)}, "same")
            owner.answer({"id": f"{a}:{c}"}, "different")
            for _ in range(12):
                for question in owner.next():
                    owner.answer(question, data.verdict(question))
        yield running


def objections(person, where: str) -> list[str]:
    person.page.evaluate(AXE)
    found = person.page.evaluate("() => axe.run()")["violations"]
    return [
        f"{where}: {one['id']} at {node['target']}: {node['failureSummary']}"
        for one in found
        for node in one["nodes"]
    ]


def walk(person):
    """Every view and dialog of a session in work, by name, once it is there to be looked at."""
    page = person.page
    person.next()
    yield "question"
    page.keyboard.press("?")
    yield "help"
    page.keyboard.press("Escape")
    page.keyboard.press("f")
    yield "flag"
    page.keyboard.press("Escape")
    person.go("progress")
    page.locator(".legend li").first.wait_for()
    yield "progress"
    person.go("clusters")
    page.locator(".group").nth(1).wait_for()
    page.get_by_role("button", name="Name").first.click()
    yield "clusters"
    for number in (0, 1):
        page.locator(".groups .merge").nth(number).click()
    page.get_by_role("button", name="Ask me").wait_for()
    yield "merge"
    page.keyboard.press("Escape")
    page.locator(".groups").get_by_role("link", name="Cluster").first.click()
    page.locator(".group-sheet .cell").first.click()
    page.get_by_role("button", name="Why is").first.click()
    page.locator(".why p").first.wait_for()
    yield "cluster"
    page.get_by_role("button", name="is in the wrong cluster").first.click()
    page.get_by_role("button", name="Ask me").wait_for()
    yield "doubt"
    page.keyboard.press("Escape")
    person.go("trouble")
    page.locator(".trouble article").first.wait_for()
    yield "trouble"
    page.get_by_role("button", name="See what it does").first.click()
    page.locator("dialog button.main:enabled").wait_for()
    yield "remedy"
    page.keyboard.press("Escape")
    person.go("people")
    page.locator(".list").wait_for()
    yield "people"
    page.route("**/api/v1/**", lambda route: route.abort())
    page.reload()
    page.get_by_role("heading", name="No connection").wait_for()
    yield "no connection"


@pytest.mark.parametrize("device", DEVICES)
def test_views_of_a_session_in_work(device, served, chromium) -> None:
    found = []
    with somebody(chromium, served.link, served.data, **DEVICES[device]) as ada:
        for view in walk(ada):
            found += objections(ada, view)
    assert not found, "\n".join(found)


SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")


def test_pictures_and_the_end(tmp_path, chromium) -> None:
    data = write_digits(tmp_path, 12, 2)
    found = []
    with (
        in_process(data, *OPTIONS, "--max-questions", "2") as (served, _),
        somebody(chromium, served.link, data) as ada,
    ):
        ada.next()
        found += objections(ada, "pictures")
        for _ in range(2):
            ada.answer()
        for scheme in SCHEMES:
            ada.page.emulate_media(color_scheme=scheme)
            ada.go("clusters")
            ada.page.locator(".group").first.wait_for()
            found += objections(ada, f"board, {scheme}")
        ada.go("")
        ada.before = None
        assert "budget" in ada.answer_all()
        ada.page.locator(".choice").first.wait_for()
        for scheme in SCHEMES:
            ada.page.emulate_media(color_scheme=scheme)
            found += objections(ada, f"end, {scheme}")
    assert not found, "\n".join(found)


def test_somebody_without_a_link(served, chromium) -> None:
    with somebody(chromium, served.base, served.data) as stranger:
        stranger.page.get_by_role("heading", name="Open your link again").wait_for()
        assert not objections(stranger, "no link")
