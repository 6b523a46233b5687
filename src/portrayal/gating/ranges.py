"""Whether values of one run lie within a range: clustered one-sided tests of its two ends."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from portrayal.comparison import measured, sums_of
from portrayal.records import LIKE_THESE, THESE, Population
from portrayal.run import Run
from portrayal.stats import (
    infer_differences,
    infer_fixed_shares,
    infer_influences,
    infer_means,
    infer_shares,
)
from portrayal.stats.clustered import Clustered
from portrayal.stats.contrasts import RatioScore, TwoSides, too_few_prompts
from portrayal.stats.design_effect import effective_number
from portrayal.types import FloatArray


@dataclass(frozen=True, slots=True)
class RangeTest:
    """A value with its interval, and one-sided p-values at both ends of a range.

    Attributes
    ----------
    value, low, high
        In the unit of the estimate; NaN where there is no interval.
    allowed
        The range, infinite at an end that the value cannot pass.
    p_beyond, p_within
        p-value that it lies within the range, and that it does not; None where there is no test.
    n_prompts
        Independent units.
    reason
        Why there is no test; None where there is one.
    """

    value: float
    low: float
    high: float
    allowed: tuple[float, float]
    p_beyond: float | None
    p_within: float | None
    n_prompts: int
    reason: str | None


def place(
    run: Run, row: int, level: float, ends: tuple[float, float], population: Population = LIKE_THESE
) -> RangeTest:
    """Test an estimate of a run, from the sums that it keeps, against the ends of a range.

    Shares are inferred by the effective binomial, ratios of counts by the score of the pooled
    ratio, all else by Student's t.

    Parameters
    ----------
    run, row
        The run, and the row of its estimates.
    level
        Confidence level of the interval, a fraction.
    ends
        Lowest and highest value allowed; one that the value cannot pass, such as 0 or infinity,
        is never exceeded.
    population
        Of which prompts; where nothing is known of these very prompts, of prompts like them.
    """
    infer, possible = inference(run, row, level, fixed=population == THESE)
    # An end that the value cannot pass is no hypothesis, and would only cost the other one power.
    open_ends = [end <= possible[0] or end >= possible[1] for end in ends]
    closed = [end for end, is_open in zip(ends, open_ends, strict=True) if not is_open]
    tested = [infer(end) for end in closed]
    # The interval is the same at each end; only p depends on it.
    test = tested[0] if tested else infer(np.nan)
    value = float(test.value[0])
    # One end without a test leaves the whole range without.
    reason = next((str(part.reason[0]) for part in tested if part.reason[0]), None)
    if np.isnan(value):
        reason = "the estimate has no value"
    # p that an end is passed is half the two-sided p where the value lies inside it, else 1 less
    # that.
    halves = [float(part.p[0]) / 2.0 for part in tested] if reason is None else []
    lower = not open_ends[0]
    inside = [
        half if (value > end if lower and i == 0 else value < end) else 1.0 - half
        for i, (half, end) in enumerate(zip(halves, closed, strict=False))
    ]
    beyond = [1.0 - p for p in inside]
    return RangeTest(
        value,
        float(test.low[0]),
        float(test.high[0]),
        (-np.inf if open_ends[0] else ends[0], np.inf if open_ends[1] else ends[1]),
        # Where neither end can be passed, nothing can lie beyond.
        None if reason else min(1.0, max(len(beyond), 1) * min(beyond, default=1.0)),
        None if reason else max(inside, default=0.0),
        int(test.n_clusters[0]),
        reason,
    )


def is_share(run: Run, row: int) -> bool:
    """Whether an estimate is a share of units that were counted."""
    store = run.influences
    rows = slice(store.starts[row], store.starts[row + 1])
    a, n = store.columns[0][rows], store.columns[1][rows]
    return store.forms[row] == "mean" and bool(np.all((a >= 0) & (a <= n)))


Infer = Callable[[float], Clustered]


def inference(
    run: Run, row: int, level: float, *, fixed: bool = False
) -> tuple[Infer, tuple[float, float]]:
    """Return the test of an estimate as a function of the null value, and what the value may be."""
    store = run.influences
    rows = slice(store.starts[row], store.starts[row + 1])
    a, n, b, m = (column[rows, np.newaxis] for column in store.columns)
    form, scale = store.forms[row], float(store.scales[row])
    # Sums between 0 and their number are shares, which are binomial; other means take a t.
    counts = bool(np.all((a >= 0) & (a <= n + 1e-9)))
    if form == "mean":
        infer = infer_shares if counts else infer_means

        def mean(null: float) -> Clustered:
            means = infer(a, n, level, null / scale)
            if fixed and counts:
                means = _fixed(means, infer_fixed_shares(a, n, level, null / scale))
            return replace(
                means, value=means.value * scale, low=means.low * scale, high=means.high * scale
            )

        return mean, (0.0, scale) if counts else _ANY
    if form == "ratio" and counts and bool(np.all((b >= 0) & (b <= m + 1e-9))):
        # One score serves all ends: p and interval come of it and so agree.
        test = RatioScore(TwoSides(a, n, b, m))
        low, high = test.interval(level, these_prompts=fixed)
        reason = None if fixed else too_few_prompts(int(test.n_prompts[0]))
        prompts = ((n > 0) & (m > 0)).sum(0)

        def ratio(null: float) -> Clustered:
            p = test.p(np.array([null]), these_prompts=fixed)
            carriers = effective_number(a + b)
            reasons = np.array([reason or ""])
            return Clustered(test.ratio, low, high, p, prompts, carriers, test.df, reasons)

        return ratio, (0.0, np.inf)
    if form == "difference":
        return lambda null: infer_differences((a, n), (b, m), level, null), _ANY
    log = run.records[row].statistic == "ratio"
    one = measured(sums_of(run, [row]))

    def influences(null: float) -> Clustered:
        with np.errstate(divide="ignore", invalid="ignore"):
            # Influences of a ratio are kept on the scale of its logarithm.
            at_null = np.log(null) if log else null
        result = infer_influences(one.value, one.influence, (n,), level, at_null)
        if not log:
            return result
        return replace(
            result, value=np.exp(result.value), low=np.exp(result.low), high=np.exp(result.high)
        )

    return influences, (0.0, np.inf) if log else _ANY


def _fixed(result: Clustered, bounds: tuple[FloatArray, FloatArray, FloatArray]) -> Clustered:
    """Bounds and p of these very prompts in place of those of prompts like them."""
    low, high, p = bounds
    reason = np.where(np.isnan(p), result.reason, "")
    return replace(result, low=low, high=high, p=p, reason=reason)


_ANY = (-np.inf, np.inf)
