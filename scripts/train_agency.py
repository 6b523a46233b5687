"""Train the agency classifier that ships, and print how well it does.

    python scripts/train_agency.py LAC_FOLDER [--taught FILE] [--out FILE] [--compare]

LAC_FOLDER holds train.csv and validation.csv of elainew728/labe-agency (MIT). FILE is what
`scripts/teach_agency.py` wrote: sentences without labels, and what a transformer says of them. The
validation sentences choose nothing, and are scored once, at the end.

Cross-validation keeps paraphrases of one source in one fold, and leaves out the teacher's sentences
that were made of those held out. The teacher itself has seen all training sentences, so a
comparison with and without it leans towards it; those among its settings do not.

--compare prints the settings that were tried; without it one setting is trained. The same files
give the same arrays: run with OMP_NUM_THREADS=1, as sums in other orders round otherwise.
"""

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from portrayal.annotate.agency import mask
from portrayal.annotate.agency.labelled import Labelled, read_labelled
from portrayal.annotate.agency.linear import (
    LinearClassifier,
    Scores,
    read_linear,
    tokens,
    write_linear,
)
from portrayal.annotate.agency.linear_training import Counted, count, fit_counted

NAME = "linear-lac.v1"
OUT = Path(__file__).parents[1] / "src/portrayal/annotate/agency/linear.npz"
FOLDS, ALIKE, CV_SEEDS = 5, 0.3, (0, 1, 2)

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


@dataclass(frozen=True)
class Recipe:
    """How the teacher's sentences are used.

    Attributes
    ----------
    weight
        Of each of the teacher's sentences, where a labelled one has 1 and all of them are used.
    strength
        C, the inverse of the L2 penalty.
    share
        Of the teacher's sentences that are drawn, by the seed; each weighs more as they are fewer.
    """

    weight: float = 0.2
    strength: float = 3.0
    share: float = 1.0


CHOSEN = Recipe(weight=0.2, strength=10.0)
COMPARED = (
    Recipe(weight=0.0),
    Recipe(weight=0.1),
    Recipe(weight=0.2),
    Recipe(weight=0.4),
    Recipe(weight=0.2, strength=10.0),
    Recipe(share=0.5),
)


@dataclass(frozen=True, eq=False)
class Material:
    """Labelled sentences first, then the teacher's.

    Attributes
    ----------
    targets
        Labels, then probabilities of agentic, shape (n,).
    sources
        Labelled rows that each of the teacher's sentences was made of.
    family
        Of the labelled sentences: paraphrases of one source share a number.
    """

    counted: Counted
    targets: FloatArray
    n_labelled: int
    sources: tuple[tuple[int, ...], ...]
    family: IntArray


def material(train: Labelled, taught: Path | None, kind: str) -> Material:
    """Read what one set of scores is trained on."""
    given = _as(kind, train)
    rows = [json.loads(line) for line in taught.open(encoding="utf-8")] if taught else []
    more = [row[kind]["text"] for row in rows]
    said = [row[kind]["agentic"] for row in rows]
    return Material(
        count([*given, *more]),
        np.array([*train.labels.tolist(), *said], dtype=np.float64),
        len(given),
        tuple(tuple(row["source"]) for row in rows),
        families(given),
    )


def families(texts: Sequence[str]) -> IntArray:
    """Number the sentences so that paraphrases of one source share a number, shape (n,).

    Two sentences are paraphrases where the Jaccard overlap of their words is at least `ALIKE`,
    words counting by how rare they are.
    """
    from scipy import sparse

    words = [set(tokens(text)) for text in texts]
    place = {word: k for k, word in enumerate(sorted(set().union(*words)))}
    pairs = [(row, place[word]) for row, each in enumerate(words) for word in sorted(each)]
    rows, cols = zip(*pairs, strict=True)
    held = sparse.csr_matrix((np.ones(len(rows)), (rows, cols)), shape=(len(words), len(place)))
    rarity = np.log(len(texts) / np.asarray(held.sum(axis=0)).ravel())
    weighted = held @ sparse.diags(np.sqrt(rarity))
    shared = (weighted @ weighted.T).tocoo()
    total = np.asarray((held @ sparse.diags(rarity)).sum(axis=1)).ravel()
    overlap = shared.data / (total[shared.row] + total[shared.col] - shared.data)
    close = overlap >= ALIKE
    links = sparse.coo_matrix(
        (np.ones(close.sum()), (shared.row[close], shared.col[close])), shape=shared.shape
    )
    return np.asarray(sparse.csgraph.connected_components(links)[1], dtype=np.int64)


def fitted(given: Material, labelled: IntArray, recipe: Recipe, seed: int) -> Scores:
    """Return the scores of a recipe, trained on some of the labelled sentences."""
    known = set(labelled.tolist())
    free = [row for row, source in enumerate(given.sources) if known.issuperset(source)]
    drawn = np.array(free, dtype=np.int64)
    n_drawn = round(recipe.share * len(free)) if recipe.weight else 0
    if n_drawn < len(free):
        drawn = np.sort(np.random.default_rng(seed).permutation(drawn)[:n_drawn])
    rows = np.concatenate([labelled, given.n_labelled + drawn])
    return fit_counted(
        given.counted,
        rows,
        given.targets[rows].tolist(),
        name=NAME,
        weights=[1.0] * len(labelled) + [recipe.weight / recipe.share] * len(drawn),
        strength=recipe.strength,
    )


def cross_validate(texts: Sequence[str], given: Material, recipe: Recipe, seed: int) -> float:
    """Return the accuracy over folds of families, a share in 0–1."""
    rng = np.random.default_rng(seed)
    fold = rng.integers(0, FOLDS, given.family.max() + 1)[given.family]
    right = 0
    for number in range(FOLDS):
        held = np.flatnonzero(fold == number)
        scores = fitted(given, np.flatnonzero(fold != number), recipe, seed)
        right += correct(
            LinearClassifier(scores), [texts[row] for row in held], given.targets[held]
        )
    return right / len(texts)


def correct(classifier: LinearClassifier, texts: Sequence[str], labels: NDArray[np.generic]) -> int:
    """Return how many sentences are classified as labelled."""
    return int(np.sum((classifier(texts)[:, 1] > 0.5) == labels))


def _as(kind: str, labelled: Labelled) -> list[str]:
    return [mask(each) if kind == "masked" else each for each in labelled.sentences]


def main() -> None:
    """Train both sets of scores, print the figures, write the file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("lac", type=Path)
    parser.add_argument("--taught", type=Path)
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--compare", action="store_true", help="print settings, train nothing")
    asked = parser.parse_args()
    train = read_labelled(asked.lac / "train.csv")
    found = {}
    for kind in ("masked", "plain"):
        given = material(train, asked.taught, kind)
        for recipe in COMPARED if asked.compare else (CHOSEN,):
            runs = [cross_validate(_as(kind, train), given, recipe, seed) for seed in CV_SEEDS]
            print(f"{kind}: {recipe}", flush=True)
            print(
                f"  cross-validation {np.mean(runs):.4f}, sd over seeds {np.std(runs, ddof=1):.4f}"
            )
        if not asked.compare:
            found[kind] = fitted(given, np.arange(given.n_labelled), CHOSEN, 0)
    if found:
        write_linear(asked.out, found["masked"], found["plain"])
        _validate(asked.out, read_labelled(asked.lac / "validation.csv"))
        print(f"{asked.out.name}: {asked.out.stat().st_size / 1e6:.2f} MB")


def _validate(written: Path, held: Labelled) -> None:
    """Print the accuracy of the written file, whose scores have 8 bits."""
    for kind in ("masked", "plain"):
        classifier = read_linear(written, kind == "masked")
        share = correct(classifier, _as(kind, held), held.labels) / len(held)
        print(f"{kind}: validation {share:.4f} of {len(held)} sentences")


if __name__ == "__main__":
    main()
