"""The shipped classifier: a sum of scores of words and word pairs, from arrays; its training.

Targets may be probabilities, so that a transformer can teach it on sentences without labels.
"""

import re
from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import as_file, files
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from portrayal.annotate.agency.classifier import rows
from portrayal.errors import DataError
from portrayal.models import read_arrays
from portrayal.run.files import replacing
from portrayal.types import FloatArray, IntArray

_TOKEN = re.compile(r"\[[a-z]+\]|[^\W\d_]+(?:['’][^\W\d_]+)?|\d+|[,;]")
_GRAMS = (3, 4, 5)
_MARKS = ",;"
_REMEMBERED = 200_000


@dataclass(frozen=True, eq=False)
class WordScores:
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


def tokens(sentence: str) -> list[str]:
    """Return the words, masks, commas and semicolons of a sentence in lower case; numbers are 0."""
    words = _TOKEN.findall(sentence.lower())
    # All numbers are one word: years and ages should teach nothing
    return ["0" if "0" <= word[0] <= "9" else word for word in words]


def tail(words: Sequence[str]) -> Sequence[str]:
    """Return the words after the last comma or semicolon; none where there is none."""
    for place in range(len(words) - 1, -1, -1):
        if words[place] in _MARKS:
            return words[place + 1 :]
    return ()


def pieces_of(word: str) -> tuple[str, ...]:
    """Return the pieces of 3 to 5 characters of a word with ^ before and $ after it, each once."""
    bounded = f"^{word}$"
    pieces = [
        bounded[offset : offset + size]
        for size in _GRAMS
        for offset in range(len(bounded) - size + 1)
    ]
    return tuple(dict.fromkeys(pieces))


class WordNumbers:
    """The numbers of words, and the scores of words and pairs by number.

    The words of the pairs that have a score come first; other words are numbered as they are met.
    """

    def __init__(self, scores: WordScores) -> None:
        self._scores = scores
        # Words of pairs have the lowest numbers, so that a pair is one number too
        pairs = [pair.split(" ") for pair in scores.pairs]
        self._first = tuple(dict.fromkeys(chain(_MARKS, chain.from_iterable(pairs))))
        self._start()
        number = self._numbers
        keys = [number[first_word] * len(number) + number[right] for first_word, right in pairs]
        order = np.argsort(keys)
        self._pair_keys = np.array(keys, dtype=np.int64)[order]
        self._pair_scores = np.array(list(scores.pairs.values()), dtype=np.float64)[order]

    def read(self, sentences: Sequence[str]) -> tuple[IntArray, IntArray]:
        """Return the number of words of each sentence, shape (n,), and all words' numbers."""
        # Memory stays bounded on any corpus
        if len(self._runs) > _REMEMBERED:
            self._start()
        runs = self._runs
        word_lists = [
            list(chain.from_iterable(map(runs.__getitem__, sentence.split())))
            for sentence in sentences
        ]
        length = np.array([len(word_list) for word_list in word_lists], dtype=np.int64)
        word = np.fromiter(chain.from_iterable(word_lists), dtype=np.int64, count=int(length.sum()))
        return length, word

    def scores(self) -> tuple[FloatArray, FloatArray]:
        """Return the score of each word, its pieces included, and its score in a tail."""
        return np.array(self._words, dtype=np.float64), np.array(self._tails, dtype=np.float64)

    def pair_scores(self, first: IntArray, right: IntArray) -> FloatArray:
        """Return the scores of neighbouring words, shapes (k,), (k,) -> (k,); 0 without one."""
        pair_values = np.zeros(len(first))
        if not len(self._pair_keys):
            return pair_values
        n = len(self._first)
        among = np.flatnonzero((first < n) & (right < n))
        keys = first[among] * n + right[among]
        # Pairs are looked up in a sorted list, all at once
        nearest = np.minimum(np.searchsorted(self._pair_keys, keys), len(self._pair_keys) - 1)
        is_key = self._pair_keys[nearest] == keys
        pair_values[among[is_key]] = self._pair_scores[nearest[is_key]]
        return pair_values

    def familiar(self, of: IntArray, word: IntArray, n: int) -> NDArray[np.bool_]:
        """Whether at least half of a sentence's words have a score; False without a word.

        Marks, numbers and masks are not counted. Sentences in another language are not familiar.
        """
        sign = np.array(self._signs)[word]
        total = np.bincount(of, weights=sign, minlength=n)
        return np.asarray((total >= 0) & (np.bincount(of, weights=np.abs(sign), minlength=n) > 0))

    @staticmethod
    def is_mark(word: IntArray) -> NDArray[np.bool_]:
        """Whether a word is a comma or semicolon."""
        return word < len(_MARKS)

    def _start(self) -> None:
        """Forget every word but those of the pairs."""
        self._runs = _Runs(self._number)
        self._numbers = {word: number for number, word in enumerate(self._first)}
        self._words: list[float | None] = [None] * len(self._first)
        self._tails = [0.0] * len(self._first)
        self._signs = [0] * len(self._first)

    def _number(self, word: str) -> int:
        """Return the number of a word, whose scores are known from then on."""
        number = self._numbers.setdefault(word, len(self._numbers))
        if number == len(self._words):
            self._words.append(None)
            self._tails.append(0.0)
            self._signs.append(0)
        if self._words[number] is None:
            grams = self._scores.grams
            pieces = [grams[piece] for piece in pieces_of(word) if piece in grams]
            self._words[number] = self._scores.words.get(word, 0.0) + sum(pieces)
            self._tails[number] = self._scores.tails.get(word, 0.0)
            if word[0].isalpha():
                # Known words less unknown ones: below 0 most are unknown
                self._signs[number] = 1 if word in self._scores.words else -1
        return number


class _Runs(dict[str, tuple[int, ...]]):
    """Numbers of the words of each run of characters without white space, found when asked for."""

    def __init__(self, number: Callable[[str], int]) -> None:
        super().__init__()
        self._number = number

    def __missing__(self, run: str) -> tuple[int, ...]:
        numbers = self[run] = tuple(map(self._number, tokens(run)))
        return numbers


FORMAT = 1


class LinearClassifier:
    """P(agentic) = logistic(bias + sum of scores / square root of the number of words).

    NaN where fewer than half of the words have a score, as in other languages. A sentence reads
    the same whatever stands beside it.
    """

    def __init__(self, scores: WordScores, masked: bool = True) -> None:
        self.name = scores.name
        self.masked = masked
        self._bias = scores.bias
        self._known = WordNumbers(scores)

    def __call__(self, sentences: Sequence[str]) -> FloatArray:
        """Return P(communal) and P(agentic), shape (n, 2)."""
        with np.errstate(divide="ignore", invalid="ignore"):
            # Logit of each sentence, shape (n,)
            scores_of_words = self._known
            length, word = scores_of_words.read(sentences)
            n = len(length)
            of = np.repeat(np.arange(n), length)
            score, tail_score = scores_of_words.scores()
            # Pairs do not reach over the end of a sentence
            within = of[1:] == of[:-1]
            pairs = scores_of_words.pair_scores(word[:-1][within], word[1:][within])
            marks = np.flatnonzero(scores_of_words.is_mark(word))
            last = np.full(n, len(word))
            last[of[marks]] = marks  # ascending, so the last of a sentence stays
            after = np.arange(len(word)) > last[of]
            total = np.bincount(
                np.concatenate([of, of[1:][within], of[after]]),
                weights=np.concatenate([score[word], pairs, tail_score[word[after]]]),
                minlength=n,
            )
            is_familiar = scores_of_words.familiar(of, word, n)
            logits = np.where(is_familiar, self._bias + total / np.sqrt(length), np.nan)
            return rows(1.0 / (1.0 + np.exp(-logits)))


@cache
def shipped(masked: bool = True, name: str = "linear") -> LinearClassifier:
    """Return arrays that ship; see docs/agency-classifiers.md.

    "linear" was taught by a transformer, "untaught" trained on LAC alone; of "neither" the second
    probability is that a sentence is neither agentic nor communal.
    """
    with as_file(files("portrayal.annotate.agency").joinpath(f"{name}.npz")) as path:
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
        arrays = read_arrays(path)
        if int(arrays["format"]) != FORMAT:
            raise KeyError("format")
        name = bytes(arrays["name"]).decode()
        parts: dict[str, dict[str, float]] = {}
        for part in ("words", "tails", "pairs", "grams"):
            keys = bytes(arrays[f"{side}_{part}_keys"]).decode()
            values = arrays[f"{side}_{part}"] * float(arrays[f"{side}_{part}_scale"])
            names = keys.split("\n") if keys else []
            parts[part] = dict(zip(names, values.tolist(), strict=True))
        bias = float(arrays[f"{side}_bias"])
    except (DataError, ValueError, KeyError, TypeError) as error:
        raise DataError(
            f"{path}: no linear agency classifier of format {FORMAT} ({error}). "
            "Train one with: portrayal build classifier"
        ) from error
    return LinearClassifier(WordScores(name, **parts, bias=bias), masked)


def write_linear(path: Path, masked: WordScores, plain: WordScores) -> None:
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
            # Symmetric around 0, so that a score of 0 stays one
            scale = float(np.abs(values).max(initial=0.0)) / 127.0 or 1.0
            rounded = np.rint(values / scale).astype(np.int8)
            non_zero = (rounded != 0) | (part == "words")
            keys = [key for key, keep in zip(table, non_zero.tolist(), strict=True) if keep]
            arrays[f"{side}_{part}"] = rounded[non_zero]
            arrays[f"{side}_{part}_scale"] = np.array(scale)
            arrays[f"{side}_{part}_keys"] = np.frombuffer("\n".join(keys).encode(), dtype=np.uint8)
    with replacing(path) as temporary, temporary.open("wb") as stream:
        np.savez_compressed(stream, **arrays)


PARTS = ("words", "tails", "pairs", "grams")


@dataclass(frozen=True, slots=True)
class LinearFitting:
    """How the linear classifier is trained.

    Attributes
    ----------
    strength
        C, the inverse of the L2 penalty.
    grams
        Weight of pieces of words against whole words, 0 to 1; a small one is a strong penalty.
    least
        Sentences that a word, pair or piece must occur in.
    contrast
        How far a weaker penalty is put on what occurs in one class more often than in the other
        (Wang & Manning 2012, Section 2.4), 0 to 1.
    """

    strength: float = 3.0
    grams: float = 0.3
    least: int = 2
    contrast: float = 0.5


def fit_linear(
    sentences: Sequence[str],
    targets: Sequence[float],
    fitting: LinearFitting | None = None,
    *,
    name: str = "linear",
) -> WordScores:
    """Return scores fitted to the probability of agentic of each sentence.

    Parameters
    ----------
    sentences
        Masked or not, as they will be given; n of them.
    targets
        Labels 0 or 1, or probabilities of agentic, shape (n,).
    fitting
        Penalty and features.
    name
        Of the classifier.
    """
    return fit_counted(count(sentences, fitting), np.arange(len(sentences)), targets, name=name)


@dataclass(frozen=True, eq=False)
class SentenceCounts:
    """What stands in each sentence, before it is known which sentences are trained on.

    Attributes
    ----------
    matrix
        Sparse, of shape (n_sentences, n_columns).
    columns
        Part and key of each column, in order.
    """

    matrix: Any
    columns: tuple[tuple[str, str], ...]
    fitting: LinearFitting


def count(sentences: Sequence[str], fitting: LinearFitting | None = None) -> SentenceCounts:
    """Return what stands in each sentence, for `fit_counted`."""
    from scipy import sparse

    fitting = fitting or LinearFitting()
    place: dict[tuple[str, str], int] = {}
    rows, cols, values = array("q"), array("q"), array("d")
    for row, sentence in enumerate(sentences):
        for column, value in _entries(sentence, fitting):
            rows.append(row)
            cols.append(place.setdefault(column, len(place)))
            values.append(value)
    # Sorted, so that the fit does not depend on which sentence came first
    columns = sorted(place)
    order = np.empty(len(place), dtype=np.int64)
    order[[place[column] for column in columns]] = np.arange(len(place))
    shape = (len(sentences), len(columns))
    cells = np.array(rows), order[np.array(cols)]
    matrix = sparse.csr_matrix((np.array(values), cells), shape=shape)
    return SentenceCounts(matrix, tuple(columns), fitting)


def fit_counted(
    counted: SentenceCounts,
    rows: NDArray[np.int64],
    targets: Sequence[float],
    *,
    name: str = "linear",
    weights: Sequence[float] | None = None,
    strength: float | None = None,
) -> WordScores:
    """Return scores fitted to some of the sentences.

    Parameters
    ----------
    counted
        What stands in every sentence.
    rows
        The sentences to train on, shape (n,).
    targets, name
        As in `fit_linear`, for those sentences.
    weights
        How much each of them counts, shape (n,); 1 by default.
    strength
        In place of that of the settings.
    """
    from scipy import optimize, sparse

    fitting = counted.fitting
    matrix = counted.matrix[rows]
    # Rare features are dropped by the sentences trained on alone
    frequent = np.flatnonzero(matrix.getnnz(axis=0) >= fitting.least)
    matrix = matrix[:, frequent]
    target_values = np.asarray(targets, dtype=np.float64)
    row_weights = np.ones(len(rows)) if weights is None else np.asarray(weights, dtype=np.float64)
    penalty = strength or fitting.strength
    # Each column times how unlike its shares in the two classes are, on average about 1
    occurs = (matrix > 0).T
    ours, theirs = (
        1.0 + occurs @ (row_weights * side) for side in (target_values, 1.0 - target_values)
    )
    unlike = np.abs(np.log(ours / ours.sum() / (theirs / theirs.sum())))
    scale = 1.0 + fitting.contrast * (unlike / (unlike.mean() or 1.0) - 1.0)
    matrix = (matrix @ sparse.diags(scale)).tocsr()
    turned = matrix.T.tocsr()

    def loss(parameters: FloatArray) -> tuple[float, FloatArray]:
        """The weighted cross-entropy plus |w|² / 2C; the bias is not penalised."""
        scores, bias = parameters[:-1], parameters[-1]
        logits = matrix @ scores + bias
        cost = np.logaddexp(0.0, logits) - target_values * logits
        error = row_weights * (1.0 / (1.0 + np.exp(-logits)) - target_values)
        gradient = np.append(turned @ error + scores / penalty, error.sum())
        return float(row_weights @ cost + scores @ scores / (2.0 * penalty)), gradient

    start = np.zeros(len(frequent) + 1)
    fit = optimize.minimize(
        loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 500, "maxcor": 20}
    )
    parts: dict[str, dict[str, float]] = {part: {} for part in PARTS}
    for index, score in zip(frequent.tolist(), (scale * fit.x[:-1]).tolist(), strict=True):
        part, key = counted.columns[index]
        # Back to the scale of plain counts, on which sentences are read
        parts[part][key] = score * (fitting.grams if part == "grams" else 1.0)
    return WordScores(name, **parts, bias=float(fit.x[-1]))


def _entries(sentence: str, fitting: LinearFitting) -> Iterable[tuple[tuple[str, str], float]]:
    """Yield (part, key) and its value; the same key may come more than once and is summed."""
    words = tokens(sentence)
    # By the root of the length, or long sentences would be sure of anything
    unit = 1.0 / np.sqrt(len(words) or 1)
    for word in words:
        yield ("words", word), unit
        for piece in pieces_of(word) if fitting.grams else ():
            yield ("grams", piece), unit * fitting.grams
    for first, right in pairwise(words):
        yield ("pairs", f"{first} {right}"), unit
    for word in tail(words):
        yield ("tails", word), unit
