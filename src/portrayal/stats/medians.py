"""The median of the values that are defined."""

import numpy as np
import numpy.typing as npt

from portrayal.stats._arguments import FloatArray


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
