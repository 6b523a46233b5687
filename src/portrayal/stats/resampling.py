"""Resampling: the cluster bootstrap, and the null that shuffled labels give.

Texts from one prompt are not independent, so the bootstrap draws prompts. A statistic here is a sum
over clusters, or a ratio of such sums: replicates come from integer weights per cluster,
`weights @ sums`, so that no text is touched twice. Counts of names, agreement of raters and
rewrites use it; shares and ratios are inferred in `stats/clustered.py`.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from portrayal.stats._arguments import central_range, check_level
from portrayal.stats.tails import normal_sf, t_isf
from portrayal.types import FloatArray

_CLOSE = 1e-9
_UNTHREADED = 2**18  # multiplications of one product up to which OpenBLAS takes one thread


def cluster_weights(
    n_clusters: int, n_draws: int, rng: np.random.Generator
) -> npt.NDArray[np.int64]:
    """How often each cluster is drawn in each replicate, shape (n_draws, n_clusters).

    Each row is multinomial with equal probabilities and sums to `n_clusters`. With per-cluster sums
    `a` and `b` of shape (n_clusters, ...), replicates are `divide(weights @ a, weights @ b)`.

    Raises
    ------
    ValueError
        If `n_clusters` or `n_draws` is below 1.

    Examples
    --------
    >>> cluster_weights(3, 2, np.random.default_rng(0))
    array([[1, 1, 1],
           [0, 0, 3]])
    """
    if n_clusters < 1 or n_draws < 1:
        raise ValueError(
            f"a bootstrap needs at least one cluster and one draw; got {n_clusters} and {n_draws}."
        )
    return rng.multinomial(n_clusters, np.full(n_clusters, 1.0 / n_clusters), size=n_draws)


def sums_over(draws: npt.NDArray[Any], values: FloatArray) -> FloatArray:
    """Sum `values`, shape (n_clusters, k), over each draw of clusters; shape (n_draws, k).

    `draws @ values`, a slice of draws at a time: threads of BLAS, which larger products wake, wait
    for one another longer than they work.

    >>> sums_over(np.array([[1, 1], [0, 2]]), np.array([[1.0], [5.0]])).tolist()
    [[6.0], [10.0]]
    """
    sums = np.empty((len(draws), values.shape[1]))
    rows = max(_UNTHREADED // max(values.size, 1), 16)
    for row in range(0, len(draws), rows):
        np.matmul(
            draws[row : row + rows].astype(np.float64, copy=False), values, sums[row : row + rows]
        )
    return sums


def expanded_percentile(
    draws: npt.ArrayLike, level: float, n_clusters: int, max_undefined: float = 0.05
) -> tuple[FloatArray, FloatArray]:
    """Percentile interval along axis 0, its level widened for few clusters.

    The tail alpha / 2 becomes Phi(-sqrt(G / (G - 1)) t), with t the alpha / 2 point of Student's t
    on G - 1 degrees of freedom: the plain percentile interval is too narrow for small G.

    Parameters
    ----------
    draws
        Replicates, shape (n_draws, ...). A ratio with an empty denominator belongs here as +inf
        and sorts as such, so the upper bound can be +inf; 0 / 0 belongs here as NaN.
    level
        Confidence level, a fraction.
    n_clusters
        Number G of clusters that were resampled.
    max_undefined
        NaN draws are left out of the percentiles, up to this share of all draws. Beyond it the
        interval would describe another quantity than the estimate, and is undefined.

    Returns
    -------
    low, high
        Bounds, shape (...); NaN where G is 1, or too many draws are undefined.

    Raises
    ------
    ValueError
        For a level outside (0, 1), no draws, or fewer than one cluster.

    References
    ----------
    Hesterberg (2015), What teachers should know about the bootstrap ("expanded
    percentile interval").

    Examples
    --------
    >>> low, high = expanded_percentile(np.arange(101), 0.9, 10)
    >>> (float(low.round(1)), float(high.round(1)))
    (2.7, 97.3)
    """
    tail = (1.0 - check_level(level)) / 2.0
    if n_clusters < 1:
        raise ValueError(f"n_clusters must be at least 1; got {n_clusters}.")
    if n_clusters > 1:
        t = t_isf(tail, n_clusters - 1)
        tail = float(normal_sf(np.sqrt(n_clusters / (n_clusters - 1)) * t))
    low, high, undefined = central_range(draws, tail)
    usable = (undefined <= max_undefined) & (n_clusters > 1)
    return np.where(usable, low, np.nan), np.where(usable, high, np.nan)


def shuffle_within(
    labels: npt.NDArray[np.int64], block: npt.ArrayLike, rng: np.random.Generator
) -> npt.NDArray[np.int64]:
    """Permute `labels` at random inside each block, uniformly over the arrangements.

    Parameters
    ----------
    labels
        Integer labels, shape (n,).
    block
        Block of each label, shape (n,), sorted or not; sorted blocks are faster.
    rng
        Source of the arrangement.

    Returns
    -------
    shuffled
        Shape (n,); every block holds the labels it held before.

    Raises
    ------
    ValueError
        If the shapes differ or are not one-dimensional.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> shuffle_within(np.array([0, 1, 2, 3]), [0, 0, 1, 1], rng)
    array([1, 0, 3, 2])
    """
    values, block = np.asarray(labels), np.asarray(block)
    if values.ndim != 1 or values.shape != block.shape:
        raise ValueError(
            f"labels and block must have one shape (n,); got {values.shape} and {block.shape}."
        )
    # sorted already: no need to bring labels back in place
    if bool(np.all(block[1:] >= block[:-1])):
        return values[_random_order(block, rng)]
    # Blocks are brought together, shuffled, and put back where they were.
    by_block = np.argsort(block, kind="stable")
    shuffled = np.empty_like(values)
    shuffled[by_block] = values[by_block][_random_order(block[by_block], rng)]
    return shuffled


def permutation_range(draws: npt.ArrayLike, level: float) -> tuple[FloatArray, FloatArray]:
    """The central `level` of the statistic's values under permutation, along axis 0.

    Draws have shape (n_draws, ...); NaN draws are left out, +inf sorts last; the result is NaN
    where every draw is NaN. Raises ValueError for a level outside (0, 1) or no draws.

    Examples
    --------
    >>> low, high = permutation_range(np.arange(101), 0.9)
    >>> (float(low), float(high))
    (4.999999999999999, 95.0)
    """
    low, high, _ = central_range(draws, (1.0 - check_level(level)) / 2.0)
    return low, high


def not_refused(
    draws: npt.ArrayLike, level: float, *, greater: bool = False
) -> tuple[float, float]:
    """Return the lowest and the highest value whose p among draws of a null is not below 1 - level.

    p is twice the smaller tail of a value among itself and the draws, and values as near as
    rounding count as alike. Where only larger values are refused (`greater`), p is of one side, and
    the lowest is -inf. Draws that are NaN may have been as far out as any.

    Examples
    --------
    >>> [round(end, 6) for end in not_refused(np.arange(99.0), 0.9)]
    [3.0, 95.0]
    """
    null_values = np.asarray(draws, dtype=np.float64)
    tail = (1.0 - check_level(level)) * (1.0 + len(null_values)) * (1.0 if greater else 0.5)
    further = max(int(np.ceil(tail - _CLOSE)) - 2, 0)  # draws that may lie as far out, at most
    unknown = np.isnan(null_values)
    high = float(np.sort(np.where(unknown, np.inf, null_values))[-1 - further]) + _CLOSE
    low = float(np.sort(np.where(unknown, -np.inf, null_values))[further]) - _CLOSE
    return -np.inf if greater else low, high


def _random_order(
    sorted_block: npt.NDArray[np.generic], rng: np.random.Generator
) -> npt.NDArray[np.intp]:
    """Indices that keep sorted blocks in place and shuffle within them."""
    starts = np.ones(sorted_block.size, dtype=bool)
    starts[1:] = sorted_block[1:] != sorted_block[:-1]
    # Keys of block i lie in [i, i + 1/2], so rounding cannot carry one into the next block.
    keys = np.cumsum(starts) + 0.5 * rng.random(sorted_block.size)
    # Blocks are in order already, which a stable sort makes use of: a third of the time
    return np.argsort(keys, kind="stable")
