"""Whether a text is in English, the language that the embedded readers read."""

import re
from functools import cache

from portrayal.errors import DataError
from portrayal.reference.shipped import toml_beside

FEWEST_WORDS = 5
"""Words below which a text shows no language, and is taken to be English."""

_WORDS = 400  # words of a text that are looked at
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")


def is_english(text: str) -> bool:
    """Return whether a text is in English, or shows no language at all.

    Function words of English are compared with those of other languages of Latin script; a text
    in which most letters are of another script is not English.

    >>> is_english("She was a nurse and loved her work."), is_english("Ella era enfermera y él no.")
    (True, False)
    """
    return language_of(text) == "en"


def language_of(text: str) -> str:
    """Return the code of a text's language; "en" also where it shows none, "" where unknown.

    >>> language_of("Ella era enfermera y él no."), language_of("वह एक डॉक्टर थी।")
    ('es', 'hi')
    """
    words = _WORD.findall(text.casefold())[:_WORDS]
    letters = "".join(words)
    latin = sum(letter < "\u0250" or "\u1e00" <= letter < "\u1f00" for letter in letters)
    if latin * 2 < len(letters):
        return "hi" if sum("\u0900" <= letter < "\u0980" for letter in letters) > latin else ""
    if len(words) < FEWEST_WORDS:
        return "en"
    matches = {language: sum(word in of for word in words) for language, of in _lists().items()}
    english = matches.pop("en")
    most = max(matches, key=lambda language: matches[language])
    # Ties go to English, as short texts share words with other languages
    return "en" if matches[most] <= max(english, 1) else most


def why_unread(text: str) -> str:
    """Return why the embedded readers of people do not read a text, and what does; "" if they do.

    Names are known by their capitals, so a text all in capitals or in small letters shows none.

    >>> why_unread("SHE SAID THAT ANN LEE WAS A NURSE.")
    'all in capitals or in small letters, by which names are known: set it in both'
    """
    is_flat = text.isupper() or text.islower()
    if is_flat and len(_WORD.findall(text)) >= FEWEST_WORDS:
        return "all in capitals or in small letters, by which names are known: set it in both"
    return "" if is_english(text) else "not in English: let a model read it (--labeler llm)"


def check_readable(text: str) -> None:
    """Raise DataError where the embedded readers of people do not read a text."""
    if reason := why_unread(text):
        raise DataError(f"the text is {reason}.")


@cache
def _lists() -> dict[str, frozenset[str]]:
    lists = toml_beside(__file__, "language.toml")
    return {language: frozenset(words.split()) for language, words in lists.items()}
