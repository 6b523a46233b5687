"""Clustered inference on shares, ratios of shares, means and differences, many columns at a time.

Sums per prompt (or per pair of texts) go in; for every column a value, an interval that resamples
prompts, and a p-value come out. Where no prompt varies (a count of 0, say), the bootstrap would
give an interval without width: a share or ratio then gets the score interval with each prompt as
one observation, which is wide on purpose, and a mean gets none. One prompt alone says nothing about
other prompts: its interval is undefined.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from portrayal.measure.scope import Scope
from portrayal.records import Interval, Null, Test
from portrayal.stats import (
    cluster_robust_t,
    cluster_weights,
    divide,
    expanded_percentile,
    log_share_influence,
    ratio,
    score_ratio_interval,
    wilson,
)
from portrayal.types import BoolArray, FloatArray, IntArray

BOOTSTRAP = "cluster bootstrap over prompts (expanded percentile)"
PER_PROMPT = "score interval with one observation per prompt (no variation between prompts)"
ROBUST_T = "cluster-robust t test on the log scale"
ROBUST_T_OF_MEANS = "cluster-robust t test over pairs"
NORMAL = "mean ± normal quantile × standard error, articles independent"

CELLS = 1 << 20
"""Prompts × replicates of the bootstrap whose weights are in memory together: 16 MB."""

_ROUNDING = 1e-9  # replicates of the same share differ by the order in which they were summed
_NO_WIDTH = 1e-12

Sums = tuple[FloatArray, FloatArray]
"""Numerator and denominator per prompt, shapes (n_prompts, k)."""


@dataclass(frozen=True)
class Inference:
    """Values of many groups, shape (k,), with clustered bounds and p-values; NaN is undefined."""

    value: FloatArray
    low: FloatArray
    high: FloatArray
    p: FloatArray
    n_clusters: IntArray
    resampled: BoolArray

    def interval(self, i: int, scope: Scope, cluster: str = "prompt") -> Interval | None:
        """Return the clustered interval of group `i`; None where it is undefined.

        `cluster` is what the sums are of: "prompt" or "pair".
        """
        if np.isnan(self.low[i]) or np.isnan(self.high[i]):
            return None
        method = BOOTSTRAP if self.resampled[i] else PER_PROMPT
        return Interval(
            float(self.low[i]),
            float(self.high[i]),
            scope.level,
            method.replace("prompt", cluster),
            int(self.n_clusters[i]),
            scope.seed if self.resampled[i] else None,
        )

    def test(self, i: int, method: str = ROBUST_T) -> Test:
        """Return the clustered test of group `i` (p is NaN where undefined)."""
        return Test(float(self.p[i]), method)


def share_inference(
    numerator: FloatArray,
    denominator: FloatArray,
    scale: FloatArray,
    scope: Scope,
    rng: np.random.Generator,
) -> Inference:
    """Infer (Σ numerator / Σ denominator) / scale for each group.

    Parameters
    ----------
    numerator, denominator
        Sums per prompt, shape (n_prompts, k).
    scale
        What shares are divided by, such as p*, shape (k,); also the null, at value 1.
    scope, rng
        Level and draws; the random stream.
    """
    value = divide(numerator.sum(0), denominator.sum(0)) / scale
    clusters = (denominator > 0).sum(0)
    draws = divide(*resampled((numerator, denominator), scope, rng)) / scale
    influence = log_share_influence(numerator.T, denominator.T)

    def flat_bounds(flat: BoolArray) -> Sums:
        share = np.where(flat, value * scale, 0.0)
        low, high = wilson(np.clip(share, 0, 1) * clusters, clusters, scope.level)
        return low / scale, high / scale

    return infer(value, draws, influence, clusters, scope.level, flat_bounds)


def ratio_inference(upper: Sums, lower: Sums, scope: Scope, rng: np.random.Generator) -> Inference:
    """Infer the ratio of two shares, (Σ a / Σ n) over (Σ b / Σ m), for each group.

    Parameters
    ----------
    upper, lower
        (a, n) and (b, m): counts and totals per prompt, each of shape (n_prompts, k).
    scope, rng
        Level and draws; the random stream.
    """
    cells = (*upper, *lower)
    totals = [cell.sum(0) for cell in cells]
    clusters = ((upper[1] > 0) & (lower[1] > 0)).sum(0)
    a, n, b, m = resampled(cells, scope, rng)
    influence = log_share_influence(upper[0].T, upper[1].T) - log_share_influence(
        lower[0].T, lower[1].T
    )

    def flat_bounds(flat: BoolArray) -> Sums:
        first, second = (
            np.where(flat, divide(k, total) * clusters, 0.0)
            for k, total in zip((totals[0], totals[2]), (totals[1], totals[3]), strict=True)
        )
        size = np.where(flat, clusters, 1)
        return score_ratio_interval(first, size, second, size, scope.level)

    draws = divide(divide(a, n), divide(b, m))
    return infer(ratio(*totals), draws, influence, clusters, scope.level, flat_bounds)


def infer(
    value: FloatArray,
    draws: FloatArray,
    influence: FloatArray,
    clusters: IntArray,
    level: float,
    flat_bounds: Callable[[BoolArray], Sums],
) -> Inference:
    """Return inference on values of 0 or more, tested against 1 on the log scale.

    Parameters
    ----------
    value, draws
        Shape (k,), and its replicates, (n_draws, k).
    influence
        Of each prompt on the log of the value, shape (k, n_prompts).
    clusters
        Prompts that each group occurs in, shape (k,).
    level
        Of the intervals.
    flat_bounds
        Function of which groups, shape (k,), need bounds from one observation per prompt, to low
        and high.
    """
    low, high = _bounds(draws, clusters, level)
    flat = (~has_width(low, high) | ~np.isfinite(value)) & (clusters > 1) & ~np.isnan(value)
    flat_low, flat_high = flat_bounds(flat)
    with np.errstate(divide="ignore", invalid="ignore"):
        log_value = np.log(value)
    return Inference(
        value=value,
        low=np.where(flat, flat_low, low),
        high=np.where(flat, flat_high, high),
        p=_p(log_value, influence, clusters),
        n_clusters=clusters,
        resampled=~flat,
    )


def mean_inference(
    total: FloatArray, count: FloatArray, scope: Scope, rng: np.random.Generator
) -> Inference:
    """Infer Σ total / Σ count of each column, numbers of any sign.

    Parameters
    ----------
    total, count
        Sums and numbers of observations per pair, shape (n_pairs, k).
    scope, rng
        Level and draws; the random stream.
    """
    value = divide(total.sum(0), count.sum(0))
    clusters = (count > 0).sum(0)
    draws = divide(*resampled((total, count), scope, rng))
    return _of_means(value, draws, mean_influence(total, count), clusters, scope.level)


def difference_inference(
    upper: Sums, lower: Sums, scope: Scope, rng: np.random.Generator
) -> Inference:
    """Infer Σ a / Σ n − Σ b / Σ m of each column; pairs are resampled with both their sides.

    `upper` and `lower` are (a, n) and (b, m), each of shape (n_pairs, k).
    """
    value = divide(upper[0].sum(0), upper[1].sum(0)) - divide(lower[0].sum(0), lower[1].sum(0))
    clusters = np.minimum((upper[1] > 0).sum(0), (lower[1] > 0).sum(0))
    a, n, b, m = resampled((*upper, *lower), scope, rng)
    influence = mean_influence(*upper) - mean_influence(*lower)
    return _of_means(value, divide(a, n) - divide(b, m), influence, clusters, scope.level)


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


def resampled(
    sums: Sequence[FloatArray], scope: Scope, rng: np.random.Generator
) -> list[FloatArray]:
    """Return the sums of every replicate of the cluster bootstrap, shape (n_draws, k) each.

    `sums` are sums per prompt, shape (n_prompts, k). The weights of some replicates at a time are
    in memory: `CELLS` numbers, however many prompts there are.
    """
    n = len(sums[0])
    step = max(1, CELLS // max(n, 1))
    parts: list[list[FloatArray]] = [[] for _ in sums]
    for start in range(0, scope.draws, step):
        weights = cluster_weights(n, min(step, scope.draws - start), rng).astype(np.float64)
        for part, each in zip(parts, sums, strict=True):
            part.append(weights @ each)
    return [np.concatenate(part) for part in parts]


def has_width(low: FloatArray, high: FloatArray) -> BoolArray:
    """Whether bounds of 0 or more differ by more than rounding; False where one is NaN."""
    return np.asarray(high > low * (1 + _ROUNDING))


def wilson_interval(k: float, n: float, scope: Scope) -> Interval:
    """Return the paper's interval of a share k / n, units taken as independent."""
    low, high = (float(bound) for bound in wilson(min(k, n), n, scope.level))
    return Interval(low, high, scope.level, "Wilson")


def overall_null(share: float, n: float, scope: Scope, method: str) -> Null:
    """Return the null that `n` units have the overall share, with the range of chance around it."""
    low, high = (float(bound) for bound in wilson(share * n, n, scope.level))
    return Null(share, low, high, scope.level, method)


def sums_by(code: IntArray, n_codes: int, values: FloatArray) -> FloatArray:
    """Sum the rows of `values`, shape (n, k), by their code: shape (n_codes, k)."""
    return np.stack(
        [np.bincount(code, weights=column, minlength=n_codes) for column in values.T], axis=1
    )


def _of_means(
    value: FloatArray, draws: FloatArray, influence: FloatArray, clusters: IntArray, level: float
) -> Inference:
    low, high = _bounds(draws, clusters, level)
    wide = high - low > _NO_WIDTH
    return Inference(
        value=value,
        low=np.where(wide, low, np.nan),
        high=np.where(wide, high, np.nan),
        p=_p(value, influence, clusters),
        n_clusters=clusters,
        resampled=np.ones(len(value), dtype=bool),
    )


def _bounds(draws: FloatArray, clusters: IntArray, level: float) -> Sums:
    """Bounds per group; the level is widened for the number of prompts the group occurs in."""
    low, high = np.full(draws.shape[1], np.nan), np.full(draws.shape[1], np.nan)
    for size in np.unique(clusters[clusters > 1]):
        at = clusters == size
        low[at], high[at] = expanded_percentile(draws[:, at], level, int(size))
    return low, high


def _p(value: FloatArray, influence: FloatArray, clusters: IntArray) -> FloatArray:
    p = np.full(len(value), np.nan)
    for size in np.unique(clusters[clusters > 1]):
        at = clusters == size
        p[at] = cluster_robust_t(value[at], influence[at], df=int(size) - 1)[1]
    return p
