"""The benchmark of many people at once, in short: what it counts is in the file."""

import asyncio
from contextlib import closing

from benchmarks.load import label
from samecluster.sessions.question import question_id
from samecluster.sessions.state.state import State
from samecluster.sessions.storage.sqlite import SqliteStore
from samecluster.web.links import Participant, Participants, links_file
from tests.web.served import begin, in_thread, write_data


def test_what_many_people_were_told_is_in_the_file(tmp_path) -> None:
    data = write_data(tmp_path, n=400, k=20)
    begin(data, method="everything")
    with in_thread(data) as served:
        people = Participants(links_file(data.session))
        names = [f"person {number}" for number in range(12)]
        secrets = {name: people.invite(Participant(name, "annotator")) for name in names}
        load = asyncio.run(label(served.base, secrets, data.truth, 2.0, pause=0.0))
    with closing(SqliteStore(data.session, read_only=True)) as store:
        answers = State(store.read()).answers()
    said = {(question_id(one.items), one.verdict.value, one.who) for one in answers}
    assert load.acknowledged
    assert len(load.seconds) == len(load.acknowledged) == len(set(load.acknowledged)) == len(said)
    assert set(load.acknowledged) == said
