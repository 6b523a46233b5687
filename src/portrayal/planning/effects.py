"""Effects: the smallest ones that a plan could find, by domain and group."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from math import isnan, nan, sqrt

import numpy as np
from scipy import special

from portrayal.errors import OptionError
from portrayal.planning.assumptions import Assumption, Key, Kind
from portrayal.planning.power import (
    REPLICATES,
    Counting,
    Design,
    change_power,
    counted_by_name,
    counted_whole,
    representation_power,
    smallest_detectable,
    subordination_power,
)
from portrayal.records import ALL, Prompt
from portrayal.reference import RACES, NameTable, name_bearers
from portrayal.stats import fewest_prompts, no_test_reason, reads_representation
from portrayal.stats.tails import chi2_ppf, t_isf
from portrayal.types import FloatArray

_QUANTILES = 4_000


def design_effect(n_units: float, n_clusters: int, icc: float) -> float:
    """How much larger a variance is than with independent units; at least 0."""
    return max(1.0 + (n_units / n_clusters - 1.0) * icc, 0.0)


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
    from scipy.optimize import brentq

    # The non-central t of few degrees of freedom is NaN in places; an average over quantiles of the
    # estimated standard error is not.
    middles = (np.arange(_QUANTILES) + 0.5) / _QUANTILES
    bound = float(t_isf((1.0 - level) / 2.0, df)) * np.sqrt(chi2_ppf(middles, df) / df)

    def short(effect: float) -> float:
        found = special.ndtr(effect - bound) + special.ndtr(-effect - bound)
        return float(found.mean()) - power

    high = 8.0
    while short(high) < 0.0:
        high *= 2.0
    return float(brentq(short, 0.0, high, xtol=1e-9))


REFERENCE = "reference"
"""Comparison of each text with its own reference, such as the article under the same headline."""

ONE_PROMPT = (
    "one prompt: its texts say nothing about other prompts, whatever their number; ask at least two"
)
OUT_OF_REACH = "no ratio this share allows is large enough; ask more prompts, or more samples"
_NO_COUNTS = "the name table does not say how many people bear a name"
_LARGEST, _SMALLEST = 0.95, 0.02  # share of the group, and ratio, that are simulated at most
_SEED = 0


@dataclass(frozen=True, slots=True)
class Detectable:
    """The smallest effects, for one model, that the audit's test finds with the plan's power.

    Attributes
    ----------
    statistic
        "representation ratio", "subordination ratio", "difference of means", or "change of" the
        first two between two models.
    domain, group
        Where and of whom.
    below, above
        True ratios below and above 1 that are just found, or minus and plus the difference; None
        where none on that side is. The true ratio of a representation is to the population.
    reads_below, reads_above, null
        What the report shows, on average, where `below`, `above` or no difference is true: other
        numbers than the truth where people are counted by names.
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
    reads_below: float | None
    reads_above: float | None
    null: float | None
    n_prompts: int
    n_texts: int
    n_units: float
    design_effect: float
    undefined: str | None = None


@dataclass(frozen=True, slots=True)
class Effects:
    """The settings that every detectable effect of a plan shares; see `portrayal.planning.plan`."""

    samples: int
    assumed: Mapping[Key, Assumption]
    shares: Mapping[str, Mapping[str, float]]
    sd: float
    level: float
    power: float
    tables: tuple[NameTable, NameTable]
    replicates: int = REPLICATES
    change: bool = False

    def rows(self, prompts: Sequence[Prompt], compare: str | None) -> Iterator[Detectable]:
        """Yield what can be found in each domain, and in prompts of one and of two roles."""
        if compare is None and all("gender" in prompt.strata for prompt in prompts):
            compare = "gender"
        if compare is not None and self.change:
            raise OptionError("changes between models are planned for ratios of stories alone.")
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
        n_texts = n_prompts * self.samples
        for attribute, labels in self.shares.items():
            one = self.assumed.get((kind, attribute), self.assumed[kind, "gender"])
            units = n_texts * one.units_per_text
            for label, share in labels.items():
                counting = _counting(attribute, label, share, self.tables)
                below = above = null = nan
                reads = [nan, nan]
                matched = 1.0
                reason = None
                if counting is None:
                    reason = _NO_COUNTS
                elif counting.fair is not None:
                    reason, matched = counting.fair.reason(0), float(counting.fair.matched[0])
                reason = reason or _too_few(kind, n_prompts, self.level, self.change)
                if reason is None and counting is not None:
                    texts = max(round(self.samples * one.units_per_text * matched), 1)
                    design = Design(n_prompts, texts, one.icc, self.level, self.replicates)
                    below, above = both_sides(kind, counting, design, self.power, self.change)
                    null = 1.0 if roles or self.change else counting.share / share
                    reads = [_reads(counting, ratio, null) for ratio in (below, above)]
                    reason = OUT_OF_REACH if isnan(below) and isnan(above) else None
                yield Detectable(
                    f"change of {kind} ratio" if self.change else f"{kind} ratio",
                    domain,
                    {attribute: label},
                    _known(below),
                    _known(above),
                    _known(reads[0]),
                    _known(reads[1]),
                    _known(null),
                    n_prompts,
                    n_texts,
                    units * matched,
                    design_effect(units * matched, n_prompts, one.icc),
                    reason,
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
                None if isnan(found) else -found,
                _known(found),
                0.0,
                n_prompts,
                n_prompts * self.samples,
                sum(units),
                design_effect(sum(units), n_prompts, one.icc),
                ONE_PROMPT if n_prompts < 2 else None,
            )


@cache
def _counting(
    attribute: str, label: str, share: float, tables: tuple[NameTable, NameTable]
) -> Counting | None:
    """How people of the group are counted; None where the name table has no counts."""
    if attribute != "race" or label not in RACES:
        return counted_whole(share)
    bearers, likelihood = _bearers(tables)
    if not bearers.sum() > 0:
        return None
    return counted_by_name(bearers, likelihood[:, RACES.index(label)])


@cache
def _bearers(tables: tuple[NameTable, NameTable]) -> tuple[FloatArray, FloatArray]:
    return name_bearers(*tables)


def _too_few(kind: Kind, n_prompts: int, level: float, change: bool) -> str | None:
    """Why so few prompts have no test at all; None where they have one."""
    if n_prompts < 2:
        return ONE_PROMPT
    if (change or kind == "subordination") and n_prompts < fewest_prompts(level):
        return f"no ratio is found: {no_test_reason(n_prompts, level)}"
    return None


def _reads(counting: Counting, true: float, null: float) -> float:
    """What counting shows of a true ratio: of names, `shrink` times the difference."""
    if counting.fair is None:
        return true
    return null * float(reads_representation(true, counting.fair.shrink)[0])


@cache
def both_sides(
    kind: Kind,
    counting: Counting,
    design: Design,
    wanted: float,
    change: bool,
    ratios: bool = True,
) -> tuple[float, float]:
    """Return the ratios nearest to 1 that are found, below and above; simulated once a design."""
    if change:
        roles = kind == "subordination"
        power = change_power(counting, design, _SEED, roles=roles, ratios=ratios)
    else:
        make = representation_power if kind == "representation" else subordination_power
        power = make(counting, design, _SEED)
    above = _LARGEST / counting.share
    return (
        smallest_detectable(power, wanted, _SMALLEST),
        smallest_detectable(power, wanted, above) if above > 1.0 else nan,
    )


def _known(value: float) -> float | None:
    return None if isnan(value) else value
