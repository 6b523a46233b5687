"""Differences within matched sets: how far texts about one group lie above those about another."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import Any

import numpy as np

from portrayal.annotate.scores import (
    AGENCY,
    LENGTH,
    READABILITY,
    SENTIMENT,
    score_of,
)
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
from portrayal.stats import divide, infer_fixed_means
from portrayal.stats.paired import exchange_test
from portrayal.types import BoolArray, FloatArray, IntArray

SAME_SCORES = "both halves of every {cluster} score alike"
CONSTANT = "every {cluster} differs by the same {by}, so that nothing tells how others would differ"
ALL_ALIKE = "all {n:,.0f} answers score the same in {score}, so that it tells none of them apart"
"""Why there is no test, where halves do not differ, differ alike everywhere, or no answers do."""
EXCHANGED = "halves of whole {cluster}s exchanged"
REACTION = "instrument_bias"
"""Detail: the difference that exchanging the words of the person alone gives."""
UNMASKED = "unmasked"
"""Detail: the difference of the texts as they are written, with the names in them."""
FLOOR = "sd_of_answers"
"""Detail: the spread of the difference between two answers to the identical request."""
AT_MOST = "at_most"
"""Detail: the least distance d of which a test of equivalence says "no more than d apart"."""
_NO_NAMES = 1e-12
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
    sets = matched_sets
    columns = [(k, *contrast) for k in range(len(sets.scores)) for contrast in contrasts(sets)]
    for model, part, inside in sets.places:
        rows = np.flatnonzero(inside)
        # Without the scorer's reaction to the words of a person, which is tested beside it
        scatter = sets.squares[:, rows], sets.df[:, rows]
        within = Within.of(sets, rows, sets.neutral[:, rows], columns, scatter, scope)
        yield from _of_place(sets, (model, part, inside), within, scope)


def _of_place(
    sets: MatchedSets, place: tuple[str, str, BoolArray], within: "Within", scope: Scope
) -> Iterator[Estimate]:
    """Yield the differences of one place, and those that labels by hand correct."""
    (model, part, inside), sums, columns = place, within.sums, within.columns
    rows, scores = np.flatnonzero(inside), [sets.scores[k] for k, *_ in columns]
    valid, values = ~np.isnan(within.difference), [sets.value[k, rows] for k, *_ in columns]
    # What the exchange changes, and what hiding names does, of the same sets
    masked, written = (
        np.where(valid, within_columns(side[:, rows], columns), np.nan)
        for side in (sets.value, sets.written)
    )
    reaction, names = (
        source_sums(sets, rows, d, sums.groups).means(scope)
        for d in (masked - within.difference, written - masked)
    )
    texts = [value[valid[:, i]] for i, value in enumerate(values)]
    spread = np.array([np.nanstd(x, ddof=1) if len(x) > 1 else np.nan for x in texts])
    n_texts = sets.n_answers[rows].sum(axis=1) @ valid
    reasons = within.means.reason.astype(object)
    for i, score in enumerate(scores):
        # In words of this design: "too few prompts" would puzzle who has pairs.
        if not sums.upper[:, i].any():  # where the halves of no source differ in sum
            alike = SAME_SCORES if spread[i] > 0 else ALL_ALIKE
            reasons[i] = alike.format(cluster=sums.cluster, n=n_texts[i], score=score.name)
        elif np.isnan(within.means.p[i]) and within.means.n_clusters[i] > 1:
            by = f"{digits(abs(float(within.means.value[i])))} {score.unit}"
            reasons[i] = CONSTANT.format(cluster=sums.cluster, by=by)
    means = replace(within.means, reason=reasons)
    # Two one-sided tests at .05 read the ends of a 90 % interval.
    equal, exchanged = sums.means(replace(scope, level=_EQUAL)), within.fields(scope, model, part)

    def fields_of(i: int) -> dict[str, Any]:
        strata = {"model": model, "score": scores[i].name, "part": part}
        if np.isnan(means.value[i]):
            return {"strata": strata, "undefined": "no pair has this score in both halves"}
        details = {
            TEXT_SD: float(spread[i]),
            AT_MOST: float(np.maximum(-equal.low[i], equal.high[i])),
            UNITS + sums.cluster: float(means.n_clusters[i]),
            FLOOR: sets.floor(model, columns[i][0]),
        }
        if abs(names.value[i]) > _NO_NAMES:
            details[UNMASKED] = float(means.value[i] + reaction.value[i] + names.value[i])
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
    shared["exclusions"] = sets.left_out.get(model, {})
    yield from estimates_of(PAIR_DIFFERENCE, sums, means, scope, fields_of, **shared)


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
        share = (weights_within(valid, first) / answers).ravel()

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


def weights_within(valid: BoolArray, first: int) -> FloatArray:
    """Weights of halves in the difference of each set, of those that count, (…, n_groups).

    Group `first` has 1, and the others that the set has share −1; all are 0 where either lacks.
    """
    compared = valid.copy()
    compared[..., first] = False
    n_others = compared.sum(axis=-1, keepdims=True)
    weights = -1.0 * compared / np.maximum(n_others, 1)
    weights[..., first] = 1.0
    return np.asarray(np.where(valid[..., [first]] & (n_others > 0), weights, 0.0))


def within_sets(value: FloatArray, first: int) -> FloatArray:
    """Difference of each set, shape (…,), of halves (…, n_groups); NaN where one lacks.

    Group `first` is compared with the other one, or with the mean of the others that the set has.
    """
    weights = weights_within(~np.isnan(value), first)
    difference = (weights * np.nan_to_num(value)).sum(axis=-1)
    return np.asarray(np.where(weights[..., first] > 0, difference, np.nan))


Column = tuple[int, str, int]
"""Which score, the name of the comparison of groups, and the code of the group that is first."""


def within_columns(value: FloatArray, columns: Sequence[Column]) -> FloatArray:
    """Differences within sets of halves (n_scores, n_sets, n_groups), shape (n_sets, k)."""
    return np.stack([within_sets(value[k], first) for k, _, first in columns], axis=1)


def source_sums(
    sets: MatchedSets, rows: IntArray, values: FloatArray, groups: Sequence[Mapping[str, str]]
) -> GroupSums:
    """Sum values of these sets, (n_chosen, k), by source; NaN is where a set has none."""
    one = np.ones(len(rows))
    units = ScoredUnits(sets.source[rows], one, values, (one[:, np.newaxis],))
    return GroupSums.of(units, sets.sources, groups, cluster=sets.cluster)


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
        scatter: tuple[FloatArray, FloatArray],
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
            (n_scores, n_chosen) each. Answers that never differ within halves are taken as
            exchangeable between them.
        """
        difference, n_answers = within_columns(value, columns), sets.n_answers[rows]
        noise, free = np.full((2, *difference.shape), np.nan)
        for i, (k, _, first) in enumerate(columns):
            (squares, df), d = (x[k] for x in scatter), difference[:, i]
            # A mean of n answers has 1 / n of the variance of one.
            weights = weights_within(n_answers > 0, first)
            multiplier = (weights**2 / np.maximum(n_answers, 1)).sum(axis=1)
            exchanged = divide(d * d, np.maximum(n_answers.sum(1) - 1.0, 1.0))
            variance = np.where(squares > 0, divide(squares, df) * multiplier, exchanged)
            noise[:, i], free[:, i] = np.where(df > 0, variance, np.nan), df
        fixed = infer_fixed_means(difference, sets.source[rows], noise, free, scope.level)
        groups = [{sets.attribute: name} for _, name, _ in columns]
        sums = source_sums(sets, rows, difference, groups)
        return cls(columns, difference, sums, replace(sums.means(scope), fixed=fixed))

    def fields(self, scope: Scope, *labels: str) -> Callable[[int], dict[str, Any]]:
        """Return the function of a column to its null and test by exchange of halves of sources.

        And to what each source says against no difference, by which tests are adjusted jointly.
        """
        sums, kept_of = self.sums, self.sums.kept("mean")
        total = sums.upper
        if len(total) > MOST_PROMPTS:  # very many sources change sides in buckets
            total = sums_by(np.arange(len(total)) % BUCKETS, BUCKETS, total)
        # The halves of a whole source change sides together, as its texts are alike
        p, half = exchange_test(total, scope.rng("exchange", *labels), scope.level)
        method = EXCHANGED.format(cluster=sums.cluster)

        def fields_of(i: int) -> dict[str, Any]:
            reach = float(half[i] / sums.n_upper[:, i].sum())
            if 2.0 ** (1 - np.count_nonzero(total[:, i])) > 1.0 - scope.level:
                reach = np.nan  # the range of so few exchanges holds every value
            null = Null(0.0, -reach, reach, scope.level, method, scope.seed)
            of_source = kept_of(i)
            # A source whose halves score alike moves no joint draw, so that it need not be kept.
            counted, n = of_source.upper != 0.0, len(of_source.prompts)
            names = tuple(compress(of_source.prompts, counted))
            scores = PromptScores(names, of_source.upper[counted], 0.0, n, max(n - 1.0, 1))
            return {"null": null, "tests": (Test(float(p[i]), method),), "scores": scores}

        return fields_of


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


def halves_of(e: Estimate) -> tuple[str, str, str]:
    """Return who writes, "" or with a colon, and the two groups, the one with more first."""
    (pair,) = e.group.values()
    first, second = (people_words(side) for side in pair.split(MINUS, 1))
    writer = "" if e.strata["model"] == UNNAMED else f"{e.strata['model']}: "
    return (writer, first, second) if (e.value or 0.0) >= 0 else (writer, second, first)


_MORE = {
    LENGTH: "are {size} words longer",
    READABILITY: "are {size} school grades harder to read",
    SENTIMENT: "are {size} more positive, on a scale from −1 to 1,",
    AGENCY: "are {size} more agentic, on a scale from −1 to 1,",
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
    brief="within pairs",
    each_model=True,
    form=lambda e: "points" if e.strata.get("score") == REFUSED else "",
    counts=lambda e: "" if e.strata["score"] == REFUSED else score_of(e.strata["score"]).unit,
)
