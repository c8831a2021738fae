"""When the connection is lost: answers wait in the browser and arrive once."""

from tests.web.browser.labelling import answers_in, somebody
from tests.web.served import begin, in_thread, write_data

# Once an answer is safe, the page fetches questions ahead. A request that began before may have
# been answered without the question that is missing.
_FETCHED_AHEAD = """() => {
  const ended = (path) =>
    performance.getEntriesByType("resource").filter(({ name }) => name.endsWith(path));
  const [safe] = ended("/answers");
  return safe && ended("/looks/next").some(({ startTime }) => startTime >= safe.responseEnd);
}"""


def test_answers_wait_for_the_connection(tmp_path, chromium) -> None:
    """Also over a reload of the page, which finds them again and sends them."""
    data = write_data(tmp_path)
    begin(data, method="everything")
    with in_thread(data) as served, somebody(chromium, served.link, data) as ann:
        ann.next()
        ann.answer()
        ann.page.wait_for_function(_FETCHED_AHEAD)
        ann.page.route("**/api/v1/**", lambda route: route.abort())
        ann.answer()
        ann.answer()
        ann.page.get_by_text("2 answers waiting for the connection").wait_for()
        ann.page.get_by_role("heading", name="No connection").wait_for()
        ann.page.reload()
        ann.page.unroute("**/api/v1/**")
        ann.before = None
        ann.next()
        ann.wait_until_saved()
        assert ann.saved.endswith("Saved")
    check(data, ann.given)


def test_undo_needs_no_connection(tmp_path, chromium) -> None:
    """The second answer never left and is withdrawn; the first, which may have arrived before the
    connection broke, is asked again and replaced."""
    data = write_data(tmp_path)
    begin(data, method="everything")
    with in_thread(data) as served, somebody(chromium, served.link, data) as ann:
        ann.next()
        ann.page.route("**/api/v1/**", lambda route: route.abort())
        first, second = ann.answer("different"), ann.answer("different")
        for shown in (second, first):
            ann.page.get_by_text("waiting for the connection").wait_for()
            ann.page.keyboard.press("Backspace")
            ann.page.wait_for_function(
                "id => document.querySelector('.question')?.dataset.question === id",
                arg=shown["question"],
            )
            assert "You said: different" in ann.page.locator(".said").inner_text()
        ann.page.unroute("**/api/v1/**")
        ann.given, ann.before = [], None
        assert ann.answer("same")["question"] == first["question"]
        assert ann.answer("unsure")["question"] == second["question"]
        ann.wait_until_saved()
    check(data, ann.given)


def check(data, given) -> None:
    """The file holds exactly what was said, each once."""
    said = [one.verdict.value for one in answers_in(data)]
    assert sorted(said) == sorted(verdict for _, verdict in given)
