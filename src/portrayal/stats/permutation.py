"""The null of a score: what it reads once labels are shuffled where they are exchangeable."""

import numpy as np
import numpy.typing as npt

from portrayal.stats._arguments import central_range, check_level
from portrayal.types import FloatArray

_TIE = 1e-9
"""Log ratios closer than this are equal; sums taken in another order differ by rounding."""


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
    if bool(np.all(block[1:] >= block[:-1])):
        return values[_random_order(block, rng)]
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


def two_sided_p(observed: npt.ArrayLike, draws: npt.ArrayLike) -> FloatArray:
    """Twice the smaller tail of `observed`, shape (...), among itself and draws, (n_draws, ...).

    Never 0 (Phipson & Smyth 2010); NaN where `observed` is.

    Examples
    --------
    >>> float(two_sided_p(5.0, [1.0, 2.0, 3.0]))
    0.5
    """
    value, drawn = np.asarray(observed, dtype=np.float64), np.asarray(draws, dtype=np.float64)
    rarer = 1.0 + np.minimum((drawn >= value).sum(0), (drawn <= value).sum(0))
    p = np.minimum(1.0, 2.0 * rarer / (1.0 + len(drawn)))
    return np.asarray(np.where(np.isnan(value), np.nan, p))


def permutation_p(observed: npt.ArrayLike, draws: npt.ArrayLike) -> FloatArray:
    """Two-sided permutation p-value of a ratio: how often |ln draw| reaches |ln observed|.

    Parameters
    ----------
    observed
        The ratio, shape (...); 0 and +inf are as extreme as can be.
    draws
        The ratio under permutation, shape (n_draws, ...).

    Returns
    -------
    p
        (1 + number of draws at least as extreme) / (1 + number of defined draws), so never 0; NaN
        where the observed ratio or every draw is undefined.

    Raises
    ------
    ValueError
        For negative ratios, or draws without a first axis.

    References
    ----------
    Phipson & Smyth (2010), Permutation p-values should never be zero.

    Examples
    --------
    >>> float(permutation_p(2.0, [0.5, 1.0, 1.1]))
    0.5
    """
    values = np.asarray(draws, dtype=np.float64)
    if values.ndim == 0:
        raise ValueError("draws must hold replicates along its first axis.")
    size, sizes = _log_size(observed), _log_size(values)
    defined = np.sum(~np.isnan(sizes), axis=0)
    extreme = np.sum(sizes >= size - _TIE, axis=0)
    p = (1.0 + extreme) / (1.0 + defined)
    return np.where(np.isnan(size) | (defined == 0), np.nan, p)


def _random_order(
    sorted_block: npt.NDArray[np.generic], rng: np.random.Generator
) -> npt.NDArray[np.intp]:
    """Indices that keep sorted blocks in place and shuffle within them."""
    starts = np.ones(sorted_block.size, dtype=bool)
    starts[1:] = sorted_block[1:] != sorted_block[:-1]
    # Keys of block i lie in [i, i + 1/2], so rounding cannot carry one into the next block.
    return np.argsort(np.cumsum(starts) + 0.5 * rng.random(sorted_block.size))


def _log_size(ratios: npt.ArrayLike) -> FloatArray:
    values = np.asarray(ratios, dtype=np.float64)
    if np.any(values < 0):
        raise ValueError("a ratio cannot be negative.")
    with np.errstate(divide="ignore"):
        return np.asarray(np.abs(np.log(values)))
