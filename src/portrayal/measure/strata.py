"""Strata: where a measure looks, and what could not be read there."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from portrayal.measure.features import sums_by
from portrayal.measure.tally import BoolArray, Characters, FloatArray, IntArray, Tally
from portrayal.records import OUTCOMES


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
    """

    domain: str
    model: str
    prompts: IntArray
    models: IntArray
    n_texts: int
    exclusions: dict[str, int]

    @property
    def labels(self) -> dict[str, str]:
        """The stratum's labels by attribute."""
        return {"domain": self.domain, "model": self.model}

    def has(self, prompt: IntArray, model: IntArray) -> BoolArray:
        """Which rows with these prompt and model codes lie in the stratum, shape (n,)."""
        return np.isin(prompt, self.prompts) & np.isin(model, self.models)


def strata(tally: Tally, *, laden: bool | None) -> Iterator[Stratum]:
    """Yield every domain × model (pooled first), for one condition or both (`laden` None)."""
    for code, domain in enumerate(tally.domains):
        wanted = tally.prompt_domain == code
        if laden is not None:
            wanted &= tally.prompt_laden == laden
        prompts = np.flatnonzero(wanted)
        for model, models in tally.model_strata():
            inside = np.isin(tally.prompt, prompts) & np.isin(tally.model, models)
            if not inside.any():
                continue
            by_outcome = np.bincount(
                tally.outcome[inside], weights=tally.count[inside], minlength=len(OUTCOMES)
            )
            present = np.unique(tally.prompt[inside])
            yield Stratum(
                domain,
                model,
                present,
                np.array(models, dtype=np.int64),
                int(by_outcome[0]),
                {o: int(n) for o, n in zip(OUTCOMES[1:], by_outcome[1:], strict=True) if n},
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
