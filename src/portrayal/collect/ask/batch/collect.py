"""Batches: the same requests at half the price, answered within a day, by restartable steps.

A *batch collection* submits every request that has no row, waits for the batches to end and writes
the same rows as `collect` does. It may be stopped or killed at any moment: what is under way is on
disk in `batches/`, and the same call continues.
"""

import asyncio
import math
import time
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from portrayal.collect.ask.batch.rounds import BatchPace, Rounds
from portrayal.collect.ask.batch.store import (
    FOLDER,
    BatchService,
    Submission,
    Submissions,
    service_of,
)
from portrayal.collect.ask.budget import (
    Budget,
    CostEstimate,
    Meter,
    Price,
    estimate_cost,
    metered,
    price_to_pay,
)
from portrayal.collect.ask.collection import CollectReport, Stopped
from portrayal.collect.ask.provider import Provider, check_reach
from portrayal.collect.ask.runner import AskProgress, on_interrupt
from portrayal.collect.texts import SHARD_ROWS
from portrayal.errors import OptionError
from portrayal.records import Prompt
from portrayal.run.directory import Run

BatchCallback = Callable[["BatchReport"], None]
Confirm = Callable[[CostEstimate], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchReport(CollectReport):
    """What a batch collection did, or has done so far.

    Attributes
    ----------
    open_batches
        Batches still under way; the same call continues with them.
    notes
        What else a person should know, such as a batch that was made twice.
    trouble
        The failure after which it tries again; "" where there is none.
    """

    open_batches: int
    notes: tuple[str, ...]
    trouble: str = ""

    def progress(self) -> AskProgress:
        """Return where it stands in the words of a collection that asks live."""
        handing = "handing in a batch"
        waits = f"{self.open_batches:,} batch(es) under way" if self.open_batches else handing
        return AskProgress(
            done=self.done,
            total=self.total,
            outcomes=self.outcomes,
            rate=0.0,
            seconds_left=None,
            usage=self.usage,
            cost=self.cost,
            in_flight=self.open_batches,
            limit=0,
            waiting=0.0,
            stopping=False,
            waits_for=self.trouble or waits,
        )


def collect_batch(
    run: Run,
    prompts: Sequence[Prompt],
    provider: Provider,
    samples: int = 1,
    *,
    study: str = "",
    mark: str | None = None,
    wait: float | None = None,
    submit: bool = True,
    budget: Budget | str | None = None,
    price: Price | str | None = None,
    confirm: Confirm | None = None,
    pace: BatchPace | None = None,
    progress: BatchCallback | None = None,
    shard_rows: int = SHARD_ROWS,
) -> BatchReport:
    """Ask `provider` every prompt `samples` times through its batch API.

    Parameters
    ----------
    run
        The run directory, which the caller holds (`with run.lock():`).
    prompts, samples, study, mark, shard_rows
        As for `collect`.
    provider
        A model with a batch service, such as OpenAI's. It is closed at the end.
    wait
        Seconds to wait for batches to end; None waits for all, 0 submits and returns.
    submit
        Whether to submit what is not under way; False only takes results.
    budget
        Such as "5 USD" or "2M tokens"; what would pass it is not submitted.
    price
        Such as "0.25/2" (US dollars per million tokens in and out); by default half the listed one.
    confirm
        Called with a `CostEstimate` of what is not under way yet before that is handed in, at the
        price of a batch; False ends it. Not called where all that is left is under way.
    pace
        How long to wait, and how often to try.
    progress
        Called with the report so far whenever the batches were checked.

    Returns
    -------
    BatchReport
        Also when Ctrl-C, the budget, `confirm` or the end of `wait` stopped it.

    Raises
    ------
    StopError
        When no further request can succeed; says what to do. Batches under way are kept.
    RunError
        When the run holds other texts, or its disk cannot be written.
    OptionError
        When this model has no batch API, or it would ignore a parameter.
    """
    service, steps = service_of(provider), pace or BatchPace()
    opened = metered(
        run,
        prompts,
        provider,
        samples,
        study=study,
        mark=mark,
        budget=budget,
        price=price_to_pay(price, provider.name, batch=True),
        shard_rows=shard_rows,
    )
    cap = provider.parameters.get("max_tokens")
    with opened as (collection, meter):
        rounds = Rounds(collection, service, Submissions(run.path / FOLDER), meter, steps)
        course = _Course(rounds, steps, meter, cap, progress)
        if collection.plan.n_left:
            asyncio.run(check_reach(provider))
        if submit and confirm is not None and not course.confirmed(confirm):
            course.decline()
            asyncio.run(provider.close())
        else:
            asyncio.run(_within(service, provider, course.run(submit, wait)))
    return course.report()


def open_batches(run: Run) -> list[Submission]:
    """Return the batches of a run whose requests may still be answered, of every model."""
    return [one for one in Submissions(run.path / FOLDER).all() if one.is_open]


def check_no_batches(run: Run) -> None:
    """Refuse to ask live while batches are under way, which would pay twice."""
    if open_batches(run):
        raise OptionError(
            f"{run.path} has batches under way; asking live would pay twice. Run the same command "
            "with --batch to take their answers first."
        )


class _Course:
    """One call of `collect_batch`: submit, wait and take, until nothing is left."""

    def __init__(
        self,
        rounds: Rounds,
        pace: BatchPace,
        meter: Meter,
        cap: int | None,
        progress: BatchCallback | None,
    ) -> None:
        self._rounds, self._pace, self._meter, self._tell = rounds, pace, meter, progress
        self._cap = cap
        self._began = time.monotonic()
        self._peak = 0
        self._stopped: Stopped = ""
        rounds.on_trouble = self._say

    def _say(self) -> None:
        if self._tell is not None:
            self._tell(self.report())

    def confirmed(self, confirm: Confirm) -> bool:
        """Whether what is to be handed in may be; true where all of it is under way."""
        plan = self._rounds.collection.plan
        under_way = sum(len(one.items) for one in self._rounds.open)
        if plan.n_left <= under_way:
            return True
        return confirm(estimate_cost(plan, self._meter.price, self._cap, under_way=under_way))

    def decline(self) -> None:
        """Hand nothing in."""
        self._stopped = "declined"

    async def run(self, submit: bool, wait: float | None) -> None:
        rounds, checks, stop = self._rounds, 0, asyncio.Event()
        end = math.inf if wait is None else self._began + wait
        self._say()
        with on_interrupt(stop.set):
            await rounds.settle()
            await rounds.poll()
            while True:
                if submit and not stop.is_set():
                    await rounds.submit()
                self._peak = max(self._peak, sum(len(one.items) for one in rounds.open))
                self._say()
                left = end - time.monotonic()
                if left <= 0 or not (rounds.open or (submit and rounds.left)):
                    break
                with suppress(TimeoutError):
                    await asyncio.wait_for(stop.wait(), min(left, self._pace.wait(checks)))
                    self._stopped = "interrupted"
                    return
                checks = 0 if await rounds.poll() else checks + 1
        self._stopped = "budget" if rounds.over_budget else ""

    def report(self) -> BatchReport:
        rounds, collection = self._rounds, self._rounds.collection
        price = self._meter.price
        return BatchReport(
            **collection.facts(),
            asked=rounds.asked,
            tries=rounds.tries,
            cost=None if price is None else price.cost(collection.usage),
            peak=self._peak,
            seconds=time.monotonic() - self._began,
            stopped=self._stopped if collection.plan.n_left else "",
            open_batches=len(rounds.open),
            notes=tuple(rounds.notes),
            trouble=rounds.trouble,
        )


async def _within(
    service: BatchService, provider: Provider, work: Coroutine[Any, Any, None]
) -> None:
    try:
        async with service:
            await work
    finally:
        await provider.close()
