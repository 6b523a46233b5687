"""The loop: workers that each have one request in hand, until every request has its row.

A worker takes requests while the budget has room for them and tries each until that makes a row.
The loop ends when nothing is left, when nothing further can succeed, or when it is told to stop;
what is in flight then is finished and kept.
"""

import asyncio
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any

from portrayal.collect.ask.asking import Asking
from portrayal.collect.ask.budget import Meter, charged
from portrayal.collect.ask.collection import Collection, Request, now
from portrayal.collect.ask.limits import TIMEOUT, Breaker, Throttle
from portrayal.collect.ask.provider import (
    Answer,
    Provider,
    RejectedError,
    StopError,
    TryAgainError,
    Usage,
)
from portrayal.collect.ask.report import CollectReport, Stopped

_BEAT_SECONDS = 0.2
_GRACE_SECONDS = 5.0  # for what is in flight when nothing further can succeed
_SILENT_SECONDS = 10.0
_STUCK = 20  # requests in a row without an answer, or twice the concurrency if more


@contextmanager
def on_interrupt(call: Callable[[], None]) -> Iterator[None]:
    """Call `call` in the running loop on each Ctrl-C while inside; only in the main thread."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    loop = asyncio.get_running_loop()

    def tell(*_: object) -> None:
        # A signal comes in the middle of whatever the loop is doing.
        loop.call_soon_threadsafe(call)

    before = signal.signal(signal.SIGINT, tell)
    try:
        yield
    finally:
        # None is a handler that Python did not set.
        signal.signal(signal.SIGINT, before or signal.SIG_DFL)


class Loop:
    """One call of `collect`: what is asked, within which limits, and what came of it so far.

    Attributes
    ----------
    requests
        Requests that nobody has taken yet.
    in_progress
        Requests that a worker has taken and that have no row yet.
    asked, tries
        As the report says.
    stop
        Set when nothing further is to be asked.
    stopped
        Why; "" while it goes on, and after an error.
    trouble
        The failure after which something is tried again; "" after a success.
    """

    def __init__(
        self, collection: Collection, asking: Asking, meter: Meter, provider: Provider
    ) -> None:
        self.collection, self.asking, self.meter = collection, asking, meter
        self.provider, self.retry = provider, asking.patience()
        self.timeout = self.retry.timeout or TIMEOUT
        self.throttle = Throttle(asking.concurrency, rpm=asking.rpm, tpm=asking.tpm)
        self.breaker = Breaker(self.retry, self.timeout)
        self.requests: Iterator[Request] = iter(collection.plan)
        self.in_progress = self.asked = self.tries = self._without_answer = 0
        self.stop, self._abort = asyncio.Event(), asyncio.Event()
        self.stopped: Stopped = ""
        self.trouble = ""
        self._error: BaseException | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._in_flight: set[asyncio.Task[Any] | None] = set()
        self._began, self._answered_at = time.monotonic(), 0.0
        self._done_before = collection.plan.n_done

    async def _work(self) -> None:
        """Take one request after another, and try each until it has its row."""
        try:
            while not self.stop.is_set():
                if not self.meter.room(self.in_progress):
                    self.stopped = "budget"  # which the report says only where requests are left
                    return
                if (request := next(self.requests, None)) is None:
                    return
                self.in_progress += 1
                try:
                    await self._try(request)
                finally:
                    self.in_progress -= 1
        except asyncio.CancelledError:
            raise
        except BaseException as error:
            self._end(error)

    async def _try(self, request: Request) -> None:
        """Try a request until it has its row, the budget has no room, or all is to stop."""
        failed: Counter[str] = Counter()
        while True:
            asked_at = now()
            result = await self._ask(request)
            wait = self._settle(request, result, failed, asked_at)
            if wait is None:
                break
            if not self.meter.room(self.in_progress - 1):
                self.stopped = "budget"
                return
            with suppress(TimeoutError):
                async with asyncio.timeout(self.breaker.within(wait)):
                    await self.stop.wait()
            if self.stop.is_set():
                return
        # One request after another without an answer costs, and brings nothing.
        answered = isinstance(result, Answer) or getattr(result, "refused", False)
        self._without_answer = 0 if answered else self._without_answer + 1
        if self._without_answer >= max(_STUCK, 2 * self.throttle.concurrency):
            raise StopError(
                f"{self._without_answer} requests in a row got no answer; the last one: {result} "
                "Mend that, then run the same command again: it asks only what has no answer yet."
            )

    async def _ask(self, request: Request) -> Answer | RejectedError | TryAgainError:
        """Send a request once, within the limits; a failure that is the request's is returned."""
        text, *system = request.prompt.asked
        epoch = await self.throttle.enter()
        tokens, sent_at, task = None, time.monotonic(), asyncio.current_task()
        self.tries += 1
        self._in_flight.add(task)  # finished even when the loop is told to stop, as it is paid for
        try:
            async with asyncio.timeout(self.timeout):
                answer = await self.provider.ask(text, *system)
        except TimeoutError:
            words = f"no answer within {self.timeout:,g} s (timeout allows more)."
            error = TryAgainError("timeout", f"{self.provider.name}: {words}")
        except TryAgainError as failure:
            error = failure
        except RejectedError as rejection:
            self.breaker.responded()
            return rejection
        else:
            tokens = self._charged(request, answer).total
            self.breaker.responded()
            self.trouble, self._answered_at = "", time.monotonic()
            return answer
        finally:
            self._in_flight.discard(task)
            self.throttle.leave(epoch, tokens=tokens)
        self.trouble = f"trying again after: {error}"
        self.breaker.failed(error, sent_at)
        if error.kind == "rate_limit" or error.retry_after is not None:
            self.throttle.slow_down(epoch, error.retry_after)
        return error

    def _settle(
        self,
        request: Request,
        result: Answer | RejectedError | TryAgainError,
        failed: Counter[str],
        asked_at: str,
    ) -> float | None:
        """Write the row that `result` makes; or return the seconds to wait before the next try.

        `failed` counts by kind how this request failed before, and takes this failure.
        """
        tries = failed.total() + 1
        usage = self._charged(request, result)
        # Charged whatever comes of it: services bill answers that nobody can read as well
        self.meter.add(usage)
        row: Answer | RejectedError | str = str(result)
        if isinstance(result, Answer):
            row = replace(result, usage=usage)
        elif isinstance(result, RejectedError) and result.refused:
            row, result.usage = result, usage
        elif isinstance(result, TryAgainError):
            failed[result.kind] += 1
            if result.kind == "body":
                self.collection.record_malformed(str(result), usage)
            wait = self.retry.wait(result, failed)
            if wait is not None:  # no row yet, so a restart would ask it again too
                return wait
            row = f"{result} ({tries} tries)"
        elif usage.total:  # an answer that was paid for, and is not read
            self.collection.record_malformed(str(result), usage)
        self.collection.record(request, row, tries, asked_at)
        self.asked += 1
        return None

    def _charged(self, request: Request, result: Answer | RejectedError | TryAgainError) -> Usage:
        """What `result` costs, in tokens that can be."""
        parameters = self.collection.parameters
        parts = [*request.prompt.asked, parameters.get("system") or ""]
        return charged(result, parts, parameters.get("max_tokens"))

    def _end(self, error: BaseException) -> None:
        """Ask nothing further; anything but a `StopError` ends what is in flight as well."""
        # the first error is the cause, later ones follow from it
        self._error = self._error or error
        self.stop.set()
        if not isinstance(error, StopError):
            self._abort.set()

    async def run(self) -> None:
        """Ask with as many workers as the limits allow; raise what ended it early."""

        def interrupted() -> None:
            """The first Ctrl-C drains, the second aborts."""
            if self.stop.is_set():
                self._error = KeyboardInterrupt()
                self._abort.set()
            else:
                self.stopped = "interrupted"
                self.stop.set()

        async def flush_and_say() -> None:
            """Flush the journal and tell the progress a few times a second."""
            while True:
                await asyncio.sleep(_BEAT_SECONDS)
                try:
                    # In a thread: a slow disk must not hold up the answers that come in
                    await asyncio.to_thread(self.collection.journal.sync)
                    self.say()
                except Exception as error:
                    self._end(error)
                    return

        beat = asyncio.create_task(flush_and_say())
        n_workers = min(self.throttle.concurrency, max(1, self.collection.plan.n_left))
        # held here: asyncio keeps weak references alone
        self._tasks = [asyncio.create_task(self._work()) for _ in range(n_workers)]
        try:
            with on_interrupt(interrupted):
                # What waits is cancelled; what is in flight comes to its end, as it is paid for.
                for task in await self._until(self.stop) - self._in_flight:
                    task.cancel()
                with suppress(TimeoutError):
                    async with asyncio.timeout(None if self._error is None else _GRACE_SECONDS):
                        await self._until(self._abort)
        finally:
            for task in (beat, *self._tasks):
                task.cancel()
            await asyncio.gather(beat, *self._tasks, return_exceptions=True)
        # Raised when everything has ended, so that no task writes after the caller goes on
        if self._error is not None:
            raise self._error
        self.trouble = ""
        self.say()

    async def _until(self, event: asyncio.Event) -> set[asyncio.Task[None]]:
        """Wait until no task is left or `event` is set; return the tasks that are left."""
        fired: asyncio.Task[Any] = asyncio.create_task(event.wait())
        try:
            while (
                pending := {task for task in self._tasks if not task.done()}
            ) and not event.is_set():
                await asyncio.wait({*pending, fired}, return_when="FIRST_COMPLETED")
        finally:
            fired.cancel()
        return pending

    def say(self) -> None:
        """Tell whoever wants to know where it stands."""
        if self.asking.progress is None:
            return
        plan, silent = self.collection.plan, time.monotonic() - (self._answered_at or self._began)
        waits_for = ""
        if self.trouble and (silent > 1 or not self._answered_at):
            waits_for = self.trouble
        elif self.stop.is_set():
            waits_for = "stopping"
        elif not plan.n_left:
            pass
        elif (pause := self.throttle.wait()) > 1:
            waits_for = f"waiting {pause:.0f} s"
        elif self.in_progress and not self._answered_at:
            waits_for = f"waiting for the first answer, {silent:.0f} s"
        elif self.in_progress and silent > _SILENT_SECONDS:
            waits_for = f"no answer for {silent:.0f} s"
        self.asking.progress(self.report(waits_for))

    def report(self, waits_for: str = "") -> CollectReport:
        """Return what was done so far."""
        collection, price = self.collection, self.meter.price
        n_rows = collection.plan.n_done - self._done_before
        return CollectReport(
            model=collection.model,
            done=collection.plan.n_done,
            total=len(collection.plan),
            outcomes=dict(collection.outcomes),
            usage=collection.usage,
            malformed=dict(collection.malformed),
            reasons=dict(collection.reasons),
            versions=dict(collection.versions),
            n_reasoned=collection.n_reasoned,
            damaged=collection.journal.n_damaged,
            asked=self.asked,
            tries=self.tries,
            cost=None if price is None else price.cost(collection.usage),
            rate=n_rows / max(time.monotonic() - self._began, 1e-9),
            in_flight=self.throttle.in_flight,
            waits_for=waits_for,
            stopped=self.stopped if self.collection.plan.n_left else "",
        )
