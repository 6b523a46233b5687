"""Agreement of raters: how often two sheets say the same, and how far beyond chance."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from portrayal.annotate.people import GENDERS, UNSPECIFIED, UNSURE
from portrayal.errors import DataError
from portrayal.raters.people.rates import Rate, Resampling, known, rates
from portrayal.raters.people.sheets import HandLabel, Sheet
from portrayal.stats import cohens_kappa
from portrayal.validate import check_different_files

VALUES = (*GENDERS, UNSPECIFIED, UNSURE)


@dataclass(frozen=True, slots=True)
class Agreement:
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
) -> list[Agreement]:
    """Return the agreement of each pair of sheets, with intervals that resample prompts.

    Raises
    ------
    DataError
        With fewer than two sheets, or where two have no labelled text in common.
    OptionError
        When one sheet is given twice.
    """
    if len(sheets) < 2:
        raise DataError(f"agreement is of two sheets or more; got {len(sheets)}.")
    check_different_files([sheet.path for sheet in sheets])
    return [_pair(one, two, level, draws, seed) for one, two in combinations(sheets, 2)]


def _pair(one: Sheet, two: Sheet, level: float, draws: int, seed: int) -> Agreement:
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
    how = Resampling(len(code), draws, level, seed)
    slots = tables.sum((1, 2))
    same = np.stack([np.trace(tables, axis1=1, axis2=2), same_name], axis=1)
    gender, name_rate = rates(same, np.stack([slots, slots], axis=1), how, ["", ""])
    return Agreement(
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
    draws = np.concatenate([cohens_kappa((w @ flat).reshape(shape)) for w in how.weights()])
    low, high = how.bounds(draws[:, np.newaxis], np.array([len(tables)]))
    n = float(tables.sum())
    if np.isnan(value):
        return Rate(None, None, None, n, "both raters use one and the same gender throughout")
    return Rate(value, known(low[0]), known(high[0]), n)
