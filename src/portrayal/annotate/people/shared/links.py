"""Mentions of people and what links them: whom "he" and "she" mean, in a story as in any text.

A pronoun means the person of its gender for which most speaks. Given the genders of all people,
the text is walked through; what happens on the way is a list of *codes*, each with named features,
and the same weights say whom a pronoun means and how likely a choice of genders is. No name, and no
difference between feminine and masculine words, counts.
"""

import json
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import NamedTuple

from portrayal.annotate.people.shared import words as en
from portrayal.annotate.people.shared.scan import Tokens
from portrayal.annotate.people.shared.words import word_set
from portrayal.reference.groups import NON_BINARY

WEIGHTS_FILE = Path(__file__).with_name("weights.json")
"""Integers by name, written by `scripts/train_people.py`."""

OTHER = -1
"""Index of anyone who is none of the people in question."""

POSSESSOR = 0.5
"""Rank of the owner of a clause's subject ("Ann's eyes lit up")."""

_LONG_NOUN_PHRASE = 6


class PersonMention(NamedTuple):
    """A name or noun (then `case` is empty) or a pronoun.

    Attributes
    ----------
    at, sentence
        Token and sentence number.
    entity
        Index of the person, or `OTHER`; unknown (`OTHER`) for a pronoun.
    rank
        For a name or noun: 1 for the subject of a clause, `POSSESSOR` for its owner, else 0. For a
        pronoun: 1 where it opens a clause; −k where it cannot refer to a subject up to k tokens
        back, because it is the object of that subject's verb.
    gender
        "F", "M", or "" where it tells none.
    case
        "s", "o", "p" or "r" of a pronoun.
    quoted
        Whether it stands in a quotation.
    """

    at: int
    sentence: int
    entity: int
    rank: float
    gender: str
    case: str
    quoted: bool


def mention_at(
    tokens: Tokens, i: int, entity: int, rank: float, gender: str = "", case: str = ""
) -> PersonMention:
    """The name, noun or pronoun at `i` as a mention."""
    return PersonMention(i, tokens.sentence[i], entity, rank, gender, case, tokens.quoted[i] > 0)


def noun_rank(tokens: Tokens, i: int) -> float:
    """Rank of the name or noun at `i`."""
    low = tokens.low
    after = low[i + 1] if i + 1 < len(low) else "."
    back, furthest = i - 1, max(-1, i - _LONG_NOUN_PHRASE)
    # A full stop goes with the word before it: "Dr."
    while back > furthest and low[back - (low[back] == ".")] in en.LISTS.not_heads:
        back -= 1
    opener = low[back] if back >= 0 else "."
    opened = opener in en.CLAUSE_OPENERS
    if opened and opener not in en.LISTS.weak_openers:
        return 1.0 if after != "'s" else POSSESSOR
    acts = after in en.VERBS_AFTER_NAME or after.endswith("ed")
    # Behind "and", say, a noun may be an object: only a verb behind it tells
    if opened and not acts and not after.endswith("s"):
        opened = False
    if after == "'s":
        return POSSESSOR if opened else 0.0
    return 1.0 if opened or acts else 0.0


FURTHEST, THANKED = 14, 8.0
"""Tokens over which a verb's subject and what the verb is done to may stand apart, and a pronoun
behind "thanked her for"."""

_BOUNDS = en.CLAUSE_OPENERS | {"it"}

_THANKS = en.LISTS.thanks
_TOUCHED = en.LISTS.touches | word_set("on into at by to around beside against")


def object_reach(low: Sequence[str], i: int) -> int:
    """Tokens from the pronoun at `i` back to the start of the clause whose verb governs it.

    A verb joined by "and" or a comma to the one before keeps its subject: "she rose and hugged
    him".
    """
    for back in range(i - 1, max(-1, i - FURTHEST), -1):
        word = low[back]
        if word in en.LISTS.joins:
            # A verb form follows, perhaps behind an adverb
            verb = low[back + 1]
            if verb.endswith("ly") and back + 2 < len(low):
                verb = low[back + 2]
            takes_object = verb in en.VERBS_AFTER_NAME or verb in en.LISTS.touches
            if not (takes_object or verb.endswith(("ed", "ing"))):
                return i - back
            continue
        if word in _BOUNDS:
            return i - back
        if word.endswith("ing") and back < i - 1 and low[back - 1] not in en.LISTS.joins:
            return i - back
    return FURTHEST


def is_object(low: Sequence[str], i: int) -> bool:
    """Whether the "her" at `i` is an object ("thanked her for") and no possessive ("her book")."""
    if i + 1 == len(low) or low[i + 1] in en.ENDS_OBJECT:
        return True
    return low[i + 1] in en.LISTS.let and i > 0 and low[i - 1] in en.LISTS.lets


def is_touched(low: Sequence[str], i: int) -> bool:
    """Whether the possessive at `i` owns what someone else touches or looks at."""
    after = low[i + 1 : i + 3]
    if not i or low[i - 1] not in _TOUCHED or en.LISTS.body.isdisjoint(after):
        return False
    return not (after[0] in en.LISTS.own_after and low[i - 1] in ("to", "at", "by"))


def pronoun_at(tokens: Tokens, i: int) -> PersonMention:
    """The pronoun of a gender at `i`."""
    low = tokens.low
    gender, case = en.PRONOUNS[low[i]]
    # "her" is read as a possessive unless what follows rules it out
    if case == "p" and low[i] == "her" and is_object(low, i):
        case = "o"
    if case == "o" and i and low[i - 1] in en.LISTS.where:
        rank = 0.0  # "the dish before him" may be one person's own
    elif case == "o" or (case == "p" and is_touched(low, i)):
        # An object is not the subject of its own clause (Principle B)
        rank = -float(object_reach(low, i))
    elif case == "p" and low[i - 1] == "for" and _THANKS.intersection(low[max(0, i - 5) : i]):
        # In "thanked him for his help" the help is not the one's who thanks
        rank = -THANKED
    else:
        rank = 1.0 if i == 0 or low[i - 1] in en.CLAUSE_OPENERS else 0.0
    return mention_at(tokens, i, OTHER, rank, gender, case)


CASES = ("s", "o", "p", "r", "noun")
"""Case of a pronoun; "noun" is a definite noun such as "the girl"."""

_DISTANCES = ("here", "one back", "two back", "far back")
_RANKS = ("subject name", "subject pronoun", "possessor", "no subject")
_NEWEST = ("newest", "after the other", "after a stranger")
_CLAUSES = ("other clause", "own clause", "own verb")
HINTS = ("unhinted", "likely", "certain", "against")
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
    "told": ((("0", "1", "2", "3+"), HINTS, _NAMED), ((0, 1), (0, 2))),
    "untold": ((HINTS, _NAMED, _SOLE), ((0,), (1, 2))),
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

FIRST_CODE: dict[str, int] = {}
"""Kind of code → its first code."""
FEATURES_OF: list[tuple[str, ...]] = []
"""Code → names of its features."""
for _kind, (_dimensions, _features) in CODES.items():
    FIRST_CODE[_kind] = len(FEATURES_OF)
    for _values in product(*_dimensions):
        FEATURES_OF.append(
            tuple(" ".join((_kind, *(_values[i] for i in feature))) for feature in _features)
        )

_CASE, _BACK, _RANK = 144, 36, 9
_UNMET, _QUOTED, _NOBODY, _JOIN = (
    FIRST_CODE[kind] for kind in ("unmet", "quoted", "nobody", "join")
)
_NONE, _NEUTRAL, _NAMED_STRANGER, _ALIKE, _FAR, _ALIKE_FAR, _IN_QUOTES = range(7)
_NAME_RANK = {1.0: 0, POSSESSOR: 2 * _RANK, 0.0: 3 * _RANK}
_PRONOUN_RANK = {"s": _RANK, "p": 2 * _RANK, "o": 3 * _RANK, "r": 3 * _RANK}

ROLE_CODES = (FIRST_CODE["role"], FIRST_CODE["role"] + 1)
"""Codes of a pronoun that fits the roles, and of one that does not."""

SINGLY = NON_BINARY
"""Gender of a character that singular "they" stands for."""

SCALE = 1000
"""Weights are integers in thousandths of a natural logarithm of odds."""

Genders = tuple[str | None, ...]
"""A choice of genders: one per character, None for no gender."""

# By what opens a clause: "and", "but", "so", a conjunction, "that", a comma, a sentence, a quote
_JOINS = {w: i for i, words in enumerate(en.LISTS.lines("clause_joins")) for w in sorted(words)}
_JOINS["\n"] = _JOINS["."]


def weights_of_codes(weights: Mapping[str, int]) -> list[int]:
    """Weight of every code from those of the features; one that is not listed has none."""
    return [sum(weights.get(name, 0) for name in names) for names in FEATURES_OF]


@lru_cache(maxsize=1)
def learned() -> tuple[list[int], dict[str, int]]:
    """The weights that ship: of every code, and of the signs of roles by name."""
    weights = json.loads(WEIGHTS_FILE.read_text(encoding="utf-8"))
    return weights_of_codes(weights["genders"]), weights["roles"]


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


def code_of_gender(
    gender: str | None, count: int, state: int, *, is_named: bool, sole: bool
) -> int:
    """Code of a person with that gender, or none, `count` pronouns, and `HINTS[state]`."""
    if gender is None:
        return FIRST_CODE["untold"] + state * 4 + is_named * 2 + sole
    return FIRST_CODE["told"] + min(count, 3) * 8 + state * 2 + is_named
