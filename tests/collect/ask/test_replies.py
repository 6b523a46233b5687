"""Objects in replies, and asking that never pays twice."""

import json
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from portrayal.collect.ask.asking import Asking
from portrayal.collect.ask.provider import Answer
from portrayal.collect.ask.replies import (
    Replies,
    ask_replies,
    objects_in,
    prompt_of,
    read_fields,
    read_objects,
)
from portrayal.errors import OptionError
from portrayal.records import Prompt


@pytest.mark.parametrize(
    ("reply", "found"),
    [
        ('{"a": 1}', [{"a": 1}]),
        ('Sure:\n```json\n{"a": {"b": 2}, "c": [{"d": 3}]}\n```', [{"b": 2}, {"d": 3}]),
        ("{'a': 'it's',}", [{"a": "it's"}]),
        ('{"e": [{"o": "x", "n": "y"}, {"o": "z", "n": "cut', [{"o": "x", "n": "y"}, {"o": "z"}]),
        ('{"a": 1} and {"b": 2}', [{"a": 1}, {"b": 2}]),
        ('[{"a": 1}, {"b": ', [{"a": 1}]),
        ("{__import__('os').getcwd()}", []),
        ("{}", []),
        ("{" * 3000 + '"a": 1', []),
        ("none", []),
    ],
)  # fmt: skip
def test_objects_are_found_however_they_are_wrapped(reply: str, found: list[object]) -> None:
    assert objects_in(reply) == found


@settings(deadline=None)
@given(st.text(alphabet="{}[]\":,'ab1 \\\n", max_size=60))
def test_any_reply_can_be_read(reply: str) -> None:
    assert all(isinstance(each, dict) and each for each in objects_in(reply))


class Counting:
    name, parameters = "test:m", {}

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def ask(self, prompt: str) -> Answer:
        self.asked.append(prompt)
        return Answer(prompt.upper())

    async def close(self) -> None:
        """Nothing is held."""


def test_further_prompts_join_and_nothing_is_asked_twice(tmp_path: Path) -> None:
    model = Counting()
    asking = Asking("test:m", provider=model)

    def ask(prompts: list[Prompt]) -> Replies:
        return ask_replies(asking, prompts, tmp_path / "asked")

    first = ask([prompt_of("a"), prompt_of("b"), prompt_of("a")])
    assert {reply.text for (reply,) in first.values()} == {"A", "B"}
    again = ask([prompt_of("b"), prompt_of("c"), prompt_of("b", 1)])
    assert [again[prompt_of(*each).prompt_id][0].text for each in (("b",), ("c",), ("b", 1))] == [
        "B",
        "C",
        "B",
    ]
    assert sorted(model.asked) == ["a", "b", "b", "c"]
    assert ask([]) == {}


def test_a_budget_below_a_first_answer_is_an_error(tmp_path: Path) -> None:
    asking = Asking("test:m", budget="1 tokens", concurrency=1, provider=Counting())
    with pytest.raises(OptionError, match="does not cover a first answer"):
        ask_replies(asking, [prompt_of("a")], tmp_path / "asked")


def test_a_budget_leaves_prompts_without_a_reply(tmp_path: Path) -> None:
    prompts = [prompt_of(word) for word in "abc"]
    ask_replies(Asking("test:m", provider=Counting()), prompts[:1], tmp_path / "asked")
    asking = Asking("test:m", budget="1 tokens", concurrency=1, provider=Counting())
    assert ask_replies(asking, prompts[1:], tmp_path / "asked") == {}


def test_a_decline_is_told(tmp_path: Path) -> None:
    asking = Asking("test:m", confirm=lambda _: False, provider=Counting())
    with pytest.raises(OptionError, match="declined"):
        ask_replies(asking, [prompt_of("a")], tmp_path / "asked")


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
    assert read_fields('"a": "b", "c": ["d"]') == {"a": "b", "c": ["d"]}


@settings(deadline=None)
@given(st.text(alphabet="{}[]()\"'“”,: \n\\abN/*#", max_size=80))
def test_any_text_is_read_without_a_failure(reply):
    assert all(isinstance(each, dict) and each for each in read_objects(reply))


@settings(max_examples=20, deadline=None)
@given(st.sampled_from(['{"', "{'a", "{[", "{a ", "{}", '{"a":1}', '{"a":[', "{x}", '{"a" "']))
def test_no_reply_takes_long(piece):
    began = time.process_time()
    read_objects(piece * 20_000)
    assert time.process_time() - began < 5
