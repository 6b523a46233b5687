"""Replies: what a model answers to prompts that are made as one goes, and the JSON in them.

The answers of a folder are a little collection of their own, with a journal. A prompt is named by
the digest of its words, so that whatever is asked later (another round, further sentences), nothing
is asked twice, and a killed run continues where it was.
"""

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from portrayal.collect.ask.lenient import read_objects
from portrayal.errors import OptionError, RunError
from portrayal.records import Prompt
from portrayal.run.directory import Run
from portrayal.run.stages import fingerprint

if TYPE_CHECKING:
    from portrayal.collect.ask.asking import Asking
    from portrayal.collect.ask.batch.rounds import BatchPace
    from portrayal.collect.ask.collection import CollectReport
    from portrayal.collect.ask.provider import Provider
    from portrayal.collect.ask.trouble import Retry

_COLUMNS = ["prompt_id", "text", "outcome", "reason"]


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


def asker(
    asking: "Asking",
    folder: Path,
    *,
    provider: "Provider | None" = None,
    retry: "Retry | None" = None,
    pace: "BatchPace | None" = None,
) -> Ask:
    """Return a function that asks what has no answer in `folder` yet, and reads the answers.

    Parameters
    ----------
    asking
        Whom, and within which limits; `samples` and `prompts` say nothing here. The budget counts
        all that this model has cost in the folder.
    folder
        Where the answers are kept; the caller holds it.
    provider, retry, pace
        In place of the ones that `asking`, `Retry()` and `BatchPace()` mean.

    Raises
    ------
    UnderWayError
        By the function returned, where `asking.wait` ended before a batch did.
    StopError, RunError, OptionError, KeyboardInterrupt
        By the function returned; what was answered before is kept.
    """

    def ask(prompts: Iterable[Prompt]) -> Mapping[str, Reply]:
        from portrayal.collect.ask.provider import provider_of

        wanted = list({prompt.prompt_id: prompt for prompt in prompts}.values())
        if not wanted:
            return {}
        folder.mkdir(parents=True, exist_ok=True)
        made = provider or provider_of(
            asking.model, base_url=asking.base_url, parameters=dict(asking.parameters)
        )
        if asking.batch:
            report: CollectReport = _hand_in(asking, Run(folder), wanted, made, pace)
        else:
            report = _ask_now(asking, Run(folder), wanted, made, retry)
        if report.stopped == "interrupted":
            raise KeyboardInterrupt
        if report.stopped == "declined":
            raise OptionError("nothing was asked: it was declined. Confirm, or give --yes.")
        return kept(folder, {prompt.prompt_id for prompt in wanted})

    return ask


def _shared(asking: "Asking") -> dict[str, Any]:
    """What both ways of asking take."""
    mark = fingerprint(replies="v1", model=asking.model, parameters=dict(asking.parameters))
    return {
        "mark": mark,
        "budget": asking.budget,
        "price": asking.price,
        "confirm": asking.confirm,
    }


def _ask_now(
    asking: "Asking",
    run: Run,
    wanted: Sequence[Prompt],
    provider: "Provider",
    retry: "Retry | None",
) -> "CollectReport":
    from portrayal.collect.ask.batch.collect import check_no_batches
    from portrayal.collect.ask.runner import collect_texts

    check_no_batches(run)
    return collect_texts(
        run,
        wanted,
        provider,
        concurrency=asking.concurrency,
        rpm=asking.rpm,
        tpm=asking.tpm,
        retry=retry,
        progress=asking.progress,
        **_shared(asking),
    )


def _hand_in(
    asking: "Asking",
    run: Run,
    wanted: Sequence[Prompt],
    provider: "Provider",
    pace: "BatchPace | None",
) -> "CollectReport":
    """Ask through batches, and wait for all of them: half the answers are not a round's answers."""
    from portrayal.collect.ask.batch.collect import collect_batch

    report = collect_batch(run, wanted, provider, wait=asking.wait, pace=pace, **_shared(asking))
    if report.open_batches and report.stopped not in ("interrupted", "declined"):
        raise UnderWayError(report.open_batches)
    return report


def kept(folder: Path, wanted: Container[str] | None = None) -> dict[str, Reply]:
    """Return the answers in `folder`, to these prompts or to all, by `prompt_id`; ask nothing.

    What a killed collection left in its journal is not among them yet.
    """
    import pyarrow.parquet as pq

    found = {}
    for part in Run(folder).texts.parts():
        for row in pq.read_table(part, columns=_COLUMNS).to_pylist():
            if wanted is None or row["prompt_id"] in wanted:
                said = row["text"] or "", row["outcome"], row["reason"] or ""
                found[row["prompt_id"]] = Reply(*said)
    return found


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
    below = [found for item in inside for found in _innermost(item, deep + 1)]
    return below or ([value] if isinstance(value, dict) and value else [])
