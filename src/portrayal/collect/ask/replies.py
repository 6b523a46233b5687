"""Replies: what a model answers to prompts that are made as one goes, and the JSON in them.

The answers of a folder are a little collection of their own, with a journal. A prompt is named by
the digest of its words, so that whatever is asked later (another round, further sentences), nothing
is asked twice, and a killed run continues where it was.
"""

from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from portrayal.collect.ask.asking import Asking
from portrayal.collect.ask.collection import CollectReport
from portrayal.collect.ask.lenient import read_objects
from portrayal.errors import OptionError, RunError
from portrayal.records import Prompt
from portrayal.run.directory import Run
from portrayal.run.reading import read_shards
from portrayal.run.stages import fingerprint

_COLUMNS = ["prompt_id", "sample", "text", "outcome", "reason"]


class UnderWayError(RunError):
    """Batches are under way, so there are no answers yet; the same call continues."""

    def __init__(self, n_batches: int) -> None:
        self.n_batches = n_batches
        super().__init__(
            f"{n_batches} batch(es) under way; the same command takes the answers and goes on."
        )


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer.

    Attributes
    ----------
    text
        What the model wrote.
    outcome
        "ok", "refused", "empty" or "failed".
    reason
        Why it failed; "" where it did not.
    """

    text: str
    outcome: str
    reason: str = ""


Ask = Callable[[Iterable[Prompt]], Mapping[str, Reply]]
"""Answers prompts, by `prompt_id`; a prompt that the budget did not reach has no reply."""


def prompt_of(text: str, attempt: int = 0) -> Prompt:
    """Return a prompt named by its words, and by which attempt at them it is."""
    name = fingerprint(text=text)
    return Prompt(f"{name}-{attempt}" if attempt else name, text)


def ask_prompts(
    asking: Asking, prompts: Iterable[Prompt], folder: Path, answer_tokens: int | None = None
) -> CollectReport | None:
    """Ask what has no answer in `folder` yet; None where there is nothing to ask.

    Parameters
    ----------
    asking
        Whom, how often, within which limits; its `prompts` say nothing here.
    prompts
        Equal ones are asked once.
    folder
        Where the answers are kept; the caller holds it.
    answer_tokens
        Tokens of an answer, about, for the cost to confirm.

    Raises
    ------
    UnderWayError
        Where `asking.wait` ended before a batch did: half the answers are no answers yet.
    StopError, RunError, OptionError, KeyboardInterrupt
        What was answered before is kept.
    """
    wanted = list({prompt.prompt_id: prompt for prompt in prompts}.values())
    if not wanted:
        return None
    folder.mkdir(parents=True, exist_ok=True)
    mark = fingerprint(replies="v1", model=asking.model, parameters=dict(asking.parameters))
    report = asking.collect(Run(folder), wanted, mark=mark, answer_tokens=answer_tokens)
    if report.stopped == "interrupted":
        raise KeyboardInterrupt
    if report.stopped == "declined":
        raise OptionError("nothing was asked: it was declined. Confirm, or give --yes.")
    if under_way := getattr(report, "open_batches", 0):
        raise UnderWayError(under_way)
    return report


def asker(asking: Asking, folder: Path, answer_tokens: int | None = None) -> Ask:
    """Return a function that does `ask_prompts` and reads the first answer to each prompt."""

    def ask(prompts: Iterable[Prompt]) -> Mapping[str, Reply]:
        wanted = list(prompts)
        if ask_prompts(asking, wanted, folder, answer_tokens) is None:
            return {}
        return kept(folder, {prompt.prompt_id for prompt in wanted})

    return ask


def ask_missing(
    asking: Asking,
    prompts: Mapping[str, Prompt],
    folder: Path,
    answer_tokens: int | None,
    before: Callable[[], object],
) -> Mapping[str, Reply]:
    """Return the first answer to each prompt, asking only where one is missing or failed.

    `before` is called when something will be asked.
    """
    replies: Mapping[str, Reply] = kept(folder, prompts)
    if any(i not in replies or replies[i].outcome == "failed" for i in prompts):
        before()
        replies = asker(asking, folder, answer_tokens)(prompts.values())
    return replies


def kept(folder: Path, wanted: Container[str] | None = None) -> dict[str, Reply]:
    """Return the first answer in `folder` to each of these prompts or of all; ask nothing.

    What a killed collection left in its journal is not among them yet.
    """
    return {name: replies[0] for name, replies in kept_samples(folder, 1, wanted).items()}


def kept_samples(
    folder: Path, samples: int, wanted: Container[str] | None = None
) -> dict[str, list[Reply]]:
    """Return the first `samples` answers to each prompt, as `kept`, in their order."""
    found: dict[str, dict[int, Reply]] = {}
    for (table,) in read_shards(Run(folder).texts, _COLUMNS):
        for row in table.to_pylist():
            if row["sample"] < samples and (wanted is None or row["prompt_id"] in wanted):
                reply = Reply(row["text"] or "", row["outcome"], row["reason"] or "")
                found.setdefault(row["prompt_id"], {})[row["sample"]] = reply
    return {name: [replies[i] for i in sorted(replies)] for name, replies in found.items()}


def objects_in(reply: str) -> list[dict[str, Any]]:
    """Return the innermost JSON objects of a reply in their order, however they are wrapped.

    See `portrayal.collect.ask.lenient` for what is read.
    """
    return _innermost(read_objects(reply))


def _innermost(value: Any, deep: int = 0) -> list[dict[str, Any]]:
    """The objects of a value that hold no further object."""
    if deep > 20 or not isinstance(value, (dict, list)):
        return []
    inside = value.values() if isinstance(value, dict) else value
    below = [each for item in inside for each in _innermost(item, deep + 1)]
    return below or ([value] if isinstance(value, dict) and value else [])
