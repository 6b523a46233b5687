"""Trouble: what a client raises, sorted into try again, stop, and this prompt only."""

import json
from collections.abc import Sequence
from typing import Any

from pydantic_ai import exceptions as client

from portrayal.collect.ask.provider import RejectedError, StopError, TryAgainError, scrub
from portrayal.collect.ask.wire import Seen, bottom, is_filtered, redirected, usage_in, wrong_with

_LONGEST = 300
_CONTINUE = "Then run the same command again; nothing that was answered is asked again."
_POLICY = ("content_policy", "content_filter", "moderation", "safety", "flagged", "content policy")
_NO_CREDENTIALS = ("NoCredentialsError", "PartialCredentialsError", "CredentialRetrievalError")

_TRY_AGAIN_STATUSES = (408, 409, 425, 429)
_KINDS: tuple[tuple[tuple[type[Exception], ...], str], ...] = (
    ((client.ModelRateLimitError,), "rate_limit"),
    ((client.ModelTimeoutError, client.ModelRequestTimeout), "timeout"),
    ((client.ModelConnectionError,), "connection"),
    ((client.ModelHTTPError, client.ModelUnavailableError, client.ModelServerError), "server"),
)

Trouble = TryAgainError | StopError | RejectedError


def trouble_of(
    error: Exception, name: str, variables: Sequence[str], seen: Seen | None = None
) -> Trouble:
    """Return what `error`, raised while asking `name`, means for the collection.

    `variables` are the environment variables of its keys, for advice and for scrubbing; `seen` is
    the response, which says what a malformed answer cost.
    """
    if seen is not None and seen.elsewhere:
        return redirected(name, seen.elsewhere)
    if seen is not None and seen.is_answer:
        return malformed(seen.body, name, variables)
    said = f"{name}: {scrub(_words(error), variables)}"
    stop = _stop(error, name, said, variables)
    if stop is not None:
        return stop
    if isinstance(error, client.ModelAPIError) and _is_rejection(error):
        return RejectedError(said, refused=_is_policy(error))
    kind = _kind(error)
    if kind == "connection" and (below := scrub(bottom(error), variables)) not in said:
        said = f"{said.rstrip('.')} ({below})."
    return TryAgainError(kind, said, getattr(error, "retry_after", None))


def malformed(body: bytes | None, name: str, variables: Sequence[str] = ()) -> Trouble:
    """Return what an answer means that came whole and that its client could not read."""
    usage = usage_in(body)
    if is_filtered(body):
        return RejectedError(f"{name}: stopped by a content filter.", refused=True, usage=usage)
    return TryAgainError("body", f"{name}: {scrub(wrong_with(body), variables)}.", usage=usage)


def _stop(error: Exception, name: str, said: str, variables: Sequence[str]) -> StopError | None:
    keys = " or ".join(variables) or "the credentials"
    match error:
        case client.ModelQuotaExceededError():
            return StopError(
                f"{said} The account's quota or credit is used up: add credit or raise its limit. "
                f"{_CONTINUE}"
            )
        case client.ModelAuthenticationError() if not _is_policy(error):
            return StopError(
                f"{said} The key was not accepted or may not use this model: set {keys} to a key "
                f"that may. {_CONTINUE}"
            )
        case client.ModelNotFoundError():
            return StopError(
                f"{said} No model of this name is there: check the spelling of {name!r} and, if "
                f"you gave one, the base URL. {_CONTINUE}"
            )
        case client.UserError():
            return StopError(f"{said} Nothing can be asked like that.")
        case _ if type(error).__name__ in _NO_CREDENTIALS:
            return StopError(f"{said} Set {keys}. {_CONTINUE}")
    return None


def _is_rejection(error: client.ModelAPIError) -> bool:
    if isinstance(error, client.ModelHTTPError) and error.status_code in _TRY_AGAIN_STATUSES:
        return False
    if isinstance(error, client.ModelRequestRejectedError):
        return True
    return isinstance(error, client.ModelHTTPError) and error.status_code < 500


def _kind(error: Exception) -> str:
    for kinds, name in _KINDS:
        if isinstance(error, kinds):
            return name
    # Some clients let errors of an HTTP library through that need not be installed.
    names = {kind.__name__ for kind in type(error).__mro__}
    if names & {"TimeoutException", "TimeoutError"}:
        return "timeout"
    if names & {"TransportError", "HTTPClientError", "OSError", "ClientError"}:
        return "connection"
    return "body"  # cut off, or not what was promised


def _is_policy(error: client.ModelAPIError) -> bool:
    told = f"{error.provider_error_code} {error.provider_error_type} {error.body}".lower()
    return any(word in told for word in _POLICY)


def _words(error: Exception) -> str:
    """One line: the status and what the endpoint said, without its whole body."""
    body = getattr(error, "body", None)
    status = getattr(error, "status_code", None)
    said = _message(body) or (str(error) if status is None else "") or type(error).__name__
    line = " ".join(f"{'' if status is None else status} {said}".split())
    return (line if len(line) <= _LONGEST else line[:_LONGEST] + "…").rstrip(".") + "."


def _message(body: Any) -> str:
    """The message inside an error body, wherever the service puts it."""
    if isinstance(body, str):
        try:
            body = json.loads(body)
        except ValueError:
            return str(body)
    if isinstance(body, dict):
        for key in ("message", "Message", "error", "detail"):
            if body.get(key):
                return _message(body[key])
        return json.dumps(body, default=str)
    return str(body) if body else ""
