"""The report in Python: in a notebook, its findings as data, and its charts."""

import html
from typing import Any

from portrayal.errors import OptionError
from portrayal.report.figures.declared import default, dots
from portrayal.report.figures.figure import Figure
from portrayal.report.figures.generic import build
from portrayal.report.first import Report, finding_facts
from portrayal.report.formats import plural
from portrayal.report.view import View
from portrayal.run import Run, choose
from portrayal.shown import visible


def run_html(run: Run) -> str:
    """Return a run as a notebook shows it: what its report says, or how far it came."""
    if run.estimates_path.is_file():
        return Report.of(run)._repr_html_()
    note = run.texts.note()
    study = run.settings().get("study", "no study") if run.settings_path.is_file() else "no study"
    texts = plural(int(note.get("n_texts", 0)), "text")
    models = ", ".join(note.get("models", ())) or "no model"
    line = html.escape(visible(f"{run.path}: {study}, {texts} of {models}."))
    return f"<p>{line}</p><p>It has no estimates yet.</p>"


def findings(run: Run) -> list[dict[str, Any]]:
    """Return what the report states, as data; see `Run.findings`."""
    rows: list[dict[str, Any]] = finding_facts(run)["findings"]
    return rows


def plot(run: Run, measure: str, figure: int = 0) -> Figure:
    """Return the report's chart of a measure; see `Run.plot`."""
    view = View.of(run)
    if not measure:
        screen = Report.of(view)
        if screen.chart is not None:
            return screen.chart
        # One finding is no chart of findings; its measure has one.
        lead = next(iter((*screen.findings, *screen.in_these_prompts)), None)
        measure = lead.first.measure if lead is not None else next(iter(view.by_measure))
    rows = choose(view.estimates, measure, {})
    name = rows[0].measure
    with run.speaking():
        charts = [chart for chart in build(view, name, rows) if chart.chart is not None]
        # A measure whose own figure is a table still has values to draw.
        figures = charts or [dots(view, default(name, rows), rows)]
        charts = [chart for chart in figures if chart.chart is not None]
    if not 0 <= figure < len(charts):
        raise OptionError(
            f"{name} has {plural(len(charts), 'chart')}, so there is no number {figure} (from 0). "
            "Its values: run.estimates."
        )
    return charts[figure]
