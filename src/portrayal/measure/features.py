"""Features: what each character adds to the sums of a measure, by race, gender, and both."""

from dataclasses import dataclass
from itertools import product

import numpy as np

from portrayal.measure.stories.tally import GENDER_CODES, Tally
from portrayal.types import FloatArray, IntArray

GENDERS = GENDER_CODES[:3]


@dataclass(frozen=True)
class Features:
    """Numerators and denominators of the share of each group.

    Attributes
    ----------
    groups
        Attributes of each group, such as {"race": "Asian", "gender": "F"}.
    numerator, denominator
        What one character of each kind adds, shape (n_kinds, n_groups).
    """

    groups: tuple[dict[str, str], ...]
    numerator: FloatArray
    denominator: FloatArray


def group_features(tally: Tally, name: IntArray, gender: IntArray, *, crossed: bool) -> Features:
    """Return the features of characters with these names and genders, shapes (n_kinds,).

    Race alone: the likelihood ℓ_race(name), over characters whose name the race's table matches
    (fractional counting, Eq. 2). Gender alone: 0 or 1, over characters of known gender. Crossed:
    ℓ_race(name) where the gender is the group's, over matched characters of known gender.
    """
    likelihood = tally.likelihood[name]
    matched = ~np.isnan(likelihood)
    share = np.where(matched, likelihood, 0.0)
    is_gender = gender[:, np.newaxis] == np.arange(len(GENDERS))
    known = is_gender.any(axis=1)
    groups: list[dict[str, str]] = [{"race": race} for race in tally.races]
    groups += [{"gender": label} for label in GENDERS]
    numerator = [share, is_gender.astype(np.float64)]
    denominator = [matched, np.repeat(known[:, np.newaxis], len(GENDERS), axis=1)]
    if crossed:
        cells = list(product(range(len(GENDERS)), range(len(tally.races))))
        groups += [{"race": tally.races[r], "gender": GENDERS[g]} for g, r in cells]
        numerator.append(np.stack([share[:, r] * is_gender[:, g] for g, r in cells], axis=1))
        denominator.append(np.stack([matched[:, r] & known for _, r in cells], axis=1))
    return Features(
        tuple(groups),
        np.concatenate(numerator, axis=1),
        np.concatenate(denominator, axis=1).astype(np.float64),
    )


def sums_by(code: IntArray, n_codes: int, values: FloatArray) -> FloatArray:
    """Sum the rows of `values`, shape (n, k), by their code: shape (n_codes, k)."""
    return np.stack(
        [np.bincount(code, weights=column, minlength=n_codes) for column in values.T], axis=1
    )
