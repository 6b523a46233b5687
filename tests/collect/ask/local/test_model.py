"""Questions that arrive together are worked on together."""

import asyncio
import threading

import pytest

from portrayal.collect.ask.local.model import Gatherer


def test_questions_that_arrive_together_are_worked_on_together():
    batches = []

    def work(items):
        batches.append(list(items))
        return [item * 10 for item in items]

    async def main():
        gatherer = Gatherer(work, size=4, window=0.05)
        results = await asyncio.gather(*(gatherer.ask(n) for n in range(10)))
        await gatherer.close()
        return results

    assert asyncio.run(main()) == [n * 10 for n in range(10)]
    assert batches == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]


def test_what_arrives_during_a_batch_forms_the_next_one():
    batches, go = [], threading.Event()

    def work(items):
        batches.append(list(items))
        go.wait(5)
        return list(items)

    async def main():
        gatherer = Gatherer(work, size=100, window=0.01)
        first = asyncio.create_task(gatherer.ask(0))
        while not batches:
            await asyncio.sleep(0.005)
        rest = [asyncio.create_task(gatherer.ask(n)) for n in range(1, 6)]
        await asyncio.sleep(0.01)
        go.set()
        await asyncio.gather(first, *rest)
        await gatherer.close()

    asyncio.run(main())
    assert batches == [[0], [1, 2, 3, 4, 5]]


def test_a_failure_reaches_its_own_caller_or_all_of_the_batch():
    def work(items):
        if "all" in items:
            raise ValueError("broken batch")
        return [KeyError(item) if item == "one" else item for item in items]

    async def main():
        gatherer = Gatherer(work, size=8, window=0.01)
        first = await asyncio.gather(*map(gatherer.ask, ["a", "one"]), return_exceptions=True)
        second = await asyncio.gather(*map(gatherer.ask, ["a", "all"]), return_exceptions=True)
        await gatherer.close()
        return first, second

    first, second = asyncio.run(main())
    assert first[0] == "a"
    assert isinstance(first[1], KeyError)
    assert [type(error) for error in second] == [ValueError, ValueError]


def test_a_caller_who_left_is_not_worked_for():
    batches = []

    def work(items):
        batches.append(list(items))
        return list(items)

    async def main():
        gatherer = Gatherer(work, size=8, window=0.05)
        gone = asyncio.create_task(gatherer.ask("gone"))
        stays = asyncio.create_task(gatherer.ask("stays"))
        await asyncio.sleep(0)
        gone.cancel()
        await stays
        await gatherer.close()

    asyncio.run(main())
    assert batches == [["stays"]]


def test_one_gatherer_serves_several_event_loops_in_turn():
    gatherer = Gatherer(list, size=2, window=0.01)

    async def ask():
        return await gatherer.ask(1)

    assert asyncio.run(ask()) == 1
    assert asyncio.run(ask()) == 1
    asyncio.run(gatherer.close())


def test_closing_ends_those_who_wait():
    go = threading.Event()

    def work(items):
        go.wait(5)
        return list(items)

    async def main():
        gatherer = Gatherer(work, size=1, window=0.01)
        tasks = [asyncio.create_task(gatherer.ask(n)) for n in range(3)]
        await asyncio.sleep(0.02)
        closing = asyncio.create_task(gatherer.close())
        await asyncio.sleep(0.02)
        go.set()
        await closing
        for task in tasks:
            with pytest.raises(asyncio.CancelledError):
                await task

    asyncio.run(main())
