"""Providers: what answers a prompt, and how it says that it cannot.

A *provider* is one model behind one endpoint. It answers one prompt at a time, tells a refusal from
a failure, and sorts its failures into those worth another try and those that end the collection.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

from portrayal.errors import PortrayalError

FinishReason = Literal["stop", "length", "content_filter", "refusal", "other"]


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens that one answer cost."""

    input_tokens: int = 0
    output_tokens: int = 0


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
    """A failure worth another try: a rate limit, a lost connection, an undecodable body.

    Attributes
    ----------
    kind
        "rate_limit", "server", "connection", "timeout" or "body".
    retry_after
        Seconds that the endpoint asked to wait; None where it did not say.
    """

    def __init__(self, kind: str, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.kind = kind
        self.retry_after = retry_after


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
    """

    def __init__(self, message: str, *, refused: bool = False) -> None:
        super().__init__(message)
        self.refused = refused


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

    async def ask(self, prompt: str) -> Answer:
        """Answer one prompt.

        Raises
        ------
        TryAgainError, StopError, RejectedError
            As above; nothing else is expected to be raised.
        """
        ...

    async def close(self) -> None:
        """Give back connections."""
        ...
