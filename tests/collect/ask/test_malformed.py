"""Answers with status 200 that cannot be read: metered, retried twice at most, said and counted."""

import json
import tracemalloc

import pytest

from collect.ask.asked import collect_texts
from portrayal.collect.ask.asking import Asking
from portrayal.collect.ask.budget import MOST_TOKENS
from portrayal.collect.ask.limits import Retry
from portrayal.collect.ask.loop import ask_model
from portrayal.collect.ask.provider import (
    RejectedError,
    StopError,
    TryAgainError,
    Usage,
    provider_of,
)
from portrayal.collect.ask.remote import usage_in, wrong_with
from servers.openai_server import MALFORMED

QUICK = Retry(first_wait=0.001)
WORDS = {
    "no_choices": "an answer without choices",
    **dict.fromkeys(
        ("null_choices", "null_message", "integer", "array", "events"),
        "no answer in the service's form of JSON",
    ),
    "error_200": "an error with the status of an answer: Upstream broke",
    "html": "a page of HTML or XML in place of an answer",
    "nothing": "an empty body",
}
WITH_USAGE = tuple(k for k in MALFORMED if k not in ("html", "nothing", "array", "events"))
PAID = pytest.mark.fault(
    "a malformed answer with status 200 (9 kinds)",
    "what it cost is metered, it is tried twice more at most and within the budget, and its reason "
    "is said and counted",
)


@PAID
@pytest.mark.parametrize("service", ["openai:test", "server:test"])
@pytest.mark.parametrize("kind", MALFORMED)
def test_it_is_tried_three_times_metered_and_said(serve, run, prompts, rows, service, kind):
    server = serve(faults={kind: 1.0})
    model = provider_of(service, base_url=server.base_url)
    report = collect_texts(run, prompts[:2], model, retry=QUICK, concurrency=2)
    assert server.requests == report.tries == 6
    assert report.malformed == {WORDS[kind]: 6}
    cost, estimated = Usage(60, 120), bool(report.usage.estimated_tokens)
    assert (kind in WITH_USAGE, estimated) in ((True, False), (False, True))
    assert estimated or report.usage == cost
    assert (report.outcomes, report.n_answered) == ({"failed": 2}, 0)
    assert all(WORDS[kind] in row["reason"] for row in rows(run))
    said = report.summary
    assert "0 of 2 answers (2 failed)" in said
    assert f"6 malformed answers, paid for: {WORDS[kind]} (6)" in said


@PAID
def test_the_budget_holds_for_them(serve, run, prompts):
    server = serve(faults={"no_choices": 1.0})
    model = provider_of("server:test", base_url=server.base_url, parameters={"max_tokens": 20})
    report = collect_texts(run, prompts[:2], model, budget="100 tokens", retry=QUICK)
    assert report.stopped == "budget"
    assert server.requests == 3
    assert report.usage == Usage(30, 60)
    assert "stopped at the budget" in report.summary
    again = collect_texts(run, prompts[:2], model, budget="100 tokens", retry=QUICK)
    assert (again.tries, again.usage, again.stopped) == (0, Usage(30, 60), "budget")
    server.faults = {}
    done = collect_texts(run, prompts[:2], model, budget="160 tokens", retry=QUICK)
    assert (done.complete, done.usage) == (True, Usage(50, 100))


@PAID
def test_what_they_cost_outlives_folds_and_restarts(serve, run, prompts, rows):
    server = serve(script=["no_choices", "ok", "html", "integer", *["ok"] * 40])
    model = provider_of("openai:test", base_url=server.base_url)
    first = collect_texts(run, prompts, model, 2, retry=QUICK, concurrency=1, shard_rows=7)
    assert (first.complete, first.usage) == (True, Usage(220 + 72, 440 + 29, 72 + 29))  # the page
    assert run.texts.note()["asked"]["openai:test"]["output_tokens"] == 469
    assert sum(row["output_tokens"] for row in rows(run)) == 400
    lines = [json.loads(line) for line in (run.path / "journal.jsonl").read_text().splitlines()]
    assert [set(line) >= {"malformed", "model"} for line in lines] == [True, True, True]
    again = collect_texts(run, prompts, model, 3, retry=QUICK)
    assert again.usage == Usage(392, 669, 101)
    assert sum(again.malformed.values()) == 3
    other = provider_of("server:test", base_url=server.base_url)
    assert collect_texts(run, prompts, other, 1).usage == Usage(100, 200)


def test_a_collection_without_one_answer_is_an_error(serve, run, prompts, tmp_path):
    server = serve(faults={"html": 1.0})
    file = tmp_path / "mine.jsonl"
    row = {"id": "a", "text": "Write.", "domain": "Labor", "condition": "power-neutral"}
    file.write_text(json.dumps({**row, "subject_role": "nurse"}) + "\n")
    asking = Asking("server:m", prompts=file, base_url=server.base_url, retry=QUICK)
    told = []
    with pytest.raises(StopError, match=r"no request to server:m has an answer: a page of HTML"):
        ask_model(run, "laissez-faire", asking, told.append)
    assert "0 of 1 answers" in told[0]
    assert server.requests == 3


def test_an_answer_that_a_filter_stopped_without_a_message_is_a_refusal(serve, run, prompts, rows):
    def render(path, asked, kind):
        usage = {"prompt_tokens": 10, "completion_tokens": 0, "total_tokens": 10}
        choice = {"index": 0, "finish_reason": "content_filter", "message": None}
        return {"id": "a", "object": "chat.completion", "created": 1, "model": "m",
                "choices": [choice], "usage": usage}  # fmt: skip

    server = serve(render=render)
    model = provider_of("openai:test", base_url=server.base_url)
    report = collect_texts(run, prompts[:2], model, retry=QUICK)
    assert (server.requests, report.outcomes) == (2, {"refused": 2})
    assert report.usage == Usage(20, 0)
    assert {row["input_tokens"] for row in rows(run)} == {10}
    assert collect_texts(run, prompts[:2], model).usage == Usage(20, 0)


def test_an_odd_reason_does_not_fill_the_journal_or_the_summary(run, prompts):
    class Odd:
        name, parameters, n = "odd:one", {}, 0

        async def ask(self, prompt):
            self.n += 1
            raise TryAgainError("body", f"odd:one: {'x' * 900} {self.n}.", usage=Usage(1, 1))

        async def close(self):
            pass

    many = [prompts[0].__class__(f"p{i}", f"Prompt {i}") for i in range(19)]
    report = collect_texts(run, many, Odd(), retry=QUICK, concurrency=1)
    assert sum(report.malformed.values()) == 57
    assert len(report.malformed) <= 21
    assert len(report.summary) < 1500


@pytest.mark.parametrize(
    ("service", "body", "usage"),
    [
        ("openai", b'{"usage": {"prompt_tokens": 3, "completion_tokens": 4}}', Usage(3, 4)),
        ("server", b'{"usage": {"prompt_tokens": 3, "completion_tokens": 4}}', Usage(3, 4)),
        ("mistral", b'{"usage": {"prompt_tokens": 3, "completion_tokens": 4}}', Usage(3, 4)),
        ("anthropic",
         b'{"usage": {"input_tokens": 3, "output_tokens": 4, "cache_read_input_tokens": 5}}',
         Usage(8, 4)),
        ("google", b'{"usageMetadata": {"promptTokenCount": 3, "candidatesTokenCount": 4, '
         b'"thoughtsTokenCount": 2}}', Usage(3, 6)),
        ("openai", b'{"usage": {"prompt_tokens": -3, "completion_tokens": "4"}}', Usage()),
        ("openai", b'{"usage": {"prompt_tokens": true, "completion_tokens": 1e3}}', Usage()),
        *(("openai", body, Usage())
          for body in (b'{"usage": null}', b"[]", b"\xff{", None, b"[" * 100_000)),
    ],
)  # fmt: skip
def test_usage_is_read_in_the_words_of_every_service(service, body, usage):
    assert usage_in(body, service) == usage
    assert len(wrong_with(body)) < 200


def test_a_malformed_result_says_what_it_cost():
    from portrayal.collect.ask.remote import malformed

    got = malformed(
        b'{"usage": {"input_tokens": 3, "output_tokens": 4}, "output": 7}', "anthropic:m"
    )
    assert (got.kind, got.usage) == ("body", Usage(3, 4))
    filtered = malformed(b'{"choices": [{"finish_reason": "content_filter"}]}', "server:m")
    assert isinstance(filtered, RejectedError)
    assert filtered.refused


@pytest.mark.fault("an error message that echoes the key", "the key is shown and written nowhere")
def test_a_key_in_a_malformed_body_is_not_shown(serve, run, prompts, key):
    server = serve(faults={"error_200": 1.0})
    made = server._malformed

    def leaking(kind, reply):
        status, headers, body = made(kind, reply)
        return status, headers, body.replace(b"Upstream broke", b"Bad key " + key.encode())

    server._malformed = leaking
    model = provider_of("openai:test", base_url=server.base_url)
    report = collect_texts(run, prompts[:1], model, retry=QUICK)
    assert "[key]" in report.summary
    assert key not in report.summary
    assert key.encode() not in b"".join(p.read_bytes() for p in run.path.rglob("*") if p.is_file())


BOMB = pytest.mark.fault(
    "an answer of .2 MB that unpacks to 200 MB, or is packed as nobody asked",
    "nothing is unpacked; one failed answer, which is not tried again, says so",
)


@BOMB
@pytest.mark.parametrize("service", ["openai:test", "server:test"])
@pytest.mark.parametrize(
    ("kind", "why"), [("bomb", "packed as gzip, which"), ("odd_packing", "packed as br, which")]
)
def test_what_unpacks_to_too_much_is_one_failed_answer(
    serve, run, prompts, rows, service, kind, why
):
    server = serve(script=[kind])
    model = provider_of(service, base_url=server.base_url)
    tracemalloc.start()
    report = collect_texts(run, prompts[:2], model, retry=QUICK, concurrency=1)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 120_000_000
    assert server.requests == 2
    assert report.outcomes == {"failed": 1, "ok": 1}
    assert [why in row["reason"] for row in rows(run) if row["outcome"] == "failed"] == [True]
    assert report.usage.output_tokens >= MOST_TOKENS  # what it cost is not known, and not nothing


@BOMB
@pytest.mark.parametrize("kind", ["bomb", "odd_packing"])
def test_what_unpacks_to_too_much_counts_against_the_budget(serve, run, prompts, kind):
    server = serve(faults={kind: 1.0})
    capped = provider_of("server:test", base_url=server.base_url, parameters={"max_tokens": 50})
    options = {"budget": "1000 tokens", "retry": QUICK, "concurrency": 1}
    report = collect_texts(run, prompts, capped, 15, **options)
    assert report.stopped == "budget"
    assert server.requests * 50 <= report.usage.total <= 1000
    assert report.usage.estimated_tokens == report.usage.total


def test_the_bound_is_a_setting(serve, run, prompts, rows, monkeypatch):
    monkeypatch.setenv("PORTRAYAL_MOST_ANSWER", "100")
    server = serve()
    model = provider_of("server:test", base_url=server.base_url)
    collect_texts(run, prompts[:1], model, retry=QUICK)
    assert "more than 100 bytes" in rows(run)[0]["reason"]


def _reply(text="Words of an answer.", **more):
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    head = {"id": "a", "object": "chat.completion", "created": 1, "model": "test-model"}
    return {**head, "choices": [choice], **more}


@pytest.mark.fault(
    "an answer that comes with an error beside it", "it is failed, and its reason is said"
)
def test_an_error_beside_an_answer_fails_it(serve, run, prompts, rows):
    error = {"error": {"message": "Upstream broke"}}
    server = serve(render=lambda *_: _reply(**error))
    model = provider_of("server:test", base_url=server.base_url)
    report = collect_texts(run, prompts[:1], model, retry=QUICK)
    assert report.outcomes == {"failed": 1}
    assert "Upstream broke" in rows(run)[0]["reason"]


@pytest.mark.fault(
    "usage with a total alone, or with parts of tokens",
    "it is taken as an upper bound, and nothing is bought twice",
)
@pytest.mark.parametrize("service", ["openai:test", "server:test"])
@pytest.mark.parametrize(
    ("usage", "output"),
    [
        ({"total_tokens": 31}, 31),
        ({"prompt_tokens": 10, "completion_tokens": 20.5, "total_tokens": 30.5}, 21),
        ({"prompt_tokens": 10.25, "completion_tokens": 20, "total_tokens": 30.25}, 20),
    ],
)
def test_usage_is_taken_as_it_can_be(serve, run, prompts, service, usage, output):
    server = serve(render=lambda *_: _reply(usage=usage))
    model = provider_of(service, base_url=server.base_url)
    report = collect_texts(run, prompts[:1], model, retry=QUICK)
    assert server.requests == 1
    assert report.outcomes == {"ok": 1}
    assert report.usage.output_tokens == output


@pytest.mark.fault(
    "half a character in the name of the model", "it is replaced, and the answer is kept"
)
def test_half_a_character_in_the_name_of_the_model(serve, run, prompts, rows):
    server = serve(render=lambda *_: _reply(model="test\ud800-model", id="a\udfff"))
    model = provider_of("server:test", base_url=server.base_url)
    report = collect_texts(run, prompts[:1], model, retry=QUICK)
    assert report.outcomes == {"ok": 1}
    assert rows(run)[0]["text"] == "Words of an answer."
