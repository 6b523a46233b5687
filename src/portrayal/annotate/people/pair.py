"""Which two of a story's people are its subject and its object."""

from collections.abc import Mapping, Sequence

from portrayal.annotate.people.cues import DECIDES, GETS, GIVES, JOBS, RECEIVES
from portrayal.annotate.people.mentions import Scene
from portrayal.annotate.people.nouns import possessed
from portrayal.annotate.people.scan import Tokens

LEAST = 0.9
FIRST = 1.5
OWNER = 1.0
_PASSIVE = frozenset(["was", "were", "is", "been", "being"])
_VOCATIVE = frozenset([',', '!', '?', '"', '“', '”'])


def evidence(scene: Scene) -> list[float]:
    """For each person, how much role nouns beside the name say "subject" rather than "object"."""
    values = [0.0] * len(scene.people)
    for noun in scene.nouns:
        if not noun.role:
            continue
        if noun.person is not None:
            values[noun.person] += noun.value
        owner = possessed(scene.tokens, noun.at)
        if owner is not None:
            person = _nearest(scene, owner)
            if person is not None and person != noun.person:
                values[person] -= OWNER * noun.value
    return values


def _nearest(scene: Scene, at: int) -> int | None:
    """The person named last at or before `at` in the same sentence."""
    sentence = scene.tokens.sentence
    best = None
    for position, person in scene.names.items():
        if position < at and sentence[position] == sentence[at] and (
            best is None or position > best[0]
        ):
            best = (position, person)
    return best[1] if best else None


def candidates(scene: Scene, values: Sequence[float]) -> list[int]:
    """The people most likely to have roles, best first."""
    people = scene.people
    likely = [index for index, person in enumerate(people) if person.score >= LEAST]
    if likely:
        first = likely[0]
        likely.sort(
            key=lambda index: (
                -people[index].score - abs(values[index]) - FIRST * (index == first),
                index,
            )
        )
    return likely


def actions(
    tokens: Tokens, who: Mapping[int, int], subjects: Mapping[int, bool]
) -> float:
    """How much more the first of two people acts as the subject than the second.

    `who` maps positions of names and pronouns to 0 or 1; `subjects` says which of these positions
    are grammatical subjects.
    """
    low, sentence, quoted = tokens.low, tokens.sentence, tokens.quoted
    value = 0.0
    agent, agent_sentence = -1, -1
    n = len(low)
    for at, word in enumerate(low):
        if at in who:
            if subjects[at]:
                agent, agent_sentence = who[at], sentence[at]
            if quoted[at] and low[at - 1] in _VOCATIVE and at + 1 < n and low[at + 1] in _VOCATIVE:
                value += -1.0 if who[at] == 0 else 1.0
            continue
        weight = _weight(tokens, at)
        if not weight or quoted[at]:
            continue
        patient = -1
        for ahead in range(at + 1, min(at + 4, n)):
            if ahead in who and not subjects[ahead] and sentence[ahead] == sentence[at]:
                patient = who[ahead]
                break
        doer = agent if agent_sentence == sentence[at] else -1
        if patient >= 0 and word not in DECIDES:
            if doer == patient:
                doer = -1
            value += -weight if patient == 0 else weight
        if doer >= 0:
            value += weight if doer == 0 else -weight
    return value


def _weight(tokens: Tokens, at: int) -> float:
    """How much the word at `at` says that its agent is the subject."""
    low = tokens.low
    word = low[at]
    if word in GIVES:
        weight = 1.0
    elif word in RECEIVES:
        weight = -1.0
    elif word in DECIDES:
        weight = 0.6
    elif word in JOBS:
        return 1.0 if any(low[back] in GETS for back in range(max(0, at - 4), at)) else 0.0
    else:
        return 0.0
    return -weight if word.endswith("ed") and at and low[at - 1] in _PASSIVE else weight
