"""The built-in services: how each one's client is made, with its own retries switched off.

Each function is an entry point of the group `portrayal.providers`. Clients are imported inside, so
that only the service in use needs its extra.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any

from portrayal.collect.ask.provider import Provider, StopError
from portrayal.errors import MissingExtraError, OptionError

Parameters = Mapping[str, Any]
_ONCE = {"max_retries": 0}
"""The collection tries again by itself, and pays for tries that it does not see."""
_LEGACY = ("cohere", "groq")
"""Services whose clients send by httpx, the others by httpx2."""
KEYS: Mapping[str, tuple[str, ...]] = {
    "anthropic": ("ANTHROPIC_API_KEY",),
    "bedrock": ("AWS_BEARER_TOKEN_BEDROCK", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"),
    "cohere": ("CO_API_KEY",),
    "google": ("GOOGLE_API_KEY", "GEMINI_API_KEY"),
    "groq": ("GROQ_API_KEY",),
    "huggingface": ("HF_TOKEN",),
    "mistral": ("MISTRAL_API_KEY",),
    "openai": ("OPENAI_API_KEY",),
    "server": ("PORTRAYAL_SERVER_KEY",),
}
"""Environment variables of each service's key, the first to be set counts."""


def _service(name: str, model: str, base_url: str | None, parameters: Parameters) -> Provider:
    """A model of a service, by the classes that pydantic-ai has for it."""
    with _extra(name):
        from pydantic_ai.models import create_async_http_client, infer_model
        from pydantic_ai.providers import infer_provider_class

        from portrayal.collect.ask.batch.services import SERVICES
        from portrayal.collect.ask.remote import WHOLE, RemoteModel

        client: Any = infer_provider_class(name)
    # What speaks OpenAI's chat completions at another address may want no key.
    key = _key(name, needed=name != "openai" or base_url is None) or "none"
    address = {"base_url": base_url} if base_url else {}
    spec = f"{'openai-chat' if name == 'openai' else name}:{model}"

    def make(http: Any) -> Any:
        provider = client(api_key=key, http_client=http, **address)
        # Inferred for its class alone, which is made anew with a profile of our own.
        kind: Any = type(infer_model(spec, lambda _: provider))
        return kind(model, provider=provider, profile=WHOLE)

    http = create_async_http_client if name in _LEGACY else None
    return RemoteModel(name, make, parameters, KEYS[name], _ONCE, http, SERVICES.get(name))


openai = partial(_service, "openai")
"""OpenAI's chat completions; with a base URL, a server that speaks them."""
anthropic = partial(_service, "anthropic")
"""Anthropic's messages."""
google = partial(_service, "google")
"""Google's Gemini API."""
mistral = partial(_service, "mistral")
"""Mistral's chat completions."""
groq = partial(_service, "groq")
"""Groq's chat completions."""


def cohere(model: str, base_url: str | None, parameters: Parameters) -> Provider:
    """Cohere's chat; its client takes another address from the environment only."""
    if base_url is not None:
        raise OptionError(
            f"cohere:{model} takes another address from the variable CO_BASE_URL: set it and "
            "leave --base-url out."
        )
    return _service("cohere", model, None, parameters)


def server(model: str, base_url: str | None, parameters: Parameters) -> Provider:
    """Any OpenAI-compatible server (vLLM, Ollama, llama.cpp, …); its key is optional."""
    if base_url is None:
        raise OptionError(
            f"server:{model} needs the address of the server: give --base-url, such as "
            "http://localhost:11434/v1 for Ollama or http://localhost:8000/v1 for vLLM."
        )
    with _extra("openai"):
        from pydantic_ai.models.openai import OpenAIChatModel
        from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

        from portrayal.collect.ask.remote import WHOLE, RemoteModel
    profile: Any = {"openai_chat_supports_max_completion_tokens": False, **WHOLE}
    key = _key("server", needed=False)

    def make(http: Any) -> Any:
        client = OpenAICompatibleProvider(
            "server", base_url=base_url, api_key=key, http_client=http
        )
        return OpenAIChatModel(model, provider=client, profile=profile)

    return RemoteModel("server", make, parameters, KEYS["server"], _ONCE)


def huggingface(model: str, base_url: str | None, parameters: Parameters) -> Provider:
    """Hugging Face's inference providers; their client does not retry."""
    with _extra("huggingface"):
        import httpx
        from huggingface_hub import set_async_client_factory
        from pydantic_ai.models.huggingface import HuggingFaceModel
        from pydantic_ai.providers.huggingface import HuggingFaceProvider

        from portrayal.collect.ask.remote import WHOLE, RemoteModel
        from portrayal.collect.ask.wire import watched
    # This client takes no HTTP client, but asks its library for one.
    set_async_client_factory(lambda: watched(httpx.AsyncClient(follow_redirects=True, timeout=600)))
    service: Any = HuggingFaceProvider  # its overloads leave out that both may be None
    client = service(base_url=base_url, api_key=_key("huggingface"))
    hosted = HuggingFaceModel(model, provider=client, profile=WHOLE)
    return RemoteModel("huggingface", lambda _: hosted, parameters, KEYS["huggingface"])


def bedrock(model: str, base_url: str | None, parameters: Parameters) -> Provider:
    """Amazon Bedrock's converse, with the credentials and region of the AWS environment."""
    with _extra("bedrock"):
        import boto3  # type: ignore[import-untyped,unused-ignore]
        from botocore.config import Config  # type: ignore[import-untyped,unused-ignore]
        from botocore.exceptions import NoRegionError  # type: ignore[import-untyped,unused-ignore]
        from pydantic_ai.models.bedrock import BedrockConverseModel
        from pydantic_ai.providers.bedrock import BedrockProvider

        from portrayal.collect.ask.remote import RemoteModel
        from portrayal.collect.ask.wire import on_parse
    once = Config(
        retries={"total_max_attempts": 1, "mode": "standard"},
        read_timeout=600,
        max_pool_connections=64,
    )
    try:
        client = boto3.client("bedrock-runtime", config=once, endpoint_url=base_url)
    except NoRegionError:
        raise StopError(f"bedrock:{model}: no region. Set AWS_DEFAULT_REGION.") from None
    client.meta.events.register("before-parse", on_parse)
    converse = BedrockConverseModel(model, provider=BedrockProvider(bedrock_client=client))
    return RemoteModel("bedrock", lambda _: converse, parameters, KEYS["bedrock"])


@contextmanager
def _extra(name: str) -> Iterator[None]:
    """Name the extra when a client is not installed."""
    try:
        yield
    except ImportError as error:
        if isinstance(error, MissingExtraError):
            raise
        raise MissingExtraError(
            f'asking {name} needs its client: pip install "portrayal[{name}]".'
        ) from error


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
