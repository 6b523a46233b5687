"""Settling: whether a batch that was intended exists, however the process before ended."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TypeVar

from portrayal.collect.ask.batch_pace import BatchPace
from portrayal.collect.ask.batch_service import BatchService
from portrayal.collect.ask.batch_store import Submission, Submissions
from portrayal.collect.ask.provider import StopError, TryAgainError

Got = TypeVar("Got")


class Settler:
    """The submissions of one model and their batch service.

    Attributes
    ----------
    notes
        What a person should know, such as a batch that was made twice.
    """

    def __init__(self, service: BatchService, store: Submissions, pace: BatchPace) -> None:
        self._service, self.store, self._pace = service, store, pace
        self._failures: Counter[str] = Counter()
        self.notes: list[str] = []

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

    async def cancel(self) -> None:
        """Ask the endpoint to end every open batch."""
        for one in self.open:
            await self._patiently(partial(self._service.cancel, one))

    async def _patiently(self, call: Callable[[], Awaitable[Got]]) -> Got:
        """Repeat a harmless call while it fails in a way that may pass."""
        checks = 0
        while True:
            try:
                got = await call()
            except TryAgainError as error:
                checks += 1
                self._count_failure("call", error)
                await asyncio.sleep(self._pace.wait(checks))
            else:
                self._failures["call"] = 0
                return got

    def _count_failure(self, what: str, error: TryAgainError) -> None:
        self._failures[what] += 1
        if self._failures[what] >= self._pace.failures:
            raise StopError(
                f"{error} That was failure {self._failures[what]} in a row. Run the same command "
                "again later: batches under way are kept, and no request is sent twice."
            )
