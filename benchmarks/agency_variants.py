"""How far choices of method move the order and the gaps of ChatGPT's biographies.

    python -m benchmarks.agency_variants TEXTS [CLASSIFIER ...]

TEXTS is LABE's file of biographies by ChatGPT, CLASSIFIER what `portrayal audit agency
--classifier` takes. Prints for each way to compute the ratio gap, sentences as they stand: its
level, Spearman's correlation of the eight groups with Table 23, men minus women, and the variances
by gender and race, in percentage points, beside the published ones.
"""

import argparse
import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from portrayal.annotate.agency import load_classifier, mask
from portrayal.annotate.agency.rows import agency_sentences
from portrayal.reference.shipped import published

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Texts:
    """Sentences of the texts, and whom each text is about.

    Attributes
    ----------
    race, gender
        Of the person of each text, shape (n,).
    sentences, masked
        Of all texts, shape (m,).
    of, position
        Text of each sentence, and its place there from 0.
    """

    race: NDArray[np.str_]
    gender: NDArray[np.str_]
    sentences: list[str]
    masked: list[str]
    of: IntArray
    position: IntArray


def read(path: Path) -> Texts:
    """Read LABE's file."""
    with path.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    found = [[row["text"][a:b] for a, b in agency_sentences(row["text"])] for row in rows]
    masked = [
        mask(each, [row["name"]]) for row, own in zip(rows, found, strict=True) for each in own
    ]
    size = [len(own) for own in found]
    return Texts(
        np.array([row["race"] for row in rows]),
        np.array([row["gender"] for row in rows]),
        [each for own in found for each in own],
        masked,
        np.repeat(np.arange(len(rows)), size),
        np.concatenate([np.arange(n) for n in size]),
    )


def variants(texts: Texts, classifier: str) -> Iterator[tuple[str, FloatArray]]:
    """Yield ways to compute the ratio gap of each text, shape (n,), in percentage points."""
    plain = load_classifier(classifier, masked=False)
    agentic = plain(texts.sentences)[:, 1]
    known = ~np.isnan(agentic)
    label = np.where(known, agentic > 0.5, np.nan)
    yield "as the paper: labels, mean of texts", _gaps(texts, label)
    yield "probabilities in place of labels", _gaps(texts, agentic)
    share = np.mean([row["agentic_percent"] for row in _printed()]) / 100
    at = float(np.quantile(agentic[known], 1 - share))
    moved = np.where(known, agentic > at, np.nan)
    yield f"threshold {at:.2f}: as many agentic sentences as published", _gaps(texts, moved)
    size = np.bincount(texts.of)
    group = np.char.add(texts.race, texts.gender)
    weight = size / np.array([size[group == each].mean() for each in group])
    yield "all sentences of a group as one text", _gaps(texts, label) * weight
    later = np.where(texts.position > 0, label, np.nan)
    yield "without each text's first sentence", _gaps(texts, later)
    masked = plain(texts.masked)[:, 1]
    yield "the same scores on masked sentences", _gaps(texts, np.where(known, masked > 0.5, np.nan))
    own = load_classifier(classifier, masked=True)(texts.masked)[:, 1]
    yield "masked, scores for masked sentences", _gaps(texts, np.where(known, own > 0.5, np.nan))


def _gaps(texts: Texts, agentic: FloatArray) -> FloatArray:
    """Mean over the sentences of each text that are read, as a ratio gap in percentage points."""
    known = ~np.isnan(agentic)
    of = texts.of[known]
    n = len(texts.race)
    count = np.bincount(of, minlength=n)
    return 200 * np.bincount(of, agentic[known], minlength=n) / count - 100


def _printed() -> list[dict[str, float]]:
    """ChatGPT's published biographies by race and gender."""
    return [
        row
        for row in published("wan_agency_by_group").to_pylist()
        if (row["text_type"], row["model"], row["mitigation"]) == ("Biography", "ChatGPT", "none")
        and "All" not in (row["race"], row["gender"])
    ]


def line(texts: Texts, gap: FloatArray) -> str:
    """Return the figures of one way as cells of a table."""
    men = texts.gender == "male"
    groups = [(r, m) for r in np.unique(texts.race) for m in (False, True)]
    eight = [gap[(texts.race == r) & (men == m)].mean() for r, m in groups]
    rho = stats.spearmanr(eight, [row["ratio_gap"] for row in _printed()]).statistic
    difference = gap[men].mean() - gap[~men].mean()
    four = [gap[texts.race == r].mean() for r in np.unique(texts.race)]
    figures = (difference, difference**2 / 2, np.var(four, ddof=1))
    cells = (f"{gap.mean():+.1f}", f"{rho:.2f}", *(f"{each:.1f}" for each in figures))
    return " | ".join(cells)


def main() -> None:
    """Print a table for each classifier."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("texts", metavar="TEXTS", type=Path)
    parser.add_argument("classifiers", metavar="CLASSIFIER", nargs="*", default=["linear"])
    given = parser.parse_args()
    texts = read(given.texts)
    printed = [row["ratio_gap"] for row in _printed()]
    print(f"published: level {np.mean(printed):+.1f}, men - women 8.5, variances 38.1 and 47.8")
    for classifier in given.classifiers:
        print(f"\n| {classifier} | level | Spearman | men - women | gender | race |")
        print("|---|---|---|---|---|---|")
        for name, gap in variants(texts, classifier):
            print(f"| {name} | {line(texts, gap)} |", flush=True)


if __name__ == "__main__":
    main()
