"""Replies: what a model answers to prompts that are made as one goes, and the JSON in them.

The answers of a folder are a little collection of their own, with a journal. A prompt is named by
the digest of its words, so that whatever is asked later (another round, further sentences), nothing
is asked twice, and a killed run continues where it was.
"""

import ast
import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from portrayal.errors import OptionError
from portrayal.records import Prompt
from portrayal.run.directory import Run
from portrayal.run.stages import fingerprint

if TYPE_CHECKING:
    from portrayal.asking import Asking
    from portrayal.collect.ask import Provider, Retry

LONGEST = 100_000
"""Characters of a reply that are read."""

_STRICT = json.JSONDecoder()
_FLAT = re.compile(r"\{[^{}]*\}")
_COLUMNS = ["prompt_id", "text", "outcome", "reason"]


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
) -> Ask:
    """Return a function that asks what has no answer in `folder` yet, and reads the answers.

    Parameters
    ----------
    asking
        Whom, and within which limits; `samples`, `prompts` and `batch` say nothing here. The budget
        counts all that this model has cost in the folder.
    folder
        Where the answers are kept; the caller holds it.
    provider, retry
        In place of the ones that `asking` and `Retry()` mean.

    Raises
    ------
    StopError, RunError, OptionError, KeyboardInterrupt
        By the function returned; what was answered before is kept.
    """

    def ask(prompts: Iterable[Prompt]) -> Mapping[str, Reply]:
        from portrayal.collect.ask import collect_texts, provider_of

        wanted = list({prompt.prompt_id: prompt for prompt in prompts}.values())
        if not wanted:
            return {}
        folder.mkdir(parents=True, exist_ok=True)
        made = provider or provider_of(
            asking.model, base_url=asking.base_url, parameters=dict(asking.parameters)
        )
        report = collect_texts(
            Run(folder),
            wanted,
            made,
            mark=fingerprint(replies="v1", model=asking.model, parameters=dict(asking.parameters)),
            concurrency=asking.concurrency,
            rpm=asking.rpm,
            tpm=asking.tpm,
            budget=asking.budget,
            price=asking.price,
            retry=retry,
            confirm=asking.confirm,
            progress=asking.progress,
        )
        if report.stopped == "interrupted":
            raise KeyboardInterrupt
        if report.stopped == "declined":
            raise OptionError("nothing was asked: it was declined. Confirm, or give --yes.")
        return _read(folder, {prompt.prompt_id for prompt in wanted})

    return ask


def _read(folder: Path, wanted: set[str]) -> dict[str, Reply]:
    import pyarrow.parquet as pq

    found = {}
    for part in Run(folder).texts.parts():
        for row in pq.read_table(part, columns=_COLUMNS).to_pylist():
            if row["prompt_id"] in wanted:
                said = row["text"] or "", row["outcome"], row["reason"] or ""
                found[row["prompt_id"]] = Reply(*said)
    return found


def objects_in(reply: str) -> list[dict[str, Any]]:
    """Return the innermost JSON objects of a reply in their order, however they are wrapped.

    Read are code fences, prose around, lists, objects without an outer brace, single quotes,
    trailing commas, and what came before a cut. Nothing is executed.
    """
    text = reply[:LONGEST]
    found: list[dict[str, Any]] = []
    at = text.find("{")
    while at >= 0:
        end = at + 1
        try:
            value, end = _STRICT.raw_decode(text, at)
            found += _innermost(value)
        except (ValueError, RecursionError):
            flat = _FLAT.match(text, at)
            if flat is not None:
                end = flat.end()
                found += _innermost(_literal(flat.group()))
        at = text.find("{", end)
    return found


def _innermost(value: Any, deep: int = 0) -> list[dict[str, Any]]:
    """The objects of a value that hold no further object."""
    if deep > 20 or not isinstance(value, (dict, list)):
        return []
    inside = value.values() if isinstance(value, dict) else value
    below = [found for item in inside for found in _innermost(item, deep + 1)]
    return below or ([value] if isinstance(value, dict) and value else [])


def _literal(text: str) -> Any:
    """A flat object in Python's spelling, or with a comma too many; None where it is neither."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
