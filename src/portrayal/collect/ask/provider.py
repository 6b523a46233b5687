"""Providers: what answers a prompt, and how it says that it cannot.

A *provider* is one model behind one endpoint. It answers one prompt at a time, tells a refusal from
a failure, and sorts its failures into those worth another try and those that end the collection.
"""

import math
import os
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, cast, runtime_checkable
from urllib.parse import urlsplit

import portrayal.registry as registry
from portrayal.errors import OptionError, PortrayalError

_LOOKS_LIKE_KEY = re.compile(r"\b(?:sk|gsk|hf|xai|AIza)[-_A-Za-z0-9]{12,}")
_HIDDEN = "[key]"


def scrub(message: str, variables: Iterable[str]) -> str:
    """Return `message` without the values of environment `variables` and what looks like a key."""
    for variable in variables:
        value = os.environ.get(variable, "").strip()
        if len(value) >= 4:
            message = message.replace(value, _HIDDEN)
    return _LOOKS_LIKE_KEY.sub(_HIDDEN, message)


KNOWN = ("temperature", "max_tokens", "top_p", "seed", "system")


def check_parameters(
    name: str, parameters: Mapping[str, Any], unsupported: Collection[str] = ()
) -> dict[str, Any]:
    """Return `parameters` without the ones that are None, each of its right kind and range.

    Raises
    ------
    OptionError
        For an unknown parameter, a value out of range, or one that the service would ignore: an
        audit that says it set a temperature must have set it.
    """
    given = {key: value for key, value in parameters.items() if value is not None}
    for key, value in given.items():
        if key not in KNOWN:
            raise OptionError(f"{name}: there is no parameter {key!r}; known: {', '.join(KNOWN)}.")
        if key in unsupported:
            raise OptionError(f"{name} ignores {key}; leave it out to ask with its own default.")
        wanted = _wanted(key, value)
        if wanted:
            raise OptionError(f"{name}: {key} must be {wanted}; got {value!r}.")
    return given


def _wanted(key: str, value: Any) -> str:
    """What `value` should have been; "" where it is."""
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    whole = number and isinstance(value, int)
    if key == "temperature":
        return "" if number and 0 <= value <= 2 else "a number from 0 to 2"
    if key == "top_p":
        return "" if number and 0 < value <= 1 else "a fraction above 0, at most 1"
    if key == "max_tokens":
        return "" if whole and value >= 1 else "a whole number of at least 1"
    if key == "seed":
        return "" if whole else "a whole number"
    return "" if isinstance(value, str) and value.strip() else "a text"


FinishReason = Literal["stop", "length", "content_filter", "refusal", "other"]


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens that an answer, or several, cost; `estimated_tokens` of them are upper bounds."""

    input_tokens: int = 0
    output_tokens: int = 0
    estimated_tokens: int = 0

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> "Usage":
        """Return what a row says of itself; 0 where it says nothing."""
        return cls(*(row.get(field) or 0 for field in cls.__slots__))

    def __add__(self, other: "Usage") -> "Usage":
        """Return both together."""
        return Usage(*(getattr(self, name) + getattr(other, name) for name in self.__slots__))

    @property
    def estimated(self) -> str:
        """What to say of the tokens that are upper bounds; "" where there are none."""
        said = (
            f"{self.estimated_tokens:,} of {self.total:,} tokens are estimated, as upper bounds: "
        )
        return said + "the service reported no count that can be" if self.estimated_tokens else ""

    @property
    def total(self) -> int:
        """Tokens asked and answered."""
        return self.input_tokens + self.output_tokens


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer of a model.

    Attributes
    ----------
    text
        What it wrote; "" where it wrote nothing.
    finish_reason
        Why it stopped, in the provider's own words sorted into five.
    usage
        Tokens asked and answered.
    model
        The model as the endpoint names it, which may carry a date or version.
    response_id
        The endpoint's identifier of the answer; "" where it gives none.
    """

    text: str
    finish_reason: FinishReason = "stop"
    usage: Usage = field(default_factory=Usage)
    model: str = ""
    response_id: str = ""


class TryAgainError(PortrayalError):
    """A failure worth another try: a rate limit, a lost connection, a malformed answer.

    Attributes
    ----------
    kind
        "rate_limit", "server", "connection", "timeout" or "body": an answer that came whole and
        cannot be read, which is paid for all the same.
    retry_after
        Seconds that the endpoint asked to wait; None where it did not say, or nothing sensible.
    usage
        Tokens that it cost all the same.
    """

    def __init__(
        self,
        kind: str,
        message: str,
        retry_after: float | None = None,
        usage: Usage | None = None,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        sensible = retry_after is not None and 0 <= retry_after < math.inf
        self.retry_after = retry_after if sensible else None
        self.usage = usage or Usage()


class StopError(PortrayalError):
    """A failure that no try will mend: a bad key, an exhausted quota, an unknown model.

    The message says what to do. It never holds a key.
    """


class RejectedError(PortrayalError):
    """One prompt was rejected (too long, blocked before an answer); others may pass.

    Attributes
    ----------
    refused
        Whether a content policy blocked the prompt, which makes the row a refusal, not a failure.
    usage
        Tokens that it cost all the same.
    """

    def __init__(self, message: str, *, refused: bool = False, usage: Usage | None = None) -> None:
        super().__init__(message)
        self.refused = refused
        self.usage = usage or Usage()


@runtime_checkable
class Provider(Protocol):
    """A model behind an endpoint.

    Attributes
    ----------
    name
        What the user called it, such as "openai:gpt-5-mini"; the model of its texts.
    parameters
        Settings that shape the answers (temperature, max_tokens, …); part of each answer's key.
    """

    name: str
    parameters: Mapping[str, Any]

    async def ask(self, prompt: str, system: str = "") -> Answer:
        """Answer one prompt, after its own system prompt where it has one.

        Raises
        ------
        TryAgainError, StopError, RejectedError
            As above; nothing else is expected to be raised.
        """
        ...

    async def close(self) -> None:
        """Give back connections."""
        ...


async def check_reach(provider: Provider) -> None:
    """Check that a provider that has an address can be reached there, without asking anything.

    One that has no method `check` is taken to be there.

    Raises
    ------
    StopError
        Where nothing answers.
    """
    check = getattr(provider, "check", None)
    if check is not None:
        await check()


MakeProvider = Callable[[str, str | None, Mapping[str, Any]], Provider]


def provider_of(
    spec: str,
    *,
    base_url: str | None = None,
    parameters: Mapping[str, Any] | None = None,
) -> Provider:
    """Return the provider of a model.

    Parameters
    ----------
    spec
        "SERVICE:MODEL", such as "openai:gpt-5-mini", "anthropic:claude-sonnet-4-5", or
        "server:llama3" with a `base_url`.
    base_url
        Another address than the service's own; needed by "server:", any OpenAI-compatible server.
    parameters
        `temperature`, `max_tokens`, `top_p`, `seed` and `system` (a system prompt). What is left
        out is left to the service, as a consumer would meet it.

    Raises
    ------
    OptionError, UnknownNameError
        When the name or a parameter cannot be used.
    MissingExtraError
        When the service's client is not installed; names the command that installs it.
    StopError
        When there is no key; names the variable to set.
    """
    service, model = check_model(spec)
    if base_url is not None:
        # Refuse a base URL that is none.
        try:
            parts = urlsplit(base_url)
            is_url = parts.scheme in ("http", "https") and bool(parts.hostname)
            is_url = is_url and parts.port != 0 and not re.search(r"\s", base_url)
        except ValueError:
            is_url = False
        if not is_url:
            raise OptionError(
                f"a base URL is an address such as http://localhost:8000/v1; got {base_url!r}."
            )
    make = cast("MakeProvider", registry.get("providers", service))
    return make(model, base_url, dict(parameters or {}))


def check_model(spec: str) -> tuple[str, str]:
    """Return service and model of "SERVICE:MODEL".

    Raises
    ------
    OptionError
        Where it is not named so.
    """
    service, colon, model = spec.partition(":")
    if not (colon and service and model):
        raise OptionError(
            f'a model is named SERVICE:MODEL, such as "openai:gpt-5-mini"; got {spec!r}. '
            f"Services: {', '.join(services())}."
        )
    return service, model


def services() -> tuple[str, ...]:
    """Return the names that may stand before the colon."""
    return registry.names("providers")
