"""The page: what the sections give, put into the template with every word escaped."""

import base64
import gzip
import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import portrayal.report.about as about
import portrayal.report.coding as coded
from portrayal.collect.tables import inert
from portrayal.records import ALL, ERROR_VALUE
from portrayal.registry import described
from portrayal.report.figures.figure import NUMBERS, Figure
from portrayal.report.figures.generic import figures
from portrayal.report.findings import MOST, doubt_words, doubted
from portrayal.report.first import first_screen
from portrayal.report.formats import script_json, short
from portrayal.report.passages import random_texts
from portrayal.report.study import report_of
from portrayal.report.terms import Terms
from portrayal.report.view import View, place_words
from portrayal.report.words import colour_rules, group_label, measure_title
from portrayal.run.directory import Run
from portrayal.run.estimates import flat_row
from portrayal.run.files import replacing
from portrayal.run.pages import templates, trusted
from portrayal.shown import visible

if TYPE_CHECKING:
    pass


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


def filled(
    template: str, fields: Mapping[str, Any], charts: Charts, table: Mapping[str, Any]
) -> str:
    """Return a page: its template with its own fields and what every page has.

    That is style, script and the policy that lets it run, and packed data: the images of the charts
    and the table that can be filtered.
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
            data=packed(script_json({"charts": charts.images, "table": table})),
            terms=Terms(),
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


def csv_columns(view: View) -> list[list[str]]:
    """Return the columns of every estimate as CSV: the heading, then the cells, as written.

    Columns are those of `flatten_estimates`; a name that one measure groups by and another gives
    as a detail stands in one column. Text cells are safe to open in a spreadsheet. Column by column
    it packs to three quarters of what it does row by row.
    """
    rows = [flat_row(estimate) for estimate in view.estimates]
    labels = dict.fromkeys(n for e in view.estimates for n in (*e.strata, *e.group))
    # A name may be a group of one measure and a detail of another: one column.
    details = dict.fromkeys(n for e in view.estimates for n in e.details if n not in labels)
    fixed = ("study", "measure", "statistic", "unit")
    numbers = [n for row in rows[:1] for n in row if n not in (*fixed, *labels, *details)]
    names = [*fixed, *labels, *numbers, *details]
    return [[_written(name), *(_written(row.get(name)) for row in rows)] for name in names]


def _written(value: Any) -> str:
    """A value as a cell of a CSV file that no spreadsheet runs; empty where it is unknown."""
    if isinstance(value, float):
        return "" if math.isnan(value) else f"{value:.6g}"
    return "" if value is None else _words(str(value))


@cache
def _words(text: str) -> str:
    cell = inert(visible(text))
    if any(c in cell for c in ',"\n\r'):
        return '"' + cell.replace('"', '""') + '"'
    return cell


def packed_csv(view: View) -> str:
    """Return the columns compressed: cells parted by U+001F, columns by U+001E."""
    return packed("\x1e".join("\x1f".join(cells) for cells in csv_columns(view)))


def headline_rows(view: View) -> dict[str, Any]:
    """Return the rows of the filterable table: text cells, one list for each estimate.

    It has the measures that ask for it (`Component.listed`).
    """
    heads = ("Value", "Interval", "Null range", "q", "n", "Prompts")
    rows = [
        [
            measure_title(e.measure),
            short(view.called(e.strata.get("model", "")), 40),
            short(place_words(e), 90),
            short(group_label(e.group)),
            *(NUMBERS[head](e) for head in heads),
            short(e.undefined or "", 160),
        ]
        for name, estimates in view.by_measure.items()
        if (component := described(name)) is None or component.listed
        for e in estimates
    ]
    clusters = report_of(view).wording.clusters.capitalize()
    words = ("Measure", "Model", "Where", "Group")
    return {"heads": [*words, *heads[:-1], clusters], "words": len(words), "rows": rows}


def write_report(run: Run | View, path: str | Path | None = None, *, short: bool = False) -> Path:
    """Write the report of `run` in one step and return its path.

    Parameters
    ----------
    run
        A run with estimates, or a view of one.
    path
        The HTML file, `report.html` of the run by default; its folder is made where it is missing.
    short
        Whether only the findings are written, about two pages when printed.

    Raises
    ------
    RunError
        When the run has no estimates yet.
    """
    view = View.of(run)
    target = view.run.report_path if path is None else Path(path)
    page = render(view, short=short)
    with view.run.manifest.recording(target):
        return write_page(target, page)


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
    charts = Charts([] if brief else figures(view), first.chart)
    table = {} if brief else headline_rows(view)
    # Words to filter the table of estimates by: a group and a place of its own.
    lines = table.get("rows", [])
    words = [next((line[column] for line in lines if line[column]), "") for column in (3, 2)]
    # The study, and what was asked
    study = view.study
    title = study.title if study else str(view.settings.get("study", "Audit"))
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
        "short": brief,
        "texts": None if brief else texts(view),
        "coded": coded.sections(view),
        "compared": about.naive_sentence(view),
        "multiplicity": about.multiplicity(view),
        "instruments": about.reading_error(view),
        "methods": about.methods(view),
        "n_estimates": len(view.estimates),
        "example": ", ".join([*(short(word, 20) for word in words if word), "…"]),
        "csv": "" if brief else packed_csv(view),
    }
    return filled("report.html.j2", fields, charts, table), charts.images
