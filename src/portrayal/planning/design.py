"""Designs, and the power of an audit's tests in each, by simulation or in closed form.

Blocks are what a test takes to be independent: prompts, sources of pairs, originals, occupations or
templates. One simulator draws what an audit sums by block for each kind of estimand, and the
audit's test judges it:

- *share* of people of a group, whose true value is `effect` times the baseline's: shares of blocks
  are beta distributed (`stats.share_evidence`);
- *ratio* of the shares of two roles, or of two models, in the same blocks
  (`stats.infer_contrasts`);
- *difference* of the mean scores of two groups, of shares, or of the shares with a phrase: within
  blocks (`stats.matched_differences`), between blocks that hold one group each
  (`stats.infer_differences`), or in these very blocks (`stats.infer_fixed_means`). Of scores and
  shares the power is known without simulating, so that a first answer can name a number of texts.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np
from scipy.special import nctdtr

import portrayal.stats as stats
from portrayal.errors import OptionError
from portrayal.measure.matched.words import FEWEST, PROPOSED
from portrayal.records import FEW_PEOPLE, FEW_PROMPTS
from portrayal.stats.contrasts import TwoSides
from portrayal.stats.design_effect import evidence_p, share_evidence
from portrayal.stats.tails import t_isf
from portrayal.types import BoolArray, FloatArray
from portrayal.validate import check_count, check_level

Kind = Literal["share", "ratio", "difference"]
Unit = Literal["sd", "points", "phrase"]
KINDS: tuple[Kind, ...] = get_args(Kind)
ICC = {"share": 0.18, "ratio": 0.27, "sd": 0.27, "points": 0.0, "phrase": 0.0}
"""Correlation of two people, or texts, of one prompt, where none is given: those of gender in 2,346
hand-labelled stories of Shieh et al. (2025); for scores, the largest of the shares; for shares of
answers none, as more of it would ask for fewer texts."""
SHARE = {"sd": 0.5, "points": 0.1, "phrase": 0.0}
"""Share where none is given, by unit: as of refusals; and a phrase that one group's answers alone
have."""
TESTS = {"sd": 24, "points": 24, "phrase": 2 * PROPOSED}
"""Tests that share the level where no number is given: an audit of groups asks two questions, of
about twelve scores, and of as many words as are proposed."""
FAR = 3.0
"""How far from chance a phrase must be to stand among the words proposed, of some thousand."""
MOST_AUDITS, LEAST_AUDITS, CELLS = 4_000, 400, 4_000_000
"""Simulated audits: as many as have so many blocks together, within these bounds."""


@dataclass(frozen=True, kw_only=True)
class AuditPlan:
    """What a collection looks like, and what is to be found in it.

    Attributes
    ----------
    kind
        share, ratio or difference.
    effect
        True ratio to the baseline or of two roles, above 0 and not 1; or the true difference.
    unit
        Of a difference: "sd", in standard deviations of a score; "points", of a share of answers,
        such as refusals, in 0–1; "phrase", of the share that has a phrase which nobody named, so
        that half of the texts propose it and half test it.
    blocks
        Prompts, sources of pairs, originals, or templates.
    texts
        People, or texts, of each group and block. Of a difference two numbers may be given: (1, 5)
        is one original and five rewritings.
    share
        Share of the group in the baseline, or in the dominant role, in 0–1; of a difference of
        shares, that of the second group's answers. By default `SHARE`.
    icc
        Correlation of two people or texts of one block and role, in 0–1; by default `ICC`.
    varies
        Standard deviation of a difference between blocks, as a part of the difference.
    apart
        Of a difference: blocks hold one group each, such as prompts that name one; or are texts.
    these
        Of a difference: in these very blocks, whose answers alone are drawn.
    level, tests
        Confidence level, and of how many tests it is that of all together (Bonferroni, an upper
        bound for what an audit's Benjamini–Hochberg needs); by default `TESTS`, or 20.

    Raises
    ------
    OptionError
        Where one of them cannot be.
    """

    kind: Kind
    effect: float
    blocks: int = FEW_PROMPTS
    texts: int | tuple[int, int] = 1
    unit: Unit = "sd"
    share: float | None = None
    icc: float | None = None
    varies: float = 0.5
    apart: bool = False
    these: bool = False
    level: float = 0.95
    tests: int | None = None

    def __post_init__(self) -> None:
        """Refuse what cannot be simulated."""
        if self.kind not in KINDS:
            raise OptionError(f"a design is one of {', '.join(KINDS)}; got {self.kind!r}.")
        counts = (self.blocks, self.n_tests, *self.sides)
        for name, number in zip(("blocks", "tests", "texts", "texts"), counts, strict=True):
            check_count(name, number, minimum=1)
        check_level(self.level)
        if self.icc is not None and not 0 <= self.icc < 1:
            raise OptionError(f"icc is a correlation of 0 or more, below 1; got {self.icc!r}.")
        if self.kind == "difference":
            if not np.isfinite(self.effect) or self.effect == 0:
                raise OptionError(f"a difference to find is not 0; got {self.effect!r}.")
            share = self.base_share
            if self.unit != "sd" and not (0 <= share < 1 and 0 <= share + self.effect <= 1):
                raise OptionError(
                    f"shares of both groups lie in 0–1, as 0.1 is 10 points; got {share:g} and "
                    f"{share + self.effect:g}."
                )
            if not self.varies >= 0:
                raise OptionError(f"varies is 0 or more; got {self.varies!r}.")
            return
        if isinstance(self.texts, tuple):
            raise OptionError(f"a {self.kind} has one number of texts; got {self.texts!r}.")
        share = self.base_share
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
        kind = self.unit if self.kind == "difference" else self.kind
        return ICC[kind] if self.icc is None else self.icc

    @property
    def base_share(self) -> float:
        """The share that is taken for granted."""
        return SHARE[self.unit] if self.share is None else self.share

    @property
    def n_tests(self) -> int:
        """The tests that share the level."""
        usual = TESTS[self.unit] if self.kind == "difference" else 20
        return usual if self.tests is None else self.tests

    @property
    def n_texts(self) -> int:
        """Texts in all: a story has one person of each role, and a share one person a text."""
        one_side = self.kind != "difference" or self.apart
        return self.blocks * (self.sides[0] if one_side else sum(self.sides))

    @property
    def replicates(self) -> int:
        """Audits that are simulated."""
        return min(max(CELLS // self.blocks, LEAST_AUDITS), MOST_AUDITS)


def power(design: AuditPlan, seed: int = 0) -> float:
    """Return the share of simulated audits in which the design's effect is found, on its own side.

    Fewer than five blocks, or ten people expected of the group, are too few for an audit to state
    anything (`records.FEW_PROMPTS`, `FEW_PEOPLE`): 0. In these very blocks it takes two answers.

    >>> pairs = AuditPlan(kind="difference", effect=0.5, blocks=60, tests=1)
    >>> power(pairs) > 0.8 > power(AuditPlan(kind="difference", effect=0.5, blocks=20, tests=1))
    True
    """
    if _too_few(design):
        return 0.0
    # By the size of the design, so that the same design always has the same power
    rng = np.random.default_rng([seed, design.blocks, *design.sides])
    if design.kind == "difference":
        p, right = _difference(design, rng)
    else:
        n_people = design.blocks * design.sides[0] * max(design.effect, 1.0)
        if design.base_share * n_people < FEW_PEOPLE:
            return 0.0
        p, right = (_share if design.kind == "share" else _ratio)(design, rng)
    # A significant effect on the wrong side is no success
    return float(np.mean((p * design.n_tests < 1.0 - design.level) & right))


def expected_power(design: AuditPlan) -> float:
    """Return the power of a difference of scores or of shares as `power`, without simulating.

    The test of a difference is Student's t, so its power is that of the noncentral t (Cohen 1988,
    section 2.3); in these very blocks what the difference varies by between them is no error.

    >>> pairs = AuditPlan(kind="difference", effect=0.5, blocks=60, tests=1)
    >>> bool(abs(expected_power(pairs) - power(pairs)) < 0.02)
    True
    """
    if _too_few(design):
        return 0.0
    blocks, shared = design.blocks, design.correlation
    # Variance of the difference between blocks, which is that of the first group's texts alone
    spread = np.array([(design.effect * design.varies) ** 2, 0.0])
    within = np.full(2, 1.0 - shared)
    if design.unit == "points":
        share = design.base_share + np.array([design.effect, 0.0])
        shared *= design.base_share * (1.0 - design.base_share)
        within = np.maximum(share * (1.0 - share) - shared - spread, 0.0)
    noise = within / design.sides
    error, df = float((spread + noise).sum()) / blocks, blocks - 1.0
    variance = error
    if design.these:
        error, df = float(noise.sum()) / blocks, blocks * (sum(design.sides) - 2.0)
    elif design.apart:
        of_side = np.array([(blocks + 1) // 2, blocks // 2])
        parts = (shared + spread + noise) / of_side
        error = variance = float(parts.sum())
        df = variance**2 / float((parts**2 / (of_side - 1.0)).sum())
    critical = t_isf(np.array((1.0 - design.level) / design.n_tests / 2.0), np.array(df))
    bound = float(critical) * np.sqrt(error / variance)
    return 1.0 - float(nctdtr(df, abs(design.effect) / np.sqrt(variance), bound))


def _is_closed(design: AuditPlan) -> bool:
    """Whether the power of a design follows from its numbers: of scores, and shares inside 0–1."""
    share, spread = design.base_share + design.effect, abs(design.effect) * design.varies
    inside = 2.0 * spread <= share <= 1.0 - 2.0 * spread
    return design.kind == "difference" and (
        design.unit == "sd" or (design.unit == "points" and inside)
    )


def _too_few(design: AuditPlan) -> bool:
    """Whether there are too few blocks for an audit, or one answer each to these very blocks."""
    return sum(design.sides) < 3 if design.these else design.blocks < FEW_PROMPTS


def _shares(design: AuditPlan, mean: float, rng: np.random.Generator) -> FloatArray:
    """Shares by block and audit, whose mean is this, with the design's correlation."""
    shape, icc = (design.blocks, design.replicates), design.correlation
    if icc == 0 or mean == 0:
        return np.full(shape, mean)
    # a beta with parameters summing to this has the correlation icc
    total = 1.0 / icc - 1.0
    return rng.beta(mean * total, (1 - mean) * total, shape)


def _counts(design: AuditPlan, true: float, rng: np.random.Generator) -> FloatArray:
    """Counts by block and audit, if people of the group are `true` times as many as their share."""
    shares = _shares(design, true * design.base_share, rng)
    return rng.binomial(design.sides[0], shares).astype(np.float64)


def _share(design: AuditPlan, rng: np.random.Generator) -> tuple[FloatArray, BoolArray]:
    """P of each audit, and whether its share lies on the effect's side of the population's."""
    count = _counts(design, design.effect, rng)
    units = np.full(count.shape, float(design.sides[0]))
    share = count.sum(0) / units.sum(0)
    p = evidence_p(share_evidence(count, units, count), np.full(len(share), design.base_share))
    return p, np.sign(share - design.base_share) == np.sign(design.effect - 1.0)


def _ratio(design: AuditPlan, rng: np.random.Generator) -> tuple[FloatArray, BoolArray]:
    """P of each audit, and whether its ratio lies on the effect's side of 1."""
    upper, lower = _counts(design, design.effect, rng), _counts(design, 1.0, rng)
    units = np.full(upper.shape, float(design.sides[0]))
    contrasts = stats.infer_contrasts(
        TwoSides(upper, units, lower, units, upper + lower), design.level, bounds=False
    )
    return contrasts.p, np.sign(contrasts.ratio - 1.0) == np.sign(design.effect - 1.0)


def _difference(design: AuditPlan, rng: np.random.Generator) -> tuple[FloatArray, BoolArray]:
    """P of each audit, and whether its difference has the effect's sign; a phrase is proposed."""
    proposed: BoolArray = np.full(design.replicates, True)
    if design.unit == "phrase":
        # Half of the answers to these blocks, or of all blocks, propose it; the others test it
        halves = {"texts": min(design.sides)} if design.these else {"blocks": design.blocks}
        half = resized(design, **{name: max(n // 2, 1) for name, n in halves.items()})
        if _too_few(half):
            return np.ones(len(proposed)), proposed
        (x, n), (y, m) = ((total.sum(0), count.sum(0)) for total, count, _ in _sides(half, rng))
        z = stats.divide(x / n - y / m, np.sqrt(x / n**2 + y / m**2))
        design, proposed = half, (x + y >= FEWEST) & (np.abs(z) >= FAR)
    (x, n, x_squares), (y, m, y_squares) = _sides(design, rng)
    if design.these:
        value, df = x / n - y / m, n + m - 2.0
        noise = (x_squares + y_squares) / df * (1.0 / n + 1.0 / m)
        *_, p = stats.infer_fixed_means(value, np.arange(design.blocks), noise, df, design.level)
        return p, (np.sign(value.mean(0)) == np.sign(design.effect)) & proposed
    # All simulated audits in one call: each is a column
    test = stats.infer_differences if design.apart else stats.matched_differences
    result = test((x, n), (y, m), design.level)
    return result.p, (np.sign(result.value) == np.sign(design.effect)) & proposed


def _sides(
    design: AuditPlan, rng: np.random.Generator
) -> list[tuple[FloatArray, FloatArray, FloatArray]]:
    """Sum, number and squares off the mean of each group's texts, by block and audit."""
    icc, shape = design.correlation, (design.blocks, design.replicates)
    effect = design.effect * (1.0 + design.varies * rng.normal(size=shape))
    # What texts of a block share; it cancels within blocks, not between them
    of_block = np.sqrt(icc) * rng.normal(size=shape)
    if design.unit != "sd":
        of_block = _shares(design, design.base_share, rng)
    sides = []
    for side, n in enumerate(design.sides):
        # Blocks that hold one group each take turns.
        has_side = ~np.array(design.apart) | (np.arange(design.blocks) % 2 == side)
        mean = of_block + effect if side == 0 else of_block
        if design.unit == "sd":
            total = n * mean + np.sqrt((1.0 - icc) * n) * rng.normal(size=shape)
            squares = 2.0 * (1.0 - icc) * rng.standard_gamma((n - 1.0) / 2.0, size=shape)
        else:
            total = rng.binomial(n, np.clip(mean, 0.0, 1.0)).astype(np.float64)
            squares = total * (1.0 - total / n)
        count = np.broadcast_to(float(n) * has_side[:, np.newaxis], shape)
        sides.append((total * has_side[:, np.newaxis], count, squares))
    return sides


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
        Of a difference, for all blocks like them, and for these very ones. By default, how many
        blocks are, with so many texts of each.
    target_power
        Power, a fraction.
    seed
        Start of the random stream.
    **design
        More of `AuditPlan`: texts, unit, share, icc, varies, apart, level, tests.

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
    first = AuditPlan(
        kind=kind, effect=effects[0], blocks=FEW_PROMPTS if blocks is None else blocks, **design
    )
    vary: Literal["texts", "blocks"] = "blocks" if blocks is None else "texts"
    designs = [replace(first, effect=effect) for effect in effects]
    if kind == "difference" and blocks is not None and not first.apart:
        designs = [replace(d, these=these) for d in designs for these in (False, True)]
    return [_needed(design, vary, target_power, seed) for design in designs]


def _needed(
    design: AuditPlan, vary: Literal["texts", "blocks"], target_power: float, seed: int
) -> Needed:
    """Double the number until it is enough, then halve the way back to the least that is."""
    closed = _is_closed(design)

    def reached_by(number: int) -> float:
        sized = resized(design, **{vary: number})
        return expected_power(sized) if closed else power(sized, seed)

    low, high = 0, 1 if vary == "texts" else FEW_PROMPTS
    # By three standard errors of so many draws, so that no plan names too few
    target_power += 3.0 * float(np.sqrt(target_power * (1.0 - target_power) / MOST_AUDITS))
    while (reached := reached_by(high)) < target_power:
        # Texts of a prompt are alike: where ten times as many change nothing, none will do.
        if high * 2 > MOST:
            reason = MORE_PROMPTS if vary == "texts" else f"{MOST:,} are too few"
            return Needed(resized(design, **{vary: high}), reached, reason)
        low, high = high, high * 2
    # Nearer than the draws can tell apart: a number of a hundredth more has the same power
    while high - low > max(1, high // 100):
        middle = (low + high) // 2
        share = reached_by(middle)
        if share < target_power:
            low = middle
        else:
            high, reached = middle, share
    return Needed(resized(design, **{vary: high}), reached)
