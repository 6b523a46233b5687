"""Median racialized subordination ratio: the median over likelihood thresholds (Eq. 4)."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from portrayal.measure.clustered import has_width
from portrayal.measure.features import GENDERS
from portrayal.measure.ratios import SWAPPED, naive_ratio_tests
from portrayal.measure.scope import Scope
from portrayal.measure.strata import Stratum, strata
from portrayal.measure.swaps import swapped_roles
from portrayal.measure.tally import DOMINANT, SUBORDINATE, FloatArray, Tally
from portrayal.measure.thresholds import THRESHOLDS, counts_above, swapped_above
from portrayal.records import Estimate, Interval, Null, Test
from portrayal.registry import Component
from portrayal.stats import (
    cluster_weights,
    expanded_percentile,
    katz_log,
    median_of_defined,
    permutation_p,
    permutation_range,
    ratio,
)

NAME = "median_racialized_subordination.v1"
SOURCE = "Shieh et al. 2025, Eq. 4, Fig. 3c, Tables S13n–p"
_METHOD = "cluster bootstrap over prompts of the median (expanded percentile)"

_OTHER_SIDE = "cluster bootstrap, replicates on the other side of 1"

Roles = tuple[FloatArray, FloatArray, FloatArray, FloatArray]


def median_racialized(tally: Tally, scope: Scope) -> Iterator[Estimate]:
    """Yield the median racialized subordination ratio by race and gender.

    For every threshold t = 1 %, …, 100 %: the share, among a role's characters of one gender with
    a matched name, of those whose name's likelihood for the race exceeds t; then the ratio of the
    two roles' shares, Laplace-smoothed where one count is zero, left out where both are; then the
    median over thresholds.

    Parameters
    ----------
    tally, scope
        Annotated stories and the audit's settings.
    """
    for stratum in strata(tally, laden=True):
        for gender in range(len(GENDERS)):
            for race in range(len(tally.races)):
                yield _estimate(tally, stratum, race, gender, scope)


def _estimate(tally: Tally, stratum: Stratum, race: int, gender: int, scope: Scope) -> Estimate:
    characters = tally.characters
    chosen = characters.gender == gender
    lesser, n_lesser = counts_above(tally, characters, stratum, SUBORDINATE, race, chosen)
    greater, n_greater = counts_above(tally, characters, stratum, DOMINANT, race, chosen)
    totals = lesser.sum(0), n_lesser.sum(0), greater.sum(0), n_greater.sum(0)
    group = {"race": tally.races[race], "gender": GENDERS[gender]}
    clusters = int(((n_lesser > 0) | (n_greater > 0)).sum())
    blank = Estimate(
        study=scope.study,
        measure=NAME,
        statistic="ratio",
        unit="character",
        strata=stratum.labels,
        group=group,
        value=None,
        n_texts=stratum.n_texts,
        n_units=float(n_lesser.sum() + n_greater.sum()),
        n_clusters=clusters,
        exclusions=stratum.exclusions,
        instruments=scope.instruments,
        undefined=_undefined(totals, group, stratum) or "",
        source=SOURCE,
    )
    if blank.undefined:
        return blank
    by_threshold = _smoothed(totals, scope.smoothing)
    value = float(median_of_defined(by_threshold))
    if not np.isfinite(value):
        why = f"no dominant {' '.join(group.values())} character at half of the thresholds or more"
        return replace(blank, undefined=f"{why}, and smoothing is off")
    rng = scope.rng(NAME, stratum.domain, stratum.model, *group.values())
    draws = _bootstrap((lesser, n_lesser, greater, n_greater), scope, rng)
    shuffled = _shuffled(tally, stratum, race, gender, scope)
    at, paper, paper_tests = _at_median(totals, by_threshold, value, scope)
    null = [float(bound) for bound in permutation_range(shuffled, scope.level)]
    return replace(
        blank,
        value=value,
        undefined=None,
        interval=_interval(draws, clusters, scope),
        paper_interval=paper,
        null=Null(1.0, null[0], null[1], scope.level, SWAPPED, scope.seed),
        tests=(
            Test(_beyond(draws), _OTHER_SIDE),
            *paper_tests,
            Test(float(permutation_p(value, shuffled)), SWAPPED),
        ),
        details=_details(totals, by_threshold, at),
    )


def _details(totals: Roles, by_threshold: FloatArray, at: int) -> dict[str, float]:
    """How many thresholds count, and the counts at the threshold `at` of the median."""
    return {
        "n_thresholds": float(np.sum(~np.isnan(by_threshold))),
        "n_smoothed": float(np.sum((totals[0] == 0) ^ (totals[2] == 0))),
        "threshold_of_median": float(THRESHOLDS[at]),
        "count_subordinate": float(totals[0][at]),
        "count_dominant": float(totals[2][at]),
    }


def _undefined(totals: Roles, group: dict[str, str], stratum: Stratum) -> str | None:
    name = " ".join(group.values())
    if stratum.n_texts == 0:
        return "no story could be read: all were refused, empty or failed"
    for role, n in (("subordinate", totals[1]), ("dominant", totals[3])):
        if n.sum() == 0:
            return (
                f"no {role} {group['gender']} character with a matched name in "
                f"{stratum.n_texts:,} power-laden stories"
            )
    if not (totals[0] + totals[2]).any():
        return f"no {name} name above any threshold in {stratum.n_texts:,} power-laden stories"
    return None


def _smoothed(cells: Roles, smoothing: float) -> FloatArray:
    """Ratio at each threshold, shapes (..., T) and totals (..., 1); NaN where both counts are 0."""
    k_sub, n_sub, k_dom, n_dom = cells
    neither = (k_sub == 0) & (k_dom == 0)
    one = ((k_sub == 0) | (k_dom == 0)) & ~neither
    values = ratio(k_sub, n_sub, k_dom, n_dom, np.where(one, smoothing, 0.0))
    return np.where(neither | (n_sub == 0) | (n_dom == 0), np.nan, values)


def _bootstrap(cells: Roles, scope: Scope, rng: np.random.Generator) -> FloatArray:
    """The median in each of draws / 4 replicates: a median over thresholds costs a sort each."""
    weights = cluster_weights(len(cells[0]), max(scope.draws // 4, 100), rng).astype(np.float64)
    k_sub, n_sub, k_dom, n_dom = (weights @ cell for cell in cells)
    return median_of_defined(_smoothed((k_sub, n_sub, k_dom, n_dom), scope.smoothing))


def _shuffled(tally: Tally, stratum: Stratum, race: int, gender: int, scope: Scope) -> FloatArray:
    swaps = swapped_roles(tally, stratum, scope)
    cells = swapped_above(swaps, tally.likelihood[swaps.name, race], swaps.gender == gender)
    return median_of_defined(_smoothed(cells, scope.smoothing))


def _beyond(draws: FloatArray) -> float:
    """Twice the smaller share of replicates at or beyond 1, never 0; NaN where too few exist."""
    known = draws[~np.isnan(draws)]
    if len(known) < len(draws) / 2:
        return float("nan")
    smaller = min(np.sum(known <= 1.0), np.sum(known >= 1.0))
    return min(1.0, 2.0 * float(smaller + 1) / (len(known) + 1))


def _interval(draws: FloatArray, clusters: int, scope: Scope) -> Interval | None:
    low, high = expanded_percentile(draws, scope.level, clusters)
    if not has_width(low, high):
        return None
    return Interval(float(low), float(high), scope.level, _METHOD, clusters, scope.seed)


def _at_median(
    totals: Roles, by_threshold: FloatArray, value: float, scope: Scope
) -> tuple[int, Interval | None, tuple[Test, ...]]:
    """The threshold nearest the median, with Katz's interval and tests of its counts there."""
    at = int(np.nanargmin(np.abs(by_threshold - value)))
    added = scope.smoothing if (totals[0][at] == 0) or (totals[2][at] == 0) else 0.0
    cells = (
        float(totals[0][at]) + added,
        float(totals[1][0]) + 2 * added,
        float(totals[2][at]) + added,
        float(totals[3][0]) + 2 * added,
    )
    low, high = (float(bound) for bound in katz_log(*cells, level=scope.level))
    method = f"Katz log at the threshold {THRESHOLDS[at]:.0%} of the median"
    paper = None if np.isnan(low) else Interval(low, high, scope.level, method)
    return at, paper, naive_ratio_tests(cells)


MEDIAN_RACIALIZED = Component(
    name=NAME,
    summary="Median over likelihood thresholds of the subordination ratio, within one gender.",
    reads="people of power-laden stories; a name table",
    unit="character",
    range="above 0; 1 is neutral",
    undefined_when="no character of the gender with a matched name in one of the roles, or no name "
    "above any threshold",
    equation="R_mrs = median over t of p(ℓ_race > t | subordinate, gender) / "
    "p(ℓ_race > t | dominant, gender), t = 1 %, …, 100 %",
    source=SOURCE,
    run=median_racialized,
)
