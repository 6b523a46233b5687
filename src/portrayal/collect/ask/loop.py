"""The loop: asks every request that has no row yet, live or in batches, and loses none.

Whoever asks (a worker with one request, a batch with many) takes requests while the budget has room
for them, and gives back what each of them got: that makes a row, or the request is asked again. The
loop ends when nothing is left, when nothing further can succeed, or when it is told to stop; what
is in flight then is finished and kept.
"""

import asyncio
import signal
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any

from portrayal.collect.ask.asking import Asking
from portrayal.collect.ask.budget import Meter, charged
from portrayal.collect.ask.collection import Collection, Request
from portrayal.collect.ask.limits import Breaker, Throttle
from portrayal.collect.ask.provider import Answer, RejectedError, StopError, TryAgainError, Usage
from portrayal.collect.ask.report import AskProgress, CollectReport, Stopped
from portrayal.shown import counted

_BEAT_SECONDS = 0.2
_GRACE_SECONDS = 5.0  # for what is in flight when nothing further can succeed
_SILENT_SECONDS = 10.0


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
    requests, again
        Requests that nobody has taken yet, and those to ask once more, which come first.
    in_progress
        Requests that someone has taken and that have no row yet.
    asked, tries
        As the report says.
    open_batches
        As the report says; the batches keep it.
    stop
        Set when nothing further is to be asked.
    stopped
        Why; "" while it goes on, and after an error.
    trouble
        The failure after which something is tried again; "" after a success.
    """

    def __init__(self, collection: Collection, asking: Asking, meter: Meter) -> None:
        self.collection, self.asking, self.meter = collection, asking, meter
        self.retry = asking.patience()
        self.throttle = Throttle(asking.concurrency, rpm=asking.rpm, tpm=asking.tpm)
        self.breaker = Breaker(self.retry)
        self.requests: Iterator[Request] = iter(collection.plan)
        self.again: deque[Request] = deque()
        self.in_progress = self.asked = self.tries = self.open_batches = 0
        self.stop, self._abort = asyncio.Event(), asyncio.Event()
        self.stopped: Stopped = ""
        self.trouble = ""
        self._error: BaseException | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._in_flight: set[asyncio.Task[Any]] = set()
        self._began, self._answered_at = time.monotonic(), 0.0
        self._done_before = collection.plan.n_done

    def take(self) -> Request | None:
        """Return the next request, now in progress; None where none is left or affordable."""
        # First what is to be tried again, as its cost was planned for
        if not self.again:
            if (request := next(self.requests, None)) is None:
                return None
            # Put back, as the budget may have no room for it.
            self.again.append(request)
        if not self.meter.room(self.in_progress):
            self.stopped = "budget"
            return None
        self.in_progress += 1
        return self.again.popleft()

    def settle(
        self,
        request: Request,
        result: Answer | RejectedError | TryAgainError,
        failed: Counter[str],
        asked_at: str | None = None,
    ) -> float | None:
        """Write the row that `result` makes; or return the seconds to wait before the next try.

        `failed` counts by kind how this request failed before, and takes this failure.
        """
        tries = failed.total() + 1
        usage = self.charged(request, result)
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

    def charged(self, request: Request, result: Answer | RejectedError | TryAgainError) -> Usage:
        """Return what `result` costs, in tokens that can be."""
        parameters = self.collection.parameters
        parts = [*request.prompt.asked, parameters.get("system") or ""]
        return charged(result, parts, parameters.get("max_tokens"))

    def responded(self) -> None:
        """Note that the endpoint is there."""
        self.breaker.responded()
        self.trouble, self._answered_at = "", time.monotonic()

    def failed(self, error: TryAgainError, sent_at: float) -> None:
        """Note a failure of what was sent at `sent_at`; `StopError` where the endpoint is gone."""
        self.trouble = f"trying again after: {error}"
        self.breaker.failed(error, sent_at)

    async def pause(self, seconds: float) -> bool:
        """Wait; return whether to go on after that."""
        with suppress(TimeoutError):
            async with asyncio.timeout(max(0.0, seconds)):
                await self.stop.wait()
        return not self.stop.is_set()

    @contextmanager
    def flying(self) -> Iterator[None]:
        """What the running task does inside is finished even when it is told to stop."""
        task = asyncio.current_task()
        assert task is not None  # called from what `spawn` started
        self._in_flight.add(task)
        try:
            yield
        finally:
            self._in_flight.discard(task)

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Start a part of the work; an error of it ends the loop."""

        async def guarded() -> None:
            try:
                await work
            except asyncio.CancelledError:
                raise
            except BaseException as error:
                self.end(error)

        # held here: asyncio keeps weak references alone
        self._tasks.append(asyncio.create_task(guarded()))

    def end(self, error: BaseException) -> None:
        """Ask nothing further; anything but a `StopError` ends what is in flight as well."""
        # the first error is the cause, later ones follow from it
        self._error = self._error or error
        self.stop.set()
        if not isinstance(error, StopError):
            self._abort.set()

    async def run(self) -> None:
        """See all that was started through to its end; raise what ended it early."""

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
                    self.end(error)
                    return

        beat = asyncio.create_task(flush_and_say())
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
        plan, now = self.collection.plan, time.monotonic()
        silent = now - (self._answered_at or self._began)
        waits_for = ""
        if self.trouble and (self.asking.batch or silent > 1 or not self._answered_at):
            waits_for = self.trouble
        elif self.stop.is_set():
            waits_for = "stopping"
        elif not plan.n_left:
            pass
        elif (pause := self.throttle.wait()) > 1:
            waits_for = f"waiting {pause:.0f} s"
        elif self.asking.batch:
            n = self.open_batches
            waits_for = f"{counted(n, 'batch', 'batches')} under way" if n else "handing in a batch"
        elif self.in_progress and not self._answered_at:
            waits_for = f"waiting for the first answer, {silent:.0f} s"
        elif self.in_progress and silent > _SILENT_SECONDS:
            waits_for = f"no answer for {silent:.0f} s"
        self.asking.progress(
            AskProgress(
                done=plan.n_done,
                total=len(plan),
                outcomes=dict(self.collection.outcomes),
                rate=(plan.n_done - self._done_before) / max(now - self._began, 1e-9),
                usage=self.collection.usage,
                cost=self._cost,
                in_flight=self.open_batches or self.throttle.in_flight,
                waits_for=waits_for,
            )
        )

    @property
    def _cost(self) -> float | None:
        price = self.meter.price
        return None if price is None else price.cost(self.collection.usage)

    def report(self) -> CollectReport:
        """Return what was done."""
        collection = self.collection
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
            cost=self._cost,
            stopped=self.stopped if self.collection.plan.n_left else "",
            open_batches=self.open_batches,
        )
