"""How a written name becomes the key under which a name table is searched, in any script.

A *key* ignores case, surrounding punctuation, invisible signs and the typography of apostrophes and
hyphens, but keeps accents. A *plain* form has only letters, without accents, vowel points and other
marks that may be left out. Vowel signs of Indic scripts stay: without them a name is another.
A name is looked up by its key, then by its plain form (María → maria, O'Neil → oneil, Mary-Kate →
marykate), then by the plain form of its first part (Mary-Kate → mary).
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from portrayal.types import FloatArray

_APOSTROPHES = str.maketrans(dict.fromkeys("’‘ʼʻ`´ʹ＇′׳", "'"))
_HYPHENS = str.maketrans(dict.fromkeys("‐‑‒–—―−﹣－־", "-"))
_UNSEEN = dict.fromkeys(
    [0x640, 0xAD, 0x61C, 0xFEFF, *range(0x200B, 0x2010), *range(0x202A, 0x202F),
     *range(0x2066, 0x206A)]
)  # fmt: skip
_TYPOGRAPHY = _APOSTROPHES | _HYPHENS | {ord("״"): '"'} | _UNSEEN
_LETTERS = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ħ": "h", "ı": "i"}
    | {"ى": "ي", "ی": "ي", "ک": "ك", "ة": "ه"}  # Arabic letters that are written for one another
)
_LEFT_OUT = frozenset(
    map(chr, [*range(0x300, 0x370), *range(0x591, 0x5C8), *range(0x610, 0x61B), 0x670, 0x93C,
              *range(0x64B, 0x660), *range(0x6D6, 0x6EE), *range(0x1AB0, 0x1B00)])
)  # fmt: skip
"""Marks without which a name is the same: accents, vowel points, the dot below Devanagari."""
_EDGE = " \t\r\n\f\v.,;:!?\"“”«»()[]{}*_'-।۔،؛؟"
_POSSESSIVE = re.compile(r"'s$")
_SPACES = re.compile(r"\s+")
_BREAK = re.compile(r"[\s-]")


def name_key(name: str) -> str:
    """Return the key of `name`: lower-case, accents kept, ends and typography tidied.

    The key does not change under `str.upper`, `str.title` or a second application.
    """
    if name.isascii() and name.isalpha():  # most names are so, and need no more
        return name.lower()
    # By way of capitals, where letters such as the dotless ı lose what tells them apart: a name in
    # capitals has the same key.
    folded = unicodedata.normalize("NFKC", name.translate(_TYPOGRAPHY)).upper().casefold()
    folded = unicodedata.normalize("NFKC", folded).translate(_TYPOGRAPHY)
    folded = _SPACES.sub(" ", folded).strip(_EDGE)
    return _POSSESSIVE.sub("", folded).strip(_EDGE)


def plain_form(key: str) -> str:
    """Return the letters of `key` without accents, vowel points, apostrophes, hyphens, spaces."""
    if key.isascii() and key.isalpha():
        return key
    letters = unicodedata.normalize("NFKD", key)
    # Of the marks only those may go that a writer may leave out: vowel signs carry the name
    base = "".join(c for c in letters if c not in _LEFT_OUT and (c.isalnum() or _is_mark(c)))
    return unicodedata.normalize("NFC", base).translate(_LETTERS)


def _is_mark(letter: str) -> bool:
    """Whether a sign belongs to the letter before it, such as a vowel sign."""
    return unicodedata.category(letter) in ("Mn", "Mc")


def first_part(key: str) -> str:
    """Return the plain form of what stands before the first hyphen or space of `key`."""
    return plain_form(_BREAK.split(key, maxsplit=1)[0])


@dataclass(frozen=True)
class NameIndex:
    """Shares by name, searchable by key and by plain form.

    Attributes
    ----------
    keys
        One key per listed name, `n` of them.
    counts
        Name bearers, shape (n,); NaN throughout where the source gives no counts.
    shares
        Shares in 0–1, shape (n + pooled, races); the rows after `n` pool names that share a plain
        form (José and Jose), weighted by count, and are used only when no key matches.
    rows, plain_rows
        Row of `shares` by key and by plain form.
    """

    keys: tuple[str, ...]
    counts: FloatArray
    shares: FloatArray
    rows: dict[str, int]
    plain_rows: dict[str, int]

    def find(self, name: str | None) -> int:
        """Return the row of `name`, or −1."""
        if name and (row := self.rows.get(name)) is not None:  # a key is its own key
            return row
        key = name_key(name) if name else ""
        if not key:
            return -1
        if (row := _row(self, key)) is None:
            # A single word has no first part that could be tried.
            row = -1 if key.isalpha() else self.plain_rows.get(first_part(key), -1)
        return row

    def lookup(self, names: Sequence[str | None]) -> FloatArray:
        """Return the shares of `names`, shape (len(names), races); NaN rows where unmatched."""
        row_of = {name: self.find(name) for name in dict.fromkeys(names)}
        rows = np.fromiter((row_of[name] for name in names), dtype=np.intp, count=len(names))
        result = np.full((len(names), self.shares.shape[1]), np.nan)
        result[rows >= 0] = self.shares[rows[rows >= 0]]
        return result


def _row(index: NameIndex, key: str) -> int | None:
    """The row of a key, or of its plain form."""
    row = index.rows.get(key)
    return index.plain_rows.get(plain_form(key)) if row is None else row


@lru_cache(maxsize=4)
def any_word(joints: str = "'’׳") -> re.Pattern[str]:
    """Return the pattern of a word in any script: letters with their marks, joined by `joints`."""
    marks = "".join(c for c in map(chr, range(0x300, 0x20000)) if _is_mark(c))
    # Joiners and the Arabic lengthening sign stand inside of words and are no letters.
    unseen = "\u200c\u200d\u0640"
    part = rf"[^\W\d_](?:[^\W\d_]|[{marks}{unseen}])*"
    return re.compile(rf"{part}(?:[{joints}]{part})*")


def build_index(names: Sequence[str], counts: FloatArray, shares: FloatArray) -> NameIndex:
    """Index `names` with `counts`, shape (n,), and `shares`, shape (n, races).

    Names with the same key become one, their shares weighted by count.
    """
    keys = [name_key(name) for name in names]
    rows, groups = _groups(keys)
    if len(rows) < len(keys):
        counts, shares = _pool(groups, len(rows), counts, shares)
    unique = tuple(rows)
    # Every key is its own plain form then, and nothing has to be pooled
    if all(key.isascii() and key.isalpha() for key in unique):
        return NameIndex(unique, counts, shares, rows, rows)
    plain = [plain_form(key) for key in unique]
    plain_rows, groups = _groups(plain)
    size = np.bincount(groups, minlength=len(plain_rows))
    _, pooled = _pool(groups, len(plain_rows), counts, shares)
    # Backwards, so that the first of the keys with one plain form stays.
    first = dict(zip(reversed(plain), range(len(plain) - 1, -1, -1), strict=True))
    several = np.flatnonzero(size > 1)
    place = dict(zip(several.tolist(), range(len(unique), len(unique) + len(several)), strict=True))
    by_plain = {form: place.get(group, first[form]) for form, group in plain_rows.items() if form}
    return NameIndex(unique, counts, np.vstack([shares, pooled[several]]), rows, by_plain)


def _groups(keys: Sequence[str]) -> tuple[dict[str, int], NDArray[np.intp]]:
    """Number the distinct `keys` in order of appearance; also return each key's number."""
    numbers: dict[str, int] = {}
    member = [numbers.setdefault(key, len(numbers)) for key in keys]
    return numbers, np.asarray(member, dtype=np.intp)


def _pool(
    groups: NDArray[np.intp], n_groups: int, counts: FloatArray, shares: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Sum `counts` and average `shares` by group; rows weigh alike where counts are unknown."""
    weights = np.where(np.isnan(counts), 1.0, counts)
    total = np.bincount(groups, weights, minlength=n_groups)
    columns = [np.bincount(groups, weights * c, minlength=n_groups) / total for c in shares.T]
    summed = np.bincount(groups, counts, minlength=n_groups).astype(np.float64)
    return summed, np.column_stack(columns)
