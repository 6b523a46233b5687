"""Agreement: how often raters say the same, how far beyond chance, and how sure that is.

Texts that answer one prompt resemble each other, so intervals resample prompts; texts where no
prompt is known. A language model is a rater like another here: who is compared with whom is said
by the caller.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial

import numpy as np
import numpy.typing as npt

from portrayal.records import Interval
from portrayal.stats import (
    beyond_chance,
    bias_index,
    cluster_weights,
    cohen_parts,
    cohens_kappa,
    expanded_percentile,
    fleiss_parts,
    kappa_without_bias,
    krippendorff_alpha,
    krippendorff_parts,
    percent_agreement,
    prevalence_index,
    specific_agreement,
    wilson,
)
from portrayal.types import BoolArray, FloatArray, IntArray
from portrayal.validate import check_count, check_level, check_seed

MISSING = -1
YES = 1
STATISTICS = {
    "percent_agreement": "pairs of raters that agree, averaged over texts",
    "positive_agreement": "where one rater gives the code, the share of others that do",
    "cohens_kappa": "Cohen (1960)",
    "fleiss_kappa": "Fleiss (1971)",
    "krippendorff_alpha": "Krippendorff (2011), nominal",
}


@dataclass(frozen=True)
class Ratings:
    """The answers to one question.

    Attributes
    ----------
    question
        Key of the code or field, or what else is compared.
    raters, items
        Whose answers, about which texts.
    n_categories
        How many answers there are; of a code 0 is no and 1 is yes.
    values
        Number of the answer, shape (n_items, n_raters), -1 where it is missing.
    """

    question: str
    raters: tuple[str, ...]
    items: tuple[str, ...]
    n_categories: int
    values: IntArray

    @property
    def counts(self) -> FloatArray:
        """Raters by text and answer, shape (n_items, n_categories)."""
        answers = np.arange(self.n_categories)
        return np.asarray((self.values[:, :, np.newaxis] == answers).sum(1), dtype=np.float64)

    def between(self, *raters: str) -> "Ratings":
        """Return the ratings of these raters alone, in this order."""
        columns = [self.raters.index(rater) for rater in raters]
        return Ratings(
            self.question, raters, self.items, self.n_categories, self.values[:, columns]
        )

    def only(self, rows: BoolArray) -> "Ratings":
        """Return the ratings of the texts that `rows`, shape (n_items,), marks."""
        items = tuple(name for name, kept in zip(self.items, rows, strict=True) if kept)
        return Ratings(self.question, self.raters, items, self.n_categories, self.values[rows])

    def tables(self) -> FloatArray:
        """Per text, the answer of the first of two raters by the second's, shape (n_items, k, k).

        A text without both answers has a table of zeros.
        """
        one, two = self.values.T
        answers = np.arange(self.n_categories)
        pair = (one[:, None] == answers)[:, :, None] & (two[:, None] == answers)[:, None, :]
        return np.asarray(pair, dtype=np.float64)


Parts = tuple[FloatArray, FloatArray | None]
"""Observed agreement and agreement by chance; None where chance is not taken off."""

_BLOCK = 2_000_000
"""Weights that are used at once."""
_KEPT = 100_000_000
"""Weights of one resampling that are kept for the next coefficient."""
_STILL = 1e-12


@dataclass(frozen=True, slots=True)
class Resampling:
    """How intervals are made.

    Attributes
    ----------
    level
        Confidence level, a fraction.
    draws
        Resamples.
    seed
        Seed of the random stream; everything over equally many prompts uses the same resamples.
    prompts
        Prompt of each text, by item_id: texts of one prompt are drawn together. A text without one
        is drawn alone.
    """

    level: float = 0.95
    draws: int = 2000
    seed: int = 0
    prompts: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse what cannot be drawn."""
        check_level(self.level)
        check_count("draws", self.draws, minimum=1)
        check_seed(self.seed)

    def weights(
        self, n_clusters: int, *, width: int = 0, draws: int | None = None
    ) -> Iterator[FloatArray]:
        """Yield how often each cluster is drawn, shape (some draws, n_clusters); always the same.

        `width` is how many numbers each draw is spread to, where these are more than the clusters.
        """
        wanted = self.draws if draws is None else draws
        rows = max(1, _BLOCK // max(n_clusters, width, 1))
        if n_clusters * self.draws <= _KEPT:
            kept = _kept(n_clusters, self.draws, self.seed)[:wanted]
            for start in range(0, wanted, rows):
                yield kept[start : start + rows].astype(np.float64)
            return
        rng = np.random.default_rng(self.seed)
        for start in range(0, wanted, rows):
            drawn = cluster_weights(n_clusters, min(rows, wanted - start), rng)
            yield drawn.astype(np.float64)

    def bounds(self, replicates: FloatArray, clusters: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return bounds of replicates, shape (draws, k); the level widens where clusters are few.

        `clusters`, shape (k,), is the number of clusters in which each quantity occurs; bounds are
        NaN where that is fewer than two.
        """
        low, high = np.full(len(clusters), np.nan), np.full(len(clusters), np.nan)
        for size in np.unique(clusters[clusters > 1]):
            at = clusters == size
            low[at], high[at] = expanded_percentile(replicates[:, at], self.level, int(size))
        return low, high

    def interval(
        self, parts: Callable[[FloatArray], Parts], items: Sequence[str], n_cases: int
    ) -> tuple[float, Interval | None, str]:
        """Return value, interval and, where one of them is missing, why.

        Parameters
        ----------
        parts
            Takes how often each text counts, shape (..., n_items).
        items
            The item_ids of these texts.
        n_cases
            Texts that the observed share is of; fewer where it asks about one answer alone.

        Notes
        -----
        Where no resample differs from another, as when raters agree on every text, the interval is
        Wilson's of the observed share, with chance held as it is: an interval without width would
        claim more than so many texts can say.
        """
        names = [self.prompts.get(item, item) for item in items]
        unit = "prompt" if any(item in self.prompts for item in items) else "text"
        cluster = np.unique(names, return_inverse=True)[1]
        n_clusters = len(set(names))
        observed, chance = parts(np.ones(len(items)))
        value = float(_value(observed, chance))
        if math.isnan(value):
            return value, None, ""
        if n_clusters < 2:
            return value, None, f"texts of one {unit} give no interval"
        blocks = self.weights(n_clusters, width=len(items))
        draws = np.concatenate([_value(*parts(block[:, cluster])) for block in blocks])
        if np.nanmax(draws) - np.nanmin(draws) < _STILL:
            return value, *self._still(float(observed), chance, n_cases)
        low, high = (float(x) for x in expanded_percentile(draws, self.level, n_clusters))
        if math.isnan(low):
            return value, None, "too few texts show it: resamples without any have no value"
        method = f"bootstrap by {unit}"
        return value, Interval(low, high, self.level, method, n_clusters, self.seed), ""

    def _still(
        self, observed: float, chance: FloatArray | None, n_cases: int
    ) -> tuple[Interval | None, str]:
        """The interval where resamples do not differ."""
        if chance is not None and observed < 1:
            return None, "one rater gives the same answer throughout, so that kappa cannot differ"
        low, high = (float(x) for x in wilson(observed * n_cases, n_cases, self.level))
        if chance is not None:
            low, high = (float(beyond_chance(bound, chance)) for bound in (low, high))
        return Interval(max(low, -1.0), high, self.level, "Wilson", n_cases), ""


@lru_cache(maxsize=4)
def _kept(n_clusters: int, draws: int, seed: int) -> npt.NDArray[np.uint16]:
    """All weights of a resampling; a cluster is never drawn more often than 16 bits can count."""
    rng, rows = np.random.default_rng(seed), max(1, _BLOCK // n_clusters)
    parts = [min(rows, draws - start) for start in range(0, draws, rows)]
    drawn = (cluster_weights(n_clusters, n, rng).astype(np.uint16) for n in parts)
    return np.concatenate(list(drawn))


def _value(observed: FloatArray, chance: FloatArray | None) -> FloatArray:
    return observed if chance is None else beyond_chance(observed, chance)


@dataclass(frozen=True, slots=True)
class Coefficient:
    """How far some raters agree on one question, by one statistic.

    Attributes
    ----------
    question
        What was asked, as `Ratings` name it.
    statistic
        One of `STATISTICS`; percent and positive agreement are shares in 0–1.
    raters
        Who is compared.
    value, undefined
        The coefficient; None exactly where `undefined` says why.
    n_items
        Texts behind it.
    interval, no_interval
        By resampling prompts, or texts where none is known; None where `no_interval` or
        `undefined` says why.
    """

    question: str
    statistic: str
    raters: tuple[str, ...]
    value: float | None
    undefined: str | None
    n_items: int
    interval: Interval | None = None
    no_interval: str = ""


def coefficient(
    question: str, statistic: str, questions: Sequence[Ratings], how: Resampling
) -> Coefficient:
    """Return how far raters agree on a question, or on several taken together.

    Of several questions, observed and chance agreement are averaged (De Vries et al. 2008).

    Parameters
    ----------
    question
        What the result is called.
    statistic
        One of `STATISTICS`.
    questions
        Ratings of one question or more, by the same raters of the same texts.
    how
        Of the interval.
    """
    raters = questions[0].raters
    comparable, parts = _PARTS[statistic]
    answered = [one for one in questions if comparable(one).any()]
    if not answered:
        return Coefficient(question, statistic, raters, None, _no_text(statistic, raters), 0)
    known = np.any([comparable(one) for one in answered], axis=0)
    prepared = [parts(one.only(known)) for one in answered]

    def of_weights(weights: FloatArray) -> Parts:
        pairs = [of_question(weights) for of_question in prepared]
        chances = [chance for _, chance in pairs if chance is not None]
        observed = np.mean([observed for observed, _ in pairs], axis=0)
        return observed, np.mean(chances, axis=0) if chances else None

    n_items = n_cases = int(known.sum())
    if statistic == "positive_agreement":
        n_cases = int((known & (questions[0].values == YES).any(1)).sum())
    value, bounds, why = how.interval(of_weights, answered[0].only(known).items, n_cases)
    if math.isnan(value):
        return Coefficient(question, statistic, raters, None, _undefined(statistic), n_items)
    return Coefficient(question, statistic, raters, value, None, n_items, bounds, why)


def _no_text(statistic: str, raters: Sequence[str]) -> str:
    if statistic == "fleiss_kappa" and len(raters) > 2:
        return f"no text was coded by all {len(raters)} raters; alpha takes what is missing"
    return "no text was coded by two of these raters"


def _undefined(statistic: str) -> str:
    if statistic == "positive_agreement":
        return "no one gives this code"
    return "all answers are the same, so that chance alone explains all agreement"


def _by_two(ratings: Ratings) -> BoolArray:
    return np.asarray((ratings.values >= 0).sum(1) >= 2)


def _by_all(ratings: Ratings) -> BoolArray:
    return np.asarray((ratings.values >= 0).all(1))


OfWeights = Callable[[FloatArray], Parts]
"""Parts of a statistic by how often each text counts."""


def _percent(ratings: Ratings) -> OfWeights:
    counts = ratings.counts
    return lambda weights: (percent_agreement(counts, weights), None)


def _positive(ratings: Ratings) -> OfWeights:
    counts = ratings.counts
    return lambda weights: (specific_agreement(counts, weights)[..., YES], None)


def _cohen(ratings: Ratings) -> OfWeights:
    k, tables = ratings.n_categories, ratings.tables().reshape(len(ratings.items), -1)
    return lambda weights: cohen_parts((weights @ tables).reshape(*weights.shape[:-1], k, k))


_PARTS: dict[str, tuple[Callable[[Ratings], BoolArray], Callable[[Ratings], OfWeights]]] = {
    "percent_agreement": (_by_two, _percent),
    "positive_agreement": (_by_two, _positive),
    "cohens_kappa": (_by_all, _cohen),
    "fleiss_kappa": (_by_all, lambda ratings: partial(fleiss_parts, ratings.counts)),
    "krippendorff_alpha": (_by_two, lambda ratings: partial(krippendorff_parts, ratings.counts)),
}
"""Which texts a statistic takes, and its parts."""


HIGH = 0.8
"""Share of agreement from which it is called high."""
LOW = 0.4
"""Kappa up to which it is called low (at most "fair" for Landis and Koch, 1977)."""
SKEWED = 0.5
"""Prevalence index from which answers are called skewed: three quarters or more are alike."""
RAISED = 0.05
"""How much of a kappa must come from bias for a warning."""


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
