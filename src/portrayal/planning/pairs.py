"""Differences within pairs: how many sources a mean difference needs to be found.

A source (a case, a request) gives m pairs; d, the difference between the halves of a pair, has the
standard deviation sd_d = sd √(2 (1 − r)), where r is the correlation of the halves, and differences
of one source are correlated by ρ. Over G sources

    var(mean d) = sd_d² (1 + (m − 1) ρ) / (G m),

and the test is Student's t with G − 1 degrees of freedom. (Kish 1965, sections 5.4 and 8.2; Cohen
1988, section 2.3.) The least G is the one whose `detectable_difference` is no larger than asked.
"""

from dataclasses import dataclass, replace
from math import isnan, sqrt

import numpy as np

from portrayal.errors import OptionError
from portrayal.measure.matched import MatchedSets
from portrayal.measure.matched.differences import contrasts, within_sets
from portrayal.planning.effects import detectable_difference
from portrayal.records import FEW_PROMPTS
from portrayal.types import FloatArray, IntArray
from portrayal.validate import check_count, check_level

TESTS = 28
"""Tests that share the level: 14 scores, twice, as words are a question beside them."""
MOST_SOURCES = 10_000_000


@dataclass(frozen=True, slots=True)
class PairDesign:
    """What is taken for granted of pairs and of their tests.

    Attributes
    ----------
    pairs
        Pairs of each source: of names, wordings, lengths.
    icc
        Correlation ρ of the differences of one source, in 0–1.
    correlation
        Correlation r of the halves of a pair, below 1.
    sd
        Standard deviation of a text's score; 1 gives differences in standard deviations.
    power, level
        Fractions.
    tests
        Tests among which level is shared out (Bonferroni), an upper bound for what
        Benjamini–Hochberg needs.
    source
        Where icc and correlation are from.

    Raises
    ------
    OptionError
        Where one of them is none.
    """

    pairs: int = 1
    icc: float = 0.1
    correlation: float = 0.5
    sd: float = 1.0
    power: float = 0.8
    level: float = 0.95
    tests: int = TESTS
    source: str = "by default"

    def __post_init__(self) -> None:
        """Refuse what cannot be planned."""
        check_count("pairs", self.pairs, minimum=1)
        check_count("tests", self.tests, minimum=1)
        check_level(self.level)
        if not 0 <= self.icc <= 1 or not -1 <= self.correlation < 1:
            raise OptionError(
                "icc lies between 0 and 1, correlation between -1 and 1, below 1; got "
                f"{self.icc!r} and {self.correlation!r}."
            )
        if not 0 < self.power < 1:
            raise OptionError(f"power must be a fraction between 0 and 1; got {self.power!r}.")

    @property
    def fewest(self) -> int:
        """The fewest sources of which an audit states anything (`Estimate.enough`)."""
        return FEW_PROMPTS

    def detectable(self, sources: int) -> float:
        """Return the smallest mean difference that so many sources find; NaN below `fewest`.

        >>> round(PairDesign(tests=1).detectable(787), 3)
        0.1
        """
        if sources < self.fewest:
            return float("nan")
        return detectable_difference(
            self.sd * sqrt(2.0 * (1.0 - self.correlation)),
            (float(sources * self.pairs),),
            sources,
            icc=self.icc,
            level=1.0 - (1.0 - self.level) / self.tests,
            power=self.power,
        )

    def sources(self, difference: float) -> int:
        """Return the fewest sources that find a mean difference, in the unit of `sd`.

        Raises
        ------
        OptionError
            For a difference of 0 or less, or one that ten million sources do not find.

        >>> PairDesign(pairs=4).sources(0.2)
        133
        """
        if not difference > 0:
            raise OptionError(f"a difference to find is above 0; got {difference!r}.")
        low = high = self.fewest
        while self.detectable(high) > difference:
            low, high = high, high * 2
            if high > MOST_SOURCES:
                raise OptionError(
                    f"no {MOST_SOURCES:,} sources find a difference of {difference:g}."
                )
        while low < high:
            middle = (low + high) // 2
            if self.detectable(middle) > difference:
                low = middle + 1
            else:
                high = middle
        return high


def of_share(share: float, design: PairDesign) -> PairDesign:
    """Return a design for differences of a share, in 0–1: its spread is that of yes and no.

    >>> of_share(0.5, PairDesign()).sd
    0.5
    """
    if not 0 < share < 1:
        raise OptionError(f"a share lies between 0 and 1; got {share!r}.")
    return replace(design, sd=sqrt(share * (1.0 - share)))


def measured(sets: MatchedSets, design: PairDesign, source: str) -> PairDesign:
    """Return a design with the icc and correlation of finished pairs: medians of scores and models.

    What no score tells stays as it is: no source of several pairs says nothing of the icc.
    """
    correlations, iccs = [], []
    for model in range(len(sets.models)):
        inside = sets.model == model
        for value in sets.value:
            for _, at in contrasts(sets):
                d = within_sets(value[inside], at)
                known = ~np.isnan(d)
                spread = np.nanvar(value[inside][known], ddof=1) if known.sum() > 1 else 0.0
                if spread > 0:
                    correlations.append(1.0 - np.var(d[known], ddof=1) / (2.0 * spread))
                    iccs.append(icc_of(d[known], sets.source[inside][known]))
    iccs = [each for each in iccs if not isnan(each)]
    if correlations:
        correlation = float(min(np.median(correlations), 0.99))
        design = replace(design, correlation=correlation, source=source)
    if iccs:
        return replace(design, icc=max(float(np.median(iccs)), 0.0))
    return (
        replace(design, source=f"{design.source}, the first by default") if correlations else design
    )


def icc_of(value: FloatArray, source: IntArray) -> float:
    """Return the correlation of values of one source, by the analysis of variance (Donner 1986).

    Parameters
    ----------
    value, source
        Values, and the code of the source of each, shape (n,).

    Returns
    -------
    float
        At most 1, below 0 where sources are more alike than chance; NaN where no source has two
        values, there is one source, or nothing varies.

    >>> icc_of(np.array([1.0, 1.0, 2.0, 2.0]), np.array([0, 0, 1, 1]))
    1.0
    """
    _, code = np.unique(source, return_inverse=True)
    size = np.bincount(code).astype(np.float64)
    n, k = float(len(value)), len(size)
    if k < 2 or n <= k:
        return float("nan")
    mean = np.bincount(code, value) / size
    between = float(size @ (mean - value.mean()) ** 2) / (k - 1)
    within = float(((value - mean[code]) ** 2).sum()) / (n - k)
    usual = (n - float(size @ size) / n) / (k - 1)
    whole = between + (usual - 1.0) * within
    return (between - within) / whole if whole > 0 else float("nan")
