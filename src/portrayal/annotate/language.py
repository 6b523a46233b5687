"""Which language a text is in; the embedded readers read English alone."""

import re
from functools import cache
from typing import Any

from portrayal.reference.shipped import toml_beside

FEWEST_WORDS = 5
"""Words of Latin script below which a text shows no language, and is taken to be English."""
ENGLISH_SHARE = 0.15
"""Share of English function words from which a text is English, whatever names stand in it."""
DOUBT = 0.3
"""A text is English also where English is less probable than another language, by this factor."""
FEWEST_PLAIN = 3
"""Words in small letters that tell the language of a text full of names."""
NOT_ENGLISH = "not in English"

_ENGLISH = frozenset(toml_beside(__file__, "language.toml")["en"].split())
_WORDS, _LONGEST = 400, 30  # words of a text that are looked at, and characters of one
WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_PLAIN_WORD = re.compile(
    r"[a-z]+(?:'[a-z]+)?"
)  # the same in small letters of ASCII, in half the time


def is_english(text: str) -> bool:
    """Return whether a text is in English, or shows no language at all.

    >>> is_english("She was a nurse and loved her work."), is_english("Ella era enfermera y él no.")
    (True, False)
    """
    return language_of(text) == "en"


def language_of(text: str) -> str:
    """Return the code of a text's language (ISO 639-1); "en" also where it shows none.

    A text with many English function words is English. What others are in is for py3langid to say,
    which knows 139 languages, in any script.

    >>> language_of("Ella era enfermera y él no."), language_of("वह एक डॉक्टर थी।")
    ('es', 'hi')
    """
    # So many characters hold the words that are looked at
    start = text[: _LONGEST * _WORDS]
    pattern = _PLAIN_WORD if start.isascii() else WORD
    words = pattern.findall(start.casefold().replace("’", "'"))[:_WORDS]
    letters = "".join(words)
    if letters.isascii() or 2 * sum(map(_is_latin, letters)) >= len(letters):
        n_english = sum(map(_ENGLISH.__contains__, words))
        if len(words) < FEWEST_WORDS or n_english >= ENGLISH_SHARE * len(words):
            return "en"
    matches = [match for match, _ in zip(WORD.finditer(start), range(_WORDS), strict=False)]
    ranked = _identifier().rank(start[: matches[-1].end()])
    code, best = ranked[0]
    if dict(ranked)["en"] >= DOUBT * best:
        return "en"
    # Names are of any language: what stands in small letters tells that of a text full of them
    plain = [match[0] for match in matches if not match[0][0].isupper()]
    is_named = len(plain) >= FEWEST_PLAIN and _identifier().classify(" ".join(plain))[0] == "en"
    return "en" if is_named else str(code)


def _is_latin(letter: str) -> bool:
    return letter < "\u0250" or "\u1e00" <= letter < "\u1f00"


@cache
def _identifier() -> Any:
    # Imported here, as it takes half a second and texts that are plainly English need none of it
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
