"""Training a classifier on labelled sentences and writing it down with its model card.

An encoder is fine-tuned as Wan & Chang do with BERT (Appendix B.6). The epoch with the best
validation accuracy is kept, or the last where there are no validation sentences. Weights are read
and written as safetensors, and code that comes with a model is never run.
"""

import json
import math
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

from portrayal.annotate.agency.classifier import EXPORTS
from portrayal.annotate.agency.labelled import (
    METRICS,
    AgencyScore,
    LabelledSentences,
    score_agency,
    split,
)
from portrayal.annotate.agency.linear import fit_linear, write_linear
from portrayal.annotate.agency.loading import export_onnx, load_classifier
from portrayal.annotate.agency.masking import mask
from portrayal.errors import DataError, OptionError
from portrayal.models import Encoder, load_encoder, probabilities, save_encoder
from portrayal.run.files import check_folder, replacing, replacing_files, write_atomically
from portrayal.shown import markdown_table
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
        # Copies: safetensors refuses tensors that share their memory
        f"{_MODEL}{name}": weights.detach().cpu().clone()
        for name, weights in encoder.model.state_dict().items()
    }
    for number, moments in optimiser.state_dict()["state"].items():
        for name, values in moments.items():
            tensors[f"{_MOMENTS}{number}.{name}"] = torch.as_tensor(values).cpu().clone()
    # The random streams too, or a resumed training would draw other batches
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
        belonged, stream = header["belongs"], header["stream"]
    except (OSError, SafetensorError, KeyError, ValueError, AttributeError) as error:
        raise DataError(
            f"{out / STATE}: not the state of a training ({error}). Remove it to start anew."
        ) from error
    # Refuse to go on with what is another training
    for field in sorted(belongs.keys() | belonged.keys()):
        if belonged.get(field) != belongs.get(field):
            raise OptionError(
                f"{out}: the training that was stopped had {field} {belonged.get(field)!r}, and "
                f"this one has {belongs.get(field)!r}. Give the same, or leave out --resume."
            )
    weights = {n.removeprefix(_MODEL): t for n, t in tensors.items() if n.startswith(_MODEL)}
    encoder.model.load_state_dict(weights)
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
    train: LabelledSentences,
    validation: LabelledSentences | None,
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
    import torch

    encoded = encoder.tokenizer(
        list(train.sentences), truncation=True, max_length=fitting.max_tokens
    )
    steps = fitting.epochs * math.ceil(len(train) / fitting.batch_size)
    params: dict[float, list[Any]] = {fitting.weight_decay: [], 0.0: []}
    for name, weights in encoder.model.named_parameters():
        plain = weights.ndim < 2 or "norm" in name.lower()
        params[0.0 if plain else fitting.weight_decay].append(weights)
    groups = [{"params": parameters, "weight_decay": decay} for decay, parameters in params.items()]
    optimiser = torch.optim.AdamW(groups, lr=fitting.learning_rate)
    rng = np.random.default_rng(fitting.seed)
    texts = ["\n".join(part.sentences if part else ()) for part in (train, validation)]
    digests = [blake2b(text.encode(), digest_size=8).hexdigest() for text in texts]
    digests_of = dict(zip(("sentences", "validation sentences"), digests, strict=True))
    belongs = {"base": base} | digests_of | asdict(fitting)
    epochs: list[Epoch] = []
    if resume and (out / STATE).is_file():
        earlier = load_state(out, encoder, optimiser, rng, belongs)
        epochs = [Epoch(**epoch) for epoch in earlier]
    # A resumed training goes on in the middle of the schedule
    warm, behind = max(1, steps // 10), len(epochs) * steps // fitting.epochs

    def rate(step: int) -> float:
        now = step + behind
        return min((now + 1) / warm, max(0.0, (steps - now) / max(1, steps - warm)))

    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, rate)
    while len(epochs) < fitting.epochs:
        best = max((epoch.accuracy for epoch in epochs if epoch.accuracy is not None), default=-1.0)
        last = [epoch.accuracy for epoch in epochs[-fitting.patience :]]
        if epochs and all(
            accuracy_before is not None and accuracy_before < best for accuracy_before in last
        ):
            break  # the last epochs all stay below the best one
        loss = one_pass(
            encoder,
            encoded["input_ids"],
            train.labels,
            fitting.batch_size,
            rng,
            optimiser,
            schedule,
        )
        accuracy = None
        if validation:
            predicted = probabilities(encoder, validation.sentences, max_tokens=fitting.max_tokens)
            accuracy = float(np.mean((predicted[:, 1] > 0.5) == validation.labels))
        epochs.append(Epoch(len(epochs) + 1, loss, accuracy))
        # Weights of the best epoch so far; the state is that of the last
        if accuracy is None or accuracy > best:
            save_encoder(encoder, out)
        save_state(out, encoder, optimiser, rng, belongs, [asdict(epoch) for epoch in epochs])
        if on_epoch is not None:
            on_epoch(epochs[-1])
    (out / STATE).unlink(missing_ok=True)
    return epochs


def one_pass(
    encoder: Encoder,
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


_CARD = """# Agency classifier

| | |
|---|---|
| base | {base} |
| trained on | {train} ({n} sentences, {agentic} agentic; digest {digest}) |
| licence of the data | {licence} |
| sentences | {masked} |
| seed | {seed} |
| validation | {validation} |
{epochs}
{scores}

## Limits

It tells agentic from communal sentences about people, of the kind it was trained on. It has no
reading "neither", and a sentence of another kind still gets one of the two. Masking takes out
gendered words, names and group words by lists, and leaves what the lists do not hold.
"""

_SCORES = """## Scores on the validation sentences

{scores}
Intervals are 95 % percentile bootstrap intervals over sentences. Paraphrases of one source count as
independent, so they are somewhat too narrow. {chosen}"""
_UNSCORED = """## Scores

No sentence was held out, so nothing here says how right this classifier is. Measure the same
settings on sentences that are held out, paraphrases of one source together."""


@dataclass(frozen=True)
class TrainedClassifier:
    """A classifier that was trained, where it lies, and how it scores on validation sentences.

    Attributes
    ----------
    scores
        One score, or two for the linear classifier: masked, then plain; none where no sentence was
        held out.
    epochs
        Of a transformer.
    """

    folder: Path
    scores: tuple[AgencyScore, ...]
    epochs: tuple[Epoch, ...] = ()


def train_agency(
    labelled: LabelledSentences,
    base: str,
    out: Path,
    *,
    validation: LabelledSentences | None = None,
    whole: bool = False,
    masked: bool = True,
    fitting: Fitting | None = None,
    licence: str = "not stated",
    export: bool = False,
    on_epoch: Callable[[Epoch], None] | None = None,
    resume: bool = False,
) -> TrainedClassifier:
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
        Sentences for early stopping and the card; by default a tenth of `labelled`, by the seed,
        with paraphrases of one source in one part.
    whole
        Train on every sentence, a transformer for all its epochs; nothing is scored.
    masked
        Train a transformer on each sentence twice, masked and as it stands, and stop by masked
        ones, so that it reads both; else on sentences as they stand, as the paper does. The linear
        classifier has a set of scores for each.
    fitting
        How a transformer is fine-tuned; its seed also draws the validation sentences.
    licence
        Of the data, for the card.
    export
        Also write an 8-bit ONNX model to the folder `onnx` in `out`.
    on_epoch
        Called after each pass of a transformer.
    resume
        Go on with a training of a transformer to `out` that was stopped; see `fine_tune`.

    Raises
    ------
    OptionError
        When `out` holds other files or a training that was stopped, an export of the linear
        classifier is asked for, validation sentences are given for the whole, or what is resumed
        was another training.
    MissingExtraError, DataError
        As the parts raise them.
    """
    fitting = fitting or Fitting()
    # Refuse what cannot be done before anything is written
    check_folder(out, "agency.json", STATE)
    if (out / STATE).is_file() and not resume:
        raise OptionError(
            f"{out} holds a training that was stopped. Go on with --resume, or remove the "
            "folder to start again."
        )
    if export and base == "linear":
        raise OptionError("the linear classifier is arrays already and is not exported to ONNX.")
    if whole and validation:
        raise OptionError("a training on all sentences takes no validation sentences.")
    # Which sentences train, and which are held out
    train, held_out = labelled, validation
    if not (whole or validation):
        train, held_out = split(labelled, 0.1, fitting.seed)
    out.mkdir(parents=True, exist_ok=True)
    epochs: list[Epoch] = []
    kinds = [True, False]
    if base == "linear":
        name, labels = f"linear:{out.name}", train.labels.tolist()
        texts = (_masked(train).sentences, train.sentences)
        write_linear(out / "linear.npz", *(fit_linear(t, labels, name=name) for t in texts))
    elif masked:
        # Masked and as it stands, so that one set of weights reads both
        twice = (*_masked(train).sentences, *train.sentences)
        both = replace(train, sentences=twice, labels=np.tile(train.labels, 2))
        stop_by = held_out and _masked(held_out)
        epochs = fine_tune(base, both, stop_by, out, fitting, on_epoch, resume=resume)
    else:
        epochs = fine_tune(base, train, held_out, out, fitting, on_epoch, resume=resume)
        kinds = [False]
    artefacts = [(out, kind) for kind in kinds]
    if export:
        # The export is scored as well: 8 bits may read otherwise
        exported = export_onnx(out, out / EXPORTS)
        artefacts += [(exported, kind) for kind in kinds]
    scores = [
        score_agency(held_out, load_classifier(str(path), kind))
        for path, kind in artefacts
        if held_out
    ]
    trained = TrainedClassifier(out, tuple(scores), tuple(epochs))
    _write_card(trained, base, train, held_out, validation is not None, masked, fitting, licence)
    return trained


WAN_2024 = Fitting(epochs=10, patience=10, batch_size=6, learning_rate=5e-5)
"""How Wan & Chang fine-tune BERT (Appendix B.6); the best of all ten epochs is kept."""
PRESETS = {"wan-2024": ("bert-base-uncased", WAN_2024)}
"""Base and settings that are published; sentences as they stand, 3 checkpoints."""


def train_checkpoints(
    labelled: LabelledSentences, base: str, out: Path, n: int, fitting: Fitting, **options: Any
) -> list[TrainedClassifier]:
    """Train the same classifier from several seeds, each to a folder "seed-N" of its own.

    Parameters
    ----------
    labelled, base, out
        As in `train_agency`; `out` becomes a set of checkpoints, which `load_classifier` takes, and
        `out`/onnx that of their exports.
    n
        Checkpoints; their seeds follow that of `fitting`.
    fitting
        How each is fine-tuned, but for its seed.
    options
        Further arguments of `train_agency`. With `resume`, checkpoints that are done are kept.

    Returns
    -------
    What was trained now, in the order of the seeds.

    Raises
    ------
    OptionError
        When `out` holds other files, or the seed changes nothing in the classifier.
    """
    if base == "linear" and options.get("validation") is not None:
        raise OptionError(
            "the linear classifier is the same from every seed where --validation is given: leave "
            "one of the two out, or name an encoder with --base."
        )
    # A folder for each seed
    seeds = [replace(fitting, seed=fitting.seed + i) for i in range(n)]
    fitting_by_folder = {out / f"seed-{fitting_of.seed}": fitting_of for fitting_of in seeds}
    check_folder(out, EXPORTS, *(folder.name for folder in fitting_by_folder))
    if out.is_dir() and not {*fitting_by_folder, out / EXPORTS} >= set(out.iterdir()):
        raise OptionError(
            f"{out} holds other files, or checkpoints of other seeds; name a new folder."
        )
    trained = []
    for folder, own_fitting in fitting_by_folder.items():
        card = folder / "agency.json"
        if options.get("resume") and card.is_file() and not (folder / STATE).is_file():
            # Trained to its end: kept where it is this classifier, and refused where it is another
            facts = json.loads(card.read_text(encoding="utf-8"))
            card_facts = {
                "base": base,
                "fitting": None if base == "linear" else asdict(own_fitting),
            }
            if any(facts.get(name) != value for name, value in card_facts.items()):
                raise OptionError(f"{folder} was trained with another base or other settings.")
        else:
            trained.append(train_agency(labelled, base, folder, fitting=own_fitting, **options))
    for folder in fitting_by_folder if options.get("export") else ():
        if (folder / EXPORTS).is_dir():
            with replacing_files(out / EXPORTS / folder.name) as new:
                shutil.copytree(folder / EXPORTS, new, dirs_exist_ok=True)
    return trained


def _masked(labelled: LabelledSentences) -> LabelledSentences:
    return replace(labelled, sentences=tuple(mask(sentence) for sentence in labelled.sentences))


def _write_card(
    trained: TrainedClassifier,
    base: str,
    train: LabelledSentences,
    held_out: LabelledSentences | None,
    own_file: bool,
    masked: bool,
    fitting: Fitting,
    licence: str,
) -> None:
    """Write README.md for readers and agency.json for programs."""
    linear = base == "linear"
    rows = [
        f"epoch {e.number}: loss {e.loss:.3f}"
        + ("" if e.accuracy is None else f", accuracy {e.accuracy:.4f}")
        for e in trained.epochs
    ]
    stopped = "The best epoch was chosen on these sentences, so the scores lean upward."
    origin = "" if own_file else ", drawn from the same file"
    text = _CARD.format(
        base=base,
        train=Path(train.name).name,
        n=f"{len(train):,}",
        agentic=f"{int(train.labels.sum()):,}",
        digest=train.digest,
        licence=licence,
        masked="masked, and as they stand" if linear or masked else "as they stand",
        seed=fitting.seed,
        validation=f"{Path(held_out.name).name}, {len(held_out):,} sentences{origin}"
        if held_out
        else "none",
        epochs="".join(f"| training | {row} |\n" for row in rows),
        scores=_SCORES.format(
            scores=scores_table(trained.scores), chosen=stopped if trained.epochs else ""
        )
        if held_out
        else _UNSCORED,
    )
    write_atomically(trained.folder / "README.md", text)
    facts = {
        "base": base,
        "masked": None if linear else masked,
        "data": {"name": Path(train.name).name, "digest": train.digest, "licence": licence},
        "fitting": None if linear else asdict(fitting),
        "epochs": [asdict(epoch) for epoch in trained.epochs],
        "scores": [score.as_json() for score in trained.scores],
    }
    write_atomically(trained.folder / "agency.json", json.dumps(facts, indent=2) + "\n")


def scores_table(scores: tuple[AgencyScore, ...]) -> str:
    """Return scores in percent as a Markdown table."""
    rows = []
    for score in scores:
        cells = [
            f"{100 * metric.value:.2f} [{100 * metric.low:.1f}, {100 * metric.high:.1f}]"
            for metric in (score.metrics[name] for name in METRICS)
        ]
        kind = "masked" if score.masked else "as they stand"
        name = Path(score.classifier).name if "/" in score.classifier else score.classifier
        rows.append((name, kind, *cells))
    return markdown_table(("classifier", "sentences", *METRICS), rows) + "\n"
