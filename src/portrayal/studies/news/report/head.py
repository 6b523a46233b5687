"""Compared: how far texts stand from their originals, in plain words, and what cannot be told."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import portrayal.report.figures.figure as tables
import portrayal.report.formats as fmt
from portrayal.records import ALL, NO_TEST, Estimate
from portrayal.report.figures.figure import Table
from portrayal.report.figures.generic import glance
from portrayal.report.figures.panels import LINE, Axis
from portrayal.report.findings import facts_of, q_words
from portrayal.report.first import nothing, read_line
from portrayal.report.formats import short
from portrayal.report.strength import STRONG, UNCLEAR, FirstScreen, Stated, strength_of
from portrayal.report.view import FEW_PROMPTS, SURE, View, is_sure, q_of
from portrayal.report.words import measure_title
from portrayal.studies.news.report.series import (
    LEVEL_TITLES,
    LEVELS,
    MINUS,
    SAME,
    WORSE,
    at,
    effects,
    forms,
    group_name,
    of,
    places,
    quantity,
    resolved,
    rows_of,
    series,
    shown,
)

MOST, EACH = 5, 2
"""Sentences at most, and of one kind before others had their turn."""
ROWS = 12
SHARES = ("word", "document")
"""Levels whose distance is between shares."""


@dataclass(frozen=True)
class Compared:
    """What stands behind the first screen of a paired report: a table, and limits."""

    table: Table
    limits: str


def news_first(view: View) -> FirstScreen:
    """Return the first screen: what texts change of their originals, and what prompts change."""
    kinds = sentences(view)
    found = [_strongest(each)[:EACH] for each in kinds]
    rest = [_strongest(each)[EACH:] for each in kinds]
    said = [each for kind in (*found, *rest) for each in kind][:MOST]
    near = [each for kind in kinds for each in kind if each.strength == UNCLEAR]
    near.sort(key=lambda each: each.p)
    own = shown(view, of(view, "paired_distance"))
    headlines = max((e.n_clusters for e in own), default=0)
    moved = [e for e in (*said, *near) if e.first.measure.startswith("group_change")]
    counted = fmt.plural(headlines, "headline")
    none, nearest = ("", "") if said else nothing(view, counted, near)
    return FirstScreen(
        read_line(view, headlines),
        tuple(sorted(said, key=lambda e: e.strength != STRONG)),
        none,
        (_unclear(own), "An original is what people wrote, not a measure of what would be fair."),
        nearest,
        glance(view, moved, partial(_row, view), Axis("change", line=0.0, zero=True)),
    )


def sentences(view: View) -> tuple[list[Stated], list[Stated], list[Stated]]:
    """Return what may be said: changes of groups, prompt forms, and distances from originals."""
    own = shown(view, of(view, "paired_distance"))
    return (
        [_moved(view, e) for e in _largest(shown(view, of(view, "group_change")))],
        [_form(view, e) for e in _form_effects(view)],
        [_distance(view, e) for e in own if e.value is not None],
    )


def _strongest(said: Sequence[Stated]) -> list[Stated]:
    """Those that chance does not explain, the strongest and largest first."""
    clear = [each for each in said if each.clear]
    return sorted(clear, key=lambda e: (e.strength != STRONG, -abs(e.first.value or 0.0)))


def _row(view: View, e: Estimate) -> str:
    return f"{group_name(e.group)}{LINE}{series(view, e)}, {LEVELS.get(e.strata['level'], '')}"


def _largest(estimates: Sequence[Estimate]) -> list[Estimate]:
    """Of groups whose changes add up to 0 in one series, the one that changed most."""
    found: dict[tuple[str, ...], Estimate] = {}
    for e in estimates:
        key = tuple(e.strata.values())
        if e.value is not None and (
            key not in found or abs(e.value) > abs(found[key].value or 0.0)
        ):
            found[key] = e
    return list(found.values())


def _moved(view: View, e: Estimate) -> Stated:
    """How the share of a group's words, or the tone about it, differs from the originals."""
    level, up = e.strata["level"], (e.value or 0.0) > 0
    who, size = group_name(e.group), abs(e.value or 0.0)
    if level in SHARES:
        what = "words" if level == "word" else "topics"
        headline = (
            f"In {_texts(view, e)}, the share of {who} {what} among {e.strata['attribute']} {what} "
            f"is {_points(size)} {'larger' if up else 'smaller'} than in their originals"
        )
    else:
        tone = "toxicity" if "toxicity" in level else "sentiment"
        headline = (
            f"In {_texts(view, e)}, the {tone} of sentences about {who} people is "
            f"{fmt.distance(size)} {'higher' if up else 'lower'} than in their originals"
        )
    return Stated(headline, facts_of(view, e), _evidence(view, e), strength_of(view, e), (e,))


def _points(size: float) -> str:
    return f"{100 * size:.1f} percentage points"


def compared(view: View) -> Compared:
    """Return what stands behind the first screen of a paired report."""
    own = shown(view, of(view, "paired_distance"))
    return Compared(_table(view, own), _limits(own))


def _ordered(view: View, estimates: Sequence[Estimate]) -> list[Estimate]:
    order = rows_of(view, estimates)
    return sorted(estimates, key=lambda e: order.index(series(view, e)))


def _distance(view: View, e: Estimate) -> Stated:
    level, attribute = e.strata["level"], e.strata["attribute"]
    strength = strength_of(view, e)
    headline = (
        f"In the {quantity(level, attribute)}, {_texts(view, e)} stand {fmt.distance(e.value)} "
        "from their originals on average"
    )
    if level in SHARES:
        headline += f", as if {fmt.share(e.value)} of them were another group’s"
    evidence = f"{_evidence(view, e)} {_verdict(e, is_sure(e))}.{_fell(view, e)}"
    return Stated(headline, facts_of(view, e), evidence, strength, (e,))


def _verdict(e: Estimate, clear: bool) -> str:
    if clear:
        return "Chance alone does not explain it"
    if e.null is None or e.value is None:
        why = e.instruments.get(NO_TEST)
        return "There is no null to hold it against" + (f": {why}" if why else "")
    if e.null.low <= e.value <= e.null.high:
        return "This is within what chance alone can give"
    q = q_of(e)
    if q is not None and q >= SURE:
        return (
            "It lies outside that range, but not once the number of tests is allowed for "
            f"(q = {fmt.probability(q)})"
        )
    number = fmt.plural(e.n_clusters, "headline")
    if q is None or e.interval is None:
        return f"It lies outside that range, but {number} cannot tell it from chance"
    return f"It lies outside that range, but its interval over {number} reaches into it"


def _texts(view: View, e: Estimate) -> str:
    """The texts of an estimate's series ("texts of m1 in the form “biased”")."""
    form = e.strata.get("form", ALL)
    named = f" in the form “{short(form, 30)}”" if form != ALL and len(forms(view)) > 1 else ""
    return f"texts of {short(view.called(e.strata.get('model', '')), 40)}{named}"


def _evidence(view: View, e: Estimate) -> str:
    said = f"{fmt.level(view.level)} interval over {fmt.plural(e.n_clusters, 'headline')}"
    if e.null is not None and e.null.method:
        said += f"; chance is {e.null.method}"
    if q_of(e) is not None:
        said += f"; {q_words(q_of(e))}"
    return f"{said}."


def _fell(view: View, e: Estimate) -> str:
    """How often a group's share fell, and how often it rose, in the same series."""
    keep = ("level", "attribute", "lexicon", "model", "form")
    rates = [
        r
        for r in shown(view, of(view, "prejudice_rate"))
        if r.value is not None and all(r.strata.get(n) == e.strata.get(n) for n in keep)
    ]
    by_group: dict[str, dict[str, float]] = {}
    for r in rates:
        found = by_group.setdefault(group_name(r.group), {})
        found[r.strata.get("direction", WORSE)] = r.value or 0.0
    toxic = e.strata["level"] == "sentence_toxicity"
    fall, rise = ("better", WORSE) if toxic else (WORSE, "better")
    said = [
        f"{group}: fell in {fmt.share(found[fall])}, rose in {fmt.share(found[rise])}"
        for group, found in by_group.items()
        if fall in found and rise in found
    ]
    if not said:
        return ""
    return f" Where the original mentions the group, {'; '.join(said)} of the texts."


def _form_effects(view: View) -> list[Estimate]:
    own = [
        e
        for e in effects(view, of(view, "prompt_effect"))
        if e.value is not None and e.strata.get("of") == "paired_distance"
    ]
    matched = [e for e in own if e.strata.get("matched") == SAME] or own
    main = [e for e in matched if e.strata.get("model") == view.main]
    return main or matched


def _form(view: View, e: Estimate) -> Stated:
    first, _, second = e.strata.get("contrast", "").partition(MINUS)
    level, attribute = e.strata["level"], e.strata["attribute"]
    way = "further from" if (e.value or 0.0) > 0 else "closer to"
    clear = resolved(e)
    place = f"{LEVEL_TITLES.get(level, level)}, {attribute}"
    size = fmt.distance(abs(e.value or 0.0))
    who = f"{short(view.called(e.strata.get('model', '')), 28)}: " if len(view.models) > 1 else ""
    headline = (
        f"{place}: {who}texts of the form “{short(first, 30)}” stand {size} {way} their originals "
        f"than those of “{short(second, 30)}”"
        if size != fmt.distance(0.0)
        else f"{place}: {who}texts of the forms “{short(first, 30)}” and “{short(second, 30)}” "
        "stand equally far from their originals"
    )
    evidence = f"{_evidence(view, e)} {_told(e, clear)}."
    return Stated(headline, facts_of(view, e), evidence, strength_of(view, e), (e,))


def _told(e: Estimate, clear: bool) -> str:
    """Whether a difference can be told from 0, and what stands against it."""
    if clear:
        return "The difference can be told from 0"
    q, bounds = q_of(e), e.interval
    if q is not None and bounds is not None and not bounds.low <= 0.0 <= bounds.high:
        return (
            "The interval leaves out 0, but not once the number of tests is allowed for "
            f"(q = {fmt.probability(q)})"
        )
    return f"{fmt.plural(e.n_clusters, 'headline')} cannot tell this difference from 0"


def _table(view: View, own: Sequence[Estimate]) -> Table:
    def level(e: Estimate) -> str:
        return f"{LEVEL_TITLES.get(e.strata['level'], e.strata['level'])}, {e.strata['attribute']}"

    columns = {
        "Level": level,
        "Texts": lambda e: series(view, e),
        "Distance": tables.value,
        tables.interval_head(view): tables.interval,
        "Null range": tables.null,
        "Pairs": tables.units,
        "Headlines": tables.clusters,
    }
    rows = [e for place in places(view) for e in _ordered(view, at(own, place))]
    return Table.of(rows, columns, 2, 60)


def _unclear(own: Sequence[Estimate]) -> str:
    known = [e for e in own if e.value is not None]
    unclear = [e for e in known if not is_sure(e)]
    return (
        f"{len(unclear)} of {fmt.plural(len(known), 'distance')} cannot be told from what chance "
        "gives."
    )


def _limits(own: Sequence[Estimate]) -> str:
    undefined = [e for e in own if e.value is None]
    parts = []
    if undefined:
        parts.append(f"{len(undefined)} are undefined ({short(undefined[0].undefined or '', 120)})")
    few = sum(e.value is not None and e.n_clusters < FEW_PROMPTS for e in own)
    if few:
        parts.append(f"{few} rest on fewer than {FEW_PROMPTS} headlines")
    parts.append(
        "an original is a text that people wrote, not a measure of what would be fair; a distance "
        "says that texts differ, not that one is better"
    )
    return "; ".join(parts) + "."


def instruments(view: View) -> list[str]:
    """Return what is known of the error of word lists and scores."""
    names = dict.fromkeys(e.strata["lexicon"] for e in view.estimates if "lexicon" in e.strata)
    lists = short(", ".join(names), 200)
    return [
        f"Groups are those of word lists ({lists}): a text that speaks of someone in other words "
        "counts as silent. Compare the lists where several are given.",
        "Sentiment and toxicity are scores of general tools, which err on irony, quotations and "
        "reports of grim events; both sides of a pair are scored by the same tool.",
        "The originals are what people wrote under the same headline, not a standard of fairness.",
    ]


def intervals(view: View) -> tuple[str, Table]:
    """Return how the clustered intervals compare with the paper's: a sentence and a table."""
    every = [e for kind in _COMPARED for e in of(view, kind)]
    both = [(a, b) for e in every if (a := e.interval) and (b := e.paper_interval)]
    said = "No estimate has both a clustered and the published interval."
    if both:
        wider = sum(a.high - a.low > b.high - b.low for a, b in both)
        said = (
            "The paper’s interval takes every pair as independent. Several texts under one "
            "headline are not: intervals here resample headlines. They are the wider ones for "
            f"{wider:,} of {len(both):,} estimates."
        )
    columns = {
        "Measure": lambda e: f"{measure_title(e.measure)}, {e.strata['level'].replace('_', ' ')}",
        "Attribute": lambda e: e.strata["attribute"],
        "Texts": lambda e: series(view, e),
        "Value": tables.value,
        "Clustered": tables.interval,
        "Published": lambda e: fmt.interval(e.paper_interval, e.statistic),
        "Headlines": tables.clusters,
    }
    rows = shown(view, of(view, "paired_distance"))
    return said, Table.of([e for e in rows if e.interval and e.paper_interval], columns, 3, ROWS)


_COMPARED = ("paired_distance", "prejudice_rate", "prejudice_change", "group_change")
