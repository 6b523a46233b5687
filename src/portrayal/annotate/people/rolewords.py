"""The words that stand for a prompt's roles in its stories."""

import re
from dataclasses import dataclass
from functools import lru_cache

from portrayal.annotate.people.model import Roles
from portrayal.annotate.people.thesaurus import (
    FAMILIES,
    GENERIC_ROLES,
    MODIFIER_FAMILIES,
    OBJECT_WORDS,
    SUBJECT_WORDS,
)
from portrayal.annotate.people.wordset import word_set

_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_CUT = word_set(
    """
    in on at of to for from with who whom whose that which based by about into during and
    """
)
_DROP = word_set("a an the two american some")


@dataclass(frozen=True, slots=True)
class RoleWords:
    """Nouns and modifiers of the two roles, casefolded; a noun may stand in both."""

    subject_nouns: frozenset[str]
    object_nouns: frozenset[str]
    subject_modifiers: frozenset[str]
    object_modifiers: frozenset[str]
    all: frozenset[str]


@lru_cache(maxsize=1024)
def role_words(roles: Roles) -> RoleWords:
    """Words for `roles`, from the role's own words and the families they belong to."""
    subject, subject_modifiers = _expand(roles.subject)
    other, other_modifiers = _expand(roles.object) if roles.object else (frozenset(), frozenset())
    if roles.object and not roles.paired:
        subject |= SUBJECT_WORDS - other
        other |= OBJECT_WORDS - subject
    return RoleWords(
        subject,
        other,
        subject_modifiers - other_modifiers,
        other_modifiers - subject_modifiers,
        subject | other,
    )


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
