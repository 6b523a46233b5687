"""The runner: asks every request that has no row yet, and stops without losing one."""

import asyncio
import functools
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, ParamSpec

from portrayal.collect.ask.budget import Budget, CostEstimate, estimate_cost
from portrayal.collect.ask.limits import Throttle
from portrayal.collect.ask.metered import metered
from portrayal.collect.ask.prices import Price, price_to_pay
from portrayal.collect.ask.progress import AskCallback
from portrayal.collect.ask.provider import Provider
from portrayal.collect.ask.report import CollectReport
from portrayal.collect.ask.retry import Retry
from portrayal.collect.ask.workers import Workers
from portrayal.collect.texts import SHARD_ROWS
from portrayal.records import Prompt
from portrayal.run.directory import Run

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
