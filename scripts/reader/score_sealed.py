"""Print how well the confidences are calibrated on stories whose labels are hashed: totals only.

    python scripts/reader/score_sealed.py BLIND_TOOL [--reader FOLDER] [--below 0.9]

BLIND_TOOL is the file of the tool that knows how the labels are hashed and compares names.
"""

import argparse
import csv
import importlib.util
import json
from pathlib import Path
from typing import Any

import numpy as np

from portrayal.annotate.people.reader.reading import UNSURE, WEIGHTS, read_people
from portrayal.annotate.people.shared.model import Roles

GENDERS = {"F": "Female", "M": "Male", "NB": "Non-binary"}
WHAT = ("name", "gender", "both")


def main() -> None:
    """Read the stories, compare, and print a line for each confidence."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tool", type=Path)
    parser.add_argument("--reader", type=Path, default=WEIGHTS)
    parser.add_argument("--below", type=float, default=UNSURE)
    asked = parser.parse_args()
    spec = importlib.util.spec_from_file_location("sealed", asked.tool)
    assert spec is not None
    assert spec.loader is not None
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    lines = (tool.DATA / "blind_stories.jsonl").read_text(encoding="utf-8").splitlines()
    texts = [json.loads(line) for line in lines]
    with (tool.DATA / "blind_labels.csv").open(encoding="utf-8", newline="") as stream:
        labels = {(row["id"], row["role"]): row for row in csv.DictReader(stream)}
    stories = [
        (each["text"] or "", Roles(each["subject_role"], each["object_role"]), each["prompt"])
        for each in texts
    ]
    slots = []
    for each, story in zip(texts, stories, strict=True):
        people = read_people(*story, folder=asked.reader, below=asked.below)
        for role, person in zip(("subject", "object"), people, strict=True):
            if person is None:
                continue
            key = each["id"], role
            said = tool.first_name(person.name) or "", GENDERS.get(person.gender, "")
            right = [
                tool.sealed(*key, part, value) == labels[key][part]
                for part, value in zip(WHAT, said, strict=False)
            ]
            sure = person.name_confidence, person.gender_confidence, person.confidence
            slots.append((*sure, *right, all(right)))
    for what, (confidence, is_right) in zip(WHAT, _pairs(slots), strict=True):
        bins = np.minimum((confidence * 10).astype(int), 9)
        off = sum(
            abs(confidence[bins == at].mean() - is_right[bins == at].mean()) * (bins == at).mean()
            for at in np.unique(bins)
        )
        surest = is_right[np.argsort(-confidence, kind="stable")[: int(0.8 * len(confidence))]]
        print(
            f"{what:6s} {len(confidence)} slots: right {100 * is_right.mean():.1f} %, sure "
            f"{100 * confidence.mean():.1f} %, off {100 * off:.1f}; "
            f"surest 80 % {100 * surest.mean():.1f}"
        )


def _pairs(slots: list[tuple[Any, ...]]) -> list[tuple[np.ndarray, np.ndarray]]:
    """Confidence, and whether it was right, of name, gender and both."""
    columns = np.array(slots, dtype=float).T
    return [(columns[at], columns[at + 3]) for at in range(3)]


if __name__ == "__main__":
    main()
