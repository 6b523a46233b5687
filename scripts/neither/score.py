"""Whether "neither" can be told on a source left out, and how shares of agentic sentences move.

    python scripts/neither/score.py LETTERS.csv BIOGRAPHIES.csv

Prints the agreement of both passes of labelling, precision and recall of "neither" by a linear
classifier trained on the two other sources and by the shipped word lists (a sentence without a word
of either says neither), and the shares of agentic sentences, of all and of those that say one.
"""

import argparse
import csv
from pathlib import Path

import numpy as np
from draw import HERE, drawn
from numpy.typing import NDArray

from portrayal.annotate.agency import load_classifier
from portrayal.annotate.agency.linear import fit_linear, linear_classifier

SOURCES = ("letters", "biographies", "advice")


def kappa(first: NDArray[np.str_], second: NDArray[np.str_]) -> float:
    """Cohen's kappa of two passes."""
    chance = sum((first == label).mean() * (second == label).mean() for label in np.unique(first))
    return float(((first == second).mean() - chance) / (1.0 - chance))


def told(name: str, is_neither: NDArray[np.bool_], truth: NDArray[np.bool_]) -> str:
    """Precision and recall of those called neither, and their share beside the true one."""
    right = (is_neither & truth).sum()
    return (
        f"{name}: precision {right / max(is_neither.sum(), 1):.2f}, recall "
        f"{right / truth.sum():.2f}, called {is_neither.mean():.2f}, true {truth.mean():.2f}"
    )


def main() -> None:
    """Print the figures of docs/agency.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("letters", type=Path)
    parser.add_argument("biographies", type=Path)
    options = parser.parse_args()
    sample = drawn(options.letters, options.biographies)
    with (HERE / "labels.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    sentences = [sample[row["sentence"]][2] for row in rows]
    first, second, label, source, gender = (
        np.array([row[name] for row in rows])
        for name in ("first", "second", "label", "source", "gender")
    )
    truth = label == "neither"
    print(f"agreement {(first == second).mean():.3f}, kappa {kappa(first, second):.3f}")
    without_words = np.isnan(load_classifier("lexicon")(sentences)[:, 1])
    readings = {name: load_classifier(name)(sentences)[:, 1] for name in ("linear", "transformer")}
    for name in SOURCES:
        inside = source == name
        others = [
            sentence for sentence, left_out in zip(sentences, inside, strict=True) if not left_out
        ]
        classify = linear_classifier(fit_linear(others, truth[~inside].astype(float).tolist()))
        p = classify([s for s, chosen in zip(sentences, inside, strict=True) if chosen])[:, 1]
        print(told(f"{name}, trained on the others", p > 0.5, truth[inside]))
        print(told(f"{name}, word lists", without_words[inside], truth[inside]))
        for group in np.unique(gender[inside]).tolist():
            part = inside & (gender == group)
            one = part & ~truth
            shares = ", ".join(
                f"{reader} {np.nanmean(p[part] > 0.5):.3f}, of those that say one "
                f"{np.nanmean(p[one] > 0.5):.3f}"
                for reader, p in readings.items()
            )
            print(
                f"  {group or 'all'}: neither {truth[part].mean():.3f}; agentic by {shares}, by "
                f"label {(label[one] == 'agentic').mean():.3f}"
            )


if __name__ == "__main__":
    main()
