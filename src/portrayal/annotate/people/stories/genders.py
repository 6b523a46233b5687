"""Which genders the words of a story give its characters: a conditional logit over all choices.

Every choice of genders is followed through the story: a pronoun means the character of its gender
for which most speaks. What happens on the way is a list of *codes*, each with named features; the
probability of a choice is proportional to exp of the sum of their weights. The same weights say
whom a pronoun means. No name, and no difference between feminine and masculine words, counts.
"""

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress, product

from portrayal.annotate.people.shared.scan import OTHER, POSSESSOR, QUOTES, PersonMention
from portrayal.annotate.people.shared.words import SAYING, word_lists
from portrayal.annotate.people.stories.cast import CERTAIN, SETTLED, Cast
from portrayal.annotate.people.stories.scene import Scene
from portrayal.reference import FEMININE, MASCULINE, NON_BINARY

CASES = ("s", "o", "p", "r", "noun")
"""Case of a pronoun; "noun" is a definite noun such as "the girl"."""

_DISTANCES = ("here", "one back", "two back", "far back")
_RANKS = ("subject name", "subject pronoun", "possessor", "no subject")
_NEWEST = ("newest", "after the other", "after a stranger")
_CLAUSES = ("other clause", "own clause", "own verb")
_HINTS = ("unhinted", "likely", "certain", "against")
_SOLE = ("of two", "sole")
_NAMED = ("nameless", "named")
_USES = ("they", "their", "their one", "their kin", "them")

CODES: Mapping[str, tuple[tuple[tuple[str, ...], ...], tuple[tuple[int, ...], ...]]] = {
    # A pronoun and its antecedent: case, sentences back, what the last mention was, who came last
    # in the story, and whether the antecedent is the subject of the clause or of the very verb
    "link": (
        (CASES, _DISTANCES, _RANKS, _NEWEST, _CLAUSES),
        ((0, 1), (1, 2, 3), (0, 2), (0, 3), (0, 4)),
    ),
    "unmet": ((("later", "sentence begun", "never", "never, at first", "narrated"),), ((0,),)),
    "quoted": ((("here", "back"),), ((0,),)),
    "nobody": ((("none", "neutral", "named", "alike", "far", "alike far", "quoted"), CASES,
                ("", "newest")), ((0, 1), (1, 2))),
    # What opens the clause of a pronoun, and whom it means
    "join": (
        (("s", "p"), ("and", "but", "so", "as", "that", "comma", "start", "said"),
         ("subject", "newest", "earlier", "nobody")),
        ((0, 1, 2),),
    ),
    # A pronoun that a giver would be, or a receiver: "she taught him"
    "role": ((("fits", "against"),), ((0,),)),
    # A character with a gender: pronouns it has; what nouns and titles say; whether it has a name
    "told": ((("0", "1", "2", "3+"), _HINTS, _NAMED), ((0, 1), (0, 2))),
    "untold": ((_HINTS, _NAMED, _SOLE), ((0,), (1, 2))),
    "alike": ((("with roles", "pair", "nameless"),), ((0,),)),
    # A use of "they" for one character: where that was mentioned, who else was, its form
    "they": (
        (("here", "back"), ("unrivalled", "alone", "rival back", "rival near", "rival latest"),
         _USES, ("", "together"), _SOLE),
        ((0, 1), (2, 4), (1, 2), (3,)),
    ),
    "singly": ((_NAMED, _SOLE), ((0, 1),)),
    "singly uses": ((("1", "2", "3+"),), ((0,),)),
    "singly also": ((("hinted", "pair"),), ((0,),)),
}  # fmt: skip
"""Kind of code → the dimensions of its codes, and which of these make up each of its features."""

_FIRST: dict[str, int] = {}
FEATURES_OF: list[tuple[str, ...]] = []
"""Code → names of its features."""
for _kind, (_dimensions, _features) in CODES.items():
    _FIRST[_kind] = len(FEATURES_OF)
    for _values in product(*_dimensions):
        FEATURES_OF.append(
            tuple(" ".join((_kind, *(_values[i] for i in feature))) for feature in _features)
        )

_CASE, _BACK, _RANK = 144, 36, 9
_UNMET, _QUOTED, _NOBODY, _ROLE = (_FIRST[kind] for kind in ("unmet", "quoted", "nobody", "role"))
_JOIN = _FIRST["join"]
_NONE, _NEUTRAL, _NAMED_STRANGER, _ALIKE, _FAR, _ALIKE_FAR, _IN_QUOTES = range(7)
_NAME_RANK = {1.0: 0, POSSESSOR: 2 * _RANK, 0.0: 3 * _RANK}
_PRONOUN_RANK = {"s": _RANK, "p": 2 * _RANK, "o": 3 * _RANK, "r": 3 * _RANK}

ROLE_CODES = (_ROLE, _ROLE + 1)
"""Codes of a pronoun that fits the roles, and of one that does not."""

LEFT = 4
"""Pronouns outside quotations that a choice may leave to nobody beyond those that any must."""

SINGLY = NON_BINARY
"""Gender of a character that singular "they" stands for."""

SCALE = 1000
"""Weights are integers in thousandths of a natural logarithm of odds."""

Genders = tuple[str | None, ...]
"""A choice of genders: one per character, None for no gender."""

_LISTS = word_lists("stories")

_OPENERS = ("as", "while", "when", "before", "after", "until", "since", "because", "if", "once")
_JOINS: Mapping[str, int] = (
    dict.fromkeys(("and", "then", "&"), 0)
    | dict.fromkeys(("but", "yet", "though", "although"), 1)
    | {"so": 2, ",": 5}
    | dict.fromkeys(_OPENERS, 3)
    | dict.fromkeys(("that", "what", "how", "where", "why", "whether", "which", "than"), 4)
    | dict.fromkeys((".", "!", "?", "…", "...", "\n", ";", ":", "—", "–"), 6)
    | dict.fromkeys(sorted(QUOTES), 7)
)


def weights_of_codes(weights: Mapping[str, int]) -> list[int]:
    """Weight of every code from those of the features; one that is not listed has none."""
    return [sum(weights.get(name, 0) for name in names) for names in FEATURES_OF]


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
        What speaks for and against it: places in `FEATURES_OF`.
    """

    genders: Genders
    found: dict[int, int]
    codes: list[int]


Step = tuple[int, int, int, int, int, str, bool, bool, int, tuple[int, int] | None, int]
"""A mention or pronoun as the walk needs it, in this order:

token number; sentence; code of a pronoun's case, -1 for a mention; index of a mention's character,
or `OTHER`; code of how much of a subject it is; gender, "F", "M" or ""; whether it stands in a
quotation; whether a mention is the subject of a clause, or a possessive opens one; tokens back to
which a subject cannot be the antecedent, or 1 for a name; the character that a pronoun cannot be
and the position of its owner, or None; code of what joins a pronoun's clause to the one before, or
-1.
"""


def steps_of(
    low: Sequence[str],
    names: Container[int],
    events: Sequence[PersonMention],
    all_barred: Mapping[int, int],
    all_apart: Mapping[int, int],
) -> tuple[list[Step], dict[int, int]]:
    """The mentions and pronouns of a text in order, up to the last pronoun; who is first where.

    `names` holds the positions of names; see `Cast` for the others. What is returned second is the
    sentence in which each person is first mentioned.
    """
    steps: list[Step] = []
    first: dict[int, int] = {}
    behind = 0
    step: Step
    for i, sentence, entity, rank, gender, case, quoted in events:
        if not case:
            kind, is_name = _NAME_RANK[rank], int(i in names)
            first.setdefault(entity, sentence)
            step = (i, sentence, -1, entity, kind, gender, quoted, rank == 1.0, is_name, None, -1)
        else:
            is_apart = i in all_apart
            barred = None
            if is_apart or i in all_barred:
                barred = all_barred.get(i, OTHER), all_apart.get(i, -1)
            opens, reach = case == "p" and rank > 0.0, -int(rank) if rank < 0.0 else 0
            number = _CASE * CASES.index("noun" if is_apart else case)
            join = -1
            if (case == "s" or opens) and not is_apart and not quoted:
                join = _JOINS.get(low[i - 1], -1) if i else 6
                join = _JOIN + (case == "p") * 32 + join * 4 if join >= 0 else -1
            pronoun_fields = gender, quoted, opens, reach, barred, join
            step = (i, sentence, number, OTHER, _PRONOUN_RANK[case], *pronoun_fields)
            behind = len(steps) + 1
        steps.append(step)
    return steps[:behind], first


def walk(  # noqa: PLR0912, PLR0915 (run for every choice of every story: calls inside cost time)
    steps: Sequence[Step],
    genders: Genders,
    first: Mapping[int, int],
    weights: Sequence[int],
    *,
    narrated: bool = False,
    more: Sequence[int] | None = None,
) -> GenderChoice:
    """Give each pronoun to the person of its gender for whom most speaks.

    `first` holds the sentence in which each person is first mentioned; `more` what else speaks for
    each. A person of the gender "" may be meant by any pronoun.
    """
    n = len(genders) + 1
    last, ranks, more = [-1] * n, [0] * n, more or [0] * n
    current, newest, clause, clause_at, stranger, stranger_named = -1, OTHER, OTHER, -1, "", 0
    bearers = {
        g: [i for i, slot_gender in enumerate(genders) if slot_gender in (g, "")] for g in "FM"
    }
    person_at: dict[int, int] = {}
    codes: list[int] = []
    for place_at, sentence, case, entity, rank, gender, quoted, opens, reach, barred, join in steps:
        if sentence != current:
            current, clause = sentence, OTHER
        if case < 0:
            if not quoted or last[entity] < 0:
                last[entity], newest, ranks[entity] = sentence, entity, rank
                if opens:
                    clause, clause_at = entity, place_at
                if entity == OTHER:
                    stranger, stranger_named = gender, reach
            continue
        subject, clause = clause, OTHER if opens else clause
        among = bearers[gender]
        if barred:
            owner = person_at.get(barred[1], OTHER)
            among = [index for index in among if index not in (barred[0], owner)]
        kind, away = _NONE, current - last[OTHER]
        if quoted:
            kind = _IN_QUOTES
        elif last[OTHER] >= 0 and stranger in ("", gender):
            kind = _ALIKE if stranger else _NAMED_STRANGER if stranger_named else _NEUTRAL
            if away > 1:
                kind = _ALIKE_FAR if stranger else _FAR
        newest_unmet = newest == OTHER and last[OTHER] >= 0 and not quoted
        best, code = OTHER, _NOBODY + kind * 10 + case // _CASE * 2 + newest_unmet
        top = weights[code] if kind in (_ALIKE, _ALIKE_FAR) else -99_999
        for index in among:
            if last[index] < 0:
                if index in first:
                    place = _UNMET + (first[index] == current)
                else:
                    place = _UNMET + (4 if narrated else 2 if person_at else 3)
            else:
                back = current - last[index]
                place = case + (back if back < 3 else 3) * _BACK + ranks[index]
                if index != newest:
                    place += 6 if newest == OTHER else 3
                if index == clause:
                    place += 1 if not reach else 2 * (place_at - clause_at <= reach)
            if weights[place] + more[index] > top:
                best, code, top = index, place, weights[place] + more[index]
        if join >= 0:
            codes.append(join + (3 if best < 0 else 0 if best == subject else 1 + (best != newest)))
        if best != OTHER:
            if quoted and last[best] >= 0:
                code = _QUOTED + (current > last[best])
            last[best], newest, ranks[best] = current, best, rank
        codes.append(code)
        if case == 0:
            clause, clause_at = best, place_at
        person_at[place_at] = best
    return GenderChoice(genders, person_at, codes)


def choices(scene: Scene, cast: Cast, weights: Sequence[int]) -> list[GenderChoice]:
    """All choices of genders that the words of the story leave open; weights are those of codes."""
    low, two = scene.tokens.low, len(cast.slots) == 2
    steps, first = steps_of(low, scene.names, cast.events, cast.barred, cast.apart)
    # Gender → how many pronouns outside quotations have it; nouns like pronouns count 0
    heard: dict[str, int] = {}
    for event in scene.pronouns:
        heard[event.gender] = heard.get(event.gender, 0) + (not event.quoted)
    if cast.apart:
        heard = {event.gender: 0 for event in cast.events if event.case} | heard
    they = _TheyUses(scene, cast)
    options = _options(cast, heard, spoken_of=bool(they.order))
    if sum(heard.values()) > LEFT:
        # Walk the likely choices only: others leave many more pronouns to nobody
        unheard = [sum([n for g, n in heard.items() if g not in genders]) for genders in options]
        limit = min(unheard) + LEFT
        likely = [one for one, n in zip(options, unheard, strict=True) if n <= limit]
        unlikely = [one for one, n in zip(options, unheard, strict=True) if n > limit]
    else:
        likely, unlikely = options, []
    tones = scene.tones(cast.events) if two and not scene.roles.paired else {}
    walks: dict[Genders, tuple[GenderChoice, list[int]]] = {}
    walked: list[GenderChoice] = []
    for part in (likely, unlikely):
        for genders in () if walked else part:
            # Choices that differ in genders no pronoun has share one walk
            key = tuple([gender if gender in heard else None for gender in genders])
            if key not in walks:
                way = walk(steps, key, first, weights, narrated=scene.narrated)
                way.codes += [
                    _ROLE + (way.found[i] != tone) for i, tone in tones.items() if way.found[i] >= 0
                ]
                meant = list(way.found.values())
                walks[key] = way, [meant.count(slot) for slot in range(len(key))]
            way, counts = walks[key]
            choice = GenderChoice(genders, way.found, way.codes.copy())
            if _close(scene, cast, choice, counts, they):
                walked.append(choice)
    return they.settle(walked)


def _options(cast: Cast, heard: Mapping[str, int], *, spoken_of: bool) -> list[Genders]:
    """Genders to try: any that a pronoun or a hint tells, none, and "they" for one of them."""
    slots: list[list[str | None]] = []
    for hint in cast.hints:
        # A title or nouns that agree leave but theirs for one of two
        sure = len(cast.hints) > 1 and len(hint) == 1 and max(hint.values()) >= SETTLED
        slots.append([*hint, None] if sure else [*sorted({*heard, *hint}), None])
    # Singular "they" is tried for one character at a time
    options = list(product(*slots))
    if spoken_of:
        for i in range(len(slots)):
            singly = [
                [SINGLY] if i == slot else slot_options for slot, slot_options in enumerate(slots)
            ]
            options += product(*singly)
    return options


def code_of_gender(
    gender: str | None, count: int, state: int, *, is_named: bool, sole: bool
) -> int:
    """Code of a person with that gender, or none, `count` pronouns, and `_HINTS[state]`."""
    if gender is None:
        return _FIRST["untold"] + state * 4 + is_named * 2 + sole
    return _FIRST["told"] + min(count, 3) * 8 + state * 2 + is_named


def _close(
    scene: Scene, cast: Cast, choice: GenderChoice, counts: Sequence[int], they: "_TheyUses"
) -> bool:
    """Add the codes of the characters; False where one has a gender without any word for it.

    `counts` says how many pronouns each character has.
    """
    genders, codes, sole = choice.genders, choice.codes, len(choice.genders) == 1
    for slot, (gender, hint) in enumerate(zip(genders, cast.hints, strict=True)):
        is_named = cast.slots[slot] is not None
        state = 1 + (max(hint.values()) >= CERTAIN) if hint else 0
        if gender is None:
            codes.append(code_of_gender(None, 0, state, is_named=is_named, sole=sole))
        elif gender == SINGLY:
            links = they.links(choice, slot)
            # No "they" can mean the character: the gender has no word for it
            if not links:
                return False
            codes += [
                *(_FIRST["they"] + code for code in links.values()),
                _FIRST["singly"] + is_named * 2 + sole,
                _FIRST["singly uses"] + min(len(links), 3) - 1,
                *[_FIRST["singly also"]] * bool(hint),
                *[_FIRST["singly also"] + 1] * scene.roles.paired,
            ]
            choice.found = choice.found | dict.fromkeys(links, slot)
        elif gender in hint or counts[slot]:
            state = state if gender in hint or not hint else _HINTS.index("against")
            codes.append(code_of_gender(gender, counts[slot], state, is_named=is_named, sole=sole))
        else:
            return False
    if not sole and genders[0] == genders[1] and genders[0] is not None:
        codes.append(_FIRST["alike"] + (2 if None in cast.slots else int(scene.roles.paired)))
    return True


class _TheyUses:
    """Uses of "they" of a story outside quotations, among its mentions.

    Attributes
    ----------
    order
        Position, sentence and number of each mention and use, up to the last use; the number is -1
        for a mention, else the part of the code that the words around the use tell.
    who
        Position of a mention → its character or `OTHER`.
    """

    def __init__(self, scene: Scene, cast: Cast) -> None:
        tokens, self.scene = scene.tokens, scene
        self.order: list[tuple[int, int, int]] = []
        self.who: dict[int, int] = {}
        uses = [i for i in scene.they if not tokens.quoted[i]]
        if not uses:
            return
        self.who = {event.at: event.entity for event in cast.events}
        self.who |= dict.fromkeys(scene.plurals, OTHER)
        low, sentence, sole = tokens.low, tokens.sentence, len(cast.slots) == 1
        shared = set(compress(sentence, map(_LISTS.together.__contains__, low)))
        self.order = [(i, sentence[i], -1) for i in self.who if i < uses[-1]]
        for i in uses:
            word, after = low[i], low[i + 1 : i + 4]
            if word != "their":
                use = 0 if word == "they" else 4 if word.startswith("them") else 1
            elif after and after[0] in _LISTS.they_kin:
                use = 3
            else:
                use = 1 if _LISTS.one_of.isdisjoint(after[:2]) else 2
            in_shared = sentence[i] in shared
            self.order.append((i, sentence[i], use * 4 + in_shared * 2 + sole))
        self.order.sort()

    def links(self, choice: GenderChoice, slot: int) -> dict[int, int]:
        """Position of each use that may refer to the character `slot` → its code.

        It may when the character was the last to be mentioned in the sentence, or in the sentence
        before where nobody was in this one; the other may stand between where "he" or "she" is for
        that one.
        """
        genders = choice.genders
        other_told = len(genders) == 2 and genders[1 - slot] in (FEMININE, MASCULINE)
        in_sentence: set[int] = set()
        before: set[int] = set()
        told_of: set[int] = set()
        current, latest = -1, -9
        code_at: dict[int, int] = {}
        for i, sentence, use in self.order:
            if sentence != current:
                before = in_sentence if sentence == current + 1 else set()
                in_sentence, current = set(), sentence
            if use < 0:
                latest = choice.found.get(i, self.who[i])
                in_sentence.add(latest)
                told_of.add(latest)
                continue
            # The other is "he" or "she", so "they" may pass over that one
            between = other_told and latest == 1 - slot and OTHER not in in_sentence
            around = in_sentence or before
            if slot not in around or not (latest == slot or between):
                continue
            if between:
                rival = 4
            elif len(around) > 1:
                rival = 3
            else:
                rival = 0 if told_of <= {slot} else 2 if len(before) > (slot in before) else 1
            code_at[i] = (not in_sentence) * 100 + rival * 20 + use
            # A use is a mention itself, which the next use may follow
            in_sentence.add(slot)
            latest = slot
        return code_at

    def settle(self, all_choices: list[GenderChoice]) -> list[GenderChoice]:
        """Leave those of singular "they" where it says whose a quotation is: '"Hi," they said.'"""
        singly = [choice for choice in all_choices if SINGLY in choice.genders]
        low, quoted = self.scene.tokens.low, self.scene.tokens.quoted
        one_says = singly and any(
            low[i - 1] in QUOTES
            and not quoted[i]
            and not SAYING.isdisjoint(low[i + 1 : i + 2])
            and _LISTS.at_once.isdisjoint(low[i + 2 : i + 6])
            for i in self.scene.they
        )
        return singly if one_says else all_choices
