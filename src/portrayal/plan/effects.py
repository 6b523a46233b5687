"""Effects: the smallest ones that a plan could find, by domain and group."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import isnan

from portrayal.errors import OptionError
from portrayal.plan.assumptions import Assumption, Key, Kind
from portrayal.plan.detect import (
    design_effect,
    detectable_difference,
    detectable_ratio,
    detectable_share,
)
from portrayal.records import ALL, Prompt

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
