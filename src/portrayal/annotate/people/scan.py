"""One pass over a text: words and marks with their offsets, sentences and quotations."""

import re
from dataclasses import dataclass

from portrayal.annotate.people.titles import TITLES

QUOTES = frozenset('"“”')
"""Quotation marks that open or close direct speech."""

_TOKEN = re.compile(
    r"[^\W\d_]+(?:-[^\W\d_]+|['’](?=[A-ZÀ-Þ])[^\W\d_]+|[\u0300-\u036f]+[^\W\d_]*)*"
    r"|['’](?:s|re|d|ll|ve|m|t)\b|(?<=s)['’](?=\s)|[.!?…]+|[\"“”]|[,;:()—–]|(?<=\s)-+(?=\s)|\n"
)
_ENDS = frozenset(".!?…")
_MARKS = _ENDS | QUOTES | frozenset("\n'’-")


@dataclass(slots=True)
class Tokens:
    """A text as parallel lists, one entry per word or mark.

    Attributes
    ----------
    words, low
        As written, and in lower case; in `low` a possessive ending is "'s" and a spaced hyphen "–".
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
    matches = list(_TOKEN.finditer(text, start))
    words = [match[0] for match in matches]
    low = [word.lower() for word in words]
    sentence: list[int] = []
    quoted: list[bool] = []
    number, inside = 0, False
    last = len(words) - 1
    for at in [at for at, word in enumerate(words) if word[0] in _MARKS]:
        mark = words[at]
        run = at + 1 - len(sentence)
        sentence += [number] * run
        quoted += [inside] * run
        if mark in QUOTES:
            inside = not inside if mark == '"' else mark == "“"
            if not inside and at and words[at - 1][0] in _ENDS and at < last:
                number += words[at + 1][0].isupper() or words[at + 1] in QUOTES
        elif mark == "\n":
            number += 1
            inside = False
        elif mark[0] in _ENDS:
            if not inside and not (mark == "." and at and _abbreviates(low[at - 1])):
                number += 1
        else:
            low[at] = "–" if mark[0] == "-" else "'" + (mark[1:] or "s")
    run = len(words) - len(sentence)
    sentence += [number] * run
    quoted += [inside] * run
    return Tokens(words, low, [match.start() for match in matches], sentence, quoted)


def _abbreviates(word: str) -> bool:
    """Whether a full stop behind `word` marks an abbreviation."""
    return len(word) == 1 or word in TITLES
