"""Learn how rules and network are joined, from stories of prompts left out; print what it gives.

    python scripts/reader/fit_joining.py --labelled STORIES.jsonl --marked stories/*.txt
        --folds FOLDER0 FOLDER1 ... [--write READER]

FOLDERK is what `train.py --fold K` wrote. The scores of each fold are of a pool fitted to the
others, so no story stands on both sides.
"""

import argparse
import json
from collections import Counter
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
from examples import NOBODY, Example, fold_of, labelled, marked
from scipy import special
from scipy.optimize import minimize
from train import LEFT_OUT

from portrayal.annotate.people.reader.network import CARD, NetworkOutput
from portrayal.annotate.people.reader.rows import (
    Joining,
    join,
    read_people,
    signs_of_genders,
    ways_of,
)
from portrayal.annotate.people.shared.model import UNSPECIFIED, Character
from portrayal.annotate.people.stories.extract import (
    cast_of,
    people_of_cast,
    read_story,
    weigh,
)

MARKED = 0.08
"""Weight of a marked story: rules are right of 94 % of the names in stories by models for prompts
that they never met, of 98 % in the labelled stories and of 59 % in the marked ones, so about one
part in ten of the weight belongs to the latter; they have two, as no labelled story that is left
out is about love."""


class Case:
    """A story with what rules and network say."""

    def __init__(self, example: Example, reading: NetworkOutput, fold: int) -> None:
        self.example, self.reading, self.fold = example, reading, fold
        self.scene, self.cast = read_story(example.text, example.roles)

    def people(self, joining: Joining | None) -> list[Character]:
        """The people by rules and network, or by the rules alone."""
        if joining is None:
            made = people_of_cast(self.scene, self.cast)
        else:
            made = read_people(self.scene, self.cast, self.reading, joining)
        return [each for each in made if each is not None]

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


def cases_of(asked: argparse.Namespace) -> list[Case]:
    """All stories of the folds that were read."""
    examples = [each for path in asked.labelled for each in labelled(path)]
    examples += [each for path in asked.marked for each in marked(path)]
    cases = []
    for folder in asked.folds:
        fold = int(folder.name[-1])
        left = [each for each in examples if fold_of(each.prompt) == fold]
        raw = np.load(folder / LEFT_OUT, allow_pickle=False)
        for i, example in enumerate(left):
            cases.append(Case(example, NetworkOutput(raw[f"r{i}"], raw[f"g{i}"]), fold))
    return cases


def weights_of(cases: list[Case]) -> Joining:
    """The weights under which the labels are likeliest, and curves of the confidences."""
    joining = Joining()
    for equals, of in ((False, ""), (True, "_of_equals")):
        part = [case for case in cases if case.scene.paired == equals]
        for what, signs_of in (("names", _names), ("genders", _genders)):
            signs = [(case, *signs_of(case)) for case in part]
            start = getattr(joining, what + of)
            found = _likeliest([each for each in signs if each[2]], start)
            joining = replace(joining, **{what + of: found})
    return with_curves(cases, joining)


def _names(case: Case) -> tuple[np.ndarray, list[int]]:
    """What speaks for each way to give the roles, and which way is right."""
    ways, signs = ways_of(case.scene, case.cast, weigh(case.scene, case.cast), case.reading)
    nobody = case.reading.roles.shape[1] - 1
    right = tuple(nobody if who == NOBODY else who for who in case.example.who)
    return signs, [at for at, way in enumerate(ways) if way == right]


def _genders(case: Case) -> tuple[np.ndarray, list[int]]:
    """What speaks for each choice of genders of the labelled people, and which are right."""
    seen = case.reading.roles.shape[1] - 1
    slots = [None if who == NOBODY else who for who in case.example.who]
    if any(who is not None and not 0 <= who < seen for who in slots):
        return np.zeros((1, 3)), []
    cast = case.cast if slots == case.cast.slots else cast_of(case.scene, slots)
    weighed = weigh(case.scene, cast)
    genders = case.example.genders
    right = [at for at, each in enumerate(weighed[0]) if tuple(each.genders) == genders]
    return signs_of_genders(cast, weighed, case.reading), right


def _likeliest(
    signs: list[tuple[Case, np.ndarray, list[int]]], start: tuple[float, ...]
) -> tuple[float, ...]:
    """Weights of a softmax of the signs, `start` where there is nothing to learn from."""

    def loss(weights: np.ndarray) -> float:
        value = 0.05 * float(((weights - np.array(start)) ** 2).sum())
        for case, values, right in signs:
            scores = values @ weights
            lost = special.logsumexp(scores) - special.logsumexp(scores[right])
            value += weight_of(case) * float(lost)
        return value

    return tuple(np.round(minimize(loss, np.array(start), method="BFGS").x, 3).tolist())


def weight_of(case: Case) -> float:
    """How much a story counts: those written to mislead count less than stories by models."""
    return 1.0 if case.example.referents is None else MARKED


def with_curves(cases: list[Case], joining: Joining) -> Joining:
    """Logistic curves of the confidences (Platt 1999)."""
    made = [(join(c.scene, c.cast, c.reading, joining)[2], c.people(joining), c) for c in cases]
    slots = [
        (*odds, *right, weight_of(case))
        for signs, people, case in made
        for odds, right in zip(signs, case.right(people), strict=True)
    ]
    name, network, rules, name_right, gender_right, weight = map(np.array, zip(*slots, strict=True))
    name_curve = _platt(np.column_stack([name]), name_right, weight)
    sure = name_curve[0] + name_curve[1] * name
    signs = np.column_stack([network, rules, sure])
    gender_curve = _platt(signs, gender_right, weight)
    of_both = gender_curve[0] + signs @ gender_curve[1:]
    both_curve = _platt(np.column_stack([sure, of_both]), name_right & gender_right, weight)
    return replace(joining, name_curve=name_curve, gender_curve=gender_curve, both_curve=both_curve)


def _platt(signs: np.ndarray, right: np.ndarray, weight: np.ndarray) -> tuple[float, ...]:
    x = np.column_stack([np.ones(len(signs)), signs])
    y = 2.0 * right - 1.0

    def loss(w: np.ndarray) -> float:
        return float((weight * np.logaddexp(0.0, -y * (x @ w))).sum() + 0.5 * (w[1:] ** 2).sum())

    return tuple(np.round(minimize(loss, np.zeros(x.shape[1]), method="BFGS").x, 4).tolist())


def table(label: str, cases: list[Case], joinings: dict[int, Joining] | None) -> None:
    """Print precision and recall of names and genders, and how well calibrated they are."""
    n: Counter[str] = Counter()
    sure: list[tuple[float, float, bool, bool]] = []
    for case in cases:
        people = case.people(None if joinings is None else joinings[case.fold])
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


def main() -> None:
    """Fit, print, and where asked write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--labelled", nargs="*", type=Path, default=[])
    parser.add_argument("--marked", nargs="*", type=Path, default=[])
    parser.add_argument("--folds", nargs="+", type=Path, required=True)
    parser.add_argument("--write", type=Path)
    asked = parser.parse_args()
    cases = cases_of(asked)
    folds = sorted({case.fold for case in cases})
    joinings = {fold: weights_of([c for c in cases if c.fold != fold] or cases) for fold in folds}
    kinds = {
        "labelled": lambda c: c.example.referents is None,
        "marked": lambda c: c.example.referents is not None,
    }
    for kind, is_kind in kinds.items():
        part = [case for case in cases if is_kind(case)]
        if part:
            table(f"{kind}, rules", part, None)
            alone = dict.fromkeys(
                folds, Joining(names=(1.0, 0.0), names_of_equals=(1.0, 0.0), genders=(1.0, 0.05, 0))
            )
            table(f"{kind}, network", part, alone)
            table(f"{kind}, joined", part, joinings)
    whole = weights_of(cases)
    print(asdict(whole))
    if asked.write:
        card = json.loads((asked.write / CARD).read_text(encoding="utf-8"))
        card["joining"] = asdict(whole)
        (asked.write / CARD).write_text(json.dumps(card, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
