"""Names, nouns and pronouns of a story as one sequence of mentions."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from portrayal.annotate.people.lexicon import GENDER_OF_WORD
from portrayal.annotate.people.names import Person
from portrayal.annotate.people.nouns import attached, polarity
from portrayal.annotate.people.rolewords import RoleWords
from portrayal.annotate.people.scan import Tokens
from portrayal.annotate.people.singular import OTHER, PLURAL_PEOPLE, THEY
from portrayal.annotate.people.words import (
    CLAUSE_OPENERS,
    ENDS_OBJECT,
    OTHER_PEOPLE,
    VERBS_AFTER_NAME,
)

PRONOUNS = {
    "he": ("M", "s"),
    "him": ("M", "o"),
    "his": ("M", "p"),
    "himself": ("M", "r"),
    "she": ("F", "s"),
    "her": ("F", "p"),
    "hers": ("F", "p"),
    "herself": ("F", "r"),
}
"""Pronoun → gender and case: subject, object, possessive or reflexive."""

GENDERED = {w: g for w, g in GENDER_OF_WORD.items() if w not in PRONOUNS and g != "NB"}
GENERIC = frozenset(["woman", "man", "girl", "boy"])
SINGULAR = {
    "girls": "girl",
    "women": "woman",
    "sisters": "sister",
    "boys": "boy",
    "men": "man",
    "brothers": "brother",
}
"""Plural of a listed word → the listed word."""

GROUPS = {plural: GENDER_OF_WORD[word] for plural, word in SINGULAR.items()}
"""Words for two characters at once → their gender."""

_ALONE = frozenset(["the", "two", "both", "these"])
_INTEREST = frozenset(PRONOUNS) | frozenset(GENDERED) | frozenset(OTHER_PEOPLE) | frozenset(GROUPS) |  THEY | PLURAL_PEOPLE | {"i"}

POSSESSOR = 0.5
_FAR = 8


class Mention(NamedTuple):
    """A name or noun for a character, or a pronoun (then `case` is set)."""

    at: int
    sentence: int
    entity: int
    subject: float
    gender: str
    case: str
    quoted: bool


@dataclass(slots=True)
class Noun:
    """A role noun or gendered noun."""

    at: int
    value: float
    gender: str
    person: int | None
    role: bool


@dataclass(slots=True)
class Scene:
    """What a story holds, before anyone is given a role."""

    text: str
    tokens: Tokens
    words: RoleWords
    people: Sequence[Person]
    names: dict[int, int]
    nouns: list[Noun] = field(default_factory=list)
    others: list[int] = field(default_factory=list)
    pronouns: list[Mention] = field(default_factory=list)
    groups: list[int] = field(default_factory=list)
    they: list[int] = field(default_factory=list)
    plurals: list[int] = field(default_factory=list)
    narrated: bool = False


def look(text: str, tokens: Tokens, people: Sequence[Person], words: RoleWords) -> Scene:
    """Collect names, nouns and pronouns."""
    low, sentence, quoted = tokens.low, tokens.sentence, tokens.quoted
    names = {at: index for index, person in enumerate(people) for at in person.at}
    scene = Scene(text, tokens, words, people, names)
    vocabulary = words.all | _INTEREST
    last = len(low) - 1
    for at in [at for at, word in enumerate(low) if word in vocabulary]:
        word = low[at]
        if word in PRONOUNS:
            gender, case = PRONOUNS[word]
            if word == "her" and (at == last or low[at + 1] in ENDS_OBJECT):
                case = "o"
            opens = 1.0 if at == 0 or low[at - 1] in CLAUSE_OPENERS else 0.0
            if case == "o":
                opens = -float(_reach(low, at))
            scene.pronouns.append(
                Mention(at, sentence[at], OTHER, opens, gender, case, quoted[at])
            )
            continue
        if word in GROUPS:
            if at and low[at - 1] in _ALONE:
                scene.groups.append(at)
            continue
        if word in THEY:
            scene.they.append(at)
            continue
        if word in PLURAL_PEOPLE:
            scene.plurals.append(at)
            continue
        if word == "i":
            scene.narrated |= not quoted[at]
            continue
        role = word in words.all
        if word == "love" and at and low[at - 1] not in ("his", "her", "my", "their"):
            continue
        if at in names or (not role and word not in GENDERED):
            if at not in names:
                scene.others.append(at)
            continue
        value = polarity(tokens, at, words)
        scene.nouns.append(
            Noun(at, value, GENDERED.get(word, ""), attached(tokens, at, names), role)
        )
    return scene


def _reach(low: Sequence[str], at: int) -> int:
    """How many tokens back the subject of the verb that governs the object at `at` may stand."""
    for back in range(at - 1, max(-1, at - _FAR), -1):
        word = low[back]
        if word in CLAUSE_OPENERS or word == "it" or (word.endswith("ing") and back < at - 1):
            return at - back
    return _FAR


_NOT_HEADS = frozenset(["the", "a", "an", "dr", "mr", "mrs", "ms", "young"])


def subjecthood(tokens: Tokens, at: int) -> float:
    """1 for the subject of a clause, `POSSESSOR` for the owner of it ("Ann's eyes"), else 0."""
    low = tokens.low
    after = low[at + 1] if at + 1 < len(low) else "."
    back = at - 1
    while back >= 0 and (low[back] in _NOT_HEADS or (low[back] == "." and low[back - 1] in _NOT_HEADS)):
        back -= 1
    opened = back < 0 or low[back] in CLAUSE_OPENERS
    if after == "'s":
        return POSSESSOR if opened else 0.0
    return 1.0 if opened or after in VERBS_AFTER_NAME or after.endswith("ed") else 0.0
