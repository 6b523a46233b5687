"""Medians of shares over several writers (models) that answered the same prompts.

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

from portrayal.stats._arguments import divide
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
    evidence = _evidence(count, total, squares, rng)
    clusters = (total.sum(1) > 0).sum(0)
    models = (total.sum(0) > 0).sum(0)
    tested = np.broadcast_to(np.asarray(null, dtype=np.float64), evidence.share.shape)
    inside = (tested > 0) & (tested < 1)
    reason = np.select(
        [models == 0, models < FEWEST_MODELS, clusters < 2, ~inside],
        [NO_UNITS, FEW_MODELS, ONE_PROMPT, NO_NULL],
        default="",
    )
    known = (models >= FEWEST_MODELS) & (clusters >= 2)
    low, high = (np.where(known, x, np.nan) for x in evidence_interval(evidence, level))
    p = evidence_p(evidence, np.where(reason == "", tested, np.nan))
    carriers = effective_number(count.sum(1))
    return Clustered(evidence.share, low, high, p, clusters, carriers, evidence.df, reason)


def median_over(values: FloatArray) -> FloatArray:
    """Median over axis 0 of the numbers there; NaN where fewer than three are numbers.

    >>> median_over(np.array([[1.0, 1.0], [3.0, np.nan], [2.0, 5.0]])).tolist()
    [2.0, nan]
    """
    known = (~np.isnan(values)).sum(0)
    ordered = np.sort(values, axis=0)  # NaN last
    low, high = np.maximum((known - 1) // 2, 0), np.maximum(known // 2, 0)
    ends = (
        np.take_along_axis(ordered, np.minimum(at, len(values) - 1)[np.newaxis], 0)[0]
        for at in (low, high)
    )
    return np.where(known >= FEWEST_MODELS, 0.5 * sum(ends), np.nan)


def _evidence(
    count: FloatArray, total: FloatArray, squares: FloatArray, rng: np.random.Generator
) -> Evidence:
    """What the data say about each median, reduced to effective units."""
    n_prompts, n_models, _ = count.shape
    size = total.sum(0)
    share = divide(count.sum(0), size)
    median = median_over(share)
    influence = np.nan_to_num(divide(count - share * total, size))
    flat = (influence**2).sum(0) <= 0
    near = divide(count.sum(0) + 0.5, size + 1.0)
    held = np.clip(share, np.minimum(near, 1 - near), np.maximum(near, 1 - near))
    weight = np.nan_to_num(divide(squares.sum(0), count.sum(0)), nan=1.0)
    unit = np.maximum(weight * held - held**2, 0.0)
    unit = divide(np.where(unit > 1e-12 * held, unit, held * (1 - held)), size)
    own = rng.standard_normal((_NOISE, n_models, 1)) * np.sqrt(np.nan_to_num(unit))
    shared = np.einsum("bg,gmk->bmk", rng.standard_normal((_NOISE, n_prompts)), influence)
    apart = _noisy_median(share, own)
    noisy = _noisy_median(share, np.where(flat, own, shared))
    leaning = _leaning(share, noisy, np.where(flat, own, shared))
    linear = np.einsum("mk,gmk->gk", leaning, influence)
    together = np.einsum("mk,gmk->gk", leaning, np.nan_to_num(divide(total, size)))
    line = np.nansum(leaning**2 * np.nan_to_num(unit), axis=0)
    effect, df = design_effect(linear, [together], line[np.newaxis])
    factor = divide((linear**2).sum(0), effect * line)
    independent = apart.var(0)
    effect = divide(noisy.var(0), np.where(np.isfinite(factor), factor, 1.0) * independent)
    least, most = (np.where(np.isnan(held), end, held) for end in (1.0, 0.0))
    centre = np.clip(median, least.min(0), np.maximum(most.max(0), least.min(0)))
    units = divide(centre * (1 - centre), independent)
    each = divide(held * (1 - held), unit)  # units of every model, were they independent
    one = np.nan_to_num(median_over(np.where(size > 0, each, np.nan)))
    certain = (median <= 0) | (median >= 1)
    units = np.where(certain | ~np.isfinite(units), one, np.minimum(units, np.nansum(each, axis=0)))
    df = np.where(certain | ~np.isfinite(effect), 0.0, df)
    largest = np.nan_to_num(divide(units, effective_number(total.sum(1))))
    return Evidence(
        share=median,
        size=units,
        effect=np.where(df > 0, effect, 1.0),
        df=df,
        smallest=np.full_like(median, SMALLEST_EFFECT),
        largest=np.maximum(largest, 1.0) * (1 + 1e-9),
    )


def _noisy_median(share: FloatArray, noise: FloatArray) -> FloatArray:
    """Medians of shares with noise, shape (n_draws, k)."""
    return median_over(np.moveaxis(share + noise, 1, 0))


def _leaning(share: FloatArray, median: FloatArray, noise: FloatArray) -> FloatArray:
    """How often each model is the one nearest the median, shape (n_models, k); sums to 1."""
    away = np.abs(share + noise - median[:, np.newaxis])
    away = np.where(np.isnan(away), np.inf, away)
    nearest = away.argmin(1)
    found = (nearest[:, np.newaxis] == np.arange(len(share))[:, np.newaxis]).mean(0)
    return np.asarray(found, dtype=np.float64)
