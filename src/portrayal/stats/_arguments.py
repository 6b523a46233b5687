"""Checks and conversions that every statistic shares; NaN passes through and stays NaN."""

from collections.abc import Callable
from functools import cache

import numpy as np
import numpy.typing as npt

from portrayal.stats.tails import normal_isf
from portrayal.types import FloatArray

_STEPS = 60
_CLOSE = 1e-11
WIDEST = 14.0  # log ratio beyond the estimate at which a bound is 0 or infinite
_GRID = np.linspace(0.0, 1.0, 15)[1:] ** 2  # parts of `WIDEST` that are searched first
_EMPTY_SIDE = 1e-4  # ratio from which the search starts where the upper count is 0
TOLERANCE = 1e-9
"""Rounding that sums of fractional counts may carry, relative to the larger of 1 and the total."""


def check_level(level: float) -> float:
    """Return `level`, a confidence level inside (0, 1); ValueError otherwise."""
    if not 0.0 < level < 1.0:
        raise ValueError(f"level must be a fraction between 0 and 1, such as 0.95; got {level!r}.")
    return float(level)


@cache
def normal_quantile(level: float) -> float:
    """Return z with the central `level` of a standard normal inside ±z; checks `level`."""
    return float(normal_isf((1.0 - check_level(level)) / 2.0))


def check_not_negative(name: str, values: npt.ArrayLike) -> FloatArray:
    """Return `values` as floats; ValueError where one is negative or infinite."""
    array = np.asarray(values, dtype=np.float64)
    wrong = array[(array < 0) | np.isinf(array)]
    if wrong.size:
        raise ValueError(f"{name} must be finite and 0 or more; got {wrong[0]}.")
    return array


def check_counts(k: npt.ArrayLike, n: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Return counts `k` of totals `n`, broadcast together, possibly fractional.

    Raises
    ------
    ValueError
        Where a count or total is negative or infinite, or a count exceeds its total.
    """
    count, total = np.broadcast_arrays(check_not_negative("k", k), check_not_negative("n", n))
    above = count > total + TOLERANCE * np.maximum(1.0, total)
    if np.any(above):
        raise ValueError(
            f"a count k cannot exceed its total n; got k = {count[above][0]} "
            f"and n = {total[above][0]}."
        )
    return np.minimum(count, total), np.array(total)


def check_inside_unit(name: str, values: npt.ArrayLike) -> FloatArray:
    """Return `values` as floats; ValueError where one lies outside the open interval (0, 1)."""
    array = np.asarray(values, dtype=np.float64)
    wrong = array[(array <= 0) | (array >= 1)]
    if wrong.size:
        raise ValueError(f"{name} must lie between 0 and 1, both excluded; got {wrong[0]}.")
    return array


def divide(numerator: npt.ArrayLike, denominator: npt.ArrayLike) -> FloatArray:
    """Divide without warnings: positive / 0 is +inf, negative / 0 is -inf, 0 / 0 is NaN."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.divide(
            np.asarray(numerator, dtype=np.float64), np.asarray(denominator, dtype=np.float64)
        )


def divide_or_zero(numerator: FloatArray, denominator: FloatArray) -> FloatArray:
    """Divide; 0 where the denominator is 0."""
    above, below = np.broadcast_arrays(numerator, denominator)
    return np.asarray(np.divide(above, below, out=np.zeros(above.shape), where=below != 0))


def crossing(
    height: Callable[[FloatArray], FloatArray], near: FloatArray, far: FloatArray
) -> FloatArray:
    """Where a function passes 0 between two arrays of places: at most 0 `near`, above 0 `far`.

    False position with the weights of Anderson & Björck (1973), all columns at once. The root is
    the same to rounding on any processor; NaN where the two heights have one sign.

    >>> crossing(lambda x: x**2 - 2.0, np.array([0.0]), np.array([4.0])).round(6).tolist()
    [1.414214]
    """
    below, above = height(near), height(far)
    has_root = (below <= 0) & (above > 0)
    below = np.where(has_root, below, np.nan)
    for _ in range(_STEPS):
        middle = near + (far - near) * _part(below, above)
        value = height(middle)
        beyond = value > 0
        # An end that stays counts less, so that the next step falls beyond the root.
        fall = 1.0 - divide(value, np.where(beyond, above, below))
        fall = np.where((fall > 0.0) & np.isfinite(fall), fall, 0.5)
        near, below = np.where(beyond, near, middle), np.where(beyond, fall * below, value)
        far, above = np.where(beyond, middle, far), np.where(beyond, value, fall * above)
        if not np.any(has_root & (np.abs(value) > _CLOSE) & (np.abs(far - near) > _CLOSE)):
            break
    # Neither end: on which side of the root the last step fell is a matter of rounding.
    return np.where(has_root, near + (far - near) * _part(below, above), np.nan)


def nearest_rejected(
    excess: Callable[[FloatArray], FloatArray], ratio: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the nearest ratio rejected on either side of each, shape (k,); 0 and inf if none is.

    `excess` gives, for log ratios of shape (..., k), how far the statistic is beyond its bound.
    """
    with np.errstate(divide="ignore"):
        start = np.log(np.clip(ratio, _EMPTY_SIDE, 1.0 / _EMPTY_SIDE))
    side = np.array([[-1.0], [1.0]])  # towards 0, towards infinity
    steps = start + side * WIDEST * _GRID[:, np.newaxis, np.newaxis]  # (steps, 2, k)
    beyond = excess(steps) > 0
    first, never = beyond.argmax(0), ~beyond.any(0)
    grid = np.concatenate([[0.0], _GRID])
    accepted, rejected = (start + side * WIDEST * grid[index] for index in (first, first + 1))
    bounds = np.where(never, np.exp(side * np.inf), np.exp(crossing(excess, accepted, rejected)))
    # Of a count of 0 one end is the value itself.
    low = np.where(ratio == 0.0, 0.0, bounds[0])
    return low, np.where(np.isinf(ratio), np.inf, bounds[1])


def _part(below: FloatArray, above: FloatArray) -> FloatArray:
    """Part of the way at which a line from `below` to `above` is 0; half where it has none."""
    part = divide(below, below - np.where(np.isfinite(above), above, np.nan))
    return np.where(np.isfinite(part), np.clip(part, 0.0, 1.0), 0.5)


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
