"""Baselines: words of two lists, and sentiment, of which positive is read as agentic (Table 12)."""

import math
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

import numpy as np

from portrayal.annotate.agency.classifier import rows
from portrayal.errors import DataError
from portrayal.types import FloatArray

_KINDS = ("agentic", "communal")
_LEXICON_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")


@dataclass(frozen=True)
class Lexicon:
    """Agentic and communal words, and whose list it is.

    Attributes
    ----------
    agentic, communal
        Words in lower case; a final * stands for any ending.
    """

    name: str
    agentic: frozenset[str]
    communal: frozenset[str]


class LexiconClassifier:
    """P(agentic) = (a + 1/2) / (a + c + 1) for a agentic and c communal words of a sentence.

    NaN where no word of either list stands in the sentence: the list cannot say.
    """

    def __init__(self, lexicon: Lexicon, masked: bool = True) -> None:
        self.name = lexicon.name
        self.masked = masked
        self._kinds = {"agentic": _matcher(lexicon.agentic), "communal": _matcher(lexicon.communal)}
        self._known: dict[str, tuple[bool, bool]] = {}

    def __call__(self, sentences: Sequence[str]) -> FloatArray:
        """Return P(communal) and P(agentic), shape (n, 2)."""
        return rows([self._agentic(sentence) for sentence in sentences])

    def _agentic(self, sentence: str) -> float:
        kinds = [self._kind(word) for word in _LEXICON_WORD.findall(sentence.lower())]
        agentic = sum(kind[0] for kind in kinds)
        communal = sum(kind[1] for kind in kinds)
        if not agentic + communal:
            return math.nan
        return (agentic + 0.5) / (agentic + communal + 1.0)

    def _kind(self, word: str) -> tuple[bool, bool]:
        known = self._known.get(word)
        if known is None:
            found = [bool(self._kinds[kind].fullmatch(word)) for kind in _KINDS]
            known = self._known[word] = (found[0], found[1])
        return known


def read_lexicon(path: str | Path | None = None) -> Lexicon:
    """Return the project's own word lists, or those of a TOML file.

    Parameters
    ----------
    path
        A TOML file with `agentic` and `communal`, each a list of words or words between blanks.

    Raises
    ------
    DataError
        When the file is missing, no TOML, or lacks one of the two lists.
    """
    return _shipped() if path is None else _from_file(Path(path))


@cache
def _shipped() -> Lexicon:
    text = files("portrayal.annotate.agency").joinpath("lexicon.toml").read_text(encoding="utf-8")
    return _lexicon("lexicon", tomllib.loads(text), "lexicon.toml")


def _from_file(path: Path) -> Lexicon:
    try:
        read = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"{path}: no readable TOML file of word lists ({error}).") from error
    return _lexicon(f"lexicon:{path.name}", read, str(path))


def _lexicon(name: str, read: Mapping[str, object], where: str) -> Lexicon:
    lists: dict[str, frozenset[str]] = {}
    for kind in _KINDS:
        given = read.get(kind)
        words = given.split() if isinstance(given, str) else given
        if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
            raise DataError(
                f"{where}: expected the lists {' and '.join(_KINDS)}, each a list of words; "
                f"{kind} is {given!r:.60}."
            )
        lists[kind] = frozenset(word.casefold() for word in words)
    return Lexicon(name, lists["agentic"], lists["communal"])


def _matcher(words: frozenset[str]) -> re.Pattern[str]:
    """Match a whole word; a final * stands for any ending."""
    endings = (
        re.escape(word.removesuffix("*")) + (r".*" if word.endswith("*") else "") for word in words
    )
    return re.compile("|".join(sorted(endings)))


_WORD = re.compile(r"[a-z]+(?:['’][a-z]+)?")
_NEGATIONS = frozenset(("no", "not", "never", "without", "hardly", "neither", "nor"))
_STEEPNESS = 4.0


class SentimentClassifier:
    """P(agentic) = logistic(4 × polarity), polarity in −1 to 1.

    The polarity is TextBlob's where that is installed, else that of a small word list of this
    project; `name` says which. The paper's baseline is another, DistilBERT fine-tuned on SST-2:
    "sentiment:MODEL" reads with that. A sentence without polarity reads 0.5, and so as communal.
    """

    def __init__(self, masked: bool = True) -> None:
        self.masked = masked
        self.name, self._polarity = _engine()

    def __call__(self, sentences: Sequence[str]) -> FloatArray:
        """Return P(communal) and P(agentic), shape (n, 2)."""
        polarity = np.array([self._polarity(sentence) for sentence in sentences])
        return rows(1.0 / (1.0 + np.exp(-_STEEPNESS * polarity)))


def _engine() -> tuple[str, Callable[[str], float]]:
    try:
        from textblob import TextBlob
    except ImportError:
        return "sentiment", _word_polarity
    return "sentiment:textblob", lambda text: float(TextBlob(text).sentiment.polarity)


@cache
def _lists() -> tuple[frozenset[str], frozenset[str]]:
    read = tomllib.loads(
        files("portrayal.annotate.agency").joinpath("sentiment.toml").read_text(encoding="utf-8")
    )
    return frozenset(read["positive"].split()), frozenset(read["negative"].split())


def _word_polarity(text: str) -> float:
    """Return (positive − negative) / (positive + negative) words; 0 where there are none."""
    positive, negative = _lists()
    score = known = 0
    sign = 1
    for word in _WORD.findall(text.lower()):
        found = (word in positive) - (word in negative)
        if found:
            score, known, sign = score + sign * found, known + 1, 1
        elif word in _NEGATIONS or word.endswith("n't"):
            sign = -1
    return score / known if known else 0.0
