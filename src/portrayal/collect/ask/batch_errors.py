"""Failures of a batch API's own calls: whether another try may help, or nothing will."""

from collections.abc import Sequence
from typing import Any

from pydantic_ai.exceptions import AgentRunError, UserError

from portrayal.collect.ask.provider import RejectedError, StopError, TryAgainError
from portrayal.collect.ask.scrub import scrub
from portrayal.collect.ask.trouble import trouble_of
from portrayal.errors import PortrayalError

_LONGEST = 300
_TRANSPORT = ("Connection", "Timeout", "Transport", "OSError")
_QUOTA = ("insufficient_quota", "billing", "credit balance")


class NotRunError(TryAgainError):
    """An ended batch that ran none of its requests, which may be submitted again later."""

    def __init__(self, message: str) -> None:
        super().__init__("rate_limit", message)


class RefusedError(StopError):
    """An ended batch whose requests were refused as a whole; none of them ran or will run."""


def sort_error(
    error: Exception, name: str, doing: str, variables: Sequence[str]
) -> TryAgainError | StopError | PortrayalError:
    """Return what a failed call means for the collection; its message holds no key.

    Parameters
    ----------
    error
        Of pydantic-ai, of a provider's client, or one of ours, which is returned as it is.
    name, doing
        The model, and what was tried, such as "creating a batch".
    variables
        Environment variables of its keys.
    """
    if isinstance(error, PortrayalError):
        return error
    if isinstance(error, (AgentRunError, UserError)):
        trouble = trouble_of(error, name, variables)
        return StopError(str(trouble)) if isinstance(trouble, RejectedError) else trouble
    words = scrub(" ".join(str(error).split()), variables)[:_LONGEST] or type(error).__name__
    said, status = f"{name}: {doing}: {words}", _status(error)
    if status == 429 and not any(word in words.casefold() for word in _QUOTA):
        return TryAgainError("rate_limit", said, _retry_after(error))
    if status is None and _is_transport(error):
        return TryAgainError("connection", said)
    if status in (408, 409, 425) or (status or 0) >= 500:
        return TryAgainError("server", said, _retry_after(error))
    keys = " or ".join(variables) or "the key"
    advice = f" Set {keys} to a key that may do this." if status in (401, 403) else ""
    return StopError(f"{said}{advice}")


def _status(error: Exception) -> int | None:
    """The HTTP status: `status_code` of OpenAI's and Anthropic's errors, `code` of Google's."""
    for name in ("status_code", "code"):
        if isinstance(status := getattr(error, name, None), int):
            return status
    return None


def _is_transport(error: Exception) -> bool:
    names = " ".join(kind.__name__ for kind in type(error).__mro__)
    return any(word in names for word in _TRANSPORT)


def _retry_after(error: Exception) -> float | None:
    headers: Any = getattr(getattr(error, "response", None), "headers", None) or {}
    try:
        return max(0.0, float(headers.get("retry-after")))
    except (TypeError, ValueError):
        return None
