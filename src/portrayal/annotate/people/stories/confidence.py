"""The learned weights, and how likely a name, a gender, and both at once are right.

The probabilities are logistic curves over a few signs: small whole numbers or logarithms of odds.
Their weights are learned from predictions on prompts left out of training
(`scripts/train_people.py`).
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import exp, log
from operator import mul
from pathlib import Path

from portrayal.annotate.people.stories.cast import Cast
from portrayal.annotate.people.stories.codes import TONE_AT, code_weights
from portrayal.annotate.people.stories.decide import SCALE, SINGLY, Choice
from portrayal.annotate.people.stories.pair import LEAST
from portrayal.annotate.people.stories.roles import actions
from portrayal.annotate.people.stories.scene import Scene
from portrayal.annotate.people.stories.trace import learned_saliences

WEIGHTS_FILE = Path(__file__).with_name("weights.json")
"""Integers by name, written by `scripts/train_people.py`."""


@dataclass(frozen=True, slots=True)
class Learned:
    """Weights in units of 1 / `decide.SCALE`.

    Attributes
    ----------
    codes
        Weight of every code of `codes`.
    salience
        Weight of one unit of a choice's salience.
    saliences
        Who is meant by a pronoun under a choice; see `trace.learned_saliences`.
    name, gender, both
        Weights of the signs of `confidence`.
    """

    codes: tuple[int, ...]
    salience: int
    saliences: tuple[float, ...]
    name: tuple[int, ...]
    gender: tuple[int, ...]
    both: tuple[int, ...]


@lru_cache(maxsize=1)
def learned() -> Learned:
    """The weights that ship with the package."""
    raw = json.loads(WEIGHTS_FILE.read_text(encoding="utf-8"))
    return Learned(
        code_weights(raw["choice"]),
        raw["choice"]["salience"],
        learned_saliences([weight / 1000 for weight in code_weights(raw["walk"])]),
        tuple(raw["name"].values()),
        tuple(raw["gender"].values()),
        tuple(raw["both"].values()),
    )


NAME_SIGNS = (
    *("always", "one name of two", "no name", "no name of two", "no name but people"),
    *("score", "mentions", "further people", "roles", "nouns agree", "first comes first"),
    *("roles fit", "told in first person", "acts"),
)
"""Signs for the name of one character, in order."""

GENDER_SIGNS = ("always", "odds", "name odds", "untold", "singly", "name odds of two")
"""Signs for the gender of one character."""

BOTH_SIGNS = ("always", "name odds", "gender odds")
"""Signs for name and gender together."""

_FURTHEST = 7.0
_LEAST = 1.0 / (1.0 + exp(_FURTHEST))
_NO_PAIR = (0.0, 0.0, 0.0, 0.0)


def name_signs(scene: Scene, cast: Cast, choice: Choice) -> list[tuple[float, ...]]:
    """Values of `NAME_SIGNS` for each character."""
    slots, people = cast.slots, scene.people
    two = len(slots) == 2
    likely = sum([person.score >= LEAST for person in people])
    used = len(slots) - slots.count(None)
    pair = _pair_signs(scene, cast, choice) if used == 2 and not scene.paired else _NO_PAIR
    shared = (
        float(min(max(likely - used, 0), 3)),
        float(two and not scene.paired),
        *pair[:3],
        float(scene.narrated),
        pair[3],
    )
    found = []
    for index in slots:
        person = None if index is None else people[index]
        own = (
            1.0,
            float(index is not None and two and used == 1),
            float(index is None),
            float(index is None and two),
            float(index is None and likely > used),
            0.0 if person is None else min(person.score, 6.0),
            0.0 if person is None else min(len(person.at), 5) / 5,
        )
        found.append(own + shared)
    return found


def _pair_signs(scene: Scene, cast: Cast, choice: Choice) -> tuple[float, ...]:
    """The last signs of two named people in two roles."""
    # How much role nouns beside the names agree with who is the subject, from -3 to 3
    value = 0.0
    for noun in scene.nouns:
        if noun.role and noun.person is not None and noun.person in cast.slots:
            value += noun.value * (1 if noun.person == cast.slots[0] else -1)
    a, b = (scene.people[index].at[0] for index in cast.slots if index is not None)
    fits = choice.codes.count(TONE_AT + 1) - choice.codes.count(TONE_AT)
    who, subjects = cast.doers(choice.found)
    return (
        max(-3.0, min(3.0, value)),
        float(a < b),
        float(max(-3, min(3, fits))),
        max(-4.0, min(4.0, actions(scene.tokens, scene.cues, who, subjects, scene.words))),
    )


def gender_signs(
    probability: float, name: float, gender: str | None, *, two: bool
) -> tuple[float, ...]:
    """Values of `GENDER_SIGNS` from the probability of the gender and that of the name."""
    odds = log_odds(name)
    untold, singly = float(gender is None), float(gender == SINGLY)
    return (1.0, log_odds(probability), odds, untold, singly, odds * two)


def both_signs(name: float, gender: float) -> tuple[float, ...]:
    """Values of `BOTH_SIGNS` from the two probabilities."""
    return (1.0, log_odds(name), log_odds(gender))


def log_odds(probability: float) -> float:
    """Natural logarithm of the odds, at most 7 either way."""
    if probability <= _LEAST:
        return -_FURTHEST
    if probability >= 1.0 - _LEAST:
        return _FURTHEST
    return log(probability / (1.0 - probability))


def logistic(signs: Sequence[float], weights: Sequence[int]) -> float:
    """Probability for `signs`, rounded to four digits; `weights` are in units of 1 / `SCALE`."""
    value = sum(map(mul, signs, weights)) / SCALE
    return round(1.0 / (1.0 + exp(-value)), 4)
