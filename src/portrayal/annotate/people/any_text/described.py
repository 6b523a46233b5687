"""Noun phrases for one person, and whom they describe: "Ann Merkel, the daughter of a pastor"."""

from collections.abc import Mapping
from dataclasses import dataclass

from portrayal.annotate.people.shared.nominals import ADJECTIVES, GENDER, KIN, PERSON_NOUNS
from portrayal.annotate.people.shared.scan import Tokens
from portrayal.annotate.people.shared.words import COPULAS, FUNCTION_WORDS, word_set

INDEFINITE = word_set("a an another one")
DEFINITE = word_set("the this that")
POSSESSIVE = word_set("his her their my our your its 's")
_INSIDE = word_set(
    "young old little big great last new long eight five four six seven nine ten own first"
)
_IS = COPULAS | word_set("am 'm")
_PREDICATE = _IS | word_set("as become becoming being been like than into remain remains of")
_BETWEEN = word_set("also now currently still not once just then both already")
_NAMING = word_set("named called")
_LONGEST = 9
"""Words of a noun phrase before its head."""


@dataclass(slots=True)
class Phrase:
    """A noun phrase for one person.

    Attributes
    ----------
    start, at
        Token positions of its first word and of its head.
    kind
        "a", "the", "'s" (possessive) or "" by the word it opens with.
    gender
        Gender that the head or an adjective tells, or "".
    told
        Positions of the words that tell the gender.
    person
        Index of the named person it describes, or -1.
    predicate
        Whether it says what somebody is: "she is a singer", "as a singer".
    """

    start: int
    at: int
    kind: str
    gender: str
    told: list[int]
    person: int = -1
    predicate: bool = False


def find_phrases(tokens: Tokens, names: Mapping[int, int]) -> list[Phrase]:
    """Noun phrases for one person, in order; `names` maps token positions of names to people."""
    low = tokens.low
    found = []
    for at, word in enumerate(low):
        if word in PERSON_NOUNS and at not in names and tokens.words[at][1:].islower():
            after = low[at + 1] if at + 1 < len(low) else "."
            if after not in PERSON_NOUNS or at + 1 in names:
                phrase = _phrase(tokens, at, names)
                phrase.person = _described(tokens, phrase, names)
                found.append(phrase)
        elif word in ADJECTIVES and (plain := _told_plainly(tokens, at, names)):
            found.append(plain)
    return found


def _told_plainly(tokens: Tokens, at: int, names: Mapping[int, int]) -> Phrase | None:
    """What the adjective at `at` says of a named person, whatever noun follows: "is non-binary"."""
    low = tokens.low
    after = low[at + 1] if at + 1 < len(low) else "."
    if after in ("and", "or") or after in PERSON_NOUNS:
        return None
    if at > 1 and low[at - 1] in _IS | _BETWEEN and at - 2 in names:
        return Phrase(at, at, "", GENDER[low[at]], [at], names[at - 2], True)
    phrase = _phrase(tokens, at, names)
    phrase.person = _described(tokens, phrase, names) if phrase.kind == "a" else -1
    return phrase if phrase.person >= 0 else None


def _phrase(tokens: Tokens, at: int, names: Mapping[int, int]) -> Phrase:
    """The noun phrase whose head stands at `at`."""
    low = tokens.low
    told = [at] if low[at] in GENDER else []
    kind = ""
    start = at
    for back in range(at - 1, max(-1, at - 1 - _LONGEST), -1):
        word = low[back]
        if word in INDEFINITE or word in DEFINITE or word in POSSESSIVE:
            kind = "a" if word in INDEFINITE else "the" if word in DEFINITE else "'s"
            start = back
            break
        if word == "and" or (word in FUNCTION_WORDS and word not in _INSIDE):
            break
        if not word[0].isalpha() and not (word == "," and at - back > 1):
            break
        if back in names:
            break
        if word in ADJECTIVES and word in GENDER:
            told.append(back)
    gender = GENDER[low[told[0]]] if told else ""
    if not kind:
        start = at
    told = [where for where in told if where >= start and GENDER[low[where]] == gender]
    return Phrase(start, at, kind, gender if told else "", sorted(told))


def _described(tokens: Tokens, phrase: Phrase, names: Mapping[int, int]) -> int:
    """Index of the named person whom the phrase describes, or -1; notes predicates."""
    low, start = tokens.low, phrase.start
    back = start - 1
    while back > 0 and low[back] in _BETWEEN:
        back -= 1
    phrase.predicate = start > 0 and low[back] in _PREDICATE and low[back] != "'s"
    where = _bearer(tokens, phrase, names, back)
    return names.get(where, -1)


def _bearer(tokens: Tokens, phrase: Phrase, names: Mapping[int, int], back: int) -> int:
    """Position of the name that the phrase describes, or -1; `back` is where a verb may stand."""
    low, start, at = tokens.low, phrase.start, phrase.at
    before = low[start - 1] if start else "."
    after = low[at + 1] if at + 1 < len(low) else "."
    if at + 1 in names:
        return at + 1
    if after in _NAMING and at + 2 in names:
        return at + 2
    if after == "," and at + 2 in names:
        kin = phrase.kind == "'s" and low[at] in KIN and before != "with"
        if kin or before in ("as", ".", "\n"):
            return at + 2
    if before in (",", "(", "—", "–") and start - 2 in names and phrase.kind:
        return start - 2
    if low[back] in _IS and back > 0 and (phrase.kind or phrase.told):
        return -1 if low[back] == "'s" and phrase.kind != "a" else back - 1
    return -1
