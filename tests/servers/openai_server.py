"""A local model server that fails on purpose, for tests and benchmarks; standard library only.

It speaks POST /v1/chat/completions and GET /v1/models on the loopback interface. Each request takes
the next entry of `script`, or else a fault drawn by `faults` (name → probability) from a seeded
stream. A reply counts as successful only when it was sent whole with an answer in it.

    with OpenAIServer(faults={"rate_limit": 0.05, "truncated": 0.05}) as server:
        ...  # server.base_url, server.answered, server.peak

Run as a program it serves until it is ended, and prints its address first:

    python tests/servers/openai_server.py --delay 0.01
"""

import argparse
import asyncio
import email.utils
import json
import random
import socket
import struct
import sys
import threading
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any, Self

Reply = tuple[int, dict[str, str], bytes]
Render = Callable[[str, dict[str, Any], str], dict[str, Any] | None]
Write = Callable[[str, int], str]

FAULTS = (
    "rate_limit", "rate_limit_date", "rate_limit_ms", "quota", "unauthorized", "not_found",
    "rejected", "blocked", "server_error", "overloaded", "reset", "closed", "truncated", "cut_json",
    "wrong_json", "slow", "trickle", "redirect", "rate_limit_absurd", "rate_limit_negative",
    "overloaded_later", "bomb", "odd_packing",
)  # fmt: skip
MALFORMED = (
    "no_choices", "null_choices", "null_message", "integer", "array", "error_200", "html", "events",
    "nothing",
)  # fmt: skip
"""Answers with the status 200 that no client can read; all but the last two say what they cost."""
ANSWERS = ("ok", "empty", "refusal", "content_filter", "length")
_ERRORS: dict[str, tuple[int, str, str]] = {
    "rate_limit": (429, "rate_limit_exceeded", "Rate limit reached"),
    "rate_limit_date": (429, "rate_limit_exceeded", "Rate limit reached"),
    "rate_limit_ms": (429, "rate_limit_exceeded", "Rate limit reached"),
    "rate_limit_absurd": (429, "rate_limit_exceeded", "Rate limit reached"),
    "rate_limit_negative": (429, "rate_limit_exceeded", "Rate limit reached"),
    "quota": (429, "insufficient_quota", "You exceeded your current quota"),
    "unauthorized": (401, "invalid_api_key", "Incorrect API key provided"),
    "not_found": (404, "model_not_found", "The model does not exist"),
    "rejected": (400, "context_length_exceeded", "This model's maximum context length is 8"),
    "blocked": (400, "content_policy_violation", "Blocked by the content policy"),
    "server_error": (500, "server_error", "The server had an error"),
    "overloaded": (503, "overloaded", "The engine is overloaded"),
    "overloaded_later": (503, "overloaded", "The engine is overloaded"),
}


class Gate:
    """Lets the server answer so many requests and holds the rest until it is opened."""

    def __init__(self, let_through: int) -> None:
        self.left, self.open = let_through, threading.Event()

    def __iter__(self) -> "Gate":
        return self

    def __next__(self) -> str:
        if self.open.is_set():
            return "ok"
        self.left -= 1
        return "ok" if self.left >= 0 else "slow"


class OpenAIServer:
    """The server; as a context manager it runs in a thread of its own."""

    def __init__(
        self,
        *,
        faults: Mapping[str, float] | None = None,
        script: Iterable[str] = (),
        seed: int = 0,
        delay: float = 0.0,
        retry_after: float = 0.05,
        slow: float = 0.3,
        words: int = 20,
        limit: int | None = None,
        render: Render | None = None,
        write: Write | None = None,
        usage: Mapping[str, Any] | None = MappingProxyType({"usage": ...}),
    ) -> None:
        self.faults, self.script = dict(faults or {}), iter(script)
        self.delay, self.retry_after, self.slow, self.limit = delay, retry_after, slow, limit
        self.text = " ".join(["word"] * words)
        self.render = render
        self.write = write  # prompt, and how often it was asked before → what an "ok" answer says
        self.usage = usage  # what stands for the usage; None leaves it out, ... is what it cost
        self.billed = Counter(input=0, output=0)
        self._written: Counter[str] = Counter()
        self.answered: Counter[str] = Counter()  # successful replies by prompt
        self.served: Counter[str] = Counter()  # replies of every kind by kind
        self.bodies: list[dict[str, Any]] = []
        self.paths: list[str] = []
        self.times: list[float] = []  # monotonic arrival of every request
        self.in_flight = self.peak = self.requests = 0
        self.keep = True
        self.elsewhere = ""  # where a redirect leads
        self.absurd = "99999999999999"
        self.heads: list[str] = []
        self._random = random.Random(seed)
        self._ready = threading.Event()
        self._port = 0

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._port}/v1"

    @property
    def root(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True)
        self._thread.start()
        self._ready.wait()
        return self

    def __exit__(self, *_: object) -> None:
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._end.set)
            self._thread.join()

    async def _serve(self) -> None:
        self._loop, self._end = asyncio.get_running_loop(), asyncio.Event()
        self._open: set[asyncio.Task[None]] = set()
        server = await asyncio.start_server(self._connected, "127.0.0.1", 0, backlog=1024)
        self._port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._end.wait()
        server.close()
        for task in list(self._open):
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        try:
            while await self._one(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            self._open.discard(task)
            writer.close()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        if self.keep:
            self.heads.append(head)
        first, *lines = head.split("\r\n")
        fields = {k.lower(): v.strip() for k, _, v in (line.partition(":") for line in lines)}
        body = await reader.readexactly(int(fields.get("content-length", 0)))
        method, path, _ = first.split(" ", 2)
        if method == "GET":
            listed = {"object": "list", "data": [{"id": "test-model", "object": "model"}]}
            return await self._send(writer, _json(200, listed))
        self.in_flight += 1
        self.peak = max(self.peak, self.in_flight)
        try:
            is_form = fields.get("content-type", "").startswith("multipart")
            asked = {} if is_form else json.loads(body or b"{}")
            return await self._answer(path, asked, writer)
        finally:
            self.in_flight -= 1

    async def _answer(self, path: str, asked: dict[str, Any], writer: asyncio.StreamWriter) -> bool:
        self.requests += 1
        if self.keep:
            self.bodies.append(asked)
            self.paths.append(path)
            self.times.append(time.monotonic())
        kind = self._kind()
        self.served[kind] += 1
        if self.delay or kind == "slow":
            await asyncio.sleep(self.slow if kind == "slow" else self.delay)
        if kind in ("reset", "closed"):
            if kind == "reset":
                linger = struct.pack("ii", 1, 0)
                writer.get_extra_info("socket").setsockopt(
                    socket.SOL_SOCKET, socket.SO_LINGER, linger
                )
            writer.transport.abort()
            return False
        if kind in _ERRORS:
            return await self._send(writer, self._error(kind))
        reply = _json(200, self._body(path, asked, "ok" if kind not in ANSWERS else kind))
        if kind == "truncated":  # announces more than it sends
            await self._send(writer, reply, cut=len(reply[2]) // 2)
            return False
        if kind == "cut_json":  # whole by its length, but not as JSON
            return await self._send(writer, (200, reply[1], reply[2][: len(reply[2]) // 2]))
        if kind == "redirect":
            return await self._send(writer, (307, {"location": self.elsewhere + path}, b""))
        if kind == "trickle":
            return await self._trickle(writer)
        if kind in ("bomb", "odd_packing"):
            return await self._send(writer, _packed(kind))
        if kind in MALFORMED:
            return await self._send(writer, self._malformed(kind, reply))
        if kind == "wrong_json":
            return await self._send(writer, _json(200, {"hello": "world"}))
        kept = await self._send(writer, reply)
        self.answered[_prompt(asked)] += 1
        return kept

    async def _trickle(self, writer: asyncio.StreamWriter) -> bool:
        """Answer byte by byte, without an end."""
        head = (
            "HTTP/1.1 200 X\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n"
        )
        writer.write(head.encode())
        while True:
            writer.write(b"1\r\n \r\n")
            await writer.drain()
            await asyncio.sleep(0.02)

    def _malformed(self, kind: str, reply: Reply) -> Reply:
        body: Any = json.loads(reply[2])
        choice = body["choices"][0]
        message = choice["message"]
        if kind == "html":
            return 200, {"content-type": "text/html"}, b"<!doctype html><p>Welcome</p>"
        if kind == "nothing":
            return 200, {"content-type": "application/json"}, b""
        if kind == "events":
            events = [{"choices": [{"delta": {"content": "A"}}]}, {**body, "choices": []}]
            lines = "".join(f"data: {json.dumps(each)}\n\n" for each in events)
            stream = {"content-type": "text/event-stream"}
            return 200, stream, (lines + "data: [DONE]\n\n").encode()
        made = {
            "no_choices": {**body, "choices": []},
            "null_choices": {**body, "choices": None},
            "null_message": {**body, "choices": [{**choice, "message": None}]},
            "integer": {**body, "choices": [{**choice, "message": {**message, "content": 5}}]},
            "array": [body],
            "error_200": {"error": {"message": "Upstream broke"}, "usage": body["usage"]},
        }
        return _json(200, made[kind])

    def _kind(self) -> str:
        scripted = next(self.script, None)
        if scripted is not None:
            return scripted
        if self.limit is not None and self.in_flight > self.limit:
            return "rate_limit"
        draw = self._random.random()
        for name, share in self.faults.items():
            draw -= share
            if draw < 0:
                return name
        return "ok"

    def _body(self, path: str, asked: dict[str, Any], kind: str) -> dict[str, Any]:
        if self.render is not None and (body := self.render(path, asked, kind)) is not None:
            return body
        message: dict[str, Any] = {"role": "assistant", "content": self._text(asked, kind)}
        if kind == "empty":
            message["content"] = ""
        if kind == "refusal":
            message.update(content=None, refusal="I will not write that.")
        if kind == "content_filter":
            message["content"] = "Once"
        reason = kind if kind in ("content_filter", "length") else "stop"
        said = len(str(message["content"] or ""))
        n_in, n_out = max(10, len(_prompt(asked)) // 8), max(20, said // 8)
        self.billed.update(input=n_in, output=n_out)
        cost = {"prompt_tokens": n_in, "completion_tokens": n_out, "total_tokens": n_in + n_out}
        usage = {key: cost if value is ... else value for key, value in (self.usage or {}).items()}
        return {
            "id": f"chatcmpl-{self.requests}",
            "object": "chat.completion",
            "created": 1,
            "model": "test-model-2025",
            "choices": [
                {"index": 0, "message": message, "finish_reason": reason, "logprobs": None}
            ],
            **usage,
        }

    def _text(self, asked: dict[str, Any], kind: str) -> str:
        if self.write is None or kind not in ("ok", "length"):
            return self.text
        prompt = _prompt(asked)
        self._written[prompt] += 1
        return self.write(prompt, self._written[prompt] - 1)

    def _error(self, kind: str) -> Reply:
        status, code, message = _ERRORS[kind]
        headers = {}
        if kind == "rate_limit":
            headers["retry-after"] = str(int(self.retry_after))
        if kind == "rate_limit_absurd":
            headers["retry-after"] = self.absurd
        if kind == "rate_limit_negative":
            headers["retry-after"] = "-60"
        if kind in ("rate_limit_ms", "overloaded_later"):
            headers["retry-after-ms"] = str(self.retry_after * 1000)
        if kind == "rate_limit_date":
            headers["retry-after"] = email.utils.formatdate(
                time.time() + self.retry_after, usegmt=True
            )
        return _json(status, {"error": {"message": message, "code": code, "type": code}}, headers)

    async def _send(
        self, writer: asyncio.StreamWriter, reply: Reply, cut: int | None = None
    ) -> bool:
        status, headers, body = reply
        lines = [f"HTTP/1.1 {status} X", f"content-length: {len(body)}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        writer.write("\r\n".join([*lines, "\r\n"]).encode("latin-1") + body[:cut])
        await writer.drain()
        return True


@cache
def _packed(kind: str) -> Reply:
    """An answer that is small on the wire and large in memory, or packed as nobody asked."""
    if kind == "odd_packing":
        return 200, {"content-encoding": "br", "content-type": "application/json"}, b"\x8b\x02"
    coder = zlib.compressobj(wbits=31)
    body = b"".join([*(coder.compress(b" " * (1 << 20)) for _ in range(200)), coder.flush()])
    return 200, {"content-encoding": "gzip", "content-type": "application/json"}, body


def _json(status: int, body: Any, headers: Mapping[str, str] | None = None) -> Reply:
    return (
        status,
        {"content-type": "application/json", **(headers or {})},
        json.dumps(body).encode(),
    )


def _prompt(asked: dict[str, Any]) -> str:
    content = (asked.get("messages") or [{}])[-1].get("content", "")
    return content if isinstance(content, str) else json.dumps(content)


def main() -> None:
    """Serve until ended."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--delay", type=float, default=0.0)
    parser.add_argument("--words", type=int, default=200)
    given = parser.parse_args()
    server = OpenAIServer(delay=given.delay, words=given.words)
    server.keep = False
    with server:
        sys.stdout.write(server.base_url + "\n")
        sys.stdout.flush()
        sys.stdin.read()


if __name__ == "__main__":
    main()
