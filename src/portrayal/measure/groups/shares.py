"""Shares of groups: of texts or people, and over the baselines of the factor."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from portrayal.annotate.group_labels import STATUSES
from portrayal.measure.clustered import GroupSums, estimates_of, sums_by
from portrayal.measure.corrected import HandSums
from portrayal.measure.groups.texts import (
    PERSON,
    TEXT,
    GroupStratum,
    GroupTexts,
    Observation,
    strata_of,
)
from portrayal.measure.scope import Scope
from portrayal.measure.stories.representation import binomial_null
from portrayal.records import ALL, Estimate, Null
from portrayal.reference.factors import FactorBaseline, ModelSource
from portrayal.registry import Component
from portrayal.stats.two_phase import Labelled
from portrayal.types import BoolArray, FloatArray

SOURCE = "Shieh et al. 2025, Eq. 1 (share over baseline), for the groups of any factor"
DRAWN = "names drawn at random from the bearers of the name table"
NO_UNIT = {
    "text": "no text shows any group",
    "person": "nobody's group is seen",
}


Quantity = Callable[[Observation], tuple[FloatArray, FloatArray, FloatArray | None]]
"""Function of what was observed, in cells, to numerators (n, k), totals (n, 1), and squares."""


def _decided(observed: Observation) -> tuple[FloatArray, FloatArray, FloatArray | None]:
    """Units whose group is observed, each split among its groups."""
    return observed.weight, observed.decided[:, np.newaxis], observed.squares


def _shares(
    measure: Component, group_texts: GroupTexts, scope: Scope, quantity: Quantity
) -> Iterator[Estimate]:
    """Yield the share of each group in each stratum, for each source of the measure's unit."""
    unit = PERSON if measure.unit == PERSON else TEXT
    for observed in (obs for obs in group_texts.observed if obs.unit == unit):
        for stratum in strata_of(group_texts, observed.prompt, observed.model):
            sums = _sums(group_texts, observed, stratum, quantity)
            yield from _of_stratum(measure, observed, stratum, sums, scope)


def _of_stratum(
    measure: Component, observed: Observation, stratum: GroupStratum, sums: GroupSums, scope: Scope
) -> Iterator[Estimate]:
    n = float(sums.n_upper[:, 0].sum())  # the same in every column
    status, exclusions = _exclusions(observed, stratum)
    texts, mentions = (rows[stratum.inside].sum(0) for rows in (observed.shown, observed.mentions))

    def own(i: int) -> dict[str, Any]:
        counts = {
            "count": float(sums.upper[:, i].sum()),
            "shown": float(texts[i]),
            "mentions": float(mentions[i]),
        }
        return {"undefined": _unseen(n, i, observed, measure.unit), "counts": counts}

    yield from estimates_of(
        measure,
        sums,
        sums.shares(scope),
        _observed_by(scope, observed),
        own,
        tested=False,
        statistic="share",
        strata={**stratum.labels, "seen_by": observed.source.name},
        n_texts=int(status.sum()) if observed.unit == TEXT else 0,
        exclusions=exclusions,
    )


def _sums(
    group_texts: GroupTexts, observed: Observation, stratum: GroupStratum, quantity: Quantity
) -> GroupSums:
    """The cells of a stratum by prompt, and what labels by hand make of them."""
    # Prompts of this stratum only, numbered anew.
    codes, code = np.unique(observed.prompt[stratum.inside], return_inverse=True)

    def by_prompt(values: FloatArray) -> FloatArray:
        return sums_by(code, len(codes), values[stratum.inside])

    numerator, total, squares = quantity(observed)
    keys = observed.factor.keys
    sums = GroupSums(
        [group_texts.prompts[i] for i in codes.tolist()],
        [{observed.factor.name: key} for key in keys],
        by_prompt(numerator),
        np.repeat(by_prompt(total), len(keys), axis=1),
        None if squares is None else by_prompt(squares),
    )
    hand = group_texts.hand.get((observed.factor.name, observed.source.name))
    if hand is None:
        return sums
    inside = stratum.has(hand.said.prompt, hand.said.model)
    # The texts that could be read: people may have labelled any of them
    size = observed.status[stratum.inside, :4].sum(1)

    def terms(obs: Observation, rows: BoolArray, n: FloatArray) -> tuple[FloatArray, FloatArray]:
        upper, units, _ = quantity(obs)
        # Terms are means over the texts of a cell; those of a cell without any stay 0.
        n = np.maximum(n, 1.0)[:, np.newaxis]
        return upper[rows] / n, np.repeat(units[rows] / n, len(keys), axis=1)

    ones = np.ones(int(inside.sum()))
    hand_code = np.searchsorted(codes, hand.said.prompt[inside])
    guess = Labelled(hand_code, hand.weight[inside], terms(hand.said, inside, ones))
    everyone = Labelled(code, size, terms(observed, stratum.inside, size))
    truth = terms(hand.truth, inside, ones)
    return replace(sums, hand=HandSums.of(everyone, guess, truth, len(codes), hand.note))


def _observed_by(scope: Scope, observed: Observation) -> Scope:
    """The scope with what was observed by: the labelling model only where that was asked."""
    instruments = {**scope.instruments, "factor": observed.factor.name}
    if not isinstance(observed.source, ModelSource):
        # What words or names tell does not change with the model that labels other texts.
        instruments.pop("factor_model", None)
    return replace(scope, instruments=instruments)


def _exclusions(observed: Observation, stratum: GroupStratum) -> tuple[FloatArray, dict[str, int]]:
    """Units by status, and those that have no share, by reason."""
    status = observed.status[stratum.inside].sum(0)
    reasons = dict(zip(STATUSES, status.tolist(), strict=True))
    unit = "text" if observed.unit == TEXT else "person"
    words = {
        "several": f"{unit} with several groups",
        "none": f"{unit} with no group",
        "unknown": f"{unit} whose group is not known",
        "unread": "refused, empty or failed",
    }
    # Otherwise a text with several groups counts, and is no exclusion
    separately = observed.source.several == "apart"
    names = [name for name in words if name != "several" or separately]
    exclusions = {words[name]: reasons[name] for name in names if reasons[name]}
    for reason, count in observed.unknown.items():
        if n := float(count[stratum.inside].sum()):
            # A unit is excluded once: under its reason, no longer as one of the unknown.
            exclusions[words["unknown"]] -= n
            exclusions[f"answer of the model: {reason}"] = n
    return status, {reason: round(n) for reason, n in exclusions.items() if round(n)}


def text_share(group_texts: GroupTexts, scope: Scope) -> Iterator[Estimate]:
    """Yield the share of the texts that can be read in which a group is observed at all."""

    def shown(observed: Observation) -> tuple[FloatArray, FloatArray, None]:
        # Of texts that the source can tell; those it cannot are no "no"
        return observed.shown, observed.status[:, :3].sum(1, keepdims=True), None

    yield from _shares(GROUP_TEXTS, group_texts, scope, shown)


def group_share(group_texts: GroupTexts, scope: Scope) -> Iterator[Estimate]:
    """Yield the share of a group among the texts whose group is observed."""
    yield from _shares(GROUP_SHARE, group_texts, scope, _decided)


def people_share(group_texts: GroupTexts, scope: Scope) -> Iterator[Estimate]:
    """Yield the share of a group among the people whose references or names indicate one."""
    yield from _shares(PEOPLE_SHARE, group_texts, scope, _decided)


def group_ratio(group_texts: GroupTexts, scope: Scope) -> Iterator[Estimate]:
    """Yield the share of a group among texts over its share in each baseline of the factor."""
    yield from _ratios(GROUP_RATIO, group_texts, scope)


def people_ratio(group_texts: GroupTexts, scope: Scope) -> Iterator[Estimate]:
    """Yield the share of a group among people over its share in each baseline of the factor."""
    yield from _ratios(PEOPLE_RATIO, group_texts, scope)


def _ratios(measure: Component, group_texts: GroupTexts, scope: Scope) -> Iterator[Estimate]:
    for observed in (obs for obs in group_texts.observed if obs.unit == measure.unit):
        for stratum in strata_of(group_texts, observed.prompt, observed.model):
            for baseline in observed.factor.baselines:
                yield from _over(measure, group_texts, observed, stratum, baseline, scope)


def _over(
    measure: Component,
    group_texts: GroupTexts,
    observed: Observation,
    stratum: GroupStratum,
    baseline: FactorBaseline,
    scope: Scope,
) -> Iterator[Estimate]:
    """Yield the shares of a stratum over those of a baseline, where it has any for the stratum."""
    keys = observed.factor.keys
    value = stratum.labels.get(baseline.stratum, ALL) if baseline.stratum else None
    shares = baseline.of() if value is None else baseline.of(value)
    if value == ALL or shares is None:  # a baseline by stratum says nothing of pooled strata
        return
    # A baseline share of 0 has no ratio over it, as if it were not given.
    starred = np.array([shares.get(key, 0.0) or np.nan for key in keys])
    # Of names, what names drawn at random from the bearers of the name table would give.
    expected = np.where(np.isnan(observed.population), 1.0, observed.population / starred)
    sums = _sums(group_texts, observed, stratum, _decided)
    n = float(sums.n_upper[:, 0].sum())
    status, exclusions = _exclusions(observed, stratum)

    def own(i: int) -> dict[str, Any]:
        undefined = observed.beside or None
        if undefined is None and np.isnan(starred[i]):
            undefined = f"the baseline {baseline.name} gives no share for {keys[i]}"
        by_name, r0, nan = not np.isnan(observed.population[i]), float(expected[i]), float("nan")
        # Names read with errors: without any difference the ratio is r0, not 1
        null = Null(r0, nan, nan, scope.level, DRAWN) if by_name else None
        count = float(sums.upper[:, i].sum())
        return {
            "undefined": undefined or _unseen(n, i, observed, observed.unit),
            "null": null or binomial_null(n, float(starred[i]), scope),
            "details": {
                "share": count / n if n else nan,
                "baseline": float(starred[i]),
                "count": count,
                **({"r0": r0} if by_name else {}),
            },
        }

    # The date of the baseline, as its shares change with the population.
    dated = f", {baseline.date}" if baseline.date else ""
    yield from estimates_of(
        measure,
        sums,
        sums.shares(scope, scale=starred, null=expected),
        _observed_by(scope, observed),
        own,
        scale=1.0 / starred,
        statistic="ratio",
        strata={**stratum.labels, "seen_by": observed.source.name, "population": baseline.name},
        n_texts=int(status.sum()) if observed.unit == TEXT else 0,
        exclusions=exclusions,
        instruments={"baseline": baseline.name, "baseline_source": f"{baseline.source}{dated}"},
    )


def _unseen(n: float, i: int, observed: Observation, unit: str) -> str | None:
    """Why a group has no share; None where it has one."""
    if not observed.visible[i]:
        factor = observed.factor
        return f"{observed.source.name} of {factor.name} list nothing of {factor.keys[i]}"
    return None if n else NO_UNIT[unit]


def _component(
    run: Callable[..., Iterator[Estimate]], *, stem: str = "", **words: Any
) -> Component:
    return Component(
        name=f"{stem or run.__name__}.v1",
        reads="groups of each factor in texts (groups.v2); people, for names and references",
        source=SOURCE,
        run=run,
        **words,
    )


GROUP_TEXTS = _component(
    text_share,
    stem="group_texts",
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
    group_share,
    summary="Which share a group has among the texts whose group is seen.",
    unit="text",
    range="0 to 1; the shares of a factor sum to 1 where texts with several groups are split",
    undefined_when="no text shows any group, or the source lists nothing of this one",
    equation="Σ w / n over texts that show a group: w is 1, or 1/k where a text shows k groups",
    title="Share of texts",
    changes=True,
    figure="dots",
    reading="Share among the texts whose group is seen; the others are counted beside it.",
    findings=0,
)
PEOPLE_SHARE = _component(
    people_share,
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
    group_ratio,
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
    people_ratio,
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
