"""Asking: whom to ask, within which limits, and how every prompt of this package is asked."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import portrayal.registry as registry
from portrayal.collect.ask.batch.collect import BatchCallback, check_no_batches, collect_batch
from portrayal.collect.ask.batch.rounds import BatchPace
from portrayal.collect.ask.budget import Budget, CostEstimate, Price, expecting, price_to_pay
from portrayal.collect.ask.collection import CollectReport
from portrayal.collect.ask.journal import DAMAGED
from portrayal.collect.ask.limits import LONGEST_TIMEOUT, Retry
from portrayal.collect.ask.provider import Provider, StopError, check_model, provider_of
from portrayal.collect.ask.runner import AskCallback, collect_texts
from portrayal.collect.promptfile import read_prompts
from portrayal.config import AskingConfig
from portrayal.errors import OptionError
from portrayal.records import Prompt
from portrayal.run.directory import Run
from portrayal.run.stages import fingerprint
from portrayal.types import Say, Tabular
from portrayal.validate import check_count


@dataclass(frozen=True, slots=True)
class Asking(AskingConfig):
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
        See `portrayal.collect.ask.collect`. The budget counts all that this model has cost in the
        folder of its answers.
    judge
        Model that decides what is a refusal, in place of patterns; not for batches.
    batch
        Whether to use the service's batch interface, at half the price.
    wait
        Seconds to wait for a batch; None waits until it is done, 0 hands it in and returns.
    timeout
        Seconds that one try may take, at most 600; None leaves it to the provider (180 for a
        service).
    confirm, progress
        Called with a `CostEstimate` before anything is asked, and a few times a second.
    provider, retry, pace
        In place of the provider that `model` names, of `Retry()` and of `BatchPace()`.

    Raises
    ------
    OptionError, UnknownNameError
        Where it cannot be used; before anything is read or asked.

    Examples
    --------
    >>> Asking("server:llama", 3, base_url="http://localhost:8000/v1", rpm=60).samples
    3
    """

    confirm: Callable[[CostEstimate], bool] | None = None
    progress: AskCallback | None = None
    provider: Provider | None = None
    retry: Retry | None = None
    pace: BatchPace | None = None

    def __post_init__(self) -> None:
        """Refuse what cannot be asked."""
        check_count("samples", self.samples, minimum=1)
        check_count("concurrency", self.concurrency, minimum=1)
        service, _ = check_model(self.model)
        if self.provider is None:
            registry.resolve("providers", service)
        if self.price is not None:
            Price.parse(self.price)
        if self.budget is not None:
            Budget.parse(self.budget).check(price_to_pay(self.price, self.model), self.model)
        if self.judge is not None and self.batch:
            raise OptionError("a judge reads answers as they come: give either judge or batch.")
        if self.timeout is not None and not 0 < self.timeout <= LONGEST_TIMEOUT:
            raise OptionError(
                f"a timeout is above 0 and at most {LONGEST_TIMEOUT} s; got {self.timeout!r}."
            )
        if self.wait is not None and not self.batch:
            raise OptionError("--wait says how long to wait for a batch: give --batch as well.")

    @property
    def folder_name(self) -> str:
        """Name of the folder of this model's answers: the model, and a digest of its parameters."""
        plain = "".join(c if c.isalnum() or c in ".-" else "-" for c in self.model)[-60:]
        mark = fingerprint(model=self.model, parameters=dict(self.parameters))
        return f"{plain.strip('.-')}-{mark[:8]}"

    def make_provider(self) -> Provider:
        """Return the provider; a missing key or client is an error here."""
        if self.provider is not None:
            return self.provider
        return provider_of(self.model, base_url=self.base_url, parameters=dict(self.parameters))

    def cold(self) -> "Asking":
        """Return it at a temperature of 0, where none is given and the model takes one."""
        if self.provider is not None or "temperature" in self.parameters:
            return self
        cold = dataclasses.replace(self, parameters={"temperature": 0.0, **self.parameters})
        try:
            provider_of(cold.model, base_url=cold.base_url, parameters=cold.parameters)
        except OptionError:  # reasoning models refuse it; any other reason shows without it too
            return self
        return cold

    def collect(
        self,
        run: Run,
        prompts: Sequence[Prompt],
        *,
        study: str = "",
        mark: str | None = None,
        answer_tokens: int | None = None,
    ) -> CollectReport:
        """Ask what has no answer in `run` yet, which the caller holds: live, or by batches.

        Parameters
        ----------
        run, prompts, study, mark
            As `portrayal.collect.ask.collect_texts` takes them.
        answer_tokens
            Tokens of an answer, about, for the cost to confirm; None where that is not known.

        Raises
        ------
        StopError, OptionError, RunError
            Saying what to do; what was answered before is kept.
        """
        provider = self.make_provider()
        price = price_to_pay(self.price, self.model, batch=self.batch)
        shared: dict[str, Any] = {
            "study": study,
            "mark": mark,
            "budget": self.budget,
            "price": self.price,
            "confirm": expecting(self.confirm, price, self.parameters, answer_tokens),
        }
        report: CollectReport
        if self.batch:
            report = collect_batch(
                run,
                prompts,
                provider,
                self.samples,
                wait=self.wait,
                pace=self.pace,
                progress=_of_batch(self.progress),
                **shared,
            )
        else:
            check_no_batches(run)
            report = collect_texts(
                run,
                prompts,
                provider,
                self.samples,
                concurrency=self.concurrency,
                rpm=self.rpm,
                tpm=self.tpm,
                retry=self._retry(),
                progress=self.progress,
                judge=None if self.judge is None else provider_of(self.judge),
                **shared,
            )
        if report.stopped == "budget" and not (run.texts.parts() or report.malformed):
            raise OptionError(
                f"a budget of {self.budget} for {self.model} does not cover a first answer, so "
                "nothing was asked. Raise it (--budget), or set the parameter max_tokens=N to say "
                "how long an answer may be."
            )
        return report

    def _retry(self) -> Retry | None:
        if self.timeout is None:
            return self.retry
        return dataclasses.replace(self.retry or Retry(), timeout=self.timeout)


def _of_batch(progress: AskCallback | None) -> BatchCallback | None:
    """What is called with the report of a batch where a live collection's progress is wanted."""
    return None if progress is None else lambda report: progress(report.progress())


SETTINGS = tuple(
    each.name
    for each in dataclasses.fields(Asking)
    if each.name not in ("model", "samples", "prompts", "prompt_options", "judge")
)
"""The fields of `Asking` that say how a model beside the one that writes is asked."""


def asking_of(
    model: str, settings: Mapping[str, Any] | None, whose: str, samples: int = 1
) -> Asking:
    """Return how a labeler or classifier is asked, refusing what is no setting of `whose`."""
    check_settings(settings, whose)
    return Asking(model, samples, **(settings or {}))


def check_settings(settings: Mapping[str, Any] | None, whose: str) -> None:
    """Refuse what is none of `SETTINGS`."""
    for name in settings or {}:
        if name not in SETTINGS:
            raise OptionError(
                f"{whose} has no setting {name!r}; its settings: {', '.join(SETTINGS)}."
            )


def prompts_of(
    study: str, file: Tabular | None = None, options: Mapping[str, Any] | None = None
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
    return read_prompts(file, maker.fields)


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
    report = asking.collect(run, prompts, study=registry.called(name))
    if asking.batch and report.stopped == "declined":
        raise OptionError("no batch was handed in: the collection was declined.")
    tell(summary(report))
    reasons = report.reasons or report.malformed
    if reasons and report.n_answered == 0 and report.stopped != "interrupted":
        raise StopError(
            f"no request to {report.model} has an answer: {_listed(reasons)}. Mend that, then run "
            "the same command again."
        )
    return report


def summary(report: CollectReport) -> str:
    """Return one line on what a collection did: answers, cost, and what was lost on the way."""
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
        f"asked {report.model}: {report.n_answered:,} of {report.total:,} answers "
        f"({counts or 'none'}){cost}{ended}{_troubles(report)}"
    )


def _troubles(report: CollectReport) -> str:
    """What failed, what came malformed and what was damaged, each counted."""
    said = ""
    if report.reasons:
        said += f"; failed: {_listed(report.reasons)}"
    if report.malformed:
        n = sum(report.malformed.values())
        said += f"; {n:,} malformed answer(s), paid for: {_listed(report.malformed)}"
    if report.damaged:
        lines = "line" if report.damaged == 1 else "lines"
        were = "was" if report.damaged == 1 else "were"
        said += f"; {report.damaged:,} damaged {lines} of the journal {were} set aside ({DAMAGED})"
    return said


def _listed(reasons: Mapping[str, int], most: int = 3) -> str:
    """The most frequent reasons with their counts."""
    often = sorted(reasons.items(), key=lambda each: -each[1])
    words = ", ".join(f"{reason} ({n:,})" for reason, n in often[:most])
    return words + (f" and {len(often) - most} other reasons" if len(often) > most else "")
