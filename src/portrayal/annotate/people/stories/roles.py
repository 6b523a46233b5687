"""What the words of a story say of the two roles: role nouns beside names, and what people do."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import compress

from portrayal.annotate.people.shared import words as en
from portrayal.annotate.people.shared.model import Roles
from portrayal.annotate.people.shared.scan import QUOTES, Tokens
from portrayal.annotate.people.shared.words import word_lists, word_set

_LISTS = word_lists("stories")
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")


SUBJECT_WORDS = word_set("mentor tutor")
"""Nouns for the one who gives, whatever the roles are called."""

OBJECT_WORDS = word_set("apprentice mentee protege protégé protégée tutee underling")
"""Nouns for the one who receives, whatever the roles are called."""


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
        if word in _LISTS.relatives:
            for verb in words[at + 1 :]:
                if verb not in _LISTS.helpers and not verb.endswith("ly"):
                    return en.verb_forms(en.bare_verb(verb))
    return frozenset()


def _expand(role: str) -> tuple[frozenset[str], frozenset[str]]:
    """Nouns and modifiers that a role's wording suggests."""
    words: list[str] = []
    for word in _WORD.findall(role.casefold()):
        if word in _LISTS.role_ends:
            break
        if word not in _LISTS.drop:
            words.append(word)
    if not words:
        return frozenset(), frozenset()
    head = words[-1]
    if head not in _LISTS.generic_roles and head.endswith("s") and not head.endswith("ss"):
        head = head[:-1]
    nouns = {head} - _LISTS.generic_roles
    for family in en.ROLE_FAMILIES:
        if head in family:
            nouns |= family - {"culinary"}
    modifiers = set(words[:-1])
    for word in words[:-1]:
        for family in en.MODIFIER_FAMILIES:
            if word in family:
                modifiers |= family
    return frozenset(nouns), frozenset(modifiers)


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
        elif modifier in _LISTS.elder:
            value += 1.2
        elif modifier in _LISTS.younger:
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
    comma = ahead < limit and low[ahead] in _LISTS.marks
    if comma:
        ahead += 1
    if ahead < limit and low[ahead] in en.NAMING:
        ahead += 1
    limit = min(limit, at + _REACH)
    while ahead < limit and low[ahead] in _LISTS.title_dots:
        ahead += 1
    near = ahead in names and tokens.sentence[ahead] == tokens.sentence[at]
    if near and not (comma and _opens_clause(tokens, at)):
        return names[ahead]
    # The person described by a noun phrase that ends at `at`, after a comma or a copula
    determined = False
    for back in range(at - 1, max(0, at - _REACH), -1):
        word = low[back]
        if word in _LISTS.marks or (word in en.COPULAS and (word != "'s" or determined)):
            for position in (back - 1, back - 2):
                if position in names:
                    return names[position]
            if word == "," and not determined:
                continue
            return None
        if (
            determined
            or (word in _LISTS.not_between and word != "and")
            or not (word[0].isalpha() or word == "'s")
        ):
            return None
        determined = word in _LISTS.determiners
    return None


def _opens_clause(tokens: Tokens, at: int) -> bool:
    """Whether the noun ends an introductory phrase: "With her friend, Emily left"."""
    low = tokens.low
    back = at - 1
    while back >= 0 and back > at - 9 and (low[back][0].isalpha() or low[back] == "'s"):
        back -= 1
    if back >= 0 and low[back] in ",;:–—":
        return False
    start = low[back + 1]
    return (start in _LISTS.not_between and start != "as") or start.endswith(("ing", "ed"))


def owner_of(tokens: Tokens, at: int) -> int | None:
    """Position of the possessive that opens the noun phrase ending at `at`, if any."""
    low = tokens.low
    for back in range(at - 1, max(-1, at - 5), -1):
        if low[back] in _LISTS.possessives:
            return back
        if low[back] in _LISTS.not_between or not low[back][0].isalpha():
            return None
    return None


GIVES = _LISTS.verbs("giving_verbs") | _LISTS.giving_words
"""The one who does these is the subject, the one they are done to the object."""

RECEIVES = _LISTS.verbs("receiving_verbs") | _LISTS.receiving_words
"""The one who does or is these is the object, the one they are done to the subject."""


PLAIN, WEAK, ADDRESS = 1.0, 0.6, 1.6
"""Weight of a verb that tells roles apart, of a weak sign, and of being addressed by name."""

_CUES = GIVES | RECEIVES | _LISTS.decides | _LISTS.jobs


def cue_places(tokens: Tokens, words: RoleWords) -> list[int]:
    """Positions of words that may tell the subject by what it does."""
    cues = _CUES | words.verbs if words.verbs else _CUES
    return list(compress(range(len(tokens.low)), map(cues.__contains__, tokens.low)))


def actions(
    tokens: Tokens,
    cues: Sequence[int],
    who: Mapping[int, int],
    subjects: Mapping[int, bool],
    words: RoleWords,
) -> float:
    """How much more the first of two people acts as the subject than the second.

    `cues` are those of `cue_places`; `who` maps positions of names and pronouns to 0 or 1;
    `subjects` says which of these positions are grammatical subjects; `words` may hold verbs of the
    prompt's own.
    """
    low, sentence, quoted = tokens.low, tokens.sentence, tokens.quoted
    value = 0.0
    agent, agent_sentence = -1, -1
    for at in sorted({*cues, *who}):
        if at in who:
            if subjects[at] or _relates(low, at):
                agent, agent_sentence = who[at], sentence[at]
            if quoted[at] and _addressed(low, at):
                value += _signed(who[at], -ADDRESS)
            continue
        weight = 0.0 if quoted[at] else _weight(tokens, at, words)
        if not weight:
            continue
        doer = agent if agent_sentence == sentence[at] else -1
        patient = _patient(tokens, at, who, subjects)
        if at and low[at - 1] in QUOTES and at + 1 in who:
            doer, patient = who[at + 1], -1
        if patient >= 0 and low[at] not in _LISTS.decides:
            value += _signed(patient, -weight)
            if doer == patient:
                continue
        if doer >= 0:
            value += _signed(doer, weight)
    return value


def _signed(person: int, weight: float) -> float:
    """`weight` as evidence for the first person's lead over the second."""
    return weight if person == 0 else -weight


def _relates(low: list[str], at: int) -> bool:
    """Whether a clause about the person at `at` follows: "Jane, who nodded"."""
    after = low[at + 1 : at + 3]
    return after[:1] == ["who"] or after == [",", "who"]


def _addressed(low: list[str], at: int) -> bool:
    """Whether the name at `at` is an address: "Jane, come here"."""
    return (
        at > 0
        and at + 1 < len(low)
        and low[at - 1] in _LISTS.vocative
        and low[at + 1] in _LISTS.vocative
    )


def _patient(tokens: Tokens, at: int, who: Mapping[int, int], subjects: Mapping[int, bool]) -> int:
    """The person whom the verb at `at` is done to, or -1."""
    for ahead in range(at + 1, min(at + 4, len(tokens.low))):
        if ahead in who and not subjects[ahead] and tokens.sentence[ahead] == tokens.sentence[at]:
            return who[ahead]
    return -1


def _weight(tokens: Tokens, at: int, words: RoleWords) -> float:
    """How much the word at `at` says that its agent is the subject; "the nurse" says nothing."""
    low = tokens.low
    word = low[at]
    noun = at > 0 and low[at - 1] in _LISTS.articles and not word.endswith(("ed", "ing"))
    if noun and word not in _LISTS.jobs:
        return 0.0
    if word in words.verbs:
        weight = PLAIN if word in words.subject_verbs else -PLAIN
    elif word in GIVES:
        weight = PLAIN
    elif word in RECEIVES:
        weight = -PLAIN
    elif word in _LISTS.decides:
        weight = WEAK
    else:
        return 0.0 if _LISTS.gets.isdisjoint(low[max(0, at - 4) : at]) else PLAIN
    return -weight if word.endswith("ed") and at and low[at - 1] in _LISTS.passive else weight
