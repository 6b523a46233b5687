"""Which genders a story tells of its characters, by a log-linear model over all choices.

Every choice of genders for the characters is followed through the story (`coref` says which
character a pronoun then means), and what speaks for and against it is summed with learned weights:
the probability of a choice is proportional to exp of its sum. Names tell nothing about gender here,
and no weight differs between feminine and masculine words.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import exp

from portrayal.annotate.people.cast import CERTAIN, Cast
from portrayal.annotate.people.codes import (
    ALIKE_AT,
    THEY_AT,
    TONE_AT,
    singly_codes,
    told_code,
    untold_code,
)
from portrayal.annotate.people.coref import NEVER_NAMED, NOT_YET, Genders, Walk
from portrayal.annotate.people.links import CASE_CODE, SPECIAL_CODE, link_code, tones_of
from portrayal.annotate.people.mentions import OTHER, Mention
from portrayal.annotate.people.scene import Scene
from portrayal.annotate.people.singular import they_links

SINGLY = "NB"
"""Gender of a character that singular "they" stands for."""

SCALE = 1000
"""Weights are integers in thousandths of a natural logarithm of odds."""

_NOBODY = {
    (kind, case): SPECIAL_CODE.get(f"nobody {kind} {case}", SPECIAL_CODE.get(f"{kind} far", 0))
    for kind in ("none", "neutral", "named", "alike")
    for case in (*CASE_CODE, "far")
}
_KIND_OF_RANK = {1.0: 0, 1.8: 1, 1.2: 2, 0.6: 2, 0.0: 3, -0.5: 3}


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
class _Follower:
    """What stays the same for all choices of one story."""

    scene: Scene
    cast: Cast
    first: list[int]
    tones: Mapping[int, int]

    def follow(self, genders: Genders) -> Choice:
        """Give each pronoun to the most salient character of its gender."""
        n = len(genders)
        choice = Choice(genders)
        codes, found, tones = choice.codes, choice.found, self.tones
        walk = Walk(self.first, [-1] * (n + 1), [0.0] * (n + 1))
        for event in self.cast.events:
            at, sentence, _, rank, gender, case, _ = event
            if sentence != walk.sentence:
                walk.sentence, walk.clause = sentence, OTHER
            if not case:
                walk.see(event)
                continue
            if case == "p" and rank > 0.0:
                walk.clause = OTHER
            best = OTHER
            if gender in genders or walk.stranger == gender:
                best = self._antecedent(walk, event, choice)
            codes.append(self._code(walk, event, best, begun=bool(found)))
            if best >= 0 and at in tones:
                codes.append(TONE_AT + (tones[at] == best))
            walk.take(event, best)
            found[at] = best
        return choice

    def _antecedent(self, walk: Walk, event: Mention, choice: Choice) -> int:
        """The character that a pronoun means, or `OTHER`."""
        best, top, gender = OTHER, 0.0, event.gender
        if walk.stranger == gender:
            top = walk.stranger_salience(event)
        owner = OTHER
        if event.at in self.cast.apart:
            owner = choice.found.get(self.cast.apart[event.at], OTHER)
        barred = self.cast.barred.get(event.at, OTHER)
        for index, own in enumerate(choice.genders):
            if own != gender or index in (barred, owner):
                continue
            if walk.last[index] >= 0:
                weight = walk.salience(event, index)
            else:
                weight = NOT_YET if self.first[index] >= 0 else NEVER_NAMED
            if weight > top:
                best, top = index, weight
        choice.salience += top
        return best

    def _code(self, walk: Walk, event: Mention, index: int, *, begun: bool) -> int:
        """Code of the link of a pronoun to the character at `index`, or to nobody."""
        case = "noun" if event.at in self.cast.apart else event.case
        back = walk.sentence - walk.last[index]
        if index == OTHER:
            return self._nobody_code(walk, event, case, back)
        if walk.last[index] < 0:
            if self.first[index] >= 0:
                kind = "first below" if self.first[index] == walk.sentence else "later below"
            elif self.scene.narrated:
                kind = "never named in first person"
            else:
                kind = "never named" if begun else "never named, first pronoun"
            return SPECIAL_CODE[kind]
        if event.quoted:
            return SPECIAL_CODE["quoted back" if back else "quoted here"]
        clause = 0
        if index == walk.clause:
            clause = 1
            if event.rank < 0.0:
                clause = 2 if event.at - walk.clause_at <= -event.rank else 0
        rank = _KIND_OF_RANK[walk.rank[index]]
        newest = 0 if index == walk.newest else 1 + (walk.newest == OTHER)
        return link_code(CASE_CODE[case], back, rank, newest, clause)

    def _nobody_code(self, walk: Walk, event: Mention, case: str, back: int) -> int:
        """Code of a pronoun that is left to a stranger `back` sentences ago, or to nobody."""
        if event.quoted:
            return SPECIAL_CODE["quoted nobody"]
        if walk.last[OTHER] < 0 or (walk.stranger and walk.stranger != event.gender):
            return _NOBODY["none", case]
        named = "named" if walk.stranger_at in self.scene.names else "neutral"
        kind = "alike" if walk.stranger else named
        return _NOBODY[kind, "far" if back > 1 else case]


def choices(scene: Scene, cast: Cast) -> list[Choice]:
    """All choices of genders that the words of the story leave open."""
    n = len(cast.slots)
    first = [-1] * (n + 1)
    for event in reversed(cast.events):
        if not event.case:
            first[event.entity] = event.sentence
    tones = {} if n == 1 or scene.paired else tones_of(scene.tokens, cast.events, scene.words.verbs)
    follower = _Follower(scene, cast, first, tones)
    found: list[Choice] = []
    for genders in _options(scene, cast):
        choice = follower.follow(genders)
        if _close(scene, cast, choice):
            found.append(choice)
    return found


def _options(scene: Scene, cast: Cast) -> list[Genders]:
    """Genders to try: any that a pronoun or a hint tells, none, and "they" for one of them."""
    seen = {event.gender for event in cast.events if event.case}
    spoken_of = any(not scene.tokens.quoted[at] for at in scene.they)
    per_slot = [[*sorted(seen | set(hint)), None] for hint in cast.hints]
    if len(per_slot) == 1:
        options: list[Genders] = [(a,) for a in per_slot[0]]
        return [*options, (SINGLY,)] if spoken_of else options
    options = [(a, b) for a in per_slot[0] for b in per_slot[1]]
    if spoken_of:
        options += [(SINGLY, b) for b in per_slot[1]] + [(a, SINGLY) for a in per_slot[0]]
    return options


def _close(scene: Scene, cast: Cast, choice: Choice) -> bool:
    """Add the codes of the characters; False where one has a gender without any word for it."""
    genders, slots = choice.genders, cast.slots
    sole = len(slots) == 1
    for slot, gender in enumerate(genders):
        hint = cast.hints[slot]
        named = slots[slot] is not None
        if gender == SINGLY:
            links = _links_of_they(scene, cast, choice, slot)
            if not links:
                return False
            choice.codes += singly_codes(
                len(links),
                len(scene.they) - len(links),
                hinted=bool(hint),
                named=named,
                sole=sole,
                paired=scene.paired,
            )
            choice.codes += [THEY_AT + code for _, code in links]
            choice.found.update((at, slot) for at, _ in links)
        elif gender is None:
            choice.codes.append(untold_code(_hint_class(hint), named, sole))
        else:
            links_to = list(choice.found.values()).count(slot)
            if not links_to and gender not in hint:
                return False
            state = _hint_class(hint) if gender in hint or not hint else 3
            choice.codes.append(told_code(links_to, state, named))
    if not sole and genders[0] == genders[1] and genders[0] is not None:
        choice.codes.append(ALIKE_AT + (2 if None in slots else int(scene.paired)))
    return True


def _links_of_they(scene: Scene, cast: Cast, choice: Choice, slot: int) -> list[tuple[int, int]]:
    """Uses of "they" that stand for the character `slot` under `choice`."""
    who = {event.at: event.entity for event in cast.events}
    who |= choice.found
    who.update(dict.fromkeys(scene.plurals, OTHER))
    sole = len(cast.slots) == 1
    other_told = not sole and choice.genders[1 - slot] in ("F", "M")
    return they_links(scene.tokens, scene.they, who, slot, sole=sole, other_told=other_told)


def _hint_class(hint: Mapping[str, float]) -> int:
    """Place in `codes.HINTS` of how sure gendered nouns are."""
    if not hint:
        return 0
    return 2 if max(hint.values()) >= CERTAIN else 1


def probabilities(options: Sequence[Choice], weights: Sequence[int], salience: int) -> list[float]:
    """Probability of each choice; weights are in units of 1 / `SCALE`.

    Sums are of integers, so that the order of the choices is the same on every machine.
    """
    scores = [
        100 * sum([weights[code] for code in option.codes])
        + salience * round(100 * option.salience)
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
    return sum(
        chance
        for option, chance in zip(options, chances, strict=True)
        if option.genders[slot] == gender
    )
