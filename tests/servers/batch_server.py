"""A local server that speaks enough of three batch APIs, with faults.

OpenAI's Files and Batches, Anthropic's Message Batches and Gemini's Batch Mode share one store of
batches. Faults are named per created batch (`create`, `end`) and per request (`item`).
"""

import json
import random
import re
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.parser import BytesParser
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

ITEMS = ("ok", "server_error", "rejected", "blocked", "quota", "missing", "refusal")
CREATES = ("ok", "reset", "lost", "hang", "rate_limit", "unauthorized", "server_error")
ENDS = ("completed", "expired", "queue_full", "refused", "cancelled")


@dataclass
class Job:
    """A batch: its requests by custom id, and how often it was looked at."""

    name: str
    kind: str
    requests: dict[str, str]
    mark: str
    end: str
    created: float
    file: str = ""
    looks: int = 0
    cancelling: bool = False
    results: list[tuple[str, str]] = field(default_factory=list)
    ended: bool = False


class BatchServer:
    """The server in a thread of its own.

    Parameters
    ----------
    looks
        Status checks before a batch ends.
    create, end
        What happens to the first, second, … created batch; afterwards "ok" and "completed".
    item
        (custom id, prompt, number of the batch) → one of `ITEMS`.
    text
        Prompt → answer.
    """

    def __init__(
        self,
        *,
        looks: int = 1,
        create: tuple[str, ...] = (),
        end: tuple[str, ...] = (),
        item: Callable[[str, str, int], str] = lambda *_: "ok",
        text: Callable[[str], str] = lambda prompt: f"answer to {prompt}",
        broken_downloads: int = 0,
        hidden_looks: int = 0,
        seed: int = 0,
    ) -> None:
        self.looks, self._create, self._end = looks, list(create), list(end)
        self.item, self.text = item, text
        self.broken_downloads, self.hidden_looks = broken_downloads, hidden_looks
        self.files: dict[str, bytes] = {}
        self.jobs: dict[str, Job] = {}
        self.asked: Counter[str] = Counter()  # custom ids in created batches
        self.prompts: Counter[str] = Counter()  # prompts that were run
        self.creates = self.lists = 0
        self.is_gone = False  # whether every connection is dropped
        self.hanging = threading.Event()
        self.release = threading.Event()
        self._random = random.Random(seed)
        self._lock = threading.RLock()

    def __enter__(self) -> Self:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                _handle(server, self, b"")

            def do_POST(self) -> None:
                size = int(self.headers.get("content-length") or 0)
                _handle(server, self, self.rfile.read(size))

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        class Server(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_: object) -> None:
                """A client that was killed is no error."""

        self._http = Server(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}"
        return self

    def __exit__(self, *_: object) -> None:
        self.release.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def create(self, kind: str, requests: dict[str, str], mark: str, file: str = "") -> Job | str:
        """Make a batch, or return the name of the fault that stands in its place."""
        with self._lock:
            self.creates += 1
            fault = self._create.pop(0) if self._create else "ok"
            if fault not in ("ok", "lost", "hang"):
                return fault
            number = len(self.jobs)
            name = {"openai": "batch_", "anthropic": "msgbatch_"}[kind]
            end = self._end.pop(0) if self._end else "completed"
            job = Job(f"{name}{number}", kind, requests, mark, end, time.time(), file)
            self.jobs[job.name] = job
            self.asked.update(list(requests))
        if fault == "hang":
            self.hanging.set()
            self.release.wait(30)
        return job if fault == "ok" else fault

    def look(self, name: str) -> Job | None:
        """Return a batch after one more status check."""
        with self._lock:
            job = self.jobs.get(name)
            if job is None:
                return None
            job.looks += 1
            if not job.ended and (job.looks >= self.looks or job.cancelling):
                self._finish(job)
            return job

    def _finish(self, job: Job) -> None:
        job.ended = True
        if job.cancelling:
            job.end = "cancelled"
        run = list(job.requests.items())
        if job.end in ("expired", "cancelled"):
            run = run[: len(run) // 2]
        if job.end in ("queue_full", "refused"):
            run = []
        number = list(self.jobs).index(job.name)
        job.results = [(cid, self.item(cid, prompt, number)) for cid, prompt in run]
        self.prompts.update(job.requests[cid] for cid, kind in job.results if kind == "ok")
        self._random.shuffle(job.results)

    def listed(self, kind: str) -> list[Job]:
        """Return the batches of one API, newest first; none while the listing lags behind."""
        with self._lock:
            self.lists += 1
            if self.lists <= self.hidden_looks:
                return []
            return [job for job in self.jobs.values() if job.kind == kind][::-1]


def _handle(server: BatchServer, http: BaseHTTPRequestHandler, body: bytes) -> None:
    path = urlsplit(http.path)
    query = {key: values[0] for key, values in parse_qs(path.query).items()}
    for method, pattern, speak in _ROUTES:
        if method == http.command and (match := re.fullmatch(pattern, path.path)):
            reply = speak(server, http, body, query, *match.groups())
            break
    else:
        reply = (404, {"error": {"message": f"no route {http.command} {path.path}"}})
    reply = None if server.is_gone else reply
    if reply is None:  # the connection is dropped without a word
        http.close_connection = True
        http.connection.close()
        return
    status, content, *headers = reply
    data = content if isinstance(content, bytes) else json.dumps(content).encode()
    cut = data
    if headers and headers[0] == "broken":
        cut = data[: len(data) // 2]
        headers = []
    http.send_response(status)
    http.send_header("content-length", str(len(data)))
    http.send_header("content-type", "application/json")
    for name, value in (headers[0] if headers else {}).items():
        http.send_header(name, value)
    http.end_headers()
    http.wfile.write(cut)
    if cut != data:
        http.close_connection = True
        http.connection.close()


_RATE = (429, "rate_limit_exceeded", "Rate limit reached")
_WAITS = {"rate_limit_inf": "inf", "rate_limit_negative": "-9", "rate_limit_long": "99999999"}
_FAULTS = {
    "rate_limit": _RATE,
    **dict.fromkeys(_WAITS, _RATE),
    "unauthorized": (
        401,
        "invalid_api_key",
        "Incorrect API key provided: sk-test-0123456789abcdef",
    ),
    "server_error": (500, "server_error", "The server had an error"),
}


def _refuse(fault: str) -> Any:
    if fault in ("reset", "lost", "hang"):
        return None
    status, code, message = _FAULTS[fault]
    kind = {"code": code, "type": code, "message": message, "status": code.upper()}
    return status, {"type": "error", "error": kind}, {"retry-after": _WAITS.get(fault, "0")}


def _stamp(when: float) -> str:
    return datetime.fromtimestamp(when, UTC).isoformat().replace("+00:00", "Z")


def _jsonl(rows: list[Any]) -> bytes:
    """Lines as a serializer writes them that escapes only what JSON demands."""
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def _download(server: BatchServer, rows: list[Any]) -> Any:
    if server.broken_downloads > 0:
        server.broken_downloads -= 1
        return 200, _jsonl(rows), "broken"
    return 200, _jsonl(rows)


# OpenAI


def _openai_upload(server, http, body, query):  # type: ignore[no-untyped-def]
    kind = f"content-type: {http.headers['content-type']}\r\n\r\n".encode()
    parts = BytesParser().parsebytes(kind + body).get_payload()
    content = next(part for part in parts if part.get_filename()).get_payload(decode=True)
    name = f"file-{len(server.files)}"
    server.files[name] = content
    return 200, {"id": name, "object": "file", "bytes": len(content), "created_at": 1,
                 "filename": "x.jsonl", "purpose": "batch", "status": "processed"}  # fmt: skip


def _openai_create(server, http, body, query):  # type: ignore[no-untyped-def]
    asked = json.loads(body)
    lines = [json.loads(line) for line in server.files[asked["input_file_id"]].splitlines()]
    requests = {}
    for line in lines:
        assert line["url"] == asked["endpoint"] == "/v1/responses"
        given = line["body"]["input"]
        requests[line["custom_id"]] = given if isinstance(given, str) else _last_text(given)
    mark = (asked.get("metadata") or {}).get("portrayal", "")
    made = server.create("openai", requests, mark, asked["input_file_id"])
    return _refuse(made) if isinstance(made, str) else (200, _openai_batch(made))


def _last_text(items: list[dict[str, Any]]) -> str:
    content = items[-1]["content"]
    return content if isinstance(content, str) else content[-1]["text"]


_OPENAI_ENDS = {"queue_full": "failed", "refused": "failed"}


def _openai_batch(job: Job) -> dict[str, Any]:
    status = _OPENAI_ENDS.get(job.end, job.end) if job.ended else "in_progress"
    made = {
        "id": job.name, "object": "batch", "endpoint": "/v1/responses", "status": status,
        "input_file_id": job.file, "completion_window": "24h", "created_at": int(job.created),
        "metadata": {"portrayal": job.mark},
        "request_counts": {"total": len(job.requests), "completed": 0, "failed": 0},
    }  # fmt: skip
    if job.ended and job.end in ("queue_full", "refused"):
        code = "token_limit_exceeded" if job.end == "queue_full" else "model_not_found"
        made["errors"] = {"object": "list", "data": [{"code": code, "message": code, "line": None}]}
    elif job.ended:
        made |= {"output_file_id": f"out-{job.name}", "error_file_id": f"err-{job.name}"}
    return made


def _openai_get(server, http, body, query, name):  # type: ignore[no-untyped-def]
    job = server.look(name)
    return (200, _openai_batch(job)) if job else (404, {"error": {"message": "no batch"}})


def _openai_list(server, http, body, query):  # type: ignore[no-untyped-def]
    return 200, _page(server.listed("openai"), query.get("after"), _openai_batch, 2)


def _page(jobs, after, render, size):  # type: ignore[no-untyped-def]
    names = [job.name for job in jobs]
    start = names.index(after) + 1 if after in names else 0
    shown = jobs[start : start + size]
    return {
        "object": "list",
        "data": [render(job) for job in shown],
        "first_id": shown[0].name if shown else None,
        "last_id": shown[-1].name if shown else None,
        "has_more": start + size < len(jobs),
    }


def _openai_cancel(server, http, body, query, name):  # type: ignore[no-untyped-def]
    server.jobs[name].cancelling = True
    return 200, _openai_batch(server.jobs[name])


def _openai_file(server, http, body, query, name):  # type: ignore[no-untyped-def]
    kind, _, job_name = name.partition("-")
    job = server.jobs.get(job_name)
    if job is None:
        return 200, server.files[name]
    good = ("ok", "refusal")
    wanted = [(c, k) for c, k in job.results if (k in good) == (kind == "out")]
    rows = [_openai_line(server, job, c, k) for c, k in wanted if k != "missing"]
    if kind == "err" and job.end == "expired":
        ran = {cid for cid, _ in job.results}
        gone = {"code": "batch_expired", "message": "expired"}
        rest = [cid for cid in job.requests if cid not in ran]
        rows += [{"id": "e", "custom_id": c, "response": None, "error": gone} for c in rest]
    return _download(server, rows)


def _openai_line(server: BatchServer, job: Job, cid: str, kind: str) -> dict[str, Any]:
    content = {"type": "output_text", "text": server.text(job.requests[cid]), "annotations": []}
    if kind == "refusal":
        content = {"type": "refusal", "refusal": "I will not write that."}
    status, body = 200, {
        "id": f"resp_{cid}", "object": "response", "created_at": 1, "model": "gpt-test-2026",
        "status": "completed", "parallel_tool_calls": True, "tool_choice": "auto", "tools": [],
        "output": [{"type": "message", "id": "m", "role": "assistant", "status": "completed",
                    "content": [content]}],
        "usage": {"input_tokens": 7, "output_tokens": 5, "total_tokens": 12,
                  "input_tokens_details": {"cached_tokens": 0},
                  "output_tokens_details": {"reasoning_tokens": 0}},
    }  # fmt: skip
    if kind == "malformed":
        body["output"] = 7
    if kind in _ITEM_ERRORS:
        status, code = _ITEM_ERRORS[kind]
        body = {"error": {"code": code, "type": code, "message": f"{kind} here"}}
    response = {"status_code": status, "request_id": "r", "body": body}
    return {"id": f"x_{cid}", "custom_id": cid, "response": response, "error": None}


_ITEM_ERRORS = {
    "server_error": (500, "server_error"),
    "rejected": (400, "context_length_exceeded"),
    "blocked": (400, "content_policy_violation"),
    "quota": (429, "insufficient_quota"),
}

# Anthropic


def _anthropic_create(server, http, body, query):  # type: ignore[no-untyped-def]
    requests = {}
    for request in json.loads(body)["requests"]:
        assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", request["custom_id"])
        requests[request["custom_id"]] = _last_text(request["params"]["messages"])
    made = server.create("anthropic", requests, "")
    return _refuse(made) if isinstance(made, str) else (200, _anthropic_batch(made))


def _anthropic_batch(job: Job) -> dict[str, Any]:
    total, left = len(job.requests), 0 if job.ended else len(job.requests)
    counts = {
        "processing": left,
        "succeeded": total - left,
        "errored": 0,
        "canceled": 0,
        "expired": 0,
    }
    return {
        "id": job.name, "type": "message_batch", "created_at": _stamp(job.created),
        "processing_status": "ended" if job.ended else "in_progress", "request_counts": counts,
        "expires_at": _stamp(job.created + 86400), "ended_at": None, "archived_at": None,
        "cancel_initiated_at": None,
        "results_url": f"/v1/messages/batches/{job.name}/results" if job.ended else None,
    }  # fmt: skip


def _anthropic_get(server, http, body, query, name):  # type: ignore[no-untyped-def]
    job = server.look(name)
    return (200, _anthropic_batch(job)) if job else (404, {"error": {"message": "no batch"}})


def _anthropic_list(server, http, body, query):  # type: ignore[no-untyped-def]
    return 200, _page(server.listed("anthropic"), query.get("after_id"), _anthropic_batch, 2)


def _anthropic_cancel(server, http, body, query, name):  # type: ignore[no-untyped-def]
    server.jobs[name].cancelling = True
    return 200, _anthropic_batch(server.jobs[name])


def _anthropic_results(server, http, body, query, name):  # type: ignore[no-untyped-def]
    job = server.jobs[name]
    ran = dict(job.results)
    rest = "canceled" if job.end == "cancelled" else "expired"
    rows = [
        {"custom_id": cid, "result": _anthropic_result(server, job, cid, kind)}
        for cid, kind in job.results
        if kind != "missing"
    ]
    rows += [{"custom_id": c, "result": {"type": rest}} for c in job.requests if c not in ran]
    return _download(server, rows)


def _anthropic_result(server: BatchServer, job: Job, cid: str, kind: str) -> dict[str, Any]:
    if kind in _ITEM_ERRORS:
        name = {400: "invalid_request_error", 429: "rate_limit_error"}
        error = {"type": name.get(_ITEM_ERRORS[kind][0], "api_error"), "message": f"{kind} here"}
        return {"type": "errored", "error": {"type": "error", "error": error, "request_id": None}}
    reason = "refusal" if kind == "refusal" else "end_turn"
    content = [{"type": "text", "text": server.text(job.requests[cid])}]
    message = {
        "id": f"msg_{cid}", "type": "message", "role": "assistant", "model": "claude-test",
        "content": content, "stop_reason": reason, "stop_sequence": None,
        "usage": {"input_tokens": 7, "output_tokens": 5},
    }  # fmt: skip
    return {"type": "succeeded", "message": message}


_ROUTES: list[tuple[str, str, Callable[..., Any]]] = [
    ("POST", r"/v1/messages/batches", _anthropic_create),
    ("GET", r"/v1/messages/batches", _anthropic_list),
    ("GET", r"/v1/messages/batches/([^/]+)", _anthropic_get),
    ("GET", r"/v1/messages/batches/([^/]+)/results", _anthropic_results),
    ("POST", r"/v1/messages/batches/([^/]+)/cancel", _anthropic_cancel),
    ("POST", r"/v1/files", _openai_upload),
    ("GET", r"/v1/files/([^/]+)/content", _openai_file),
    ("POST", r"/v1/batches", _openai_create),
    ("GET", r"/v1/batches", _openai_list),
    ("GET", r"/v1/batches/([^/]+)", _openai_get),
    ("POST", r"/v1/batches/([^/]+)/cancel", _openai_cancel),
]
