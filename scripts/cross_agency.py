"""Cross-validate the agency classifiers on LAC, everything that is trained or chosen within a fold.

    python scripts/cross_agency.py train LAC_FOLDER --base ENCODER --texts FILE ... --out FOLDER
    python scripts/cross_agency.py score LAC_FOLDER --texts FILE ... --out FOLDER
    python scripts/cross_agency.py shipped LAC_FOLDER --base ENCODER --out FOLDER

LAC_FOLDER holds train.csv and validation.csv of elainew728/labe-agency (MIT), which are read as
one: 81 % of the validation sentences are paraphrases of a training sentence, nearly all of them
with the other label. Folds are of families, so paraphrases of one source are never parted.

`train` fine-tunes, for each fold and seed, a transformer on the sentences of the other folds,
masked and as they stand, for a number of epochs that is given and not chosen; and lets that read
the fold's own sentences, and the sentences without labels of `teach_agency.py` that are not made of
those. What is done already is kept.

`score` fits the classifier that ships in each fold, taught by that fold's transformers; its
settings are chosen by a cross-validation within the other folds. Folds without a transformer are
left out of that. It prints accuracies of both with 95 % intervals that resample families. With
--random, and --out a folder of its own, folds part paraphrases, as LAC's own split does.

`shipped` trains, for each fold, the transformer that ships, as `train_agency.py` does and in 8
bits, and prints the accuracies of it, and of it and the untaught linear classifier together.
"""

import argparse
import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from lac_families import families
from numpy.typing import NDArray
from scipy.special import expit, logit
from teach_agency import Unlabelled, unlabelled
from train_agency import (
    ALONE,
    COMPARED,
    KINDS,
    Material,
    Recipe,
    cross_validate,
    export_transformer,
    fitted,
    material,
    train_transformer,
)

from portrayal.annotate.agency import load_classifier, mask
from portrayal.annotate.agency.labelled import LabelledSentences, read_labelled
from portrayal.annotate.agency.linear import read_linear, write_linear
from portrayal.annotate.agency.loading import CARD, shipped_logit
from portrayal.annotate.agency.training import Fitting, train_agency

FOLDS, DRAWS = 5, 4000
EPOCHS = 2
"""Over both kinds of each sentence: as many steps as four over one kind."""

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Lac:
    """The labelled sentences of both files, in two kinds, and their folds."""

    labelled: LabelledSentences
    masked: tuple[str, ...]
    family: IntArray
    fold: IntArray

    def read_as(self, kind: str) -> tuple[str, ...]:
        """Return the sentences masked or plain."""
        return self.masked if kind == "masked" else self.labelled.sentences


def read_lac(folder: Path, *, random: bool = False) -> Lac:
    """Read both files and part their families, or sentences at random, into folds."""
    parts = [read_labelled(folder / f"{name}.csv") for name in ("train", "validation")]
    both = LabelledSentences(
        "train.csv, validation.csv",
        "+".join(each.digest for each in parts),
        tuple(sentence for each in parts for sentence in each.sentences),
        np.concatenate([each.labels for each in parts]),
    )
    family = families(both.sentences)
    rng = np.random.default_rng(0)
    unit = np.arange(len(both)) if random else family
    fold = rng.integers(0, FOLDS, unit.max() + 1)[unit]
    return Lac(both, tuple(mask(each) for each in both.sentences), family, fold)


def taken(labelled: LabelledSentences, rows: Sequence[int] | IntArray) -> LabelledSentences:
    """Return the labelled sentences of some rows."""
    sentences = tuple(labelled.sentences[row] for row in rows)
    return replace(labelled, sentences=sentences, labels=labelled.labels[rows])


def train(lac: Lac, base: str, asked: Sequence[Unlabelled], out: Path, seed: int) -> None:
    """Fine-tune the transformer of one fold and seed, and write what it says."""
    number = int(out.parent.name.removeprefix("fold-"))
    if (out / "says.json").is_file():
        return
    rows = np.flatnonzero(lac.fold != number)
    fitting = Fitting(epochs=EPOCHS, seed=seed)
    if not (out / "README.md").is_file():  # the last that is written
        train_agency(taken(lac.labelled, rows), base, out, fitting=fitting)
    classify = load_classifier(str(out))
    held = np.flatnonzero(lac.fold == number)
    known = set(rows.tolist())
    free = [row for row, each in enumerate(asked) if known.issuperset(each.source)]
    says = {"held": held.tolist(), "free": free}
    for kind in KINDS:
        texts = [lac.read_as(kind)[row] for row in held]
        more = [asked[row].text for row in free]
        if kind == "masked":
            more = [mask(asked[row].text, [asked[row].name]) for row in free]
        says[f"{kind} held"] = classify(texts)[:, 1].round(6).tolist()
        says[f"{kind} free"] = classify(more)[:, 1].round(6).tolist()
    (out / "says.json").write_text(json.dumps(says), encoding="utf-8")


def runs(out: Path, folds: Sequence[int], seeds: Sequence[int]) -> Iterator[tuple[Path, int]]:
    """Yield the folder and the seed of each training."""
    for seed in seeds:
        for number in folds:
            yield out / f"fold-{number}" / f"seed-{seed}", seed


def score(lac: Lac, asked: Sequence[Unlabelled], out: Path, folds: Sequence[int]) -> None:
    """Print accuracies over the folds whose transformers have spoken."""
    hits: dict[str, dict[int, bool]] = {}
    for number in folds:
        said = [
            json.loads(path.read_text()) for path in sorted(out.glob(f"fold-{number}/*/says.json"))
        ]
        held = np.flatnonzero(lac.fold == number)
        for kind in KINDS:
            each = np.array([one[f"{kind} held"] for one in said])
            for seed, agentic in enumerate(each):
                _add(hits, f"transformer {seed}, {kind}", lac, held, agentic)
            if len(each) > 1:
                _add(hits, f"{len(each)} transformers, {kind}", lac, held, each.mean(axis=0))
        free = said[0]["free"] if said else []
        taught = [
            _taught(asked[row], [{k: one[f"{k} free"][at] for k in KINDS} for one in said])
            for at, row in enumerate(free)
        ]
        for name, agentic in _linear(lac, taught, number).items():
            _add(hits, name, lac, held, agentic)
    _show(hits, lac)


def shipped(lac: Lac, base: str, out: Path, folds: Sequence[int]) -> None:
    """Train the transformer that ships without each fold, and print accuracies over them."""
    hits: dict[str, dict[int, bool]] = {}
    given = {kind: material(lac.labelled, [], kind, lac.family) for kind in KINDS}
    for number in folds:
        rows, held = np.flatnonzero(lac.fold != number), np.flatnonzero(lac.fold == number)
        folder = out / f"shipped-{number}"
        if not (folder / CARD).is_file():
            model = train_transformer(taken(lac.labelled, rows), lac.family[rows], base)
            export_transformer(model, folder)
        own = shipped_logit(folder)
        for kind, linear in _as_shipped(given, rows, held, ALONE).items():
            alone = np.array([own(lac.read_as(kind)[row]) for row in held])
            _add(hits, f"its MiniLM alone, {kind}", lac, held, expit(alone))
            together = expit((alone + logit(linear)) / 2.0)
            _add(hits, f"transformer as it ships, {kind}", lac, held, together)
    _show(hits, lac)


def _show(hits: Mapping[str, Mapping[int, bool]], lac: Lac) -> None:
    for name, known in sorted(hits.items()):
        rows = np.array(sorted(known))
        low, high = _interval(np.array([known[row] for row in rows.tolist()]), lac.family[rows])
        share = np.mean([*known.values()])
        print(f"{name}: {100 * share:.2f} [{100 * low:.1f}, {100 * high:.1f}] of {len(rows)}")


def _add(
    hits: dict[str, dict[int, bool]], name: str, lac: Lac, held: IntArray, agentic: FloatArray
) -> None:
    right = (agentic > 0.5) == lac.labelled.labels[held]
    hits.setdefault(name, {}).update(zip(held.tolist(), right.tolist(), strict=True))


def _taught(each: Unlabelled, said: Sequence[Mapping[str, float]]) -> dict[str, Any]:
    """A sentence without a label as `teach_agency.py` writes it, by the mean of transformers."""
    text = {"masked": mask(each.text, [each.name]), "plain": each.text}
    mean = {kind: float(np.mean([one[kind] for one in said])) for kind in KINDS}
    return {"source": each.source} | {k: {"text": text[k], "agentic": mean[k]} for k in KINDS}


def _linear(lac: Lac, taught: Sequence[Mapping[str, Any]], number: int) -> dict[str, FloatArray]:
    """P(agentic) of a fold by the linear classifier, taught and untaught, as it would ship."""
    given = {kind: material(lac.labelled, taught, kind, lac.family) for kind in KINDS}
    rows, held = np.flatnonzero(lac.fold != number), np.flatnonzero(lac.fold == number)
    recipes = {"linear without teacher": ALONE}
    if taught:
        found = {each: cross_validate(given["masked"], rows, each) for each in COMPARED}
        recipes["linear"] = max(found, key=lambda recipe: found[recipe])
        print(f"fold {number}: {recipes['linear']}", flush=True)
    return {
        f"{name}, {kind}": said
        for name, recipe in recipes.items()
        for kind, said in _as_shipped(given, rows, held, recipe).items()
    }


def _as_shipped(
    given: Mapping[str, Material], rows: IntArray, held: IntArray, recipe: Recipe
) -> dict[str, FloatArray]:
    """P(agentic) by scores of 8 bits, for each kind."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "linear.npz"
        write_linear(path, *(fitted(given[kind], rows, recipe) for kind in KINDS))
        return {
            kind: read_linear(path, kind == "masked")([given[kind].texts[row] for row in held])[
                :, 1
            ]
            for kind in KINDS
        }


def _interval(right: NDArray[np.bool_], family: IntArray) -> tuple[float, float]:
    """Percentile bootstrap interval of the share, whole families resampled."""
    number = np.unique(family, return_inverse=True)[1]
    size, hit = np.bincount(number), np.bincount(number, right)
    rng = np.random.default_rng(0)
    drawn = rng.multinomial(len(size), np.full(len(size), 1 / len(size)), DRAWS)
    low, high = np.quantile(drawn @ hit / (drawn @ size), [0.025, 0.975])
    return float(low), float(high)


def main() -> None:
    """Train or score."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("train", "score", "shipped"))
    parser.add_argument("lac", type=Path)
    parser.add_argument("--base")
    parser.add_argument("--texts", type=Path, nargs="+", default=[])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--folds", type=int, nargs="+", default=range(FOLDS))
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--random", action="store_true", help="folds that part paraphrases")
    asked = parser.parse_args()
    lac = read_lac(asked.lac, random=asked.random)
    free = list(unlabelled(lac.labelled, asked.texts))
    if asked.what == "train":
        for folder, seed in runs(asked.out, asked.folds, asked.seeds):
            train(lac, asked.base, free, folder, seed)
    elif asked.what == "shipped":
        shipped(lac, asked.base, asked.out, asked.folds)
    else:
        score(lac, free, asked.out, asked.folds)


if __name__ == "__main__":
    main()
