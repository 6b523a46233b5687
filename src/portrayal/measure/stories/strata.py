"""Strata of stories, and what each character of one adds to the sums of a group."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np

from portrayal.measure.clustered import GroupSums, sums_by
from portrayal.measure.stories.tally import GENDER_CODES, Characters, Tally
from portrayal.records import ALL, OUTCOMES
from portrayal.types import BoolArray, FloatArray, IntArray

GENDERS = GENDER_CODES[:3]
UNREAD = "no story could be read: all were refused, empty or failed"
"""Why a stratum without a readable story has no value."""


@dataclass(frozen=True)
class Stratum:
    """One domain of one model (or of all), under one condition.

    Attributes
    ----------
    domain, model
        Labels; "all" pools.
    prompts, models
        Codes of its prompts and models.
    n_texts
        Readable stories.
    exclusions
        Stories left out, by outcome.
    labels_beside
        Further labels, such as the baseline that shares are compared with, where several are.
    """

    domain: str
    model: str
    prompts: IntArray
    models: IntArray
    n_texts: int
    exclusions: dict[str, int]
    labels_beside: Mapping[str, str] = field(default_factory=dict)

    @property
    def labels(self) -> dict[str, str]:
        """The stratum's labels by attribute."""
        return {"domain": self.domain, "model": self.model, **self.labels_beside}

    @property
    def fields(self) -> dict[str, Any]:
        """Fields of every estimate of the stratum, for `estimates_of`."""
        return {"strata": self.labels, "n_texts": self.n_texts, "exclusions": self.exclusions}

    def has(self, prompt: IntArray, model: IntArray) -> BoolArray:
        """Which rows with these prompt and model codes lie in the stratum, shape (n,)."""
        return np.isin(prompt, self.prompts) & np.isin(model, self.models)


def strata(tally: Tally, *, laden: bool | None, pool_domains: bool = False) -> Iterator[Stratum]:
    """Yield every domain × model, models pooled first.

    Parameters
    ----------
    tally
        Annotated stories.
    laden
        Power-laden prompts, power-neutral ones, or both (None).
    pool_domains
        Take all domains together, as the stratum "all".
    """
    condition = np.ones(len(tally.prompt_ids), dtype=bool)
    if laden is not None:
        condition = tally.prompt_laden == laden
    domains = [(ALL, condition)]
    if not pool_domains:
        domains = [(d, condition & (tally.prompt_domain == c)) for c, d in enumerate(tally.domains)]
    for domain, prompts in domains:
        for model, models in tally.model_strata():
            stratum = stratum_of(tally, domain, model, np.flatnonzero(prompts), models)
            if stratum is not None:
                yield stratum


def stratum_of(
    tally: Tally, domain: str, model: str, prompts: IntArray, models: list[int]
) -> Stratum | None:
    """Return the stratum of these prompts and models; None where it has no text."""
    inside = np.isin(tally.prompt, prompts) & np.isin(tally.model, models)
    if not inside.any():
        return None
    by_outcome = np.bincount(
        tally.outcome[inside], weights=tally.count[inside], minlength=len(OUTCOMES)
    )
    unread = zip(OUTCOMES[1:], by_outcome[1:].tolist(), strict=True)
    return Stratum(
        domain,
        model,
        # Prompts that got no answer at all are no clusters.
        np.unique(tally.prompt[inside]),
        np.array(models, dtype=np.int64),
        int(by_outcome[0]),
        {outcome: int(n) for outcome, n in unread if n},
    )


def prompt_sums(
    characters: Characters, stratum: Stratum, role: int, values: FloatArray
) -> FloatArray:
    """Sum `values`, shape (n_characters, k), per prompt of the stratum for one role.

    Returns shape (n_prompts, k), weighted by how often each character occurs.
    """
    inside = stratum.has(characters.prompt, characters.model) & (characters.role == role)
    code = np.searchsorted(stratum.prompts, characters.prompt[inside])
    weighted = values[inside] * characters.count[inside, np.newaxis]
    return sums_by(code, len(stratum.prompts), weighted)


def column_counts(
    characters: Characters, stratum: Stratum, role: int, column: IntArray, n_columns: int
) -> FloatArray:
    """Count the characters of one role by prompt and column, shape (n_prompts, n_columns).

    `column` is that of each character, shape (n_characters,); -1 of those that are in none.
    """
    inside = stratum.has(characters.prompt, characters.model) & (characters.role == role)
    inside &= column >= 0
    cell = np.searchsorted(stratum.prompts, characters.prompt[inside]) * n_columns + column[inside]
    n_cells = len(stratum.prompts) * n_columns
    counts = np.bincount(cell, weights=characters.count[inside], minlength=n_cells)
    return counts.reshape(-1, n_columns).astype(np.float64)


def ratio_sums(
    prompts: Sequence[str],
    groups: Sequence[Mapping[str, str]],
    sides: Iterable[tuple[FloatArray, FloatArray]],
) -> GroupSums:
    """Return the sums of ratios of two roles.

    `sides` are the counts of the upper role by prompt, shape (n_prompts, k), and all of whom they
    are, (n_prompts, 1); then those of the lower one.
    """
    (upper, n_upper), (lower, n_lower) = (np.broadcast_arrays(*side) for side in sides)
    return GroupSums(prompts, groups, upper, n_upper, lower=lower, n_lower=n_lower)


@dataclass(frozen=True)
class Features:
    """Numerators and denominators of the share of each group.

    Attributes
    ----------
    groups
        Attributes of each group, such as {"race": "Asian", "gender": "F"}.
    numerator, denominator
        What one character of each kind adds, shape (n_kinds, n_groups).
    attribute
        That of the groups which names tell.
    """

    groups: tuple[dict[str, str], ...]
    numerator: FloatArray
    denominator: FloatArray
    attribute: str

    @property
    def moments(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Numerators, denominators and squared numerators."""
        return self.numerator, self.denominator, self.numerator**2

    @property
    def both(self) -> FloatArray:
        """Numerators, then denominators, shape (n_kinds, 2 n_groups)."""
        return np.concatenate([self.numerator, self.denominator], axis=1)


def group_features(tally: Tally, name: IntArray, gender: IntArray, *, crossed: bool) -> Features:
    """Return the features of characters of a tally; `name` and `gender` are their codes."""
    return features_of(
        tally.likelihood[name], gender, tally.races, tally.attribute, crossed=crossed
    )


def features_of(
    likelihood: FloatArray, gender: IntArray, races: Sequence[str], attribute: str, *, crossed: bool
) -> Features:
    """Return the features of people by the shares of their names and their gender, (n_kinds,).

    Race alone: the likelihood ℓ_race(name), over characters whose name the race's table matches
    (fractional counting, Eq. 2). Gender alone: 0 or 1, over characters of known gender. Crossed:
    ℓ_race(name) where the gender is the group's, over matched characters of known gender.
    """
    matched = ~np.isnan(likelihood)
    # A name in no table adds 0 above and below, so that it leaves a share as it is.
    share = np.where(matched, likelihood, 0.0)
    is_gender = gender[:, np.newaxis] == np.arange(len(GENDERS))
    has_gender = is_gender.any(axis=1)
    groups: list[dict[str, str]] = [{attribute: race} for race in races]
    groups += [{"gender": label} for label in GENDERS]
    # In the order of the groups: races, genders, and then both crossed
    numerator = [share, is_gender.astype(np.float64)]
    denominator = [matched, np.repeat(has_gender[:, np.newaxis], len(GENDERS), axis=1)]
    if crossed:
        cells = list(product(range(len(GENDERS)), range(len(races))))
        groups += [{attribute: races[r], "gender": GENDERS[g]} for g, r in cells]
        numerator.append(np.stack([share[:, r] * is_gender[:, g] for g, r in cells], axis=1))
        denominator.append(np.stack([matched[:, r] & has_gender for _, r in cells], axis=1))
    return Features(
        tuple(groups),
        np.concatenate(numerator, axis=1),
        np.concatenate(denominator, axis=1).astype(np.float64),
        attribute,
    )


def group_sums(tally: Tally, stratum: Stratum, role: int, features: Features) -> GroupSums:
    """Return what each prompt of a stratum adds to the shares of the groups in one role."""
    upper, n_upper, squares = (
        prompt_sums(tally.characters, stratum, role, values) for values in features.moments
    )
    names = tally.prompt_names(stratum.prompts)
    return GroupSums(names, features.groups, upper, n_upper, squares)
