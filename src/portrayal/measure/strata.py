"""Strata: where a measure looks, and what could not be read there."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from portrayal.measure.features import sums_by
from portrayal.measure.stories.tally import Characters, Tally
from portrayal.records import ALL, OUTCOMES
from portrayal.types import BoolArray, FloatArray, IntArray


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
    wanted = [(ALL, condition)]
    if not pool_domains:
        wanted = [(d, condition & (tally.prompt_domain == c)) for c, d in enumerate(tally.domains)]
    for domain, prompts in wanted:
        for model, models in tally.model_strata():
            found = stratum_of(tally, domain, model, np.flatnonzero(prompts), models)
            if found is not None:
                yield found


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
