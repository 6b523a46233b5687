"""Tests of roles in stories: whole prompts of a stratum change their two roles by a fair coin."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from portrayal.measure.scope import Scope
from portrayal.measure.stories.tally import Tally
from portrayal.records import EFFECTIVE, NO_INTERVAL, NO_TEST, Interval, Null, Test
from portrayal.stats.design_effect import effective_number
from portrayal.stats.p_values import agreeing_interval
from portrayal.stats.roles import (
    EXACT_PROMPTS,
    RoleInference,
    RoleSums,
    contributions,
    median_inference,
    no_test_reason,
    prompt_subsets,
    role_inference,
    sharper_p,
)
from portrayal.types import FloatArray, IntArray

SWAPPED = "roles of whole prompts swapped at random"
SUBSETS = "random subsets of prompts, agreeing with the test"
ROWS, SHARP_ROWS = 5, 100
"""Subsets for each draw of the audit: 9,999 with its 2,000, and 199,999 for the smallest p."""
MOST_BLOCKS = 500
"""With more prompts than this, some are joined, and change their roles together."""

_SMALL = 10  # a p-value of fewer than this many subsets is computed again with more
_COLUMNS = 64  # groups whose subsets are in memory together


@dataclass(frozen=True)
class RoleTests:
    """Ratios of two roles with p, interval and null from the same swapped prompts, shape (k,).

    Attributes
    ----------
    found
        From `stats.role_inference` or `stats.median_inference`.
    n_clusters
        Prompts with somebody to count in both roles.
    carriers
        Effective number of prompts that carry the group, both roles together.
    """

    found: RoleInference
    n_clusters: IntArray
    carriers: FloatArray

    def test(self, i: int) -> Test:
        """The p-value of group `i`; NaN where too few prompts have it."""
        return Test(float(self.found.p[i]), SWAPPED)

    def interval(self, i: int, value: float, scope: Scope) -> Interval | None:
        """The interval of group `i` around `value`, which may be smoothed; None without a test."""
        at, one = np.array([value]), np.ones(1)
        p = self.found.p[i : i + 1]
        low = np.minimum(self.found.low[i : i + 1], value)
        high = np.maximum(self.found.high[i : i + 1], value)
        (least,), (most,) = agreeing_interval(low, high, p, at, one, scope.level)
        if np.isnan(least) or least == most:
            return None
        n = int(self.n_clusters[i])
        return Interval(float(least), float(most), scope.level, SUBSETS, n, scope.seed)

    def null(self, i: int, scope: Scope) -> Null:
        """The ratios of group `i` where whole prompts swap their roles."""
        low, high = float(self.found.null_low[i]), float(self.found.null_high[i])
        return Null(1.0, low, high, scope.level, SWAPPED, scope.seed)

    def effective(self, i: int) -> dict[str, float]:
        """Effective number of prompts that carry group `i`: for `details`."""
        return {EFFECTIVE: float(self.carriers[i])}

    def why_none(self, i: int, scope: Scope) -> Mapping[str, str]:
        """Why group `i` has neither test nor interval; empty where it has both."""
        reason = no_test_reason(int(self.found.n_prompts[i]), scope.level)
        if reason is not None:
            return {NO_TEST: reason, NO_INTERVAL: reason}
        if self.found.low[i] == self.found.high[i]:
            return {NO_INTERVAL: "every prompt has the same ratio"}
        return {}


def role_tests(
    tally: Tally, sums: RoleSums, scope: Scope, *labels: str, sharp: bool = True
) -> RoleTests:
    """Infer the ratios of many groups of one stratum.

    Parameters
    ----------
    tally, scope
        Keeps the subsets for other measures; how many there are, and the level.
    sums
        Counts by prompt and role.
    labels
        Name the random stream of the smallest p-values.
    sharp
        Whether the smallest p-values are drawn again, to survive a correction for many tests.
    """
    clusters = ((sums.n_lesser > 0) & (sums.n_greater > 0)).sum(0)
    carriers = effective_number(sums.lesser + sums.greater)
    sums = in_blocks(sums)
    n_prompts = len(sums.lesser)
    subsets = subsets_of(tally, n_prompts, ROWS * scope.draws - 1, scope)
    k = sums.lesser.shape[1]
    parts = [
        role_inference(_columns(sums, slice(at, at + _COLUMNS)), subsets, scope.level)
        for at in range(0, k, _COLUMNS)
    ]
    fields = RoleInference.__dataclass_fields__
    found = RoleInference(**{f: np.concatenate([getattr(p, f) for p in parts]) for f in fields})
    if sharp and n_prompts > EXACT_PROMPTS:
        here, rng = sums.lesser + sums.greater > 0, scope.rng("sharper", *labels)
        draws, below = SHARP_ROWS * scope.draws - 1, min(0.005, (1 - scope.level) / 2)
        p = sharper_p(contributions(sums), here, found.p, rng, draws, below)
        found = replace(found, p=p)
    return RoleTests(found, clusters, carriers)


def median_tests(tally: Tally, sums: RoleSums, scope: Scope, smoothing: float) -> RoleInference:
    """Infer the median of the columns' ratios, computed again for every subset of prompts.

    Where p is among the smallest that few subsets can give, more are drawn. A count of 0 beside
    one of more is smoothed; `smoothing` may be 0.
    """
    sums = in_blocks(sums)
    for draws in (scope.draws // 2 - 1, ROWS * scope.draws - 1):
        subsets = subsets_of(tally, len(sums.lesser), draws, scope)
        found = median_inference(sums, subsets, smoothing, scope.level)
        if not found.p[0] < _SMALL / len(subsets) or len(sums.lesser) <= EXACT_PROMPTS:
            break
    return found


def subsets_of(tally: Tally, n_prompts: int, draws: int, scope: Scope) -> FloatArray:
    """Return the subsets of so many prompts, the same for every stratum; kept on the tally."""
    key = ("subsets", n_prompts, draws, scope.study, scope.seed)
    if key not in tally.cache:
        tally.cache[key] = prompt_subsets(n_prompts, scope.rng("swaps", str(n_prompts)), draws)
    subsets: FloatArray = tally.cache[key]
    return subsets


def role_sums(
    lesser: FloatArray, n_lesser: FloatArray, greater: FloatArray, n_greater: FloatArray
) -> RoleSums:
    """Join counts, shape (n_prompts, k), with totals of that shape or (n_prompts, 1)."""
    return RoleSums(*np.broadcast_arrays(lesser, n_lesser, greater, n_greater))


def in_blocks(sums: RoleSums) -> RoleSums:
    """Join prompts where there are more than `MOST_BLOCKS`, so that subsets fit into memory."""
    n = len(sums.lesser)
    if n <= MOST_BLOCKS:
        return sums
    starts = np.arange(0, n, -(-n // MOST_BLOCKS))
    cells = (sums.lesser, sums.n_lesser, sums.greater, sums.n_greater)
    return RoleSums(*(np.add.reduceat(cell, starts, axis=0) for cell in cells))


def _columns(sums: RoleSums, at: slice) -> RoleSums:
    cells = (sums.lesser, sums.n_lesser, sums.greater, sums.n_greater)
    return RoleSums(*(cell[:, at] for cell in cells))
