"""Sentences that are agentic, communal or neither: a labelled sample, and what is learned from it.

    python scripts/agency_neither.py sample DATA --out FOLDER
    python scripts/agency_neither.py score DATA
    python scripts/agency_neither.py train DATA

DATA holds labe/*.csv and lac/train.csv of elainew728/labe-agency (MIT). `sample` draws 600
sentences at random, at most one of a text, masks them, so that nobody who labels them knows
gender, race or name, and writes `sentences.csv` (id, text) for raters. `agency_neither.csv` has
where each stands, a digest of it and three labels, each from a pass of a language model over all
sentences by the rules of `agency_neither.md`, in an order of its own and without the other labels;
no text.

`score` prints kappa, and accuracies on folds that were left out of everything. `train` writes what
ships: the probability that a sentence is neither, masked and as it stands.
"""

import csv
import random
from argparse import ArgumentParser
from collections import Counter
from dataclasses import replace
from hashlib import blake2b
from itertools import combinations
from pathlib import Path

import numpy as np

from portrayal.annotate.agency import load_classifier, mask
from portrayal.annotate.agency.linear import (
    LinearClassifier,
    LinearFitting,
    WordScores,
    count,
    fit_counted,
    write_linear,
)
from portrayal.annotate.agency.rows import agency_sentences
from portrayal.stats.agreement import cohens_kappa, fleiss_kappa

DRAWN = {"labe/chatgpt_bios.csv": 400, "labe/chatgpt_professor.csv": 140, "lac/train.csv": 60}
"""Sentences of each file in the sample."""

SEED = 26


LABELS = ("agentic", "communal", "neither")
LABELLED = Path(__file__).with_suffix(".csv")
OUT = Path(__file__).parents[1] / "src/portrayal/annotate/agency/neither.npz"
NAME = "neither.v1"
FITTING = LinearFitting(least=1, contrast=0.0)
STRENGTHS = (3.0, 10.0, 30.0)
FOLDS = 10


def plain_of(row: dict[str, str], file: str) -> list[str]:
    """The sentences of a row, in order; a sentence of LAC is a row of its own."""
    text = row["text"]
    if file.startswith("lac/"):
        return [text]
    return [text[low:high] for low, high in agency_sentences(text)]


def masked_of(row: dict[str, str], file: str) -> list[str]:
    """The same sentences, masked."""
    return [mask(each, [row["name"]] if "name" in row else ()) for each in plain_of(row, file)]


def rows_of(data: Path, file: str) -> list[dict[str, str]]:
    """The rows of a file."""
    with (data / file).open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def sample(data: Path, out: Path) -> None:
    """Draw sentences and write what raters read."""
    rng = random.Random(SEED)
    drawn = []
    for file, n in DRAWN.items():
        every = [masked_of(row, file) for row in rows_of(data, file)]
        places = [(i, j) for i, pieces in enumerate(every) for j in range(len(pieces))]
        rng.shuffle(places)
        seen: set[int] = set()
        for i, j in places:
            if i not in seen and len(seen) < n:
                seen.add(i)
                drawn.append(every[i][j])
    rng.shuffle(drawn)
    out.mkdir(parents=True, exist_ok=True)
    with (out / "sentences.csv").open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows([("id", "text"), *enumerate(drawn, 1)])


def labelled(data: Path) -> tuple[list[str], list[str], list[list[str]]]:
    """The sentences of the sample masked and as they stand, and their labels by pass."""
    files = {file: rows_of(data, file) for file in DRAWN}
    masked, plain, labels = [], [], []
    with LABELLED.open(encoding="utf-8", newline="") as lines:
        for each in csv.DictReader(lines):
            row, j = files[each["file"]][int(each["row"])], int(each["sentence"])
            masked.append(masked_of(row, each["file"])[j])
            plain.append(plain_of(row, each["file"])[j])
            if blake2b(masked[-1].encode(), digest_size=8).hexdigest() != each["digest"]:
                raise SystemExit(
                    f"{each['file']}, row {each['row']}: another sentence than labelled"
                )
            labels.append([each[f"pass{k}"] for k in (1, 2, 3)])
    return masked, plain, labels


def majority(labels: list[str]) -> str:
    """The label of two passes or three; "" where all differ."""
    label, n = Counter(labels).most_common(1)[0]
    return label if n > 1 else ""


def balanced(scores: WordScores, agentic: np.ndarray, share: float) -> WordScores:
    """Move the bias so that as many are called neither as there are, by predictions left out."""
    logits = np.log(agentic / (1.0 - agentic))
    return replace(scores, bias=scores.bias - float(np.quantile(logits, 1.0 - share)))


def left_out(texts: list[str], target: np.ndarray, strength: float, seed: int) -> np.ndarray:
    """P(neither) of each sentence by scores that were fitted without its fold."""
    counted, found = count(texts, FITTING), np.zeros(len(texts))
    fold = np.random.default_rng(seed).permutation(len(texts)) % FOLDS
    for k in range(FOLDS):
        scores = fit_counted(
            counted, np.flatnonzero(fold != k), target[fold != k].tolist(), strength=strength
        )
        held = np.flatnonzero(fold == k)
        found[held] = LinearClassifier(scores)([texts[i] for i in held])[:, 1]
    return np.nan_to_num(found, nan=float(target.mean())).clip(1e-9, 1 - 1e-9)


def fitted(texts: list[str], target: np.ndarray, seed: int = 0) -> WordScores:
    """Fit the scores that ship, the penalty and the bias chosen by predictions left out."""
    every = {c: left_out(texts, target, c, seed) for c in STRENGTHS}
    best = max(
        every,
        key=lambda c: float(
            np.mean(target * np.log(every[c]) + (1 - target) * np.log(1 - every[c]))
        ),
    )
    scores = fit_counted(
        count(texts, FITTING), np.arange(len(texts)), target.tolist(), name=NAME, strength=best
    )
    return balanced(scores, every[best], float(target.mean()))


def score(data: Path) -> None:
    """Print agreement, and accuracies in 10 folds."""
    masked, plain, labels = labelled(data)
    codes = np.array([[LABELS.index(each) for each in three] for three in labels])
    for one, two in combinations(range(3), 2):
        table = np.zeros((3, 3))
        np.add.at(table, (codes[:, one], codes[:, two]), 1)
        print(f"Cohen's kappa of passes {one + 1} and {two + 1}: {float(cohens_kappa(table)):.3f}")
    counts = (codes[:, :, np.newaxis] == np.arange(3)).sum(axis=1)
    print(f"Fleiss' kappa of three passes: {float(fleiss_kappa(counts)):.3f}")
    known = [i for i, three in enumerate(labels) if majority(three)]
    truth = np.array([majority(labels[i]) for i in known])
    print(f"majority of {len(known)}: {dict(Counter(truth.tolist()))}")
    target = (truth == "neither").astype(float)
    fold = np.random.default_rng(1).permutation(len(known)) % FOLDS
    for kind, every in (("masked", masked), ("plain", plain)):
        texts, neither = [every[i] for i in known], np.zeros(len(known), dtype=bool)
        for k in range(FOLDS):
            held = np.flatnonzero(fold == k)
            rest = np.flatnonzero(fold != k)
            classify = LinearClassifier(fitted([texts[i] for i in rest], target[rest]))
            neither[held] = classify([texts[i] for i in held])[:, 1] >= 0.5
        right = neither == (target > 0)
        print(
            f"{kind}: says something or neither {100 * right.mean():.1f} %; called neither "
            f"{100 * neither.mean():.1f} of {100 * target.mean():.1f} %; precision "
            f"{100 * target[neither].mean():.1f}, recall {100 * neither[target > 0].mean():.1f}",
            flush=True,
        )
        for name in ("linear", "untaught"):
            agentic = load_classifier(name, kind == "masked")(texts)[:, 1] >= 0.5
            two = np.where(agentic, "agentic", "communal")
            three = np.where(neither, "neither", two)
            said = truth != "neither"
            print(
                f"  {name}: three-way {100 * np.mean(three == truth):.1f} % (two-way "
                f"{100 * np.mean(two == truth):.1f} %); agentic or communal where either is so "
                f"{100 * np.mean(two[said] == truth[said]):.1f} %; level by labels "
                f"{_level(truth):+.1f}, two-way {_level(two):+.1f}, "
                f"without neither {_level(three):+.1f}",
                flush=True,
            )


def _level(called: np.ndarray) -> float:
    """Agentic less communal, in percent of both."""
    agentic, communal = (float(np.sum(called == name)) for name in LABELS[:2])
    return 100.0 * (agentic - communal) / (agentic + communal)


def train(data: Path) -> None:
    """Write what ships."""
    masked, plain, labels = labelled(data)
    known = [i for i, three in enumerate(labels) if majority(three)]
    target = np.array([float(majority(labels[i]) == "neither") for i in known])
    write_linear(OUT, *(fitted([every[i] for i in known], target) for every in (masked, plain)))
    print(f"{OUT.name}: {OUT.stat().st_size / 1e6:.2f} MB")


def main() -> None:
    """Sample, score or train."""
    parser = ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("sample", "score", "train"))
    parser.add_argument("data", type=Path)
    parser.add_argument("--out", type=Path, default=Path("sample"))
    asked = parser.parse_args()
    if asked.what == "sample":
        sample(asked.data, asked.out)
    else:
        {"score": score, "train": train}[asked.what](asked.data)


if __name__ == "__main__":
    main()
