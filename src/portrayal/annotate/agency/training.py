"""Training a classifier on labelled sentences and writing it down with its model card."""

import json
import shutil
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from portrayal.annotate.agency.classifier import EXPORTS
from portrayal.annotate.agency.fine_tuning import STATE, Epoch, Fitting, fine_tune
from portrayal.annotate.agency.labelled import METRICS, AgencyScore, Labelled, score_agency, split
from portrayal.annotate.agency.linear import fit_linear, write_linear
from portrayal.annotate.agency.loading import load_classifier
from portrayal.annotate.agency.masking import mask
from portrayal.annotate.agency.transformer import export_onnx
from portrayal.errors import OptionError

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
class Trained:
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
    labelled: Labelled,
    base: str,
    out: Path,
    *,
    validation: Labelled | None = None,
    whole: bool = False,
    masked: bool = True,
    fitting: Fitting | None = None,
    licence: str = "not stated",
    export: bool = False,
    on_epoch: Callable[[Epoch], None] | None = None,
    resume: bool = False,
) -> Trained:
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
    # Refuse a folder of other files, and one of a stopped training unless it is resumed
    if (out / STATE).is_file():
        if not resume:
            raise OptionError(
                f"{out} holds a training that was stopped. Go on with --resume, or remove the "
                "folder to start again."
            )
    elif out.is_dir() and any(out.iterdir()) and not (out / "agency.json").is_file():
        raise OptionError(f"{out} holds other files; name a new folder for the classifier.")
    if export and base == "linear":
        raise OptionError("the linear classifier is arrays already and is not exported to ONNX.")
    train, held = _parts(labelled, validation, whole, fitting.seed)
    out.mkdir(parents=True, exist_ok=True)
    epochs: list[Epoch] = []
    if base == "linear":
        _train_linear(train, out)
        kinds = [True, False]
    else:
        given = (_both(train), held and _masked(held)) if masked else (train, held)
        epochs = fine_tune(base, *given, out, fitting, on_epoch, resume=resume)
        kinds = [True, False] if masked else [False]
    made = [(out, kind) for kind in kinds]
    if export:
        exported = export_onnx(out, out / EXPORTS)
        made += [(exported, kind) for kind in kinds]
    scores = [score_agency(held, load_classifier(str(where), kind)) for where, kind in made if held]
    done = Trained(out, tuple(scores), tuple(epochs))
    _write_card(done, base, train, held, validation is not None, masked, fitting, licence)
    return done


def _parts(
    labelled: Labelled, validation: Labelled | None, whole: bool, seed: int
) -> tuple[Labelled, Labelled | None]:
    """Return the sentences to train on and those held out, if any."""
    if whole and validation:
        raise OptionError("a training on all sentences takes no validation sentences.")
    if whole or validation:
        return labelled, validation
    return split(labelled, 0.1, seed)


WAN_2024 = Fitting(epochs=10, patience=10, batch_size=6, learning_rate=5e-5)
"""How Wan & Chang fine-tune BERT (Appendix B.6); the best of all ten epochs is kept."""
PRESETS = {"wan-2024": ("bert-base-uncased", WAN_2024)}
"""Base and settings that are published; sentences as they stand, 3 checkpoints."""


def train_checkpoints(
    labelled: Labelled, base: str, out: Path, n: int, fitting: Fitting, **how: Any
) -> list[Trained]:
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
    how
        Further arguments of `train_agency`. With `resume`, checkpoints that are done are kept.

    Returns
    -------
    What was trained now, in the order of the seeds.

    Raises
    ------
    OptionError
        When `out` holds other files, or the seed changes nothing in the classifier.
    """
    if base == "linear" and how.get("validation") is not None:
        raise OptionError(
            "the linear classifier is the same from every seed where --validation is given: leave "
            "one of the two out, or name an encoder with --base."
        )
    seeds = [replace(fitting, seed=fitting.seed + i) for i in range(n)]
    wanted = {out / f"seed-{each.seed}": each for each in seeds}
    if out.is_dir() and not {*wanted, out / EXPORTS} >= set(out.iterdir()):
        raise OptionError(
            f"{out} holds other files, or checkpoints of other seeds; name a new folder."
        )
    done = [
        train_agency(labelled, base, folder, fitting=own, **how)
        for folder, own in wanted.items()
        if not (how.get("resume") and _is_done(folder, base, own))
    ]
    for folder in wanted if how.get("export") else ():
        if (folder / EXPORTS).is_dir():
            shutil.copytree(folder / EXPORTS, out / EXPORTS / folder.name, dirs_exist_ok=True)
    return done


def _is_done(folder: Path, base: str, fitting: Fitting) -> bool:
    """Whether a folder holds this classifier, trained to its end; another one is refused."""
    if (folder / STATE).is_file() or not (folder / "agency.json").is_file():
        return False
    facts = json.loads((folder / "agency.json").read_text(encoding="utf-8"))
    asked = {"base": base, "fitting": None if base == "linear" else asdict(fitting)}
    if any(facts.get(name) != value for name, value in asked.items()):
        raise OptionError(f"{folder} was trained with another base or other settings.")
    return True


def _train_linear(train: Labelled, out: Path) -> None:
    name = f"linear:{out.name}"
    masked = fit_linear(_masked(train).sentences, train.labels.tolist(), name=name)
    plain = fit_linear(train.sentences, train.labels.tolist(), name=name)
    write_linear(out / "linear.npz", masked, plain)


def _masked(labelled: Labelled) -> Labelled:
    return replace(labelled, sentences=tuple(mask(each) for each in labelled.sentences))


def _both(labelled: Labelled) -> Labelled:
    """Return each sentence masked, then each as it stands."""
    texts = (*_masked(labelled).sentences, *labelled.sentences)
    return replace(labelled, sentences=texts, labels=np.tile(labelled.labels, 2))


def _write_card(
    done: Trained,
    base: str,
    train: Labelled,
    held: Labelled | None,
    own_file: bool,
    masked: bool,
    fitting: Fitting,
    licence: str,
) -> None:
    """Write README.md for readers and agency.json for programs."""
    linear = base == "linear"
    said = [
        f"epoch {e.number}: loss {e.loss:.3f}"
        + ("" if e.accuracy is None else f", accuracy {e.accuracy:.4f}")
        for e in done.epochs
    ]
    stopped = "The best epoch was chosen on these sentences, so the scores lean upward."
    drawn = "" if own_file else ", drawn from the same file"
    text = _CARD.format(
        base=base,
        train=Path(train.name).name,
        n=f"{len(train):,}",
        agentic=f"{int(train.labels.sum()):,}",
        digest=train.digest,
        licence=licence,
        masked="masked, and as they stand" if linear or masked else "as they stand",
        seed=fitting.seed,
        validation=f"{Path(held.name).name}, {len(held):,} sentences{drawn}" if held else "none",
        epochs="".join(f"| training | {each} |\n" for each in said),
        scores=_SCORES.format(
            scores=scores_table(done.scores), chosen=stopped if done.epochs else ""
        )
        if held
        else _UNSCORED,
    )
    (done.folder / "README.md").write_text(text, encoding="utf-8")
    facts = {
        "base": base,
        "masked": None if linear else masked,
        "data": {"name": Path(train.name).name, "digest": train.digest, "licence": licence},
        "fitting": None if linear else asdict(fitting),
        "epochs": [asdict(epoch) for epoch in done.epochs],
        "scores": [score.as_json() for score in done.scores],
    }
    (done.folder / "agency.json").write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")


def scores_table(scores: tuple[AgencyScore, ...]) -> str:
    """Return scores in percent as a Markdown table."""
    lines = ["| classifier | sentences | " + " | ".join(METRICS) + " |", "|---" * 6 + "|"]
    for score in scores:
        cells = [
            f"{100 * each.value:.2f} [{100 * each.low:.1f}, {100 * each.high:.1f}]"
            for each in (score.metrics[name] for name in METRICS)
        ]
        kind = "masked" if score.masked else "as they stand"
        name = Path(score.classifier).name if "/" in score.classifier else score.classifier
        lines.append(f"| {name} | {kind} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"
