"""Training a classifier on labelled sentences and writing it down with its model card.

An encoder is fine-tuned as Wan & Chang do with BERT (Appendix B.6). The epoch with the best
validation accuracy is kept, or the last where there are no validation sentences. Weights are read
and written as safetensors, and code that comes with a model is never run.
"""

import json
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from portrayal.annotate.agency.labelled import (
    AgencyScore,
    LabelledSentences,
    over_seeds,
    score_agency,
    score_rows,
    shown,
)
from portrayal.annotate.agency.linear import fit_linear, write_linear
from portrayal.annotate.agency.loading import checkpoint_folders, load_classifier
from portrayal.annotate.llm import templates
from portrayal.errors import OptionError
from portrayal.models.loading import (
    MOST_TOKENS,
    Transformer,
    load_encoder,
    probabilities,
    save_encoder,
)
from portrayal.run.files import check_folder, write_atomically
from portrayal.shown import markdown_table
from portrayal.types import IntArray
from portrayal.validate import check_seed

FACTS, CARD = "agency.json", "README.md"
WEIGHT_DECAY = 0.01
"""Of AdamW, on weights that are no bias and no norm."""


@dataclass(frozen=True, slots=True)
class Fitting:
    """How an encoder is fine-tuned.

    Attributes
    ----------
    epochs
        Most passes over the training sentences.
    patience
        Epochs without a better validation accuracy after which training stops.
    batch_size, learning_rate
        Of AdamW; the rate rises over the first tenth of the steps and falls to 0 linearly.
    seed
        Starts the order of the sentences, dropout and the new head.
    """

    epochs: int = 6
    patience: int = 3
    batch_size: int = 32
    learning_rate: float = 1e-4
    seed: int = 0

    def __post_init__(self) -> None:
        check_seed(self.seed)


@dataclass(frozen=True, slots=True)
class Epoch:
    """One pass: its number, mean training loss, validation accuracy in 0–1, if any, and seed."""

    number: int
    loss: float
    accuracy: float | None
    seed: int


def fine_tune(
    base: str,
    train: LabelledSentences,
    validation: LabelledSentences | None,
    out: Path,
    fitting: Fitting,
    on_epoch: Callable[[Epoch], None] | None = None,
) -> None:
    """Fine-tune an encoder and write its weights to `out`.

    Parameters
    ----------
    base
        Folder or hub id of an encoder with safetensors weights.
    train, validation
        Sentences as the classifier will be given them: masked ones for a masked classifier. Without
        validation sentences every epoch is taken, and the last is kept.
    out
        Folder for config, tokenizer and weights; written after each epoch that is the best so far.
    fitting
        Epochs, rates, seed.
    on_epoch
        Called after each pass.

    Raises
    ------
    MissingExtraError
        When PyTorch or transformers are not installed.
    DataError
        When the base cannot be loaded.
    """
    encoder = load_encoder(base, new_head=True, seed=fitting.seed)
    import torch
    import transformers

    encoded = encoder.tokenizer(list(train.sentences), truncation=True, max_length=MOST_TOKENS)
    steps = fitting.epochs * math.ceil(len(train) / fitting.batch_size)
    params: dict[float, list[Any]] = {WEIGHT_DECAY: [], 0.0: []}
    for name, weights in encoder.model.named_parameters():
        plain = weights.ndim < 2 or "norm" in name.lower()
        params[0.0 if plain else WEIGHT_DECAY].append(weights)
    groups = [{"params": parameters, "weight_decay": decay} for decay, parameters in params.items()]
    optimiser = torch.optim.AdamW(groups, lr=fitting.learning_rate)
    rng = np.random.default_rng(fitting.seed)
    schedule = transformers.get_linear_schedule_with_warmup(optimiser, steps // 10, steps)
    epochs: list[Epoch] = []
    best = -1.0
    for number in range(1, fitting.epochs + 1):
        loss = one_pass(
            *(encoder, encoded["input_ids"], train.labels, fitting.batch_size),
            *(rng, optimiser, schedule),
        )
        accuracy = None
        if validation:
            predicted = probabilities(encoder, validation.sentences)
            accuracy = float(np.mean((predicted[:, 1] > 0.5) == validation.labels))
        epochs.append(Epoch(number, loss, accuracy, fitting.seed))
        # Weights of the best epoch so far
        if accuracy is None or accuracy > best:
            save_encoder(encoder, out)
            best = -1.0 if accuracy is None else accuracy
        if on_epoch is not None:
            on_epoch(epochs[-1])
        # Stop where the last epochs all stay below the best one
        recent = [epoch.accuracy for epoch in epochs[-fitting.patience :]]
        if all(score is not None and score < best for score in recent):
            break


def one_pass(
    encoder: Transformer,
    tokens: Sequence[list[int]],
    labels: IntArray,
    size: int,
    rng: np.random.Generator,
    optimiser: Any,
    schedule: Any,
) -> float:
    """Train an encoder once on every sentence, and return the mean loss per sentence.

    Batches of `size` sentences hold alike lengths: sentences are drawn in a random order and sorted
    within pools of 16 batches, and the batches come in a random order again.
    """
    import torch

    order = rng.permutation(len(tokens))
    lengths = np.array([len(ids) for ids in tokens])
    batches: list[IntArray] = []
    for start in range(0, len(order), 16 * size):
        pool = order[start : start + 16 * size]
        # Sorted within pools alone: over all, each batch would be the same every time
        pool = pool[np.argsort(lengths[pool], kind="stable")]
        batches += [pool[low : low + size] for low in range(0, len(pool), size)]
    # Turns dropout on
    encoder.model.train()
    total = 0.0
    for index in rng.permutation(len(batches)):
        rows = batches[index]
        batch = encoder.tokenizer.pad(
            {"input_ids": [tokens[row] for row in rows]}, return_tensors="pt"
        )
        targets = torch.tensor(labels[rows])
        logits = encoder.model(**batch.to(encoder.model.device)).logits
        loss = torch.nn.functional.cross_entropy(logits, targets.to(logits.device))
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(encoder.model.parameters(), 1.0)
        optimiser.step()
        schedule.step()
        # Times its sentences, as the last batch is smaller
        total += float(loss.detach()) * len(rows)
    return total / len(labels)


def train_agency(
    labelled: LabelledSentences,
    base: str,
    out: Path,
    *,
    validation: LabelledSentences | None = None,
    masked: bool = True,
    fitting: Fitting | None = None,
    licence: str = "not stated",
    on_epoch: Callable[[Epoch], None] | None = None,
) -> tuple[AgencyScore, ...]:
    """Train a classifier and write it to a folder that `load_classifier` takes.

    Parameters
    ----------
    labelled
        Sentences as they stand; masked here where that is asked for.
    base
        "linear", or the folder or hub id of an encoder with safetensors weights.
    out
        Folder to write to; a classifier that lies there is written over.
    validation
        Sentences for early stopping and the scores on the card. Without them a transformer is
        trained for all its epochs, and nothing is scored.
    masked
        Train a transformer on each sentence twice, masked and as it stands, and stop by masked
        ones, so that it reads both; else on sentences as they stand, as the paper does. The linear
        classifier has a set of scores for each.
    fitting
        How a transformer is fine-tuned.
    licence
        Of the data, for the card.
    on_epoch
        Called after each pass of a transformer.

    Returns
    -------
    How it scores on validation sentences: masked, then as they stand, where it reads both; empty
    where no sentence was held out.

    Raises
    ------
    OptionError
        When `out` holds other files.
    MissingExtraError, DataError
        As the parts raise them.
    """
    fitting = fitting or Fitting()
    # Refuse what cannot be done before anything is written
    check_folder(out, FACTS)
    out.mkdir(parents=True, exist_ok=True)
    # Of a classifier that lay here, and would be read in place of this one
    (out / "linear.npz").unlink(missing_ok=True)
    kinds = [True, False] if masked or base == "linear" else [False]
    note = f"{Path(validation.name).name}, {len(validation):,} sentences" if validation else "none"
    facts: dict[str, Any] = {
        "base": base,
        "trained on": f"{Path(labelled.name).name}, {len(labelled):,} sentences, "
        f"{int(labelled.labels.sum()):,} agentic; digest {labelled.digest}",
        "licence of the data": licence,
        "sentences": "masked, and as they stand" if kinds[0] else "as they stand",
        "validation": note,
        **({} if base == "linear" else asdict(fitting)),
    }
    # First, so that a folder of a training that was stopped is known
    write_atomically(out / FACTS, json.dumps(facts, indent=2) + "\n")
    if base == "linear":
        name, labels = f"linear:{out.name}", labelled.labels.tolist()
        texts = (shown(labelled, masked=True), labelled.sentences)
        write_linear(out / "linear.npz", *(fit_linear(t, labels, name=name) for t in texts))
    else:
        train, stop_by = labelled, validation
        if masked:
            # Masked and as it stands, so that one set of weights reads both
            twice = (*shown(labelled, masked=True), *labelled.sentences)
            train = replace(labelled, sentences=twice, labels=np.tile(labelled.labels, 2))
            stop_by = validation and replace(validation, sentences=(*shown(validation, True),))
        fine_tune(base, train, stop_by, out, fitting, on_epoch)
    loaded = [load_classifier(str(out), kind) for kind in kinds if validation]
    scores = [score_agency(validation, classifier) for classifier in loaded if validation]
    heads, rows = score_rows(scores)
    words = templates(__package__, "training.toml")
    table = [markdown_table(heads, rows), words["scored"]] if scores else [words["unscored"]]
    parts = ("# Agency classifier", markdown_table(("", ""), facts.items()), "## Scores", *table)
    write_atomically(out / CARD, "\n\n".join((*parts, words["limits"])) + "\n")
    return tuple(scores)


def train_seeds(
    seeds: Sequence[int], fitting: Fitting, out: Path, train: Callable[..., Iterable[AgencyScore]]
) -> tuple[AgencyScore, ...]:
    """Train the same classifier from each seed; from several, to folders "seed-N" of `out`.

    Parameters
    ----------
    seeds, fitting
        Whole numbers that differ, and how each is fine-tuned, but for its seed.
    out
        Folder of the classifier; from several seeds a set of checkpoints, which `load_classifier`
        takes, with a card of all scores.
    train
        `train_agency` with what it is given beside its folder `out` and `fitting`.

    Raises
    ------
    OptionError
        When a seed comes twice, or `out` holds other files or checkpoints of other seeds; before
        anything is trained.
    """
    if len(seeds) == 1:
        return (*train(out=out, fitting=replace(fitting, seed=seeds[0])),)
    folders = {out / f"seed-{seed}": replace(fitting, seed=seed) for seed in seeds}
    check_folder(out, *(folder.name for folder in folders))
    if len(folders) < len(seeds) or {*checkpoint_folders(out)} - folders.keys():
        raise OptionError(
            f"a set of checkpoints has each seed once: --seed {' --seed '.join(map(str, seeds))} "
            f"repeats one, or {out} holds one of another seed, which would count."
        )
    for folder in folders:
        check_folder(folder, FACTS)
    of_seeds = folders.items()
    scores = [score for folder, seed in of_seeds for score in train(out=folder, fitting=seed)]
    card = markdown_table(*score_rows(scores, over_seeds(scores)))
    write_atomically(out / CARD, f"# Agency classifier\n\n{card}\n")
    return tuple(scores)


WAN_2024 = Fitting(epochs=10, patience=10, batch_size=6, learning_rate=5e-5)
"""How Wan & Chang fine-tune BERT (Appendix B.6); the best of all ten epochs is kept."""
PRESETS = {
    "wan-2024": ("bert-base-uncased", WAN_2024),
    "wan-2024-roberta": ("roberta-base", replace(WAN_2024, learning_rate=5e-6)),
}
"""Bases and settings that are published (Table 12); sentences as they stand."""
