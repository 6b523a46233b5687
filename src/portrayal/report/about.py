"""About: what was asked, how each number is made, and how sure it is."""

import math
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from itertools import islice
from typing import Any

import portrayal.report.formats as fmt
from portrayal.annotate.annotator import unread_words
from portrayal.annotate.people.labeler.stage import labelling_removed, labelling_sentence
from portrayal.collect.tables import UNNAMED
from portrayal.measure.stories.conclusions import measured, summary_of
from portrayal.records import ALL
from portrayal.registry import described
from portrayal.report.figures.figure import Table
from portrayal.report.findings import headline_measures
from portrayal.report.formats import short
from portrayal.report.study import report_of
from portrayal.report.view import View, place_words
from portrayal.report.words import measure_title
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
    """Return the models that have a name in one line, the first few where they are many."""
    names = [short(model, 60) for model in view.models if model != UNNAMED]
    if len(names) <= NAMED + 1:
        return ", ".join(names)
    return f"{', '.join(names[:NAMED])} and {len(names) - NAMED} more"


def citation(view: View, title: str, models: str, paper: str) -> str:
    """Return how a finding of this run is cited."""
    read = f"{int(view.note.get('n_texts', 0)):,} texts"
    after = f" After {paper.rstrip('.')}." if paper else ""
    version = view.settings.get("portrayal", "")
    of = ", ".join(filter(None, (models, read, day_of(view.run))))
    return f"{title}: audit of {of}. Portrayal {version}.{after}"


def readable(view: View) -> str:
    """Return a sentence on what share of the texts could be read."""
    outcomes: dict[str, int] = view.note.get("outcomes", {})
    total = sum(outcomes.values())
    if not total:
        return "The run holds no text."
    ok = outcomes.get("ok", 0)
    lost = [f"{n:,} {name}" for name, n in outcomes.items() if n and name != "ok"]
    sentence = f"{ok:,} of {total:,} answers ({fmt.share(ok / total)}) could be read"
    sentence = f"{sentence}; {fmt.listed(lost)}." if lost else f"{sentence}."
    return " ".join((sentence, *unread(view)))


def unread(view: View) -> Iterator[str]:
    """Yield a sentence on each annotator that left texts unread, in whole or part, and why."""
    for name in view.settings.get("annotators", ()):
        if words := unread_words(view.run.annotations(name).note()):
            yield f"{name}: {words}."


def instruments(view: View) -> dict[str, str]:
    """Return what the numbers rest on, such as a name table, by name."""
    values: dict[str, str] = {}
    # Measures name different instruments; of each name the first stands.
    for name, value in (item for e in view.estimates for item in e.instruments.items()):
        values.setdefault(name, short(str(value), 80))
    return dict(islice(values.items(), 5))


def day_of(run: Run) -> str:
    """Return the day the estimates of a run were written, in words."""
    # The file's own time says when the numbers were last made.
    written = datetime.fromtimestamp(run.estimates_path.stat().st_mtime, tz=UTC)
    return f"{written.day} {written:%B %Y}"


def methods(view: View) -> list[dict[str, Any]]:
    """Return title, name, summary and (what, words) of the annotator, then of every measure."""
    annotator = view.annotator
    used = [(measure_title(name), name, described(name)) for name in view.by_measure]
    if annotator is not None:
        used.insert(0, (annotator.title or annotator.name, annotator.name, annotator))
    sections = []
    for title, name, component in used:
        summary, rows = "Not installed here.", {}
        if component is not None:
            summary = component.summary
            rows = {
                "Definition": component.equation,
                "Reads": component.reads,
                "Counts": component.unit,
                "Range": component.range,
                **({"Read as": component.reading} if component.reading else {}),
                "Undefined when": component.undefined_when,
                "Source": component.source,
            }
        sections.append({"title": title, "name": name, "summary": summary, "rows": rows.items()})
    return sections


def multiplicity(view: View) -> str:
    """Return how many tests are one family, and how many of them are below .05."""
    family = [q for e in view.estimates if e.tests and (q := e.tests[0].audit_q) is not None]
    if not family:
        return "No measure of this run has a test that may be stated."
    return (
        f"Tests that this report may state as findings, one family: {len(family):,}, "
        f"{sum(q < 0.05 for q in family):,} with q of the audit below 0.05."
    )


def reading_error(view: View) -> list[str]:
    """Return what is known of the error of what the numbers rest on."""
    lines = []
    if labelling := view.settings.get("labeler"):
        lines += [labelling_sentence(labelling), labelling_removed(labelling)]
    for name in view.settings.get("annotators", ()):
        accuracy = getattr(described(name, "annotators"), "accuracy", "") or "is not known"
        lines.append(f"Texts were read by {short(name, 80)}. Its accuracy {accuracy}.")
    lines += _conclusions(view)
    lines += report_of(view).instruments
    return lines or ["This report does not know what the numbers rest on, nor how often it errs."]


def _conclusions(view: View) -> list[str]:
    """How far the reader of people moves ratios, where that was measured."""
    annotator = next(iter(view.settings.get("annotators", ())), "")
    # A model that labels has errors of its own, which these figures do not tell.
    if not annotator or view.settings.get("labeler"):
        return []
    total = summary_of(measured(annotator))
    if total.shift is None:
        return []
    return [
        f"Measured on stories that people labelled: of {total.cells} groups with many people, the "
        f"reader moves ratios by {fmt.share(math.expm1(total.shift))} on average. A number that "
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
