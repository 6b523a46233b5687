"""About: what was asked, how each number is made, and how sure it is."""

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import portrayal.report.formats as fmt
from portrayal.annotate.people.confusion import confusion_of
from portrayal.annotate.people.labeler import labelling_removed, labelling_sentence
from portrayal.records import ALL, FEW_PROMPTS, Estimate, Interval
from portrayal.registry import Component, described
from portrayal.report.figures.figure import NUMBERS, Table
from portrayal.report.findings import distance, headline_measures
from portrayal.report.formats import short
from portrayal.report.study import report_of
from portrayal.report.view import View, detail_q, place_words
from portrayal.report.words import GENDER_WORDS, group_label, measure_title
from portrayal.run import Run

NAMED = 5
"""Models named in one line."""


def facts(view: View) -> list[tuple[str, str]]:
    """Return (what, value) of everything that was asked."""
    n_texts = int(view.note.get("n_texts", 0))
    # What the numbers rest on, by the names that the estimates give.
    instrument_rows = [
        (n.replace("_", " ").capitalize(), value) for n, value in instruments(view).items()
    ]
    rows = [
        ("Models", models_line(view) or fmt.NOTHING),
        ("Texts", f"{n_texts:,}"),
        ("Source", short(str(view.settings.get("source", "")), 80) or fmt.NOTHING),
        ("Originals", short(str(view.settings.get("reference", "")), 80)),
        ("Measured", day_of(view.run)),
        *instrument_rows,
        ("Read by", ", ".join(view.settings.get("annotators", ())) or fmt.NOTHING),
        ("Groups", str(view.settings.get("group_labels", ""))),
        ("Confidence level", fmt.level(view.level)),
        ("Seed", str(view.seed)),
        ("Version", f"Portrayal {view.settings.get('portrayal', '')}"),
    ]
    return [(label, value) for label, value in rows if label and value]


def models_line(view: View) -> str:
    """Return the models in one line, the first few where they are many."""
    names = [short(model, 60) for model in view.models]
    if len(names) <= NAMED + 1:
        return ", ".join(names)
    return f"{', '.join(names[:NAMED])} and {len(names) - NAMED} more"


def citation(view: View, title: str, models: str, paper: str) -> str:
    """Return how a finding of this run is cited."""
    read = f"{int(view.note.get('n_texts', 0)):,} texts"
    after = f" After {paper.rstrip('.')}." if paper else ""
    version = view.settings.get("portrayal", "")
    return f"{title}: audit of {models}, {read}, {day_of(view.run)}. Portrayal {version}.{after}"


def readable(view: View) -> str:
    """Return a sentence on what share of the texts could be read."""
    outcomes: dict[str, int] = view.note.get("outcomes", {})
    total = sum(outcomes.values())
    if not total:
        return "The run holds no text."
    ok = outcomes.get("ok", 0)
    lost = [f"{n:,} {name}" for name, n in outcomes.items() if n and name != "ok"]
    sentence = f"{ok:,} of {total:,} answers ({fmt.share(ok / total)}) could be read"
    return f"{sentence}; {fmt.listed(lost)}." if lost else f"{sentence}."


def instruments(view: View) -> dict[str, str]:
    """Return what the numbers rest on, such as a name table, by name."""
    values: dict[str, Any] = {}
    for e in view.estimates:
        # Measures name different instruments; of each name the first stands.
        values = {**e.instruments, **values}
        if len(values) >= 5:
            break
    return {name: short(str(value), 80) for name, value in values.items()}


def day_of(run: Run) -> str:
    """Return the day the estimates of a run were written, in words."""
    # The file's own time says when the numbers were last made.
    written = datetime.fromtimestamp(run.estimates_path.stat().st_mtime, tz=UTC)
    return f"{written.day} {written:%B %Y}"


@dataclass(frozen=True)
class Method:
    """One component as the page prints it: its title and (what, words) in order."""

    title: str
    name: str
    summary: str
    rows: tuple[tuple[str, str], ...]


def methods(view: View) -> list[Method]:
    """Return the annotator, then every measure of the run."""
    annotator, sections = view.annotator, []
    used: list[tuple[str, str, Component | None]] = []
    used += (
        []
        if annotator is None
        else [(annotator.title or annotator.name, annotator.name, annotator)]
    )
    used += [(measure_title(name), name, view.component(name)) for name in view.by_measure]
    for title, name, component in used:
        if component is None:
            sections.append(Method(title, name, "Not installed here.", ()))
            continue
        rows = (
            ("Definition", component.equation),
            ("Reads", component.reads),
            ("Counts", component.unit),
            ("Range", component.range),
            *((("Read as", component.reading),) if component.reading else ()),
            ("Undefined when", component.undefined_when),
            ("Source", component.source),
        )
        sections.append(Method(title, component.name, component.summary, rows))
    return sections


ROWS = 12


def naive_sentence(view: View) -> str:
    """Return how many ratios lose their difference once prompts are resampled."""
    # Of those that the naive interval calls different, how many still are.
    naive = [e for e in _ratios(view) if _excludes(e, naive=True)]
    clustered = [e for e in naive if _excludes(e, naive=False)]
    words = report_of(view).wording
    if not any(e.paper_interval for e in _ratios(view)):
        return ""
    if not naive:
        return f"No naive interval excludes 1, so none is lost by resampling {words.clusters}."
    differing = f"{len(clustered)} of them still do" if clustered else "none of them still does"
    both = [e for e in naive if e.interval is not None and e.paper_interval is not None]
    wider = sum(_width(e.interval) > _width(e.paper_interval) for e in both)
    return (
        f"Treating every {words.unit} as independent, as published audits do, "
        f"{len(naive)} ratios differ from 1. Resampling {words.clusters}, {differing}. "
        f"{words.texts.capitalize()} from one prompt resemble each other: the "
        f"clustered interval is the wider one for {wider} of these {len(both)} ratios."
    )


def comparison(view: View) -> Table:
    """Return clustered beside naive intervals of the ratios furthest from 1."""
    rows = [e for e in _ratios(view) if e.interval is not None and e.paper_interval is not None]
    # Those where it matters: the naive interval finds something, and prompts can be resampled.
    rows = [e for e in rows if e.n_clusters >= FEW_PROMPTS and _excludes(e, naive=True)]
    rows.sort(key=lambda e: (-distance(e), e.measure, *e.group.values()))
    words = report_of(view).wording
    columns = {
        "Measure": lambda e: measure_title(e.measure),
        "Where": lambda e: short(place_words(e) or ALL, 30),
        "Group": lambda e: short(group_label(e.group)),
        "Ratio": NUMBERS["Value"],
        "Clustered": NUMBERS["Interval"],
        "Naive": lambda e: fmt.interval(e.paper_interval),
        words.clusters.capitalize(): NUMBERS["Prompts"],
        "p": NUMBERS["p"],
        "q": lambda e: fmt.probability(detail_q(e)),
        "q of the audit": lambda e: fmt.probability(e.tests[0].audit_q if e.tests else None),
    }
    return Table.of(rows, columns, 3, ROWS)


def multiplicity(view: View) -> list[str]:
    """Return a sentence on the tests behind findings, and one on the details of each measure."""
    hypotheses = [e for e in view.estimates if e.tests and e.tests[0].audit_q is not None]
    family = [e.tests[0].audit_q for e in hypotheses if detail_q(e) is not None]
    below = sum(q is not None and q < 0.05 for q in family)
    lines = [
        f"Tests that this report may state as findings, one family: {len(family):,}, {below:,} "
        "with q of the audit below 0.05."
    ]
    for name, estimates in view.by_measure.items():
        # NaN is not itself: an estimate may have a test without p.
        tested = [e for e in estimates if e.tests and e.tests[0].p == e.tests[0].p]
        if not tested:
            continue
        p = sum(e.tests[0].p < 0.05 for e in tested)
        q = sum((detail_q(e) or 0.0) < 0.05 for e in tested if detail_q(e) is not None)
        lines.append(
            f"{measure_title(name)}: {len(tested):,} tests, {p:,} with p below 0.05, {q:,} with q "
            "below 0.05."
        )
    return lines if lines[1:] else []


def reading_error(view: View) -> list[str]:
    """Return what is known of the error of what the numbers rest on."""
    lines = []
    if labelling := view.settings.get("labeler"):
        lines += [labelling_sentence(labelling), labelling_removed(labelling)]
    for name in view.settings.get("annotators", ()):
        accuracy = getattr(described(name, "annotators"), "accuracy", "") or "is not known"
        lines.append(f"Texts were read by {short(name, 80)}. Its accuracy {accuracy}.")
    lines += _recall(view)
    lines += report_of(view).instruments
    return lines or ["This report does not know what the numbers rest on, nor how often it errs."]


def _recall(view: View) -> list[str]:
    """How many people of each gender the reader of people finds, where that was measured."""
    annotator = next(iter(view.settings.get("annotators", ())), "")
    # A model that labels has errors of its own, which these figures do not tell.
    if not annotator or view.settings.get("labeler"):
        return []
    errors = confusion_of(annotator, view.run.annotations(annotator).note().get("settings"))
    if errors is None:
        return []
    people = [s for prompt in errors.stories for story in prompt for s in story]
    true = Counter(s.gender for s in people)
    right = Counter(s.gender for s in people if s.read_gender == s.gender)
    shares = [
        f"{fmt.share(right[g] / true[g])} of {GENDER_WORDS[g]}" for g in GENDER_WORDS if true[g]
    ]
    return [
        f"Measured on {errors.source}: the reader finds {fmt.listed(shares)} people. A number that "
        "its errors could have made is not stated; the ranges beside values hold them."
    ]


LEFT_OUT = 60
"""Rows of the table of what was left out, at most."""


def left_out(view: View) -> Table:
    """Return what numbers leave out and why: of each measure and place, the most of any group."""
    most: dict[tuple[str, str, str], int] = {}
    for name in headline_measures(view):
        for e in (e for e in view.of_main(name) if e.status.detail is None):
            for reason, n in e.exclusions.items():
                key = measure_title(name), place_words(e), reason
                most[key] = max(most.get(key, 0), n)
    columns: dict[str, Callable[[tuple[tuple[str, str, str], int]], str]] = {
        "Measure": lambda row: row[0][0],
        "Where": lambda row: short(row[0][1] or ALL, 60),
        "Reason": lambda row: short(row[0][2], 120),
        "Left out": lambda row: f"{row[1]:,}",
    }
    return Table.of(list(most.items()), columns, 3, LEFT_OUT)


def _width(bounds: Interval | None) -> float:
    """Width of an interval of a ratio on the log scale; infinite where it reaches 0 or ∞."""
    # By logarithm, in which ratios are as far below 1 as above.
    if bounds is None or bounds.low <= 0 or math.isinf(bounds.high):
        return math.inf
    return math.log(bounds.high / bounds.low)


def _ratios(view: View) -> list[Estimate]:
    return [
        e
        for name in headline_measures(view)
        for e in view.of_main(name)
        if e.value is not None and e.statistic == "ratio"
    ]


def _excludes(e: Estimate, *, naive: bool) -> bool:
    bounds = e.paper_interval if naive else e.interval
    return bounds is not None and not bounds.low <= 1 <= bounds.high
