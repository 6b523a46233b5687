"""Asking by batches: hand requests in together, and watch each batch until its answers are rows.

No row is lost or doubled, wherever a process is killed; it holds the run, so there is no other.

* Before a submission is written down: nothing was sent.
* Written down, not yet named by the endpoint: the endpoint is asked for a batch with its mark. One
  that is there is taken over. Where none is there, nor after `settle_seconds`, none was created:
  the submission is void and its requests are free again.
* Named: the batch is on disk, and the next process waits for it.
* While results are written: a request with a row is passed over when they are read again.
"""

import asyncio
import math
import time
from collections import Counter, defaultdict
from secrets import token_hex
from typing import TYPE_CHECKING

from portrayal.collect.ask.batch.store import (
    BatchItem,
    NotRunError,
    RefusedError,
    Result,
    Submission,
    Submissions,
)
from portrayal.collect.ask.collection import Request
from portrayal.collect.ask.limits import KEPT
from portrayal.collect.ask.loop import Loop
from portrayal.collect.ask.provider import StopError, TryAgainError
from portrayal.records import Prompt

if TYPE_CHECKING:
    from pydantic_ai.models.batch import EncodedBatchRequest

    from portrayal.collect.ask.batch.services import BatchService

_FAILURES = 8  # of one call in a row, after which it is given up
_NO_RESULT = TryAgainError("server", "the batch ended without a result for this request.")


class Batches:
    """The batches of a loop; `start` takes up those under way, and hands in what is left.

    Parameters
    ----------
    loop, service, store
        The loop, the batch service of its model, and the submissions of its run.
    wait
        Seconds to wait for batches to end; None waits for all, 0 hands in and returns.
    """

    def __init__(
        self, loop: Loop, service: "BatchService", store: Submissions, wait: float | None
    ) -> None:
        self._loop, self._service, self._store = loop, service, store
        self._wait, self._end = math.inf if wait is None else wait, math.inf
        self._finding = asyncio.Lock()
        self._in_a_row: Counter[str] = Counter()  # failures, by call
        self._failed: defaultdict[str, Counter[str]] = defaultdict(Counter)  # by request
        loop.open_batches = len(self._open)

    @property
    def under_way(self) -> int:
        """Requests in batches that may still be answered."""
        return sum(len(one.items) for one in self._open)

    @property
    def _open(self) -> list[Submission]:
        """Submissions of this model whose requests may still be answered."""
        return [o for o in self._store.all() if o.model == self._service.name and o.is_open]

    def start(self) -> None:
        """Begin."""
        loop, self._end = self._loop, time.monotonic() + self._wait
        under_way = {item.key for one in self._open for item in one.items}
        # What an earlier process handed in is waited for, not bought twice
        loop.requests = (r for r in loop.collection.plan if r.key not in under_way)
        loop.in_progress = len(under_way)
        for one in self._open:
            loop.spawn(self._watch(one))
        loop.spawn(self._submit())
        loop.say()

    def _save(self, one: Submission, **changes: object) -> Submission:
        saved = self._store.save(one, **changes)
        self._loop.open_batches = len(self._open)
        return saved

    async def _submit(self) -> None:
        """Hand in what the budget allows, in batches as large as the endpoint takes."""
        loop, service = self._loop, self._service
        most = min(
            (n for n in (service.max_requests, loop.retry.max_requests) if n), default=math.inf
        )
        room = math.inf if service.max_bytes is None else service.max_bytes
        mark, size = token_hex(6), 0
        group: list[tuple[Request, EncodedBatchRequest]] = []
        while not loop.stop.is_set() and (request := loop.take()) is not None:
            encoded = await service.encode(f"{request.key}-{mark}", *request.prompt.asked)
            added = service.size(encoded)
            if group and (len(group) >= most or size + added > room):
                await self._create(mark, group)
                # The request goes into the next batch, whose mark its id must carry.
                mark, size, group = token_hex(6), 0, []
                encoded = await service.encode(f"{request.key}-{mark}", *request.prompt.asked)
            group.append((request, encoded))
            size += added
        if group and not loop.stop.is_set():
            await self._create(mark, group)

    async def _create(self, mark: str, group: "list[tuple[Request, EncodedBatchRequest]]") -> None:
        """Create one batch, and have it watched."""
        loop = self._loop
        items = tuple(BatchItem(r.key, r.prompt.prompt_id, r.sample) for r, _ in group)
        # On disk before anything is sent: from here on a killed process leaves a trace
        made_at = time.time()
        one = self._save(Submission(mark, self._service.name, "intended", items, made_at=made_at))
        while True:
            sent_at = time.monotonic()
            try:
                with loop.flying():
                    batch_id = await self._service.create([encoded for _, encoded in group], mark)
            except TryAgainError as error:
                wait = self._failure("create", error, sent_at)
                if error.kind != "rate_limit":  # it may exist all the same: watching settles that
                    break
                if not await loop.pause(wait):
                    self._save(one, state="void")
                    return
            except StopError:
                self._save(one, state="void")
                raise
            else:
                self._succeeded("create")
                one = self._save(one, state="submitted", batch_id=batch_id)
                loop.tries += len(group)
                break
        loop.say()
        loop.spawn(self._watch(one, fresh=True))

    async def _watch(self, one: Submission, *, fresh: bool = False) -> None:
        """See a batch through to the rows of its results, and hand in again what has none."""
        loop, looks = self._loop, 0
        wait = loop.retry.pause(1) if fresh and one.state == "submitted" else 0.0
        while one.is_open:
            # A batch of an earlier process is looked at once, however short the wait may be.
            if wait and not await self._rest(wait):
                return
            looks += 1
            wait, sent_at = loop.retry.pause(looks), time.monotonic()
            try:
                if one.state == "intended":
                    one = await self._settle(one)
                    if one.state == "intended":
                        return
                else:
                    one = await self._look(one)
            except NotRunError as error:
                one = self._save(one, state="void")
                self._give_back(one)
                if not await self._rest(self._failure("not run", error, sent_at)):
                    return
            except TryAgainError as error:
                wait = max(wait, self._failure(one.mark, error, sent_at))
            except RefusedError:
                self._save(one, state="void")
                raise
            else:
                self._succeeded(one.mark)
            loop.say()
        await self._submit()

    async def _rest(self, seconds: float) -> bool:
        """Wait, but not longer than was asked for; return whether to go on."""
        spare = self._end - time.monotonic()
        return spare > 0 and await self._loop.pause(min(spare, seconds)) and spare > seconds

    async def _settle(self, one: Submission) -> Submission:
        """Decide whether the batch of an intended submission exists; take it over if it does.

        A batch that another submission holds without being sure may be this one's all the same; it
        comes last. Where none is listed, nor a while later, the submission is void.
        """
        for last in (False, True):
            async with self._finding:  # so that no two take the same
                siblings = [other for other in self._store.all() if other.mark != one.mark]
                unsure = (o for o in siblings if o.state == "submitted" and not o.sure)
                unsure_ids = {other.batch_id for other in unsure}
                skip = {other.batch_id for other in siblings} - unsure_ids | set(one.not_ours)
                matches = await self._service.find(one, frozenset(skip))
                if matches:
                    batch_id, sure = min(matches, key=lambda it: (not it[1], it[0] in unsure_ids))
                    return self._save(one, state="submitted", batch_id=batch_id, sure=sure)
            if not (last or await self._loop.pause(self._loop.retry.settle_seconds)):
                return one
        one = self._save(one, state="void")
        self._give_back(one)
        return one

    async def _look(self, one: Submission) -> Submission:
        """Take the results of a batch if it has ended; return it as it then stands."""
        loop, service = self._loop, self._service
        with loop.flying():
            batch = await service.check(one)
            if batch.status != "ended":
                return one
            # After several tries lines that cannot be read are given up, and their requests asked
            # again.
            lenient = self._in_a_row[one.mark] >= _FAILURES // 2
            results = await service.results(batch, lenient=lenient)
        self._in_a_row["not run"] = 0
        ending = f"-{one.mark}"
        ours = {name.removesuffix(ending): got for name, got in results if name.endswith(ending)}
        # A batch that was taken over by its looks, and holds nothing of ours.
        if not one.sure and not ours:
            unlike = (*one.not_ours, one.batch_id)
            return self._save(one, state="intended", batch_id="", not_ours=unlike)
        cancelled = service.was_cancelled(batch)
        missing: Result = None if cancelled else _NO_RESULT
        stop: StopError | None = None
        for request in self._requests_of(one):
            result = ours.get(request.key, missing)
            if result is None:
                continue
            if isinstance(result, StopError):
                stop = result
            elif loop.settle(request, result, self._failed[request.key]) is not None:
                self._ask_again(request)
        loop.in_progress -= len(one.items)
        # The rows are on the disk before the batch is written down as done.
        loop.collection.journal.sync(now=True)
        one = self._save(one, state="cancelled" if cancelled or None in ours.values() else "done")
        if stop is not None:
            raise stop
        return one

    def _requests_of(self, one: Submission) -> list[Request]:
        """Return the requests of a batch that have no row.

        A batch may hold some that are not of this plan, of a later round or a larger number of
        samples: they are paid for, and are known by their names.
        """
        plan, keys = self._loop.collection.plan, {item.key for item in one.items}
        other = {i.key: i for i in one.items if not plan.holds(i.prompt_id, i.sample)}
        answered = self._loop.collection.answered(other.keys()) if other else set()
        open_items = (item for key, item in other.items() if key not in answered)
        beyond = [Request(i.key, Prompt(i.prompt_id, ""), i.sample) for i in open_items]
        return [*(request for request in plan if request.key in keys), *beyond]

    def _give_back(self, one: Submission) -> None:
        """Free the requests of a batch that never ran."""
        for request in self._requests_of(one):
            self._ask_again(request)
        self._loop.in_progress -= len(one.items)

    def _ask_again(self, request: Request) -> None:
        if self._loop.collection.plan.holds(request.prompt.prompt_id, request.sample):
            self._loop.again.append(request)

    def _succeeded(self, call: str) -> None:
        self._in_a_row[call] = 0
        self._loop.responded()

    def _failure(self, call: str, error: TryAgainError, sent_at: float) -> float:
        """Count a failure of a call; return the seconds to wait before it is repeated."""
        self._in_a_row[call] += 1
        count = self._in_a_row[call]
        self._loop.failed(error, sent_at)
        self._loop.say()
        if count >= _FAILURES:
            raise StopError(
                f"{error} That was failure {count} in a row. Run the same command again later; "
                f"{KEPT}."
            )
        return self._loop.retry.pause(count, error)
