"""What a story holds before anyone is given a role: names, nouns and pronouns."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import compress

from portrayal.annotate.people.shared import words as en
from portrayal.annotate.people.shared.scan import OTHER, Mention, Tokens, pronoun_rank
from portrayal.annotate.people.shared.words import word_lists, word_set
from portrayal.annotate.people.stories.names import NamedPerson
from portrayal.annotate.people.stories.roles import (
    RoleWords,
    attached,
    cue_places,
    owner_of,
    polarity,
)

_LISTS = word_lists("stories")

FURTHEST = 14
"""Tokens over which a verb's subject and what the verb is done to may stand apart."""


_BOUNDS = en.CLAUSE_OPENERS | {"it"}


_TOUCHED = _LISTS.touches | word_set("on into at by to around beside against")


def object_reach(low: Sequence[str], at: int) -> int:
    """Tokens from the pronoun at `at` back to the start of the clause whose verb governs it.

    A verb joined by "and" or a comma to the one before keeps its subject: "she rose and hugged
    him".
    """
    for back in range(at - 1, max(-1, at - FURTHEST), -1):
        word = low[back]
        if word in _LISTS.joins:
            if not _is_verb(low, back + 1):
                return at - back
            continue
        if word in _BOUNDS:
            return at - back
        if word.endswith("ing") and back < at - 1 and low[back - 1] not in _LISTS.joins:
            return at - back
    return FURTHEST


def _is_verb(low: Sequence[str], at: int) -> bool:
    """Whether a verb form stands at `at`, after an adverb if need be."""
    word = low[at]
    if word.endswith("ly") and at + 1 < len(low):
        word = low[at + 1]
    return word.endswith(("ed", "ing")) or word in en.VERBS_AFTER_NAME or word in _LISTS.touches


def is_object(low: Sequence[str], at: int) -> bool:
    """Whether the "her" at `at` is an object ("thanked her for") and no possessive ("her book")."""
    if at + 1 == len(low) or low[at + 1] in en.ENDS_OBJECT:
        return True
    return low[at + 1] in _LISTS.let and at > 0 and low[at - 1] in _LISTS.lets


def is_beside(low: Sequence[str], at: int) -> bool:
    """Whether the object at `at` says where: "the dish before him" may be one person's own."""
    return at > 0 and low[at - 1] in _LISTS.where


def is_touched(low: Sequence[str], at: int) -> bool:
    """Whether the possessive at `at` owns what someone else touches or looks at."""
    if at == 0 or low[at - 1] not in _TOUCHED:
        return False
    after = low[at + 1 : at + 3]
    if _LISTS.body.isdisjoint(after):
        return False
    return not (after[0] in _LISTS.own_after and low[at - 1] in ("to", "at", "by"))


GENERIC = word_set("woman man girl boy")
"""Gendered nouns that any character may be called by."""

SINGULAR = {
    "girls": "girl",
    "women": "woman",
    "sisters": "sister",
    "boys": "boy",
    "men": "man",
    "brothers": "brother",
}
"""Plural of a listed word → the listed word."""

GROUPS = {plural: en.GENDER_OF_WORD[word] for plural, word in SINGULAR.items()}
"""Words for two characters at once → their gender."""

_PRONOUNS = dict(en.PRONOUNS)


_INTEREST = (
    frozenset(en.PRONOUNS) | frozenset(en.GENDERED) | frozenset(en.OTHER_PEOPLE) | frozenset(GROUPS)
) | (en.THEY | en.PLURAL_PEOPLE | {"i"})


@dataclass(slots=True)
class Noun:
    """A role noun or gendered noun.

    Attributes
    ----------
    at
        Token position.
    value
        Above 0 for the subject's noun, below 0 for the object's, 0 where it may be either's.
    gender
        Gender that the noun tells, or "".
    person
        Index of the named person it stands beside, or None.
    owner
        Token position of the possessive before it ("her" friend), or None.
    role
        Whether it is one of the roles' nouns.
    """

    at: int
    value: float
    gender: str
    person: int | None
    owner: int | None
    role: bool


@dataclass(slots=True)
class Scene:
    """A story's people and the words that may stand for them; positions are those of tokens.

    Attributes
    ----------
    paired
        Whether both characters share one role, so that no noun tells them apart.
    people, names, places
        Named people, token position of a name → index of the person, and those positions in order.
    nouns, others
        Role nouns and gendered nouns, and nouns for people outside the roles.
    pronouns, they
        Pronouns of a gender, and forms of "they".
    groups, plurals
        Words for both characters ("the girls"), and nouns for several people.
    narrated
        Whether someone says "I" outside quotations.
    cues
        Words that may tell who acts as the subject, where two roles differ.
    """

    text: str
    tokens: Tokens
    words: RoleWords
    paired: bool
    people: Sequence[NamedPerson]
    names: dict[int, int]
    places: list[int]
    nouns: list[Noun] = field(default_factory=list)
    others: list[int] = field(default_factory=list)
    pronouns: list[Mention] = field(default_factory=list)
    groups: list[int] = field(default_factory=list)
    they: list[int] = field(default_factory=list)
    plurals: list[int] = field(default_factory=list)
    narrated: bool = False
    cues: list[int] = field(default_factory=list)


def look(
    text: str, tokens: Tokens, people: Sequence[NamedPerson], words: RoleWords, *, paired: bool
) -> Scene:
    """Collect names, nouns and pronouns."""
    low = tokens.low
    names = {at: index for index, person in enumerate(people) for at in person.at}
    scene = Scene(text, tokens, words, paired, people, names, sorted(names))
    for at in compress(range(len(low)), map(_vocabulary(words).__contains__, low)):
        word = low[at]
        if word in _PRONOUNS:
            scene.pronouns.append(_pronoun(tokens, at))
        elif word in en.THEY:
            scene.they.append(at)
        elif word in en.PLURAL_PEOPLE:
            scene.plurals.append(at)
        elif word in GROUPS:
            if at and low[at - 1] in _LISTS.both:
                scene.groups.append(at)
        elif word == "i":
            scene.narrated |= not tokens.quoted[at]
        elif at not in names:
            _add_noun(scene, at)
    if words.object_nouns and not paired:
        scene.cues = cue_places(tokens, words)
    return scene


@lru_cache(maxsize=1024)
def _vocabulary(words: RoleWords) -> frozenset[str]:
    """Words that a scene is made of."""
    return words.all | _INTEREST


def _pronoun(tokens: Tokens, at: int) -> Mention:
    """The pronoun at `at`."""
    low = tokens.low
    gender, case = _PRONOUNS[low[at]]
    if case == "p" and low[at] == "her" and is_object(low, at):
        case = "o"
    if case == "o" and is_beside(low, at):
        rank = 0.0
    elif case == "o" or (case == "p" and is_touched(low, at)):
        rank = -float(object_reach(low, at))
    else:
        rank = pronoun_rank(low, at, case)
    return Mention(at, tokens.sentence[at], OTHER, rank, gender, case, tokens.quoted[at])


def _is_beloved(scene: Scene, at: int) -> bool:
    """Whether "love" stands for a person: "her love, Ann"."""
    low = scene.tokens.low
    if at == 0 or low[at - 1] not in _LISTS.owners:
        return False
    after = at + 2 if at + 1 < len(low) and low[at + 1] == "," else at + 1
    return after in scene.names


def _add_noun(scene: Scene, at: int) -> None:
    """Take the noun at `at` into the scene."""
    low = scene.tokens.low
    word = low[at]
    role = word in scene.words.all
    if not role and word not in en.GENDERED:
        scene.others.append(at)
        return
    if word in _LISTS.also_verbs and at and low[at - 1] == "to":
        return
    if word == "love" and not _is_beloved(scene, at):
        return
    value = 0.0 if scene.paired else polarity(scene.tokens, at, scene.words)
    person = attached(scene.tokens, at, scene.names)
    owner = owner_of(scene.tokens, at)
    scene.nouns.append(Noun(at, value, en.GENDERED.get(word, ""), person, owner, role))
