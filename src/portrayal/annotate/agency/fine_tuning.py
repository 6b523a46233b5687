"""Fine-tuning an encoder on labelled sentences, as Wan & Chang do with BERT (Appendix B.6).

The epoch with the best validation accuracy is kept, or the last where there are no validation
sentences. Weights are read and written as safetensors,
and code that comes with a model is never run.
"""

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

from portrayal.annotate.agency.labelled import Labelled
from portrayal.errors import DataError, OptionError
from portrayal.models import Encoder, load_encoder, probabilities, save_encoder
from portrayal.run.files import replacing
from portrayal.types import IntArray
from portrayal.validate import check_count, check_seed

STATE = "training.safetensors"
"""The file in the classifier's folder; removed once training is done."""

_MODEL, _MOMENTS, _STREAM = "model.", "optimiser.", "torch_stream"


def save_state(
    out: Path,
    encoder: Encoder,
    optimiser: Any,
    rng: np.random.Generator,
    belongs: Mapping[str, Any],
    epochs: list[dict[str, Any]],
) -> None:
    """Write the state after an epoch, in one step.

    Parameters
    ----------
    out
        Folder of the classifier.
    encoder, optimiser, rng
        As they are after the epoch.
    belongs
        Base, data and settings, which a resumed training must share.
    epochs
        The epochs so far.
    """
    import torch
    from safetensors.torch import save_file

    tensors = {
        f"{_MODEL}{name}": weights.detach().cpu().clone()
        for name, weights in encoder.model.state_dict().items()
    }
    for number, moments in optimiser.state_dict()["state"].items():
        for name, values in moments.items():
            tensors[f"{_MOMENTS}{number}.{name}"] = torch.as_tensor(values).cpu().clone()
    tensors[_STREAM] = torch.get_rng_state()
    header = {"belongs": belongs, "epochs": epochs, "stream": rng.bit_generator.state}
    out.mkdir(parents=True, exist_ok=True)
    with replacing(out / STATE) as temporary:
        save_file(tensors, temporary, {key: json.dumps(value) for key, value in header.items()})


def load_state(
    out: Path,
    encoder: Encoder,
    optimiser: Any,
    rng: np.random.Generator,
    belongs: Mapping[str, Any],
) -> list[dict[str, Any]]:
    """Put encoder, optimiser and random streams into a saved state and return its epochs.

    Raises
    ------
    OptionError
        When the state belongs to another base, other data or other settings.
    DataError
        When the file cannot be read.
    """
    import torch
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(out / STATE, framework="pt") as file:
            header = {key: json.loads(value) for key, value in file.metadata().items()}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        known, stream = header["belongs"], header["stream"]
    except (OSError, SafetensorError, KeyError, ValueError, AttributeError) as error:
        raise DataError(
            f"{out / STATE}: not the state of a training ({error}). Remove it to start anew."
        ) from error
    for what in sorted(belongs.keys() | known.keys()):
        if known.get(what) != belongs.get(what):
            raise OptionError(
                f"{out}: the training that was stopped had {what} {known.get(what)!r}, and this "
                f"one has {belongs.get(what)!r}. Give the same, or leave out --resume."
            )
    own = {n.removeprefix(_MODEL): t for n, t in tensors.items() if n.startswith(_MODEL)}
    encoder.model.load_state_dict(own)
    moments: dict[int, dict[str, Any]] = {}
    for name, values in tensors.items():
        if name.startswith(_MOMENTS):
            number, _, kind = name.removeprefix(_MOMENTS).partition(".")
            moments.setdefault(int(number), {})[kind] = values
    optimiser.load_state_dict({**optimiser.state_dict(), "state": moments})
    torch.set_rng_state(tensors[_STREAM])
    rng.bit_generator.state = stream
    return list(header["epochs"])


@dataclass(frozen=True, slots=True)
class Fitting:
    """How an encoder is fine-tuned.

    Attributes
    ----------
    epochs
        Most passes over the training sentences.
    patience
        Epochs without a better validation accuracy after which training stops.
    batch_size, learning_rate, weight_decay
        Of AdamW; the rate rises over the first tenth of the steps and falls to 0 linearly.
    max_tokens
        Longer sentences are cut.
    seed
        Starts the order of the sentences, dropout and the new head.
    """

    epochs: int = 6
    patience: int = 3
    batch_size: int = 32
    learning_rate: float = 1e-4
    weight_decay: float = 0.01
    max_tokens: int = 128
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("epochs", "patience", "batch_size", "max_tokens"):
            check_count(name, getattr(self, name), minimum=1)
        check_seed(self.seed)
        if not 0 < self.learning_rate < 1:
            raise OptionError(
                f"learning_rate must be a small positive number; got {self.learning_rate!r}."
            )


@dataclass(frozen=True, slots=True)
class Epoch:
    """One pass: its number, mean training loss, and validation accuracy in 0–1, if any."""

    number: int
    loss: float
    accuracy: float | None


def fine_tune(
    base: str,
    train: Labelled,
    validation: Labelled | None,
    out: Path,
    fitting: Fitting | None = None,
    on_epoch: Callable[[Epoch], None] | None = None,
    *,
    resume: bool = False,
) -> list[Epoch]:
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
        Called after each pass, once its state is written.
    resume
        Go on after the last epoch of a training to `out` that was stopped, where there is one. On
        a processor the result is that of a training that was not stopped; on a GPU dropout differs.

    Returns
    -------
    The epochs in order, those before a stop included.

    Raises
    ------
    MissingExtraError
        When PyTorch or transformers are not installed.
    DataError
        When the base or the state cannot be loaded.
    OptionError
        When the training that was stopped had another base, other data or other settings.
    """
    fitting = fitting or Fitting()
    encoder = load_encoder(base, new_head=True, seed=fitting.seed)
    made = encoder.tokenizer(list(train.sentences), truncation=True, max_length=fitting.max_tokens)
    tokens = list(made["input_ids"])
    steps = fitting.epochs * math.ceil(len(train) / fitting.batch_size)
    import torch

    plain: list[Any] = []
    decayed: list[Any] = []
    for name, weights in encoder.model.named_parameters():
        (plain if weights.ndim < 2 or "norm" in name.lower() else decayed).append(weights)
    groups = [
        {"params": decayed, "weight_decay": fitting.weight_decay},
        {"params": plain, "weight_decay": 0.0},
    ]
    optimiser = torch.optim.AdamW(groups, lr=fitting.learning_rate)
    rng = np.random.default_rng(fitting.seed)
    # Return what a resumed training must share with the one that was stopped
    texts = ["\n".join(each.sentences if each else ()) for each in (train, validation)]
    digests = [blake2b(text.encode(), digest_size=8).hexdigest() for text in texts]
    given = dict(zip(("sentences", "validation sentences"), digests, strict=True))
    belongs = {"base": base} | given | asdict(fitting)
    done: list[Epoch] = []
    if resume and (out / STATE).is_file():
        known = load_state(out, encoder, optimiser, rng, belongs)
        done = [Epoch(**epoch) for epoch in known]
    schedule = _schedule(optimiser, steps, len(done) * steps // fitting.epochs)
    while len(done) < fitting.epochs and not _is_past_best(done, fitting.patience):
        batches = _batches([len(each) for each in tokens], fitting.batch_size, rng)
        loss = _one_pass(encoder, tokens, train.labels, batches, optimiser, schedule)
        accuracy = _accuracy(encoder, validation, fitting) if validation else None
        best = _best(done)
        done.append(Epoch(len(done) + 1, loss, accuracy))
        if accuracy is None or accuracy > best:
            save_encoder(encoder, out)
        save_state(out, encoder, optimiser, rng, belongs, [asdict(epoch) for epoch in done])
        if on_epoch is not None:
            on_epoch(done[-1])
    (out / STATE).unlink(missing_ok=True)
    return done


def _is_past_best(done: Sequence[Epoch], patience: int) -> bool:
    """Whether the last epochs all stay below the best one."""
    best = _best(done)
    last = [epoch.accuracy for epoch in done[-patience:]]
    return bool(done) and all(each is not None and each < best for each in last)


def _best(done: Sequence[Epoch]) -> float:
    return max((each.accuracy for each in done if each.accuracy is not None), default=-1.0)


def _accuracy(encoder: Encoder, held: Labelled, fitting: Fitting) -> float:
    said = probabilities(encoder, held.sentences, max_tokens=fitting.max_tokens)
    return float(np.mean((said[:, 1] > 0.5) == held.labels))


def _schedule(optimiser: Any, steps: int, done: int = 0) -> Any:
    """Return the schedule of the learning rate, `done` of `steps` steps having been taken."""
    import torch

    warm = max(1, steps // 10)

    def factor(step: int) -> float:
        at = step + done
        return min((at + 1) / warm, max(0.0, (steps - at) / max(1, steps - warm)))

    return torch.optim.lr_scheduler.LambdaLR(optimiser, factor)


def _batches(lengths: Sequence[int], size: int, rng: np.random.Generator) -> Iterator[IntArray]:
    """Yield batches of alike lengths in random order: sorted within pools of 16 batches."""
    order = rng.permutation(len(lengths))
    known = np.asarray(lengths)
    batches = []
    for start in range(0, len(order), 16 * size):
        pool = order[start : start + 16 * size]
        pool = pool[np.argsort(known[pool], kind="stable")]
        batches += [pool[low : low + size] for low in range(0, len(pool), size)]
    for index in rng.permutation(len(batches)):
        yield batches[index]


def _one_pass(
    encoder: Any,
    tokens: Sequence[list[int]],
    labels: IntArray,
    batches: Iterator[IntArray],
    optimiser: Any,
    schedule: Any,
) -> float:
    """Train on every batch once; return the mean loss per sentence."""
    import torch

    encoder.model.train()
    total = 0.0
    for rows in batches:
        batch = encoder.tokenizer.pad(
            {"input_ids": [tokens[row] for row in rows]}, return_tensors="pt"
        )
        wanted = torch.tensor(labels[rows])
        logits = encoder.model(**batch.to(encoder.model.device)).logits
        loss = torch.nn.functional.cross_entropy(logits, wanted.to(logits.device))
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(encoder.model.parameters(), 1.0)
        optimiser.step()
        schedule.step()
        total += float(loss.detach()) * len(rows)
    return total / len(labels)
