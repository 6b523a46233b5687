"""Gathering: single questions that arrive together are worked on together, in one thread.

A *gatherer* turns many concurrent `ask(one)` into few `work([many])`. It waits a short window for
company, takes at most `size` items at once, and lets what arrives meanwhile form the next batch.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Generic, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


class Gatherer(Generic[Item, Result]):
    """Batches concurrent calls of `ask`.

    Parameters
    ----------
    work
        Takes the items of a batch in their order of arrival and returns as many results in the
        same order; an exception in a result's place is raised to its own caller only. It runs in
        one thread, never twice at the same time.
    size
        Most items in a batch.
    window
        Seconds to wait for more items while fewer than `size` are there.
    """

    def __init__(
        self,
        work: Callable[[Sequence[Item]], Sequence[Result | Exception]],
        *,
        size: int,
        window: float,
    ) -> None:
        self._work, self._size, self._window = work, size, window
        self._waiting: deque[tuple[Item, asyncio.Future[Result]]] = deque()
        self._thread: ThreadPoolExecutor | None = None
        self._task: asyncio.Task[None] | None = None
        self._full = asyncio.Event()

    async def ask(self, item: Item) -> Result:
        """Return the result of `item`, worked on with whatever else is asked meanwhile."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Result] = loop.create_future()
        self._waiting.append((item, future))
        if len(self._waiting) >= self._size:
            self._full.set()
        if self._task is None or self._task.done():
            self._full = asyncio.Event()
            self._task = loop.create_task(self._serve())
        return await future

    async def close(self) -> None:
        """Drop what waits and end the thread once the batch in hand is done; `ask` begins anew."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
        for _, future in self._waiting:
            future.cancel()
        self._waiting.clear()
        thread, self._thread = self._thread, None
        if thread is not None:
            await asyncio.to_thread(thread.shutdown, cancel_futures=True)

    async def _serve(self) -> None:
        while self._waiting:
            if len(self._waiting) < self._size:
                self._full.clear()
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._full.wait(), self._window)
            batch = self._take()
            if batch:
                await self._answer(batch)

    def _take(self) -> list[tuple[Item, "asyncio.Future[Result]"]]:
        """Return up to `size` items whose callers still wait."""
        batch: list[tuple[Item, asyncio.Future[Result]]] = []
        while self._waiting and len(batch) < self._size:
            item, future = self._waiting.popleft()
            if not future.done():
                batch.append((item, future))
        return batch

    async def _answer(self, batch: list[tuple[Item, "asyncio.Future[Result]"]]) -> None:
        items = [item for item, _ in batch]
        loop = asyncio.get_running_loop()
        if self._thread is None:
            self._thread = ThreadPoolExecutor(1, thread_name_prefix="portrayal-local")
        results: Sequence[Result | Exception]
        try:
            results = await loop.run_in_executor(self._thread, self._work, items)
        except asyncio.CancelledError:
            for _, future in batch:
                future.cancel()
            raise
        except Exception as error:
            results = [error] * len(batch)
        for (_, future), result in zip(batch, results, strict=True):
            if future.done():
                continue
            if isinstance(result, Exception):
                future.set_exception(result)
            else:
                future.set_result(result)
