"""The report in other forms: its findings as Markdown, and in a notebook."""

import html
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from portrayal.errors import OptionError
from portrayal.report.figures.declared import default, dots
from portrayal.report.figures.figure import Figure
from portrayal.report.figures.generic import build
from portrayal.report.first import Report, finding_facts, first_screen
from portrayal.report.formats import plural
from portrayal.report.page import title_of, write_report
from portrayal.report.view import View
from portrayal.run import Run, choose
from portrayal.run.files import write_atomically
from portrayal.shown import markdown, markdown_table, visible
from portrayal.validate import check_choice

FORMATS = ("html", "md")
"""What a report can be written as."""


def export_report(run: Run, path: str | Path | None = None, format: str = "html") -> Path:
    """Write the report of a run in a format and return its path.

    Parameters
    ----------
    run
        A run with estimates.
    path
        The file; `report` with the format's ending in the run by default.
    format
        html, which a browser prints as PDF; or md, what was found without the figures.

    Raises
    ------
    RunError
        When the run has no estimates yet.
    OptionError
        When there is no such format.
    """
    check_choice("format", format, FORMATS)
    target = run.report_path.with_suffix(f".{format}") if path is None else Path(path)
    if format == "html":
        return write_report(run, target)
    with run.speaking():
        text = "\n".join(_markdown(View.of(run))) + "\n"
    target.parent.mkdir(parents=True, exist_ok=True)
    with run.manifest.recording(target):
        write_atomically(target, text)
    return target


def _markdown(view: View) -> Iterator[str]:
    """What the page says before its figures, in lines in which nothing takes effect."""
    screen = first_screen(view)
    yield f"# {markdown(title_of(view))}\n\n{markdown(screen.read)}"
    if screen.none:
        yield f"\n{markdown(screen.none)}"
    if findings := (*screen.findings, *screen.here):
        yield "\n## What was found\n"
        for finding in findings:
            facts = "; ".join((finding.sure, *finding.facts))
            line = f"{finding.headline}. ({facts}.) {finding.evidence}"
            yield f"- {markdown(line)}"
    if candidates := screen.lead.candidates:
        heads = ("Not settled", "Value", "Interval", "p", "q", "Would settle it")
        yield "\n## Nearest to a finding\n"
        yield markdown_table(heads, [candidate.cells for candidate in candidates])
    for heading, lines in (
        ("What would tell more of these texts", screen.remedies),
        ("What labels by hand corrected", screen.corrected),
        ("What was asked beforehand", screen.asked),
        ("What cannot be said here", screen.cannot),
    ):
        if lines:
            yield f"\n## {heading}\n"
        yield from (f"- {markdown(line)}" for line in lines)


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
        lead = next(iter((*screen.findings, *screen.here)), None)
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
