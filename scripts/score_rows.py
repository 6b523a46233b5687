"""Print the share of rows of `portrayal find people` that are no people, by a list of judged rows.

    python scripts/score_rows.py tests/annotate/people/judged_rows.csv --stories STORIES.jsonl.gz \
        --locale en-IN --gold GOLD.jsonl

The list has a row for each person listed: sample, story, name, and whether a reader of the story
took it for a person's (1) or not (0). Intervals are 95 %, clustered by prompt: a story's number
behind its prompt's name does not count. With `--stories`, it also says how many of the judged rows
are still listed, without a locale and with it; with `--gold`, the share of hand-labelled first
names that are found in stories with labels.
"""

import argparse
import csv
import gzip
import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from portrayal.annotate.people.any_text.everyone import find_everyone
from portrayal.reference.locales import Locale, load_locale
from portrayal.stats import infer_shares

Row = dict[str, str]


def share(units: Iterable[tuple[str, bool]]) -> str:
    """Percent of units that count, with its interval; a unit is its prompt and whether it does."""
    counts, totals = Counter[str](), Counter[str]()
    for prompt, counted in units:
        counts[prompt] += counted
        totals[prompt] += 1
    found = infer_shares([[counts[p]] for p in totals], [[n] for n in totals.values()], 0.95)
    value, low, high = (100 * float(each[0]) for each in (found.value, found.low, found.high))
    return f"{value:.1f} % [{low:.1f}, {high:.1f}], {totals.total()} of {len(totals)} prompts"


def prompt_of(story: str) -> str:
    """The prompt of a story: "up-birth-caste-explicit-013" is the 13th of its prompt."""
    return story.rpartition("-")[0]


def is_listed(name: str, listed: Iterable[str]) -> bool:
    """Whether a name, or a part of it without a title or honorific, is listed."""
    words = {word.removesuffix("ji").rstrip("-") for word in name.split()}
    return any(name == each or words.issuperset(each.split()) for each in listed)


def still_listed(rows: list[Row], texts: dict[str, str], locale: Locale | None) -> list[bool]:
    """Whether the name of each row is listed for its story now."""
    listed = {
        story: [person.name or "" for person in find_everyone(texts[story], locale=locale)]
        for story in dict.fromkeys(row["story"] for row in rows)
    }
    return [is_listed(row["name"], filter(None, listed[row["story"]])) for row in rows]


def recalled(path: Path, locale: Locale | None) -> str:
    """The share of first names of hand-labelled characters that are found in their stories."""
    units = []
    for row in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
        labels = dict.fromkeys(row[f"gold_{slot}_name"] or "" for slot in ("subject", "object"))
        labels.pop("Unspecified", None)
        names = [name for name in labels if name.isalpha() and row["text"]]
        ours = {person.first for person in find_everyone(row["text"] or "", locale=locale)}
        units += [(row["prompt"], name in ours) for name in names]
    return share(units)


def read(path: Path) -> list[Row]:
    """The judged rows of a file."""
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def main() -> None:
    """Print shares of each sample."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("judged", type=Path)
    parser.add_argument("--stories", type=Path)
    parser.add_argument("--gold", type=Path)
    parser.add_argument("--locale")
    given = parser.parse_args()
    locales = [None, *([load_locale(given.locale)] if given.locale else [])]
    rows = read(given.judged)
    for sample in dict.fromkeys(row["sample"] for row in rows):
        part = [row for row in rows if row["sample"] == sample]
        found = share((prompt_of(row["story"]), row["person"] == "0") for row in part)
        print(f"{sample}: no people {found}")
    for locale in locales:
        under = f"with {locale.name}" if locale else "without a locale"
        if given.stories:
            lines = gzip.decompress(given.stories.read_bytes()).splitlines()
            texts = {row["id"]: row["text"] for row in map(json.loads, lines)}
            for person, label in (("1", "people"), ("0", "no people")):
                part = [row for row in rows if row["person"] == person]
                listed = still_listed(part, texts, locale)
                units = zip((prompt_of(row["story"]) for row in part), listed, strict=True)
                print(f"{under}: judged {label} listed {share(units)}")
            listed = still_listed(rows, texts, locale)
            kept = [row for row, here in zip(rows, listed, strict=True) if here]
            wrong = share((prompt_of(row["story"]), row["person"] == "0") for row in kept)
            print(f"{under}: of judged rows that are listed, no people {wrong}")
        if given.gold:
            print(f"{under}: labelled first names found {recalled(given.gold, locale)}")


if __name__ == "__main__":
    main()
