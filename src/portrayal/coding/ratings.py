"""Ratings: raters by text for each question, and what a group of raters holds together."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from portrayal.coding.codes import Codes
from portrayal.coding.project import Project
from portrayal.records import Interval
from portrayal.stats import (
    beyond_chance,
    bias_index,
    cluster_weights,
    cohens_kappa,
    expanded_percentile,
    kappa_without_bias,
    krippendorff_alpha,
    percent_agreement,
    prevalence_index,
    specific_agreement,
    wilson,
)
from portrayal.types import BoolArray, FloatArray, IntArray
from portrayal.validate import check_count, check_level, check_seed

MISSING = -1
YES = 1


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


def ratings_of(project: Project, codes: Codes) -> list[Ratings]:
    """Return the ratings of every code and field, in the order of the codebook.

    Texts nobody is done with are left out. Written answers are compared without regard to case and
    spaces.
    """
    raters, items = codes.raters, _items(project, codes)
    said: dict[str, dict[tuple[str, str], str]] = {}
    for decision in codes.decisions:
        place = (decision.item_id, decision.rater)
        said.setdefault(decision.code, {})[place] = "1" if decision.value else "0"
    for reply in codes.replies:
        value = " ".join(reply.value.split()).casefold()
        said.setdefault(reply.field, {})[reply.item_id, reply.rater] = value
    found = []
    for code in project.codebook.codes:
        found.append(_ratings(code.key, raters, items, said.get(code.key, {}), ("0", "1")))
    for asked in project.codebook.fields:
        of_field = said.get(asked.key, {})
        found.append(_ratings(asked.key, raters, items, of_field, sorted(set(of_field.values()))))
    return found


def whole_sets(project: Project, codes: Codes) -> Ratings:
    """Return each rater's set of codes for a text as one answer; sets are numbered as they come."""
    given: dict[tuple[str, str], set[str]] = {(d.item_id, d.rater): set() for d in codes.done}
    for decision in codes.decisions:
        if decision.value:
            given[decision.item_id, decision.rater].add(decision.code)
    said = {place: "+".join(sorted(keys)) for place, keys in given.items()}
    names = sorted(set(said.values()))
    return _ratings("whole set", codes.raters, _items(project, codes), said, names)


def _items(project: Project, codes: Codes) -> tuple[str, ...]:
    done = {one.item_id for one in codes.done}
    return tuple(item.item_id for item in project.items if item.item_id in done)


def _ratings(
    question: str,
    raters: tuple[str, ...],
    items: tuple[str, ...],
    said: Mapping[tuple[str, str], str],
    answers: Iterable[str],
) -> Ratings:
    number = {answer: i for i, answer in enumerate(answers)}
    row, column = ({name: i for i, name in enumerate(names)} for names in (items, raters))
    values = np.full((len(items), len(raters)), MISSING, dtype=np.int64)
    for (item, rater), answer in said.items():
        values[row[item], column[rater]] = number[answer]
    return Ratings(question, raters, items, max(len(number), 1), values)


Parts = tuple[FloatArray, FloatArray | None]
"""Observed agreement and agreement by chance; None where chance is not taken off."""

_BLOCK = 2_000_000
"""Weights that are used at once."""
_KEPT = 100_000_000
"""Weights of one resampling that are kept for the next figure."""
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
        Seed of the random stream; every figure over equally many prompts uses the same resamples.
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
        cluster = np.unique(names, return_inverse=True)[1]
        n_clusters = len(set(names))
        observed, chance = parts(np.ones(len(items)))
        value = float(_value(observed, chance))
        if math.isnan(value):
            return value, None, ""
        if n_clusters < 2:
            return value, None, f"texts of one {self._unit(items)} give no interval"
        blocks = self._weights(n_clusters, len(items))
        draws = np.concatenate([_value(*parts(block[:, cluster])) for block in blocks])
        if np.nanmax(draws) - np.nanmin(draws) < _STILL:
            return value, *self._still(float(observed), chance, n_cases)
        low, high = (float(x) for x in expanded_percentile(draws, self.level, n_clusters))
        if math.isnan(low):
            return value, None, "too few texts show it: resamples without any have no value"
        method = f"bootstrap by {self._unit(items)}"
        return value, Interval(low, high, self.level, method, n_clusters, self.seed), ""

    def _unit(self, items: Sequence[str]) -> str:
        return "prompt" if any(item in self.prompts for item in items) else "text"

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

    def _weights(self, n_clusters: int, n_items: int) -> Iterator[FloatArray]:
        rows = max(1, _BLOCK // n_items)
        if n_clusters * self.draws <= _KEPT:
            kept = _kept(n_clusters, self.draws, self.seed)
            for start in range(0, self.draws, rows):
                yield kept[start : start + rows].astype(np.float64)
            return
        rng = np.random.default_rng(self.seed)
        for start in range(0, self.draws, rows):
            drawn = cluster_weights(n_clusters, min(rows, self.draws - start), rng)
            yield drawn.astype(np.float64)


@lru_cache(maxsize=4)
def _kept(n_clusters: int, draws: int, seed: int) -> npt.NDArray[np.uint16]:
    """All weights of a resampling; a cluster is never drawn more often than 16 bits can count."""
    rng, rows = np.random.default_rng(seed), max(1, _BLOCK // n_clusters)
    parts = [min(rows, draws - start) for start in range(0, draws, rows)]
    drawn = (cluster_weights(n_clusters, n, rng).astype(np.uint16) for n in parts)
    return np.concatenate(list(drawn))


def _value(observed: FloatArray, chance: FloatArray | None) -> FloatArray:
    return observed if chance is None else beyond_chance(observed, chance)


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
