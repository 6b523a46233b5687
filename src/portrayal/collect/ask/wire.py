"""The wire: what is looked at of every response before a client reads it.

A client that cannot read an answer raises, and what the answer cost is lost with it. So the body is
kept until it is read. A redirect to another host is not followed: clients take the key along in a
header of their own.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import urljoin, urlsplit

from portrayal.collect.ask.provider import StopError, Usage

Client = TypeVar("Client", bound=Any)
_LONGEST = 120
_PATIENCE = 5.0
_PORTS = {"http": 80, "https": 443}
_INPUT = ("prompt_tokens", "input_tokens", "inputTokens", "promptTokenCount")
_OUTPUT = ("completion_tokens", "output_tokens", "outputTokens", "candidatesTokenCount")
_BESIDE_INPUT = ("cache_creation_input_tokens", "cache_read_input_tokens")
_BESIDE_OUTPUT = ("thoughtsTokenCount",)
_EVENTS = ("data:", "event:", ":")
_KINDS = {
    list: "an array",
    str: "a text",
    int: "a number",
    float: "a number",
    bool: "a truth value",
}


@dataclass(slots=True)
class LastResponse:
    """What one call has seen of its last response.

    Attributes
    ----------
    timeout
        Seconds in which a part of the response must come; None leaves it to the caller.
    status, body
        Of the response; None while it has not come whole.
    elsewhere
        Where it was redirected to, if that is another host.
    """

    timeout: float | None = None
    status: int | None = None
    body: bytes | None = None
    elsewhere: str = ""

    @property
    def is_answer(self) -> bool:
        """Whether a whole response with a status of success came."""
        return self.body is not None and 200 <= (self.status or 0) < 300


_SEEN: ContextVar[LastResponse | None] = ContextVar("seen", default=None)


@contextmanager
def looking(timeout: float | None = None) -> Iterator[LastResponse]:
    """Yield what the calls inside, of a watched client, see."""
    seen = LastResponse(timeout)
    token = _SEEN.set(seen)
    try:
        yield seen
    finally:
        _SEEN.reset(token)


class _ElsewhereError(Exception):
    """A redirect that is not followed."""


def is_elsewhere(asked: str, target: str) -> bool:
    """Whether a redirect leads to another host, another port, or away from encryption.

    Examples
    --------
    >>> is_elsewhere("http://a.example/v1", "https://a.example/v1")
    False
    >>> is_elsewhere("https://a.example/v1", "http://a.example/v1")
    True
    """
    here, there = urlsplit(asked), urlsplit(target)
    if here.hostname != there.hostname:
        return True
    ports = [each.port or _PORTS.get(each.scheme) for each in (here, there)]
    upgraded = (here.scheme, there.scheme, ports) == ("http", "https", [80, 443])
    return not upgraded and (here.scheme != there.scheme or ports[0] != ports[1])


def watched(client: Client) -> Client:
    """Return an HTTP client (httpx or httpx2) that looks at every response that it gets."""

    async def on_request(request: Any) -> None:
        seen = _SEEN.get()
        limits = request.extensions.get("timeout")
        if seen is not None and seen.timeout is not None and limits is not None:
            request.extensions["timeout"] = {**limits, "read": seen.timeout}

    async def on_response(response: Any) -> None:
        seen = _SEEN.get()
        if response.has_redirect_location:
            target = urljoin(str(response.url), response.headers["location"])
            if is_elsewhere(str(response.url), target):
                if seen is not None:
                    seen.elsewhere = target
                raise _ElsewhereError("redirected to another host")
        elif seen is not None:
            seen.status, seen.body = response.status_code, None
            if not seen.timeout:  # files of results are left to their reader
                seen.body = await response.aread()

    client.event_hooks = {"request": [on_request], "response": [on_response]}
    return client


def on_parse(response_dict: Mapping[str, Any], **_: Any) -> None:
    """Look at a response as Amazon's client gets it, which has hooks of its own."""
    if (seen := _SEEN.get()) is not None:
        seen.status, seen.body = response_dict["status_code"], response_dict["body"]
        if 300 <= response_dict["status_code"] < 400:  # this client follows none
            seen.elsewhere = response_dict["headers"].get("location", "")


def redirected(name: str, target: str) -> StopError:
    """Return the error of an endpoint that redirects to another host."""
    parts = urlsplit(target)
    return StopError(
        f"{name}: the address redirects to another host, {parts.scheme}://{parts.netloc}, where "
        "the key was not sent. If that is the right one, give it with --base-url."
    )


async def reach(name: str, url: str) -> None:
    """Check that something answers at an address, without a key.

    Raises
    ------
    StopError
        Where nothing does; in seconds.
    """
    import httpx2

    gone = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.UnsupportedProtocol)
    for last in (False, True):
        try:
            async with httpx2.AsyncClient(timeout=_PATIENCE) as client:
                await client.get(url)
        except (*gone, httpx2.RemoteProtocolError) as error:
            wrong = f"nothing answers at {url}"
            if isinstance(error, httpx2.RemoteProtocolError):
                wrong = f"what answers at {url} does not speak HTTP"
            if last:
                raise StopError(
                    f"{name}: {wrong} ({bottom(error)}). Check that address (--base-url) and the "
                    "network; nothing was asked."
                ) from None
        except (httpx2.HTTPError, httpx2.InvalidURL):
            return  # it is there, if slow
        else:
            return


def bottom(error: BaseException) -> str:
    """Return the words of the error below all others, which is the system's."""
    while (below := error.__cause__ or error.__context__) is not None:
        error = below
    said = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return " ".join(str(said).split()).rstrip(".")[:_LONGEST]


def usage_in(body: bytes | str | None) -> Usage:
    """Return the tokens that a body reports, in the words of any service; 0 where it does not."""
    values = [each for one in _values(body) for each in (one if isinstance(one, list) else [one])]
    found = (_usage_of(value) for value in reversed(values) if isinstance(value, dict))
    return next((usage for usage in found if usage != Usage()), Usage())


def _usage_of(value: Mapping[str, Any]) -> Usage:
    for key in ("usage", "usageMetadata", "tokens", "response", "message"):
        inside = value.get(key)
        if isinstance(inside, dict) and (usage := _usage_of(inside)) != Usage():
            return usage
    counts = {
        key: n
        for key, n in value.items()
        if isinstance(n, int) and not isinstance(n, bool) and 0 <= n < 2**31
    }
    asked, answered = (
        next((counts[key] for key in names if counts.get(key)), 0) for names in (_INPUT, _OUTPUT)
    )
    return Usage(
        asked + sum(counts.get(key, 0) for key in _BESIDE_INPUT),
        answered + sum(counts.get(key, 0) for key in _BESIDE_OUTPUT),
    )


def _values(body: bytes | str | None) -> list[Any]:
    """The JSON values of a body: one, or those of a stream of events."""
    text = body.decode("utf-8", "replace") if isinstance(body, bytes) else body or ""
    lines = [text]
    if text.lstrip().startswith(_EVENTS):
        lines = [line[5:] for line in text.splitlines() if line.startswith("data:")]
    found = []
    for line in lines:
        try:
            found.append(json.loads(line))
        except (ValueError, RecursionError):
            continue
    return found


def is_filtered(body: bytes | None) -> bool:
    """Whether a body that a client could not read says that a content filter stopped the answer."""
    for value in _values(body):
        choices = value.get("choices") if isinstance(value, dict) else None
        first = choices[0] if isinstance(choices, list) and choices else None
        if isinstance(first, dict) and first.get("finish_reason") == "content_filter":
            return True
    return False


def wrong_with(body: bytes | None) -> str:
    """Return what is wrong with a body that a client could not read, in a few words."""
    text = (body or b"").decode("utf-8", "replace").lstrip()
    if not text:
        return "an empty body"
    if text[0] == "<":
        return "a page of HTML or XML in place of an answer"
    if text.startswith(_EVENTS):
        return "a stream of events, which was not asked for"
    values = _values(body)
    if not values:
        return "no JSON, or JSON that is cut off"
    match value := values[0]:
        case {"error": error} if error:
            said = error.get("message") or error.get("code") if isinstance(error, dict) else error
            words = " ".join(str(said).split())[:_LONGEST].rstrip(".")
            wrong = f"an error with the status of an answer: {words}"
        case {"choices": []}:
            wrong = "an answer without choices"
        case {"choices": [{"message": {**message}}, *_]}:
            content, wrong = message.get("content"), "an answer whose fields are not as promised"
            if content is not None and not isinstance(content, (str, list)):
                wrong = f"content that is {_KINDS.get(type(content), 'an object')}"
        case {"choices": [{**first}, *_]}:
            wrong = f"a message that is {_KINDS.get(type(first.get('message')), 'null')}"
        case {"choices": choices}:
            wrong = f"choices that are {_KINDS.get(type(choices), 'null')}"
        case {}:
            wrong = "an object without an answer in it"
        case _:
            wrong = f"{_KINDS.get(type(value), 'null')} in place of an answer"
    return wrong
