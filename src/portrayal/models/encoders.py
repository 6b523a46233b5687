"""Encoders with a head of two classes: loading, asking and saving, by PyTorch and transformers."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from portrayal.errors import DataError
from portrayal.models.loading import Transformer, load_transformer, missing_extra
from portrayal.types import FloatArray

Encoder = Transformer

_PURPOSE, _EXTRA = "a transformer classifier", "agency"


def load_encoder(where: str, *, new_head: bool = False, seed: int = 0) -> Encoder:
    """Load a folder or hub id; see `load_transformer`.

    Parameters
    ----------
    where
        Folder, or hub id.
    new_head
        Put a fresh head of two classes on an encoder; else the head must be there.
    seed
        Draws the new head.

    Raises
    ------
    MissingExtraError
        When PyTorch or transformers are not installed.
    DataError
        When the model cannot be loaded.
    """
    try:
        import torch
    except ImportError as error:
        raise missing_extra(_PURPOSE, _EXTRA) from error
    torch.manual_seed(seed)
    head: dict[str, Any] = {"num_labels": 2} if new_head else {}
    encoder = load_transformer(
        where,
        "AutoModelForSequenceClassification",
        what="the encoder",
        purpose=_PURPOSE,
        extra=_EXTRA,
        **head,
    )
    if not new_head and (encoder.missing or encoder.model.config.num_labels != 2):
        raise DataError(
            f"{where}: not a classifier of two classes; its weights lack "
            f"{', '.join(sorted(encoder.missing)[:5]) or 'a head of two classes'}. "
            "Train one with: portrayal build classifier"
        )
    return encoder


def save_encoder(encoder: Encoder, out: Path) -> None:
    """Write config, tokenizer and safetensors weights to a folder."""
    out.mkdir(parents=True, exist_ok=True)
    encoder.model.config.id2label = {0: "communal", 1: "agentic"}
    encoder.model.config.label2id = {"communal": 0, "agentic": 1}
    encoder.model.save_pretrained(out, safe_serialization=True)
    encoder.tokenizer.save_pretrained(out)


def probabilities(
    encoder: Encoder, sentences: Sequence[str], *, max_tokens: int = 128, batch_size: int = 64
) -> FloatArray:
    """Return P(communal) and P(agentic) of each sentence, shape (n, 2).

    Sentences of alike length are read together; the order of `sentences` is kept.
    """
    import torch

    encoder.model.eval()
    order = np.argsort([len(sentence) for sentence in sentences], kind="stable")
    found = np.empty((len(sentences), 2))
    with torch.inference_mode():
        for start in range(0, len(order), batch_size):
            rows = order[start : start + batch_size]
            batch = encoder.tokenizer(
                [sentences[row] for row in rows],
                truncation=True,
                max_length=max_tokens,
                padding=True,
                return_tensors="pt",
            )
            logits = encoder.model(**batch.to(encoder.model.device)).logits
            found[rows] = torch.softmax(logits.double(), dim=-1).cpu().numpy()
    return found
