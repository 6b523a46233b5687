"""The most common highly racialized names, and the role each is given (Tables 3, S10 and S11)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from portrayal.measure.clustered import BOOTSTRAP, has_width
from portrayal.measure.features import GENDERS, sums_by
from portrayal.measure.name_subordination import name_sums
from portrayal.measure.scope import Scope
from portrayal.measure.shares import drawn_count
from portrayal.measure.strata import Stratum, strata
from portrayal.measure.tally import ROLES, FloatArray, IntArray, Tally
from portrayal.records import Estimate, Interval, Null
from portrayal.reference import NameTable
from portrayal.registry import Component
from portrayal.stats import cluster_weights, expanded_percentile

NAME = "common_names.v1"
SOURCE = "Shieh et al. 2025, Tables 3, S10 and S11"
LIKELIHOOD = 0.6
"""Share of bearers above which the paper calls a name highly racialized."""
LISTED = 9
"""Names listed for each race, as in Table S11."""


@dataclass(frozen=True)
class _Listed:
    """One listed name: its code, and the race and (Table 3) gender it is listed under."""

    name: int
    group: dict[str, str]
    likelihood: float


def common_names(tally: Tally, scope: Scope, *, tables: dict[str, NameTable]) -> Iterator[Estimate]:
    """Yield how often the most common racialized names occur, by role and domain.

    Parameters
    ----------
    tally, scope
        Annotated stories and the audit's settings.
    tables
        Name table of each race, for the null of names drawn at random from it.
    """
    for model, codes in tally.model_strata():
        listed = _listed(tally, codes)
        if not listed:
            continue
        for laden, roles in ((False, (0,)), (True, (1, 2))):
            for pooled in (True, False):
                for stratum in strata(tally, laden=laden, pool_domains=pooled):
                    if stratum.model != model or (pooled and len(tally.domains) == 1):
                        continue
                    for role in roles:
                        yield from _counts(tally, stratum, role, listed, scope, tables)


def _listed(tally: Tally, models: list[int]) -> list[_Listed]:
    """The `LISTED` most frequent names above the likelihood, by race and by race × gender."""
    characters = tally.characters
    inside = np.isin(characters.model, models) & (characters.name >= 0)
    known = np.minimum(characters.gender[inside], len(GENDERS))
    codes = np.arange(len(GENDERS) + 1)
    by_gender = sums_by(
        characters.name[inside],
        len(tally.names),
        (known[:, np.newaxis] == codes) * characters.count[inside, np.newaxis],
    )
    total = by_gender.sum(1)
    found: list[_Listed] = []
    for column, race in enumerate(tally.races):
        likelihood = tally.likelihood[:-1, column]
        eligible = np.flatnonzero((likelihood > LIKELIHOOD) & (total > 0))
        for name in _largest(total, eligible)[:LISTED]:
            found.append(_Listed(name, {"race": race}, float(likelihood[name])))
        for gender, label in enumerate(GENDERS[:2]):
            of_gender = eligible[by_gender[eligible, gender] > 0]
            for name in _largest(by_gender[:, gender], of_gender)[:1]:
                group = {"race": race, "gender": label}
                found.append(_Listed(name, group, float(likelihood[name])))
    return found


def _largest(total: FloatArray, names: IntArray) -> list[int]:
    """Names by falling count; equal counts by the alphabet, as codes are alphabetical."""
    order = np.lexsort((names, -total[names]))
    return [int(name) for name in names[order]]


def _counts(
    tally: Tally,
    stratum: Stratum,
    role: int,
    listed: list[_Listed],
    scope: Scope,
    tables: dict[str, NameTable],
) -> Iterator[Estimate]:
    names = np.unique([each.name for each in listed])
    counts, named = name_sums(tally.characters, stratum, role, names)
    rng = scope.rng(NAME, stratum.domain, stratum.model, ROLES[role])
    weights = cluster_weights(len(counts), scope.draws, rng).astype(np.float64)
    n_clusters = len(stratum.prompts)
    low, high = expanded_percentile(weights @ counts, scope.level, n_clusters)
    total = float(named.sum())
    for each in listed:
        i = int(np.searchsorted(names, each.name))
        interval = None
        if has_width(low[i], high[i]):
            interval = Interval(
                float(low[i]), float(high[i]), scope.level, BOOTSTRAP, n_clusters, scope.seed
            )
        yield Estimate(
            study=scope.study,
            measure=NAME,
            statistic="count",
            unit="character",
            strata={**stratum.labels, "role": ROLES[role]},
            group={**each.group, "name": tally.names[each.name]},
            value=float(counts[:, i].sum()),
            interval=interval,
            null=_drawn(tables.get(each.group["race"]), tally.names[each.name], total, scope),
            n_texts=stratum.n_texts,
            n_units=total,
            n_clusters=n_clusters,
            exclusions=stratum.exclusions,
            details={"likelihood_of_name": each.likelihood},
            instruments=scope.instruments,
            source=SOURCE,
        )


def _drawn(table: NameTable | None, name: str, n: float, scope: Scope) -> Null | None:
    """How often the name would occur among `n` drawn at random from the table's bearers."""
    if table is None or not np.isfinite(table.n_people):
        return None
    return drawn_count(table, float(table.frequencies([name])[0]), n, scope)


COMMON_NAMES = Component(
    name=NAME,
    summary="How often the most common names above 60 % likelihood occur in each role.",
    reads="people of all stories; a name table",
    unit="character",
    range="0 and up",
    undefined_when="never: a race without a name above 60 % has no row",
    equation="count of characters with the name, by role; names with ℓ_race(name) > 0.6",
    source=SOURCE,
    run=common_names,
)
