"""Batches on bad days: a service that is gone, asks to wait for ever, or answers nonsense."""

import socket
import time

import pytest

from collect.ask.asked import collect_texts
from portrayal.collect.ask import Retry, provider_of
from portrayal.collect.ask.provider import StopError
from portrayal.collect.ask.runner import open_batches
from servers.batch_server import BatchServer
from servers.openai_server import OpenAIServer
from support import needs

needs("openai")

PACE = Retry(attempts=3, first_wait=0.01, longest_wait=0.05, settle_seconds=0.1, outage=0.05)
BATCH = {"batch": True, "retry": PACE}


def model(server, key):
    return provider_of("openai:gpt-test", base_url=f"{server.url}/v1")


@pytest.mark.fault("no server at the address", "one line, status 2, before anything starts")
def test_a_dead_address_is_said_before_a_batch_is_confirmed(run, prompts, key):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    dead = provider_of("openai:gpt-test", base_url=url)
    with pytest.raises(StopError, match="nothing answers at"):
        collect_texts(
            run, prompts, dead, batch=True, confirm=lambda _: pytest.fail("asked in vain")
        )
    assert open_batches(run) == []


@pytest.mark.fault(
    "a batch service goes away",
    "waiting stops after five failures in a row over half a minute; no batch is lost",
)
def test_a_service_that_goes_away_ends_the_wait_and_keeps_the_batch(run, prompts, key):
    seen = []
    with BatchServer(looks=10**6) as server:

        def leave(report):
            seen.append(report)
            server.is_gone |= report.waits_for == "1 batch under way"

        with pytest.raises(StopError, match=r"had a response for .*no batch under way, is asked"):
            collect_texts(run, prompts, model(server, key), **BATCH, progress=leave)
    assert len(open_batches(run)) == 1
    assert seen[-1].waits_for.startswith("trying again after: openai:gpt-test: Connection error")


def test_progress_says_what_a_batch_waits_for(run, prompts, key):
    seen = []
    with BatchServer(looks=3) as server:
        given = model(server, key)
        assert collect_texts(run, prompts, given, progress=seen.append, **BATCH).complete
    assert seen[0].waits_for == "handing in a batch"
    assert seen[1].waits_for == "1 batch under way"
    assert (seen[-1].done, seen[-1].total) == (10, 10)


@pytest.mark.fault(
    "429 with an absurd Retry-After", "collecting stops with one line that says how long"
)
def test_a_wait_of_years_ends_it(run, prompts, key):
    with BatchServer(create=("rate_limit_long",)) as server:
        with pytest.raises(StopError, match="asks to wait 99,999,999 s"):
            collect_texts(run, prompts, model(server, key), **BATCH)
        assert open_batches(run)  # what was written down is found again, or let go
        assert collect_texts(run, prompts, model(server, key), **BATCH).complete


@pytest.mark.fault("429 with a negative or garbled Retry-After", "it waits as if none were given")
@pytest.mark.parametrize("fault", ["rate_limit_inf", "rate_limit_negative"])
def test_a_wait_that_makes_no_sense_is_ours(run, prompts, key, fault):
    began = time.monotonic()
    with BatchServer(create=(fault,)) as server:
        assert collect_texts(run, prompts, model(server, key), **BATCH).complete
    assert time.monotonic() - began < 30


@pytest.mark.fault("a redirect to another host", "it is not followed: no key and no prompt leaves")
def test_a_batch_is_handed_to_no_host_that_the_service_redirects_to(run, prompts, key):
    with OpenAIServer(faults={"redirect": 1.0}) as server, OpenAIServer() as other:
        server.elsewhere = other.root
        given = provider_of("openai:gpt-test", base_url=server.base_url)
        with pytest.raises(StopError, match="the address redirects to"):
            collect_texts(run, prompts, given, **BATCH)
        assert other.heads == []


@pytest.mark.fault(
    "a malformed answer with status 200 (9 kinds)",
    "what it cost is metered, it is tried twice more at most and within the budget, and its reason "
    "is said and counted",
)
def test_a_malformed_result_is_metered_and_asked_again(run, prompts, key):
    def item(custom_id, prompt, number):
        return "malformed" if prompt == "Prompt 1" and number == 0 else "ok"

    with BatchServer(item=item) as server:
        report = collect_texts(run, prompts, model(server, key), **BATCH)
    assert report.outcomes == {"ok": 10}
    assert sum(report.malformed.values()) == 1
    assert (report.usage.input_tokens, report.usage.output_tokens) == (77, 55)


def test_malformed_results_are_given_up_after_three(run, prompts, key):
    with BatchServer(item=lambda *_: "malformed") as server:
        report = collect_texts(run, prompts[:2], model(server, key), **BATCH)
    assert report.outcomes == {"failed": 2}
    assert sum(report.malformed.values()) == 6
    assert report.usage.input_tokens == 6 * 7
