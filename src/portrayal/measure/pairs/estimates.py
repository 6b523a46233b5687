"""Means over pairs: the estimates that distances, prejudice rates and changes share.

A *quantity* is a number for each row and column, such as the distance between a text and its
original. At a level it gives a table of *scored* rows, which are summed by pair at each place. A
mean gets an interval that resamples pairs and a null in which what an original and all its texts
hold is dealt to them again.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

import portrayal.registry as registry
from portrayal.measure.clustered import (
    GroupSums,
    Inference,
    corrected_difference,
    estimates_of,
    normal_interval,
    sums_by,
)
from portrayal.measure.corrected import HandSums
from portrayal.measure.pairs.by_hand import corrected_changes
from portrayal.measure.pairs.dealing import FEWEST_TO_EXCHANGE, gap_beyond_pairs, null_p
from portrayal.measure.pairs.table import (
    BOTH,
    DOCUMENT,
    FULL,
    GENERATED,
    NO_TEXT,
    ORIGINAL,
    PAIRED,
    SCORE,
    SHARE,
    Level,
    Paired,
    PairStratum,
    places,
)
from portrayal.measure.scope import Scope
from portrayal.records import ALL, Estimate, Null, Status, Test
from portrayal.stats import divide, inverted_toward_null, permutation_range
from portrayal.stats.resampling import not_refused
from portrayal.types import BoolArray, FloatArray

Values = Callable[[Level, FloatArray, FloatArray], FloatArray]
"""Function of a level, and of generated and reference values, shape (..., n, M), to (..., n, k)."""
ROUNDING = 1e-9
"""Changes smaller than this are none: sums taken in another order differ by rounding."""
DETAIL = "a detail beside what the study asks of whole texts in the plain form"
"""Why a number is no finding."""
ONE_EACH = (
    "gap between texts and originals of other pairs, as originals are exchanged at random with "
    "their texts; topics and their groups as fitted"
)
"""The null of distances where whole texts are exchanged and an original has one text.

The distance of a pair is the same whichever of the two is the original. What tells texts from
originals there is that they lie further apart than either lie among themselves, over all other
pairs of the place. By so much at least differences raise the distance within pairs, since a
distance between distributions is convex: that of the mixtures is at most the mean of the pairs'.
The null's centre is the distance without that gap, and its draws add those of the exchanges.
"""
IN_ORIGINALS = "in_originals"
"""Detail of a change: what the originals have on average, where it is known of both texts."""
INVERTED = "; toward the null the test inverted"
"""What the method of an interval says where it and the test differed."""
FEW_TO_EXCHANGE = (
    f"with one text per original and fewer than {FEWEST_TO_EXCHANGE} pairs, no exchange of "
    "originals with their texts could be rarer than 5 %"
)
"""Why a distance has no null where whole texts are exchanged."""


@dataclass(frozen=True, slots=True)
class QuantityColumn:
    """One column of a quantity: strata beyond those of the place and level, and the group."""

    strata: Mapping[str, str]
    group: Mapping[str, str]


@dataclass(frozen=True)
class Quantity:
    """What is averaged over pairs.

    Attributes
    ----------
    measure, statistic, source
        Registered name, what the mean is ("distance", "share", "difference"), paper and equation.
    columns
        Function of a level to its columns.
    values
        Function of a level, and of generated and reference values, shape (..., n, M), to
        (..., n, k); NaN where a row does not count.
    undefined
        Reason to give where no row counts.
    greater
        Whether only values above the null speak against it (distances).
    tested
        Whether the clustered test against 0 is the first one; else the permutation test is. Such a
        difference of means of scores is what labels by hand correct.
    printed
        Whether the paper prints a normal interval of it.
    details
        Function of the values at a place, shape (n,), to further numbers.
    """

    measure: str
    statistic: str
    source: str
    columns: Callable[[Level], list[QuantityColumn]]
    values: Values
    undefined: str
    greater: bool = False
    tested: bool = False
    printed: bool = True
    details: Callable[[FloatArray], dict[str, float]] = field(default=lambda _: {})


def by_group(level: Level) -> list[QuantityColumn]:
    """Return a column for each group of a level."""
    return [QuantityColumn({}, {level.attribute: group}) for group in level.groups]


def status_of(level: Level, group: Mapping[str, str], *, plain: bool) -> Status:
    """Return why a number is a detail and no finding; no reason where it is primary.

    What Fang et al. ask of an attribute at a level is asked once: of whole texts, in the `plain`
    form or against it, and of two groups' shares, which are mirror images, of the first.
    """
    # Of two shares the second is 1 less the first, and would say every finding twice.
    mirrored = level.kind == SHARE and [*group.values()] == [*level.groups[1:]]
    primary = plain and level.length == FULL and not mirrored
    return Status() if primary else Status(detail=DETAIL)


@dataclass(frozen=True, eq=False)
class Scored:
    """A quantity of every row at one level.

    Attributes
    ----------
    quantity, level, columns
        What, and of what each of the k columns is.
    total, count
        Mean over samples of the value (0 where undefined) and of whether it is defined, shape
        (n_rows, k). At full length `count` is 0 or 1.
    original
        Mean over samples of what the original has where the value is defined, shape (n_rows, k);
        None where columns are not those of the groups.
    by_sample
        The value in each sample, shape (n_samples, n_rows, k).
    """

    quantity: Quantity
    level: Level
    columns: list[QuantityColumn]
    total: FloatArray
    count: FloatArray
    original: FloatArray | None
    by_sample: FloatArray

    @classmethod
    def of(cls, quantity: Quantity, level: Level) -> "Scored":
        """Score the rows of a level."""
        by_sample = quantity.values(level, level.generated, level.reference)
        valid = ~np.isnan(by_sample)
        original = None
        if by_sample.shape == level.reference.shape:
            original = np.where(valid, level.reference, 0.0).mean(axis=0)
        # Over all samples, also those without a value: total / count is then the mean of the others
        total, count = np.where(valid, by_sample, 0.0).mean(axis=0), valid.mean(axis=0)
        return cls(quantity, level, quantity.columns(level), total, count, original, by_sample)

    @cached_property
    def values(self) -> FloatArray:
        """Mean of each row over the samples in which it is defined; NaN where there is none."""
        return divide(self.total, self.count)

    def details(self, inside: BoolArray, k: int) -> dict[str, float]:
        """Return further numbers of column `k` in some rows, of which one or more count."""
        values, by_sample = self.values[inside, k], self.by_sample[:, inside, k]
        details = self.quantity.details(values[~np.isnan(values)])
        if len(by_sample) > 1:  # how far a mean hangs on which sentences were drawn
            defined = ~np.isnan(by_sample)
            means = divide(np.where(defined, by_sample, 0.0).sum(axis=1), defined.sum(axis=1))
            means = means[~np.isnan(means)]
            spread = float(means.std(ddof=1)) if len(means) > 1 else float("nan")
            details |= {"sentence_draws": float(len(means)), "sd_between_draws": spread}
        if self.quantity.tested and self.original is not None:
            of_originals = self.original[inside, k].sum() / self.count[inside, k].sum()
            details[IN_ORIGINALS] = float(of_originals)
        return details


def null_means(
    quantities: Sequence[Quantity],
    level: Level,
    paired: Paired,
    strata: Sequence[PairStratum],
    scope: Scope,
) -> dict[str, FloatArray]:
    """Return the means at each place in each draw of a level's null, by measure.

    Shapes (n_draws, n_places, k): NaN where no row counts, and without draws where the level has no
    null. Each model's texts are dealt with their originals, and for all models together those of
    all; what is dealt serves every quantity.
    """
    size = scope.permutations if level.dealer is not None else 0
    means = {
        quantity.measure: np.full((size, len(strata), len(quantity.columns(level))), np.nan)
        for quantity in quantities
    }
    inside = np.array([place.rows for place in strata], dtype=np.float64)
    of_all = np.array([place.labels["model"] == ALL for place in strata], dtype=bool)
    for all_models in (False, True):
        pooled = np.flatnonzero(of_all == all_models)
        if level.dealer is None or len(pooled) == 0:
            continue
        # Pools of one model do not hold another model's texts, so either is dealt by itself.
        deal = level.dealer(paired.pools(all_models=all_models))
        rng = scope.rng("null", *level.labels.values(), *(["together"] * all_models))
        for draw in range(size):
            sides = deal(rng, draw)
            for quantity in quantities:
                values = quantity.values(level, *sides)
                valid = ~np.isnan(values)
                total = inside[pooled] @ np.where(valid, values, 0.0)
                means[quantity.measure][draw, pooled] = divide(total, inside[pooled] @ valid)
    return means


_NULLS = WeakKeyDictionary[Paired, dict[tuple[Any, ...], dict[str, FloatArray]]]()
"""`null_means` of the levels of the tables in use, since each measure asks for its own."""


_CELLS = 1 << 20
"""Numbers of exchanged pairs that are worked on together."""


def exchanged_gaps(readings: FloatArray, draws: int, rng: np.random.Generator) -> FloatArray:
    """Return `gap_beyond_pairs`, observed and with texts and originals exchanged: (1 + draws,).

    Both texts of a pair are read alike, first as a text and then as an original, so that each says
    the same in either place; the mean of both gaps is taken. NaN where too few pairs count.

    Parameters
    ----------
    readings
        Those of a level, one row for each pair, shape (2, n, 2, M).
    draws, rng
        How often pairs change sides, and by which stream.
    """
    gaps = np.zeros(1 + draws)
    step = max(1, _CELLS // max(readings.size, 1))
    for first in range(0, 1 + draws, step):
        size = min(step, 1 + draws - first)
        # A pair changes sides as a whole, with both of its readings; at first none does.
        swap = np.zeros((size, readings.shape[1]), dtype=bool)
        observed = int(first == 0)
        swap[observed:] = rng.random((size - observed, readings.shape[1])) < 0.5
        for reading in (0, 1):
            ours, theirs = readings[:, :, reading]
            valid = ~np.isnan(ours + theirs).any(axis=1)
            both, moves = (ours[valid], theirs[valid]), swap[:, valid, np.newaxis]
            one, other = np.where(moves, both[1], both[0]), np.where(moves, both[0], both[1])
            gaps[first : first + size] += gap_beyond_pairs(one, other) / 2
    return gaps


def paired_means(
    quantity: Quantity,
    quantities: Sequence[Quantity],
    paired: Paired,
    scope: Scope,
    base_form: str | None = None,
) -> Iterator[Estimate]:
    """Yield the mean of a quantity at every place, for each level and column.

    Parameters
    ----------
    quantity, quantities
        What, and all that are drawn with it.
    paired, scope
        Of which rows, and the audit's settings.
    base_form
        The form whose texts the study's questions are of; see `Paired.base_form`.
    """
    strata, nulls = list(places(paired)), _NULLS.setdefault(paired, {})
    parts = []
    for i, level in enumerate(paired.levels):
        key = i, scope.study, scope.seed, scope.permutations
        if key not in nulls:
            nulls[key] = null_means(quantities, level, paired, strata, scope)
        draws, one_each = nulls[key][quantity.measure].copy(), np.zeros(len(strata), dtype=bool)
        if level.readings is not None and quantity.greater:
            for number, place in enumerate(strata):
                texts = np.bincount(paired.pair[place.rows])
                # With one text per original, exchanging both leaves most distances as they are
                if (texts > 1).sum() >= (texts == 1).sum():
                    continue
                one_each[number], rows = True, np.flatnonzero(place.rows)
                # Of several texts of an original the first counts.
                rows = rows[np.unique(paired.pair[rows], return_index=True)[1]]
                labels = *level.labels.values(), *place.labels.values()
                rng = scope.rng(quantity.measure, "gaps", *labels)
                gaps = exchanged_gaps(level.readings[:, rows], scope.permutations, rng)
                # Relative to the observed gap: the null is centred at the distance without it.
                draws[:, number, 0] = gaps[1:] - gaps[0]
        hand = list(corrected_changes(paired, level, strata)) if quantity.tested else []
        parts.append(_Part(Scored.of(quantity, level), draws, one_each, hand))
    for number, place in enumerate(strata):
        # At equal length only over all domains and sources
        at_place = [p for p in parts if place.is_whole or p.scored.level.length == FULL]
        if at_place:
            yield from _at(paired, place, number, at_place, scope, paired.base_form(base_form))


@dataclass(frozen=True, eq=False)
class _Part:
    """A quantity at one level: draws of its null, which are of gaps, and sums by hand, by place."""

    scored: Scored
    draws: FloatArray
    one_each: BoolArray
    hand: list[HandSums]


def _at(
    paired: Paired,
    place: PairStratum,
    number: int,
    parts: list[_Part],
    scope: Scope,
    plain_form: str,
) -> Iterator[Estimate]:
    quantity, inside = parts[0].scored.quantity, place.rows
    labels, pair = np.unique(paired.pair[inside], return_inverse=True)
    total, count = (
        np.concatenate([sums_by(pair, len(labels), table[inside]) for table in tables], axis=1)
        for tables in zip(*((part.scored.total, part.scored.count) for part in parts), strict=True)
    )
    columns = [(part, k) for part in parts for k in range(len(part.scored.columns))]
    groups = [part.scored.columns[k].group for part, k in columns]
    sums = GroupSums([paired.pairs[c] for c in labels], groups, total, count, cluster="pair")
    # All levels and columns of a place in one inference, as their pairs are the same
    inference = sums.shares(scope) if quantity.statistic == "share" else sums.means(scope)
    measure, n_texts = registry.component("measures", quantity.measure), int(inside.sum())
    strata = [
        {**part.scored.level.labels, **place.labels, **part.scored.columns[k].strata}
        for part, k in columns
    ]

    def fields_of(i: int) -> dict[str, Any]:
        part, k = columns[i]
        level = part.scored.level
        values = part.scored.values[inside, k]
        valid = values[~np.isnan(values)]
        fields: dict[str, Any] = {
            "strata": strata[i],
            "n_units": float(len(valid)),
            "exclusions": _left_out(level, inside, values),
            "instruments": {"lexicon": level.lexicon},
            "status": status_of(level, groups[i], plain=place.labels["form"] == plain_form),
        }
        if len(valid) == 0:
            reason = level.undefined(place.labels["model"], place.labels["form"])
            return {**fields, "undefined": reason or quantity.undefined}
        fields |= _tested(part, number, k, (inference, i, int((count[:, i] > 0).sum())), scope)
        if fields["null"] is None and part.one_each[number]:
            fields["status"] |= Status(no_test=FEW_TO_EXCHANGE)
        fields["paper_interval"] = normal_interval(valid, scope.level) if quantity.printed else None
        return {**fields, "details": part.scored.details(inside, k)}

    by_hand: dict[int, Estimate] = {}
    for i, (part, k) in enumerate(columns):
        if part.hand and not np.isnan(inference.value[i]):
            fields = {"group": groups[i], "strata": strata[i], "n_texts": n_texts}
            value = float(inference.value[i])
            by_hand[i] = corrected_difference(measure, part.hand[number], k, scope, value, **fields)
    yield from estimates_of(
        measure,
        sums,
        inference,
        scope,
        fields_of,
        tested=quantity.tested,
        by_hand=by_hand,
        n_texts=n_texts,
        statistic=quantity.statistic,
        exclusions=_unpaired(paired, place),
    )


def _unpaired(paired: Paired, place: PairStratum) -> dict[str, int]:
    """Texts of a place's model and form in no row, by reason; known of the whole alone."""
    total: Counter[str] = Counter()
    for (model, form), reasons in paired.dispositions.items() if place.is_whole else ():
        if form == place.labels["form"] and place.labels["model"] in (ALL, model):
            total.update(reasons)
    # Paired texts are no exclusion, and a text that was never written is no text.
    return {reason: n for reason, n in total.items() if reason not in (PAIRED, NO_TEXT)}


def _tested(
    part: _Part, number: int, k: int, column: tuple[Inference, int, int], scope: Scope
) -> dict[str, Any]:
    """The interval of one column, its null and its test.

    Interval and test by different methods could contradict each other, so the interval's end toward
    the null is that of the test: of all nulls with draws as far around them that would allow the
    value. Not so where another test is the first, or the value lies on the side that a test of one
    side never refuses.

    `column` is the inference, the column's index there, and how many pairs count.
    """
    (inference, i, n_pairs), level, quantity = column, part.scored.level, part.scored.quantity
    value, bounds = float(inference.value[i]), inference.interval(i, scope, "pair")
    draws, method = part.draws[:, number, k], level.null_method
    if part.one_each[number]:
        # These draws are relative to the observed gap; a distance is never below 0.
        draws, method = np.maximum(value + draws, 0.0), ONE_EACH
    valid = draws[~np.isnan(draws)]
    if len(valid) == 0:
        return {"interval": bounds, "null": None, "tests": ()}
    centre = float(valid.mean())
    low, high = (float(bound) for bound in permutation_range(valid, scope.level))
    null = Null(centre, low, high, scope.level, method, scope.seed)
    p = null_p(value, draws, greater=quantity.greater, n_pairs=n_pairs, level=scope.level)
    if bounds and not quantity.tested and not (quantity.greater and value < centre):
        least, most = not_refused(draws, scope.level, greater=quantity.greater)
        top = 2.0 if level.kind == SCORE else 1.0  # as far apart as two scores or shares can be
        floor, top = (0.0, 1.0) if quantity.statistic == "share" else (-top, top)
        inverted = max(value - (most - centre), floor), min(value + (centre - least), top)
        ends = bounds.low, bounds.high
        toward = inverted_toward_null(ends, inverted, p, value, centre, scope.level)
        low, high = map(float, toward)
        method = bounds.method + INVERTED * ((low, high) != ends)
        bounds = replace(bounds, low=low, high=high, method=method)
    return {"interval": bounds, "null": null, "tests": (Test(p, null.method),)}


def _left_out(level: Level, inside: BoolArray, values: FloatArray) -> dict[str, int]:
    """Why rows of the place do not count: their own texts, then what the quantity asks for."""
    n = int(np.isnan(values).sum())
    if n == 0:
        return {}
    lacking = np.bincount(level.lacking[inside], minlength=4)
    unit = "group words" if level.kind == SHARE else "sentences about a group"
    unit = "pertinent topic" if level.name == DOCUMENT else unit
    reasons = {
        f"no {unit} in either text": int(lacking[BOTH]),
        f"no {unit} in the generated text": int(lacking[GENERATED]),
        f"no {unit} in the original": int(lacking[ORIGINAL]),
    }
    reasons["pair does not count for this group"] = max(n - sum(reasons.values()), 0)
    return {reason: count for reason, count in reasons.items() if count}
