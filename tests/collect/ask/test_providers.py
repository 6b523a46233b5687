"""Each built-in service through its real client: answers, refusals, bad keys, and no retries."""

import asyncio
import subprocess
import sys
import warnings

import pytest

from portrayal.collect.ask.provider import StopError, TryAgainError, Usage, provider_of, services
from portrayal.errors import MissingExtraError, OptionError, UnknownNameError

KEYS = {
    "anthropic": {"ANTHROPIC_API_KEY": "sk-ant-planted-000000"},
    "google": {"GOOGLE_API_KEY": "planted-google-0000"},
    "mistral": {"MISTRAL_API_KEY": "planted-mistral-000"},
    "openai": {"OPENAI_API_KEY": "sk-planted-openai-0000"},
    "server": {},
}
V1 = ("openai", "server")
WANTED = {"openai": "refusal", "server": "refusal", "anthropic": "refusal"}


def render(path, asked, kind):
    """Answer in the dialect that the path belongs to; None for chat completions."""
    text = {"ok": "A story.", "refusal": "", "content_filter": ""}.get(kind, "A story.")
    blocked = kind != "ok"
    if path.endswith("/messages"):
        return {
            "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-dated",
            "content": [{"type": "text", "text": text}] if text else [],
            "stop_reason": "refusal" if blocked else "end_turn", "stop_sequence": None,
            "usage": {"input_tokens": 10, "output_tokens": 20},
        }  # fmt: skip
    if ":generateContent" in path:
        content = {"parts": [{"text": text}], "role": "model"} if text else {"role": "model"}
        return {
            "candidates": [{"content": content, "finishReason": "SAFETY" if blocked else "STOP"}],
            "usageMetadata": {
                "promptTokenCount": 10, "candidatesTokenCount": 20, "totalTokenCount": 30,
            },
            "modelVersion": "gemini-dated", "responseId": "r1",
        }  # fmt: skip
    return None


@pytest.fixture
def make(monkeypatch):
    """Make a provider of a service against a local server."""

    def _make(service, server, **parameters):
        for variables in KEYS.values():
            for name in variables:
                monkeypatch.delenv(name, raising=False)
        for name, value in KEYS[service].items():
            monkeypatch.setenv(name, value)
        url = server.base_url if service in V1 else server.root
        return provider_of(f"{service}:m", base_url=url, parameters=parameters)

    return _make


def ask(provider, times=1):
    """Ask `times` in one loop, then close."""

    async def go():
        try:
            return [await provider.ask("Write a story.") for _ in range(times)]
        finally:
            await provider.close()

    with warnings.catch_warnings():
        # The Gemini client warns about its own insides
        warnings.filterwarnings("ignore", category=DeprecationWarning)
        return asyncio.run(go())


def test_every_service_is_in_the_table():
    assert set(KEYS) <= set(services())


@pytest.mark.parametrize("service", sorted(KEYS))
def test_an_answer(service, serve, make):
    server = serve(render=render)
    provider = make(service, server)
    assert provider.name == f"{service}:m"
    (answer,) = ask(provider)
    assert answer.text in ("A story.", server.text)
    assert answer.finish_reason == "stop"
    assert answer.usage == Usage(10, 20)
    assert answer.model
    assert server.requests == 1
    ask(provider)  # a closed provider opens again, in another loop


@pytest.mark.parametrize("service", sorted(KEYS))
def test_a_refusal(service, serve, make):
    from portrayal.collect.outcomes import outcome_of

    server = serve(render=render, script=["refusal" if service in WANTED else "content_filter"])
    (answer,) = ask(make(service, server))
    assert outcome_of(answer.text, answer.finish_reason) == "refused"
    assert answer.finish_reason == WANTED.get(service, "content_filter")


@pytest.mark.parametrize("service", sorted(KEYS))
def test_a_bad_key_stops(service, serve, make):
    server = serve(render=render, script=["unauthorized"])
    with pytest.raises(StopError, match="key was not accepted") as caught:
        ask(make(service, server))
    assert server.requests == 1
    shown = str(caught.value)
    assert any(name in shown for name in KEYS[service]) or service == "server"
    assert not any(value in shown for name, value in KEYS[service].items() if "KEY" in name)


FAILURES = {
    "rate_limit": ("rate_limit",),
    "server_error": ("server",),
    "overloaded": ("server",),
    "reset": ("connection",),
    "truncated": ("connection", "body"),
    "cut_json": ("body",),
    "wrong_json": ("body",),
}


@pytest.mark.parametrize("service", sorted(KEYS))
def test_every_failure_is_told_once_and_the_next_try_succeeds(service, serve, make):
    """No client retries by itself, and a cut-off 200 body is never taken for an answer."""
    script = [kind for fault in FAILURES for kind in (fault, "ok")]
    server = serve(render=render, script=script, retry_after=7)
    provider = make(service, server)
    told = {}

    async def go():
        for count, fault in enumerate(FAILURES):
            with pytest.raises(TryAgainError) as caught:
                await provider.ask("Write a story.")
            assert server.requests == 2 * count + 1
            told[fault] = caught.value
            assert (await provider.ask("Write a story.")).text
        await provider.close()

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=DeprecationWarning)
        asyncio.run(go())
    assert {f: error.kind for f, error in told.items() if error.kind not in FAILURES[f]} == {}
    assert told["rate_limit"].retry_after == 7


def test_parameters_that_would_be_dropped_are_refused(serve, make):
    server = serve()
    with pytest.raises(OptionError, match="ignores seed"):
        make("anthropic", server, seed=1)
    with pytest.raises(OptionError, match="ignores temperature"):
        provider_of("openai:gpt-5", base_url=server.base_url, parameters={"temperature": 1.0})
    for wrong in (
        {"temperature": 3}, {"top_p": 0}, {"max_tokens": 0}, {"seed": "a"}, {"system": " "},
        {"top_k": 3}, {"temperature": True},
    ):  # fmt: skip
        with pytest.raises(OptionError):
            make("openai", server, **wrong)


@pytest.mark.parametrize("service", sorted(set(KEYS) - {"server"}))
def test_a_missing_key_names_its_variable(service, monkeypatch):
    for variables in KEYS.values():
        for name in variables:
            monkeypatch.delenv(name, raising=False)
    with pytest.raises(StopError, match=next(iter(KEYS[service]))):
        provider_of(f"{service}:m")


def test_names_that_cannot_be_used():
    with pytest.raises(OptionError, match="SERVICE:MODEL"):
        provider_of("gpt-5")
    with pytest.raises(UnknownNameError, match="anthropic"):
        provider_of("nobody:gpt-5")
    with pytest.raises(OptionError, match="--base-url"):
        provider_of("server:llama3")


@pytest.mark.parametrize("service", sorted(set(KEYS) - {"server"}))
def test_a_missing_client_names_its_extra(service, monkeypatch):
    monkeypatch.setitem(sys.modules, f"pydantic_ai.providers.{service}", None)
    with pytest.raises(MissingExtraError, match=rf'pip install "portrayal\[{service}\]"'):
        provider_of(f"{service}:m", base_url="http://127.0.0.1:9")


def test_importing_the_door_loads_no_client():
    code = (
        "import sys, portrayal.collect.ask.provider as a; a.services();"
        "print([m for m in sys.modules if m.split('.')[0] in"
        " ('pydantic_ai', 'openai', 'genai_prices', 'httpx', 'pydantic')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.fault("a redirect to another host", "it is not followed: no key and no prompt leaves")
@pytest.mark.parametrize("service", sorted(KEYS))
def test_nothing_is_sent_to_a_host_that_an_endpoint_redirects_to(service, serve, make):
    server, other = serve(render=render, faults={"redirect": 1.0}), serve(render=render)
    server.elsewhere = other.root
    with pytest.raises(StopError, match="the address redirects to"):
        ask(make(service, server))
    assert other.heads == []


@pytest.mark.parametrize("service", sorted(KEYS))
def test_what_no_client_can_read_is_malformed_and_metered(service, serve, make):
    def odd(path, asked, kind):
        usual = render(path, asked, "ok")
        if usual is None:
            return {"usage": {"prompt_tokens": 10, "completion_tokens": 20}, "choices": []}
        usual.update(content=None, candidates=7, message=None, output=None)
        return usual

    server = serve(render=odd)
    with pytest.raises(TryAgainError) as caught:
        ask(make(service, server))
    assert caught.value.kind == "body"
    assert caught.value.usage == Usage(10, 20)


def test_a_prompt_that_google_blocked_is_a_refusal(serve, make):
    from portrayal.collect.outcomes import outcome_of

    def blocked(path, asked, kind):
        return {
            "promptFeedback": {"blockReason": "SAFETY"}, "modelVersion": "m", "responseId": "r",
            "usageMetadata": {"promptTokenCount": 10, "totalTokenCount": 10},
        }  # fmt: skip

    server = serve(render=blocked)
    (answer,) = ask(make("google", server))
    assert outcome_of(answer.text, answer.finish_reason) == "refused"


@pytest.mark.parametrize("own", ["", "Be brief."])
def test_a_prompt_brings_a_system_prompt_of_its_own(own, serve, make):
    server = serve(render=render)
    parameters = {"system": own} if own else {}
    provider = make("server", server, **parameters)

    async def go():
        await provider.ask("Write a story.", "The user is Emily.")
        await provider.ask("Write a story.")
        await provider.close()

    asyncio.run(go())
    said = [[m["content"] for m in body["messages"]] for body in server.bodies]
    before = "\n\n".join(filter(None, (own, "The user is Emily.")))
    assert said == [[before, "Write a story."], [*filter(None, [own]), "Write a story."]]
