"""The built-in services: how each one's client is made, with its own retries switched off.

Each function is an entry point of the group `portrayal.providers`. Clients are imported inside, so
that only the service in use needs its extra.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from portrayal.collect.ask.provider import Provider, StopError, check_parameters
from portrayal.errors import MissingExtraError, OptionError

if TYPE_CHECKING:
    from pydantic_ai.models import Model

    from portrayal.collect.ask.batch.store import BatchService
    from portrayal.collect.ask.remote import RemoteModel

Parameters = Mapping[str, Any]
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

        key = _key("openai", *KEYS["openai"], needed=base_url is None)
        made = OpenAIChatModel(model, provider=OpenAIProvider(base_url, key or "none"))
    made.client.max_retries = 0
    return _remote("openai", made, parameters, KEYS["openai"], batches=_openai_batches)


def _openai_batches(provider: "RemoteModel") -> "BatchService":
    from portrayal.collect.ask.batch.services import OpenAIBatches

    return OpenAIBatches(provider)


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

        key = _key("server", *KEYS["server"], needed=False)
        made = OpenAIChatModel(
            model,
            provider=OpenAICompatibleProvider("server", base_url=base_url, api_key=key),
            profile=OpenAIModelProfile(openai_chat_supports_max_completion_tokens=False),
        )
    made.client.max_retries = 0
    return _remote("server", made, parameters, KEYS["server"])


def anthropic(model: str, base_url: str | None, parameters: Parameters) -> Provider:
    """Anthropic's messages."""
    with _extra("anthropic"):
        from pydantic_ai.models.anthropic import AnthropicModel
        from pydantic_ai.providers.anthropic import AnthropicProvider

        key = _key("anthropic", *KEYS["anthropic"])
        made = AnthropicModel(model, provider=AnthropicProvider(api_key=key, base_url=base_url))
    made.client.max_retries = 0
    return _remote("anthropic", made, parameters, KEYS["anthropic"], batches=_anthropic_batches)


def _anthropic_batches(provider: "RemoteModel") -> "BatchService":
    from portrayal.collect.ask.batch.services import AnthropicBatches

    return AnthropicBatches(provider)


def google(model: str, base_url: str | None, parameters: Parameters) -> Provider:
    """Google's Gemini API."""
    variables = KEYS["google"]
    with _extra("google"):
        from pydantic_ai.models.google import GoogleModel
        from pydantic_ai.providers.google import GoogleProvider

        key = _key("google", *variables)
        made = GoogleModel(model, provider=GoogleProvider(api_key=key, base_url=base_url))
    return _remote("google", made, parameters, variables, _ONCE, batches=_google_batches)


def _google_batches(provider: "RemoteModel") -> "BatchService":
    from portrayal.collect.ask.batch.services import GoogleBatches

    return GoogleBatches(provider)


def mistral(model: str, base_url: str | None, parameters: Parameters) -> Provider:
    """Mistral's chat completions."""
    with _extra("mistral"):
        from pydantic_ai.models.mistral import MistralModel
        from pydantic_ai.providers.mistral import MistralProvider

        key = _key("mistral", *KEYS["mistral"])
        made = MistralModel(model, provider=MistralProvider(api_key=key, base_url=base_url))
    return _remote("mistral", made, parameters, KEYS["mistral"], _ONCE)


def cohere(model: str, base_url: str | None, parameters: Parameters) -> Provider:
    """Cohere's chat; its client takes another address from the environment only."""
    if base_url is not None:
        raise OptionError(
            f"cohere:{model} takes another address from the variable CO_BASE_URL: set it and "
            "leave --base-url out."
        )
    with _extra("cohere"):
        from pydantic_ai.models.cohere import CohereModel
        from pydantic_ai.providers.cohere import CohereProvider

        key = _key("cohere", *KEYS["cohere"])
        made = CohereModel(model, provider=CohereProvider(api_key=key))
    return _remote("cohere", made, parameters, KEYS["cohere"], _ONCE)


def groq(model: str, base_url: str | None, parameters: Parameters) -> Provider:
    """Groq's chat completions."""
    with _extra("groq"):
        from pydantic_ai.models.groq import GroqModel
        from pydantic_ai.providers.groq import GroqProvider

        key = _key("groq", *KEYS["groq"])
        made = GroqModel(model, provider=GroqProvider(api_key=key, base_url=base_url))
    made.client.max_retries = 0
    return _remote("groq", made, parameters, KEYS["groq"])


def huggingface(model: str, base_url: str | None, parameters: Parameters) -> Provider:
    """Hugging Face's inference providers; their client does not retry."""
    with _extra("huggingface"):
        from pydantic_ai.models.huggingface import HuggingFaceModel
        from pydantic_ai.providers.huggingface import HuggingFaceProvider

        key = _key("huggingface", *KEYS["huggingface"])
        service: Any = HuggingFaceProvider  # its overloads leave out that both may be None
        made = HuggingFaceModel(model, provider=service(base_url=base_url, api_key=key))
    return _remote("huggingface", made, parameters, KEYS["huggingface"])


def bedrock(model: str, base_url: str | None, parameters: Parameters) -> Provider:
    """Amazon Bedrock's converse, with the credentials and region of the AWS environment."""
    variables = KEYS["bedrock"]
    with _extra("bedrock"):
        import boto3  # type: ignore[import-untyped,unused-ignore]
        from botocore.config import Config  # type: ignore[import-untyped,unused-ignore]
        from botocore.exceptions import NoRegionError  # type: ignore[import-untyped,unused-ignore]
        from pydantic_ai.models.bedrock import BedrockConverseModel
        from pydantic_ai.providers.bedrock import BedrockProvider

        once = Config(
            retries={"total_max_attempts": 1, "mode": "standard"},
            read_timeout=600,
            max_pool_connections=64,
        )
        try:
            client = boto3.client("bedrock-runtime", config=once, endpoint_url=base_url)
        except NoRegionError:
            raise StopError(f"bedrock:{model}: no region. Set AWS_DEFAULT_REGION.") from None
        made = BedrockConverseModel(model, provider=BedrockProvider(bedrock_client=client))
    return _remote("bedrock", made, parameters, variables)


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


def _key(service: str, *variables: str, needed: bool = True) -> str | None:
    """Return the first key that is set, from the environment only."""
    for variable in variables:
        if value := os.environ.get(variable, "").strip():
            return value
    if needed:
        raise StopError(
            f"{service}: there is no key. Set {' or '.join(variables)} in the environment, such as "
            f"`export {variables[0]}=…`, and run the same command again."
        )
    return None


def _remote(
    service: str,
    made: "Model[Any]",
    parameters: Parameters,
    variables: tuple[str, ...],
    settings: Parameters | None = None,
    batches: "Callable[[RemoteModel], BatchService] | None" = None,
) -> Provider:
    from portrayal.collect.ask.remote import RemoteModel

    name = f"{service}:{made.model_name}"
    checked = check_parameters(name, parameters, _ignored(made))
    return RemoteModel(name, made, checked, variables, settings, batches)


def _ignored(made: "Model[Any]") -> set[str]:
    """Parameters that this model would not be sent, or would silently drop."""
    profile: Mapping[str, Any] = made.profile
    ignored: set[str] = set(made.unsupported_settings)
    can_rest = "none" in (profile.get("openai_reasoning_efforts") or ()) or profile.get(
        "openai_supports_reasoning_effort_none", False
    )
    rests = can_rest and not profile.get("thinking_enabled_by_default", False)
    if profile.get("openai_supports_reasoning", False) and not rests:
        ignored |= {"temperature", "top_p"}
    return ignored
