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
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
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

Result = Answer | RejectedError | TryAgainError
"""What comes of sending a request once."""
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
    stopping
        Whether nothing further is to be asked.
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
        self.stopping, self.trouble = False, ""
        self._error: BaseException | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._in_flight: set[asyncio.Task[Any] | None] = set()
        self._began, self._answered_at = time.monotonic(), 0.0
        self._done_before = collection.plan.n_done

    async def _work(self) -> None:
        """Take one request after another, and try each until it has its row."""
        try:
            while not self.stopping:
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
            self._end(error, at_once=not isinstance(error, StopError))

    async def _try(self, request: Request) -> None:
        """Try a request until it has its row, the budget has no room, or all is to stop."""
        failed: Counter[str] = Counter()
        while True:
            asked_at = now()
            result, usage = await self._ask(request)
            wait = self._settle(request, result, usage, failed, asked_at)
            if wait is None:
                break
            if not self.meter.room(self.in_progress - 1):
                self.report.stopped = "budget"
                return
            if self.stopping:
                return
            await asyncio.sleep(self.breaker.within(wait))
        # One request after another without an answer costs, and brings nothing.
        answered = isinstance(result, Answer) or getattr(result, "refused", False)
        self._without_answer = 0 if answered else self._without_answer + 1
        if self._without_answer >= max(_STUCK, 2 * self.throttle.concurrency):
            raise StopError(
                f"{self._without_answer} requests in a row got no answer; the last one: {result} "
                "Mend that, then run the same command again: it asks only what has no answer yet."
            )

    async def _ask(self, request: Request) -> tuple[Result, Usage]:
        """Send a request once, within the limits; return its answer or failure, and its cost."""
        epoch = await self.throttle.enter()
        sent_at, task, tokens = time.monotonic(), asyncio.current_task(), None
        self.report.tries += 1
        self._in_flight.add(task)  # finished even when all is to stop, as it is paid for
        try:
            result: Result
            try:
                async with asyncio.timeout(self.retry.timeout):
                    result = await self.provider.ask(*request.prompt.asked)
            except TimeoutError:
                words = f"no answer within {self.retry.timeout:,g} s (timeout allows more)."
                result = TryAgainError("timeout", f"{self.provider.name}: {words}")
            except (TryAgainError, RejectedError) as failure:
                result = failure
            parameters = self.collection.parameters
            parts = [*request.prompt.asked, parameters.get("system") or ""]
            usage = charged(result, parts, parameters.get("max_tokens"))
            tokens = usage.total if isinstance(result, Answer) else None
        finally:
            self._in_flight.discard(task)
            self.throttle.leave(epoch, tokens=tokens)
        if isinstance(result, TryAgainError):
            self.trouble = f"trying again after: {result}"
            self.breaker.failed(result, sent_at)
            if result.kind == "rate_limit" or result.retry_after is not None:
                self.throttle.slow_down(epoch, result.retry_after)
        else:
            self.breaker.responded()
            if isinstance(result, Answer):
                self.trouble, self._answered_at = "", time.monotonic()
        return result, usage

    def _settle(
        self, request: Request, result: Result, usage: Usage, failed: Counter[str], asked_at: str
    ) -> float | None:
        """Write the row that `result` makes; or return the seconds to wait before the next try.

        `failed` counts by kind how this request failed before, and takes this failure.
        """
        tries = failed.total() + 1
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

    def _end(self, error: BaseException | None = None, *, at_once: bool = False) -> None:
        """Ask nothing further: what waits is cancelled, and `at_once` what is in flight as well.

        Else that comes to its end, as it is paid for, but after an error it is not waited for long.
        """
        # the first error is the cause, later ones follow from it
        self._error = self._error or error
        self.stopping = True
        for task in self._tasks:
            if at_once or task not in self._in_flight:
                task.cancel()
        if error is not None and not at_once:
            asyncio.get_running_loop().call_later(_GRACE_SECONDS, partial(self._end, at_once=True))

    def _interrupted(self) -> None:
        """Drain after the first Ctrl-C, and abort after the second."""
        if self.stopping:
            self._error = KeyboardInterrupt()
            self._end(at_once=True)
        else:
            self.report.stopped = "interrupted"
            self._end()

    async def _flush_and_say(self) -> None:
        """Flush the journal and tell the progress a few times a second."""
        try:
            while True:
                await asyncio.sleep(_BEAT_SECONDS)
                self.collection.journal.sync()
                self.say()
        except Exception as error:
            self._end(error, at_once=True)

    async def run(self) -> None:
        """Ask with as many workers as the limits allow; raise what ended it early."""
        n_workers = min(self.throttle.concurrency, max(1, self.collection.plan.n_left))
        self._tasks = [asyncio.create_task(self._work()) for _ in range(n_workers)]
        beat = asyncio.create_task(self._flush_and_say())
        try:
            with on_interrupt(self._interrupted):
                await asyncio.gather(*self._tasks, return_exceptions=True)
        finally:
            for task in (beat, *self._tasks):
                task.cancel()
            await asyncio.gather(beat, *self._tasks, return_exceptions=True)
        # Raised when everything has ended, so that no task writes after the caller goes on
        if self._error is not None:
            raise self._error
        self.trouble = ""
        self.say()

    def say(self) -> None:
        """Tell whoever wants to know where it stands."""
        if self.asking.progress is None:
            return
        plan, silent = self.collection.plan, time.monotonic() - (self._answered_at or self._began)
        waits_for = ""
        if self.trouble and (silent > 1 or not self._answered_at):
            waits_for = self.trouble
        elif self.stopping:
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
