"""Role nouns and gendered nouns of a story, and the names they stand beside."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from portrayal.annotate.people.shared.model import Roles
from portrayal.annotate.people.shared.scan import Tokens
from portrayal.annotate.people.shared.thesaurus import (
    FAMILIES,
    GENERIC_ROLES,
    MODIFIER_FAMILIES,
    OBJECT_WORDS,
    SUBJECT_WORDS,
)
from portrayal.annotate.people.shared.words import COPULAS, bare_verb, verb_forms, word_set

_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_CUT = word_set(
    """
    in on at of to for from with who whom whose that which based by about into during and
    """
)
_RELATIVES = word_set("who that which")
_HELPERS = word_set(
    """
    a also always an am are be been being can could did do does had has have is just may might must
    never not often only should the was were will would
    """
)
_DROP = word_set("a an the two american some")


@dataclass(frozen=True, slots=True)
class RoleWords:
    """Nouns and modifiers of the two roles, casefolded; a noun may stand in both.

    `subject_verbs` and `object_verbs` are what the wording says of them ("who trains hawks"), and
    hold no verb that is said of both; `verbs` are all of them.
    """

    subject_nouns: frozenset[str]
    object_nouns: frozenset[str]
    subject_modifiers: frozenset[str]
    object_modifiers: frozenset[str]
    all: frozenset[str]
    subject_verbs: frozenset[str] = frozenset()
    object_verbs: frozenset[str] = frozenset()
    verbs: frozenset[str] = frozenset()


@lru_cache(maxsize=1024)
def role_words(roles: Roles) -> RoleWords:
    """Words for `roles`, from the role's own words and the families they belong to."""
    subject, subject_modifiers = _expand(roles.subject)
    other, other_modifiers = _expand(roles.object) if roles.object else (frozenset(), frozenset())
    if roles.object and not roles.paired:
        subject |= SUBJECT_WORDS - other
        other |= OBJECT_WORDS - subject
    does, other_does = _verbs(roles.subject), _verbs(roles.object or "")
    return RoleWords(
        subject,
        other,
        subject_modifiers - other_modifiers,
        other_modifiers - subject_modifiers,
        subject | other,
        does - other_does,
        other_does - does,
        does ^ other_does,
    )


def _verbs(role: str) -> frozenset[str]:
    """Forms of the verb that follows "who" or "that" in a role's wording."""
    words = _WORD.findall(role.casefold())
    for at, word in enumerate(words):
        if word in _RELATIVES:
            for verb in words[at + 1 :]:
                if verb not in _HELPERS and not verb.endswith("ly"):
                    return verb_forms(bare_verb(verb))
    return frozenset()


def _expand(role: str) -> tuple[frozenset[str], frozenset[str]]:
    """Nouns and modifiers that a role's wording suggests."""
    words: list[str] = []
    for word in _WORD.findall(role.casefold()):
        if word in _CUT:
            break
        if word not in _DROP:
            words.append(word)
    if not words:
        return frozenset(), frozenset()
    head = words[-1]
    if head not in GENERIC_ROLES and head.endswith("s") and not head.endswith("ss"):
        head = head[:-1]
    nouns = {head} - GENERIC_ROLES
    for family in FAMILIES:
        if head in family:
            nouns |= family - {"culinary"}
    modifiers = set(words[:-1])
    for word in words[:-1]:
        for family in MODIFIER_FAMILIES:
            if word in family:
                modifiers |= family
    return frozenset(nouns), frozenset(modifiers)


_DETERMINERS = word_set("a an the his her their my our this that another one some")
_POSSESSIVES = word_set("his her their my our 's")
_NAMING = word_set("named called")
_MARKS = word_set(", — – (")
_TITLE_DOTS = word_set("dr mr mrs ms . chef nurse")
_NOT_BETWEEN = word_set(
    """
    of in with without to for from and after thanks despite and but or who whom by at on as than
    like
    """
)
_ELDER = word_set("older elder big senior")
_YOUNGER = word_set("younger little kid baby")
_REACH = 7


def polarity(tokens: Tokens, at: int, words: RoleWords) -> float:
    """Whether the noun at `at` stands for the subject (> 0), the object (< 0) or either (0)."""
    low = tokens.low
    noun = low[at]
    value = 0.0
    for back in range(max(0, at - 3), at):
        modifier = low[back]
        if modifier in words.subject_modifiers or modifier == "american":
            value += 1.0
        elif modifier in words.object_modifiers:
            value -= 1.0
        elif modifier in _ELDER:
            value += 1.2
        elif modifier in _YOUNGER:
            value -= 0.6
    if noun in words.subject_nouns:
        value += 0.0 if noun in words.object_nouns else 1.0
    elif noun in words.object_nouns:
        value -= 1.0
    return value


def attached(tokens: Tokens, at: int, names: Mapping[int, int]) -> int | None:
    """Index of the person whom the noun at `at` names or describes, if one stands beside it.

    "her friend Emily", "a student named Alex", "Maria, a shy student" and "Sarah was the star".
    """
    low = tokens.low
    ahead = at + 1
    limit = len(low) - 1
    if ahead <= limit and low[ahead] == "'s":
        return None
    comma = ahead < limit and low[ahead] in _MARKS
    if comma:
        ahead += 1
    if ahead < limit and low[ahead] in _NAMING:
        ahead += 1
    limit = min(limit, at + _REACH)
    while ahead < limit and low[ahead] in _TITLE_DOTS:
        ahead += 1
    near = ahead in names and tokens.sentence[ahead] == tokens.sentence[at]
    if near and not (comma and _opens_clause(tokens, at)):
        return names[ahead]
    return _before(tokens, at, names)


def _opens_clause(tokens: Tokens, at: int) -> bool:
    """Whether the noun ends an introductory phrase: "With her friend, Emily left"."""
    low = tokens.low
    back = at - 1
    while back >= 0 and back > at - 9 and (low[back][0].isalpha() or low[back] == "'s"):
        back -= 1
    if back >= 0 and low[back] in ",;:–—":
        return False
    start = low[back + 1]
    return (start in _NOT_BETWEEN and start != "as") or start.endswith(("ing", "ed"))


def _before(tokens: Tokens, at: int, names: Mapping[int, int]) -> int | None:
    """The person described by a noun phrase that ends at `at`, after a comma or a copula."""
    low = tokens.low
    determined = False
    for back in range(at - 1, max(0, at - _REACH), -1):
        word = low[back]
        if word in _MARKS or (word in COPULAS and (word != "'s" or determined)):
            for position in (back - 1, back - 2):
                if position in names:
                    return names[position]
            if word == "," and not determined:
                continue
            return None
        if (
            determined
            or (word in _NOT_BETWEEN and word != "and")
            or not (word[0].isalpha() or word == "'s")
        ):
            return None
        determined = word in _DETERMINERS
    return None


def owner_of(tokens: Tokens, at: int) -> int | None:
    """Position of the possessive that opens the noun phrase ending at `at`, if any."""
    low = tokens.low
    for back in range(at - 1, max(-1, at - 5), -1):
        if low[back] in _POSSESSIVES:
            return back
        if low[back] in _NOT_BETWEEN or not low[back][0].isalpha():
            return None
    return None
