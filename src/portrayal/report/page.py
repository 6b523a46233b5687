"""The page: what the sections give, put into the template with every word escaped."""

import base64
import gzip
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import portrayal.report.about as about
import portrayal.report.coding as coded
from portrayal.collect.tables import csv_text
from portrayal.records import ALL, ERROR_VALUE, Estimate
from portrayal.report.figures.figure import Figure
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


@dataclass(frozen=True)
class Charts:
    """The figures of a page, and the chart of its first screen; None where it has none."""

    figures: Sequence[Figure]
    glance: Figure | None

    @property
    def images(self) -> dict[str, str]:
        """The images of those that are charts, by key."""
        charts = (*self.figures, self.glance)
        return {f.key: f.svg for f in charts if f is not None and f.chart is not None}

    @property
    def full(self) -> list[Figure]:
        """The figures that show something."""
        return [figure for figure in self.figures if not figure.empty]

    @property
    def empty(self) -> list[Figure]:
        """The figures that show nothing, of which one line is said."""
        return [figure for figure in self.figures if figure.empty]


def packed(text: str) -> str:
    """Return a text compressed with gzip, as base64."""
    # No time inside, so that the same run gives the same page.
    raw = gzip.compress(text.encode("utf-8", "replace"), compresslevel=9, mtime=0)
    return base64.b64encode(raw).decode("ascii")


def filled(template: str, fields: Mapping[str, Any], charts: Charts) -> str:
    """Return a page: its template with its own fields and what every page has.

    That is style, script and the policy that lets it run, and the packed images of the charts.
    """
    folder = files(__package__).joinpath("templates")
    style, script = (folder.joinpath(x).read_text("utf-8") for x in ("style.css", "page.js"))
    # Only the script with this digest runs, whatever a text in the page holds.
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest())
    page = (
        templates("portrayal.report")
        .get_template(template)
        .render(
            **fields,
            charts=charts,
            style=trusted(style + COLOURS.removesuffix("\n</style>")),
            script=trusted(script),
            policy=f"'sha256-{digest.decode()}'",
            data=packed(script_json(charts.images)),
            terms=Terms(),
            notebook=False,
        )
    )
    return page.replace(COLOURS, f"{colour_rules(page)}\n</style>")


def write_page(path: str | Path, page: str) -> Path:
    """Write a page in one step and return its path; its folder is made where it is missing."""
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    with replacing(target) as temporary:
        temporary.write_text(page, encoding="utf-8", errors="replace")
    return target


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
    with view.run.manifest.recording(target):
        return write_page(target, page)


def title_of(view: View) -> str:
    """Return the title of a run's study; its name where it is not installed here."""
    return view.study.title if view.study else str(view.settings.get("study", "Audit"))


def render(view: View) -> str:
    """Return the page of a view as HTML."""
    with view.run.speaking():
        return filled("report.html.j2", *_contents(view))


def _contents(view: View) -> tuple[dict[str, Any], Charts]:
    """What the template of a run's page is given, and its charts."""
    report, first = report_of(view), first_screen(view)
    texts = report.texts or random_texts
    charts = Charts(figures(view), first.chart)
    # The study, and what was asked
    study = view.study
    title = title_of(view)
    models = about.models_line(view) or "no model named"
    paper = study.paper if study else ""
    pooled = any(e.strata.get("model") == ALL for e in view.estimates)
    fields = {
        "brand": "audit report",
        "title": title,
        "head": f"{title} · {models}",
        "citation": about.citation(view, title, models, paper),
        "paper": paper,
        "question": study.question if study else "",
        "models": [short(model, 60) for model in view.models],
        "main": short(view.called(ALL), 60) if len(view.models) > 1 and pooled else "",
        "facts": about.facts(view),
        "readable": about.readable(view),
        "wording": report.wording,
        "first": first,
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
    return fields, charts
