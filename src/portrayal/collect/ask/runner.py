"""The runner: asks every request that has no row yet, and stops without losing one."""

import asyncio
import functools
import signal
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from random import Random
from typing import Any, ParamSpec

from portrayal.collect.ask.budget import (
    Budget,
    CostEstimate,
    Meter,
    Price,
    estimate_cost,
    metered,
    price_to_pay,
)
from portrayal.collect.ask.collection import Collection, CollectReport, Request, Stopped, now
from portrayal.collect.ask.judge import Asks, judge_outcome
from portrayal.collect.ask.limits import TIMEOUT, Breaker, Retry, Throttle
from portrayal.collect.ask.provider import (
    Answer,
    Provider,
    RejectedError,
    StopError,
    TryAgainError,
    Usage,
    check_reach,
)
from portrayal.collect.texts import SHARD_ROWS
from portrayal.records import Outcome, Prompt
from portrayal.run.directory import Run

_WINDOW_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class AskProgress:
    """Where a collection stands.

    Attributes
    ----------
    done, total
        Requests with a row, and all requests, of this model in this run.
    outcomes
        Rows by outcome.
    rate
        Rows per second over the last half minute.
    seconds_left
        At that rate; None while there is no rate.
    usage, cost
        Tokens and US dollars so far in this run; the cost is None where the price is unknown.
    in_flight, limit
        Requests in flight, and how many may be.
    waiting
        Seconds until the endpoint or the given limits allow another request.
    stopping
        Whether only requests in flight are finished.
    waits_for
        What it waits for where no answer comes, in a few words; "" where answers come.
    """

    done: int
    total: int
    outcomes: Mapping[str, int]
    rate: float
    seconds_left: float | None
    usage: Usage
    cost: float | None
    in_flight: int
    limit: int
    waiting: float
    stopping: bool
    waits_for: str = ""


AskCallback = Callable[[AskProgress], None]


class Rate:
    """Rows per second over a moving window of the monotonic clock."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._seen: deque[tuple[float, int]] = deque()

    def at(self, done: int) -> float:
        """Return the rate, with `done` rows now."""
        now = self._clock()
        self._seen.append((now, done))
        while len(self._seen) > 2 and now - self._seen[0][0] > _WINDOW_SECONDS:
            self._seen.popleft()
        then, before = self._seen[0]
        return (done - before) / (now - then) if now > then else 0.0


@contextmanager
def on_interrupt(call: Callable[[], None]) -> Iterator[None]:
    """Call `call` in the running loop on each Ctrl-C while inside; only in the main thread."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    loop = asyncio.get_running_loop()
    before = signal.signal(signal.SIGINT, lambda *_: _tell(loop, call))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before or signal.SIG_DFL)


def _tell(loop: asyncio.AbstractEventLoop, call: Callable[[], None]) -> None:
    loop.call_soon_threadsafe(call)


_BEAT_SECONDS = 0.2
_GRACE_SECONDS = 5.0  # for requests in flight when no further one can succeed
_REACH_SECONDS = 0.5
_SILENT_SECONDS = 10.0
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
        self._timeout = retry.timeout or float(getattr(provider, "timeout", TIMEOUT))
        self._breaker = Breaker(retry.outage)
        self._trouble, self._answered_at = "", 0.0
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

    async def reach(self, progress: AskCallback | None) -> None:
        """Check the address, and say that this is what it waits for."""
        checking = asyncio.create_task(check_reach(self._provider))
        self._trouble = f"reaching for {self._provider.name}"
        while not (await asyncio.wait([checking], timeout=_REACH_SECONDS))[0]:
            if progress is not None:
                progress(self._snapshot())
        self._trouble = ""
        await checking

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
        self._trouble = ""
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
        failed: Counter[str] = Counter()
        while True:
            asked_at = now()
            tries = failed.total() + 1
            try:
                answer = await self._ask(request)
            except TryAgainError as error:
                failed[error.kind] += 1
                if error.kind == "body":
                    self._meter.add(error.usage)
                    self._collection.record_malformed(error)
                wait = self._retry.wait(error, failed, self._random)
                if wait is None:
                    self._unanswered(request, f"{error} ({tries} tries)", tries, asked_at)
                    return
                if not self._meter.room(self._in_progress - 1):
                    self._stopped = "budget"
                    return
                if self._stop.is_set():
                    return
                await asyncio.sleep(wait)
            except RejectedError as error:
                self._meter.add(error.usage)
                self._unanswered(request, str(error), tries, asked_at, rejected=error)
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
        tokens, sent_at = None, time.monotonic()
        try:
            answer = await self._answered_in_time(request)
            tokens = answer.usage.input_tokens + answer.usage.output_tokens
            self._breaker.responded()
        except TryAgainError as error:
            self._trouble = f"trying again after: {error}"
            self._breaker.failed(error, sent_at)
            if error.kind == "rate_limit" or error.retry_after is not None:
                self._throttle.slow_down(epoch, error.retry_after)
            raise
        except RejectedError:
            self._breaker.responded()
            raise
        else:
            self._trouble, self._answered_at = "", time.monotonic()
            return answer
        finally:
            self._in_flight.discard(task)
            self._throttle.leave(epoch, tokens=tokens)

    async def _answered_in_time(self, request: Request) -> Answer:
        try:
            async with asyncio.timeout(self._timeout):
                return await self._answer(request)
        except TimeoutError:
            raise TryAgainError(
                "timeout",
                f"{self._provider.name}: no answer within {self._timeout:,.0f} s (timeout allows "
                "more).",
            ) from None

    async def _judged(self, answer: Answer) -> Outcome | None:
        """The judge's outcome; None without a judge, or where it fails: no answer waits for it."""
        if self._judge is None:
            return None
        task = asyncio.current_task()
        assert task is not None  # a worker is a task
        self._in_flight.add(task)
        try:
            async with asyncio.timeout(self._timeout):
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
        self,
        request: Request,
        reason: str,
        tries: int,
        asked_at: str,
        rejected: RejectedError | None = None,
    ) -> None:
        refused = rejected is not None and rejected.refused
        usage = Usage() if rejected is None else rejected.usage
        self._collection.record_unanswered(
            request, reason, refused=refused, usage=usage, attempts=tries, asked_at=asked_at
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
            waits_for=self._waits_for(),
        )

    def _waits_for(self) -> str:
        silent = time.monotonic() - (self._answered_at or self._began)
        if self._trouble and (silent > 1 or not self._answered_at):
            return self._trouble
        if self._stop.is_set() or not self._in_progress:
            return ""
        if not self._answered_at:
            return f"waiting for the first answer, {silent:.0f} s"
        return f"no answer for {silent:.0f} s" if silent > _SILENT_SECONDS else ""

    def _cost(self) -> float | None:
        price = self._meter.price
        return None if price is None else price.cost(self._collection.usage)

    def report(self) -> CollectReport:
        """Return what was done."""
        return CollectReport(
            **self._collection.facts(),
            asked=self._asked,
            tries=self._tries,
            cost=self._cost(),
            peak=self._throttle.peak,
            seconds=time.monotonic() - self._began,
            stopped=self._stopped if self._collection.plan.n_left else "",
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


P = ParamSpec("P")
Confirm = Callable[[CostEstimate], bool]


async def collect(
    run: Run,
    prompts: Sequence[Prompt],
    provider: Provider,
    samples: int = 1,
    *,
    study: str = "",
    mark: str | None = None,
    concurrency: int = 16,
    rpm: float | None = None,
    tpm: float | None = None,
    budget: Budget | str | None = None,
    price: Price | str | None = None,
    retry: Retry | None = None,
    confirm: Confirm | None = None,
    progress: AskCallback | None = None,
    judge: Provider | None = None,
    shard_rows: int = SHARD_ROWS,
    seed: int = 0,
) -> CollectReport:
    """Ask `provider` every prompt `samples` times, and bring the answers into the run.

    What has a row already is not asked again, so the same call continues a collection that was
    stopped, killed or cut off.

    Parameters
    ----------
    run
        The run directory, which the caller holds (`with run.lock():`).
    prompts, samples
        What to ask and how often; sample 0 of every prompt comes before sample 1 of any.
    provider
        The model, from `provider_of` or one's own. It is closed at the end.
    study
        Name of the study, part of what the run was asked.
    mark
        See `Collection`: for a run to which further prompts may come.
    concurrency
        Most requests in flight; fewer when the endpoint limits the rate.
    rpm, tpm
        Requests and tokens a minute that the account allows.
    budget
        Such as "5 USD" or "2M tokens", over all that this model has cost in this run.
    price
        Such as "0.25/2" (US dollars per million tokens in and out), over the public price table.
    retry
        How failures are met.
    confirm
        Called with a `CostEstimate` of what is left before anything is asked; False ends it.
    progress
        Called with `AskProgress` a few times a second.
    judge
        A model that decides whether an answer is a refusal, in place of the patterns; where it
        fails or is undecided the patterns do. One more request an answer, outside the budget.
    shard_rows
        Rows in a part of the texts.
    seed
        Of the random waits.

    Returns
    -------
    CollectReport
        Also when Ctrl-C (once), the budget or `confirm` stopped it; see `stopped`.

    Raises
    ------
    StopError
        When no further request can succeed; says what to do. Rows written before are kept.
    RunError
        When the run holds other texts, or its disk cannot be written.
    KeyboardInterrupt
        On a second Ctrl-C.
    """
    throttle = Throttle(concurrency, rpm=rpm, tpm=tpm)
    known = price_to_pay(price, provider.name)
    opened = metered(
        run,
        prompts,
        provider,
        samples,
        study=study,
        mark=mark,
        budget=budget,
        price=known,
        shard_rows=shard_rows,
    )
    cap = provider.parameters.get("max_tokens")
    try:
        with opened as (collection, meter):
            workers = Workers(collection, provider, throttle, meter, retry or Retry(), seed, judge)
            if collection.plan.n_left:
                await workers.reach(progress)
            if confirm is None or confirm(estimate_cost(collection.plan, known, cap)):
                await workers.run(progress)
            else:
                workers.decline()
    finally:
        await provider.close()
        if judge is not None:
            await judge.close()
    return workers.report()


def _in_a_loop(
    ask: Callable[P, Coroutine[Any, Any, CollectReport]],
) -> Callable[P, CollectReport]:
    @functools.wraps(ask)
    def run_it(*args: P.args, **kwargs: P.kwargs) -> CollectReport:
        return asyncio.run(ask(*args, **kwargs))

    return run_it


collect_texts = _in_a_loop(collect)
"""`collect` outside an event loop, with the same arguments."""
