"""Mentions of people and what links them: whom "he" and "she" mean, in a story as in any text.

A pronoun means the person of its gender for which most speaks. Given the genders of all people,
the text is walked through; what happens on the way is a list of *codes*, each with named features,
and the same weights say whom a pronoun means and how likely a choice of genders is. No name, and no
difference between feminine and masculine words, counts.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import NamedTuple

from portrayal.annotate.people.shared import words as en
from portrayal.annotate.people.shared.scan import Tokens
from portrayal.reference.shipped import toml_beside

WEIGHTS_FILE = Path(__file__).with_name("weights.json")
"""Integers by name, written by `scripts/train_people.py`."""

OTHER = -1
"""Index of anyone who is none of the people in question."""

CODES = toml_beside(__file__, "codes.toml")
"""Kind of code → the dimensions of its codes, and which of these make up each of its features."""

CASES: list[str] = CODES["link"]["dimensions"][0]
HINTS: list[str] = CODES["told"]["dimensions"][1]

SUBJECT, SUBJECT_PRONOUN, POSSESSOR, NO_SUBJECT = range(4)
"""How much of a subject a mention is; a possessor owns a clause's subject ("Ann's eyes lit up")."""

_LONG_NOUN_PHRASE = 6


class PersonMention(NamedTuple):
    """A name or noun (then `case` is empty), a pronoun, or a noun that works like one ("noun").

    Attributes
    ----------
    token, sentence
        Token and sentence number.
    entity
        Index of the person, or `OTHER`; unknown (`OTHER`) for a pronoun.
    rank
        How much of a subject it is, from `SUBJECT` to `NO_SUBJECT`.
    gender
        "F", "M", or "" where it tells none.
    case
        "s", "o", "p" or "r" of a pronoun, or "noun".
    quoted
        Whether it stands in a quotation.
    opens
        Whether a name or noun is the subject of a clause, or a pronoun opens one.
    reach
        Tokens back to which a subject cannot be the pronoun's antecedent, as it is the object of
        that subject's verb.
    join
        Number of what joins a pronoun's clause to the one before (the second dimension of "join"),
        or -1.
    """

    token: int
    sentence: int
    entity: int
    rank: int
    gender: str = ""
    case: str = ""
    quoted: bool = False
    opens: bool = False
    reach: int = 0
    join: int = -1


@dataclass(slots=True)
class Mentions:
    """The people and pronouns of a text, for `walk`.

    Attributes
    ----------
    events
        Mentions of anyone, and pronouns, in order.
    barred
        Token position of a pronoun → the person it cannot be: in "his friend Ann" it is not Ann.
    owners
        Token position of a noun that works like a pronoun → that of its owner, which is someone
        else: in "his sister" the noun does not stand for him.
    narrated
        Whether someone says "I" outside quotations.
    """

    events: list[PersonMention] = field(default_factory=list)
    barred: dict[int, int] = field(default_factory=dict)
    owners: dict[int, int] = field(default_factory=dict)
    narrated: bool = False


def mention_at(tokens: Tokens, i: int, entity: int, gender: str = "") -> PersonMention:
    """The name or noun at `i` as a mention: a clause's subject, the owner of one, or none."""
    low = tokens.low
    after = low[i + 1] if i + 1 < len(low) else "."
    back, furthest = i - 1, max(-1, i - _LONG_NOUN_PHRASE)
    # A full stop goes with the word before it: "Dr."
    while back > furthest and low[back - (low[back] == ".")] in en.LISTS.not_heads:
        back -= 1
    opener = low[back] if back >= 0 else "."
    acts = after in en.VERBS_AFTER_NAME or after.endswith("ed")
    # Behind "and", say, a noun may be an object: only a verb behind it tells
    opened = opener in en.CLAUSE_OPENERS and (
        acts or after.endswith("s") or opener not in en.LISTS.weak_openers
    )
    rank = SUBJECT if opened or acts else NO_SUBJECT
    if after == "'s":
        rank = POSSESSOR if opened else NO_SUBJECT
    place = i, tokens.sentence[i], entity, rank
    return PersonMention(*place, gender, quoted=tokens.quoted[i] > 0, opens=rank == SUBJECT)


FURTHEST = 14
"""Tokens over which a verb's subject and what the verb is done to may stand apart."""

_TOUCHED = en.LISTS.touches | en.LISTS.touching
_BOUNDS = en.CLAUSE_OPENERS | {"it"}


def object_reach(low: Sequence[str], i: int) -> int:
    """Tokens from the pronoun at `i` back to the start of the clause whose verb governs it.

    A verb joined by "and" or a comma to the one before keeps its subject: "she rose and hugged
    him".
    """
    for back in range(i - 1, max(-1, i - FURTHEST), -1):
        word = low[back]
        if word in en.LISTS.joins:
            # A verb form follows, perhaps behind an adverb
            is_adverb = low[back + 1].endswith("ly") and back + 2 < len(low)
            verb = low[back + 1 + is_adverb]
            takes_object = verb in en.VERBS_AFTER_NAME or verb in en.LISTS.touches
            if not (takes_object or verb.endswith(("ed", "ing"))):
                return i - back
            continue
        is_participle = word.endswith("ing") and low[back - 1] not in en.LISTS.joins
        if word in _BOUNDS or (is_participle and back < i - 1):
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
    low, before = tokens.low, tokens.low[i - 1] if i else "."
    gender, case = en.PRONOUNS[low[i]]
    # "her" is read as a possessive unless what follows rules it out
    if low[i] == "her" and is_object(low, i):
        case = "o"
    # An object is not the subject of its own clause (Principle B), but in "the dish before him"
    done_to = case == "o" and before not in en.LISTS.where
    reach = object_reach(low, i) if done_to or (case == "p" and is_touched(low, i)) else 0
    opens = case != "o" and not reach and before in en.CLAUSE_OPENERS
    quoted = tokens.quoted[i] > 0
    joins = not quoted and (case == "s" or (case == "p" and opens))
    join = _JOINS.get(before, -1) if joins else -1
    place = i, tokens.sentence[i], OTHER, _RANK_OF_CASE[case]
    return PersonMention(*place, gender, case, quoted, opens, reach, join)


FIRST_CODE: dict[str, int] = {}
"""Kind of code → its first code."""
FEATURES_OF: list[tuple[str, ...]] = []
"""Code → names of its features."""
for _kind, _table in CODES.items():
    FIRST_CODE[_kind] = len(FEATURES_OF)
    for _values in product(*_table["dimensions"]):
        _features = ((_kind, *(_values[i] for i in places)) for places in _table["features"])
        FEATURES_OF.append(tuple(map(" ".join, _features)))

THEY_CODES = range(FIRST_CODE["they"], len(FEATURES_OF))
"""Codes of singular "they", which `codes.toml` lists last."""

_CASE, _BACK, _RANK = 144, 36, 9
_UNMET, _QUOTED, _NOBODY, _JOIN = map(FIRST_CODE.__getitem__, ("unmet", "quoted", "nobody", "join"))
_RANK_OF_CASE = {"s": SUBJECT_PRONOUN, "p": POSSESSOR, "o": NO_SUBJECT, "r": NO_SUBJECT}

SCALE = 1000
"""Weights are integers in thousandths of a natural logarithm of odds."""

Genders = tuple[str | None, ...]
"""A choice of genders: one per character, None for no gender."""


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
    entity_at
        Position of a pronoun, definite noun or "they" → its character or `OTHER`.
    codes
        What speaks for and against it: places in `FEATURES_OF`.
    """

    genders: Genders
    entity_at: dict[int, int]
    codes: list[int]


def walk(  # noqa: PLR0912 (run for every choice of every story: calls inside cost time)
    mentions: Mentions, genders: Genders, weights: Sequence[int], more: Sequence[int] | None = None
) -> GenderChoice:
    """Give each pronoun to the person of its gender for whom most speaks.

    `more` holds what else speaks for each. A person of the gender "" may be meant by any pronoun.
    """
    n = len(genders) + 1
    last, ranks, more = [-1] * n, [0] * n, more or [0] * n
    current, newest, clause, clause_at, stranger = -1, OTHER, OTHER, -1, ""
    bearers = {
        g: [i for i, slot_gender in enumerate(genders) if slot_gender in (g, "")] for g in "FM"
    }
    first = {event.entity: event.sentence for event in reversed(mentions.events) if not event.case}
    person_at: dict[int, int] = {}
    codes: list[int] = []
    for i, sentence, entity, rank, gender, case, quoted, opens, reach, join in mentions.events:
        if sentence != current:
            current, clause = sentence, OTHER
        if not case:
            if not quoted or last[entity] < 0:
                last[entity], newest, ranks[entity] = sentence, entity, rank
                if opens:
                    clause, clause_at = entity, i
                if entity == OTHER:
                    stranger = gender
            continue
        number = CASES.index(case)
        subject, clause = clause, OTHER if case == "p" and opens else clause
        never = mentions.barred.get(i, OTHER), person_at.get(mentions.owners.get(i, -1), OTHER)
        among = [index for index in bearers[gender] if index not in never]
        # The first dimension of "nobody": whether a stranger was met, and one of that gender
        met = last[OTHER] >= 0 and not quoted
        kind = 1 + bool(stranger) if met and stranger in ("", gender) else 0
        best, code = OTHER, _NOBODY + kind * 10 + number * 2 + (met and newest == OTHER)
        top = weights[code] if kind == 2 else -99_999
        for index in among:
            if last[index] < 0 and index in first:
                place = _UNMET + (first[index] == current)
            elif last[index] < 0:
                place = _UNMET + (4 if mentions.narrated else 2 if person_at else 3)
            else:
                back = min(current - last[index], 3)
                place = number * _CASE + back * _BACK + ranks[index] * _RANK
                if index != newest:
                    place += 6 if newest == OTHER else 3
                if index == clause:
                    place += 1 if not reach else 2 * (i - clause_at <= reach)
            if weights[place] + more[index] > top:
                best, code, top = index, place, weights[place] + more[index]
        if join >= 0:
            whom = 3 if best < 0 else 0 if best == subject else 1 + (best != newest)
            codes.append(_JOIN + (case == "p") * 32 + join * 4 + whom)
        if best != OTHER:
            if quoted and last[best] >= 0:
                code = _QUOTED + (current > last[best])
            last[best], newest, ranks[best] = current, best, rank
        codes.append(code)
        if case == "s":
            clause, clause_at = best, i
        person_at[i] = best
    return GenderChoice(genders, person_at, codes)


def code_of_gender(gender: str | None, count: int, hint: int, *, is_named: bool, sole: bool) -> int:
    """Code of a person with that gender, or none, `count` pronouns, and `HINTS[hint]`."""
    if gender is None:
        return FIRST_CODE["untold"] + hint * 4 + is_named * 2 + sole
    return FIRST_CODE["told"] + min(count, 3) * 8 + hint * 2 + is_named
