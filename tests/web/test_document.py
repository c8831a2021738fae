"""The OpenAPI document is what the server does: every route and reply; no request breaks it."""

import json
import os
from pathlib import Path

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema_rs import Draft202012Validator
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from starlette.routing import Route

from samecluster.web.links import Participants, links_file
from samecluster.web.operations import answer, decide, files, read
from samecluster.web.operations.document import OPERATIONS, as_text
from tests.web.served import TOKEN, begin, in_thread, write_data

LONG = os.environ.get("SAMECLUSTER_TESTS") == "long"
GOLDEN = Path(__file__).parents[2] / "docs" / "openapi.json"
DOCUMENT = json.loads(as_text())
SCHEMA = schemathesis.openapi.from_dict(DOCUMENT)
TAKE_NOTHING = [one.path for one in OPERATIONS if one.body is None and not one.parameters]


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    data = write_data(tmp_path_factory.mktemp("data"))
    begin(data, method="everything")
    with in_thread(data) as served:
        owner = served.owner()
        for _ in range(10):
            (question,) = owner.next()
            owner.answer(question, data.verdict(question))
        yield served


@pytest.fixture(scope="module")
def client(served):
    return served.client()


def test_the_document_is_the_one_in_the_docs() -> None:
    """What programs rely on changes by intent only: `make docs-reference` writes the file again."""
    assert as_text() == GOLDEN.read_text()


def test_the_server_serves_the_document_to_everybody(served) -> None:
    assert served.client(None).get("/api/v1/openapi.json").json() == DOCUMENT


def test_every_handler_of_every_module_is_an_operation_of_its_name() -> None:
    ids = [one.id for one in OPERATIONS]
    assert len(ids) == len(set(ids)) == 35
    for module in (answer, decide, files, read):
        handlers = {one.handler for one in module.OPERATIONS}
        assert handlers <= {one.handler for one in OPERATIONS}
        assert all(vars(module)[f"_{one.id}"] is one.handler for one in module.OPERATIONS)


def test_every_post_takes_a_body_and_no_get_does() -> None:
    """The check of the X-Samecluster header is by method, its declaration by body."""
    assert all((one.method == "POST") == (one.body is not None) for one in OPERATIONS)
    assert {one.method for one in OPERATIONS} == {"GET", "POST"}


def test_every_route_is_described_and_the_other_way_round(served) -> None:
    found = {
        (route.path, method)
        for route in served.serving.app.routes
        if isinstance(route, Route)
        for method in (route.methods or set()) - {"HEAD"}
    }
    described = {
        (path, method.upper()) for path, methods in DOCUMENT["paths"].items() for method in methods
    }
    assert found == described | {("/join", "GET")}


def test_references_lead_somewhere_and_everything_shared_is_used() -> None:
    used = set(_references(DOCUMENT))
    for name in used:
        here = DOCUMENT
        for part in name.removeprefix("#/").split("/"):
            here = here[part]
    shared = {
        f"#/components/{kind}/{name}"
        for kind in ("schemas", "responses")
        for name in DOCUMENT["components"][kind]
    }
    assert shared == used


def test_people_without_a_link_are_listed_as_described(served) -> None:
    """Their role is null."""
    served.invite("Ann").get("session")
    Participants(links_file(served.data.session)).revoke("Ann")
    reply = served.owner().get("people")
    assert {"who": "Ann", "role": None} in [
        {name: person[name] for name in ("who", "role")} for person in reply["people"]
    ]
    replies = DOCUMENT["paths"]["/api/v1/people"]["get"]["responses"]
    Draft202012Validator(replies["200"]["content"]["application/json"]["schema"]).validate(reply)


def _references(value):
    if isinstance(value, dict):
        yield from ([value["$ref"]] if "$ref" in value else [])
        for one in value.values():
            yield from _references(one)
    elif isinstance(value, list):
        for one in value:
            yield from _references(one)


def _conforms(case, served) -> None:
    case.headers = {**(case.headers or {}), "Authorization": f"Bearer {TOKEN}"}
    case.call_and_validate(
        base_url=served.base,
        checks=(
            not_a_server_error,
            content_type_conformance,
            response_schema_conformance,
            status_code_conformance,
        ),
    )


@SCHEMA.exclude(path=TAKE_NOTHING).parametrize()
@settings(max_examples=100 if LONG else 8, suppress_health_check=list(HealthCheck), deadline=None)
def test_what_the_description_allows_never_breaks_the_server(case, served) -> None:
    """Right requests and wrong ones made from the schema: no 5xx, and replies as described."""
    _conforms(case, served)


@SCHEMA.include(path=TAKE_NOTHING).exclude(path="/api/v1/events").parametrize()
@settings(max_examples=100 if LONG else 1, suppress_health_check=list(HealthCheck), deadline=None)
def test_operations_that_take_nothing_reply_as_described(case, served) -> None:
    """There is nothing to vary in these but fields that nobody declared."""
    _conforms(case, served)


KEYS = st.sampled_from([f"s{n}" for n in range(6)])
FEW = st.lists(KEYS, max_size=4, unique=True)
LOOKS = st.one_of(
    st.fixed_dictionaries({"kind": st.just("sheet"), "reference": KEYS, "items": FEW}),
    st.fixed_dictionaries({"kind": st.just("board"), "items": FEW}),
    st.fixed_dictionaries(
        {"kind": st.just("choice"), "item": KEYS, "groups": st.lists(FEW, max_size=3)}
    ),
)
REPLIES = st.one_of(
    st.fixed_dictionaries({"groups": st.lists(st.integers(0, 3), max_size=3)}),
    st.sampled_from([{"none": True}, {"unsure": True}, {"none": True, "groups": [0]}, {}]),
    st.fixed_dictionaries(
        {"marked": FEW}, optional={"unsure": FEW, "odd_reference": st.booleans()}
    ),
    st.fixed_dictionaries({"joined": st.lists(FEW, max_size=2)}, optional={"unsure": FEW}),
)
LIVELY = {
    "question": st.tuples(KEYS, KEYS).map(":".join),
    "questions": st.lists(st.tuples(KEYS, KEYS).map(":".join), max_size=3),
    "verdict": st.sampled_from(["same", "different", "unsure"]),
    "key": st.text("abc", min_size=8, max_size=9),
    "note": st.text(max_size=9),
    "name": st.text(min_size=1, max_size=9),
    "item": KEYS,
    "items": st.lists(KEYS, min_size=1, max_size=3),
    "group": st.none() | st.integers(0, 3),
    "cluster": st.integers(0, 3),
    "clusters": st.lists(st.integers(0, 3), min_size=2, max_size=2),
    "count": st.integers(1, 3),
    "id": st.text("0123456789abcdef", max_size=32),
    "number": st.integers(0, 3),
    "seconds": st.floats(0, 100),
    "share": st.none() | st.floats(0, 1),
    "look": LOOKS.map(json.dumps),
    "reply": REPLIES,
}


@pytest.mark.parametrize("one", [one for one in OPERATIONS if one.body], ids=lambda one: one.id)
@settings(max_examples=200 if LONG else 10)
@given(fields=st.fixed_dictionaries(LIVELY))
def test_requests_about_real_items_never_break_the_server(one, client, fields) -> None:
    """Random names for items rarely meet one; these do, in any order and state."""
    body = {name: fields[name] for name in one.body["properties"]}
    path = one.path.replace("{number}", str(fields["number"]))
    response = client.post(path, json=body)
    assert response.status_code in (200, 400, 404, 409, 422), response.text
