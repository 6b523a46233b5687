"""Learn how much a network counts beside the rules, on prompts left out; print what it gives.

    python scripts/reader/fit_joining.py --labelled STORIES.jsonl --marked stories/*.txt
        --reader FOLDER --fold K [--write]

FOLDER is a reader that `train.py --fold K` wrote; it reads the prompts that it left out. Scores are
of weights fitted to half of these prompts, for stories of the other half.
"""

import argparse
import json
from collections import Counter
from pathlib import Path

import numpy as np
from examples import NOBODY, Example, fold_of, labelled, marked
from scipy.optimize import minimize

from portrayal.annotate.people.reader.network import (
    CARD,
    GENDERS,
    NetworkOutput,
    hide,
    load_network,
)
from portrayal.annotate.people.reader.rows import opinion_of
from portrayal.annotate.people.shared.model import UNSPECIFIED, Character
from portrayal.annotate.people.stories.cast import make_cast
from portrayal.annotate.people.stories.extract import learned, read_story, weigh
from portrayal.annotate.people.stories.genders import SCALE, SINGLY, choices
from portrayal.annotate.people.stories.roles import ways_of

MARKED = 0.08
"""Weight of a marked story: rules are right of 94 % of the names in stories by models for prompts
that they never met, of 98 % in the labelled stories and of 60 % in the marked ones, so about one
part in ten of the weight belongs to the latter; they have two, as no labelled story that is left
out is about love."""

START = {"roles": (0.5, 0.3), "genders": (0.5, 0.3, 1.0)}


class Case:
    """A story with what rules and network say."""

    def __init__(self, example: Example, reading: NetworkOutput) -> None:
        self.example, self.reading = example, reading
        self.scene = read_story(example.text, example.roles)
        self.half = fold_of("half " + example.prompt, 2)
        self.weight = 1.0 if example.referents is None else MARKED

    def people(self, joining: dict | None) -> list[Character]:
        """The people by rules and network, or by the rules alone."""
        opinion = None if joining is None else opinion_of(self.reading, joining, self.scene)
        return [each for each in weigh(self.scene, opinion).characters() if each is not None]

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

    def roles(self) -> tuple[np.ndarray, list[int]]:
        """What speaks for each way to give the roles, and which way is right."""
        nobody = self.reading.roles.shape[1] - 1
        ways, values = ways_of(self.scene, nobody)
        signs = np.array(values) @ np.array(learned()[1]) / SCALE
        spoken = [
            sum(self.reading.roles[slot, -1 if at is None else at] for slot, at in enumerate(way))
            for way in ways
        ]
        right = tuple(None if who == NOBODY else who for who in self.example.who)
        return np.column_stack([signs, spoken]), [at for at, w in enumerate(ways) if w == right]

    def genders(self) -> tuple[np.ndarray, list[int]]:
        """What speaks for each choice of genders of the labelled people, and which are right."""
        people = self.reading.roles.shape[1] - 1
        slots = [None if who == NOBODY else who for who in self.example.who]
        if any(who is not None and not 0 <= who < people for who in slots):
            return np.zeros((1, 3)), []
        codes = learned()[0]
        made = choices(self.scene, make_cast(self.scene, slots), codes)
        rows = [people + slot if at is None else at for slot, at in enumerate(slots)]
        signs = [
            (
                sum(codes[code] for code in each.codes) / SCALE,
                sum(
                    self.reading.genders[row, GENDERS.index(gender)]
                    for row, gender in zip(rows, each.genders, strict=True)
                ),
                each.genders.count(SINGLY),
            )
            for each in made
        ]
        wanted = self.example.genders
        return np.array(signs), [at for at, each in enumerate(made) if each.genders == wanted]


def joining_of(cases: list[Case]) -> dict[str, list[float]]:
    """The weights under which the labels are likeliest.

    Stories of two equals are read with the same weights but not fitted to: the labelled ones that
    are left out have none, and the marked ones mislead the rules on purpose.
    """
    cases = [case for case in cases if not case.scene.paired]
    joining = {}
    for what, start in START.items():
        signs = [(case.weight, *getattr(case, what)()) for case in cases]
        known = [each for each in signs if each[2]]

        def loss(
            weights: np.ndarray, known: list = known, start: tuple[float, ...] = start
        ) -> float:
            value = 0.5 * float(((weights - np.array(start)) ** 2).sum())
            for weight, values, right in known:
                odds = np.exp(values @ weights - (values @ weights).max())
                value += weight * float(np.log(odds.sum() / max(odds[right].sum(), 1e-30)))
            return value

        joining[what] = np.round(minimize(loss, np.array(start), method="BFGS").x, 3).tolist()
    return joining


def table(label: str, cases: list[Case], joinings: dict[int, dict] | None) -> None:
    """Print precision and recall of names and genders, and how well calibrated they are."""
    n: Counter[str] = Counter()
    sure: list[tuple[float, float, bool, bool]] = []
    for case in cases:
        people = case.people(None if joinings is None else joinings[case.half])
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
    parser.add_argument("--reader", type=Path, required=True)
    parser.add_argument("--fold", type=int, required=True)
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    network = load_network(asked.reader, threads=1)
    examples = [each for path in asked.labelled for each in labelled(path)]
    examples += [each for path in asked.marked for each in marked(path)]
    cases = [
        Case(e, network.read(hide(e.prompt, e.pieces, e.n_people, network.vocabulary)))
        for e in examples
        if fold_of(e.prompt) == asked.fold
    ]
    joinings = {half: joining_of([c for c in cases if c.half != half]) for half in (0, 1)}
    for kind, weighed in (("labelled", 1.0), ("marked", MARKED)):
        part = [case for case in cases if case.weight == weighed]
        if part:
            table(f"{kind}, rules", part, None)
            table(f"{kind}, joined", part, joinings)
    whole = joining_of(cases)
    print(whole)
    if asked.write:
        card = json.loads((asked.reader / CARD).read_text(encoding="utf-8"))
        card["joining"] = whole
        (asked.reader / CARD).write_text(json.dumps(card, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
