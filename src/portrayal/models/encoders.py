"""Encoders with a head of two classes: loading, asking and saving, by PyTorch and transformers."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from portrayal.errors import DataError, MissingExtraError
from portrayal.types import FloatArray

MISSING = (
    "a transformer classifier needs PyTorch and transformers, which are not installed. "
    "Install them with: pip install 'portrayal[agency]'"
)


@dataclass(frozen=True, eq=False)
class Encoder:
    """A model with its tokenizer."""

    model: Any
    tokenizer: Any


def load_encoder(where: str, *, new_head: bool = False, seed: int = 0) -> Encoder:
    """Load a folder or hub id; safetensors weights only, and no code that comes with a model.

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
        from transformers import AutoModelForSequenceClassification, AutoTokenizer
    except ImportError as error:
        raise MissingExtraError(MISSING) from error
    torch.manual_seed(seed)
    head: dict[str, Any] = {"num_labels": 2} if new_head else {}
    try:
        tokenizer = AutoTokenizer.from_pretrained(where, trust_remote_code=False)
        model, report = AutoModelForSequenceClassification.from_pretrained(
            where, trust_remote_code=False, use_safetensors=True, output_loading_info=True, **head
        )
    except Exception as error:  # transformers raises many kinds, down to bare RuntimeError
        raise DataError(
            f"the encoder {where!r} could not be loaded ({type(error).__name__}: {error}). "
            "Expected a folder or hub id with config.json, a tokenizer and weights as "
            ".safetensors; models that need their own code are not run."
        ) from error
    if not new_head and (report["missing_keys"] or model.config.num_labels != 2):
        raise DataError(
            f"{where}: not a classifier of two classes; its weights lack "
            f"{', '.join(sorted(report['missing_keys'])[:5]) or 'a head of two classes'}. "
            "Train one with: portrayal train agency"
        )
    return Encoder(model.to("cuda" if torch.cuda.is_available() else "cpu").eval(), tokenizer)


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
