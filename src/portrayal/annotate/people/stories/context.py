"""What stands around a pronoun: the word that joins its clause, and a name that follows at once."""

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from itertools import product
from typing import NamedTuple

from portrayal.annotate.people.shared.mentions import Mention
from portrayal.annotate.people.shared.scan import QUOTES, Tokens
from portrayal.annotate.people.shared.words import word_set

JOINS = ("and", "but", "so", "as", "that", "comma", "start", "said")
"""What opens the clause of a pronoun."""

RELATIONS = ("subject", "newest", "earlier", "nobody")
"""Whom the pronoun means: the subject of the clause before, the last mentioned, another, nobody."""

JOIN_CODES = tuple(product(("s", "p"), JOINS, RELATIONS))
JOIN_STEP, JOIN_CASE = len(RELATIONS), len(JOINS) * len(RELATIONS)

LEADS = ("with s", "with p", "with o", "doing s", "doing p", "doing o")
"""Kind of the phrase before a sentence's subject, and case of the pronoun in it."""

AHEAD_CODES = tuple(product(LEADS, ("it", "not it")))
"""Whether the pronoun means the subject that follows: "As she left, Ann smiled"."""

AHEAD = (3.0, 2.0, 0.0, 0.0, 0.0, -9.0)
"""Salience that the subject that follows gains, by `LEADS`; set by hand."""

_JOIN_OF: Mapping[str, int] = (
    dict.fromkeys(("and", "then", "&"), 0)
    | dict.fromkeys(("but", "yet", "though", "although"), 1)
    | {"so": 2, ",": 5}
    | dict.fromkeys(word_set("as while when before after until since because if once"), 3)
    | dict.fromkeys(word_set("that what how where why whether which than"), 4)
    | dict.fromkeys((".", "!", "?", "…", "...", "\n", ";", ":", "—", "–"), 6)
    | dict.fromkeys(QUOTES, 7)
)
_WITH = word_set(
    """
    with without despite as when while after before once although though since because if until in
    throughout during by on at from through for upon to under inside amid amidst beside behind like
    even over among given thanks
    """
)
_GAP = 4
"""Most tokens from a comma to the head of the subject behind it."""


class Ahead(NamedTuple):
    """The character that is the subject behind a pronoun, and a place in `LEADS`."""

    entity: int
    lead: int


def join_of(low: Sequence[str], at: int) -> int:
    """Place in `JOINS` of what stands before the token at `at`, or -1."""
    return _JOIN_OF.get(low[at - 1], -1) if at else 6


def ahead_of(tokens: Tokens, events: Sequence[Mention]) -> dict[int, Ahead]:
    """Position of a pronoun → the subject that its opening phrase leads to."""
    low, sentence = tokens.low, tokens.sentence
    found: dict[int, Ahead] = {}
    waiting: list[Mention] = []
    current, lead, comma = -1, -1, -1
    for event in events:
        at, here, entity, rank, _, case, quoted = event
        if here == current:
            if lead < 0:
                continue
        elif not quoted:
            current, waiting, lead = here, [], -1
            if at and sentence[at - 1] == here:
                lead, comma = _lead(low, sentence, at)
        if lead < 0 or quoted:
            continue
        if at < comma:
            if case in ("s", "p", "o"):
                waiting.append(event)
            continue
        if not case and rank > 0.0 and at - comma <= _GAP and entity >= 0:
            for pronoun in waiting:
                found[pronoun.at] = Ahead(entity, lead * 3 + "spo".index(pronoun.case))
        lead = -1
    return found


def _lead(low: Sequence[str], sentence: Sequence[int], at: int) -> tuple[int, int]:
    """Kind of the phrase that opens the sentence of `at` (-1: none), and its comma."""
    start = bisect_left(sentence, sentence[at], 0, at)
    while not low[start][0].isalpha() and start < at:
        start += 1
    kind = 0 if low[start] in _WITH else 1 if low[start].endswith(("ing", "ed")) else -1
    if low[start] == "not":
        kind = 1
    if kind < 0:
        return -1, at
    behind = bisect_right(sentence, sentence[at], at)
    try:
        return kind, low.index(",", at + 1, behind)
    except ValueError:
        return -1, -1
