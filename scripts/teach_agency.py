"""Ask a transformer about sentences without labels, for `scripts/train_agency.py --taught`.

    python scripts/teach_agency.py LAC_FOLDER --teacher FOLDER --texts FILE ... --out FILE

LAC_FOLDER holds train.csv of elainew728/labe-agency (MIT), on which the teacher was trained. It is
asked about parts of those sentences, heads of some put before tails of others, and sentences of
--texts (CSV with the columns text, name), each masked and as it stands. --teacher MASKED,PLAIN asks
one teacher each. The file holds sentences of those texts and is not part of this project.
"""

import argparse
import csv
import json
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from portrayal.annotate.agency import load_classifier, mask
from portrayal.annotate.agency.labelled import LabelledSentences, read_labelled
from portrayal.annotate.sentences import sentences

N_MIXED, N_FROM_TEXTS = 6_000, 9_500
SEED = 0


@dataclass(frozen=True)
class Unlabelled:
    """A sentence for the teacher.

    Attributes
    ----------
    name
        Whom it is about, or "".
    source
        Rows of the training sentences that it was made of; none where it comes from a text.
    """

    text: str
    name: str = ""
    source: tuple[int, ...] = ()


def unlabelled(train: LabelledSentences, texts: Sequence[Path]) -> Iterator[Unlabelled]:
    """Yield the sentences for the teacher, the same in every run."""
    draw = random.Random(SEED)
    halves = []
    for row, sentence in enumerate(train.sentences):
        parts = [part.strip() for part in re.split("[,;]", sentence)]
        if len(parts) > 1:
            halves.append((", ".join(parts[:-1]), parts[-1], row))
    for head, end, row in halves:
        for part in (f"{head}.", end.capitalize()):
            if len(part.split()) > 3:
                yield Unlabelled(part, "", (row,))
    for _ in range(N_MIXED):
        (head, _, first), (_, end, second) = draw.choice(halves), draw.choice(halves)
        yield Unlabelled(f"{head}, {end}", "", (first, second))
    found = []
    for path in texts:
        with path.open(encoding="utf-8", newline="") as stream:
            for cells in csv.DictReader(stream):
                spans = sentences(cells["text"])
                found += [(cells["text"][low:high], cells.get("name", "")) for low, high in spans]
    for text, name in draw.sample(found, min(N_FROM_TEXTS, len(found))):
        yield Unlabelled(text, name)


def main() -> None:
    """Ask the teachers and write one JSON object for each sentence."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("lac", type=Path)
    parser.add_argument("--teacher", required=True, help="for both; or MASKED,PLAIN")
    parser.add_argument("--texts", type=Path, nargs="+", default=[])
    parser.add_argument("--out", type=Path, required=True)
    asked = parser.parse_args()
    found = list(unlabelled(read_labelled(asked.lac / "train.csv"), asked.texts))
    teachers = asked.teacher.split(",")
    given = {
        "masked": [mask(each.text, [each.name]) for each in found],
        "plain": [each.text for each in found],
    }
    said = {
        kind: load_classifier(teacher, kind == "masked")(given[kind])[:, 1].tolist()
        for kind, teacher in (("masked", teachers[0]), ("plain", teachers[-1]))
    }
    with asked.out.open("w", encoding="utf-8") as stream:
        for row, each in enumerate(found):
            facts = {"source": each.source} | {
                kind: {"text": given[kind][row], "agentic": round(said[kind][row], 6)}
                for kind in given
            }
            stream.write(json.dumps(facts, ensure_ascii=False) + "\n")
    print(f"{asked.out.name}: {len(found):,} sentences")


if __name__ == "__main__":
    main()
