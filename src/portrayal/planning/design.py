"""Designs, and the power of an audit's tests in each, by simulation.

Blocks are what a test takes to be independent: prompts, sources of pairs, originals, occupations or
templates. One simulator draws what an audit sums by block for each kind of estimand, and the
audit's test judges it:

- *share* of people of a group, whose true value is `effect` times the baseline's: shares of blocks
  are beta distributed (`stats.share_evidence`);
- *ratio* of the shares of two roles, or of two models, in the same blocks
  (`stats.infer_contrasts`);
- *difference* of the mean scores of two groups, within blocks (`stats.matched_differences`), or
  between blocks that hold one group each (`stats.infer_differences`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np

from portrayal.errors import OptionError
from portrayal.records import FEW_PEOPLE, FEW_PROMPTS
from portrayal.stats import infer_contrasts, infer_differences, matched_differences
from portrayal.stats.contrasts import TwoSides
from portrayal.stats.design_effect import evidence_p, share_evidence
from portrayal.types import BoolArray, FloatArray
from portrayal.validate import check_count, check_level

Kind = Literal["share", "ratio", "difference"]
KINDS: tuple[Kind, ...] = get_args(Kind)
ICC = {"share": 0.18, "ratio": 0.27, "difference": 0.27}
"""Correlation of two people, or texts, of one prompt, where none is given: those of gender in 2,346
hand-labelled stories of Shieh et al. (2025); for scores, the largest of the shares."""
REPLICATES, FEWEST, CELLS = 4_000, 400, 4_000_000
"""Simulated audits: as many as have so many blocks together, within these bounds."""


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
        if not 0 < self.share < 1 or not 0 < self.effect * self.share < 1 or self.effect == 1:
            raise OptionError(
                f"effect is a ratio that is not 1, with a share of the group below 1 on both "
                f"sides; got {self.effect:g} times {self.share:.3g}."
            )

    @property
    def sides(self) -> tuple[int, int]:
        """Texts of the first and second group in each block."""
        return self.texts if isinstance(self.texts, tuple) else (self.texts, self.texts)

    @property
    def correlation(self) -> float:
        """The correlation of two people or texts of a block that is taken for granted."""
        return ICC[self.kind] if self.icc is None else self.icc

    @property
    def n_texts(self) -> int:
        """Texts in all: a story has one person of each role, and a share one person a text."""
        first, second = self.sides
        return self.blocks * (first if self.kind != "difference" else first + second)

    @property
    def replicates(self) -> int:
        """Audits that are simulated."""
        return min(max(CELLS // self.blocks, FEWEST), REPLICATES)


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
        if design.share * n_people < FEW_PEOPLE:
            return 0.0
        p, right = (_share if design.kind == "share" else _ratio)(design, rng)
    # A significant effect on the wrong side is no success
    return float(np.mean((p * design.tests < 1.0 - design.level) & right))


def _counts(design: AuditPlan, true: float, rng: np.random.Generator) -> FloatArray:
    """Counts by block and audit, if people of the group are `true` times as many as their share."""
    shape, icc, share = (design.blocks, design.replicates), design.correlation, true * design.share
    shares = np.full(shape, share)
    if icc > 0:
        # a beta with parameters summing to this has the correlation icc
        total = 1.0 / icc - 1.0
        shares = rng.beta(share * total, (1 - share) * total, shape)
    return rng.binomial(design.sides[0], shares).astype(np.float64)


def _share(design: AuditPlan, rng: np.random.Generator) -> tuple[FloatArray, BoolArray]:
    """P of each audit, and whether its share lies on the effect's side of the population's."""
    count = _counts(design, design.effect, rng)
    units = np.full(count.shape, float(design.sides[0]))
    share = count.sum(0) / units.sum(0)
    p = evidence_p(share_evidence(count, units, count), np.full(len(share), design.share))
    return p, np.sign(share - design.share) == np.sign(design.effect - 1.0)


def _ratio(design: AuditPlan, rng: np.random.Generator) -> tuple[FloatArray, BoolArray]:
    """P of each audit, and whether its ratio lies on the effect's side of 1."""
    upper, lower = _counts(design, design.effect, rng), _counts(design, 1.0, rng)
    units = np.full(upper.shape, float(design.sides[0]))
    contrasts = infer_contrasts(
        TwoSides(upper, units, lower, units, upper + lower), design.level, bounds=False
    )
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
MORE_PROMPTS = "no number of answers to these prompts will do; ask more prompts"


@dataclass(frozen=True)
class Needed:
    """What it takes to find one effect.

    Attributes
    ----------
    design
        The least one that finds it; the largest that was tried where none does.
    power
        Share of simulated audits that find it.
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
        More of `AuditPlan`: texts, share, icc, varies, apart, level, tests.

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
    """Double the number until it is enough, then halve the way back to the least that is."""
    low, high = 0, 1 if vary == "texts" else FEW_PROMPTS
    while (reached := power(resized(design, **{vary: high}), seed)) < target_power:
        # Texts of a prompt are alike: where ten times as many change nothing, none will do.
        if high * 2 > MOST:
            reason = MORE_PROMPTS if vary == "texts" else f"{MOST:,} are too few"
            return Needed(resized(design, **{vary: high}), reached, reason)
        low, high = high, high * 2
    # Nearer than the draws can tell apart: a number of a hundredth more has the same power
    while high - low > max(1, high // 100):
        middle = (low + high) // 2
        share = power(resized(design, **{vary: middle}), seed)
        if share < target_power:
            low = middle
        else:
            high, reached = middle, share
    return Needed(resized(design, **{vary: high}), reached)
