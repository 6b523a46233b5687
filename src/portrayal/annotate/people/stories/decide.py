"""Which genders a story tells of its characters, by a log-linear model over all choices.

Every choice of genders for the characters is followed through the story (`trace` says which
character a pronoun then means), and what speaks for and against it is summed with learned weights:
the probability of a choice is proportional to exp of its sum. Names tell nothing about gender here,
and no weight differs between feminine and masculine words.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import product
from math import exp

from portrayal.annotate.people.shared.scan import OTHER, POSSESSOR, QUOTES
from portrayal.annotate.people.shared.words import SAYING, word_lists
from portrayal.annotate.people.stories.cast import CERTAIN, SETTLED, Cast
from portrayal.annotate.people.stories.codes import (
    AHEAD,
    AHEAD_AT,
    ALIKE_AT,
    CASE_CODE,
    CASES,
    HINTS,
    JOIN_AT,
    JOIN_CASE,
    JOIN_STEP,
    RELATIONS,
    SPECIAL_CODE,
    STRANGER_AT,
    THEY_AT,
    TONE_AT,
    Ahead,
    TheyWalk,
    ahead_of,
    join_of,
    link_code,
    singly_codes,
    they_links,
    they_walk,
    told_code,
    tones_of,
    untold_code,
)
from portrayal.annotate.people.stories.scene import Scene
from portrayal.reference import FEMININE, MASCULINE, NON_BINARY

RECENCY = (4.3, 3.6, 1.9, 0.3)
"""Salience of a character last mentioned in this sentence, one, two, or more sentences ago."""

SUBJECT = {"s": 1.7, "o": 0.5, "p": 0.4, "r": 0.4}
"""Added where that mention was a subject, by case of the pronoun."""

NEWEST = {"s": 0.3, "o": -0.6, "p": 0.5, "r": 0.5}
"""Added where no one was mentioned later."""

OWN_CLAUSE = {"s": 1.0, "o": 0.0, "p": 0.2, "r": 2.0}
"""Added where the character is the subject of the pronoun's clause."""

NOT_OWN = 0.05
"""Factor for the object of a verb and its subject: "she thanked her" are two people."""

NAME_RANK = {1.0: 1.0, POSSESSOR: 1.2, 0.0: 0.0}
"""How much of a subject a name or noun is, by rank."""

PRONOUN_RANK = {"s": 1.8, "o": -0.5, "p": 0.6, "r": -0.5}
"""How much of a subject a pronoun is, by case."""

NOT_YET = 0.2
"""Salience of a character who is only mentioned later."""

NEVER_NAMED = 4.0
"""Salience of a character who is only ever a pronoun."""

STRANGER = 0.4
"""Factor for people outside the roles whose noun tells the pronoun's gender."""

QUOTED = 0.1
"""Factor for pronouns in direct speech."""

GENDERED = 0.2
"""Cost of giving a character a gender."""

ALIKE = 0.3
"""Cost of giving both the same gender."""

LEFT = 4
"""Pronouns outside quotations that a choice may leave to nobody beyond those that any must."""

Genders = tuple[str | None, ...]
"""A choice of genders: one per character, None for no gender."""


def likely(heard: Mapping[str, int], options: list[Genders]) -> list[Genders]:
    """Those of `options` that do not leave far more pronouns to nobody than others must.

    `heard` says how many pronouns outside quotations each gender has.
    """
    if sum(heard.values()) <= LEFT:
        return options
    left = [sum([heard[g] for g in heard if g not in genders]) for genders in options]
    most = min(left) + LEFT
    return [genders for genders, n in zip(options, left, strict=True) if n <= most]


_KINDS = (
    *((NAME_RANK[1.0], 0), (NAME_RANK[POSSESSOR], 2), (NAME_RANK[0.0], 3)),
    *((PRONOUN_RANK["s"], 1), (PRONOUN_RANK["p"], 2), (PRONOUN_RANK["o"], 3)),
)
"""How much of a subject the last mention of a character was, and its place in `codes.RANKS`."""

_CASE, _BACK, _KIND = 216, 54, 9
"""Steps of the tables: case, sentences back, kind, then who was newest and the clause."""

_NAME_KIND = {1.0: 0, POSSESSOR: _KIND, 0.0: 2 * _KIND}
_PRONOUN_KIND = {"s": 3 * _KIND, "p": 4 * _KIND, "o": 5 * _KIND, "r": 5 * _KIND}
_CASES = {case: number * _CASE for case, number in CASE_CODE.items()}
_SUBJECT_CASE = _CASES["s"]
_NOT_AHEAD = Ahead(OTHER, 0)
_ABOUT_NOBODY = RELATIONS.index("nobody")
_NO_PLACE, _NEVER = -1, 1 << 30


def _salience(case: str, back: int, kind: int, newest: int, clause: int) -> float:
    """How well a character mentioned before would do for a pronoun."""
    case = "p" if case == "noun" else case
    weight = RECENCY[back] + SUBJECT[case] * _KINDS[kind][0]
    if newest == 0:
        weight += NEWEST[case]
    if clause == 1:
        weight += OWN_CLAUSE[case]
    return weight * NOT_OWN if clause == 2 else weight


_PLACES = tuple(product(range(len(CASES)), range(4), range(len(_KINDS)), range(3), range(3)))
SALIENCE = tuple(_salience(CASES[case], *rest) for case, *rest in _PLACES)
"""Salience by case, sentences back, kind, who was newest and clause, as set by hand."""

_CODE = tuple(
    link_code(case, back, _KINDS[kind][1], newest, clause)
    for case, back, kind, newest, clause in _PLACES
)
LEARNED, LEAST = 0.5, 0.05
"""Share of a link's learned weight that goes into its salience, and the least salience."""

_STRANGER = tuple(
    (RECENCY[back] + SUBJECT["p" if case == "noun" else case] * kind) * STRANGER
    for case, back, (kind, _), _, _ in product(CASES, range(4), _KINDS, range(3), range(3))
)
_NOBODY = tuple(
    tuple(SPECIAL_CODE[f"nobody {kind} {case}"] for case in CASES)
    for kind in ("neutral", "named", "alike", "none")
)
_FAR = tuple(SPECIAL_CODE[f"{kind} far"] for kind in ("neutral", "named", "alike"))
_ALIKE, _NONE = 2, 3
_QUOTED_NOBODY = SPECIAL_CODE["quoted nobody"]
_BELOW = (SPECIAL_CODE["later below"], SPECIAL_CODE["first below"])
_NEVER_NAMED = (SPECIAL_CODE["never named, first pronoun"], SPECIAL_CODE["never named"])
_NEVER_TOLD = SPECIAL_CODE["never named in first person"]
_QUOTED_LINK = (SPECIAL_CODE["quoted here"], SPECIAL_CODE["quoted back"])


def learned_saliences(codes: Sequence[float]) -> tuple[float, ...]:
    """`SALIENCE` corrected by weights of the codes, in natural logarithms of odds."""
    return tuple(
        max(LEAST, by_hand + LEARNED * codes[code])
        for by_hand, code in zip(SALIENCE, _CODE, strict=True)
    )


Step = tuple[
    int,
    int,
    int,
    int,
    int,
    str,
    bool,
    bool,
    float,
    tuple[int, int] | None,
    tuple[int, int, int] | None,
]
"""A mention, or a pronoun, as the walk needs it, in this order:

token number; sentence number; place of a pronoun's case in `codes.CASES` times `_CASE`, -1 for a
mention; index of a mention's character, or `OTHER`; place in `_KINDS` of the mention, or of the
pronoun once it has an antecedent, times `_KIND`; gender, "F", "M" or ""; whether it stands in a
quotation; whether a mention is the subject of a clause, or a possessive opens one; tokens back to
which a subject cannot be the antecedent, or whether a mention is a name; the character that a
pronoun cannot be and the position of its owner, or None; and the code of what joins a pronoun's
clause, or -1, with the subject ahead (`codes.Ahead`), or None.
"""


@dataclass(slots=True)
class GenderChoice:
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
        How salient the characters of the pronouns were, in the unit of `SALIENCE`.
    """

    genders: Genders
    found: dict[int, int] = field(default_factory=dict)
    codes: list[int] = field(default_factory=list)
    salience: float = 0.0


def pronouns_of(scene: Scene, cast: Cast) -> dict[str, int]:
    """Gender → how many pronouns outside quotations have it; nouns like pronouns count 0."""
    heard: dict[str, int] = {}
    for _, _, _, _, gender, _, quoted in scene.pronouns:
        heard[gender] = heard.get(gender, 0) + (not quoted)
    if cast.apart:
        heard = {event.gender: 0 for event in cast.events if event.case} | heard
    return heard


def first_mentions(cast: Cast) -> list[int]:
    """Sentence in which each character, and last a stranger, is first mentioned; -1 where never."""
    first = [-1] * (len(cast.slots) + 1)
    for _, sentence, entity, _, _, case, _ in reversed(cast.events):
        if not case:
            first[entity] = sentence
    return first


def steps_of(scene: Scene, cast: Cast, *, context: bool = True) -> list[Step]:
    """The mentions and pronouns of `cast` in order, up to the last pronoun.

    Without `context` faster and less exact.
    """
    steps: list[Step] = []
    behind = 0
    step: Step
    low, ahead = scene.tokens.low, ahead_of(scene.tokens, cast.events) if context else {}
    names, all_apart, all_barred = scene.names, cast.apart, cast.barred
    for at, sentence, entity, rank, gender, case, quoted in cast.events:
        if not case:
            kind, named = _NAME_KIND[rank], at in names
            step = (at, sentence, -1, entity, kind, gender, quoted, rank == 1.0, named, None, None)
        else:
            apart = at in all_apart
            barred = None
            if apart or at in all_barred:
                barred = all_barred.get(at, OTHER), all_apart.get(at, -1)
            opens, reach = case == "p" and rank > 0.0, -rank if rank < 0.0 else 0.0
            number, kind = _CASES["noun" if apart else case], _PRONOUN_KIND[case]
            around = None
            joined = context and (case == "s" or opens) and not apart and not quoted
            join = join_of(low, at) if joined else -1
            if join >= 0 or at in ahead:
                code = JOIN_AT + (case == "p") * JOIN_CASE + join * JOIN_STEP if join >= 0 else -1
                around = (code, *ahead.get(at, _NOT_AHEAD))
            rest = gender, quoted, opens, reach, barred, around
            step = (at, sentence, number, OTHER, kind, *rest)
            behind = len(steps) + 1
        steps.append(step)
    return steps[:behind]


def trace(  # noqa: PLR0912, PLR0915 (run for every choice of every story: calls inside cost time)
    steps: Sequence[Step],
    genders: Genders,
    first: Sequence[int],
    saliences: Sequence[float] = SALIENCE,
    *,
    narrated: bool,
) -> GenderChoice:
    """Give each pronoun to the most salient character of its gender.

    `first` holds the sentence in which each character is first named, -1 where it never is;
    `saliences` are those of `SALIENCE` or `learned_saliences`.
    """
    last, kinds, total = [-1] * (len(genders) + 1), [0] * (len(genders) + 1), 0.0
    current, newest, clause, clause_at, stranger, stranger_kind = -1, OTHER, OTHER, -1, "", 0
    own = _bearers(genders)
    found: dict[int, int] = {}
    codes: list[int] = []
    for at, sentence, case, entity, kind, gender, quoted, opens, reach, barred, around in steps:
        if sentence != current:
            current, clause = sentence, OTHER
        if case < 0:
            if not quoted or last[entity] < 0:
                last[entity], newest, kinds[entity] = sentence, entity, kind
                if opens:
                    clause, clause_at = entity, at
                if entity == OTHER:
                    stranger, stranger_kind = gender, int(reach)
            continue
        subject, clause = clause, OTHER if opens else clause
        best, place, top = OTHER, _NO_PLACE, 0.0
        if stranger == gender:
            top = _STRANGER[case + min(current - last[-1], 3) * _BACK + kinds[-1]]
        among = own[gender]
        if barred:
            owner = found.get(barred[1], OTHER)
            among = [index for index in among if index not in (barred[0], owner)]
        for index in among:
            if last[index] < 0:
                at_place, weight = _NO_PLACE, NOT_YET if first[index] >= 0 else NEVER_NAMED
            else:
                back = current - last[index]
                at_place = case + (back if back < 3 else 3) * _BACK + kinds[index]
                if index != newest:
                    at_place += 6 if newest == OTHER else 3
                if index == clause:
                    at_place += 1 if not reach else 2 * (at - clause_at <= reach)
                weight = saliences[at_place] * QUOTED if quoted else saliences[at_place]
            weight += AHEAD[around[2]] if around and around[1] == index else 0.0
            if weight > top:
                best, place, top = index, at_place, weight
        total += top
        codes += _around(*around, best, subject, newest) if around else ()
        if best == OTHER:
            away = current - last[OTHER] if last[OTHER] >= 0 else _NEVER
            codes.append(_nobody(case // _CASE, away, stranger, stranger_kind, gender, quoted))
            alone = newest == OTHER and away != _NEVER and not quoted
            codes += [STRANGER_AT + case // _CASE] if alone else ()
        else:
            if place < 0 and first[best] >= 0:
                codes.append(_BELOW[first[best] == current])
            elif place < 0:
                codes.append(_NEVER_TOLD if narrated else _NEVER_NAMED[bool(found)])
            else:
                codes.append(_QUOTED_LINK[current > last[best]] if quoted else _CODE[place])
            last[best], newest, kinds[best] = current, best, kind
        clause, clause_at = (best, at) if case == _SUBJECT_CASE else (clause, clause_at)
        found[at] = best
    return GenderChoice(genders, found, codes, total)


@lru_cache(maxsize=256)
def _bearers(genders: Genders) -> dict[str, list[int]]:
    """Gender of a pronoun → the characters that have it under a choice."""
    return {
        gender: [i for i, g in enumerate(genders) if g == gender]
        for gender in (FEMININE, MASCULINE)
    }


def _around(
    join: int, ahead: int, lead: int, best: int, subject: int, newest: int
) -> tuple[int, ...]:
    """Codes of the word that joins a pronoun's clause and of the subject ahead."""
    codes: tuple[int, ...] = ()
    if join >= 0:
        whom = 0 if best == subject else 1 + (best != newest)
        codes = (join + (whom if best >= 0 else _ABOUT_NOBODY),)
    return codes if ahead == OTHER else (*codes, AHEAD_AT + 2 * lead + (best != ahead))


def _nobody(case: int, away: int, stranger: str, kind: int, gender: str, quoted: bool) -> int:
    """Code of a pronoun left to a stranger mentioned `away` sentences ago, or to nobody."""
    if quoted:
        return _QUOTED_NOBODY
    if away == _NEVER or (stranger and stranger != gender):
        return _NOBODY[_NONE][case]
    if stranger:
        kind = _ALIKE
    return _FAR[kind] if away > 1 else _NOBODY[kind][case]


_LISTS = word_lists("stories")


SINGLY = NON_BINARY
"""Gender of a character that singular "they" stands for."""

SCALE = 1000
"""Weights are integers in thousandths of a natural logarithm of odds."""

_AGAINST = HINTS.index("against")


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


def choices(scene: Scene, cast: Cast, saliences: Sequence[float]) -> list[GenderChoice]:
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
    # How sure gendered nouns are, as a place in `codes.HINTS`
    states = [1 + (max(hint.values()) >= CERTAIN) if hint else 0 for hint in cast.hints]
    story = _Story(scene, cast, saliences, states, pronouns_of(scene, cast), who, walk)
    options = _options(story)
    found = _follow(story, steps, first, likely(story.told, options))
    found = found or _follow(story, steps, first, options)
    singly = [choice for choice in found if SINGLY in choice.genders]
    # "They" may say whose a quotation is: one person speaks '"Watch," they said.'
    low, quoted = scene.tokens.low, scene.tokens.quoted
    one_says = any(
        low[at - 1] in QUOTES
        and not quoted[at]
        and not SAYING.isdisjoint(low[at + 1 : at + 2])
        and _LISTS.at_once.isdisjoint(low[at + 2 : at + 6])
        for at in scene.they
    )
    return singly if singly and one_says else found


def _follow(
    story: _Story, steps: Sequence[Step], first: Sequence[int], options: Sequence[Genders]
) -> list[GenderChoice]:
    """The choices of `options` that have a word for each gender, followed through the story."""
    scene, cast, tones = story.scene, story.cast, {}
    if len(cast.slots) == 2 and not scene.paired:
        tones = tones_of(scene.tokens, cast.events, scene.words.verbs)
    heard: dict[str | None, str] = {gender: gender for gender in story.told}
    traces: dict[Genders, tuple[GenderChoice, list[int]]] = {}
    found: list[GenderChoice] = []
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
        choice = GenderChoice(genders, way.found, way.codes.copy(), way.salience)
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


def _close(story: _Story, choice: GenderChoice, meant: Sequence[int]) -> bool:
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


def _add_they(story: _Story, choice: GenderChoice, slot: int) -> bool:
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


def probabilities(
    options: Sequence[GenderChoice], weights: Sequence[int], salience: int
) -> list[float]:
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
    options: Sequence[GenderChoice], chances: Sequence[float], slot: int, gender: str | None
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
