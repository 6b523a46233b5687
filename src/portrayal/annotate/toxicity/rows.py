"""The annotator `toxicity.v1`: how toxic each sentence is, and the whole text."""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import pyarrow as pa

from portrayal.annotate.annotator import Annotator
from portrayal.annotate.sentences import sentences
from portrayal.annotate.toxicity.classifier import Classifier, load
from portrayal.validate import check_count

DEFAULT = "unitary/toxic-bert"
"""The model that the package Detoxify calls "original", which the paper used."""

Rows = Sequence[Mapping[str, Any]]


def toxicity_settings(
    model: str | Path = DEFAULT,
    label: str | None = None,
    device: str = "auto",
    batch: int = 32,
) -> dict[str, Any]:
    """Return the settings of `toxicity.v1`, checked; nothing is loaded yet.

    Parameters
    ----------
    model, label, device, batch
        See `portrayal.annotate.toxicity.classifier.load`.

    Raises
    ------
    OptionError
        When `batch` is below 1.
    """
    check_count("batch", batch, minimum=1)
    settings = {"model": str(model), "label": label, "device": device, "batch": batch}
    weights = sorted(Path(model).expanduser().glob("*.safetensors"))
    marks = {path.name: f"{path.stat().st_size}:{path.stat().st_mtime_ns}" for path in weights}
    return {**settings, "files": marks} if marks else settings


@lru_cache(maxsize=1)
def _classifier(model: str, label: str | None, device: str, batch: int, _: object) -> Classifier:
    return load(model, label, device, batch)


def _setup(settings: Mapping[str, Any]) -> Callable[[Rows, Any], list[dict[str, Any]]]:
    chosen = {**toxicity_settings(settings.get("model", DEFAULT)), **settings}
    files = tuple(sorted(chosen.get("files", {}).items()))
    score = _classifier(chosen["model"], chosen["label"], chosen["device"], chosen["batch"], files)

    def annotate(rows: Rows, _: Any) -> list[dict[str, Any]]:
        texts = [row["text"] for row in rows]
        spans = [sentences(text) for text in texts]
        pieces = [
            text[start:end]
            for text, found in zip(texts, spans, strict=True)
            for start, end in found
        ]
        scores = iter(score(pieces))
        return [
            {"toxicity": [next(scores) for _ in found], "whole": whole}
            for found, whole in zip(spans, score(texts), strict=True)
        ]

    return annotate


def _run(rows: Rows, strata: Any) -> list[dict[str, Any]]:
    return _setup({})(rows, strata)


TOXICITY = Annotator(
    name="toxicity.v1",
    summary="How rude, disrespectful or profane each sentence of a text is, and the whole text.",
    reads="texts; a classifier from the hub or a folder",
    unit="sentence",
    range="0 (not toxic) to 1",
    undefined_when="a text that was refused, empty or failed has no sentences",
    equation="sigmoid of the label's logit; texts are cut at 512 tokens",
    source='Fang et al. 2024, Methods (sentence level); Detoxify "original"',
    run=_run,
    schema=pa.schema(
        [pa.field("toxicity", pa.list_(pa.float32())), pa.field("whole", pa.float32())]
    ),
    accuracy="that of the classifier; such models score the mere naming of a group as toxic more "
    "often than readers do",
    setup=_setup,
    per_shard=True,
    title="Toxicity of sentences",
)
