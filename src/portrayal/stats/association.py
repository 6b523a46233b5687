"""Association: how much more often an attribute comes with a group than without regard to it.

The *lift* is P(a | g) / P(a) = P(a and g) / (P(a) P(g)): 1 where the two are independent (Brin,
Motwani, Ullman and Tsur 1997, who call it interest; its logarithm is the pointwise mutual
information of Church and Hanks 1990). Swapping attribute and group leaves it as it is.

Texts of one prompt are not independent, and a prompt may drive both: where stories of engineers are
of men and of offices, men and offices go together though no story joins them. Over all texts

    lift = what prompts alone give x lift within prompts,

where the first is the lift if each prompt's texts dealt out attribute and group independently, at
the shares of that prompt. So there are two questions, and the design says which can be asked:

within prompts
    Where prompts hold texts with and without the group. Observed over expected texts with both,
    sum x / sum (g a / n), as in indirect standardisation; only prompts in which both vary say
    anything. p is the larger of two: of Mantel and Haenszel's stratified test, for which the texts
    of a prompt are exchangeable, and of Student's t over the prompts' differences x - g a / n, for
    which the prompts' own associations may differ.
over all texts
    Where a prompt has the group or has it not. The null lets whole prompts exchange their texts'
    attributes (and texts within a prompt where those vary, whose variance is at least that which
    the prompts' own associations show); mean, variance and skewness of the difference over all such
    permutations are known in closed form, and p is the tail of Pearson's type III curve.

An interval holds 1 where its test does not refuse it, and only there. Over all texts it is the
clustered effective binomial's; where that holds a 1 which the test refuses, its end toward 1 is
the lift at which the test, with the prompts' attributes moved by what that lift gives them, begins
to refuse. Within prompts the t has, toward a lift of 1, the error at 1 on the logarithmic scale
(Miettinen 1976), and away from it the error at the value.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import lgamma, log

import numpy as np
import numpy.typing as npt

from portrayal.stats._arguments import crossing, divide, normal_quantile
from portrayal.stats.clustered import (
    NO_SPREAD,
    NO_UNITS,
    ONE_PROMPT,
    TOO_FEW,
    Clustered,
    infer_influences,
    infer_means,
)
from portrayal.stats.design_effect import (
    Evidence,
    effective_number,
    evidence_interval,
    evidence_p,
    ratio_evidence,
)
from portrayal.stats.p_values import inverted_toward_null
from portrayal.stats.tails import pearson3_sf
from portrayal.types import BoolArray, FloatArray

CROSSED = 0.5
"""Part of a group's texts that must share their prompt with texts of others, and of an attribute's
with texts without it, for a lift within prompts."""
NO_ATTRIBUTE = "no unit with this attribute"
ALL_UNITS = "all units are of this group, or have this attribute"

_NOTHING = 1e-12


@dataclass(frozen=True)
class PairCounts:
    """Texts by prompt of many pairs of an attribute and a group, shape (n_prompts, k) each.

    Attributes
    ----------
    both
        Texts of the group that have the attribute.
    group, attribute
        Texts of the group; texts that have the attribute.
    total
        Texts of which both are known.
    """

    both: FloatArray
    group: FloatArray
    attribute: FloatArray
    total: FloatArray

    def __post_init__(self) -> None:
        """Refuse counts that cannot be."""
        cells = (self.both, self.group, self.attribute, self.total)
        if self.both.ndim != 2 or len({cell.shape for cell in cells}) != 1:
            raise ValueError(
                "the four counts need one shape (n_prompts, k); got "
                f"{', '.join(str(cell.shape) for cell in cells)}."
            )
        # Four cells that exclude each other, none of which can be negative
        neither = self.total - self.group - self.attribute + self.both
        disjoint = (self.both, self.group - self.both, self.attribute - self.both, neither)
        if any(bool(np.any(~(count >= 0) | np.isinf(count))) for count in disjoint):
            raise ValueError("texts with both, one and neither must each be finite and 0 or more.")

    @property
    def sums(self) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Both, group, attribute and total over all prompts, shape (k,) each."""
        return (self.both.sum(0), self.group.sum(0), self.attribute.sum(0), self.total.sum(0))

    @property
    def expected(self) -> FloatArray:
        """Texts with both if each prompt dealt them out independently, g a / n."""
        safe = np.where(self.total > 0, self.total, 1.0)
        return np.asarray(self.group * self.attribute / safe)

    @property
    def variance(self) -> FloatArray:
        """Hypergeometric variance of the texts with both, given the other counts."""
        n = self.total
        safe = np.where(n > 1, n * (n - 1.0), 1.0)
        variance = self.expected * (n - self.group) * (n - self.attribute) / safe
        return np.asarray(np.where(n > 1, variance, 0.0))


@dataclass(frozen=True)
class Lifts(Clustered):
    """Lifts with intervals and tests, and what lies behind; every field has shape (k,).

    Attributes
    ----------
    within
        Whether the value is the lift within prompts; else it is the one over all texts.
    overall, by_prompts
        P(a | g) / P(a) over all texts, and what prompts alone would give.
    null_low, null_high
        Central range of the value where attribute and group are independent.
    """

    within: BoolArray
    overall: FloatArray
    by_prompts: FloatArray
    null_low: FloatArray
    null_high: FloatArray


def lift(
    both: npt.ArrayLike, group: npt.ArrayLike, attribute: npt.ArrayLike, total: npt.ArrayLike
) -> FloatArray:
    """P(a | g) / P(a) from counts; NaN where there is no text of the group or with the attribute.

    >>> float(lift(30, 60, 50, 200))
    2.0
    """
    return divide(divide(both, group), divide(attribute, total))


def infer_lifts(counts: PairCounts, level: float) -> Lifts:
    """Infer lifts: within prompts where the design allows, else over all texts.

    Parameters
    ----------
    counts
        Of k pairs.
    level
        Confidence level, a fraction.

    Returns
    -------
    Lifts
        Within prompts where half of the group's texts (`CROSSED`) lie in prompts that also have
        texts of others, and half of those with the attribute in prompts that also have texts
        without: so the data never choose between the questions by whether both vary. `reason` says
        why there is no p. p < 1 - level exactly where the interval leaves out 1.

    Raises
    ------
    ValueError
        For counts that cannot be, or a level outside (0, 1).

    References
    ----------
    Mantel and Haenszel (1959), Statistical aspects of the analysis of data from retrospective
    studies of disease. Hoeffding (1951), A combinatorial central limit theorem, for the moments
    under permutation.

    Examples
    --------
    >>> one, both = np.ones((12, 1)), np.array([[5.0], [6.0], [7.0]] * 4)
    >>> found = infer_lifts(PairCounts(both, 10 * one, 10 * one, 40 * one), 0.95)
    >>> bool(found.within[0]), float(found.value[0]), float(found.by_prompts[0])
    (True, 2.4, 1.0)
    >>> bool(found.p[0] < 0.05), bool(found.low[0] > 1)
    (True, True)
    """
    within = _varies(counts.group, counts.total) & _varies(counts.attribute, counts.total)
    sides = [np.flatnonzero(within), np.flatnonzero(~within)]
    # Each design has its own method, and the columns are put back in their order
    parts = [
        infer(PairCounts(*(cells[:, columns] for cells in vars(counts).values())), level)
        for infer, columns in zip((within_lifts, overall_lifts), sides, strict=True)
    ]
    order = np.argsort(np.concatenate(sides))
    fields = {
        name: np.concatenate([getattr(part, name) for part in parts])[order]
        for name in vars(parts[0])
    }
    both, group, attribute, total = counts.sums
    fields["by_prompts"] = lift(counts.expected.sum(0), group, attribute, total)
    fields["overall"] = lift(both, group, attribute, total)
    return Lifts(**{**fields, "within": within})


def _varies(counts: FloatArray, total: FloatArray) -> BoolArray:
    """Whether enough of the texts that are counted share their prompt with others that are not."""
    # A prompt all of whose texts count has nothing to compare them with.
    crossed = np.where(counts < total, counts, 0.0).sum(0)
    return np.asarray((crossed > 0) & (crossed >= CROSSED * counts.sum(0) - _NOTHING))


def within_lifts(counts: PairCounts, level: float) -> Lifts:
    """Infer lifts within prompts, as `infer_lifts` does where the design allows."""
    spread = counts.variance
    varies = spread > _NOTHING
    x, e, a = (
        np.where(varies, cells, 0.0) for cells in (counts.both, counts.expected, counts.attribute)
    )
    both, expected, having, variance = x.sum(0), e.sum(0), a.sum(0), (spread * varies).sum(0)
    value, n_prompts = divide(both, expected), varies.sum(0)
    share, null = divide(both, having), divide(expected, having)
    one = np.ones_like(share)
    # So many independent units have the hypergeometric variance of Mantel and Haenszel's test.
    size = divide(null * (1.0 - null) * having**2, variance)
    # Texts exchangeable within prompts have no design effect, so the evidence has df 0
    texts = Evidence(share, size, one, 0.0 * one, one, one * (1.0 + 1e-9), 0.5, 0.0)
    enough, some = n_prompts > 1, both > 0
    prompts = infer_means(x - e, varies.astype(np.float64), level)
    # The larger of both: each is right under one of two views of the prompts
    p = np.where(enough, np.fmax(evidence_p(texts, null), prompts.p), np.nan)
    log_value, differs = np.log(np.where(some, value, 1.0)), np.abs(value - 1.0) > _NOTHING
    # The t's error, carried to the log scale so that both scales refuse a lift of 1 together
    # (Miettinen 1976).
    scale = np.where(differs, divide(log_value, np.where(differs, value - 1.0, 1.0)), 1.0)
    linear = (prompts.high - prompts.low) / 2.0 * divide(n_prompts, expected)
    error = linear * scale
    influence = divide(x, np.where(some, both, 1.0)) - divide(e, expected)
    logs = infer_influences(log_value, np.where(enough & some, influence, 0.0), (e,), level)
    above = value > 1.0
    near_low = np.exp(np.where(above, log_value - error, logs.low))
    near_high = np.exp(np.where(above, logs.high, log_value + error))
    low, high = (divide(bound, null) for bound in evidence_interval(texts, level))
    # Without a text with both there is no logarithm: the end toward 1 is test-based as it is.
    near_high = np.where(some, near_high, linear)
    low = np.where(some, np.fmin(low, near_low), low)
    high = np.fmax(high, near_high)
    low, high = (np.where(np.isnan(p), np.nan, bound) for bound in (low, high))
    half = normal_quantile(level) * divide(np.sqrt(variance), expected)
    reason = _reason(counts, [(~enough, ONE_PROMPT), (np.isnan(p), NO_SPREAD)])
    return Lifts(
        value=value,
        low=low,
        high=high,
        p=np.where(reason == "", p, np.nan),
        n_clusters=n_prompts,
        carriers=effective_number(spread * varies),
        df=prompts.df,
        reason=reason,
        within=enough,
        overall=value,
        by_prompts=one,
        null_low=np.maximum(1.0 - half, 0.0),
        null_high=1.0 + half,
    )


def overall_lifts(counts: PairCounts, level: float) -> Lifts:
    """Infer lifts over all texts, as `infer_lifts` does where prompts do not hold both."""
    both, group, attribute, total = counts.sums
    value = lift(both, group, attribute, total)
    above, deviation = _permuted(counts)
    at_one = above(np.ones_like(value))
    n_prompts = (counts.total > 0).sum(0)
    fewest = _fewest(n_prompts, (counts.group > 0).sum(0), counts.variance.sum(0) > _NOTHING)
    # The curve may give less than the smallest p that so few arrangements of prompts can have.
    p = np.clip(2.0 * np.minimum(at_one, 1.0 - at_one), fewest, 1.0)
    reason = _reason(
        counts,
        [(n_prompts < 2, ONE_PROMPT), (fewest > 1.0 - level, TOO_FEW), (np.isnan(p), NO_SPREAD)],
    )
    p = np.where(reason == "", p, np.nan)
    evidence = ratio_evidence(
        (counts.both, counts.group),
        (counts.attribute - counts.both, counts.total - counts.group),
        (counts.both, counts.attribute - counts.both),
    )
    # The evidence is of the group's share among texts with the attribute; over this it is the lift
    share = divide(group, total)
    low, high = (divide(bound, share) for bound in evidence_interval(evidence, level))
    estimable = (n_prompts > 1) & np.isfinite(value)
    low, high = (np.where(estimable, bound, np.nan) for bound in (low, high))
    tail = (1.0 - level) / 2.0
    end = divide(total, np.where(group > 0, group, np.nan))  # a lift is at most 1 / P(g)
    inverted = _bound(above, tail, value, 0.0 * value), _bound(above, 1.0 - tail, value, end)
    low, high = inverted_toward_null((low, high), inverted, p, value, np.ones_like(p), level)
    half = normal_quantile(level) * divide(deviation, group * divide(attribute, total))
    return Lifts(
        value=value,
        low=low,
        high=high,
        p=p,
        n_clusters=n_prompts,
        carriers=np.minimum(
            effective_number(counts.group), effective_number(counts.total - counts.group)
        ),
        df=evidence.df,
        reason=reason,
        within=np.zeros(len(p), dtype=bool),
        overall=value,
        by_prompts=lift(counts.expected.sum(0), group, attribute, total),
        null_low=np.maximum(1.0 - half, 0.0),
        null_high=1.0 + half,
    )


def _permuted(counts: PairCounts) -> tuple[Callable[[FloatArray], FloatArray], FloatArray]:
    """Upper tail of the texts with both as a function of the lift, and their SD at a lift of 1.

    Whole prompts keep their share f of the group and exchange their attributes' surplus d over what
    the lift gives them, in units of its spread: the mean of p and of the overall share stands in
    the binomial's variance, as a p near 0 says little of the spread. Texts are exchanged within
    prompts, h of them with both beyond what is expected. Variances and third moments add up.
    """
    nonempty = counts.total > 0
    n, n_prompts = np.where(nonempty, counts.total, 1.0), nonempty.sum(0)
    _, group, attribute, total = counts.sums
    base, outside = divide(attribute, total), 1.0 - divide(group, total)
    outside = np.where(outside > 0, outside, np.nan)
    f = np.where(nonempty, counts.group / n, 0.0)
    spread, inside = counts.variance, counts.both - counts.expected
    skew = spread * (n - 2 * counts.group) * (n - 2 * counts.attribute)
    skew = np.where(n > 2, divide(skew, np.where(n > 2, n * (n - 2), 1.0)), 0.0).sum(0)
    degrees = np.where(n_prompts > 1, n_prompts - 1.0, np.nan)
    more = np.where(n_prompts > 2, n_prompts / np.maximum(n_prompts - 2.0, 1.0), 0.0)

    def centred(x: FloatArray) -> FloatArray:
        x = np.where(nonempty, x, 0.0)
        return np.asarray(np.where(nonempty, x - divide(x.sum(0), n_prompts), 0.0))

    def moments(theta: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Difference, variance and third moment; NaN where nothing varies."""
        p = base * (1.0 + (theta - 1.0) * (f + outside - 1.0) / outside)
        h = inside - (theta - 1.0) * counts.group * base * (1.0 - f) / outside
        q = np.clip(p, 0.0, 1.0)
        unit = np.sqrt((q + base) * (2.0 - q - base)) / 2.0
        unit = np.where(unit > 0, unit, np.nan)
        c, d = centred(f * unit), centred(divide(counts.attribute - counts.total * p, unit))
        squares = np.where(spread > _NOTHING, h**2, 0.0).sum(0)
        variance = np.maximum(spread.sum(0), squares) + (c**2).sum(0) * (d**2).sum(0) / degrees
        third = (c**3).sum(0) * (d**3).sum(0) * more / degrees + skew
        positive = (variance > _NOTHING) & np.isfinite(variance)
        return (c * d).sum(0) + h.sum(0), np.where(positive, variance, np.nan), third

    def above(theta: FloatArray) -> FloatArray:
        gap, variance, third = moments(theta)
        return pearson3_sf(gap / np.sqrt(variance), third / variance**1.5)

    return above, np.sqrt(moments(np.ones_like(base))[1])


def _bound(
    above: Callable[[FloatArray], FloatArray], tail: float, value: FloatArray, end: FloatArray
) -> FloatArray:
    """The lift between the value and `end` at which `above` is `tail`; `end` where it is not."""
    way = np.where(end > value, -1.0, 1.0)

    def height(lift: FloatArray) -> FloatArray:
        return np.asarray(way * (tail - above(lift)))

    root = crossing(height, value, end)
    # Where the end itself is allowed, no lift between is refused.
    return np.where(np.isnan(above(value)), np.nan, np.where(height(end) <= 0, end, root))


def _fewest(n: npt.NDArray[np.int64], k: npt.NDArray[np.int64], inner: BoolArray) -> FloatArray:
    """Two over the number of ways to choose k of n prompts; 0 where texts of a prompt vary too."""
    ways = [lgamma(m + 1) - lgamma(j + 1) - lgamma(m - j + 1) for m, j in zip(n, k, strict=True)]
    # exp(-700) is about the smallest number there is.
    p = np.minimum(1.0, np.exp(log(2.0) - np.minimum(np.array(ways, dtype=np.float64), 700.0)))
    return np.where(inner, 0.0, p)


def _reason(counts: PairCounts, more: list[tuple[BoolArray, str]]) -> npt.NDArray[np.str_]:
    _, group, attribute, total = counts.sums
    all_units = (group >= total) | (attribute >= total)
    checks = [(group <= 0, NO_UNITS), (attribute <= 0, NO_ATTRIBUTE), (all_units, ALL_UNITS), *more]
    return np.select([fails for fails, _ in checks], [reason for _, reason in checks], default="")
