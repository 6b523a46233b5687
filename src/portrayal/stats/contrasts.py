"""Ratios of two shares of the same prompts: two roles, two models, two versions.

The ratio that is printed is the pooled one, R = (A / N) / (B / M): of N people on the upper side A
are of the group, of M on the lower side B. All that is inferred is of this number, in prompts that
may differ in their effects as they like. Under a ratio r the group's pooled share on the lower side
is p = (A + B) / (r N + M), and a prompt with a of n and b of m people has the *score*

    u = (a - r p n) / N - r (b - p m) / M,        the sum of which is 0 at r = R.

The test statistic is the sum over its standard error. Its variance is robust to whatever prompts
have in common: that of u between prompts, with the small-sample factor 1 / (1 - leverage) (CR2:
Bell & McCaffrey 2002), and never below what people would vary if prompts were all alike, so that a
few equal counts are not taken for certainty. It is taken both at r and at the estimate (there of
the log ratio's influence), and T is a weighted geometric mean of both statistics: the first alone
has little power where the effect is large, the second rejects too often where counts are few. T is
compared with Student's t, with Satterthwaite's degrees of freedom under a working correlation. The
interval is all r that the test does not reject, so that p, interval and value are of one number at
any number of prompts.

Two populations can be asked about. *Prompts like these*: prompts are a sample, as above. *These
prompts*: they are fixed, and chance is in the people within each; the variance is that within
prompts, again at r (each prompt's pooled share imposed) and at the estimate.

Sources: Boos (1992), On generalized score tests, American Statistician 46; Bell and McCaffrey
(2002), Bias reduction in standard errors for linear regression with multi-stage samples, Survey
Methodology 28; Katz et al. (1978) for the log ratio; Westfall and Young (1993) for `joint_p`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from portrayal.stats._arguments import (
    WIDEST,
    check_level,
    divide,
    divide_or_zero,
    nearest_rejected,
)
from portrayal.stats.design_effect import Bounded
from portrayal.stats.tails import normal_isf, normal_sf, t_isf, t_sf
from portrayal.types import FloatArray, IntArray

FEWEST_PROMPTS = 5
"""Prompts in which a group occurs from which something is inferred about prompts like them."""

WORKING_ICC = 0.1
"""Correlation of people of one prompt that the degrees of freedom take for granted."""

AT_ESTIMATE = 0.4
"""Weight of the statistic with the variance at the estimate in the geometric mean of both; .5 has
up to 6 points more power where prompts favour a group alike, and rejects in .07 where they do not
(14 prompts, ICC .2)."""

JOINT_DRAWS = 9_999
"""Draws of all scores together."""

SIGNS_FROM = 16
"""Prompts of a ratio from which joint draws change the signs of its scores; of fewer, signs cannot
say much."""

_FITS = 200
_SMALLEST = 1e-12
_LEAST = 0.05  # part of the variance of independent people below which it is not estimated


@dataclass(frozen=True)
class TwoSides:
    """Counts of groups by prompt on two sides, each of shape (n_prompts, k).

    Attributes
    ----------
    upper, n_upper
        Characters of the group, and all that could be counted, in the one role (or model). Counts
        are 0 or more and may be fractions.
    lower, n_lower
        The same in the other.
    squares
        Sums of squared contributions of both sides; the counts themselves for whole characters.
    covariance
        Sums over texts with a character on each side of the product of what both contribute, each
        less the prompt's share; 0 where sides are different texts, below 0 where a text with one of
        the group on one side seldom has another on the other.
    weight
        What a person of each prompt counts in all of these; 1 by default (see `weighted`).
    """

    upper: FloatArray
    n_upper: FloatArray
    lower: FloatArray
    n_lower: FloatArray
    squares: FloatArray | None = None
    covariance: FloatArray | None = None
    weight: FloatArray | None = None

    def __post_init__(self) -> None:
        """Refuse arrays that do not fit together."""
        cells = (self.upper, self.n_upper, self.lower, self.n_lower)
        shapes = sorted({cell.shape for cell in cells})
        if len(shapes) != 1 or self.upper.ndim != 2:
            raise ValueError(f"the four sums must share one shape (n_prompts, k); got {shapes}.")
        if any(bool(np.any(~(cell >= 0))) for cell in cells):
            raise ValueError("counts and totals must be numbers of 0 or more.")

    @property
    def ratio(self) -> FloatArray:
        """Share on the upper side over that on the lower, shape (k,); inf where that is 0."""
        a, n, b, m = (x.sum(0) for x in (self.upper, self.n_upper, self.lower, self.n_lower))
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray((a / n) / (b / m), dtype=np.float64)

    @property
    def loss(self) -> FloatArray:
        """Variance of the pooled value over that of the weighted one, shape (k,): 1 and up.

        As far as sizes of prompts decide over it: people are taken as correlated by `WORKING_ICC`.
        """
        people = self.n_upper + self.n_lower
        per_person = 1.0 / np.maximum(people, 1.0) * (1.0 + (people - 1.0) * WORKING_ICC)
        pooled = divide((people**2 * per_person).sum(0), people.sum(0) ** 2)
        weighted = np.where(people > 0, 1.0 / np.maximum(per_person, WORKING_ICC), 0.0).sum(0)
        return np.where(people.any(0), pooled * weighted, 1.0)

    def weighted(self) -> "TwoSides":
        """The same sums, in which a person counts less the more people their prompt has.

        A person of a prompt of n on its larger side counts 1 / (1 + (n - 1) ICC), with
        `WORKING_ICC`: weights that depend on numbers of people alone, not on what is in the texts.
        They are scaled so that totals are effective numbers (Kish 1965): independent people with
        these weights vary as much as so many that count alike.
        """
        weight = 1.0 / (
            1.0 + (np.maximum(self.n_upper, self.n_lower) - 1.0).clip(0.0) * WORKING_ICC
        )
        people = self.n_upper + self.n_lower
        weight *= divide((weight * people).sum(0), (weight**2 * people).sum(0))
        squares = self.upper + self.lower if self.squares is None else self.squares
        covariance = None if self.covariance is None else self.covariance * weight**2
        return TwoSides(
            *(self.upper * weight, self.n_upper * weight),
            *(self.lower * weight, self.n_lower * weight),
            squares * weight**2,
            covariance,
            weight,
        )


class RatioScore:
    """Score test of the pooled ratio of k groups, for any null; see the module for its formulas.

    Attributes
    ----------
    sides
        The sums.
    ratio
        The pooled ratios, shape (k,).
    df
        Satterthwaite's degrees of freedom, shape (k,); NaN with fewer than two prompts.
    n_prompts
        Prompts in which the group occurs while not everybody is of it and both sides have people.
    """

    def __init__(self, sides: TwoSides) -> None:
        a, n, b, m = sides.upper, sides.n_upper, sides.lower, sides.n_lower
        self.sides, self.ratio = sides, sides.ratio
        self._a, self._n, self._b, self._m = (cell.sum(0) for cell in (a, n, b, m))
        self._upper_share, self._lower_share = divide(self._a, self._n), divide(self._b, self._m)
        squares = a + b if sides.squares is None else sides.squares
        # Mean contribution of a person who counts: 1 for whole people, less for shares of names.
        self._unit = divide(squares.sum(0), self._a + self._b)
        covariance = 0.0 if sides.covariance is None else sides.covariance.sum(0)
        self._covariance = covariance / np.maximum(self._n * self._m, 1e-300)
        people = n + m
        informative = (a + b > 1e-9) & (a + b < people - 1e-9) & (n > 0) & (m > 0)
        self.n_prompts: IntArray = informative.sum(0)
        with_people = people > 0
        prompts = with_people.sum(0)
        upper_part, lower_part = divide_or_zero(n, self._n), divide_or_zero(m, self._m)
        # A prompt that holds nearly everybody would divide by 0 in CR2's factor.
        leverage = np.minimum((upper_part + lower_part) / 2.0, 1.0 - 1e-9)
        # Scores at any ratio are combinations of three sums by prompt, so their variance follows
        # from the products of these, with CR2's factor.
        parts = np.stack(
            [divide_or_zero(a, self._n), divide_or_zero(b, self._m), upper_part - lower_part]
        )
        centred = np.where(
            with_people, parts - parts.sum(1, keepdims=True) / np.maximum(prompts, 1), 0.0
        )
        self._parts = parts
        self._products = np.einsum("ick,jck,ck->ijk", centred, centred, 1.0 / (1.0 - leverage))
        # Satterthwaite: variances of the prompts' scores, were people correlated by WORKING_ICC.
        spread = leverage**2 * (1.0 / np.maximum(people, 1.0) + WORKING_ICC) * with_people
        unevenness = divide(spread**2, spread.sum(0) ** 2).sum(0)
        with np.errstate(divide="ignore", invalid="ignore"):
            df = (1 - 1 / prompts) ** 2 / ((1 - 2 / prompts) * unevenness + 1 / prompts**2)
        self.df: FloatArray = np.where(prompts > 1, df, np.nan)

    def t(self, ratio: FloatArray, *, these_prompts: bool = False) -> FloatArray:
        """Return the statistic of ratios above 0, shape (..., k); positive where they are too low.

        Of these prompts it is to be compared with a normal variate, else with t of `df`.
        """
        share = divide(self._a + self._b, ratio * self._n + self._m)
        distance = self._upper_share - ratio * self._lower_share
        if these_prompts:
            at_null = self._variance_within_at(ratio)
            at_estimate = self._variance_within
        else:
            people = self._people(ratio * share, share, ratio)
            at_null = np.maximum(self._robust(1.0, -ratio, -ratio * share), people)
            at_estimate = self._variance_at_estimate
        with np.errstate(divide="ignore", invalid="ignore"):
            t_null = distance / np.sqrt(at_null)
            t_estimate = (np.log(self.ratio) - np.log(ratio)) / np.sqrt(at_estimate)
            mean = np.abs(t_null) ** (1.0 - AT_ESTIMATE) * np.abs(t_estimate) ** AT_ESTIMATE
        # Where a side has nobody of the group there is no log ratio, and the null's alone stands.
        return np.where(np.isfinite(t_estimate), np.sign(t_null) * mean, t_null)

    def p(self, ratio: FloatArray, *, these_prompts: bool = False) -> FloatArray:
        """Return two-sided p of ratios, shape (k,); NaN for ratios that are not above 0."""
        t = np.abs(self.t(np.where(ratio > 0, ratio, np.nan), these_prompts=these_prompts))
        p = 2.0 * (normal_sf(t) if these_prompts else t_sf(t, self.df))
        return np.where(self._has_test(these_prompts), p, np.nan)

    def interval(
        self, level: float, *, these_prompts: bool = False
    ) -> tuple[FloatArray, FloatArray]:
        """Return the nearest ratio rejected on either side, shape (k,); 0 and inf if none is.

        NaN where nothing is inferred.
        """
        critical = self._critical(level, these_prompts)

        def excess(log_ratio: FloatArray) -> FloatArray:
            t = [self.t(np.exp(x), these_prompts=these_prompts) for x in log_ratio]
            return np.asarray(np.abs(t) - critical)

        bounds = np.stack(nearest_rejected(excess, self.ratio))
        low, high = np.where(self._has_test(these_prompts), bounds, np.nan)
        return low, high

    def null_range(self, level: float) -> tuple[FloatArray, FloatArray]:
        """Return the ratios that would not be rejected as 1, shape (k,).

        They are as many log units wide as the distance of the pooled ratio from 1 has per unit of
        t, so that a ratio lies outside exactly where p < 1 - level. Of a ratio that is 0 or
        infinite, or exactly 1, the unit is the standard error under ratio 1.
        """
        one = np.ones_like(self.ratio)
        share = divide(self._a + self._b, self._n + self._m)
        variance = np.maximum(self._robust(1.0, -1.0, -share), self._people(share, share, one))
        error = divide(np.sqrt(variance), share)
        with np.errstate(divide="ignore", invalid="ignore"):
            unit = np.abs(np.log(self.ratio) / self.t(one))
        unit = np.where(np.isfinite(unit) & (unit > 0), unit, error)
        half = np.minimum(self._critical(level, these_prompts=False) * unit, WIDEST)
        return np.exp(-half), np.exp(half)

    def scores(self) -> tuple[FloatArray, FloatArray]:
        """Return scores of ratio 1, (n_prompts, k), and their least variance, (k,)."""
        share = divide(self._a + self._b, self._n + self._m)
        scores = self._parts[0] - self._parts[1] - share * self._parts[2]
        people = self._people(share, share, np.ones_like(share))
        return np.nan_to_num(scores), np.nan_to_num(people)

    def _critical(self, level: float, these_prompts: bool) -> FloatArray:
        tail = np.full(self.ratio.shape, (1.0 - level) / 2.0)
        return np.asarray(normal_isf(tail) if these_prompts else t_isf(tail, self.df))

    def _has_test(self, these_prompts: bool) -> Any:
        fewest = 1 if these_prompts else FEWEST_PROMPTS
        return ~np.isnan(self.ratio) & (self.n_prompts >= fewest)

    def _robust(self, *weights: Any) -> FloatArray:
        """Variance between prompts of a weighted sum of the three parts, (..., k)."""
        total: Any = 0.0
        for i, first in enumerate(weights):
            for j, second in enumerate(weights):
                total = total + first * second * self._products[i, j]
        return np.asarray(total)

    def _per_person(self, share: FloatArray) -> FloatArray:
        """Variance of what one person adds, where the group has this share."""
        share = np.clip(share, 0.0, 1.0)
        return share * np.maximum(self._unit - share, _LEAST * self._unit * (1.0 - share))

    def _of_difference(self, upper: FloatArray, lower: FloatArray, both: FloatArray) -> FloatArray:
        """Variance of a difference from those of its parts, less twice `both` times the covariance.

        Where the two of a text go together more than can be estimated, a small part is left.
        """
        total = upper + lower
        return np.asarray(np.maximum(total - 2.0 * both * self._covariance, _LEAST * total))

    def _people(
        self, upper_share: FloatArray, lower_share: FloatArray, ratio: FloatArray
    ) -> FloatArray:
        """Variance of the sum of scores, were prompts all alike and people independent."""
        upper = divide(self._per_person(upper_share), self._n)
        lower = ratio**2 * divide(self._per_person(lower_share), self._m)
        return self._of_difference(upper, lower, ratio)

    @cached_property
    def _variance_at_estimate(self) -> FloatArray:
        """Variance of the log ratio between prompts, at least that of independent people, (k,)."""
        upper, lower = _positive(self._upper_share), _positive(self._lower_share)
        people = self._of_difference(
            self._per_person(upper) / (upper**2 * self._n),
            self._per_person(lower) / (lower**2 * self._m),
            1.0 / (upper * lower),
        )
        return np.maximum(self._robust(1.0 / upper, -1.0 / lower, -1.0), people)

    def _variance_within_at(self, ratio: FloatArray) -> FloatArray:
        """Variance of the sum of scores within prompts, each of which has this ratio, (..., k)."""
        s, of_prompt = self.sides, ratio[..., np.newaxis, :]
        weight = 1.0 if s.weight is None else s.weight
        share = divide_or_zero(s.upper + s.lower, of_prompt * s.n_upper + s.n_lower)
        people = (s.n_upper + s.n_lower) / weight
        # Shares of prompts are estimates too. A person's variance goes by the weight squared, and
        # one weight is in the sums.
        sample = weight * people / np.maximum(people - 1.0, 1.0)
        upper = (sample * s.n_upper * self._per_person(of_prompt * share)).sum(-2)
        lower = (sample * s.n_lower * self._per_person(share)).sum(-2)
        return self._of_difference(
            divide(upper, self._n**2), ratio**2 * divide(lower, self._m**2), ratio
        )

    @cached_property
    def _variance_within(self) -> FloatArray:
        """Variance of the log ratio within prompts as they are, (k,)."""
        sides = (self.sides.upper, self.sides.n_upper), (self.sides.lower, self.sides.n_lower)
        weight = np.ones_like(sides[0][0]) if self.sides.weight is None else self.sides.weight
        upper, lower = (
            (
                self._per_person(divide_or_zero(count, people))
                * (weight * people * _unbiased(people / weight))
            ).sum(0)
            for count, people in sides
        )
        shares = _positive(self._upper_share) * _positive(self._lower_share)
        own = self._of_difference(
            upper / _positive(self._a) ** 2, lower / _positive(self._b) ** 2, 1.0 / shares
        )
        # Of one person in a prompt nothing is known within: at least what both sides tell together
        ratio = np.nan_to_num(self.ratio, nan=1.0, posinf=1.0)
        both = self._variance_within_at(ratio) / _positive(self._upper_share) ** 2
        return np.asarray(np.maximum(own, both))


def _positive(values: FloatArray) -> FloatArray:
    """Return values above 0, and NaN for others: of a count of 0 there is no log ratio."""
    return np.where(values > 0, values, np.nan)


def _unbiased(people: FloatArray) -> FloatArray:
    """Return the factor n / (n - 1) of a sample variance, and 1 for a single person."""
    return np.asarray(np.where(people > 1.0, people / np.maximum(people - 1.0, 1e-9), 1.0))


@dataclass(frozen=True)
class Contrasts(Bounded):
    """What two sides say about each group's ratio; all of shape (k,).

    Attributes
    ----------
    ratio
        Pooled: inf where the group is never on the lower side, NaN where it is on neither, or a
        side has nobody to count.
    low, high
        Bounds of the ratio in prompts like these; `high` may be inf and `low` 0. NaN where the
        group occurs in fewer than `FEWEST_PROMPTS` prompts.
    p
        Two-sided p of ratio 1 in prompts like these; NaN as above.
    null_low, null_high
        Ratios that would not be rejected as 1. A ratio with p < 1 - level lies outside. NaN with
        fewer than three prompts.
    fixed_low, fixed_high, fixed_p
        Bounds and p of the ratio in these prompts.
    n_prompts
        Prompts that say anything: the group occurs, and not everybody is of it, and both sides
        have somebody to count.
    df
        Degrees of freedom of t.
    scores, within
        What each prompt says against ratio 1, (n_prompts, k), and the least variance of their sum.
    test
        The score test, for p of other ratios.
    """

    ratio: FloatArray
    n_prompts: IntArray
    df: FloatArray
    scores: FloatArray
    within: FloatArray
    test: RatioScore


def too_few_prompts(n_prompts: int) -> str | None:
    """Return why a group that occurs in this many prompts has no test; None where it has one.

    >>> too_few_prompts(4)
    'the group can be compared in 4 prompts, and it takes 5 to tell of prompts like them'
    """
    if n_prompts >= FEWEST_PROMPTS:
        return None
    prompts = "1 prompt" if n_prompts == 1 else f"{n_prompts} prompts"
    return (
        f"the group can be compared in {prompts}, and it takes {FEWEST_PROMPTS} to tell of "
        "prompts like them"
    )


def infer_contrasts(sides: TwoSides, level: float = 0.95, *, bounds: bool = True) -> Contrasts:
    """Test and bound the pooled ratio of two shares of many groups.

    Parameters
    ----------
    sides
        Counts of k groups by prompt.
    level
        Of intervals and null ranges, a fraction.
    bounds
        Without them they are NaN, and so is what is known of these prompts, which is ten times as
        fast.

    Returns
    -------
    Contrasts
        p < 1 - level exactly where [low, high] leaves out 1, and where the ratio lies outside
        [null_low, null_high]; so for `fixed_p`.

    Raises
    ------
    ValueError
        If the level is not between 0 and 1.

    Examples
    --------
    >>> ones = np.ones((10, 1))
    >>> result = infer_contrasts(TwoSides(9 * ones, 20 * ones, 0 * ones, 20 * ones))
    >>> round(float(result.p[0]), 6), round(float(result.low[0]), 1), float(result.high[0])
    (2e-06, 18.4, inf)
    """
    check_level(level)
    test = RatioScore(sides)
    one, none = np.ones_like(test.ratio), np.full(test.ratio.shape, np.nan)
    ends: dict[str, FloatArray] = dict.fromkeys(_ENDS, none)
    if bounds:
        null_range = (np.where(test.n_prompts < 3, np.nan, end) for end in test.null_range(level))
        of_prompts = test.interval(level, these_prompts=True)
        ends = dict(zip(_ENDS, (*test.interval(level), *null_range, *of_prompts), strict=True))
    scores, within = test.scores()
    return Contrasts(
        **ends,
        p=test.p(one),
        fixed_p=test.p(one, these_prompts=True) if bounds else none,
        ratio=test.ratio,
        n_prompts=test.n_prompts,
        df=test.df,
        scores=scores,
        within=within,
        test=test,
    )


_ENDS = ("low", "high", "null_low", "null_high", "fixed_low", "fixed_high")


def joint_p(
    scores: FloatArray,
    within: FloatArray,
    n_prompts: FloatArray,
    df: FloatArray,
    p: FloatArray,
    rng: np.random.Generator,
) -> FloatArray:
    """Adjust tests of many ratios for each other: step-down max-T over joint draws.

    Scores of whole prompts change their signs by fair coins, in all ratios that they count for.
    Signs of fewer than `SIGNS_FROM` prompts cannot say much: the statistic of such a ratio is drawn
    as normal, correlated with the others as its scores are, and bounded by what its prompts could
    say if all said the same. Either way ratios that say the same, such as of women and of men, are
    counted as one, and a ratio that few prompts carry costs the others little.

    Parameters
    ----------
    scores
        Of each prompt against no difference, (n_prompts, k); 0 in prompts that a ratio does not
        count.
    within
        Least variance of each sum of scores, (k,).
    n_prompts, df
        Prompts of each ratio, and degrees of freedom of its t, (k,).
    p
        Two-sided p of each ratio by itself, (k,).
    rng
        For the draws.

    Returns
    -------
    p
        Of each ratio that none of those with as small a p differs from 1, shape (k,), at least its
        own p; family-wise.

    References
    ----------
    Westfall & Young (1993), Resampling-based multiple testing, algorithm 2.8; Hemerik, Goeman &
    Finos (2020), Robust testing in generalized linear models by sign flipping score contributions,
    JRSS B 82; Hothorn, Bretz & Westfall (2008), Simultaneous inference in general parametric
    models, Biometrical Journal 50.

    Examples
    --------
    >>> x = np.array([[1.0, 0.1], [1.2, -0.2], [0.9, 0.1], [1.1, 0.2], [1.0, -0.1], [0.8, 0.1]])
    >>> n, p = np.full(2, 6.0), np.array([0.0001, 0.6])
    >>> adjusted = joint_p(x, np.full(2, 0.1), n, n - 1, p, np.random.default_rng(0))
    >>> [round(float(value), 1) for value in adjusted]
    [0.0, 0.6]
    """
    n = np.asarray(n_prompts, dtype=np.float64)
    observed = normal_isf(np.asarray(p) / 2.0)
    many = n >= SIGNS_FROM
    ways = [
        (some, way(scores[:, some], within[some], n[some], df[some]))
        for some, way in ((many, _of_signs), (~many, _of_normals))
        if some.any()
    ]
    # Step down from the furthest: each is compared with those that are no further out.
    order = np.argsort(-observed, kind="stable")
    hits, rows = np.zeros(len(order)), 0
    while rows < JOINT_DRAWS:
        normal = rng.standard_normal((min(1_000, JOINT_DRAWS - rows), len(scores)))
        sizes = np.empty((len(normal), len(order)))
        for some, sizes_of in ways:
            sizes[:, some] = sizes_of(normal, rng)
        sizes = sizes[:, order]
        # Of each ratio, the largest of those that are no further from 1 than it.
        largest = np.maximum.accumulate(sizes[:, ::-1], axis=1)[:, ::-1]
        hits += (largest >= observed[order] - 1e-9).sum(0)
        rows += len(sizes)
    adjusted = np.empty(len(order))
    adjusted[order] = np.maximum.accumulate((1.0 + hits) / (1.0 + rows))
    return np.maximum(adjusted, p)


_Sizes = Callable[[FloatArray, np.random.Generator], FloatArray]
"""Of normal numbers (draws, n_prompts), one a prompt: distances of statistics from 0 as normal
variates, (draws, k)."""


def _of_signs(scores: FloatArray, within: FloatArray, n: FloatArray, df: FloatArray) -> _Sizes:
    """Return the function to sizes of t, of scores with the signs of normal numbers.

    Source: Wallace (1959), Bounds on normal approximations to Student's distribution.
    """
    squares = (scores**2).sum(0)
    least = np.maximum(within, _SMALLEST * squares)  # so that no t is infinite

    def sizes(normal: FloatArray, _: np.random.Generator) -> FloatArray:
        total = np.sign(normal) @ scores
        variance = np.maximum(n / (n - 1.0) * (squares - total**2 / n), least)
        t2 = divide_or_zero(total**2, variance)
        return np.asarray((8.0 * df + 1.0) / (8.0 * df + 3.0) * np.sqrt(df * np.log1p(t2 / df)))

    return sizes


def _of_normals(scores: FloatArray, within: FloatArray, n: FloatArray, df: FloatArray) -> _Sizes:
    """Return the function to sizes of statistics that are as normal as the numbers."""
    # Scores of absent prompts are 0, which counts in the mean.
    deviations = scores - scores.sum(0) / n * (scores != 0.0)
    variance = np.maximum((deviations**2).sum(0), within)
    weights = divide_or_zero(deviations, np.sqrt(variance))
    # Of few prompts correlations are noise, which would make many tests pass for few.
    weights = weights * np.sqrt(1.0 - _shrinkage(weights))
    remainder = np.sqrt(np.clip(1.0 - (weights**2).sum(0), 0.0, 1.0))
    # The largest t of scores in some of n prompts: all the same, and 0 in the others.
    carriers = (scores != 0.0).sum(0)
    bound = np.sqrt(divide(carriers * (n - 1.0), np.maximum(n - carriers, 0.0)))
    furthest = normal_sizes(bound, df)

    def sizes(normal: FloatArray, rng: np.random.Generator) -> FloatArray:
        statistic = normal @ weights
        statistic += remainder * rng.standard_normal(statistic.shape)
        return np.asarray(np.minimum(np.abs(statistic), furthest))

    return sizes


def _shrinkage(weights: FloatArray) -> float:
    """Return how far correlations, of standardised scores (n_prompts, k), are shrunk towards 0.

    Source: Schäfer & Strimmer (2005), A shrinkage approach to large-scale covariance matrix
    estimation, Statistical Applications in Genetics and Molecular Biology 4, equation 10.
    """
    correlation = np.clip(weights.T @ weights, -1.0, 1.0)
    present = (weights != 0.0).astype(np.float64)
    common = present.T @ present  # prompts that two ratios share
    pairs = np.triu(common > 1.0, k=1)
    squares = correlation[pairs] ** 2
    noise = (1.0 - squares) ** 2 / (common[pairs] - 1.0)
    return float(min(noise.sum() / max(squares.sum(), 1e-12), 1.0)) if pairs.any() else 0.0


def normal_sizes(t: FloatArray, df: FloatArray) -> FloatArray:
    """Return how far Student's t lies from 0 as a normal variate, arrays that broadcast.

    >>> round(float(normal_sizes(np.array(12.7), np.array(1.0))), 2)
    1.96
    """
    size = np.abs(t)
    return np.asarray(normal_isf(t_sf(size, np.broadcast_to(df, size.shape))))


def without_interaction(counts: FloatArray) -> FloatArray:
    """Fit three-way tables by their two-way margins: what each pair of factors tells, no more.

    Parameters
    ----------
    counts
        0 or more, shape (a, b, c, k): k tables.

    References
    ----------
    Deming & Stephan (1940), iterative proportional fitting; Birch (1963), Maximum likelihood in
    three-way contingency tables.

    Examples
    --------
    >>> odds = np.array([[[4.0, 1.0], [2.0, 3.0]], [[8.0, 2.0], [2.0, 3.0]]])[..., np.newaxis]
    >>> bool(np.allclose(without_interaction(odds), odds))
    True
    """
    fitted = np.ones_like(counts)
    for _ in range(_FITS):
        before = fitted
        for axis in range(3):
            margin, has = (x.sum(axis=axis, keepdims=True) for x in (counts, fitted))
            fitted = fitted * divide_or_zero(margin, has)
        if np.allclose(fitted, before, rtol=1e-9, atol=0.0):
            break
    return fitted
