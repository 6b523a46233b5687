"""An endpoint that is not there, goes away, hangs or leads elsewhere: said at once, in one line."""

import asyncio
import itertools
import socket
import threading
import time
from types import MappingProxyType

import pytest

from collect.ask.asked import collect_texts
from portrayal.collect.ask import remote
from portrayal.collect.ask.limits import Breaker, Retry
from portrayal.collect.ask.provider import Answer, StopError, TryAgainError, provider_of
from portrayal.errors import OptionError

SOON = Retry(first_wait=0.01, longest_wait=0.05, outage=0.05)


@pytest.fixture
def dead_url():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{free.getsockname()[1]}/v1"


@pytest.fixture
def listen():
    """Serve raw bytes to whoever connects."""
    held = []

    def start(reply=None):
        door = socket.create_server(("127.0.0.1", 0))
        held.append(door)

        def serve():
            while True:
                try:
                    guest, _ = door.accept()
                except OSError:
                    return
                held.append(guest)
                if reply is not None:
                    guest.recv(10_000)
                    guest.sendall(reply)
                    guest.close()

        threading.Thread(target=serve, daemon=True).start()
        return f"http://127.0.0.1:{door.getsockname()[1]}/v1"

    yield start
    for each in held:
        each.close()


@pytest.mark.fault("no server at the address", "one line, status 2, before anything starts")
@pytest.mark.parametrize("service", ["openai", "server", "anthropic", "mistral"])
def test_a_dead_address_is_said_at_first(run, prompts, dead_url, monkeypatch, service):
    for name in ("OPENAI", "ANTHROPIC", "MISTRAL"):
        monkeypatch.setenv(f"{name}_API_KEY", "sk-planted-000000000000")
    address = dead_url if service in ("openai", "server") else dead_url.removesuffix("/v1")
    model = provider_of(f"{service}:m", base_url=address)
    began = time.monotonic()
    with pytest.raises(StopError, match=r"nothing answers at http://127.*onnect.*--base-url") as e:
        collect_texts(run, prompts, model, 5, confirm=lambda _: pytest.fail("asked in vain"))
    assert "\n" not in str(e.value)
    assert time.monotonic() - began < 20
    assert not run.texts.parts()


def test_a_host_that_does_not_exist_is_said(run, prompts):
    model = provider_of("server:m", base_url="http://no-such-host.invalid:9/v1")
    with pytest.raises(StopError, match=r"nothing answers at http://no-such-host\.invalid:9"):
        collect_texts(run, prompts, model)


@pytest.mark.parametrize("url", ["localhost:8000/v1", "http://", "ftp://x/v1", "http://a b/v1",
                                 "http://[::1", "http://h:port/v1", "/v1", ""])  # fmt: skip
def test_an_address_that_is_none_is_refused(url):
    with pytest.raises(OptionError, match="a base URL is an address such as"):
        provider_of("server:m", base_url=url)


@pytest.mark.parametrize("url", ["http://me:pass-1@h:1/v1", "http://h:1/v1?key=pass-1",
                                 "http://h:1/v1#pass-1", "http://me:pass-1@[::1"])  # fmt: skip
def test_an_address_with_a_key_is_refused_and_not_repeated(url):
    with pytest.raises(OptionError, match="a key is read from the environment") as e:
        provider_of("server:m", base_url=url)
    assert "pass-1" not in str(e.value)


def test_what_does_not_speak_http_is_said(run, prompts, listen):
    model = provider_of("server:m", base_url=listen(b"SSH-2.0-OpenSSH_9.6\r\n"))
    with pytest.raises(StopError, match="does not speak HTTP"):
        collect_texts(run, prompts, model)


def test_an_address_that_is_slow_to_say_hello_is_there(listen, monkeypatch):
    monkeypatch.setattr(remote, "_PATIENCE", 0.1)
    asyncio.run(remote.reach("server:m", listen()))


def test_what_is_all_answered_reaches_for_nothing(serve, run, prompts):
    server = serve()
    model = provider_of("server:m", base_url=server.base_url)
    collect_texts(run, prompts, model)
    heads = len(server.heads)
    assert collect_texts(run, prompts, model).tries == 0
    assert len(server.heads) == heads


@pytest.mark.fault(
    "the server goes away in the middle", "collecting stops with one line after 30 s without it"
)
def test_a_server_that_goes_away_ends_it(serve, run, prompts, rows):
    server = serve(delay=0.005)
    seen = []

    def leave(progress):
        seen.append(progress)
        if progress.done >= 20 and not server._end.is_set():
            server.__exit__()

    model = provider_of("server:m", base_url=server.base_url)
    said = r"m: Connection error \(.+\)\. No request had a response for \d+ s.*same command"
    with pytest.raises(StopError, match=said):
        collect_texts(run, prompts, model, 500, concurrency=4, retry=SOON, progress=leave)
    assert len(rows(run)) >= 20
    assert abs(len(rows(run)) - server.answered.total()) <= 4  # those that it was sending
    assert {row["outcome"] for row in rows(run)} == {"ok"}


class Odd:
    """A provider that goes through a list of errors before it answers."""

    name, parameters = "odd:one", MappingProxyType({})

    def __init__(self, *errors):
        self.errors = list(errors)

    async def ask(self, prompt):
        if self.errors:
            raise self.errors.pop(0)
        return Answer("A story.")

    async def close(self):
        pass


def lost():
    return TryAgainError("connection", "odd:one: refused.")


@pytest.mark.fault("a short loss of the network", "it is waited out")
def test_a_short_loss_is_waited_out(run, prompts):
    report = collect_texts(run, prompts, Odd(*[lost()] * 12), retry=Retry(first_wait=0.001))
    assert report.outcomes == {"ok": 10}


def test_the_breaker_needs_a_run_of_failures_and_time():
    now = [100.0]
    breaker = Breaker(Retry(), clock=lambda: now[0])
    for _ in range(20):
        breaker.failed(lost(), now[0])  # many at once are no outage
    now[0] += 29
    breaker.failed(lost(), now[0])
    breaker.failed(TryAgainError("server", "503", 5.0), now[0])  # it says when to come back
    assert breaker.seconds == 0
    breaker.failed(lost(), now[0])
    now[0] += 40
    for _ in range(3):
        breaker.failed(lost(), now[0])  # long, but few
    with pytest.raises(StopError, match="for 40 s, 5 in a row"):
        breaker.failed(lost(), now[0])
    breaker.responded()
    now[0] += 60
    breaker.failed(TryAgainError("timeout", "slow"), now[0] - 180)
    assert breaker.seconds == 60


def test_some_that_hang_beside_many_answers_are_no_outage():
    now = [0.0]
    breaker = Breaker(Retry(), clock=lambda: now[0])
    now[0] = 179
    breaker.responded()
    now[0] = 180
    for _ in range(9):
        breaker.failed(TryAgainError("timeout", "slow"), 0.0)


@pytest.mark.fault(
    "a server that hangs", "each try ends after the timeout (180 s); a run of them ends collecting"
)
def test_a_server_that_hangs_ends_it(serve, run, prompts):
    server = serve(faults={"slow": 1.0}, slow=60.0)
    model = provider_of("server:m", base_url=server.base_url)
    hung = Retry(first_wait=0.01, timeout=0.2, outage=0.1)
    began = time.monotonic()
    with pytest.raises(StopError, match=r"no answer within 0.2 s \(timeout allows more\)"):
        collect_texts(run, prompts, model, retry=hung)
    assert time.monotonic() - began < 20
    assert server.requests <= 16


@pytest.mark.fault(
    "an answer that comes byte by byte without an end", "the try ends at the timeout"
)
def test_a_body_without_an_end_is_given_up(serve, run, prompts, rows):
    server = serve(script=["trickle", "ok"])
    model = provider_of("server:m", base_url=server.base_url)
    quick = Retry(first_wait=0.001, timeout=0.5)
    report = collect_texts(run, prompts[:1], model, retry=quick)
    assert (report.outcomes, report.tries) == ({"ok": 1}, 2)


def test_the_default_is_well_below_ten_minutes():
    assert Retry().timeout <= 180


def test_progress_says_what_it_waits_for_from_the_first_second(serve, run, prompts):
    server = serve(faults={"slow": 1.0}, slow=1.5)
    began, seen = time.monotonic(), []
    model = provider_of("server:m", base_url=server.base_url)
    collect_texts(
        run, prompts[:3], model, progress=lambda s: seen.append((time.monotonic() - began, s))
    )
    first, state = seen[0]
    assert first < 1.5
    assert state.waits_for.startswith("waiting for the first answer")
    assert seen[-1][1].waits_for == ""


def test_progress_says_what_it_tries_again(run, prompts):
    seen = []
    collect_texts(
        run, prompts, Odd(*[lost()] * 10), retry=Retry(first_wait=1.0), progress=seen.append
    )
    assert any(s.waits_for == "trying again after: odd:one: refused." for s in seen)


@pytest.mark.fault(
    "429 with an absurd Retry-After", "collecting stops with one line that says how long"
)
@pytest.mark.parametrize("asked", ["99999999999999", "9" * 300])
def test_an_absurd_wait_ends_it(serve, run, prompts, asked):
    server = serve(faults={"rate_limit_absurd": 1.0})
    server.absurd = asked
    model = provider_of("server:m", base_url=server.base_url)
    with pytest.raises(StopError, match=r"asks to wait [\d,]+ s"):
        collect_texts(run, prompts, model, retry=SOON)


@pytest.mark.fault(
    "a server that puts off for good (429; 503 with a time to come back; either with failures)",
    "collecting stops with one line after ten minutes without an answer; the answers are kept",
)
@pytest.mark.parametrize(
    "kinds",
    [
        ["rate_limit_ms"],
        ["overloaded_later"],
        ["rate_limit_negative"],
        ["rate_limit_ms", "closed", "server_error"],
    ],
    ids=" ".join,
)
def test_a_server_that_puts_off_for_good_ends_it(serve, run, prompts, rows, kinds):
    server = serve(script=itertools.chain(["ok"] * 7, itertools.cycle(kinds)), retry_after=0.1)
    model = provider_of("server:m", base_url=server.base_url)
    once = Retry(first_wait=0.05, longest_wait=0.1, patience=0.6)
    began = time.monotonic()
    with pytest.raises(StopError, match=r"and answered nothing for \d s.*same command") as e:
        collect_texts(run, prompts, model, retry=once, concurrency=2)
    assert "\n" not in str(e.value)
    assert time.monotonic() - began < 5
    assert len(rows(run)) == 7
    server.script = iter(())
    assert collect_texts(run, prompts, model).tries == 3


def test_an_answer_gives_all_patience_back():
    now = [0.0]
    breaker = Breaker(Retry(), clock=lambda: now[0])
    for _ in range(9):
        breaker.failed(TryAgainError("server", "503", 400.0), now[0])
        now[0] += 100
        breaker.failed(TryAgainError("rate_limit", "429"), now[0])
        now[0] += 400
        breaker.responded()
    breaker.failed(TryAgainError("rate_limit", "429", 400.0), now[0])
    now[0] += 400
    with pytest.raises(StopError, match="429 The endpoint asks to wait 201 s, and answered nothin"):
        breaker.failed(TryAgainError("rate_limit", "429", 201.0), now[0])


@pytest.mark.fault("429 with a negative or garbled Retry-After", "it waits as if none were given")
@pytest.mark.parametrize("asked", ["-60", "-inf", "nan", "inf", "soon", "", "9" * 400, "1e999"])
def test_a_wait_that_makes_no_sense_is_ours(serve, run, prompts, asked):
    server = serve(script=["rate_limit_absurd"] * 2)
    server.absurd = asked
    model = provider_of("server:m", base_url=server.base_url)
    report = collect_texts(run, prompts, model, retry=SOON, concurrency=2)
    assert report.outcomes == {"ok": 10}


@pytest.mark.parametrize("wait", [float("inf"), float("nan"), -1.0, None])
def test_no_error_carries_a_wait_that_makes_no_sense(wait):
    assert TryAgainError("rate_limit", "x", wait).retry_after is None
