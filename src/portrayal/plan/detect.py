"""The smallest ratio or difference that a clustered t test finds with a given power.

Texts of one prompt resemble each other, so n units in G prompts say less than n independent ones:
variances grow by the design effect 1 + (n / G - 1) ρ, with ρ the correlation of units within a
prompt (Kish 1965). The test is the audit's own (`portrayal.measure.clustered`): an estimate over
its cluster-robust standard error, as t on G - 1 degrees of freedom; on the log scale for ratios.
"""

from collections.abc import Callable
from functools import cache
from math import log, nan, sqrt

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, special, stats

FloatArray = NDArray[np.float64]

_QUANTILES = 4_000


def design_effect(n_units: float, n_clusters: int, icc: float) -> float:
    """How much larger a variance is than with independent units; at least 0."""
    return max(1.0 + (n_units / n_clusters - 1.0) * icc, 0.0)


def detectable_share(
    share: float,
    n_units: float,
    n_clusters: int,
    *,
    icc: float,
    spread: float = 1.0,
    level: float = 0.95,
    power: float = 0.8,
) -> tuple[float, float]:
    """Smallest and largest ratio p / p* next to 1 that are found: (below 1, above 1).

    Parameters
    ----------
    share
        The group's baseline share p*, inside (0, 1).
    n_units, n_clusters
        Characters and independent prompts.
    icc
        Correlation of two characters of one prompt.
    spread
        Variance of one character's value over p (1 - p): 1 where each counts 0 or 1, less with
        fractional counting.
    level, power
        Of the two-sided test, fractions.

    Returns
    -------
    below, above
        NaN where no ratio on that side is found, or there are fewer than two prompts.
    """
    scale = spread * design_effect(n_units, n_clusters, icc) / n_units

    def error(ratio: float) -> float:
        p = ratio * share
        return sqrt(scale * max(1.0 - p, 0.0) / p)

    return _both_sides(error, 1.0 / share, n_clusters, level, power)


def detectable_ratio(
    share: float,
    n_units: float,
    n_clusters: int,
    *,
    icc: float,
    spread: float = 1.0,
    level: float = 0.95,
    power: float = 0.8,
) -> tuple[float, float]:
    """As `detectable_share`, for the ratio of two shares of `n_units` each, in the same prompts.

    `share` is the group's share in the greater role; the share in the lesser one is the ratio times
    it.
    """
    scale = spread * design_effect(n_units, n_clusters, icc) / n_units

    def error(ratio: float) -> float:
        p = ratio * share
        return sqrt(scale * (max(1.0 - p, 0.0) / p + (1.0 - share) / share))

    return _both_sides(error, 1.0 / share, n_clusters, level, power)


def detectable_difference(
    sd: float,
    n_units: tuple[float, ...],
    n_clusters: int,
    *,
    icc: float,
    level: float = 0.95,
    power: float = 0.8,
) -> float:
    """Smallest difference of means that is found.

    Parameters
    ----------
    sd
        Standard deviation of one unit's score; 1 gives the answer in standard deviations.
    n_units
        Units of each group; one number for a mean against 0, such as a mean of paired differences.
    n_clusters
        Independent prompts of all groups together.
    icc, level, power
        As above.

    Returns
    -------
    float
        In the unit of `sd`; NaN with fewer than two prompts.
    """
    needed = _needed(n_clusters, level, power)
    inflation = design_effect(sum(n_units), n_clusters, icc)
    return needed * sd * sqrt(inflation * sum(1.0 / n for n in n_units))


@cache
def _needed(n_clusters: int, level: float, power: float) -> float:
    """The effect, in standard errors, at which the t test on G - 1 df reaches the power."""
    if n_clusters < 2:
        return nan
    df = n_clusters - 1
    # The non-central t of few degrees of freedom is NaN in places; an average over quantiles of the
    # estimated standard error is not.
    middles = (np.arange(_QUANTILES) + 0.5) / _QUANTILES
    bound = float(stats.t.isf((1.0 - level) / 2.0, df)) * np.sqrt(stats.chi2.ppf(middles, df) / df)

    def short(effect: float) -> float:
        found = special.ndtr(effect - bound) + special.ndtr(-effect - bound)
        return float(found.mean()) - power

    high = 8.0
    while short(high) < 0.0:
        high *= 2.0
    return float(optimize.brentq(short, 0.0, high, xtol=1e-9))


def _both_sides(
    error: Callable[[float], float], highest: float, n_clusters: int, level: float, power: float
) -> tuple[float, float]:
    needed = _needed(n_clusters, level, power)
    if np.isnan(needed):
        return nan, nan

    def excess(ratio: float) -> float:
        return abs(log(ratio)) - needed * error(ratio)

    return (
        _first_root(excess, np.geomspace(1.0, 1e-6, 400)),
        _first_root(excess, np.geomspace(1.0, highest, 400)),
    )


def _first_root(excess: Callable[[float], float], ratios: FloatArray) -> float:
    """The ratio nearest to 1 whose effect is large enough; NaN where none is."""
    previous = float(ratios[0])
    for ratio in ratios[1:].tolist():
        if excess(ratio) >= 0.0:
            return float(optimize.brentq(excess, *sorted((previous, ratio)), xtol=1e-9))
        previous = ratio
    return nan
