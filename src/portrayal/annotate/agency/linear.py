"""The shipped classifier: a sum of scores of words and word pairs, from arrays; its training.

Targets may be probabilities, so that a transformer can teach it on sentences without labels.
"""

import math
import re
from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import as_file, files
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from portrayal.errors import DataError
from portrayal.models.loading import read_arrays
from portrayal.run.files import replacing
from portrayal.types import FloatArray

_TOKEN = re.compile(r"\[[a-z]+\]|[^\W\d_]+(?:['’][^\W\d_]+)?|\d+|[,;]")
_GRAMS = (3, 4, 5)
_MARKS = ",;"
_REMEMBERED = 50_000


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


class AgencyClassifier:
    """A function of sentences.

    Parameters
    ----------
    name
        Such as "linear-lac.v1" or "transformer:FOLDER"; reports name it.
    masked
        Whether it is meant for masked sentences. The caller masks them.
    agentic
        Returns P(agentic) of each sentence, shape (n,); NaN where it cannot say.
    members
        The classifiers of a set of checkpoints, one for each; none of a single classifier.
    """

    def __init__(
        self,
        name: str,
        masked: bool,
        agentic: Callable[[Sequence[str]], ArrayLike],
        members: Sequence["AgencyClassifier"] = (),
    ) -> None:
        self.name, self.masked, self._agentic = name, masked, agentic
        self.members = tuple(members)

    def __call__(self, sentences: Sequence[str]) -> FloatArray:
        """Return P(communal) and P(agentic) of each sentence.

        Shape (n, 2); a row sums to 1, or is NaN where the classifier cannot say.
        """
        agentic = np.asarray(self._agentic(sentences), dtype=np.float64)
        return np.column_stack([1.0 - agentic, agentic])

    def by_checkpoint(self, sentences: Sequence[str]) -> FloatArray:
        """Return P(agentic) by each checkpoint, shape (n_checkpoints, n); its own without any."""
        return np.stack([member(sentences)[:, 1] for member in self.members or (self,)])


def tokens(sentence: str) -> list[str]:
    """Return the words, masks, commas and semicolons of a sentence in lower case; numbers are 0."""
    words = _TOKEN.findall(sentence.lower())
    # All numbers are one word: years and ages should teach nothing
    return ["0" if "0" <= word[0] <= "9" else word for word in words]


_tokens = lru_cache(_REMEMBERED)(tokens)
"""Several classifiers read the same sentences."""


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


FORMAT = 1
PARTS = ("words", "tails", "pairs", "grams")


def linear_classifier(scores: WordScores, masked: bool = True) -> AgencyClassifier:
    """Return P(agentic) = logistic(bias + sum of scores / square root of the number of words).

    NaN where fewer than half of the words have a score, as in other languages; marks, numbers and
    masks are not counted. A sentence reads the same whatever stands beside it.
    """
    pairs = {tuple(pair.split(" ")): score for pair, score in scores.pairs.items()}

    # Words recur, so each is looked up once; memory stays bounded on any corpus
    @lru_cache(_REMEMBERED)
    def score_of(word: str) -> tuple[float, int]:
        """The score of a word and its pieces; then 1 for words with a score, -1 without, else 0."""
        pieces = [scores.grams[piece] for piece in pieces_of(word) if piece in scores.grams]
        sign = 1 if word in scores.words else -1
        return scores.words.get(word, 0.0) + sum(pieces), sign if word[0].isalpha() else 0

    def logit(sentence: str) -> float:
        words = _tokens(sentence)
        scored = [*map(score_of, words)]
        signs = [sign for _, sign in scored]
        # Fewer familiar words than others, or nothing but marks
        if sum(signs) < 0 or not any(signs):
            return math.nan
        score = sum([score for score, _ in scored])
        score += sum([pairs[pair] for pair in pairwise(words) if pair in pairs])
        score += sum([scores.tails[word] for word in tail(words) if word in scores.tails])
        return scores.bias + score / math.sqrt(len(words))

    return AgencyClassifier(scores.name, masked, lambda read: expit([*map(logit, read)]))


@cache
def shipped(masked: bool = True, name: str = "linear") -> AgencyClassifier:
    """Return arrays that ship; see docs/agency-classifiers.md.

    "linear" was taught by a transformer, "untaught" trained on LAC alone.
    """
    with as_file(files("portrayal.annotate.agency").joinpath(f"{name}.npz")) as path:
        return read_linear(path, masked)


def read_linear(path: Path, masked: bool = True) -> AgencyClassifier:
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
        for part in PARTS:
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
    return linear_classifier(WordScores(name, **parts, bias=bias), masked)


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
        for part in PARTS:
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


STRENGTH, CONTRAST, GRAMS, LEAST = 3.0, 0.5, 0.3, 2
"""How the classifier is trained: C, the inverse of the L2 penalty; how far a weaker penalty is put
on what occurs in one class more often than in the other (Wang & Manning 2012, Section 2.4), 0 to 1;
the weight of pieces of words against whole words, a small one being a strong penalty; and the
sentences that a word, pair or piece must occur in."""


def fit_linear(
    sentences: Sequence[str],
    targets: Sequence[float],
    *,
    name: str = "linear",
    weights: Sequence[float] | None = None,
    strength: float = STRENGTH,
    contrast: float = CONTRAST,
) -> WordScores:
    """Return scores fitted to the probability of agentic of each sentence.

    Parameters
    ----------
    sentences
        Masked or not, as they will be given; n of them.
    targets
        Labels 0 or 1, or probabilities of agentic, shape (n,).
    name
        Of the classifier.
    weights
        How much each of them counts, shape (n,); 1 by default.
    strength, contrast
        As the constants of this module.
    """
    from scipy import optimize, sparse

    place: dict[tuple[str, str], int] = {}
    rows, cols, values = array("q"), array("q"), array("d")
    for row, sentence in enumerate(sentences):
        for column, value in _entries(sentence):
            rows.append(row)
            cols.append(place.setdefault(column, len(place)))
            values.append(value)
    # Sorted, so that the fit does not depend on which sentence came first
    columns = sorted(place)
    order = np.empty(len(place), dtype=np.int64)
    order[[place[column] for column in columns]] = np.arange(len(place))
    cells = np.array(rows), order[np.array(cols)]
    matrix = sparse.csr_matrix((np.array(values), cells), shape=(len(sentences), len(columns)))
    frequent = np.flatnonzero(matrix.getnnz(axis=0) >= LEAST)
    matrix = matrix[:, frequent]
    target_values = np.asarray(targets, dtype=np.float64)
    row_weights = np.ones(len(sentences))
    if weights is not None:
        row_weights = np.asarray(weights, dtype=np.float64)
    # Each column times how unlike its shares in the two classes are, on average about 1
    occurs = (matrix > 0).T
    ours, theirs = (
        1.0 + occurs @ (row_weights * side) for side in (target_values, 1.0 - target_values)
    )
    unlike = np.abs(np.log(ours / ours.sum() / (theirs / theirs.sum())))
    scale = 1.0 + contrast * (unlike / (unlike.mean() or 1.0) - 1.0)
    matrix = (matrix @ sparse.diags(scale)).tocsr()
    turned = matrix.T.tocsr()

    def loss(parameters: FloatArray) -> tuple[float, FloatArray]:
        """The weighted cross-entropy plus |w|² / 2C; the bias is not penalised."""
        scores, bias = parameters[:-1], parameters[-1]
        logits = matrix @ scores + bias
        cost = np.logaddexp(0.0, logits) - target_values * logits
        error = row_weights * (expit(logits) - target_values)
        gradient = np.append(turned @ error + scores / strength, error.sum())
        return float(row_weights @ cost + scores @ scores / (2.0 * strength)), gradient

    start = np.zeros(len(frequent) + 1)
    fit = optimize.minimize(
        loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 500, "maxcor": 20}
    )
    parts: dict[str, dict[str, float]] = {part: {} for part in PARTS}
    for index, score in zip(frequent.tolist(), (scale * fit.x[:-1]).tolist(), strict=True):
        part, key = columns[index]
        # Back to the scale of plain counts, on which sentences are read
        parts[part][key] = score * (GRAMS if part == "grams" else 1.0)
    return WordScores(name, **parts, bias=float(fit.x[-1]))


def _entries(sentence: str) -> Iterable[tuple[tuple[str, str], float]]:
    """Yield (part, key) and its value; the same key may come more than once and is summed."""
    words = tokens(sentence)
    # By the root of the length, or long sentences would be sure of anything
    unit = 1.0 / np.sqrt(len(words) or 1)
    for word in words:
        yield ("words", word), unit
        for piece in pieces_of(word):
            yield ("grams", piece), unit * GRAMS
    for first, right in pairwise(words):
        yield ("pairs", f"{first} {right}"), unit
    for word in tail(words):
        yield ("tails", word), unit
