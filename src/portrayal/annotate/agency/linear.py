"""The shipped classifier: a sum of scores of words and word pairs, from arrays alone.

Scores of parts of words are summed per word beforehand and remembered, so that a sentence costs one
look-up per word and one per pair of neighbours.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import as_file, files
from itertools import pairwise
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np

from portrayal.annotate.agency.classifier import FloatArray, rows
from portrayal.errors import DataError

FORMAT = 1
_TOKEN = re.compile(r"\[[a-z]+\]|[^\W\d_]+(?:['’][^\W\d_]+)?|\d+|[,;]")
_GRAMS = (3, 4, 5)
_REMEMBERED = 200_000


@dataclass(frozen=True, eq=False)
class Scores:
    """Scores of what stands in a sentence; positive ones speak for agentic.

    Attributes
    ----------
    name
        "linear-lac.v1", or the file's own.
    words, tails, pairs, grams
        Score of a word, of a word after the last comma, of two neighbouring words, and of a piece
        of a word with ^ and $ at its ends.
    bias
        Score of a sentence without any of them.
    """

    name: str
    words: dict[str, float]
    tails: dict[str, float]
    pairs: dict[str, float]
    grams: dict[str, float]
    bias: float


class LinearClassifier:
    """P(agentic) = logistic(bias + sum of scores / square root of the number of words).

    A sentence without a word is NaN.
    """

    def __init__(self, scores: Scores, masked: bool = True) -> None:
        self.name = scores.name
        self.masked = masked
        self._scores = scores
        self._known: dict[str, float] = {}

    def __call__(self, sentences: Sequence[str]) -> FloatArray:
        """Return P(communal) and P(agentic), shape (n, 2)."""
        if len(self._known) > _REMEMBERED:
            self._known.clear()
        logits = np.array([self._logit(sentence) for sentence in sentences], dtype=np.float64)
        return rows(1.0 / (1.0 + np.exp(-logits)))

    def _logit(self, sentence: str) -> float:
        found = tokens(sentence)
        if not found:
            return float("nan")
        known, scores = self._known, self._scores
        total = 0.0
        for word in found:
            score = known.get(word)
            if score is None:
                score = known[word] = self._word(word)
            total += score
        pairs = scores.pairs
        for left, right in pairwise(found):
            total += pairs.get(f"{left} {right}", 0.0)
        for word in tail(found):
            total += scores.tails.get(word, 0.0)
        return scores.bias + total / sqrt(len(found))

    def _word(self, word: str) -> float:
        grams = self._scores.grams
        pieces = sum(grams.get(piece, 0.0) for piece in pieces_of(word))
        return self._scores.words.get(word, 0.0) + pieces


def tokens(sentence: str) -> list[str]:
    """Return the words, masks, commas and semicolons of a sentence in lower case; numbers are 0."""
    found = _TOKEN.findall(sentence.lower())
    return ["0" if "0" <= word[0] <= "9" else word for word in found]


def tail(words: Sequence[str]) -> Sequence[str]:
    """Return the words after the last comma or semicolon; none where there is none."""
    for place in range(len(words) - 1, -1, -1):
        if words[place] in ",;":
            return words[place + 1 :]
    return ()


def pieces_of(word: str) -> set[str]:
    """Return the pieces of 3 to 5 characters of a word with ^ before and $ after it."""
    whole = f"^{word}$"
    return {
        whole[start : start + size] for size in _GRAMS for start in range(len(whole) - size + 1)
    }


@cache
def shipped(masked: bool = True) -> LinearClassifier:
    """Return the classifier that ships, trained on LAC; see docs/agency-classifiers.md."""
    with as_file(files("portrayal.annotate.agency").joinpath("linear.npz")) as path:
        return read_linear(path, masked)


def read_linear(path: Path, masked: bool = True) -> LinearClassifier:
    """Return the classifier of a file that `write_linear` wrote.

    Parameters
    ----------
    path
        An .npz file; nothing in it is executed.
    masked
        Which of the two sets of scores: those trained on masked sentences, or on plain ones.

    Raises
    ------
    DataError
        When the file is missing or not of this format.
    """
    side = "masked" if masked else "plain"
    try:
        with np.load(path) as arrays:
            if int(arrays["format"]) != FORMAT:
                raise KeyError("format")
            name = bytes(arrays["name"]).decode()
            parts = {
                part: _read_scores(
                    arrays[f"{side}_{part}_keys"],
                    arrays[f"{side}_{part}"],
                    float(arrays[f"{side}_{part}_scale"]),
                )
                for part in ("words", "tails", "pairs", "grams")
            }
            bias = float(arrays[f"{side}_bias"])
    except (OSError, ValueError, KeyError) as error:
        raise DataError(
            f"{path}: no linear agency classifier of format {FORMAT} ({error}). "
            "Train one with: portrayal train agency --base linear"
        ) from error
    return LinearClassifier(Scores(name, **parts, bias=bias), masked)


def write_linear(path: Path, masked: Scores, plain: Scores) -> None:
    """Write both sets of scores as compressed arrays, 8 bits a score."""
    arrays: dict[str, Any] = {
        "format": np.array(FORMAT),
        "name": np.frombuffer(masked.name.encode(), dtype=np.uint8),
    }
    for side, scores in (("masked", masked), ("plain", plain)):
        arrays[f"{side}_bias"] = np.array(scores.bias)
        for part in ("words", "tails", "pairs", "grams"):
            table: dict[str, float] = getattr(scores, part)
            values = np.array(list(table.values()), dtype=np.float64)
            scale = float(np.abs(values).max(initial=0.0)) / 127.0 or 1.0
            whole = np.rint(values / scale).astype(np.int8)
            keys = [key for key, value in zip(table, whole, strict=True) if value]
            arrays[f"{side}_{part}"] = whole[whole != 0]
            arrays[f"{side}_{part}_scale"] = np.array(scale)
            arrays[f"{side}_{part}_keys"] = np.frombuffer("\n".join(keys).encode(), dtype=np.uint8)
    with path.open("wb") as stream:
        np.savez_compressed(stream, **arrays)


def _read_scores(keys: Any, values: Any, scale: float) -> dict[str, float]:
    names = bytes(keys).decode().split("\n") if len(keys) else []
    return dict(zip(names, (values * scale).tolist(), strict=True))
