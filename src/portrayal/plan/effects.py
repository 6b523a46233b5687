"""Effects: the smallest ones that a plan could find, by domain and group."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from math import isnan, log, nan, sqrt

import numpy as np
from scipy import optimize, special, stats

from portrayal.errors import OptionError
from portrayal.plan.assumptions import Assumption, Key, Kind
from portrayal.records import ALL, Prompt
from portrayal.types import FloatArray

_QUANTILES = 4_000


def design_effect(n_units: float, n_clusters: int, icc: float) -> float:
    """How much larger a variance is than with independent units; at least 0."""
    return max(1.0 + (n_units / n_clusters - 1.0) * icc, 0.0)


def detectable_share(
    share: float,
    n_units: float,
    n_clusters: int,
    *,
    icc: float,
    spread: float = 1.0,
    level: float = 0.95,
    power: float = 0.8,
) -> tuple[float, float]:
    """Smallest and largest ratio p / p* next to 1 that are found: (below 1, above 1).

    Parameters
    ----------
    share
        The group's baseline share p*, inside (0, 1).
    n_units, n_clusters
        Characters and independent prompts.
    icc
        Correlation of two characters of one prompt.
    spread
        Variance of one character's value over p (1 - p): 1 where each counts 0 or 1, less with
        fractional counting.
    level, power
        Of the two-sided test, fractions.

    Returns
    -------
    below, above
        NaN where no ratio on that side is found, or there are fewer than two prompts.
    """
    scale = spread * design_effect(n_units, n_clusters, icc) / n_units

    def error(ratio: float) -> float:
        p = ratio * share
        return sqrt(scale * max(1.0 - p, 0.0) / p)

    return _both_sides(error, 1.0 / share, n_clusters, level, power)


def detectable_ratio(
    share: float,
    n_units: float,
    n_clusters: int,
    *,
    icc: float,
    spread: float = 1.0,
    level: float = 0.95,
    power: float = 0.8,
) -> tuple[float, float]:
    """As `detectable_share`, for the ratio of two shares of `n_units` each, in the same prompts.

    `share` is the group's share in the greater role; the share in the lesser one is the ratio times
    it.
    """
    scale = spread * design_effect(n_units, n_clusters, icc) / n_units

    def error(ratio: float) -> float:
        p = ratio * share
        return sqrt(scale * (max(1.0 - p, 0.0) / p + (1.0 - share) / share))

    return _both_sides(error, 1.0 / share, n_clusters, level, power)


def detectable_difference(
    sd: float,
    n_units: tuple[float, ...],
    n_clusters: int,
    *,
    icc: float,
    level: float = 0.95,
    power: float = 0.8,
) -> float:
    """Smallest difference of means that is found.

    Parameters
    ----------
    sd
        Standard deviation of one unit's score; 1 gives the answer in standard deviations.
    n_units
        Units of each group; one number for a mean against 0, such as a mean of paired differences.
    n_clusters
        Independent prompts of all groups together.
    icc, level, power
        As above.

    Returns
    -------
    float
        In the unit of `sd`; NaN with fewer than two prompts.
    """
    needed = _needed(n_clusters, level, power)
    inflation = design_effect(sum(n_units), n_clusters, icc)
    return needed * sd * sqrt(inflation * sum(1.0 / n for n in n_units))


@cache
def _needed(n_clusters: int, level: float, power: float) -> float:
    """The effect, in standard errors, at which the t test on G - 1 df reaches the power."""
    if n_clusters < 2:
        return nan
    df = n_clusters - 1
    # The non-central t of few degrees of freedom is NaN in places; an average over quantiles of the
    # estimated standard error is not.
    middles = (np.arange(_QUANTILES) + 0.5) / _QUANTILES
    bound = float(stats.t.isf((1.0 - level) / 2.0, df)) * np.sqrt(stats.chi2.ppf(middles, df) / df)

    def short(effect: float) -> float:
        found = special.ndtr(effect - bound) + special.ndtr(-effect - bound)
        return float(found.mean()) - power

    high = 8.0
    while short(high) < 0.0:
        high *= 2.0
    return float(optimize.brentq(short, 0.0, high, xtol=1e-9))


def _both_sides(
    error: Callable[[float], float], highest: float, n_clusters: int, level: float, power: float
) -> tuple[float, float]:
    needed = _needed(n_clusters, level, power)
    if np.isnan(needed):
        return nan, nan

    def excess(ratio: float) -> float:
        return abs(log(ratio)) - needed * error(ratio)

    return (
        _first_root(excess, np.geomspace(1.0, 1e-6, 400)),
        _first_root(excess, np.geomspace(1.0, highest, 400)),
    )


def _first_root(excess: Callable[[float], float], ratios: FloatArray) -> float:
    """The ratio nearest to 1 whose effect is large enough; NaN where none is."""
    previous = float(ratios[0])
    for ratio in ratios[1:].tolist():
        if excess(ratio) >= 0.0:
            return float(optimize.brentq(excess, *sorted((previous, ratio)), xtol=1e-9))
        previous = ratio
    return nan


REFERENCE = "reference"
"""Comparison of each text with its own reference, such as the article under the same headline."""

ONE_PROMPT = (
    "one prompt: its texts say nothing about other prompts, whatever their number; ask at least two"
)
_OUT_OF_REACH = "no ratio this share allows is large enough; ask more prompts, or more samples"


@dataclass(frozen=True, slots=True)
class Detectable:
    """The smallest effects, for one model, that the clustered test finds with the plan's power.

    Attributes
    ----------
    statistic
        "representation ratio", "subordination ratio" or "difference of means".
    domain, group
        Where and of whom.
    below, above
        Ratios below and above 1 that are just found, or minus and plus the difference; None where
        none on that side is.
    n_prompts, n_texts, n_units, design_effect
        What that rests on.
    undefined
        Why neither side has a value; None where one does.
    """

    statistic: str
    domain: str
    group: Mapping[str, str]
    below: float | None
    above: float | None
    n_prompts: int
    n_texts: int
    n_units: float
    design_effect: float
    undefined: str | None = None


@dataclass(frozen=True, slots=True)
class Effects:
    """The settings that every detectable effect of a plan shares; see `portrayal.plan.plan`."""

    samples: int
    assumed: Mapping[Key, Assumption]
    shares: Mapping[str, Mapping[str, float]]
    sd: float
    level: float
    power: float

    def rows(self, prompts: Sequence[Prompt], compare: str | None) -> Iterator[Detectable]:
        """Yield what can be found in each domain, and in prompts of one and of two roles."""
        if compare is None and all("gender" in prompt.strata for prompt in prompts):
            compare = "gender"
        cells: dict[tuple[str, bool], list[Prompt]] = {}
        for prompt in prompts:
            roles = compare is None and "object_role" in prompt.strata
            cells.setdefault((prompt.strata.get("domain", ALL), roles), []).append(prompt)
        for (domain, roles), inside in cells.items():
            if compare is None:
                yield from self._ratios(domain, roles, len(inside))
            else:
                yield from self._differences(domain, compare, inside)

    def _ratios(self, domain: str, roles: bool, n_prompts: int) -> Iterator[Detectable]:
        kind: Kind = "subordination" if roles else "representation"
        detect = detectable_ratio if roles else detectable_share
        n_texts = n_prompts * self.samples
        for attribute, labels in self.shares.items():
            one = self.assumed.get((kind, attribute), self.assumed[kind, "gender"])
            units = n_texts * one.units_per_text
            for label, share in labels.items():
                below, above = detect(
                    share,
                    units,
                    n_prompts,
                    icc=one.icc,
                    spread=one.spread,
                    level=self.level,
                    power=self.power,
                )
                reason = ONE_PROMPT if n_prompts < 2 else _OUT_OF_REACH
                yield Detectable(
                    f"{kind} ratio",
                    domain,
                    {attribute: label},
                    _known(below),
                    _known(above),
                    n_prompts,
                    n_texts,
                    units,
                    design_effect(units, n_prompts, one.icc),
                    reason if isnan(below) and isnan(above) else None,
                )

    def _differences(
        self, domain: str, compare: str, inside: Sequence[Prompt]
    ) -> Iterator[Detectable]:
        one = self.assumed["means", "score"]
        counts: dict[str, int] = {}
        for prompt in inside:
            if compare != REFERENCE and compare not in prompt.strata:
                raise OptionError(
                    f"prompt {prompt.prompt_id!r} states no {compare}; its strata are "
                    f"{', '.join(prompt.strata) or 'none'}."
                )
            label = prompt.strata.get(compare, REFERENCE)
            counts[label] = counts.get(label, 0) + 1
        sets = [(REFERENCE,)] if compare == REFERENCE else list(combinations(counts, 2))
        for labels in sets:
            n_prompts = sum(counts[label] for label in labels)
            units = tuple(counts[name] * self.samples * one.units_per_text for name in labels)
            found = detectable_difference(
                self.sd, units, n_prompts, icc=one.icc, level=self.level, power=self.power
            )
            yield Detectable(
                "difference of means",
                domain,
                {compare: " and ".join(labels)},
                None if isnan(found) else -found,
                _known(found),
                n_prompts,
                n_prompts * self.samples,
                sum(units),
                design_effect(sum(units), n_prompts, one.icc),
                ONE_PROMPT if n_prompts < 2 else None,
            )


def _known(value: float) -> float | None:
    return None if isnan(value) else value
