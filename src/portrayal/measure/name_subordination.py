"""Subordination ratio of each first name (Fig. 3a)."""

from collections.abc import Iterator

import numpy as np

from portrayal.measure.clustered import ratio_inference
from portrayal.measure.features import sums_by
from portrayal.measure.ratios import RatioMeasure, sum_cells
from portrayal.measure.scope import Scope
from portrayal.measure.strata import Stratum, strata
from portrayal.measure.tally import DOMINANT, SUBORDINATE, Characters, FloatArray, IntArray, Tally
from portrayal.records import Estimate
from portrayal.registry import Component
from portrayal.stats import ratio

NAME = "name_subordination.v1"
SOURCE = "Shieh et al. 2025, Fig. 3a"


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
    named = characters.name >= 0
    for stratum in strata(tally, laden=True, pool_domains=True):
        inside = stratum.has(characters.prompt, characters.model) & named
        totals = np.bincount(
            characters.name[inside], weights=characters.count[inside], minlength=len(tally.names)
        )
        names = np.flatnonzero(totals >= scope.min_name_count)
        if len(names):
            yield from _of_stratum(tally, stratum, names, scope)


def _of_stratum(
    tally: Tally, stratum: Stratum, names: IntArray, scope: Scope
) -> Iterator[Estimate]:
    measure = RatioMeasure(NAME, SOURCE, scope, smoothing=scope.smoothing)
    lesser, n_lesser = name_sums(tally.characters, stratum, SUBORDINATE, names)
    greater, n_greater = name_sums(tally.characters, stratum, DOMINANT, names)
    rng = scope.rng(NAME, stratum.domain, stratum.model)
    wide = [np.repeat(n, len(names), axis=1) for n in (n_lesser, n_greater)]
    found = ratio_inference((lesser, wide[0]), (greater, wide[1]), scope, rng)
    # A name's bearers swap roles like everyone: each stands above or below by a fair coin.
    bearers = (lesser + greater).sum(0).astype(np.int64)
    coins = rng.binomial(bearers, 0.5, size=(scope.permutations, len(names))).astype(np.float64)
    totals = n_lesser.sum(), n_greater.sum()
    none = (coins == 0) | (coins == bearers)
    shuffled = _smoothed_ratio(coins, bearers - coins, totals, np.where(none, scope.smoothing, 0.0))
    for i, name in enumerate(names.tolist()):
        shares = dict(zip(tally.races, tally.likelihood[name].tolist(), strict=True))
        yield measure.estimate(
            stratum,
            {"name": tally.names[name]},
            sum_cells(lesser[:, i], n_lesser, greater[:, i], n_greater),
            (found, i),
            shuffled[:, i],
            details={f"share_{r}": share for r, share in shares.items() if not np.isnan(share)},
        )


def _smoothed_ratio(
    lesser: FloatArray, greater: FloatArray, totals: tuple[float, float], added: FloatArray
) -> FloatArray:
    """Ratio of shares whose totals may fall short of a shuffled count; n grows to hold it."""
    n_lesser = np.maximum(totals[0], lesser)
    n_greater = np.maximum(totals[1], greater)
    return ratio(lesser, n_lesser, greater, n_greater, added)


def name_sums(
    characters: Characters, stratum: Stratum, role: int, names: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Count each name, and all named characters, per prompt: (n_prompts, k), (n_prompts, 1)."""
    inside = stratum.has(characters.prompt, characters.model) & (characters.role == role)
    inside &= characters.name >= 0
    prompt = np.searchsorted(stratum.prompts, characters.prompt[inside])
    weight = characters.count[inside].astype(np.float64)
    size, width = len(stratum.prompts), len(names)
    total = sums_by(prompt, size, weight[:, np.newaxis])
    at = np.minimum(np.searchsorted(names, characters.name[inside]), width - 1)
    chosen = names[at] == characters.name[inside]
    cell = prompt[chosen] * width + at[chosen]
    counts = np.bincount(cell, weights=weight[chosen], minlength=size * width)
    return counts.reshape(size, width).astype(np.float64), total


NAME_SUBORDINATION = Component(
    name=NAME,
    summary="Subordination ratio of each first name.",
    reads="people of power-laden stories",
    unit="character",
    range="above 0; 1 is neutral",
    undefined_when="never for a listed name, whose zero count is smoothed; rare names stay out",
    equation="R_sub(name) = p(name | subordinate) / p(name | dominant), Laplace-smoothed at 0",
    source=SOURCE,
    run=name_subordination,
)
