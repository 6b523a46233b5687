"""Ratios of two shares of the same prompts: two roles, two models, two versions.

What a prompt says of a ratio r is its *score*: with a of n characters in the one role, b of m in
the other, and pi = r n / (r n + m),

    u = a (1 - pi) - b pi,    information t pi (1 - pi),  t = a + b,

which is 0 on average where the ratio is r, whatever share the prompt gives the group. Where roles
mean nothing a prompt could as well have changed them, so its score is as likely to be -u as u. A
t test of such numbers holds its level whatever their variances (Ibragimov & Mueller 2010); scores
are therefore weighted by what each prompt can say, 1 / (phi + tau² I), where tau² is how much log
ratios of prompts differ beyond chance. One degree of freedom is given up for it. The interval is
the ratios that the test does not refuse, and p is never below 2^-n, the chance that n coins fall
alike, which is all that n prompts can say without a model.

Two populations can be asked about. *Prompts like these*: prompts are a sample, and differ. *These
prompts*: they are fixed, and chance is in the texts alone.

Sources: Ibragimov and Mueller (2010), t-statistic based correlation and heterogeneity robust
inference, JBES 28; Paule and Mandel (1982), Consensus values and weighting factors, for tau²;
Peto and Mantel-Haenszel for the scores; Hemerik, Goeman and Finos (2020) for their signs.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from portrayal.stats._arguments import check_level, divide, divide_or_zero
from portrayal.stats.tails import normal_isf, normal_sf, t_isf, t_sf
from portrayal.types import BoolArray, FloatArray, IntArray

FEWEST_PEOPLE = 1e-9
"""Characters of the group in a prompt from which the prompt says anything."""

JOINT_DRAWS = 9_999
"""Joint changes of sides that are drawn."""

_WIDEST = 25.0  # log ratio beyond which a bound is 0 or infinite
_HALVINGS = 40
_FITS = 200
_ALIKE = 1e-12  # part of the sum of squares below which scores do not vary
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
    """

    upper: FloatArray
    n_upper: FloatArray
    lower: FloatArray
    n_lower: FloatArray
    squares: FloatArray | None = None
    covariance: FloatArray | None = None

    def __post_init__(self) -> None:
        """Refuse arrays that do not fit together."""
        cells = (self.upper, self.n_upper, self.lower, self.n_lower)
        shapes = {cell.shape for cell in cells}
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


@dataclass(frozen=True)
class Contrasts:
    """What two sides say about each group's ratio; all of shape (k,).

    Attributes
    ----------
    ratio
        Pooled: inf where the group is never on the lower side, NaN where it is on neither, or a
        side has nobody to count.
    low, high
        Bounds of the ratio in prompts like these; `high` may be inf and `low` 0. NaN where so few
        prompts say anything that no test reaches the level.
    p
        Two-sided p of ratio 1 in prompts like these; NaN as above.
    null_low, null_high
        Ratios that t would not refuse as 1. A ratio with p < 1 - level lies outside. NaN with fewer
        than three prompts.
    fixed_low, fixed_high, fixed_p
        Bounds and p of the ratio in these prompts.
    n_prompts
        Prompts that say anything: the group occurs, and not everybody is of it, and both sides
        have somebody to count.
    scores, within
        What each prompt says against ratio 1, weighted, (n_prompts, k), and the variance of their
        sum that texts alone give: where sides mean nothing, signs of scores are coins.
    """

    ratio: FloatArray
    low: FloatArray
    high: FloatArray
    p: FloatArray
    null_low: FloatArray
    null_high: FloatArray
    fixed_low: FloatArray
    fixed_high: FloatArray
    fixed_p: FloatArray
    n_prompts: IntArray
    scores: FloatArray
    within: FloatArray


def fewest_contrasts(level: float) -> int:
    """Return from how many prompts on a ratio can be told from 1: 2^-n < 1 - level.

    >>> fewest_contrasts(0.95)
    5
    """
    check_level(level)
    return int(np.floor(-np.log2(1.0 - level) + 1e-9)) + 1


def too_few_contrasts(n_prompts: int, level: float) -> str | None:
    """Return why a group that this many prompts tell of has no test; None where it has one.

    >>> too_few_contrasts(4, 0.95)
    'the group can be compared in 4 prompts, and it takes 5 to reach p < 0.05'
    """
    needed = fewest_contrasts(level)
    if n_prompts >= needed:
        return None
    prompts = "1 prompt" if n_prompts == 1 else f"{n_prompts} prompts"
    alpha = f"{1.0 - level:.3g}"
    return f"the group can be compared in {prompts}, and it takes {needed} to reach p < {alpha}"


def infer_contrasts(sides: TwoSides, level: float = 0.95, *, bounds: bool = True) -> Contrasts:
    """Test and bound the ratio of two shares of many groups.

    Parameters
    ----------
    sides
        Counts of k groups by prompt.
    level
        Of intervals and null ranges, a fraction.
    bounds
        Without them they are NaN, which is ten times as fast; p is then that of t alone, and not
        raised where t is not monotone in the ratio, so that an interval would hold 1.

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
    >>> found = infer_contrasts(TwoSides(9 * ones, 20 * ones, 0 * ones, 20 * ones))
    >>> round(float(found.p[0]), 6), round(float(found.low[0]), 1), float(found.high[0])
    (0.000977, 21.3, inf)
    """
    check_level(level)
    tail, ratio = (1.0 - level) / 2.0, sides.ratio
    scores = _scores(sides)
    n_prompts = scores.informative.sum(0)
    weighted = replace(scores, tau=_between(scores))
    one = np.zeros_like(ratio)
    critical = t_isf(np.full(ratio.shape, tail), weighted.df)
    t = weighted.t(one, fixed=False)
    if bounds:
        low, high = (weighted.solve(sign * critical, fixed=False) for sign in (1.0, -1.0))
    else:  # on which side of 1 they lie
        low, high = np.where(t > critical, np.inf, 0.0), np.where(t < -critical, 0.0, np.inf)
    # Where prompts weigh so unlike their texts that the pooled ratio is no ratio they allow, the
    # interval reaches it.
    low, high = np.fmin(low, ratio), np.fmax(high, ratio)
    none = np.isnan(ratio) | (n_prompts < fewest_contrasts(level))
    low, high = (np.where(none, np.nan, x) for x in (low, high))
    p = _p(weighted, one, (low, high), level)
    if not bounds:
        no = np.full(ratio.shape, np.nan)
        return Contrasts(ratio, no, no, p, no, no, no, no, no, n_prompts, *weighted.scores(one))
    null_low, null_high = _null_range(ratio, t, critical, weighted)
    z = scores.t(one, fixed=True)
    quantile = np.full(ratio.shape, float(normal_isf(tail)))
    fixed_low, fixed_high = (scores.solve(sign * quantile, fixed=True) for sign in (1.0, -1.0))
    nobody = np.isnan(ratio) | (n_prompts == 0)
    fixed = (fixed_low, fixed_high, 2.0 * normal_sf(np.abs(z)))
    unknown = np.isnan(ratio) | (n_prompts < 3)  # of three prompts on, t has a degree of freedom
    null_low, null_high = (np.where(unknown, np.nan, x) for x in (null_low, null_high))
    fixed_low, fixed_high, fixed_p = (np.where(nobody, np.nan, x) for x in fixed)
    others = ratio, low, high, p, null_low, null_high
    here = fixed_low, fixed_high, fixed_p
    return Contrasts(*others, *here, n_prompts, *weighted.scores(one))


def contrast_p(
    sides: TwoSides, found: Contrasts, null: FloatArray, level: float = 0.95, *, fixed: bool = False
) -> FloatArray:
    """Return p of other ratios than 1, `null` of shape (k,), above 0 or NaN for no test.

    `found` is what `infer_contrasts` returned for the same sides and level; p agrees with its
    interval, and is NaN where there is none. With `fixed` it is that of these very prompts.

    >>> n, a, b = np.full((8, 1), 20.0), np.full((8, 1), 6.0), np.full((8, 1), 3.0)
    >>> sides = TwoSides(a, n, b, n)
    >>> p = contrast_p(sides, infer_contrasts(sides), np.array([2.0]))
    >>> round(float(p[0]), 6)
    1.0
    """
    scores = _scores(sides)
    if fixed:
        z = scores.t(np.log(null), fixed=True)
        return np.where(np.isnan(found.fixed_low), np.nan, 2.0 * normal_sf(np.abs(z)))
    weighted = replace(scores, tau=_between(scores))
    return _p(weighted, np.log(null), (found.low, found.high), level)


def _p(
    weighted: "_Weighted",
    log_ratio: FloatArray,
    bounds: tuple[FloatArray, FloatArray],
    level: float,
) -> FloatArray:
    """Two-sided p of ratios; of those that the interval holds nothing is refused."""
    t = weighted.t(log_ratio, fixed=False)
    p = np.maximum(2.0 * t_sf(np.abs(t), weighted.df), 0.5**weighted.n_prompts)
    null, (low, high) = np.exp(log_ratio), bounds
    p = np.where((low <= null) & (high >= null), np.maximum(p, 1.0 - level), p)
    return np.where(np.isnan(low) | np.isnan(null), np.nan, p)


@dataclass(frozen=True)
class _Weighted:
    """Counts with what the scores of a ratio need besides, and the weights of prompts."""

    sides: TwoSides
    informative: BoolArray
    phi: FloatArray
    information: FloatArray  # of ratio 1
    tau: FloatArray | None = None

    @property
    def df(self) -> FloatArray:
        """Degrees of freedom of t: one is given up for the mean, one for the weights."""
        return np.asarray(np.maximum(self.n_prompts - 2.0, 1e-3))

    def t(self, log_ratio: FloatArray, *, fixed: bool) -> FloatArray:
        """The studentised sum of scores under each group's ratio, shape (k,)."""
        x, within = self.scores(log_ratio)
        if fixed:
            return divide_or_zero(x.sum(0), np.sqrt(within))
        return studentised(x.sum(0), (x * x).sum(0), within, self.n_prompts)

    @cached_property
    def n_prompts(self) -> FloatArray:
        """Prompts that tell of each group, shape (k,)."""
        return np.asarray(self.informative.sum(0), dtype=np.float64)

    @cached_property
    def _fixed(self) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """What no ratio changes: weighted counts, above and of both sides; variance; odds below."""
        s = self.sides
        weight = self.informative.astype(np.float64)
        if self.tau is not None:
            weight = divide_or_zero(weight, self.phi + self.tau * self.information)
        both = weight * (s.upper + s.lower)
        below = np.full(both.shape, np.inf)
        np.divide(s.n_lower, s.n_upper, out=below, where=s.n_upper != 0)
        return weight * s.upper, both, weight * both * self.phi, below

    def scores(self, log_ratio: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Weighted scores of prompts, (n_prompts, k), and their sum's variance by texts, (k,)."""
        upper, both, variance, below = self._fixed
        pi: FloatArray = 1.0 / (1.0 + below * np.exp(-log_ratio))
        return upper - both * pi, (variance * (pi * (1.0 - pi))).sum(0)

    def solve(self, goal: FloatArray, *, fixed: bool) -> FloatArray:
        """The ratio under which t falls to `goal`; 0 or inf where it is always below or above."""
        left, right = np.full(goal.shape, -_WIDEST), np.full(goal.shape, _WIDEST)
        never = self.t(left, fixed=fixed) <= goal
        always = self.t(right, fixed=fixed) > goal
        for _ in range(_HALVINGS):
            middle = (left + right) / 2.0
            above = self.t(middle, fixed=fixed) > goal
            left, right = np.where(above, middle, left), np.where(above, right, middle)
        found = np.exp((left + right) / 2.0)
        return np.where(never, 0.0, np.where(always, np.inf, found))


def studentised(
    total: FloatArray, squares: FloatArray, within: FloatArray, n: FloatArray
) -> FloatArray:
    """Return t of sums of n scores from their sums of squares, arrays that broadcast.

    Prompts vary at least as much as their texts do (`within`), also where few look alike by chance.
    """
    between = divide_or_zero(n, n - 1.0) * (squares - divide_or_zero(total**2, n))
    variance = np.maximum(between, within)
    alike = (variance <= _ALIKE * squares) & (total != 0.0) & (n > 1.0)
    t = divide_or_zero(total, np.sqrt(np.where(alike, 0.0, variance)))
    return np.where(alike, np.copysign(np.inf, total), t)


def sizes_of(
    total: FloatArray, squares: FloatArray, within: FloatArray, n: FloatArray
) -> FloatArray:
    """Return how far sums of n scores lie from 0, as a normal variate whatever n is.

    Scores that are all alike, of which t is infinite, say what n changes of sides can: p = 2 / 2^n.
    Arguments as for `studentised`. Source: Wallace (1959), Bounds on normal approximations to
    Student's distribution.
    """
    df = np.maximum(n - 2.0, 1e-3)
    t = studentised(total, squares, within, n)
    scaled = np.sqrt(df * np.log1p(t**2 / df)) * (1.0 - 3.0 / (4.0 * np.maximum(df, 1.0)))
    return np.asarray(np.where(np.isinf(t), normal_isf(0.5 ** np.maximum(n, 1.0)), scaled))


def joint_p(
    scores: FloatArray, within: FloatArray, n_prompts: FloatArray, rng: np.random.Generator
) -> FloatArray:
    """Adjust tests of many ratios for each other: step-down max-T over joint changes of sides.

    Whole prompts change sides by fair coins, in all ratios that they count for. So ratios that say
    the same, such as of women and of men, are counted as one, and a ratio of which no change of
    sides could say much costs the others nothing.

    Parameters
    ----------
    scores, within, n_prompts
        From `infer_contrasts`, for k ratios; scores are 0 in prompts that a ratio does not count.
    rng
        For the coins.

    Returns
    -------
    p
        Of each ratio that none of those as far from 1 differs from 1, shape (k,); family-wise.

    References
    ----------
    Westfall & Young (1993), Resampling-based multiple testing, algorithm 2.8.

    Examples
    --------
    >>> x = np.array([[1.0, 0.1], [1.2, -0.2], [0.9, 0.1], [1.1, 0.2], [1.0, -0.1], [0.8, 0.1]])
    >>> p = joint_p(x, np.full(2, 0.1), np.full(2, 6.0), np.random.default_rng(0))
    >>> [round(float(each), 1) for each in p]
    [0.0, 0.8]
    """
    squares = (scores**2).sum(0)
    observed = sizes_of(scores.sum(0), squares, within, n_prompts)
    order = np.argsort(-observed, kind="stable")
    hits, rows = np.zeros(len(order)), 0
    while rows < JOINT_DRAWS:
        coins = rng.integers(0, 2, (min(1_000, JOINT_DRAWS - rows), len(scores))) * 2.0 - 1.0
        drawn = sizes_of(coins @ scores, squares, within, n_prompts)[:, order]
        # Of each ratio, the largest of those that are no further from 1 than it.
        most = np.maximum.accumulate(drawn[:, ::-1], axis=1)[:, ::-1]
        hits += (most >= observed[order] - 1e-9).sum(0)
        rows += len(coins)
    p = np.empty(len(order))
    p[order] = np.maximum.accumulate((1.0 + hits) / (1.0 + rows))
    return p


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
            wanted, has = (x.sum(axis=axis, keepdims=True) for x in (counts, fitted))
            fitted = fitted * divide_or_zero(wanted, has)
        if np.allclose(fitted, before, rtol=1e-9, atol=0.0):
            break
    return fitted


def _scores(sides: TwoSides) -> _Weighted:
    """Dispersion and information of each prompt where the ratio is 1.

    phi is the variance of the score, were the prompt's characters dealt to its two sides, over that
    of whole characters that are rare: below 1 where the group is common or counts in small parts.
    How small the parts are is taken from all prompts together, as single ones hold few characters;
    so is how much oftener than by chance the two of one text are both of the group.
    """
    both, n = sides.upper + sides.lower, sides.n_upper + sides.n_lower
    squares = both if sides.squares is None else sides.squares
    share, correction = divide_or_zero(both, n), divide_or_zero(n, n - 1.0)
    of_whole = correction * both * (1.0 - share)
    parts = correction * np.maximum(squares - both * share, 0.0)
    dealt = parts.sum(0)
    if sides.covariance is not None:
        dealt = np.maximum(dealt - 2.0 * sides.covariance.sum(0), _LEAST * dealt)
    phi = divide_or_zero(dealt, of_whole.sum(0)) * correction * (1.0 - share)
    information = both * divide_or_zero(sides.n_upper * sides.n_lower, n**2)
    informative = (both > FEWEST_PEOPLE) & (information > 0) & (phi > FEWEST_PEOPLE)
    return _Weighted(sides, informative, phi, information)


def _between(scores: _Weighted) -> FloatArray:
    """Variance of prompts' log ratios about 0 beyond that of their texts (Paule & Mandel), (k,).

    It is taken about 0, not about the mean: then it does not change where prompts change sides.
    """
    s, some = scores.sides, scores.informative
    share = divide_or_zero(s.n_upper, s.n_upper + s.n_lower)
    score = s.upper * (1.0 - share) - s.lower * share
    d2 = np.where(some, divide_or_zero(score, scores.information) ** 2, 0.0)
    v = np.where(some, divide_or_zero(scores.phi, scores.information), 1.0)
    n = some.sum(0)

    def excess(tau: FloatArray) -> FloatArray:
        return np.asarray(np.where(some, d2 / (v + tau), 0.0).sum(0) - n)

    low, high = np.zeros(n.shape), np.maximum(d2.sum(0), 1e-9)
    flat = excess(low) <= 0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        above = excess(middle) > 0
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return np.where(flat, 0.0, (low + high) / 2.0)


def _null_range(
    ratio: FloatArray, t: FloatArray, critical: FloatArray, scores: _Weighted
) -> tuple[FloatArray, FloatArray]:
    """Ratios that would not be refused as 1: the log of the ratio as it is, per unit of t.

    Where the ratio is 0 or infinite, or points another way than the weighted scores, the slope is
    that of t at 1.
    """
    step = 1e-3
    one = np.zeros_like(ratio)
    slope = (scores.t(one - step, fixed=False) - scores.t(one + step, fixed=False)) / (2.0 * step)
    with np.errstate(divide="ignore", invalid="ignore"):
        own = np.log(ratio) / t
    per_unit = np.where(np.isfinite(own) & (own > 0), own, divide(1.0, slope))
    half = np.minimum(critical * np.abs(per_unit), _WIDEST)
    return np.exp(-half), np.exp(half)
