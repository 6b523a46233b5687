"""Objects in replies, and asking that never pays twice."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from portrayal.collect.ask import Answer
from portrayal.collect.ask.asking import Asking
from portrayal.collect.ask.replies import asker, objects_in, prompt_of
from portrayal.errors import OptionError


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
    ask = asker(Asking("test:m", provider=model), tmp_path / "asked")
    first = ask([prompt_of("a"), prompt_of("b"), prompt_of("a")])
    assert {reply.text for reply in first.values()} == {"A", "B"}
    again = ask([prompt_of("b"), prompt_of("c"), prompt_of("b", 1)])
    assert [again[prompt_of(*each).prompt_id].text for each in (("b",), ("c",), ("b", 1))] == [
        "B",
        "C",
        "B",
    ]
    assert sorted(model.asked) == ["a", "b", "b", "c"]
    assert ask([]) == {}


def test_a_budget_below_a_first_answer_is_an_error(tmp_path: Path) -> None:
    asking = Asking("test:m", budget="1 tokens", concurrency=1, provider=Counting())
    with pytest.raises(OptionError, match="does not cover a first answer"):
        asker(asking, tmp_path / "asked")([prompt_of("a")])


def test_a_budget_leaves_prompts_without_a_reply(tmp_path: Path) -> None:
    prompts = [prompt_of(word) for word in "abc"]
    asker(Asking("test:m", provider=Counting()), tmp_path / "asked")(prompts[:1])
    asking = Asking("test:m", budget="1 tokens", concurrency=1, provider=Counting())
    assert asker(asking, tmp_path / "asked")(prompts[1:]) == {}


def test_a_decline_is_told(tmp_path: Path) -> None:
    asking = Asking("test:m", confirm=lambda _: False, provider=Counting())
    with pytest.raises(OptionError, match="declined"):
        asker(asking, tmp_path / "asked")([prompt_of("a")])
