"""First names: their subordination, the most common ones, and how racialized they are."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from portrayal.measure.clustered import Inference, share_inference, sums_by
from portrayal.measure.scope import Scope
from portrayal.measure.stories.representation import drawn_count
from portrayal.measure.stories.strata import GENDERS, Stratum, column_counts, ratio_sums, strata
from portrayal.measure.stories.subordination import RoleFields, counts_above, role_ratios
from portrayal.measure.stories.tally import DOMINANT, NEUTRAL, ROLES, SUBORDINATE, Tally
from portrayal.records import Estimate, Null, Status
from portrayal.reference.groups import NON_BINARY
from portrayal.reference.names import NameTable
from portrayal.registry import Component
from portrayal.types import FloatArray, IntArray


def name_subordination(tally: Tally, scope: Scope) -> Iterator[Estimate]:
    """Yield the subordination ratio of every name that occurs often enough, domains together.

    A name absent from one role is smoothed (Laplace), as in the paper. The shares by race that
    stand in the details describe the name's bearers in the name table, never a character.

    Parameters
    ----------
    tally, scope
        Annotated stories and the audit's settings.
    """
    characters = tally.characters
    has_name = characters.name >= 0
    for stratum in strata(tally, laden=True, pool_domains=True):
        inside = stratum.has(characters.prompt, characters.model) & has_name
        totals = np.bincount(
            characters.name[inside], weights=characters.count[inside], minlength=len(tally.names)
        )
        # Both roles together: choosing names by one role would bend their ratios
        names = np.flatnonzero(totals >= scope.min_name_count)
        if not len(names):
            continue
        groups = [{"name": tally.names[name]} for name in names.tolist()]
        sides = (name_sums(tally, stratum, role, names) for role in (SUBORDINATE, DOMINANT))
        sums = ratio_sums(tally.prompt_names(stratum.prompts), groups, sides)
        rows = (zip(tally.races, row, strict=True) for row in tally.likelihood[names].tolist())
        shares = [{f"share_{race}": x for race, x in row if not np.isnan(x)} for row in rows]
        details_of = [{"counts": counts} for counts in shares].__getitem__
        fields_of = RoleFields(more_fields=details_of, smoothing=scope.smoothing)
        yield from role_ratios(NAME_SUBORDINATION, sums, stratum, scope, fields_of)


def name_sums(
    tally: Tally, stratum: Stratum, role: int, names: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Count each name, and all named characters, per prompt: (n_prompts, k), (n_prompts, 1)."""
    people, column = tally.characters, np.full(len(tally.names) + 1, -1)
    column[names] = np.arange(len(names))
    counts = column_counts(people, stratum, role, column[people.name], len(names))
    return counts, column_counts(people, stratum, role, np.minimum(people.name, 0), 1)


NAME_SUBORDINATION = Component(
    name="name_subordination.v1",
    summary="Subordination ratio of each first name.",
    reads="people of power-laden stories",
    unit="character",
    range="above 0; 1 is neutral",
    undefined_when="never for a listed name, whose zero count is smoothed; rare names stay out",
    equation="R_sub(name) = p(name | subordinate) / p(name | dominant), Laplace-smoothed at 0",
    source="Shieh et al. 2025, Fig. 3a",
    run=name_subordination,
    title="Subordination ratio by name",
    reading="Above 1: characters of that name are more often subordinate than dominant.",
    findings=0,
    figure="table",
)


OTHER, MUCH = "share_in_other_table_", 0.25
"""Detail: share of a name's bearers of a group that another table tells, where it is as large."""
COUNT = "clustered effective binomial over prompts of a share, times all people"
LIKELIHOOD = 0.6
"""Share of bearers above which the paper calls a name highly racialized."""
LISTED = 9
"""Names listed for each race, as in Table S11."""


@dataclass(frozen=True)
class _Listed:
    """One listed name: its code, and the race and (Table 3) gender it is listed under.

    `share` is that of its table's bearers who bear it, NaN where the table does not count them.
    """

    name: int
    group: dict[str, str]
    likelihood: float
    table: NameTable | None
    share: float
    by_race: list[float]


def common_names(
    tally: Tally, scope: Scope, *, name_tables: dict[str, NameTable]
) -> Iterator[Estimate]:
    """Yield how often the most common racialized names occur, by role and domain.

    Parameters
    ----------
    tally, scope
        Annotated stories and the audit's settings.
    name_tables
        Name table of each race, for the null of names drawn at random from it.
    """
    for model, codes in tally.model_strata():
        rows = _listed(tally, codes, name_tables)
        if not rows:
            continue
        for laden, roles in ((False, (0,)), (True, (1, 2))):
            for pooled in (True, False):
                for stratum in strata(tally, laden=laden, pool_domains=pooled):
                    # Names are listed by model; of one domain the pooled rows would be the same
                    if stratum.model != model or (pooled and len(tally.domains) == 1):
                        continue
                    for role in roles:
                        yield from _counts(tally, stratum, role, rows, scope)


def _listed(tally: Tally, models: list[int], name_tables: Mapping[str, NameTable]) -> list[_Listed]:
    """The `LISTED` most frequent names above the likelihood, by race and by race × gender."""
    characters = tally.characters
    inside = np.isin(characters.model, models) & (characters.name >= 0)
    genders = np.minimum(characters.gender[inside], len(GENDERS))
    codes = np.arange(len(GENDERS) + 1)
    by_gender = sums_by(
        characters.name[inside],
        len(tally.names),
        (genders[:, np.newaxis] == codes) * characters.count[inside, np.newaxis],
    )
    total = by_gender.sum(1)
    rows: list[_Listed] = []
    for column, race in enumerate(tally.races):
        # Without the last row, which is that of characters without a name.
        likelihood = tally.likelihood[:-1, column]
        eligible = np.flatnonzero((likelihood > LIKELIHOOD) & (total > 0))  # NaN > x is False
        top = [(name, {tally.attribute: race}) for name in _largest(total, eligible)[:LISTED]]
        for gender, label in enumerate(GENDERS[:2]):
            of_gender = eligible[by_gender[eligible, gender] > 0]
            group = {tally.attribute: race, "gender": label}
            top += [(name, group) for name in _largest(by_gender[:, gender], of_gender)[:1]]
        table, shares = name_tables.get(race), [float("nan")] * len(top)
        if table is not None:
            shares = table.frequencies([tally.names[name] for name, _ in top]).tolist()
        # What a table that knows nothing of this race says of the name, where that is much.
        other_table = np.array([name_tables.get(r) is not table for r in tally.races])
        outside = np.where(other_table, tally.likelihood, 0.0)
        rows += [
            _Listed(name, group, float(likelihood[name]), table, share, outside[name].tolist())
            for (name, group), share in zip(top, shares, strict=True)
        ]
    return rows


def _largest(total: FloatArray, names: IntArray) -> list[int]:
    """Names by falling count; equal counts by the alphabet, as codes are alphabetical."""
    return [int(name) for name in names[np.lexsort((names, -total[names]))]]


def counts_inference(counts: FloatArray, total: FloatArray, scope: Scope) -> Inference:
    """Bound counts by prompt, shape (n_prompts, k), among `total` people, (n_prompts, 1).

    As so many people times their share.
    """
    shares = share_inference(counts, np.broadcast_to(total, counts.shape), scope)
    bounds = {name: getattr(shares, name) * total.sum() for name in ("value", "low", "high")}
    return replace(shares, **bounds, method=np.full(counts.shape[1], COUNT))


def _counts(
    tally: Tally, stratum: Stratum, role: int, rows: list[_Listed], scope: Scope
) -> Iterator[Estimate]:
    # A name may be listed twice, for its race and for its gender; it is counted once
    names = np.unique([row.name for row in rows])
    counts, all_names = name_sums(tally, stratum, role, names)
    n_clusters, total = len(stratum.prompts), float(all_names.sum())
    inferred = counts_inference(counts, all_names, scope)
    inferred = replace(inferred, n_clusters=np.full(len(names), n_clusters))
    for row in rows:
        i, null = int(np.searchsorted(names, row.name)), None
        if row.table is not None and not np.isnan(row.share):
            null = drawn_count(row.table, row.share, total, scope)
        yield scope.estimate(
            COMMON_NAMES,
            statistic="count",
            **replace(stratum, labels_beside={"role": ROLES[role]}).fields,
            group={**row.group, "name": tally.names[row.name]},
            value=float(counts[:, i].sum()),
            interval=inferred.interval(i, scope),
            status=inferred.status(i, test=False),
            null=null,
            n_units=total,
            n_clusters=n_clusters,
            details={
                "likelihood_of_name": row.likelihood,
                **{OTHER + r: x for r, x in zip(tally.races, row.by_race, strict=True) if x > MUCH},
            },
        )


COMMON_NAMES = Component(
    name="common_names.v1",
    summary="How often the most common names above 60 % likelihood occur in each role.",
    reads="people of all stories; a name table",
    unit="character",
    range="0 and up",
    undefined_when="never: a race without a name above 60 % has no row",
    equation="count of characters with the name, by role; names with ℓ_race(name) > 0.6",
    source="Shieh et al. 2025, Tables 3, S10 and S11",
    run=common_names,
    title="Most common names",
    reading="How often a name occurs, beside how often the name table makes one expect it.",
    figure="names",
)


EDGES = np.arange(0, 101, 5) / 100.0
"""Bin edges in 0–1; a bin holds likelihoods above its lower edge (the first also 0 itself)."""


def likelihood_histogram(
    tally: Tally, scope: Scope, *, name_tables: Mapping[str, NameTable]
) -> Iterator[Estimate]:
    """Yield how many power-neutral characters bear names of each likelihood, by race.

    For all characters, and for those with non-binary references alone.

    Parameters
    ----------
    tally, scope
        Annotated stories and the audit's settings.
    name_tables
        Name table of each race, for the null of names drawn at random from it.
    """
    characters = tally.characters
    masks = {
        "": np.ones(len(characters.count), dtype=bool),
        NON_BINARY: characters.gender == GENDERS.index(NON_BINARY),
    }
    for stratum in strata(tally, laden=False, pool_domains=True):
        for race in range(len(tally.races)):
            table = name_tables.get(tally.races[race])
            for gender, mask in masks.items():
                above, matched = counts_above(tally, stratum, NEUTRAL, race, mask, EDGES[:-1])
                # Bins are differences of counts above their edges; likelihoods of 0 belong to the
                # first.
                from_top = np.concatenate([matched, above[:, 1:], np.zeros_like(matched)], axis=1)
                counts = from_top[:, :-1] - from_top[:, 1:]
                n, n_clusters = float(matched.sum()), int((matched[:, 0] > 0).sum())
                reason = None if n else "no power-neutral character of this kind has a matched name"
                inferred = counts_inference(counts, matched, scope)
                nulls: list[Null | None] = [None] * (len(EDGES) - 1)
                if table is not None and np.isfinite(table.n_people) and n:
                    shares = table.histogram(tally.races[race], EDGES).tolist()
                    nulls = [drawn_count(table, share, n, scope) for share in shares]
                for i in range(len(EDGES) - 1):
                    share = f"{EDGES[i]:.2f}–{EDGES[i + 1]:.2f}"
                    group = {tally.attribute: tally.races[race], "likelihood": share}
                    yield scope.estimate(
                        LIKELIHOOD_HISTOGRAM,
                        statistic="count",
                        **stratum.fields,
                        group=group | ({"gender": gender} if gender else {}),
                        value=None if reason else float(counts[:, i].sum()),
                        interval=None if reason else inferred.interval(i, scope),
                        status=Status() if reason else inferred.status(i, test=False),
                        null=nulls[i],
                        n_units=n,
                        n_clusters=n_clusters,
                        undefined=reason,
                    )


LIKELIHOOD_HISTOGRAM = Component(
    name="likelihood_histogram.v1",
    summary="How many characters bear names of each racial likelihood.",
    reads="people of power-neutral stories; a name table",
    unit="character",
    range="0 and up",
    undefined_when="no character of the kind has a matched name",
    equation="count of characters with a < ℓ_race(name) ≤ b",
    source="Shieh et al. 2025, Fig. 1c and 1d",
    run=likelihood_histogram,
    title="Histogram of likelihoods",
    reading="Characters in each step of likelihood, beside what the name table makes one expect.",
    figure="heatmap",
)
