"""Exchange: what an original and all its generated texts hold is exchanged at random.

A *pool* is an original with the generated texts that are compared with it in one stratum. Without a
difference all of them draw words (or sentences) from one source, so any exchange that keeps their
sizes is as likely as what was observed. All rows of a pool read the same exchanged original, as
they read the same original: one that happens to hold many male words moves all its rows.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from portrayal.stats import shuffle_within
from portrayal.stats.tails import pearson3_sf
from portrayal.types import FloatArray, IntArray

_CLOSE = 1e-9
FEWEST_TO_EXCHANGE = 6
"""Pairs whose exchanges can reach p < .05: 2⁶ of them, half of which are the others in reverse."""


class Pools(NamedTuple):
    """The pools of some rows.

    Attributes
    ----------
    of
        Pool of each row, shape (n_rows,).
    first
        A row of each pool, shape (n_pools,).
    """

    of: IntArray
    first: IntArray

    @property
    def places(self) -> IntArray:
        """Pool of each place: the text of each row, then the original of each pool."""
        return np.concatenate([self.of, np.arange(len(self.first))])

    def by_row(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Split the values of places into those of the texts and originals of each row."""
        n = len(self.of)
        return values[:n], values[n + self.of]


def pools_of(labels: Sequence[npt.ArrayLike]) -> Pools:
    """Number the pools of rows that agree in every label.

    For a stratum of one model the labels are pair, form and model; for all models together pair and
    form. The texts of another model must not be in a model's pool: if that model differs from the
    originals, its words would be given to a model that does not.

    Parameters
    ----------
    labels
        Codes of each row, shape (n_rows,) each.

    Examples
    --------
    >>> pools = pools_of([[0, 0, 1], [5, 6, 5]])
    >>> pools.of.tolist(), pools.first.tolist(), pools.places.tolist()
    ([0, 1, 2], [0, 1, 2], [0, 1, 2, 0, 1, 2])
    """
    rows = np.stack([np.asarray(column, dtype=np.int64) for column in labels], axis=1)
    _, first, pool = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    return Pools(pool.reshape(-1).astype(np.int64), first.astype(np.int64))


def exchange_within(block: IntArray) -> Callable[[np.random.Generator], IntArray]:
    """Return the function that permutes units at random within their blocks, shape (n,).

    What that one returns is the number of the unit that stands where each stood.
    """
    # In the order of the blocks once, or every draw would sort them again
    order = np.argsort(block, kind="stable")
    sorted_block, rank = block[order], np.argsort(order)
    return lambda rng: shuffle_within(order, sorted_block, rng)[rank]


def null_p(
    value: float,
    draws: FloatArray,
    *,
    greater: bool = False,
    n_pairs: int = 0,
    level: float = 0.95,
) -> float:
    """Return p of a value against draws of its null, shape (n_draws,).

    One-sided where only larger values speak against the null; else twice the smaller tail, which
    unlike the distance from the mean of the draws is right for skewed nulls too. Each tail counts
    the observed value among the draws (Phipson and Smyth 2010), and those that are NaN, since what
    is undefined may have been as far out.

    What 200 draws refuse has p of 0.005 or more, and so no lone difference among ten could ever be
    stated. Where they refuse the null at the level, p is that of a Pearson type III curve, if
    smaller: with their mean, their standard deviation as of one more draw, and their skewness and
    two standard errors more, which keeps the level. `n_pairs` that change sides say no more than
    2^-n; with none of them there is no curve.

    Source of tails by a curve: Knijnenburg et al. (2009), Fewer permutations, more accurate
    p-values.

    >>> null_p(3.0, np.array([0.0, 1.0, 2.0]), greater=True)
    0.25
    """
    n, unknown = 1 + len(draws), np.isnan(draws)
    # Values equal but for rounding are ties, and count as extreme.
    up = (1 + int((unknown | (draws >= value - _CLOSE)).sum())) / n
    down = (1 + int((unknown | (draws <= value + _CLOSE)).sum())) / n
    counted = up if greater else min(1.0, 2.0 * min(up, down))
    # The curve is only for how small a small p is: whether it is small, draws decide
    if counted >= 1.0 - level or unknown.any() or n_pairs == 0:
        return counted
    spread = float(draws.std(ddof=1))
    if spread <= _CLOSE:
        return counted
    z = (value - draws.mean()) / (spread * np.sqrt(1.0 + 1.0 / len(draws)))
    skew = float((((draws - draws.mean()) / spread) ** 3).mean())
    # The standard error of a skewness is about sqrt(6 / n); two more of it err on the safe side.
    more = 2.0 * np.sqrt(6.0 / len(draws))
    sides = [float(pearson3_sf(s * z, s * skew + more)) for s in (1.0, -1.0)]
    curve = sides[0] if greater else 2.0 * min(sides)
    return min(counted, max(curve, (2.0 - greater) * 0.5**n_pairs))


def gap_beyond_pairs(generated: FloatArray, original: FloatArray) -> FloatArray:
    """Return how much further texts lie from originals of other pairs than each from its own kind.

    Parameters
    ----------
    generated, original
        Shares of each group, one row for each pair, shape (..., n, M).

    Returns
    -------
    array
        Mean of d(fᵢ, oⱼ) less half the means of d(fᵢ, fⱼ) and d(oᵢ, oⱼ) over i ≠ j, with d of Eq. 9
        (½ Σ |f − o|), shape (...); NaN with fewer than `FEWEST_TO_EXCHANGE` pairs. Half the
        energy distance of Székely and Rizzo (2013), 0 on average where originals and texts could be
        exchanged. Computed as ∫ (F − G)² of each group, from which the pairs are taken out.

    Examples
    --------
    >>> float(gap_beyond_pairs(np.array([[1.0, 0.0]] * 6), np.array([[0.5, 0.5]] * 6)))
    0.5
    """
    n = generated.shape[-2]
    if n < FEWEST_TO_EXCHANGE:
        return np.full(generated.shape[:-2], np.nan)
    both = np.concatenate([generated, original], axis=-2)
    order = np.argsort(both, axis=-2)
    # n (F - G) between two neighbouring values
    cdf_gap = np.where(order < n, 1, -1).cumsum(axis=-2)[..., :-1, :]
    steps = np.diff(np.take_along_axis(both, order, axis=-2), axis=-2)
    everything = (cdf_gap**2 * steps).sum(axis=(-2, -1)) / 2
    of_pairs = np.abs(generated - original).sum(axis=(-2, -1)) / 2
    return np.asarray((everything - of_pairs) / (n * (n - 1)))
