"""What every estimate of agency shares: its labels, interval and tests, and null."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from portrayal.measure.agency.places import Place, Units
from portrayal.measure.scope import Scope
from portrayal.records import NO_INTERVAL, NO_TEST, Interval, Null, Test
from portrayal.registry import Component
from portrayal.stats import permutation_range
from portrayal.types import FloatArray

MEAN = "Student's t (Satterthwaite degrees of freedom)"
MATCHED = "Student's t on differences within blocks (Satterthwaite degrees of freedom)"
VARIANCE = "noncentral chi-square, noise estimated"
F_TEST = "F test, both bounds"
SHUFFLED = "permutation test"
SD = "sd_between_runs"
"""Name of the standard deviation between runs among an estimate's details."""
_NO_WIDTH = 1e-12
_TIE = 1e-9


def common(place: Place, measure: Component, statistic: str, scope: Scope) -> dict[str, Any]:
    """Return the fields that estimates of a place share."""
    return {
        "study": scope.study,
        "measure": measure.name,
        "statistic": statistic,
        "unit": measure.unit,
        "strata": place.labels | {"classifier": scope.instruments.get("classifier", "")},
        "n_texts": place.n_texts,
        "exclusions": dict(place.exclusions),
        "instruments": {**scope.instruments, "masking": place.masking},
        "source": measure.source,
    }


def by_run(place: Place, members: FloatArray, weights: Sequence[float]) -> dict[str, float]:
    """Return the weighted sum of the groups' mean gaps in each run, and its standard deviation.

    Runs are repetitions of the prompts, or checkpoints of the classifier; nothing for one run.

    Parameters
    ----------
    place, members
        Where, and the cells of each group, (n_cells, k).
    weights
        Of each group, such as 1 and -1 for a difference.
    """
    if place.n_runs < 2:
        return {}
    each = place.observed.run_means(members) @ np.asarray(weights)
    known = each[~np.isnan(each)]
    found = {f"in_run_{i}": float(mean) for i, mean in enumerate(each) if not np.isnan(mean)}
    return found | ({SD: float(known.std(ddof=1))} if len(known) > 1 else {})


def inferred(
    place: Place,
    units: Units,
    method: str,
    bounds: tuple[float, float, float],
    n_clusters: int,
    scope: Scope,
    *,
    test: str = "",
    shuffled: tuple[Test, ...] = (),
    tested: bool = True,
    n_texts: float = 0.0,
    fewest: int | None = None,
) -> dict[str, Any]:
    """Return the fields of an estimate that say how sure it is: interval and tests, or why none.

    Parameters
    ----------
    place, units
        Where it is measured, and what is independent there.
    method, test
        How interval and first test were made; the test is called as the interval unless `test` is
        given.
    bounds
        Lower and upper bound, and p; NaN where undefined.
    n_clusters
        Units that it rests on.
    scope
        Its level.
    shuffled
        The permutation test, second.
    tested
        Whether it is compared with shuffled groups.
    n_texts
        Texts it rests on.
    fewest
        Units of its smallest group, where `n_clusters` counts those of all groups.
    """
    low, high, p = bounds
    over = f"over {units.many}" + (f" ({units.how})" if units.how else "")
    more: dict[str, Any] = {"n_clusters": n_clusters}
    said: dict[str, str] = {}
    if math.isnan(low) or high - low < _NO_WIDTH:
        few = f"a group has texts of one {units.one} only, which tells nothing of other"
        alike = "too much alike: they do not differ"
        why = (
            f"{few} {units.many}"
            if min(n_clusters, fewest or n_clusters) < 2
            else f"{units.many} are {alike}"
        )
        said[NO_INTERVAL] = why + _offer(n_clusters, n_texts, units)
        p = math.nan
    else:
        more["interval"] = Interval(low, high, scope.level, f"{method} {over}", n_clusters)
    if tested:
        first = () if math.isnan(p) else (Test(p, f"{test or method} {over}"),)
        more["tests"] = (*first, *shuffled)
        if not more["tests"]:
            many = place.units.many
            why = f"too few {many} can change places: shuffled groups always give the same"
            said[NO_TEST] = why
    if said:
        more["instruments"] = {**scope.instruments, "masking": place.masking, **said}
    return more


def _offer(n_clusters: int, n_texts: float, units: Units) -> str:
    """What to do where many texts are of few clusters."""
    if units.kind == "text" or n_texts < 2 * max(n_clusters, 1):
        return ""
    return "; --cluster text takes each text as a unit, for texts that are made independently"


def null_of(
    draws: FloatArray, place: Place, scope: Scope, *, point: float | None = None
) -> Null | None:
    """Return the null of shuffled groups, shape (n_draws,): their mean unless `point` is given."""
    known = draws[~np.isnan(draws)]
    if not len(known):
        return None
    low, high = (float(bound) for bound in permutation_range(known, scope.level))
    value = float(known.mean()) if point is None else point
    return Null(value, low, high, scope.level, place.shuffled, scope.seed)


def permutation_test(value: float, draws: FloatArray, *, greater: bool = False) -> tuple[Test, ...]:
    """Return the test of a value against shuffled groups; none where nothing could be shuffled.

    Two-sided around the mean of the draws, or one-sided where only values above speak against it.
    p is (1 + draws at least as extreme) / (1 + draws), so never 0 (Phipson & Smyth 2010).
    """
    known = draws[~np.isnan(draws)]
    if not len(known) or np.ptp(known) < _NO_WIDTH:
        return ()
    centre = 0.0 if greater else float(known.mean())
    sizes, size = known - centre, value - centre
    if not greater:
        sizes, size = np.abs(sizes), abs(size)
    p = (1 + int((sizes >= size - _TIE).sum())) / (1 + len(known))
    return (Test(p, SHUFFLED + (", one-sided" if greater else "")),)
