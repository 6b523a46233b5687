"""Training the linear classifier: logistic regression with L2 penalty on word and piece counts.

Targets may be probabilities, so that a transformer can teach it on sentences without labels.
"""

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from portrayal.annotate.agency.linear import Scores, pieces_of, tail, tokens
from portrayal.types import FloatArray

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
    """

    strength: float = 3.0
    grams: float = 0.3
    least: int = 2


def fit_linear(
    sentences: Sequence[str],
    targets: Sequence[float],
    fitting: LinearFitting | None = None,
    *,
    name: str = "linear",
    weights: Sequence[float] | None = None,
) -> Scores:
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
    weights
        How much each sentence counts, shape (n,); 1 by default.
    """
    counted = count(sentences, fitting)
    return fit_counted(counted, np.arange(len(sentences)), targets, name=name, weights=weights)


@dataclass(frozen=True, eq=False)
class Counted:
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


def count(sentences: Sequence[str], fitting: LinearFitting | None = None) -> Counted:
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
    columns = sorted(place)
    order = np.empty(len(place), dtype=np.int64)
    order[[place[column] for column in columns]] = np.arange(len(place))
    shape = (len(sentences), len(columns))
    where = np.array(rows), order[np.array(cols)]
    matrix = sparse.csr_matrix((np.array(values), where), shape=shape)
    return Counted(matrix, tuple(columns), fitting)


def fit_counted(
    counted: Counted,
    rows: NDArray[np.int64],
    targets: Sequence[float],
    *,
    name: str = "linear",
    weights: Sequence[float] | None = None,
    strength: float | None = None,
) -> Scores:
    """Return scores fitted to some of the sentences.

    Parameters
    ----------
    counted
        What stands in every sentence.
    rows
        The sentences to train on, shape (n,).
    targets, weights, name
        As in `fit_linear`, for those sentences.
    strength
        In place of that of the settings.
    """
    fitting = counted.fitting
    matrix = counted.matrix[rows]
    kept = np.flatnonzero(matrix.getnnz(axis=0) >= fitting.least)
    given = np.ones(len(rows)) if weights is None else np.asarray(weights, dtype=np.float64)
    fitted, bias = _logistic(
        matrix[:, kept],
        np.asarray(targets, dtype=np.float64),
        given,
        strength or fitting.strength,
    )
    parts: dict[str, dict[str, float]] = {part: {} for part in PARTS}
    for index, score in zip(kept.tolist(), fitted.tolist(), strict=True):
        part, key = counted.columns[index]
        parts[part][key] = score * (fitting.grams if part == "grams" else 1.0)
    return Scores(name, **parts, bias=bias)


def _entries(sentence: str, fitting: LinearFitting) -> Iterable[tuple[tuple[str, str], float]]:
    """Yield (part, key) and its value; the same key may come more than once and is summed."""
    found = tokens(sentence)
    unit = 1.0 / np.sqrt(len(found) or 1)
    for word in found:
        yield ("words", word), unit
        for piece in pieces_of(word) if fitting.grams else ():
            yield ("grams", piece), unit * fitting.grams
    for left, right in pairwise(found):
        yield ("pairs", f"{left} {right}"), unit
    for word in tail(found):
        yield ("tails", word), unit


def _logistic(
    matrix: Any, targets: FloatArray, weights: FloatArray, strength: float
) -> tuple[FloatArray, float]:
    """Minimise the weighted cross-entropy plus |w|² / 2C; the bias is not penalised."""
    from scipy import optimize

    turned = matrix.T.tocsr()

    def loss(given: FloatArray) -> tuple[float, FloatArray]:
        scores, bias = given[:-1], given[-1]
        logits = matrix @ scores + bias
        cost = np.logaddexp(0.0, logits) - targets * logits
        error = weights * (1.0 / (1.0 + np.exp(-logits)) - targets)
        gradient = np.append(turned @ error + scores / strength, error.sum())
        return float(weights @ cost + scores @ scores / (2.0 * strength)), gradient

    start = np.zeros(matrix.shape[1] + 1)
    done = optimize.minimize(
        loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 500, "maxcor": 20}
    )
    return done.x[:-1], float(done.x[-1])
