"""Many tests at once."""

import numpy as np
import numpy.typing as npt
from scipy import stats

from portrayal.types import FloatArray


def benjamini_hochberg(p: npt.ArrayLike) -> FloatArray:
    """Benjamini–Hochberg q-values of one family of tests.

    Parameters
    ----------
    p
        p-values in 0–1, any shape; the whole array is the family. NaN marks a test that could not
        be made: it stays NaN and does not count as a member.

    Returns
    -------
    q
        In the shape of `p`; the smallest false discovery rate at which the test is rejected.

    Raises
    ------
    ValueError
        Where a p-value lies outside 0–1.

    References
    ----------
    Benjamini & Hochberg (1995), Controlling the false discovery rate.
    """
    values = np.asarray(p, dtype=np.float64)
    if np.any((values < 0) | (values > 1)):
        raise ValueError("p-values must lie between 0 and 1.")
    known = ~np.isnan(values)
    q = np.full(values.shape, np.nan)
    if np.any(known):
        q[known] = stats.false_discovery_control(values[known], method="bh")
    return q
