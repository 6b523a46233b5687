"""Parameters of each service: in the body of the request, in the journal, and part of the run."""

import json

import pytest

from collect.ask.test_providers import KEYS, V1, ask, make, render
from portrayal.collect.ask.asking import Asking
from portrayal.collect.ask.budget import Price
from portrayal.collect.ask.loop import collect
from portrayal.collect.ask.provider import StopError, Usage, provider_of
from portrayal.errors import OptionError, RunError
from portrayal.records import Prompt

__all__ = ["make"]

TOOK = {
    "openai": (
        {"reasoning_effort": "high", "raw": {"service_tier": "flex", "verbosity": "low"}},
        {"reasoning_effort": "high", "service_tier": "flex", "verbosity": "low"},
    ),
    "server": (
        {"reasoning_effort": "none", "raw": {"top_k": 20, "chat_template_kwargs": {"a": [1]}}},
        {"reasoning_effort": "none", "top_k": 20, "chat_template_kwargs": {"a": [1]}},
    ),
    "anthropic": (
        {"thinking_budget": 2048, "raw": {"top_k": 5}},
        {"thinking": {"type": "enabled", "budget_tokens": 2048}, "top_k": 5},
    ),
    "google": (
        {"thinking_budget": 512},
        {"generationConfig": {"thinkingConfig": {"thinking_budget": 512}}},
    ),
}
"""Service → parameters, and what of them stands in the body of its request."""


def within(part, whole):
    """Whether all of `part` stands in `whole`, inside of mappings too."""
    if isinstance(part, dict):
        return isinstance(whole, dict) and all(within(v, whole.get(k)) for k, v in part.items())
    return part == whole


@pytest.mark.parametrize("service", sorted(TOOK))
def test_a_parameter_reaches_the_body(service, serve, make):
    server = serve(render=render)
    given, sent = TOOK[service]
    ask(make(service, server, **given))
    assert within(sent, server.bodies[-1]), server.bodies[-1]
    ask(make(service, server))
    assert not within(sent, server.bodies[-1])


@pytest.mark.parametrize(
    ("given", "sent"),
    [
        ({"thinking_budget": 0}, {"thinking": {"type": "disabled"}}),
        ({"reasoning_effort": "low"}, {"output_config": {"effort": "low"}}),
    ],
)
def test_what_anthropic_calls_otherwise(given, sent, serve, make):
    server = serve(render=render)
    ask(make("anthropic", server, **given))
    assert within(sent, server.bodies[-1]), server.bodies[-1]


UNSENT = [
    ("openai", "thinking_budget", 10), ("server", "thinking_budget", 10),
    ("mistral", "reasoning_effort", "low"), ("google", "raw", {"k": 1}),
]  # fmt: skip


@pytest.mark.parametrize(("service", "name", "value"), UNSENT)
def test_a_parameter_that_is_not_sent_is_refused(service, name, value, serve, make):
    with pytest.raises(OptionError, match=f"ignores {name}"):
        make(service, serve(), **{name: value})


@pytest.mark.parametrize(
    "wrong",
    [
        {"reasoning_effort": "much"}, {"thinking_budget": -1}, {"thinking_budget": 1.5},
        {"service_tier": "flex"}, {"raw": {"a": None}},
        {"raw": {"a": [{"b": None}]}}, {"raw": [1]}, {"raw": {"model": "another"}},
        {"raw": {"messages": []}}, {"top_k": 3},
    ],
)  # fmt: skip
def test_a_wrong_value_is_refused(wrong, serve, make):
    with pytest.raises(OptionError):
        make("server", serve(), **wrong)


def test_a_temperature_is_taken_where_reasoning_is_off(serve, make):
    server = serve()

    def of(**parameters):
        return provider_of("openai:gpt-5.1", base_url=server.base_url, parameters=parameters)

    ask(make("openai", server))  # sets the key
    ask(of(temperature=0.5, reasoning_effort="none"))
    assert within({"temperature": 0.5, "reasoning_effort": "none"}, server.bodies[-1])
    with pytest.raises(OptionError, match="ignores temperature"):
        of(temperature=0.5, reasoning_effort="high")


def reasoned(path, asked, kind):
    """An answer whose usage says how many of its tokens are reasoning, as each service does."""
    usual = render(path, asked, kind)
    if usual is None:
        message = {
            "role": "assistant", "content": "A story.", "reasoning_content": "Hm, a story.",
        }  # fmt: skip
        details = {"completion_tokens_details": {"reasoning_tokens": 12}}
        return {
            "id": "1", "object": "chat.completion", "created": 1, "model": "m-2026-01-31",
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 10, "completion_tokens": 20, "total_tokens": 30, **details},
        }  # fmt: skip
    if "stop_reason" in usual:
        thinking = {"type": "thinking", "thinking": "Hm, a story.", "signature": "s"}
        usual["content"].insert(0, thinking)
        usual["usage"]["output_tokens_details"] = {"thinking_tokens": 12}
    if "candidates" in usual:
        usual["usageMetadata"] |= {"candidatesTokenCount": 8, "thoughtsTokenCount": 12}
    return usual


@pytest.mark.parametrize("service", ["openai", "server", "anthropic", "google"])
def test_reasoning_tokens_are_counted_within_the_answer(service, serve, make):
    (answer,) = ask(make(service, serve(render=reasoned)))
    assert answer.text == "A story."
    assert answer.usage == Usage(10, 20, 0, 12)
    assert Price(1.0, 2.0).cost(answer.usage) == pytest.approx(50e-6)
    assert answer.reasoning == (0 if service == "google" else len("Hm, a story."))


def test_tokens_of_reasoning_beside_the_answer_are_added(serve, make):
    def beside(path, asked, kind):
        body = reasoned(path, asked, kind)
        body["usage"]["completion_tokens"] = 5
        return body

    (answer,) = ask(make("server", serve(render=beside)))
    assert answer.usage == Usage(10, 17, 0, 12)


MARKED = [
    ("<think>Hm.</think>\n\nMaria smiled.", "Maria smiled."),
    ("<Thinking>a <think>b</think> c</Thinking>Maria smiled.", "Maria smiled."),
    ("Hm, a nurse.</think>Maria smiled.", "Maria smiled."),
    ("[THINK]Hm.[/THINK]Maria smiled.", "Maria smiled."),
    ("<think>Hm, and then she", ""),
    ("Maria < Juan, said the <b>sign</b>.", "Maria < Juan, said the <b>sign</b>."),
]


@pytest.mark.parametrize("service", [*V1, "anthropic"])
@pytest.mark.parametrize(("came", "text"), MARKED)
def test_reasoning_in_the_text_is_removed(service, came, text, serve, make):
    def said(path, asked, kind):
        if (usual := render(path, asked, kind)) is not None:
            usual["content"][0]["text"] = came
        return usual

    (answer,) = ask(make(service, serve(render=said, write=lambda *_: came)))
    assert answer.text == text
    assert answer.reasoning == len(came) - len(text)
    assert answer.finish_reason == "stop"


def test_parameters_versions_and_reasoning_stand_in_the_run(serve, run, prompts, journalled, rows):
    def versions(path, asked, kind):
        body = reasoned(path, asked, kind)
        body["model"] = "m-2026-01-31" if "Prompt 0" in json.dumps(asked) else "m-2026-05-01"
        return body

    server = serve(render=versions)
    given = {"reasoning_effort": "high", "system": "Be brief.", "raw": {"top_k": 20}}
    asking = Asking("server:m", base_url=server.base_url, parameters=given, price="1/2")
    report = collect(run, prompts, asking)
    assert report.usage == Usage(100, 200, 0, 120)
    assert report.cost == pytest.approx(500e-6)
    assert "10 texts held reasoning, which was removed" in report.summary
    assert "answered by several models: m-2026-05-01 (9), m-2026-01-31 (1)" in report.summary
    assert {row["reasoning_tokens"] for row in rows(run)} == {12}
    note = run.texts.note()["asked"]["server:m"]
    assert note["parameters"] == given
    assert note["answered_by"] == {"m-2026-01-31": 1, "m-2026-05-01": 9}
    assert server.bodies[0]["messages"][0] == {"role": "system", "content": "Be brief."}
    # The same again asks nothing, and knows what it knew.
    again = collect(run, prompts, asking)
    assert (again.tries, again.usage, again.n_reasoned) == (0, report.usage, 10)
    for name, value in {
        "reasoning_effort": "low",
        "system": "Be long.",
        "raw": {"top_k": 21},
    }.items():
        other = Asking("server:m", base_url=server.base_url, parameters={**given, name: value})
        with pytest.raises(RunError, match="another condition"):
            collect(run, prompts, other)
    arm = Asking("server:m", base_url=server.base_url, parameters={}, arm="without")
    assert collect(run, prompts, arm).model == "server:m [without]"
    assert {row["model"] for row in rows(run)} == {"server:m", "server:m [without]"}


def test_a_line_of_the_journal_says_what_was_reasoning(serve, run, journalled):
    seen = []
    asking = Asking(
        "server:m", base_url=serve(render=reasoned).base_url,
        progress=lambda state: seen.extend(journalled(run) if state.done else ()),
    )  # fmt: skip
    collect(run, [Prompt("p", "Write.")], asking)
    assert (seen[0]["reasoning_tokens"], seen[0]["reasoning_characters"]) == (12, 12)
    assert seen[0]["answered_by"] == "m-2026-01-31"


def test_thinking_is_part_of_the_estimate(serve, run, prompts, monkeypatch):
    for name, value in KEYS["anthropic"].items():
        monkeypatch.setenv(name, value)
    seen = []
    asking = Asking(
        "anthropic:m", base_url=serve(render=render).root, parameters={"thinking_budget": 2000},
        confirm=lambda estimate: bool(seen.append(estimate)),
    )  # fmt: skip
    collect(run, prompts, asking)
    assert seen[0].output_tokens == 10 * (1_000 + 2_000)


def test_other_parameters_are_no_other_condition_where_nothing_was_answered(serve, run, prompts):
    """Who mends what the service refused is not told that the run holds answers."""
    refusing = serve(faults={"not_found": 1.0})
    asking = Asking("server:m", base_url=refusing.base_url, parameters={"top_p": 0.5})
    with pytest.raises(StopError):
        collect(run, prompts, asking)
    mended = Asking("server:m", base_url=serve().base_url, parameters={})
    assert collect(run, prompts, mended).outcomes["ok"] == len(prompts)
    assert run.texts.note()["asked"]["server:m"]["parameters"] == {}
