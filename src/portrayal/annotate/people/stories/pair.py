"""Which of a story's people are its subject and its object.

Where two people are named, a logistic curve over a few signs says whether the one named first is
the subject. Its weights are learned from labelled stories.
"""

import json
from bisect import bisect_left
from collections.abc import Sequence
from functools import lru_cache
from operator import mul
from pathlib import Path

from portrayal.annotate.people.shared.model import Roles
from portrayal.annotate.people.stories.cast import Slots, make_cast
from portrayal.annotate.people.stories.decide import (
    ALIKE,
    GENDERED,
    first_mentions,
    likely,
    pronouns_of,
    steps_of,
    trace,
)
from portrayal.annotate.people.stories.scene import SUBJECT_WORDS, Scene, actions

LEAST = 0.9
"""Score from which a capitalised word counts as a person."""

FIRST = 1.5
"""What being named first adds to a person's score."""

MOST_NOUNS, MOST_ACTIONS = 3.0, 4.0
"""Bounds on what role nouns and what actions together may say."""

WEIGHTS_FILE = Path(__file__).with_name("pair_weights.json")
"""Weights of `SIGNS` in hundredths, written by `scripts/train_pairs.py`."""

SIGNS = ("first", "role nouns", "role nouns alike", "actions")
"""What may say that the person named first is the subject; see `signs`."""


@lru_cache(maxsize=1)
def weights() -> tuple[int, ...]:
    """Weights of `SIGNS` that ship with the package."""
    by_sign = json.loads(WEIGHTS_FILE.read_text(encoding="utf-8"))["weights"]
    return tuple(by_sign[sign] for sign in SIGNS)


def find_pair(scene: Scene, roles: Roles) -> Slots:
    """Indices of the people in the subject's and the object's place; None for a nameless one."""
    values = _evidence(scene)
    ranked = _candidates(scene, values)
    if not roles.has_object:
        return [ranked[0] if ranked else None]
    if not ranked:
        return [None, None]
    if len(ranked) == 1:
        # Without role nouns beside the name a narrator is the subject, and so is someone for whom
        # only the subject's noun stands in the story ("The manager promoted Jo")
        only = ranked[0]
        free = [noun.value for noun in scene.nouns if noun.person is None]
        leads = not scene.narrated and not (free and max(free) > 0 and min(free) >= 0)
        leads = values[only] > 0 if values[only] else leads
        return [only, None] if roles.paired or leads else [None, only]
    a, b = sorted(ranked[:2])
    if not roles.paired:
        *known, acts = weights()
        lead: float = sum(map(mul, known, _named_signs(scene, values, a, b)))
        # Actions take time to read, and are read where they may decide
        if abs(lead) <= abs(acts) * MOST_ACTIONS:
            lead += acts * _acted(scene, a, b)
        if lead < 0:
            return [b, a]
    return [a, b]


def rivals(scene: Scene) -> tuple[int, int, tuple[float, ...]] | None:
    """The two likeliest people in order of mention, and their `signs`; None where fewer are."""
    values = _evidence(scene)
    ranked = _candidates(scene, values)
    if len(ranked) < 2:
        return None
    a, b = sorted(ranked[:2])
    return a, b, signs(scene, values, a, b)


def signs(scene: Scene, values: Sequence[float], a: int, b: int) -> tuple[float, ...]:
    """What says that `a`, named first, is the subject and `b` the object, in the order of `SIGNS`.

    Being named first; role nouns beside the names, which count apart where the object's noun may
    stand for either, as "friend" may; and actions. Shape (len(SIGNS),).
    """
    return *_named_signs(scene, values, a, b), _acted(scene, a, b)


def _named_signs(
    scene: Scene, values: Sequence[float], a: int, b: int
) -> tuple[float, float, float]:
    """All `signs` but the last."""
    nouns = max(-MOST_NOUNS, min(MOST_NOUNS, values[a] - values[b]))
    alike = scene.words.subject_nouns <= SUBJECT_WORDS
    return 1.0, 0.0 if alike else nouns, nouns if alike else 0.0


def _evidence(scene: Scene) -> list[float]:
    """For each person, how much role nouns beside the name say "subject" rather than "object"."""
    values, sentence = [0.0] * len(scene.people), scene.tokens.sentence
    for noun in scene.nouns:
        if not noun.role:
            continue
        if noun.person is not None:
            values[noun.person] += noun.value
        before = 0 if noun.owner is None else bisect_left(scene.places, noun.owner)
        if noun.owner is not None and before:
            # The person named last before the possessive, in its sentence
            at = scene.places[before - 1]
            here = sentence[at] == sentence[noun.owner]
            if here and scene.names[at] != noun.person:
                values[scene.names[at]] -= noun.value
    return values


def _candidates(scene: Scene, values: Sequence[float]) -> list[int]:
    """People who may have a role, best first."""
    likely = [index for index, person in enumerate(scene.people) if person.score >= LEAST]
    first = likely[:1]

    def rank(index: int) -> tuple[float, int]:
        score = scene.people[index].score + abs(values[index]) + FIRST * (index in first)
        return -score, index

    return sorted(likely, key=rank)


def _acted(scene: Scene, a: int, b: int) -> float:
    """How much more `a` acts as the subject than `b`, at most `MOST_ACTIONS` either way."""
    cast = make_cast(scene, [a, b], nominals=False)
    # Pronoun → its character or `OTHER`, under the genders whose pronouns are most salient
    first = first_mentions(cast)
    heard = pronouns_of(scene, cast)
    seen = [*sorted(heard), None]
    one, two = (
        [max(hint, key=lambda gender: (hint[gender], gender))] if hint else seen
        for hint in cast.hints
    )
    steps = steps_of(scene, cast, context=False)
    best, found = float("-inf"), {}
    for genders in likely(heard, [(a, b) for a in one for b in two]):
        way = trace(steps, genders, first, narrated=False)
        score = way.salience - GENDERED * (2 - genders.count(None))
        if genders[0] and genders[0] == genders[1] and not all(cast.hints):
            score -= ALIKE
        if score > best:
            best, found = score, way.found
    who, subjects = cast.doers(found)
    acted = actions(scene.tokens, scene.cues, who, subjects, scene.words)
    return max(-MOST_ACTIONS, min(MOST_ACTIONS, acted))
