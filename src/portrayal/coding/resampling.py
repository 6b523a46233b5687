"""Resampling: the interval of an agreement, by drawing prompts, with their texts, anew."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from portrayal.coding.ratings import FloatArray
from portrayal.records import Interval
from portrayal.stats import beyond_chance, cluster_weights, expanded_percentile, wilson
from portrayal.validate import check_count, check_level, check_seed

Parts = tuple[FloatArray, FloatArray | None]
"""Observed agreement and agreement by chance; None where chance is not taken off."""

_BLOCK = 2_000_000
"""Weights that are used at once."""
_KEPT = 100_000_000
"""Weights of one resampling that are kept for the next figure."""
_STILL = 1e-12


@dataclass(frozen=True, slots=True)
class Resampling:
    """How intervals are made.

    Attributes
    ----------
    level
        Confidence level, a fraction.
    draws
        Resamples.
    seed
        Seed of the random stream; every figure over equally many prompts uses the same resamples.
    prompts
        Prompt of each text, by item_id: texts of one prompt are drawn together. A text without one
        is drawn alone.
    """

    level: float = 0.95
    draws: int = 2000
    seed: int = 0
    prompts: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse what cannot be drawn."""
        check_level(self.level)
        check_count("draws", self.draws, minimum=1)
        check_seed(self.seed)

    def interval(
        self, parts: Callable[[FloatArray], Parts], items: Sequence[str], n_cases: int
    ) -> tuple[float, Interval | None, str]:
        """Return value, interval and, where one of them is missing, why.

        Parameters
        ----------
        parts
            Takes how often each text counts, shape (..., n_items).
        items
            The item_ids of these texts.
        n_cases
            Texts that the observed share is of; fewer where it asks about one answer alone.

        Notes
        -----
        Where no resample differs from another, as when raters agree on every text, the interval is
        Wilson's of the observed share, with chance held as it is: an interval without width would
        claim more than so many texts can say.
        """
        names = [self.prompts.get(item, item) for item in items]
        cluster = np.unique(names, return_inverse=True)[1]
        n_clusters = len(set(names))
        observed, chance = parts(np.ones(len(items)))
        value = float(_value(observed, chance))
        if math.isnan(value):
            return value, None, ""
        if n_clusters < 2:
            return value, None, f"texts of one {self._unit(items)} give no interval"
        blocks = self._weights(n_clusters, len(items))
        draws = np.concatenate([_value(*parts(block[:, cluster])) for block in blocks])
        if np.nanmax(draws) - np.nanmin(draws) < _STILL:
            return value, *self._still(float(observed), chance, n_cases)
        low, high = (float(x) for x in expanded_percentile(draws, self.level, n_clusters))
        if math.isnan(low):
            return value, None, "too few texts show it: resamples without any have no value"
        method = f"bootstrap by {self._unit(items)}"
        return value, Interval(low, high, self.level, method, n_clusters, self.seed), ""

    def _unit(self, items: Sequence[str]) -> str:
        return "prompt" if any(item in self.prompts for item in items) else "text"

    def _still(
        self, observed: float, chance: FloatArray | None, n_cases: int
    ) -> tuple[Interval | None, str]:
        """The interval where resamples do not differ."""
        if chance is not None and observed < 1:
            return None, "one rater gives the same answer throughout, so that kappa cannot differ"
        low, high = (float(x) for x in wilson(observed * n_cases, n_cases, self.level))
        if chance is not None:
            low, high = (float(beyond_chance(bound, chance)) for bound in (low, high))
        return Interval(max(low, -1.0), high, self.level, "Wilson", n_cases), ""

    def _weights(self, n_clusters: int, n_items: int) -> Iterator[FloatArray]:
        rows = max(1, _BLOCK // n_items)
        if n_clusters * self.draws <= _KEPT:
            kept = _kept(n_clusters, self.draws, self.seed)
            for start in range(0, self.draws, rows):
                yield kept[start : start + rows].astype(np.float64)
            return
        rng = np.random.default_rng(self.seed)
        for start in range(0, self.draws, rows):
            drawn = cluster_weights(n_clusters, min(rows, self.draws - start), rng)
            yield drawn.astype(np.float64)


@lru_cache(maxsize=4)
def _kept(n_clusters: int, draws: int, seed: int) -> npt.NDArray[np.uint16]:
    """All weights of a resampling; a cluster is never drawn more often than 16 bits can count."""
    rng, rows = np.random.default_rng(seed), max(1, _BLOCK // n_clusters)
    parts = [min(rows, draws - start) for start in range(0, draws, rows)]
    drawn = (cluster_weights(n_clusters, n, rng).astype(np.uint16) for n in parts)
    return np.concatenate(list(drawn))


def _value(observed: FloatArray, chance: FloatArray | None) -> FloatArray:
    return observed if chance is None else beyond_chance(observed, chance)
