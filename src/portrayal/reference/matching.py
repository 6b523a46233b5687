"""How a written name becomes the key under which a name table is searched.

A *key* ignores case, surrounding punctuation and the typography of apostrophes and hyphens, but
keeps accents. A *plain* form has only unaccented letters. A name is looked up by its key, then by
its plain form (María → maria, O'Neil → oneil, Mary-Kate → marykate), then by the plain form of its
first part (Mary-Kate → mary).
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from portrayal.types import FloatArray

_APOSTROPHES = str.maketrans(dict.fromkeys("’‘ʼʻ`´ʹ＇′", "'"))
_HYPHENS = str.maketrans(dict.fromkeys("‐‑‒–—―−﹣－", "-"))
_TYPOGRAPHY = _APOSTROPHES | _HYPHENS
_LETTERS = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ħ": "h", "ı": "i"}
)
_EDGE = " \t\r\n\f\v.,;:!?\"“”«»()[]{}*_'-"
_POSSESSIVE = re.compile(r"'s$")
_SPACES = re.compile(r"\s+")
_BREAK = re.compile(r"[\s-]")


def name_key(name: str) -> str:
    """Return the key of `name`: lower-case, accents kept, ends and typography tidied.

    The key does not change under `str.upper`, `str.title` or a second application.
    """
    if name.isascii() and name.isalpha():
        return name.lower()
    folded = unicodedata.normalize("NFC", name).upper().casefold()
    folded = unicodedata.normalize("NFC", folded).translate(_TYPOGRAPHY)
    folded = _SPACES.sub(" ", folded).strip(_EDGE)
    return _POSSESSIVE.sub("", folded).strip(_EDGE)


def plain_form(key: str) -> str:
    """Return the letters of `key` without accents, apostrophes, hyphens and spaces."""
    if key.isascii() and key.isalpha():
        return key
    letters = unicodedata.normalize("NFKD", key).translate(_LETTERS)
    return "".join(letter for letter in letters if letter.isalnum())


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
        key = name_key(name) if name else ""
        if not key:
            return -1
        row = self.rows.get(key)
        if row is None:
            row = self.plain_rows.get(plain_form(key))
        if row is None:
            row = self.plain_rows.get(first_part(key), -1)
        return row

    def lookup(self, names: Sequence[str | None]) -> FloatArray:
        """Return the shares of `names`, shape (len(names), races); NaN rows where unmatched."""
        found = {name: self.find(name) for name in dict.fromkeys(names)}
        rows = np.fromiter((found[name] for name in names), dtype=np.intp, count=len(names))
        result = np.full((len(names), self.shares.shape[1]), np.nan)
        result[rows >= 0] = self.shares[rows[rows >= 0]]
        return result


def build_index(names: Sequence[str], counts: FloatArray, shares: FloatArray) -> NameIndex:
    """Index `names` with `counts`, shape (n,), and `shares`, shape (n, races).

    Names with the same key become one, their shares weighted by count.
    """
    keys = [name_key(name) for name in names]
    rows, groups = _groups(keys)
    if len(rows) < len(keys):
        counts, shares = _pool(groups, len(rows), counts, shares)
    kept = tuple(rows)
    if all(key.isascii() and key.isalpha() for key in kept):
        return NameIndex(kept, counts, shares, rows, rows)
    plain = [plain_form(key) for key in kept]
    plain_rows, groups = _groups(plain)
    size = np.bincount(groups, minlength=len(plain_rows))
    _, pooled = _pool(groups, len(plain_rows), counts, shares)
    first = dict(zip(reversed(plain), range(len(plain) - 1, -1, -1), strict=True))
    several = np.flatnonzero(size > 1)
    place = dict(zip(several.tolist(), range(len(kept), len(kept) + len(several)), strict=True))
    by_plain = {form: place.get(group, first[form]) for form, group in plain_rows.items() if form}
    return NameIndex(kept, counts, np.vstack([shares, pooled[several]]), rows, by_plain)


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
