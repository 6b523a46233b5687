"""The page: what the sections give, put into the template with every word escaped."""

from pathlib import Path

import portrayal.report.about as about
import portrayal.report.coding as coded
from portrayal.report.about import methods
from portrayal.report.charts import Charts, frame, headline_rows, packed_csv
from portrayal.report.figures.generic import figures
from portrayal.report.findings import absent_groups, doubted
from portrayal.report.first import first_screen
from portrayal.report.formats import short
from portrayal.report.passages import random_texts
from portrayal.report.study import report_of
from portrayal.report.view import View
from portrayal.run.directory import Run
from portrayal.run.files import replacing
from portrayal.run.pages import templates


def write_report(run: Run, path: str | Path | None = None, *, short: bool = False) -> Path:
    """Write the report of `run` in one step and return its path.

    Parameters
    ----------
    run
        A run with estimates.
    path
        The HTML file, `report.html` of the run by default; its folder is made where it is missing.
    short
        Whether only the findings are written, about two pages when printed.

    Raises
    ------
    RunError
        When the run has no estimates yet.
    """
    target = run.report_path if path is None else Path(path)
    text = render(View.of(run), short=short)
    target.parent.mkdir(parents=True, exist_ok=True)
    with run.manifest.recording(target), replacing(target) as temporary:
        temporary.write_text(text, encoding="utf-8", errors="replace")
    return target


def render(view: View, *, short: bool = False) -> str:
    """Return the page of a view as HTML."""
    return drawn_page(view, short=short)[0]


def drawn_page(view: View, *, short: bool = False) -> tuple[str, dict[str, str]]:
    """Return the page of a view as HTML, and the images of its charts by key."""
    with view.run.speaking():
        return _filled_page(view, short)


def _filled_page(view: View, brief: bool) -> tuple[str, dict[str, str]]:
    report, first = report_of(view), first_screen(view)
    texts = report.texts or random_texts
    charts = Charts(
        [] if brief else figures(view), first.chart["svg"] if first.chart is not None else ""
    )
    table = {} if brief else headline_rows(view)
    # Words to filter the table of estimates by: a group and a place of its own.
    lines = table.get("rows", [])
    words = [next((line[column] for line in lines if line[column]), "") for column in (3, 2)]
    # The study, and what was asked
    study = view.study
    title = study.title if study else str(view.settings.get("study", "Audit"))
    models = about.models_line(view) or "no model named"
    paper = study.paper if study else ""
    fields = {
        "brand": "audit report",
        "title": title,
        "head": f"{title} · {models}",
        "citation": about.citation(view, title, models, paper),
        "paper": paper,
        "question": study.question if study else "",
        "models": [short(model, 60) for model in view.models],
        "main": short(view.called(view.main), 60),
        "facts": about.facts(view),
        "readable": about.readable(view),
        "wording": report.wording,
        "first": first,
        "doubted": doubted(view),
        "absent": absent_groups(view),
        "left_out": about.left_out(view),
        "short": brief,
        "texts": None if brief else texts(view),
        "coded": coded.sections(view),
        "compared": about.naive_sentence(view),
        "comparison": about.comparison(view),
        "multiplicity": about.multiplicity(view),
        "instruments": about.reading_error(view),
        "methods": methods(view),
        "n_estimates": len(view.estimates),
        "example": ", ".join([*(short(word, 20) for word in words if word), "…"]),
        **frame(charts, table),
        "csv": "" if brief else packed_csv(view),
    }
    page = templates("portrayal.report").get_template("report.html.j2")
    return page.render(fields), charts.images
