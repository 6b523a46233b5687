"""Log odds of words: what one set of texts says more often than another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from portrayal.stats._arguments import check_not_negative, divide
from portrayal.types import FloatArray

if TYPE_CHECKING:
    from scipy import sparse


@dataclass(frozen=True)
class LogOdds:
    """Differences in log odds per word, shape (n_words,), and their standard errors.

    Attributes
    ----------
    delta
        Log odds ratio of the first set against the second, shrunk by the prior.
    error
        Standard error with words drawn independently (Monroe et al.).
    clustered
        Standard error with texts drawn in clusters, at least `error`: a word whose occurrences all
        lie in few clusters would seem certain, as both sets vary together. NaN for a word in a
        single cluster.
    word_clusters
        Clusters that have the word.
    n_clusters
        Clusters with texts in either set.
    """

    delta: FloatArray
    error: FloatArray
    clustered: FloatArray
    word_clusters: npt.NDArray[np.int64]
    n_clusters: int

    @property
    def z(self) -> FloatArray:
        """Monroe et al.'s z-score, delta / error."""
        return divide(self.delta, self.error)

    @property
    def z_clustered(self) -> FloatArray:
        """Delta / clustered; NaN where that is undefined."""
        return divide(self.delta, self.clustered)


def informative_prior(totals: npt.ArrayLike, strength: float) -> FloatArray:
    """Return prior counts alpha_w = strength * y_w / n of a Dirichlet prior, shape (n_words,).

    Parameters
    ----------
    totals
        Counts y_w of each word in all texts, each above 0.
    strength
        Size alpha_0 of the prior, in words.

    Raises
    ------
    ValueError
        For a strength of 0 or less, or a word that never occurs: its log odds are undefined.

    References
    ----------
    Monroe, Colaresi & Quinn (2008), Fightin' Words, section 3 (informative Dirichlet prior).

    Examples
    --------
    >>> informative_prior([3, 1], 8.0)
    array([6., 2.])
    """
    totals = check_not_negative("totals", totals)
    if not 0 < strength < np.inf:
        raise ValueError(f"strength must be above 0 and finite; got {strength!r}.")
    if np.any(totals == 0):
        raise ValueError("a word without any occurrence has no log odds; leave it out.")
    return np.asarray(strength * totals / totals.sum(), dtype=np.float64)


def log_odds(
    first: npt.ArrayLike, second: npt.ArrayLike, prior: npt.ArrayLike
) -> tuple[FloatArray, FloatArray]:
    """Log odds ratio of words with a Dirichlet prior, and its standard error.

    Parameters
    ----------
    first, second
        Counts of each word in two sets of texts, shape (..., n_words); totals are their sums.
    prior
        Prior counts alpha_w, shape (n_words,), each above 0.

    Returns
    -------
    delta, error
        Shapes (..., n_words): with n and alpha_0 the sums over words,
        delta = ln((y1 + a) / (n1 + a0 - y1 - a)) - ln((y2 + a) / (n2 + a0 - y2 - a)) and
        error = sqrt(1 / (y1 + a) + 1 / (y2 + a)).

    Raises
    ------
    ValueError
        For negative or infinite counts, or prior counts of 0.

    References
    ----------
    Monroe, Colaresi & Quinn (2008), Fightin' Words, section 3.
    """
    a, b = check_not_negative("first", first), check_not_negative("second", second)
    alpha = check_not_negative("prior", prior)
    if np.any(alpha == 0):
        raise ValueError("prior counts must be above 0; a count of 0 would have infinite log odds.")
    delta = _log_odds(a, alpha) - _log_odds(b, alpha)
    return delta, np.sqrt(1.0 / (a + alpha) + 1.0 / (b + alpha))


def clustered_log_odds(
    counts: sparse.csr_array,
    is_first: npt.NDArray[np.bool_],
    is_second: npt.NDArray[np.bool_],
    cluster: npt.NDArray[np.int64],
    prior: npt.ArrayLike,
) -> LogOdds:
    """Log odds ratio of words between two sets of texts, with clustered standard errors.

    Parameters
    ----------
    counts
        Counts of words by text, sparse, shape (n_texts, n_words).
    is_first, is_second
        Which texts make up either set, shape (n_texts,); no text is in both.
    cluster
        Cluster of each text, shape (n_texts,): texts of one cluster are not independent.
    prior
        Prior counts, shape (n_words,).

    Returns
    -------
    LogOdds
        The clustered error linearises delta: the influence of cluster g on a set's log odds is
        y_g / (Y + a) - (n_g - y_g) / (N + a0 - Y - a), the first set's minus the second's, and the
        variance is G / (G - 1) times the sum of squared influences about their mean.

    Raises
    ------
    ValueError
        For a text in both sets, or counts or a prior that cannot be.

    References
    ----------
    Binder (1983), On the variances of asymptotically normal estimators from complex surveys.
    """
    if np.any(is_first & is_second):
        raise ValueError("a text cannot be in both sets.")
    alpha = np.asarray(prior, dtype=np.float64)
    # Texts in neither set are in no cluster, and must not count as one.
    codes, clusters = np.unique(cluster[is_first | is_second], return_inverse=True)
    place = np.zeros(len(cluster), dtype=np.int64)
    place[is_first | is_second] = clusters
    size = len(codes)
    sums = [_by_cluster(counts, in_set, place, size) for in_set in (is_first, is_second)]
    totals = [np.asarray(s.sum(axis=0)).ravel().astype(np.float64) for s in sums]
    delta, error = log_odds(totals[0], totals[1], alpha)
    variance = _variance(sums, totals, alpha, size) if size > 1 else np.full(len(alpha), np.nan)
    having = np.asarray(((sums[0] + sums[1]) > 0).sum(axis=0)).ravel().astype(np.int64)
    # Never below the error of independent words: a few clusters may agree by chance
    spread = np.where(having > 1, np.maximum(np.sqrt(variance), error), np.nan)
    return LogOdds(delta, error, spread, having, size)


def _log_odds(counts: FloatArray, alpha: FloatArray) -> FloatArray:
    complement = counts.sum(axis=-1, keepdims=True) + alpha.sum() - counts - alpha
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(counts + alpha) - np.log(complement))


def _by_cluster(
    counts: sparse.csr_array, in_set: npt.NDArray[np.bool_], place: npt.NDArray[np.int64], size: int
) -> sparse.csr_array:
    """Counts of the chosen texts summed per cluster, shape (n_clusters, n_words)."""
    from scipy import sparse

    rows = np.flatnonzero(in_set)
    ones = np.ones(len(rows))
    shape = (size, counts.shape[0])
    return sparse.csr_array((ones, (place[rows], rows)), shape=shape) @ counts


def _variance(
    sums: list[sparse.csr_array], totals: list[FloatArray], alpha: FloatArray, size: int
) -> FloatArray:
    """G / (G - 1) times the centred sum of squares of u = c1 y1 - d1 n1 - c2 y2 + d2 n2 by cluster.

    Expanded into sparse sums, as most words are in few clusters.
    """
    lengths = [np.asarray(s.sum(axis=1)).ravel() for s in sums]
    slopes, per_word = [], []
    for sign, total in zip((1.0, -1.0), totals, strict=True):
        complement = total.sum() + alpha.sum() - total - alpha
        # y / (Y + a) - (n - y) / rest = y (1 / (Y + a) + 1 / rest) - n / rest
        slopes.append(sign * (1.0 / (total + alpha) + 1.0 / complement))
        per_word.append(-sign / complement)
    first, second = sums
    square = np.zeros_like(alpha)
    for s, c in zip(sums, slopes, strict=True):
        square += c**2 * _total(s.multiply(s))
    square += 2 * slopes[0] * slopes[1] * _total(first.multiply(second))
    for s, c in zip(sums, slopes, strict=True):
        for length, d in zip(lengths, per_word, strict=True):
            square += 2 * c * d * (s.T @ length)
    for length_a, d_a in zip(lengths, per_word, strict=True):
        for length_b, d_b in zip(lengths, per_word, strict=True):
            square += d_a * d_b * float(length_a @ length_b)
    mean = sum(
        c * total + d * length.sum()
        for c, total, d, length in zip(slopes, totals, per_word, lengths, strict=True)
    )
    return np.asarray(size / (size - 1) * np.maximum(square - np.asarray(mean) ** 2 / size, 0.0))


def _total(matrix: sparse.csr_array) -> FloatArray:
    return np.asarray(matrix.sum(axis=0), dtype=np.float64).ravel()
