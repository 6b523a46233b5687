"""Rules and network joined: a log-linear pool of both, with weights learned on prompts left out."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import exp, log

import numpy as np

from portrayal.annotate.people.reader.network import GENDERS, Reading
from portrayal.annotate.people.shared.model import Character
from portrayal.annotate.people.stories.cast import Cast, Slots
from portrayal.annotate.people.stories.confidence import log_odds
from portrayal.annotate.people.stories.decide import Choice
from portrayal.annotate.people.stories.extract import (
    cast_of,
    characters,
    name_confidences,
    weigh,
)
from portrayal.annotate.people.stories.scene import Scene

_LEAST = 1e-9

Weighed = tuple[list[Choice], list[float]]
"""All choices of genders, and their probabilities by the rules."""


@dataclass(frozen=True, slots=True)
class Joining:
    """Weights of the pool, and curves that turn its probabilities into confidences.

    Attributes
    ----------
    names
        Weight of the network's log-probabilities of who has which role, and of the log-odds of the
        rules that their choice is right.
    genders
        Weight of the network's log-probabilities of the genders, and of the rules'.
    name_curve, gender_curve, both_curve
        Intercept and slopes of logistic curves (Platt 1999): of the log-odds of the name; of the
        gender and of the name; of both confidences.
    """

    names: tuple[float, float] = (1.0, 1.0)
    genders: tuple[float, float] = (1.0, 1.0)
    name_curve: tuple[float, float] = (0.0, 1.0)
    gender_curve: tuple[float, float, float] = (0.0, 1.0, 0.0)
    both_curve: tuple[float, float, float] = (0.0, 1.0, 1.0)


def read_people(
    scene: Scene, cast: Cast, reading: Reading, joining: Joining
) -> tuple[Character, Character | None]:
    """Return the subject and the object of a story, by rules and network together.

    Parameters
    ----------
    scene, cast
        From `portrayal.annotate.people.stories.extract.read_story`.
    reading
        What the network says of the story with its names hidden.
    joining
        How both are weighed.

    Returns
    -------
    tuple of Character and (Character or None)
        As `extract_people`, with confidences of the joined choice.
    """
    weighed = weigh(scene, cast)
    slots, names = _join_names(scene, cast, weighed, reading, joining)
    if slots != cast.slots:
        cast = cast_of(scene, slots)
        weighed = weigh(scene, cast)
    choice, genders = _join_genders(cast, weighed, reading, joining)
    both = zip(names, genders, strict=True)
    sure = [_confidences(name, gender, joining) for name, gender in both]
    return characters(scene, cast, choice, sure)


def _join_names(
    scene: Scene, cast: Cast, weighed: Weighed, reading: Reading, joining: Joining
) -> tuple[Slots, list[float]]:
    """Who has which role, and the probability of each slot."""
    nobody = reading.roles.shape[1] - 1
    options, chances = weighed
    best = options[max(range(len(options)), key=chances.__getitem__)]
    odds = list(map(log_odds, name_confidences(scene, cast, best)))
    by_network, by_rules = joining.names

    def score(ways: Sequence[int]) -> float:
        value = by_network * sum(reading.roles[slot, at] for slot, at in enumerate(ways))
        for slot, at in enumerate(ways):
            if (None if at == nobody else at) == cast.slots[slot]:
                value += by_rules * odds[slot]
        return float(value)

    whole = [
        ways
        for ways in product(range(nobody + 1), repeat=len(cast.slots))
        if len(set(ways)) == len(ways) or set(ways) == {nobody}
    ]
    scores = np.array([score(ways) for ways in whole])
    shares = np.exp(scores - scores.max())
    shares /= shares.sum()
    chosen = whole[int(scores.argmax())]
    known = [
        float(sum(share for ways, share in zip(whole, shares, strict=True) if ways[slot] == at))
        for slot, at in enumerate(chosen)
    ]
    return [None if at == nobody else at for at in chosen], known


def _join_genders(
    cast: Cast, weighed: Weighed, reading: Reading, joining: Joining
) -> tuple[Choice, list[float]]:
    """The choice of genders, and the probability of each slot's."""
    nobody = reading.roles.shape[1] - 1
    rows = [nobody + slot if at is None else at for slot, at in enumerate(cast.slots)]
    by_network, by_rules = joining.genders
    options, chances = weighed
    scores = [
        by_rules * log(max(chance, _LEAST))
        + by_network
        * sum(
            float(reading.genders[row, GENDERS.index(gender)])
            for row, gender in zip(rows, option.genders, strict=True)
        )
        for option, chance in zip(options, chances, strict=True)
    ]
    top = max(scores)
    shares = [exp(each - top) for each in scores]
    chosen = options[scores.index(top)]
    known = [
        sum(s for s, option in zip(shares, options, strict=True) if option.genders[slot] == gender)
        / sum(shares)
        for slot, gender in enumerate(chosen.genders)
    ]
    return chosen, known


def _confidences(name: float, gender: float, joining: Joining) -> tuple[float, float, float]:
    """Probabilities that the name, the gender, and both are right."""
    of_name = _curve(joining.name_curve, log_odds(name))
    of_gender = _curve(joining.gender_curve, log_odds(gender), log_odds(of_name))
    return of_name, of_gender, _curve(joining.both_curve, log_odds(of_name), log_odds(of_gender))


def _curve(weights: Sequence[float], *signs: float) -> float:
    value = weights[0] + sum(w * sign for w, sign in zip(weights[1:], signs, strict=True))
    return round(1.0 / (1.0 + exp(-value)), 4)
