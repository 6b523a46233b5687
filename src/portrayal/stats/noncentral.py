"""An interval for the variance of group means without the noise that each mean carries."""

import numpy as np
import numpy.typing as npt
from scipy import optimize, stats

from portrayal.stats._arguments import check_level

_LEAST = 1e-12
_MAX_UNDEFINED = 0.05


def noncentral_variance(variance: float, noise: npt.ArrayLike, level: float) -> tuple[float, float]:
    """Interval of the variance between groups, given the variance of their estimated means.

    The variance V of estimated means holds the noise s² of the means on top of the variance σ² of
    the true ones. Replicates of the noise alone, the variance of resampled means about the
    estimated ones, have mean s² and spread like s² χ²/ν, so ν = 2 s⁴ / Var; with equally sure means
    ν is the number of groups less one. Then ν V / s² is noncentral chi-square with noncentrality
    ν σ² / s², and the bounds are the σ² under which V lies at either tail. A V below s² says no
    more of σ² than V = s² does, so the upper bound is that of the larger of the two; else groups
    that happen to agree would give an interval without width.

    Parameters
    ----------
    variance
        V, 0 or more.
    noise
        Bootstrap replicates of the noise, shape (n_draws,). NaN is left out, up to 5 %.
    level
        Confidence level, a fraction.

    Returns
    -------
    low, high
        0 ≤ low ≤ high; NaN where the replicates do not vary or too many are undefined.

    Raises
    ------
    ValueError
        For a level outside (0, 1), or a negative variance.

    References
    ----------
    Steiger (2004), Beyond the F test: effect size confidence intervals (noncentral intervals);
    Satterthwaite (1946) for ν.

    Examples
    --------
    >>> noise = np.random.default_rng(0).chisquare(4, 2000) / 4
    >>> [round(bound, 1) for bound in noncentral_variance(9.0, noise, 0.95)]
    [3.4, 15.1]
    """
    tail = (1.0 - check_level(level)) / 2.0
    if variance < 0:
        raise ValueError(f"a variance cannot be negative; got {variance}.")
    values = np.asarray(noise, dtype=np.float64)
    known = values[~np.isnan(values)]
    if len(known) < 2 or len(known) < (1.0 - _MAX_UNDEFINED) * values.size:
        return float("nan"), float("nan")
    size, spread = float(known.mean()), float(known.var(ddof=1))
    if size < _LEAST or spread < _LEAST**2:
        return float("nan"), float("nan")
    nu = 2.0 * size**2 / spread
    at = nu * variance / size
    bounds = (_noncentrality(at, nu, 1.0 - tail), _noncentrality(max(at, nu), nu, tail))
    return bounds[0] * size / nu, bounds[1] * size / nu


def _noncentrality(at: float, nu: float, p: float) -> float:
    """The λ under which a noncentral chi-square lies below `at` with probability p; 0 at least."""

    def excess(noncentrality: float) -> float:
        if noncentrality <= 0.0:
            return float(stats.chi2.cdf(at, nu)) - p
        return float(stats.ncx2.cdf(at, nu, noncentrality)) - p

    if excess(0.0) <= 0.0:
        return 0.0
    high = 4.0 * max(at, nu) + 50.0
    return float(optimize.brentq(excess, 0.0, high))
