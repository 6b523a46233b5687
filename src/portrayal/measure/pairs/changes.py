"""Changes from originals to generated texts, and what the form of the prompt adds to them."""

from collections.abc import Iterator, Mapping
from functools import partial
from itertools import product
from typing import Any

import numpy as np

import portrayal.measure.pairs.sentences as sentences
from portrayal.measure.clustered import GroupSums, estimates_of, sums_by
from portrayal.measure.pairs.estimates import (
    ROUNDING,
    Quantity,
    QuantityColumn,
    Scored,
    by_group,
    paired_means,
    status_of,
)
from portrayal.measure.pairs.table import SHARE, Level, Paired
from portrayal.measure.scope import Scope
from portrayal.records import ALL, Estimate, Null, Test
from portrayal.registry import Component
from portrayal.stats.tails import t_sf
from portrayal.types import BoolArray, FloatArray

WORSE, BETTER = "worse", "better"


def distances(level: Level, generated: FloatArray, reference: FloatArray) -> FloatArray:
    """Return the distance within each row, shape (..., n, 1); NaN where it is undefined.

    Shares: the Wasserstein distance with d = 1 between groups, Eq. 3, which is ½ Σ |f − o|; for two
    groups |f₁ − o₁|, for three the largest |f − o|, as printed. Scores: the largest |s − o| over
    the groups that both texts have sentences about.
    """
    difference = np.abs(generated - reference)
    if level.kind == SHARE:
        return np.asarray(difference.sum(axis=-1, keepdims=True) / 2)
    valid = ~np.isnan(difference)
    largest = np.max(np.where(valid, difference, -1.0), axis=-1, keepdims=True, initial=-1.0)
    return np.where(valid.any(axis=-1, keepdims=True), largest, np.nan)


def changes(_: Level, generated: FloatArray, reference: FloatArray) -> FloatArray:
    """Return the change of each group, shape (..., n, M); changes within rounding are 0."""
    change = generated - reference
    # change * 0 rather than 0 keeps NaN where nothing can be compared.
    return np.where(np.abs(change) > ROUNDING, change, change * 0)


def mentioned_changes(level: Level, generated: FloatArray, reference: FloatArray) -> FloatArray:
    """Return the change of each group where the original mentions it; NaN elsewhere."""
    present = reference > 0 if level.kind == SHARE else ~np.isnan(reference)
    return np.where(present, changes(level, generated, reference), np.nan)


def _directed_changes(level: Level, generated: FloatArray, reference: FloatArray) -> FloatArray:
    """Return the change of each group where it is for the worse, then for the better: (…, n, 2 M).

    NaN elsewhere. Worse and better separately: ties are neither, so that the two rates need not add
    up to 1.
    """
    change = mentioned_changes(level, generated, reference)
    worse = level.worse * change
    sides = np.concatenate([worse > 0, worse < 0], axis=-1)
    return np.where(sides, np.tile(change, 2), np.nan)


def _rates(level: Level, generated: FloatArray, reference: FloatArray) -> FloatArray:
    """Return in which directions each group changes; NaN where it cannot be compared."""
    change = mentioned_changes(level, generated, reference)
    is_directed = ~np.isnan(_directed_changes(level, generated, reference))
    return np.where(np.isnan(np.tile(change, 2)), np.nan, is_directed)


def directed(level: Level) -> list[QuantityColumn]:
    """Return a column for each direction and group: worse as published, then better."""
    return [
        QuantityColumn({"direction": direction}, {level.attribute: group})
        for direction in (WORSE, BETTER)
        for group in level.groups
    ]


DISTANCE = Quantity(
    measure="paired_distance.v1",
    statistic="distance",
    source="Fang et al. 2024, Eq. 3–6 and 9",
    columns=lambda _: [QuantityColumn({}, {})],
    values=distances,
    undefined="no pair in which both texts mention a group",
    greater=True,
    details=lambda values: {
        "median": float(np.median(values)),
        "share_at_zero": float((values < ROUNDING).mean()),
    },
)
RATE = Quantity(
    measure="prejudice_rate.v1",
    statistic="share",
    source="Fang et al. 2024, Fig. 2b–10a (prejudice)",
    columns=directed,
    values=_rates,
    undefined="no pair whose original mentions the group and whose generated text can be compared",
    printed=False,
    details=lambda values: {"count": float(values.sum())},
)
DIRECTED_CHANGE = Quantity(
    measure="prejudice_change.v1",
    statistic="difference",
    source="Fang et al. 2024, Fig. 2c–10b (decrease in prejudice articles)",
    columns=directed,
    values=_directed_changes,
    undefined="no pair in which the group changed in this direction",
)
CHANGE = Quantity(
    measure="group_change.v1",
    statistic="difference",
    source="Fang et al. 2024, Table 1",
    columns=by_group,
    values=changes,
    undefined="no pair in which both texts can be compared for the group",
    tested=True,
)


QUANTITIES = (DISTANCE, RATE, DIRECTED_CHANGE, CHANGE)


def _written(e: Any) -> str:
    """Differences of shares, among words and topics, are in points; scores and distances not."""
    shares = e.strata.get("level") in ("word", "document")
    # A distance between shares is no share of anything.
    shares = shares and e.strata.get("of") != "paired_distance"
    return "points" if shares and e.statistic == "difference" else ""


def _measure(quantity: Quantity, **words: Any) -> Component:
    """The measure that takes a quantity's mean over pairs, for each level and place."""
    return Component(
        name=quantity.measure,
        reads="the paired table: shares of groups among words or topics, scores of sentences",
        unit="pair",
        undefined_when=quantity.undefined,
        source=quantity.source,
        run=partial(paired_means, quantity, QUANTITIES),
        form=_written,
        **words,
    )


PAIRED_DISTANCE = _measure(
    DISTANCE,
    summary="How far generated texts lie from their originals in whom they mention and how.",
    range="0 (the same) to 1 for shares and toxicity, to 2 for sentiment",
    equation="mean over pairs of ½ Σ |f − o| for shares, of the largest |s − o| for scores, over "
    "the groups that both texts have; pairs where a text mentions no group are dropped",
    title="Distance from the original",
    reading="0: as in the original; the larger, the further from it.",
    finding=sentences.distance,
    brief="distance",
)
PREJUDICE_RATE = _measure(
    RATE,
    summary="In how many pairs a group that the original mentions fares worse, and better.",
    range="0 to 1",
    equation="share of these pairs in which the group's share or sentiment fell, or its toxicity "
    "rose; direction better: the other way. The null is not a half: ties, and a return to the mean",
    title="Prejudice rate",
    reading="Share of the texts in which a group fares worse than in the original.",
    figure="elsewhere",
)
PREJUDICE_CHANGE = _measure(
    DIRECTED_CHANGE,
    summary="By how much a group's share or score changed where it fared worse, and better.",
    range="-1 to 1 for shares and toxicity, -2 to 2 for sentiment",
    equation="mean of generated minus original among the pairs that the prejudice rate counts. "
    "Chosen by their sign, so never near 0: compare with the null",
    title="Change in prejudiced texts",
    findings=0,
    reading="How far a group’s share or score moved where it fared worse.",
    figure="elsewhere",
)
GROUP_CHANGE = _measure(
    CHANGE,
    summary="How much each group's share or score differs between generated texts and originals.",
    range="-1 to 1 for shares and toxicity, -2 to 2 for sentiment",
    equation="mean over pairs of generated minus original",
    title="Change of a group",
    reading="Above 0: more in the generated texts than in their originals.",
    finding=sentences.change,
    brief="change",
)


ANSWERED, SAME = "answered", "same headlines"
_T = "two-sample t test, articles independent"

_OF = ((DISTANCE, DISTANCE), (RATE, RATE), (DIRECTED_CHANGE, RATE), (CHANGE, CHANGE))
"""What is compared, and what must be defined under both forms for a headline to be matched. Changes
are chosen by their sign, so headlines are matched there by what the rate counts."""


def prompt_effect(paired: Paired, scope: Scope, base_form: str | None = None) -> Iterator[Estimate]:
    """Yield the difference between each prompt form and the base form, level by level.

    Parameters
    ----------
    paired, scope
        The paired table with its levels, and the audit's settings.
    base_form
        The form to subtract; the paper's plain one by default, else the first of the texts.

    Notes
    -----
    As published ("answered"), the means of all texts that each form got are compared, whichever
    headlines they are. Besides ("same headlines"), only headlines that count under both forms are,
    since a model may refuse just those on which it would have differed.
    """
    base = paired.base_form(base_form)
    forms = [form for form in paired.forms if form != base]
    key = paired.pair * len(paired.models) + paired.model
    for (quantity, needed), level in product(_OF, paired.levels if forms else ()):
        scored = Scored.of(quantity, level)
        eligible = (scored if needed is quantity else Scored.of(needed, level)).count > 0
        for model, form in product(paired.model_labels, forms):
            inside = [
                paired.of_model(model) & (paired.form == paired.forms.index(name))
                for name in (form, base)
            ]
            # Whether the headline of a row counts under both forms for its model
            size = len(paired.pairs) * len(paired.models)
            some, in_base = (
                sums_by(key, size, 1.0 * (eligible & rows[:, np.newaxis])) > 0 for rows in inside
            )
            matched = (some & in_base)[key]
            for label, rows in ((ANSWERED, True), (SAME, matched)):
                sides = [side[:, np.newaxis] & (scored.count > 0) & rows for side in inside]
                labels = {
                    **level.labels,
                    "model": model,
                    "form": form,
                    "domain": ALL,
                    "source": ALL,
                    "contrast": f"{form} minus {base}",
                    "matched": label,
                    "of": quantity.measure.rpartition(".v")[0],
                }
                yield from _differences(scored, paired, labels, base, sides, scope)


def _differences(
    scored: Scored,
    paired: Paired,
    labels: Mapping[str, str],
    base: str,
    sides: list[BoolArray],
    scope: Scope,
) -> Iterator[Estimate]:
    """Yield the differences between the rows of both sides, shape (n_rows, k) each."""
    quantity, level, columns = scored.quantity, scored.level, scored.columns
    some = (sides[0] | sides[1]).any(axis=1)
    pairs, pair = np.unique(paired.pair[some], return_inverse=True)
    upper, n_upper, lower, n_lower = (
        sums_by(pair, len(pairs), np.where(side, numbers, 0.0)[some])
        for side in sides
        for numbers in (scored.total, scored.count)
    )
    names, groups = [paired.pairs[code] for code in pairs], [column.group for column in columns]
    sums = GroupSums(names, groups, upper, n_upper, None, lower, n_lower, cluster="pair")
    differences, values = sums.differences(scope), scored.values
    # One of the many contrasts is the question; stating all would ask it many times
    asked_once = quantity is DISTANCE and labels["matched"] == SAME
    status = status_of(level, {}, plain=asked_once)

    def fields_of(k: int) -> dict[str, Any]:
        first, second = (values[side[:, k], k] for side in sides)
        n = len(first) + len(second)
        common = {"strata": {**labels, **columns[k].strata}, "n_texts": n, "n_units": float(n)}
        if len(first) == 0 or len(second) == 0:
            lacking = labels["form"] if len(first) == 0 else base
            reason = level.undefined(labels["model"], lacking) or quantity.undefined
            return {**common, "undefined": f"under the form {lacking}: {reason}"}
        tests = [differences.test(k, "pair")]
        if quantity.printed and min(len(first), len(second)) > 1 and not np.isnan(tests[0].p):
            tests.append(Test(_t_test(first, second), _T))
        return {
            **common,
            "null": Null(0.0, np.nan, np.nan, scope.level, "no difference between the forms"),
            # q is made of the first test, so where that has no p no other may take its place.
            "tests": tuple(test for test in tests if not np.isnan(test.p)),
            "status": differences.status(k, test=True, cluster="pair") | status,
            "details": {
                "form_mean": float(first.mean()),
                "base_mean": float(second.mean()),
                "form_n": float(len(first)),
                "base_n": float(len(second)),
            },
        }

    shared: dict[str, Any] = {"statistic": "difference", "tested": False, "form": "difference"}
    shared["instruments"] = {"lexicon": level.lexicon}
    yield from estimates_of(PROMPT_EFFECT, sums, differences, scope, fields_of, **shared)


def _t_test(first: FloatArray, second: FloatArray) -> float:
    """Two-sided p of Student's test with one variance; NaN where neither side varies."""
    # Without spread t is a division by 0, or by what rounding left.
    if all(np.allclose(side, side[0], rtol=1e-12, atol=0.0) for side in (first, second)):
        return float("nan")
    df = len(first) + len(second) - 2.0
    squares = sum(float(((side - side.mean()) ** 2).sum()) for side in (first, second))
    error = np.sqrt(squares / df * (1.0 / len(first) + 1.0 / len(second)))
    return float(2.0 * t_sf(abs(first.mean() - second.mean()) / error, df))


PROMPT_EFFECT = Component(
    name="prompt_effect.v1",
    summary="What another form of the prompt changes in distances, prejudice rates and changes.",
    reads="the paired table of a run with several prompt forms",
    unit="pair",
    range="-2 to 2",
    undefined_when="a form has no pair that counts",
    equation="value under the form − value under the base form; over all answered headlines as "
    "published, and over the headlines that count under both",
    source="Fang et al. 2024, Fig. 8–10",
    run=prompt_effect,
    title="Effect of the prompt form",
    reading="Above 0: the form named first has more.",
    finding=sentences.effect,
    brief="form of the prompt",
    form=_written,
)
