"""Collecting answers: ask what a run lacks of a model, until every request has its row.

A worker takes requests while the budget has room for them and tries each until that makes a row.
The loop ends when nothing is left, when nothing further can succeed, or when it is told to stop;
what is in flight then is finished and kept.
"""

import asyncio
import copy
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any

import portrayal.registry as registry
from portrayal.collect.ask.asking import Asking, prompts_of
from portrayal.collect.ask.budget import Meter, charged, estimate_cost
from portrayal.collect.ask.collection import Collection, CollectReport, Request, most_frequent, now
from portrayal.collect.ask.limits import Breaker, Throttle
from portrayal.collect.ask.provider import (
    Answer,
    Provider,
    RejectedError,
    StopError,
    TryAgainError,
    Usage,
)
from portrayal.collect.texts import SHARD_ROWS
from portrayal.errors import OptionError
from portrayal.records import Prompt
from portrayal.run.directory import Run
from portrayal.run.manifest import TEXTS
from portrayal.types import Say

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
    report
        What came of it; its `stopped` says why it ends, "" while it goes on, and after an error.
    requests
        Requests that nobody has taken yet.
    in_progress
        Requests that a worker has taken and that have no row yet.
    stop
        Set when nothing further is to be asked.
    trouble
        The failure after which something is tried again; "" after a success.
    """

    def __init__(self, collection: Collection, asking: Asking, provider: Provider) -> None:
        self.collection, self.asking, self.provider = collection, asking, provider
        self.report, self.retry = collection.report, asking.patience()
        self.meter = Meter(collection.plan, collection.report, asking)
        self.throttle = Throttle(asking.concurrency, rpm=asking.rpm, tpm=asking.tpm)
        self.breaker = Breaker(self.retry)
        self.requests: Iterator[Request] = iter(collection.plan)
        self.in_progress = self._without_answer = 0
        self.stop, self._abort = asyncio.Event(), asyncio.Event()
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
                    self.report.stopped = "budget"  # said only where requests are left
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
                self.report.stopped = "budget"
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
        self.report.tries += 1
        self._in_flight.add(task)  # finished even when the loop is told to stop, as it is paid for
        try:
            async with asyncio.timeout(self.retry.timeout):
                answer = await self.provider.ask(text, *system)
        except TimeoutError:
            words = f"no answer within {self.retry.timeout:,g} s (timeout allows more)."
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
        self.report.asked += 1
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
                self.report.stopped = "interrupted"
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
        self.asking.progress(self.state(waits_for))

    def state(self, waits_for: str = "") -> CollectReport:
        """Return what was done so far."""
        state, plan, price = copy.deepcopy(self.report), self.collection.plan, self.meter.price
        state.done, state.waits_for = plan.n_done, waits_for
        state.rate = (plan.n_done - self._done_before) / max(time.monotonic() - self._began, 1e-9)
        state.cost = None if price is None else price.cost(state.usage)
        state.in_flight = self.throttle.in_flight
        if not plan.n_left:
            state.stopped = ""
        return state


def collect(
    run: Run,
    prompts: Sequence[Prompt],
    asking: Asking,
    *,
    study: str = "",
    mark: str | None = None,
    answer_tokens: int | None = None,
    shard_rows: int = SHARD_ROWS,
) -> CollectReport:
    """Ask a model every prompt, and bring the answers into the run.

    What has a row already is not asked again, so the same call continues a collection that was
    stopped, killed or cut off.

    Parameters
    ----------
    run
        The run directory, which the caller holds (`with run.lock():`).
    prompts
        What to ask; sample 0 of every prompt comes before sample 1 of any.
    asking
        Whom, how often, and within which limits; its own `prompts` say nothing here.
    study
        Name of the study, part of what the run was asked.
    mark
        See `Collection`: for a run to which further prompts may come.
    answer_tokens
        Tokens of an answer, about, for the cost to confirm; None where that is not known.
    shard_rows
        Rows in a part of the texts.

    Returns
    -------
    CollectReport
        Also when Ctrl-C (once), the budget or `asking.confirm` ended it; see `stopped`.

    Raises
    ------
    StopError
        When no further request can succeed; says what to do. Rows written before are kept.
    OptionError
        When a parameter would be ignored, or the budget cannot be held.
    RunError
        When the run holds other texts, or its disk cannot be written.
    KeyboardInterrupt
        On a second Ctrl-C.
    """
    provider = asking.make_provider()

    async def ask() -> CollectReport:
        try:
            with Collection(
                run, prompts, provider, asking.samples, study, mark, shard_rows
            ) as collection:
                loop, n_left = Loop(collection, asking, provider), collection.plan.n_left
                # Nothing is asked where nothing answers; one without an address needs no check.
                if n_left and (check := getattr(provider, "check", None)) is not None:
                    await check()
                estimate = estimate_cost(collection.plan, loop.meter.price, answer_tokens)
                if n_left and asking.confirm and not asking.confirm(estimate):
                    loop.report.stopped = "declined"
                else:
                    await loop.run()
            return loop.state()
        finally:
            await provider.close()

    report = asyncio.run(ask())
    if report.stopped == "budget" and not (run.texts.parts() or report.malformed):
        raise OptionError(
            f"a budget of {asking.budget} for {asking.model} does not cover a first answer, so "
            "nothing was asked. Raise it (--budget), or set the parameter max_tokens=N to say "
            "how long an answer may be."
        )
    return report


def ask_model(run: Run, study: str, asking: Asking, tell: Say) -> CollectReport:
    """Ask a model what is still missing in the run, which the caller holds.

    Returns
    -------
    CollectReport
        Also of a collection that the budget, Ctrl-C or the user's word ended early.

    Raises
    ------
    StopError, OptionError, RunError
        Saying what to do; what was answered before is kept. Also where nothing at all has been
        answered.
    """
    name = registry.resolve("prompts", study)
    prompts = prompts_of(name, asking.prompts, asking.prompt_options)
    for line in run.manifest.mend([TEXTS], by_user=True):
        tell(line)
    with run.manifest.step(TEXTS):
        report = collect(run, prompts, asking, study=registry.called(name))
    tell(report.summary)
    reasons = report.reasons or report.malformed
    if reasons and report.n_answered == 0 and report.stopped != "interrupted":
        raise StopError(
            f"no request to {report.model} has an answer: {most_frequent(reasons)}. Mend that, "
            "then run the same command again."
        )
    return report
