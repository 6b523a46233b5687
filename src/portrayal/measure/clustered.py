"""Clustered inference on shares and ratios of shares, many groups at a time.

`share_inference` and `ratio_inference` take sums per prompt and return, for every group, the value,
the interval that resamples prompts, and a p-value. Where no prompt varies (a count of 0, say), the
bootstrap would give an interval without width; each prompt then counts as one observation and the
score interval on them is used, which is wide on purpose. One prompt alone says nothing about
other prompts: its interval is undefined.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from portrayal.measure.scope import Scope
from portrayal.records import Interval, Test
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

CELLS = 1 << 20
"""Prompts × replicates of the bootstrap whose weights are in memory together: 16 MB."""

_ROUNDING = 1e-9  # replicates of the same share differ by the order in which they were summed


@dataclass(frozen=True)
class Inference:
    """Values of many groups, shape (k,), with clustered bounds and p-values; NaN is undefined."""

    value: FloatArray
    low: FloatArray
    high: FloatArray
    p: FloatArray
    n_clusters: IntArray
    resampled: BoolArray

    def interval(self, i: int, scope: Scope) -> Interval | None:
        """Return the clustered interval of group `i`; None where it is undefined."""
        if np.isnan(self.low[i]) or np.isnan(self.high[i]):
            return None
        return Interval(
            float(self.low[i]),
            float(self.high[i]),
            scope.level,
            BOOTSTRAP if self.resampled[i] else PER_PROMPT,
            int(self.n_clusters[i]),
            scope.seed if self.resampled[i] else None,
        )

    def test(self, i: int) -> Test:
        """Return the clustered test of group `i` (p is NaN where undefined)."""
        return Test(float(self.p[i]), ROBUST_T)


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
    low, high = _bounds(draws, clusters, scope.level)
    flat = ~has_width(low, high) & (clusters > 1) & ~np.isnan(value)
    share = np.where(flat, value * scale, 0.0)
    flat_low, flat_high = wilson(np.clip(share, 0, 1) * clusters, clusters, scope.level)
    influence = log_share_influence(numerator.T, denominator.T)
    return Inference(
        value=value,
        low=np.where(flat, flat_low / scale, low),
        high=np.where(flat, flat_high / scale, high),
        p=_p(value, influence, clusters),
        n_clusters=clusters,
        resampled=~flat,
    )


def ratio_inference(
    upper: tuple[FloatArray, FloatArray],
    lower: tuple[FloatArray, FloatArray],
    scope: Scope,
    rng: np.random.Generator,
) -> Inference:
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
    value = ratio(*totals)
    clusters = ((upper[1] > 0) & (lower[1] > 0)).sum(0)
    a, n, b, m = resampled(cells, scope, rng)
    low, high = _bounds(divide(divide(a, n), divide(b, m)), clusters, scope.level)
    flat = (~has_width(low, high) | ~np.isfinite(value)) & (clusters > 1) & ~np.isnan(value)
    shrunk = [
        np.where(flat, divide(k, t) * clusters, 0.0)
        for k, t in zip((totals[0], totals[2]), (totals[1], totals[3]), strict=True)
    ]
    flat_low, flat_high = score_ratio_interval(
        shrunk[0], np.where(flat, clusters, 1), shrunk[1], np.where(flat, clusters, 1), scope.level
    )
    influence = log_share_influence(upper[0].T, upper[1].T) - log_share_influence(
        lower[0].T, lower[1].T
    )
    return Inference(
        value=value,
        low=np.where(flat, flat_low, low),
        high=np.where(flat, flat_high, high),
        p=_p(value, influence, clusters),
        n_clusters=clusters,
        resampled=~flat,
    )


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


def _bounds(draws: FloatArray, clusters: IntArray, level: float) -> tuple[FloatArray, FloatArray]:
    """Bounds per group; the level is widened for the number of prompts the group occurs in."""
    low, high = np.full(draws.shape[1], np.nan), np.full(draws.shape[1], np.nan)
    for size in np.unique(clusters[clusters > 1]):
        at = clusters == size
        low[at], high[at] = expanded_percentile(draws[:, at], level, int(size))
    return low, high


def _p(value: FloatArray, influence: FloatArray, clusters: IntArray) -> FloatArray:
    with np.errstate(divide="ignore", invalid="ignore"):
        log_value = np.log(value)
    p = np.full(len(value), np.nan)
    for size in np.unique(clusters[clusters > 1]):
        at = clusters == size
        p[at] = cluster_robust_t(log_value[at], influence[at], df=int(size) - 1)[1]
    return p
