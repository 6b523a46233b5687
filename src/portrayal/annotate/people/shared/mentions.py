"""Mentions: every name, noun or pronoun that may stand for a character."""

from collections.abc import Sequence
from typing import NamedTuple

from portrayal.annotate.people.shared.scan import Tokens
from portrayal.annotate.people.shared.words import (
    CLAUSE_OPENERS,
    THANKS,
    VERBS_AFTER_NAME,
    word_set,
)

OTHER = -1
"""Index of anyone who is neither of the two characters."""

POSSESSOR = 0.5
"""Rank of the owner of a clause's subject ("Ann's eyes lit up")."""

FAR = 8
"""Tokens over which a verb and its object may stand apart."""


_WEAK_OPENERS = word_set("as before after until since and but")
_NOT_HEADS = word_set("the a an dr mr mrs ms young")
_LONG_NOUN_PHRASE = 6


class Mention(NamedTuple):
    """A name or noun (then `case` is empty) or a pronoun.

    Attributes
    ----------
    at, sentence
        Token and sentence number.
    entity
        Index of the character, or `OTHER`; unknown (`OTHER`) for a pronoun.
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


def noun_rank(tokens: Tokens, at: int) -> float:
    """Rank of the name or noun at `at`."""
    low = tokens.low
    after = low[at + 1] if at + 1 < len(low) else "."
    back, furthest = at - 1, max(-1, at - _LONG_NOUN_PHRASE)
    while back > furthest and (
        low[back] in _NOT_HEADS or (low[back] == "." and low[back - 1] in _NOT_HEADS)
    ):
        back -= 1
    opener = low[back] if back >= 0 else "."
    opened = opener in CLAUSE_OPENERS
    if opened and opener not in _WEAK_OPENERS:
        return 1.0 if after != "'s" else POSSESSOR
    acts = after in VERBS_AFTER_NAME or after.endswith("ed")
    if opened and not acts and not after.endswith("s"):
        opened = False
    if after == "'s":
        return POSSESSOR if opened else 0.0
    return 1.0 if opened or acts else 0.0


def pronoun_rank(low: Sequence[str], at: int, case: str) -> float:
    """Rank of the pronoun at `at`."""
    if case == "o":
        return -float(_reach(low, at))
    thanked = case == "p" and at and low[at - 1] == "for"
    if thanked and not THANKS.isdisjoint(low[max(0, at - 5) : at]):
        return -float(FAR)
    return 1.0 if at == 0 or low[at - 1] in CLAUSE_OPENERS else 0.0


def _reach(low: Sequence[str], at: int) -> int:
    """How many tokens back the subject of the verb that governs the object at `at` may stand."""
    for back in range(at - 1, max(-1, at - FAR), -1):
        word = low[back]
        if word in CLAUSE_OPENERS or word == "it" or (back < at - 1 and word.endswith("ing")):
            return at - back
    return FAR
