"""How many answers it takes to show that two runs are alike, where they are.

Runs that share their prompts are simulated without any difference, and tested as a comparison tests
them: two one-sided tests of the ratio of ratios against the margin (`stats.paired_ratios`).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy import special

from portrayal.errors import OptionError
from portrayal.planning.assumptions import DEFAULTS, Assumption, Key, Kind, cells_of, census_shares
from portrayal.records import Prompt
from portrayal.stats import fewest_prompts, no_test_reason, paired_ratios, prompt_subsets
from portrayal.stats.tails import beta_ppf
from portrayal.types import FloatArray
from portrayal.validate import check_level

MOST_SAMPLES = 10_000
"""Answers to each prompt beyond which a plan says that more prompts are needed."""
REPLICATES, ROUGH = 1_000, 200
"""Simulated comparisons, to be sure and to begin with: power of 80 % is known to 1.3 points, twice
which is added."""

_SUBSETS = 499
_CLOSE = 1.1  # factor to which the number of answers is found
_SEED = 0


@dataclass(frozen=True, slots=True)
class Needed:
    """Answers of each of two runs to each prompt, so that their likeness is shown.

    Attributes
    ----------
    statistic, domain, group, share
        What is compared, where and of whom, and the group's share.
    n_prompts
        Prompts that both runs answer.
    samples
        Answers to each prompt and in each run; None where `undefined` says why there are none.
    """

    statistic: str
    domain: str
    group: Mapping[str, str]
    share: float
    n_prompts: int
    samples: int | None
    undefined: str | None = None

    @property
    def n_texts(self) -> int | None:
        """Texts of one run."""
        return None if self.samples is None else self.samples * self.n_prompts


def equivalence(
    prompts: Sequence[Prompt],
    *,
    assumed: Mapping[Key, Assumption] = DEFAULTS,
    shares: Mapping[str, Mapping[str, float]] | None = None,
    margin: float = 1.25,
    alike: float = 1.0,
    level: float = 0.95,
    power: float = 0.8,
) -> Iterator[Needed]:
    """Yield, by domain and group, how many answers show that two runs without a change are alike.

    Parameters
    ----------
    prompts
        What both runs answer: stories with one or two roles.
    assumed, shares
        Likeness of texts of one prompt, and group shares; by default those of `plan`.
    margin
        Factor, above 1, up to which ratios count as the same.
    alike
        Part of the prompts' own spread that both runs share, 0-1: 1 where nothing changed in any
        prompt, less where each prompt may change in its own way, which takes more prompts.
    level, power
        Each of the two tests is at 1 - level; share of comparisons that are to show it.

    Raises
    ------
    OptionError
        For a margin, power or part that cannot be.
    """
    check_level(level)
    if not margin > 1.0:
        raise OptionError(f"margin is a factor above 1, such as 1.25; got {margin!r}.")
    if not 0.0 <= alike <= 1.0:
        raise OptionError(f"alike is a part between 0 and 1; got {alike!r}.")
    if not 0.0 < power < 1.0:
        raise OptionError(f"power must be a fraction between 0 and 1, such as 0.8; got {power!r}.")
    groups = shares or census_shares()
    for (domain, roles), inside in cells_of(prompts).items():
        n_prompts = len(inside)
        kind: Kind = "subordination" if roles else "representation"
        for attribute, labels in groups.items():
            one = assumed.get((kind, attribute), assumed[kind, "gender"])
            for label, share in labels.items():
                units, why = None, no_test_reason(n_prompts, level)
                if n_prompts >= fewest_prompts(level):
                    design = (kind, share, n_prompts, one.icc, float(np.log(margin)), alike)
                    units = units_needed(*design, level, power)
                    why = None if units else f"over {MOST_SAMPLES:,}: ask more prompts"
                samples = None if units is None else int(np.ceil(units / one.units_per_text))
                yield Needed(
                    f"{kind} ratio", domain, {attribute: label}, share, n_prompts, samples, why
                )


@cache
def units_needed(
    kind: Kind,
    share: float,
    n_prompts: int,
    icc: float,
    margin: float,
    alike: float,
    level: float,
    power: float,
) -> int | None:
    """Return the fewest units of each prompt, run and role; None where there are too many."""

    def found(units: int, replicates: int) -> float:
        return equivalence_power(
            kind,
            share,
            n_prompts,
            units,
            icc=icc,
            margin=margin,
            alike=alike,
            level=level,
            replicates=replicates,
        )

    high = 1
    while found(high, ROUGH) < power:
        if high >= MOST_SAMPLES:
            return None
        high = min(high * 2, MOST_SAMPLES)
    low, wanted = high // 2, power + 2.0 * float(np.sqrt(power * (1.0 - power) / REPLICATES))
    while found(high, REPLICATES) < wanted:
        if high >= MOST_SAMPLES:
            return None
        low, high = high, min(high + (high + 1) // 2, MOST_SAMPLES)
    while high - low > 1 and high > low * _CLOSE:
        middle = (low + high) // 2
        enough = found(middle, REPLICATES) >= wanted
        low, high = (low, middle) if enough else (middle, high)
    return high


def equivalence_power(
    kind: Kind,
    share: float,
    n_prompts: int,
    units: int,
    *,
    icc: float,
    margin: float,
    alike: float = 1.0,
    change: float = 0.0,
    level: float = 0.95,
    replicates: int = REPLICATES,
    seed: int = _SEED,
) -> float:
    """Return the share of simulated comparisons that show equivalence.

    Shares of prompts have a beta distribution with correlation `icc` of two units; those of both
    runs have the normal correlation `alike`. Groups count whole, which for races, whose names count
    in part, asks for more than is needed.

    Parameters
    ----------
    kind, share, n_prompts, units, icc, alike, level
        Statistic, the group's share, prompts, units of each prompt, run and role, and as in
        `equivalence`.
    margin, change
        Logarithms of the margin and of the true ratio of ratios.
    replicates, seed
        Simulated comparisons, and the start of their random stream.

    Examples
    --------
    >>> equivalence_power("representation", 0.5, 15, 300, icc=0.05, margin=0.22) > 0.9
    True
    """
    rng = np.random.default_rng([seed, n_prompts, units])
    roles = 2 if kind == "subordination" else 1
    shape = (n_prompts, replicates)
    total = np.full(shape, float(units))
    sides: list[list[FloatArray]] = [[], []]
    for role in range(roles):
        own = rng.normal(size=shape)
        for side in (0, 1):
            drawn = np.sqrt(alike) * own + np.sqrt(1.0 - alike) * rng.normal(size=shape)
            factor = float(np.exp(change)) if side == 1 and role == 0 else 1.0
            mean, size = share * factor, np.inf if icc <= 0.0 else 1.0 / icc - 1.0
            p: float | FloatArray = mean
            if icc > 0.0:
                p = beta_ppf(special.ndtr(drawn), mean * size, (1.0 - mean) * size)
            counted = rng.binomial(units, p, shape).astype(np.float64)
            sides[side] += [counted, total]
    subsets = prompt_subsets(n_prompts, rng, _SUBSETS)
    found = paired_ratios(tuple(sides[0]), tuple(sides[1]), subsets, level, margin)
    return float(np.mean(found.p_equivalent <= 1.0 - level + 1e-12))
