"""Role nouns and gendered nouns of a story, and the names they stand beside."""

from collections.abc import Mapping

from portrayal.annotate.people.rolewords import RoleWords
from portrayal.annotate.people.scan import Tokens
from portrayal.annotate.people.words import COPULAS
from portrayal.annotate.people.wordset import word_set

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
