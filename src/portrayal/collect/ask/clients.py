"""The built-in services: how each one's client is made, with its own retries switched off.

Each function is an entry point of the group `portrayal.providers`. Clients are imported inside, so
that only the service in use needs its extra.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from portrayal.collect.ask.provider import Provider, StopError
from portrayal.errors import MissingExtraError, OptionError

if TYPE_CHECKING:
    from pydantic_ai.models import Model

    from portrayal.collect.ask.batch.store import BatchService
    from portrayal.collect.ask.remote import RemoteModel

Parameters = Mapping[str, Any]
Make = Callable[[Any], "Model[Any]"]
"""Makes a model whose client sends by the HTTP client that it is given."""
_ONCE = {"max_retries": 0}
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


def openai(model: str, base_url: str | None, parameters: Parameters) -> Provider:
    """OpenAI's chat completions; with a base URL, a server that speaks them."""
    with _extra("openai"):
        from pydantic_ai.models.openai import OpenAIChatModel
        from pydantic_ai.providers.openai import OpenAIProvider

        from portrayal.collect.ask.batch.services import OpenAIBatches
    key = _key("openai", needed=base_url is None) or "none"
    make = _maker(OpenAIChatModel, OpenAIProvider, model, base_url=base_url, api_key=key)
    return _remote("openai", make, parameters, batches=OpenAIBatches)


def server(model: str, base_url: str | None, parameters: Parameters) -> Provider:
    """Any OpenAI-compatible server (vLLM, Ollama, llama.cpp, …); its key is optional."""
    if base_url is None:
        raise OptionError(
            f"server:{model} needs the address of the server: give --base-url, such as "
            "http://localhost:11434/v1 for Ollama or http://localhost:8000/v1 for vLLM."
        )
    with _extra("openai"):
        from pydantic_ai.models.openai import OpenAIChatModel
        from pydantic_ai.profiles.openai import OpenAIModelProfile
        from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider
    settings: dict[str, Any] = {"base_url": base_url, "api_key": _key("server", needed=False)}
    profile = OpenAIModelProfile(openai_chat_supports_max_completion_tokens=False)
    provider = partial(OpenAICompatibleProvider, "server")
    make = _maker(OpenAIChatModel, provider, model, profile, **settings)
    return _remote("server", make, parameters)


def anthropic(model: str, base_url: str | None, parameters: Parameters) -> Provider:
    """Anthropic's messages."""
    with _extra("anthropic"):
        from pydantic_ai.models.anthropic import AnthropicModel
        from pydantic_ai.providers.anthropic import AnthropicProvider

        from portrayal.collect.ask.batch.services import AnthropicBatches
    key = _key("anthropic")
    make = _maker(AnthropicModel, AnthropicProvider, model, base_url=base_url, api_key=key)
    return _remote("anthropic", make, parameters, batches=AnthropicBatches)


def google(model: str, base_url: str | None, parameters: Parameters) -> Provider:
    """Google's Gemini API."""
    with _extra("google"):
        from pydantic_ai.models.google import GoogleModel
        from pydantic_ai.providers.google import GoogleProvider

        from portrayal.collect.ask.batch.services import GoogleBatches
    make = _maker(GoogleModel, GoogleProvider, model, base_url=base_url, api_key=_key("google"))
    return _remote("google", make, parameters, _ONCE, batches=GoogleBatches)


def mistral(model: str, base_url: str | None, parameters: Parameters) -> Provider:
    """Mistral's chat completions."""
    with _extra("mistral"):
        from pydantic_ai.models.mistral import MistralModel
        from pydantic_ai.providers.mistral import MistralProvider
    make = _maker(MistralModel, MistralProvider, model, base_url=base_url, api_key=_key("mistral"))
    return _remote("mistral", make, parameters, _ONCE)


def cohere(model: str, base_url: str | None, parameters: Parameters) -> Provider:
    """Cohere's chat; its client takes another address from the environment only."""
    if base_url is not None:
        raise OptionError(
            f"cohere:{model} takes another address from the variable CO_BASE_URL: set it and "
            "leave --base-url out."
        )
    with _extra("cohere"):
        from pydantic_ai.models import create_async_http_client
        from pydantic_ai.models.cohere import CohereModel
        from pydantic_ai.providers.cohere import CohereProvider
    make = _maker(CohereModel, CohereProvider, model, api_key=_key("cohere"))
    return _remote("cohere", make, parameters, _ONCE, create_async_http_client)


def groq(model: str, base_url: str | None, parameters: Parameters) -> Provider:
    """Groq's chat completions."""
    with _extra("groq"):
        from pydantic_ai.models import create_async_http_client
        from pydantic_ai.models.groq import GroqModel
        from pydantic_ai.providers.groq import GroqProvider
    make = _maker(GroqModel, GroqProvider, model, base_url=base_url, api_key=_key("groq"))
    return _remote("groq", make, parameters, None, create_async_http_client)


def huggingface(model: str, base_url: str | None, parameters: Parameters) -> Provider:
    """Hugging Face's inference providers; their client does not retry."""
    with _extra("huggingface"):
        import httpx
        from huggingface_hub import set_async_client_factory
        from pydantic_ai.models.huggingface import HuggingFaceModel
        from pydantic_ai.providers.huggingface import HuggingFaceProvider

        from portrayal.collect.ask.wire import watched
    # This client takes no HTTP client, but asks its library for one.
    set_async_client_factory(lambda: watched(httpx.AsyncClient(follow_redirects=True, timeout=600)))
    service: Any = HuggingFaceProvider  # its overloads leave out that both may be None
    provider = service(base_url=base_url, api_key=_key("huggingface"))
    make = _maker(HuggingFaceModel, lambda **_: provider, model)
    return _remote("huggingface", make, parameters)


def bedrock(model: str, base_url: str | None, parameters: Parameters) -> Provider:
    """Amazon Bedrock's converse, with the credentials and region of the AWS environment."""
    with _extra("bedrock"):
        import boto3  # type: ignore[import-untyped,unused-ignore]
        from botocore.config import Config  # type: ignore[import-untyped,unused-ignore]
        from botocore.exceptions import NoRegionError  # type: ignore[import-untyped,unused-ignore]
        from pydantic_ai.models.bedrock import BedrockConverseModel
        from pydantic_ai.providers.bedrock import BedrockProvider

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
    return _remote("bedrock", lambda _: converse, parameters)


def _maker(
    make_model: Callable[..., Any],
    make_provider: Callable[..., Any],
    model: str,
    profile: Parameters | None = None,
    **settings: Any,
) -> Make:
    """What makes a model that does not retry by itself over an HTTP client."""
    from portrayal.collect.ask.remote import WHOLE

    def make(http: Any) -> "Model[Any]":
        provider = make_provider(**settings, http_client=http)
        built: Model[Any] = make_model(
            model, provider=provider, profile={**(profile or {}), **WHOLE}
        )
        client: Any = built.provider.client if built.provider else None
        # The collection tries again by itself, and pays for tries that it does not see.
        if hasattr(client, "max_retries"):
            client.max_retries = 0
        return built

    return make


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


def _remote(
    service: str,
    make: Make,
    parameters: Parameters,
    settings: Parameters | None = None,
    http: Callable[[], Any] | None = None,
    batches: "Callable[[RemoteModel], BatchService] | None" = None,
) -> Provider:
    from portrayal.collect.ask.remote import RemoteModel

    return RemoteModel(service, make, parameters, KEYS[service], settings, http, batches)
