"""The wire: what is looked at of every response before a client reads it.

A client that cannot read an answer raises, and what the answer cost is lost with it. So the body is
kept until it is read. No redirect is followed: clients take the key along in a header of their own.
"""

import json
import math
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import urljoin, urlsplit

from portrayal.collect.ask.provider import StopError, Usage
from portrayal.collect.sources import most_unpacked

Client = TypeVar("Client", bound=Any)
_LONGEST = 120
_PATIENCE = 5.0
_INPUT = ("prompt_tokens", "input_tokens", "promptTokenCount")
_OUTPUT = ("completion_tokens", "output_tokens", "candidatesTokenCount")
_BESIDE_INPUT = ("cache_creation_input_tokens", "cache_read_input_tokens")
_BESIDE_OUTPUT = ("thoughtsTokenCount",)


@dataclass(slots=True)
class LastResponse:
    """What one call has seen of its last response.

    Attributes
    ----------
    status, body
        Of the response; None while it has not come whole.
    elsewhere
        Where it was redirected to.
    too_large
        What is wrong with a body that is not read.
    """

    status: int | None = None
    body: bytes | None = None
    elsewhere: str = ""
    too_large: str = ""

    @property
    def is_answer(self) -> bool:
        """Whether a whole response with a status of success came."""
        return self.body is not None and 200 <= (self.status or 0) < 300


_SEEN: ContextVar[LastResponse] = ContextVar("seen")


@contextmanager
def looking() -> Iterator[LastResponse]:
    """Yield what the calls inside, of a watched client, see."""
    # A context variable, as many calls share one client and each looks at its own
    response = LastResponse()
    token = _SEEN.set(response)
    try:
        yield response
    finally:
        _SEEN.reset(token)


class _ElsewhereError(Exception):
    """A redirect that is not followed."""


class _RefusedBodyError(Exception):
    """A body that is larger than allowed, or packed."""


BOUND = "PORTRAYAL_MOST_ANSWER"
"""Environment variable: how many bytes one answer may have, such as 100MB."""
_USUAL = "32MB"


async def _read_bounded(response: Any, most: int) -> bytes:
    """Return the body of a response of at most `most` bytes, which is not packed."""
    packing = response.headers.get("content-encoding", "identity")
    if packing != "identity":
        # A few bytes may unpack to any number
        raise _RefusedBodyError(f"an answer packed as {packing}, which was not asked for")
    body = bytearray()
    async for piece in response.stream:
        body += piece
        if len(body) > most:
            raise _RefusedBodyError(
                f"an answer of more than {most:,} bytes ({BOUND} sets the bound)"
            )
    return bytes(body)


def _put_back(response: Any, body: bytes) -> None:
    """Let a client read `body` as what came."""
    from httpx2 import AsyncByteStream

    class Body(AsyncByteStream):
        """A body that was read."""

        async def __aiter__(self) -> AsyncIterator[bytes]:
            yield body

    response.headers.pop("content-length", None)  # of the body as it came
    response.stream = Body()


def watched(client: Client) -> Client:
    """Return an HTTP client of httpx2 that looks at every response that it gets."""

    async def on_request(request: Any) -> None:
        request.headers["accept-encoding"] = "identity"

    async def on_response(response: Any) -> None:
        last = _SEEN.get(LastResponse())
        if response.has_redirect_location:
            last.elsewhere = urljoin(str(response.url), response.headers["location"])
            raise _ElsewhereError("redirected")
        last.status, last.body = response.status_code, None
        try:
            body = await _read_bounded(response, most_unpacked(BOUND, _USUAL))
        except _RefusedBodyError as error:
            last.too_large = str(error)
            raise
        finally:
            await response.stream.aclose()
        last.body = body = with_whole_usage(body)
        _put_back(response, body)
        await response.aread()

    client.event_hooks = {"request": [on_request], "response": [on_response]}
    return client


def redirected(name: str, target: str) -> StopError:
    """Return the error of an endpoint that redirects, as to another host."""
    parts = urlsplit(target)
    return StopError(
        f"{name}: the address redirects to {parts.scheme}://{parts.netloc}{parts.path}, where the "
        "key was not sent. If that is the right one, give it with --base-url."
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
    # Twice, as the first try may meet a network that is just coming up
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
    message = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return " ".join(str(message).split()).rstrip(".")[:_LONGEST]


def with_whole_usage(body: bytes) -> bytes:
    """Return a body whose usage a client can read: whole tokens, and a total as their bound.

    Clients refuse an answer with 20.5 tokens, which would be paid for again. Of a total alone it is
    not known which part was asked for; an answer's tokens cost no less, so all count as these.

    >>> with_whole_usage(b'{"usage": {"prompt_tokens": 3, "completion_tokens": 20.5}}')
    b'{"usage": {"prompt_tokens": 3, "completion_tokens": 21}}'
    >>> with_whole_usage(b'{"usage": {"total_tokens": 7}}')
    b'{"usage": {"total_tokens": 7, "prompt_tokens": 0, "completion_tokens": 7}}'
    """
    if b'"usage"' not in body:
        return body
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return body
    usage = value.get("usage") if isinstance(value, dict) else None
    if not isinstance(usage, dict):
        return body
    counts = {
        name: math.ceil(n) if isinstance(n, float) and math.isfinite(n) else n
        for name, n in usage.items()
    }
    total = counts.get("total_tokens")
    if isinstance(total, int) and not any(counts.get(name) for name in (*_INPUT, *_OUTPUT)):
        counts |= {"prompt_tokens": 0, "completion_tokens": total}
    return body if counts == usage else json.dumps({**value, "usage": counts}).encode()


def error_in(body: bytes | None) -> bool:
    """Whether an answer came with an error beside it, as of a service behind the one asked."""
    return b'"error"' in (body or b"") and bool(_object_in(body).get("error"))


def usage_in(body: bytes | None) -> Usage:
    """Return the tokens that a body reports, in the words of any service; 0 where it does not."""
    return _usage_of(_object_in(body))


def _usage_of(value: Mapping[str, Any]) -> Usage:
    for key in ("usage", "usageMetadata", "response", "message"):
        inside = value.get(key)
        if isinstance(inside, dict) and (usage := _usage_of(inside)) != Usage():
            return usage
    counts = {
        key: n
        for key, n in value.items()
        if isinstance(n, int) and not isinstance(n, bool) and 0 <= n < 2**31
    }
    n_input, answered = (
        next((counts[key] for key in names if counts.get(key)), 0) for names in (_INPUT, _OUTPUT)
    )
    return Usage(
        n_input + sum(counts.get(key, 0) for key in _BESIDE_INPUT),
        answered + sum(counts.get(key, 0) for key in _BESIDE_OUTPUT),
    )


def _object_in(body: bytes | None) -> dict[str, Any]:
    """The JSON object that a body is; empty where it is none."""
    try:
        value = json.loads((body or b"").decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def is_filtered(body: bytes | None) -> bool:
    """Whether a body that a client could not read says that a content filter stopped the answer."""
    choices = _object_in(body).get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    return isinstance(first, dict) and first.get("finish_reason") == "content_filter"


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
        words = " ".join(str(cause).split())[:_LONGEST].rstrip(".")
        return f"an error with the status of an answer: {words}"
    if answer.get("choices") == []:
        return "an answer without choices"
    return "no answer in the service's form of JSON"
