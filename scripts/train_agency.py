"""Train the agency classifiers that ship.

    python scripts/train_agency.py LAC_FOLDER [--taught FILE] [--out FILE] [--compare]
    python scripts/train_agency.py LAC_FOLDER --untaught

LAC_FOLDER holds train.csv of elainew728/labe-agency (MIT). FILE is what `scripts/teach_agency.py`
wrote: sentences without labels, and what a transformer says of them.

--compare prints cross-validations of the settings that were tried; without it one setting is
trained. They keep paraphrases of one source in one fold, and leave out the teacher's sentences that
were made of those held out. But the teacher has seen all training sentences, so they choose and
measure nothing: how right the classifier is, `scripts/cross_agency.py` measures.

The same files give the same arrays: run with OMP_NUM_THREADS=1, as sums in other orders round
otherwise.
"""

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from lac_families import families
from numpy.typing import NDArray

from portrayal.annotate.agency import mask
from portrayal.annotate.agency.labelled import LabelledSentences, read_labelled
from portrayal.annotate.agency.linear import (
    LinearClassifier,
    SentenceCounts,
    WordScores,
    count,
    fit_counted,
    write_linear,
)

NAME, UNTAUGHT = "linear-lac.v1", "linear-lac-untaught.v2"
OUT = Path(__file__).parents[1] / "src/portrayal/annotate/agency/linear.npz"
KINDS = ("masked", "plain")
FOLDS = 3

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


@dataclass(frozen=True)
class Recipe:
    """How the teacher's sentences are used.

    Attributes
    ----------
    weight
        Of each of the teacher's sentences, where a labelled one has 1.
    strength
        C, the inverse of the L2 penalty.
    contrast
        See `fit_counted`.
    """

    weight: float
    strength: float
    contrast: float = 0.5


CHOSEN, ALONE = Recipe(0.2, 10.0, 0.0), Recipe(0.0, 3.0)
COMPARED = (CHOSEN, *(Recipe(0.1 * 2**k, 3.0, c) for k in range(3) for c in (0.0, 0.5)))


@dataclass(frozen=True, eq=False)
class Material:
    """Labelled sentences first, then the teacher's.

    Attributes
    ----------
    texts
        The labelled sentences.
    targets
        Labels, then probabilities of agentic, shape (n,).
    sources
        Labelled rows that each of the teacher's sentences was made of.
    family
        Of the labelled sentences: paraphrases of one source share a number.
    """

    texts: Sequence[str]
    counted: SentenceCounts
    targets: FloatArray
    sources: tuple[tuple[int, ...], ...]
    family: IntArray


def material(
    labelled: LabelledSentences, taught: Sequence[Mapping[str, Any]], kind: str, family: IntArray
) -> Material:
    """Return what one set of scores is trained on."""
    texts = [mask(each) if kind == "masked" else each for each in labelled.sentences]
    said = [row[kind]["agentic"] for row in taught]
    return Material(
        texts,
        count([*texts, *(row[kind]["text"] for row in taught)]),
        np.array([*labelled.labels.tolist(), *said], dtype=np.float64),
        tuple(tuple(row["source"]) for row in taught),
        family,
    )


def fitted(given: Material, rows: IntArray, recipe: Recipe) -> WordScores:
    """Return the scores of a recipe, trained on some of the labelled sentences."""
    known = set(rows.tolist())
    free = [row for row, made in enumerate(given.sources) if known.issuperset(made)]
    drawn = np.array(free if recipe.weight else [], dtype=np.int64)
    every = np.concatenate([rows, len(given.texts) + drawn])
    return fit_counted(
        given.counted,
        every,
        given.targets[every].tolist(),
        name=NAME if recipe.weight else UNTAUGHT,
        weights=[1.0] * len(rows) + [recipe.weight] * len(drawn),
        strength=recipe.strength,
        contrast=recipe.contrast,
    )


def cross_validate(given: Material, rows: IntArray, recipe: Recipe) -> float:
    """Return the accuracy over folds of the families of these labelled sentences, in 0–1."""
    rng = np.random.default_rng(0)
    fold = rng.integers(0, FOLDS, given.family.max() + 1)[given.family[rows]]
    right = 0
    for number in range(FOLDS):
        held = rows[fold == number]
        classify = LinearClassifier(fitted(given, rows[fold != number], recipe))
        agentic = classify([given.texts[row] for row in held])[:, 1] > 0.5
        right += int(np.sum(agentic == given.targets[held]))
    return right / len(rows)


def main() -> None:
    """Train both sets of scores and write the file, or print what the settings give."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("lac", type=Path)
    parser.add_argument("--taught", type=Path)
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--compare", action="store_true", help="print settings, train nothing")
    parser.add_argument("--untaught", action="store_true", help="train on LAC alone")
    asked = parser.parse_args()
    labelled = read_labelled(asked.lac / "train.csv")
    lines = asked.taught.read_text(encoding="utf-8").splitlines() if asked.taught else []
    family = families(labelled.sentences)
    taught = [json.loads(line) for line in lines]
    given = {kind: material(labelled, taught, kind, family) for kind in KINDS}
    rows = np.arange(len(labelled))
    if asked.compare:
        for recipe in COMPARED:
            print(f"{recipe}: {cross_validate(given['masked'], rows, recipe):.4f}", flush=True)
        return
    out = OUT.with_name("untaught.npz") if asked.untaught and asked.out == OUT else asked.out
    recipe = ALONE if asked.untaught else CHOSEN
    write_linear(out, *(fitted(given[kind], rows, recipe) for kind in KINDS))
    print(f"{out.name}: {out.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
