"""What every estimate of agency shares: its labels, intervals from replicates, and nulls."""

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import stats

from portrayal.measure.agency.places import Place
from portrayal.measure.scope import Scope
from portrayal.records import NO_INTERVAL, NO_TEST, Estimate, Interval, Null, Test
from portrayal.registry import Component
from portrayal.stats import expanded_percentile, noncentral_variance, permutation_range
from portrayal.types import FloatArray

CLUSTERED = "t test with the standard error of the cluster bootstrap"
SHUFFLED = "permutation test"
_MAX_UNDEFINED = 0.05
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


def draws_interval(
    draws: FloatArray, n_clusters: int, place: Place, scope: Scope
) -> Interval | None:
    """Return the interval of replicates, shape (n_draws,); None where it would have no width."""
    if n_clusters < 2:
        return None
    low, high = (float(bound) for bound in expanded_percentile(draws, scope.level, n_clusters))
    return _interval(low, high, n_clusters, _method(place), scope)


def variance_interval(
    value: float, noise: FloatArray, n_clusters: int, place: Place, scope: Scope
) -> Interval | None:
    """Return the interval of a variance without its noise, of replicates (n_draws,) of that.

    See `portrayal.stats.noncentral_variance`. The value itself holds noise, so where groups hardly
    differ it can lie above the interval.
    """
    if n_clusters < 2:
        return None
    low, high = noncentral_variance(value, noise, scope.level)
    many = place.units.many
    method = f"noncentral chi-square, noise from the cluster bootstrap over {many}"
    return _interval(low, high, n_clusters, method, scope)


def explained(
    estimate: Estimate, draws: FloatArray, n_clusters: int, place: Place, *, tested: bool = True
) -> Estimate:
    """Return an estimate that says why it has no interval, or no test where it could have one.

    Parameters
    ----------
    estimate
        With a value.
    draws
        Replicates that its interval is made from, shape (n_draws,).
    n_clusters
        Clusters of its smallest group.
    place, tested
        Where it is measured, and whether it is compared with shuffled groups.
    """
    one, many, said = place.units.one, place.units.many, {}
    if estimate.interval is None:
        if n_clusters < 2:
            why = f"a group has texts of one {one} only, which tells nothing of other {many}"
        elif np.isnan(draws).mean() > _MAX_UNDEFINED:
            why = f"too few {many}: more than 5 % of the resamples lack a group"
        else:
            why = f"too few {many}, or too much alike: resamples do not differ"
        said[NO_INTERVAL] = why + _offer(n_clusters, estimate, place)
    if tested and not estimate.tests:
        said[NO_TEST] = f"too few {many} can change places: shuffled groups always give the same"
    return replace(estimate, instruments={**estimate.instruments, **said}) if said else estimate


def _offer(n_clusters: int, estimate: Estimate, place: Place) -> str:
    """What to do where many texts are of few clusters."""
    if place.units.kind == "text" or estimate.n_units < 2 * max(n_clusters, 1):
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
    return Null(value, low, high, scope.level, place.units.shuffled, scope.seed)


def difference_tests(
    value: float, drawn: FloatArray, null: FloatArray, n_clusters: int
) -> tuple[Test, ...]:
    """Return the clustered test of a value against shuffled groups, and the permutation test.

    The first is Student's t of the value minus the mean of shuffled groups, with the standard error
    of the cluster bootstrap; it is finer than the permutation test, whose p ends at
    1 / (1 + permutations). None where nothing could be shuffled.
    """
    shuffled = permutation_test(value, null)
    known = drawn[~np.isnan(drawn)]
    error = float(known.std(ddof=1)) if len(known) > 1 else 0.0
    if not shuffled or n_clusters < 2 or error < _NO_WIDTH:
        return shuffled
    size = abs(value - float(np.nanmean(null))) / error
    return (Test(2.0 * float(stats.t.sf(size, n_clusters - 1)), CLUSTERED), *shuffled)


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


def _method(place: Place) -> str:
    return f"cluster bootstrap over {place.units.many} (expanded percentile)"


def _interval(
    low: float, high: float, n_clusters: int, method: str, scope: Scope
) -> Interval | None:
    if np.isnan(low) or np.isnan(high) or high - low < _NO_WIDTH:
        return None
    return Interval(low, high, scope.level, method, n_clusters, scope.seed)
