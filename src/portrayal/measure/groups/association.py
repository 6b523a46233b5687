"""Association: which attribute goes with which group, prompts as clusters, Fisher's test beside.

Groups and attributes are those of any two factors, or of a factor and a stratum of the prompts. The
usual practice is Fisher's exact test of each cell with Benjamini and Yekutieli's correction, texts
taken as independent; how many of its findings outlive the clustering is an estimate of its own.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Protocol

import numpy as np

from portrayal.measure.clustered import (
    CORRECTED_BESIDE,
    Inference,
    corrected_estimate,
    corrected_inference,
    kept_sums,
    sums_by,
)
from portrayal.measure.corrected import HandSums
from portrayal.measure.scope import Scope
from portrayal.records import ALL, Estimate, Null, Status
from portrayal.registry import Component
from portrayal.stats import benjamini_yekutieli, fisher_p, infer_lifts
from portrayal.stats.association import Lifts, PairCounts
from portrayal.stats.clustered import Clustered
from portrayal.stats.two_phase import Labelled
from portrayal.types import BoolArray, FloatArray, IntArray

WITHIN = "texts exchanged within prompts; t over prompts; the larger p"
OVERALL = "whole prompts exchange their texts' attributes (Pearson III), and texts within prompts"
SURE = 0.05
SOURCE = (
    "Brin, Motwani, Ullman & Tsur 1997 (lift, there interest); Mantel & Haenszel 1959 (within "
    "prompts)"
)


@dataclass(frozen=True, eq=False)
class Crossed:
    """Texts by group and attribute, in cells of one prompt and one model.

    Attributes
    ----------
    group, attribute
        Names of the two factors (or of a stratum).
    groups, attributes
        Their values.
    prompt, model
        Codes of each cell, shape (n,).
    both
        Texts that show a group and an attribute, shape (n, n_groups, n_attributes).
    of_group, of_attribute
        Texts that show each, among those of which both factors are known, shapes (n, n_groups) and
        (n, n_attributes). A text with two groups shows either.
    total
        Texts of which both factors are known, shape (n,).
    seen_by
        How they were seen ("words and labels").
    sources
        Factor and source of each of the two; of the one where the other is a stratum.
    hand
        Of texts that people labelled: each as it was seen, and as people say, how many texts it
        stands for, shape (n,), and who labelled; None where there are none.
    """

    group: str
    groups: tuple[str, ...]
    attribute: str
    attributes: tuple[str, ...]
    prompt: IntArray
    model: IntArray
    both: FloatArray
    of_group: FloatArray
    of_attribute: FloatArray
    total: FloatArray
    seen_by: str = ""
    sources: tuple[tuple[str, str], ...] = ()
    hand: "tuple[Crossed, Crossed, FloatArray, str] | None" = None


class Crossings(Protocol):
    """What `association` reads: names of prompts and models, two factors each, and a cache."""

    @property
    def prompts(self) -> tuple[str, ...]:
        """Names of the independent units."""

    @property
    def models(self) -> tuple[str, ...]:
        """Names of the models."""

    @property
    def crossed(self) -> tuple[Crossed, ...]:
        """Texts by the groups of two factors."""

    @property
    def cache(self) -> dict[Any, Any]:
        """What has been inferred already."""


@dataclass(frozen=True, eq=False)
class _Place:
    """The pairs of one model, or of all models together, with what is inferred of them."""

    model: str
    pairs: list[tuple[Crossed, str, str]]
    counts: PairCounts
    found: Lifts
    fisher: FloatArray
    fisher_q: FloatArray


def _places(texts: Crossings, scope: Scope) -> list[_Place]:
    """The pairs of all models together, where there are several, and of each."""
    key = ("association", scope.level)
    # Several measures read these lifts, and Fisher's test of many pairs takes long
    if key not in texts.cache:
        texts.cache[key] = list(_inferred(texts, scope))
    places: list[_Place] = texts.cache[key]
    return places


def _inferred(texts: Crossings, scope: Scope) -> Iterator[_Place]:
    pooled = [(ALL, None)] if len(texts.models) > 1 else []
    for model, code in [*pooled, *((name, i) for i, name in enumerate(texts.models))]:
        pairs: list[tuple[Crossed, str, str]] = []
        # Four sums of a pair of groups by prompt: both, the group, the attribute, all.
        columns: list[list[FloatArray]] = [[], [], [], []]
        # Pairs of all crossings of factors form one family of tests.
        for crossed in texts.crossed:
            inside = np.ones(len(crossed.model), bool) if code is None else crossed.model == code
            for column, cells in zip(columns, _columns(crossed, inside, texts), strict=True):
                column.append(cells)
            pairs += [(crossed, g, a) for g in crossed.groups for a in crossed.attributes]
        if not pairs:
            continue
        counts = PairCounts(*(np.concatenate(column, axis=1) for column in columns))
        p = fisher_p(*counts.sums)
        possible = (counts.sums[1] > 0) & (counts.sums[2] > 0)
        # Fisher's p of what never occurs is 1, and would count among the tests that are adjusted.
        p = np.where(possible, p, np.nan)
        lifts = infer_lifts(counts, scope.level)
        # Pairs share their texts, so their tests may depend on each other in any direction.
        yield _Place(model, pairs, counts, lifts, p, benjamini_yekutieli(p))


def _columns(crossed: Crossed, inside: BoolArray, texts: Crossings) -> Iterator[FloatArray]:
    """Both, group, attribute and total by prompt, shape (n_prompts, n_groups x n_attributes)."""
    n_groups, n_attributes = len(crossed.groups), len(crossed.attributes)

    def by_prompt(values: FloatArray) -> FloatArray:
        return sums_by(crossed.prompt[inside], len(texts.prompts), values[inside])

    yield by_prompt(crossed.both.reshape(len(crossed.total), -1))
    # Repeated and tiled, as columns go by group and then by attribute, like the pairs.
    yield np.repeat(by_prompt(crossed.of_group), n_attributes, axis=1)
    yield np.tile(by_prompt(crossed.of_attribute), (1, n_groups))
    yield np.repeat(by_prompt(crossed.total[:, np.newaxis]), n_groups * n_attributes, axis=1)


def association(group_texts: Crossings, scope: Scope) -> Iterator[Estimate]:
    """Yield the lift of each attribute with each group, by model and for all models together.

    Parameters
    ----------
    group_texts, scope
        Texts by group and attribute, and the audit's settings.
    """
    lifts = _corrected_lifts(group_texts, scope)
    for place in _places(group_texts, scope):
        method = np.where(place.found.within, WITHIN, OVERALL)
        columns = {field.name: getattr(place.found, field.name) for field in fields(Clustered)}
        inference = Inference(**columns, method=method, tested="")
        null = np.stack([place.found.null_low, place.found.null_high], axis=1).tolist()
        both, group, attribute, total = place.counts.sums
        sums = _kept(place, group_texts.prompts)
        for i, (crossed, g, a) in enumerate(place.pairs):
            within = bool(place.found.within[i])
            value, reason = float(inference.value[i]), str(inference.reason[i])
            lift = replace(inference, tested=str(method[i]))
            undefined = (reason or "no text shows either") if np.isnan(value) else None
            details = {
                "within_prompts": float(within),
                "texts": float(both[i]),
                "of_group": float(group[i]),
                "of_attribute": float(attribute[i]),
                "fisher_p": float(place.fisher[i]),
                "fisher_q": float(place.fisher_q[i]),
                **{
                    name: float(values[i])
                    for name, values in (
                        ("overall", place.found.overall),
                        ("by_prompts", place.found.by_prompts),
                        ("share", both / np.where(group > 0, group, np.nan)),
                        ("baseline", attribute / np.where(total > 0, total, np.nan)),
                    )
                },
                **lift.effective(i),
            }
            status = Status() if undefined else lift.status(i, test=True)
            labels = {"model": place.model, "seen_by": crossed.seen_by}
            common = {
                "statistic": "ratio",
                "strata": {name: label for name, label in labels.items() if label},
                "group": {crossed.group: g, crossed.attribute: a},
                "n_texts": int(total[i]),
                "instruments": scope.instruments,
            }
            by_hand = list(_by_hand(lifts, place, i, common, scope))
            if any(one.tests for one in by_hand):
                status |= Status(detail=CORRECTED_BESIDE)
            yield scope.estimate(
                ASSOCIATION,
                value=None if undefined else value,
                undefined=undefined,
                interval=None if undefined else lift.interval(i, scope),
                null=None
                if undefined
                else Null(1.0, null[i][0], null[i][1], scope.level, str(method[i])),
                tests=() if undefined or np.isnan(inference.p[i]) else (lift.test(i),),
                n_units=float(min(group[i], attribute[i])),  # the rarer of the two carries the pair
                n_clusters=int(inference.n_clusters[i]),
                details={name: x for name, x in details.items() if np.isfinite(x)},
                sums=None if undefined else sums[within](i),
                status=status,
                **common,
            )
            yield from by_hand


CorrectedLifts = dict[tuple[str, int], tuple[HandSums, Inference]]


def _by_hand(
    lifts: CorrectedLifts, place: _Place, i: int, common: Mapping[str, Any], scope: Scope
) -> Iterator[Estimate]:
    """The lift of pair `i` over all texts as labels by hand correct it, where there are some."""
    crossed, g, a = place.pairs[i]
    if hand_lift := lifts.get((place.model, id(crossed))):
        column = crossed.groups.index(g) * len(crossed.attributes) + crossed.attributes.index(a)
        naive = float(place.found.overall[i])
        yield corrected_estimate(ASSOCIATION, *hand_lift, column, scope, common, naive=naive)


def _corrected_lifts(texts: Crossings, scope: Scope) -> CorrectedLifts:
    """Lifts over all texts as labels by hand correct them, by model and crossing that has some."""

    def terms(cells: Crossed, inside: BoolArray, n: FloatArray) -> tuple[FloatArray, ...]:
        # Terms are means over the texts of a cell
        both, by = cells.both[inside], np.maximum(n, 1.0)[:, np.newaxis, np.newaxis]
        group = cells.of_group[inside][:, :, np.newaxis]
        attribute = cells.of_attribute[inside][:, np.newaxis]
        total = cells.total[inside][:, np.newaxis, np.newaxis]
        means = (np.broadcast_to(x, both.shape) / by for x in (both, group, attribute, total))
        return tuple(x.reshape(len(n), -1) for x in means)

    lifts: CorrectedLifts = {}
    for crossed in texts.crossed:
        if crossed.hand is None:
            continue
        guess, truth, weight, note = crossed.hand
        pooled = [(ALL, None)] if len(texts.models) > 1 else []
        for model, code in [*pooled, *((name, i) for i, name in enumerate(texts.models))]:
            inside, rows = (
                np.full(len(cells.model), True) if code is None else cells.model == code
                for cells in (crossed, guess)
            )
            size, ones = crossed.total[inside], np.ones(int(rows.sum()))
            everyone = Labelled(crossed.prompt[inside], size, terms(crossed, inside, size))
            hand = Labelled(guess.prompt[rows], weight[rows], terms(guess, rows, ones))
            people = terms(truth, rows, ones)
            sums = HandSums.of(everyone, hand, people, len(texts.prompts), note)
            # Over all texts: labels are too few to correct within prompts
            lifts[model, id(crossed)] = sums, corrected_inference(sums.sums, scope, "ratio")
    return lifts


def _kept(place: _Place, prompts: tuple[str, ...]) -> tuple[Any, Any]:
    """Sums by prompt of lifts over all texts, and of lifts within prompts.

    Over all texts P(a | g) over P(a); within prompts observed over expected texts.
    """
    # Prompts whose texts all have the attribute, or none, tell nothing within themselves
    counts, varies = place.counts, (place.counts.variance > 0).astype(np.float64)
    overall = (counts.both, counts.group), (counts.attribute, counts.total)
    within = (counts.both * varies, varies), (counts.expected * varies, varies)
    return kept_sums(prompts, *overall, form="ratio"), kept_sums(prompts, *within, form="ratio")


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
