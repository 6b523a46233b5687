"""Agency: the head of an agency report in plain words, and what it rests on."""

from collections import Counter
from dataclasses import dataclass, replace

from portrayal.records import ALL, NO_INTERVAL, NO_TEST, Estimate, Interval, Null
from portrayal.report import formats as fmt
from portrayal.report.figures.tables import Table
from portrayal.report.findings import Sentence
from portrayal.report.inert import short
from portrayal.report.study import Fact
from portrayal.report.view import SURE, View, is_sure, q_of
from portrayal.studies.agency.report.order import order_words
from portrayal.studies.agency.report.series import (
    MASKED,
    Where,
    at,
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
    """What the head of an agency report says.

    Attributes
    ----------
    sentences
        How far groups stand apart, place by place.
    orders
        Which groups can be ranked, by masking.
    masking
        What masking changes, as a table.
    limits
        What cannot be said.
    """

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
    return Head(
        tuple(said[:MOST]),
        orders,
        _masking(view),
        _limits(view),
    )


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
    second = next(
        (
            e
            for e in at(of(view, "agency_variance", stratum=ALL, masking=other(view)), where)
            if e.group == first.group and e.value is not None
        ),
        None,
    )
    if second is not None:
        evidence += f" {_cap(other(view))}: {variance(second.value)}."
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
    return "".join(
        f" {_cap(other(view))}: {points(sign * (b.value or 0.0))} ({_span(b.interval, turned)})."
        for b in second
    )


def _cap(word: str) -> str:
    return word[:1].upper() + word[1:]


def _masking(view: View) -> Table:
    """Differences of one attribute with sentences masked and as they stand."""
    rows = []
    every = [e for e in of(view, "agency_gap", stratum=ALL) if e.value is not None]
    for where in wheres(every):
        here = [e for e in at(every, where) if len(e.group) == 1]
        second = {group_name(e.group): e for e in here if e.strata["masking"] != MASKED}
        for e in here:
            if e.strata["masking"] != MASKED:
                continue
            plain = second.get(group_name(e.group))
            rows.append(
                (
                    called(where),
                    group_name(e.group),
                    points(e.value),
                    span(e.interval),
                    points(plain.value) if plain is not None else fmt.NOTHING,
                    span(plain.interval) if plain is not None else fmt.NOTHING,
                )
            )
    heads = ("Texts", "Difference", "Masked", "Interval", "Unmasked", "Interval ")
    return Table(heads, tuple(rows[:60]), 2, max(len(rows) - 60, 0))


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


def instruments(view: View) -> tuple[str, ...]:
    """Return what is known of the error of what the numbers rest on."""
    first = next(iter(view.estimates), None)
    name = first.instruments.get("classifier", "") if first is not None else ""
    unit = "prompts" if view.note.get("cluster_unit") == "prompt" else "texts"
    if column := view.options.get("cluster"):
        unit = "texts" if column == "text" else f"values of {short(str(column), 40)}"
    return (
        f"Sentences were classified by {short(name, 80)}. It errs, and not alike for all kinds of "
        "sentences; portrayal score agency measures it on labelled sentences of yours.",
        "A classifier learns more than agency: one that reads “he” and “she”, or names, counts "
        "them. Masked sentences hide them; where masked and unmasked results differ, part of the "
        "unmasked one is the classifier’s reading of gender or race words.",
        f"Every interval resamples {unit}. Groups of few first names can differ because of the "
        "names: other names may give other differences. --cluster with the column "
        "of the names takes each name as a unit.",
        "Every sentence is called agentic or communal, also one that is neither; levels therefore "
        "depend on the classifier more than differences do.",
    )


def facts(view: View) -> list[Fact]:
    """Return classifier and groups of the audit."""
    first = next(iter(view.estimates), None)
    name = first.instruments.get("classifier", "") if first is not None else ""
    groups = dict.fromkeys(k for e in view.estimates for k in e.group)
    named = [g for g in groups if g not in ("attribute", "beside")]
    return [
        ("Classifier", short(name, 80)),
        ("Result first", f"{primary(view)} sentences"),
        ("Groups", ", ".join(named)),
    ]
