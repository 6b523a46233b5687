"""A provider over a model of pydantic-ai: asks it, and reads its answers and failures.

Every response is looked at before a client reads it: a client that cannot read an answer raises,
and what the answer cost is lost with it. So the body is kept until it is read. No redirect is
followed: clients take the key along in a header of their own.
"""

import json
import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any
from urllib.parse import urljoin, urlsplit

import httpx2
from pydantic_ai import exceptions as client
from pydantic_ai.messages import (
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ThinkingPart,
    UserPromptPart,
)
from pydantic_ai.models import Model, ModelRequestParameters, create_async_httpx2_client
from pydantic_ai.settings import ModelSettings
from pydantic_ai.usage import RequestUsage

from portrayal.collect.ask.budget import MOST_TOKENS
from portrayal.collect.ask.provider import (
    RAW,
    Answer,
    FinishReason,
    RejectedError,
    StopError,
    TryAgainError,
    Usage,
    check_parameters,
    scrub,
)
from portrayal.collect.reasoning import without_reasoning
from portrayal.collect.sources import most_unpacked
from portrayal.collect.tables import whole

_LONGEST_CAUSE = 120
_PATIENCE = 5.0
_COUNTS = ("prompt_tokens", "input_tokens", "completion_tokens", "output_tokens")


@dataclass(slots=True)
class LastResponse:
    """What one call has seen of its last response.

    Attributes
    ----------
    name
        The model, for messages.
    status, body
        Of the response; None while it has not come whole.
    trouble
        Why it is not read.
    """

    name: str = ""
    status: int | None = None
    body: bytes | None = None
    trouble: StopError | RejectedError | None = None


_SEEN: ContextVar[LastResponse] = ContextVar("seen")
"""A context variable, as many calls share one client and each looks at its own."""
BOUND = "PORTRAYAL_MOST_ANSWER"
"""Environment variable: how many bytes one answer may have, such as 100MB."""
_USUAL = "32MB"


class _UnreadError(Exception):
    """A response that is not read."""


def watched_client() -> httpx2.AsyncClient:
    """Return an HTTP client that looks at every response that it gets."""

    async def on_request(request: Any) -> None:
        request.headers["accept-encoding"] = "identity"

    async def on_response(response: Any) -> None:
        last = _SEEN.get(LastResponse())
        if response.has_redirect_location:
            parts = urlsplit(urljoin(str(response.url), response.headers["location"]))
            last.trouble = StopError(
                f"{last.name}: the address redirects to {parts.scheme}://{parts.netloc}{parts.path}"
                ", where the key was not sent. If that is the right one, give it with --base-url."
            )
            raise _UnreadError
        last.status, last.body = response.status_code, None
        most, body, wrong = most_unpacked(BOUND, _USUAL), bytearray(), ""
        packing = response.headers.get("content-encoding", "identity")
        if packing != "identity":
            # A few bytes may unpack to any number
            wrong = f"an answer packed as {packing}, which was not asked for"
        try:
            async for piece in response.stream:
                body += piece
                if len(body) > most and not wrong:
                    wrong = f"an answer of more than {most:,} bytes ({BOUND} sets the bound)"
                if wrong:
                    break
        finally:
            await response.stream.aclose()
        if wrong:
            # Its bytes were not counted, so it is charged as the longest that a model may give.
            usage = Usage(0, MOST_TOKENS, MOST_TOKENS)
            last.trouble = RejectedError(f"{last.name}: {wrong}.", usage=usage)
            raise _UnreadError
        last.body = with_whole_usage(bytes(body))
        response.headers.pop("content-length", None)  # of the body as it came
        response.stream = httpx2.ByteStream(last.body)
        await response.aread()

    client = create_async_httpx2_client()
    client.event_hooks = {"request": [on_request], "response": [on_response]}
    return client


async def reach(name: str, url: str) -> None:
    """Check that something answers at an address, without a key.

    Raises
    ------
    StopError
        Where nothing does; in seconds.
    """
    gone = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.UnsupportedProtocol)
    # Twice, as the first try may meet a network that is just coming up
    for _ in range(2):
        try:
            async with httpx2.AsyncClient(timeout=_PATIENCE) as client:
                await client.get(url)
        except gone as error:
            wrong, cause = f"nothing answers at {url}", bottom(error)
        except httpx2.RemoteProtocolError as error:
            wrong, cause = f"what answers at {url} does not speak HTTP", bottom(error)
        except (httpx2.HTTPError, httpx2.InvalidURL):
            return  # it is there, if slow
        else:
            return
    raise StopError(
        f"{name}: {wrong} ({cause}). Check that address (--base-url) and the network; nothing was "
        "asked."
    )


def bottom(error: BaseException) -> str:
    """Return the words of the error below all others, which is the system's."""
    while (below := error.__cause__ or error.__context__) is not None:
        error = below
    message = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return " ".join(str(message).split()).rstrip(".")[:_LONGEST_CAUSE]


def with_whole_usage(body: bytes) -> bytes:
    """Return a body whose usage a client can read: whole tokens, and a total as their bound.

    Clients refuse an answer with 20.5 tokens, which would be paid for again. Of a total alone it is
    not known which part was asked for; an answer's tokens cost no less, so all count as these.

    >>> with_whole_usage(b'{"usage": {"prompt_tokens": 3, "completion_tokens": 20.5}}')
    b'{"usage": {"prompt_tokens": 3, "completion_tokens": 21}}'
    >>> with_whole_usage(b'{"usage": {"total_tokens": 7}}')
    b'{"usage": {"total_tokens": 7, "prompt_tokens": 0, "completion_tokens": 7}}'
    """
    value = _object_in(body) if b'"usage"' in body else {}
    usage = value.get("usage")
    if not isinstance(usage, dict):
        return body
    counts = {
        name: math.ceil(n) if isinstance(n, float) and math.isfinite(n) else n
        for name, n in usage.items()
    }
    total = counts.get("total_tokens")
    if isinstance(total, int) and not any(map(counts.get, _COUNTS)):
        counts |= {"prompt_tokens": 0, "completion_tokens": total}
    return body if counts == usage else json.dumps({**value, "usage": counts}).encode()


def usage_in(body: bytes | None, service: str) -> Usage:
    """Return the tokens that a body reports, in the words of its service; 0 where it does not.

    >>> usage_in(b'{"usage": {"prompt_tokens": 3, "completion_tokens": 4}}', "server").total
    7
    """
    flavor = "default" if service in ("anthropic", "google") else "chat"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a body that reports none
        usage = RequestUsage.extract(
            _object_in(body),
            provider=service,
            provider_url="",
            provider_fallback="openai",
            api_flavor=flavor,
        )
    return Usage(usage.input_tokens, usage.output_tokens)


def _object_in(body: bytes | None) -> dict[str, Any]:
    """The JSON object that a body is; empty where it is none."""
    try:
        value = json.loads((body or b"").decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def wrong_with(body: bytes | None) -> str:
    """Return what is wrong with a body that a client could not read, in a few words."""
    text = (body or b"").decode("utf-8", "replace").lstrip()
    if not text:
        return "an empty body"
    if text[0] == "<":
        return "a page of HTML or XML in place of an answer"
    answer = _object_in(body)
    if error := answer.get("error"):
        cause = error.get("message") or error.get("code") if isinstance(error, dict) else error
        words = " ".join(str(cause).split())[:_LONGEST_CAUSE].rstrip(".")
        return f"an error with the status of an answer: {words}"
    if answer.get("choices") == []:
        return "an answer without choices"
    return "no answer in the service's form of JSON"


_LONGEST = 300
_CONTINUE = "Then run the same command again; nothing that was answered is asked again."
_POLICY = ("content_policy", "content_filter", "moderation", "safety", "flagged", "content policy")
_ADVICE: Mapping[type[Exception], str] = {
    client.ModelQuotaExceededError: "The account's quota or credit is used up: add credit or raise "
    f"its limit. {_CONTINUE}",
    client.ModelAuthenticationError: "The key was not accepted or may not use this model: set "
    f"{{keys}} to a key that may. {_CONTINUE}",
    client.ModelNotFoundError: "No model of this name is there: check the spelling of {name!r} "
    f"and, if you gave one, the base URL. {_CONTINUE}",
    client.UserError: "Nothing can be asked like that.",
}
_TRY_AGAIN_STATUSES = (408, 409, 425, 429)
_KINDS: tuple[tuple[tuple[type[Exception], ...], str], ...] = (
    ((client.ModelRateLimitError,), "rate_limit"),
    ((client.ModelTimeoutError, client.ModelRequestTimeout), "timeout"),
    ((client.ModelConnectionError,), "connection"),
    ((client.ModelHTTPError, client.ModelUnavailableError, client.ModelServerError), "server"),
)

Trouble = TryAgainError | StopError | RejectedError


def trouble_of(error: Exception, variables: Sequence[str], last: LastResponse) -> Trouble:
    """Return what `error`, raised while asking a model, means for the collection.

    `variables` are the environment variables of its keys, for advice and for scrubbing; `last` is
    the response, which says what a malformed answer cost.
    """
    if last.trouble is not None:
        return last.trouble
    name = last.name
    # A whole answer with a good status, and yet an error: the client could not read it
    if last.body is not None and 200 <= (last.status or 0) < 300:
        return malformed(last.body, name, variables)
    message = f"{name}: {scrub(_words(error), variables)}"
    of_policy = False
    if isinstance(error, client.ModelAPIError):
        text = f"{error.provider_error_code} {error.provider_error_type} {error.body}".lower()
        of_policy = any(word in text for word in _POLICY)
    advice = next((text for kind, text in _ADVICE.items() if isinstance(error, kind)), "")
    if advice and not (of_policy and isinstance(error, client.ModelAuthenticationError)):
        keys = " or ".join(variables)
        return StopError(f"{message} {advice.format(keys=keys, name=name)}")
    status = error.status_code if isinstance(error, client.ModelHTTPError) else None
    rejected = isinstance(error, client.ModelRequestRejectedError) or (status or 500) < 500
    if isinstance(error, client.ModelAPIError) and rejected and status not in _TRY_AGAIN_STATUSES:
        return RejectedError(message, refused=of_policy)
    kind = next((name for kinds, name in _KINDS if isinstance(error, kinds)), "")
    if not kind:
        # Some clients let errors of an HTTP library through that need not be installed.
        names, kind = {base.__name__ for base in type(error).__mro__}, "body"  # cut off, or odd
        if names & {"TimeoutException", "TimeoutError"}:
            kind = "timeout"
        elif names & {"TransportError", "OSError", "ClientError"}:
            kind = "connection"
    if kind == "connection" and (below := scrub(bottom(error), variables)) not in message:
        message = f"{message.rstrip('.')} ({below})."
    return TryAgainError(kind, message, getattr(error, "retry_after", None))


def malformed(body: bytes | None, name: str, variables: Sequence[str] = ()) -> Trouble:
    """Return what an answer means that came whole and that its client could not read."""
    usage = usage_in(body, name.partition(":")[0])
    if usage == Usage():  # no token is shorter than a byte
        usage = Usage(0, len(body or b""), len(body or b""))
    choices = _object_in(body).get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    if isinstance(first, dict) and first.get("finish_reason") == "content_filter":
        return RejectedError(f"{name}: stopped by a content filter.", refused=True, usage=usage)
    return TryAgainError("body", f"{name}: {scrub(wrong_with(body), variables)}.", usage=usage)


def _words(error: Exception) -> str:
    """One line: the status and what the endpoint said, without its whole body."""
    body = getattr(error, "body", None)
    status = getattr(error, "status_code", None)
    message = _message(body) or (str(error) if status is None else "") or type(error).__name__
    line = " ".join(f"{'' if status is None else status} {message}".split())
    return (line if len(line) <= _LONGEST else line[:_LONGEST] + "…").rstrip(".") + "."


def _message(body: Any) -> str:
    """The message inside an error body, wherever the service puts it."""
    if isinstance(body, str):
        try:
            body = json.loads(body)
        except ValueError:
            return str(body)
    if not isinstance(body, dict):
        return str(body) if body else ""
    inside = next((body[key] for key in ("message", "error", "detail") if body.get(key)), None)
    return json.dumps(body, default=str) if inside is None else _message(inside)


_NO_TOOLS = ModelRequestParameters()
WHOLE: Any = {"thinking_tags": ("\0[", "]\0")}
"""Profile of a model whose texts come with the reasoning that they mark, for us to remove."""


def _as(setting: str) -> Callable[[Any], dict[str, Any]]:
    return lambda value: {setting: value}


def _thinking(n: int) -> dict[str, Any]:
    return {"type": "enabled", "budget_tokens": n} if n else {"type": "disabled"}


_BODY = {RAW: _as("extra_body")}
SETTINGS: Mapping[str, Mapping[str, Callable[[Any], dict[str, Any]]]] = {
    "openai": {"reasoning_effort": _as("openai_reasoning_effort"), **_BODY},
    "server": {"reasoning_effort": _as("openai_reasoning_effort"), **_BODY},
    "anthropic": {
        "reasoning_effort": _as("anthropic_effort"),
        "thinking_budget": lambda n: {"anthropic_thinking": _thinking(n)},
        **_BODY,
    },
    "google": {
        "reasoning_effort": lambda e: {"google_thinking_config": {"thinking_level": e.upper()}},
        "thinking_budget": lambda n: {"google_thinking_config": {"thinking_budget": n}},
    },
}
"""Service → parameter → the settings of pydantic-ai by which it reaches the request, where these
are called otherwise; a service takes no other of `_BY_SERVICE`."""
_BY_SERVICE = ("reasoning_effort", "thinking_budget", RAW)
_REASONING = ("reasoning_tokens", "thinking_tokens", "thoughts_tokens")
"""What services call the tokens of reasoning, within those of the answer."""
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
    service
        What stands before the colon of its name.
    make
        Makes the model over an HTTP client, which is closed with it and made anew for the next.
    parameters
        To check; `system` is sent as the system prompt.
    variables
        Environment variables of its keys.
    settings
        Further settings for every request, such as switched-off retries.

    Raises
    ------
    OptionError
        For a parameter that the model would not be sent, or would silently drop.
    """

    def __init__(
        self,
        service: str,
        make: Callable[[Any], Model[Any]],
        parameters: Mapping[str, Any],
        variables: Sequence[str],
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        self._make, self.variables = make, tuple(variables)
        self._connect()
        self.name = f"{service}:{self.model.model_name}"
        profile: Mapping[str, Any] = self.model.profile
        makers = SETTINGS.get(service, {})
        # What the client would drop silently is refused: a "temperature 0" must be one
        ignored = {*self.model.unsupported_settings, *_BY_SERVICE} - makers.keys()
        can_rest = "none" in (profile.get("openai_reasoning_efforts") or ()) or profile.get(
            "openai_supports_reasoning_effort_none", False
        )
        usual = None if profile.get("thinking_enabled_by_default", False) else "none"
        rests = can_rest and parameters.get("reasoning_effort", usual) == "none"
        # OpenAI's reasoning models refuse what shapes sampling, unless reasoning is off.
        if profile.get("openai_supports_reasoning", False) and not rests:
            ignored |= {"temperature", "top_p"}
        checked = check_parameters(self.name, parameters, ignored)
        self.parameters: Mapping[str, Any] = dict(checked)
        self._system: str = checked.pop("system", "")
        sent: dict[str, Any] = dict(settings or {})
        for key, value in checked.items():
            for name, part in makers.get(key, _as(key))(value).items():
                # Two parameters may fill parts of one setting
                sent[name] = sent.get(name, {}) | part if isinstance(part, dict) else part
        self.settings = ModelSettings(**sent)  # type: ignore[typeddict-item]

    def _connect(self) -> None:
        self._http = watched_client()
        self.model = self._make(self._http)

    async def ask(self, prompt: str, system: str = "") -> Answer:
        """Send one user message and return the answer; see `Provider.ask`."""
        if self._http.is_closed:
            self._connect()
        # One message for both, as some servers refuse a second one.
        before = "\n\n".join(filter(None, (self._system, system)))
        parts: list[ModelRequestPart] = [SystemPromptPart(before)] if before else []
        message = ModelRequest(parts=[*parts, UserPromptPart(prompt)])
        last = LastResponse(self.name)
        _SEEN.set(last)
        try:
            response = await self.model.request([message], self.settings, _NO_TOOLS)
        except Exception as error:
            # The client's error may echo a key, so it is not chained to what is shown.
            raise trouble_of(error, self.variables, last) from None
        # As of a service behind the one asked, whose error comes beside an answer
        if b'"error"' in (last.body or b"") and _object_in(last.body).get("error"):
            raise malformed(last.body, self.name, self.variables)
        return self.read(response)

    async def check(self) -> None:
        """Check that something answers at this model's address, without a key.

        Raises
        ------
        StopError
            Where nothing does.
        """
        if (provider := self.model.provider) is not None:
            await reach(self.name, str(provider.base_url))

    async def close(self) -> None:
        """Close the connections; the next `ask` opens new ones."""
        await self._http.aclose()

    def read(self, response: ModelResponse) -> Answer:
        """Return what a response of the model says, and why it ended."""
        came = "".join(part.content for part in response.parts if isinstance(part, TextPart))
        thoughts = [part.content for part in response.parts if isinstance(part, ThinkingPart)]
        text = without_reasoning(came)
        details = response.provider_details or {}
        cause = str(details.get("finish_reason") or "").lower()
        reason: FinishReason = _REASONS.get(response.finish_reason, "other")
        counts = response.usage
        thought = counts.output_reasoning_tokens or next(
            (n for key in _REASONING if (n := counts.details.get(key))), 0
        )
        # Some services count reasoning beside the answer, and not within it.
        answered = counts.output_tokens + (thought if thought > counts.output_tokens else 0)
        usage = Usage(counts.input_tokens, answered, 0, thought)
        wrong = ""
        if not text and response.finish_reason == "error":
            wrong = "that ended with an error"
        elif not (came or thoughts or cause or response.finish_reason):
            wrong = "without anything in it"
        if wrong:
            raise TryAgainError("body", f"{self.name}: an answer {wrong}.", None, usage)
        if response.finish_reason is None and cause == "content_filter":
            reason = "content_filter"
        refusal = details.get("refusal")
        if refusal or cause == "refusal":
            reason = "refusal"
            text = text or (refusal if isinstance(refusal, str) else "")
        return Answer(
            text=text,
            finish_reason=reason,
            usage=usage,
            model=whole(response.model_name or ""),
            response_id=whole(response.provider_response_id or ""),
            reasoning=len(came) - len(text) + sum(map(len, thoughts)),
        )
