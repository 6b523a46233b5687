"""Weighted means, and the median of a ratio over likelihood thresholds."""

import numpy as np
import numpy.typing as npt

from portrayal.stats._arguments import FloatArray, check_not_negative, divide
from portrayal.stats.ratios import ratio


def weighted_mean(x: npt.ArrayLike, w: npt.ArrayLike) -> FloatArray:
    """sum(w x) / sum(w) along the last axis of the broadcast of `x` and `w`.

    Weights are 0 or more (ValueError otherwise); NaN where they sum to 0 or an input is NaN.
    """
    x, w = np.asarray(x, dtype=np.float64), check_not_negative("w", w)
    x, w = np.broadcast_arrays(np.atleast_1d(x), np.atleast_1d(w))
    return divide(np.sum(w * x, axis=-1), np.sum(w, axis=-1))


def weighted_sd(x: npt.ArrayLike, w: npt.ArrayLike) -> FloatArray:
    """Population standard deviation with frequency weights, along the last axis.

    sqrt(sum(w (x - mean)²) / sum(w)): what `np.std` gives after repeating each x w times. Raises
    and is undefined as `weighted_mean`.
    """
    x = np.atleast_1d(np.asarray(x, dtype=np.float64))
    centre = np.asarray(weighted_mean(x, w))[..., np.newaxis]
    return np.asarray(np.sqrt(weighted_mean((x - centre) ** 2, w)))


def median_over_thresholds(
    num_sub: npt.ArrayLike,
    den_sub: npt.ArrayLike,
    num_dom: npt.ArrayLike,
    den_dom: npt.ArrayLike,
    smoothing: float = 0.0,
) -> tuple[FloatArray, npt.NDArray[np.intp]]:
    """Median over thresholds of (num_sub / den_sub) / (num_dom / den_dom).

    Parameters
    ----------
    num_sub, den_sub, num_dom, den_dom
        Counts (possibly fractional) and totals per threshold in the subordinate and the dominant
        role, shapes (..., T).
    smoothing
        Pseudo-count s of `smooth`: s is added to each count and 2 s to each total.

    Returns
    -------
    median
        Shape (...). A threshold where only the dominant count is 0 has ratio +inf and counts as
        such (unless smoothed); one where both counts or a total are 0 is undefined, smoothed or
        not, and is left out. NaN where no threshold is defined.
    n_defined
        Shape (...), the number of thresholds in the median.

    Raises
    ------
    ValueError
        For impossible counts, negative smoothing, or no threshold axis.

    References
    ----------
    Shieh et al. (2025), Eq. 4 and Supplement B.6, with T = 100 thresholds t = 1, …, 100.
    """
    cells = (num_sub, den_sub, num_dom, den_dom)
    plain = np.asarray(ratio(*cells))
    if plain.ndim == 0:
        raise ValueError("counts must have thresholds along their last axis.")
    values = np.where(np.isnan(plain), np.nan, ratio(*cells, smoothing))
    values = np.sort(values, axis=-1)  # NaN sorts last
    n_defined = np.sum(~np.isnan(values), axis=-1)
    if values.shape[-1] == 0:
        return np.full(values.shape[:-1], np.nan), n_defined
    below = np.maximum(n_defined - 1, 0) // 2
    above = np.minimum(n_defined // 2, values.shape[-1] - 1)
    middle = [np.take_along_axis(values, i[..., np.newaxis], axis=-1) for i in (below, above)]
    return np.where(n_defined > 0, (middle[0] + middle[1])[..., 0] / 2.0, np.nan), n_defined
