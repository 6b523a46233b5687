"""A collection with its price and budget, opened once and closed however the asking ends."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from portrayal.collect.ask.budget import Budget, Meter
from portrayal.collect.ask.collection import Collection
from portrayal.collect.ask.prices import Price
from portrayal.collect.ask.provider import Provider
from portrayal.collect.texts import SHARD_ROWS
from portrayal.errors import RunError
from portrayal.records import Prompt
from portrayal.run.directory import Run


@contextmanager
def metered(
    run: Run,
    prompts: Sequence[Prompt],
    provider: Provider,
    samples: int,
    *,
    study: str = "",
    mark: str | None = None,
    budget: Budget | str | None = None,
    price: Price | None = None,
    shard_rows: int = SHARD_ROWS,
) -> Iterator[tuple[Collection, Meter]]:
    """Open a collection and the meter of its budget; fold the collection at the end.

    Raises
    ------
    OptionError
        Where the budget cannot be held, before anything is opened.
    RunError
        When the run holds other texts, or its disk failed; then nothing more is written.
    """
    limit = Budget.parse(budget) if isinstance(budget, str) else budget
    if limit is not None:
        limit.check(price, provider.name)
    collection = Collection(
        run, prompts, provider, samples, study=study, mark=mark, shard_rows=shard_rows
    )
    cap = provider.parameters.get("max_tokens")
    try:
        yield (
            collection,
            Meter(collection.plan, collection.usage, price=price, budget=limit, max_tokens=cap),
        )
    except RunError:
        collection.abandon()  # a disk that failed is not asked to take a part as well
        raise
    except BaseException:
        collection.close()
        raise
    else:
        collection.close()
