"""Whether a text is in English, the language that the embedded readers read."""

import re
from functools import cache

from portrayal.errors import DataError

FEWEST_WORDS = 5
"""Words below which a text shows no language, and is taken to be English."""

_WORDS = 400  # words of a text that are looked at
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_FUNCTION_WORDS = {
    "en": "the and of to was with for that she they is are were had have has would which from by "
    "it he but not you who said his her their at be been this i my your on or if a in as will "
    "there what when said out up into",
    "de": "der die das und ist nicht ein eine einen einem mit sie er wir ich den dem von zu auf "
    "für sich auch wurde hat ihre ihr seine als bei nach aus wie sind hatte waren",
    "es": "el la los las que y en un una por con para su del se lo como más ella él fue era "
    "había muy pero sus al es está son",
    "fr": "le la les des et est une un dans pour que qui elle il pas sur avec ce cette sont était "
    "du au ses son sa ils mais plus à",
    "pt": "o os as que e em um uma por com para não seu sua do da dos das ela ele foi era mais se "
    "na no mas ao é são",
    "it": "il lo la gli le che e di un una per con non suo sua del della dei era più ha si nel al "
    "ma è sono lei",
    "nl": "de het een en van is niet met zij hij wij ik dat die op voor zich ook werd heeft haar "
    "zijn als bij naar te was",
}
"""Common words by language; where languages share a word it counts for each of them."""


def is_english(text: str) -> bool:
    """Return whether a text is in English, or shows no language at all.

    Function words of English are compared with those of other languages of Latin script; a text
    in which most letters are of another script is not English.

    >>> is_english("She was a nurse and loved her work."), is_english("Ella era enfermera y él no.")
    (True, False)
    """
    words = _WORD.findall(text.casefold())[:_WORDS]
    letters = "".join(words)
    latin = sum(letter < "\u0250" or "\u1e00" <= letter < "\u1f00" for letter in letters)
    if latin * 2 < len(letters):
        return False
    if len(words) < FEWEST_WORDS:
        return True
    matches = {language: sum(word in of for word in words) for language, of in _lists().items()}
    english = matches.pop("en")
    # Ties go to English, as short texts share words with other languages
    return max(matches.values()) <= max(english, 1)


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
    return {language: frozenset(words.split()) for language, words in _FUNCTION_WORDS.items()}
