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
from portrayal.annotate.people.verbforms import bare_verb, verb_forms
from portrayal.annotate.people.wordset import word_set

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
