"""How right are the words of the factors that ship? Prints the table of docs/factors.md.

    python scripts/lexicon_figures.py [--set test] [--stories FILE] [--misses]

Sentences: `tests/reference/lexicons/FACTOR.tsv` (set, sentence, groups of the people in it). A
language model wrote them for this measurement, without sight of the words, with traps. The set
"dev" may be read when words are mended, the set "test" may not. Religion is measured on stories
with labels (`--stories`, such as `india/stories_dev.jsonl.gz` of the development data): its set
"dev" is Uttar Pradesh, "test" Tamil Nadu. A pair of a text and a group is the unit; intervals
(95 %) are clustered by sentence, or by the prompt of a story.
"""

import argparse
import csv
import gzip
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from portrayal.annotate.groups import group_reader, of_cell
from portrayal.reference.factors import ColumnSource, Factor, load_factor
from portrayal.stats import infer_shares

SENTENCES = Path(__file__).parent.parent / "tests" / "reference" / "lexicons"


@dataclass(frozen=True)
class Labelled:
    """A text, the groups of the people in it, and the cluster that it is of."""

    text: str
    groups: frozenset[str]
    cluster: str


def sentences(name: str, which: str) -> list[Labelled]:
    """Return the labelled sentences of one set."""
    with (SENTENCES / f"{name}.tsv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.reader(stream, delimiter="\t", quoting=csv.QUOTE_NONE))
    return [
        Labelled(text, frozenset(filter(None, groups.split(";"))), text)
        for kept, text, groups in rows
        if kept == which
    ]


STATES = {"dev": "Uttar Pradesh", "test": "Tamil Nadu"}


def stories(path: Path, factor: Factor, which: str) -> list[Labelled]:
    """Return stories of one set whose label names a group of the factor."""
    source = factor.sources[1]
    assert isinstance(source, ColumnSource)
    found = []
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        for row in map(json.loads, stream):
            if (row["factor"], row["state"]) == (factor.name, STATES[which]):
                places = of_cell(source, row[factor.name], factor.keys).places
                prompt = f"{row['state']}, {row['ritual']}, {row['form']}"
                if places:
                    groups = frozenset(factor.keys[place] for place in places)
                    found.append(Labelled(row["text"], groups, prompt))
    return found


def seen(factor: Factor, texts: Sequence[Labelled]) -> list[frozenset[str]]:
    """Return the groups that the words of the factor show in each text."""
    rows = [{"text_id": str(i), "text": each.text, "outcome": "ok"} for i, each in enumerate(texts)]
    read = group_reader([factor])(rows, [{} for _ in rows])
    return [
        frozenset(g for one in row["seen"] if one["source"] == "words" for g in one["groups"])
        for row in read
    ]


def figures(factor: Factor, texts: Sequence[Labelled]) -> Iterator[tuple[str, float, float, str]]:
    """Yield name, hits, their number at most, and the share with its interval."""
    read = seen(factor, texts)
    clusters = sorted({each.cluster for each in texts})
    sums = np.zeros((len(clusters), 5))
    for each, groups in zip(texts, read, strict=True):
        hits = len(groups & each.groups)
        bare = not each.groups
        one = (hits, len(groups), len(each.groups), bare and bool(groups), bare)
        sums[clusters.index(each.cluster)] += one
    for name, k, n in (("precision", 0, 1), ("recall", 0, 2), ("traps that count", 3, 4)):
        count, total = sums[:, [k]], sums[:, [n]]
        if not total.sum():
            continue
        found = infer_shares(count, total, 0.95)
        share = f"{100 * found.value[0]:.0f} %"
        if not np.isnan(found.low[0]):
            share += f" [{100 * found.low[0]:.0f}, {100 * found.high[0]:.0f}]"
        yield name, float(count.sum()), float(total.sum()), share


def main() -> None:
    """Print a table, and with --misses what went wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--set", default="test", choices=("dev", "test"))
    parser.add_argument("--stories", type=Path)
    parser.add_argument("--misses", action="store_true")
    given = parser.parse_args()
    measured = {path.stem: sentences(path.stem, given.set) for path in SENTENCES.glob("*.tsv")}
    if given.stories is not None:
        measured["religion"] = stories(given.stories, load_factor("religion"), given.set)
    print("| factor | texts | precision | recall | traps that count |\n|---|---|---|---|---|")
    for name, texts in sorted(measured.items()):
        factor = load_factor(name)
        found = {row[0]: row for row in figures(factor, texts)}
        cells = [
            f"{found[of][3]}, {found[of][1]:.0f} of {found[of][2]:.0f}" if of in found else ""
            for of in ("precision", "recall", "traps that count")
        ]
        print(f"| `{name}` | {len(texts):,} | {' | '.join(cells)} |")
        if given.misses:
            for each, groups in zip(texts, seen(factor, texts), strict=True):
                if groups != each.groups:
                    print(f"    {sorted(each.groups)} read as {sorted(groups)}: {each.text[:90]}")


if __name__ == "__main__":
    main()
