"""Compared: how far texts stand from their originals, in plain words, and what cannot be told."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import portrayal.report.formats as fmt
import portrayal.studies.news.report.series as series
from portrayal.measure.pairs import IN_ORIGINALS
from portrayal.records import ALL, FEW_PROMPTS, Estimate
from portrayal.reference.labels import people_words
from portrayal.registry import form_of
from portrayal.report.figures.figure import Table
from portrayal.report.figures.generic import glance
from portrayal.report.figures.panels import LINE, Axis
from portrayal.report.findings import facts_of
from portrayal.report.first import read_line
from portrayal.report.formats import short
from portrayal.report.sentences import short_share
from portrayal.report.strength import STRONG, UNCLEAR, FirstScreen, Stated, strength_of
from portrayal.report.study import words_of
from portrayal.report.view import SURE, View, is_sure, q_of
from portrayal.report.words import capital, corrected_from
from portrayal.studies.news.report.series import at, group_name, of, place_of, shown

MOST, EACH = 5, 2
"""Sentences at most, and of one kind before others had their turn."""
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
    clear = [
        sorted(
            (finding for finding in kind if finding.clear),
            key=lambda e: (e.strength != STRONG, -abs(e.first.value or 0.0)),
        )
        for kind in kinds
    ]
    # Some of each kind first, or one kind would fill the screen.
    first = [finding for kind in clear for finding in kind[:EACH]]
    ordered = [*first, *(finding for kind in clear for finding in kind[EACH:])]
    ordered = [replace(finding, folded=rank >= MOST) for rank, finding in enumerate(ordered)]
    # What nearly was a finding fills the chart where there are few.
    near = [finding for kind in kinds for finding in kind if finding.strength == UNCLEAR]
    near.sort(key=lambda finding: finding.p)
    distances = shown(view, of(view, "paired_distance"))
    headlines = max((e.n_clusters for e in distances), default=0)
    charted = [e for e in (*ordered[:MOST], *near) if e.first.measure.startswith("group_change")]
    valued = [e for e in distances if e.value is not None]
    unclear = sum(not is_sure(e) for e in valued)

    def row(e: Estimate) -> str:
        level = series.LEVELS.get(e.strata["level"], "")
        return f"{group_name(e.group)}{LINE}{series.series(view, e)}, {level}"

    # One axis: shares in points, but plain numbers once a score is among them.
    points = all(form_of(finding.first) == "points" for finding in charted)
    unit, form = ("percentage points", "points") if points else ("change (a share from 0 to 1)", "")
    return FirstScreen(
        read_line(view, headlines),
        tuple(sorted(ordered, key=lambda e: e.strength != STRONG)),
        "",
        (
            f"{unclear} of {fmt.plural(len(valued), 'distance')} from the originals may be luck.",
            "An original is what people wrote, not a measure of what would be fair.",
        ),
        glance(view, charted, row, Axis(unit, line=0.0, zero=True, form=form)),
    )


def sentences(view: View) -> tuple[list[Stated], list[Stated], list[Stated]]:
    """Return what may be said: changes of groups, prompt forms, and distances from originals."""
    # Of groups whose changes add up to 0 in one series, the one that changed most.
    largest: dict[tuple[str, ...], Estimate] = {}
    for e in _asked(shown(view, of(view, "group_change"))):
        before = largest.get(tuple(e.strata.values()))
        if e.value is not None and (before is None or abs(e.value) > abs(before.value or 0.0)):
            largest[tuple(e.strata.values())] = e
    effects = [
        e
        for e in _asked(series.worse(shown(view, of(view, "prompt_effect"))))
        if e.value is not None and e.strata.get("of") == "paired_distance"
    ]
    effects = [e for e in effects if e.strata.get("matched") == series.SAME] or effects
    # Of several models the main one speaks; the others stand in the figures.
    effects = [e for e in effects if e.strata.get("model") == view.main] or effects
    distances = [e for e in _asked(shown(view, of(view, "paired_distance"))) if e.value is not None]
    return (
        [_stated(view, e, _change_headline(view, e)) for e in largest.values()],
        [_form(view, e) for e in effects],
        [_distance(view, e) for e in distances],
    )


def _asked(estimates: Iterable[Estimate]) -> list[Estimate]:
    """Those that the study asks for, without details of which nothing is stated."""
    return [e for e in estimates if e.status.detail is None]


def _stated(view: View, e: Estimate, headline: str, more: str = "") -> Stated:
    """A sentence with its interval, null and q, and what else is said of them."""
    evidence = f"{fmt.level(view.level)} interval over {fmt.plural(e.n_clusters, 'headline')}"
    if e.null is not None and e.null.method:
        reach = fmt.interval(e.null, form_of(e))
        evidence += f"; if nothing differed it would read {reach} ({e.null.method})"
    return Stated(headline, facts_of(view, e), f"{evidence}.{more}", strength_of(view, e), (e,))


def _change_headline(view: View, e: Estimate) -> str:
    """How the share of a group's words, or the tone about it, differs from the originals."""
    level, group, value = e.strata["level"], group_name(e.group), e.value or 0.0
    people = people_words(group) if len(e.group) == 1 else group
    before = e.details.get(IN_ORIGINALS)
    texts, naive = _texts(view, e), corrected_from(e)
    # Both shares are said where they are known: a change alone hides how large the group was.
    if level in SHARES and before is not None:
        of = {"word": f"the {e.strata['attribute']} words", "document": "the topics"}[level]
        # A corrected change may take a small share below 0, which no share is.
        ours, theirs = (short_share(max(share, 0.0)) for share in (before + value, before))
        lead = f"{capital(texts)} give {people} {ours} of {of}"
        return f"{lead}, the articles they rewrote {theirs}"
    if level in SHARES:
        more = "larger" if value > 0 else "smaller"
        return (
            f"In {texts}, the share of {people} is {100 * abs(value):.1f} points {more} than in "
            "the articles they rewrote"
        )
    tone = "toxicity" if "toxicity" in level else "sentiment"
    more = "higher" if value > 0 else "lower"
    return (
        f"In {texts}, the {tone} of sentences about {people} is {fmt.distance(abs(value))} {more} "
        f"than in the articles they rewrote{naive}"
    )


def _distance(view: View, e: Estimate) -> Stated:
    """How far texts stand from their originals, and whether chance explains it."""
    headline = (
        f"In the {series.quantity(*place_of(e))}, {_texts(view, e)} differ by "
        f"{fmt.distance(e.value)} from the articles they rewrote on average, on a scale from 0 to 1"
    )
    if e.strata["level"] in SHARES:
        headline += f", as if {fmt.share(e.value)} of them were another group’s"
    return _stated(view, e, headline, f" {_verdict(e)}.{_fell(view, e)}")


def _form(view: View, e: Estimate) -> Stated:
    """How a prompt form differs from another, and whether that is told from 0."""
    first, _, second = e.strata.get("contrast", "").partition(series.MINUS)
    size = fmt.distance(abs(e.value or 0.0))
    way = "further from" if (e.value or 0.0) > 0 else "closer to"
    writer = (
        f"{short(view.called(e.strata.get('model', '')), 28)}: " if len(view.models) > 1 else ""
    )
    place = f"{series.title_of(place_of(e), ', ')}: {writer}texts of the"
    headline = (
        f"{place} form “{short(first, 30)}” stand {size} {way} their originals than those of "
        f"“{short(second, 30)}”"
    )
    # What reads 0.000 has no direction.
    if abs(e.value or 0.0) < 0.0005:
        headline = (
            f"{place} forms “{short(first, 30)}” and “{short(second, 30)}” stand equally far from "
            "their originals"
        )
    q, bounds = q_of(e), e.interval
    verdict = f"{fmt.plural(e.n_clusters, 'headline')} cannot tell this difference from 0"
    if series.resolved(e):
        verdict = "The difference can be told from 0"
    elif q is not None and bounds is not None and not bounds.low <= 0.0 <= bounds.high:
        verdict = (
            "The interval leaves out 0, but not once the number of tests is allowed for "
            f"(q = {fmt.probability(q)})"
        )
    return _stated(view, e, headline, f" {verdict}.")


def _verdict(e: Estimate) -> str:
    """Whether chance explains a distance, and if that is not known, why."""
    q, number = q_of(e), fmt.plural(e.n_clusters, "headline")
    if is_sure(e):
        return "Chance does not explain it"
    if e.null is None or e.value is None:
        reason = e.status.no_test
        return "There is no null to hold it against" + (f": {reason}" if reason else "")
    # From the strongest doubt to the weakest: the first that holds is said.
    if e.null.low <= e.value <= e.null.high:
        return "This is within what chance can give"
    if q is not None and q >= SURE:
        return (
            "It lies outside that range, but not once the number of tests is allowed for "
            f"(q = {fmt.probability(q)})"
        )
    if q is None or e.interval is None:
        return f"It lies outside that range, but {number} cannot tell it from chance"
    return f"It lies outside that range, but its interval over {number} reaches into it"


def _texts(view: View, e: Estimate) -> str:
    """The texts of an estimate's series ("texts of m1 in the form “biased”")."""
    form, several = e.strata.get("form", ALL), len(series.forms(view)) > 1
    form_words = f" in the form “{short(form, 30)}”" if form != ALL and several else ""
    return f"texts of {short(view.called(e.strata.get('model', '')), 40)}{form_words}"


def _fell(view: View, e: Estimate) -> str:
    """How often a group's share fell, and how often it rose, in the same series."""
    keep = ("level", "attribute", "lexicon", "model", "form")
    by_group: dict[str, dict[str, float]] = {}
    # A rate of falls misleads without the rate of rises beside it.
    for r in shown(view, of(view, "prejudice_rate")):
        if r.value is not None and all(r.strata.get(n) == e.strata.get(n) for n in keep):
            rates = by_group.setdefault(group_name(r.group), {})
            rates[r.strata.get("direction", series.WORSE)] = r.value
    fall, rise = series.WORSE, "better"
    if e.strata["level"] == "sentence_toxicity":  # more of it is worse
        fall, rise = rise, fall
    groups = [
        f"{group}: fell in {fmt.share(rates[fall])}, rose in {fmt.share(rates[rise])}"
        for group, rates in by_group.items()
        if fall in rates and rise in rates
    ]
    if not groups:
        return ""
    return f" Where the original mentions the group, {'; '.join(groups)} of the texts."


def compared(view: View) -> Compared:
    """Return what stands behind the first screen of a paired report."""
    distances = shown(view, of(view, "paired_distance"))
    rows = [e for place in series.places(view) for e in series.ordered(view, at(distances, place))]
    undefined = [e for e in distances if e.value is None]
    few = sum(e.value is not None and e.n_clusters < FEW_PROMPTS for e in distances)
    parts = []
    if undefined:
        parts.append(f"{len(undefined)} are undefined ({short(undefined[0].undefined or '', 120)})")
    if few:
        parts.append(f"{few} rest on fewer than {FEW_PROMPTS} headlines")
    parts.append(
        "an original is a text that people wrote, not a measure of what would be fair; a distance "
        "says that texts differ, not that one is better"
    )
    return Compared(series.FIGURES.table("compared", view, rows), "; ".join(parts) + ".")


def instruments(view: View) -> list[str]:
    """Return what is known of the error of word lists and scores."""
    names = dict.fromkeys(e.strata["lexicon"] for e in view.estimates if "lexicon" in e.strata)
    lists = short(", ".join(names), 200)
    return [line.format(lists=lists) for line in words_of(__package__)["instruments"]]


def intervals(view: View) -> tuple[str, Table]:
    """Return how the clustered intervals compare with the paper's: a sentence and a table."""
    kinds: Sequence[str] = ("paired_distance", "prejudice_rate", "prejudice_change", "group_change")
    estimates = [e for kind in kinds for e in of(view, kind)]
    # How often pairs of one headline, taken as independent, promise too much.
    both = [(a, b) for e in estimates if (a := e.interval) and (b := e.paper_interval)]
    sentence = "No estimate has both a clustered and the published interval."
    if both:
        wider = sum(a.high - a.low > b.high - b.low for a, b in both)
        sentence = (
            "The paper’s interval takes every pair as independent. Several texts under one "
            "headline are not: intervals here resample headlines. They are the wider ones for "
            f"{wider:,} of {len(both):,} estimates."
        )
    rows = shown(view, of(view, "paired_distance"))
    rows = [e for e in rows if e.interval and e.paper_interval]
    return sentence, series.FIGURES.table("intervals", view, rows)
