"""openapi.json is what the server does: every route, every reply, and no request breaks it."""

import json
import os

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from starlette.routing import Route

from samecluster.web.errors import HttpError
from samecluster.web.operations.schema import FILE, check, operations
from tests.web.served import TOKEN, begin, in_thread, write_data

LONG = os.environ.get("SAMECLUSTER_TESTS") == "long"
DOCUMENT = json.loads(FILE.read_text())
SCHEMA = schemathesis.openapi.from_dict(DOCUMENT)


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


def test_every_route_is_described_and_the_other_way_round(served) -> None:
    routes = served.serving._server.config.app.routes
    found = {
        (route.path, method)
        for route in routes
        if isinstance(route, Route)
        for method in (route.methods or set()) - {"HEAD"}
    }
    described = {
        (path, method.upper()) for path, methods in DOCUMENT["paths"].items() for method in methods
    }
    assert found == described | {("/join", "GET")}


def test_operations_and_references_are_sound() -> None:
    ids = [one.id for one in operations()]
    assert len(ids) == len(set(ids))
    for name in _references(DOCUMENT):
        here = DOCUMENT
        for part in name.removeprefix("#/").split("/"):
            here = here[part]


def _references(value):
    if isinstance(value, dict):
        yield from ([value["$ref"]] if "$ref" in value else [])
        for one in value.values():
            yield from _references(one)
    elif isinstance(value, list):
        for one in value:
            yield from _references(one)


@SCHEMA.include(func=lambda one: one.operation.path != "/api/v1/events").parametrize()
@settings(max_examples=100 if LONG else 8, suppress_health_check=list(HealthCheck), deadline=None)
def test_what_the_description_allows_never_breaks_the_server(case, served) -> None:
    """Right requests and wrong ones made from the schema: no 5xx, and replies as described."""
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


KEYS = st.sampled_from([f"s{n}" for n in range(6)])
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
}


@pytest.mark.parametrize("one", [o for o in operations() if o.method == "POST"], ids=lambda o: o.id)
@settings(max_examples=200 if LONG else 10)
@given(fields=st.fixed_dictionaries(LIVELY))
def test_requests_about_real_items_never_break_the_server(one, served, fields) -> None:
    """Random names for items rarely meet one; these do, in any order and state."""
    body = {name: fields[name] for name in one.body["properties"]}
    path = one.path.replace("{number}", str(fields["number"]))
    with served.client() as client:
        response = client.post(path, json=body)
    assert response.status_code in (200, 400, 404, 409, 422), response.text


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(), st.lists
)


@given(ANYTHING)
def test_whatever_is_no_object_is_refused_by_the_check(value) -> None:
    for one in operations():
        if one.body is not None:
            with pytest.raises(HttpError, match="must be object"):
                check(value, one.body, "the body")
