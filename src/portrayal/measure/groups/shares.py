"""Shares of groups: of texts or people, and over the baselines of the factor."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from portrayal.annotate.group_labels import NONE, STATUSES, UNKNOWN, UNREAD
from portrayal.annotate.language import NOT_ENGLISH
from portrayal.measure.clustered import GroupSums, estimates_of
from portrayal.measure.corrected import HandSums
from portrayal.measure.groups.texts import TEXT, GroupStratum, GroupTexts, GroupUnits
from portrayal.measure.places import exclusions
from portrayal.measure.scope import Scope
from portrayal.measure.scored import ScoredUnits
from portrayal.measure.stories.representation import binomial_null
from portrayal.records import ALL, Estimate, Null
from portrayal.reference.factors import FactorBaseline, ModelSource
from portrayal.registry import Component
from portrayal.types import BoolArray, FloatArray

SOURCE = "Shieh et al. 2025, Eq. 1 (share over baseline), for the groups of any factor"
DRAWN = "names drawn at random from the bearers of the name table"
NO_UNIT = {
    "text": "no text shows any group",
    "person": "nobody's group is seen",
}


Quantity = Callable[[GroupUnits], tuple[FloatArray, BoolArray]]
"""Function of units to what each adds to the share of each group, (n, k), and which count, (n,)."""


def _sums(
    group_texts: GroupTexts, units: GroupUnits, stratum: GroupStratum, quantity: Quantity
) -> GroupSums:
    """The units of a stratum by prompt, and what labels by hand make of them."""

    def table(of: GroupUnits, inside: BoolArray) -> ScoredUnits:
        score, counted = quantity(of)
        member = counted[:, np.newaxis].astype(np.float64)
        return ScoredUnits(of.rows.prompt, of.rows.count, score, (member,)).take(inside)

    inside, hand = stratum.has(units.rows), group_texts.hand.get((units.name, units.source.name))
    scored, corrected = table(units, inside), None
    if hand is not None:
        guess, truth = (table(of, stratum.has(of.rows)) for of in (hand.guess, hand.truth))
        # The texts that could be read: people may have labelled any of them
        everyone = table(units, inside & units.readable)
        corrected = HandSums.of(everyone, guess, truth, hand.note, clusters=scored.clusters)
    groups = [{units.name: key} for key in units.keys]
    squares = scored.squares()
    return GroupSums.of(scored, group_texts.prompts, groups, squares=squares, hand=corrected)


def _of_stratum(
    measure: Component,
    units: GroupUnits,
    place: tuple[GroupStratum, BoolArray],
    sums: GroupSums,
    baseline: FactorBaseline | None,
    scope: Scope,
) -> Iterator[Estimate]:
    """Yield the shares of a stratum, or those over a baseline, where it has any for the stratum."""
    stratum, inside = place
    keys, n = units.keys, float(sums.n_upper[:, 0].sum())  # the same in every column
    n_read, exclusions = _exclusions(units, inside)
    instruments = {**scope.instruments, "factor": units.name}
    if not isinstance(units.source, ModelSource):
        # What words or names tell does not change with the model that labels other texts.
        instruments.pop("factor_model", None)
    shared: dict[str, Any] = {
        "strata": {**stratum.labels, "seen_by": units.source.name},
        "n_texts": n_read if units.unit == TEXT else 0,
        "exclusions": exclusions,
    }
    scope = replace(scope, instruments=instruments)
    weighted = units.rows.count[inside] @ np.c_[units.indicators, units.mentions][inside]

    def unseen(i: int) -> str | None:
        if not units.visible[i]:
            return f"{units.source.name} of {units.name} list nothing of {keys[i]}"
        return None if n else NO_UNIT[measure.unit]

    def own(i: int) -> dict[str, Any]:
        numbers = float(sums.upper[:, i].sum()), *weighted[i :: len(keys)].tolist()
        counts = dict(zip(("count", "shown", "mentions"), numbers, strict=True))
        return {"undefined": unseen(i), "counts": counts}

    if baseline is None:
        shares, shared = sums.shares(scope), {**shared, "statistic": "share", "tested": False}
        yield from estimates_of(measure, sums, shares, scope, own, **shared)
        return
    value = stratum.labels.get(baseline.stratum, ALL) if baseline.stratum else None
    reference = baseline.of() if value is None else baseline.of(value)
    if value == ALL or reference is None:  # a baseline by stratum says nothing of pooled strata
        return
    # A baseline share of 0 has no ratio over it, as if it were not given.
    starred = np.array([reference.get(key, 0.0) or np.nan for key in keys])
    # Of names, what names drawn at random from the bearers of the name table would give.
    by_name, nan = ~np.isnan(units.population), float("nan")
    expected = np.where(by_name, units.population / starred, 1.0)

    def over(i: int) -> dict[str, Any]:
        undefined = None
        if np.isnan(starred[i]):
            undefined = f"the baseline {baseline.name} gives no share for {keys[i]}"
        # Names read with errors: without any difference the ratio is r0, not 1
        r0, count = float(expected[i]), float(sums.upper[:, i].sum())
        null = Null(r0, nan, nan, scope.level, DRAWN) if by_name[i] else None
        details = {"share": count / n if n else nan, "baseline": float(starred[i]), "count": count}
        return {
            "undefined": undefined or unseen(i),
            "null": null or binomial_null(n, float(starred[i]), scope),
            "details": details | ({"r0": r0} if by_name[i] else {}),
        }

    # The date of the baseline, as its shares change with the population.
    dated = f", {baseline.date}" if baseline.date else ""
    baseline_names = {"baseline": baseline.name, "baseline_source": f"{baseline.source}{dated}"}
    shared["strata"]["population"] = baseline.name
    shared |= {"statistic": "ratio", "instruments": baseline_names, "scale": 1.0 / starred}
    ratios = sums.shares(scope, scale=starred, null=expected)
    yield from estimates_of(measure, sums, ratios, scope, over, **shared)


def _exclusions(units: GroupUnits, inside: BoolArray) -> tuple[int, dict[str, int]]:
    """The number of units, and of those that have no share, by reason."""
    status = {name: units.status == code for code, name in enumerate(STATUSES)}
    reasons = np.array(units.reasons, dtype=object)
    is_out = {
        f"{units.unit} with no group": status[NONE],
        # A unit is excluded once: under its reason, no longer as one of the unknown.
        f"{units.unit} whose group is not known": status[UNKNOWN] & (reasons == ""),
        "refused, empty or failed": status[UNREAD] & (reasons == ""),
    }
    for reason in sorted({*reasons.tolist()} - {""}):
        words = reason if reason == NOT_ENGLISH else f"answer of the model: {reason}"
        is_out[words] = reasons == reason
    count = np.where(inside, units.rows.count, 0.0)
    return int(count.sum()), exclusions(count, is_out)


def _component(
    name: str,
    # Units whose group is observed, each split among its groups
    quantity: Quantity = lambda units: (units.weight, units.decided),
    *,
    over_baselines: bool = False,
    **words: Any,
) -> Component:
    """Return the measure of a quantity, over the baselines of the factor or as it is."""

    def run(group_texts: GroupTexts, scope: Scope) -> Iterator[Estimate]:
        for units in group_texts.observed:
            for stratum in group_texts.places() if units.unit == measure.unit else ():
                inside = stratum.has(units.rows)
                if not inside.any():
                    continue
                sums = _sums(group_texts, units, stratum, quantity)
                for baseline in units.factor.baselines if over_baselines else (None,):
                    yield from _of_stratum(measure, units, (stratum, inside), sums, baseline, scope)

    measure = Component(
        name=name,
        reads="groups of each factor in texts (groups.v3); people, for names and references",
        source=SOURCE,
        run=run,
        **words,
    )
    return measure


GROUP_TEXTS = _component(
    "group_texts.v1",
    # Units of which the source can tell; those it cannot are no "no"
    lambda units: (units.indicators, units.is_known),
    summary="Which share of the texts shows a group at all.",
    unit="text",
    range="0 to 1; shares need not sum to 1, as texts may show several groups or none",
    undefined_when="no text could be read",
    equation="texts in which the group is seen / texts that could be read",
    title="Texts that show a group",
    changes=True,
    figure="dots",
    reading="Share of the texts in which the group is seen. Words are mentions, not identities.",
    findings=0,
)
GROUP_SHARE = _component(
    "group_share.v1",
    summary="Which share a group has among the texts whose group is seen.",
    unit="text",
    range="0 to 1; the shares of a factor sum to 1",
    undefined_when="no text shows any group, or the source lists nothing of this one",
    equation="Σ w / n over texts that show a group: w is 1, or 1/k where a text shows k groups",
    title="Share of texts",
    changes=True,
    figure="dots",
    reading="Share among the texts whose group is seen; the others are counted beside it.",
    findings=0,
)
PEOPLE_SHARE = _component(
    "people_share.v1",
    summary="Which share a group has among the people whose names or references tell of one.",
    unit="person",
    range="0 to 1",
    undefined_when="nobody's group is seen, or the source lists nothing of this one",
    equation="Σ w / n over people: w is 1 for the group of one's references, or the share of the "
    "group among those who bear one's name",
    title="Share of people",
    changes=True,
    figure="dots",
    reading="Share among the people of whom the source can tell; the others are counted. Shares "
    "of a name's bearers describe these bearers, never a person.",
    findings=0,
)
GROUP_RATIO = _component(
    "group_ratio.v1",
    over_baselines=True,
    summary="How often texts show a group over its share in a population, for each baseline.",
    unit="text",
    range="0 to 1/p*; 1 is the baseline's share",
    undefined_when="no text shows any group, or the baseline gives no share for this one",
    equation="R = p(group) / p*(group)",
    title="Texts over a baseline",
    figure="dots",
    reading="Above 1: more often than in the population of the baseline that is named.",
    finding="{shares}{seen_by}",
    brief="texts over baseline",
)
PEOPLE_RATIO = _component(
    "people_ratio.v1",
    over_baselines=True,
    summary="How often people of a group occur over its share in a population, for each baseline.",
    unit="person",
    range="0 to 1/p*; 1 is the baseline's share, r0 what names drawn from all bearers would read",
    undefined_when="nobody's group is seen, or the baseline gives no share for this one",
    equation="R = p(group) / p*(group)",
    title="People over a baseline",
    figure="dots",
    reading="Above 1 (of names, above the null): more often than in the population that is named.",
    finding="{shares}{seen_by}",
    brief="people over baseline",
)
