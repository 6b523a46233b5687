"""Rates of agreement on people: shares of slots with intervals that resample prompts.

A labeler is scored against hand labels by them, and raters of one sample are compared.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from portrayal.annotate.people import GENDERS, UNSPECIFIED, UNSURE
from portrayal.errors import DataError
from portrayal.raters.agreement import Resampling
from portrayal.raters.people.sheets import HandLabel, Sheet
from portrayal.raters.sheets import check_several
from portrayal.stats import cohens_kappa, divide, wilson
from portrayal.types import FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class Rate:
    """A share of slots.

    Attributes
    ----------
    value
        A fraction in 0–1; None where there is nothing to divide by, as `undefined` says.
    low, high
        Clustered interval; None where it is undefined, as with a single cluster.
    n
        The denominator: slots, or for races the sum of likelihoods.
    undefined
        Why there is no value.
    """

    value: float | None
    low: float | None
    high: float | None
    n: float
    undefined: str | None = None

    def as_json(self) -> dict[str, Any]:
        """Plain values; `undefined` only where there is no value."""
        shape: dict[str, Any] = {
            "value": self.value,
            "low": self.low,
            "high": self.high,
            "n": round(self.n, 6),
        }
        return shape | ({"undefined": self.undefined} if self.undefined else {})


def cluster_sums(cluster: IntArray, n_clusters: int, values: FloatArray) -> FloatArray:
    """Sum the rows of `values`, shape (n, k), by cluster: shape (n_clusters, k)."""
    columns = [np.bincount(cluster, weights=v, minlength=n_clusters) for v in values.T]
    return np.stack(columns, axis=1) if columns else np.zeros((n_clusters, 0))


def rates(
    numerator: FloatArray, denominator: FloatArray, how: Resampling, reasons: list[str]
) -> list[Rate]:
    """Return the rate of each column of sums per cluster, shapes (n_clusters, k).

    Where no cluster varies, as at 100 %, each counts as one observation and Wilson's interval of
    those is used, so that no interval is without width. `reasons` says, for each column, why it
    is undefined where the denominator is 0.
    """
    value = divide(numerator.sum(0), denominator.sum(0))
    clusters = (denominator > 0).sum(0)
    parts = [divide(w @ numerator, w @ denominator) for w in how.weights(len(numerator))]
    low, high = how.bounds(np.concatenate(parts), clusters)
    flat = ~(high - low > 1e-9) & (clusters > 1) & ~np.isnan(value)
    share = np.clip(np.where(flat, value, 0.0), 0.0, 1.0)
    wide_low, wide_high = wilson(share * clusters, clusters, how.level)
    low, high = np.where(flat, wide_low, low), np.where(flat, wide_high, high)
    return [
        Rate(known(v), known(a), known(b), float(n), reason if np.isnan(v) else None)
        for v, a, b, n, reason in zip(value, low, high, denominator.sum(0), reasons, strict=True)
    ]


def known(value: float) -> float | None:
    """Return `value` as a number; None for NaN."""
    return None if np.isnan(value) else float(value)


VALUES = (*GENDERS, UNSPECIFIED, UNSURE)


@dataclass(frozen=True, slots=True)
class PairAgreement:
    """Two raters on the texts that both have labelled.

    Attributes
    ----------
    raters
        Their names, or those of their files.
    n_texts, n_slots
        Texts and characters that both have labelled.
    gender, name
        Share of characters with the same gender, and with the same first name (or none).
    gender_kappa
        Cohen's kappa of genders with its clustered interval, from -1 to 1; undefined where both
        raters use one and the same gender throughout.
    """

    raters: tuple[str, str]
    n_texts: int
    n_slots: int
    gender: Rate
    gender_kappa: Rate
    name: Rate

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "raters": list(self.raters),
            "n_texts": self.n_texts,
            "n_slots": self.n_slots,
            "gender": self.gender.as_json(),
            "gender_kappa": self.gender_kappa.as_json(),
            "name": self.name.as_json(),
        }


def agreement(
    sheets: Sequence[Sheet], *, level: float = 0.95, draws: int = 2000, seed: int = 0
) -> list[PairAgreement]:
    """Return the agreement of each pair of sheets, with intervals that resample prompts.

    Raises
    ------
    DataError
        With fewer than two sheets, or where two have no labelled text in common.
    OptionError
        When one sheet is given twice.
    """
    check_several([sheet.path for sheet in sheets], "agreement is of")
    how = Resampling(level, draws, seed)
    return [_pair(one, two, how) for one, two in combinations(sheets, 2)]


def _pair(one: Sheet, two: Sheet, how: Resampling) -> PairAgreement:
    other = {label.text_id: label for label in two.labels}
    both = [(a, other[a.text_id]) for a in one.labels if a.text_id in other]
    if not both:
        raise DataError(
            f"{one.path} and {two.path} have no labelled text in common; raters of one sample get "
            "copies of the same sheet."
        )
    prompts = [a.facts.get("prompt_id") or a.text_id for a, _ in both]
    code = {prompt: i for i, prompt in enumerate(dict.fromkeys(prompts))}
    tables = np.zeros((len(code), len(VALUES), len(VALUES)))
    same_name = np.zeros(len(code))
    for prompt, pair in zip(prompts, both, strict=True):
        for (name, gender), (name2, gender2) in _slots(*pair):
            tables[code[prompt], VALUES.index(gender), VALUES.index(gender2)] += 1
            same_name[code[prompt]] += (name or "").casefold() == (name2 or "").casefold()
    slots = tables.sum((1, 2))
    same = np.stack([np.trace(tables, axis1=1, axis2=2), same_name], axis=1)
    gender, name_rate = rates(same, np.stack([slots, slots], axis=1), how, ["", ""])
    return PairAgreement(
        (one.rater or one.path.name, two.rater or two.path.name),
        len(both),
        int(slots.sum()),
        gender,
        _kappa(tables, how),
        name_rate,
    )


def _slots(one: HandLabel, two: HandLabel) -> Iterator[tuple[Any, Any]]:
    yield one.subject, two.subject
    if one.object is not None and two.object is not None:
        yield one.object, two.object


def _kappa(tables: Any, how: Resampling) -> Rate:
    value = float(cohens_kappa(tables.sum(0)))
    flat = tables.reshape(len(tables), -1)
    shape = (-1, *tables.shape[1:])
    draws = np.concatenate(
        [cohens_kappa((w @ flat).reshape(shape)) for w in how.weights(len(tables))]
    )
    low, high = how.bounds(draws[:, np.newaxis], np.array([len(tables)]))
    n = float(tables.sum())
    if np.isnan(value):
        return Rate(None, None, None, n, "both raters use one and the same gender throughout")
    return Rate(value, known(low[0]), known(high[0]), n)
