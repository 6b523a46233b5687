"""A text classifier of transformers as a function of texts to scores."""

from collections.abc import Callable, Sequence

from portrayal.errors import OptionError
from portrayal.models import Transformer, load_transformer

Classifier = Callable[[Sequence[str]], list[float]]

_LABELS = ("toxic", "toxicity")
_DIGITS = 5
"""Scores are rounded, since the last digits depend on which texts share a batch."""
_LONGEST = 512
"""Tokens of a text that are read where the model names no limit; Detoxify cuts there too."""


def load(model: str, label: str | None = None, device: str = "auto", batch: int = 32) -> Classifier:
    """Load a sequence classifier and return the function that scores texts by one of its labels.

    Parameters
    ----------
    model
        Folder with config, tokenizer and safetensors weights, or a hub id.
    label
        Label to score by; "toxic" or "toxicity" by default.
    device
        "auto" takes cuda, then mps, then cpu; else PyTorch's name of a device.
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
        what="the classifier",
        purpose="scoring toxicity",
        extra="toxicity",
        device=device,
    )
    return _Scorer(loaded, _column(loaded.model.config.id2label, label, model), batch)


def _column(labels: dict[int, str], wanted: str | None, model: str) -> int:
    by_name = {name.casefold(): int(number) for number, name in labels.items()}
    for name in _LABELS if wanted is None else (wanted,):
        if name.casefold() in by_name:
            return by_name[name.casefold()]
    asked = " or ".join(_LABELS) if wanted is None else repr(wanted)
    raise OptionError(
        f"the classifier {model!r} has no label {asked}; it has {', '.join(labels.values())}. "
        "Name one of them."
    )


class _Scorer:
    """Scores texts in batches of the same number of tokens."""

    def __init__(self, loaded: Transformer, column: int, batch: int) -> None:
        self._tokenizer, self._network = loaded.tokenizer, loaded.model
        self._column, self._batch = column, batch
        config = loaded.model.config
        most = getattr(config, "max_position_embeddings", None) or _LONGEST
        self._longest = min(most, _LONGEST)
        kind = getattr(config, "problem_type", None)
        self._exclusive = kind == "single_label_classification" and config.num_labels > 1

    def __call__(self, texts: Sequence[str]) -> list[float]:
        if not texts:
            return []
        tokens = self._tokenizer(
            list(texts), truncation=True, max_length=self._longest, padding=False
        )["input_ids"]
        scores = [0.0] * len(texts)
        order = sorted(range(len(texts)), key=lambda i: len(tokens[i]))
        start = 0
        while start < len(order):
            size = len(tokens[order[start]])
            end = start
            while end < min(len(order), start + self._batch) and len(tokens[order[end]]) == size:
                end += 1
            members = order[start:end]
            for i, score in zip(members, self._scored([tokens[i] for i in members]), strict=True):
                scores[i] = round(score, _DIGITS)
            start = end
        return scores

    def _scored(self, tokens: list[list[int]]) -> list[float]:
        import torch

        ids = torch.tensor(tokens, device=self._network.device)
        with torch.inference_mode():
            logits = self._network(input_ids=ids, attention_mask=torch.ones_like(ids)).logits
        shares = logits.softmax(-1) if self._exclusive else logits.sigmoid()
        scores: list[float] = shares[:, self._column].float().cpu().tolist()
        return scores
