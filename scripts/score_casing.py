"""Scores of the people extractors where letters say nothing of names: capitals, lower case.

    python scripts/score_casing.py STORIES.jsonl [--everyone TEXTS.jsonl]

The texts are scored as they stand, all in capitals, and all in lower case, with the labels they
have. STORIES are labelled as `portrayal score people` reads them; TEXTS have a column `people`,
the gender of each person by name.
"""

import argparse
import json
from collections.abc import Callable
from pathlib import Path

from portrayal.annotate.people import find_everyone
from portrayal.raters.people import score_people

KEYS = ("name_precision", "name_recall", "gender_precision", "gender_recall")
CASINGS: dict[str, Callable[[str], str]] = {
    "as written": str,
    "capitals": str.upper,
    "lower case": str.lower,
}


def read(path: Path) -> list[dict]:
    """Rows of a JSON lines file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def show_stories(path: Path) -> None:
    """Print precision and recall of the two characters for each casing."""
    rows = read(path)
    for title, change in CASINGS.items():
        score = score_people([{**row, "text": change(row["text"] or "")} for row in rows])
        cells = "  ".join(f"{key} {100 * (score.value(key) or 0):.1f}" for key in KEYS)
        print(f"{path.name}, {title}: {cells}")


def show_everyone(path: Path) -> None:
    """Print how many people are found under their whole name, and how many are not people."""
    rows = read(path)
    for title, change in CASINGS.items():
        gold = {
            (i, change(name)): g for i, row in enumerate(rows) for name, g in row["people"].items()
        }
        found = {
            (i, person.name): person.gender
            for i, row in enumerate(rows)
            for person in find_everyone(change(row["text"]))
        }
        same = gold.keys() & found.keys()
        right = sum(gold[key] == found[key] for key in same)
        print(
            f"{path.name}, {title}: {len(same)} of {len(gold)} found, {len(found) - len(same)} "
            f"others, {right} genders right"
        )


def main() -> None:
    """Print one line for each casing."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("stories", type=Path, nargs="*")
    parser.add_argument("--everyone", type=Path, action="append", default=[])
    options = parser.parse_args()
    for path in options.stories:
        show_stories(path)
    for path in options.everyone:
        show_everyone(path)


if __name__ == "__main__":
    main()
