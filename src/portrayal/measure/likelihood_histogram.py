"""Histograms of racial likelihood: how racialized a model's names are (Fig. 1c, d)."""

from collections.abc import Iterator, Mapping

import numpy as np

from portrayal.measure.clustered import BOOTSTRAP, PER_PROMPT, has_width
from portrayal.measure.features import GENDERS
from portrayal.measure.scope import Scope
from portrayal.measure.shares import drawn_count
from portrayal.measure.strata import Stratum, strata
from portrayal.measure.tally import NEUTRAL, BoolArray, FloatArray, Tally
from portrayal.measure.thresholds import counts_above
from portrayal.records import Estimate, Interval, Null
from portrayal.reference import NameTable
from portrayal.registry import Component
from portrayal.stats import cluster_weights, expanded_percentile, wilson

NAME = "likelihood_histogram.v1"
SOURCE = "Shieh et al. 2025, Fig. 1c and 1d"
EDGES = np.arange(0, 101, 5) / 100.0
"""Bin edges in 0–1; a bin holds likelihoods above its lower edge (the first also 0 itself)."""


def likelihood_histogram(
    tally: Tally, scope: Scope, *, tables: Mapping[str, NameTable]
) -> Iterator[Estimate]:
    """Yield how many power-neutral characters bear names of each likelihood, by race.

    For all characters, and for those with non-binary references alone.

    Parameters
    ----------
    tally, scope
        Annotated stories and the audit's settings.
    tables
        Name table of each race, for the null of names drawn at random from it.
    """
    characters = tally.characters
    chosen = {
        "": np.ones(len(characters.count), dtype=bool),
        "NB": characters.gender == GENDERS.index("NB"),
    }
    for stratum in strata(tally, laden=False, pool_domains=True):
        for race in range(len(tally.races)):
            table = tables.get(tally.races[race])
            for gender, which in chosen.items():
                yield from _bins(tally, stratum, race, gender, which, table, scope)


def _bins(
    tally: Tally,
    stratum: Stratum,
    race: int,
    gender: str,
    chosen: BoolArray,
    table: NameTable | None,
    scope: Scope,
) -> Iterator[Estimate]:
    above, matched = counts_above(
        tally, tally.characters, stratum, NEUTRAL, race, chosen, EDGES[:-1]
    )
    from_top = np.concatenate([matched, above[:, 1:], np.zeros_like(matched)], axis=1)
    counts = from_top[:, :-1] - from_top[:, 1:]
    n, n_clusters = float(matched.sum()), int((matched[:, 0] > 0).sum())
    reason = None if n else "no power-neutral character of this kind has a matched name"
    rng = scope.rng(NAME, stratum.model, tally.races[race], gender)
    intervals = _intervals(counts, n, n_clusters, scope, rng)
    nulls: list[Null | None] = [None] * (len(EDGES) - 1)
    if table is not None and np.isfinite(table.n_people) and n:
        shares = table.histogram(tally.races[race], EDGES).tolist()
        nulls = [drawn_count(table, share, n, scope) for share in shares]
    for i in range(len(EDGES) - 1):
        group = {"race": tally.races[race], "likelihood": f"{EDGES[i]:.2f}–{EDGES[i + 1]:.2f}"}
        yield Estimate(
            study=scope.study,
            measure=NAME,
            statistic="count",
            unit="character",
            strata=stratum.labels,
            group=group | ({"gender": gender} if gender else {}),
            value=None if reason else float(counts[:, i].sum()),
            interval=None if reason else intervals[i],
            null=nulls[i],
            n_texts=stratum.n_texts,
            n_units=n,
            n_clusters=n_clusters,
            exclusions=stratum.exclusions,
            instruments=scope.instruments,
            undefined=reason,
            source=SOURCE,
        )


def _intervals(
    counts: FloatArray, n: float, n_clusters: int, scope: Scope, rng: np.random.Generator
) -> list[Interval | None]:
    """Clustered interval of each count; where prompts do not vary, one observation each."""
    if n_clusters < 2:
        return [None] * counts.shape[1]
    weights = cluster_weights(len(counts), scope.draws, rng).astype(np.float64)
    low, high = expanded_percentile(weights @ counts, scope.level, n_clusters)
    share = np.clip(counts.sum(0) / n, 0, 1) * n_clusters
    flat_low, flat_high = wilson(share, n_clusters, scope.level)
    return [
        Interval(float(a), float(b), scope.level, BOOTSTRAP, n_clusters, scope.seed)
        if has_width(a, b)
        else Interval(float(c) * n, float(d) * n, scope.level, PER_PROMPT, n_clusters)
        for a, b, c, d in zip(low, high, flat_low, flat_high, strict=True)
    ]


LIKELIHOOD_HISTOGRAM = Component(
    name=NAME,
    summary="How many characters bear names of each racial likelihood.",
    reads="people of power-neutral stories; a name table",
    unit="character",
    range="0 and up",
    undefined_when="no character of the kind has a matched name",
    equation="count of characters with a < ℓ_race(name) ≤ b",
    source=SOURCE,
    run=likelihood_histogram,
)
