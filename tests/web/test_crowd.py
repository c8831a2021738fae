"""Many HTTP clients at once, and a server that is killed under them."""

import asyncio
import os

import pytest

from tests.cases.look_cases import GLANCES
from tests.web.crowd import Crowd
from tests.web.served import begin, in_process, kill, link_of, start_process, write_data

LONG = os.environ.get("SAMECLUSTER_TESTS") == "long"
N_PEOPLE, ANSWERS_EACH = (32, 200) if LONG else (8, 15)
KILLS = 5 if LONG else 2


def test_many_people_label_at_once(tmp_path) -> None:
    data = write_data(tmp_path, n=3500 if LONG else 200, k=4)
    begin(data, method="everything")
    crowd = Crowd(data)
    with in_process(data) as (served, _):
        asyncio.run(crowd.label(served.base, crowd.secrets(N_PEOPLE), ANSWERS_EACH))
    crowd.check()
    assert not crowd.n_double_leases
    assert len(crowd.acknowledged) == N_PEOPLE * ANSWERS_EACH
    print(f"{N_PEOPLE} clients: {crowd}")


def test_the_server_is_killed_under_them(tmp_path) -> None:
    """kill -9 with answers under way: clients send again by key, and links go on working."""
    data = write_data(tmp_path, n=200, k=4)
    begin(data, method="everything")
    crowd = Crowd(data)
    secrets = crowd.secrets(4)

    async def label_and_kill() -> None:
        process = start_process(data, "--port", "0")
        base = link_of(process).partition("/join")[0]
        labelling = asyncio.create_task(crowd.label(base, secrets, 30))
        for number in range(1, KILLS + 1):
            while len(crowd.acknowledged) < 15 * number and not labelling.done():
                await asyncio.sleep(0.01)
            kill(process)
            process = start_process(data, "--port", base.rpartition(":")[2])
            await asyncio.to_thread(link_of, process)
        await labelling
        kill(process)

    asyncio.run(label_and_kill())
    # Leases end with the server, so that a question may go to two people: a second opinion.
    crowd.check()
    assert len(crowd.acknowledged) == 120
    assert crowd.n_resent
    print(f"{KILLS} kills: {crowd}")


@pytest.mark.parametrize(
    ("n", "least", "parameters"),
    [
        (250, 60, {"method": {"name": GLANCES, "sheet": 6}}),
        (1500, 25, {"margin": 1.0, "audit": [0.01, 0.95]}),
    ],
    ids=["all kinds", "audit"],
)
def test_eight_people_with_looks_and_kills(tmp_path, n, least, parameters) -> None:
    """Whatever the look: what was acknowledged is there as a whole, once."""
    data = write_data(tmp_path, n=n, k=4)
    begin(data, looks="auto", **parameters)
    crowd = Crowd(data, asks="looks/next")
    secrets = crowd.secrets(8)

    async def label_and_kill() -> None:
        options = ("--looks", "auto", "--lease-seconds", "5")
        process = start_process(data, *options, "--port", "0")
        base = link_of(process).partition("/join")[0]
        labelling = asyncio.create_task(crowd.label(base, secrets, 12))
        for number in range(1, KILLS + 1):
            while len(crowd.replies) < least / KILLS * number and not labelling.done():
                await asyncio.sleep(0.01)
            kill(process)
            process = start_process(data, *options, "--port", base.rpartition(":")[2])
            await asyncio.to_thread(link_of, process)
        await labelling
        kill(process)

    asyncio.run(label_and_kill())
    crowd.check_looks()
    assert len(crowd.replies) > least
    assert crowd.n_resent
    late = f"{crowd.n_late} came too late"
    print(f"{KILLS} kills: {len(crowd.replies)} replies, 0 lost, 0 doubled; {late}")
