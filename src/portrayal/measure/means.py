"""Clustered inference on means and their differences, many columns at a time.

Like `clustered`, but for numbers of any sign: sums and counts per pair in, means with intervals
that resample pairs out. Where no pair differs from another there is no interval rather than one
without width.
"""

import numpy as np
from scipy import stats

from portrayal.measure.clustered import Inference, resampled
from portrayal.measure.scope import Scope
from portrayal.records import Interval
from portrayal.stats import cluster_robust_t, divide, expanded_percentile
from portrayal.types import FloatArray, IntArray

BOOTSTRAP = "cluster bootstrap over pairs (expanded percentile)"
PER_PAIR = "score interval with one observation per pair (no variation between pairs)"
ROBUST_T = "cluster-robust t test over pairs"
NORMAL = "mean ± normal quantile × standard error, articles independent"

_NO_WIDTH = 1e-12


def mean_inference(
    total: FloatArray, count: FloatArray, scope: Scope, rng: np.random.Generator
) -> Inference:
    """Infer Σ total / Σ count of each column.

    Parameters
    ----------
    total, count
        Sums and numbers of observations per pair, shape (n_pairs, k).
    scope, rng
        Level and draws; the random stream.
    """
    value = divide(total.sum(0), count.sum(0))
    clusters = (count > 0).sum(0)
    low, high = _bounds(divide(*resampled((total, count), scope, rng)), clusters, scope.level)
    return Inference(
        value=value,
        low=low,
        high=high,
        p=_p(value, mean_influence(total, count), clusters),
        n_clusters=clusters,
        resampled=np.ones(len(value), dtype=bool),
    )


def difference_inference(
    upper: tuple[FloatArray, FloatArray],
    lower: tuple[FloatArray, FloatArray],
    scope: Scope,
    rng: np.random.Generator,
) -> Inference:
    """Infer Σ a / Σ n − Σ b / Σ m of each column; pairs are resampled with both their sides.

    `upper` and `lower` are (a, n) and (b, m), each of shape (n_pairs, k).
    """
    value = divide(upper[0].sum(0), upper[1].sum(0)) - divide(lower[0].sum(0), lower[1].sum(0))
    clusters = np.minimum((upper[1] > 0).sum(0), (lower[1] > 0).sum(0))
    a, n, b, m = resampled((*upper, *lower), scope, rng)
    low, high = _bounds(divide(a, n) - divide(b, m), clusters, scope.level)
    influence = mean_influence(*upper) - mean_influence(*lower)
    return Inference(
        value=value,
        low=low,
        high=high,
        p=_p(value, influence, clusters),
        n_clusters=clusters,
        resampled=np.ones(len(value), dtype=bool),
    )


def mean_influence(total: FloatArray, count: FloatArray) -> FloatArray:
    """Influence of each pair on Σ total / Σ count: (t_g − mean × n_g) / Σ n, shape (k, n_pairs)."""
    size = count.sum(0)
    return divide(total - divide(total.sum(0), size) * count, size).T


def normal_interval(values: FloatArray, level: float) -> Interval | None:
    """Return the paper's interval of a mean, shape (n,); None with fewer than two values."""
    if len(values) < 2:
        return None
    half = float(stats.norm.isf((1 - level) / 2) * values.std(ddof=1) / np.sqrt(len(values)))
    mean = float(values.mean())
    return Interval(mean - half, mean + half, level, NORMAL) if half > _NO_WIDTH else None


def _bounds(draws: FloatArray, clusters: IntArray, level: float) -> tuple[FloatArray, FloatArray]:
    low, high = np.full(draws.shape[1], np.nan), np.full(draws.shape[1], np.nan)
    for size in np.unique(clusters[clusters > 1]):
        at = clusters == size
        low[at], high[at] = expanded_percentile(draws[:, at], level, int(size))
    wide = high - low > _NO_WIDTH
    return np.where(wide, low, np.nan), np.where(wide, high, np.nan)


def _p(value: FloatArray, influence: FloatArray, clusters: IntArray) -> FloatArray:
    p = np.full(len(value), np.nan)
    for size in np.unique(clusters[clusters > 1]):
        at = clusters == size
        p[at] = cluster_robust_t(value[at], influence[at], df=int(size) - 1)[1]
    return p
