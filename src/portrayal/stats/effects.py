"""Effect sizes."""

import numpy as np
import numpy.typing as npt

from portrayal.stats._arguments import FloatArray, check_not_negative, divide


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
    """
    spread = check_not_negative("sd", sd)
    difference = np.asarray(mean, dtype=np.float64) - np.asarray(reference, dtype=np.float64)
    return divide(difference, np.where(spread > 0, spread, np.nan))
