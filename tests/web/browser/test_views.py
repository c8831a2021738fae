"""What can be done besides answering: names, reasons, doubt, merging, remedies and the end."""

import re

import pytest

from samecluster.instances import make_ellipsoids
from samecluster.workspace.open import open_session
from samecluster.workspace.request import Request
from tests.cases.large_session_cases import small_sample, write_parquet
from tests.web.browser.labelling import answers_in, somebody
from tests.web.served import Data, begin, in_thread, write_data, write_some_digits

__all__ = ["small_sample"]


@pytest.fixture
def data(tmp_path):
    return write_data(tmp_path, n=60)


@pytest.fixture
def served(data):
    with in_thread(data, who="Ada") as running:
        yield running


@pytest.fixture
def ada(chromium, served, data):
    """The owner, after some answers."""
    with somebody(chromium, served.link, data) as person:
        for _ in range(8):
            person.answer()
        person.next()
        person.wait_until_saved()
        yield person


def test_a_cluster_gets_a_name_that_is_seen_everywhere(ada) -> None:
    ada.go("clusters")
    ada.page.get_by_role("button", name="Name Cluster 0").click()
    ada.page.get_by_label("New name of Cluster 0").fill("cowries")
    ada.page.keyboard.press("Enter")
    ada.page.get_by_role("link", name="cowries (cluster 0)").click()
    ada.page.get_by_role("heading", name="cowries (cluster 0)").wait_for()
    ada.go("progress")
    ada.page.get_by_role("link", name="cowries (cluster 0)").wait_for()


def test_a_member_says_why_it_is_there(ada) -> None:
    ada.go("cluster/0")
    ada.page.get_by_role("button", name=re.compile("^Why is")).first.click()
    assert len(ada.page.locator(".why p").first.inner_text()) > 20


def test_doubt_asks_and_says_what_answers_would_do(ada, data) -> None:
    """Nothing changes before the question that decides it is answered."""
    before = len(answers_in(data))
    ada.go("cluster/0")
    ada.page.locator("select").select_option("predicted")
    ada.page.locator(".member", has_text="Asked").wait_for(state="detached")
    ada.page.get_by_role("button", name=re.compile("is in the wrong cluster")).first.click()
    ada.page.get_by_role("button", name="Ask me").click()
    ada.page.get_by_text(re.compile("^If same: ")).wait_for()
    ada.page.get_by_text(re.compile("^If different: ")).wait_for()
    assert len(answers_in(data)) == before
    ada.before = None
    shown = ada.answer()
    ada.wait_until_saved()
    assert len(answers_in(data)) == before + 1
    assert shown["item"] in answers_in(data)[-1].items


def merge_by_button(page) -> None:
    for number in (0, 1):
        page.get_by_role("button", name=f"Merge Cluster {number}").click()


def merge_by_key(page) -> None:
    for number in (0, 1):
        page.get_by_role("link", name=f"Cluster {number}").focus()
        page.keyboard.press("m")


def merge_by_dragging(page) -> None:
    one, two = (page.locator(f".group[data-number='{number}']") for number in (0, 1))
    one.drag_to(two)


@pytest.mark.parametrize("merge", [merge_by_button, merge_by_key, merge_by_dragging])
def test_two_clusters_are_merged_by_a_question(ada, data, merge) -> None:
    ada.go("clusters")
    ada.page.locator(".group").nth(1).wait_for()
    merge(ada.page)
    ada.page.get_by_role("heading", name="Merge Cluster 0 and Cluster 1?").wait_for()
    ada.page.get_by_role("button", name="Ask me").click()
    ada.page.get_by_text(re.compile("^If same: ")).wait_for()
    ada.before = None
    shown = ada.next()
    assert data.truth[shown["item"]] != data.truth[shown["comparator"]]


def test_the_board_has_the_largest_groups_first_and_counts_what_is_certain(ada, served) -> None:
    ada.go("clusters")
    ada.page.locator(".group").first.wait_for()
    shown = ada.page.locator(".group-head p").all_inner_texts()
    sizes = [int(one.split()[0]) for one in shown]
    assert sizes == sorted(sizes, reverse=True)
    for group, line in zip(served.owner().get("board")["groups"], shown, strict=True):
        certain = group["by_how"]["asked"] + group["by_how"]["proven"]
        assert line.startswith(f"{group['size']} items, {certain} certain")


def test_the_odd_ones_of_a_group_are_marked_and_only_what_was_seen_is_answered(ada, data) -> None:
    """All on the sheet are answered by the truth, nobody else; the sheet was on the screen."""
    before = {frozenset(one.items) for one in answers_in(data)}
    ada.go("cluster/0")
    ada.page.locator(".group-sheet .cell").first.wait_for()
    height = ada.page.viewport_size["height"]
    cells = ada.page.locator(".group-sheet .cell").all()
    shown = [cell.get_attribute("data-key") for cell in cells]
    assert all(cell.bounding_box()["y"] + cell.bounding_box()["height"] <= height for cell in cells)
    said = ada.page.locator(".group-sheet .about").inner_text()
    reference = said.removeprefix("Mark the items that do not belong with ").removesuffix(".")
    odd = [key for key in shown if data.truth[key] != data.truth[reference]] or shown[:1]
    for key in odd:
        ada.page.locator(f".cell[data-key='{key}']").click()
    ada.page.keyboard.press("Enter")
    ada.wait_until_saved()
    ada.page.wait_for_function(
        "before => ![...document.querySelectorAll('.group-sheet .cell')]"
        ".some(cell => before.includes(cell.dataset.key))",
        arg=shown,
    )
    new = [one for one in answers_in(data) if frozenset(one.items) not in before]
    assert {key for one in new for key in one.items} <= {reference, *shown}
    verdicts = {next(k for k in one.items if k != reference): one.verdict.value for one in new}
    assert {key for key, verdict in verdicts.items() if verdict == "different"} == set(odd)
    assert set(verdicts) == set(shown)


def test_trouble_is_listed_and_a_remedy_is_seen_before_it_is_chosen(ada, served, data) -> None:
    last = answers_in(data)[-1]
    other = served.invite("Bo")
    opposite = "different" if last.verdict.value == "same" else "same"
    other.answer({"id": ":".join(last.items)}, opposite)
    ada.page.locator(".badge", has_text="1").wait_for()
    ada.go("trouble")
    ada.page.get_by_role("heading", name="As many for as against").wait_for()
    remedy = ada.page.locator(".remedies li", has_text="(Bo)")
    remedy.get_by_role("button").click()
    ada.page.locator("dialog button.main:enabled").wait_for()
    assert len(answers_in(data)[-1].items) == 2
    assert [one.who for one in answers_in(data)].count("Bo") == 1
    ada.page.get_by_role("button", name="Do it").click()
    ada.page.get_by_text("All answers fit together").wait_for()
    assert "Bo" not in [one.who for one in answers_in(data)]


def test_a_slip_is_said_and_taken_back_by_a_key(chromium, tmp_path) -> None:
    """An answer that does not fit is put from another side; a digit and Enter take it back."""
    data = write_some_digits(tmp_path)
    with in_thread(data, who="Ada") as served:
        owner, slip = served.owner(), None
        for n in range(20):
            (question,) = owner.next()
            verdict = data.verdict(question)
            if slip is None and n >= 12 and verdict == "same":
                slip, verdict = question["id"], "different"
            owner.answer(question, verdict)
        with somebody(chromium, served.link, data) as ada:
            for _ in range(110):
                ada.answer()
                if ada.page.locator(".badge").count():
                    break
            assert slip is not None
            one, two = slip.split(":")
            said = [text for text in ada.said_again if one in text and two in text]
            assert said
            assert "does not fit the other answers: look again." in said[0]
            ada.go("trouble")
            ada.page.locator(".trouble article .whole").nth(1).wait_for()
            ada.page.keyboard.press("1")
            ada.page.locator("dialog button.main:enabled").click()
            ada.page.get_by_text("All answers fit together").wait_for()
        assert {one, two} not in [set(answer.items) for answer in answers_in(data)]


def test_the_plot_follows_the_answers_of_others(ada, served, data) -> None:
    """Somebody else answers; the numbers and the plot change without a touch."""
    ada.go("progress")
    ada.page.locator(".legend li").first.wait_for()
    before = ada.page.locator("canvas").evaluate("canvas => canvas.toDataURL()")
    asked = ada.page.locator(".how-legend").inner_text()
    other = served.invite("Bo")
    for _ in range(6):
        for question in other.next():
            other.answer(question, data.verdict(question))
    ada.page.wait_for_function(
        "before => document.querySelector('.how-legend').innerText !== before", arg=asked
    )
    ada.page.wait_for_function(
        "before => document.querySelector('canvas').toDataURL() !== before", arg=before
    )


def test_the_end_offers_more_and_goes_on(chromium, data) -> None:
    """A spent budget is said in words, and one choice lifts it."""
    begin(data, max_questions=3)
    with in_thread(data, who="Ada") as served, somebody(chromium, served.link, data) as ada:
        assert ada.answer_all() == "The budget of 3 questions is spent."
        ada.page.get_by_role("button", name="Go on without a limit").click()
        ada.before = None
        ada.page.locator(".question").wait_for()
        assert "question" in ada.next()


def test_annotators_are_not_offered_what_owners_decide(chromium, data) -> None:
    begin(data, max_questions=1)
    with in_thread(data, who="Ada") as served:
        other = served.invite("Bo")
        token = other.client.headers["Authorization"].removeprefix("Bearer ")
        with somebody(chromium, f"{served.base}/join?token={token}", data) as bo:
            bo.answer_all()
            text = bo.page.locator("main").inner_text()
            assert "The owner of the session decides" in text
            assert bo.page.locator(".choice").count() == 0
            assert bo.page.get_by_role("link", name="People").count() == 0


@pytest.mark.usefixtures("small_sample")
def test_a_sample_is_called_one(chromium, tmp_path) -> None:
    path = write_parquet(tmp_path, make_ellipsoids(6_000, 2, 3, random_state=4).X)
    open_session(Request(str(path), in_blocks=True, id_column="shell")).session.close()
    data = Data(path, {})
    with in_thread(data) as served, somebody(chromium, served.link, data) as person:
        person.page.get_by_text("points.parquet, 600 of 6,000 rows").wait_for()
        person.go("progress")
        person.page.get_by_text("The items are a sample: 600 of the 6,000 rows").wait_for()
