"""The built-in services: how each one's client is made, with its own retries switched off.

Each function is an entry point of the group `portrayal.providers`. Clients are imported inside, so
that only the service in use needs its extra.
"""

import os
from collections.abc import Mapping
from functools import partial
from typing import Any

from portrayal.collect.ask.provider import Provider, StopError
from portrayal.errors import OptionError
from portrayal.validate import from_extra

Parameters = Mapping[str, Any]
_ONCE = {"max_retries": 0}
"""The collection tries again by itself, and pays for tries that it does not see."""
KEYS: Mapping[str, tuple[str, ...]] = {
    "anthropic": ("ANTHROPIC_API_KEY",),
    "google": ("GOOGLE_API_KEY", "GEMINI_API_KEY"),
    "mistral": ("MISTRAL_API_KEY",),
    "openai": ("OPENAI_API_KEY",),
    "server": ("PORTRAYAL_SERVER_KEY",),
}
"""Environment variables of each service's key, the first to be set counts."""


def _service(name: str, model: str, base_url: str | None, parameters: Parameters) -> Provider:
    """A model of a service, by the classes that pydantic-ai has for it."""
    is_server = name == "server"
    if is_server and base_url is None:
        raise OptionError(
            f"server:{model} needs the address of the server: give --base-url, such as "
            "http://localhost:11434/v1 for Ollama or http://localhost:8000/v1 for vLLM."
        )
    service = "openai" if is_server else name
    with from_extra(service, f"asking {service} needs its client"):
        from pydantic_ai.models import infer_model
        from pydantic_ai.providers import infer_provider_class

        from portrayal.collect.ask.remote import WHOLE, RemoteModel

        if is_server:
            from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

            client: Any = partial(OpenAICompatibleProvider, "server")
        else:
            client = infer_provider_class(name)
    by_openai = name in ("openai", "server")
    # What speaks OpenAI's chat completions at another address may want no key.
    key = _key(name, needed=not by_openai or base_url is None)
    address = {"base_url": base_url} if base_url else {}
    older = {"openai_chat_supports_max_completion_tokens": False} if is_server else {}

    def make(http: Any) -> Any:
        provider = client(api_key=key or "none", http_client=http, **address)
        # Inferred for its class alone, which is made anew with a profile of our own.
        spec = f"{'openai-chat' if by_openai else name}:{model}"
        kind: Any = type(infer_model(spec, lambda _: provider))
        return kind(model, provider=provider, profile=WHOLE | older)

    return RemoteModel(name, make, parameters, KEYS[name], _ONCE)


openai = partial(_service, "openai")
"""OpenAI's chat completions; with a base URL, a server that speaks them."""
anthropic = partial(_service, "anthropic")
"""Anthropic's messages."""
google = partial(_service, "google")
"""Google's Gemini API."""
mistral = partial(_service, "mistral")
"""Mistral's chat completions."""


server = partial(_service, "server")
"""Any OpenAI-compatible server (vLLM, Ollama, llama.cpp, …); its key is optional."""


def _key(service: str, *, needed: bool = True) -> str | None:
    """Return the first key that is set, from the environment only."""
    for variable in KEYS[service]:
        if value := os.environ.get(variable, "").strip():
            return value
    if needed:
        raise StopError(
            f"{service}: there is no key. Set {' or '.join(KEYS[service])} in the environment, "
            f"such as `export {KEYS[service][0]}=…`, and run the same command again."
        )
    return None
