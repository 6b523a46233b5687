"""Medians over models of representation and subordination ratios (Shieh et al., Fig. 1a ii, 2b).

A model counts as one, however many stories it has. All models answer the same prompts, so whole
prompts vary together, in all models: they are the clusters, and change their roles, in one piece.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from portrayal.measure.scope import Scope
from portrayal.measure.stories.representation import left_out
from portrayal.measure.stories.roles import (
    FairTests,
    MedianTests,
    fair_names,
    fair_tests,
    median_tests,
    repetition_at_hand,
    role_sums,
)
from portrayal.measure.stories.strata import (
    UNREAD,
    Features,
    Stratum,
    group_features,
    prompt_sums,
    strata,
)
from portrayal.measure.stories.tally import DOMINANT, NEUTRAL, SUBORDINATE, Characters, Tally
from portrayal.records import EFFECTIVE, Estimate, Interval, Null, Status, Test
from portrayal.reference import Baseline, NameTable
from portrayal.reference.groups import no_share
from portrayal.registry import Component
from portrayal.stats import divide
from portrayal.stats.clustered import Clustered
from portrayal.stats.contrasts import TwoSides
from portrayal.stats.design_effect import effective_number
from portrayal.stats.naming import drawn_shares, repetition_effect
from portrayal.stats.p_values import inverted_toward_null
from portrayal.stats.resampling import not_refused, two_sided_p
from portrayal.stats.summaries import FEWEST_MODELS, infer_median_shares, median_over
from portrayal.types import FloatArray

MEDIAN = (
    "effective binomial of the median, its variance from random noise shared within prompts; where "
    "only medians by chance allow the null, the inversion of their test toward it"
)
MEDIAN_TEST = "clustered effective binomial test of the median over models (mid-p)"
FAIR_MEDIAN = "fair naming: names of each model drawn at random from bearers, and prompts, larger p"
DRAWN_MEDIAN = "each model's characters drawn at random from the baseline"
_MORE = 20
"""Draws of fair naming for each draw of the audit: 40,000, so that p can be small."""


@dataclass(frozen=True)
class _Domain:
    """One domain of all models together, and its models, all over the same prompts."""

    pooled: Stratum
    models: tuple[Stratum, ...]

    def sums(self, characters: Characters, role: int, values: FloatArray) -> FloatArray:
        """Sums per prompt, model and column, shape (n_prompts, n_models, k)."""
        by_model = [prompt_sums(characters, model, role, values) for model in self.models]
        return np.stack(by_model, axis=1)


def _domains(tally: Tally, *, laden: bool) -> Iterator[_Domain]:
    by_domain: dict[str, list[Stratum]] = {}
    for stratum in strata(tally, laden=laden):
        by_domain.setdefault(stratum.domain, []).append(stratum)
    # strata yields all models together before each of them.
    for pooled, *models in by_domain.values():
        # Every model gets a row for each prompt, so that a prompt is one cluster in all of them.
        yield _Domain(pooled, tuple(replace(m, prompts=pooled.prompts) for m in models))


def _why_none(ratios: FloatArray, pooled: Stratum) -> str | None:
    """Why there is no median of these ratios of models; None where there is one."""
    n_defined = int((~np.isnan(ratios)).sum())
    if pooled.n_texts == 0:
        return UNREAD
    if n_defined >= FEWEST_MODELS:
        return None
    return f"{n_defined} of {len(ratios)} models have a ratio; a median needs {FEWEST_MODELS}"


def _of_models(ratios: FloatArray) -> dict[str, float]:
    """How many models have a ratio, and the lowest and highest of these."""
    valid = ratios[~np.isnan(ratios)]
    details = {"n_models": float(valid.size), "n_models_undefined": float(ratios.size - valid.size)}
    if valid.size:
        details |= {"lowest": float(valid.min()), "highest": float(valid.max())}
    return details


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
    characters = tally.characters
    features = group_features(tally, characters.name, characters.gender, crossed=False)
    starred = np.array(baseline.shares(features.groups))
    names, k = fair_names(tally, name_tables), len(tally.races)
    for unordered in _domains(tally, laden=False):
        count, total, squares = (
            unordered.sums(characters, NEUTRAL, values) for values in features.moments
        )
        # Random numbers go to models by what they counted, so that no name of a model decides.
        order = np.lexsort((count.sum((0, 2)), total.sum((0, 2))))
        count, total, squares = (moment[:, order] for moment in (count, total, squares))
        domain = replace(unordered, models=tuple(unordered.models[j] for j in order))
        races = tuple(moment.sum(1)[:, :k] for moment in (count, total, squares))
        fair = fair_tests(tally, names, domain.pooled, NEUTRAL, races, scope)
        sums = _Shares(count, total, squares, starred, baseline.name)
        yield from _representation(tally, domain, features, sums, fair, scope)


@dataclass(frozen=True)
class _Shares:
    """Sums of one domain, shape (n_prompts, n_models, k), and the baseline's shares, (k,)."""

    count: FloatArray
    total: FloatArray
    squares: FloatArray
    starred: FloatArray
    baseline: str

    @property
    def ratios(self) -> FloatArray:
        """Share / p* of each model, shape (n_models, k); NaN where it is undefined."""
        return np.asarray(divide(self.count.sum(0), self.total.sum(0)) / self.starred)


def _representation(
    tally: Tally, domain: _Domain, features: Features, sums: _Shares, fair: FairTests, scope: Scope
) -> Iterator[Estimate]:
    pooled, n_races = domain.pooled, len(tally.races)
    draws = _drawn_medians(tally, domain, sums, fair, scope)
    point = np.where(np.isnan(draws[0]), np.nan, sums.starred)
    if fair.names.naming is not None:
        # Names read with errors: what chance gives a race is r0, not its share of the population
        point[:n_races] = fair.names.naming.share
    rng = scope.rng(MEDIAN_REPRESENTATION.name, pooled.domain)
    medians = infer_median_shares(sums.count, sums.total, sums.squares, scope.level, point, rng)
    ratios, reasons = sums.ratios, left_out(tally.characters, pooled, (NEUTRAL,), features)
    for i, group in enumerate(features.groups):
        n, starred = float(sums.total[:, :, i].sum()), float(sums.starred[i])
        reason = _why_none(ratios[:, i], pooled)
        if np.isnan(starred):
            reason = no_share(sums.baseline, group)
        fields = {} if reason else _compared(medians, i, draws[:, i], starred, fair, n_races, scope)
        more = fields.pop("more", {})
        yield scope.estimate(
            MEDIAN_REPRESENTATION,
            statistic="ratio",
            strata=pooled.labels,
            group=dict(group),
            value=None if reason else float(medians.value[i]) / starred,
            n_texts=pooled.n_texts,
            n_units=n,
            n_clusters=int(medians.n_clusters[i]),
            exclusions=pooled.exclusions | reasons(i, n),
            details=_of_models(ratios[:, i]) | more,
            instruments={**scope.instruments, "baseline": sums.baseline},
            undefined=reason,
            **fields,
        )


def _compared(
    medians: Clustered,
    i: int,
    draws: FloatArray,
    starred: float,
    fair: FairTests,
    n_races: int,
    scope: Scope,
) -> dict[str, Any]:
    """Interval, null, test, status and further details of group `i`.

    p is the larger of that by prompts and that of the medians `draws` by chance, shape (n_draws,),
    so that no median inside the null range is refused; where these alone allow the null, the
    interval's end toward it is that of their test.
    """
    is_race, value, p = i < n_races, float(medians.value[i]), float(medians.p[i])
    low, high = float(medians.low[i]), float(medians.high[i])
    status = fair.status(i) if is_race else Status()
    # Without a null by chance, the prompts alone bound and test the median
    null, method, around, centre = None, MEDIAN_TEST, (low, high), starred
    if not np.isnan(draws).any():
        if is_race and fair.names.naming is not None:
            centre, law, method = float(fair.names.naming.share[i]), fair.names.drawn, FAIR_MEDIAN
        else:
            law = DRAWN_MEDIAN
        tail = (1 - scope.level) / 2
        # Ends that are draws themselves, so that p and range agree on what chance allows.
        ends = np.quantile(draws, [tail, 1 - tail], method="inverted_cdf") / starred
        null = Null(centre / starred, float(ends[0]), float(ends[1]), scope.level, law, scope.seed)
        p = max(p, float(two_sided_p(np.array(value), draws)))
        least, most = not_refused(draws, scope.level)
        around = max(value - (most - centre), 0.0), min(value + (centre - least), 1.0)
    if status.no_test is not None or null is None:
        p = float("nan")
    elif np.isnan(p):
        status |= Status(no_test=str(medians.reason[i]))
    if not np.isnan(p):
        bounds = inverted_toward_null((low, high), around, p, value, centre, scope.level)
        low, high = map(float, bounds)
    interval = None
    if np.isnan(low):
        status |= Status(no_interval=str(medians.reason[i]))
    else:
        n = int(medians.n_clusters[i])
        interval = Interval(low / starred, high / starred, scope.level, MEDIAN, n, scope.seed)
    more = {"baseline": starred, EFFECTIVE: float(medians.carriers[i])}
    return {
        "interval": interval,
        "null": null,
        "tests": (Test(p, method),),
        "status": status,
        "more": more | (fair.details(i, starred) if is_race else {}),
    }


def _drawn_medians(
    tally: Tally, domain: _Domain, sums: _Shares, fair: FairTests, scope: Scope
) -> FloatArray:
    """Median shares by chance, shape (n_draws, k); NaN where there is no null.

    Races: each model's names are drawn from the bearers, as often repeated within prompts as its
    own. Genders: each model's characters are drawn from the baseline.
    """
    units, n_races = sums.total.sum(0), len(tally.races)
    rng = scope.rng("medians by chance", domain.pooled.domain)
    shape = (_MORE * scope.draws, *units.shape)
    shares = np.full(shape, np.nan)
    if fair.names.naming is not None:
        for j, model in enumerate(domain.models):
            effect = repetition_effect(
                sums.total[:, j, :n_races], repetition_at_hand(tally, model, NEUTRAL)
            )
            # A name that a prompt repeats says no more than once, so fewer names than characters
            # are drawn.
            size = np.maximum(divide(units[j, :n_races], effect), 1.0)
            shares[:, j, :n_races] = drawn_shares(fair.names.naming, size, shape[0], rng)
    size, starred = np.rint(units[:, n_races:]), np.nan_to_num(sums.starred[n_races:])
    # Genders count as 0 or 1, so that chance is binomial; likelihoods of names are not.
    counts = rng.binomial(size.astype(np.int64), starred, (shape[0], *size.shape))
    shares[:, :, n_races:] = divide(counts, size)
    shares = np.where((units > 0) & ~np.isnan(sums.starred), shares, np.nan)
    return median_over(np.moveaxis(shares, 1, 0))


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
    characters = tally.characters
    features = group_features(tally, characters.name, characters.gender, crossed=True)
    values = features.both
    k = len(features.groups)
    for domain in _domains(tally, laden=True):
        lesser = domain.sums(characters, SUBORDINATE, values)
        greater = domain.sums(characters, DOMINANT, values)
        reasons = left_out(characters, domain.pooled, (SUBORDINATE, DOMINANT), features)
        for i, group in enumerate(features.groups):
            cells = lesser[..., i], lesser[..., k + i], greater[..., i], greater[..., k + i]
            excluded = reasons(i, float(cells[1].sum() + cells[3].sum()))
            yield _subordination(tally, domain.pooled, group, role_sums(*cells), excluded, scope)


def _subordination(
    tally: Tally,
    pooled: Stratum,
    group: Mapping[str, str],
    sums: TwoSides,
    excluded: Mapping[str, int],
    scope: Scope,
) -> Estimate:
    ratios = sums.ratio
    reason = _why_none(ratios, pooled)
    blank = scope.estimate(
        MEDIAN_SUBORDINATION,
        statistic="ratio",
        strata=pooled.labels,
        group=dict(group),
        value=None,
        n_texts=pooled.n_texts,
        n_units=float(sums.n_upper.sum() + sums.n_lower.sum()),
        n_clusters=int(((sums.n_upper.sum(1) > 0) & (sums.n_lower.sum(1) > 0)).sum()),
        exclusions={**pooled.exclusions, **excluded},
        details=_of_models(ratios),
        undefined=reason or "",
    )
    if reason:
        return blank
    # A prompt carries a group in all models at once, as all answer it.
    everybody = (sums.upper + sums.lower).sum(1)[:, np.newaxis]
    carriers = effective_number(everybody)
    median = median_tests(tally, sums, scope, smoothing=0.0)
    tests_of = MedianTests(median, np.array([blank.n_clusters]), carriers)
    value = float(median_over(ratios[:, np.newaxis])[0])
    return replace(
        blank,
        value=value,
        undefined=None,
        interval=tests_of.interval(0, value, scope),
        null=tests_of.null(0, scope),
        tests=(tests_of.test(0),),
        status=tests_of.status(0, scope),
        details={**blank.details, **tests_of.effective(0)},
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
