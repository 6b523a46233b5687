"""Rounds of a batch collection: settle what a crash left open, submit, wait, take the results.

No row is lost or doubled, wherever a process is killed; it holds the run, so there is no other.

* Before a submission is written down: nothing was sent.
* Written down, not yet named by the endpoint: the endpoint is asked for a batch with its mark. One
  that is there is taken over. Where none is there, nor after `settle_seconds`, none was created:
  the submission is void and its requests are free again.
* Named: the batch is on disk, and the next process waits for it.
* While results are written: a request with a row is passed over when they are read again.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from portrayal.collect.ask.batch.store import (
    BatchService,
    Item,
    NotRunError,
    RefusedError,
    Result,
    Submission,
    Submissions,
    new_mark,
)
from portrayal.collect.ask.budget import Meter
from portrayal.collect.ask.collection import Collection, Request
from portrayal.collect.ask.provider import Answer, RejectedError, StopError, TryAgainError
from portrayal.records import Prompt

if TYPE_CHECKING:
    from pydantic_ai.models.batch import EncodedBatchRequest


@dataclass(frozen=True, slots=True)
class BatchPace:
    """How long a batch collection waits, and how often it tries.

    Attributes
    ----------
    first_wait, longest_wait
        Seconds before the first check and at most; in between they grow by half.
    settle_seconds
        After which a batch that the endpoint does not list was never created.
    rounds
        Times that one request is asked in one collection before its row is "failed".
    failures
        Checks or creations in a row that may fail.
    unreached
        The same, where there was no connection.
    patience
        Longest wait in seconds that an endpoint may ask for.
    max_requests
        Requests in a batch, if fewer than the endpoint allows.
    """

    first_wait: float = 15.0
    longest_wait: float = 300.0
    settle_seconds: float = 60.0
    rounds: int = 3
    failures: int = 8
    unreached: int = 4
    patience: float = 600.0
    max_requests: int | None = None

    def wait(self, checks: int) -> float:
        """Return the seconds to wait after `checks` checks without news."""
        return min(self.longest_wait, self.first_wait * 1.5 ** min(checks, 60))


Got = TypeVar("Got")


class Settler:
    """The submissions of one model and their batch service.

    Attributes
    ----------
    notes
        What a person should know, such as a batch that was made twice.
    trouble
        The failure after which it tries again; "" after a success.
    on_trouble
        Called when that has changed.
    """

    def __init__(self, service: BatchService, store: Submissions, pace: BatchPace) -> None:
        self._service, self.store, self._pace = service, store, pace
        self._failures: Counter[str] = Counter()
        self._unreached = 0
        self.notes: list[str] = []
        self.trouble = ""
        self.on_trouble: Callable[[], None] = lambda: None

    @property
    def open(self) -> list[Submission]:
        """Submissions of this model whose requests may still be answered."""
        ours = (one for one in self.store.all() if one.model == self._service.name)
        return [one for one in ours if one.is_open]

    async def settle(self) -> None:
        """Decide of every intended submission whether its batch exists."""
        for last in (False, True):
            for one in [one for one in self.open if one.state == "intended"]:
                await self._adopt(one)
            left = [one for one in self.open if one.state == "intended"]
            if not left:
                return
            if not last:
                await asyncio.sleep(self._pace.settle_seconds)
        for one in left:
            self.store.save(one, state="void")

    async def _adopt(self, one: Submission) -> None:
        """Take over the batch of an intended submission, if the endpoint lists one.

        A batch that another submission holds without being sure may be this one's all the same; it
        comes last.
        """
        rest = [other for other in self.store.all() if other.mark != one.mark]
        held = {other.batch_id for other in rest if other.state == "submitted" and not other.sure}
        known = frozenset({other.batch_id for other in rest} - held | set(one.not_ours))
        found = await self._patiently(partial(self._service.find, one, known))
        if not found:
            return
        (batch_id, sure), *others = sorted(found, key=lambda it: (not it[1], it[0] in held))
        self.store.save(one, state="submitted", batch_id=batch_id, sure=sure)
        for other_id in (name for name, other_sure in others if sure and other_sure):
            await self._drop(replace(one, state="submitted", batch_id=other_id))
            self.notes.append(f"batch {other_id} doubled {batch_id} and was cancelled.")

    async def _drop(self, copy: Submission) -> None:
        """Cancel a batch that was made twice on the way to the endpoint: one is enough."""
        with suppress(StopError):  # it has ended
            await self._patiently(partial(self._service.cancel, copy))

    async def _patiently(self, call: Callable[[], Awaitable[Got]]) -> Got:
        """Repeat a harmless call while it fails in a way that may pass."""
        checks = 0
        while True:
            try:
                got = await call()
            except TryAgainError as error:
                checks += 1
                self._count_failure("call", error)
                await asyncio.sleep(self._wait(error, self._pace.wait(checks)))
            else:
                self._succeeded("call")
                return got

    def _wait(self, error: TryAgainError, least: float) -> float:
        """Seconds to wait after `error`."""
        asked = error.retry_after or 0.0
        if asked > self._pace.patience:
            raise StopError(
                f"{error} The endpoint asks to wait {asked:,.0f} s. Run the same command again "
                "after that: batches under way are kept, and no request is sent twice."
            )
        return max(asked, least)

    def _succeeded(self, what: str) -> None:
        self._failures[what] = self._unreached = 0
        self.trouble = ""

    def _count_failure(self, what: str, error: TryAgainError) -> None:
        self._failures[what] += 1
        is_lost = error.kind in ("connection", "timeout")
        self._unreached = self._unreached + 1 if is_lost else 0
        self.trouble = f"trying again after: {error}"
        self.on_trouble()
        most = self._pace.unreached if is_lost else self._pace.failures
        count = max(self._failures[what], self._unreached)
        if count >= self._pace.failures or self._unreached >= most:
            raise StopError(
                f"{error} That was failure {count} in a row. Run the same command "
                "again later: batches under way are kept, and no request is sent twice."
            )


class Rounds(Settler):
    """One batch collection under way; see `collect_batch`.

    Attributes
    ----------
    asked, tries
        Rows written, and requests submitted, by this process.
    over_budget
        Whether requests were left out because of the budget.
    """

    def __init__(
        self,
        collection: Collection,
        service: BatchService,
        store: Submissions,
        meter: Meter,
        pace: BatchPace,
    ) -> None:
        super().__init__(service, store, pace)
        self.collection, self._meter = collection, meter
        self.asked = self.tries = 0
        self.over_budget = False
        self._times: Counter[str] = Counter()
        self._cancelled: set[str] = set()
        self._queue_full = False

    @property
    def left(self) -> bool:
        """Whether requests remain to be submitted, now or once a batch has ended."""
        return self.collection.plan.n_left > len(self._cancelled) and not self.over_budget

    async def submit(self) -> None:
        """Submit every request that has no row and is not under way."""
        if self._queue_full and self.open:
            return  # the endpoint takes more once it has finished some
        self._queue_full = self.over_budget = False
        async for mark, chunk in self._chunks():
            items = [Item(r.key, r.prompt.prompt_id, r.sample) for r, _ in chunk]
            one = self.store.intend(mark, self._service.name, items)
            await self._create(one, [encoded for _, encoded in chunk])

    async def _create(self, one: Submission, requests: "list[EncodedBatchRequest]") -> None:
        while True:
            try:
                batch_id = await self._service.create(requests, one.mark)
            except TryAgainError as error:
                self._count_failure("create", error)
                if error.kind != "rate_limit":  # it may exist all the same
                    await self.settle()
                    return
                await asyncio.sleep(self._wait(error, self._pace.first_wait))
            except StopError:
                self.store.save(one, state="void")
                raise
            else:
                self._succeeded("create")
                self.store.save(one, state="submitted", batch_id=batch_id)
                self.tries += len(requests)
                return

    async def _chunks(
        self,
    ) -> "AsyncIterator[tuple[str, list[tuple[Request, EncodedBatchRequest]]]]":
        """Yield (mark, requests) within the endpoint's limits of number and bytes."""
        allowed = self._service.max_requests
        limit = min(allowed, self._pace.max_requests or allowed)
        under_way = {item.key for one in self.open for item in one.items}
        taken = len(under_way)
        mark, size = new_mark(), 0
        chunk: list[tuple[Request, EncodedBatchRequest]] = []
        for request in self.collection.plan:
            if request.key in under_way or request.key in self._cancelled:
                continue
            if not self._meter.room(taken):
                self.over_budget = True
                break
            encoded = await self._service.encode(f"{request.key}-{mark}", request.prompt.text)
            added = self._service.size(encoded)
            full = self._service.max_bytes is not None and size + added > self._service.max_bytes
            if chunk and (full or len(chunk) >= limit):
                yield mark, chunk
                mark, size, chunk = new_mark(), 0, []
                encoded = await self._service.encode(f"{request.key}-{mark}", request.prompt.text)
            chunk.append((request, encoded))
            size += added
            taken += 1
        if chunk:
            yield mark, chunk

    async def poll(self) -> bool:
        """Check every open batch and take the results of ended ones; whether there was news."""
        news = False
        for one in self.open:
            try:
                taken = await self._check(one)
            except NotRunError as error:
                self.store.save(one, state="void")
                self._queue_full = True
                self._count_failure("not run", error)
            except TryAgainError as error:
                self._count_failure(one.mark, error)
            except RefusedError:
                self.store.save(one, state="void")
                raise
            else:
                self._succeeded(one.mark)
                news = news or taken
        if any(one.state == "intended" for one in self.open):
            await self.settle()
        return news

    async def _check(self, one: Submission) -> bool:
        """Take the results of a batch if it has ended; whether it has."""
        batch = await self._service.check(one)
        if batch.status != "ended":
            return False
        lenient = self._failures[one.mark] >= self._pace.failures // 2
        results = await self._service.results(batch, lenient=lenient)
        self._failures["not run"] = 0
        self._take(one, results, cancelled=self._service.was_cancelled(batch))
        return True

    def _take(self, one: Submission, results: list[tuple[str, Result]], *, cancelled: bool) -> None:
        """Write a row for each result of ours that has none yet."""
        ending = f"-{one.mark}"
        ours = {cid.removesuffix(ending): got for cid, got in results if cid.endswith(ending)}
        if not one.sure and not ours:
            unlike = (*one.not_ours, one.batch_id)
            self.store.save(one, state="intended", batch_id="", not_ours=unlike)
            return
        missing: Result = None if cancelled else _NO_RESULT
        stop: StopError | None = None
        for request in self._requests_of(one):
            got = ours.get(request.key, missing)
            self._times[request.key] += 1
            stop = self._record(request, got) or stop
        self.collection.journal.sync(now=True)
        cancelled = cancelled or None in ours.values()
        self.store.save(one, state="cancelled" if cancelled else "done")
        if stop is not None:
            raise stop

    def _requests_of(self, one: Submission) -> list[Request]:
        """Return the requests of a batch that have no row.

        A batch may hold some that are not of this plan, of a later round or a larger number of
        samples: they are paid for, and are known by their names.
        """
        plan, keys = self.collection.plan, {item.key for item in one.items}
        other = {
            item.key: item for item in one.items if not plan.holds(item.prompt_id, item.sample)
        }
        done = self.collection.answered(other.keys()) if other else set()
        beyond = [
            Request(i.key, Prompt(i.prompt_id, ""), i.sample)
            for i in other.values()
            if i.key not in done
        ]
        return [*(request for request in plan if request.key in keys), *beyond]

    def _record(self, request: Request, got: Result) -> StopError | None:
        times = self._times[request.key]
        if isinstance(got, TryAgainError) and got.kind == "body":
            self._meter.add(got.usage)
            self.collection.record_malformed(got)
        if isinstance(got, Answer):
            self._meter.add(got.usage)
            self.collection.record(request, got, attempts=times)
        elif isinstance(got, RejectedError):
            self._meter.add(got.usage)
            self.collection.record_unanswered(
                request, str(got), refused=got.refused, usage=got.usage, attempts=times
            )
        elif got is None:
            if self.collection.plan.holds(request.prompt.prompt_id, request.sample):
                self._cancelled.add(request.key)
            return None
        elif isinstance(got, StopError):
            return got
        elif times >= self._pace.rounds:
            self.collection.record_unanswered(request, f"{got} ({times} times)", attempts=times)
        else:
            return None
        self.asked += 1
        return None


_NO_RESULT = TryAgainError("server", "the batch ended without a result for this request.")
