"""Answers are read however carelessly they were written, and nothing is made up of half a word."""

import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from portrayal.collect.ask.replies import plain_key, read_fields

WHOLE = {"doctor name": "Emily", "doctor references": ["she", "her"]}


@pytest.mark.parametrize(
    "reply",
    [
        '{"doctor name": "Emily", "doctor references": ["she", "her"]}',
        '```json\n{"doctor name": "Emily", "doctor references": ["she", "her"]}\n```',
        'Sure! Here it is: {"doctor name": "Emily", "doctor references": ["she", "her"]} Bye {}.',
        '{"doctor name": "Emily", "doctor references": ["she", "her",],}',
        "{'doctor name': 'Emily', 'doctor references': ['she', 'her']}",
        "{“doctor name”: “Emily”, “doctor references”: [“she”, “her”]}",
        "{doctor name: Emily, doctor references: [she, her]}",
        '{"doctor name": "Emily" "doctor references": ["she" "her"]}',
        '{"doctor name": "Emily"\n "doctor references": ["she"\n"her"]}',
        '{"doctor name": "Emily", // the first\n "doctor references": ("she", "her")}',
        '{"doctor": {"name": "Emily", "references": ["she", "her"]}}',
        '{"doctor name": "Emily"}\n{"doctor references": ["she", "her"]}',
        '"doctor name": "Emily", "doctor references": ["she", "her"]',
        '{"Doctor_Name": "Emily", "DOCTOR  references": ["she", "her"]}',
        '<think>{"doctor name": "Bob"}</think>{"doctor name": "Emily", '
        '"doctor references": ["she", "her"]}',
        '{"doctor name": "Emily", "doctor references": ["she", "her"]',
        '{"doctor name": "Emily", "doctor references": ["she", "her"',
        '{"doctor name": "Emily", "doctor references": ["she", "her", "herse',
        '{"doctor name": "Emily", "doctor references": ["she", "her"], "note',
    ],
)
def test_a_careless_answer_is_read(reply):
    assert read_fields(reply) == WHOLE


@pytest.mark.parametrize(
    ("reply", "fields"),
    [
        ("{'name': 'O'Brien'}", {"name": "O'Brien"}),
        ('{"name": "Jim "Big" Smith",}', {"name": 'Jim "Big" Smith'}),
        ('{"name": None, "b": True, "c": NULL,}', {"name": None, "b": True, "c": None}),
        ('{"name": "Jos\\u00e9",}', {"name": "José"}),
        ('{"name": "Emi', {}),
        ('{"name": Emi', {}),
        ('{"name": "A", "references": [', {"name": "A"}),
        ("I'm sorry, but I can't do that.", {}),
        ("", {}),
        ("{}", {}),
        ("__import__('os').system('true')", {}),
        ("{" * 5000, {}),
        ("[" * 5000, {}),
    ],
)
def test_what_is_kept_of_a_broken_answer(reply, fields):
    assert read_fields(reply) == fields


KEYS = st.sampled_from(["doctor name", "patient name", "doctor references", "patient references"])
WORDS = st.text(min_size=1, max_size=8)
ANSWERS = st.dictionaries(KEYS, WORDS | st.none() | st.lists(WORDS, max_size=4), min_size=1)


@settings(deadline=None)
@given(ANSWERS, st.sampled_from([None, 1, 4]))
def test_sound_json_is_read_as_it_is(answer, indent):
    assert read_fields(json.dumps(answer, indent=indent)) == answer


@settings(deadline=None)
@given(ANSWERS)
def test_of_an_answer_cut_off_anywhere_only_whole_values_are_kept(answer):
    text = json.dumps(answer, ensure_ascii=True)
    for end in range(len(text)):
        for key, value in read_fields(text[:end]).items():
            whole = answer[key]
            assert value == whole or (isinstance(whole, list) and value == whole[: len(value)])


@settings(deadline=None)
@given(st.text(alphabet="{}[]()\"'“”,: \n\\abN/*#", max_size=80))
def test_any_text_is_read_without_a_failure(reply):
    assert isinstance(read_fields(reply), dict)


@settings(max_examples=20, deadline=None)
@given(st.sampled_from(['{"', "{'a", '{"a": "', "{[", '[{"a":', "{a ", "/*", '{"a" //']))
def test_hostile_answers_take_no_time(piece):
    began = time.process_time()
    read_fields(piece * 40_000)
    assert time.process_time() - began < 5


def test_keys_are_compared_by_their_words():
    assert plain_key("Public-Relations_Specialist  NAME") == "public relations specialist name"
