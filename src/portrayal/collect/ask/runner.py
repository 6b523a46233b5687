"""Collecting answers: open what a run holds, ask what is missing, and say what was done."""

import asyncio
from collections.abc import Callable, Sequence

import portrayal.registry as registry
from portrayal.collect.ask.asking import Asking, prompts_of
from portrayal.collect.ask.budget import Budget, Meter, estimate_cost, price_to_pay
from portrayal.collect.ask.collection import Collection
from portrayal.collect.ask.loop import Loop
from portrayal.collect.ask.provider import Provider, StopError
from portrayal.collect.ask.report import CollectReport, most_frequent
from portrayal.collect.texts import SHARD_ROWS
from portrayal.errors import OptionError, RunError
from portrayal.records import Prompt
from portrayal.run.directory import Run
from portrayal.run.manifest import TEXTS
from portrayal.types import Say


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
            collection = Collection(run, prompts, provider, asking.samples, study, mark, shard_rows)
            try:
                report = await _collect(collection, asking, provider, answer_tokens)
            except RunError:
                collection.abandon()  # a disk that failed is not asked to take a part as well
                raise
            except BaseException:
                collection.close()
                raise
            collection.close()
            return report()
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


async def _collect(
    collection: Collection,
    asking: Asking,
    provider: Provider,
    answer_tokens: int | None,
) -> Callable[[], CollectReport]:
    """Ask what a collection lacks; return what reports on it once it is closed."""
    plan, cap = collection.plan, provider.parameters.get("max_tokens")
    price = price_to_pay(asking.price, asking.model)
    budget = None if asking.budget is None else Budget.parse(asking.budget)
    # Answers that could not be read were paid for too, and count in the mean cost
    paid = plan.n_done + collection.malformed.total()
    meter = Meter(plan, collection.usage, n_paid=paid, price=price, budget=budget, max_tokens=cap)
    loop = Loop(collection, asking, meter, provider)
    # Nothing is asked where nothing answers; a provider without an address needs no check.
    check = getattr(provider, "check", None)
    if plan.n_left and check is not None:
        await check()
    thinking = 0 if cap else provider.parameters.get("thinking_budget") or 0
    estimate = estimate_cost(plan, price, cap or answer_tokens, thinking)
    if estimate.requests > 0 and asking.confirm and not asking.confirm(estimate):
        loop.stopped = "declined"
        return loop.report
    await loop.run()
    return loop.report


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
