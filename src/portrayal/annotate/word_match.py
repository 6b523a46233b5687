"""Matching: where the words of several lexicons stand in a text.

Words are compared without regard to case, and an apostrophe ends a word, so "women's" and "she's"
hold "women" and "she". A hyphen joins: "man-made" and "Spider-Man" hold no "man"; an entry with a
hyphen or a space ("African-American") is found with either. Phrases may not cross a sentence. Where
entries of one lexicon overlap, the longest counts.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
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


class Entry(NamedTuple):
    """What a phrase stands for.

    Attributes
    ----------
    column
        Where it counts.
    n_marked
        Words of it that are marked: what must follow is not.
    written
        How it must be written, such as "WHO"; "" for any capitals.
    fits
        Function of a text and where the phrase stands to whether it counts there; None if it does
        anywhere.
    in_context
        Whether what stands beside it says what it means.
    """

    column: int
    n_marked: int
    written: str = ""
    fits: Callable[[str, int, int], bool] | None = None
    in_context: bool = False


class Hit(NamedTuple):
    """A phrase in a text: its lexicon, entry, tokens (`first` to before `last`), and where."""

    lexicon: int
    entry: Entry
    first: int
    last: int
    start: int
    end: int


class WordTable:
    """Words and phrases of several lexicons, found in one pass; of overlapping ones the longest."""

    def __init__(self) -> None:
        # First word → lexicon → words after it → what the phrase stands for
        self._entries: dict[str, dict[int, dict[Words, Entry]]] = {}
        # How many words may follow the first, the most first
        self._lengths: dict[tuple[str, int], list[int]] = {}

    def add(self, lexicon: int, words: Words, entry: Entry) -> None:
        """Let these words stand for an entry, unless they stand for another one already."""
        first, after = words[0], words[1:]
        self._entries.setdefault(first, {}).setdefault(lexicon, {}).setdefault(after, entry)
        lengths = self._lengths.setdefault((first, lexicon), [])
        if len(after) not in lengths:
            lengths.append(len(after))
            lengths.sort(reverse=True)

    def find(self, text: str, tokens: Sequence[Token]) -> list[Hit]:
        """Return the phrases among these tokens of a text, in order."""
        hits: list[Hit] = []
        used_to: dict[int, int] = {}
        words = [token.word for token in tokens]
        for position, word in enumerate(words):
            for lexicon, entries in self._entries.get(word, {}).items():
                # Lexicons do not hide one another's words; within one no word counts twice
                if position < used_to.get(lexicon, 0):
                    continue
                for length in self._lengths[word, lexicon]:
                    last = position + 1 + length
                    entry = entries.get(tuple(words[position + 1 : last]))
                    if last > len(words) or entry is None:
                        continue
                    start, end = tokens[position].start, tokens[last - 1].end
                    close = length == 0 or _close(text, tokens[position:last])
                    # "WHO" is written so, "who" is not
                    if not close or not text.startswith(entry.written, start):
                        continue
                    if entry.fits is None or entry.fits(text, start, end):
                        used_to[lexicon] = last
                        marked = tokens[position + entry.n_marked - 1].end
                        hits.append(Hit(lexicon, entry, position, last, start, marked))
                        break
        return hits


def tokens(text: str) -> list[Token]:
    """Return the words of a text in order; underscores count as spaces."""
    flat = text.replace("_", " ") if "_" in text else text
    # Most words are plain, and lower case then costs no look-up
    return [
        Token(*match.span(), word := match[0], word.lower() if word.isascii() else fold(word))
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


def _close(text: str, tokens: Sequence[Token]) -> bool:
    """Whether nothing but white space, an apostrophe or an initial's full stop stands between."""
    for before, after in pairwise(tokens):
        gap = text[before.end : after.start].strip()
        if gap == "." and not _INITIAL.fullmatch(before.written):
            return False
        if gap not in ("", "'", "’", "."):
            return False
    return True
