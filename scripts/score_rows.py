"""Print the share of rows of `portrayal people` that are no people, by a list of judged rows.

    python scripts/score_rows.py tests/annotate/people/judged_rows.csv --stories STORIES.jsonl.gz

The list has a row for each person listed: sample, story, name, and whether a reader of the story
took it for a person's (1) or not (0). Intervals are 95 %, by bootstrap over stories. With
`--stories`, it also says how many of the judged rows are still listed.
"""

import argparse
import csv
import gzip
import json
from pathlib import Path

import numpy as np

from portrayal.annotate.people import find_everyone

DRAWS, SEED = 10_000, 0
Row = dict[str, str]


def share(rows: list[Row]) -> tuple[float, float, float]:
    """Percent of rows that are no people, and its interval by stories."""
    stories = sorted({row["story"] for row in rows})
    sums = np.zeros((2, len(stories)))
    for row in rows:
        sums[:, stories.index(row["story"])] += int(row["person"] == "0"), 1
    rng = np.random.default_rng(SEED)
    weights = rng.multinomial(len(stories), np.full(len(stories), 1 / len(stories)), size=DRAWS)
    drawn = 100 * (weights @ sums[0]) / (weights @ sums[1])
    low, high = np.percentile(drawn, [2.5, 97.5])
    return 100 * sums[0].sum() / sums[1].sum(), float(low), float(high)


def still_listed(rows: list[Row], texts: dict[str, str]) -> list[tuple[Row, bool]]:
    """Each row, and whether its name is listed for its story now."""
    listed = {
        story: {person.name for person in find_everyone(texts[story])}
        for story in {row["story"] for row in rows}
    }
    return [(row, row["name"] in listed[row["story"]]) for row in rows]


def read(path: Path) -> list[Row]:
    """The judged rows of a file."""
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def main() -> None:
    """Print shares of each sample."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("judged", type=Path)
    parser.add_argument("--stories", type=Path)
    given = parser.parse_args()
    rows = read(given.judged)
    for sample in dict.fromkeys(row["sample"] for row in rows):
        part = [row for row in rows if row["sample"] == sample]
        value, low, high = share(part)
        stories = len({row["story"] for row in part})
        print(f"{sample}: {len(part)} rows of {stories} stories", end=", ")
        print(f"no people {value:.1f} % [{low:.1f}, {high:.1f}]")
    if given.stories:
        lines = gzip.decompress(given.stories.read_bytes()).splitlines()
        texts = {row["id"]: row["text"] for row in map(json.loads, lines)}
        for person, label in (("1", "people"), ("0", "no people")):
            found = still_listed([row for row in rows if row["person"] == person], texts)
            print(f"{label} that are still listed: {sum(now for _, now in found)} of {len(found)}")


if __name__ == "__main__":
    main()
