"""Somebody in front of the page: what they see, and how they answer."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from playwright.sync_api import Browser, Page

from samecluster.sessions.state.state import State
from samecluster.sessions.state.votes import Vote
from samecluster.sessions.storage.sqlite import SqliteStore
from tests.web.served import Data

KEYS = {"same": "s", "different": "d", "unsure": "u"}
LONGEST = 20_000
DESK = {"width": 1280, "height": 800}
PHONE = {"width": 390, "height": 844}

# A question that is not the one of before, or the end.
_NEXT = """before => {
  if (document.querySelector('.end')) return {ended: document.querySelector('h1').textContent};
  const shown = document.querySelector('.question:not(.passed)');
  if (!shown || !shown.dataset.question || shown.dataset.question === before) return null;
  return {...shown.dataset};
}"""

_WATCH = """
window.ran = [];
for (const name of ['alert', 'confirm', 'prompt', 'print']) {
  window[name] = (...told) => { window.ran.push([name, ...told.map(String)]); };
}
document.addEventListener('securitypolicyviolation', event => {
  window.ran.push(['violation', event.violatedDirective, event.blockedURI, event.sample]);
});
"""


@dataclass
class Somebody:
    """A person with a window of their own. ``errors`` are the page's own, which must be none."""

    page: Page
    data: Data
    errors: list[str] = field(default_factory=list)
    before: str | None = None
    given: list[tuple[str, str]] = field(default_factory=list)
    said_again: list[str] = field(default_factory=list)

    def next(self) -> dict[str, Any]:
        """The next question as the page shows it, or how it ended."""
        found: dict[str, Any] = self.page.wait_for_function(_NEXT, arg=self.before).json_value()
        return found

    def look(self) -> dict[str, Any] | None:
        """What `next` gives, if it is there already."""
        found: dict[str, Any] | None = self.page.evaluate(_NEXT, self.before)
        return found

    def answer(self, verdict: str | None = None) -> dict[str, Any]:
        """Press the key of the truth, or of another verdict."""
        shown = self.next()
        if "ended" not in shown:
            said = verdict or self.truth(shown)
            self.said_again += self.page.locator(".again").all_inner_texts()
            self.page.keyboard.press(KEYS[said])
            self.given.append((shown["question"], said))
            self.before = shown["question"]
        return shown

    def answer_all(self) -> str:
        """Until the page says why it ended."""
        while "ended" not in (shown := self.answer()):
            pass
        return str(shown["ended"])

    def truth(self, shown: dict[str, Any]) -> str:
        same = self.data.truth[shown["item"]] == self.data.truth[shown["comparator"]]
        return "same" if same else "different"

    def go(self, view: str) -> None:
        self.page.evaluate("view => { location.hash = '#/' + view; }", view)

    def wait_until_saved(self) -> None:
        self.page.wait_for_function(
            "() => !Object.keys(localStorage).some(name => name.startsWith('samecluster.unsent.'))"
        )

    @property
    def saved(self) -> str:
        return self.page.locator("#saved").inner_text()

    def ran(self) -> list[Any]:
        """Scripts that ran though no page of ours has them, and what the policy had to stop."""
        found: list[Any] = self.page.evaluate("window.ran")
        return found


def answers_in(data: Data) -> list[Vote]:
    """The answers that stand in the file of a session."""
    store = SqliteStore(data.session, read_only=True)
    try:
        state = State(store.read())
    finally:
        store.close()
    return [said for said in state.answers() if state.book.vote(said.pair, said.who) == said]


@contextlib.contextmanager
def somebody(browser: Browser, link: str, data: Data, **context: Any) -> Iterator[Somebody]:
    """Somebody who opens their link in a browser that knows nothing yet."""
    window = browser.new_context(**{"viewport": DESK, **context})
    window.add_init_script(_WATCH)
    window.set_default_timeout(LONGEST)
    page = window.new_page()
    person = Somebody(page, data)
    page.on("pageerror", lambda error: person.errors.append(str(error)))
    page.on("dialog", lambda dialog: person.errors.append(f"dialog {dialog.message}"))
    page.goto(link)
    try:
        yield person
        assert not person.errors
    finally:
        window.close()
