"""The widget's JavaScript in a real browser; what JupyterLab does for it is done by the test."""

import contextlib
import json

import pytest
from PIL import Image

import samecluster
from samecluster.notebook.one_document import widget_module
from tests.notebook.test_widget import shells
from tests.web.browser.test_accessible import AXE

# A model as anywidget gives it to a widget: messages go to the kernel, replies come back.
_HOST = """async module => {
  const widget = await import(URL.createObjectURL(new Blob([module], {type: 'text/javascript'})));
  let heard = null;
  const model = {
    send: async request => heard(JSON.parse(await window.toKernel(JSON.stringify(request)))),
    on: (_, callback) => { heard = callback; },
    off: () => {},
  };
  widget.default.render({model, el: document.body});
}"""


@pytest.fixture
def shown(chromium, tmp_path):
    frame, truth = shells()
    path = tmp_path / "s.samecluster"
    widget = samecluster.ask(frame, path, id_column="shell", looks="pairs")
    with in_browser(chromium, widget) as page:
        yield widget, page, page.frame_locator("iframe"), truth


@contextlib.contextmanager
def in_browser(chromium, widget):
    window = chromium.new_context(viewport={"width": 1100, "height": 760})
    page, errors = window.new_page(), []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.route("http://notebook/**", lambda route: route.fulfill(body="<!doctype html><body>"))
    page.goto("http://notebook/")
    page.expose_function("toKernel", lambda text: json.dumps(widget.reply(json.loads(text))))
    page.evaluate(_HOST, widget_module())
    yield page
    assert not errors
    window.close()
    widget.close()


def test_questions_are_answered_by_keys_and_labels_are_there(shown) -> None:
    widget, page, inside, truth = shown
    before = ""
    for _ in range(4):
        asked = inside.locator(f".question:not(.passed):not([data-question='{before}'])")
        asked.wait_for()
        before, one, two = (
            asked.get_attribute(f"data-{name}") for name in ("question", "item", "comparator")
        )
        inside.locator("h1").click()
        page.keyboard.press("s" if truth[one] == truth[two] else "d")
    inside.locator("#saved", has_text="Saved").wait_for()
    page.wait_for_timeout(300)
    assert widget.recovery.n_questions == 4
    assert set(widget.to_frame()["how"]) >= {"asked"}


def test_other_views_open_by_their_links_and_axe_finds_nothing(shown) -> None:
    _, page, inside, _ = shown
    inside.locator(".question").wait_for()
    frame = page.frames[1]
    for link, there in (("Progress", "canvas"), ("Clusters", "h1"), ("Label", ".question")):
        inside.get_by_role("link", name=link).click()
        inside.locator(there).first.wait_for()
        frame.evaluate(AXE)
        found = frame.evaluate("() => axe.run()")["violations"]
        assert not found, json.dumps(found, indent=1)[:2000]


def test_pictures_of_a_column_are_shown_without_a_server(chromium, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    frame, _ = shells(20)
    for row in range(20):
        Image.new("RGB", (12, 9), (12 * row, 100, 0)).save(f"{row}.png")
    frame["photo"] = [f"{row}.png" for row in range(20)]
    widget = samecluster.ask(frame, tmp_path / "s.samecluster", id_column="shell", looks="pairs")
    with in_browser(chromium, widget) as page:
        inside = page.frame_locator("iframe")
        inside.locator(".question img").first.wait_for()
        page.wait_for_timeout(300)
        widths = inside.locator(".question img").evaluate_all("all => all.map(i => i.naturalWidth)")
        assert widths[:2] == [12, 12]
