"""Asking live: workers that each have one request in hand, as many at once as the limits allow."""

import asyncio
import time
from collections import Counter

from portrayal.collect.ask.collection import Request, now
from portrayal.collect.ask.limits import TIMEOUT, Breaker
from portrayal.collect.ask.loop import Loop
from portrayal.collect.ask.provider import Answer, Provider, RejectedError, StopError, TryAgainError

_STUCK = 20  # requests in a row without an answer, or twice the concurrency if more


class Workers:
    """The workers of a loop; `start` sets them to work."""

    under_way = 0
    """Requests that an earlier process sent and that may still be answered."""

    def __init__(self, loop: Loop, provider: Provider) -> None:
        self._loop, self._provider = loop, provider
        self._timeout = loop.retry.timeout or float(getattr(provider, "timeout", TIMEOUT))
        loop.breaker = Breaker(loop.retry, self._timeout)
        # A provider that draws by sample is told which sample it is.
        self._by_sample = getattr(provider, "ask_sample", None)
        self._without_answer = 0

    def start(self) -> None:
        """Begin, with no more workers than requests."""
        loop = self._loop
        for _ in range(min(loop.throttle.concurrency, max(1, loop.collection.plan.n_left))):
            loop.spawn(self._work())

    async def _work(self) -> None:
        """Take one request after another, and try each until it has its row."""
        loop = self._loop
        while not loop.stop.is_set() and (request := loop.take()) is not None:
            failed: Counter[str] = Counter()
            try:
                while True:
                    asked_at = now()
                    result = await self._ask(request)
                    wait = loop.settle(request, result, failed, asked_at)
                    if wait is None:
                        # One request after another without an answer costs, and brings nothing.
                        answered = isinstance(result, Answer) or getattr(result, "refused", False)
                        self._without_answer = 0 if answered else self._without_answer + 1
                        if self._without_answer >= max(_STUCK, 2 * loop.throttle.concurrency):
                            raise StopError(
                                f"{self._without_answer} requests in a row got no answer; the last "
                                f"one: {result} Mend that, then run the same command again: it "
                                "asks only what has no answer yet."
                            )
                        break
                    if not loop.meter.room(loop.in_progress - 1):
                        loop.stopped = "budget"
                        break
                    if not await loop.pause(loop.breaker.within(wait)):
                        break
            finally:
                loop.in_progress -= 1

    async def _ask(self, request: Request) -> Answer | RejectedError | TryAgainError:
        """Send a request once, within the limits; a failure that is the request's is returned."""
        loop, throttle = self._loop, self._loop.throttle
        text, *system = request.prompt.asked
        epoch = await throttle.enter()
        tokens, sent_at = None, time.monotonic()
        loop.tries += 1
        try:
            with loop.flying():
                async with asyncio.timeout(self._timeout):
                    answer: Answer = await (
                        self._provider.ask(text, *system)
                        if self._by_sample is None
                        else self._by_sample(text, request.sample, *system)
                    )
        except TimeoutError:
            error = TryAgainError(
                "timeout",
                f"{self._provider.name}: no answer within {self._timeout:,g} s (timeout allows "
                "more).",
            )
        except TryAgainError as failure:
            error = failure
        except RejectedError as rejection:
            loop.breaker.responded()
            return rejection
        else:
            tokens = loop.charged(request, answer).total
            loop.responded()
            return answer
        finally:
            throttle.leave(epoch, tokens=tokens)
        loop.failed(error, sent_at)
        if error.kind == "rate_limit" or error.retry_after is not None:
            throttle.slow_down(epoch, error.retry_after)
        return error
