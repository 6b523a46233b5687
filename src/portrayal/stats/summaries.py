"""Sizes and summaries: Cohen's d, medians of defined values, and random effects over models."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from portrayal.stats._arguments import check_level, check_not_negative, divide
from portrayal.stats.tails import f_sf, t_isf
from portrayal.types import FloatArray, IntArray


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


@dataclass(frozen=True)
class RandomEffects:
    """Summaries of values that differ between sources, such as models; each of shape (k,).

    Attributes
    ----------
    value, low, high
        Mean of the population that the sources are drawn from, with its interval.
    least, most
        Prediction interval: where the value of a further source would lie.
    sd
        Standard deviation τ between sources, beyond the noise of each.
    p
        Of no difference between the sources; NaN where prompts are fewer than twice the sources.
    n_sources
        Sources with a value.
    """

    value: FloatArray
    low: FloatArray
    high: FloatArray
    least: FloatArray
    most: FloatArray
    sd: FloatArray
    p: FloatArray
    n_sources: IntArray


def random_effects(values: npt.ArrayLike, influence: npt.ArrayLike, level: float) -> RandomEffects:
    """Summarise values of several sources by random effects, where sources share their prompts.

    Sources that answer the same prompts err alike, so the noise of their values has a covariance S:
    sums over prompts of products of influences, times G / (G - 1). The variance τ² between sources
    is the spread of the values less what noise adds to it, mean variance minus mean covariance;
    sources count by 1 / (τ² + own noise). The variance of the mean is w'(τ² I + S) w, with t on
    sources less one (Hartung and Knapp 2001), and the prediction interval adds τ² (Higgins et al.
    2009). Equality is tested by Hotelling's T² of differences between sources.

    Parameters
    ----------
    values
        Shape (n_sources, k); NaN where a source has no value, which leaves it out.
    influence
        Of each prompt on each source's value, shape (n_sources, n_prompts, k).
    level
        Confidence level, a fraction.

    Returns
    -------
    RandomEffects
        NaN where fewer than three sources have a value.

    References
    ----------
    Hartung & Knapp (2001), On tests of the overall treatment effect in meta-analysis with normally
    distributed responses. Higgins, Thompson & Spiegelhalter (2009), A re-evaluation of
    random-effects meta-analysis. Hotelling (1931), The generalization of Student's ratio.

    Examples
    --------
    >>> noise = np.random.default_rng(0).normal(0, 0.01, (3, 20, 1))
    >>> found = random_effects([[0.1], [0.4], [0.7]], noise - noise.mean(1, keepdims=True), 0.95)
    >>> round(float(found.value[0]), 1), round(float(found.sd[0]), 1), bool(found.p[0] < 0.001)
    (0.4, 0.3, True)
    """
    check_level(level)
    y, u = np.asarray(values, dtype=np.float64), np.asarray(influence, dtype=np.float64)
    if y.ndim != 2 or u.ndim != 3 or u.shape[::2] != y.shape:
        raise ValueError(
            "values need the shape (n_sources, k), influences (n_sources, n_prompts, k); got "
            f"{y.shape} and {u.shape}."
        )
    columns = [_random_effects(y[:, i], u[:, :, i], level) for i in range(y.shape[1])]
    found: list[FloatArray] = list(np.array(columns, dtype=np.float64).reshape(-1, 7).T)
    value, low, high, least, most, sd, p = found
    return RandomEffects(value, low, high, least, most, sd, p, (~np.isnan(y)).sum(0))


def _random_effects(y: FloatArray, u: FloatArray, level: float) -> tuple[float, ...]:
    known = ~np.isnan(y) & ~np.isnan(u).any(axis=1)
    y, u = y[known], u[known]
    m, n = u.shape
    if m < 3 or n < 2:
        return (np.nan,) * 7
    noise = u @ u.T * n / (n - 1)
    own = np.diag(noise)
    shared = (noise.sum() - own.sum()) / (m * (m - 1))
    between = max(0.0, float(y.var(ddof=1)) - float(own.mean() - shared))
    weight = divide(1.0, own + between)
    weight = np.full(m, 1.0 / m) if not np.isfinite(weight).all() else weight / weight.sum()
    mean = float(weight @ y)
    variance = float(weight @ (noise + between * np.eye(m)) @ weight)
    low, high = (mean + side * _half(variance, m - 1, level) for side in (-1, 1))
    least, most = (mean + side * _half(variance + between, m - 2, level) for side in (-1, 1))
    return mean, low, high, least, most, float(np.sqrt(between)), _equality(y, noise, n)


def _half(variance: float, df: int, level: float) -> float:
    return float(t_isf((1.0 - level) / 2.0, df)) * float(np.sqrt(variance))


def _equality(y: FloatArray, noise: FloatArray, n: int) -> float:
    """P of Hotelling's T² that all values are equal; NaN with too few prompts or no noise."""
    m = len(y)
    apart = np.eye(m)[1:] - np.eye(m)[:1]
    spread = apart @ noise @ apart.T
    if n < 2 * m or np.linalg.matrix_rank(spread) < m - 1:
        return float("nan")
    t2 = float((apart @ y) @ np.linalg.solve(spread, apart @ y))
    return float(f_sf(t2 * (n - m + 1) / ((n - 1) * (m - 1)), m - 1, n - m + 1))
