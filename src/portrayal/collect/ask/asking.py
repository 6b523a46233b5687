"""Asking a model all prompts of a study, as one stage of an audit or alone."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from portrayal import registry
from portrayal.errors import OptionError
from portrayal.records import Prompt
from portrayal.types import Say

if TYPE_CHECKING:
    from portrayal.collect.ask.budget import CostEstimate
    from portrayal.collect.ask.collection import CollectReport
    from portrayal.collect.ask.runner import AskCallback
    from portrayal.run.directory import Run


@dataclass(frozen=True, slots=True)
class Asking:
    """Whom to ask, how often, and within which limits.

    Attributes
    ----------
    model
        "SERVICE:MODEL", such as "openai:gpt-5-mini", "server:NAME" or "local:PATH".
    samples
        Answers to each prompt.
    prompts
        A prompt file of one's own in place of the study's prompts.
    prompt_options
        Options of the study's prompts, such as {"headlines": "news.csv"}.
    base_url
        Address of an OpenAI-compatible server.
    parameters
        Settings that shape answers: temperature, max_tokens, top_p, seed, system.
    concurrency, rpm, tpm, budget, price
        See `portrayal.collect.ask.collect`.
    judge
        Model that decides what is a refusal, in place of patterns; not for batches.
    batch
        Whether to use the service's batch interface, at half the price.
    wait
        Seconds to wait for a batch; None waits until it is done, 0 hands it in and returns.
    confirm, progress
        Called before anything is asked, and a few times a second.
    """

    model: str
    samples: int = 1
    prompts: str | Path | None = None
    prompt_options: Mapping[str, Any] = field(default_factory=dict)
    base_url: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    concurrency: int = 16
    rpm: float | None = None
    tpm: float | None = None
    budget: str | None = None
    price: str | None = None
    judge: str | None = None
    batch: bool = False
    wait: float | None = None
    confirm: "Callable[[CostEstimate], bool] | None" = None
    progress: "AskCallback | None" = None


def prompts_of(
    study: str, file: str | Path | None = None, options: Mapping[str, Any] | None = None
) -> tuple[Prompt, ...]:
    """Return the prompts of a study, or those of a file in the same form.

    Raises
    ------
    DataError, OptionError, UnknownNameError
        When the file, an option or the study's name cannot be used.
    """
    maker = registry.get("prompts", study)
    if file is None:
        made: tuple[Prompt, ...] = maker(**(options or {}))
        return made
    if options:
        raise OptionError(
            f"a prompt file holds its prompts as they are; {', '.join(options)} cannot change them."
        )
    from portrayal.collect.promptfile import read_prompts

    return read_prompts(file, maker.fields)


def ask_model(run: "Run", study: str, asking: Asking, tell: Say) -> "CollectReport":
    """Ask a model what is still missing in the run, which the caller holds.

    Returns
    -------
    CollectReport
        Also of a collection that the budget, Ctrl-C or the user's word ended early.

    Raises
    ------
    StopError, OptionError, RunError
        Saying what to do; what was answered before is kept.
    """
    from portrayal.collect.ask.batch.collect import check_no_batches, collect_batch
    from portrayal.collect.ask.provider import provider_of
    from portrayal.collect.ask.runner import collect_texts

    if asking.judge is not None and asking.batch:
        raise OptionError("a judge reads answers as they come: give either --judge or --batch.")
    name = registry.resolve("prompts", study)
    prompts = prompts_of(name, asking.prompts, asking.prompt_options)
    provider = provider_of(
        asking.model, base_url=asking.base_url, parameters=dict(asking.parameters)
    )
    if asking.batch:
        report: CollectReport = collect_batch(
            run,
            prompts,
            provider,
            asking.samples,
            study=name,
            wait=asking.wait,
            budget=asking.budget,
            price=asking.price,
            confirm=asking.confirm,
        )
        if report.stopped == "declined":
            raise OptionError("no batch was handed in: the collection was declined.")
    else:
        check_no_batches(run)
        report = collect_texts(
            run,
            prompts,
            provider,
            asking.samples,
            study=name,
            concurrency=asking.concurrency,
            rpm=asking.rpm,
            tpm=asking.tpm,
            budget=asking.budget,
            price=asking.price,
            confirm=asking.confirm,
            progress=asking.progress,
            judge=None if asking.judge is None else provider_of(asking.judge),
        )
    if report.stopped == "budget" and not run.texts.parts():
        raise OptionError(
            f"a budget of {asking.budget} does not cover a first answer, so nothing was asked. "
            "Raise --budget, or set --parameter max_tokens=N to say how long an answer may be."
        )
    tell(summary(report))
    return report


def summary(report: "CollectReport") -> str:
    """Return one line on what a collection did."""
    counts = ", ".join(f"{n:,} {name}" for name, n in report.outcomes.items() if n)
    cost = "" if report.cost is None else f", {report.cost:.2f} USD so far"
    under_way = getattr(report, "open_batches", 0)
    ended = {
        "": f"; {under_way} batch(es) under way, the same command continues" * bool(under_way),
        "budget": "; stopped at the budget",
        "interrupted": "; interrupted, the same command continues",
        "declined": "; not started",
    }[report.stopped]
    return (
        f"asked {report.model}: {report.done:,} of {report.total:,} answers ({counts or 'none'})"
        f"{cost}{ended}"
    )
