"""First names of people who are named in full, and the race shares of their bearers.

The shares describe everyone who bears a first name, never the person; counting by them is a
departure from Fang et al. (2024), who looked each person up.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from math import isnan

from portrayal.annotate.people.notnames import SENTENCE_STARTERS
from portrayal.annotate.people.words import FUNCTION_WORDS
from portrayal.annotate.word_match import Token
from portrayal.reference import RACES, mena_nhpi_table, name_table, race_likelihoods

_NEVER_FIRST = FUNCTION_WORDS | SENTENCE_STARTERS


def first_names(text: str, tokens: Sequence[Token], taken: set[int]) -> Iterator[Token]:
    """Yield the first of two capitalised words in a row, an initial between them or not.

    Positions in `taken` are passed over, as are words that open sentences more often than names.
    """
    at = 0
    while at < len(tokens) - 1:
        last = at + 1
        if _initial(tokens[last].written) and last + 1 < len(tokens):
            last += 1
        if taken.isdisjoint(range(at, last + 1)) and _is_pair(text, tokens, at, last):
            yield tokens[at]
            at = last
        at += 1


def name_shares(name: str, labels: tuple[str, ...]) -> tuple[float, ...] | None:
    """Return the shares of a first name's bearers in `labels`; None where no table lists it.

    Labels of which no table speaks have the share 0.
    """
    return _shares(name.casefold(), labels)


@lru_cache(maxsize=65536)
def _shares(name: str, labels: tuple[str, ...]) -> tuple[float, ...] | None:
    row = race_likelihoods([name], name_table(), mena_nhpi_table())[0]
    known = dict(zip(RACES, row.tolist(), strict=True))
    if isnan(known["White"]):
        return None
    shares = (known.get(label, 0.0) for label in labels)
    return tuple(0.0 if isnan(share) else share for share in shares)


def _initial(written: str) -> bool:
    return len(written) == 1 and written.isupper()


def _is_pair(text: str, tokens: Sequence[Token], at: int, last: int) -> bool:
    first, final = tokens[at], tokens[last]
    if not (_capitalised(first.written) and _capitalised(final.written)):
        return False
    between = "".join(text[a.end : b.start] for a, b in pairwise(tokens[at : last + 1]))
    return first.word not in _NEVER_FIRST and between.strip(" .") == "" and "\n" not in between


def _capitalised(written: str) -> bool:
    return len(written) > 1 and written[0].isupper() and any(map(str.islower, written))
