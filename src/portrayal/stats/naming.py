"""What fair naming reads, and how much of a difference name counting shows.

*Fair naming* draws first names at random from the bearers of a population (the Census table). A
race's share is then the mean of its shares by name; over p*, that is R0, the representation ratio
that fair naming reads. It is not 1 where the population of the table is not the one of p*.

Counting by name shares also shrinks differences. With v the variance of a race's share between
bearers and p its mean, the *shrink factor* is

    v / (p (1 - p)),

the share of the variance "is of this race" that the first name explains. If people of a race are
named t times as often as the population has them, the mean share reads p (1 + factor (t - 1)).

Everything is about populations of name bearers and says nothing about a person.

Sources: Shieh et al. (2025), Eq. 1-3 and 5 (fractional counting); the shrink is the attenuation of
a regression on a misclassified group, here with known shares (Chen et al. 2019, Fairness under
unawareness, FAT*); Kish (1965), Survey sampling, for the design effect.
"""

from dataclasses import dataclass

import numpy as np

from portrayal.stats._arguments import divide_or_zero
from portrayal.stats.design_effect import Bounded, effective_number, satterthwaite
from portrayal.stats.tails import (
    normal_isf,
    normal_sf,
    pearson3_cdf,
    pearson3_ppf,
    pearson3_sf,
    t_isf,
    t_sf,
)
from portrayal.types import BoolArray, FloatArray

LEAST_SHRINK = 0.1
"""A table measures a group only if a true doubling of its share would read 1.1 or more."""

_WORKING = 0.1  # correlation in prompts, as of means
_LEAST_SKEW = 1e-6  # a skewness below it is that of the normal distribution


@dataclass(frozen=True)
class FairNaming:
    """What drawing names at random from the bearers reads for each race; all of shape (k,).

    Attributes
    ----------
    share, sd, skew
        Mean, standard deviation and skewness over bearers of the race's share among the bearers of
        one's name (shares in 0-1).
    shrink
        sd^2 / (share (1 - share)), in 0-1: what a difference is multiplied by.
    matched
        Share of the bearers whose name the race's table lists; the other columns are about these.
    """

    share: FloatArray
    sd: FloatArray
    skew: FloatArray
    shrink: FloatArray
    matched: FloatArray

    @property
    def measurable(self) -> BoolArray:
        """Which races the tables can measure, shape (k,)."""
        return self.shrink >= LEAST_SHRINK

    def reason(self, i: int) -> str | None:
        """Return why race `i` cannot be measured; None where it can."""
        if self.measurable[i]:
            return None
        if not self.matched[i] > 0:
            return "cannot be measured with this table: none of its names is known"
        reads = 1.0 + float(self.shrink[i])
        return f"cannot be measured with this table: a true ratio of 2 would read {reads:.2f}"


def fair_naming(bearers: FloatArray, likelihood: FloatArray) -> FairNaming:
    """Describe names drawn at random from a population of bearers.

    All races take one population. A race from a second table (MENA, NH/PI) is described by that
    table's shares of those same bearers' names, over the bearers whose name it lists: the same
    denominator as in counting.

    Parameters
    ----------
    bearers
        Bearers of each name in the population, shape (n_names,); 0 or more, any unit.
    likelihood
        Share of each race among the bearers of a name, shape (n_names, k); NaN where the race's
        table does not list the name.

    Raises
    ------
    ValueError
        For shapes that do not fit, or bearers that do not count anybody.

    >>> fair = fair_naming(np.array([3.0, 1.0]), np.array([[0.0], [1.0]]))
    >>> float(fair.share[0]), float(fair.shrink[0])
    (0.25, 1.0)
    """
    if bearers.ndim != 1 or likelihood.shape[:1] != bearers.shape or likelihood.ndim != 2:
        raise ValueError(
            f"bearers (n_names,) and likelihood (n_names, k) do not fit: got {bearers.shape} and "
            f"{likelihood.shape}."
        )
    if bool(np.any(~(bearers >= 0))) or not bearers.sum() > 0:
        raise ValueError("bearers must be counts of 0 or more, and some name must have one.")
    has_share = ~np.isnan(likelihood)
    # Over the names that the race's table lists, as characters are counted over these alone.
    weight = bearers[:, np.newaxis] * has_share
    total = weight.sum(0)
    weight = divide_or_zero(weight, total)
    filled = np.where(has_share, likelihood, 0.0)
    share = (weight * filled).sum(0)
    away = np.where(has_share, filled - share, 0.0)
    variance = (weight * away**2).sum(0)
    sd = np.sqrt(variance)
    skew = divide_or_zero((weight * away**3).sum(0), sd**3)
    shrink = divide_or_zero(variance, share * (1.0 - share))
    empty = total == 0
    share, sd = (np.where(empty, np.nan, x) for x in (share, sd))
    return FairNaming(share, sd, skew, shrink, total / bearers.sum())


def repetition(squares: float, prompts: FloatArray, names: FloatArray) -> float:
    """Return how much oftener two characters of one prompt share their name than those of two.

    Within prompts minus between prompts, over 1 - between, and at least 0: the correlation of the
    names of one prompt.

    Parameters
    ----------
    squares
        Sum of the squared numbers of characters by name and prompt.
    prompts, names
        Characters of each prompt, and of each name.

    Examples
    --------
    >>> counts = np.array([[3.0, 0.0], [0.0, 3.0]])
    >>> float(repetition((counts**2).sum(), counts.sum(0), counts.sum(1)))
    1.0
    """
    within = float((prompts * (prompts - 1.0)).sum())
    total = float(prompts.sum())
    between = total**2 - float((prompts**2).sum())
    if within <= 0 or between <= 0:  # no two characters of one prompt, or of two
        return 0.0
    # Of ordered pairs of two characters: the part that shares a name, in one prompt and between
    # two.
    same_within = (squares - total) / within
    same_between = (float((names**2).sum()) - squares) / between
    if same_between >= 1.0:
        return 0.0
    return max((same_within - same_between) / (1.0 - same_between), 0.0)


def repetition_effect(units: FloatArray, correlation: float) -> FloatArray:
    """Return 1 + (m - 1) correlation, with m the mean prompt size that a unit sees.

    `units` are characters per prompt, shape (n_prompts, k); the result has shape (k,) (Kish 1965).
    """
    mean = divide_or_zero((units**2).sum(0), units.sum(0))
    return 1.0 + np.maximum(mean - 1.0, 0.0) * correlation


def infer_fair_shares(
    count: FloatArray,
    units: FloatArray,
    fair: FairNaming,
    correlation: float,
    level: float = 0.95,
    squares: FloatArray | None = None,
) -> Bounded:
    """Test and bound shares of races beside fair naming.

    A share varies as prompts do, by t, and at least as much as that of n / deff names drawn at
    random from the bearers would. The interval is the wider of the two, p the larger.

    Shares of a rare race are skewed: few prompts carry it, and where these are few by chance both
    the share and its variance are small. So t is freed of the skewness that as many independent
    draws as have the prompts' variance would have (Hall's transformation), its degrees of freedom
    are Satterthwaite's (CR2), and at most the effective prompts that carry the race, or the others,
    less 1. Drawn names have Pearson's type III p, and an interval of the log share that is based
    on it (Miettinen 1976).

    Parameters
    ----------
    count, units
        Sum of name shares, and characters whose name the race's table lists, by prompt; shapes
        (n_prompts, k).
    fair
        From `fair_naming`, for the same k races.
    correlation
        From `repetition`; 0 where names do not repeat.
    level
        Of interval and null range, a fraction. The null range is of Pearson's type III.
    squares
        Sums of squared name shares by prompt; `count` where names are surely of a race or not.

    Returns
    -------
    Bounded
        Shares in 0-1; NaN with fewer than 2 prompts. The null range is the central one under fair
        naming with as many repeated names; of these very prompts drawn names say all.

    Raises
    ------
    ValueError
        For shapes that do not fit.

    References
    ----------
    Hall (1992), On the removal of skewness by transformation, JRSS B 54, 221-228; Bell & McCaffrey
    (2002), as for `infer_shares`.

    >>> fair = fair_naming(np.array([3.0, 1.0]), np.array([[0.0], [1.0]]))
    >>> found = infer_fair_shares(np.array([[2.0], [3.0]]), np.full((2, 1), 10.0), fair, 0.0)
    >>> bool(found.low[0] < 0.25 < found.high[0]), float(found.p[0])
    (True, 1.0)
    """
    if count.shape != units.shape or count.ndim != 2 or count.shape[1] != fair.share.size:
        raise ValueError(
            f"count and units must share a shape (n_prompts, {fair.share.size}); got {count.shape} "
            f"and {units.shape}."
        )
    clusters, total, tail = (units > 0).sum(0), units.sum(0), (1.0 - level) / 2.0
    size = np.maximum(divide_or_zero(total, repetition_effect(units, correlation)), 1.0)
    spread, skew = fair.sd / np.sqrt(size), fair.skew / np.sqrt(size)
    ends = np.clip(fair.share + spread * pearson3_ppf([[tail], [1.0 - tail]], skew), 0.0, 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = count.sum(0) / total
        # Names drawn: the error of a log share that gives Pearson's type III p.
        log_share = np.log(share)
        away = np.abs(log_share - np.log(fair.share))
        above = pearson3_sf((share - fair.share) / spread, skew)
        below = pearson3_cdf((share - fair.share) / spread, skew)
        z = normal_isf(np.clip(np.minimum(above, below), 1e-300, 0.5))
        # Near the null both vanish, and the linear error takes their place
        error_drawn = np.where((z > 1e-3) & (away > 0), away / z, spread / fair.share)
        reach = normal_isf(tail) * error_drawn
        fixed_low = np.exp(log_share - reach)
        fixed_high = np.exp(np.minimum(log_share + reach, 0.0))  # a share has no need of more
        fixed_p = 2.0 * normal_sf(away / error_drawn)
        # Prompts: t of the share, freed of its skewness.
        unit = fair.sd**2 / total
        factor, df = satterthwaite([units], unit[np.newaxis], np.full_like(unit, _WORKING))
        variance = (((count - share * units) / total) ** 2).sum(0) / factor
        squared = count if squares is None else squares
        others_squares = np.maximum(units - 2.0 * count + squared, 0.0)
        carriers = np.minimum(effective_number(squared), effective_number(others_squares))
        df = np.minimum(df, np.maximum(carriers - 1.0, 0.5))
        error, third = np.sqrt(variance), fair.skew * np.sqrt(np.maximum(variance, unit)) / fair.sd
        bend = np.where(np.abs(third) < _LEAST_SKEW, _LEAST_SKEW, third) / 3.0
        t = ((1.0 + bend * (share - fair.share) / error) ** 3 - 1.0) / (3.0 * bend) + bend / 2.0
        p = np.fmax(2.0 * t_sf(np.abs(t), df), fixed_p)
        # The transformation backwards, from t to the share.
        reached = t_isf(tail, df) * np.array([[1.0], [-1.0]])
        low, high = (
            share - error * (np.cbrt(1.0 + 3.0 * bend * (reached - bend / 2.0)) - 1.0) / bend
        )
        low, high = (
            np.clip(np.fmin(low, fixed_low), 0.0, 1.0),
            np.clip(np.fmax(high, fixed_high), 0.0, 1.0),
        )
    none = (clusters < 2) | ~np.isfinite(log_share) | ~(fair.sd > 0)
    low, high, p = (np.where(none, np.nan, x) for x in (low, high, p))
    unknown = ~np.isfinite(log_share) | ~(fair.sd > 0)
    fixed = (np.where(unknown, np.nan, x) for x in (fixed_low, fixed_high, fixed_p))
    return Bounded(low, high, p, ends[0], ends[1], *fixed)
