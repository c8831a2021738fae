"""The check of requests against their declared shapes, and how shapes are written."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema_rs import Draft202012Validator

from samecluster.web.errors import HttpError
from samecluster.web.operations.document import OPERATIONS
from samecluster.web.operations.schema import (
    COUNT,
    SHARED,
    TEXT,
    array,
    boolean,
    check,
    choice,
    integer,
    nullable,
    record,
    string,
)

NAMES = record(name=string(minLength=2, maxLength=4, pattern="^[a-z]+$"))
BODIES = [one.body for one in OPERATIONS if one.body is not None]
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(), st.lists
)
FIELDS = sorted({name for body in BODIES for name in body["properties"]})
# To JSON Schema 1.0 is an integer, and to us it is not; nobody sends it.
VALUES: st.SearchStrategy[object] = st.one_of(
    st.sampled_from(["same", "12345678", "a:b", 1, 0, None, [1, 2], ["abc"], [], 0.5, True, {}]),
    st.text(),
    st.integers(),
    st.lists(st.text() | st.integers()),
)


@given(ANYTHING)
def test_whatever_is_no_object_is_refused_by_the_check(value) -> None:
    for body in BODIES:
        with pytest.raises(HttpError, match="must be object"):
            check(value, body, "the body")


@given(st.dictionaries(st.sampled_from(FIELDS), VALUES, max_size=4))
def test_the_check_is_that_of_json_schema(value) -> None:
    """Against a complete implementation: they let the same bodies in."""
    for body in BODIES:
        full = {**body, "components": {"schemas": SHARED}}
        assert _is_let_in(value, body) == Draft202012Validator(full).is_valid(value)


def _is_let_in(value, schema) -> bool:
    try:
        check(value, schema, "the body")
    except HttpError:
        return False
    return True


@pytest.mark.parametrize(
    ("value", "schema", "said"),
    [
        ({"name": "a"}, NAMES, "name must be of 2 to 4 characters; it has 1"),
        ({"name": "abcde"}, NAMES, "name must be of 2 to 4 characters; it has 5"),
        ({"name": "ab1"}, NAMES, "name must be of the form"),
        ({"name": "abc\n"}, NAMES, "name must be of the form"),
        ({}, NAMES, "the body has no 'name'"),
        ({"name": "abc", "age": 3}, NAMES, "a field that is not known: 'age'"),
        ({"name": None}, NAMES, "name must be string"),
        ({"name": "\ud800a"}, record(name=TEXT), "text without lone surrogates"),
        (True, integer(), "the body must be integer"),
        (1, boolean(), "the body must be boolean"),
        (-1, COUNT, "the body must be from 0 to -1"),
        ("c", choice("a", "b"), "the body must be one of a, b"),
        ("a", nullable(COUNT), "the body must be integer or null"),
        (["a", 1], array(TEXT), r"the body\[1\] must be string"),
        (["a"], array(TEXT, minItems=2, maxItems=3), "of 2 to 3 entries; it has 1"),
    ],
)
def test_errors_name_the_field_and_what_is_allowed(value, schema, said) -> None:
    with pytest.raises(HttpError, match=said) as refused:
        check(value, schema, "the body")
    assert refused.value.status == 400


def test_null_is_let_in_only_where_it_is_declared() -> None:
    check(None, nullable(COUNT), "the body")
    with pytest.raises(HttpError):
        check(None, COUNT, "the body")
