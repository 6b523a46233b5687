"""About: what was asked, and how each number is made in the components' own words."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import portrayal.report.formats as fmt
from portrayal.registry import Component
from portrayal.report.inert import short
from portrayal.report.study import Fact, report_of
from portrayal.report.view import View
from portrayal.report.words import measure_title

NAMED = 5
"""Models named in one line."""


def facts(view: View) -> list[Fact]:
    """Return (what, value) of everything that was asked."""
    n_texts = int(view.note.get("n_texts", 0))
    readers = report_of(view).wording.readers
    rows = [
        ("Models", models_line(view) or fmt.NOTHING),
        ("Texts", f"{n_texts:,}"),
        ("Source", short(str(view.settings.get("source", "")), 80) or fmt.NOTHING),
        ("Originals", short(str(view.settings.get("reference", "")), 80)),
        ("Measured", _date(view)),
        *((report_of(view).facts or _instrument_facts)(view)),
        (readers, ", ".join(view.settings.get("annotators", ())) or fmt.NOTHING),
        ("Confidence level", fmt.level(view.level)),
        ("Seed", str(view.seed)),
        ("Version", f"Portrayal {view.settings.get('portrayal', '')}"),
    ]
    return [(what, value) for what, value in rows if what and value]


def _instrument_facts(view: View) -> list[Fact]:
    """What the numbers rest on, by the names that the estimates give."""
    named = instruments(view)
    return [(name.replace("_", " ").capitalize(), value) for name, value in named.items()]


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
    return f"{title}: audit of {models}, {read}, {_date(view)}. Portrayal {version}.{after}"


def readable(view: View) -> str:
    """Return a sentence on what share of the texts could be read."""
    outcomes: dict[str, int] = view.note.get("outcomes", {})
    total = sum(outcomes.values())
    if not total:
        return "The run holds no text."
    ok = outcomes.get("ok", 0)
    lost = [f"{n:,} {name}" for name, n in outcomes.items() if n and name != "ok"]
    said = f"{ok:,} of {total:,} answers ({fmt.share(ok / total)}) could be read"
    return f"{said}; {fmt.listed(lost)}." if lost else f"{said}."


def instruments(view: View) -> dict[str, str]:
    """Return what the numbers rest on, such as a name table, by name."""
    found: dict[str, Any] = {}
    for e in view.estimates:
        found = {**e.instruments, **found}
        if len(found) >= 5:
            break
    return {name: short(str(value), 80) for name, value in found.items()}


def _date(view: View) -> str:
    """The day the estimates were written."""
    written = datetime.fromtimestamp(view.run.estimates_path.stat().st_mtime, tz=UTC)
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
    own = view.annotator
    found = [] if own is None else [_method(own.title or own.name, own)]
    for name in view.by_measure:
        component = view.component(name)
        if component is None:
            found.append(Method(measure_title(name), name, "Not installed here.", ()))
        else:
            found.append(_method(measure_title(name), component))
    return found


def _method(title: str, component: Component) -> Method:
    rows = (
        ("Definition", component.equation),
        ("Reads", component.reads),
        ("Counts", component.unit),
        ("Range", component.range),
        *((("Read as", component.reading),) if component.reading else ()),
        ("Undefined when", component.undefined_when),
        ("Source", component.source),
    )
    return Method(title, component.name, component.summary, rows)
