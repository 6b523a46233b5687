"""Designs, and the power of an audit's tests in each, by simulation.

Blocks are what a test takes to be independent: prompts, sources of pairs, originals, occupations or
templates. One simulator draws what an audit sums by block for each kind of estimand, and the
audit's test judges it:

- *share* of people of a group, whose true value is `effect` times the baseline's: shares of blocks
  are beta distributed (`stats.share_evidence`); people of a race are counted by names, drawn from
  the bearers of the Census table (`stats.infer_fair_shares`);
- *ratio* of the shares of two roles, or of two models, in the same blocks
  (`stats.infer_contrasts`);
- *difference* of the mean scores of two groups, within blocks (`stats.matched_differences`), or
  between blocks that hold one group each (`stats.infer_differences`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal, get_args

import numpy as np
from scipy.special import ndtr, ndtri

from portrayal.errors import OptionError
from portrayal.records import FEW_PEOPLE, FEW_PROMPTS
from portrayal.reference import RACES, mena_nhpi_table, name_bearers, name_table
from portrayal.stats import (
    fair_naming,
    infer_contrasts,
    infer_differences,
    infer_fair_shares,
    matched_differences,
)
from portrayal.stats.contrasts import TwoSides
from portrayal.stats.design_effect import evidence_p, share_evidence
from portrayal.stats.naming import FairNaming
from portrayal.types import BoolArray, FloatArray
from portrayal.validate import check_count, check_level

Kind = Literal["share", "ratio", "difference"]
KINDS: tuple[Kind, ...] = get_args(Kind)
ICC = {"share": 0.18, "ratio": 0.27, "difference": 0.27}
"""Correlation of two people, or texts, of one prompt, where none is given: those of gender in 2,346
hand-labelled stories of Shieh et al. (2025); for scores, the largest of the shares."""
NAMES_ICC = {"share": 0.03, "ratio": 0.05}
"""The same of races, that names tell."""
REPLICATES, FEWEST, CELLS = 1_000, 200, 2_000_000
"""Simulated audits: as many as have so many names or blocks together, within these bounds."""


@dataclass(frozen=True, kw_only=True)
class AuditPlan:
    """What a collection looks like, and what is to be found in it.

    Attributes
    ----------
    kind
        share, ratio or difference.
    effect
        True ratio to the baseline or of two roles, above 0 and not 1; or the true difference in
        standard deviations of a score.
    blocks
        Prompts, sources of pairs, originals, or templates.
    texts
        People, or texts, of each group and block. Of a difference two numbers may be given: (1, 5)
        is one original and five rewritings.
    share
        Share of the group in the baseline, or in the dominant role, in 0–1.
    race
        A race, which names tell: its share is then the table's.
    icc
        Correlation of two people or texts of one block and role, in 0–1; by default `ICC`.
    varies
        Standard deviation of a difference between blocks, in that of a score.
    apart
        Of a difference: blocks hold one group each, such as prompts that name one.
    level, tests
        Confidence level, and of how many tests it is that of all together (Bonferroni, an upper
        bound for what an audit's Benjamini–Hochberg needs).

    Raises
    ------
    OptionError
        Where one of them cannot be.
    """

    kind: Kind
    effect: float
    blocks: int = FEW_PROMPTS
    texts: int | tuple[int, int] = 1
    share: float = 0.5
    race: str | None = None
    icc: float | None = None
    varies: float = 0.3
    apart: bool = False
    level: float = 0.95
    tests: int = 20

    def __post_init__(self) -> None:
        """Refuse what cannot be simulated."""
        if self.kind not in KINDS:
            raise OptionError(f"a design is one of {', '.join(KINDS)}; got {self.kind!r}.")
        counts = (
            ("blocks", self.blocks),
            ("tests", self.tests),
            *(("texts", n) for n in self.sides),
        )
        for name, number in counts:
            check_count(name, number, minimum=1)
        check_level(self.level)
        if self.icc is not None and not 0 <= self.icc < 1:
            raise OptionError(f"icc is a correlation of 0 or more, below 1; got {self.icc!r}.")
        if self.kind == "difference":
            if not np.isfinite(self.effect) or self.effect == 0:
                raise OptionError(f"a difference to find is not 0; got {self.effect!r}.")
            if not self.varies >= 0:
                raise OptionError(f"varies is 0 or more; got {self.varies!r}.")
            return
        if isinstance(self.texts, tuple):
            raise OptionError(f"a {self.kind} has one number of texts; got {self.texts!r}.")
        if self.race is not None and self.race not in RACES:
            raise OptionError(f"race is one of {', '.join(RACES)}; got {self.race!r}.")
        share = self.people.share
        if not 0 < share < 1 or not 0 < self.effect * share < 1 or self.effect == 1:
            raise OptionError(
                f"effect is a ratio that is not 1, with a share of the group below 1 on both "
                f"sides; got {self.effect:g} times {share:.3g}."
            )

    @property
    def sides(self) -> tuple[int, int]:
        """Texts of the first and second group in each block."""
        return self.texts if isinstance(self.texts, tuple) else (self.texts, self.texts)

    @property
    def correlation(self) -> float:
        """The correlation of two people or texts of a block that is taken for granted."""
        if self.icc is not None:
            return self.icc
        return (NAMES_ICC if self.race and self.kind in NAMES_ICC else ICC)[self.kind]

    @property
    def people(self) -> "People":
        """How people of the group are counted."""
        if self.race is not None:
            return _named(self.race)
        return People(np.array([1.0 - self.share, self.share]), np.array([0.0, 1.0]))

    @property
    def n_texts(self) -> int:
        """Texts in all: a story has one person of each role, and a share one person a text."""
        first, second = self.sides
        return self.blocks * (first if self.kind != "difference" else first + second)

    @property
    def replicates(self) -> int:
        """Audits that are simulated."""
        of_names = self.race is not None and self.kind != "difference"
        cells = self.blocks * (self.sides[0] if of_names else 1)
        return min(max(CELLS // cells, FEWEST), REPLICATES)


@dataclass(frozen=True, eq=False)
class People:
    """What one person of a population may add to a group's count.

    Attributes
    ----------
    weight, value
        Share of the population with each value, summing to 1, and the values in 0–1, shape (n,): 0
        and 1 for groups that are counted whole, shares of names for a race.
    fair
        What names drawn at random read, for a race.
    """

    weight: FloatArray
    value: FloatArray
    fair: FairNaming | None = None

    @property
    def share(self) -> float:
        """The group's share in the population."""
        return float(self.weight @ self.value)

    @property
    def part(self) -> float:
        """Mean value of a person who counts: 1 where they count whole."""
        return float(self.weight @ self.value**2) / self.share

    def drawn(self, design: AuditPlan, true: float, rng: np.random.Generator) -> FloatArray:
        """Counts by block and audit, if people of the group are `true` times as many.

        Within the group and within all others, names stay spread as among bearers. A name of the
        block's is repeated so often that two people of it correlate as the design says.
        """
        shape, texts, icc = (design.blocks, design.replicates), design.sides[0], design.correlation
        if self.fair is None:
            shares = np.full(shape, true * self.share)
            if icc > 0:
                # a beta with parameters summing to this has the correlation icc
                total = 1.0 / icc - 1.0
                shares = rng.beta(true * self.share * total, (1 - true * self.share) * total, shape)
            return rng.binomial(texts, shares).astype(np.float64)
        # All others shrink alike, so that the weights still sum to 1
        other_share = (1.0 - true * self.share) / (1.0 - self.share)
        weight = self.weight * (true * self.value + other_share * (1.0 - self.value))
        order = np.cumsum(weight) / weight.sum()
        # Two people both repeat the name with chance √icc · √icc = icc
        its_name, repeated = rng.random(shape), np.sqrt(icc)
        count = np.zeros(shape)
        for _ in range(texts):
            name = np.where(rng.random(shape) < repeated, its_name, rng.random(shape))
            count += self.value[np.minimum(np.searchsorted(order, name), len(order) - 1)]
        return count


@cache
def _named(race: str) -> People:
    """How people of a race are counted; names of nearly the same share are put together."""
    bearers, likelihood = name_bearers(name_table(), mena_nhpi_table())
    column = likelihood[:, RACES.index(race)]
    fair = fair_naming(bearers, column[:, np.newaxis])
    if reason := fair.reason(0):
        raise OptionError(f"{race} {reason}.")
    is_listed = ~np.isnan(column)
    # In 512 bins, as drawing among all the names of a table would take far longer
    place = np.minimum((column[is_listed] * 512).astype(np.int64), 511)
    weight = np.bincount(place, bearers[is_listed])
    total = np.bincount(place, bearers[is_listed] * column[is_listed])
    some = weight > 0
    return People(weight[some] / weight.sum(), total[some] / weight[some], fair)


def power(design: AuditPlan, seed: int = 0) -> float:
    """Return the share of simulated audits in which the design's effect is found, on its own side.

    Fewer than five blocks, or ten people expected of the group, are too few for an audit to state
    anything (`records.FEW_PROMPTS`, `FEW_PEOPLE`): 0.

    >>> pairs = AuditPlan(kind="difference", effect=0.5, blocks=60, tests=1)
    >>> power(pairs) > 0.8 > power(AuditPlan(kind="difference", effect=0.5, blocks=20, tests=1))
    True
    """
    if design.blocks < FEW_PROMPTS:
        return 0.0
    # By the size of the design, so that the same design always has the same power
    rng = np.random.default_rng([seed, design.blocks, *design.sides])
    if design.kind == "difference":
        p, right = _difference(design, rng)
    else:
        n_people = design.blocks * design.sides[0] * max(design.effect, 1.0)
        if design.people.share * n_people < FEW_PEOPLE:
            return 0.0
        p, right = (_share if design.kind == "share" else _ratio)(design, rng)
    # A significant effect on the wrong side is no success
    return float(np.mean((p * design.tests < 1.0 - design.level) & right))


def _share(design: AuditPlan, rng: np.random.Generator) -> tuple[FloatArray, BoolArray]:
    """P of each audit, and whether its share lies on the effect's side of the population's."""
    people = design.people
    count = people.drawn(design, design.effect, rng)
    units = np.full(count.shape, float(design.sides[0]))
    share = count.sum(0) / units.sum(0)
    if people.fair is None:
        p = evidence_p(share_evidence(count, units, count), np.full(len(share), people.share))
    else:
        of = people.fair
        parts = (of.share, of.sd, of.skew, of.shrink, of.matched)
        fair = FairNaming(*(np.repeat(part, design.replicates) for part in parts))
        squares = people.part * count
        p = infer_fair_shares(count, units, fair, design.correlation, design.level, squares).p
    return p, np.sign(share - people.share) == np.sign(design.effect - 1.0)


def _ratio(design: AuditPlan, rng: np.random.Generator) -> tuple[FloatArray, BoolArray]:
    """P of each audit, and whether its ratio lies on the effect's side of 1."""
    people = design.people
    upper, lower = people.drawn(design, design.effect, rng), people.drawn(design, 1.0, rng)
    units = np.full(upper.shape, float(design.sides[0]))
    sides = TwoSides(upper, units, lower, units, people.part * (upper + lower))
    contrasts = infer_contrasts(sides, design.level, bounds=False)
    return contrasts.p, np.sign(contrasts.ratio - 1.0) == np.sign(design.effect - 1.0)


def _difference(design: AuditPlan, rng: np.random.Generator) -> tuple[FloatArray, BoolArray]:
    """P of each audit, and whether its difference has the effect's sign."""
    icc, k = design.correlation, design.replicates
    shape = (design.blocks, k)
    effect = design.effect + design.varies * rng.normal(size=shape)
    # What texts of a block share; it cancels within blocks, not between them
    of_block = np.sqrt(icc) * rng.normal(size=shape)
    sides = []
    for side, n in enumerate(design.sides):
        # Blocks that hold one group each take turns.
        has_side = np.full(design.blocks, True)
        if design.apart:
            has_side = np.arange(design.blocks) % 2 == side
        noise = np.sqrt((1.0 - icc) * n) * rng.normal(size=shape)
        mean = of_block + effect * (0.5 if side == 0 else -0.5)
        count = np.broadcast_to(float(n) * has_side[:, np.newaxis], shape)
        sides.append(((n * mean + noise) * has_side[:, np.newaxis], count))
    # All simulated audits in one call: each is a column
    test = infer_differences if design.apart else matched_differences
    result = test(sides[0], sides[1], design.level)
    return result.p, np.sign(result.value) == np.sign(design.effect)


def resized(design: AuditPlan, *, blocks: int | None = None, texts: int | None = None) -> AuditPlan:
    """Return the design with other numbers; two numbers of texts keep their proportion."""
    if blocks is not None:
        return replace(design, blocks=blocks)
    if texts is None or not isinstance(design.texts, tuple):
        return replace(design, texts=texts or design.texts)
    first, second = design.texts
    least = min(first, second)
    return replace(design, texts=(first * texts // least, second * texts // least))


MOST = 10_000
"""Prompts, or answers to each, beyond which a plan says that there are none."""
DESIGNS = 9
"""Designs, at most, whose power is simulated between one that is too small and twice as many."""
MORE_PROMPTS = "no number of answers to these prompts will do; ask more prompts"


@dataclass(frozen=True)
class Needed:
    """What it takes to find one effect.

    Attributes
    ----------
    design
        The least one that finds it; the largest that was tried where none does.
    power
        Share of audits that find it, by the simulations of it and of designs near it.
    undefined
        Why no number will do; None where one does.
    """

    design: AuditPlan
    power: float
    undefined: str | None = None


def plan(
    kind: Kind,
    effects: Sequence[float],
    *,
    blocks: int | None = None,
    target_power: float = 0.8,
    seed: int = 0,
    **design: Any,
) -> list[Needed]:
    """Return, for each true effect, the least number of blocks that finds it, or of texts.

    Parameters
    ----------
    kind, effects
        As in `AuditPlan`: share, ratio or difference.
    blocks
        Prompts, sources, originals or templates that there are: how many texts of each are needed?
        By default, how many blocks are, with so many texts of each.
    target_power
        Power, a fraction.
    seed
        Start of the random stream.
    **design
        More of `AuditPlan`: texts, share, race, icc, varies, apart, level, tests.

    Raises
    ------
    OptionError
        For a design or power that cannot be.

    >>> [pairs] = plan("difference", [0.5], tests=1)
    >>> 45 < pairs.design.blocks < 60
    True
    """
    if not 0 < target_power < 1:
        raise OptionError(
            f"power must be a fraction between 0 and 1, such as 0.8; got {target_power!r}."
        )
    if not effects:
        raise OptionError("give at least one effect to find, such as 1.5.")
    first = AuditPlan(kind=kind, effect=effects[0], blocks=blocks or FEW_PROMPTS, **design)
    vary: Literal["texts", "blocks"] = "blocks" if blocks is None else "texts"
    return [_needed(replace(first, effect=effect), vary, target_power, seed) for effect in effects]


def _needed(
    design: AuditPlan, vary: Literal["texts", "blocks"], target_power: float, seed: int
) -> Needed:
    """Double the number until it is enough, then fit the power of designs between.

    Where a statistic is normal, its power is a straight line of the root of the number on the scale
    of normal quantiles, so that the simulations of all designs together tell where it is enough.
    """
    low, high = 0, 1 if vary == "texts" else FEW_PROMPTS
    while (reached := power(resized(design, **{vary: high}), seed)) < target_power:
        # Texts of a prompt are alike: where ten times as many change nothing, none will do.
        if high * 2 > MOST:
            reason = MORE_PROMPTS if vary == "texts" else f"{MOST:,} are too few"
            return Needed(resized(design, **{vary: high}), reached, reason)
        low, high = high, high * 2
    numbers = np.array(_numbers(low + 1, high))
    tried = [resized(design, **{vary: number}) for number in numbers.tolist()]
    powers = np.array([power(smaller, seed) for smaller in tried])
    # Below the fewest people that an audit states anything of, nothing is simulated
    simulated = powers > 0.0
    if simulated.sum() > 1:
        draws = np.array([smaller.replicates for smaller in tried])[simulated]
        shares = np.clip(powers[simulated], 0.5 / draws, 1.0 - 0.5 / draws)
        quantiles, roots = ndtri(shares), np.sqrt(numbers[simulated])
        density = np.exp(-0.5 * quantiles**2)
        precision = density * np.sqrt(draws / (shares * (1.0 - shares)))
        slope, start = np.polyfit(roots, quantiles, 1, w=precision)
        if slope > 0.0:
            least = int(np.ceil(((ndtri(target_power) - start) / slope) ** 2))
            high = int(np.clip(least, numbers[simulated][0], high))
            reached = float(ndtr(start + slope * np.sqrt(high)))
    return Needed(resized(design, **{vary: high}), reached)


def _numbers(least: int, most: int) -> list[int]:
    """Whole numbers from `least` to `most`, `DESIGNS` at most, evenly spaced."""
    return sorted({round(number) for number in np.linspace(least, most, DESIGNS)})
