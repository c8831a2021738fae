"""Eight people in eight browsers on one session: nothing is doubled, nothing is lost."""

import contextlib
import os
import time

import pytest

from samecluster.web.links import Participant, Participants, links_file
from tests.web.browser.killing import killable
from tests.web.browser.labelling import Somebody, answers_in, somebody
from tests.web.served import begin, write_data

LONG = os.environ.get("SAMECLUSTER_TESTS") == "long"
N_PEOPLE = 8
KILLS = 5 if LONG else 2
N_ITEMS = 150 if LONG else 40


@pytest.fixture
def data(tmp_path):
    data = write_data(tmp_path, n=N_ITEMS, k=3)
    # Asks about every item, so that there is work for all of them.
    begin(data, method="everything")
    return data


@contextlib.contextmanager
def eight(browser, base, data):
    """Names and people with windows of their own."""
    people = Participants(links_file(data.session))
    with contextlib.ExitStack() as stack:
        found: dict[str, Somebody] = {}
        for number in range(N_PEOPLE):
            name = f"person {number}"
            link = f"{base}/join?token={people.invite(Participant(name, 'annotator'))}"
            found[name] = stack.enter_context(somebody(browser, link, data))
        yield found


def label(people: list[Somebody], n_answers: int | None = None) -> None:
    """In turns, whoever sees a question answers it, until all have ended or so many are given."""
    given = sum(len(one.given) for one in people)
    ended: set[int] = set()
    while len(ended) < len(people):
        for number, one in enumerate(people):
            shown = one.look()
            if shown is None:
                continue
            if "ended" in shown:
                ended.add(number)
            else:
                ended.discard(number)
                one.answer()
        if n_answers and sum(len(one.given) for one in people) >= given + n_answers:
            return
        if len(ended) < len(people):
            time.sleep(0.02)


def check(data, people) -> None:
    """The file has what each of them said, once, and nothing else."""
    said = sorted((f"{a}:{b}", str(who), verdict) for (a, b), who, verdict in standing(data))
    given = sorted(
        (pair_of(question), name, verdict)
        for name, one in people.items()
        for question, verdict in one.given
    )
    assert said == given


def standing(data):
    return [(sorted(one.items), one.who, one.verdict.value) for one in answers_in(data)]


def pair_of(question: str) -> str:
    return ":".join(sorted(question.split(":")))


def test_eight_people_one_who_leaves_and_a_server_that_is_killed(data, chromium) -> None:
    """Nobody is asked what somebody else is asked, and the question of the one who leaves is asked
    again. When the server is killed, pages recover by themselves; leases end with it, so that a
    question may then reach two people, but no answer is lost or taken twice."""
    with killable(data) as server, eight(chromium, server.base, data) as people:
        label(list(people.values()), n_answers=N_PEOPLE)
        left = leave(people["person 0"])
        others = [one for name, one in people.items() if name != "person 0"]
        label(others, n_answers=2 * N_PEOPLE)
        asked = [question for one in people.values() for question, _ in one.given]
        assert len(asked) == len(set(asked)), "two people were asked the same"
        assert left in asked, "the question of the one who left was lost"
        for _ in range(KILLS):
            server.kill()
            server.start_again()
            label(others, n_answers=N_PEOPLE)
        label(others)
        for one in others:
            one.wait_until_saved()
        check(data, people)
    print(f"{len(answers_in(data))} answers of {N_PEOPLE} people, {KILLS} kills, 0 lost, 0 doubled")


def leave(person: Somebody) -> str:
    """Close the window with a question in it."""
    question = str(person.next()["question"])
    person.wait_until_saved()
    person.page.close()
    return question
