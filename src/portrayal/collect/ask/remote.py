"""A provider over a model of pydantic-ai: asks it, and reads its answers and failures."""

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from typing import Any

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
from portrayal.collect.ask.wire import (
    LastResponse,
    bottom,
    error_in,
    is_filtered,
    looking,
    reach,
    redirected,
    usage_in,
    watched,
    wrong_with,
)
from portrayal.collect.reasoning import without_reasoning
from portrayal.collect.tables import whole

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


def trouble_of(
    error: Exception, name: str, variables: Sequence[str], last: LastResponse | None = None
) -> Trouble:
    """Return what `error`, raised while asking `name`, means for the collection.

    `variables` are the environment variables of its keys, for advice and for scrubbing; `last` is
    the response, which says what a malformed answer cost.
    """
    if last is not None and last.elsewhere:
        return redirected(name, last.elsewhere)
    if last is not None and last.too_large:
        # Its bytes were not counted, so it is charged as the longest that a model may give.
        most = Usage(0, MOST_TOKENS, MOST_TOKENS)
        return RejectedError(f"{name}: {last.too_large}.", usage=most)
    # A whole answer with a good status, and yet an error: the client could not read it
    if last is not None and last.is_answer:
        return malformed(last.body, name, variables)
    message = f"{name}: {scrub(_words(error), variables)}"
    of_policy = isinstance(error, client.ModelAPIError) and _is_policy(error)
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
    usage = usage_in(body)
    if usage == Usage():  # no token is shorter than a byte
        usage = Usage(0, len(body or b""), len(body or b""))
    if is_filtered(body):
        return RejectedError(f"{name}: stopped by a content filter.", refused=True, usage=usage)
    return TryAgainError("body", f"{name}: {scrub(wrong_with(body), variables)}.", usage=usage)


def _is_policy(error: client.ModelAPIError) -> bool:
    text = f"{error.provider_error_code} {error.provider_error_type} {error.body}".lower()
    return any(word in text for word in _POLICY)


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
    if isinstance(body, dict):
        for key in ("message", "error", "detail"):
            if body.get(key):
                return _message(body[key])
        return json.dumps(body, default=str)
    return str(body) if body else ""


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
        self._http = watched(create_async_httpx2_client())
        self.model = make(self._http)
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
        self.parameters: Mapping[str, Any] = checked
        sent: dict[str, Any] = dict(settings or {})
        for key, value in checked.items():
            for name, part in makers.get(key, _as(key))(value).items() if key != "system" else ():
                many = isinstance(part, Mapping)
                # Two parameters may fill parts of one setting
                sent[name] = {**sent.get(name, {}), **part} if many else part
        self.settings = ModelSettings(**sent)  # type: ignore[typeddict-item]
        self._system: str = checked.get("system") or ""
        self._open: AsyncExitStack | None = None
        self._opening = asyncio.Lock()

    async def ask(self, prompt: str, system: str = "") -> Answer:
        """Send one user message and return the answer; see `Provider.ask`."""
        await self.open()
        with looking() as response_seen:
            try:
                response = await self.model.request(
                    [self.request(prompt, system)], self.settings, _NO_TOOLS
                )
            except Exception as error:
                # The client's error may echo a key, so it is not chained to what is shown.
                raise trouble_of(error, self.name, self.variables, response_seen) from None
        if error_in(response_seen.body):
            raise malformed(response_seen.body, self.name, self.variables)
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

    async def open(self) -> None:
        """Open the connections, once, with a new client after a `close`."""
        # Many requests begin at once; the first opens for all
        async with self._opening:
            if self._open is None:
                if self._http.is_closed:
                    self._http = watched(create_async_httpx2_client())
                    self.model = self._make(self._http)
                stack = AsyncExitStack()
                stack.push_async_callback(self._http.aclose)
                await stack.enter_async_context(self.model)
                self._open = stack

    async def close(self) -> None:
        """Close the connections; the next `ask` opens new ones."""
        if self._open is not None:
            stack, self._open = self._open, None
            self._opening = asyncio.Lock()  # the next loop's
            await stack.aclose()

    def request(self, prompt: str, system: str = "") -> ModelRequest:
        """Return one user message, after the system prompts of the run and of the prompt."""
        # One message for both, as some servers refuse a second one.
        before = "\n\n".join(filter(None, (self._system, system)))
        parts: list[ModelRequestPart] = [SystemPromptPart(before)] if before else []
        return ModelRequest(parts=[*parts, UserPromptPart(prompt)])

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
        if not text and response.finish_reason == "error":
            raise TryAgainError(
                "body", f"{self.name}: an answer that ended with an error.", None, usage
            )
        if not (came or thoughts) and not cause and response.finish_reason is None:
            raise TryAgainError(
                "body", f"{self.name}: an answer without anything in it.", None, usage
            )
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
