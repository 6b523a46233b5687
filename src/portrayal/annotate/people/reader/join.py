"""Rules and network joined: a log-linear pool of both, with weights learned on prompts left out."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import exp, log

import numpy as np
from scipy import special

from portrayal.annotate.people.reader.network import GENDERS, Reading
from portrayal.annotate.people.shared.model import Character
from portrayal.annotate.people.stories.cast import Cast, Slots
from portrayal.annotate.people.stories.confidence import log_odds
from portrayal.annotate.people.stories.decide import SINGLY, Choice
from portrayal.annotate.people.stories.extract import (
    cast_of,
    characters,
    name_confidences,
    weigh,
)
from portrayal.annotate.people.stories.scene import Scene
from portrayal.types import FloatArray

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
    names_of_equals
        The same where the prompt asks for two equals, whom the order of the names tells apart.
    genders, genders_of_equals
        Weight of the network's log-probabilities of the genders, and of the rules'; and what is
        added for each person of singular "they", of which both see too few.
    name_curve, gender_curve, both_curve
        Intercept and slopes of logistic curves (Platt 1999): of the log-odds of the name; of the
        gender and of the name; of both confidences.
    """

    names: tuple[float, float] = (1.0, 1.0)
    names_of_equals: tuple[float, float] = (1.0, 1.0)
    genders: tuple[float, float, float] = (1.0, 1.0, 0.0)
    genders_of_equals: tuple[float, float, float] = (1.0, 1.0, 0.0)
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
    choice, genders = _join_genders(cast, weighed, reading, joining, paired=scene.paired)
    both = zip(names, genders, strict=True)
    sure = [_confidences(name, gender, joining) for name, gender in both]
    return characters(scene, cast, choice, sure)


def ways_of(
    scene: Scene, cast: Cast, weighed: Weighed, reading: Reading
) -> tuple[list[tuple[int, ...]], FloatArray]:
    """All ways to give the roles to the named people, and what speaks for each, shape (n_ways, 2).

    A way is the index of a person for each slot, the number of people for nobody; for it speak the
    network's log-probability, and the rules' log-odds of the people whom they chose.
    """
    nobody = reading.roles.shape[1] - 1
    options, chances = weighed
    best = options[max(range(len(options)), key=chances.__getitem__)]
    odds = list(map(log_odds, name_confidences(scene, cast, best)))
    ways = [
        way
        for way in product(range(nobody + 1), repeat=len(cast.slots))
        if len(set(way)) == len(way) or set(way) == {nobody}
    ]
    chosen = [nobody if at is None else at for at in cast.slots]
    signs = [
        (
            sum(reading.roles[slot, at] for slot, at in enumerate(way)),
            sum(odds[slot] for slot, at in enumerate(way) if at == chosen[slot]),
        )
        for way in ways
    ]
    return ways, np.array(signs)


def _join_names(
    scene: Scene, cast: Cast, weighed: Weighed, reading: Reading, joining: Joining
) -> tuple[Slots, list[float]]:
    """Who has which role, and the probability of each slot."""
    ways, signs = ways_of(scene, cast, weighed, reading)
    scores = signs @ (joining.names_of_equals if scene.paired else joining.names)
    shares = special.softmax(scores)
    chosen = ways[int(scores.argmax())]
    known = [
        float(sum(share for way, share in zip(ways, shares, strict=True) if way[slot] == at))
        for slot, at in enumerate(chosen)
    ]
    nobody = reading.roles.shape[1] - 1
    return [None if at == nobody else at for at in chosen], known


def signs_of_genders(cast: Cast, weighed: Weighed, reading: Reading) -> FloatArray:
    """What speaks for each choice of genders, shape (n_choices, 3).

    The log-probabilities of the network and of the rules, and how many are of singular "they".
    """
    nobody = reading.roles.shape[1] - 1
    rows = [nobody + slot if at is None else at for slot, at in enumerate(cast.slots)]
    return np.array(
        [
            (
                sum(
                    reading.genders[row, GENDERS.index(gender)]
                    for row, gender in zip(rows, option.genders, strict=True)
                ),
                log(max(chance, _LEAST)),
                option.genders.count(SINGLY),
            )
            for option, chance in zip(*weighed, strict=True)
        ]
    )


def _join_genders(
    cast: Cast, weighed: Weighed, reading: Reading, joining: Joining, *, paired: bool
) -> tuple[Choice, list[float]]:
    """The choice of genders, and the probability of each slot's."""
    options, _ = weighed
    weights = joining.genders_of_equals if paired else joining.genders
    scores = signs_of_genders(cast, weighed, reading) @ weights
    shares = special.softmax(scores)
    chosen = options[int(scores.argmax())]
    known = [
        float(
            sum(s for s, each in zip(shares, options, strict=True) if each.genders[slot] == gender)
        )
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
