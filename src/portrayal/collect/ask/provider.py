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
        # A shorter value would blot out parts of other words.
        if len(value) >= 4:
            message = message.replace(value, _HIDDEN)
    return _LOOKS_LIKE_KEY.sub(_HIDDEN, message)


RAW = "raw"
"""The parameter that holds what goes into the body of a request as it is."""


def _within(low: float, high: float, kind: type = float) -> Callable[[Any], bool]:
    """What tells whether a value is a number from `low` to `high`; whole where `kind` is int."""
    kinds = (int,) if kind is int else (int, float)
    return lambda v: isinstance(v, kinds) and not isinstance(v, bool) and low <= v <= high


def _holds_no_null(value: Any) -> bool:
    """Whether JSON has no null in it, which no `audit.toml` could hold."""
    inner = value.values() if isinstance(value, Mapping) else value
    many = isinstance(value, (Mapping, list, tuple))
    return all(map(_holds_no_null, inner)) if many else value is not None


_ASKED = ("model", "messages", "input", "system", "stream")
EFFORTS = ("none", "default", "minimal", "low", "medium", "high", "xhigh", "max")
KNOWN: Mapping[str, tuple[str, Callable[[Any], bool]]] = {
    "temperature": ("a number from 0 to 2", _within(0, 2)),
    "max_tokens": ("a whole number of at least 1", _within(1, math.inf, int)),
    "top_p": ("a fraction above 0, at most 1", _within(math.nextafter(0, 1), 1)),
    "seed": ("a whole number", _within(-math.inf, math.inf, int)),
    "system": ("a text", lambda v: isinstance(v, str) and bool(v.strip())),
    "reasoning_effort": (f"one of {', '.join(EFFORTS)}", EFFORTS.__contains__),
    "thinking_budget": ("a whole number of tokens, 0 for none", _within(0, math.inf, int)),
    RAW: (
        f"names with JSON values, none of them null, and none of {', '.join(_ASKED)}",
        lambda v: isinstance(v, Mapping) and _holds_no_null(v) and not v.keys() & {*_ASKED},
    ),
}
"""Parameter → what its value must be, in words and as a test."""


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
    checked = {key: value for key, value in parameters.items() if value is not None}
    for key, value in checked.items():
        if key not in KNOWN:
            raise OptionError(
                f"{name}: there is no parameter {key!r}; known: {', '.join(KNOWN)}. What else the "
                f"service takes goes into its requests as it is by --parameter-raw {key}=JSON."
            )
        if key in unsupported:
            raise OptionError(f"{name} ignores {key}; leave it out to ask with its own default.")
        expected, fits = KNOWN[key]
        if not fits(value):
            raise OptionError(f"{name}: {key} must be {expected}; got {value!r}.")
    return checked


FinishReason = Literal["stop", "length", "content_filter", "refusal", "other"]


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens that an answer, or several, cost.

    Attributes
    ----------
    input_tokens, output_tokens
        Asked and answered, those of reasoning among the latter.
    estimated_tokens
        Tokens of both that are upper bounds.
    reasoning_tokens
        Tokens of the answer that are reasoning, where the service says so.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    estimated_tokens: int = 0
    reasoning_tokens: int = 0

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
        words = (
            f"{self.estimated_tokens:,} of {self.total:,} tokens are estimated, as upper bounds: "
        )
        return words + "the service reported no count that can be" if self.estimated_tokens else ""

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
    reasoning
        Characters of reasoning that came with the answer and are no part of its text.
    """

    text: str
    finish_reason: FinishReason = "stop"
    usage: Usage = field(default_factory=Usage)
    model: str = ""
    response_id: str = ""
    reasoning: int = 0


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
        self, kind: str, message: str, retry_after: float | None = None, usage: Usage | None = None
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


MakeProvider = Callable[[str, str | None, Mapping[str, Any]], Provider]


def provider_of(
    spec: str, *, base_url: str | None = None, parameters: Mapping[str, Any] | None = None
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
        See `KNOWN`: `temperature`, `reasoning_effort`, `system` (a system prompt), …, and `raw`,
        what goes into the body of a request as it is. What is left out is left to the service, as
        a consumer would meet it.

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
            more = bool("@" in parts.netloc or parts.query or parts.fragment)
        except ValueError:
            is_url, more = False, "@" in base_url
        # What may be a password or key is not repeated
        if more or not is_url:
            got = "one with a user, ?query or #fragment (a key is read from the environment)"
            raise OptionError(
                "a base URL is an address such as http://localhost:8000/v1; got "
                f"{got if more else repr(base_url)}."
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
