"""Matching: where the words of several lexicons stand in a text.

Words are compared without regard to case, and an apostrophe ends a word, so "women's" and "she's"
hold "women" and "she". A hyphen joins: "man-made" and "Spider-Man" hold no "man"; an entry with a
hyphen or a space ("African-American") is found with either. Phrases may not cross a sentence. Where
entries of one lexicon overlap, the longest counts.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

TOKEN = re.compile(r"[\w\u0300-\u036f]+(?:[-‐‑][\w\u0300-\u036f]+)*")
_HYPHENS = str.maketrans("‐‑", "--")
_INITIAL = re.compile(r"\w|jr|sr|st|dr", re.IGNORECASE)

Words = tuple[str, ...]


class Token(NamedTuple):
    """A word and where it stands; `word` is in lower case."""

    start: int
    end: int
    written: str
    word: str


@dataclass(frozen=True, slots=True)
class Hit:
    """A counted word or phrase: where it stands, and its column. `first`, `last` are tokens."""

    start: int
    end: int
    column: int
    first: int
    last: int


@dataclass
class _Entries:
    """What may follow a first word in one lexicon: rest of the words → column and counted words."""

    rest: dict[Words, tuple[int, int]] = field(default_factory=dict)
    lengths: list[int] = field(default_factory=list)


class Matcher:
    """Finds the entries of several lexicons in one pass."""

    def __init__(self) -> None:
        self._first: dict[str, dict[int, _Entries]] = {}

    def add(
        self, lexicon: int, phrases: Iterable[str], column: int, followed_by: Iterable[str] | None
    ) -> None:
        """Let `phrases` count in `column`, where `followed_by` follows if given."""
        tails = [()] if followed_by is None else [v for f in followed_by for v in variants(f)]
        changed: dict[int, _Entries] = {}
        # Written out beforehand, so that a text is only looked up
        for words in (variant for phrase in phrases for variant in variants(phrase)):
            entries = self._first.setdefault(words[0], {}).setdefault(lexicon, _Entries())
            for tail in tails:
                entries.rest.setdefault((*words[1:], *tail), (column, len(words)))
            changed[id(entries)] = entries
        for entries in changed.values():
            # Longest first: the first that fits is the longest
            entries.lengths = sorted({len(tail) for tail in entries.rest}, reverse=True)

    def find(self, text: str, tokens: Sequence[Token], end: int) -> list[Hit]:
        """Return the hits among the tokens of one sentence, which ends at offset `end`."""
        hits: list[Hit] = []
        used_to: dict[int, int] = {}
        for position, token in enumerate(tokens):
            lexicons = self._first.get(token.word)
            if lexicons is None:
                continue
            for lexicon, entries in lexicons.items():
                if position < used_to.get(lexicon, 0):
                    continue
                hit = _longest(entries, text, tokens, position, end)
                if hit is not None:
                    hits.append(hit)
                    # Lexicons do not hide one another's words; within one no word counts twice
                    used_to[lexicon] = hit.last
        return hits


def tokens(text: str) -> list[Token]:
    """Return the words of a text in order; underscores count as spaces."""
    flat = text.replace("_", " ") if "_" in text else text
    # Most texts are plain, and lower case then costs no look-up
    if flat.isascii():
        return [
            Token(*match.span(), written := match[0], written.lower())
            for match in TOKEN.finditer(flat)
        ]
    return [
        Token(
            *match.span(),
            written := match[0],
            written.lower() if written.isascii() else fold(written),
        )
        for match in TOKEN.finditer(flat)
    ]


@lru_cache(maxsize=200_000)
def fold(written: str) -> str:
    """Return a word as it is compared: without capitals, with plain hyphens.

    >>> fold("Straße"), fold("MAN‑MADE")
    ('strasse', 'man-made')
    """
    # NFC first: the same letter may be written with a mark of its own
    return unicodedata.normalize("NFC", written).casefold().translate(_HYPHENS)


def any_of(words: Iterable[str]) -> str:
    """Return a pattern of any of the words, longer ones first, that shares what they start with."""
    tails: dict[str, list[str]] = {}
    for word in sorted(words):
        tails.setdefault(word[:1], []).append(word[1:])
    ends = tails.pop("", None)
    branches = [re.escape(first) + any_of(tail) for first, tail in tails.items()]
    if not branches:
        return ""
    return "(?:" + "|".join(branches) + (")?" if ends else ")")


def variants(phrase: str) -> set[Words]:
    """Return ways of writing a phrase: as it is, with spaces for hyphens, and joined by hyphens.

    >>> sorted(variants("African-American"))
    [('african', 'american'), ('african-american',)]
    """
    words = tuple(token.word for token in tokens(phrase))
    parts = tuple(part for word in words for part in word.split("-"))
    # An apostrophe parts words, so such a phrase is never joined
    joined = ("-".join(parts),) if len(parts) > 1 and "'" not in phrase.replace("’", "'") else words
    return {words, parts, joined} if words else set()


def _longest(
    entries: _Entries, text: str, tokens: Sequence[Token], position: int, end: int
) -> Hit | None:
    for length in entries.lengths:
        last = position + 1 + length
        if last > len(tokens):
            continue
        entry = entries.rest.get(tuple(token.word for token in tokens[position + 1 : last]))
        if (
            entry is not None
            and tokens[last - 1].end <= end
            and _close(text, tokens[position:last])
        ):
            # What must follow ("Black" before an occupation) is checked and not marked
            column, counted = entry
            return Hit(
                tokens[position].start, tokens[position + counted - 1].end, column, position, last
            )
    return None


def _close(text: str, tokens: Sequence[Token]) -> bool:
    """Whether nothing but white space, an apostrophe or an initial's full stop stands between."""
    for before, after in pairwise(tokens):
        gap = text[before.end : after.start].strip()
        if gap == "." and not _INITIAL.fullmatch(before.written):
            return False
        if gap not in ("", "'", "’", "."):
            return False
    return True
