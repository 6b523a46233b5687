"""The built-in services: how each one's client is made, with its own retries switched off.

Each function is an entry point of the group `portrayal.providers`. Clients are imported inside, so
that only the service in use needs its extra.
"""

import asyncio
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, contextmanager
from typing import TYPE_CHECKING, Any

from pydantic_ai.messages import (
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    UserPromptPart,
)
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.settings import ModelSettings

from portrayal.collect.ask.provider import (
    Answer,
    FinishReason,
    Provider,
    StopError,
    TryAgainError,
    Usage,
    check_parameters,
)
from portrayal.collect.ask.trouble import trouble_of
from portrayal.errors import MissingExtraError, OptionError

if TYPE_CHECKING:
    from pydantic_ai.models import Model


_NO_TOOLS = ModelRequestParameters()
_REASONS: dict[str | None, FinishReason] = {
    "stop": "stop",
    "length": "length",
    "content_filter": "content_filter",
    None: "stop",
}


class RemoteModel:
    """A provider over a pydantic-ai model whose own retries are off.

    Parameters
    ----------
    name
        "SERVICE:MODEL".
    model
        The model with its client.
    parameters
        Checked parameters; `system` is sent as the system prompt.
    variables
        Environment variables of its keys.
    settings
        Further settings for every request, such as switched-off retries.
    """

    def __init__(
        self,
        name: str,
        model: Model[Any],
        parameters: Mapping[str, Any],
        variables: Sequence[str],
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        self.name = name
        self.parameters: Mapping[str, Any] = dict(parameters)
        self._model, self._variables = model, tuple(variables)
        sent = {key: value for key, value in parameters.items() if key != "system"}
        self._settings = ModelSettings(**{**sent, **(settings or {})})  # type: ignore[typeddict-item]
        system = parameters.get("system")
        self._first: list[ModelRequestPart] = [SystemPromptPart(system)] if system else []
        self._open: AsyncExitStack | None = None
        self._opening = asyncio.Lock()

    async def ask(self, prompt: str) -> Answer:
        """Send one user message and return the answer; see `Provider.ask`."""
        if self._open is None:
            await self._enter()
        request = ModelRequest(parts=[*self._first, UserPromptPart(prompt)])
        try:
            response = await self._model.request([request], self._settings, _NO_TOOLS)
        except Exception as error:
            # The client's error may echo a key, so it is not chained to what is shown.
            raise trouble_of(error, self.name, self._variables) from None
        return self._answer(response)

    async def _enter(self) -> None:
        async with self._opening:
            if self._open is None:
                stack = AsyncExitStack()
                await stack.enter_async_context(self._model)
                self._open = stack

    async def close(self) -> None:
        """Close the connections; the next `ask` opens new ones."""
        if self._open is not None:
            stack, self._open = self._open, None
            self._opening = asyncio.Lock()  # the next loop's
            await stack.aclose()

    def _answer(self, response: ModelResponse) -> Answer:
        text = "".join(part.content for part in response.parts if isinstance(part, TextPart))
        details = response.provider_details or {}
        said = str(details.get("finish_reason") or "").lower()
        reason: FinishReason = _REASONS.get(response.finish_reason, "other")
        if not text and response.finish_reason == "error":
            raise TryAgainError("server", f"{self.name}: the answer ended with an error.")
        if not text and not said and response.finish_reason is None:
            raise TryAgainError("body", f"{self.name}: the answer holds nothing that was promised.")
        if response.finish_reason is None and said == "content_filter":
            reason = "content_filter"
        refusal = details.get("refusal")
        if refusal or said == "refusal":
            reason = "refusal"
            text = text or (refusal if isinstance(refusal, str) else "")
        return Answer(
            text=text,
            finish_reason=reason,
            usage=Usage(response.usage.input_tokens, response.usage.output_tokens),
            model=response.model_name or "",
            response_id=response.provider_response_id or "",
        )


Parameters = Mapping[str, Any]
_ONCE = {"max_retries": 0}


def openai(model: str, base_url: str | None, parameters: Parameters) -> Provider:
    """OpenAI's chat completions; with a base URL, a server that speaks them."""
    with _extra("openai"):
        from pydantic_ai.models.openai import OpenAIChatModel
        from pydantic_ai.providers.openai import OpenAIProvider

        key = _key("openai", "OPENAI_API_KEY", needed=base_url is None)
        made = OpenAIChatModel(model, provider=OpenAIProvider(base_url, key or "none"))
    made.client.max_retries = 0
    return _remote("openai", made, parameters, ("OPENAI_API_KEY",))


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

        key = _key("server", "PORTRAYAL_SERVER_KEY", needed=False)
        made = OpenAIChatModel(
            model,
            provider=OpenAICompatibleProvider("server", base_url=base_url, api_key=key),
            profile=OpenAIModelProfile(openai_chat_supports_max_completion_tokens=False),
        )
    made.client.max_retries = 0
    return _remote("server", made, parameters, ("PORTRAYAL_SERVER_KEY",))


def anthropic(model: str, base_url: str | None, parameters: Parameters) -> Provider:
    """Anthropic's messages."""
    with _extra("anthropic"):
        from pydantic_ai.models.anthropic import AnthropicModel
        from pydantic_ai.providers.anthropic import AnthropicProvider

        key = _key("anthropic", "ANTHROPIC_API_KEY")
        made = AnthropicModel(model, provider=AnthropicProvider(api_key=key, base_url=base_url))
    made.client.max_retries = 0
    return _remote("anthropic", made, parameters, ("ANTHROPIC_API_KEY",))


def google(model: str, base_url: str | None, parameters: Parameters) -> Provider:
    """Google's Gemini API."""
    variables = ("GOOGLE_API_KEY", "GEMINI_API_KEY")
    with _extra("google"):
        from pydantic_ai.models.google import GoogleModel
        from pydantic_ai.providers.google import GoogleProvider

        key = _key("google", *variables)
        made = GoogleModel(model, provider=GoogleProvider(api_key=key, base_url=base_url))
    return _remote("google", made, parameters, variables, _ONCE)


def mistral(model: str, base_url: str | None, parameters: Parameters) -> Provider:
    """Mistral's chat completions."""
    with _extra("mistral"):
        from pydantic_ai.models.mistral import MistralModel
        from pydantic_ai.providers.mistral import MistralProvider

        key = _key("mistral", "MISTRAL_API_KEY")
        made = MistralModel(model, provider=MistralProvider(api_key=key, base_url=base_url))
    return _remote("mistral", made, parameters, ("MISTRAL_API_KEY",), _ONCE)


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

        key = _key("cohere", "CO_API_KEY")
        made = CohereModel(model, provider=CohereProvider(api_key=key))
    return _remote("cohere", made, parameters, ("CO_API_KEY",), _ONCE)


def groq(model: str, base_url: str | None, parameters: Parameters) -> Provider:
    """Groq's chat completions."""
    with _extra("groq"):
        from pydantic_ai.models.groq import GroqModel
        from pydantic_ai.providers.groq import GroqProvider

        key = _key("groq", "GROQ_API_KEY")
        made = GroqModel(model, provider=GroqProvider(api_key=key, base_url=base_url))
    made.client.max_retries = 0
    return _remote("groq", made, parameters, ("GROQ_API_KEY",))


def huggingface(model: str, base_url: str | None, parameters: Parameters) -> Provider:
    """Hugging Face's inference providers; their client does not retry."""
    with _extra("huggingface"):
        from pydantic_ai.models.huggingface import HuggingFaceModel
        from pydantic_ai.providers.huggingface import HuggingFaceProvider

        key = _key("huggingface", "HF_TOKEN")
        service: Any = HuggingFaceProvider  # its overloads leave out that both may be None
        made = HuggingFaceModel(model, provider=service(base_url=base_url, api_key=key))
    return _remote("huggingface", made, parameters, ("HF_TOKEN",))


def bedrock(model: str, base_url: str | None, parameters: Parameters) -> Provider:
    """Amazon Bedrock's converse, with the credentials and region of the AWS environment."""
    variables = ("AWS_BEARER_TOKEN_BEDROCK", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN")
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
) -> Provider:

    name = f"{service}:{made.model_name}"
    checked = check_parameters(name, parameters, _ignored(made))
    return RemoteModel(name, made, checked, variables, settings)


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
