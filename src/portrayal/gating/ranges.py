"""Whether values lie within a range: clustered one-sided tests of its two ends."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from portrayal.comparison.sums import Sums, measured
from portrayal.records import LIKE_THESE, THESE, Population
from portrayal.stats import infer_fixed_shares, infer_shares
from portrayal.stats.clustered import Clustered, infer_influences
from portrayal.stats.contrasts import RatioScore, TwoSides, too_few_prompts
from portrayal.stats.design_effect import effective_number


def place(
    sums: Sums, level: float, ends: tuple[float, float], population: Population = LIKE_THESE
) -> dict[str, Any]:
    """Test one estimate, from its sums, against the ends of a range.

    Shares are inferred by the effective binomial, ratios of counts by the score of the pooled
    ratio, all else by Student's t.

    Parameters
    ----------
    sums
        Of one estimate.
    level
        Confidence level of the interval, a fraction.
    ends
        Lowest and highest value allowed; one that the value cannot pass, such as 0 or infinity,
        is never exceeded.
    population
        Of which prompts; where nothing is known of these very prompts, of prompts like them.

    Returns
    -------
    dict
        Fields of `Change` (low, high, n_prompts, undefined) and of `RuleCheck`.
    """
    infer, possible = inference(sums, level, fixed=population == THESE)
    # An end that the value cannot pass is no hypothesis, and would only cost the other one power.
    closed = [possible[0] < end < possible[1] for end in ends]
    tests = {i: infer(ends[i]) for i in (0, 1) if closed[i]}
    # The interval is the same at each end; only p depends on it.
    test = next(iter(tests.values())) if tests else infer(np.nan)
    value, low, high = (float(x[0]) for x in (test.value, test.low, test.high))
    # One end without a test leaves the whole range without.
    reason = next((str(part.reason[0]) for part in tests.values() if part.reason[0]), None)
    if np.isnan(value):
        reason = "the estimate has no value"
    # p that an end is passed is half the two-sided p where the value lies inside it, else 1 less
    # that.
    inside = []
    for i, part in tests.items():
        half = float(part.p[0]) / 2.0
        inside.append(half if (value > ends[i] if i == 0 else value < ends[i]) else 1.0 - half)
    p_beyond, p_within = p_of_ends(inside, [1.0 - p for p in inside])
    return {
        "low": None if np.isnan(low) else low,
        "high": None if np.isnan(high) else high,
        "allowed": (ends[0] if closed[0] else -np.inf, ends[1] if closed[1] else np.inf),
        "p_beyond": None if reason else p_beyond,
        "p_within": None if reason else p_within,
        "n_prompts": int(test.n_clusters[0]),
        "undefined": reason,
    }


def p_of_ends(inside: Sequence[float], beyond: Sequence[float]) -> tuple[float, float]:
    """Return p that a value lies within its closed ends, and p that it does not.

    Either end may be passed (Bonferroni); to lie within, each test must say so (Berger 1982). Where
    neither end can be passed, nothing can lie beyond.
    """
    return min(1.0, max(len(beyond), 1) * min(beyond, default=1.0)), max(inside, default=0.0)


def inference(
    sums: Sums, level: float, *, fixed: bool = False
) -> tuple[Callable[[float], Clustered], tuple[float, float]]:
    """Return the test of an estimate as a function of the null value, and what the value may be."""
    a, n, b, m = sums.cells
    counts = bool(np.all((a >= 0) & (a <= n + 1e-9)))
    if sums.form == "mean" and counts:
        # Sums between 0 and their number are shares, which are binomial; other means take a t.
        scale = float(sums.scale[0])

        def share(null: float) -> Clustered:
            shares = infer_shares(a, n, level, null / scale)
            if fixed:
                low, high, p = infer_fixed_shares(a, n, level, null / scale)
                reason = np.where(np.isnan(p), shares.reason, "")
                shares = replace(shares, low=low, high=high, p=p, reason=reason)
            bounds = {name: getattr(shares, name) * scale for name in ("value", "low", "high")}
            return replace(shares, **bounds)

        return share, (0.0, scale)
    if sums.form == "ratio" and counts and bool(np.all((b >= 0) & (b <= m + 1e-9))):
        # One score serves all ends: p and interval come of it and so agree.
        test = RatioScore(TwoSides(a, n, b, m))
        low, high = test.interval(level, these_prompts=fixed)
        reasons = np.array([(not fixed and too_few_prompts(int(test.n_prompts[0]))) or ""])
        prompts, carriers = ((n > 0) & (m > 0)).sum(0), effective_number(a + b)

        def ratio(null: float) -> Clustered:
            p = test.p(np.array([null]), these_prompts=fixed)
            return Clustered(test.ratio, low, high, p, prompts, carriers, test.df, reasons)

        return ratio, (0.0, np.inf)
    one = measured(sums)
    totals = (n, m) if sums.form == "difference" else (n,)

    def influences(null: float) -> Clustered:
        with np.errstate(divide="ignore", invalid="ignore"):
            # Influences of a ratio are of its logarithm.
            at_null = np.log(null) if sums.log else null
        result = infer_influences(one.value, one.influence, totals, level, at_null)
        if not sums.log:
            return result
        bounds = {name: np.exp(getattr(result, name)) for name in ("value", "low", "high")}
        return replace(result, **bounds)

    return influences, (0.0 if sums.log else -np.inf, np.inf)
