"""Rates: shares of slots with an interval that resamples prompts, many groups at a time."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from portrayal.stats import cluster_weights, divide, expanded_percentile, wilson
from portrayal.types import FloatArray, IntArray

_AT_ONCE = 4_000_000  # weights held at a time: draws × clusters


@dataclass(frozen=True, slots=True)
class Rate:
    """A share of slots.

    Attributes
    ----------
    value
        A fraction in 0–1; None where there is nothing to divide by, as `undefined` says.
    low, high
        Clustered interval; None where it is undefined, as with a single cluster.
    n
        The denominator: slots, or for races the sum of likelihoods.
    undefined
        Why there is no value.
    """

    value: float | None
    low: float | None
    high: float | None
    n: float
    undefined: str | None = None

    def as_json(self) -> dict[str, Any]:
        """Plain values; `undefined` only where there is no value."""
        shape: dict[str, Any] = {
            "value": self.value,
            "low": self.low,
            "high": self.high,
            "n": round(self.n, 6),
        }
        return shape | ({"undefined": self.undefined} if self.undefined else {})


@dataclass(frozen=True, slots=True)
class Resampling:
    """How intervals are made: clusters that are resampled, replicates, level and seed."""

    n_clusters: int
    draws: int
    level: float
    seed: int

    def weights(self, draws: int | None = None) -> Iterator[FloatArray]:
        """Yield weights of the clusters, shape (some draws, n_clusters), the same each time."""
        rng = np.random.default_rng(self.seed)
        left = self.draws if draws is None else draws
        step = max(1, _AT_ONCE // max(self.n_clusters, 1))
        while left > 0:
            yield cluster_weights(self.n_clusters, min(step, left), rng).astype(np.float64)
            left -= step

    def bounds(self, replicates: FloatArray, clusters: IntArray) -> tuple[FloatArray, FloatArray]:
        """Expanded percentile bounds of replicates, shape (draws, k); the level widens with few.

        `clusters`, shape (k,), is the number of clusters in which each quantity occurs.
        """
        low, high = np.full(len(clusters), np.nan), np.full(len(clusters), np.nan)
        for size in np.unique(clusters[clusters > 1]):
            at = clusters == size
            low[at], high[at] = expanded_percentile(replicates[:, at], self.level, int(size))
        return low, high


def cluster_sums(cluster: IntArray, n_clusters: int, values: FloatArray) -> FloatArray:
    """Sum the rows of `values`, shape (n, k), by cluster: shape (n_clusters, k)."""
    columns = [np.bincount(cluster, weights=v, minlength=n_clusters) for v in values.T]
    return np.stack(columns, axis=1) if columns else np.zeros((n_clusters, 0))


def rates(
    numerator: FloatArray, denominator: FloatArray, how: Resampling, reasons: list[str]
) -> list[Rate]:
    """Return the rate of each column of sums per cluster, shapes (n_clusters, k).

    Where no cluster varies, as at 100 %, each counts as one observation and Wilson's interval of
    those is used, so that no interval is without width. `reasons` says, for each column, why it
    is undefined where the denominator is 0.
    """
    value = divide(numerator.sum(0), denominator.sum(0))
    clusters = (denominator > 0).sum(0)
    parts = [divide(w @ numerator, w @ denominator) for w in how.weights()]
    low, high = how.bounds(np.concatenate(parts), clusters)
    flat = ~(high - low > 1e-9) & (clusters > 1) & ~np.isnan(value)
    share = np.clip(np.where(flat, value, 0.0), 0.0, 1.0)
    wide_low, wide_high = wilson(share * clusters, clusters, how.level)
    low, high = np.where(flat, wide_low, low), np.where(flat, wide_high, high)
    return [
        Rate(known(v), known(a), known(b), float(n), reason if np.isnan(v) else None)
        for v, a, b, n, reason in zip(value, low, high, denominator.sum(0), reasons, strict=True)
    ]


def known(value: float) -> float | None:
    """Return `value` as a number; None for NaN."""
    return None if np.isnan(value) else float(value)
