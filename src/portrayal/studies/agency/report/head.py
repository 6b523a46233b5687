"""Agency: the head of an agency report in plain words, and what it rests on."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace

import portrayal.report.formats as fmt
from portrayal.records import ALL, NO_INTERVAL, NO_TEST, Estimate, Interval, Null
from portrayal.report.figures.tables import Table
from portrayal.report.findings import Sentence
from portrayal.report.inert import short
from portrayal.report.study import Fact
from portrayal.report.view import SURE, View, is_sure, q_of
from portrayal.studies.agency.report.series import (
    MASKED,
    Pair,
    Where,
    at,
    beside_pairs,
    called,
    group_name,
    of,
    other,
    points,
    primary,
    span,
    variance,
    variance_span,
    wheres,
)

MOST = 12
MOST_REASONS = 3


@dataclass(frozen=True)
class Head:
    """How far groups stand apart, which can be ranked by masking, what masking changes, limits."""

    sentences: tuple[Sentence, ...]
    orders: dict[str, tuple[str, ...]]
    masking: Table
    limits: str


def agency_head(view: View) -> Head:
    """Return the head of an agency report."""
    places = wheres(of(view, "agency_share", stratum=ALL))
    said = [s for where in places for s in (*_variances(view, where), *_differences(view, where))]
    orders = {
        masking: tuple(words for where in places if (words := order_words(view, where, masking)))
        for masking in (primary(view), other(view))
    }
    return Head(tuple(said[:MOST]), orders, _masking(view), _limits(view))


def _variances(view: View, where: Where) -> list[Sentence]:
    """One sentence on the score of a place: overall, or that of its only attribute."""
    rows = at(of(view, "agency_variance", stratum=ALL, masking=primary(view)), where)
    rows = [e for e in rows if e.value is not None]
    first = next((e for e in rows if e.group["attribute"] == "overall"), rows[0] if rows else None)
    if first is None:
        return []
    p = first.tests[0].p if first.tests else None
    q = q_of(first)
    clear = q is not None and q < SURE
    headline = (
        f"{called(where)}: the groups’ ratio gaps have a variance of {variance(first.value)} "
        f"({first.group['attribute']})"
    )
    evidence = (
        f"Shuffled groups give {variance_span(first.null)}, "
        f"{variance(first.details.get('null_mean'))} on average; p {fmt.probability(p)}, "
        f"q {fmt.probability(q)}."
        if p is not None
        else "Shuffled groups all give the same, so there is no test."
    )
    evidence += _reason(first)
    beside = at(of(view, "agency_variance", stratum=ALL, masking=other(view)), where)
    for e in [e for e in beside if e.group == first.group and e.value is not None][:1]:
        evidence += f" {other(view).capitalize()}: {variance(e.value)}."
    return [Sentence(headline, evidence, clear)]


def _differences(view: View, where: Where) -> list[Sentence]:
    """One sentence for each attribute: its largest difference that can be told from 0, or none."""
    rows = at(of(view, "agency_gap", stratum=ALL, masking=primary(view)), where)
    found = []
    for kind in dict.fromkeys(tuple(sorted(e.group)) for e in rows if "beside" not in e.group):
        own = [e for e in rows if tuple(sorted(e.group)) == kind and e.value is not None]
        if own:
            found.append(_difference(view, where, own))
    return found


def _difference(view: View, where: Where, own: list[Estimate]) -> Sentence:
    sure = [e for e in own if is_sure(e)]
    e = max(sure or own, key=lambda each: abs(each.value or 0.0))
    upper, _, lower = group_name(e.group).partition(" − ")
    turned = (e.value or 0.0) < 0
    if turned:
        upper, lower = lower, upper
    size = points(abs(e.value or 0.0), signed=False)
    headline = (
        f"{called(where)}: in texts about {upper} people the ratio gap lies {size} points above "
        f"that in texts about {lower} people"
        if e.value
        else f"{called(where)}: texts about {upper} and {lower} people have the same ratio gap"
    )
    evidence = (
        f"{fmt.level(view.level)} interval {_span(e.interval, turned)}; with groups shuffled "
        f"{_span(e.null, turned)}{_chosen(own, sure)}.{_reason(e)}{_unsure(e)}"
        f"{_beside(view, where, e, turned)}"
    )
    return Sentence(headline, evidence, bool(sure))


def _chosen(own: list[Estimate], sure: list[Estimate]) -> str:
    """Among which differences the one that is said is the largest."""
    if len(own) < 2:
        return ""
    if not sure:
        return f", the largest of {len(own)} differences, none of which can be told from 0"
    of = "the only one" if len(sure) == 1 else f"the largest of the {len(sure)}"
    return f", {of} of {len(own)} differences that can be told from 0"


def _span(bounds: Interval | Null | None, turned: bool) -> str:
    """Bounds of a difference, or of the same with its groups in the other order."""
    if bounds is None or not turned:
        return span(bounds)
    return span(replace(bounds, low=-bounds.high, high=-bounds.low))


def _reason(e: Estimate) -> str:
    """Why there is no interval, or no test."""
    kinds = (("interval", NO_INTERVAL), ("test", NO_TEST))
    why = [f"No {what}: {e.instruments[key]}." for what, key in kinds if key in e.instruments]
    return "".join(f" {short(each, 240)}" for each in why)


def _unsure(e: Estimate) -> str:
    """What keeps a difference from being told from 0 where its own interval leaves out 0."""
    q, bounds = q_of(e), e.interval
    if bounds is None or q is None or bounds.low <= 0.0 <= bounds.high or is_sure(e):
        return ""
    if q >= SURE:
        return (
            f" The interval leaves out 0, but q over all differences that were looked at is "
            f"{fmt.probability(q)}, so it is not told from chance."
        )
    return " The interval leaves out 0, but shuffled groups lie as far apart."


def _beside(view: View, where: Where, e: Estimate, turned: bool) -> str:
    second = [
        b
        for b in at(of(view, "agency_gap", stratum=ALL, masking=other(view)), where)
        if b.group == e.group and b.value is not None
    ]
    sign = -1.0 if turned else 1.0
    name = other(view).capitalize()
    return "".join(
        f" {name}: {points(sign * (b.value or 0.0))} ({_span(b.interval, turned)})." for b in second
    )


def _masking(view: View) -> Table:
    """Differences of one attribute with sentences masked and as they stand."""
    every = [e for e in of(view, "agency_gap", stratum=ALL) if e.value is not None]
    pairs = beside_pairs(view, [e for e in every if len(e.group) == 1], MASKED)
    columns: dict[str, Callable[[Pair], str]] = {
        "Texts": lambda row: called(row[0]),
        "Difference": lambda row: group_name(row[1].group),
        "Masked": lambda row: points(row[1].value),
        "Interval": lambda row: span(row[1].interval),
        "Unmasked": lambda row: points(row[2].value) if row[2] else fmt.NOTHING,
        "Interval ": lambda row: span(row[2].interval) if row[2] else fmt.NOTHING,
    }
    return Table.of(pairs, columns, 2, 60)


def _limits(view: View) -> str:
    own = [
        e for e in of(view, "agency_gap", stratum=ALL, masking=primary(view)) if e.value is not None
    ]
    unclear = [e for e in own if not is_sure(e)]
    parts = [f"{len(unclear)} of {len(own)} differences cannot be told from 0"] if own else []
    undefined = Counter(short(e.undefined or "", 120) for e in view.estimates if e.value is None)
    shown = undefined.most_common(MOST_REASONS)
    parts += [f"{n} estimates are undefined ({reason})" for reason, n in shown]
    if len(undefined) > len(shown):
        parts.append(f"{undefined.total() - sum(n for _, n in shown)} more for other reasons")
    left: dict[str, int] = {}
    for e in of(view, "agency_share", stratum=ALL, masking=primary(view)):
        if not e.group and e.statistic == "ratio_gap":
            for reason, n in e.exclusions.items():
                left[reason] = left.get(reason, 0) + n
    parts += [f"{n:,} texts left out: {reason}" for reason, n in left.items()]
    bare = [e for e in own if NO_INTERVAL in e.instruments]
    if bare:
        why = short(bare[0].instruments[NO_INTERVAL], 200)
        parts.append(f"{len(bare)} of {len(own)} differences have no interval ({why})")
    parts.append(
        "agentic is not better than communal; the audit asks whether groups are told apart"
    )
    return "What cannot be said: " + "; ".join(parts) + "."


CHANCE = 0.05
"""p of the variance from which chance alone explains the differences."""


def order_words(view: View, where: Where, masking: str) -> str:
    """Return which groups of a place can be ranked, one sentence for each set of groups."""
    scores = at(of(view, "agency_variance", stratum=ALL, masking=masking), where)
    said = []
    for score in scores:
        name = score.group["attribute"]
        if name != "overall" and score.value is not None:
            said.append(_ranked(view, where, masking, name, score))
    return f"{called(where)}: {' '.join(said)}" if said else ""


def _ranked(view: View, where: Where, masking: str, name: str, score: Estimate) -> str:
    groups = _means(view, where, masking, name)
    ordered = sorted(groups, key=lambda key: -groups[key][0])
    if len(ordered) < 2:
        return ""
    if not score.tests:
        return f"{name}: ranking not resolved, as shuffled groups all give the same variance."
    p, q = score.tests[0].p, q_of(score)
    if (p if q is None else q) >= CHANCE:
        return (
            f"{name}: ranking not resolved, as chance alone puts groups as far apart "
            f"(p {fmt.probability(p)}, q {fmt.probability(q)})."
        )
    told = _told_apart(view, where, masking)
    marks = [_apart(told, groups, ordered[i], ordered[i + 1]) for i in range(len(ordered) - 1)]
    if len(ordered) == 2:
        verdict = (
            "are more agentic than those about" if marks[0] else "cannot be told from those about"
        )
        return f"{name}: texts about {ordered[0]} people {verdict} {ordered[1]} people."
    if all(marks):
        return f"{name}: {' > '.join(ordered)}."
    ends = _ends(told, groups, ordered)
    return (
        f"{name}: groups differ (p {fmt.probability(p)}), ranking not resolved: "
        f"{_tied(ordered, marks)} cannot be told apart as neighbours{ends}."
    )


Groups = dict[str, tuple[float, frozenset[tuple[str, str]]]]
Told = set[frozenset[str]]


def _means(view: View, where: Where, masking: str, name: str) -> Groups:
    rows = at(of(view, "agency_share", stratum=ALL, masking=masking), where)
    return {
        group_name(e.group): (e.value, frozenset(e.group.items()))
        for e in rows
        if e.statistic == "ratio_gap"
        and e.value is not None
        and (len(e.group) > 1 if name == "intersectional" else list(e.group) == [name])
    }


def _told_apart(view: View, where: Where, masking: str) -> Told:
    """Pairs of groups whose interval leaves out 0 and whose q is below 0.05."""
    found: Told = set()
    for e in at(of(view, "agency_gap", stratum=ALL, masking=masking), where):
        q, bounds = q_of(e), e.interval
        if e.value is None or bounds is None or "beside" in e.group or q is None or q >= SURE:
            continue
        if not bounds.low <= 0.0 <= bounds.high:
            upper, _, lower = group_name(e.group).partition(" − ")
            found.add(frozenset((upper, lower)))
    return found


def _apart(told: Told, groups: Groups, one: str, two: str) -> bool:
    return one in groups and two in groups and frozenset((one, two)) in told


def _tied(ordered: list[str], marks: list[bool]) -> str:
    pairs = [f"{a} and {b}" for a, b, m in zip(ordered, ordered[1:], marks, strict=False) if not m]
    shown = pairs if len(pairs) <= 4 else [*pairs[:3], f"{len(pairs) - 3} other pairs"]
    return fmt.listed(shown)


def _ends(told: Told, groups: Groups, ordered: list[str]) -> str:
    """From how many groups the highest and the lowest can be told apart."""
    said = []
    for word, one in (("highest", ordered[0]), ("lowest", ordered[-1])):
        n = sum(_apart(told, groups, one, two) for two in ordered if two != one)
        said.append(f"{one} is {word}, told apart from {n} of {len(ordered) - 1}")
    return f"; {' and '.join(said)}"


def instruments(view: View) -> tuple[str, ...]:
    """Return what is known of the error of what the numbers rest on."""
    name = _classifier(view)
    unit = "prompts" if view.note.get("cluster_unit") == "prompt" else "texts"
    if column := view.options.get("cluster"):
        unit = "texts" if column == "text" else f"values of {short(str(column), 40)}"
    return (
        f"Sentences were classified by {name}. It errs, and not alike for all kinds of "
        "sentences; portrayal score agency measures it on labelled sentences of yours.",
        "A classifier learns more than agency: one that reads “he” and “she”, or names, counts "
        "them. Masked sentences hide them; where masked and unmasked results differ, part of the "
        "unmasked one is the classifier’s reading of gender or race words.",
        f"Intervals take {unit} as units. Groups of few first names can differ because of the "
        "names: other names may give other differences. --cluster with the column "
        "of the names takes each name as a unit.",
        "Every sentence is called agentic or communal, also one that is neither; levels therefore "
        "depend on the classifier more than differences do.",
    )


def _classifier(view: View) -> str:
    named = (e.instruments.get("classifier", "") for e in view.estimates)
    return short(next(named, ""), 80)


def facts(view: View) -> list[Fact]:
    """Return classifier and groups of the audit."""
    name = _classifier(view)
    groups = dict.fromkeys(k for e in view.estimates for k in e.group)
    named = [g for g in groups if g not in ("attribute", "beside")]
    return [
        ("Classifier", name),
        ("Result first", f"{primary(view)} sentences"),
        ("Groups", ", ".join(named)),
    ]
