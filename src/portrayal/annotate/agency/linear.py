"""The shipped classifier: a sum of scores of words and word pairs, from arrays alone."""

from collections.abc import Sequence
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import numpy as np

from portrayal.annotate.agency.classifier import FloatArray, rows
from portrayal.annotate.agency.vocabulary import Scores, Vocabulary
from portrayal.errors import DataError

FORMAT = 1


class LinearClassifier:
    """P(agentic) = logistic(bias + sum of scores / square root of the number of words).

    NaN where fewer than half of the words have a score, as in other languages. A sentence reads
    the same whatever stands beside it.
    """

    def __init__(self, scores: Scores, masked: bool = True) -> None:
        self.name = scores.name
        self.masked = masked
        self._bias = scores.bias
        self._known = Vocabulary(scores)

    def __call__(self, sentences: Sequence[str]) -> FloatArray:
        """Return P(communal) and P(agentic), shape (n, 2)."""
        with np.errstate(divide="ignore", invalid="ignore"):
            logits = self._logits(sentences)
            return rows(1.0 / (1.0 + np.exp(-logits)))

    def _logits(self, sentences: Sequence[str]) -> FloatArray:
        """Logit of each sentence, shape (n,)."""
        known = self._known
        length, word = known.read(sentences)
        n = len(length)
        of = np.repeat(np.arange(n), length)
        score, tail_score = known.scores()
        within = of[1:] == of[:-1]
        pairs = known.pair_scores(word[:-1][within], word[1:][within])
        marks = np.flatnonzero(known.is_mark(word))
        last = np.full(n, len(word))
        last[of[marks]] = marks  # ascending, so the last of a sentence stays
        after = np.arange(len(word)) > last[of]
        total = np.bincount(
            np.concatenate([of, of[1:][within], of[after]]),
            weights=np.concatenate([score[word], pairs, tail_score[word[after]]]),
            minlength=n,
        )
        told = known.familiar(of, word, n)
        return np.where(told, self._bias + total / np.sqrt(length), np.nan)


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
    """Write both sets of scores as compressed arrays, 8 bits a score.

    Scores that round to 0 are left out, but for those of words: they tell that a word is known.
    """
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
            kept = (whole != 0) | (part == "words")
            keys = [key for key, keep in zip(table, kept.tolist(), strict=True) if keep]
            arrays[f"{side}_{part}"] = whole[kept]
            arrays[f"{side}_{part}_scale"] = np.array(scale)
            arrays[f"{side}_{part}_keys"] = np.frombuffer("\n".join(keys).encode(), dtype=np.uint8)
    with path.open("wb") as stream:
        np.savez_compressed(stream, **arrays)


def _read_scores(keys: Any, values: Any, scale: float) -> dict[str, float]:
    names = bytes(keys).decode().split("\n") if len(keys) else []
    return dict(zip(names, (values * scale).tolist(), strict=True))
