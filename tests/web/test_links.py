"""Personal links: who they are for, where they are kept, and how long they work."""

import multiprocessing
import stat
from pathlib import Path

import pytest

from samecluster.errors import InvalidInputError, StoreError
from samecluster.web.links import Participant, Participants, links_file
from tests.web.served import begin, in_thread, write_data


@pytest.fixture
def file(tmp_path):
    return tmp_path / "state" / "links.json"


def test_a_link_is_known_again_and_only_its_hash_is_kept(file) -> None:
    secret = Participants(file).invite(Participant("Ann", "annotator"))
    assert Participants(file).person(secret) == Participant("Ann", "annotator")
    assert Participants(file).person(secret + "x") is None
    assert secret not in file.read_text()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


def test_a_running_server_learns_of_links_that_are_made_and_revoked(file) -> None:
    running = Participants(file)
    assert running.roles() == {}
    one, two = (Participants(file).invite(Participant("Ann", "annotator")) for _ in range(2))
    other = Participants(file).invite(Participant("Bob", "owner"))
    assert running.person(one) == running.person(two) == Participant("Ann", "annotator")
    assert running.roles() == {"Ann": "annotator", "Bob": "owner"}
    assert Participants(file).revoke("Ann") == 2
    assert running.person(one) is running.person(two) is None
    assert running.person(other) == Participant("Bob", "owner")


def test_browsers_of_the_last_starts_stay_in(file) -> None:
    secrets = [Participants(file).invite(Participant(None, "owner"), start=True) for _ in range(25)]
    invited = Participants(file).invite(Participant("Ann", "annotator"))
    people = Participants(file)
    assert [people.person(secret) is not None for secret in secrets] == [False] * 5 + [True] * 20
    assert people.person(invited) is not None


@pytest.mark.parametrize("name", ["", "  ", "a\nb", "x" * 101, "\x1b[31m"])
def test_names_that_cannot_stand_in_a_session_are_refused(file, name) -> None:
    with pytest.raises(InvalidInputError, match="printable"):
        Participants(file).invite(Participant(name, "annotator"))


@pytest.mark.parametrize("token", ["short", "with-dashes-in-it-and-long", "ä" * 20])
def test_tokens_that_can_be_guessed_or_hurt_links_are_refused(file, token) -> None:
    with pytest.raises(InvalidInputError, match="--token"):
        Participants(file).accept(token, Participant(None, "owner"))


def test_a_damaged_file_is_named(file) -> None:
    file.parent.mkdir()
    file.write_text('{"links": 3')
    with pytest.raises(StoreError, match="invite people again"):
        Participants(file).person("anything")


def test_invitations_survive_a_restart_and_stay_out_of_the_session(tmp_path) -> None:
    data = write_data(tmp_path)
    begin(data, method="everything")
    with in_thread(data) as served:
        ann = served.invite("Ann")
        link = ann.client.headers["authorization"].removeprefix("Bearer ")
        (question,) = ann.next()
        ann.answer(question, "different")
        identity = ann.get("session")["id"]
        address = Participants(links_file(data.session)).address
        assert address == served.base
    with in_thread(data) as served:
        again = served.client(link).get("/api/v1/session")
        assert again.json()["who"] == "Ann"
        assert again.json()["id"] == identity
        people = {one["who"]: one for one in served.owner().get("people")["people"]}
        assert people["Ann"]["n_answers"] == 1
        assert people["Ann"]["role"] == "annotator"
        assert people[None]["role"] == "owner"
    for file in tmp_path.iterdir():
        assert link.encode() not in file.read_bytes()


def test_two_servers_on_one_machine_do_not_share_cookies(tmp_path) -> None:
    """Cookies know no ports, so their names differ."""
    one, two = (write_data(tmp_path, name=name) for name in ("one.csv", "two.csv"))
    names = []
    for data in (one, two):
        with in_thread(data) as served, served.client(None) as client:
            client.get(served.link)
            names += list(client.cookies)
    assert len(set(names)) == 2


def _invite_many(file: Path, of: str, n: int) -> None:
    for number in range(n):
        Participants(file).invite(Participant(f"{of} {number}", "annotator"))
        if number % 5 == 4:
            Participants(file).revoke(f"{of} {number - 2}")


def test_no_invitation_or_revocation_of_another_process_is_undone(file) -> None:
    spawn = multiprocessing.get_context("spawn")
    workers = [spawn.Process(target=_invite_many, args=(file, of, 40)) for of in ("one", "two")]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
        assert worker.exitcode == 0
    expected = {f"{of} {n}" for of in ("one", "two") for n in range(40) if n % 5 != 2}
    assert Participants(file).roles().keys() == expected
    assert sorted(path.name for path in file.parent.iterdir()) == [file.name, f"{file.name}-lock"]


def test_a_write_that_fails_leaves_the_links_as_they_were(file, monkeypatch) -> None:
    secret = Participants(file).invite(Participant("Ann", "annotator"))

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("samecluster.web.links.os.fsync", full)
        with pytest.raises(StoreError, match="No space left"):
            Participants(file).invite(Participant("Bob", "annotator"))
    assert Participants(file).roles() == {"Ann": "annotator"}
    assert Participants(file).person(secret) is not None
    assert sorted(path.name for path in file.parent.iterdir()) == [file.name, f"{file.name}-lock"]


@pytest.mark.parametrize(
    "text",
    ["[]", "3", "{}", '{"links": {"a": 3}, "address": null}', "[" * 100_000]
    + [f'{{"links": {{"a": {{"who": {who}}}}}, "address": null}}' for who in ("3", "null", "[]")],
)
def test_a_file_that_is_no_list_of_links_is_named(file, text) -> None:
    file.parent.mkdir()
    file.write_text(text)
    with pytest.raises(StoreError, match="cannot be read"):
        Participants(file).roles()


def test_a_link_to_a_session_has_the_same_people(tmp_path) -> None:
    (tmp_path / "link.samecluster").symlink_to("real.samecluster")
    names = ("link.samecluster", "real.samecluster")
    assert len({links_file(tmp_path / name) for name in names}) == 1
