"""Representation ratio: how often a group occurs, over its share of the population (Eq. 1–2)."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from portrayal.measure.clustered import GroupSums, Inference, estimates_of, sums_by
from portrayal.measure.scope import Scope
from portrayal.measure.stories.corrected import HandSample
from portrayal.measure.stories.roles import FAIR, FairTests, fair_names, fair_tests
from portrayal.measure.stories.strata import (
    UNREAD,
    Features,
    Stratum,
    group_features,
    group_sums,
    strata,
)
from portrayal.measure.stories.tally import NEUTRAL, Characters, Tally
from portrayal.records import Estimate, Interval, Null, Test
from portrayal.reference.groups import GENDERS, PAIRS, Baseline, no_share
from portrayal.reference.names import NameTable
from portrayal.registry import Component
from portrayal.shown import counted
from portrayal.stats import (
    altman_bland_p,
    cohens_d,
    exact_test,
    score_test,
    wilson,
    z_from_interval,
)
from portrayal.stats.tails import binomial_ppf
from portrayal.types import BoolArray, FloatArray

PAPER_P = "Altman–Bland from the interval (the paper's method)"


@dataclass(frozen=True)
class Against:
    """What shares are compared with: the baseline's name, p* per group (NaN: none), and names.

    `fair` compares the first groups, which are races, with names drawn at random from bearers; the
    other groups are compared with the baseline itself.
    """

    baseline: str
    starred: FloatArray
    fair: FairTests | None = None
    n_races: int = 0


def compared(sums: GroupSums, against: Against, scope: Scope) -> Inference:
    """Infer share / p* of each group: of races beside drawn names, of others tested against 1."""
    k, fair = against.n_races, against.fair
    is_race = np.arange(len(sums.groups)) < k
    ratios = sums.shares(scope, scale=against.starred, null=np.where(is_race, np.nan, 1.0))
    if fair is None or fair.shares is None:
        return ratios
    shares, starred = fair.shares, against.starred[:k]
    races = (shares.low / starred, shares.high / starred, shares.p)
    prompts = (shares.fixed_low / starred, shares.fixed_high / starred, shares.fixed_p)
    plain = (ratios.low, ratios.high, ratios.p)
    low, high, p, *bounds = (
        np.concatenate([race, other[k:]])
        for race, other in zip(races + prompts, plain + (ratios.fixed or plain), strict=True)
    )
    method, fixed = np.where(is_race, FAIR, ratios.method), (bounds[0], bounds[1], bounds[2])
    return replace(ratios, low=low, high=high, p=p, method=method, fixed=fixed)


def share_ratios(
    measure: Component,
    sums: GroupSums,
    against: Against,
    stratum: Stratum,
    scope: Scope,
    exclusions: Callable[[int, float], dict[str, int]],
) -> Iterator[Estimate]:
    """Yield share / p* for each group of a stratum, Eq. 1.

    Parameters
    ----------
    measure
        Whose estimates they are.
    sums, against
        Sums and comparison of each group.
    stratum, scope
        Where, and the audit's settings.
    exclusions
        Function of the group's index and its units to the units excluded, by reason.
    """
    fair, is_race = against.fair, np.arange(len(sums.groups)) < against.n_races
    ratios = compared(sums, against, scope)
    counts, units = sums.upper.sum(0), sums.n_upper.sum(0)
    squares = counts if sums.squares is None else sums.squares.sum(0)

    def own(i: int) -> dict[str, Any]:
        k, n, starred = float(counts[i]), float(units[i]), float(against.starred[i])
        reason = _undefined(n, starred, sums.groups[i], against.baseline, stratum, measure.unit)
        rests_on = {"baseline": against.baseline}
        excluded = {"exclusions": exclusions(i, n), "instruments": rests_on}
        if reason is not None:
            return {"undefined": reason, **excluded}
        share = k / n
        # Rounding can make the variance of equal contributions negative.
        spread = float(np.sqrt(max(float(squares[i]) / n - share**2, 0.0)))
        low, high = (float(bound) / starred for bound in wilson(k, n, scope.level))
        details = {
            "share": share,
            "baseline": starred,
            "count": k,
            "cohens_d": float(cohens_d(share, starred, spread)),
        }
        fields: dict[str, Any] = {
            **excluded,
            "paper_interval": Interval(low, high, scope.level, "Wilson / p*"),
            "tests": _naive_tests(k, n, starred),
            "null": binomial_null(n, starred, scope),
            "details": details,
        }
        if fair is not None and is_race[i]:
            fields |= {"test": fair.test(i)}
            fields |= {"null": fair.null(i, starred, scope)}
            fields["details"] = details | fair.details(i, starred)
            fields["status"] = fair.status(i)
        return fields

    yield from estimates_of(
        measure,
        sums,
        ratios,
        scope,
        own,
        scale=1.0 / against.starred,
        statistic="ratio",
        **stratum.fields,
    )


def _undefined(
    n: float, starred: float, group: Mapping[str, str], baseline: str, stratum: Stratum, unit: str
) -> str | None:
    if stratum.n_texts == 0:
        return UNREAD
    if np.isnan(starred):
        return no_share(baseline, group)
    if n == 0:
        trait = "known gender" if set(group) <= {"gender", "pair"} else "matched first name"
        return f"no {unit} with a {trait} in {counted(stratum.n_texts, 'story', 'stories')}"
    return None


def _naive_tests(k: float, n: float, starred: float) -> tuple[Test, ...]:
    tests = [Test(float(score_test(k, n, starred)), "score test, characters independent")]
    exact = float(exact_test(k, n, starred))
    if not np.isnan(exact):  # counts of likelihoods are no whole numbers, and have no exact test
        tests.append(Test(exact, "exact binomial test, characters independent"))
    # At 95 % whatever the audit's level: the paper's p is taken back from that interval
    low, high = (float(bound) / starred for bound in wilson(k, n, 0.95))
    z = z_from_interval(k / n / starred, low, high, log=False)
    return (*tests, Test(float(altman_bland_p(z)), PAPER_P))


def binomial_null(n: float, starred: float, scope: Scope) -> Null:
    """Return the null of `n` units drawn at random from the baseline: a binomial share over p*."""
    tail = (1 - scope.level) / 2
    # A binomial takes whole numbers.
    size = max(round(n), 1)
    low, high = (binomial_ppf(q, size, starred) / size / starred for q in (tail, 1 - tail))
    return Null(1.0, low, high, scope.level, "drawn at random from the baseline")


def drawn_count(table: NameTable, share: float, n: float, scope: Scope) -> Null:
    """Return the null of a count among `n` names drawn at random from the table's bearers.

    `share` is the share of all bearers whose name counts; the range is binomial.
    """
    tail = (1 - scope.level) / 2
    low, high = (binomial_ppf(q, round(n), share) for q in (tail, 1 - tail))
    method = f"names drawn at random from {table.name}"
    return Null(n * share, float(low), float(high), scope.level, method)


def representation(
    tally: Tally,
    scope: Scope,
    *,
    baseline: Baseline,
    name_tables: Mapping[str, NameTable],
    hand_sample: HandSample | None = None,
) -> Iterator[Estimate]:
    """Yield the representation ratio of each race and gender in power-neutral stories.

    Parameters
    ----------
    tally, scope
        Annotated stories and the audit's settings.
    baseline
        The comparison distribution p*.
    name_tables
        Name table of each race, for the null of names drawn at random from it.
    hand_sample
        Hand-labelled characters, which correct the ratios.
    """
    yield from _over(REPRESENTATION, tally, scope, [baseline], name_tables, hand_sample)


def representation_by_baseline(
    tally: Tally,
    scope: Scope,
    *,
    baselines: Sequence[Baseline],
    name_tables: Mapping[str, NameTable],
) -> Iterator[Estimate]:
    """Yield the representation ratio over each of several baselines; nothing where there is one.

    Parameters
    ----------
    tally, scope, name_tables
        See `representation`.
    baselines
        The comparison distributions p*; their names are a stratum of the estimates.
    """
    if len(baselines) > 1:
        yield from _over(REPRESENTATION_BY_BASELINE, tally, scope, baselines, name_tables)


def _over(
    measure: Component,
    tally: Tally,
    scope: Scope,
    baselines: Sequence[Baseline],
    name_tables: Mapping[str, NameTable],
    hand_sample: HandSample | None = None,
) -> Iterator[Estimate]:
    characters = tally.characters
    features = group_features(tally, characters.name, characters.gender, crossed=False)
    names, k = fair_names(tally, name_tables), len(tally.races)
    for stratum in strata(tally, laden=False):
        sums = group_sums(tally, stratum, NEUTRAL, features)
        squares = sums.upper if sums.squares is None else sums.squares
        races = sums.upper[:, :k], sums.n_upper[:, :k], squares[:, :k]
        fair = fair_tests(tally, names, stratum, NEUTRAL, races, scope)
        if hand_sample is not None:
            sums = replace(sums, hand=hand_sample.sums(stratum, (NEUTRAL,)))
        for baseline in baselines:
            starred = np.array(baseline.of(features.groups))
            # A single baseline stands in the instruments; only several need a stratum to be told
            # apart.
            labels = {"population": baseline.name} if len(baselines) > 1 else {}
            against = Against(baseline.name, starred, fair, k)
            yield from share_ratios(
                measure,
                _with_null(sums, against),
                against,
                replace(stratum, labels_beside=labels),
                scope,
                left_out(characters, stratum, (NEUTRAL,), features),
            )


def _with_null(sums: GroupSums, against: Against) -> GroupSums:
    """The sums, whose labels by hand are compared with what no difference would give."""
    if sums.hand is None:
        return sums
    null, k, naming = np.ones_like(against.starred), against.n_races, None
    if against.fair is not None:
        naming = against.fair.names.naming
    # Names that people give are read by the same table, so a race is compared with its R0.
    null[:k] = np.nan if naming is None else naming.share / against.starred[:k]
    return replace(sums, hand=replace(sums.hand, null=null))


def left_out(
    characters: Characters, stratum: Stratum, roles: tuple[int, ...], features: Features
) -> Callable[[int, float], dict[str, int]]:
    """Return the function that counts characters outside a group's denominator, by reason.

    A character is counted once, under the first reason that holds.
    """
    inside = stratum.has(characters.prompt, characters.model) & np.isin(characters.role, roles)
    total = int(characters.count[inside].sum())
    n_named = int(characters.count[inside & (characters.name >= 0)].sum())
    of = features.attribute
    matched = {
        group[of]: round(float(features.denominator[inside, i] @ characters.count[inside]))
        for i, group in enumerate(features.groups)
        if group.keys() == {of}
    }

    def reasons(i: int, n: float) -> dict[str, int]:
        race = features.groups[i].get(of)
        n_known = total if race is None else matched[race]
        counts = {"gender not known": n_known - round(n)}
        if race is not None:
            counts["no first name"] = total - n_named
            counts["name not in the table"] = n_named - n_known
        return {reason: count for reason, count in counts.items() if count > 0}

    return reasons


REPRESENTATION = Component(
    name="representation.v1",
    summary="How often a race or gender occurs in power-neutral stories, over its share.",
    reads="people of power-neutral stories; a name table; a baseline p*",
    unit="character",
    range="0 to 1/p*; 1 is the population's share",
    undefined_when="no character has a matched name (race) or known gender, or p* has no share",
    equation="R_rep = p / p*, with p(race) = (1/n) Σ ℓ_race(name_i)",
    source="Shieh et al. 2025, Eq. 1–2, Fig. 1a, Tables S13a–c",
    run=representation,
    title="Representation ratio",
    reading="Above 1: more often among the characters than in the baseline.",
    finding="{shares}",
    brief="share",
    figure="heatmap",
)


REPRESENTATION_BY_BASELINE = replace(
    REPRESENTATION,
    name="representation_by_baseline.v1",
    summary="How often a race or gender occurs in power-neutral stories, over each of several "
    "baselines.",
    reads="people of power-neutral stories; a name table; several baselines p*",
    run=representation_by_baseline,
    title="Representation over each baseline",
    reading="Above 1: more often among the characters than in the population that is named. The "
    "baselines are the study's, those of the factor that names tell, and those of a locale.",
    finding="",
    brief="",
    figure="dots",
    findings=0,
)


UNKNOWN_PARTNER = "gender of one partner not known"
"""Why a couple is of no pair: a gender that no word tells, or of which words of several tell."""


def pair_representation(tally: Tally, scope: Scope, *, baseline: Baseline) -> Iterator[Estimate]:
    """Yield the representation ratio of each gender pair among romantic partners.

    Couples with a gender that is not told, or unsure, are of no pair: they are left out and
    counted. `details` hold the ratio if none of them, and if all of them, were this pair
    (`lowest_possible`, `highest_possible`), the sharpest bounds without assumptions (Manski 1989).

    Parameters
    ----------
    tally, scope
        Annotated stories and the audit's settings.
    baseline
        The comparison distribution p* of couples (Table S9c).
    """
    pairs, both_known = pair_indicators(tally)
    starred = np.array(baseline.of({"pair": pair} for pair in PAIRS))
    for full in strata(tally, laden=False):
        stratum = couples(tally, full)
        if stratum is None:  # a domain without couples
            continue
        inside = stratum.has(tally.prompt, tally.model) & tally.readable
        code = np.searchsorted(stratum.prompts, tally.prompt[inside])
        count = tally.count[inside, np.newaxis]
        size = len(stratum.prompts)
        counts = sums_by(code, size, pairs[inside] * count)
        totals = sums_by(code, size, (both_known[inside, np.newaxis] * count).astype(float))
        sums = GroupSums(
            tally.prompt_names(stratum.prompts),
            [{"pair": pair} for pair in PAIRS],
            counts,
            np.repeat(totals, len(PAIRS), axis=1),
            counts,
        )

        def excluded(_: int, n: float, n_texts: int = stratum.n_texts) -> dict[str, int]:
            return {UNKNOWN_PARTNER: n_texts - round(n)} if n_texts > round(n) else {}

        against = Against(baseline.name, starred)
        estimates = share_ratios(PAIR_REPRESENTATION, sums, against, stratum, scope, excluded)
        yield from map(_with_bounds, estimates)


def _with_bounds(estimate: Estimate) -> Estimate:
    """The estimate with its ratio if none, and if all, of the couples not known were this pair."""
    missing = estimate.exclusions.get(UNKNOWN_PARTNER, 0)
    if estimate.value is None or not missing:
        return estimate
    couples = (estimate.n_units + missing) * estimate.details["baseline"]
    count = estimate.details["count"]
    bounds = {"lowest_possible": count / couples, "highest_possible": (count + missing) / couples}
    return replace(estimate, details={**estimate.details, **bounds})


def pair_indicators(tally: Tally) -> tuple[FloatArray, BoolArray]:
    """Which pair each story shows, shape (n_rows, 6), and whether both genders are known."""
    codes = {gender: code for code, gender in enumerate(GENDERS)}
    # A couple is the same whoever is named first.
    low = np.minimum(tally.subject_gender, tally.object_gender)
    high = np.maximum(tally.subject_gender, tally.object_gender)
    code_pairs = [sorted(codes[label] for label in pair.split("-")) for pair in PAIRS]
    is_pair = np.stack([(low == a) & (high == b) for a, b in code_pairs], axis=1)
    return is_pair.astype(np.float64), np.asarray(is_pair.any(axis=1))


def couples(tally: Tally, stratum: Stratum) -> Stratum | None:
    """Return the stratum's prompts about couples alone; None where it has none."""
    prompts = stratum.prompts[tally.prompt_couple[stratum.prompts]]
    if not len(prompts):
        return None
    inside = np.isin(tally.prompt, prompts) & np.isin(tally.model, stratum.models)
    readable = int(tally.count[inside & tally.readable].sum())
    total = int(tally.count[inside].sum())
    unread = {"refused, empty or failed": total - readable} if total > readable else {}
    return Stratum(stratum.domain, stratum.model, prompts, stratum.models, readable, unread)


PAIR_REPRESENTATION = Component(
    name="pair_representation.v1",
    summary="How often each pair of genders occurs among romantic partners, over its share.",
    reads="people of power-neutral romantic stories; a baseline p* of couples",
    unit="couple",
    range="0 to 1/p*; 1 is the population's share",
    undefined_when="no story tells the gender of both partners, or p* has no couples",
    equation="R_rep = p(pair) / p*(pair)",
    source="Shieh et al. 2025, Eq. 1, Fig. 1b, Table S13d",
    run=pair_representation,
    title="Representation ratio of couples",
    reading="Above 1: more often among the couples than in the baseline. Couples with a gender "
    "that is not told, or unsure, are left out and counted; lowest_possible and highest_possible "
    "are the ratio if none, or all, of them were this pair.",
    finding="{shares}",
    findings=1,
    brief="couples",
    figure="dots",
)
