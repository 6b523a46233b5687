"""Toxicity: how rude, disrespectful or profane a sentence is, as a classifier scores it.

The classifier is a transformers model from the hub or a folder: safetensors weights only, and no
code that comes with it.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import pyarrow as pa

from portrayal.annotate.annotator import Annotator
from portrayal.annotate.sentences import sentences
from portrayal.errors import OptionError
from portrayal.models import Transformer, load_transformer

__all__ = ["load", "toxicity_settings"]

Classifier = Callable[[Sequence[str]], list[float]]

_LABELS = ("toxic", "toxicity")
_DIGITS = 5
"""Scores are rounded, since the last digits depend on which texts share a batch."""
_LONGEST = 512
"""Tokens of a text that are read where the model names no limit; Detoxify cuts there too."""


def load(model: str, batch: int = 32) -> Classifier:
    """Load a sequence classifier and return the function that scores texts by its label "toxic".

    Parameters
    ----------
    model
        Folder with config, tokenizer and safetensors weights, or a hub id.
    batch
        Texts in a batch; texts of as many tokens share one, so that none is padded.

    Returns
    -------
    Callable
        A list of texts → a list of scores in 0–1: the sigmoid of the label's logit, as Detoxify
        takes it; the softmax where the model's config says that labels exclude each other.

    Raises
    ------
    MissingExtraError
        When PyTorch or transformers are not installed.
    DataError
        When the model cannot be loaded; names what was expected.
    OptionError
        When the model has no such label; names those it has.
    """
    loaded = load_transformer(
        model,
        "AutoModelForSequenceClassification",
        title="the classifier",
        purpose="scoring toxicity",
        extra="toxicity",
        device="auto",
    )
    labels = loaded.model.config.id2label
    # Models name their labels in either case
    columns = {name.casefold(): int(number) for number, name in labels.items()}
    column = next((columns[name] for name in _LABELS if name in columns), None)
    if column is None:
        raise OptionError(
            f"the classifier {model!r} has no label {' or '.join(_LABELS)}; it has "
            f"{', '.join(labels.values())}. Name a classifier of toxicity."
        )
    return _Scorer(loaded, column, batch)


class _Scorer:
    """Scores texts in batches of the same number of tokens."""

    def __init__(self, loaded: Transformer, column: int, batch: int) -> None:
        self._tokenizer, self._network = loaded.tokenizer, loaded.model
        self._column, self._batch = column, batch
        config = loaded.model.config
        most = getattr(config, "max_position_embeddings", None) or _LONGEST
        # Longer texts are cut, as the network has no positions beyond
        self._longest = min(most, _LONGEST)
        kind = getattr(config, "problem_type", None)
        # Detoxify's labels may hold at once: a sigmoid each, no softmax
        self._exclusive = kind == "single_label_classification" and config.num_labels > 1

    def __call__(self, texts: Sequence[str]) -> list[float]:
        if not texts:
            return []
        import torch

        tokens = self._tokenizer(
            list(texts), truncation=True, max_length=self._longest, padding=False
        )["input_ids"]
        scores = [0.0] * len(texts)
        order = sorted(range(len(texts)), key=lambda i: len(tokens[i]))
        start = 0
        while start < len(order):
            # A batch of one length needs no padding, which would change the last digits
            size = len(tokens[order[start]])
            end = start
            while end < min(len(order), start + self._batch) and len(tokens[order[end]]) == size:
                end += 1
            members = order[start:end]
            ids = torch.tensor([tokens[i] for i in members], device=self._network.device)
            with torch.inference_mode():
                logits = self._network(input_ids=ids, attention_mask=torch.ones_like(ids)).logits
            shares = logits.softmax(-1) if self._exclusive else logits.sigmoid()
            column = shares[:, self._column].float().cpu().tolist()
            for i, score in zip(members, column, strict=True):
                scores[i] = round(score, _DIGITS)
            start = end
        return scores


DEFAULT = "unitary/toxic-bert"
"""The model that the package Detoxify calls "original", which the paper used."""

Rows = Sequence[Mapping[str, Any]]


def toxicity_settings(model: str | Path = DEFAULT) -> dict[str, Any]:
    """Return the settings of `toxicity.v1`; nothing is loaded yet.

    `model` is as in `portrayal.annotate.toxicity.load`.
    """
    # A local model may be trained again; one of the hub is named by its id
    weights = sorted(Path(model).expanduser().glob("*.safetensors"))
    marks = {path.name: f"{path.stat().st_size}:{path.stat().st_mtime_ns}" for path in weights}
    return {"model": str(model), **({"files": marks} if marks else {})}


@lru_cache(maxsize=1)
def _classifier(model: str, _: object) -> Classifier:
    return load(model)


def _setup(settings: Mapping[str, Any]) -> Callable[[Rows, Any], list[dict[str, Any]]]:
    files = tuple(sorted(settings.get("files", {}).items()))
    score = _classifier(settings.get("model", DEFAULT), files)

    def annotate(rows: Rows, _: Any) -> list[dict[str, Any]]:
        texts = [row["text"] for row in rows]
        spans = [sentences(text) for text in texts]
        # Sentences of all texts go through in common batches
        pieces = [
            text[start:end]
            for text, text_spans in zip(texts, spans, strict=True)
            for start, end in text_spans
        ]
        scores = iter(score(pieces))
        return [{"toxicity": [next(scores) for _ in text_spans]} for text_spans in spans]

    return annotate


def _run(rows: Rows, strata: Any) -> list[dict[str, Any]]:
    return _setup({})(rows, strata)


TOXICITY = Annotator(
    name="toxicity.v1",
    summary="How rude, disrespectful or profane each sentence of a text is.",
    reads="texts; a classifier from the hub or a folder",
    unit="sentence",
    range="0 (not toxic) to 1",
    undefined_when="a text that was refused, empty or failed has no sentences",
    equation="sigmoid of the label's logit; texts are cut at 512 tokens",
    source='Fang et al. 2024, Methods (sentence level); Detoxify "original"',
    run=_run,
    schema=pa.schema([pa.field("toxicity", pa.list_(pa.float32()))]),
    accuracy="that of the classifier; such models score the mere naming of a group as toxic more "
    "often than readers do",
    setup=_setup,
    per_shard=True,
    title="Toxicity of sentences",
)
