"""Means over pairs: the estimates that distances, prejudice rates and changes share.

A *quantity* is a number for each row and column, such as the distance between a text and its
original. Its mean at a place gets an interval that resamples pairs and a null in which what an
original and all its texts hold is dealt to them again.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

import portrayal.registry as registry
from portrayal.measure.clustered import (
    GroupSums,
    corrected_difference,
    estimates_of,
    normal_interval,
    sums_by,
)
from portrayal.measure.corrected import HandSums
from portrayal.measure.pairs.by_hand import corrected_changes
from portrayal.measure.pairs.dealing import FEWEST_TO_EXCHANGE, null_p
from portrayal.measure.pairs.folding import (
    BOTH,
    GENERATED,
    ORIGINAL,
    Folded,
    Values,
    exchanged_gaps,
    fold,
)
from portrayal.measure.pairs.table import (
    DOCUMENT,
    FULL,
    NO_TEXT,
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
from portrayal.stats import inverted_toward_null, not_refused, permutation_range
from portrayal.types import FloatArray, IntArray

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
        Whether the clustered test against 0 is the first one; else the permutation test is.
    printed
        Whether the paper prints a normal interval of it.
    details
        Function of the values at a place, shape (n,), to further numbers.
    by_hand
        Whether it is a difference of means of scores, which labels by hand can correct.
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
    by_hand: bool = False


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


def paired_means(
    quantity: Quantity, paired: Paired, scope: Scope, base_form: str | None = None
) -> Iterator[Estimate]:
    """Yield the mean of a quantity at every place, for each level and column.

    Parameters
    ----------
    quantity, paired, scope
        What, of which rows, and the audit's settings.
    base_form
        The form whose texts the study's questions are of; see `Paired.base_form`.
    """
    plain_form = paired.base_form(base_form)
    strata = list(places(paired))
    null = scope, quantity.measure
    parts = [
        _Made(level, quantity.columns(level), fold(quantity.values, level, paired, strata, null))
        for level in paired.levels
    ]
    for part in parts:
        singles = [i for i, place in enumerate(strata) if _one_each(quantity, part.level, place)]
        if singles:
            gaps = exchanged_gaps(part.level, paired, [strata[i] for i in singles], null)
            # Relative to the observed gap, as the null is centred at the distance without it.
            part.folded.draws[:, singles, 0] = gaps[1:] - gaps[0]
        if quantity.by_hand:
            part.hand.extend(corrected_changes(paired, part.level, strata))
    for number, place in enumerate(strata):
        at_place = [part for part in parts if place.has(part.level)]
        if at_place:
            plain = place.form in (plain_form, ALL)
            yield from _at(quantity, place, number, at_place, scope, plain=plain)


@dataclass(frozen=True, eq=False)
class _Made:
    """A quantity at one level."""

    level: Level
    columns: list[QuantityColumn]
    folded: Folded
    hand: list[HandSums] = field(default_factory=list)

    def originals(self, rows: IntArray, k: int) -> dict[str, float]:
        """What the originals of these rows have on average, where the quantity is defined."""
        of_rows = self.folded.original[rows, k].sum() / self.folded.count[rows, k].sum()
        return {IN_ORIGINALS: float(of_rows)}

    def between_samples(self, number: int, k: int) -> dict[str, float]:
        """How often sentences were drawn for equal length, and how far a value hangs on that."""
        means = self.folded.samples[:, number, k]
        if self.level.n_samples == 1:
            return {}
        means = means[~np.isnan(means)]
        spread = float(means.std(ddof=1)) if len(means) > 1 else float("nan")
        return {"sentence_draws": float(len(means)), "sd_between_draws": spread}


def pair_sums(
    pair: IntArray, total: FloatArray, count: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Sum rows by their pair, shapes (n,), (n, k), (n, k): totals and counts, (n_pairs, k)."""
    labels, code = np.unique(pair, return_inverse=True)
    return sums_by(code, len(labels), total), sums_by(code, len(labels), count)


def _at(
    quantity: Quantity,
    place: PairStratum,
    number: int,
    parts: list[_Made],
    scope: Scope,
    *,
    plain: bool,
) -> Iterator[Estimate]:
    paired, rows = place.paired, np.flatnonzero(place.rows)
    pair = paired.pair[rows]
    by_level = [pair_sums(pair, part.folded.total[rows], part.folded.count[rows]) for part in parts]
    total, count = (np.concatenate([both[i] for both in by_level], axis=1) for i in (0, 1))
    columns = [(part, k, column) for part in parts for k, column in enumerate(part.columns)]
    names, groups = [paired.pairs[c] for c in np.unique(pair)], [c.group for _, _, c in columns]
    sums = GroupSums(names, groups, total, count, cluster="pair")
    # All levels and columns of a place in one inference, as their pairs are the same
    inference = sums.shares(scope) if quantity.statistic == "share" else sums.means(scope)
    measure = registry.component("measures", quantity.measure)
    by_hand = {}
    for i, (part, k, column) in enumerate(columns):
        if part.hand and not np.isnan(inference.value[i]):
            args = measure, part.hand[number], k, scope, float(inference.value[i])
            strata = {**part.level.labels, **place.labels, **column.strata}
            by_hand[i] = corrected_difference(
                *args, group=column.group, strata=strata, n_texts=len(rows)
            )

    def own(i: int) -> dict[str, Any]:
        part, k, column = columns[i]
        level, values = part.level, part.folded.values[rows, k]
        valid = values[~np.isnan(values)]
        status = status_of(level, column.group, plain=plain)
        common = {
            "strata": {**level.labels, **place.labels, **column.strata},
            "n_units": float(len(valid)),
            "exclusions": _left_out(quantity, part, rows, values),
            "instruments": {"lexicon": level.lexicon},
        }
        if len(valid) == 0:
            reason = level.undefined(place.model, place.form) or quantity.undefined
            return {**common, "status": status, "undefined": reason}
        value, bounds = float(inference.value[i]), inference.interval(i, scope, "pair")
        null, p, inverted = _null(quantity, part, place, number, k, value, scope)
        # Interval and test by different methods could contradict each other; here they may not
        if bounds and null and inverted:
            ends = (bounds.low, bounds.high), inverted, p, value, null.value, scope.level
            low, high = map(float, inverted_toward_null(*ends))
            method = bounds.method + INVERTED * ((low, high) != ends[0])
            bounds = replace(bounds, low=low, high=high, method=method)
        if null is None and _one_each(quantity, level, place):
            status |= Status(no_test=FEW_TO_EXCHANGE)
        return {
            **common,
            "status": status,
            "interval": bounds,
            "paper_interval": normal_interval(valid, scope.level) if quantity.printed else None,
            "null": null,
            "tests": () if null is None else (Test(p, null.method),),
            "details": {
                **quantity.details(valid),
                **part.between_samples(number, k),
                **(part.originals(rows, k) if quantity.tested else {}),
            },
        }

    shared: dict[str, Any] = {"tested": quantity.tested, "by_hand": by_hand, "n_texts": len(rows)}
    shared |= {"statistic": quantity.statistic, "exclusions": unpaired(paired, place)}
    yield from estimates_of(measure, sums, inference, scope, own, **shared)


def _one_each(quantity: Quantity, level: Level, place: PairStratum) -> bool:
    """Whether exchanging whole texts leaves most distances as they are: one text per original."""
    if not (level.whole_texts and quantity.greater and place.has(level)):
        return False
    texts = np.bincount(place.paired.pair[place.rows])
    return bool((texts > 1).sum() < (texts == 1).sum())


def _null(
    quantity: Quantity,
    part: _Made,
    place: PairStratum,
    number: int,
    k: int,
    value: float,
    scope: Scope,
) -> tuple[Null | None, float, tuple[float, float] | None]:
    """The null of one column, p of `value` against it, and the test's inversion.

    That is all nulls with draws as far around them that would allow the value. There is none where
    another test is the first, or the value lies on the side that a test of one side never refuses.
    """
    draws, method = part.folded.draws[:, number, k], part.level.null_method
    if _one_each(quantity, part.level, place):
        # These draws are relative to the observed gap; a distance is never below 0.
        draws, method = np.maximum(value + draws, 0.0), ONE_EACH
    valid = draws[~np.isnan(draws)]
    if len(valid) == 0:
        return None, np.nan, None
    centre = float(valid.mean())
    low, high = (float(bound) for bound in permutation_range(valid, scope.level))
    rows = place.rows & ~np.isnan(part.folded.values[:, k])
    n_pairs = len(np.unique(place.paired.pair[rows]))
    p = null_p(value, draws, greater=quantity.greater, n_pairs=n_pairs, level=scope.level)
    if quantity.tested or (quantity.greater and value < centre):
        return Null(centre, low, high, scope.level, method, scope.seed), p, None
    least, most = not_refused(draws, scope.level, greater=quantity.greater)
    top = 2.0 if part.level.kind == SCORE else 1.0  # as far apart as two scores or shares can be
    floor, top = (0.0, 1.0) if quantity.statistic == "share" else (-top, top)
    inverted = max(value - (most - centre), floor), min(value + (centre - least), top)
    return Null(centre, low, high, scope.level, method, scope.seed), p, inverted


def unpaired(paired: Paired, place: PairStratum) -> dict[str, int]:
    """Return the texts of a place's model and form that are in no row, by reason.

    They are known for all domains and sources together only; elsewhere the result is empty.
    """
    if not place.is_whole:
        return {}
    total: Counter[str] = Counter()
    for (model, form), reasons in paired.fates.items():
        if form == place.form and place.model in (ALL, model):
            total.update(reasons)
    # Paired texts are no exclusion, and a text that was never written is no text.
    return {reason: n for reason, n in total.items() if reason not in (PAIRED, NO_TEXT)}


def _left_out(
    quantity: Quantity, part: _Made, rows: IntArray, values: FloatArray
) -> dict[str, int]:
    """Why rows of the place do not count: their own texts, then what the quantity asks for."""
    level, lost = part.level, np.isnan(values)
    n = int(lost.sum())
    if n == 0:
        return {}
    if level.kind not in (SHARE, SCORE):
        return {quantity.undefined: n}
    lacking = np.bincount(part.folded.lacking[rows], minlength=4)
    unit = "group words" if level.kind == SHARE else "sentences about a group"
    unit = "pertinent topic" if level.name == DOCUMENT else unit
    reasons = {
        f"no {unit} in either text": int(lacking[BOTH]),
        f"no {unit} in the generated text": int(lacking[GENERATED]),
        f"no {unit} in the original": int(lacking[ORIGINAL]),
    }
    n_other = n - sum(reasons.values())
    if n_other > 0:
        reasons["pair does not count for this group"] = n_other
    return {reason: count for reason, count in reasons.items() if count}
