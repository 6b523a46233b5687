"""Sentences of three sources, masked, in a shuffled order: what is labelled by `codebook.md`.

    python scripts/neither/draw.py LETTERS.csv BIOGRAPHIES.csv --seed 1

Letters are those of Wan et al. (2023), biographies those of LABE, both published by their authors;
advice was written by a language model for this project. Printed are numbers and sentences; which
source, group and text a sentence is of is not. Labels name sentences by a digest.
"""

import argparse
import csv
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path

import numpy as np

from portrayal.annotate.agency import mask
from portrayal.annotate.agency.rows import agency_sentences

HERE = Path(__file__).parent
EACH = 300
TEXT = {"letters": "chatgpt_gen", "biographies": "text"}


def digest(sentence: str) -> str:
    """Return what a sentence is called in the file of labels."""
    return blake2b(sentence.encode(), digest_size=8).hexdigest()


def sentences_of(name: str, path: Path) -> Iterator[tuple[str, str]]:
    """Yield gender and masked sentence of every text of a source."""
    with path.open(encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream):
            text = row[TEXT[name]]
            for low, high in agency_sentences(text):
                yield row["gender"], " ".join(mask(text[low:high], (row["name"],)).split())


def drawn(letters: Path, biographies: Path) -> dict[str, tuple[str, str, str]]:
    """Return source, gender ("" of advice) and sentence by digest; 300 different of each source."""
    sample = {}
    for name, path in (("letters", letters), ("biographies", biographies)):
        unique = {sentence: gender for gender, sentence in sentences_of(name, path)}
        rng = np.random.default_rng(0)
        for i in rng.permutation(len(unique))[:EACH].tolist():
            sentence = [*unique][i]
            sample[digest(sentence)] = name, unique[sentence], sentence
    for line in (HERE / "advice.txt").read_text(encoding="utf-8").splitlines():
        sample[digest(line)] = "advice", "", line
    return sample


def main() -> None:
    """Print the sentences in a random order."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("letters", type=Path)
    parser.add_argument("biographies", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    sample = drawn(options.letters, options.biographies)
    order = np.random.default_rng(options.seed).permutation(len(sample))
    rows = [*sample.values()]
    for number, i in enumerate(order.tolist()):
        print(number, rows[i][2])


if __name__ == "__main__":
    main()
