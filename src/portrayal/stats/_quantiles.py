"""Quantiles of replicates that may hold ±inf and NaN."""

import numpy as np
import numpy.typing as npt

from portrayal.stats._arguments import FloatArray


def central_range(draws: npt.ArrayLike, tail: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Lower and upper `tail` quantiles along axis 0, with the share of draws that are NaN.

    NaN draws are left out; ±inf sort at the ends. Between two finite order statistics the quantile
    is interpolated linearly, next to an infinite one it takes the outer neighbour.

    Returns
    -------
    low, high, undefined
        Shapes (...) of draws (n_draws, ...); low and high are NaN where every draw is.
    """
    values = np.asarray(draws, dtype=np.float64)
    if values.ndim == 0 or values.shape[0] == 0:
        raise ValueError("draws must hold at least one replicate along its first axis.")
    ordered = np.sort(values, axis=0)  # NaN sorts last
    defined = np.sum(~np.isnan(ordered), axis=0)
    low = _order_statistic(ordered, tail * np.maximum(defined - 1, 0), outer=np.floor)
    high = _order_statistic(ordered, (1.0 - tail) * np.maximum(defined - 1, 0), outer=np.ceil)
    return low, high, 1.0 - defined / ordered.shape[0]


def _order_statistic(ordered: FloatArray, position: FloatArray, outer: np.ufunc) -> FloatArray:
    """The value at a fractional position along axis 0 of sorted values."""
    below = _take(ordered, np.floor(position))
    above = _take(ordered, np.ceil(position))
    finite = np.isfinite(below) & np.isfinite(above)
    gap = np.where(finite, above, 0.0) - np.where(finite, below, 0.0)
    between = below + gap * np.where(finite, position - np.floor(position), 0.0)
    return np.where(finite, between, _take(ordered, outer(position)))


def _take(ordered: FloatArray, position: FloatArray) -> FloatArray:
    index = position.astype(np.intp)[np.newaxis]
    return np.asarray(np.take_along_axis(ordered, index, axis=0)[0])
