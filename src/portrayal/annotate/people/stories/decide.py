"""Which genders a story tells of its characters, by a log-linear model over all choices.

Every choice of genders for the characters is followed through the story (`trace` says which
character a pronoun then means), and what speaks for and against it is summed with learned weights:
the probability of a choice is proportional to exp of its sum. Names tell nothing about gender here,
and no weight differs between feminine and masculine words.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import exp

from portrayal.annotate.people.shared.scan import OTHER, QUOTES
from portrayal.annotate.people.shared.words import SAYING, word_lists
from portrayal.annotate.people.stories.cast import CERTAIN, SETTLED, Cast
from portrayal.annotate.people.stories.codes import (
    ALIKE_AT,
    HINTS,
    THEY_AT,
    TONE_AT,
    TheyWalk,
    singly_codes,
    they_links,
    they_walk,
    told_code,
    tones_of,
    untold_code,
)
from portrayal.annotate.people.stories.scene import Scene
from portrayal.annotate.people.stories.trace import (
    Genders,
    Step,
    Trace,
    first_mentions,
    likely,
    pronouns_of,
    steps_of,
    trace,
)
from portrayal.reference import FEMININE, MASCULINE, NON_BINARY

_LISTS = word_lists("stories")


SINGLY = NON_BINARY
"""Gender of a character that singular "they" stands for."""

SCALE = 1000
"""Weights are integers in thousandths of a natural logarithm of odds."""

_AGAINST = HINTS.index("against")


@dataclass(slots=True)
class Choice:
    """One choice of genders and what it makes of the story.

    Attributes
    ----------
    genders
        Gender per character, None where it has none.
    found
        Position of a pronoun, definite noun or "they" → its character or `OTHER`.
    codes
        Codes of what speaks for and against it.
    salience
        How salient the characters of the pronouns were, in the unit of `coref`.
    """

    genders: Genders
    found: dict[int, int] = field(default_factory=dict)
    codes: list[int] = field(default_factory=list)
    salience: float = 0.0


@dataclass(slots=True)
class _Story:
    """What stays the same for all choices.

    Attributes
    ----------
    states
        Place in `codes.HINTS` of how sure the gendered nouns of each character are.
    told
        Gender → how many pronouns have it outside quotations.
    who
        Position of a name, noun or word for several people → its character or `OTHER`.
    walk
        Uses of "they" among the mentions.
    """

    scene: Scene
    cast: Cast
    saliences: Sequence[float]
    states: list[int]
    told: dict[str, int]
    who: dict[int, int]
    walk: TheyWalk


def choices(scene: Scene, cast: Cast, saliences: Sequence[float]) -> list[Choice]:
    """All choices of genders that the words of the story leave open.

    `saliences` say who is meant by a pronoun under a choice; see `trace`.
    """
    first = first_mentions(cast)
    steps = steps_of(scene, cast)
    # What stays the same for all choices
    who: dict[int, int] = {}
    if scene.they:
        who = {event.at: event.entity for event in cast.events}
        who |= dict.fromkeys(scene.plurals, OTHER)
    walk = they_walk(scene.tokens, scene.they, who)
    states = list(map(_hint_class, cast.hints))
    story = _Story(scene, cast, saliences, states, pronouns_of(scene, cast), who, walk)
    options = _options(story)
    found = _follow(story, steps, first, likely(story.told, options))
    found = found or _follow(story, steps, first, options)
    singly = [choice for choice in found if SINGLY in choice.genders]
    return singly if singly and _one_says(scene) else found


def _one_says(scene: Scene) -> bool:
    """Whether "they" says whose a quotation is: '"Watch," they said.' One person speaks it."""
    low, quoted = scene.tokens.low, scene.tokens.quoted
    return any(
        low[at - 1] in QUOTES
        and not quoted[at]
        and not SAYING.isdisjoint(low[at + 1 : at + 2])
        and _LISTS.at_once.isdisjoint(low[at + 2 : at + 6])
        for at in scene.they
    )


def _follow(
    story: _Story, steps: Sequence[Step], first: Sequence[int], options: Sequence[Genders]
) -> list[Choice]:
    """The choices of `options` that have a word for each gender, followed through the story."""
    scene, cast, tones = story.scene, story.cast, {}
    if len(cast.slots) == 2 and not scene.paired:
        tones = tones_of(scene.tokens, cast.events, scene.words.verbs)
    heard: dict[str | None, str] = {gender: gender for gender in story.told}
    traces: dict[Genders, tuple[Trace, list[int]]] = {}
    found: list[Choice] = []
    for genders in options:
        key = tuple(map(heard.get, genders))
        if key not in traces:
            way = trace(steps, key, first, story.saliences, narrated=scene.narrated)
            links = way.found
            for at, tone in tones.items():
                if links[at] >= 0:
                    way.codes.append(TONE_AT + (links[at] == tone))
            meant = list(links.values())
            traces[key] = way, [meant.count(slot) for slot in range(len(key))]
        way, meant = traces[key]
        choice = Choice(genders, way.found, way.codes.copy(), way.salience)
        if _close(story, choice, meant):
            found.append(choice)
    return found


def _options(story: _Story) -> list[Genders]:
    """Genders to try: any that a pronoun or a hint tells, none, and "they" for one of them."""
    spoken_of = bool(story.walk.order)
    hints = story.cast.hints
    per_slot = [_open(story.told, hint, sole=len(hints) == 1) for hint in hints]
    if len(per_slot) == 1:
        options: list[Genders] = [(a,) for a in per_slot[0]]
        return [*options, (SINGLY,)] if spoken_of else options
    options = [(a, b) for a in per_slot[0] for b in per_slot[1]]
    if spoken_of:
        options += [(SINGLY, b) for b in per_slot[1]] + [(a, SINGLY) for a in per_slot[0]]
    return options


def _open(told: Mapping[str, int], hint: Mapping[str, float], *, sole: bool) -> list[str | None]:
    """Genders to try for one character of two; a title or nouns that agree leave but theirs."""
    if not sole and len(hint) == 1 and max(hint.values()) >= SETTLED:
        return [*hint, None]
    return [*sorted({*told, *hint}), None]


def _close(story: _Story, choice: Choice, meant: Sequence[int]) -> bool:
    """Add the codes of the characters; False where one has a gender without any word for it.

    `meant` says how many pronouns each character has.
    """
    slots, genders, codes = story.cast.slots, choice.genders, choice.codes
    for slot, (gender, hint, state) in enumerate(
        zip(genders, story.cast.hints, story.states, strict=True)
    ):
        named = slots[slot] is not None
        if gender is None:
            codes.append(untold_code(state, named, len(slots) == 1))
        elif gender == SINGLY:
            if not _add_they(story, choice, slot):
                return False
        elif gender in hint:
            codes.append(told_code(meant[slot], state, named))
        elif meant[slot]:
            codes.append(told_code(meant[slot], _AGAINST if hint else state, named))
        else:
            return False
    if len(slots) == 2 and genders[0] == genders[1] and genders[0] is not None:
        codes.append(ALIKE_AT + (2 if None in slots else int(story.scene.paired)))
    return True


def _add_they(story: _Story, choice: Choice, slot: int) -> bool:
    """Add what uses of "they" say of the character `slot`; False where none stands for it."""
    slots = story.cast.slots
    # Uses of "they" that stand for the character `slot` under `choice`
    sole = len(choice.genders) == 1
    other_told = not sole and choice.genders[1 - slot] in (FEMININE, MASCULINE)
    who = story.who | choice.found
    links = they_links(story.walk, who, slot, sole=sole, other_told=other_told)
    if not links:
        return False
    choice.codes += singly_codes(
        len(links),
        story.walk.uses - len(links),
        hinted=bool(story.cast.hints[slot]),
        named=slots[slot] is not None,
        sole=len(slots) == 1,
        paired=story.scene.paired,
    )
    choice.codes += [THEY_AT + code for _, code in links]
    choice.found = choice.found | {at: slot for at, _ in links}
    return True


def _hint_class(hint: Mapping[str, float]) -> int:
    """Place in `codes.HINTS` of how sure gendered nouns are."""
    if not hint:
        return 0
    return 2 if max(hint.values()) >= CERTAIN else 1


def probabilities(options: Sequence[Choice], weights: Sequence[int], salience: int) -> list[float]:
    """Probability of each choice; weights are in units of 1 / `SCALE`.

    Sums are of integers, so that the order of the choices is the same on every machine.
    """
    if len(options) == 1:
        return [1.0]
    scores = [
        100 * sum(map(weights.__getitem__, option.codes)) + salience * round(100 * option.salience)
        for option in options
    ]
    top = max(scores)
    odds = [exp((score - top) / (100 * SCALE)) for score in scores]
    total = sum(odds)
    return [value / total for value in odds]


def gender_probability(
    options: Sequence[Choice], chances: Sequence[float], slot: int, gender: str | None
) -> float:
    """Probability that the character `slot` has `gender`, over all choices."""
    if len(options) == 1:
        return chances[0] if options[0].genders[slot] == gender else 0.0
    return sum(
        [
            chance
            for option, chance in zip(options, chances, strict=True)
            if option.genders[slot] == gender
        ]
    )
