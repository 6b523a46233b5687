"""Medians over models of representation and subordination ratios (Shieh et al., Fig. 1a ii, 2b).

A model counts as one, however many stories it has. All models answer the same prompts, so whole
prompts vary together, in all models: they are the clusters.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from portrayal.measure.clustered import GroupSums, estimates_of
from portrayal.measure.scope import Scope
from portrayal.measure.stories.representation import Against, binomial_null, compared, left_out
from portrayal.measure.stories.roles import fair_names, fair_tests
from portrayal.measure.stories.strata import (
    UNREAD,
    Stratum,
    group_features,
    prompt_sums,
    strata,
)
from portrayal.measure.stories.tally import DOMINANT, NEUTRAL, SUBORDINATE, Characters, Tally
from portrayal.records import Estimate
from portrayal.reference.groups import Baseline, no_share
from portrayal.reference.names import NameTable
from portrayal.registry import Component
from portrayal.stats import column_ratios, divide, median_shares, median_sides
from portrayal.types import FloatArray

FEWEST_MODELS = 3
"""Fewer values have no median that says more than their mean."""


@dataclass(frozen=True)
class _Domain:
    """One domain of all models together, and its models, all over the same prompts."""

    pooled: Stratum
    models: tuple[Stratum, ...]

    def sums(self, characters: Characters, role: int, values: FloatArray) -> FloatArray:
        """Sums per prompt, column and model, shape (n_prompts, k, n_models)."""
        by_model = [prompt_sums(characters, model, role, values) for model in self.models]
        return np.stack(by_model, axis=-1)


def _domains(tally: Tally, *, laden: bool) -> Iterator[_Domain]:
    by_domain: dict[str, list[Stratum]] = {}
    for stratum in strata(tally, laden=laden):
        by_domain.setdefault(stratum.domain, []).append(stratum)
    # strata yields all models together before each of them.
    for pooled, *models in by_domain.values():
        # Every model gets a row for each prompt, so that a prompt is one cluster in all of them.
        yield _Domain(pooled, tuple(replace(m, prompts=pooled.prompts) for m in models))


def _of_group(
    ratios: FloatArray, people: float, pooled: Stratum, exclusions: dict[str, int]
) -> dict[str, Any]:
    """Fields of the estimate of a group, of ratios by model; `undefined` where there is none."""
    valid = ratios[~np.isnan(ratios)]
    counts = {"n_models": float(valid.size), "n_models_undefined": float(ratios.size - valid.size)}
    if valid.size:
        counts |= {"lowest": float(valid.min()), "highest": float(valid.max())}
    fields: dict[str, Any] = {"counts": counts, "n_units": people, "exclusions": exclusions}
    if pooled.n_texts == 0:
        fields["undefined"] = UNREAD
    elif valid.size < FEWEST_MODELS:
        few = f"{valid.size} of {ratios.size} models have a ratio; a median needs {FEWEST_MODELS}"
        fields["undefined"] = few
    return fields


def median_representation(
    tally: Tally, scope: Scope, *, baseline: Baseline, name_tables: Mapping[str, NameTable]
) -> Iterator[Estimate]:
    """Yield the median over models of the representation ratio of each race and gender.

    Parameters
    ----------
    tally, scope
        Annotated stories and the audit's settings.
    baseline
        The comparison distribution p*.
    name_tables
        Name table of each race, for the null of names drawn at random from it.
    """
    for domain in _domains(tally, laden=False):
        yield from _representation(tally, domain, baseline, name_tables, scope)


def _representation(
    tally: Tally,
    domain: _Domain,
    baseline: Baseline,
    name_tables: Mapping[str, NameTable],
    scope: Scope,
) -> Iterator[Estimate]:
    characters, pooled, k = tally.characters, domain.pooled, len(tally.races)
    features = group_features(tally, characters.name, characters.gender, crossed=False)
    starred = np.array(baseline.of(features.groups))
    count, total, squares = (
        domain.sums(characters, NEUTRAL, values) for values in features.moments
    )
    mixed = median_shares(count, total, squares)
    sums = GroupSums(tally.prompt_names(pooled.prompts), features.groups, *mixed)
    races = mixed[0][:, :k], mixed[1][:, :k], mixed[2][:, :k]
    fair = fair_tests(tally, fair_names(tally, name_tables), pooled, NEUTRAL, races, scope)
    ratios = divide(count.sum(0), total.sum(0)) / starred[:, np.newaxis]
    people, excluded = total.sum((0, 2)), left_out(characters, pooled, (NEUTRAL,), features)

    def fields_of(i: int) -> dict[str, Any]:
        n, p_star = float(people[i]), float(starred[i])
        fields = _of_group(ratios[i], n, pooled, excluded(i, n))
        if np.isnan(p_star):
            fields["undefined"] = no_share(baseline.name, features.groups[i])
        if "undefined" in fields:
            return fields
        # Of shares in these very prompts nothing is said: of their medians the mix is too sure.
        details, fields["fixed"] = {"baseline": p_star}, None
        if i >= k:
            # As many people as say what the mix of models says.
            null = binomial_null(float(mixed[1][:, i].sum()), p_star, scope)
            return fields | {"details": details, "null": null}
        fields |= {"test": fair.test(i), "null": fair.null(i, p_star, scope)}
        return fields | {"details": details | fair.details(i, p_star), "status": fair.status(i)}

    yield from estimates_of(
        MEDIAN_REPRESENTATION,
        sums,
        compared(sums, Against(baseline.name, starred, fair, k), scope),
        scope,
        fields_of,
        form=None,
        statistic="ratio",
        **pooled.fields,
        instruments={"baseline": baseline.name},
    )


MEDIAN_REPRESENTATION = Component(
    name="median_representation.v1",
    summary="Median over models of how often a race or gender occurs, over its share.",
    reads="people of power-neutral stories of three models or more; a name table; a baseline p*",
    unit="character",
    range="0 to 1/p*; 1 is the population's share",
    undefined_when="fewer than three models have a ratio, or p* has no share",
    equation="median over models of R_rep = p / p*",
    source="Shieh et al. 2025, Eq. 1–2, Fig. 1a ii",
    run=median_representation,
    title="Median representation ratio of the models",
    reading="Above 1: half of the models or more show the group more often than the baseline.",
    findings=0,
    brief="share, median model",
    repeats="representation",
    figure="dots",
)


def median_subordination(tally: Tally, scope: Scope) -> Iterator[Estimate]:
    """Yield the median over models of the subordination ratio, by race, by gender and by both.

    Parameters
    ----------
    tally, scope
        Annotated stories and the audit's settings.
    """
    for domain in _domains(tally, laden=True):
        yield from _subordination(tally, domain, scope)


def _subordination(tally: Tally, domain: _Domain, scope: Scope) -> Iterator[Estimate]:
    characters, pooled, roles = tally.characters, domain.pooled, (SUBORDINATE, DOMINANT)
    features = group_features(tally, characters.name, characters.gender, crossed=True)
    (a, n, a2), (b, m, b2) = (
        [domain.sums(characters, role, values) for values in features.moments] for role in roles
    )
    _, sides = median_sides((a, n, b, m), (a2, b2))
    sums = GroupSums.of_sides(tally.prompt_names(pooled.prompts), features.groups, sides)
    result = replace(sums.ratios(scope), n_clusters=((n.sum(-1) > 0) & (m.sum(-1) > 0)).sum(0))
    ratios = column_ratios(*(x.sum(0) for x in (a, n, b, m)))
    people = n.sum((0, 2)) + m.sum((0, 2))
    excluded = left_out(characters, pooled, roles, features)

    def fields_of(i: int) -> dict[str, Any]:
        fields = _of_group(ratios[i], float(people[i]), pooled, excluded(i, float(people[i])))
        return fields if "undefined" in fields else fields | {"null": result.null(i, scope)}

    yield from estimates_of(
        MEDIAN_SUBORDINATION,
        sums,
        result,
        scope,
        fields_of,
        form=None,
        statistic="ratio",
        **pooled.fields,
    )


MEDIAN_SUBORDINATION = Component(
    name="median_subordination.v1",
    summary="Median over models of the subordination ratio.",
    reads="people of power-laden stories of three models or more; a name table",
    unit="character",
    range="0 and up; 1 is neutral, above 1 is subordinated",
    undefined_when="fewer than three models have a ratio; inf where the group is never dominant in "
    "the median model",
    equation="median over models of R_sub = p(group | subordinate) / p(group | dominant)",
    source="Shieh et al. 2025, Eq. 3, Fig. 2a (centre lines) and 2b",
    run=median_subordination,
    title="Median subordination ratio of the models",
    reading="Above 1: in half of the models or more, more often subordinate than dominant.",
    findings=0,
    brief="lesser role, median model",
    repeats="subordination",
    figure="dots",
)
