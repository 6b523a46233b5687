"""Toxicity: how rude, disrespectful or profane a sentence is, as a classifier scores it.

The classifier is a transformers model from the hub or a folder: safetensors weights only, and no
code that comes with it.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import pyarrow as pa

from portrayal.annotate.annotator import Annotator, description
from portrayal.annotate.sentences import sentences
from portrayal.errors import OptionError
from portrayal.models.loading import load_transformer
from portrayal.reference.datafile import file_states

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
    purpose = "scoring toxicity"
    loaded = load_transformer(model, title="the classifier", purpose=purpose, extra="toxicity")
    labels = loaded.model.config.id2label
    # Models name their labels in either case
    columns = {name.casefold(): int(number) for number, name in labels.items()}
    column = next((columns[name] for name in _LABELS if name in columns), None)
    if column is None:
        raise OptionError(
            f"the classifier {model!r} has no label {' or '.join(_LABELS)}; it has "
            f"{', '.join(labels.values())}. Name a classifier of toxicity."
        )
    import torch

    config = loaded.model.config
    # Longer texts are cut, as the network has no positions beyond
    longest = min(getattr(config, "max_position_embeddings", None) or _LONGEST, _LONGEST)
    kind = getattr(config, "problem_type", None)
    # Detoxify's labels may hold at once: a sigmoid each, no softmax
    exclusive = kind == "single_label_classification" and config.num_labels > 1

    def score(texts: Sequence[str]) -> list[float]:
        options = {"truncation": True, "max_length": longest, "padding": False}
        tokens = loaded.tokenizer(list(texts), **options)["input_ids"] if texts else []
        by_size: dict[int, list[int]] = {}
        for i, of_text in enumerate(tokens):
            by_size.setdefault(len(of_text), []).append(i)
        scores = [0.0] * len(texts)
        # A batch of one length needs no padding, which would change the last digits
        for _, rows in sorted(by_size.items()):
            for start in range(0, len(rows), batch):
                members = rows[start : start + batch]
                ids = torch.tensor([tokens[i] for i in members], device=loaded.model.device)
                mask = torch.ones_like(ids)
                with torch.inference_mode():
                    logits = loaded.model(input_ids=ids, attention_mask=mask).logits
                shares = logits.softmax(-1) if exclusive else logits.sigmoid()
                of_label = shares[:, column].float().cpu().tolist()
                for i, share in zip(members, of_label, strict=True):
                    scores[i] = round(share, _DIGITS)
        return scores

    return score


DEFAULT = "unitary/toxic-bert"
"""The model that the package Detoxify calls "original", which the paper used."""

Rows = Sequence[Mapping[str, Any]]


def toxicity_settings(model: str | Path = DEFAULT) -> dict[str, Any]:
    """Return the settings of `toxicity.v1`; nothing is loaded yet.

    `model` is as in `portrayal.annotate.toxicity.load`.
    """
    # A local model may be trained again; one of the hub is named by its id
    marks = file_states(sorted(Path(model).expanduser().glob("*.safetensors")))
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


TOXICITY = Annotator(
    **description("toxicity.v1"),
    schema=pa.schema([pa.field("toxicity", pa.list_(pa.float32()))]),
    setup=_setup,
    per_shard=True,
    any_language=lambda settings: settings.get("model", DEFAULT) != DEFAULT,
)
