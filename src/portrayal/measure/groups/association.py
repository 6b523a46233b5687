"""Association: which attribute goes with which group, prompts as clusters.

Groups and attributes are those of any two factors, or of a factor and a stratum of the prompts.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from itertools import combinations, product
from typing import Any, NamedTuple

import numpy as np

from portrayal.measure.clustered import (
    GroupSums,
    Inference,
    corrected_estimate,
    corrected_inference,
    estimates_of,
)
from portrayal.measure.corrected import HandSums
from portrayal.measure.groups.texts import (
    TEXT,
    GroupStratum,
    GroupTexts,
    GroupUnits,
    UnitRows,
)
from portrayal.measure.scope import Scope
from portrayal.measure.scored import ScoredUnits
from portrayal.records import ALL, Estimate, Null, Status, Test
from portrayal.registry import Component
from portrayal.stats import divide
from portrayal.stats.association import PairCounts, infer_lifts
from portrayal.stats.clustered import Clustered
from portrayal.types import BoolArray, FloatArray, IntArray

WITHIN = "texts exchanged within prompts; t over prompts; the larger p"
OVERALL = "whole prompts exchange their texts' attributes (Pearson III), and texts within prompts"
SOURCE = (
    "Brin, Motwani, Ullman & Tsur 1997 (lift, there interest); Mantel & Haenszel 1959 (within "
    "prompts)"
)


class CrossedSide(NamedTuple):
    """What n texts are crossed by, a factor or a stratum of their prompts.

    Attributes
    ----------
    name, keys
        Its name, and its k groups or values.
    indicators, is_known
        1 for each group that a text shows, else 0, shape (n, k); of which texts it is known, (n,).
    """

    name: str
    keys: tuple[str, ...]
    indicators: FloatArray
    is_known: BoolArray

    @classmethod
    def of(cls, units: GroupUnits, rows: IntArray | slice = slice(None)) -> "CrossedSide":
        """Return the groups that a source of a factor saw in these texts."""
        return cls(units.name, units.keys, units.indicators[rows], units.is_known[rows])

    @classmethod
    def of_stratum(cls, texts: GroupTexts, name: str, prompt: IntArray) -> "CrossedSide":
        """Return the values of a stratum of these prompts."""
        values = [about.get(name, "") for about in texts.strata]
        keys = tuple(sorted({*values} - {""}))
        of_prompt = np.array([[value == key for key in keys] for value in values])
        of_rows = of_prompt[prompt].astype(np.float64)
        return cls(name, keys, of_rows, np.asarray(of_rows.any(axis=1)))


@dataclass(frozen=True, eq=False)
class Crossed:
    """The same texts by what two sides show of them.

    Attributes
    ----------
    rows
        Prompt, model and number of the texts of each row.
    group, attribute
        The sides.
    seen_by
        How they were seen ("words and labels").
    hand
        The texts that people labelled, as they were seen and as people say, and who labelled; None
        where there are none.
    """

    rows: UnitRows
    group: CrossedSide
    attribute: CrossedSide
    seen_by: str = ""
    hand: "tuple[Crossed, Crossed, str] | None" = None

    @property
    def both_known(self) -> BoolArray:
        """Of which texts both are known, shape (n,)."""
        return self.group.is_known & self.attribute.is_known

    @property
    def pairs(self) -> list[dict[str, str]]:
        """What each column is of, by group and attribute."""
        names = self.group.name, self.attribute.name
        pairs = product(self.group.keys, self.attribute.keys)
        return [dict(zip(names, pair, strict=True)) for pair in pairs]

    def table(self, inside: BoolArray, groups: slice = slice(None)) -> ScoredUnits:
        """Return these texts, with each attribute a score of the texts of each group, and of all.

        `groups` are some of the groups, shape (n_groups,).
        """
        # A text that one of the sources cannot tell would count as one without the group
        is_known = self.both_known[inside, np.newaxis].astype(np.float64)
        in_group = self.group.indicators[inside, groups] * is_known
        score = np.tile(self.attribute.indicators[inside], (1, in_group.shape[1]))
        members = np.repeat(in_group, len(self.attribute.keys), axis=1), is_known
        return ScoredUnits(self.rows.prompt[inside], self.rows.count[inside], score, members)

    def sums(self, stratum: GroupStratum, clusters: IntArray) -> FloatArray:
        """Sum the texts of a stratum by prompt, shape (4, n_clusters, k)."""
        inside, n_groups = stratum.has(self.rows), len(self.group.keys)
        # One group at a time, so that memory stays flat
        tables = (self.table(inside, slice(i, i + 1)) for i in range(n_groups))
        return np.concatenate([np.stack(units.sums(clusters)) for units in tables], axis=2)


def crossings(texts: GroupTexts) -> Iterator[Crossed]:
    """Yield the texts by every two factors, and by each stratum and factor."""
    of_texts = [units for units in texts.observed if units.unit == TEXT]
    for one, other in combinations(of_texts, 2):
        # Two sources of one factor would be associated with themselves.
        if one.factor is other.factor or one.rows is not other.rows:
            continue
        hand = None
        first, second = (texts.hand.get((u.name, u.source.name)) for u in (one, other))
        if first is not None and second is not None:
            # Only texts of which people labelled both factors say how they go together.
            names = sorted({*first.names} & {*second.names})
            index, other_index = (
                np.array([side.names.index(n) for n in names], dtype=np.int64)
                for side in (first, second)
            )
            guess, truth = (
                Crossed(
                    first.guess.rows.take(index),
                    CrossedSide.of(side, index),
                    CrossedSide.of(other_side, other_index),
                )
                for side, other_side in ((first.guess, second.guess), (first.truth, second.truth))
            )
            hand = guess, truth, " and ".join(dict.fromkeys((first.note, second.note)))
        sides = CrossedSide.of(one), CrossedSide.of(other)
        yield Crossed(one.rows, *sides, f"{one.source.name} and {other.source.name}", hand)
    for name, units in product(texts.by, of_texts):

        def by_stratum(units: GroupUnits, name: str = name) -> Crossed:
            stratum = CrossedSide.of_stratum(texts, name, units.rows.prompt)
            return Crossed(units.rows, stratum, CrossedSide.of(units), units.source.name)

        hand, by_people = None, texts.hand.get((units.name, units.source.name))
        if by_people is not None:
            hand = by_stratum(by_people.guess), by_stratum(by_people.truth), by_people.note
        yield replace(by_stratum(units), hand=hand)


def association(group_texts: GroupTexts, scope: Scope) -> Iterator[Estimate]:
    """Yield the lift of each attribute with each group, by model and for all models together.

    Parameters
    ----------
    group_texts, scope
        Texts by the groups of factors, and the audit's settings.
    """
    crossed = [*crossings(group_texts)]
    for stratum in group_texts.places(split=False) if crossed else ():
        # A single model is all of them
        if len(group_texts.models) > 1 or stratum.labels["model"] != ALL:
            yield from _of_stratum(group_texts, crossed, stratum, scope)


def _of_stratum(
    texts: GroupTexts, crossed: Sequence[Crossed], stratum: GroupStratum, scope: Scope
) -> Iterator[Estimate]:
    # Pairs of all crossings of factors form one family of tests.
    codes = np.arange(len(texts.prompts))
    of_column = [(one, pair) for one in crossed for pair in one.pairs]
    counts = PairCounts(*np.concatenate([one.sums(stratum, codes) for one in crossed], axis=2))
    both, group, attribute, total = counts.sums
    lifts = infer_lifts(counts, scope.level)
    numbers = {
        "within_prompts": lifts.within.astype(np.float64),
        "texts": both,
        "of_group": group,
        "of_attribute": attribute,
        "overall": lifts.overall,
        "by_prompts": lifts.by_prompts,
        "share": divide(both, group),
        "baseline": divide(attribute, total),
    }
    method = np.where(lifts.within, WITHIN, OVERALL)
    columns = {field.name: getattr(lifts, field.name) for field in fields(Clustered)}
    result = Inference(**columns, method=method, tested="")
    by_hand = _corrected(crossed, stratum, codes, lifts.overall, scope)

    def own(i: int) -> dict[str, Any]:
        one = of_column[i][0]
        seen_by = {"seen_by": one.seen_by} if one.seen_by else {}
        undefined = None
        if np.isnan(result.value[i]):
            undefined = str(result.reason[i]) or "no text shows either"
        p = float(result.p[i])
        return {
            "undefined": undefined,
            "strata": {**stratum.labels, **seen_by},
            "n_texts": int(total[i]),
            "n_units": float(min(group[i], attribute[i])),  # the rarer of the two carries the pair
            "null": Null(
                1.0, float(lifts.null_low[i]), float(lifts.null_high[i]), scope.level, method[i]
            ),
            "test": None if np.isnan(p) else Test(p, str(method[i])),
            "status": Status() if undefined else result.status(i, test=True),
            "counts": {name: float(x[i]) for name, x in numbers.items() if np.isfinite(x[i])},
        }

    # Over all texts the sums are those of P(a | g) over P(a); within prompts those of observed
    # over expected texts, of prompts whose texts neither all have the attribute nor none.
    varies = (counts.variance > 0).astype(np.float64)
    overall = counts.both, counts.group, counts.attribute, counts.total
    within = counts.both * varies, varies, counts.expected * varies, varies
    upper, n_upper, lower, n_lower = (
        np.where(lifts.within, *sides) for sides in zip(within, overall, strict=True)
    )
    groups = [pair for _, pair in of_column]
    sums = GroupSums(texts.prompts, groups, upper, n_upper, lower=lower, n_lower=n_lower)
    yield from estimates_of(
        ASSOCIATION, sums, result, scope, own, form="ratio", by_hand=by_hand, statistic="ratio"
    )


def _corrected(
    crossed: Sequence[Crossed],
    stratum: GroupStratum,
    clusters: IntArray,
    naive: FloatArray,
    scope: Scope,
) -> dict[int, Estimate]:
    """Return the lifts over all texts as labels by hand correct them, by index of the pair."""
    estimates: dict[int, Estimate] = {}
    first = 0
    for one in crossed:
        if one.hand is not None:
            *sides, note = one.hand
            guess, truth = (side.table(stratum.has(side.rows)) for side in sides)
            everyone = one.table(stratum.has(one.rows) & one.both_known)
            hand = HandSums.of(everyone, guess, truth, note, clusters=clusters)
            # Over all texts: labels are too few to correct within prompts
            lifts = corrected_inference(hand.sums, scope, "ratio")
            fields = {
                "statistic": "ratio",
                "strata": {**stratum.labels, "seen_by": one.seen_by},
                "n_texts": int(everyone.weight.sum()),
                "instruments": scope.instruments,
            }
            for i, pair in enumerate(one.pairs):
                column, of_pair = first + i, fields | {"group": pair}
                estimates[column] = corrected_estimate(
                    ASSOCIATION, hand, lifts, i, scope, of_pair, naive=float(naive[column])
                )
        first += len(one.pairs)
    return estimates


ASSOCIATION = Component(
    name="association.v1",
    summary="How much more often an attribute comes with a group than without regard to it.",
    reads="groups of two factors in texts, or of a factor and a stratum of the prompts",
    unit="text",
    range="0 and up; 1 is independence",
    undefined_when="no text is of the group, or none has the attribute",
    equation="lift = P(a | g) / P(a); within prompts Σ x / Σ (g a / n), observed over expected "
    "texts with both",
    source=SOURCE,
    run=association,
    title="Associations",
    reading="Above 1: the attribute comes with the group more often than by chance; within prompts "
    "where prompts hold texts with and without both.",
    finding="{together} stand together in {both}; if one had nothing to do with the other, "
    "about {expected_both} would have both{seen_by}",
    brief="lift",
    figure="grid",
)
