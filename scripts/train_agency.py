"""Train the agency classifier that ships, and print how well it does.

    python scripts/train_agency.py LAC_FOLDER [--teacher FOLDER --texts FILE ...] [--out FILE]

LAC_FOLDER holds train.csv and validation.csv of elainew728/labe-agency (MIT). The validation
sentences choose nothing here. Cross-validation keeps paraphrases of one source in one fold.

With --teacher, the folder of a transformer trained on the same train.csv, it also learns
from what the teacher says of sentences without labels: parts of the training sentences, heads and
tails of two of them put together, and the sentences of --texts (CSV with the columns text, name).
The teacher has seen the training sentences, so cross-validation is printed without it.
"""

import argparse
import csv
import random
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from portrayal.annotate.agency import load_classifier, mask
from portrayal.annotate.agency.labelled import Labelled, read_labelled
from portrayal.annotate.agency.linear import LinearClassifier, Scores, tokens, write_linear
from portrayal.annotate.agency.linear_training import LinearFitting, fit_linear
from portrayal.annotate.sentences import sentences

NAME = "linear-lac.v1"
OUT = Path(__file__).parents[1] / "src/portrayal/annotate/agency/linear.npz"
N_MIXED, N_FROM_TEXTS, FOLDS, ALIKE = 3_000, 7_000, 5, 0.3
SOFT_WEIGHT = 0.3


def families(texts: Sequence[str]) -> NDArray[np.int64]:
    """Number the sentences so that paraphrases of one source share a number, shape (n,).

    Two sentences are paraphrases where the Jaccard overlap of their words is at least `ALIKE`,
    words counting by how rare they are.
    """
    from scipy import sparse

    words = [set(tokens(text)) for text in texts]
    place = {word: k for k, word in enumerate(sorted(set().union(*words)))}
    pairs = [(row, place[word]) for row, each in enumerate(words) for word in each]
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


def cross_validate(texts: Sequence[str], labels: NDArray[np.int64], seed: int = 0) -> float:
    """Return the accuracy over folds of families, a share in 0–1."""
    family = families(texts)
    fold = np.random.default_rng(seed).integers(0, FOLDS, family.max() + 1)[family]
    right = 0
    for number in range(FOLDS):
        kept, held = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
        scores = fit_linear([texts[row] for row in kept], labels[kept].tolist(), name=NAME)
        right += correct(scores, [texts[row] for row in held], labels[held])
    return right / len(texts)


def correct(scores: Scores, texts: Sequence[str], labels: NDArray[np.int64]) -> int:
    """Return how many sentences are classified as labelled."""
    agentic = LinearClassifier(scores)(texts)[:, 1] > 0.5
    return int(np.sum(agentic == labels))


def unlabelled(train: Labelled, texts: Sequence[Path]) -> Iterator[tuple[str, str]]:
    """Yield sentences for the teacher, each with the name of whom it is about, or ""."""
    draw = random.Random(0)
    heads, tails = [], []
    for sentence in train.sentences:
        parts = [part.strip() for part in re.split("[,;]", sentence)]
        if len(parts) > 1:
            heads.append(", ".join(parts[:-1]))
            tails.append(parts[-1])
    parts = [f"{head}." for head in heads] + [tail.capitalize() for tail in tails]
    yield from ((part, "") for part in parts if len(part.split()) > 3)
    for _ in range(N_MIXED):
        yield f"{draw.choice(heads)}, {draw.choice(tails)}", ""
    found = []
    for path in texts:
        with path.open(encoding="utf-8", newline="") as stream:
            for row in csv.DictReader(stream):
                spans = sentences(row["text"])
                found += [(row["text"][low:high], row.get("name", "")) for low, high in spans]
    yield from draw.sample(found, min(N_FROM_TEXTS, len(found)))


def train_one(train: Labelled, masked: bool, teacher: str | None, texts: Sequence[Path]) -> Scores:
    """Return the scores for masked or plain sentences."""
    given = [mask(each) if masked else each for each in train.sentences]
    targets, weights = train.labels.tolist(), [1.0] * len(train)
    if teacher is None:
        return fit_linear(given, targets, name=NAME)
    more = [mask(each, [name]) if masked else each for each, name in unlabelled(train, texts)]
    said = load_classifier(teacher, masked)(more)[:, 1]
    return fit_linear(
        [*given, *more],
        [*targets, *said.tolist()],
        LinearFitting(),
        name=NAME,
        weights=[*weights, *[SOFT_WEIGHT] * len(more)],
    )


def main() -> None:
    """Train both sets of scores, print the figures, write the file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("lac", type=Path)
    parser.add_argument("--teacher", help="for both; or MASKED,PLAIN")
    parser.add_argument("--texts", type=Path, nargs="*", default=[])
    parser.add_argument("--out", type=Path, default=OUT)
    asked = parser.parse_args()
    train = read_labelled(asked.lac / "train.csv")
    held = read_labelled(asked.lac / "validation.csv")
    teachers = (asked.teacher or "").split(",")
    found = {}
    for masked, teacher in ((True, teachers[0]), (False, teachers[-1])):
        kind = "masked" if masked else "plain"
        given = [mask(each) if masked else each for each in train.sentences]
        print(f"{kind}: cross-validation without teacher {cross_validate(given, train.labels):.4f}")
        found[kind] = train_one(train, masked, teacher or None, asked.texts)
        right = [mask(each) if masked else each for each in held.sentences]
        share = correct(found[kind], right, held.labels) / len(held)
        print(f"{kind}: validation {share:.4f} of {len(held)} sentences")
    write_linear(asked.out, found["masked"], found["plain"])
    print(f"{asked.out.name}: {asked.out.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
