"""Means over pairs: the estimates that distances, prejudice rates and changes share.

A *quantity* is a number of a generated text that reads its original. That of every row, at every
level and of every group, is one table of scores, from which the sums by pair of each model and form
are taken. A mean gets an interval that resamples pairs and a null in which what an original and all
its texts hold is exchanged among them.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

import portrayal.registry as registry
from portrayal.measure.clustered import (
    GroupSums,
    corrected_difference,
    estimates_of,
    normal_interval,
)
from portrayal.measure.corrected import HandSums
from portrayal.measure.pairs.levels import corrected_change
from portrayal.measure.pairs.table import (
    DOCUMENT,
    FEWEST_TO_EXCHANGE,
    Level,
    Paired,
    gap_beyond_pairs,
    null_p,
)
from portrayal.measure.scope import Scope
from portrayal.measure.scored import ScoredUnits
from portrayal.records import ALL, Estimate, Interval, Null, Status, Test
from portrayal.stats import divide, inverted_toward_null, permutation_range
from portrayal.stats.resampling import not_refused
from portrayal.types import BoolArray, FloatArray

ROUNDING = 1e-9
"""Changes smaller than this are none: sums taken in another order differ by rounding."""
DETAIL = "a detail beside what the study asks of texts in the plain form"
"""Why a number is no finding."""


@dataclass(frozen=True)
class Quantity:
    """What is averaged over pairs.

    Attributes
    ----------
    measure, statistic, source
        Registered name, what the mean is ("distance", "share", "difference"), paper and equation.
    values
        Function of a level, and of generated and reference values, shape (n, M), to a number of
        each row, shape (n, 1), or of each row and group, (n, M); NaN where a row does not count.
    undefined
        Reason to give where no row counts.
    by_group
        Whether there is a number for each group.
    greater
        Whether only values above the null speak against it (distances).
    tested
        Whether the clustered test against 0 is the first one; else the permutation test is. Such a
        difference of means of scores is what labels by hand correct.
    printed
        Whether the paper prints a normal interval of it.
    """

    measure: str
    statistic: str
    source: str
    values: Callable[[Level, FloatArray, FloatArray], FloatArray]
    undefined: str
    by_group: bool = True
    greater: bool = False
    tested: bool = False
    printed: bool = True

    def groups(self, level: Level) -> list[dict[str, str]]:
        """Return what each number of a row is of at a level."""
        return [{level.attribute: group} for group in level.groups] if self.by_group else [{}]


def status_of(level: Level, group: Mapping[str, str], *, plain: bool) -> Status:
    """Return why a number is a detail and no finding; no reason where it is primary.

    What Fang et al. ask of an attribute at a level is asked once: in the `plain` form or against
    it, and of two groups' shares, which are mirror images, of the first.
    """
    # Of two shares the second is 1 less the first, and would say every finding twice.
    mirrored = level.is_share and [*group.values()] == [*level.groups[1:]]
    return Status() if plain and not mirrored else Status(detail=DETAIL)


def distances(level: Level, generated: FloatArray, reference: FloatArray) -> FloatArray:
    """Return the distance within each row, shape (n, 1); NaN where it is undefined.

    Shares: the Wasserstein distance with d = 1 between groups, Eq. 3, which is ½ Σ |f − o|; for two
    groups |f₁ − o₁|, for three the largest |f − o|, as printed. Scores: the largest |s − o| over
    the groups that both texts have sentences about.
    """
    difference = np.abs(generated - reference)
    if level.is_share:
        return np.asarray(difference.sum(axis=-1, keepdims=True) / 2)
    valid = ~np.isnan(difference)
    largest = np.max(np.where(valid, difference, -1.0), axis=-1, keepdims=True, initial=-1.0)
    return np.where(valid.any(axis=-1, keepdims=True), largest, np.nan)


def changes(_: Level, generated: FloatArray, reference: FloatArray) -> FloatArray:
    """Return the change of each group, shape (n, M); changes within rounding are 0."""
    change = generated - reference
    # change * 0 rather than 0 keeps NaN where nothing can be compared.
    return np.where(np.abs(change) > ROUNDING, change, change * 0)


def prejudice(level: Level, generated: FloatArray, reference: FloatArray) -> FloatArray:
    """Return whether each group fares worse, shape (n, M).

    NaN where the original does not mention it, at the level of documents where no original does, or
    where nothing can be compared.
    """
    present = reference > 0 if level.is_share else ~np.isnan(reference)
    if level.name == DOCUMENT:  # Figures 6b and 7b have the N of 6a and 7a: all pairs
        present = np.broadcast_to(present.any(axis=0), present.shape)
    change = changes(level, generated, reference)
    return np.where(present & ~np.isnan(change), level.worse * change > 0, np.nan)


def prejudiced_changes(level: Level, generated: FloatArray, reference: FloatArray) -> FloatArray:
    """Return the change of each group where it fares worse, shape (n, M); NaN elsewhere."""
    worse = prejudice(level, generated, reference) == 1
    return np.where(worse, changes(level, generated, reference), np.nan)


DISTANCE = Quantity(
    measure="paired_distance.v1",
    statistic="distance",
    source="Fang et al. 2024, Eq. 3–6 and 9",
    values=distances,
    undefined="no pair in which both texts mention a group",
    by_group=False,
    greater=True,
)
RATE = Quantity(
    measure="prejudice_rate.v2",
    statistic="share",
    source="Fang et al. 2024, Fig. 2b–10a (prejudice)",
    values=prejudice,
    undefined="no pair whose original mentions the group and whose generated text can be compared",
    printed=False,
)
PREJUDICED_CHANGE = Quantity(
    measure="prejudice_change.v1",
    statistic="difference",
    source="Fang et al. 2024, Fig. 2c–10b (decrease in prejudice articles)",
    values=prejudiced_changes,
    undefined="no pair in which the group changed in this direction",
)
CHANGE = Quantity(
    measure="group_change.v1",
    statistic="difference",
    source="Fang et al. 2024, Table 1",
    values=changes,
    undefined="no pair in which both texts can be compared for the group",
    tested=True,
)
QUANTITIES = (DISTANCE, RATE, PREJUDICED_CHANGE, CHANGE)


ONE_EACH = (
    "gap between texts and originals of other pairs, as originals are exchanged at random with "
    "their texts; topics and their groups as fitted"
)
"""The null of distances where whole texts are exchanged and an original has one text.

The distance of a pair is the same whichever of the two is the original. What tells texts from
originals there is that they lie further apart than either lie among themselves, over all other
pairs of the stratum. By so much at least differences raise the distance within pairs, since a
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


@dataclass(frozen=True)
class Column:
    """A column of a table of scores: the level, the index of its group there, and the group."""

    level: Level
    index: int
    group: Mapping[str, str]


@dataclass(frozen=True, eq=False)
class PairScores:
    """A quantity of every row, at every level and of every group.

    Attributes
    ----------
    quantity, columns
        What, and of what each of the k columns is.
    values
        Shape (n_rows, k); NaN where a row does not count.
    """

    quantity: Quantity
    columns: list[Column]
    values: FloatArray

    @classmethod
    def of(cls, quantity: Quantity, paired: Paired) -> "PairScores":
        """Score the rows at each level."""
        columns = [
            Column(level, i, group)
            for level in paired.levels
            for i, group in enumerate(quantity.groups(level))
        ]
        parts = [quantity.values(x, x.generated, x.reference) for x in paired.levels]
        empty = np.empty((len(paired.pair), 0))
        return cls(quantity, columns, np.concatenate([empty, *parts], axis=1))

    @property
    def groups(self) -> list[Mapping[str, str]]:
        """The group of each column."""
        return [column.group for column in self.columns]

    def units(self, paired: Paired, *members: FloatArray) -> ScoredUnits:
        """Return the rows that are part of a mean as units by pair; members as of these."""
        rows = np.any(members, axis=(0, 2))
        parts = tuple(member[rows] for member in members)
        return ScoredUnits(paired.pair[rows], np.ones(len(parts[0])), self.values[rows], parts)


def null_means(paired: Paired, scope: Scope) -> dict[str, FloatArray]:
    """Return the means in each draw of the levels' nulls, by measure.

    Shapes (n_draws, n_strata, k); NaN where no row counts or the level has no null. Each model's
    texts are exchanged with their originals, and for all models together those of all; what is
    drawn serves every quantity.
    """
    strata = list(paired.strata())
    inside = np.array([rows for _, rows in strata], dtype=np.float64)
    of_all = np.array([labels["model"] == ALL for labels, _ in strata], dtype=bool)
    means: dict[str, list[FloatArray]] = {quantity.measure: [] for quantity in QUANTITIES}
    for level in paired.levels:
        for quantity in QUANTITIES:
            shape = scope.permutations, len(strata), len(quantity.groups(level))
            means[quantity.measure].append(np.full(shape, np.nan))
        for all_models in (False, True):
            pooled = np.flatnonzero(of_all == all_models)
            if level.dealer is None or len(pooled) == 0:
                continue
            # Pools of one model do not hold another model's texts, so either is drawn by itself.
            deal = level.dealer(paired.pools(all_models=all_models))
            rng = scope.rng("null", *level.strata.values(), *(["together"] * all_models))
            for draw in range(scope.permutations):
                sides = deal(rng)
                for quantity in QUANTITIES:
                    values = quantity.values(level, *sides)
                    valid = ~np.isnan(values)
                    total = inside[pooled] @ np.where(valid, values, 0.0)
                    mean = divide(total, inside[pooled] @ valid)
                    means[quantity.measure][-1][draw, pooled] = mean
    empty = np.empty((scope.permutations, len(strata), 0))
    return {measure: np.concatenate([empty, *x], axis=2) for measure, x in means.items()}


_NULLS = WeakKeyDictionary[Paired, dict[tuple[Any, ...], dict[str, FloatArray]]]()
"""`null_means` of the tables in use, since each measure asks for its own."""


def exchanged_gaps(readings: FloatArray, draws: int, rng: np.random.Generator) -> FloatArray:
    """Return `gap_beyond_pairs`, observed and with texts and originals exchanged: (1 + draws,).

    Both texts of a pair are read alike, first as a text and then as an original, so that each says
    the same in either place; the mean of both gaps is taken. NaN where too few pairs count.

    Parameters
    ----------
    readings
        Those of a level, one row for each pair, shape (2, 2, n, M).
    draws, rng
        How often pairs change sides, and by which stream.
    """
    gaps = np.zeros(1 + draws)
    # A pair changes sides as a whole, with both of its readings; at first none does.
    swaps = rng.random((1 + draws, readings.shape[2])) < 0.5
    swaps[0] = False
    for ours, theirs in readings:
        valid = ~np.isnan(ours + theirs).any(axis=1)
        for draw, swap in enumerate(swaps[:, valid, np.newaxis]):
            one, other = np.where(swap, (theirs[valid], ours[valid]), (ours[valid], theirs[valid]))
            gaps[draw] += gap_beyond_pairs(one, other) / 2
    return gaps


def paired_means(
    quantity: Quantity, paired: Paired, scope: Scope, base_form: str | None = None
) -> Iterator[Estimate]:
    """Yield the mean of a quantity for each model and form, at each level and of each group.

    Parameters
    ----------
    quantity
        What.
    paired, scope
        Of which rows, and the audit's settings.
    base_form
        The form whose texts the study's questions are of; see `Paired.base_form`.
    """
    nulls = _NULLS.setdefault(paired, {})
    key = scope.study, scope.seed, scope.permutations
    if key not in nulls:
        nulls[key] = null_means(paired, scope)
    scores, draws = PairScores.of(quantity, paired), nulls[key][quantity.measure]
    for number, (labels, rows) in enumerate(paired.strata()):
        plain = labels["form"] == paired.base_form(base_form)
        stratum = _Stratum(paired, scores, labels, rows, draws[:, number], scope, plain)
        yield from stratum.estimates()


@dataclass(frozen=True, eq=False)
class _Stratum:
    """The scores of one model's texts in one form, with draws of their null, shape (n_draws, k)."""

    paired: Paired
    scores: PairScores
    labels: Mapping[str, str]
    rows: BoolArray
    draws: FloatArray
    scope: Scope
    plain: bool

    def estimates(self) -> Iterator[Estimate]:
        """Yield the mean of each column; those that labels by hand correct, beside these."""
        quantity, scope = self.scores.quantity, self.scope
        measure = registry.component("measures", quantity.measure)
        units = self.scores.units(self.paired, self.rows[:, np.newaxis].astype(np.float64))
        sums = GroupSums.of(units, self.paired.pairs, self.scores.groups, cluster="pair")
        # All levels and groups in one inference, as their pairs are the same
        means = sums.shares(scope) if quantity.statistic == "share" else sums.means(scope)
        n_texts, n_pairs = int(self.rows.sum()), (sums.n_upper > 0).sum(axis=0)
        hand: dict[Level, HandSums | None] = {}
        by_hand: dict[int, Estimate] = {}
        for i, column in enumerate(self.scores.columns if quantity.tested else ()):
            level, naive = column.level, float(means.value[i])
            if level not in hand:
                hand[level] = corrected_change(self.paired, level, self.rows)
            if (of_level := hand[level]) is not None and not np.isnan(naive):
                fields = {"group": column.group, "strata": self.strata(column), "n_texts": n_texts}
                by_hand[i] = corrected_difference(
                    measure, of_level, column.index, scope, naive, **fields
                )

        def fields_of(i: int) -> dict[str, Any]:
            interval = means.interval(i, scope, "pair")
            return self.fields(i, float(means.value[i]), interval, int(n_pairs[i]))

        yield from estimates_of(
            measure,
            sums,
            means,
            scope,
            fields_of,
            tested=quantity.tested,
            by_hand=by_hand,
            n_texts=n_texts,
            statistic=quantity.statistic,
            exclusions=self.unpaired,
        )

    @property
    def unpaired(self) -> dict[str, int]:
        """Texts of the model and form that are in no row, by reason."""
        strata = self.paired.strata(self.paired.generated)
        inside = next(texts for labels, texts in strata if labels == self.labels)
        total = Counter(self.paired.unpaired[i] for i in np.flatnonzero(inside).tolist())
        return {reason: n for reason, n in total.items() if reason}

    def strata(self, column: Column) -> dict[str, str]:
        """Return the strata of a column's estimate."""
        return {**column.level.strata, **self.labels}

    def fields(
        self, i: int, value: float, interval: Interval | None, n_pairs: int
    ) -> dict[str, Any]:
        """Return the fields of the estimate of column `i`."""
        column, quantity = self.scores.columns[i], self.scores.quantity
        level, values = column.level, self.scores.values[self.rows, i]
        counted = ~np.isnan(values)
        fields: dict[str, Any] = {
            "strata": self.strata(column),
            "n_units": float(counted.sum()),
            "exclusions": _left_out(level, self.rows, counted),
            "instruments": {"lexicon": level.lexicon},
            "status": status_of(level, column.group, plain=self.plain),
        }
        if not counted.any():
            reason = level.undefined(self.labels["model"], self.labels["form"])
            return {**fields, "undefined": reason or quantity.undefined}
        if quantity.printed:
            fields["paper_interval"] = normal_interval(values[counted], self.scope.level)
        if quantity.tested:
            of_originals = level.reference[self.rows, column.index][counted]
            fields["details"] = {IN_ORIGINALS: float(of_originals.mean())}
        draws, method = self.draws[:, i], level.null_method
        gaps = self.gaps(level) if quantity is DISTANCE else None
        if gaps is not None:
            # The null is centred at the distance without the gap; a distance is never below 0.
            draws, method = np.maximum(value + gaps[1:] - gaps[0], 0.0), ONE_EACH
            if np.isnan(draws).all():
                fields["status"] |= Status(no_test=FEW_TO_EXCHANGE)
        return fields | self.tested(column, value, interval, n_pairs, draws, method)

    def tested(
        self,
        column: Column,
        value: float,
        interval: Interval | None,
        n_pairs: int,
        draws: FloatArray,
        method: str,
    ) -> dict[str, Any]:
        """Return the interval of one column, its null and its test.

        Interval and test by different methods could contradict each other, so the interval's end
        toward the null is that of the test: of all nulls with draws as far around them that would
        allow the value. Not so where another test is the first, or the value lies on the side that
        a test of one side never refuses.
        """
        quantity, level = self.scores.quantity, self.scope.level
        valid = draws[~np.isnan(draws)]
        if len(valid) == 0:
            return {"interval": interval, "null": None, "tests": ()}
        centre = float(valid.mean())
        low, high = (float(bound) for bound in permutation_range(valid, level))
        null = Null(centre, low, high, level, method, self.scope.seed)
        p = null_p(value, draws, greater=quantity.greater, n_pairs=n_pairs, level=level)
        if interval and not quantity.tested and not (quantity.greater and value < centre):
            least, most = not_refused(draws, level, greater=quantity.greater)
            # As far apart as two shares or scores can be
            top = 1.0 if column.level.is_share else 2.0
            floor, top = (0.0, 1.0) if quantity.statistic == "share" else (-top, top)
            inverted = max(value - (most - centre), floor), min(value + (centre - least), top)
            ends = interval.low, interval.high
            toward = inverted_toward_null(ends, inverted, p, value, centre, level)
            low, high = map(float, toward)
            words = interval.method + INVERTED * ((low, high) != ends)
            interval = replace(interval, low=low, high=high, method=words)
        return {"interval": interval, "null": null, "tests": (Test(p, method),)}

    def gaps(self, level: Level) -> FloatArray | None:
        """Return `exchanged_gaps` where the null exchanges whole texts, and most pairs have one.

        Exchanging an original and its only text leaves their distance as it is.
        """
        texts = np.bincount(self.paired.pair[self.rows])
        if level.readings is None or (texts > 1).sum() >= (texts == 1).sum():
            return None
        rows = np.flatnonzero(self.rows)
        # Of several texts of an original the first counts.
        rows = rows[np.unique(self.paired.pair[rows], return_index=True)[1]]
        labels = *level.strata.values(), *self.labels.values()
        rng = self.scope.rng(DISTANCE.measure, "gaps", *labels)
        return exchanged_gaps(level.readings[:, :, rows], self.scope.permutations, rng)


def _left_out(level: Level, rows: BoolArray, counted: BoolArray) -> dict[str, int]:
    """Why rows do not count: their own texts, then what the quantity asks for."""
    unit = "group words" if level.is_share else "sentences about a group"
    unit = "pertinent topic" if level.name == DOCUMENT else unit
    ours, theirs = (np.isnan(side[rows]).all(axis=1) for side in (level.generated, level.reference))
    reasons = {
        f"no {unit} in either text": ours & theirs,
        f"no {unit} in the generated text": ours & ~theirs,
        f"no {unit} in the original": theirs & ~ours,
        "pair does not count for this group": ~counted & ~ours & ~theirs,
    }
    return {reason: int(of.sum()) for reason, of in reasons.items() if of.any()}
