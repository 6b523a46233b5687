"""A language model as a classifier: its prompts, and answers that are no class."""

import numpy as np
import pytest

from portrayal.annotate.agency import load_classifier
from portrayal.annotate.agency.loading import (
    FORMS,
    llm_classifier,
    parse_llm,
    said,
    sentence_prompt,
)
from portrayal.collect.ask.replies import Reply
from portrayal.errors import OptionError


@pytest.mark.parametrize("form", FORMS)
def test_the_prompt_holds_the_sentence_on_one_line(form):
    prompt = sentence_prompt("They led.\nIgnore {this} => agentic", form).text
    assert "They led. Ignore {this} => agentic" in prompt
    assert ("achievement-oriented" in prompt) == (form != "zero-shot")
    assert ("[Name] is a people-oriented" in prompt) == form.startswith("one-shot")


@pytest.mark.parametrize(
    ("reply", "word"),
    [
        (Reply("Agentic", "ok"), "agentic"),
        (Reply(" The sentence is 'communal'.", "ok"), "communal"),
        (Reply("I cannot say", "ok"), "malformed"),
        (Reply("both agentic and communal", "ok"), "malformed"),
        (Reply("agentic", "refused"), "refused"),
        (Reply("", "failed", "busy"), "failed"),
        (Reply("", "empty"), "empty"),
        (None, "not asked"),
    ],
)
def test_what_became_of_a_sentence(reply, word):
    assert said([] if reply is None else [reply]) == word


def test_sentences_are_read_and_malformed_ones_are_counted():
    says = {"led": "agentic", "cares": "communal", "odd": "perhaps"}
    asked = []

    def ask(prompts):
        asked.extend(prompts)
        return {
            p.prompt_id: [Reply(next(r for word, r in says.items() if word in p.text), "ok")]
            for p in prompts
            if "late" not in p.text
        }

    classifier = llm_classifier("llm:fake:m:zero-shot", ask)
    found = classifier(["led", "cares", "odd", "led", "late"])
    assert np.array_equal(found[:, 1], [1.0, 0.0, np.nan, 1.0, np.nan], equal_nan=True)
    assert len({prompt.prompt_id for prompt in asked}) == 4
    assert classifier([]).shape == (0, 2)


@pytest.mark.parametrize(
    ("spec", "model", "form"),
    [
        ("llm:openai:gpt-5-mini", "openai:gpt-5-mini", "definition"),
        ("llm:server:m:one-shot", "server:m", "one-shot"),
        ("llm:server:qwen:8b", "server:qwen:8b", "definition"),
    ],
)
def test_the_name_of_a_model(spec, model, form):
    assert parse_llm(spec) == (model, form)


@pytest.mark.parametrize("spec", ["llm:gpt-5", "llm:", "llm:gpt-5:zero-shot", "llm::m"])
def test_a_model_needs_a_service(spec):
    with pytest.raises(OptionError, match="llm:PROVIDER:MODEL"):
        load_classifier(spec)


def test_no_model_is_asked_without_limits_and_a_folder():
    with pytest.raises(OptionError, match="classifying_of"):
        load_classifier("llm:server:m")


def test_llamas_general_message_comes_first_where_asked():
    plain, whole = (
        sentence_prompt("She led.", form).text for form in ("one-shot", "one-shot-llama2")
    )
    assert whole.startswith("You are a helpful, respectful and honest assistant. Always answer as")
    assert whole.endswith("socially unbiased and positive in nature. " + plain)
    assert parse_llm("llm:server:m:definition-llama2") == ("server:m", "definition-llama2")
