"""The workers: each tries one request at a time until it is answered, rejected or given up.

A fixed number of them draw from one plan, so at most that many requests are held, none is asked
twice at once, and memory does not grow with the plan.
"""

import asyncio
import time
from collections.abc import Iterable
from contextlib import suppress
from random import Random
from typing import Any

from portrayal.collect.ask.budget import Meter
from portrayal.collect.ask.collection import Collection, now
from portrayal.collect.ask.interrupt import on_interrupt
from portrayal.collect.ask.judge import Asks, judge_outcome
from portrayal.collect.ask.limits import Throttle
from portrayal.collect.ask.plan import Request
from portrayal.collect.ask.progress import AskCallback, AskProgress, Rate
from portrayal.collect.ask.provider import (
    Answer,
    Provider,
    RejectedError,
    StopError,
    TryAgainError,
)
from portrayal.collect.ask.report import CollectReport, Stopped
from portrayal.collect.ask.retry import Retry
from portrayal.records import Outcome

_BEAT_SECONDS = 0.2
_GRACE_SECONDS = 5.0  # for requests in flight when no further one can succeed
_STUCK = 20  # requests in a row without an answer, or twice the concurrency if more


class Workers:
    """The workers of one collection."""

    def __init__(
        self,
        collection: Collection,
        provider: Provider,
        throttle: Throttle,
        meter: Meter,
        retry: Retry,
        seed: int,
        judge: Asks | None = None,
    ) -> None:
        self._collection, self._provider, self._judge = collection, provider, judge
        self._throttle, self._meter, self._retry = throttle, meter, retry
        self._random = Random(seed)  # noqa: S311 (spreads waits, keeps no secret)
        self._requests = iter(collection.plan)
        self._began = time.monotonic()
        self._in_progress = self._asked = self._tries = self._without_answer = 0
        self._in_flight: set[asyncio.Task[None]] = set()
        self._stop = asyncio.Event()
        self._abort = asyncio.Event()
        self._error: BaseException | None = None
        self._stopped: Stopped = ""
        self._rate = Rate()

    def decline(self) -> None:
        """Ask nothing."""
        self._stopped = "declined"

    async def run(self, progress: AskCallback | None) -> None:
        """Ask until all is asked or something ends it; raise what ended it."""
        count = min(self._throttle.concurrency, max(1, self._collection.plan.n_left))
        workers = [asyncio.create_task(self._work()) for _ in range(count)]
        beat = asyncio.create_task(self._beat(progress))
        try:
            with on_interrupt(self._interrupted):
                await self._finish(workers)
        finally:
            for task in (beat, *workers):
                task.cancel()
            await asyncio.gather(beat, *workers, return_exceptions=True)
        if progress is not None:
            progress(self._snapshot())
        if self._error is not None:
            raise self._error

    async def _finish(self, workers: list[asyncio.Task[None]]) -> None:
        """Wait for the workers; when told to stop, only for those with a request in flight."""
        left = await _all_or(workers, self._stop)
        for task in left - self._in_flight:
            task.cancel()
        with suppress(TimeoutError):
            async with asyncio.timeout(None if self._error is None else _GRACE_SECONDS):
                await _all_or(left, self._abort)

    def _interrupted(self) -> None:
        """The first Ctrl-C drains, the second aborts."""
        if self._stop.is_set():
            self._error = KeyboardInterrupt()
            self._abort.set()
        else:
            self._stopped = "interrupted"
            self._stop.set()

    def _end(self, error: BaseException) -> None:
        if self._error is None:
            self._error = error
        self._stop.set()
        if not isinstance(error, StopError):
            self._abort.set()

    async def _work(self) -> None:
        while not self._stop.is_set():
            if not self._meter.room(self._in_progress):
                self._stopped = "budget"
                return
            request = next(self._requests, None)
            if request is None:
                return
            self._in_progress += 1
            try:
                await self._settle(request)
            except Exception as error:
                self._end(error)
            finally:
                self._in_progress -= 1

    async def _settle(self, request: Request) -> None:
        """Try a request until it has its row."""
        tries = limited = 0
        while True:
            asked_at = now()
            tries += 1
            try:
                answer = await self._ask(request)
            except TryAgainError as error:
                limited += error.kind == "rate_limit"
                wait = self._retry.wait(error, tries, limited, self._random)
                if wait is None:
                    self._unanswered(request, f"{error} ({tries} tries)", tries, asked_at)
                    return
                if self._stop.is_set():
                    return
                await asyncio.sleep(wait)
            except RejectedError as error:
                self._unanswered(request, str(error), tries, asked_at, refused=error.refused)
                return
            else:
                self._meter.add(answer.usage)
                outcome = await self._judged(answer)
                self._collection.record(
                    request, answer, outcome=outcome, attempts=tries, asked_at=asked_at
                )
                self._asked += 1
                self._without_answer = 0
                return

    async def _ask(self, request: Request) -> Answer:
        """Send a request once, within the limits."""
        epoch = await self._throttle.enter()
        task = asyncio.current_task()
        assert task is not None  # a worker is a task
        self._in_flight.add(task)
        self._tries += 1
        tokens = None
        try:
            async with asyncio.timeout(self._retry.timeout):
                answer = await self._answer(request)
            tokens = answer.usage.input_tokens + answer.usage.output_tokens
        except TimeoutError:
            waited = f"{self._provider.name}: no answer within {self._retry.timeout:,.0f} s."
            raise TryAgainError("timeout", waited) from None
        except TryAgainError as error:
            if error.kind == "rate_limit" or error.retry_after is not None:
                self._throttle.slow_down(epoch, error.retry_after)
            raise
        else:
            return answer
        finally:
            self._in_flight.discard(task)
            self._throttle.leave(epoch, tokens=tokens)

    async def _judged(self, answer: Answer) -> Outcome | None:
        """The judge's outcome; None without a judge, or where it fails: no answer waits for it."""
        if self._judge is None:
            return None
        task = asyncio.current_task()
        assert task is not None  # a worker is a task
        self._in_flight.add(task)
        try:
            async with asyncio.timeout(self._retry.timeout):
                verdict = await judge_outcome(answer.text, self._judge, answer.finish_reason)
        except (TryAgainError, TimeoutError):
            return None
        except StopError as error:
            self._end(error)
            return None
        else:
            return verdict.outcome
        finally:
            self._in_flight.discard(task)

    async def _answer(self, request: Request) -> Answer:
        """The provider's answer; one that draws by sample is told which sample it is."""
        by_sample = getattr(self._provider, "ask_sample", None)
        if by_sample is None:
            return await self._provider.ask(request.prompt.text)
        answer: Answer = await by_sample(request.prompt.text, request.sample)
        return answer

    def _unanswered(
        self, request: Request, reason: str, tries: int, asked_at: str, *, refused: bool = False
    ) -> None:
        self._collection.record_unanswered(
            request, reason, refused=refused, attempts=tries, asked_at=asked_at
        )
        self._asked += 1
        self._without_answer = 0 if refused else self._without_answer + 1
        if self._without_answer >= max(_STUCK, 2 * self._throttle.concurrency):
            self._end(
                StopError(
                    f"{self._without_answer} requests in a row got no answer; the last one: "
                    f"{reason} Mend that, then run the same command again: it asks only what has "
                    "no answer yet."
                )
            )

    async def _beat(self, progress: AskCallback | None) -> None:
        """Flush the journal and tell the progress a few times a second."""
        while True:
            await asyncio.sleep(_BEAT_SECONDS)
            try:
                await asyncio.to_thread(self._collection.journal.sync)
                if progress is not None:
                    progress(self._snapshot())
            except Exception as error:
                self._end(error)
                return

    def _snapshot(self) -> AskProgress:
        collection, plan = self._collection, self._collection.plan
        rate = self._rate.at(plan.n_done)
        return AskProgress(
            done=plan.n_done,
            total=len(plan),
            outcomes=dict(collection.outcomes),
            rate=rate,
            seconds_left=plan.n_left / rate if rate else None,
            usage=collection.usage,
            cost=self._cost(),
            in_flight=self._throttle.in_flight,
            limit=int(self._throttle.limit),
            waiting=self._throttle.wait(),
            stopping=self._stop.is_set(),
        )

    def _cost(self) -> float | None:
        price = self._meter.price
        return None if price is None else price.cost(self._collection.usage)

    def report(self) -> CollectReport:
        """Return what was done."""
        plan = self._collection.plan
        return CollectReport(
            model=self._collection.model,
            done=plan.n_done,
            total=len(plan),
            outcomes=dict(self._collection.outcomes),
            asked=self._asked,
            tries=self._tries,
            usage=self._collection.usage,
            cost=self._cost(),
            peak=self._throttle.peak,
            seconds=time.monotonic() - self._began,
            stopped=self._stopped if plan.n_left else "",
        )


async def _all_or(
    tasks: Iterable[asyncio.Task[None]], event: asyncio.Event
) -> set[asyncio.Task[None]]:
    """Wait until all `tasks` have ended or `event` is set; return those that have not ended."""
    left = set(tasks)
    fired: asyncio.Task[Any] = asyncio.create_task(event.wait())
    try:
        while left and not event.is_set():
            done, _ = await asyncio.wait({*left, fired}, return_when="FIRST_COMPLETED")
            left -= done
    finally:
        fired.cancel()
    return left
