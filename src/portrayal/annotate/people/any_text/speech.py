"""Quotations and who speaks in them, and the "I" of a text."""

from collections.abc import Mapping

from portrayal.annotate.people.shared.evidence import SAYING
from portrayal.annotate.people.shared.scan import QUOTES, Tokens
from portrayal.annotate.people.shared.words import word_set

FIRST_PERSON = word_set("i me my mine myself")
"""Forms of "I"; "i'm" is two tokens."""

_CLOSING = word_set("sincerely regards respectfully yours truly best wishes cordially faithfully")
_NEAR = 4


def number_quotations(tokens: Tokens) -> list[int]:
    """Per token the number of the quotation it stands in, or -1."""
    if not any(tokens.quoted):
        return [-1] * len(tokens.words)
    numbers = []
    current, inside = -1, False
    for quoted in tokens.quoted:
        current += quoted and not inside
        inside = quoted
        numbers.append(current if quoted else -1)
    return numbers


def find_speakers(tokens: Tokens, quotes: list[int], who: Mapping[int, int]) -> dict[int, int]:
    """Number of a quotation → index of its speaker, where one stands beside it.

    `who` maps positions of names and pronouns to people: '"…," said Ann', 'Ann said: "…"'.
    """
    words, low = tokens.words, tokens.low
    found: dict[int, int] = {}
    if QUOTES.isdisjoint(words):
        return found
    n = len(words)
    for at in [at for at in range(n) if words[at] in QUOTES]:
        closes = at > 0 and quotes[at - 1] >= 0
        number = quotes[at - 1] if closes else (quotes[at + 1] if at + 1 < n else -1)
        if number < 0 or number in found:
            continue
        step = 1 if closes else -1
        near = [at + step * k for k in range(1, _NEAR + 2) if 0 <= at + step * k < n]
        says = [p for p in near if low[p] in SAYING]
        named = [p for p in near if p in who]
        if says and named and (not closes or min(says + named) <= at + 2):
            found[number] = who[named[0]]
    return found


def find_signature(tokens: Tokens) -> int:
    """Position of the first word below a closing formula ("Sincerely,"), or -1."""
    words, low = tokens.words, tokens.low
    for at in range(len(words) - 1, max(-1, len(words) - 40), -1):
        if low[at] in _CLOSING and words[at + 1 : at + 2] == [","]:
            return at + 2 + (words[at + 2 : at + 3] == ["\n"])
    return -1
