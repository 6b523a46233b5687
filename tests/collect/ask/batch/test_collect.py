import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from collect.ask.asked import collect_texts
from portrayal.collect.ask import Collection, Price, Retry, clients
from portrayal.collect.ask.batch.store import Submissions
from portrayal.collect.ask.provider import StopError
from portrayal.collect.ask.runner import open_batches
from portrayal.errors import OptionError, RunError
from portrayal.records import Prompt
from portrayal.run import Run
from servers.batch_server import BatchServer
from support import matrix, needs

needs("pydantic_ai", "openai", "anthropic")

KEY = "sk-test-0123456789abcdef"
MODELS = {"openai": "gpt-test", "anthropic": "claude-test"}
SERVICES = tuple(MODELS)
PROMPTS = [Prompt(f"p{n}", f"tell {n}", {"n": str(n)}) for n in range(6)]
PACE = Retry(attempts=3, first_wait=0.01, longest_wait=0.05, settle_seconds=0.2)

services = pytest.mark.parametrize("service", SERVICES)


@pytest.fixture(autouse=True)
def keys(monkeypatch):
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.setenv(name, KEY)


def provider(service, server, parameters=None):
    address = f"{server.url}/v1" if service == "openai" else server.url
    return getattr(clients, service)(MODELS[service], address, parameters or {})


def collect(path, service, server, parameters=None, samples=2, **options):
    run = Run(Path(path))
    options.setdefault("retry", PACE)
    with run.lock():
        given = provider(service, server, parameters)
        return collect_texts(run, PROMPTS, given, samples, batch=True, **options)


def rows_of(path):
    parts = sorted((Path(path) / "texts").glob("part-*.parquet"))
    return [row for part in parts for row in pq.read_table(part).to_pylist()]


def check_whole(path, samples=2, outcome="ok"):
    """Every request has exactly one row, and it answers its own prompt."""
    rows = rows_of(path)
    wanted = Counter((p.prompt_id, s) for p in PROMPTS for s in range(samples))
    assert Counter((row["prompt_id"], row["sample"]) for row in rows) == wanted
    assert len({row["text_id"] for row in rows}) == len(rows)
    texts = {p.prompt_id: f"answer to {p.text}" for p in PROMPTS}
    for row in rows:
        assert row["outcome"] == outcome
        assert row["text"] == texts[row["prompt_id"]]
    return rows


def keys_asked(server):
    return Counter(custom_id.partition("-")[0] for custom_id in server.asked.elements())


@services
def test_every_request_gets_its_own_answer_in_whatever_order(tmp_path, service):
    with BatchServer(looks=3) as server:
        report = collect(tmp_path, service, server)
    assert report.complete
    assert (report.done, report.asked, report.tries, report.open_batches) == (12, 12, 12, 0)
    assert (report.usage.input_tokens, report.usage.output_tokens) == (84, 60)
    check_whole(tmp_path)
    assert server.creates == 1
    (kept,) = (tmp_path / "batches").glob("*.json")
    assert KEY not in kept.read_text()
    assert "tell" not in kept.read_text()


@services
def test_the_rows_are_those_that_the_runner_would_write(tmp_path, service):
    with BatchServer() as server:
        made = provider(service, server)
        collect(tmp_path, service, server)
    row = check_whole(tmp_path)[0]
    from portrayal.collect.ask.collection import RequestPlan

    plan = RequestPlan(PROMPTS, 2, made.name, made.parameters)
    keys = {request.key for request in plan}
    assert {row["text_id"] for row in rows_of(tmp_path)} == keys
    assert row["model"] == f"{service}:{MODELS[service]}"
    assert row["answered_by"]
    assert row["source_id"]
    assert row["attempts"] == 1


BAD_DAYS = pytest.mark.fault(
    "requests of a batch fail, expire or are missing; creating, listing or reading one breaks off",
    "what has no answer is handed in again; no answer is lost or asked twice",
)


@BAD_DAYS
@services
def test_errored_and_missing_items_are_asked_again(tmp_path, service):
    def item(custom_id, prompt, number):
        bad = {"tell 1": "server_error", "tell 2": "missing"}
        return bad.get(prompt, "ok") if number == 0 else "ok"

    with BatchServer(item=item) as server:
        report = collect(tmp_path, service, server)
    rows = check_whole(tmp_path)
    assert report.complete
    assert [len(job.requests) for job in server.jobs.values()] == [12, 4]
    assert Counter(row["attempts"] for row in rows) == {1: 8, 2: 4}


@BAD_DAYS
@services
def test_rejected_prompts_fail_alone_and_lasting_errors_are_given_up(tmp_path, service):
    def item(custom_id, prompt, number):
        return {"tell 1": "rejected", "tell 2": "server_error"}.get(prompt, "ok")

    with BatchServer(item=item) as server:
        report = collect(tmp_path, service, server, samples=1)
    assert report.outcomes == {"ok": 4, "failed": 2}
    assert [len(job.requests) for job in server.jobs.values()] == [6, 1, 1]
    failed = {row["prompt_id"]: row for row in rows_of(tmp_path) if row["outcome"] == "failed"}
    assert set(failed) == {"p1", "p2"}
    assert "rejected here" in failed["p1"]["reason"]
    assert "3 tries" in failed["p2"]["reason"]
    with BatchServer() as server:
        again = collect(tmp_path, service, server, samples=1)
    assert again.outcomes == {"ok": 6}
    assert again.tries == 2
    check_whole(tmp_path, samples=1)


def test_refusals_and_blocked_prompts_are_refused(tmp_path):
    def item(custom_id, prompt, number):
        return {"tell 1": "refusal", "tell 2": "blocked"}.get(prompt, "ok")

    with BatchServer(item=item) as server:
        report = collect(tmp_path, "openai", server, samples=1)
    assert report.outcomes == {"ok": 4, "refused": 2}
    assert server.creates == 1


@BAD_DAYS
@services
def test_an_expired_batch_keeps_what_it_has_and_the_rest_is_asked_again(tmp_path, service):
    with BatchServer(end=("expired",)) as server:
        report = collect(tmp_path, service, server)
    check_whole(tmp_path)
    assert report.complete
    assert [len(job.requests) for job in server.jobs.values()] == [12, 6]


@services
def test_requests_are_split_by_number(tmp_path, service):
    retry = replace(PACE, max_requests=5)
    with BatchServer(looks=2) as server:
        collect(tmp_path, service, server, retry=retry)
    check_whole(tmp_path)
    assert [len(job.requests) for job in server.jobs.values()] == [5, 5, 2]


def test_requests_are_split_by_bytes(tmp_path, monkeypatch):
    import portrayal.collect.ask.batch.services as batch_openai

    class Small(batch_openai.OpenAIBatches):
        def __init__(self, given):
            super().__init__(given)
            self.max_bytes = 700

    monkeypatch.setitem(batch_openai.SERVICES, "openai", Small)
    with BatchServer() as server:
        collect(tmp_path, "openai", server)
    check_whole(tmp_path)
    assert all(len(content) <= 700 for content in server.files.values())
    assert 1 < server.creates < 12


@services
def test_submit_now_and_collect_later(tmp_path, service):
    with BatchServer(looks=2) as server:
        first = collect(tmp_path, service, server, wait=0)
        assert (first.done, first.open_batches, first.tries) == (0, 1, 12)
        assert [one.model for one in open_batches(Run(tmp_path))] == [first.model]
        again = collect(tmp_path, service, server, wait=0)  # a duplicate attempt
        assert again.tries == 0
        last = collect(tmp_path, service, server)
    assert last.complete
    assert last.tries == 0
    assert server.creates == 1
    check_whole(tmp_path)
    assert open_batches(Run(tmp_path)) == []


@services
def test_answers_that_a_smaller_plan_does_not_want_are_kept_all_the_same(tmp_path, service):
    with BatchServer(looks=1) as server:
        collect(tmp_path, service, server, samples=3, wait=0)
        assert collect(tmp_path, service, server, samples=1).complete
        assert collect(tmp_path, service, server, samples=3).complete
        assert server.creates == 1
    check_whole(tmp_path, samples=3)


@services
def test_two_processes_cannot_submit_at_once(tmp_path, service):
    run = Run(tmp_path)
    with BatchServer() as server, run.lock():
        with pytest.raises(RunError, match="another process"):
            collect(tmp_path, service, server)
        assert server.creates == 0


@BAD_DAYS
@services
@pytest.mark.parametrize("fault", matrix(["lost", "reset", "server_error", "rate_limit"]))
def test_a_create_call_that_fails_is_neither_lost_nor_doubled(tmp_path, service, fault):
    with BatchServer(create=(fault,)) as server:
        report = collect(tmp_path, service, server)
    check_whole(tmp_path)
    assert report.complete
    assert len(server.jobs) == 1
    assert set(keys_asked(server).values()) == {1}


@BAD_DAYS
def test_a_listing_that_lags_behind_is_waited_for(tmp_path):
    with BatchServer(create=("lost",), hidden_looks=1) as server:
        collect(tmp_path, "openai", server)
    check_whole(tmp_path)
    assert len(server.jobs) == 1


def test_a_batch_of_somebody_else_is_not_taken_for_ours(tmp_path):
    with BatchServer(looks=2, create=("ok", "lost")) as server:
        theirs, ours = tmp_path / "theirs", tmp_path / "ours"
        collect(theirs, "anthropic", server, wait=0)  # as many requests, at the same time
        report = collect(ours, "anthropic", server)
        assert report.complete
        collect(theirs, "anthropic", server)
    check_whole(ours)
    check_whole(theirs)
    assert len(server.jobs) == 2
    assert set(server.asked.values()) == {1}
    (kept,) = Submissions(ours / "batches").all()
    assert kept.batch_id == "msgbatch_1"


@services
def test_a_batch_cancelled_elsewhere_is_not_submitted_again_by_itself(tmp_path, service):
    with BatchServer(end=("cancelled",)) as server:
        report = collect(tmp_path, service, server)
    assert not report.complete
    assert report.done == 6
    assert len(server.jobs) == 1


@BAD_DAYS
def test_a_full_queue_is_waited_for(tmp_path):
    retry = replace(PACE, max_requests=6)
    with BatchServer(looks=2, end=("completed", "queue_full")) as server:
        report = collect(tmp_path, "openai", server, retry=retry)
    assert report.complete
    assert len(server.jobs) == 3
    assert set(server.prompts.values()) == {2}
    check_whole(tmp_path)


def test_a_batch_refused_as_a_whole_stops_with_its_reason(tmp_path):
    with BatchServer(end=("refused",)) as server:
        with pytest.raises(StopError, match="model_not_found"):
            collect(tmp_path, "openai", server)
        assert open_batches(Run(tmp_path)) == []
        collect(tmp_path, "openai", server)
    check_whole(tmp_path)


@services
def test_a_refused_key_stops_and_is_not_shown(tmp_path, service):
    with BatchServer(create=("unauthorized",)) as server:
        with pytest.raises(StopError) as caught:
            collect(tmp_path, service, server)
        assert KEY not in str(caught.value)
        assert caught.value.__cause__ is None
        assert open_batches(Run(tmp_path)) == []
        collect(tmp_path, service, server)
    check_whole(tmp_path)


def test_an_exhausted_quota_keeps_what_was_answered(tmp_path):
    def item(custom_id, prompt, number):
        return "quota" if prompt == "tell 3" and number == 0 else "ok"

    with BatchServer(item=item) as server:
        with pytest.raises(StopError, match="quota"):
            collect(tmp_path, "openai", server, samples=1)
        assert len(rows_of(tmp_path)) == 5
        collect(tmp_path, "openai", server, samples=1)
    check_whole(tmp_path, samples=1)
    assert [len(job.requests) for job in server.jobs.values()] == [6, 1]


@BAD_DAYS
@services
def test_a_download_that_breaks_off_is_repeated(tmp_path, service):
    with BatchServer(broken_downloads=2) as server:
        report = collect(tmp_path, service, server)
    assert report.complete
    check_whole(tmp_path)
    assert len(server.jobs) == 1


@services
def test_unusual_line_separators_in_a_text_are_part_of_it(tmp_path, service):
    odd = "a\u2028b\u2029c\x85d\x1ce\nf"
    with BatchServer(text=lambda _: odd) as server:
        report = collect(tmp_path, service, server, samples=1)
    assert report.outcomes == {"ok": 6}
    assert {row["text"] for row in rows_of(tmp_path)} == {odd}
    assert server.creates == 1


def test_a_budget_holds_back_what_would_pass_it(tmp_path):
    with BatchServer() as server:
        report = collect(tmp_path, "openai", server, {"max_tokens": 20}, budget="100 tokens")
        assert report.stopped == "budget"
        assert 4 <= report.done < 12
        assert report.usage.input_tokens + report.usage.output_tokens <= 100
        assert collect(tmp_path, "openai", server, {"max_tokens": 20}).complete
    check_whole(tmp_path)


def test_what_is_not_under_way_is_confirmed_at_the_price_of_a_batch(tmp_path, monkeypatch):
    monkeypatch.setattr("portrayal.collect.ask.budget.price_of", lambda _: Price(2.0, 8.0))
    estimates = []

    def no(estimate):
        estimates.append(estimate)
        return False

    with BatchServer(looks=10**9) as server:
        declined = collect(tmp_path, "openai", server, confirm=no)
        assert (declined.stopped, declined.done, server.creates) == ("declined", 0, 0)
        collect(tmp_path, "openai", server, samples=1, wait=0)
        under_way = collect(tmp_path, "openai", server, samples=1, wait=0, confirm=no)
        assert (under_way.stopped, under_way.open_batches) == ("", 1)
        assert collect(tmp_path, "openai", server, wait=0, confirm=no).stopped == "declined"
    assert [estimate.requests for estimate in estimates] == [12, 6]
    first = estimates[0]
    assert first.cost == pytest.approx((first.input_tokens + 4.0 * first.output_tokens) / 1e6)


def test_ctrl_c_leaves_the_batches_under_way(tmp_path):
    with BatchServer(looks=10**9) as server:
        timer = threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        report = collect(tmp_path, "openai", server)
        timer.join()
        assert (report.stopped, report.open_batches, report.done) == ("interrupted", 1, 0)
        server.looks = 1
        assert collect(tmp_path, "openai", server).complete
    check_whole(tmp_path)
    assert len(server.jobs) == 1


def test_two_unnamed_batches_of_the_same_size_are_told_apart(tmp_path):
    retry = replace(PACE, max_requests=6)
    with BatchServer(looks=4) as server:
        collect(tmp_path, "anthropic", server, retry=retry, wait=0)
        store = Submissions(tmp_path / "batches")
        first, second = store.all()
        store.save(first, state="intended", batch_id="", made_at=second.made_at)
        store.save(second, state="intended", batch_id="", made_at=first.made_at)
        server.jobs["msgbatch_0"].looks = 3  # ends first, and is held by the wrong one
        report = collect(tmp_path, "anthropic", server, retry=retry)
    assert report.complete
    check_whole(tmp_path)
    assert len(server.jobs) == 2


def test_importing_the_door_of_batches_loads_no_client():
    code = (
        "import sys, portrayal.collect.ask.runner; "
        "sys.exit(any(n in sys.modules for n in ('pydantic_ai', 'openai', 'torch')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_models_without_a_batch_api_and_ignored_parameters_are_named(tmp_path):
    with BatchServer() as server:
        with pytest.raises(OptionError, match="no batch API"):
            collect_texts(
                Run(tmp_path), PROMPTS, clients.server("llama", f"{server.url}/v1", {}), batch=True
            )
        with pytest.raises(OptionError, match="ignores seed"):
            collect_texts(
                Run(tmp_path), PROMPTS, provider("openai", server, {"seed": 1}), batch=True
            )
    assert not (tmp_path / "batches").exists()


def test_an_unreadable_submission_is_not_passed_over(tmp_path):
    with BatchServer(looks=9) as server:
        collect(tmp_path, "openai", server, wait=0)
        (kept,) = (tmp_path / "batches").glob("*.json")
        kept.write_text(kept.read_text()[:100])
        with pytest.raises(RunError, match="may stand for requests that are paid for"):
            collect(tmp_path, "openai", server)
    assert server.creates == 1


class Killed(BaseException):
    """The process ends here."""


def dying(real, *, calls=1, after=False):
    """Return a function that ends the process in one of its calls, before or `after` its work."""
    left = [calls]

    def step(*args, **kwargs):
        left[0] -= 1
        if left[0] == 0 and not after:
            raise Killed
        done = real(*args, **kwargs)
        if left[0] == 0:
            raise Killed
        return done

    return step


@pytest.fixture
def killed(monkeypatch):
    """Collect, and end at a step of the run's files; what a killed process leaves is left."""

    def collect_until(owner, name, *arguments, **how):
        with monkeypatch.context() as patched:
            patched.setattr(owner, name, dying(getattr(owner, name), **how))
            patched.setattr(Collection, "close", Collection.abandon)
            try:
                collect(*arguments)
            except Killed:
                return True
            return False

    return collect_until


KILLED = pytest.mark.fault(
    "kill -9 of a collection by batches, at any moment",
    "the same command goes on; no batch is lost and no request is handed in twice",
)
CRASHES = {
    "before anything was sent": (Submissions, "save", {"calls": 1, "after": True}),
    "between creating and writing down": (Submissions, "save", {"calls": 2}),
    "once it was written down": (Submissions, "save", {"calls": 2, "after": True}),
    "while writing results": (Collection, "record", {"calls": 5}),
    "once the results were written": (Submissions, "save", {"calls": 3}),
}


@KILLED
@services
@pytest.mark.parametrize("crash", matrix(sorted(CRASHES)))
def test_a_process_that_ends_at_a_step_loses_and_doubles_nothing(tmp_path, service, crash, killed):
    owner, name, how = CRASHES[crash]
    with BatchServer(looks=2) as server:
        assert killed(owner, name, tmp_path, service, server, **how)
        report = collect(tmp_path, service, server)
    assert report.complete
    check_whole(tmp_path)
    assert len(server.jobs) == 1
    assert set(keys_asked(server).values()) == {1}


@KILLED
def test_a_process_that_ends_at_every_step_in_turn_loses_and_doubles_nothing(tmp_path, killed):
    with BatchServer(looks=2) as server:
        for calls in range(1, 30):
            owner, name = ((Submissions, "save"), (Collection, "record"))[calls % 2]
            how = {"calls": calls // 2 + 1, "after": calls % 3 == 0}
            if not killed(owner, name, tmp_path, "openai", server, **how):
                break
        collect(tmp_path, "openai", server)
    check_whole(tmp_path)
    assert set(keys_asked(server).values()) == {1}


CHILD = """
import sys
from pathlib import Path
from portrayal.collect.ask import Asking, Retry, collect
from portrayal.records import Prompt
from portrayal.run import Run

path, model, address = sys.argv[1:]
prompts = [Prompt(f"p{n}", f"tell {n}", {"n": str(n)}) for n in range(6)]
run = Run(Path(path))
with run.lock():
    collect(run, prompts, Asking(model, 2, base_url=address, batch=True))
"""


@pytest.mark.fault("kill -9 of a collection", "the same command goes on; no answer is asked twice")
def test_killed_between_creating_and_writing_down(tmp_path):
    with BatchServer(create=("hang",), looks=2) as server:
        arguments = [str(tmp_path), "openai:gpt-test", f"{server.url}/v1"]
        child = subprocess.Popen([sys.executable, "-c", CHILD, *arguments])
        assert server.hanging.wait(60)
        child.send_signal(signal.SIGKILL)
        child.wait()
        (kept,) = Submissions(tmp_path / "batches").all()
        assert kept.state == "intended"
        report = collect(tmp_path, "openai", server)
        assert report.tries == 0
    assert report.complete
    check_whole(tmp_path)
    assert len(server.jobs) == 1


CLOCK = pytest.mark.fault(
    "the clock is set back or forward by days or years, between two commands or within one",
    "no batch is lost or bought again; the same audit goes on to the same bytes",
)


@CLOCK
@services
@pytest.mark.parametrize("days", matrix([-4000, 30]))
def test_a_batch_is_found_again_whatever_the_clock_said(
    tmp_path, service, days, killed, monkeypatch
):
    owner, name, how = CRASHES["between creating and writing down"]
    true = time.time
    with BatchServer(looks=2) as server:
        with monkeypatch.context() as patched:
            patched.setattr(
                "portrayal.collect.ask.batch.watching.time.time", lambda: true() + days * 86_400
            )
            assert killed(owner, name, tmp_path, service, server, **how)
        report = collect(tmp_path, service, server)
    assert report.complete
    check_whole(tmp_path)
    assert len(server.jobs) == 1
    assert set(keys_asked(server).values()) == {1}


@KILLED
@pytest.mark.parametrize("seed", matrix(range(3)))
def test_killed_again_and_again(tmp_path, seed):
    draw = random.Random(seed)
    with BatchServer(looks=6) as server:
        arguments = [str(tmp_path), "openai:gpt-test", f"{server.url}/v1"]
        for _ in range(3):
            child = subprocess.Popen([sys.executable, "-c", CHILD, *arguments])
            until, creates = time.monotonic() + 60, server.creates
            while server.creates == creates == 0 and child.poll() is None:
                assert time.monotonic() < until
                time.sleep(0.01)
            time.sleep(draw.uniform(0, 1.5))
            child.kill()
            child.wait()
        report = collect(tmp_path, "openai", server)
    assert report.complete
    check_whole(tmp_path)
    assert len(server.jobs) == 1
    assert set(keys_asked(server).values()) == {1}
