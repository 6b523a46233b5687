"""Agreement: how often raters say the same, how far beyond chance, and how uncertain that is.

Texts that answer one prompt resemble each other, so intervals resample prompts; texts where no
prompt is known. People are compared with people. A language model is compared with what people
settle on, apart from that, and its labels enter no figure of people.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from itertools import compress

import numpy as np
import numpy.typing as npt

from portrayal.raters.labels import NO, Label, Labels, folded, settled
from portrayal.raters.labels import YES as GIVEN
from portrayal.records import Interval
from portrayal.stats import cluster_weights, expanded_percentile, wilson
from portrayal.stats.agreement import (
    beyond_chance,
    cohen_parts,
    fleiss_parts,
    krippendorff_parts,
    percent_agreement,
    specific_agreement,
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
    raters, items
        Whose answers, about which texts; a text stands once for each unit that was labelled in it.
    n_categories
        How many answers there are; of a code 0 is no and 1 is yes.
    values
        Number of the answer, shape (n_items, n_raters), -1 where it is missing.
    """

    raters: tuple[str, ...]
    items: tuple[str, ...]
    n_categories: int
    values: IntArray

    @property
    def counts(self) -> FloatArray:
        """Raters by text and answer, shape (n_items, n_categories)."""
        answers = np.arange(self.n_categories)
        return np.asarray((self.values[:, :, np.newaxis] == answers).sum(1), dtype=np.float64)

    def only(self, rows: BoolArray) -> "Ratings":
        """Return the ratings of the texts that `rows`, shape (n_items,), marks."""
        return replace(self, items=tuple(compress(self.items, rows)), values=self.values[rows])

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
        Wilson's of the observed share, with chance held as it is and each prompt counted once: an
        interval without width would claim more than so many texts can say.
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
        # Drawn once for every question, and used in blocks, so that many texts fit into memory
        weights = _weights(n_clusters, self.draws, self.seed)
        rows = max(1, _BLOCK // len(items))
        blocks = (weights[i : i + rows, cluster] for i in range(0, self.draws, rows))
        draws = np.concatenate([_value(*parts(block.astype(np.float64))) for block in blocks])
        # Where raters never differ, no resample does: its interval would have no width.
        if np.nanmax(draws) - np.nanmin(draws) >= _STILL:
            low, high = (float(x) for x in expanded_percentile(draws, self.level, n_clusters))
            if math.isnan(low):
                return value, None, "too few texts show it: resamples without any have no value"
            method = f"bootstrap by {unit}"
            return value, Interval(low, high, self.level, method, n_clusters, self.seed), ""
        if chance is not None and observed < 1:
            reason = "one rater gives the same answer throughout, so that kappa cannot differ"
            return value, None, reason
        n = min(n_cases, n_clusters)  # texts of one prompt are one observation
        low, high = (float(x) for x in wilson(float(observed) * n, n, self.level))
        if chance is not None:
            # Chance is taken as known: what is uncertain is the agreement.
            low, high = (float(beyond_chance(bound, chance)) for bound in (low, high))
        return value, Interval(max(low, -1.0), high, self.level, "Wilson", n), ""


@lru_cache(maxsize=4)
def _weights(n_clusters: int, draws: int, seed: int) -> npt.NDArray[np.uint16]:
    """All weights of a resampling; a cluster is never drawn more often than 16 bits can count."""
    rng, rows = np.random.default_rng(seed), max(1, _BLOCK // n_clusters)
    parts = [min(rows, draws - start) for start in range(0, draws, rows)]
    weights = (cluster_weights(n_clusters, n, rng).astype(np.uint16) for n in parts)
    return np.concatenate(list(weights))


def _value(observed: FloatArray, chance: FloatArray | None) -> FloatArray:
    return observed if chance is None else beyond_chance(observed, chance)


@dataclass(frozen=True, slots=True)
class Coefficient:
    """How far some raters agree on one question, by one statistic.

    Attributes
    ----------
    question
        Key of the code or field that was asked, or what else is compared.
    statistic
        "percent_agreement" (pairs of raters that agree, averaged over texts) or
        "positive_agreement" (where one rater gives the code, the share of others that do), shares
        in 0–1; "cohens_kappa", "fleiss_kappa" or "krippendorff_alpha" (2011, nominal).
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
    question: str, statistic: str, ratings: Ratings, resampling: Resampling
) -> Coefficient:
    """Return how far raters agree on a question.

    Parameters
    ----------
    question
        What the result is called.
    statistic
        As of `Coefficient`.
    ratings
        Their answers.
    resampling
        Of the interval.
    """
    raters = ratings.raters
    # Kappas need the answers of all raters; other coefficients take any two.
    fewest = len(raters) if statistic in ("cohens_kappa", "fleiss_kappa") else 2
    rated = ratings.only((ratings.values >= 0).sum(1) >= fewest)
    n_items = n_cases = len(rated.items)
    if not n_items:
        reason = "no text was coded by two of these raters"
        if statistic == "fleiss_kappa" and fewest > 2:
            reason = f"no text was coded by all {fewest} raters; alpha takes what is missing"
        return Coefficient(question, statistic, raters, None, reason, 0)
    if statistic == "positive_agreement":
        # Of positive agreement only the texts to which someone gives the code are cases.
        n_cases = int((rated.values == YES).any(1).sum())
    parts = _parts(statistic, rated)
    value, bounds, no_interval = resampling.interval(parts, rated.items, n_cases)
    if math.isnan(value):
        reason = "all answers are the same, so that chance alone explains all agreement"
        if statistic == "positive_agreement":
            reason = "no one gives this code"
        return Coefficient(question, statistic, raters, None, reason, n_items)
    return Coefficient(question, statistic, raters, value, None, n_items, bounds, no_interval)


def _parts(statistic: str, ratings: Ratings) -> Callable[[FloatArray], Parts]:
    """Observed and chance agreement by how often each text counts."""
    counts = ratings.counts
    k, tables = ratings.n_categories, ratings.tables() if len(ratings.raters) == 2 else counts
    # Kappa of a resample needs only the sum of the tables of its texts.
    flat = tables.reshape(len(tables), -1)
    parts: dict[str, Callable[[FloatArray], Parts]] = {
        "percent_agreement": lambda w: (percent_agreement(counts, w), None),
        "positive_agreement": lambda w: (specific_agreement(counts, w)[..., YES], None),
        "cohens_kappa": lambda w: cohen_parts((w @ flat).reshape(*w.shape[:-1], k, k)),
        "fleiss_kappa": partial(fleiss_parts, counts),
        "krippendorff_alpha": partial(krippendorff_parts, counts),
    }
    return parts[statistic]


PEOPLE = "people"
"""What people settle on, as the rater that a language model is compared with."""


@dataclass(frozen=True)
class Agreement:
    """A group of raters and how far they agree.

    Attributes
    ----------
    raters
        Who is compared; a language model with `PEOPLE`.
    n_done
        Texts that each of them is done with.
    coefficients
        Of each question, by each statistic.
    left_open
        Decisions, of a text and a code, that people left open; they are not compared.
    """

    raters: tuple[str, ...]
    n_done: Mapping[str, int]
    coefficients: tuple[Coefficient, ...]
    left_open: int = 0

    def get(self, question: str, statistic: str) -> Coefficient | None:
        """Return the coefficient of all raters together; None where there is none."""
        by_name = {(one.question, one.statistic): one for one in self.coefficients}
        return by_name.get((question, statistic))


@dataclass(frozen=True)
class LabelAgreement:
    """The agreement of people with each other, and of each model with what they settle on."""

    people: Agreement
    models: tuple[Agreement, ...]


def agreement(
    labels: Labels, *, level: float = 0.95, draws: int = 2000, seed: int = 0
) -> LabelAgreement:
    """Compare the raters of one sample.

    Parameters
    ----------
    labels
        Of several raters.
    level, draws, seed
        Confidence level (a fraction), resamples, seed.

    Raises
    ------
    OptionError
        For a level, number of draws or seed that cannot be used.
    """
    resampling = Resampling(level, draws, seed, labels.prompts)
    people, models, answers = labels.of("human"), labels.of("llm"), settled(labels)
    n_done = {rater: len(people.texts(rater)) for rater in people.raters}
    of_people = _compared(people, people.raters, labels.codes, resampling, n_done)
    against = []
    settled_texts = {text_id for text_id, _, _ in answers}
    for model in models.raters:
        of_model = models.texts(model)
        both = {
            place: answer
            for place, answer in answers.items()
            if place[0] in of_model and place[2] in labels.codes
        }
        # What people settle on stands against the model as one rater.
        rows = [row for row in models.rows if row.rater == model and row.text_id in settled_texts]
        rows += [Label(*question, answer, PEOPLE) for question, answer in both.items() if answer]
        n_done = {PEOPLE: len(settled_texts), model: len(of_model)}
        of_both = replace(labels, rows=tuple(rows))
        compared = _compared(of_both, (PEOPLE, model), labels.codes, resampling, n_done)
        n_open = sum(answer is None for answer in both.values())
        against.append(replace(compared, left_open=n_open))
    return LabelAgreement(of_people, tuple(against))


def _compared(
    labels: Labels,
    raters: tuple[str, ...],
    keys: Sequence[str],
    resampling: Resampling,
    n_done: Mapping[str, int],
) -> Agreement:
    """Each question by each statistic; those of `keys` are codes."""
    if len(raters) < 2:
        return Agreement(raters, n_done, ())
    # Cohen's kappa is of two raters.
    kappa = "cohens_kappa" if len(raters) == 2 else "fleiss_kappa"
    coefficients = tuple(
        coefficient(question, statistic, ratings, resampling)
        for question, ratings in ratings_of(labels, raters).items()
        for statistic in ("percent_agreement", "positive_agreement", kappa, "krippendorff_alpha")
        if statistic != "positive_agreement" or question in keys
    )
    return Agreement(raters, n_done, coefficients)


def ratings_of(
    labels: Labels, raters: tuple[str, ...], fields: Sequence[str] = ()
) -> dict[str, Ratings]:
    """Return what raters answer to each question, by its key; also to `fields` without an answer.

    Answers are compared without regard to case and spaces.
    """
    units = dict.fromkeys((one.text_id, one.unit) for one in labels.rows)
    row, column = ({name: i for i, name in enumerate(names)} for names in (units, raters))
    answers_by_key = {key: dict[tuple[int, int], str]() for key in (*fields, *labels.fields)}
    for one in labels.rows:
        place = row[one.text_id, one.unit], column[one.rater]
        answers_by_key[one.field][place] = folded(one.value)
    questions = {}
    for key, cells in answers_by_key.items():
        # Codes have both answers even where one never occurs, as `YES` is the number of the second
        answers = (NO, GIVEN) if key in labels.codes else sorted(set(cells.values()))
        number = {answer: i for i, answer in enumerate(answers)}
        values = np.full((len(row), len(raters)), MISSING, dtype=np.int64)
        for place, value in cells.items():
            # What nobody answered stays missing, which alpha allows
            values[place] = number[value]
        items = tuple(text_id for text_id, _ in units)
        questions[key] = Ratings(raters, items, max(len(answers), 1), values)
    return questions
