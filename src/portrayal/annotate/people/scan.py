"""One pass over a text: words and marks with their offsets, sentences and quotations."""

import re
from dataclasses import dataclass

from portrayal.annotate.people.words import TITLES

_TOKEN = re.compile(
    r"[^\W\d_]+(?:-[^\W\d_]+|['’](?=[A-Z])[^\W\d_]+)*"
    r"|['’](?:s|re|d|ll|ve|m|t)\b|(?<=s)['’](?=\s)|[.!?…]+|[\"“”]|[,;:()—–]|(?<=\s)-+(?=\s)|\n"
)
_QUOTES = frozenset('"“”')
_ENDS = frozenset(".!?…")


@dataclass(slots=True)
class Tokens:
    """A text as parallel lists, one entry per word or mark.

    Attributes
    ----------
    words, low
        As written, and in lower case with a straight apostrophe.
    starts
        Offset of each token in the original text.
    sentence
        Number of the sentence it stands in; a quotation belongs to the sentence around it.
    quoted
        Whether it stands inside quotation marks.
    """

    words: list[str]
    low: list[str]
    starts: list[int]
    sentence: list[int]
    quoted: list[bool]


def scan(text: str, start: int = 0) -> Tokens:
    """Tokens of `text` from offset `start` on."""
    words: list[str] = []
    starts: list[int] = []
    for match in _TOKEN.finditer(text, start):
        words.append(match.group())
        starts.append(match.start())
    low = [word.lower() for word in words]
    sentence: list[int] = []
    quoted: list[bool] = []
    number, inside, before = 0, False, ""
    last = len(words) - 1
    for at, word in enumerate(low):
        sentence.append(number)
        quoted.append(inside)
        if word in _QUOTES:
            inside = not inside if word == '"' else word == "“"
            if not inside and before and before[0] in _ENDS and at < last:
                number += words[at + 1][0].isupper() or words[at + 1] in _QUOTES
        elif word == "\n":
            number += 1
            inside = False
        elif word[0] in _ENDS and not inside:
            number += not (word == "." and (before in TITLES or len(before) == 1))
        elif word[0] in "'’":
            low[at] = "'" + (word[1:] or "s")
        elif word[0] == "-":
            low[at] = "–"
        before = word
    return Tokens(words, low, starts, sentence, quoted)
