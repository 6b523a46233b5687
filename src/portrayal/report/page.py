"""The page: what the sections give, put into the template with every word escaped."""

import base64
import gzip
import hashlib
from collections.abc import Iterable
from importlib.resources import files
from pathlib import Path
from typing import Any

import portrayal.report.about as about
import portrayal.report.coding as coded
from portrayal.collect.tables import csv_text
from portrayal.records import ALL, ERROR_VALUE, Estimate
from portrayal.report.figures.generic import figures
from portrayal.report.findings import MOST, doubt_words, doubted
from portrayal.report.first import first_screen
from portrayal.report.formats import script_json, short
from portrayal.report.passages import random_texts
from portrayal.report.study import report_of
from portrayal.report.terms import Terms
from portrayal.report.view import View
from portrayal.report.words import colour_rules
from portrayal.run.directory import Run
from portrayal.run.estimates import flat_row
from portrayal.run.files import replacing
from portrayal.run.pages import templates, trusted

COLOURS = "/* colours of groups */\n</style>"
"""Where a page's style has those of the groups that it names."""


def packed(text: str) -> str:
    """Return a text compressed with gzip, as base64."""
    # No time inside, so that the same run gives the same page.
    raw = gzip.compress(text.encode("utf-8", "replace"), compresslevel=9, mtime=0)
    return base64.b64encode(raw).decode("ascii")


def packed_csv(estimates: Iterable[Estimate]) -> str:
    """Return estimates as CSV, compressed: the columns of `flatten_estimates`, without ids."""
    rows = [
        {
            name: f"{value:.6g}" if isinstance(value, float) else value
            for name, value in flat_row(estimate).items()
            if name != "id"
        }
        for estimate in estimates
    ]
    return packed(csv_text(list(dict.fromkeys(name for row in rows for name in row)), rows))


def write_report(run: Run | View, path: str | Path | None = None) -> Path:
    """Write the report of `run` in one step and return its path.

    Parameters
    ----------
    run
        A run with estimates, or a view of one.
    path
        The HTML file, `report.html` of the run by default; its folder is made where it is missing.

    Raises
    ------
    RunError
        When the run has no estimates yet.
    """
    view = View.of(run)
    target = view.run.report_path if path is None else Path(path)
    page = render(view)
    target.parent.mkdir(parents=True, exist_ok=True)
    with view.run.manifest.recording(target), replacing(target) as temporary:
        temporary.write_text(page, encoding="utf-8", errors="replace")
    return target


def render(view: View) -> str:
    """Return the page of a view as HTML: its template, with style, script and packed charts."""
    folder = files(__package__).joinpath("templates")
    style, script = (folder.joinpath(x).read_text("utf-8") for x in ("style.css", "page.js"))
    # Only the script with this digest runs, whatever a text in the page holds.
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest())
    template = templates("portrayal.report").get_template("report.html.j2")
    with view.run.speaking():
        page = template.render(
            **_contents(view),
            style=trusted(style + COLOURS.removesuffix("\n</style>")),
            script=trusted(script),
            policy=f"'sha256-{digest.decode()}'",
            terms=Terms(),
            notebook=False,
        )
    return page.replace(COLOURS, f"{colour_rules(page)}\n</style>")


def _contents(view: View) -> dict[str, Any]:
    """What the template of a run's page is given of the run."""
    report, first, study = report_of(view), first_screen(view), view.study
    page_figures = figures(view)
    charts = [f for f in (*page_figures, first.chart) if f is not None and f.chart is not None]
    texts = report.texts or random_texts
    # The name of a study that is not installed here stands for its title.
    title = study.title if study else str(view.settings.get("study", "Audit"))
    models = about.models_line(view)
    paper = study.paper if study else ""
    pooled = any(e.strata.get("model") == ALL for e in view.estimates)
    return {
        "brand": "audit report",
        "title": title,
        "head": " · ".join(filter(None, (title, models))),
        "citation": about.citation(view, title, models, paper),
        "paper": paper,
        "question": study.question if study else "",
        "models": [short(model, 60) for model in view.models],
        "main": short(view.called(ALL), 60) if len(view.models) > 1 and pooled else "",
        "facts": about.facts(view),
        "readable": about.readable(view),
        "wording": report.wording,
        "first": first,
        # A figure that shows nothing has one line of its own.
        "charts": {
            "full": [figure for figure in page_figures if not figure.empty],
            "empty": [figure for figure in page_figures if figure.empty],
        },
        "data": packed(script_json({figure.key: figure.svg for figure in charts})),
        "erring": any(ERROR_VALUE in e.details for e in view.estimates),
        "doubted": [doubt_words(e) for e in doubted(view)[:MOST]],
        "left_out": about.left_out(view),
        "texts": texts(view),
        "coded": coded.sections(view),
        "multiplicity": about.multiplicity(view),
        "instruments": about.reading_error(view),
        "methods": about.methods(view),
        "n_estimates": len(view.estimates),
        "csv": packed_csv(view.estimates),
    }
