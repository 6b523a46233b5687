"""Published values as estimates, which stand in grey beside those of a run."""

import math
from collections.abc import Mapping

from portrayal.records import Estimate, Interval

PRINTED = "printed"
"""The study of an estimate that is a published value."""


def printed(
    measure: str,
    statistic: str,
    strata: Mapping[str, str],
    group: Mapping[str, str],
    value: float,
    bounds: tuple[float | None, float | None] = (None, None),
    n: int = 0,
) -> Estimate:
    """Return a published value as an estimate; the model among its strata is called "(paper)"."""
    low, high = bounds
    interval = None
    if low is not None and high is not None and not math.isnan(low):
        interval = Interval(low, high, 0.95, "as published")
    model = f"{strata.get('model', '')} (paper)".strip()
    return Estimate(
        PRINTED, measure, statistic, "unit", {**strata, "model": model}, group, value, interval,
        n_units=n,
    )  # fmt: skip
