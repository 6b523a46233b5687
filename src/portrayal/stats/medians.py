"""Medians over columns, such as models or thresholds, as the mix of columns that stands for them.

What moves a median is the column, or the two, in its middle, and which one this is, is uncertain.
So prompts are counted more and less at random, in a balanced way, and a column's *weight* is how
often it is in the middle. The columns, mixed by these weights, are one share, or one ratio of two,
that varies about as the median does, and of a mix there are sums by prompt: after their counts are
lowered until the mix has the value of the median, it is inferred as any other share or ratio is.
The weights of alike columns give a mix that varies a little more than their median, so intervals
are wide by some hundredths rather than narrow.

Sources: McCarthy (1969), Pseudo-replication: half samples, Review of the ISI 37; Judkins (1990),
Fay's method for variance estimation, Journal of Official Statistics 6; Kish (1965), Survey
sampling, for the effective number of people with weights.
"""

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from portrayal.stats._arguments import divide, divide_or_zero
from portrayal.stats.contrasts import TwoSides
from portrayal.stats.proportions import ratio
from portrayal.stats.resampling import sums_over
from portrayal.types import FloatArray

FAY = 0.5
"""How much more, or less, than once a replicate counts a prompt: .7 gives the median subordination
of five models .04 more power, and rejects in .056 in place of .037 (15 prompts, ICC .2)."""
MOST_BLOCKS = 500
"""With more prompts than this, neighbours are joined, so that replicates fit into memory."""
LEAST_REPLICATES = 64


def median_of_defined(values: npt.ArrayLike) -> FloatArray:
    """Median along the last axis, with NaN left out.

    As `np.nanmedian`, a sort at a time instead of a row at a time, and silent where all are NaN.

    Parameters
    ----------
    values
        Shape (..., T). +inf counts as such.

    Returns
    -------
    median
        Shape (...). NaN where no value is defined.

    Raises
    ------
    ValueError
        For a single number, which has no axis.

    Examples
    --------
    >>> float(median_of_defined([3.0, np.nan, 1.0]))
    2.0
    """
    values = np.asarray(values, dtype=np.float64)
    if values.ndim == 0:
        raise ValueError("values must have a last axis to take the median of.")
    if values.shape[-1] == 0:
        return np.full(values.shape[:-1], np.nan)
    low, high = _middles(values)
    return ((low + high) / 2.0)[..., 0]


def _middles(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the lower and the upper of the two middle values, shape (..., 1), NaN left out.

    Both are the one in the middle where the number of values is odd, and NaN where there is none.
    """
    ordered = np.sort(values, axis=-1)  # NaN sorts last
    size = np.sum(~np.isnan(values), axis=-1, keepdims=True)
    low = np.take_along_axis(ordered, np.maximum(size - 1, 0) // 2, axis=-1)
    return low, np.take_along_axis(ordered, np.minimum(size // 2, values.shape[-1] - 1), axis=-1)


def median_weights(statistic: Callable[..., FloatArray], cells: Sequence[FloatArray]) -> FloatArray:
    """Return how often each column is in the middle, shape (k, n_columns); rows sum to 1.

    Parameters
    ----------
    statistic
        Function of the sums of all cells, (..., k, n_columns) each, to the columns' values.
    cells
        What each prompt adds, arrays of shape (n_prompts, k, n_columns).

    Returns
    -------
    weights
        Columns of the same value share what they have; NaN where no value is defined.

    Examples
    --------
    >>> values = np.array([[1.0, 4.0, 8.0], [1.2, 4.0, 8.2]])[:, np.newaxis]
    >>> median_weights(lambda sums: sums, [values]).tolist()
    [[0.0, 1.0, 0.0]]
    """
    blocks = np.arange(0, len(cells[0]), -(-len(cells[0]) // MOST_BLOCKS))
    signs = np.ones((1, 1))
    while len(signs) < max(LEAST_REPLICATES, len(blocks) + 1):
        signs = np.block([[signs, signs], [signs, -signs]])
    # Columns of a Hadamard matrix, so that no two prompts go together over all replicates; far
    # from one another, as the first ones repeat few patterns.
    signs = signs[:, np.linspace(1, len(signs) - 1, len(blocks)).astype(np.int64)]
    times = 1.0 + FAY * np.concatenate([signs, -signs])
    replicates = []
    for cell in cells:
        sums = np.add.reduceat(cell, blocks, axis=0)
        replicates.append(
            sums_over(times, sums.reshape(len(sums), -1)).reshape(-1, *sums.shape[1:])
        )
    values = statistic(*replicates)
    middles = [values == middle for middle in _middles(values)]
    weights = sum(divide(middle, middle.sum(-1, keepdims=True)) for middle in middles) / 2.0
    # A replicate without any value says nothing.
    n_defined = np.sum(middles[0].any(-1, keepdims=True), axis=0)
    return divide(np.nansum(weights, axis=0), n_defined)


def column_ratios(
    upper: FloatArray,
    n_upper: FloatArray,
    lower: FloatArray,
    n_lower: FloatArray,
    *,
    smoothing: float = 0.0,
) -> FloatArray:
    """Return ratios of two shares, smoothed where one of two counts is 0, NaN where both are.

    >>> one, ten = np.array([1.0, 2.0, 0.0]), np.full(3, 10.0)
    >>> column_ratios(one, ten, np.array([0.0, 1.0, 0.0]), ten, smoothing=0.5).round(2).tolist()
    [3.0, 2.0, nan]
    """
    # Only one count of 0 is smoothed: of two nothing would be left but the smoothing.
    added = np.where((upper == 0) ^ (lower == 0), smoothing, 0.0)
    nobody = ((upper == 0) & (lower == 0)) | (n_upper == 0) | (n_lower == 0)
    return np.where(nobody, np.nan, ratio(upper, n_upper, lower, n_lower, added))


def median_sides(
    cells: Sequence[FloatArray],
    squares: Sequence[FloatArray] | None = None,
    smoothing: float = 0.0,
) -> tuple[FloatArray, TwoSides]:
    """Return the median over columns of ratios of two shares, and the two sides of its mix.

    Parameters
    ----------
    cells
        Counts and totals on the upper side, then on the lower, by prompt: four arrays of shape
        (n_prompts, k, n_columns).
    squares
        Sums of squared contributions on either side, of columns with people of their own, such as
        models. None where columns count the same people, each of them some of those of the column
        before, as thresholds do.
    smoothing
        As in `column_ratios`.

    Returns
    -------
    median, sides
        Shape (k,), and sums of shape (n_prompts, k), whose pooled ratio is the median, unless it is
        0 or infinite where only smoothing makes it a number.

    Examples
    --------
    >>> ten, models = np.full((4, 1, 3), 10.0), np.array([2.0, 4.0, 6.0])
    >>> lower = np.full((4, 1, 3), 2.0)
    >>> median, sides = median_sides([models + 0 * ten, ten, lower, ten], [models + 0 * ten, lower])
    >>> median.tolist(), sides.ratio.round(6).tolist()
    ([2.0], [2.0])
    """

    def ratios(*sums: FloatArray) -> FloatArray:
        return column_ratios(*sums, smoothing=smoothing)

    totals = [cell.sum(0) for cell in cells]
    median = median_of_defined(ratios(*totals))
    shares = divide(totals[0], totals[1]) + divide(totals[2], totals[3])
    # In a mix of counts a column with twice as many of the group would count twice.
    weights = np.nan_to_num(divide(median_weights(ratios, cells), shares), posinf=0.0)
    weights = divide_or_zero(weights, weights.sum(-1, keepdims=True))
    mixed = []
    for count, total, squared in zip(cells[::2], cells[1::2], squares or (None, None), strict=True):
        if squared is None:
            # Who is counted in a column is counted in all before it.
            twice = weights * (2.0 * np.cumsum(weights, axis=-1) - weights)
            mixed.append(((count * weights).sum(-1), total[..., 0], (count * twice).sum(-1)))
        else:
            mixed.append(_mixed(weights, count, total, squared))
    (a, n, a2), (b, m, b2) = mixed
    scale = divide(median, TwoSides(a, n, b, m).ratio)
    scale = np.where(np.isfinite(scale) & (scale > 0), scale, 1.0)
    down, up = np.minimum(scale, 1.0), np.maximum(scale, 1.0)
    # One count is lowered, as a share cannot be raised beyond 1.
    return median, TwoSides(a * down, n, b / up, m, a2 * down**2 + b2 / up**2)


def median_shares(
    count: FloatArray, total: FloatArray, squares: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the mix of columns whose pooled share is the median of the columns' shares.

    Parameters
    ----------
    count, total, squares
        Sums by prompt of columns with people of their own: counts, people, and squared
        contributions, shape (n_prompts, k, n_columns).

    Returns
    -------
    count, total, squares
        Shape (n_prompts, k).

    Examples
    --------
    >>> total, models = np.full((4, 1, 3), 10.0), np.array([2.0, 4.0, 6.0])
    >>> a, n, _ = median_shares(models + 0 * total, total, models + 0 * total)
    >>> (a.sum(0) / n.sum(0)).round(6).tolist()
    [0.4]
    """
    median = median_of_defined(divide(count.sum(0), total.sum(0)))
    a, n, a2 = _mixed(median_weights(divide, (count, total)), count, total, squares)
    share = divide(a.sum(0), n.sum(0))
    down = np.where(median < share, divide(median, share), 1.0)
    # A share that is raised is one less that of all others, lowered.
    up = np.where(median > share, divide(median - share, 1.0 - share), 0.0)
    a, a2 = a * down + (n - a) * up, a2 * down**2 + (n - a) * up
    return a, n, np.minimum(a2, a)


def _mixed(
    weights: FloatArray, count: FloatArray, total: FloatArray, squares: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Mix columns with people of their own, so that totals are effective numbers of people."""
    size = total.sum(0)
    effective = divide(1.0, divide_or_zero(weights**2, size).sum(-1))
    factor = divide_or_zero(weights, size) * np.nan_to_num(effective, posinf=0.0)[:, np.newaxis]
    return (factor * count).sum(-1), (factor * total).sum(-1), (factor**2 * squares).sum(-1)
