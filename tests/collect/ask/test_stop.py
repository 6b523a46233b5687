"""Stopping: at once when no request can succeed, in order on Ctrl-C, and balanced always."""

import logging
import signal
from collections import Counter
from types import MappingProxyType

import pytest

from collect.ask.asked import collect_texts
from portrayal.collect.ask.limits import Retry
from portrayal.collect.ask.provider import Answer, StopError, TryAgainError, provider_of

QUICK = Retry(first_wait=0.01)


@pytest.mark.fault("a wrong key, a used-up quota, an unknown model", "one line on what to do")
@pytest.mark.parametrize(
    ("fault", "advice"),
    [
        ("unauthorized", "set OPENAI_API_KEY to a key"),
        ("quota", "add credit or raise its limit"),
        ("not_found", "check the spelling of 'openai:test'"),
    ],
)
def test_what_no_try_will_mend_ends_it_at_once(serve, run, prompts, rows, fault, advice):
    server = serve(script=["ok"] * 25 + [fault] * 1000)
    model = provider_of("openai:test", base_url=server.base_url)
    with pytest.raises(StopError, match=advice) as caught:
        collect_texts(run, prompts, model, 8, concurrency=8, retry=QUICK)
    assert "same command again" in str(caught.value)
    assert server.requests <= 25 + 8
    assert len(rows(run)) == 25
    assert not run.texts.note()["complete"]
    server.script = iter(())
    assert collect_texts(run, prompts, model, 8).asked == 55


def test_many_requests_in_a_row_without_an_answer_end_it(serve, run, prompts):
    server = serve(faults={"rejected": 1.0})
    model = provider_of("openai:test", base_url=server.base_url)
    with pytest.raises(StopError, match=r"20 requests in a row.*maximum context length"):
        collect_texts(run, prompts, model, 50, concurrency=4)
    assert server.requests <= 24


def test_a_patience_longer_than_ours_ends_it(serve, run, prompts):
    server = serve(faults={"rate_limit": 1.0}, retry_after=86_400)
    model = provider_of("openai:test", base_url=server.base_url)
    with pytest.raises(StopError, match="86,400 s"):
        collect_texts(run, prompts, model, 2, concurrency=2)
    assert server.requests <= 2


@pytest.mark.fault("Ctrl-C while asking", "what is in flight is finished and kept")
def test_ctrl_c_finishes_what_is_in_flight(serve, run, prompts, rows):
    server = serve(delay=0.02)
    seen = []

    def press(progress):
        seen.append(progress)
        if progress.done >= 30 and progress.waits_for != "stopping":
            signal.raise_signal(signal.SIGINT)

    model = provider_of("openai:test", base_url=server.base_url)
    before = signal.getsignal(signal.SIGINT)
    report = collect_texts(run, prompts, model, 100, concurrency=6, progress=press)
    assert signal.getsignal(signal.SIGINT) is before
    assert report.stopped == "interrupted"
    assert 30 <= report.done < 1000
    assert len(rows(run)) == report.done == server.requests == sum(server.answered.values())
    assert not run.texts.note()["complete"]


def test_a_second_ctrl_c_ends_it_now_and_keeps_what_came(serve, run, prompts, rows):
    server = serve(script=["ok"] * 12, faults={"slow": 1.0}, slow=30.0)

    def press(progress):
        if progress.done == 12:
            signal.raise_signal(signal.SIGINT)

    model = provider_of("openai:test", base_url=server.base_url)
    with pytest.raises(KeyboardInterrupt):
        collect_texts(run, prompts, model, 10, concurrency=4, progress=press)
    assert len(rows(run)) == 12


def test_a_collection_stopped_in_the_middle_is_balanced(serve, run, prompts, rows):
    server = serve(script=["ok"] * 137 + ["unauthorized"] * 100, faults={}, delay=0.001)
    model = provider_of("openai:test", base_url=server.base_url)
    with pytest.raises(StopError):
        collect_texts(run, prompts, model, 50, concurrency=5)
    counts = Counter(row["prompt_id"] for row in rows(run))
    assert len(counts) == len(prompts)
    assert max(counts.values()) - min(counts.values()) <= 1 + 5
    assert max(row["sample"] for row in rows(run)) <= 14


@pytest.mark.fault("an error message that echoes the key", "the key is shown and written nowhere")
def test_a_planted_key_is_nowhere(serve, run, prompts, key, caplog):
    caplog.set_level(logging.DEBUG)

    def echo(_path, _asked, _kind):
        return None

    server = serve(script=["ok", "unauthorized"], render=echo)
    server_error = server._error

    def leaking(kind):
        status, headers, body = server_error(kind)
        return (
            status,
            headers,
            body.replace(b"Incorrect API key provided", b"Bad key " + key.encode()),
        )

    server._error = leaking
    model = provider_of("openai:test", base_url=server.base_url)
    with pytest.raises(StopError) as caught:
        collect_texts(run, prompts, model, 2, concurrency=1)
    assert "[key]" in str(caught.value)
    import traceback

    shown = "".join(traceback.format_exception(caught.value)) + caplog.text + repr(model)
    files = [path.read_bytes() for path in run.path.rglob("*") if path.is_file()]
    assert len(files) >= 4
    assert key not in shown
    assert all(key.encode() not in content for content in files)


class Odd:
    """A provider with a fault of its own."""

    name = "odd:one"
    parameters = MappingProxyType({})
    closed = False

    def __init__(self, error):
        self.error = error

    async def ask(self, prompt):
        if prompt == "Prompt 3":
            raise self.error
        return Answer("A story.")

    async def close(self):
        self.closed = True


def test_a_faulty_provider_is_shown_and_what_came_is_kept(run, prompts, rows):
    odd = Odd(ZeroDivisionError("a fault in the provider"))
    with pytest.raises(ZeroDivisionError):
        collect_texts(run, prompts, odd, 1, concurrency=1)
    assert odd.closed
    assert len(rows(run)) == 3


def test_an_answer_that_never_comes_is_a_timeout(run, prompts, rows):
    import asyncio

    class Silent(Odd):
        async def ask(self, prompt):
            if prompt == "Prompt 3":
                await asyncio.sleep(60)
            return Answer("A story.")

    report = collect_texts(
        run, prompts, Silent(None), 1, retry=Retry(attempts=2, first_wait=0.001, timeout=0.05)
    )
    assert report.outcomes == {"ok": 9, "failed": 1}
    assert "no answer within" in next(row["reason"] for row in rows(run) if row["reason"])


def test_a_provider_needs_no_base_class_and_tries_are_counted(run, prompts):
    odd = Odd(TryAgainError("server", "odd:one: down."))
    report = collect_texts(run, prompts, odd, 1, retry=Retry(attempts=4, first_wait=0.001))
    assert (report.tries, report.outcomes) == (13, {"ok": 9, "failed": 1})
