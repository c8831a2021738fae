"""A whole session at the keyboard, on handwritten digits with pictures."""

import os

from tests.web.browser.labelling import answers_in, somebody
from tests.web.browser.pictures import OPTIONS, write_digits
from tests.web.served import in_process

LONG = os.environ.get("SAMECLUSTER_TESTS") == "long"
N, KINDS = (1797, 10) if LONG else (60, 3)
UNDONE_AFTER = 10


def test_a_whole_session_at_the_keyboard(tmp_path, chromium) -> None:
    """From the link to the end: pictures are seen, one answer is wrong and taken back after the
    page was loaded again, and the file holds what was said and nothing else."""
    data = write_digits(tmp_path, N, KINDS)
    with (
        in_process(data, *OPTIONS, "--clusters", str(KINDS), "--who", "Ada") as (served, _),
        somebody(chromium, served.link, data) as ada,
    ):
        for _ in range(UNDONE_AFTER):
            ada.answer()
            both = ada.page.locator(".pictures img")
            assert both.count() == 2
            both.first.evaluate("image => image.decode()")
        wrong = ada.next()
        ada.answer("different" if ada.truth(wrong) == "same" else "same")
        ada.wait_until_saved()
        take_back_after_a_reload(ada, wrong)
        ended = ada.answer_all()
        assert ended == "Nothing is left to ask."
        check_the_end(ada)
    said = {one.items: one.verdict.value for one in answers_in(data)}
    assert len(said) == len({question for question, _ in ada.given})
    for (item, comparator), verdict in said.items():
        assert verdict == ada.truth({"item": item, "comparator": comparator})
    print(f"{len(said)} questions for {N} pictures")


def take_back_after_a_reload(ada, wrong) -> None:
    ada.page.reload()
    ada.before = None
    ada.next()
    ada.page.keyboard.press("Backspace")
    ada.page.wait_for_function(
        "id => document.querySelector('.question')?.dataset.question === id", arg=wrong["question"]
    )
    assert "You said" in ada.page.locator(".said").inner_text()
    ada.page.reload()
    again = ada.next()
    assert again["question"] == wrong["question"], (
        "undone questions come first, also after a reload"
    )
    assert "You said" in ada.page.locator(".said").inner_text()
    ada.given.pop()


def check_the_end(ada) -> None:
    """Why it ended, what is known, and what can be done, all in words; nothing waits."""
    ada.page.locator(".choice").first.wait_for()
    text = ada.page.locator("main").inner_text()
    for told in ("Every answer is saved", "What now?", "Asked", "Labels as CSV", "Report"):
        assert told in text
    assert ada.saved.endswith("Saved")
    with ada.page.expect_download() as download:
        ada.page.get_by_text("Labels as CSV").click()
    assert len(download.value.path().read_text().splitlines()) == N + 1
