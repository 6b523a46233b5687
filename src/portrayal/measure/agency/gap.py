"""Agency gap: how much more agentic texts about one group are than texts about another."""

from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Any

import numpy as np

from portrayal.measure.agency.estimates import (
    common,
    difference_tests,
    draws_interval,
    explained,
    null_of,
)
from portrayal.measure.agency.places import Place, Sums, places
from portrayal.measure.agency.texts import HUMAN, AgencyTexts
from portrayal.measure.scope import Scope
from portrayal.records import Estimate
from portrayal.registry import Component
from portrayal.types import FloatArray

MINUS = " − "


def agency_gap(texts: AgencyTexts, scope: Scope) -> Iterator[Estimate]:
    """Yield the difference in ratio gap of every two groups, and of models from human texts.

    Parameters
    ----------
    texts, scope
        The texts of the audit with their ratio gaps, and its settings.
    """
    found = list(places(texts, scope))
    for place in found:
        for kind in place.kinds:
            yield from _of_kind(place, kind, texts.first, scope)
    human = {(p.task, p.condition, p.masking): p for p in found if _is_human(p)}
    for place in found:
        other = human.get((place.task, place.condition, place.masking))
        if other is not None and place.stratum == "all" and not _is_human(place):
            yield from _beside_human(place, other, texts.first, scope)


def pair_label(upper: dict[str, str], lower: dict[str, str]) -> dict[str, str]:
    """Return the group of a difference: "male − female" for each attribute, or the shared value."""
    return {
        name: value if value == lower[name] else f"{value}{MINUS}{lower[name]}"
        for name, value in upper.items()
    }


def _is_human(place: Place) -> bool:
    return place.model.casefold() == HUMAN and place.stratum == "all"


def _ordered(groups: tuple[dict[str, str], ...], first: tuple[str, ...]) -> list[int]:
    """Indices of the groups, those with the values of `first` before the others."""

    def key(i: int) -> tuple[tuple[bool, str], ...]:
        return tuple((value not in first, value) for value in groups[i].values())

    return sorted(range(len(groups)), key=key)


def _of_kind(
    place: Place, kind: tuple[int, ...], first: tuple[str, ...], scope: Scope
) -> Iterator[Estimate]:
    groups, members = place.groups(kind)
    observed = place.observed.means(members)
    drawn, null = place.drawn.means(members), place.null.means(members)
    clusters = place.units.count(members)
    count = place.observed.count.sum(axis=0) @ members
    if len(groups) < 2:
        base = common(place, AGENCY_GAP, "difference", scope)
        label = {place.attributes[a]: "any" for a in kind}
        what = " and ".join(place.attributes[a] for a in kind)
        reason = f"fewer than two groups of {what} have texts"
        yield Estimate(group=label, value=None, undefined=reason, **base)
    for i, j in combinations(_ordered(groups, first), 2):
        more: dict[str, Any] = {
            "group": pair_label(groups[i], groups[j]),
            "n_units": float(count[i] + count[j]),
            "n_clusters": int(min(clusters[i], clusters[j])),
        }
        value = float(observed[i] - observed[j])
        resampled, shuffled = drawn[:, i] - drawn[:, j], null[:, i] - null[:, j]
        n_clusters = more["n_clusters"]
        found = Estimate(
            value=value,
            interval=draws_interval(resampled, n_clusters, place, scope),
            null=null_of(shuffled, place, scope, point=0.0),
            tests=difference_tests(value, resampled, shuffled, n_clusters),
            details={"upper": float(observed[i]), "lower": float(observed[j])},
            **common(place, AGENCY_GAP, "difference", scope),
            **more,
        )
        yield explained(found, resampled, n_clusters, place)


def _beside_human(
    place: Place, human: Place, first: tuple[str, ...], scope: Scope
) -> Iterator[Estimate]:
    """How far a model's difference lies above that of human texts, for every pair of one attribute.

    Groups of several attributes crossed are left out: they are too many to be told apart twice.
    """
    for kind in place.kinds:
        ours, members = place.groups(kind)
        theirs, other = human.groups(kind)
        shared = [i for i in _ordered(ours, first) if ours[i] in theirs]
        if len(kind) > 1:
            continue
        for i, j in combinations(shared, 2):
            pair, human_pair = [i, j], [theirs.index(ours[i]), theirs.index(ours[j])]
            yield _one_beside(
                pair_label(ours[i], ours[j]),
                (place, members[:, pair]),
                (human, other[:, human_pair]),
                scope,
            )


Side = tuple[Place, FloatArray]


def _one_beside(group: dict[str, str], ours: Side, theirs: Side, scope: Scope) -> Estimate:
    """The estimate of one pair; each side is a place and the cells of the pair, (n_cells, 2)."""
    (place, members), (human, other) = ours, theirs

    def above(of: Callable[[Place], Sums]) -> FloatArray:
        own, others = of(place).means(members), of(human).means(other)
        return np.asarray((own[..., 0] - own[..., 1]) - (others[..., 0] - others[..., 1]))

    value = float(above(lambda each: each.observed))
    draws, null = above(lambda each: each.drawn), above(lambda each: each.null)
    n_clusters = int(min(place.units.count(members).min(), human.units.count(other).min()))
    counts = [p.observed.count.sum(axis=0) @ m for p, m in (ours, theirs)]
    found = Estimate(
        group=group | {"beside": HUMAN},
        value=value,
        interval=draws_interval(draws, n_clusters, place, scope),
        null=null_of(null, place, scope, point=0.0),
        tests=difference_tests(value, draws, null, n_clusters),
        n_units=float(np.sum(counts)),
        n_clusters=n_clusters,
        **common(place, AGENCY_GAP, "difference", scope),
    )
    return explained(found, draws, n_clusters, place)


AGENCY_GAP = Component(
    name="agency_gap.v1",
    summary="How far the ratio gap of texts about one group lies above that of another, and how "
    "far a model's difference lies above that of human texts.",
    reads="agency of the sentences of each text; group columns",
    unit="text",
    range="−2 to 2; 0 is no difference (−4 to 4 beside human texts)",
    undefined_when="fewer than two groups have texts",
    equation="difference = mean ratio gap of the first group − mean ratio gap of the second",
    source="Wan & Chang 2024, Figure 2 and Tables 16–20",
    run=agency_gap,
    title="Difference in agency",
    reading="Above 0: texts about the first group are the more agentic ones.",
    figure="agency-gaps",
)
