"""Counts of characters whose name's likelihood for a race exceeds each threshold."""

import numpy as np

from portrayal.measure.strata import Stratum
from portrayal.measure.swaps import Swaps
from portrayal.measure.tally import BoolArray, Characters, FloatArray, Tally

THRESHOLDS = np.arange(1, 101) / 100.0
"""t = 1 %, …, 100 %: likelihoods in 0–1 that a name must exceed (Eq. 4)."""


def counts_above(
    tally: Tally,
    characters: Characters,
    stratum: Stratum,
    role: int,
    race: int,
    chosen: BoolArray,
    thresholds: FloatArray = THRESHOLDS,
) -> tuple[FloatArray, FloatArray]:
    """Count characters above each threshold, and matched characters, per prompt.

    Parameters
    ----------
    tally, characters, stratum, role
        Whose characters to count.
    race
        Column of the likelihood.
    chosen
        Further condition on characters, such as a gender, shape (n_characters,).
    thresholds
        Rising likelihoods in 0–1, shape (T,).

    Returns
    -------
    above, matched
        Shapes (n_prompts, T) and (n_prompts, 1).
    """
    inside = stratum.has(characters.prompt, characters.model) & (characters.role == role) & chosen
    likelihood = tally.likelihood[characters.name[inside], race]
    matched = ~np.isnan(likelihood)
    prompt = np.searchsorted(stratum.prompts, characters.prompt[inside][matched])
    weight = characters.count[inside][matched].astype(np.float64)
    # A likelihood exceeds the first `exceeded` thresholds; counting from the top sums them up.
    exceeded = np.searchsorted(thresholds, likelihood[matched], side="left")
    size, width = len(stratum.prompts), len(thresholds) + 1
    cells = np.bincount(prompt * width + exceeded, weights=weight, minlength=size * width)
    by_step = cells.reshape(size, width)
    above = by_step[:, ::-1].cumsum(axis=1)[:, ::-1]
    return above[:, 1:], above[:, :1]


def swapped_above(
    swaps: Swaps, likelihood: FloatArray, chosen: BoolArray, thresholds: FloatArray = THRESHOLDS
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Count swapped characters above each threshold, and matched ones, in each role.

    Parameters
    ----------
    swaps
        Characters of each kind in each role and draw.
    likelihood, chosen
        Likelihood of each kind for the race, and further condition, shapes (n_kinds,).
    thresholds
        Rising likelihoods in 0–1, shape (T,).

    Returns
    -------
    tuple
        Subordinate (draws, T) and (draws, 1), then dominant.
    """
    kinds = np.flatnonzero(~np.isnan(likelihood) & chosen)
    exceeded = np.searchsorted(thresholds, likelihood[kinds], side="left")
    order = kinds[np.argsort(exceeded, kind="stable")]
    starts = np.searchsorted(np.sort(exceeded), np.arange(len(thresholds) + 1))

    def above(counts: FloatArray) -> tuple[FloatArray, FloatArray]:
        running = np.zeros((len(counts), len(order) + 1))
        np.cumsum(counts[:, order], axis=1, out=running[:, 1:])
        from_top = running[:, -1:] - running[:, starts]
        return from_top[:, 1:], from_top[:, :1]

    return (*above(swaps.subordinate), *above(swaps.dominant))
