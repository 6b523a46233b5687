"""Sizes and summaries: Cohen’s d, and medians over several writers.

A prompt is shared by all models, so its influences on their shares move together. The variance of
the median comes from normal noise with the covariance that prompts give, and, for comparison, from
noise with the variances that independent units would give: their ratio is a design effect. From
there a median is inferred as one share is (`stats/design_effect.py`), with the degrees of freedom
of the influences on the median. A model whose count is 0, or all, has no influences of its own; its
noise is that of independent units at a share half a unit away.

Sources: Wu (1986), Jackknife, bootstrap and other resampling methods in regression analysis, for
noise from influences times random multipliers; Korn & Graubard (1998); Bell & McCaffrey (2002).
"""

import numpy as np
import numpy.typing as npt

from portrayal.stats._arguments import check_not_negative, divide
from portrayal.stats.clustered import NO_NULL, NO_UNITS, ONE_PROMPT, Clustered
from portrayal.stats.design_effect import (
    SMALLEST_EFFECT,
    Evidence,
    design_effect,
    effective_number,
    evidence_interval,
    evidence_p,
)
from portrayal.types import FloatArray

FEWEST_MODELS = 3
"""Fewer values have no median that says more than their mean."""
FEW_MODELS = "fewer than three models have this share"

_NOISE = 999


def infer_median_shares(
    count: FloatArray,
    total: FloatArray,
    squares: FloatArray,
    level: float,
    null: npt.ArrayLike,
    rng: np.random.Generator,
) -> Clustered:
    """Infer the median over models of clustered shares, sum count / sum total of each.

    Parameters
    ----------
    count, total, squares
        Sums per prompt, model and group, shape (n_prompts, n_models, k): counts, units, and squared
        contributions (equal to `count` for units that count 0 or 1). A model without units of a
        group is left out of that group's median.
    level
        Confidence level, a fraction.
    null
        Medians to test, shape (k,) or one number; NaN for none.
    rng
        Source of the noise.

    Returns
    -------
    Clustered
        Shape (k,). NaN where fewer than three models have the share, or prompts are fewer than two.

    Raises
    ------
    ValueError
        For arrays of unlike shape, or a level outside (0, 1).

    Examples
    --------
    >>> total = np.full((6, 3, 1), 10.0)
    >>> count = np.array([[2, 3, 4], [4, 2, 5], [3, 3, 3], [1, 5, 4], [2, 4, 6], [3, 2, 5.0]])
    >>> count = count[:, :, np.newaxis]
    >>> found = infer_median_shares(count, total, count, 0.95, 0.3, np.random.default_rng(0))
    >>> round(float(found.value[0]), 3), bool(found.low[0] < 0.3 < found.high[0])
    (0.317, True)
    """
    if not count.shape == total.shape == squares.shape or count.ndim != 3:
        shapes = f"{count.shape}, {total.shape} and {squares.shape}"
        raise ValueError(f"sums must share a shape (n_prompts, n_models, k); got {shapes}.")
    n_prompts, n_models, _ = count.shape
    size = total.sum(0)
    share = divide(count.sum(0), size)
    median = median_over(share)
    influence = np.nan_to_num(divide(count - share * total, size))
    flat = (influence**2).sum(0) <= 0
    near = divide(count.sum(0) + 0.5, size + 1.0)
    # A share of 0 or 1 would have no noise: it is taken half a unit away.
    inner = np.clip(share, np.minimum(near, 1 - near), np.maximum(near, 1 - near))
    weight = np.nan_to_num(divide(squares.sum(0), count.sum(0)), nan=1.0)
    unit = np.maximum(weight * inner - inner**2, 0.0)
    unit = divide(np.where(unit > 1e-12 * inner, unit, inner * (1 - inner)), size)
    independent_noise = rng.standard_normal((_NOISE, n_models, 1)) * np.sqrt(np.nan_to_num(unit))
    shared = np.einsum("bg,gmk->bmk", rng.standard_normal((_NOISE, n_prompts)), influence)
    noisy_units = _noisy_median(share, independent_noise)
    noisy = _noisy_median(share, np.where(flat, independent_noise, shared))
    leaning = _leaning(share, noisy, np.where(flat, independent_noise, shared))
    linear = np.einsum("mk,gmk->gk", leaning, influence)
    weights = np.einsum("mk,gmk->gk", leaning, np.nan_to_num(divide(total, size)))
    line = np.nansum(leaning**2 * np.nan_to_num(unit), axis=0)
    effect, df = design_effect(linear, [weights], line[np.newaxis])
    factor = divide((linear**2).sum(0), effect * line)
    independent = noisy_units.var(0)
    effect = divide(noisy.var(0), np.where(np.isfinite(factor), factor, 1.0) * independent)
    least, most = (np.where(np.isnan(inner), end, inner) for end in (1.0, 0.0))
    centre = np.clip(median, least.min(0), np.maximum(most.max(0), least.min(0)))
    units = divide(centre * (1 - centre), independent)
    sizes = divide(inner * (1 - inner), unit)  # units of every model, were they independent
    one = np.nan_to_num(median_over(np.where(size > 0, sizes, np.nan)))
    certain = (median <= 0) | (median >= 1)
    units = np.where(
        certain | ~np.isfinite(units), one, np.minimum(units, np.nansum(sizes, axis=0))
    )
    df = np.where(certain | ~np.isfinite(effect), 0.0, df)
    largest = np.nan_to_num(divide(units, effective_number(total.sum(1))))
    evidence = Evidence(
        share=median,
        size=units,
        effect=np.where(df > 0, effect, 1.0),
        df=df,
        smallest=np.full_like(median, SMALLEST_EFFECT),
        largest=np.maximum(largest, 1.0) * (1 + 1e-9),
    )
    clusters = (total.sum(1) > 0).sum(0)
    models = (total.sum(0) > 0).sum(0)
    tested = np.broadcast_to(np.asarray(null, dtype=np.float64), evidence.share.shape)
    inside = (tested > 0) & (tested < 1)
    reason = np.select(
        [models == 0, models < FEWEST_MODELS, clusters < 2, ~inside],
        [NO_UNITS, FEW_MODELS, ONE_PROMPT, NO_NULL],
        default="",
    )
    estimable = (models >= FEWEST_MODELS) & (clusters >= 2)
    low, high = (np.where(estimable, x, np.nan) for x in evidence_interval(evidence, level))
    p = evidence_p(evidence, np.where(reason == "", tested, np.nan))
    carriers = effective_number(count.sum(1))
    return Clustered(evidence.share, low, high, p, clusters, carriers, evidence.df, reason)


def median_over(values: FloatArray) -> FloatArray:
    """Median over axis 0 of the numbers there; NaN where fewer than three are numbers.

    >>> median_over(np.array([[1.0, 1.0], [3.0, np.nan], [2.0, 5.0]])).tolist()
    [2.0, nan]
    """
    n = (~np.isnan(values)).sum(0)
    ordered = np.sort(values, axis=0)  # NaN last
    low, high = np.maximum((n - 1) // 2, 0), np.maximum(n // 2, 0)
    ends = (
        np.take_along_axis(ordered, np.minimum(rank, len(values) - 1)[np.newaxis], 0)[0]
        for rank in (low, high)
    )
    return np.where(n >= FEWEST_MODELS, 0.5 * sum(ends), np.nan)


def _noisy_median(share: FloatArray, noise: FloatArray) -> FloatArray:
    """Medians of shares with noise, shape (n_draws, k)."""
    return median_over(np.moveaxis(share + noise, 1, 0))


def _leaning(share: FloatArray, median: FloatArray, noise: FloatArray) -> FloatArray:
    """How often each model is the one nearest the median, shape (n_models, k); sums to 1."""
    away = np.abs(share + noise - median[:, np.newaxis])
    away = np.where(np.isnan(away), np.inf, away)
    nearest = away.argmin(1)
    how_often = (nearest[:, np.newaxis] == np.arange(len(share))[:, np.newaxis]).mean(0)
    return np.asarray(how_often, dtype=np.float64)


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
