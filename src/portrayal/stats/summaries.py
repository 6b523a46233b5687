"""Sizes and summaries: Cohen’s d, and medians of what is defined."""

import numpy as np
import numpy.typing as npt

from portrayal.stats._arguments import check_not_negative, divide
from portrayal.types import FloatArray


def cohens_d(mean: npt.ArrayLike, reference: npt.ArrayLike, sd: npt.ArrayLike) -> FloatArray:
    """Cohen's d of a mean against a fixed reference: (mean - reference) / sd.

    Parameters
    ----------
    mean, reference
        Observed share and baseline share, fractions in 0–1; they broadcast.
    sd
        Standard deviation of the single observations: of the fractional likelihoods for race,
        sqrt(p (1 - p)) for gender and couples.

    Returns
    -------
    d
        In standard deviations; NaN where `sd` is 0.

    Raises
    ------
    ValueError
        Where `sd` is negative or infinite.

    References
    ----------
    Shieh et al. (2025), section 4.6 and Tables S13a–d; their gender rows are too small by a factor
    of sqrt(10), which is left out here.

    Examples
    --------
    >>> float(cohens_d(0.6, 0.5, 0.2).round(2))
    0.5
    """
    spread = check_not_negative("sd", sd)
    difference = np.asarray(mean, dtype=np.float64) - np.asarray(reference, dtype=np.float64)
    return divide(difference, np.where(spread > 0, spread, np.nan))


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
    ordered = np.sort(values, axis=-1)  # NaN sorts last
    size = np.sum(~np.isnan(values), axis=-1, keepdims=True)
    low = np.take_along_axis(ordered, np.maximum(size - 1, 0) // 2, axis=-1)
    high = np.take_along_axis(ordered, np.minimum(size // 2, values.shape[-1] - 1), axis=-1)
    return np.where(size > 0, (low + high) / 2.0, np.nan)[..., 0]
