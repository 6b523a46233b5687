"""Measure how far readers move conclusions, on stories that nothing was fitted to.

    PYTHONPATH=scripts python scripts/reader/measure_conclusions.py STORIES.jsonl [--write]

STORIES are labelled as `portrayal score people` reads them. The network was trained on most of
their prompts, so the rules alone read them, with weights fitted to other prompts: what they err is
no less than what the reader errs, which differs where they are unsure. The reader reads the marked
stories whose prompts the network left out; these, which are meant to mislead, stand as domains of
their own ("couples (written)").

Prints these conclusions, and those of rules, network and reader on the stories that none of them
was fitted to; then, for the rules, how often the quotient that other prompts let expect
(`shift_of`, without what chance adds) holds that of one prompt left out, of a half of the prompts,
and of a domain left out. `--write` puts the cells into `conclusions.v1.csv`.
"""

import argparse
import csv
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import astuple, fields, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from examples import fold_of, marked
from people_stories import read, story_of
from train_people import left_out

from portrayal.annotate.people.reader import read_people
from portrayal.annotate.people.reader.network import CARD
from portrayal.annotate.people.reader.reading import UNSURE, WEIGHTS
from portrayal.annotate.people.shared.model import Roles
from portrayal.annotate.people.stories.rows import PEOPLE
from portrayal.measure.stories.conclusions import (
    LADEN,
    LEAST_PEOPLE,
    Conclusion,
    conclusions,
    shift_of,
    summary_of,
)
from portrayal.raters.people import Labelled, SlotArrays, compare

HERE = Path(__file__).parent / "stories"
FILES = {
    **dict.fromkeys(("equal", "love", "order"), "couples"),
    **dict.fromkeys(("acting", "learning", "power", "work"), "work and learning"),
    **dict.fromkeys(("everyday", "hard", "plain", "they"), "everyday"),
}
"""Files of marked stories that measure, and their domains; others serve for training alone."""
NEW = ("order", "they")
"""Files of which nothing was trained on."""
OUT = Path("src/portrayal/measure/stories/conclusions.v1.csv")
LEVEL, HALVES = 0.95, 20
Kept = Callable[[tuple[Any, Any], int], bool]
"""Whether a prompt (domain and condition, cluster) shows how the reader errs."""


def written(fold: Sequence[int]) -> list[dict]:
    """Return the marked stories of these folds as labelled rows."""
    rows = []
    for name, domain in FILES.items():
        for example in marked(HERE / f"{name}.txt"):
            unseen = name in NEW or fold_of(example.prompt) in fold
            if not unseen or PEOPLE.why_unread(example.text):
                continue
            subject, other = example.roles.subject, example.roles.object
            row: dict[str, Any] = {"text": example.text, "prompt": example.prompt}
            row |= {"subject_role": subject, "object_role": other, "domain": f"{domain} (written)"}
            # Two of one role depend on each other alike.
            row["condition"] = LADEN if other and other != subject else "power-neutral"
            people = zip(("subject", "object"), example.gold, example.genders, strict=False)
            for slot, first_name, gender in people:
                row[f"gold_{slot}_name"] = first_name or None
                row[f"gold_{slot}_gender"] = gender or "Unspecified"
            rows.append(row)
    return rows


def some_of(slots: SlotArrays, kept: np.ndarray) -> SlotArrays:
    """Return some of the slots."""
    where = np.flatnonzero(kept).tolist()
    return replace(
        slots,
        cluster=slots.cluster[kept],
        name=[slots.name[i] for i in where],
        gold_name=[slots.gold_name[i] for i in where],
        gender=slots.gender[kept],
        gold_gender=slots.gold_gender[kept],
        strata={key: [values[i] for i in where] for key, values in slots.strata.items()},
    )


def show(cells: Sequence[Conclusion]) -> None:
    """Print the ratios of genders and pairs, and the summary of all groups."""
    for c in cells:
        if not c.race and c.people >= LEAST_PEOPLE:
            print(
                f"| {c.domain}, {c.of} | {c.gender} | {c.people:.0f} of {c.prompts} prompts | "
                f"{c.labels:.2f} | {c.read:.2f} | {np.exp(c.quotient):.2f} "
                f"({np.exp(c.low):.2f} to {np.exp(c.high):.2f}) |"
            )
    total = summary_of(cells)
    print(f"{total.cells} cells, mean |log| {total.shift or 0:.3f}, {total.differ or 0:.0%} differ")


def held(slots: SlotArrays, splits: Iterable[Kept]) -> tuple[int, int, int]:
    """Return cells, those whose quotient is where other prompts let expect it, and unknown ones."""
    place = list(zip(slots.strata["domain"], slots.strata["condition"], strict=True))
    n = hits = unknown = 0
    for shows in splits:
        kept = np.array([shows(at, c) for at, c in zip(place, slots.cluster, strict=True)])
        cells = conclusions(some_of(slots, kept))
        for c in conclusions(some_of(slots, ~kept)):
            if c.people < LEAST_PEOPLE:
                continue
            cell = c.domain, c.of, c.gender, c.race
            shift = shift_of(cells, cell, c.people, c.prompts, LEVEL)
            if isinstance(shift, str):
                unknown += 1
                continue
            n += 1
            hits += min(0.0, shift[0] - shift[1]) <= c.quotient <= max(0.0, sum(shift))
    return n, hits, unknown


def _is_in(clusters: set[int], _: tuple[Any, Any], cluster: int) -> bool:
    return int(cluster) in clusters


def _is_other(out: int, _: tuple[Any, Any], cluster: int) -> bool:
    return cluster != out


def _is_elsewhere(domain: str, at: tuple[Any, Any], _: int) -> bool:
    return bool(at[0] != domain)


def check(slots: SlotArrays) -> None:
    """Print how often what other prompts let expect holds what is seen in those left out."""
    prompts: dict[tuple[Any, Any], list[int]] = {}
    for domain, condition, cluster in zip(
        slots.strata["domain"], slots.strata["condition"], slots.cluster.tolist(), strict=True
    ):
        prompts.setdefault((domain, condition), []).append(cluster)
    halves: list[Kept] = []
    for seed in range(HALVES):
        rng, first = np.random.default_rng(seed), set()
        for clusters in prompts.values():
            order = rng.permutation(sorted(set(clusters)))
            first |= set(order[::2].tolist())
        halves.append(partial(_is_in, first))
    ways: dict[str, list[Kept]] = {
        "one prompt left out": [partial(_is_other, out) for out in range(slots.n_clusters)],
        "half of the prompts left out": halves,
        "a domain left out": [
            partial(_is_elsewhere, out) for out in sorted({d for d, _ in prompts})
        ],
    }
    for name, splits in ways.items():
        n, hits, unknown = held(slots, splits)
        print(f"{name}: {hits} of {n} cells held, {hits / n:.1%}; of {unknown} nothing is known")


def main() -> None:
    """Measure, print, and write where asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("stories", type=Path)
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    rows = read(asked.stories)
    by_rules: list[Labelled] = [v.characters() for v in left_out([story_of(row) for row in rows])]
    slots = compare(rows, by_rules)
    cells = conclusions(slots, PEOPLE.name)
    fold = json.loads((WEIGHTS / CARD).read_text(encoding="utf-8"))["fold"]
    unseen = [i for i, row in enumerate(rows) if fold_of(row["prompt"]) in fold]
    marks = written(fold)
    both = [rows[i] for i in unseen] + marks
    asked_of = [
        (row["text"] or "", Roles(row["subject_role"], row.get("object_role")), row["prompt"])
        for row in both
    ]
    readings: dict[str, list[Labelled]] = {
        "rules": [by_rules[i] for i in unseen]
        + [read_people(*one, below=0.0) for one in asked_of[len(unseen) :]],
        "rules and network": [read_people(*one, below=1.1) for one in asked_of],
        PEOPLE.name: [read_people(*one, below=UNSURE) for one in asked_of],
    }
    print("all stories, by the rules")
    show(cells)
    for reader, people in readings.items():
        of_reader = conclusions(compare(both, people), reader)
        print(f"\nstories that nothing was fitted to, by {reader}")
        show(of_reader)
    cells += [c for c in of_reader if c.domain.endswith("(written)")]
    print()
    check(slots)
    if asked.write:
        with OUT.open("w", encoding="utf-8", newline="") as stream:
            writer = csv.writer(stream, lineterminator="\n")
            writer.writerow([field.name for field in fields(Conclusion)])
            for cell in cells:
                writer.writerow([f"{x:.6g}" if isinstance(x, float) else x for x in astuple(cell)])


if __name__ == "__main__":
    main()
