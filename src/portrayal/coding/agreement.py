"""Agreement: whether people who code the same texts see the same in them.

People are compared with people. A language model is compared with what people settle on, apart
from that, and its codes enter no figure of people.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from portrayal.coding.codes import Codes, Settled, consensus
from portrayal.coding.project import Project
from portrayal.coding.ratings import (
    YES,
    Parts,
    Ratings,
    Resampling,
    paradoxes,
    ratings_of,
    whole_sets,
)
from portrayal.coding.shares import prompts_of_items
from portrayal.records import Interval
from portrayal.stats import (
    cohen_parts,
    fleiss_parts,
    krippendorff_parts,
    percent_agreement,
    specific_agreement,
)
from portrayal.types import BoolArray, FloatArray

ALL_CODES = "all codes"
WHOLE_SET = "whole set"
PEOPLE = "people"
"""What people settle on, as the rater that a language model is compared with."""
STATISTICS = {
    "percent_agreement": "pairs of raters that agree, averaged over texts",
    "positive_agreement": "where one rater gives the code, the share of others that do",
    "cohens_kappa": "Cohen (1960)",
    "fleiss_kappa": "Fleiss (1971)",
    "krippendorff_alpha": "Krippendorff (2011), nominal",
}


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure of agreement.

    Attributes
    ----------
    question
        Key of a code or field, `ALL_CODES` (observed and chance agreement averaged over codes: De
        Vries et al. 2008), or `WHOLE_SET` (all codes of a text as one answer).
    statistic
        One of `STATISTICS`; percent and positive agreement are shares in 0–1.
    raters
        Who is compared.
    value, undefined
        The figure; None exactly where `undefined` says why.
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


@dataclass(frozen=True)
class Compared:
    """A group of raters and how far they agree.

    Attributes
    ----------
    raters
        Who is compared; a language model with `PEOPLE`.
    n_done
        Texts that each of them is done with.
    figures
        First each question, then `ALL_CODES` and `WHOLE_SET`.
    warnings
        Where a kappa misleads, in sentences.
    left_open
        Decisions, of a text and a code, that people left open; they are not compared.
    """

    raters: tuple[str, ...]
    n_done: dict[str, int]
    figures: tuple[Figure, ...]
    warnings: tuple[str, ...] = ()
    left_open: int = 0

    def get(self, question: str, statistic: str) -> Figure | None:
        """Return the figure of all raters together; None where there is none."""
        for figure in self.figures:
            if (figure.question, figure.statistic) == (question, statistic):
                return figure
        return None


@dataclass(frozen=True)
class Agreement:
    """The agreement of a project: of people with each other, and of each model with people."""

    people: Compared
    pairs: tuple[Compared, ...]
    models: tuple[Compared, ...]


def agreement(
    project: Project, codes: Codes, *, level: float = 0.95, draws: int = 2000, seed: int = 0
) -> Agreement:
    """Compare the raters of a project.

    Parameters
    ----------
    project, codes
        The project, and what `read_codes` gives for it.
    level, draws, seed
        Confidence level (a fraction), resamples, seed.

    Raises
    ------
    OptionError
        For a level, number of draws or seed that cannot be used.
    """
    how = Resampling(level, draws, seed, prompts_of_items(project))
    people, settled = codes.of("human"), consensus(project, codes)
    raters = people.raters
    questions = [*ratings_of(project, people), *_sets(project, people)]
    pairs = combinations(raters, 2) if len(raters) > 2 else ()
    together = ("percent_agreement", "positive_agreement", *_kappas(raters), "krippendorff_alpha")
    return Agreement(
        _compare(project, people, questions, raters, together, how),
        tuple(_compare(project, people, questions, pair, _OF_TWO, how) for pair in pairs),
        tuple(_against(project, codes.of("llm"), settled, m, how) for m in codes.of("llm").raters),
    )


_OF_TWO = ("percent_agreement", "positive_agreement", "cohens_kappa")


def _kappas(raters: Sequence[str]) -> tuple[str, ...]:
    return ("fleiss_kappa",) if len(raters) > 2 else ("cohens_kappa", "fleiss_kappa")


def _sets(project: Project, codes: Codes) -> list[Ratings]:
    return [whole_sets(project, codes)] if project.codebook.codes else []


def _compare(
    project: Project,
    codes: Codes,
    questions: Sequence[Ratings],
    raters: tuple[str, ...],
    statistics: Sequence[str],
    how: Resampling,
) -> Compared:
    n_done = {r: sum(one.rater == r for one in codes.done) for r in raters}
    if len(raters) < 2:
        return Compared(raters, n_done, ())
    chosen = [one.between(*raters) for one in questions]
    figures = tuple(_figures(project, chosen, statistics, how))
    keys = {code.key: code.name for code in project.codebook.codes}
    binary = [one for one in chosen if one.question in keys]
    return Compared(raters, n_done, figures, tuple(paradoxes(binary, keys)))


def _against(
    project: Project, models: Codes, settled: dict[str, Settled], model: str, how: Resampling
) -> Compared:
    """One model with what people settle on."""
    of_model = {one.item_id for one in models.done if one.rater == model}
    both = [one for name, one in settled.items() if name in of_model]
    said = {(d.item_id, d.code): d.value for d in models.decisions if d.rater == model}
    items = tuple(one.item_id for one in both)
    keys = {code.key: code.name for code in project.codebook.codes}
    questions = []
    for key in keys:
        rows = [(int(one.codes.get(key, -1)), int(said[one.item_id, key])) for one in both]
        values = np.array(rows, dtype=np.int64).reshape(-1, 2)
        questions.append(Ratings(key, (PEOPLE, model), items, 2, values))
    figures = tuple(_figures(project, questions, _OF_TWO, how))
    left_open = sum(len(one.open) for one in both)
    n_done = {PEOPLE: len(settled), model: len(of_model)}
    warnings = tuple(paradoxes(questions, keys))
    return Compared((PEOPLE, model), n_done, figures, warnings, left_open)


def _figures(
    project: Project, questions: Sequence[Ratings], statistics: Sequence[str], how: Resampling
) -> Iterator[Figure]:
    keys = {code.key for code in project.codebook.codes}
    codes = [one for one in questions if one.question in keys]
    rest = [one for one in questions if one.question == WHOLE_SET]
    each = [one for one in questions if one.question != WHOLE_SET]
    groups = [(one.question, [one]) for one in each]
    if len(codes) > 1:
        groups.append((ALL_CODES, codes))
    groups += [(one.question, [one]) for one in rest]
    for question, of_question in groups:
        for statistic in statistics:
            if statistic == "positive_agreement" and question not in keys:
                continue
            yield _figure(question, statistic, of_question, how)


def _figure(question: str, statistic: str, questions: Sequence[Ratings], how: Resampling) -> Figure:
    raters = questions[0].raters
    rows, parts = _PARTS[statistic]
    said = [one for one in questions if rows(one).any()]
    if not said:
        return Figure(question, statistic, raters, None, _nobody(statistic, raters), 0)
    known = np.any([rows(one) for one in said], axis=0)
    prepared = [parts(one.only(known)) for one in said]

    def of_weights(weights: FloatArray) -> Parts:
        found = [of_question(weights) for of_question in prepared]
        chances = [chance for _, chance in found if chance is not None]
        observed = np.mean([observed for observed, _ in found], axis=0)
        return observed, np.mean(chances, axis=0) if chances else None

    n_items = int(known.sum())
    n_cases = n_items
    if statistic == "positive_agreement":
        n_cases = int((known & (questions[0].values == YES).any(1)).sum())
    value, bounds, why = how.interval(of_weights, said[0].only(known).items, n_cases)
    if math.isnan(value):
        reason = _undefined(statistic)
        return Figure(question, statistic, raters, None, reason, n_items)
    return Figure(question, statistic, raters, value, None, n_items, bounds, why)


def _nobody(statistic: str, raters: Sequence[str]) -> str:
    if statistic == "fleiss_kappa" and len(raters) > 2:
        return f"no text was coded by all {len(raters)} raters; alpha takes what is missing"
    return "no text was coded by two of these raters"


def _undefined(statistic: str) -> str:
    if statistic == "positive_agreement":
        return "nobody gives this code"
    return "all answers are the same, so that chance alone explains all agreement"


def _twice(ratings: Ratings) -> BoolArray:
    return np.asarray((ratings.values >= 0).sum(1) >= 2)


def _by_all(ratings: Ratings) -> BoolArray:
    return np.asarray((ratings.values >= 0).all(1))


Statistic = Callable[[FloatArray], Parts]


def _percent(ratings: Ratings) -> Statistic:
    counts = ratings.counts
    return lambda weights: (percent_agreement(counts, weights), None)


def _positive(ratings: Ratings) -> Statistic:
    counts = ratings.counts
    return lambda weights: (specific_agreement(counts, weights)[..., YES], None)


def _cohen(ratings: Ratings) -> Statistic:
    k, tables = ratings.n_categories, ratings.tables().reshape(len(ratings.items), -1)
    return lambda weights: cohen_parts((weights @ tables).reshape(*weights.shape[:-1], k, k))


def _fleiss(ratings: Ratings) -> Statistic:
    counts = ratings.counts
    return lambda weights: fleiss_parts(counts, weights)


def _alpha(ratings: Ratings) -> Statistic:
    counts = ratings.counts
    return lambda weights: krippendorff_parts(counts, weights)


_PARTS: dict[
    str,
    tuple[
        Callable[[Ratings], BoolArray],
        Callable[[Ratings], Statistic],
    ],
] = {
    "percent_agreement": (_twice, _percent),
    "positive_agreement": (_twice, _positive),
    "cohens_kappa": (_by_all, _cohen),
    "fleiss_kappa": (_by_all, _fleiss),
    "krippendorff_alpha": (_twice, _alpha),
}
