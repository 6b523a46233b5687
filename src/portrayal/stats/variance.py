"""Interval and test of the variance between the true means of groups, from sums by block.

The variance V of estimated means holds their noise. With s² the noise's expected share of V,
V / s² is noncentral chi-square over its degrees of freedom, those of a quadratic form in the means.
s² is estimated from the blocks, with degrees of freedom of its own, and its uncertainty is averaged
over. Without a true variance the test is the F test; its inversion gives the bounds.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import special

from portrayal.stats._arguments import check_level, crossing
from portrayal.stats.clustered import signed_pair, sums_by, two_way_variance
from portrayal.stats.tails import chi2_ppf, f_sf
from portrayal.types import FloatArray, IntArray

WITHIN = 0.1
"""Working correlation of texts of one block and group; it moves degrees of freedom only."""
_TINY = 1e-12
_FAR = 400.0
_QUANTILES = (np.arange(200) + 0.5) / 200


@dataclass(frozen=True)
class Variance:
    """A variance between groups, in the squared unit of the values.

    Attributes
    ----------
    value
        Variance of the estimated means (ddof 1); with its noise. NaN where undefined.
    noise
        Part of `value` that chance puts there.
    low, high
        Bounds of the variance between the true means, 0 or more; NaN where undefined.
    p
        p of the hypothesis that all true means are equal: twice that of the F test, at most 1.
    df
        Degrees of freedom of numerator and denominator.
    n_clusters
        Blocks with a text.
    """

    value: float
    noise: float
    low: float
    high: float
    p: float
    df: tuple[float, float]
    n_clusters: int


def infer_variance(
    total: npt.ArrayLike,
    count: npt.ArrayLike,
    members: Sequence[npt.ArrayLike],
    level: float,
    ways: Sequence[IntArray] = (),
) -> Variance:
    """Infer the variance between groups' means, averaged over several ways to group the texts.

    Parameters
    ----------
    total, count
        Sums and numbers of texts by block and cell, shape (n_blocks, n_cells).
    members
        For each way to group (an attribute, or all crossed) which cells belong to which group, 0 or
        1, shape (n_cells, k) each. The estimate is the mean of their variances.
    level
        Confidence level, a fraction.
    ways
        Two ways in which the rows of `total` are clustered at once, shape (n_blocks,) each, such as
        by name and by topic; without them the rows are the clusters. See
        `stats.clustered.infer_crossed`.

    Returns
    -------
    Variance
        p < 1 - level exactly where `low` is above 0: the interval has two bounds, so p is twice the
        F test's. `value` may lie above `high`, as it holds noise. Undefined where a group has no
        text, or fewer than two blocks differ.

    Raises
    ------
    ValueError
        For arrays of unlike shape, negative counts, fewer than two groups, or a level outside
        (0, 1).

    References
    ----------
    Steiger (2004), Beyond the F test (inverting noncentral tests). Sankaran (1963), Approximations
    to the non-central chi-square distribution. Bell & McCaffrey (2002) for the
    small-sample factor; Box (1954), Some theorems on quadratic forms, for the degrees of freedom.

    Examples
    --------
    >>> noise = [[0.1, 0.0, 0.0], [0.0, 0.1, 0.0], [0.0, 0.0, 0.3], [0.0, 0.2, 0.0]]
    >>> total = np.arange(4.0)[:, np.newaxis] + [0.0, 1.0, 2.0] + noise
    >>> found = infer_variance(total, np.ones((4, 3)), [np.eye(3)], 0.95)
    >>> [round(x, 3) for x in (found.value, found.noise, found.low, found.high)]
    [1.051, 0.004, 0.837, 1.279]
    >>> [round(x) for x in found.df], found.p < 0.001
    ([2, 6], True)
    """
    check_level(level)
    y, n, groups, form = _checked(total, count, members)
    size = n @ groups
    nan = float("nan")
    if (size.sum(axis=0) <= 0).any():
        return Variance(nan, nan, nan, nan, nan, (0.0, 0.0), int((n.sum(axis=1) > 0).sum()))
    mean = (y @ groups).sum(axis=0) / size.sum(axis=0)
    value = float(mean @ form @ mean)
    # What each block adds to the groups' means, from which their noise comes.
    influence = (y @ groups - size * mean) / size.sum(axis=0)
    rows = [np.arange(len(y))]
    if ways:
        # Clusters of both ways at once are counted twice otherwise, and are taken off again
        pairs = np.unique(np.stack(ways, axis=1), axis=0, return_inverse=True)[1].reshape(-1)
        rows = [*ways, pairs]
    noises, n_clusters = [], []
    for way in rows:
        names, code = np.unique(way, return_inverse=True)
        shift, sums = (sums_by(code, len(names), x) for x in (influence, n))
        factor, df1, df2 = _working(sums, groups, form)
        raw = float(np.sum((shift @ form) * shift))
        noises.append((raw / factor if factor > _TINY else nan, df2))
        n_clusters.append(int((sums.sum(axis=1) > 0).sum()))
    # The third, clusters of both ways at once, are never the fewest.
    (noise, df2), fewest = noises[0], min(n_clusters[:2])
    if ways:
        noise, df2 = map(float, two_way_variance(*(np.array(noises).T)))
    if not noise > _TINY * max(1.0, value) or fewest < 2 or not df2 > 0:
        return Variance(value, nan, nan, nan, nan, (0.0, 0.0), fewest)
    low, high = variance_bounds(value, noise, df1, df2, level)
    p = min(1.0, 2.0 * float(f_sf(value / noise, df1, df2)))
    return Variance(value, noise, low, high, p, (df1, df2), fewest)


def variance_bounds(
    value: float, noise: float, df1: float, df2: float, level: float
) -> tuple[float, float]:
    """Bounds of the true variance, by inverting noncentral chi-square with uncertain noise.

    With noise s², df1 times `value` / s² is noncentral chi-square with noncentrality df1 V / s².
    s² is not known: its tails are averaged over noise df2 / chi²(df2). At V = 0 that is exactly F;
    for V well above the noise it is nearly value ± t(df2) · standard error. (Bounds of the
    noncentrality of F itself, times the estimated noise, are no bounds of V: the noise would stand
    in them twice.) A value below its noise says no more than one as large as it, so `high` is that
    of the larger: groups that happen to agree would else give an interval without width.

    Examples
    --------
    >>> low, high = variance_bounds(0.5, 1.0, 2.0, 20.0, 0.95)
    >>> low, high == variance_bounds(1.0, 1.0, 2.0, 20.0, 0.95)[1]
    (0.0, True)
    """
    tail = (1.0 - check_level(level)) / 2.0
    possible = noise * df2 / chi2_ppf(_QUANTILES, df2)
    high = _bound(max(value, noise), possible, df1, tail)
    if not 2.0 * float(f_sf(value / noise, df1, df2)) < 1.0 - level:
        return 0.0, high
    # The test refuses 0, so the bound lies above it, if only by the smallest number.
    return max(_bound(value, possible, df1, 1.0 - tail), np.nextafter(0.0, 1.0)), high


def _working(count: FloatArray, groups: FloatArray, form: FloatArray) -> tuple[float, float, float]:
    """Small-sample factor and degrees of freedom of numerator and denominator.

    With Q the matrix of the estimate m'Qm, u the residuals' influences and S the covariance of the
    means: the expected sum over blocks of u'Qu over tr(QS), (tr QS)² / tr(QS)², and factor (tr QS)²
    / sum of tr(Q S_b)². The working model has independent cells, of variance n (1 + (n - 1) 0.1).
    With k crossed groups of one size in B blocks they are 1 - 1 / B, k - 1 and (k - 1)(B - 1).
    Blocks with the same counts are computed once.
    """
    rows, times = np.unique(count, axis=0, return_counts=True)
    sizes = times @ (rows @ groups)
    spread = rows * (1.0 + np.maximum(rows - 1.0, 0.0) * WITHIN)
    joint = np.einsum("bc,ck,cl->bkl", spread, groups / sizes, groups / sizes)
    part = rows @ groups / sizes
    average = np.einsum("b,bkl->kl", times, joint)
    trace = float(np.sum(form * average))
    if trace <= 0:
        return 0.0, 0.0, 0.0
    cross = float(np.einsum("b,kl,bkl,bl->", times, form, joint, part))
    square_own = float(np.einsum("b,bk,kl,bl->", times, part, form * average, part))
    factor = (trace - 2.0 * cross + square_own) / trace
    both, per_row = form @ average, form @ joint
    square = float(np.einsum("b,bkm,bmk->", times, per_row, per_row))
    return factor, trace**2 / float(np.sum(both * both.T)), factor * trace**2 / square


def _bound(value: float, noise: FloatArray, df1: float, p: float) -> float:
    """The variance V under which an estimate lies below `value` with probability p; 0 at least.

    `noise` are possible values of s², shape (n,), equally likely.
    """

    def excess(true: FloatArray) -> FloatArray:
        size = df1 * true[:, np.newaxis] / noise
        return np.asarray(p - _below(df1 * value / noise, df1, size).mean(axis=1))

    low, high = np.zeros(1), np.array([value + float(noise.mean())])
    if excess(low)[0] >= 0.0:
        return 0.0
    while excess(high)[0] < 0.0:  # the search needs ends of either sign
        high *= 2.0
    return float(crossing(excess, low, high)[0])


def _below(x: FloatArray, df: float, size: FloatArray) -> FloatArray:
    """Noncentral chi-square distribution function; Sankaran's normal form where it is large."""
    far = size > _FAR  # the series of the exact function gets slow and inexact there
    near = special.chndtr(np.where(far, 1.0, x), df, np.where(far, 1.0, size))
    mean, second, third = df + size, df + 2.0 * size, df + 3.0 * size
    h = 1.0 - 2.0 * mean * third / (3.0 * second**2)
    p = second / mean**2
    m = (h - 1.0) * (1.0 - 3.0 * h)
    centre = 1.0 + h * p * (h - 1.0 - 0.5 * (2.0 - h) * m * p)
    spread = h * np.sqrt(2.0 * p) * (1.0 + 0.5 * m * p)
    return np.asarray(np.where(far, special.ndtr(((x / mean) ** h - centre) / spread), near))


def _checked(
    total: npt.ArrayLike, count: npt.ArrayLike, members: Sequence[npt.ArrayLike]
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Checked sums and counts, all groups side by side (n_cells, k), and the matrix Q, (k, k)."""
    y, n = signed_pair(total, count)
    kinds = [np.asarray(matrix, dtype=np.float64) for matrix in members]
    if not kinds or any(matrix.ndim != 2 or len(matrix) != y.shape[1] for matrix in kinds):
        raise ValueError(f"members must have the shape ({y.shape[1]}, k) each.")
    sizes = [matrix.shape[1] for matrix in kinds]
    if min(sizes) < 2:
        raise ValueError("a variance needs at least two groups.")
    form = np.zeros((sum(sizes), sum(sizes)))
    start = 0
    for k in sizes:
        # Then m'Qm is the variance (ddof 1) of the means of each way to group, averaged over the
        # ways.
        form[start : start + k, start : start + k] = (np.eye(k) - 1.0 / k) / ((k - 1) * len(kinds))
        start += k
    return y, n, np.concatenate(kinds, axis=1), form
