"""Lenient JSON: whole values only, in the order of the reply, and no reply takes long."""

import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from portrayal.collect.ask.replies import read_list, read_objects, read_open

VALUES = st.recursive(
    st.text(max_size=6) | st.booleans() | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=8,
)


@settings(deadline=None)
@given(st.lists(st.dictionaries(st.text(max_size=4), VALUES, min_size=1), max_size=8))
def test_sound_objects_are_read_as_they_are(objects):
    assert read_objects("Here:\n" + "\nthen ".join(map(json.dumps, objects))) == objects


@pytest.mark.parametrize(
    ("reply", "found"),
    [
        ("{'a': True, 'b': None,}", [{"a": True, "b": None}]),
        ("```json\n{“a”: “b”}\n```", [{"a": "b"}]),
        ('{"a": {"b": "c"}, // why\n "d": "cut o', [{"a": {"b": "c"}}]),
        ('"edits": [{"a": "b"}, {"c": "d"}...]', [{"a": "b"}, {"c": "d"}]),
        ("{} {", []),
    ],
)
def test_careless_objects_are_read(reply, found):
    assert read_objects(reply) == found


def test_fields_without_braces_are_an_object():
    assert read_open('"a": "b", "c": ["d"]') == {"a": "b", "c": ["d"]}


@settings(deadline=None)
@given(st.text(alphabet="{}[]()\"'“”,: \n\\abN/*#", max_size=80))
def test_any_text_is_read_without_a_failure(reply):
    assert all(isinstance(each, dict) and each for each in read_objects(reply))
    read_list(reply)


@settings(max_examples=20, deadline=None)
@given(st.sampled_from(['{"', "{'a", "{[", "{a ", "{}", '{"a":1}', '{"a":[', "{x}", '{"a" "']))
def test_no_reply_takes_long(piece):
    began = time.process_time()
    read_objects(piece * 20_000)
    assert time.process_time() - began < 5


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("['she', 'her']", ["she", "her"]),
        ("[]", []),
        ('["she"]', ["she"]),
        ("none here", None),
        ("", None),
    ],
)
def test_a_list_written_as_text_is_read(text, items):
    assert read_list(text) == items
