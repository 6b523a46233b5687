"""Effects: the smallest ones that a plan could find, by domain and group."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations
from math import isnan, nan, sqrt

import numpy as np
from scipy import special

from portrayal.errors import OptionError
from portrayal.planning.assumptions import Assumption, Key, Kind, cells_of
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
from portrayal.records import ALL, FEW_PEOPLE, Prompt
from portrayal.reference import RACES, NameTable, name_bearers
from portrayal.stats import no_test_reason, reads_representation, too_few_prompts
from portrayal.stats.tails import chi2_ppf, t_isf

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
STORY_RATIOS = tuple(
    f"{change}{kind} ratio"
    for change in ("", "change of ")
    for kind in ("representation", "subordination")
)
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
    hypotheses
        Hypotheses of its statistic in the plan, among which it is found.
    undefined
        Why neither side has a value; None where one does.
    """

    statistic: str
    domain: str
    group: Mapping[str, str]
    below: float | None = None
    above: float | None = None
    reads_below: float | None = None
    reads_above: float | None = None
    null: float | None = None
    n_prompts: int = 0
    n_texts: int = 0
    n_units: float = 0.0
    design_effect: float = 1.0
    hypotheses: int = 1
    undefined: str | None = None


@dataclass(frozen=True, slots=True)
class Effects:
    """The settings that every detectable effect of a plan shares; see `portrayal.planning.plan`.

    `hypotheses` are how many there are of each statistic; while they are unknown, rows are counted
    and nothing is simulated.
    """

    samples: int
    assumed: Mapping[Key, Assumption]
    shares: Mapping[str, Mapping[str, float]]
    sd: float
    level: float
    power: float
    tables: tuple[NameTable, NameTable]
    replicates: int = REPLICATES
    change: bool = False
    hypotheses: Mapping[str, int] | None = None

    @property
    def questions(self) -> int:
        """Questions of the audit: one for each statistic, and one for intersections in roles."""
        return max(len(self.hypotheses or {}) + self.crossed, 1)

    @property
    def crossed(self) -> bool:
        """Whether the audit asks about intersections in roles."""
        roles = any("subordination" in name for name in self.hypotheses or {})
        return roles and len(self.shares) > 1

    def rows(self, prompts: Sequence[Prompt], compare: str | None) -> Iterator[Detectable]:
        """Yield what can be found in each domain, and in prompts of one and of two roles."""
        if compare == "":
            return
        if compare is None and all("gender" in prompt.strata for prompt in prompts):
            compare = "gender"
        if compare is None:
            for (domain, roles), inside in cells_of(prompts).items():
                yield from self._ratios(domain, roles, len(inside))
            return
        if self.change:
            raise OptionError("changes between models are planned for ratios of stories alone.")
        for domain in dict.fromkeys(prompt.strata.get("domain", ALL) for prompt in prompts):
            inside = [p for p in prompts if p.strata.get("domain", ALL) == domain]
            yield from self._differences(domain, compare, inside)

    def simulated(
        self, row: Detectable, kind: Kind, counting: Counting, icc: float, *, ratios: bool = True
    ) -> Detectable:
        """Return a row with the ratios nearest to 1 that are found, unless it is undefined.

        `n_units` of the row are those of all its prompts. Too few prompts have no test at all.
        """
        few = self.change or kind == "subordination"
        reason = row.undefined
        if reason is None and row.n_prompts < 2:
            reason = ONE_PROMPT
        elif reason is None and few:
            n = row.n_prompts
            why = no_test_reason(n, self.level) if self.change else too_few_prompts(n)
            what = "ratio" if row.statistic in STORY_RATIOS else "change"
            reason = f"no {what} is found: {why}" if why else None
        effect = design_effect(row.n_units, row.n_prompts, icc)
        if reason is not None:
            return replace(row, design_effect=effect, undefined=reason)
        if self.hypotheses is None:  # of whom too few are expected is no hypothesis
            return replace(row, hypotheses=int(counting.share * row.n_units >= FEW_PEOPLE))
        texts = max(round(row.n_units / row.n_prompts), 1)
        among = max(self.hypotheses.get(row.statistic, 0), 1)
        # A group that differs in roles does so in intersections, whose question it answers as well.
        answered = 1 + (self.crossed and kind == "subordination")
        family = self.replicates, among, self.questions / answered
        design = Design(row.n_prompts, texts, icc, self.level, *family)
        below, above = both_sides(kind, counting, design, self.power, self.change, ratios)
        return replace(
            row,
            below=_known(below),
            above=_known(above),
            design_effect=effect,
            hypotheses=among,
            undefined=OUT_OF_REACH if isnan(below) and isnan(above) else None,
        )

    def _ratios(self, domain: str, roles: bool, n_prompts: int) -> Iterator[Detectable]:
        kind: Kind = "subordination" if roles else "representation"
        statistic, n_texts = f"{kind} ratio", n_prompts * self.samples
        for attribute, labels in self.shares.items():
            one = self.assumed.get((kind, attribute), self.assumed[kind, "gender"])
            for label, share in labels.items():
                counting = counting_of(attribute, label, share, self.tables)
                fair = None if counting is None else counting.fair
                reason = _NO_COUNTS if counting is None else None
                if fair is not None:
                    reason = fair.reason(0)
                matched = 1.0 if fair is None else float(fair.matched[0])
                row = Detectable(
                    f"change of {statistic}" if self.change else statistic,
                    domain,
                    {attribute: label},
                    n_prompts=n_prompts,
                    n_texts=n_texts,
                    n_units=n_texts * one.units_per_text * matched,
                    undefined=reason or None,
                )
                counting = counting or counted_whole(share)
                row = self.simulated(row, kind, counting, one.icc)
                if row.undefined in (None, OUT_OF_REACH):
                    null = 1.0 if roles or self.change else counting.share / share
                    shown = [
                        # Of names, counting shows `shrink` times the difference.
                        true
                        if true is None or fair is None
                        else null * float(reads_representation(true, fair.shrink)[0])
                        for true in (row.below, row.above)
                    ]
                    row = replace(row, reads_below=shown[0], reads_above=shown[1], null=null)
                yield row

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
        statistic = "difference of means"
        among = (self.hypotheses or {}).get(statistic, 1)
        level = 1.0 - (1.0 - self.level) / (among * self.questions)
        for labels in sets:
            n_prompts = sum(counts[label] for label in labels)
            units = tuple(counts[name] * self.samples * one.units_per_text for name in labels)
            found = detectable_difference(
                self.sd, units, n_prompts, icc=one.icc, level=level, power=self.power
            )
            yield Detectable(
                statistic,
                domain,
                {compare: " and ".join(labels)},
                *(_known(-found), _known(found), _known(-found), _known(found)),
                0.0,
                n_prompts,
                n_prompts * self.samples,
                sum(units),
                design_effect(sum(units), n_prompts, one.icc),
                among,
                ONE_PROMPT if n_prompts < 2 else None,
            )


_bearers = cache(name_bearers)


@cache
def counting_of(
    attribute: str, label: str, share: float, tables: tuple[NameTable, NameTable]
) -> Counting | None:
    """Return how people of a group are counted; None where the name table has no counts."""
    if attribute != "race" or label not in RACES:
        return counted_whole(share)
    bearers, likelihood = _bearers(*tables)
    if not bearers.sum() > 0:
        return None
    return counted_by_name(bearers, likelihood[:, RACES.index(label)])


def _known(value: float) -> float | None:
    return None if isnan(value) else value


@cache
def both_sides(
    kind: Kind, counting: Counting, design: Design, wanted: float, change: bool, ratios: bool = True
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
