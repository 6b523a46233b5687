"""Places: where a paired measure looks, by model, prompt form, domain and source."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from portrayal.measure.paired import FULL, Level, Paired
from portrayal.measure.tally import BoolArray, IntArray
from portrayal.records import ALL

FEWEST_PAIRS = 5
"""Pairs that a domain or source needs for estimates of its own; it counts in "all" anyway."""


@dataclass(frozen=True, eq=False)
class Place:
    """Rows of one model (or of all) under one prompt form, in one domain or source (or all).

    Attributes
    ----------
    model, form, domain, source
        Labels; "all" pools.
    paired
        The table that the rows are of.
    """

    model: str
    form: str
    domain: str
    source: str
    paired: Paired

    @property
    def rows(self) -> BoolArray:
        """Which rows of the paired table lie there, shape (n_rows,)."""
        table = self.paired
        inside = table.of_model(self.model) & (table.form == table.forms.index(self.form))
        if self.domain != ALL:
            inside &= table.domain == table.domains.index(self.domain)
        if self.source != ALL:
            inside &= table.source == table.sources.index(self.source)
        return np.asarray(inside)

    @property
    def labels(self) -> dict[str, str]:
        """The place's strata."""
        return {
            "model": self.model,
            "form": self.form,
            "domain": self.domain,
            "source": self.source,
        }

    @property
    def is_whole(self) -> bool:
        """Whether all domains and sources are taken together."""
        return self.domain == self.source == ALL

    def has(self, level: Level) -> bool:
        """Whether the level is reported here: equal length only over all domains and sources."""
        return self.is_whole or level.length == FULL


def places(paired: Paired) -> Iterator[Place]:
    """Yield all domains and sources, then each domain, then each source, for model and form.

    Models are pooled first where there are several; forms never are, since they ask for different
    texts.
    """
    for model in paired.model_labels:
        of_model = paired.of_model(model)
        for form, code in zip(paired.forms, range(len(paired.forms)), strict=True):
            inside = of_model & (paired.form == code)
            if not inside.any():
                continue
            yield Place(model, form, ALL, ALL, paired)
            for domain in _parts(paired, paired.domains, paired.domain, inside):
                yield Place(model, form, domain, ALL, paired)
            for source in _parts(paired, paired.sources, paired.source, inside):
                yield Place(model, form, ALL, source, paired)


def _parts(
    paired: Paired, labels: tuple[str, ...], code: IntArray, inside: BoolArray
) -> Iterator[str]:
    for number, label in enumerate(labels):
        rows = inside & (code == number)
        if len(np.unique(paired.pair[rows])) >= FEWEST_PAIRS and rows.sum() < inside.sum():
            yield label
