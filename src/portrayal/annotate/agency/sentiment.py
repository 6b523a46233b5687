"""Sentiment as a classifier: positive is read as agentic, the paper's baseline (Table 12)."""

import re
import tomllib
from collections.abc import Callable, Sequence
from functools import cache
from importlib.resources import files

import numpy as np

from portrayal.annotate.agency.classifier import FloatArray, rows

_WORD = re.compile(r"[a-z]+(?:['’][a-z]+)?")
_NEGATIONS = frozenset(("no", "not", "never", "without", "hardly", "neither", "nor"))
_STEEPNESS = 4.0


class SentimentClassifier:
    """P(agentic) = logistic(4 × polarity), polarity in −1 to 1.

    The polarity is TextBlob's where that is installed, else that of a small word list of this
    project; `name` says which. A sentence without polarity reads 0.5, and so as communal.
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
