"""Limits: fewer in flight when the endpoint says so, more while all goes well, pauses for all."""

import asyncio

import pytest

from collect.ask.asked import collect_texts
from portrayal.collect.ask.limits import Bucket, Retry, Throttle
from portrayal.collect.ask.provider import provider_of
from portrayal.errors import OptionError


class Clock:
    """A clock that only the test moves."""

    def __init__(self):
        self.now = 50.0

    def __call__(self):
        return self.now


def _round(throttle, *, limited=False):
    """One full round: enter as many as may, then leave them all."""

    async def go():
        count = int(throttle.limit)
        epochs = [await throttle.enter() for _ in range(count)]
        for epoch in epochs:
            if limited:
                throttle.slow_down(epoch, None)
            throttle.leave(epoch, tokens=None if limited else 10)

    asyncio.run(go())


def test_it_halves_when_limited_then_grows_by_one_a_round():
    throttle = Throttle(32)
    _round(throttle)
    assert throttle.limit == 32
    _round(throttle, limited=True)
    assert throttle.limit == 16, "one halving for all that was in flight"
    _round(throttle)
    assert throttle.limit == pytest.approx(17, abs=0.1)
    for _ in range(10):
        _round(throttle, limited=True)
    assert throttle.limit == 1


def test_it_never_passes_the_concurrency():
    throttle = Throttle(3)
    for _ in range(5):
        _round(throttle)
    assert throttle.limit == 3


def test_a_pause_holds_for_everyone_and_is_never_shortened():
    clock = Clock()
    throttle = Throttle(4, clock=clock)
    throttle.slow_down(0, 30.0)
    throttle.slow_down(0, 5.0)
    assert throttle.wait() == 30.0
    clock.now += 20
    assert throttle.wait() == 10.0
    clock.now -= 500
    assert throttle.wait() == 510.0, "monotonic clocks do not do this"


def test_requests_a_minute_are_spread_evenly():
    clock = Clock()
    bucket = Bucket(120, clock)
    bucket.take(2)
    assert bucket.wait() == 0
    bucket.take(4)
    assert bucket.wait() == pytest.approx(2.0)
    clock.now += 1
    assert bucket.wait() == pytest.approx(1.0)


def test_tokens_a_minute_are_corrected_by_what_an_answer_cost():
    clock = Clock()
    throttle = Throttle(4, tpm=6000, clock=clock)

    async def go():
        epoch = await throttle.enter()
        throttle.leave(epoch, tokens=1100)

    asyncio.run(go())
    assert throttle.wait() == pytest.approx(10.0)


@pytest.mark.parametrize("given", [{"rpm": 0}, {"tpm": -1}, {"concurrency": 0}])
def test_limits_are_positive(given):
    with pytest.raises(OptionError):
        Throttle(**{"concurrency": 1, **given})


def test_a_cancelled_wait_passes_its_place_on():
    async def go():
        throttle = Throttle(1)
        epoch = await throttle.enter()
        first, second = (asyncio.create_task(throttle.enter()) for _ in range(2))
        await asyncio.sleep(0)
        throttle.leave(epoch, tokens=1)
        first.cancel()
        await asyncio.wait_for(second, 5)
        assert throttle.in_flight == 1

    asyncio.run(go())


def test_it_settles_near_what_the_endpoint_allows(serve, run, prompts):
    server = serve(limit=4, delay=0.005, retry_after=0)
    model = provider_of("openai:test", base_url=server.base_url)
    report = collect_texts(run, prompts, model, 20, concurrency=64, retry=Retry(first_wait=0.01))
    assert report.outcomes == {"ok": 200}
    assert server.served["rate_limit"] < 150
    assert server.peak <= 64


@pytest.mark.parametrize("fault", ["rate_limit_ms", "rate_limit_date"])
def test_retry_after_is_respected_by_every_request(serve, run, prompts, fault):
    wait = 0.3 if fault == "rate_limit_ms" else 2.0
    server = serve(script=[fault], retry_after=wait)
    model = provider_of("openai:test", base_url=server.base_url)
    report = collect_texts(run, prompts, model, 1, concurrency=1, retry=Retry(first_wait=0.001))
    assert report.outcomes == {"ok": 10}
    least = 0.29 if fault == "rate_limit_ms" else 0.9  # a date has whole seconds
    assert server.times[1] - server.times[0] >= least


def test_no_more_in_flight_than_asked_for(serve, run, prompts):
    server = serve(delay=0.003)
    model = provider_of("openai:test", base_url=server.base_url)
    collect_texts(run, prompts, model, 20, concurrency=5)
    assert 1 < server.peak <= 5
