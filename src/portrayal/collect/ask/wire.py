"""The wire: what is looked at of every response before a client reads it.

A client that cannot read an answer raises, and what the answer cost is lost with it. So the body is
kept until it is read. A redirect to another host is not followed: clients take the key along in a
header of their own.
"""

import json
import math
import sys
import zlib
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
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
    too_large
        What is wrong with a body that unpacks to more than is allowed.
    """

    timeout: float | None = None
    status: int | None = None
    body: bytes | None = None
    elsewhere: str = ""
    too_large: str = ""

    @property
    def is_answer(self) -> bool:
        """Whether a whole response with a status of success came."""
        return self.body is not None and 200 <= (self.status or 0) < 300


_SEEN: ContextVar[LastResponse | None] = ContextVar("seen", default=None)


@contextmanager
def looking(timeout: float | None = None) -> Iterator[LastResponse]:
    """Yield what the calls inside, of a watched client, see."""
    # A context variable, as many calls share one client and each looks at its own
    response = LastResponse(timeout)
    token = _SEEN.set(response)
    try:
        yield response
    finally:
        _SEEN.reset(token)


class _ElsewhereError(Exception):
    """A redirect that is not followed."""


class _TooLargeError(Exception):
    """A body that unpacks to more than is allowed, or is packed in a way that has no bound."""


BOUND = "PORTRAYAL_MOST_ANSWER"
"""Environment variable: how many bytes one answer may unpack to, such as 100MB."""
_USUAL, _RESULTS = "32MB", 64
"""Bytes of one answer at most; a file of results of a batch may have so many times as many."""
_PIECE = 1 << 16
_WINDOWS = {"gzip": zlib.MAX_WBITS | 16, "x-gzip": zlib.MAX_WBITS | 16, "deflate": zlib.MAX_WBITS}
"""How zlib unpacks each encoding; others are not asked for, as their readers take no bound."""


def unpacked(pieces: Iterable[bytes], window: int) -> Iterator[bytes]:
    """Yield what gzip or deflate unpacks to, in pieces of bounded size."""
    decoder, is_first = zlib.decompressobj(window), True
    for piece in pieces:
        packed = piece
        while packed and not decoder.eof:
            try:
                unpacked_piece = decoder.decompress(packed, _PIECE)
            except zlib.error:
                if not is_first or window != zlib.MAX_WBITS:
                    raise
                decoder = zlib.decompressobj(-zlib.MAX_WBITS)  # "deflate" without its header
                unpacked_piece = decoder.decompress(packed, _PIECE)
            is_first, packed = False, decoder.unconsumed_tail
            yield unpacked_piece
    yield decoder.flush()


async def _read_bounded(response: Any, most: int) -> bytes:
    """Return the body of a response, unpacked; nothing is unpacked beyond `most` bytes."""
    names = response.headers.get("content-encoding", "").lower().split(",")
    encodings = [name.strip() for name in names if name.strip() not in ("", "identity")]
    if unknown := [name for name in encodings if name not in _WINDOWS]:
        raise _TooLargeError(f"an answer packed as {unknown[0]}, which was not asked for")
    packed, n_bytes = [], 0
    async for piece in response.stream:
        packed.append(piece)
        n_bytes += len(piece)
        if n_bytes > most:
            raise _TooLargeError(_too_large(most))
    pieces: Iterable[bytes] = packed
    # They are named in the order in which they were applied.
    for name in reversed(encodings):
        pieces = _within(unpacked(pieces, _WINDOWS[name]), most)
    return b"".join(pieces)


def _within(pieces: Iterable[bytes], most: int) -> Iterator[bytes]:
    n_bytes = 0
    for piece in pieces:
        n_bytes += len(piece)
        if n_bytes > most:
            raise _TooLargeError(_too_large(most))
        yield piece


def _too_large(most: int) -> str:
    return f"an answer of more than {most:,} bytes after unpacking ({BOUND} sets the bound)"


def _put_back(response: Any, body: bytes) -> None:
    """Let a client read `body` as what came, without packing."""
    # httpx and httpx2 each take a stream of their own kind alone.
    library = sys.modules[type(response).__module__.partition(".")[0]]

    class Body(library.AsyncByteStream):  # type: ignore[misc,name-defined]
        """A body that was read."""

        async def __aiter__(self) -> AsyncIterator[bytes]:
            yield body

    # They are of the body as it came, packed.
    for name in ("content-encoding", "content-length"):
        response.headers.pop(name, None)
    response.stream = Body()


def is_elsewhere(source: str, target: str) -> bool:
    """Whether a redirect leads to another host, another port, or away from encryption.

    Examples
    --------
    >>> is_elsewhere("http://a.example/v1", "https://a.example/v1")
    False
    >>> is_elsewhere("https://a.example/v1", "http://a.example/v1")
    True
    """
    start, end = urlsplit(source), urlsplit(target)
    if start.hostname != end.hostname:
        return True
    ports = [url.port or _PORTS.get(url.scheme) for url in (start, end)]
    upgraded = (start.scheme, end.scheme, ports) == ("http", "https", [80, 443])
    return not upgraded and (start.scheme != end.scheme or ports[0] != ports[1])


def watched(client: Client) -> Client:
    """Return an HTTP client (httpx or httpx2) that looks at every response that it gets."""

    async def on_request(request: Any) -> None:
        last = _SEEN.get()
        # What can be unpacked here piece by piece, up to a bound.
        request.headers["accept-encoding"] = "gzip, deflate"
        limits = request.extensions.get("timeout")
        if last is not None and last.timeout is not None and limits is not None:
            request.extensions["timeout"] = {**limits, "read": last.timeout}

    async def on_response(response: Any) -> None:
        last = _SEEN.get()
        if response.has_redirect_location:
            target = urljoin(str(response.url), response.headers["location"])
            if is_elsewhere(str(response.url), target):
                if last is not None:
                    last.elsewhere = target
                raise _ElsewhereError("redirected to another host")
            return
        if last is not None:
            last.status, last.body = response.status_code, None
        is_results = last is not None and bool(last.timeout)
        try:
            body = await _read_bounded(
                response, most_unpacked(BOUND, _USUAL) * (_RESULTS if is_results else 1)
            )
        except (_TooLargeError, zlib.error) as error:
            if last is not None:
                last.too_large = str(error)
            raise
        finally:
            await response.stream.aclose()
        if last is not None and not is_results:  # files of results are left to their reader
            last.body = body = with_whole_usage(body)
        _put_back(response, body)
        await response.aread()

    client.event_hooks = {"request": [on_request], "response": [on_response]}
    return client


def on_parse(response_dict: Mapping[str, Any], **_: Any) -> None:
    """Look at a response as Amazon's client gets it, which has hooks of its own."""
    if (last := _SEEN.get()) is not None:
        last.status, last.body = response_dict["status_code"], response_dict["body"]
        if 300 <= response_dict["status_code"] < 400:  # this client follows none
            last.elsewhere = response_dict["headers"].get("location", "")


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
    value = next(iter(_values(body)), None) if b'"error"' in (body or b"") else None
    return isinstance(value, dict) and bool(value.get("error"))


def usage_in(body: bytes | str | None) -> Usage:
    """Return the tokens that a body reports, in the words of any service; 0 where it does not."""
    values = [value for one in _values(body) for value in (one if isinstance(one, list) else [one])]
    # Of a stream the last event that tells usage tells all of it.
    usages = (_usage_of(value) for value in reversed(values) if isinstance(value, dict))
    return next((usage for usage in usages if usage != Usage()), Usage())


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
    n_input, answered = (
        next((counts[key] for key in names if counts.get(key)), 0) for names in (_INPUT, _OUTPUT)
    )
    return Usage(
        n_input + sum(counts.get(key, 0) for key in _BESIDE_INPUT),
        answered + sum(counts.get(key, 0) for key in _BESIDE_OUTPUT),
    )


def _values(body: bytes | str | None) -> list[Any]:
    """The JSON values of a body: one, or those of a stream of events."""
    text = body.decode("utf-8", "replace") if isinstance(body, bytes) else body or ""
    lines = [text]
    if text.lstrip().startswith(_EVENTS):
        lines = [line[5:] for line in text.splitlines() if line.startswith("data:")]
    values = []
    for line in lines:
        try:
            values.append(json.loads(line))
        except (ValueError, RecursionError):
            continue
    return values


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
            cause = error.get("message") or error.get("code") if isinstance(error, dict) else error
            words = " ".join(str(cause).split())[:_LONGEST].rstrip(".")
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
