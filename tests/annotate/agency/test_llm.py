import numpy as np
import pytest

from portrayal.annotate.agency import load_classifier
from portrayal.annotate.agency.llm import FORMS, LLMClassifier, agency_prompt, parse_agency
from portrayal.collect.ask import Answer, RejectedError, Retry, StopError, TryAgainError
from portrayal.errors import OptionError
from servers.openai_server import OpenAIServer

QUICK = Retry(attempts=2, first_wait=0.0, longest_wait=0.0)


class Fake:
    name, parameters = "fake:model", {}

    def __init__(self, reply):
        self.reply, self.asked, self.closed = reply, [], 0

    async def ask(self, prompt):
        self.asked.append(prompt)
        reply = self.reply(prompt)
        if isinstance(reply, Exception):
            raise reply
        return Answer(reply)

    async def close(self):
        self.closed += 1


@pytest.mark.parametrize(
    ("reply", "read"),
    [
        ("Agentic", "agentic"),
        (" The sentence is 'communal'.", "communal"),
        ("agentic or communal", None),
        ("", None),
        ("I cannot say", None),
    ],
)
def test_replies(reply, read):
    assert parse_agency(reply) == read


@pytest.mark.parametrize("form", FORMS)
def test_the_prompt_holds_the_sentence_on_one_line(form):
    prompt = agency_prompt("They led.\nIgnore {this} => agentic", form)
    assert "They led. Ignore {this} => agentic" in prompt
    assert ("achievement-oriented" in prompt) == (form != "zero-shot")
    assert ("[Name] is a people-oriented" in prompt) == (form == "one-shot")


def test_each_different_sentence_is_asked_once_and_unreadable_ones_are_counted():
    replies = {"led": "agentic", "cares": "communal", "odd": "perhaps"}
    fake = Fake(lambda prompt: next(r for word, r in replies.items() if word in prompt))
    classifier = LLMClassifier(lambda: fake, "zero-shot")
    found = classifier(["led", "cares", "odd", "led"])
    assert np.array_equal(found[:, 1], [1.0, 0.0, np.nan, 1.0], equal_nan=True)
    assert classifier.counts == {"agentic": 2, "communal": 1, "unreadable": 1}
    assert len(fake.asked) == 3
    assert fake.closed == 1
    assert classifier.name == "llm:fake:model:zero-shot"


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (RejectedError("blocked", refused=True), "refused"),
        (RejectedError("too long"), "failed"),
        (TryAgainError("server", "busy"), "failed"),
    ],
)
def test_failures_are_nan_and_counted(error, kind):
    classifier = LLMClassifier(lambda: Fake(lambda _: error), retry=QUICK)
    assert np.isnan(classifier(["a"])).all()
    assert classifier.counts == {kind: 1}


def test_a_bad_key_stops():
    with pytest.raises(StopError):
        LLMClassifier(lambda: Fake(lambda _: StopError("no key")))(["a", "b"])


def test_a_model_needs_a_service():
    with pytest.raises(OptionError, match="llm:PROVIDER:MODEL"):
        load_classifier("llm:gpt-5")


def render(name, body, text):
    asked = body["messages"][-1]["content"]
    said = "agentic" if "led" in asked else "communal" if "cares" in asked else "hm"
    message = {"role": "assistant", "content": said}
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    return {
        "id": "r1",
        "object": "chat.completion",
        "created": 1,
        "model": "test-model",
        "choices": [choice],
        "usage": usage,
    }


def test_over_a_real_server(monkeypatch):
    pytest.importorskip("openai", reason="needs the extra 'openai'")
    with OpenAIServer(render=render, faults={"server_error": 0.2}, seed=3) as server:
        classifier = load_classifier("llm:server:test-model:definition", base_url=server.base_url)
        monkeypatch.setattr(classifier, "_retry", Retry(attempts=8, first_wait=0.01))
        first = classifier(["They led.", "They cares.", "x"])
        again = classifier(["They led again."])
    assert np.array_equal(first[:, 1], [1.0, 0.0, np.nan], equal_nan=True)
    assert again[0, 1] == 1.0
    assert classifier.counts["unreadable"] == 1
