"""Methods: how each number is made, in the components' own words."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from portrayal.records import Estimate
from portrayal.registry import Component
from portrayal.report import formats as fmt
from portrayal.report.inert import short
from portrayal.report.view import View
from portrayal.report.words import measure_title, stem
from portrayal.studies.news.report.head import is_paired

Fact = tuple[str, str]
NAMED = 5
"""Models named in one line."""


def facts(view: View) -> list[Fact]:
    """Return (what, value) of everything that was asked."""
    n_texts = int(view.note.get("n_texts", 0))
    instruments = _instruments(view)
    reference = short(str(view.settings.get("reference", "")), 80)
    annotators = ", ".join(view.settings.get("annotators", ())) or fmt.NOTHING
    rows = [
        ("Models", models_line(view) or fmt.NOTHING),
        ("Texts", f"{n_texts:,}"),
        ("Source", short(str(view.settings.get("source", "")), 80) or fmt.NOTHING),
        ("Originals", reference),
        ("Measured", _date(view)),
        ("Baseline", str(view.options.get("baseline", "" if reference else fmt.NOTHING))),
        ("Name table", instruments.get("name_table", "" if reference else fmt.NOTHING)),
        ("Names of MENA and NH/PI people", instruments.get("mena_nhpi_table", "")),
        ("Word list for genders", instruments.get("word_list", "")),
        ("Read by" if reference else "People found by", annotators),
        ("Labels", instruments.get("labeler", "") if view.settings.get("labeler") else ""),
        ("Confidence level", fmt.level(view.level)),
        ("Seed", str(view.seed)),
        ("Version", f"Portrayal {view.settings.get('portrayal', '')}"),
    ]
    return [(what, value) for what, value in rows if value]


def models_line(view: View) -> str:
    """Return the models in one line, the first few where they are many."""
    names = [short(model, 60) for model in view.models]
    if len(names) <= NAMED + 1:
        return ", ".join(names)
    return f"{', '.join(names[:NAMED])} and {len(names) - NAMED} more"


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


def matched(view: View) -> list[tuple[str, str, str, str]]:
    """Return (domain and role, no first name, name not matched, gender unknown) as text.

    From the exclusions of the main model's representation and subordination estimates.
    """
    rows = []
    for kind, label in (("representation", "power-neutral"), ("subordination", "power-laden")):
        by_domain: dict[str, list[Estimate]] = {}
        for name in view.by_measure:
            if stem(name) == kind:
                for e in view.of_main(name):
                    by_domain.setdefault(e.strata.get("domain", "all"), []).append(e)
        rows += [(f"{domain}, {label}", *_left_out(found)) for domain, found in by_domain.items()]
    return rows


def _left_out(estimates: list[Estimate]) -> tuple[str, str, str]:
    races = [e for e in estimates if list(e.group) == ["race"]]
    genders = [e for e in estimates if list(e.group) == ["gender"]]
    return (
        _part(races[:1], "no first name"),
        _part(races[:1], "name not in the table"),
        _part(genders[:1], "gender not known"),
    )


def _part(estimates: list[Estimate], reason: str) -> str:
    """Characters left out for a reason, and their share of all characters."""
    if not estimates:
        return fmt.NOTHING
    e = estimates[0]
    reasons = ("no first name", "name not in the table", "gender not known")
    everyone = e.n_units + sum(e.exclusions.get(r, 0) for r in reasons)
    out = e.exclusions.get(reason, 0)
    return f"{out:,} ({fmt.share(out / everyone)})" if everyone else fmt.NOTHING


def _instruments(view: View) -> dict[str, str]:
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
    found = []
    if view.annotator is not None:
        title = "Words of groups" if is_paired(view) else "Who is in a story"
        if view.annotator.name.startswith("agency"):
            title = "Agency of sentences"
        found.append(_method(title, view.annotator))
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
        ("Undefined when", component.undefined_when),
        ("Source", component.source),
    )
    return Method(title, component.name, component.summary, rows)
