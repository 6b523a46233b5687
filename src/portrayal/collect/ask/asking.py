"""Asking: whom to ask, how often, and within which limits."""

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import portrayal.registry as registry
from portrayal.collect.ask.budget import Budget, CostEstimate, Price, price_of
from portrayal.collect.ask.collection import AskCallback
from portrayal.collect.ask.limits import LONGEST_TIMEOUT, Retry
from portrayal.collect.ask.provider import Provider, check_model, provider_of
from portrayal.collect.promptfile import read_prompts
from portrayal.config import AskingConfig
from portrayal.errors import OptionError
from portrayal.records import Prompt
from portrayal.run.files import fingerprint
from portrayal.types import Tabular
from portrayal.validate import check_count


@dataclass(frozen=True, slots=True)
class Asking(AskingConfig):
    """Whom to ask, how often, and within which limits.

    Attributes
    ----------
    model
        "SERVICE:MODEL", such as "openai:gpt-5-mini" or "server:NAME".
    samples
        Answers to each prompt.
    prompts
        A prompt file of one's own in place of the study's prompts.
    prompt_options
        Options of the study's prompts, such as {"headlines": "news.csv"}.
    base_url
        Address of an OpenAI-compatible server.
    parameters
        Settings that shape answers: temperature, reasoning_effort, system, …, and `raw`, what goes
        into the body of each request as it is.
    arm
        Name of this set of parameters, beside the model's in the run, which may then hold several
        of one model: arms of an experiment, whose prompts `compare` pairs.
    concurrency
        Most requests in flight; fewer when the endpoint limits the rate.
    rpm, tpm
        Requests and tokens a minute that the account allows.
    budget
        Such as "5 USD" or "2M tokens", over all that this model has cost in the folder of its
        answers.
    price
        Such as "0.25/2" (US dollars per million tokens in and out), over the public price table.
    timeout
        Seconds that one try may take, at most 600; None leaves it to the provider (180 for a
        service).
    confirm, progress
        Called with a `CostEstimate` of what is left before anything is asked, where False ends it;
        and with a `CollectReport` a few times a second.
    provider, retry
        In place of the provider that `model` names, and of `Retry()`.

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
            Budget.parse(self.budget).check(price_of(self.model, self.price), self.model)
        if self.timeout is not None and not 0 < self.timeout <= LONGEST_TIMEOUT:
            raise OptionError(
                f"a timeout is above 0 and at most {LONGEST_TIMEOUT} s; got {self.timeout!r}."
            )

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
        provider = provider_of(self.model, base_url=self.base_url, parameters=dict(self.parameters))
        if self.arm:
            provider.name = f"{provider.name} [{self.arm}]"
        return provider

    def cold(self) -> "Asking":
        """Return it at a temperature of 0, where none is given and the model takes one."""
        if self.provider is not None or "temperature" in self.parameters:
            return self
        # Tried out: only the provider knows which parameters its model takes
        cold = dataclasses.replace(self, parameters={"temperature": 0.0, **self.parameters})
        try:
            provider_of(cold.model, base_url=cold.base_url, parameters=cold.parameters)
        except OptionError:  # reasoning models refuse it; any other reason shows without it too
            return self
        return cold

    def patience(self) -> Retry:
        """Return how failures are met."""
        retry = self.retry or Retry()
        return retry if self.timeout is None else dataclasses.replace(retry, timeout=self.timeout)


SETTINGS = tuple(
    part.name
    for part in dataclasses.fields(Asking)
    if part.name not in ("model", "samples", "prompts", "prompt_options")
)
"""The fields of `Asking` that say how a model beside the one that writes is asked."""


def check_settings(settings: Mapping[str, Any] | None, whose: str) -> None:
    """Refuse what is none of `SETTINGS`."""
    for name in settings or {}:
        if name not in SETTINGS:
            raise OptionError(
                f"{whose} has no setting {name!r}; its settings: {', '.join(SETTINGS)}."
            )


_FILE = "prompts"


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
    if file is not None and _FILE in maker.options:  # a study that makes its prompts of a file
        file, options = None, {_FILE: file, **(options or {})}
    if file is None:
        prompts: tuple[Prompt, ...] = maker(**(options or {}))
        return prompts
    if options:
        raise OptionError(
            f"a prompt file holds its prompts as they are; {', '.join(options)} cannot change them."
        )
    return read_prompts(file, maker.fields)
