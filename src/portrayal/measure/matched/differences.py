"""Differences within matched sets: how far texts about one group lie above those about another."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import compress
from typing import Any

import numpy as np

from portrayal.annotate.scores import AGENCY, LENGTH, READABILITY, SENTIMENT, TOXICITY
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
from portrayal.measure.corrected import HandSums, MeanParts
from portrayal.measure.matched.sets import REFUSED, HandHalves, MatchedSets
from portrayal.measure.scope import Scope
from portrayal.records import (
    ALL,
    MINUS,
    OTHERS,
    TEXT_SD,
    UNITS,
    Estimate,
    Null,
    PromptScores,
    Status,
    Test,
)
from portrayal.reference.labels import people_words
from portrayal.registry import Component
from portrayal.run.pages import number as digits
from portrayal.stats import divide, exchange_test, infer_fixed_means
from portrayal.types import BoolArray, FloatArray, IntArray

SAME_SCORES = "both halves of every {cluster} score alike"
CONSTANT = "every {cluster} differs by the same {by}, so that nothing tells how others would differ"
ALL_ALIKE = "all {n:,.0f} answers score the same in {score}, so that it tells none of them apart"
"""Why there is no test, where halves do not differ, differ alike everywhere, or no answers do."""
EXCHANGED = "halves of whole {cluster}s exchanged"
RAW, REACTION, REACTION_P = "as_scored", "instrument_bias", "instrument_bias_p"
"""Details: the difference as scored, what exchanging the words alone gives, and its p."""
UNMASKED = "unmasked"
"""Detail: the difference of the texts as they are written, with the names in them."""
STANDARDISED, FLOOR = "standardised", "sd_of_answers"
"""Details: the difference in units of `TEXT_SD`, and the spread of the difference between two
answers to the identical request."""
CHANGED = "texts_exchanged"
"""Detail: texts in which the exchange changed something."""
AT_MOST = "at_most"
"""Detail: the least distance d of which a test of equivalence says "no more than d apart"."""
_EQUAL = 0.9
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
    for place in matched_sets.places:
        yield from _of_place(matched_sets, place, scope)


def _of_place(
    sets: MatchedSets, place: tuple[str, str, BoolArray], scope: Scope
) -> Iterator[Estimate]:
    model, part, inside = place
    sums, raw, unmasked, reaction, spread, n_texts, fixed = place_sums(sets, inside, scope.level)
    # The same inference of the scores as given, unmasked, and of the reaction to words alone.
    means, as_scored, as_written, reacts = (
        replace(sums, upper=total).means(scope) for total in (sums.upper, raw, unmasked, reaction)
    )
    n_contrasts = len(contrasts(sets))
    # Reasons in words of this design: "too few prompts" would puzzle who has pairs
    means = replace(means, reason=_reasons(sets, sums, means, spread, n_texts), fixed=fixed)
    # Two one-sided tests at .05 read the ends of a 90 % interval.
    equal = sums.means(replace(scope, level=_EQUAL))
    exchanged = exchange_fields(sums, scope, model, part)
    within = np.repeat(sets.within[:, sets.models.index(model)], n_contrasts)
    by_hand = _corrected(sets, place, means, spread, n_texts, scope)

    def own(i: int) -> Mapping[str, Any]:
        score = sets.scores[i // n_contrasts]
        strata = {"model": model, "score": score.name, "part": part}
        if np.isnan(means.value[i]):
            return {"strata": strata, "undefined": "no pair has this score in both halves"}
        details = {
            TEXT_SD: float(spread[i]),
            STANDARDISED: float(divide(means.value[i], spread[i])),
            AT_MOST: float(np.maximum(-equal.low[i], equal.high[i])),
            UNITS + sums.cluster: float(means.n_clusters[i]),
            FLOOR: float(np.sqrt(2.0 * within[i])),
        }
        # The difference with names in place stands beside: what hiding them takes away is seen
        if as_written.value[i] != as_scored.value[i]:
            details[UNMASKED] = float(as_written.value[i])
        status = Status()
        if sets.exchanged and score.exchanged:
            value, reaction_p = float(reacts.value[i]), float(reacts.p[i])
            details |= {RAW: float(as_scored.value[i]), REACTION: value, REACTION_P: reaction_p}
            details[CHANGED] = float(sets.exchanged)
            # A reaction that is the same in every source has no spread, and so no p.
            sure = reaction_p < 1.0 - scope.level or np.isnan(reaction_p)
            if sure and 0.0 < abs(value) >= abs(means.value[i]):
                reason = (
                    f"the scorer reacts to the exchanged words alone by {value:.3g}, which is as "
                    "much as the difference"
                )
                status = Status(detail=reason)
        return {
            "strata": strata,
            "n_texts": int(n_texts[i]),
            **exchanged(i),
            "details": {name: x for name, x in details.items() if not np.isnan(x)},
            "status": status,
        }

    shared: dict[str, Any] = {"statistic": "difference", "strata": {}, "by_hand": by_hand}
    shared["exclusions"] = sets.left_out.get(model, {})
    yield from with_scores(estimates_of(PAIR_DIFFERENCE, sums, means, scope, own, **shared))


def _reasons(
    sets: MatchedSets, sums: GroupSums, means: Inference, spread: FloatArray, n_texts: FloatArray
) -> Any:
    """Why each difference has no test, shape (k,): its answers are all alike, or differ alike."""
    n_contrasts, reasons = len(contrasts(sets)), means.reason.astype(object)
    for i in range(len(reasons)):
        score, cluster = sets.scores[i // n_contrasts], sums.cluster
        # Where the halves of no source differ in sum, no difference has a spread.
        if not sums.upper[:, i].any() and spread[i] > 0:
            reasons[i] = SAME_SCORES.format(cluster=cluster)
        elif not sums.upper[:, i].any():
            reasons[i] = ALL_ALIKE.format(n=n_texts[i], score=score.name)
        elif np.isnan(means.p[i]) and means.n_clusters[i] > 1:
            by = f"{digits(abs(float(means.value[i])))} {score.unit}"
            reasons[i] = CONSTANT.format(cluster=cluster, by=by)
    return reasons


def _corrected(
    sets: MatchedSets,
    place: tuple[str, str, BoolArray],
    means: Inference,
    spread: FloatArray,
    n_texts: FloatArray,
    scope: Scope,
) -> dict[int, Estimate]:
    """The differences that labels by hand correct, by column (score, contrast)."""
    (model, part, inside), compared = place, contrasts(sets)
    estimates: dict[int, Estimate] = {}
    for number, score in enumerate(text_score.name for text_score in sets.scores):
        if score not in sets.hand:
            continue
        # People correct the score that the difference is made of, in the same wording
        neutral = sets.exchanged and sets.scores[number].exchanged
        value = (sets.neutral if neutral else sets.value)[number]
        hand = hand_difference(sets, value, sets.hand[score], inside)
        for column, (name, _) in enumerate(compared):
            i = number * len(compared) + column
            fields = {"group": {sets.attribute: name}, "n_texts": int(n_texts[i])}
            fields["strata"] = {"model": model, "score": score, "part": part}
            naive = float(means.value[i])
            one = corrected_difference(PAIR_DIFFERENCE, hand, column, scope, naive, **fields)
            # On the same scale as the raw difference: the spread of texts as they were scored.
            if one.value is not None and spread[i] > 0:
                sd = {TEXT_SD: float(spread[i]), STANDARDISED: one.value / float(spread[i])}
                one = replace(one, details={**one.details, **sd})
            estimates[i] = one
    return estimates


def hand_difference(
    sets: MatchedSets, value: FloatArray, hand: HandHalves, inside: BoolArray
) -> HandSums:
    """Return the sums behind the differences of one score, each contrast a column, corrected.

    `value` is the score of each half, shape (n_sets, n_groups). A text counts as part of its half,
    and a half of those that the first is compared with as part of their mean, so that sets count
    alike.
    """
    low, span = hand.marks.marks.low, hand.marks.marks.high - hand.marks.marks.low
    valid = ~np.isnan(value) & inside[:, np.newaxis]
    answers = np.maximum(sets.n_answers, 1)
    compared = contrasts(sets)
    weights = np.zeros((2, *value.shape, len(compared)))  # of a half in either mean of a contrast
    # Each contrast: its first half against the mean of the others that its set has.
    for column, (_, first) in enumerate(compared):
        other = valid.copy()
        other[:, first] = False
        both = valid[:, first] & other.any(axis=1)
        weights[0, both, first, column] = 1.0
        weights[1, ..., column] = divide(other * both[:, np.newaxis], other.sum(1, keepdims=True))
    weights = np.nan_to_num(weights)

    # nonzero goes by sets, so that halves and their sources stay in step.
    codes, code = np.unique(sets.source[np.nonzero(valid)[0]], return_inverse=True)
    mask = valid[hand.at, hand.half]

    def parts(
        row: IntArray, half: IntArray, code: IntArray, n: FloatArray, x: FloatArray
    ) -> MeanParts:
        shares = weights[:, row, half] / answers[row, half][:, np.newaxis]
        return MeanParts(code, n, (x - low) / span, shares[0], shares[1])

    # Everyone: each half of a set that has a score.
    row, half = np.nonzero(valid)
    hand_code = np.searchsorted(codes, sets.source[hand.at[mask]])
    everyone = parts(row, half, code, answers[row, half].astype(np.float64), value[row, half])
    weight = hand.marks.weight[mask]
    labelled = parts(hand.at[mask], hand.half[mask], hand_code, weight, hand.said[mask])
    return HandSums.of_contrast(everyone, labelled, hand.marks.truth[mask], hand.marks, "text")


def with_scores(estimates: Iterable[Estimate]) -> Iterator[Estimate]:
    """Add what each source says against no difference, by which tests are adjusted jointly."""
    for e in estimates:
        if e.sums is None or not e.tests:
            yield e
            continue
        # A source whose halves score alike moves no joint draw, so that it need not be kept.
        counted = e.sums.upper != 0.0
        names, n = tuple(compress(e.sums.prompts, counted)), len(e.sums.prompts)
        yield replace(e, scores=PromptScores(names, e.sums.upper[counted], 0.0, n, max(n - 1.0, 1)))


def exchange_fields(sums: GroupSums, scope: Scope, *labels: str) -> Callable[[int], dict[str, Any]]:
    """Return the function of a column to its null and test by exchange of the halves of sources."""
    total = sums.upper
    if len(total) > MOST_PROMPTS:  # very many sources change sides in buckets
        total = sums_by(np.arange(len(total)) % BUCKETS, BUCKETS, total)
    # The halves of a whole source change sides together, as its texts are alike
    p, half = exchange_test(total, scope.rng("exchange", *labels), scope.level)
    method = EXCHANGED.format(cluster=sums.cluster)

    def fields(i: int) -> dict[str, Any]:
        reach = float(half[i] / sums.n_upper[:, i].sum())
        if 2.0 ** (1 - np.count_nonzero(total[:, i])) > 1.0 - scope.level:
            reach = np.nan  # the range of so few exchanges holds every value
        null = Null(0.0, -reach, reach, scope.level, method, scope.seed)
        return {"null": null, "tests": (Test(float(p[i]), method),)}

    return fields


def contrasts(sets: MatchedSets) -> list[tuple[str, int]]:
    """Each comparison of groups: its name, and the code of the group that stands first."""
    if len(sets.groups) == 2:
        return [(MINUS.join(sets.groups), 0)]
    return [(f"{name}{MINUS}{OTHERS}", i) for i, name in enumerate(sets.groups)]


def within_sets(value: FloatArray, first: int) -> FloatArray:
    """Difference of each set, shape (n_sets,), of halves (n_sets, n_groups); NaN where one lacks.

    Group `first` is compared with the other one, or with the mean of the others that the set has.
    """
    other = np.delete(value, first, axis=1)
    valid = ~np.isnan(other)
    return np.asarray(value[:, first] - divide(np.where(valid, other, 0.0).sum(1), valid.sum(1)))


def source_sums(
    sets: MatchedSets, rows: IntArray, values: FloatArray, groups: Sequence[Mapping[str, str]]
) -> GroupSums:
    """Sum values of these sets, (n_chosen, k), by source; NaN is where a set has none."""
    valid = ~np.isnan(values)
    code, source = np.unique(sets.source[rows], return_inverse=True)
    upper, n = (sums_by(source, len(code), x) for x in (np.where(valid, values, 0.0), valid * 1.0))
    names = [sets.sources[i] for i in code.tolist()]
    return GroupSums(names, groups, upper, n, cluster=sets.cluster)


def noise_of(
    n_answers: IntArray, first: int, scatter: tuple[FloatArray, FloatArray], d: FloatArray
) -> FloatArray:
    """Return the variance of each difference if its request were asked again, shape (n_sets,).

    Parameters
    ----------
    n_answers
        Answers of each half, shape (n_sets, n_groups).
    first
        The group that is compared with the others.
    scatter
        Sums of squares off the means of halves, and degrees of freedom, shape (n_sets,) each; NaN
        comes of 0 of these. Answers that never differ within halves are taken as exchangeable
        between them.
    d
        The differences, shape (n_sets,).
    """
    # A mean of n answers has 1 / n of the variance of one.
    inverse = np.where(n_answers > 0, 1.0 / np.maximum(n_answers, 1), 0.0)
    n_other = np.maximum((n_answers > 0).sum(1) - (n_answers[:, first] > 0), 1)
    multiplier = inverse[:, first] + (inverse.sum(1) - inverse[:, first]) / n_other**2
    squares, df = scatter
    exchanged = divide(d * d, np.maximum(n_answers.sum(1) - 1.0, 1.0))
    variance = np.where(squares > 0, divide(squares, df) * multiplier, exchanged)
    return np.asarray(np.where(df > 0, variance, np.nan))


FixedBounds = tuple[FloatArray, FloatArray, FloatArray]
"""Bounds and p in these very requests, shape (k,) each."""


def place_sums(
    sets: MatchedSets, inside: BoolArray, level: float
) -> tuple[GroupSums, FloatArray, FloatArray, FloatArray, FloatArray, FloatArray, FixedBounds]:
    """Sum the differences of each source, columns (score, contrast).

    Returns
    -------
    sums, raw, unmasked, reaction, spread, n_texts, fixed
        Sums of the differences without the scorer's reaction; those as scored, those with names as
        they are written, and of the reaction, shape (n_sources, k) each; standard deviation and
        number of the texts, shape (k,); and what is known of these very requests.
    """
    rows = np.flatnonzero(inside)
    compared = contrasts(sets)
    columns: list[list[FloatArray]] = [[], [], [], []]
    groups, spread, n_texts, noise, free = [], [], [], [], []
    scatter = np.zeros((2, len(sets.scores), len(sets.model)))
    if sets.scatter is not None:
        scatter = np.stack(sets.scatter)
    scores = zip(sets.value, sets.written, sets.neutral, sets.scores, strict=True)
    for number, (value, written, neutral, score) in enumerate(scores):
        halves = value[rows]
        adjusted = neutral[rows] if sets.exchanged and score.exchanged else halves
        for name, first in compared:
            d, raw = within_sets(adjusted, first), within_sets(halves, first)
            # Adjusted, raw and unmasked differences are of the same sets, so that they can be
            # compared.
            valid = ~np.isnan(d) & ~np.isnan(raw)
            unmasked = within_sets(written[rows], first)
            for into, x in zip(columns, (d, raw, unmasked, raw - d), strict=True):
                into.append(np.where(valid, x, np.nan))
            squares, df = scatter[:, number, rows]
            noise.append(noise_of(sets.n_answers[rows], first, (squares, df), d))
            free.append(df)
            groups.append({sets.attribute: name})
            texts = halves[valid]  # the spread of what is compared, for a difference in units of it
            spread.append(float(np.nanstd(texts, ddof=1)) if valid.sum() > 1 else np.nan)
            n_texts.append(float(sets.n_answers[rows][valid].sum()))
    sums, raw_sums, unmasked_sums, reaction = (
        source_sums(sets, rows, np.stack(column, axis=1), groups) for column in columns
    )
    totals = raw_sums.upper, unmasked_sums.upper, reaction.upper
    source, known_df = sets.source[rows], np.stack(free, axis=1)
    d = np.stack(columns[0], axis=1)
    fixed = infer_fixed_means(d, source, np.stack(noise, axis=1), known_df, level)
    return sums, *totals, np.array(spread), np.array(n_texts), fixed


def sentence(e: Estimate) -> str:
    """Return a difference as a finding, the group with more of the score first."""
    writer, first, second = halves_of(e)
    part = "" if e.strata["part"] == ALL else f" ({e.strata['part']})"
    score, value = e.strata["score"], abs(e.value or 0.0)
    more = _MORE.get(score, "have {size} more words in 100 of the theme “{score}”")
    verb = more.format(size=digits(100.0 * value if score == REFUSED else value), score=score)
    if "naive" in e.details:
        part = f"{part}, corrected by hand from {digits(e.details['naive'])}"
    return f"{writer}answers for {first} {verb} than answers for {second} to the same request{part}"


def writer_of(e: Estimate) -> str:
    """Return who writes with a colon after it, or "" where no model is named."""
    return "" if e.strata["model"] == UNNAMED else f"{e.strata['model']}: "


def halves_of(e: Estimate) -> tuple[str, str, str]:
    """Return who writes, "" or with a colon, and the two groups, the one with more first."""
    (pair,) = e.group.values()
    first, second = (people_words(side) for side in pair.split(MINUS, 1))
    writer = writer_of(e)
    return (writer, first, second) if (e.value or 0.0) >= 0 else (writer, second, first)


_MORE = {
    LENGTH: "are {size} words longer",
    READABILITY: "are {size} school grades harder to read",
    SENTIMENT: "are {size} more positive, on a scale from −1 to 1,",
    AGENCY: "are {size} more agentic, on a scale from −1 to 1,",
    TOXICITY: "are {size} more toxic, on a scale from 0 to 1,",
    REFUSED: "are refusals {size} points more often",
}

PAIR_DIFFERENCE = Component(
    name="pair_difference.v2",
    summary="How far texts about one group lie above texts about another that answer the same "
    "request: in length, readability, sentiment, agency, words of themes, and refusals.",
    reads="scores of texts, also with the words of the other person; pair, group and source",
    unit="pair",
    range="any number; 0 is no difference",
    undefined_when="no pair has the score in both halves",
    equation="mean over pairs of score(first) − score(second), each score averaged over the text "
    "as it is and with the words of the other person in it",
    source="Rickman 2025; exchange of pairs as in Fisher 1935, section 21",
    run=pair_difference,
    title="Differences within pairs",
    reading="Above 0: texts about the first group have more of it than texts about the second.",
    finding=sentence,
    findings=5,
    figure="pair-differences",
    brief="within pairs",
    each_model=True,
    form=lambda e: "points" if e.strata.get("score") == REFUSED else "",
)
