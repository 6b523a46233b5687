"""Everything that speaks for or against a choice of genders, numbered, and its weights by name.

A *code* is one observation of a story under one choice of genders: a link of a pronoun, a character
with or without evidence, a use of "they". Its weight is the sum of those of its *features*, which
are named; the weights of features are learned (`scripts/train_people.py`) and shipped as integers.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Container, Iterable, Mapping, Sequence
from itertools import compress, product
from typing import NamedTuple

from portrayal.annotate.people.shared.scan import OTHER, QUOTES, StoryMention, Tokens
from portrayal.annotate.people.shared.words import word_lists, word_set
from portrayal.annotate.people.stories.scene import GIVES, RECEIVES

_LISTS = word_lists("stories")

CASES = ("s", "o", "p", "r", "noun")
"""Cases of a pronoun; "noun" is a definite noun such as "the girl"."""

DISTANCES = ("here", "one back", "two back", "far back")
"""Sentences between a mention and the one before."""

RANKS = ("subject name", "subject pronoun", "possessor", "no subject")
"""What the antecedent's last mention was."""

NEWEST = ("newest", "after the other", "after a stranger")
"""Whether the antecedent was the last to be mentioned in the story, and if not, who was."""

CLAUSES = ("other clause", "own clause", "own verb")
"""Whether the antecedent is the subject of the pronoun's clause, or of the verb it is object of."""

_LINKS = tuple(product(CASES, DISTANCES, RANKS, NEWEST, CLAUSES))

SPECIAL = (
    *("quoted here", "quoted back", "first below", "later below"),
    *("never named in first person", "never named, first pronoun", "never named"),
    *(f"nobody {kind} {case}" for kind in ("none", "neutral", "named", "alike") for case in CASES),
    *("alike far", "named far", "neutral far", "quoted nobody"),
)
"""Links without an antecedent of the usual kind; "nobody" leaves the pronoun to a stranger."""

SPECIAL_AT = len(_LINKS)
N_LINKS = SPECIAL_AT + len(SPECIAL)
SPECIAL_CODE = {name: SPECIAL_AT + number for number, name in enumerate(SPECIAL)}
"""Name of a special link → its number."""

CASE_CODE = {case: number for number, case in enumerate(CASES)}
_CASE, _DISTANCE, _RANK, _NEWEST = 144, 36, 9, 3

_AHEAD, _BACK = 4, 3


def link_code(case: int, distance: int, rank: int, newest: int, clause: int) -> int:
    """Number of the link of a pronoun to an antecedent mentioned before."""
    return (
        case * _CASE
        + (distance if distance < 3 else 3) * _DISTANCE
        + rank * _RANK
        + newest * _NEWEST
        + clause
    )


def link_features(code: int) -> tuple[str, ...]:
    """Names of the weights that add up to that of link `code`."""
    if code >= SPECIAL_AT:
        return (f"link {SPECIAL[code - SPECIAL_AT]}",)
    case, distance, rank, newest, clause = _LINKS[code]
    return (
        f"link {case} {distance}",
        f"link {distance} {rank} {newest}",
        f"link {case} {rank}",
        f"link {case} {newest}",
        f"link {case} {clause}",
    )


def tones_of(
    tokens: Tokens, events: Sequence[StoryMention], verbs: Container[str]
) -> dict[int, int]:
    """Token position of a pronoun → 1 where a giver would be meant there, 0 for a receiver.

    "she taught" and "thanked her" mean who gives, "she thanked" and "taught her" who receives.
    `verbs` are those that the prompt gives to the subject.
    """
    low = tokens.low
    found: dict[int, int] = {}
    for event in events:
        if event.case == "s":
            for word in low[event.at + 1 : event.at + _AHEAD]:
                if word in GIVES or word in RECEIVES or word in verbs:
                    found[event.at] = int(word not in RECEIVES)
                    break
        elif event.case == "o":
            for word in reversed(low[max(0, event.at - _BACK) : event.at]):
                if word in GIVES or word in RECEIVES or word in verbs:
                    found[event.at] = int(word in RECEIVES)
                    break
    return found


JOINS = ("and", "but", "so", "as", "that", "comma", "start", "said")
"""What opens the clause of a pronoun."""

RELATIONS = ("subject", "newest", "earlier", "nobody")
"""Whom the pronoun means: the subject of the clause before, the last mentioned, another, nobody."""

JOIN_CODES = tuple(product(("s", "p"), JOINS, RELATIONS))
JOIN_STEP, JOIN_CASE = len(RELATIONS), len(JOINS) * len(RELATIONS)

LEADS = ("with s", "with p", "with o", "doing s", "doing p", "doing o")
"""Kind of the phrase before a sentence's subject, and case of the pronoun in it."""

AHEAD_CODES = tuple(product(LEADS, ("it", "not it")))
"""Whether the pronoun means the subject that follows: "As she left, Ann smiled"."""

AHEAD = (3.0, 2.0, 0.0, 0.0, 0.0, -9.0)
"""Salience that the subject that follows gains, by `LEADS`; set by hand."""

_JOIN_OF: Mapping[str, int] = (
    dict.fromkeys(("and", "then", "&"), 0)
    | dict.fromkeys(("but", "yet", "though", "although"), 1)
    | {"so": 2, ",": 5}
    | dict.fromkeys(word_set("as while when before after until since because if once"), 3)
    | dict.fromkeys(word_set("that what how where why whether which than"), 4)
    | dict.fromkeys((".", "!", "?", "…", "...", "\n", ";", ":", "—", "–"), 6)
    | dict.fromkeys(QUOTES, 7)
)

_GAP = 4
"""Most tokens from a comma to the head of the subject behind it."""


class Ahead(NamedTuple):
    """The character that is the subject behind a pronoun, and a place in `LEADS`."""

    entity: int
    lead: int


def join_of(low: Sequence[str], at: int) -> int:
    """Place in `JOINS` of what stands before the token at `at`, or -1."""
    return _JOIN_OF.get(low[at - 1], -1) if at else 6


def ahead_of(tokens: Tokens, events: Sequence[StoryMention]) -> dict[int, Ahead]:
    """Position of a pronoun → the subject that its opening phrase leads to."""
    low, sentence = tokens.low, tokens.sentence
    found: dict[int, Ahead] = {}
    waiting: list[StoryMention] = []
    current, lead, comma = -1, -1, -1
    for event in events:
        at, here, entity, rank, _, case, quoted = event
        if here == current:
            if lead < 0:
                continue
        elif not quoted:
            current, waiting, lead = here, [], -1
            if at and sentence[at - 1] == here:
                lead, comma = opening_phrase(low, sentence, at)
        if lead < 0 or quoted:
            continue
        if at < comma:
            if case in ("s", "p", "o"):
                waiting.append(event)
            continue
        if not case and rank > 0.0 and at - comma <= _GAP and entity >= 0:
            for pronoun in waiting:
                found[pronoun.at] = Ahead(entity, lead * 3 + "spo".index(pronoun.case))
        lead = -1
    return found


def opening_phrase(low: Sequence[str], sentence: Sequence[int], at: int) -> tuple[int, int]:
    """Kind of the phrase that opens the sentence of `at` (-1: none), and its comma."""
    start = bisect_left(sentence, sentence[at], 0, at)
    while not low[start][0].isalpha() and start < at:
        start += 1
    word = low[start]
    if word == "not" or (word not in _LISTS.opens_phrases and word.endswith(("ing", "ed"))):
        kind = 1
    elif word in _LISTS.opens_phrases:
        kind = 0
    else:
        return -1, at
    behind = bisect_right(sentence, sentence[at], at)
    try:
        return kind, low.index(",", at + 1, behind)
    except ValueError:
        return -1, -1


WHERE = ("here", "back")
RIVALS = ("no rival yet", "alone", "rival back", "rival near", "rival latest")
USES = ("they", "their", "their one", "their kin", "them")

THEY_LINKS = tuple(product(WHERE, RIVALS, USES, ("", "together"), ("", "sole")))
"""How a use of "they" stands to the one character it may refer to; its number is its place."""

_WHERE, _RIVAL, _USE, _TOGETHER_STEP = 100, 20, 4, 2


class TheyWalk(NamedTuple):
    """What all choices of genders of a story have in common.

    Attributes
    ----------
    order
        Position, sentence and number of each mention and each use of "they" outside quotations, up
        to the last use; the number is -1 for a mention, else the part of the link's that the words
        around the use tell.
    uses
        How many uses of "they" there are, with those in quotations.
    """

    order: list[tuple[int, int, int]]
    uses: int


def they_walk(tokens: Tokens, they: Sequence[int], mentions: Iterable[int]) -> TheyWalk:
    """What to walk through for uses of "they" at `they` and other mentions at `mentions`."""
    if not they:
        return TheyWalk([], 0)
    sentence = tokens.sentence
    own = [at for at in they if not tokens.quoted[at]]
    if not own:
        return TheyWalk([], len(they))
    shared = set(compress(sentence, map(_LISTS.together.__contains__, tokens.low)))
    order = [(at, sentence[at], -1) for at in mentions if at < own[-1]]
    for at in own:
        together = sentence[at] in shared
        # Place in `USES` of the form of "they"
        word, after = tokens.low[at], tokens.low[at + 1 : at + 4]
        if word != "their":
            use = 0 if word == "they" else 4 if word.startswith("them") else 1
        elif after and after[0] in _LISTS.they_kin:
            use = 3
        else:
            use = 1 if _LISTS.one_of.isdisjoint(after[:2]) else 2
        order.append((at, sentence[at], use * _USE + together * _TOGETHER_STEP))
    return TheyWalk(sorted(order), len(they))


def they_links(
    walk: TheyWalk, who: Mapping[int, int], slot: int, *, sole: bool, other_told: bool
) -> list[tuple[int, int]]:
    """Uses of "they" that may refer to the character `slot`, as (position, number of the link).

    `who` maps the position of every other mention to its character or a negative number; `sole`
    says that the prompt asks for one character and `other_told` that the other one is a "he" or
    "she". A use may refer to the character when it was the last to be mentioned in the sentence, or
    in the sentence before where nobody was in this one; the other may stand between if told.
    """
    here: set[int] = set()
    before: set[int] = set()
    seen: set[int] = set()
    current, latest = -1, -9
    found: list[tuple[int, int]] = []
    for at, sentence, use in walk.order:
        if sentence != current:
            before = here if sentence == current + 1 else set()
            here, current = set(), sentence
        if use < 0:
            latest = who[at]
            here.add(latest)
            seen.add(latest)
            continue
        between = other_told and latest == 1 - slot and OTHER not in here
        if slot not in (here or before) or not (latest == slot or between):
            continue
        if between:
            rival = 4
        elif len(here or before) > 1:
            rival = 3
        elif seen <= {slot}:
            rival = 0
        else:
            rival = 2 if len(before) > (slot in before) else 1
        found.append((at, (not here) * _WHERE + rival * _RIVAL + use + sole))
        here.add(slot)
        latest = slot
    return found


HINTS = ("unhinted", "likely", "certain", "against")
"""What gendered nouns and titles say of a character's gender."""

TONE_AT = N_LINKS
"""Codes of a link that fits the roles ("she taught him") and of one that goes against them."""

TOLD_AT = TONE_AT + 2
_TOLD = tuple(product(("0", "1", "2", "3+"), HINTS, ("nameless", "named")))
"""A character with a gender: pronouns it has, hint, and whether it has a name."""

UNTOLD_AT = TOLD_AT + len(_TOLD)
_UNTOLD = tuple(product(HINTS, ("nameless", "named"), ("of two", "sole")))
"""A character without a gender."""

ALIKE_AT = UNTOLD_AT + len(_UNTOLD)
_ALIKE = ("alike with roles", "alike pair", "alike nameless")
"""Both have the same gender."""

SINGLY_AT = ALIKE_AT + len(_ALIKE)
_SINGLY = (
    *(f"singly {named} {sole}" for named in ("nameless", "named") for sole in ("of two", "sole")),
    *(f"singly {number}" for number in ("1", "2", "3+")),
    "singly hinted",
    "singly left over",
    "singly pair",
)
"""A character that "they" stands for."""

THEY_AT = SINGLY_AT + len(_SINGLY)

JOIN_AT = THEY_AT + len(THEY_LINKS)
"""Codes of a pronoun that opens a clause (`join_of`), and of one before a sentence's subject
(`ahead_of`)."""

AHEAD_AT = JOIN_AT + len(JOIN_CODES)
STRANGER_AT = AHEAD_AT + len(AHEAD_CODES)
"""Codes of a pronoun left to the stranger who was mentioned last, by case."""

N_CODES = STRANGER_AT + len(CASES)


def told_code(links: int, hint: int, named: bool) -> int:
    """Code of a character with a gender; `hint` is a place in `HINTS`."""
    return TOLD_AT + (links if links < 3 else 3) * 8 + hint * 2 + named


def untold_code(hint: int, named: bool, sole: bool) -> int:
    """Code of a character without a gender."""
    return UNTOLD_AT + hint * 4 + named * 2 + sole


def singly_codes(
    links: int, left: int, *, hinted: bool, named: bool, sole: bool, paired: bool
) -> list[int]:
    """Codes of a character that `links` uses of "they" stand for and `left` others do not."""
    codes = [SINGLY_AT + named * 2 + sole, SINGLY_AT + 3 + min(links, 3)]
    codes += [SINGLY_AT + 7] * hinted + [SINGLY_AT + 8] * min(left, 3) + [SINGLY_AT + 9] * paired
    return codes


def features_of(code: int) -> tuple[str, ...]:
    """Names of the features whose weights add up to that of `code`."""
    names: tuple[str, ...]
    if code < TONE_AT:
        names = link_features(code)
    elif code < TOLD_AT:
        names = (("role fits", "role against")[code - TONE_AT],)
    elif code < UNTOLD_AT:
        links, hint, named = _TOLD[code - TOLD_AT]
        names = f"told {links} {hint}", f"told {links} {named}"
    elif code < ALIKE_AT:
        hint, named, sole = _UNTOLD[code - UNTOLD_AT]
        names = f"untold {hint}", f"untold {named} {sole}"
    elif code < THEY_AT:
        names = ((*_ALIKE, *_SINGLY)[code - ALIKE_AT],)
    elif code < JOIN_AT:
        where, rival, use, together, sole = THEY_LINKS[code - THEY_AT]
        names = f"they {where} {rival}", f"they {use} {sole}", f"they {use} {rival}"
        names += ("they together",) if together else ()
    elif code < AHEAD_AT:
        case, join, whom = JOIN_CODES[code - JOIN_AT]
        names = (f"join {case} {join} {whom}",)
    elif code < STRANGER_AT:
        lead, same = AHEAD_CODES[code - AHEAD_AT]
        names = (f"ahead {lead} {same}",)
    else:
        names = (f"nobody newest {CASES[code - STRANGER_AT]}",)
    return names


FEATURES = tuple(dict.fromkeys(name for code in range(N_CODES) for name in features_of(code)))
"""Names of all features, in a fixed order."""


def code_weights(weights: Mapping[str, int]) -> tuple[int, ...]:
    """Weight of every code from those of the features; one that is not listed has none."""
    return tuple(sum(weights.get(name, 0) for name in features_of(code)) for code in range(N_CODES))
