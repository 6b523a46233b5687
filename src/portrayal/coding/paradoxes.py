"""Paradoxes: where a kappa is low, or high, for a reason other than how well raters agree.

Feinstein and Cicchetti (1990), High agreement but low kappa: I, describe two. Where nearly all
answers are the same, chance explains nearly all agreement, so that kappa is low however often
raters agree. And where one rater gives a code more often than the other, kappa is higher than with
the same agreement and raters that give it equally often.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from portrayal.coding.ratings import YES, Ratings
from portrayal.stats import (
    bias_index,
    cohens_kappa,
    kappa_without_bias,
    krippendorff_alpha,
    percent_agreement,
    prevalence_index,
    specific_agreement,
)

HIGH = 0.8
"""Share of agreement from which it is called high."""
LOW = 0.4
"""Kappa up to which it is called low (at most "fair" for Landis and Koch, 1977)."""
SKEWED = 0.5
"""Prevalence index from which answers are called skewed: three quarters or more are alike."""
RAISED = 0.05
"""How much of a kappa must come from bias to be told."""


def paradoxes(questions: Sequence[Ratings], names: Mapping[str, str]) -> Iterator[str]:
    """Yield a sentence for each paradox among codes; `names` are those of the codes by key."""
    for ratings in questions:
        yield from _prevalence(ratings, names[ratings.question])
        if len(ratings.raters) == 2:
            yield from _bias(ratings, names[ratings.question])


def _prevalence(ratings: Ratings, name: str) -> Iterator[str]:
    counts = ratings.counts
    counts = counts[counts.sum(1) >= 2]
    total = counts.sum()
    if not total:
        return
    observed = float(percent_agreement(counts))
    kappa = float(_kappa(ratings))
    yes = float(counts[:, YES].sum() / total)
    if not (observed >= HIGH and kappa <= LOW and abs(1 - 2 * yes) >= SKEWED):
        return
    common, rare = ("no", YES) if yes < 0.5 else ("yes", 0)
    share = max(yes, 1 - yes)
    called = "kappa" if len(ratings.raters) == 2 else "alpha"
    seldom = float(specific_agreement(counts)[rare])
    yield (
        f"{name}: raters agree on {observed:.0%} of texts, yet {called} is {_two(kappa)}. "
        f'{share:.0%} of answers are "{common}", so that chance alone would make most of this '
        f"agreement; where one rater gives the rarer answer, another does too in {seldom:.0%} of "
        "cases. Read these together (first paradox of Feinstein and Cicchetti, 1990)."
    )


def _bias(ratings: Ratings, name: str) -> Iterator[str]:
    table = ratings.tables().sum(0)
    kappa, without = float(cohens_kappa(table)), float(kappa_without_bias(table))
    if not kappa - without >= RAISED:
        return
    shares = table[YES].sum() / table.sum(), table[:, YES].sum() / table.sum()
    one, two = (
        f"{rater} in {share:.0%}" for rater, share in zip(ratings.raters, shares, strict=True)
    )
    yield (
        f"{name}: raters give it unequally often, {one} of texts and {two}. With equal shares "
        f"and the same agreement kappa would be {_two(without)} in place of {_two(kappa)} (second "
        f"paradox of Feinstein and Cicchetti, 1990; bias index {float(bias_index(table)):.2f}, "
        f"prevalence index {float(prevalence_index(table)):.2f})."
    )


def _kappa(ratings: Ratings) -> float:
    """Cohen's kappa of two raters, else alpha, which takes what is missing."""
    if len(ratings.raters) == 2:
        return float(cohens_kappa(ratings.tables().sum(0)))
    return float(krippendorff_alpha(np.asarray(ratings.counts)))


def _two(kappa: float) -> str:
    """A kappa with two decimals, and no sign where these are 0."""
    return f"{round(kappa, 2) + 0.0:.2f}"
