"""Power of the audit's own tests, simulated, and the smallest ratio that they find.

A formula for the standard error knows neither that fair naming reads R0 and not 1, nor that name
counting shrinks a difference, nor that few prompts have no test. So audits are simulated: people
are dealt by a true ratio, their names drawn from the bearers, counted, and tested as in the audit,
among as many other hypotheses. The same random numbers serve all ratios, so that power rises with
the ratio.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy import special

from portrayal.records import FEW_PEOPLE
from portrayal.stats import (
    evidence_p,
    fair_naming,
    infer_contrasts,
    infer_fair_shares,
    paired_changes,
    paired_ratios,
    prompt_subsets,
    share_evidence,
)
from portrayal.stats.contrasts import Contrasts, TwoSides
from portrayal.stats.naming import FairNaming
from portrayal.types import FloatArray

REPLICATES = 1_000
"""Simulated audits: power of 80 % is known to 1.3 points."""

_SUBSETS = 499  # a p of .05 needs no more, and smaller ones up to what the audit draws
_MOST_SUBSETS, _PER_P = 9_999, 4
_ALL_SUBSETS = 9
_BINS = 512
_CELLS = 2**16
_DRAWN_TEXTS = 24  # above, the sum of a prompt's names is drawn at once
_CLOSE = 0.005
_STEPS = 14  # ratios tried at most for the smallest that is found

Power = Callable[[float], float]
"""Share of simulated audits, in 0-1, that find a true ratio, on its own side of the null."""


@dataclass(frozen=True)
class Design:
    """What a plan takes for granted.

    Attributes
    ----------
    prompts, texts
        Prompts, and characters counted per prompt (in each role).
    icc
        Correlation of two characters of one prompt and role, in 0-1.
    level
        Of the two-sided test, a fraction.
    replicates
        Simulated audits.
    hypotheses, questions
        Of how many a question of the audit consists, and how many questions there are for each that
        the effect answers. An effect is found where it would be stated if nothing else differed
        (`measure.scope.with_q_values`).
    """

    prompts: int
    texts: int
    icc: float = 0.05
    level: float = 0.95
    replicates: int = REPLICATES
    hypotheses: int = 1
    questions: float = 1.0

    @property
    def alpha(self) -> float:
        """Adjusted p of a hypothesis in its question below which it is found."""
        return (1.0 - self.level) / self.questions

    def subsets(self, *seed: int) -> FloatArray:
        """Return which prompts change sides in the tests of a simulation."""
        needed = int(_PER_P * self.hypotheses / self.alpha)
        n = min(max(needed, _SUBSETS), _MOST_SUBSETS)
        return prompt_subsets(self.prompts, np.random.default_rng(seed), n, _ALL_SUBSETS)


@dataclass(frozen=True, eq=False)
class Counting:
    """How people of a group are counted: the values that one person of a population may add.

    Attributes
    ----------
    weight
        Share of the population with each value, shape (n_values,), summing to 1.
    value
        What such a person adds to the group's count, shape (n_values,), in 0-1: 0 and 1 for groups
        that are counted whole, the name's share for a race.
    fair
        What drawing names at random reads, one race; None for groups that are counted whole.
    """

    weight: FloatArray
    value: FloatArray
    fair: FairNaming | None = None

    @property
    def share(self) -> float:
        """Share of the group in the population, in 0-1."""
        return float(self.weight @ self.value)

    def tilted(self, true: float) -> FloatArray:
        """Return the weights if people of the group are `true` times as many.

        Within the group and within all others, names stay spread as among bearers.

        Raises
        ------
        ValueError
            If the group would be more than everyone.
        """
        if not 0 <= true * self.share <= 1:
            raise ValueError(f"a share of {self.share:.3f} cannot be {true} times as large.")
        others = (1.0 - true * self.share) / (1.0 - self.share)
        return self.weight * (true * self.value + others * (1.0 - self.value))


@cache
def counted_whole(share: float) -> Counting:
    """Describe a group whose members count 1 each, with this share (in 0-1) in the population.

    >>> counted_whole(0.25).tilted(2.0).tolist()
    [0.5, 0.5]
    """
    return Counting(np.array([1.0 - share, share]), np.array([0.0, 1.0]))


def counted_by_name(bearers: FloatArray, likelihood: FloatArray) -> Counting:
    """Describe a race that is counted by the shares of names.

    Parameters
    ----------
    bearers, likelihood
        Bearers of each name of the population, and the race's share among them, shape (n_names,);
        NaN where the race's table does not list the name. Names of nearly the same share are put
        together.
    """
    fair = fair_naming(bearers, likelihood[:, np.newaxis])
    known = ~np.isnan(likelihood)
    bin_of = np.minimum((likelihood[known] * _BINS).astype(np.int64), _BINS - 1)
    weight = np.bincount(bin_of, bearers[known], _BINS)
    total = np.bincount(bin_of, bearers[known] * likelihood[known], _BINS)
    some = weight > 0
    return Counting(weight[some] / weight.sum(), total[some] / weight[some], fair)


def representation_power(counting: Counting, design: Design, seed: int) -> Power:
    """Return the power of representation as a function of the true ratio to the population.

    A race is tested against fair naming, another group against its share in the population.
    """
    draws = _Draws(design, seed)
    units = np.full((design.prompts, design.replicates), float(design.texts))
    fair = counting.fair
    if fair is not None:
        parts = (fair.share, fair.sd, fair.skew, fair.shrink, fair.matched)
        fair = FairNaming(*(np.repeat(part, design.replicates) for part in parts))

    def power(true: float) -> float:
        count = draws.counts(counting, true)
        share = count.sum(0) / units.sum(0)
        if fair is None:
            p = evidence_p(share_evidence(count, units, count), np.full(len(share), counting.share))
        else:
            part = float(counting.weight @ counting.value**2) / counting.share
            squares = part * count
            p = infer_fair_shares(count, units, fair, design.icc, design.level, squares).p
        right = np.sign(share - counting.share) == np.sign(true - 1.0)
        right &= np.maximum(counting.share * units.sum(0), count.sum(0)) >= FEW_PEOPLE
        return float(np.mean((p * design.hypotheses < design.alpha) & right))

    return power


def subordination_power(counting: Counting, design: Design, seed: int) -> Power:
    """Return the power of a comparison of two roles as a function of the true subordination ratio.

    The dominant role has the population's share of the group, the subordinate one the ratio times
    it; so have two models whose shares are compared. Other hypotheses of the question are taken to
    be like this one without an effect, and to say other things than it.
    """
    lesser, greater = (_Draws(design, [seed, role]) for role in range(2))
    units = np.full((design.prompts, design.replicates), float(design.texts))
    dominant = greater.counts(counting, 1.0)
    part = float(counting.weight @ counting.value**2) / counting.share  # of one, a person's mean

    def inferred(true: float) -> tuple[Contrasts, FloatArray]:
        subordinate = lesser.counts(counting, true)
        both = subordinate + dominant
        sides = TwoSides(subordinate, units, dominant, units, part * both)
        return infer_contrasts(sides, design.level, bounds=False), both.sum(0) / 2.0

    def power(true: float) -> float:
        contrasts, expected = inferred(true)
        # Other hypotheses are independent of this one: the smallest p of all (Sidak).
        adjusted = 1.0 - (1.0 - contrasts.p) ** design.hypotheses
        right = np.sign(contrasts.ratio - 1.0) == np.sign(true - 1.0)
        right &= expected >= FEW_PEOPLE
        return float(np.mean((adjusted < design.alpha) & right))

    return power


def change_power(
    counting: Counting, design: Design, seed: int, *, roles: bool, ratios: bool = True
) -> Power:
    """Return the power of a comparison of two models as a function of the true ratio between them.

    The first has the population's share of the group, in both roles where prompts have two; the
    second the ratio times it, in one. Each favours the group in prompts of its own, so that models
    which favour it in the same prompts are told apart oftener (`comparison`). Without `ratios` the
    difference of the shares is tested, as of groups without a baseline.
    """
    if ratios and not roles:
        return subordination_power(counting, design, seed)
    draws = [_Draws(design, [seed, each]) for each in range(4 if roles else 2)]
    subsets = design.subsets(seed, 4)
    units = np.full((design.prompts, design.replicates), float(design.texts))
    first = draws[0].counts(counting, 1.0)
    dominant = [each.counts(counting, 1.0) for each in draws[2:]]

    def power(true: float) -> float:
        second = draws[1].counts(counting, true)
        found = 0
        # A hundred audits at a time stay in the processor's cache.
        for at in (slice(i, i + 100) for i in range(0, design.replicates, 100)):
            sides = [(count[:, at], units[:, at]) for count in (first, second, *dominant)]
            one, two = sides[:2]
            if roles:
                pairs = (one + sides[2], two + sides[3])
                changed = paired_ratios(*pairs, subsets, design.level)
            else:
                weight = units[:, at] / units[:, at].sum(0)
                shares = [side[0] / units[:, at].sum(0) for side in (one, two)]
                value = shares[1].sum(0) - shares[0].sum(0)
                moved, here = shares[1] - shares[0] - value * weight, one[0] + two[0] > 0
                changed = paired_changes(value, moved, weight, here, subsets, design.level)
            right = np.sign(changed.value) == np.sign(true - 1.0)
            found += int(np.sum((changed.p * design.hypotheses < design.alpha) & right))
        return found / design.replicates

    return power


def smallest_detectable(power: Power, wanted: float, furthest: float) -> float:
    """Return the true ratio nearest to 1 that is found with the power wanted.

    Parameters
    ----------
    power
        From `representation_power` or `subordination_power`.
    wanted
        A fraction.
    furthest
        The search runs from 1 to this ratio, on the log scale: above 1 or below it.

    Returns
    -------
    float
        NaN where even `furthest` is not found with the power wanted.

    >>> round(smallest_detectable(lambda r: min(1.0, r - 1.0), 0.8, 3.0), 2)
    1.8
    """
    reached = power(furthest)
    if not reached >= wanted:
        return float("nan")

    def normal(power: float) -> float:
        return float(special.ndtri(min(max(power, 1e-4), 1.0 - 1e-4)))

    goal = special.ndtri(wanted)
    near, far, below, above = 0.0, float(np.log(furthest)), -2.0, normal(reached)
    for step in range(_STEPS):
        # Power is nearly straight on the normal scale; every third step halves what is left.
        part = 0.5 if step % 3 == 2 else (goal - below) / (above - below)
        middle = near + (far - near) * min(max(part, 0.1), 0.9)
        reached = power(float(np.exp(middle)))
        if abs(reached - wanted) <= _CLOSE:
            return float(np.exp(middle))
        if reached < wanted:
            near, below = middle, normal(reached)
        else:
            far, above = middle, normal(reached)
    return float(np.exp(far))


class _Draws:
    """The random numbers of one role in all simulated audits, the same for every ratio."""

    def __init__(self, design: Design, seed: int | list[int]) -> None:
        rng = np.random.default_rng(seed)
        shape = (design.prompts, design.replicates)
        self._design, self._state = design, rng.integers(2**32)
        self._own = rng.random(shape)
        if design.texts <= _DRAWN_TEXTS:
            each = (design.prompts, design.texts, design.replicates)
            repeated = rng.random(each, dtype=np.float32) < np.sqrt(design.icc)
            self._each = np.where(repeated, self._own[:, np.newaxis], rng.random(each))
            self._cell = (self._each * _CELLS).astype(np.uint16)
        else:
            self._copies = rng.binomial(design.texts, np.sqrt(design.icc), shape)
            self._normal = rng.standard_normal(shape)

    def counts(self, counting: Counting, true: float) -> FloatArray:
        """Counts of the group by prompt and replicate, shape (prompts, replicates)."""
        weight = counting.tilted(true)
        if counting.fair is None:
            # 0 or 1 a person, the prompts' shares beta distributed.
            rng, icc = np.random.default_rng(self._state), self._design.icc
            share = float(weight @ counting.value)
            shares = np.full(self._own.shape, share)
            if 0 < icc < 1 and 0 < share < 1:
                total = 1.0 / icc - 1.0
                shares = rng.beta(share * total, (1.0 - share) * total, shares.shape)
            return rng.binomial(self._design.texts, shares).astype(np.float64)
        order = np.cumsum(weight)
        if self._design.texts <= _DRAWN_TEXTS:
            # Most cells lie within one value, which is looked up; in the others it is searched.
            edges = np.searchsorted(order[:-1], np.linspace(0.0, order[-1], _CELLS + 1))
            found = counting.value[edges[:-1]][self._cell]
            several = (edges[:-1] != edges[1:])[self._cell]
            exact = np.searchsorted(order[:-1], self._each[several] * order[-1])
            found[several] = counting.value[exact]
            return np.asarray(found.sum(1), dtype=np.float64)
        own = counting.value[np.searchsorted(order[:-1], self._own * order[-1])]
        fresh = self._summed(weight / order[-1], counting.value)
        return np.asarray(self._copies * own + fresh, dtype=np.float64)

    def _summed(self, weight: FloatArray, value: FloatArray) -> FloatArray:
        """Sums of names that do not repeat: of their mean, variance and skew (Wilson-Hilferty)."""
        mean = float(weight @ value)
        sd = float(np.sqrt(weight @ (value - mean) ** 2))
        skew = float(weight @ (value - mean) ** 3) / max(sd, 1e-12) ** 3
        n = np.maximum(self._design.texts - self._copies, 1e-9)
        s = np.maximum(np.abs(skew) / np.sqrt(n), 1e-6)
        turned = 1.0 if skew >= 0 else -1.0
        cube = np.maximum(1.0 + s * turned * self._normal / 6.0 - s**2 / 36.0, 0.0) ** 3
        drawn = n * mean + sd * np.sqrt(n) * turned * 2.0 / s * (cube - 1.0)
        return np.asarray(np.clip(drawn, 0.0, n), dtype=np.float64)
