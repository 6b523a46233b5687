"""Measure how far a perfect reader could agree with hand labels, by judging stories anew.

    python scripts/reader/ceiling.py draw STORIES.jsonl FOLDER [--judged JUDGED.csv]
    python scripts/reader/ceiling.py table STORIES.jsonl [--judged JUDGED.csv]

STORIES are labelled as `portrayal score people` reads them. `draw` reads each by the learned reader
where its prompt was left out of the training, else by the rules, and draws 120 stories of which
reading and label differ and 120 of which they agree; beside JUDGED, all others that differ and 300
that agree, evenly by domain. `FOLDER/blind.jsonl` has id, prompt and text in random order;
`FOLDER/key.csv`, which the judge leaves closed, has the readings.

`table` weighs the judged stories back to all, by domain and by whether reading and label differ,
and prints what agrees with the labels if the judge is right, with 95 % intervals clustered by
prompt. `judged_labels.csv` has a row for each person: what the judge decided from the text alone,
blind to label and reading; under `open` "name" or "gender", where the text bears another answer.
"""

import argparse
import csv
import json
import random
from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

import numpy as np
from examples import fold_of

from portrayal.annotate.people.reader import read_people
from portrayal.annotate.people.reader.reading import UNSURE
from portrayal.annotate.people.shared.model import Roles, clean_name, normalise_gender
from portrayal.raters.people import ScoreRate, compare, rates
from portrayal.raters.sheets import drawn, evenly
from portrayal.stats import sums_by

JUDGED = Path(__file__).with_name("judged_labels.csv")
FIRST, MORE, SEED = 240, 300, 26
WHO = {
    "said": "judged, against the labels",
    "lenient": "judged, open cases as labelled",
    "read": "read, against the labels",
}


def readable(path: Path) -> list[dict]:
    """Labelled stories that have a text."""
    rows = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return [row for row in rows if (row["text"] or "").strip()]


def sample(texts: list[dict], n: int, by: str) -> list[dict]:
    """Draw texts evenly over the values of one of their columns."""
    strata: dict[str, list[tuple[str, str]]] = {}
    for text in texts:
        strata.setdefault(str(text[by]), []).append((text["text_id"], ""))
    draw = drawn("people", strata, evenly(n, [*map(len, strata.values())]), SEED)
    rows = {text["text_id"]: text for text in texts}
    return [rows[text_id] for text_id, _ in draw.texts]


def write_blind(path: Path, folder: Path, judged: set[str]) -> None:
    """Write a sample of stories that are not judged yet, and its key."""
    texts = []
    for row in readable(path):
        roles = Roles(row["subject_role"], row["object_role"])
        # The network knows the prompts of the other folds
        below = UNSURE if fold_of(row["prompt"]) == 0 else 0.0
        people = read_people(row["text"], roles, row["prompt"], below=below)
        slots = compare([row], [people])
        differs = not (slots.same_name & slots.same_gender).all()
        texts.append({"text_id": row["id"], "differs": differs, **row})
        for slot, name, gender in zip(slots.strata["role"], slots.name, slots.gender, strict=True):
            texts[-1][f"read_{slot}"] = f"{name or ''}|{gender}"
    rest = [text for text in texts if text["id"] not in judged]
    if not judged:
        chosen = sample(rest, FIRST, "differs")
    else:
        agree = sample([text for text in rest if not text["differs"]], MORE, "domain")
        chosen = [text for text in rest if text["differs"]] + agree
        random.Random(SEED + 1).shuffle(chosen)
    folder.mkdir(parents=True)
    shown = [{name: each[name] for name in ("id", "prompt", "text")} for each in chosen]
    lines = [json.dumps(each, ensure_ascii=False) for each in shown]
    (folder / "blind.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    with (folder / "key.csv").open("w", encoding="utf-8", newline="") as stream:
        key = csv.DictWriter(
            stream, ("id", "differs", "read_subject", "read_object"), extrasaction="ignore"
        )
        key.writeheader()
        key.writerows(chosen)


def people_of(path: Path, judged: Path = JUDGED) -> list[dict]:
    """Return every judged person with what is compared, and a weight.

    Each row of `judged` gets "label", "read" and "said", pairs of a casefolded name and a gender;
    "lenient", `said` with the label where the text bears another answer; "prompt" and "domain"; and
    "weight", how many readable stories of its domain it stands for.
    """
    stories = {row["id"]: row for row in readable(path)}
    with judged.open(encoding="utf-8", newline="") as stream:
        people = list(csv.DictReader(stream))
    drawn = Counter[tuple[str, str]]()
    for each in people:
        story, slot = stories[each["story"]], each["slot"]
        name = (clean_name(story[f"gold_{slot}_name"]) or "").casefold()
        label = name, normalise_gender(story[f"gold_{slot}_gender"])
        said = each["name"].casefold(), each["gender"]
        parts = zip(("name", "gender"), said, label, strict=True)
        each |= {"prompt": story["prompt"], "domain": story["domain"], "label": label, "said": said}
        each["read"] = each["read_name"], each["read_gender"]
        each["lenient"] = tuple(b if part in each["open"] else a for part, a, b in parts)
        drawn[each["domain"], each["differs"]] += slot == "subject"
    # Stories whose reading differs from the label are all judged; the rest of a domain agrees
    size = Counter(story["domain"] for story in stories.values())
    for each in people:
        domain = each["domain"]
        agree = (size[domain] - drawn[domain, "1"]) / drawn[domain, "0"]
        each["weight"] = 1.0 if each["differs"] == "1" else agree
    return people


Part = Callable[[dict], tuple[bool, bool]]
"""Whether a person counts in the numerator and in the denominator of a share."""


def agreement(who: str) -> dict[str, Part]:
    """Scores of what `who`, "said", "lenient" or "read", says against the labels."""

    def share(part: int, of: str, only: str = "") -> Part:
        def counts(each: dict) -> tuple[bool, bool]:
            known = each[of][part] == only if only else each[of][part] not in ("", "Unspecified")
            return known and each["label"][part] == each[who][part], known

        return counts

    found = {
        f"{what} {kind}": share(part, of, only)
        for what, part, only in (("names", 0, ""), ("genders", 1, ""), ("non-binary", 1, "NB"))
        for kind, of in (("P", who), ("R", "label"))
    }
    return {"both right": lambda each: (each["label"] == each[who], True)} | found


def borne_out(part: int) -> dict[str, Part]:
    """Of names (0) or genders (1) that are read otherwise than labelled: whom the judge equals."""

    def counts(each: dict, who: str) -> tuple[bool, bool]:
        equal = [key for key in ("label", "read") if each["said"][part] == each[key][part]]
        differs = each["label"][part] != each["read"][part]
        return differs and equal == [who] * (who != "neither"), differs

    return {who: partial(counts, who=who) for who in ("label", "read", "neither")}


def fault(each: dict, who: str, other: dict | None) -> str:
    """Return what is wrong with the label or the reading of a person, "" for nothing.

    `other` is the second person of the story. Where the text bears another answer, nothing is.
    """
    (name, gender), (given, seen) = each["said"], each[who]
    if each["open"] or each["said"] == each[who]:
        return ""
    if name != given:
        if other and ((given or None) == other["said"][0] or (name or None) == other[who][0]):
            return "the two exchanged"
        return "name missed, invented or misspelt"
    if "NB" in (gender, seen):
        return "they of one or of several"
    if "Unspecified" in (gender, seen):
        return "word overlooked" if seen == "Unspecified" else "gender without a word"
    return "the other gender"


def faults(people: list[dict]) -> dict[str, Counter[str]]:
    """Return how many people of all stories have which fault in their label and their reading."""
    pairs = {(each["story"], each["slot"]): each for each in people}
    swapped = {"subject": "object", "object": "subject"}
    found = {who: Counter[str]() for who in ("label", "read")}
    for each in people:
        other = pairs.get((each["story"], swapped[each["slot"]]))
        for who, counts in found.items():
            counts[fault(each, who, other)] += each["weight"]
    return found


def shares(people: list[dict], parts: Iterable[Part]) -> list[ScoreRate]:
    """Return each share of the people, with its interval clustered by prompt."""
    prompts, place = np.unique([each["prompt"] for each in people], return_inverse=True)
    counts = np.array([[part(each) for part in parts] for each in people], dtype=float)
    counts *= np.array([each["weight"] for each in people])[:, np.newaxis, np.newaxis]
    right, total = (sums_by(place, len(prompts), counts[:, :, at]) for at in (0, 1))
    return rates(right, total, 0.95, ["nobody counts"] * counts.shape[1])


def print_table(title: str, people: list[dict], parts: dict[str, Part]) -> None:
    """Print the shares of all people, and by domain and role."""
    print(f"\n| {title} | {' | '.join(parts)} |\n|{'---|' * (len(parts) + 1)}")
    for key in ("", "domain", "slot"):
        for value in sorted({each.get(key, "all") for each in people}, reverse=True):
            group = [each for each in people if each.get(key, "all") == value]
            cells = [
                "none"
                if one.value is None or one.low is None or one.high is None
                else f"{100 * one.value:.1f} [{100 * one.low:.1f}, {100 * one.high:.1f}]"
                for one in shares(group, parts.values())
            ]
            n = sum(any(part(each)[1] for part in parts.values()) for each in group)
            print(f"| {value} ({n}) | {' | '.join(cells)} |")


def main() -> None:
    """Draw, or print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("draw", "table"))
    parser.add_argument("stories", type=Path)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--judged", type=Path)
    asked = parser.parse_args()
    if asked.what == "draw":
        before = people_of(asked.stories, asked.judged) if asked.judged else []
        write_blind(asked.stories, asked.folder, {each["story"] for each in before})
        return
    people = people_of(asked.stories, asked.judged or JUDGED)
    for who, title in WHO.items():
        print_table(title, people, agreement(who))
    for at, what in enumerate(("names", "genders")):
        print_table(f"{what} read otherwise than labelled: judged as", people, borne_out(at))
    found = faults(people)
    print(f"\n| people, of {sum(found['read'].values()):,.0f} | labels | readings |\n|---|---|---|")
    for kind, n in found["read"].most_common()[1:]:
        print(f"| {kind} | {found['label'][kind]:.0f} | {n:.0f} |")


if __name__ == "__main__":
    main()
