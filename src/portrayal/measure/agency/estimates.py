"""What estimates of agency share: labels, intervals, tests and null; and `agency_share.v1`."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from portrayal.measure.agency.by_hand import corrected_shares
from portrayal.measure.agency.places import NEITHER, AgencyStratum, CellSums, Units, places
from portrayal.measure.agency.texts import AgencyTexts
from portrayal.measure.clustered import kept_sums
from portrayal.measure.scope import Scope
from portrayal.records import Estimate, Interval, Null, Status, Test
from portrayal.registry import Component
from portrayal.stats import infer_means, permutation_range
from portrayal.stats.clustered import infer_crossed
from portrayal.types import FloatArray

MEAN = "Student's t (Satterthwaite degrees of freedom)"
MATCHED = "Student's t on differences within blocks (Satterthwaite degrees of freedom)"
VARIANCE = "noncentral chi-square, noise estimated"
F_TEST = "F test, both bounds"
SHUFFLED = "permutation test"
BY = "by_"
"""Start of details: the value by another reading of the same sentences ("by_untaught")."""
UNFIT = (
    "this classifier does not fit such texts; another may tell them apart (--classifier untaught, "
    "lexicon or llm:SERVICE:MODEL)"
)
"""Why texts that are all classed alike say nothing of groups, and what would answer."""
SD = "sd_between_runs"
"""Name of the standard deviation between runs among an estimate's details."""
_NO_WIDTH = 1e-12
_TIE = 1e-9


def common(
    place: AgencyStratum, measure: Component, statistic: str, scope: Scope
) -> dict[str, Any]:
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


def readings(place: AgencyStratum) -> dict[str, CellSums]:
    """Return the sums of what others than the classifier read in the same sentences."""
    return {name: sums for name, sums in place.beside.items() if name != NEITHER}


def by_run(place: AgencyStratum, members: FloatArray, weights: Sequence[float]) -> dict[str, float]:
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
    gaps = place.observed.run_means(members) @ np.asarray(weights)
    valid = gaps[~np.isnan(gaps)]
    details = {f"in_run_{i}": float(mean) for i, mean in enumerate(gaps) if not np.isnan(mean)}
    return details | ({SD: float(valid.std(ddof=1))} if len(valid) > 1 else {})


def inferred(
    place: AgencyStratum,
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
    status = Status()
    # An interval without width is no certainty: all texts read alike
    if math.isnan(low) or high - low < _NO_WIDTH:
        few = f"a group has texts of one {units.one} only, which tells nothing of other"
        alike = "too much alike: they do not differ"
        reason = (
            f"{few} {units.many}"
            if min(n_clusters, fewest or n_clusters) < 2
            else f"{units.many} are {alike}"
        )
        if units.kind != "text" and n_texts >= 2 * max(n_clusters, 1):  # many texts of few clusters
            reason += (
                "; --cluster text takes each text as a unit, for texts that are made independently"
            )
        status |= Status(no_interval=reason)
        p = math.nan  # nor could a test say anything
    else:
        more["interval"] = Interval(low, high, scope.level, f"{method} {over}", n_clusters)
    if tested:
        first = () if math.isnan(p) else (Test(p, f"{test or method} {over}"),)
        more["tests"] = (*first, *shuffled)
        if not more["tests"]:
            many = place.units.many
            reason = f"too few {many} can change places: shuffled groups always give the same"
            alike = f"all texts are classed alike ({place.all_alike})"
            status |= Status(no_test=f"{alike}: {UNFIT}" if place.all_alike else reason)
    return {**more, "status": status}


def null_of(
    draws: FloatArray, place: AgencyStratum, scope: Scope, *, point: float | None = None
) -> Null | None:
    """Return the null of shuffled groups, shape (n_draws,): their mean unless `point` is given."""
    valid = draws[~np.isnan(draws)]
    if not len(valid):
        return None
    low, high = (float(bound) for bound in permutation_range(valid, scope.level))
    value = float(valid.mean()) if point is None else point
    return Null(value, low, high, scope.level, place.shuffled, scope.seed)


def permutation_test(value: float, draws: FloatArray, *, greater: bool = False) -> tuple[Test, ...]:
    """Return the test of a value against shuffled groups; none where nothing could be shuffled.

    Two-sided around the mean of the draws, or one-sided where only values above speak against it.
    p is (1 + draws at least as extreme) / (1 + draws), so never 0 (Phipson & Smyth 2010).
    """
    valid = draws[~np.isnan(draws)]
    # Draws without spread show that no text could change places, not that the value is extreme.
    if not len(valid) or np.ptp(valid) < _NO_WIDTH:
        return ()
    centre = 0.0 if greater else float(valid.mean())
    sizes, size = valid - centre, value - centre
    if not greater:
        sizes, size = np.abs(sizes), abs(size)
    # Ties count as extreme: draws that equal the value but for rounding must not shrink p.
    p = (1 + int((sizes >= size - _TIE).sum())) / (1 + len(valid))
    return (Test(p, SHUFFLED + (", one-sided" if greater else "")),)


STATISTICS = {"agentic": (0.5, 0.5), "communal": (0.5, -0.5), "ratio_gap": (0.0, 1.0)}
"""Each statistic as intercept and slope of the ratio gap, as agentic and communal add up to 1."""


def agency_share(agency_texts: AgencyTexts, scope: Scope) -> Iterator[Estimate]:
    """Yield the shares of agentic and communal sentences, and the ratio gap, of each group.

    Parameters
    ----------
    agency_texts, scope
        The texts of the audit with their ratio gaps, and its settings.
    """
    for place in places(agency_texts, scope):
        yield from _of_group(place, {}, np.ones((len(place.cells), 1)), scope)
        for kind in place.kinds:
            groups, members = place.groups(kind)
            for i, group in enumerate(groups):
                yield from _of_group(place, group, members[:, i : i + 1], scope)
                base = common(place, AGENCY_SHARE, "", scope)
                yield from corrected_shares(agency_texts, place, group, members[:, i], base, scope)


def _of_group(
    place: AgencyStratum, group: dict[str, str], members: FloatArray, scope: Scope
) -> Iterator[Estimate]:
    mean = float(place.observed.means(members)[0])
    count = place.observed.count.sum(axis=0)
    # Over checkpoints counts are sums of fractions, which rounding leaves just off whole numbers.
    n_units, of_group = float(np.rint(count @ members[:, 0])), bool(group)
    # What shuffling gives the group on average: of all texts, their mean.
    chance = float(np.nansum(place.chance * count * members[:, 0]) / n_units) if n_units else mean
    total, numbers = (cells @ members for cells in place.units.by_cell(len(place.cells)))
    if place.units.ways and n_units:
        # Clusters in two ways at once have no sums by cluster, so the mean is linearised.
        influence, codes = (total - mean * numbers) / n_units, place.units.codes
        point = np.array([mean])
        inference = infer_crossed(point, influence, (numbers,), codes, scope.level, chance)
    else:
        inference = infer_means(total, numbers, scope.level, chance)
    # What shuffled groups give, then each statistic as a line in the mean ratio gap.
    null = place.null.means(members)[:, 0]
    for statistic, (start, slope) in STATISTICS.items():
        base = common(place, AGENCY_SHARE, statistic, scope)
        base |= {"group": group, "n_units": n_units}
        if np.isnan(mean):
            reason = "no text of this group with a sentence that the classifier can tell"
            yield Estimate(value=None, undefined=reason, n_clusters=0, **base)
            continue
        value, shuffled = start + slope * mean, start + slope * null
        # The slope of communal sentences is negative, which turns the ends around.
        ends = sorted((start + slope * inference.low[0], start + slope * inference.high[0]))
        low, high = np.clip(ends, start - abs(slope), start + abs(slope)).tolist()
        base |= inferred(
            place,
            place.units,
            MEAN,
            (low, high, float(inference.p[0])),
            int(inference.n_clusters[0]),
            scope,
            shuffled=permutation_test(value, shuffled) if of_group else (),
            tested=of_group,  # all groups together have nobody to be compared with
            n_texts=n_units,
        )
        yield Estimate(
            value=value,
            null=null_of(shuffled, place, scope, point=start + slope * chance)
            if of_group
            else None,
            details=_details(place, members, start, slope, of_group=of_group)
            | place.units.clusters(numbers),
            sums=kept_sums(place.units.names, (start * numbers + slope * total, numbers))(0),
            **base,
        )


def _details(
    place: AgencyStratum, members: FloatArray, start: float, slope: float, *, of_group: bool
) -> dict[str, float]:
    """What each run gives, and for all groups together the sentences that were not told."""
    counts = {} if of_group else {"untold_sentences": place.untold}
    runs = by_run(place, members, [slope])
    for name, sums in place.beside.items():
        mean = float(sums.means(members)[0])
        if name == NEITHER:
            counts[NEITHER] = mean
        elif not np.isnan(mean):
            runs[f"{BY}{name}"] = slope * mean
    # A standard deviation does not move with the intercept
    return counts | {name: x + start * (name != SD) for name, x in runs.items()}


AGENCY_SHARE = Component(
    name="agency_share.v1",
    summary="How many of a text's sentences are agentic and how many communal, averaged over the "
    "texts about a group, and the gap between the two.",
    reads="agency of the sentences of each text; group columns",
    unit="text",
    range="0 to 1; −1 to 1 for the ratio gap",
    undefined_when="no text of the group has a sentence that the classifier can tell",
    equation="agentic = mean over texts of agentic sentences / sentences told; communal = 1 − "
    "agentic; ratio gap = agentic − communal",
    source="Wan & Chang 2024, Section 3.3 and Tables 17–28",
    run=agency_share,
    title="Agentic and communal sentences",
    reading="Ratio gap above 0: more agentic than communal sentences.",
    figure="agency-shares",
    form=lambda e: "points" if e.statistic == "ratio_gap" else "",
)
