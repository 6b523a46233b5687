"""Agency share: how agentic the texts about each group are."""

from collections.abc import Iterator

import numpy as np

from portrayal.measure.agency.estimates import (
    MEAN,
    SD,
    by_run,
    common,
    inferred,
    null_of,
    permutation_test,
)
from portrayal.measure.agency.places import Place, places
from portrayal.measure.agency.texts import AgencyTexts
from portrayal.measure.kept import kept_sums
from portrayal.measure.scope import Scope
from portrayal.records import Estimate
from portrayal.registry import Component
from portrayal.stats import infer_means
from portrayal.types import FloatArray

STATISTICS = {"agentic": (0.5, 0.5), "communal": (0.5, -0.5), "ratio_gap": (0.0, 1.0)}
"""Each statistic as intercept and slope of the ratio gap, as agentic and communal add up to 1."""


def agency_share(texts: AgencyTexts, scope: Scope) -> Iterator[Estimate]:
    """Yield the shares of agentic and communal sentences, and the ratio gap, of each group.

    Parameters
    ----------
    texts, scope
        The texts of the audit with their ratio gaps, and its settings.
    """
    for place in places(texts, scope):
        yield from _of_group(place, {}, np.ones((len(place.cells), 1)), scope)
        for kind in place.kinds:
            groups, members = place.groups(kind)
            for i, group in enumerate(groups):
                yield from _of_group(place, group, members[:, i : i + 1], scope)


def _of_group(
    place: Place, group: dict[str, str], members: FloatArray, scope: Scope
) -> Iterator[Estimate]:
    mean = float(place.observed.means(members)[0])
    count = place.observed.count.sum(axis=0)
    n_units, told = float(np.rint(count @ members[:, 0])), bool(group)
    # What shuffling gives the group on average: of all texts, their mean.
    chance = float(np.nansum(place.chance * count * members[:, 0]) / n_units) if n_units else mean
    total, numbers = (each @ members for each in place.units.by_cell(len(place.cells)))
    found = infer_means(total, numbers, scope.level, chance)
    null = place.null.means(members)[:, 0]
    for statistic, (start, slope) in STATISTICS.items():
        base = common(place, AGENCY_SHARE, statistic, scope)
        base |= {"group": group, "n_units": n_units}
        if np.isnan(mean):
            reason = "no text of this group with a sentence that the classifier can tell"
            yield Estimate(value=None, undefined=reason, n_clusters=0, **base)
            continue
        value, shuffled = start + slope * mean, start + slope * null
        low, high = sorted((start + slope * found.low[0], start + slope * found.high[0]))
        base |= inferred(
            place,
            place.units,
            MEAN,
            (low, high, float(found.p[0])),
            int(found.n_clusters[0]),
            scope,
            shuffled=permutation_test(value, shuffled) if told else (),
            tested=told,
            n_texts=n_units,
        )
        yield Estimate(
            value=value,
            null=null_of(shuffled, place, scope, point=start + slope * chance) if told else None,
            details=_details(place, members, start, slope, told=told),
            sums=kept_sums(place.units.names, (start * numbers + slope * total, numbers))(0),
            **base,
        )


def _details(
    place: Place, members: FloatArray, start: float, slope: float, *, told: bool
) -> dict[str, float]:
    """What each run gives, and for all groups together the sentences that were not told."""
    untold = {} if told else {"untold_sentences": place.untold}
    runs = by_run(place, members, [slope])
    return untold | {name: x + start * (name != SD) for name, x in runs.items()}


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
)
