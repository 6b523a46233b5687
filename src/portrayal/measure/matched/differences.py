"""Differences within matched sets: how far texts about one group lie above those about another."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import Any

import numpy as np

from portrayal.annotate.scores import AGENCY, LENGTH, READABILITY, SENTIMENT, score_of
from portrayal.collect.tables import UNNAMED
from portrayal.measure.clustered import (
    BUCKETS,
    MOST_PROMPTS,
    GroupSums,
    Inference,
    corrected_difference,
    estimates_of,
    sums_by,
)
from portrayal.measure.corrected import MARKS, OUTCOME
from portrayal.measure.matched.sets import REFUSED, MatchedSets
from portrayal.measure.scope import Scope
from portrayal.measure.scored import ScoredUnits
from portrayal.records import (
    ALL,
    FEW_PROMPTS,
    MINUS,
    ORIGINAL,
    OTHERS,
    REWRITTEN,
    TEXT_SD,
    THESE,
    UNITS,
    Estimate,
    Null,
    PromptScores,
    PromptSums,
    Status,
    Test,
)
from portrayal.reference.labels import people_words, subject_of
from portrayal.registry import Component
from portrayal.run.pages import number as digits
from portrayal.stats import count_differences, divide, infer_fixed_means
from portrayal.stats.paired import exchange_test
from portrayal.types import BoolArray, FloatArray, IntArray

SAME_SCORES = "both halves of every {cluster} score alike"
CONSTANT = "every {cluster} differs by the same {by}, so that nothing tells how others would differ"
ALL_ALIKE = "all {n:,.0f} answers score the same in {score}, so that it tells none of them apart"
"""Why there is no test, where halves do not differ, differ alike everywhere, or no answers do."""
EXCHANGED = "halves of whole {cluster}s exchanged"
SIGNED = "signs of what {cluster}s say against no difference exchanged"
"""How tests are adjusted: within pairs, and apart."""
REACTION = "instrument_bias"
"""Detail: the difference that exchanging the words of the person alone gives."""
UNMASKED = "unmasked"
"""Detail: the difference of the texts as they are written, with the names in them."""
FLOOR = "sd_of_answers"
"""Detail: the spread of the difference between two answers to the identical request."""
AT_MOST = "at_most"
"""Detail: the least distance d of which a test of equivalence says "no more than d apart"."""
FIRST = "with_first"
"""Detail: answers of the first group that say yes, or have a word."""
SECOND, N_FIRST, N_SECOND = "with_second", "n_first", "n_second"
"""Details of more than one answer to a half: those of the others, and how many there are."""
COLUMN = "column"
"""Detail: that a column of the file gives the score; 1 where it says yes or no."""
NO_VALUE = ("no pair has this score in both halves", "no text of one of the groups has this score")
"""Why there is no value: within pairs, and apart."""
MOST_COUNTED = 1_000
"""Sets up to which answers that say yes are compared as counts."""
_NO_NAMES, _ROUNDED = 1e-12, 1e-9
EQUAL = 0.9
"""Level of the interval whose ends a test of equivalence at .05 reads (two one-sided tests)."""


def pair_difference(matched_sets: MatchedSets, scope: Scope) -> Iterator[Estimate]:
    """Yield the mean difference within pairs of each score, by model and part.

    Two groups give one difference; of more, each is compared with the mean of the others of its
    set.

    Parameters
    ----------
    matched_sets, scope
        The sets with their scores, and the audit's settings.
    """
    for sets in matched_sets.all:
        compared = contrasts(sets)
        columns = [(k, *contrast) for k in range(len(sets.scores)) for contrast in compared]
        for model, part, inside in sets.places():
            rows = np.flatnonzero(inside)
            # Without the scorer's reaction to the words of a person, which is tested beside it
            scatter = sets.squares[:, rows], sets.df[:, rows], sets.n_answers[rows]
            within = Within.of(sets, rows, sets.neutral[:, rows], columns, scatter, scope)
            yield from _of_place(sets, (model, part, inside), within, scope)


def _of_place(
    sets: MatchedSets, place: tuple[str, str, BoolArray], within: "Within", scope: Scope
) -> Iterator[Estimate]:
    """Yield the differences of one place, and those that labels by hand correct."""
    (model, part, inside), sums, columns = place, within.sums, within.columns
    rows, scores = np.flatnonzero(inside), [sets.scores[k] for k, *_ in columns]
    valid = ~np.isnan(within.difference)
    # What the exchange changes, and what hiding names does, of the same sets
    masked, written = (
        np.where(valid, unit_scores(sets, side[:, rows], columns), np.nan)
        for side in (sets.value, sets.written)
    )
    reaction, names = (
        means_of(source_sums(sets, rows, d, columns), scope)
        for d in (masked - within.difference, written - masked)
    )
    spread = np.array([_text_sd(sets, k, rows[valid[:, i]]) for i, (k, *_) in enumerate(columns)])
    n_texts = sets.n_answers[rows].sum(axis=1) @ valid
    reasons = within.means.reason.astype(object)
    for i, score in enumerate(scores):
        # In words of this design: "too few prompts" would puzzle who has pairs.
        # Where no text differs, or the halves of no source do in sum
        if not (spread[i] > 0 if sets.apart else sums.upper[:, i].any()):
            alike = SAME_SCORES if spread[i] > 0 else ALL_ALIKE
            reasons[i] = alike.format(cluster=sums.cluster, n=n_texts[i], score=score.name)
        elif np.isnan(within.means.p[i]) and within.means.n_clusters[i] > 1 and not sets.apart:
            by = f"{digits(abs(float(within.means.value[i])))} {score.unit}"
            reasons[i] = CONSTANT.format(cluster=sums.cluster, by=by)
    means = replace(within.means, reason=reasons)
    # Two one-sided tests at .05 read the ends of a 90 % interval.
    equal = means_of(sums, replace(scope, level=EQUAL))
    exchanged = within.fields(scope, model, part)

    def fields_of(i: int) -> dict[str, Any]:
        strata = {"model": model, "score": scores[i].name, "part": part}
        if np.isnan(means.value[i]):
            return {"strata": strata, "undefined": NO_VALUE[sets.apart]}
        details = {
            TEXT_SD: float(spread[i]),
            AT_MOST: float(np.maximum(-equal.low[i], equal.high[i])),
            UNITS + sums.cluster: float(means.n_clusters[i]),
            FLOOR: sets.floor(model, columns[i][0]),
        }
        if scores[i].column:
            details[COLUMN] = float(scores[i].column == "share")
        if abs(names.value[i]) > _NO_NAMES:
            details[UNMASKED] = float(means.value[i] + reaction.value[i] + names.value[i])
        details |= _counted(sets, rows, valid[:, i], columns[i])
        fields = {"strata": strata, "n_texts": int(n_texts[i]), **exchanged(i)}
        if sets.exchanged and scores[i].exchanged:
            bias, p = float(reaction.value[i]), float(reaction.p[i])
            details[REACTION] = bias
            # A reaction that is the same in every source has no spread, and so no p.
            sure = p < 1.0 - scope.level or np.isnan(p)
            if sure and 0.0 < abs(bias) >= abs(float(means.value[i])):
                alike = "which is as much as the difference"
                reacts = f"the scorer reacts to the exchanged words alone by {bias:.3g}, {alike}"
                fields["status"] = Status(detail=reacts)
        return {**fields, "details": {name: x for name, x in details.items() if not np.isnan(x)}}

    by_hand = dict(_corrected(sets, place, within, spread, n_texts, scope))
    shared: dict[str, Any] = {"statistic": "difference", "strata": {}, "by_hand": by_hand}
    shared |= {"exclusions": sets.left_out.get(model, {}), **within.form}
    yield from estimates_of(PAIR_DIFFERENCE, sums, means, scope, fields_of, **shared)


def _counted(
    sets: MatchedSets, rows: IntArray, valid: BoolArray, column: "Column"
) -> dict[str, float]:
    """Details of a score of yes and no: how many answers say yes, of how many, on both sides."""
    k, _, first = column
    if sets.scores[k].name != REFUSED and sets.scores[k].column != "share":
        return {}
    share = np.where(valid[:, np.newaxis], sets.value[k, rows], np.nan)
    counts, sizes = (of_sides(x, first) for x in counts_of(share, sets.n_answers[rows]))
    numbers = (float(side.sum()) for side in (*counts, *sizes))
    return dict(zip((FIRST, SECOND, N_FIRST, N_SECOND), numbers, strict=True))


def _text_sd(sets: MatchedSets, score: int, rows: IntArray) -> float:
    """Standard deviation of a score of the texts of these sets, within and between their halves."""
    mean, n_answers = sets.value[score, rows], sets.n_answers[rows]
    scored = ~np.isnan(mean)
    if not scored.any():
        return np.nan
    # Of answers some have no score, as refusals have no sentiment
    n = sets.df[score, rows].sum() + scored.sum()
    grand = np.average(mean[scored], weights=n_answers[scored])
    between = n * np.average((mean[scored] - grand) ** 2, weights=n_answers[scored])
    return float(np.sqrt(divide(between + sets.squares[score, rows].sum(), n - 1.0)))


def _corrected(
    sets: MatchedSets,
    place: tuple[str, str, BoolArray],
    within: "Within",
    spread: FloatArray,
    n_texts: FloatArray,
    scope: Scope,
) -> Iterator[tuple[int, Estimate]]:
    """Yield the differences that labels by hand correct, with their columns.

    `spread` and `n_texts` are the spread and the number of the texts of each, (k,). A text counts
    as part of its half, and a half of those that the first is compared with as part of their mean,
    so that sets count alike.
    """
    model, part, inside = place
    n_groups, answers = len(sets.groups), np.maximum(sets.n_answers, 1)
    for i, (number, name, first) in enumerate(within.columns):
        score, sd = sets.scores[number].name, float(spread[i])
        if (hand := sets.hand.get(score)) is None:
            continue
        low, span = MARKS[OUTCOME if score == REFUSED else score].scale
        # People correct the score that the difference is made of, in the same wording
        valid = ~np.isnan(sets.neutral[number]) & inside[:, np.newaxis]
        share = (weights_within(valid, first, unpaired=sets.apart) / answers).ravel()

        def halves(
            row: IntArray, n: FloatArray, score: FloatArray, share: FloatArray = share
        ) -> ScoredUnits:
            part = share[row][:, np.newaxis]
            sides = np.maximum(part, 0.0), np.maximum(-part, 0.0)
            return ScoredUnits(sets.source[row // n_groups], n, score, sides)

        row = np.flatnonzero(valid)
        everyone = row, answers.ravel()[row] * 1.0, (sets.neutral[number].ravel()[row] - low) / span
        one = corrected_difference(
            PAIR_DIFFERENCE,
            hand.sums(halves, everyone, two_sides=True, slope=span),
            0,
            scope,
            float(within.means.value[i]),
            group={sets.attribute: name},
            n_texts=int(n_texts[i]),
            strata={"model": model, "score": score, "part": part},
        )
        # On the same scale as the raw difference: the spread of texts as they were scored.
        if one.value is not None and sd > 0:
            one = replace(one, details={**one.details, TEXT_SD: sd})
        yield i, one


def contrasts(sets: MatchedSets) -> list[tuple[str, int]]:
    """Each comparison of groups: its name, and the code of the group that stands first."""
    if len(sets.groups) == 2:
        return [(MINUS.join(sets.groups), 0)]
    return [(f"{name}{MINUS}{OTHERS}", i) for i, name in enumerate(sets.groups)]


def weights_within(valid: BoolArray, first: int, *, unpaired: bool = False) -> FloatArray:
    """Weights of halves in the difference of each set, of those that count, (…, n_groups).

    Group `first` has 1, and the others that the set has share −1; all are 0 where either lacks,
    unless they are unpaired, where each half is of a mean of its own.
    """
    compared = valid.copy()
    compared[..., first] = False
    n_others = compared.sum(axis=-1, keepdims=True)
    weights = -1.0 * compared / np.maximum(n_others, 1)
    weights[..., first] = valid[..., first] if unpaired else 1.0
    complete = valid[..., [first]] & (n_others > 0)
    return np.asarray(np.where(complete | unpaired, weights, 0.0))


def within_sets(value: FloatArray, first: int, *, unpaired: bool = False) -> FloatArray:
    """Difference of each set, shape (…,), of halves (…, n_groups); NaN where one lacks.

    Group `first` is compared with the other one, or with the mean of the others that the set has.
    Unpaired, it is the score of the one half that each set has.
    """
    weights = weights_within(~np.isnan(value), first, unpaired=unpaired)
    if unpaired:
        return np.asarray(np.where(weights.any(-1), np.nan_to_num(value).sum(axis=-1), np.nan))
    difference = (weights * np.nan_to_num(value)).sum(axis=-1)
    return np.asarray(np.where(weights[..., first] > 0, difference, np.nan))


def counts_of(value: FloatArray, n_answers: IntArray) -> tuple[FloatArray, FloatArray]:
    """How many answers of each half say yes, of how many, of shares (n_sets, n_groups)."""
    sizes = np.where(np.isnan(value), 0.0, n_answers)
    return np.rint(np.nan_to_num(value) * sizes), sizes


def of_sides(x: FloatArray, first: int) -> tuple[FloatArray, FloatArray]:
    """Sums of the first half and of all others, (n_sets, 1) each."""
    one = x[:, [first]]
    return one, x.sum(axis=1, keepdims=True) - one


def _are_counts(share: FloatArray, squares: FloatArray, df: FloatArray, n: IntArray) -> bool:
    """Whether few enough answers all have a score of yes or no: then x² is x."""
    if len(n) > MOST_COUNTED:
        return False
    sizes = np.where(np.isnan(share), 0.0, n)
    of_counts = np.nansum(sizes * share * (1.0 - share), axis=1)
    same_df = np.array_equal(df, np.maximum(sizes - 1.0, 0.0).sum(axis=1))
    return bool(same_df and np.allclose(squares, of_counts))


Column = tuple[int, str, int]
"""Which score, the name of the comparison of groups, and the code of the group that is first."""


def unit_scores(sets: MatchedSets, value: FloatArray, columns: Sequence[Column]) -> FloatArray:
    """What each set adds to the means that are compared, shape (n_sets, k).

    Of halves (n_scores, n_sets, n_groups): their difference, or the score itself, where nothing
    blocks.
    """
    scores = [within_sets(value[k], first, unpaired=sets.apart) for k, _, first in columns]
    return np.stack(scores, axis=1)


def source_sums(
    sets: MatchedSets, rows: IntArray, values: FloatArray, columns: Sequence[Column]
) -> GroupSums:
    """Sum values of these sets, (n_chosen, k), by source; NaN is where a set has none.

    A difference within sets is one mean; apart, that of the first group and that of all others are
    two.
    """
    one, half = np.ones(len(rows)), sets.half[rows, np.newaxis]
    is_first = 1.0 * (half == np.array([first for _, _, first in columns]))
    members = (is_first, 1.0 - is_first) if sets.apart else (one[:, np.newaxis],)
    units = ScoredUnits(sets.source[rows], one, values, members)
    groups = [{sets.attribute: name} for _, name, _ in columns]
    return GroupSums.of(units, sets.sources, groups, cluster=sets.cluster)


def means_of(sums: GroupSums, scope: Scope, shares: BoolArray | None = None) -> Inference:
    """Infer the mean of differences within sets, or the difference of two means.

    Of `shares`, (k,), nothing varies where every answer of one group says yes and none of the
    other, so that no standard error is known. Sides of as many units as there are clusters are
    compared as counts there.
    """
    unpaired = sums.lower is not None
    means = sums.differences(scope) if unpaired else sums.means(scope)
    all_or_none = np.isnan(means.p) & (np.abs(np.abs(means.value) - 1.0) < _ROUNDED)
    indices = np.flatnonzero(all_or_none & shares) if shares is not None else ()
    if not len(indices):
        return means
    n = np.floor(means.n_clusters[indices] / (2.0 if unpaired else 1.0))[np.newaxis]
    sign = means.value[indices]
    counts = np.where(sign > 0, n, 0.0), np.where(sign < 0, n, 0.0)
    low, high, p = (x.copy() for x in (means.low, means.high, means.p))
    low[indices], high[indices], p[indices] = count_differences(counts, (n, n), scope.level)
    reason = np.where(np.isnan(p), means.reason, "")
    return replace(means, low=low, high=high, p=p, reason=reason)


def scores_against_none(sums: PromptSums | GroupSums) -> FloatArray:
    """What each cluster says against no difference, (n, …): their sum is the value, times a factor.

    Of two means each is taken off the common one, as if groups did not differ (Rao's score).
    """
    a, n, b, m = sums.upper, sums.n_upper, sums.lower, sums.n_lower
    if b is None or m is None:
        return a
    mean = divide(a.sum(0) + b.sum(0), n.sum(0) + m.sum(0))
    return np.nan_to_num(divide(a - mean * n, n.sum(0)) - divide(b - mean * m, m.sum(0)))


@dataclass(frozen=True, eq=False)
class Within:
    """Differences of scores within sets, and their means.

    Attributes
    ----------
    columns
        Of which score and groups each of the k differences is.
    difference
        Of each set, shape (n_sets, k); NaN where a half lacks.
    sums, means
        By source; the means also of these very requests.
    """

    columns: Sequence[Column]
    difference: FloatArray
    sums: GroupSums
    means: Inference

    @classmethod
    def of(
        cls,
        sets: MatchedSets,
        rows: IntArray,
        value: FloatArray,
        columns: Sequence[Column],
        scatter: tuple[FloatArray, FloatArray, IntArray],
        scope: Scope,
    ) -> "Within":
        """Compare the halves of some sets.

        Parameters
        ----------
        sets, rows, columns, scope
            Which sets, what is compared, and the audit's settings.
        value
            Scores of the halves, shape (n_scores, n_chosen, n_groups); 0 or 1 for words.
        scatter
            Sums of squares of answers off the means of halves, and degrees of freedom, shape
            (n_scores, n_chosen) each; and the answers of halves, (n_chosen, n_groups). Answers that
            never differ within halves are taken as exchangeable between them.
        """
        difference, n_answers = unit_scores(sets, value, columns), scatter[-1]
        sums = source_sums(sets, rows, difference, columns)
        shares = [
            bool((np.isnan(value[k]) | np.isin(value[k], (0.0, 1.0))).all()) for k, *_ in columns
        ]
        means = means_of(sums, scope, np.array(shares))
        if sets.apart:  # other texts of the same groups are drawn, not other answers
            return cls(columns, difference, sums, means)
        noise, free = np.full((2, *difference.shape), np.nan)
        for i, (k, _, first) in enumerate(columns):
            squares, df, d = scatter[0][k], scatter[1][k], difference[:, i]
            # A mean of n answers has 1 / n of the variance of one.
            weights = weights_within(n_answers > 0, first)
            multiplier = (weights**2 / np.maximum(n_answers, 1)).sum(axis=1)
            exchanged = divide(d * d, np.maximum(n_answers.sum(1) - 1.0, 1.0))
            variance = np.where(squares > 0, divide(squares, df) * multiplier, exchanged)
            noise[:, i], free[:, i] = np.where(df > 0, variance, np.nan), df
        fixed = infer_fixed_means(difference, sets.source[rows], noise, free, scope.level)
        answered = ((free > 0) | np.isnan(difference)).all(axis=0)
        for i, (k, _, first) in enumerate(columns):
            if answered[i] and _are_counts(value[k], scatter[0][k], scatter[1][k], n_answers):
                # The few that say yes have no normal law, so counts are compared as counts.
                counts, sizes = (of_sides(x, first) for x in counts_of(value[k], n_answers))
                of_counts = count_differences(counts, sizes, scope.level)
                for of_means, bound in zip(fixed, of_counts, strict=True):
                    of_means[i] = bound[0]
        return cls(columns, difference, sums, replace(means, fixed=fixed))

    @property
    def form(self) -> dict[str, Any]:
        """Form and unit of the estimates, where they are not means of pairs."""
        return {} if self.sums.lower is None else {"form": "difference", "unit": "text"}

    def fields(self, scope: Scope, *labels: str) -> Callable[[int], dict[str, Any]]:
        """Return the function of a column to its null and test by exchange of halves of sources.

        And to what each source says against no difference, by which tests are adjusted jointly.
        """
        sums, is_mean = self.sums, self.sums.lower is None
        kept_of = sums.kept("mean" if is_mean else "difference")
        total = scores_against_none(sums)
        if len(total) > MOST_PROMPTS:  # very many sources change sides in buckets
            total = sums_by(np.arange(len(total)) % BUCKETS, BUCKETS, total)
        # The halves of a whole source change sides together, as its texts are alike
        p, half = exchange_test(total, scope.rng("exchange", *labels), scope.level)
        method = (EXCHANGED if is_mean else SIGNED).format(cluster=sums.cluster)

        def fields_of(i: int) -> dict[str, Any]:
            reach = float(half[i] / (sums.n_upper[:, i].sum() if is_mean else 1.0))
            if 2.0 ** (1 - np.count_nonzero(total[:, i])) > 1.0 - scope.level:
                reach = np.nan  # the range of so few exchanges holds every value
            null = Null(0.0, -reach, reach, scope.level, method, scope.seed)
            of_source = kept_of(i)
            # A source whose halves score alike moves no joint draw, so that it need not be kept.
            score, n = scores_against_none(of_source), len(of_source.prompts)
            names = tuple(compress(of_source.prompts, score != 0.0))
            scores = PromptScores(names, score[score != 0.0], 0.0, n, max(n - 1.0, 1))
            return {"null": null, "tests": (Test(float(p[i]), method),), "scores": scores}

        return fields_of


def sentence(e: Estimate) -> str:
    """Return a difference as a finding: a group beside the others, else the one with more first."""
    writer, first, second, value = halves_of(e)
    part = "" if e.strata["part"] == ALL else f" ({e.strata['part']})"
    score, is_share = e.strata["score"], form_of(e) == "points"
    if N_FIRST in e.details:
        are = "are refusals" if score == REFUSED else f"are “{score}”"
        words = f"{counted_halves(e, are)}{same_requests(e)}{part}"
        return of_these_prompts(e, writer, words)
    form, more, less = _MORE.get(score, _THEME)
    if COLUMN in e.details:
        form, more, less = _YES if is_share else _NUMBER
    size = digits(100.0 * abs(value) if is_share else abs(value))
    verb = form.format(size=size, score=score, more=more if value >= 0 else less)
    if "naive" in e.details:
        part = f"{part}, corrected by hand from {digits(e.details['naive'])}"
    words = f"{first} {verb} than {second}{same_requests(e).removesuffix('s')}{part}"
    return of_these_prompts(e, writer, words, 100.0 if is_share else 1.0)


def same_requests(e: Estimate) -> str:
    """Return that both halves answer the same requests, where they do."""
    return "" if e.unit == "text" or halves_of(e)[2] == ORIGINALS else " to the same requests"


def counted_halves(e: Estimate, verb: str) -> str:
    """Return how many answers of how many on both sides say yes, or have a word."""
    _, first, second, value = halves_of(e)
    # The second from the mean, as halves may have other numbers of answers
    with_first = e.details[FIRST]
    with_second = e.details.get(SECOND, max(with_first - (e.value or 0.0) * e.n_units, 0.0))
    sides = [
        (with_first, e.details.get(N_FIRST, e.n_units)),
        (with_second, e.details.get(N_SECOND, e.n_units)),
    ]
    # Where the subject is the second group, the value was turned round.
    one, other = (
        f"{f'{n:,.0f}' if n >= 0.5 else 'none'} of {size:,.0f}"
        for n, size in (sides if value == (e.value or 0.0) else sides[::-1])
    )
    return f"{one} {first} {verb}, and {other} {second.removeprefix('their ')}"


def of_these_prompts(e: Estimate, writer: str, words: str, scale: float | None = None) -> str:
    """Return the sentence, with how many prompts it is of where it tells of no others.

    Its interval, `scale` times that of the value, stands in it, where there is a scale.
    """
    if e.population != THESE or e.interval is None:
        return f"{writer}{words}"
    unit, n = next((unit, int(n)) for unit, n in e.details.items() if unit.startswith(UNITS))
    noun, sign = unit.removeprefix(UNITS), -1.0 if (e.value or 0.0) < 0 else 1.0
    these = f"this {noun}" if n == 1 else f"these {n} {noun}s"
    bounds = sorted((sign * e.interval.low, sign * e.interval.high))
    reach = f" ({' to '.join(digits(scale * x) for x in bounds)})" if scale else ""
    caveat = f"; of other {noun}s nothing can be said from {n}" if n < FEW_PROMPTS else ""
    return f"{writer}in {these} {words}{reach}{caveat}"


def form_of(e: Estimate) -> str:
    """Return how the value is written: shares in points."""
    is_share = e.strata.get("score") == REFUSED or e.details.get(COLUMN) == 1.0
    return "points" if is_share else ""


ORIGINALS = "their originals"


def halves_of(e: Estimate) -> tuple[str, str, str, float]:
    """Return who writes, "" or with a colon, both halves, and how far the first lies above."""
    (pair,) = e.group.values()
    sides, value, writer = pair.split(MINUS, 1), e.value or 0.0, e.strata["model"]
    if subject_of(pair, value):
        sides, value = sides[::-1], -value
    first, second = (f"answers for {people_words(side)}" for side in sides)
    if sides == [REWRITTEN, ORIGINAL]:
        first, second = "rewritten texts", ORIGINALS
    return "" if writer == UNNAMED else f"{writer}: ", first, second, value


def states_interval(e: Estimate) -> bool:
    """Return whether the sentence of a difference has its interval (see `of_these_prompts`)."""
    of_mean = e.measure == PAIR_DIFFERENCE.name and N_FIRST not in e.details
    return of_mean and e.population == THESE and e.interval is not None


_MORE = {
    LENGTH: ("are {size} words {more}", "longer", "shorter"),
    READABILITY: ("are {size} school grades {more} to read", "harder", "easier"),
    SENTIMENT: ("are {size} {more} positive, on a scale from −1 to 1,", "more", "less"),
    AGENCY: ("are {size} {more} agentic, on a scale from −1 to 1,", "more", "less"),
    REFUSED: ("are refusals {size} points {more} often", "more", "less"),
}
"""What is said of a score, in which word of two: of more, of less."""
_THEME = "have {size} {more} words in 100 of the theme “{score}”", "more", "fewer"
_NUMBER = "score {size} {more} in “{score}”", "higher", "lower"
_YES = "are “{score}” {size} points {more} often", "more", "less"

PAIR_DIFFERENCE = Component(
    name="pair_difference.v2",
    summary="How far texts about one group lie above texts about another that answer the same "
    "request, or all others: in length, readability, sentiment, agency, words of themes, refusals, "
    "and columns of the file.",
    reads="scores of texts, also with the words of the other person; pair, group and source",
    unit="pair",
    range="any number; 0 is no difference",
    undefined_when="no pair has the score in both halves",
    equation="mean over pairs of score(first) − score(second), each score averaged over the text "
    "as it is and with the words of the other person in it",
    source="Rickman 2025; exchange of pairs as in Fisher 1935, section 21",
    run=pair_difference,
    title="Differences between groups",
    reading="Above 0: texts about the first group have more of it than texts about the second.",
    finding=sentence,
    findings=5,
    brief="between groups",
    each_model=True,
    form=form_of,
    counts=lambda e: "" if form_of(e) or COLUMN in e.details else score_of(e.strata["score"]).unit,
)
