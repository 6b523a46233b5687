"""Texts of two kinds of sentences, a classifier that knows both, and a model with a script."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest

from portrayal.annotate.agency import AgencyClassifier
from portrayal.collect.ask.replies import Replies, Reply
from portrayal.mitigate.mitigation import MitigatedText, read_agency
from portrayal.records import Prompt

WARM, LEADS = "is warm to all.", "leads the work."


class Classifier(AgencyClassifier):
    """Communal where a sentence is warm, agentic else; keeps what it read."""

    def __init__(self, masked: bool = True) -> None:
        super().__init__("warm", masked, self.say)
        self.sentences = list[str]()

    def say(self, sentences: Sequence[str]) -> Any:
        self.sentences += sentences
        return [0.2 if "warm" in each else 0.9 for each in sentences]


def read(passages: Sequence[MitigatedText]) -> None:
    read_agency(passages, Classifier())


def passage(text: str, prompt: str, **more: Any) -> MitigatedText:
    return MitigatedText({"text": text, "prompt": prompt, **more}, "text", text, (), "")


def crowd(n: int = 40, warm: tuple[int, int] = (1, 3)) -> list[MitigatedText]:
    """Return texts of four sentences about men and women, with so many warm ones each."""
    made = []
    for i in range(n):
        who, count = (("male", "He"), ("female", "She"))[i % 2], warm[i % 2]
        said = [WARM] * count + [LEADS] * (4 - count)
        text = " ".join(f"{who[1]} {each}" for each in said)
        made.append(passage(text, f"p{i}", gender=who[0]))
    return made


class Model:
    """Answers prompts by a function of the prompt, and keeps what it was asked."""

    def __init__(self, says: Callable[[str], Reply | str | None]) -> None:
        self.says, self.asked = says, list[Prompt]()

    def __call__(self, prompts: Iterable[Prompt]) -> Replies:
        found = {}
        for prompt in prompts:
            self.asked.append(prompt)
            said = self.says(prompt.text)
            if said is not None:
                found[prompt.prompt_id] = [Reply(said, "ok") if isinstance(said, str) else said]
        return found


@pytest.fixture
def bold() -> Model:
    """Rewrites one warm sentence after the other."""
    edit = '{"original": "is warm to all", "edited": "directs everyone"}'
    return Model(lambda _: f'{{"edits": [{", ".join([edit] * 4)}]}}')
