"""Agreement of raters, as it is observed and beyond chance; categories have no order.

Ratings come as counts of raters by item and category. Every part is a function of sums over items,
so replicates of a bootstrap by item need only `weights`, never the items themselves.
"""

import numpy as np
import numpy.typing as npt

from portrayal.stats._arguments import check_not_negative, divide
from portrayal.types import FloatArray

_ALIKE = 1e-12


def percent_agreement(counts: npt.ArrayLike, weights: npt.ArrayLike | None = None) -> FloatArray:
    """Share in 0–1 of pairs of raters that agree, averaged over items with two ratings or more.

    Of two raters it is the share of items on which they agree.

    Parameters
    ----------
    counts
        Raters by item and category, shape (n_items, k); items with fewer than two ratings, which
        no pair can be made of, add nothing.
    weights
        How often each item counts, shape (..., n_items); once each unless given.

    Raises
    ------
    ValueError
        If a count is negative.
    """
    counts, weights = _checked(counts, weights)
    n = counts.sum(-1)
    paired = n >= 2  # a single rating agrees with nobody
    agreeing = np.where(paired, divide((counts * (counts - 1)).sum(-1), n * (n - 1)), 0.0)
    return divide(weights @ agreeing, weights @ paired.astype(np.float64))


def specific_agreement(counts: npt.ArrayLike, weights: npt.ArrayLike | None = None) -> FloatArray:
    """Agreement on each category: where one rater gives it, the share of the others that do too.

    Of two raters and two answers it is positive and negative agreement, 2a / (2a + b + c), which
    Cicchetti and Feinstein (1990), High agreement but low kappa: II, read beside kappa. Shape
    (..., k), in 0–1; NaN for a category that no one gives. Parameters and errors are those of
    `percent_agreement`.
    """
    counts, weights = _checked(counts, weights)
    n = counts.sum(-1, keepdims=True)
    pairs = np.where(n >= 2, counts * (n - 1), 0.0)
    return divide(weights @ (counts * np.maximum(counts - 1, 0)), weights @ pairs)


def beyond_chance(observed: npt.ArrayLike, chance: npt.ArrayLike) -> FloatArray:
    """Agreement beyond chance, (observed - chance) / (1 - chance); NaN where chance is 1.

    With means over several questions in place of each, it is the pooled kappa of De Vries et al.
    (2008), Using pooled kappa to summarize interrater agreement across many items.
    """
    a, e = np.asarray(observed, dtype=np.float64), np.asarray(chance, dtype=np.float64)
    # A chance that misses 1 by rounding would give a kappa of any size.
    alike = np.isclose(e, 1.0, rtol=0.0, atol=_ALIKE)
    return np.where(alike, np.nan, divide(a - e, np.where(alike, np.nan, 1.0 - e)))


def cohen_parts(table: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Observed and chance agreement of two raters; `beyond_chance` makes Cohen's (1960) kappa.

    Parameters
    ----------
    table
        Counts of the first rater's category by the second's, shape (..., k, k).

    Raises
    ------
    ValueError
        If a count is negative, or the table is not square.

    Examples
    --------
    >>> round(float(beyond_chance(*cohen_parts([[20, 5], [10, 15]]))), 2)
    0.4
    """
    counts = check_not_negative("table", table)
    if counts.ndim < 2 or counts.shape[-1] != counts.shape[-2]:
        raise ValueError(f"a table of two raters is square; got shape {counts.shape}.")
    total = counts.sum((-2, -1))
    observed = divide(np.trace(counts, axis1=-2, axis2=-1), total)
    return observed, divide((counts.sum(-1) * counts.sum(-2)).sum(-1), total**2)


def fleiss_parts(
    counts: npt.ArrayLike, weights: npt.ArrayLike | None = None
) -> tuple[FloatArray, FloatArray]:
    """Observed and chance agreement of many raters; `beyond_chance` makes Fleiss' (1971) kappa.

    Parameters are those of `percent_agreement`.

    Raises
    ------
    ValueError
        If a count is negative, or items have different numbers of ratings, or fewer than two:
        Krippendorff's alpha takes such items.

    Examples
    --------
    >>> round(float(beyond_chance(*fleiss_parts([[3, 0], [0, 3], [2, 1]]))), 2)
    0.55
    """
    counts, weights = _checked(counts, weights)
    n = counts.sum(-1)
    if n.size and (n.min() < 2 or n.max() != n.min()):
        raise ValueError(
            "every item must be rated by the same two raters or more; "
            f"got from {n.min():g} to {n.max():g} ratings."
        )
    marginal = weights @ counts
    # Chance of two ratings drawn with replacement from all, as Fleiss has it.
    share = divide(marginal, marginal.sum(-1, keepdims=True))
    return percent_agreement(counts, weights), (share**2).sum(-1)


def krippendorff_parts(
    counts: npt.ArrayLike, weights: npt.ArrayLike | None = None
) -> tuple[FloatArray, FloatArray]:
    """Observed and chance agreement, 1 - D_o and 1 - D_e, of Krippendorff's (2011) nominal alpha.

    `beyond_chance` makes alpha of them. Parameters and errors are those of `percent_agreement`.

    Examples
    --------
    >>> round(float(beyond_chance(*krippendorff_parts([[3, 0], [0, 2], [2, 1]]))), 2)
    0.53
    """
    counts, weights = _checked(counts, weights)
    n = counts.sum(-1)
    counts = np.where((n >= 2)[:, np.newaxis], counts, 0.0)
    # Krippendorff's coincidences: an item of n ratings weighs n, not its n (n - 1) pairs.
    same = np.where(n >= 2, divide((counts * (counts - 1)).sum(-1), n - 1), 0.0)
    values = weights @ counts
    total = values.sum(-1)
    # Drawn without replacement, unlike Fleiss: no rating is compared with itself.
    chance = divide((values * (values - 1)).sum(-1), total * (total - 1))
    return divide(weights @ same, total), chance


def _checked(counts: npt.ArrayLike, weights: npt.ArrayLike | None) -> tuple[FloatArray, FloatArray]:
    counts = check_not_negative("counts", counts)
    if counts.ndim != 2:
        raise ValueError(f"counts have an axis of items and one of categories; got {counts.shape}.")
    if weights is None:
        return counts, np.ones(len(counts))
    return counts, check_not_negative("weights", weights)
