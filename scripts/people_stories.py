"""Labelled stories as the people extractor is trained on them."""

import ast
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from portrayal.annotate.people.shared.model import (
    UNSPECIFIED,
    Roles,
    clean_name,
    gender_of_references,
    normalise_gender,
)
from portrayal.annotate.people.stories.extract import WeighedStory
from portrayal.annotate.people.stories.scene import Scene, read_story

FOLDS, SEED = 5, 0


@dataclass
class Story:
    """A labelled story: its row, what it holds, and names and genders of its slots as labelled."""

    row: dict
    scene: Scene
    gold: list[tuple[str, str]]


def fold(name: str | None) -> str:
    """A name as it is compared."""
    return (name or "").casefold()


def read(path: Path) -> list[dict]:
    """Labelled rows, with genders from references where only those are labelled."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for row in rows:
        for slot in ("subject", "object"):
            if f"gold_{slot}_references" in row and f"gold_{slot}_gender" not in row:
                raw = row[f"gold_{slot}_references"]
                if raw is not None:
                    words = ast.literal_eval(raw) if raw.startswith("[") else [raw]
                    raw = gender_of_references(words)
                row[f"gold_{slot}_gender"] = raw
    return rows


def story_of(row: dict) -> Story:
    """A row with what its story holds."""
    gold = [
        (fold(clean_name(row[f"gold_{slot}_name"])), normalise_gender(row[f"gold_{slot}_gender"]))
        for slot in ("subject", "object")
        if slot == "subject" or row["gold_object_gender"] is not None
    ]
    roles = Roles(row["subject_role"], row["object_role"])
    return Story(row, read_story(row["text"] or "", roles), gold)


def names_of(scene: Scene, slots: Sequence[int | None]) -> list[str]:
    """Casefolded names of the people in slots, "" where they have none."""
    return ["" if i is None else fold(scene.people[i].first) for i in slots]


def genders_of(verdict: WeighedStory) -> list[str]:
    """Genders of the likeliest choice."""
    return [gender or UNSPECIFIED for gender in verdict.choice.genders]


def wanted_genders(names: list[str], gold: list[tuple[str, str]]) -> list[str | None]:
    """Labelled gender of each character found, also where the two were swapped; else None."""
    wanted: list[str | None] = []
    for slot, name in enumerate(names):
        gender = gold[slot][1] if slot < len(gold) and gold[slot][0] == name else None
        if gender is None and len(gold) == 2 and gold[1 - slot][0] == name:
            swapped = len(names) == 2 and names[1 - slot] == gold[slot][0]
            gender = gold[1 - slot][1] if name or swapped else None
        wanted.append(gender)
    return wanted


def folds_of(stories: list[Story]) -> np.ndarray:
    """Fold of each story; all stories of a prompt are in one."""
    prompts = sorted({story.row["prompt"] for story in stories})
    np.random.default_rng(SEED).shuffle(prompts)
    fold_of = {prompt: place % FOLDS for place, prompt in enumerate(prompts)}
    return np.array([fold_of[story.row["prompt"]] for story in stories])
