"""Learn how much a network counts beside the rules, on prompts left out; print what it gives.

    PYTHONPATH=scripts python scripts/reader/fit_joining.py --labelled STORIES.jsonl
        --marked stories/*.txt --readers FOLDER [...] [--unseen stories/they.txt ...]
        [--below 0.8 ...] [--write FOLDER]

FOLDERs are readers that `train.py` or `distil.py` trained without the folds that their cards name:
each reads the prompts that it left out, and all of `--unseen` files, beside rules that are trained
without them, too. Scores are of weights fitted to four parts of these prompts in five, for stories
of the fifth.
"""

import argparse
import json
from collections import Counter
from collections.abc import Callable
from functools import cached_property, partial
from math import log
from pathlib import Path
from unittest.mock import patch

import numpy as np
from examples import FOLDS, NOBODY, Example, fold_of, labelled, marked
from people_stories import Story, read, story_of
from train_people import fit, train

from portrayal.annotate.people.reader.network import (
    CARD,
    NetworkOutput,
    hide,
    load_network,
)
from portrayal.annotate.people.reader.reading import UNSURE, opinion_of, surety_of
from portrayal.annotate.people.shared.links import SCALE, THEY_CODES, weights_of_codes
from portrayal.annotate.people.shared.model import UNSPECIFIED, Character
from portrayal.annotate.people.stories import extract
from portrayal.annotate.people.stories.extract import Weights, both_singly, network_says, weigh
from portrayal.annotate.people.stories.genders import choices, make_cast
from portrayal.annotate.people.stories.roles import ways_of
from portrayal.annotate.people.stories.scene import read_story

MARKED = 0.08
"""Weight of a marked story: rules are right of 94 % of the names in stories by models for prompts
that they never met, of 98 % in the labelled stories and of 60 % in the marked ones, so about one
part in ten of the weight belongs to the latter."""

TEMPERS = (0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 1.0)
"""Values of `extract.TEMPER` to compare."""

START = {"roles": (0.5, 0.3), "genders": (0.5, 0.3, 0.5, 1.0)}
PARTS = 5


class Case:
    """A story with what rules and network say that were trained without its prompt."""

    def __init__(self, example: Example, reading: NetworkOutput, rules: Weights) -> None:
        self.example, self.reading, self.rules = example, reading, rules
        self.scene = read_story(example.text, example.roles)
        self.part = fold_of("part " + example.prompt, PARTS)
        self.weight = 1.0 if example.referents is None else MARKED
        self.alone = self.people(None)
        self.unsure = surety_of(self.alone)

    def people(self, joining: dict | None) -> list[Character]:
        """The people by rules and network, or by the rules alone."""
        opinion = None if joining is None else opinion_of(self.reading, joining, self.scene)
        made = weigh(self.scene, opinion, self.rules).characters()
        return [each for each in made if each is not None]

    def routed(self, joining: dict, below: float) -> list[Character]:
        """The people by the rules alone where these are sure."""
        return self.alone if self.unsure >= below else self.people(joining)

    def right(self, people: list[Character]) -> list[tuple[bool, bool]]:
        """Whether the name, and the gender, of each slot is right."""
        return [
            (
                (each.name or "").casefold() == name,
                (None if each.gender == UNSPECIFIED else each.gender) == gender,
            )
            for each, name, gender in zip(
                people, self.example.gold, self.example.genders, strict=True
            )
        ]

    @cached_property
    def roles(self) -> tuple[np.ndarray, np.ndarray]:
        """What speaks for each way to give the roles, and whether it is right."""
        nobody = self.reading.roles.shape[1] - 1
        ways, values = ways_of(self.scene, nobody)
        signs = np.array(values) @ np.array(self.rules[1]) / SCALE
        spoken = [
            sum(self.reading.roles[slot, -1 if at is None else at] for slot, at in enumerate(way))
            for way in ways
        ]
        right = tuple(None if who == NOBODY else who for who in self.example.who)
        return np.column_stack([signs, spoken]), np.array([way == right for way in ways])

    @cached_property
    def genders(self) -> tuple[np.ndarray, np.ndarray]:
        """What speaks for each choice of the labelled people's genders, and whether it is right."""
        people = self.reading.roles.shape[1] - 1
        slots = [None if who == NOBODY else who for who in self.example.who]
        if any(who is not None and not 0 <= who < people for who in slots):
            return np.zeros((1, 4)), np.zeros(1, dtype=bool)
        codes = self.rules[0]
        rows = [people + slot if at is None else at for slot, at in enumerate(slots)]
        heard = self.reading.genders[rows].tolist()
        cast = make_cast(self.scene, slots)
        made = choices(self.scene, cast, codes, both_singly=both_singly(heard))
        signs = [
            (
                sum(codes[code] for code in each.codes if code not in THEY_CODES) / SCALE,
                *network_says(heard, each.genders),
            )
            for each in made
        ]
        return np.array(signs), np.array([c.genders == self.example.genders for c in made])


def joining_of(cases: list[Case]) -> dict[str, list[float]]:
    """The weights under which the labels are likeliest."""
    joining = {}
    for what, start in START.items():
        tables, right = zip(*(getattr(case, what) for case in cases), strict=True)
        weight = [case.weight for case in cases]
        found = fit(list(tables), list(right), weight, np.ones(len(start)), np.array(start))
        joining[what] = np.round(found, 3).tolist()
    return joining


def surprise(cases: list[Case], joinings: list[dict], temper: float) -> float:
    """Mean -ln of the probability given to whether each character is right, routed, by weight."""
    told, weights = [], []
    for case in cases:
        with patch.object(extract, "TEMPER", temper):
            people = case.people(joinings[case.part] if case.unsure < UNSURE else None)
        for each, right in zip(people, case.right(people), strict=True):
            sure = np.clip(each.confidence, 1e-4, 1 - 1e-4)
            told.append(-log(sure if all(right) else 1 - sure))
            weights.append(case.weight)
    return float(np.average(told, weights=weights))


def table(label: str, cases: list[Case], people_of: Callable[[Case], list[Character]]) -> None:
    """Print precision and recall of names and genders, and how well calibrated they are."""
    n: Counter[str] = Counter()
    sure: list[tuple[float, float, bool, bool]] = []
    for case in cases:
        people = people_of(case)
        for each, right, name, gender in zip(
            people, case.right(people), case.example.gold, case.example.genders, strict=True
        ):
            n["all"] += 1
            n["joint"] += all(right)
            n["said"] += each.name is not None
            n["named"] += name != ""
            n["name"] += right[0] and name != ""
            n["told"] += each.gender != UNSPECIFIED
            n["gendered"] += gender is not None
            n["gender"] += right[1] and gender is not None
            n["nb told"] += each.gender == "NB"
            n["nb there"] += gender == "NB"
            n["nb right"] += right[1] and gender == "NB"
            sure.append((each.name_confidence or 0.0, each.gender_confidence or 0.0, *right))

    def share(top: str, bottom: str) -> str:
        return f"{100 * n[top] / max(n[bottom], 1):5.1f}"

    print(
        f"{label:28s} n {n['all']:5d} names P {share('name', 'said')} R {share('name', 'named')}  "
        f"genders P {share('gender', 'told')} R {share('gender', 'gendered')}  "
        f"NB P {share('nb right', 'nb told')} R {share('nb right', 'nb there')}  "
        f"joint {share('joint', 'all')}  " + _surest(np.array(sure))
    )


def _surest(sure: np.ndarray) -> str:
    said = []
    for at in (0, 1):
        order = np.argsort(-sure[:, at], kind="stable")[: int(0.8 * len(sure))]
        bins = np.minimum((sure[:, at] * 10).astype(int), 9)
        off = sum(
            abs(sure[bins == b, at].mean() - sure[bins == b, at + 2].mean()) * (bins == b).mean()
            for b in np.unique(bins)
        )
        said.append(f"surest 80 % {100 * sure[order, at + 2].mean():.1f}, off {100 * off:.1f}")
    return "; ".join(said)


def _routed(joinings: list[dict], below: float, case: Case) -> list[Character]:
    return case.routed(joinings[case.part], below)


def main() -> None:
    """Fit, print, and where asked write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--labelled", type=Path, required=True)
    parser.add_argument("--marked", nargs="*", type=Path, default=[])
    parser.add_argument("--unseen", nargs="*", type=Path, default=[])
    parser.add_argument("--readers", nargs="+", type=Path, required=True)
    parser.add_argument("--below", nargs="+", type=float, default=[UNSURE])
    parser.add_argument("--write", type=Path)
    asked = parser.parse_args()
    rows = read(asked.labelled)
    domain = {row["prompt"]: row["domain"] for row in rows}
    stories = [story_of(row) for row in rows]
    examples = labelled(asked.labelled) + [e for path in asked.marked for e in marked(path)]
    unseen = {path.stem: list(marked(path)) for path in asked.unseen}
    file_of = {example.prompt: name for name, part in unseen.items() for example in part}
    cases = []
    for folder in asked.readers:
        network = load_network(folder, threads=1)
        for fold in np.atleast_1d(network.card["fold"]).tolist():
            rules = rules_without(fold, stories)
            left_out = [example for example in examples if fold_of(example.prompt) == fold]
            for each in left_out + [example for part in unseen.values() for example in part]:
                hidden = hide(each.prompt, each.pieces, each.n_people, network.vocabulary)
                cases.append(Case(each, network.read(hidden), rules))
    joinings = [joining_of([c for c in cases if c.part != part]) for part in range(PARTS)]
    for kind in sorted({*domain.values(), "labelled", "marked", *unseen}):
        part = []
        for case in cases:
            prompt = case.example.prompt
            source = "labelled" if case.example.referents is None else "marked"
            if kind in (domain.get(prompt), file_of.get(prompt, source)):
                part.append(case)
        if part:
            table(f"{kind}, rules", part, lambda case: case.alone)
            table(f"{kind}, joined", part, lambda case: case.people(joinings[case.part]))
            for below in asked.below:
                read_below = partial(_routed, joinings, below)
                table(f"{kind}, below {below:g}", part, read_below)
                asks = np.mean([case.unsure < below for case in part])
                print(f"{'':28s} the network reads {100 * asks:.1f} % of these stories")
    for temper in TEMPERS:
        print(f"temper {temper:g}: {surprise(cases, joinings, temper):.4f}")
    whole = joining_of(cases)
    print(whole)
    if asked.write:
        card = json.loads((asked.write / CARD).read_text(encoding="utf-8"))
        card["joining"] = whole
        (asked.write / CARD).write_text(json.dumps(card, indent=1) + "\n", encoding="utf-8")


def rules_without(fold: int, stories: list[Story]) -> Weights:
    """Weights of the rules, trained on the labelled stories of other folds."""
    kept = [each for each in stories if fold_of(each.row["prompt"], FOLDS) != fold]
    genders, signs = train(kept)
    return weights_of_codes(genders), list(signs.values())


if __name__ == "__main__":
    main()
