"""Agreement of two raters beyond chance."""

import numpy as np
import numpy.typing as npt

from portrayal.stats._arguments import FloatArray, check_not_negative, divide


def cohens_kappa(table: npt.ArrayLike) -> FloatArray:
    """Cohen's kappa, (p_o - p_e) / (1 - p_e).

    Parameters
    ----------
    table
        Counts of the first rater's category by the second's, shape (..., k, k).

    Returns
    -------
    kappa
        Shape (...); NaN where there is no item, or both raters use one and the same category.

    Raises
    ------
    ValueError
        If a count is negative, or the table is not square.

    References
    ----------
    Cohen (1960), A coefficient of agreement for nominal scales.
    """
    counts = check_not_negative("table", table)
    if counts.ndim < 2 or counts.shape[-1] != counts.shape[-2]:
        raise ValueError(f"a table of two raters is square; got shape {counts.shape}.")
    total = counts.sum((-2, -1))
    observed = divide(np.trace(counts, axis1=-2, axis2=-1), total)
    chance = divide((counts.sum(-1) * counts.sum(-2)).sum(-1), total**2)
    alike = np.isclose(chance, 1.0, rtol=0.0, atol=1e-12)
    return np.where(alike, np.nan, divide(observed - chance, np.where(alike, np.nan, 1.0 - chance)))
