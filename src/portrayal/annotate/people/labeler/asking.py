"""Asking a model for labels: one prompt for each text, answered as often as wanted.

The answers are a little collection of their own, with a journal, in `folder`. A prompt is named by
the digest of its words, so whatever is added later (further texts, a larger share, more answers),
nothing is asked twice.
"""

import hashlib
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq

from portrayal import registry
from portrayal.annotate.people.shared.model import Roles
from portrayal.errors import OptionError
from portrayal.records import Prompt
from portrayal.run.directory import Run
from portrayal.run.stages import fingerprint
from portrayal.validate import check_count

if TYPE_CHECKING:
    from portrayal.collect.ask import AskCallback, CollectReport, CostEstimate, Provider, Retry


_FIRST_WORDS = re.compile(r"^(?:an?|the)\s+", re.I)
_TWO = re.compile(r"^two\s+", re.I)
_STORY = "{{Story to Label}}"


@dataclass(frozen=True, slots=True)
class LabelPrompt:
    """What is asked about one text.

    Attributes
    ----------
    text
        The prompt, word for word.
    characters
        What it calls the subject and, where there is one, the object; the keys of the answer are
        these with " name" and " references".
    """

    text: str
    characters: tuple[str, ...]

    @property
    def prompt_id(self) -> str:
        """Digest of the words: the same text with the same roles is asked once, in any run."""
        return hashlib.blake2b(self.text.encode("utf-8", "replace"), digest_size=12).hexdigest()


def label_prompt(text: str, roles: Roles) -> LabelPrompt:
    """Return the prompt of Table S7 for a text and the roles of its characters.

    The table has no template for the Love domain; its two characters take the one for two. Where
    both share a role ("two American friends") they are called "first American friend" and "second
    American friend".
    """
    characters = characters_of(roles)
    if len(characters) == 1:
        frame = _templates()["one"].replace("{Character}", characters[0])
    else:
        frame = _templates()["two"]
        for place, character in zip(("First", "Second"), characters, strict=True):
            frame = frame.replace(f"{{{place} Character}}", character)
    before, after = frame.split(_STORY)
    return LabelPrompt(_plain(before) + text + _plain(after), characters)


def characters_of(roles: Roles) -> tuple[str, ...]:
    """Return what the prompt calls the characters of `roles`: the roles without an article."""
    if roles.paired:
        role = _TWO.sub("", _bare(roles.subject))
        if role.endswith("s") and not role.endswith("ss"):
            role = role[:-1]
        return f"first {role}", f"second {role}"
    if roles.object is None:
        return (_bare(roles.subject),)
    return _bare(roles.subject), _bare(roles.object)


def _bare(role: str) -> str:
    return _FIRST_WORDS.sub("", " ".join(role.split())).replace("{", "(").replace("}", ")")


def _plain(frame: str) -> str:
    """Undouble the braces, as the table prints them."""
    return frame.replace("{{", "{").replace("}}", "}")


def source() -> str:
    """Paper and table of the prompts."""
    return _templates()["source"]


@cache
def _templates() -> dict[str, str]:
    text = files(__package__).joinpath("prompts.toml").read_text(encoding="utf-8")
    return {name: words.strip("\n") for name, words in tomllib.loads(text).items()}


Answers = dict[str, list[dict[str, Any]]]

_VERSION = "labels.v1"
_COLUMNS = ["prompt_id", "sample", "text", "outcome", "reason"]
_ANSWER_TOKENS = 120
"""Tokens of a label of two characters, about; for the cost that is told beforehand."""


@dataclass(frozen=True, slots=True)
class LabelAsking:
    """Which model labels, how often, and within which limits.

    Attributes
    ----------
    model
        "SERVICE:MODEL", as `portrayal.collect.ask.asking.Asking` takes it.
    samples
        Answers to each text, which are put to a vote.
    base_url, parameters, concurrency, rpm, tpm, budget, price
        As in `Asking`; the budget counts all labels of this model in the folder.
    confirm, progress
        Called before anything is asked, and a few times a second.
    provider
        A provider of one's own in place of the one that `model` names.
    retry
        How failures are met; None is `portrayal.collect.ask.Retry()`.

    Raises
    ------
    OptionError, UnknownNameError
        Where it cannot be used; before anything is read or asked.
    """

    model: str
    samples: int = 3
    base_url: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    concurrency: int = 16
    rpm: float | None = None
    tpm: float | None = None
    budget: str | None = None
    price: str | None = None
    confirm: "Callable[[CostEstimate], bool] | None" = None
    progress: "AskCallback | None" = None
    provider: "Provider | None" = None
    retry: "Retry | None" = None

    def __post_init__(self) -> None:
        """Refuse what cannot be asked."""
        check_count("labeler_samples", self.samples, minimum=1)
        check_count("concurrency", self.concurrency, minimum=1)
        service, colon, model = self.model.partition(":")
        if not (colon and service and model):
            raise OptionError(
                'a labeler\'s model is named SERVICE:MODEL, such as "openai:gpt-5-mini"; got '
                f"{self.model!r}. Services: {', '.join(registry.names('providers'))}."
            )
        if self.provider is None:
            registry.resolve("providers", service)
        if self.budget is not None or self.price is not None:
            from portrayal.collect.ask import Budget, Price

            if self.budget is not None:
                Budget.parse(self.budget)
            if self.price is not None:
                Price.parse(self.price)

    def make_provider(self) -> "Provider":
        """Return the provider; a missing key or client is told here."""
        if self.provider is not None:
            return self.provider
        from portrayal.collect.ask import provider_of

        return provider_of(self.model, base_url=self.base_url, parameters=dict(self.parameters))

    @property
    def folder_name(self) -> str:
        """Name of the folder of this model's labels: the model, and a digest of its parameters."""
        plain = "".join(c if c.isalnum() or c in ".-" else "-" for c in self.model)[-60:]
        mark = fingerprint(model=self.model, parameters=dict(self.parameters), version=_VERSION)
        return f"{plain.strip('.-')}-{mark[:8]}"


def ask_labels(
    prompts: Iterable[LabelPrompt], asking: LabelAsking, folder: Path
) -> "CollectReport | None":
    """Ask what has no answer yet; None where there is nothing to ask.

    Parameters
    ----------
    prompts
        One for each text; equal ones are asked once.
    asking
        Whom, how often, within which limits.
    folder
        Where the answers are kept; the caller holds it.

    Raises
    ------
    StopError, RunError, OptionError
        Saying what to do; what was answered before is kept.
    """
    from portrayal.collect.ask import collect_texts, expecting

    asked = [Prompt(i, text) for i, text in {p.prompt_id: p.text for p in prompts}.items()]
    if not asked:
        return None
    folder.mkdir(parents=True, exist_ok=True)
    report = collect_texts(
        Run(folder),
        asked,
        asking.make_provider(),
        asking.samples,
        mark=fingerprint(version=_VERSION),
        concurrency=asking.concurrency,
        rpm=asking.rpm,
        tpm=asking.tpm,
        budget=asking.budget,
        price=asking.price,
        retry=asking.retry,
        confirm=expecting(
            asking.confirm, asking.model, asking.parameters, asking.price, _ANSWER_TOKENS
        ),
        progress=asking.progress,
    )
    if report.stopped == "interrupted":
        raise KeyboardInterrupt
    if report.stopped == "declined":
        raise OptionError("nothing was labelled: the labelling was declined.")
    if report.stopped == "budget" and not Run(folder).texts.parts():
        raise OptionError(
            f"a labelling budget of {asking.budget} does not cover a first answer, so nothing was "
            "asked. Raise it, or set the parameter max_tokens to say how long an answer may be."
        )
    return report


def read_labels(folder: Path, asking: LabelAsking, wanted: Iterable[str]) -> Answers:
    """Return the answers kept in `folder` to these prompts, by `prompt_id`, in order of sample."""
    found: Answers = {name: [] for name in wanted}
    for part in Run(folder).texts.parts():
        for row in pq.read_table(part, columns=_COLUMNS).to_pylist():
            if row["sample"] < asking.samples and row["prompt_id"] in found:
                found[row["prompt_id"]].append(row)
    for rows in found.values():
        rows.sort(key=_sample)
    return found


def _sample(row: Mapping[str, Any]) -> int:
    return int(row["sample"])
