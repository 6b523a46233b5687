"""Facts: the names, numbers and genders of a sentence, which no rewrite may change."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from portrayal.annotate.agency import mask
from portrayal.annotate.people import GENDER_WORDS
from portrayal.annotate.people.wordset import word_set

_WORD = re.compile(r"[^\W\d_](?:[\w]|['’-](?=\w))*")
_DIGITS = re.compile(r"\d+(?:[.,:/]\d+)*")
_SPELLED = word_set(
    """
    two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
    seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred
    hundreds thousand thousands million millions billion billions dozen dozens half third quarter
    twice
    """
)
_OPENS = re.compile(r"[\W_]*$")
_ENDING = re.compile(r"['’]s?$")
_NO_NAMES = frozenset(("i", "i'm", "i've", "i'd", "i'll"))


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of a text's names.

    Attributes
    ----------
    names
        Words that are names wherever they stand capitalised, casefolded.
    """

    names: frozenset[str]

    @classmethod
    def of(cls, text: str, spans: Sequence[tuple[int, int]], names: Iterable[str] = ()) -> "Facts":
        """Take the names passed, and words that are capitalised inside a sentence."""
        given = {_plain(word) for name in names for word in _WORD.findall(name)}
        for start, end in spans:
            given |= {word for word, opens in _capitalised(text[start:end]) if not opens}
        return cls(frozenset(given))


@dataclass(frozen=True, slots=True)
class SentenceFacts:
    """Names and numbers of one sentence, casefolded, and genders ("F", "M") that words tell."""

    names: frozenset[str]
    numbers: frozenset[str]
    genders: frozenset[str]


def facts_of(sentence: str, known: Facts) -> SentenceFacts:
    """Return the facts of a sentence.

    A name is a capitalised word inside the sentence, or at its beginning where it is known as a
    name from elsewhere in the text or from a table of given names. A number is written in digits,
    or spelled out from two on.
    """
    names = {
        word
        for word, opens in _capitalised(sentence)
        if not opens or word in known.names or _is_given(word)
    }
    words = {_plain(word) for word in _WORD.findall(sentence)}
    numbers = {*_DIGITS.findall(sentence), *(words & _SPELLED)}
    genders = {gender for gender in ("F", "M") if words & GENDER_WORDS[gender]}
    return SentenceFacts(frozenset(names), frozenset(numbers), frozenset(genders))


def _capitalised(sentence: str) -> Iterable[tuple[str, bool]]:
    """Yield each capitalised word, and whether it opens the sentence or a quotation in it."""
    for match in _WORD.finditer(sentence):
        word = _plain(match.group())
        if not match.group()[0].isupper() or word in _NO_NAMES:
            continue
        before = sentence[: match.start()]
        opens = _OPENS.fullmatch(before) is not None or before[-1] in '"“‘(['
        yield word, opens


def _plain(word: str) -> str:
    return _ENDING.sub("", word).replace("’", "'").casefold()


def _is_given(word: str) -> bool:
    return mask(word.capitalize()) in ("[NAME]", "[GROUP]")
