"""Which of a story's people are its subject and its object."""

from bisect import bisect_left
from collections.abc import Sequence

from portrayal.annotate.people.actions import actions
from portrayal.annotate.people.cast import Slots, make_cast
from portrayal.annotate.people.coref import choose
from portrayal.annotate.people.model import Roles
from portrayal.annotate.people.scene import Scene
from portrayal.annotate.people.thesaurus import SUBJECT_WORDS

LEAST = 0.9
"""Score from which a capitalised word counts as a person."""

FIRST = 1.5
"""What being named first adds to a person's score."""

ROLE_NOUN = 2.2
"""Weight of a role noun beside a name, against 1 for an action."""

ROLE_NOUN_ALIKE = 0.8
"""The same where the object's noun may stand for either, as "friend" may."""

MOST = 4.0
"""Bound on the weight of all actions together."""

SWAP = -1.3
"""Evidence below which the person named second is the subject."""


def find_pair(scene: Scene, roles: Roles) -> Slots:
    """Indices of the people in the subject's and the object's place; None for a nameless one."""
    values = _evidence(scene)
    ranked = _candidates(scene, values)
    if not roles.has_object:
        return [ranked[0] if ranked else None]
    if not ranked:
        return [None, None]
    if len(ranked) == 1:
        only = ranked[0]
        return [only, None] if roles.paired or _leads(scene, values[only]) else [None, only]
    a, b = sorted(ranked[:2])
    if roles.paired:
        return [a, b]
    alike = scene.words.subject_nouns <= SUBJECT_WORDS
    weight = ROLE_NOUN_ALIKE if alike else ROLE_NOUN
    margin = weight * (values[a] - values[b]) + max(-MOST, min(MOST, _acted(scene, a, b)))
    return [b, a] if margin < SWAP else [a, b]


def _evidence(scene: Scene) -> list[float]:
    """For each person, how much role nouns beside the name say "subject" rather than "object"."""
    values = [0.0] * len(scene.people)
    for noun in scene.nouns:
        if not noun.role:
            continue
        if noun.person is not None:
            values[noun.person] += noun.value
        if noun.owner is not None:
            owner = _named_before(scene, noun.owner)
            if owner is not None and owner != noun.person:
                values[owner] -= noun.value
    return values


def _named_before(scene: Scene, at: int) -> int | None:
    """The person named last before `at` in the same sentence."""
    places = scene.places
    position = bisect_left(places, at) - 1
    if position < 0 or scene.tokens.sentence[places[position]] != scene.tokens.sentence[at]:
        return None
    return scene.names[places[position]]


def _candidates(scene: Scene, values: Sequence[float]) -> list[int]:
    """People who may have a role, best first."""
    likely = [index for index, person in enumerate(scene.people) if person.score >= LEAST]
    first = likely[:1]

    def rank(index: int) -> tuple[float, int]:
        score = scene.people[index].score + abs(values[index]) + FIRST * (index in first)
        return -score, index

    return sorted(likely, key=rank)


def _leads(scene: Scene, value: float) -> bool:
    """Whether the only named person is the subject.

    `value` is the evidence of role nouns beside the name. Without it a narrator is the subject, and
    so is someone for whom only the subject's noun stands in the story ("The manager promoted Jo").
    """
    if value:
        return value > 0
    if scene.narrated:
        return False
    free = [noun.value for noun in scene.nouns if noun.person is None]
    return not any(worth > 0 for worth in free) or any(worth < 0 for worth in free)


def _acted(scene: Scene, a: int, b: int) -> float:
    """How much more `a` acts as the subject than `b`."""
    cast = make_cast(scene, [a, b], nominals=False)
    found, _ = choose(cast.events, cast.hints, cast.barred)
    who: dict[int, int] = {}
    subjects: dict[int, bool] = {}
    resolved = iter(found)
    for event in cast.events:
        entity = next(resolved) if event.case else event.entity
        if entity >= 0 and event.case in ("", "s", "o"):
            who[event.at] = entity
            subjects[event.at] = event.case == "s" if event.case else event.rank == 1.0
    return actions(scene.tokens, who, subjects)
