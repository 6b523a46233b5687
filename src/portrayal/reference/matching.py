"""How a written name becomes the key under which a name table is searched.

A *key* ignores case, surrounding punctuation and the typography of apostrophes and hyphens, but
keeps accents. A *plain* form has only unaccented letters. A name is looked up by its key, then by
its plain form (María → maria, O'Neil → oneil, Mary-Kate → marykate), then by the plain form of its
first part (Mary-Kate → mary).
"""

import re
import unicodedata

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
