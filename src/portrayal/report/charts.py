"""Downloads and frame: what every page carries, packed together with its charts."""

import base64
import gzip
import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from portrayal.collect.tables import inert
from portrayal.registry import described, form_of
from portrayal.report.figures.figure import Figure
from portrayal.report.formats import interval, number, probability, script_json, short
from portrayal.report.study import report_of
from portrayal.report.terms import Terms
from portrayal.report.view import View, place_words, q_of
from portrayal.report.words import colour_rules, group_label, measure_title
from portrayal.run.estimates import flat_row
from portrayal.run.pages import trusted
from portrayal.shown import visible

if TYPE_CHECKING:
    from markupsafe import Markup


@dataclass(frozen=True)
class Charts:
    """The figures of a page, and the chart of its first screen, an SVG; "" for none."""

    figures: Sequence[Figure]
    glance: str = ""

    @property
    def images(self) -> dict[str, str]:
        """The images of those that are charts, by key."""
        images = {figure.key: figure.svg for figure in self.figures if figure.chart is not None}
        return images | ({"glance": self.glance} if self.glance else {})

    @property
    def full(self) -> list[Figure]:
        """The figures that show something."""
        return [figure for figure in self.figures if not figure.empty]

    @property
    def empty(self) -> list[Figure]:
        """The figures that show nothing, of which one line is said."""
        return [figure for figure in self.figures if figure.empty]

    @property
    def inline(self) -> "Markup":
        """The chart of the first screen, for the page itself."""
        return trusted(self.glance)


def packed(text: str) -> str:
    """Return a text compressed with gzip, as base64."""
    # No time inside, so that the same run gives the same page.
    raw = gzip.compress(text.encode("utf-8", "replace"), compresslevel=9, mtime=0)
    return base64.b64encode(raw).decode("ascii")


def frame(charts: Charts, table: Mapping[str, Any]) -> dict[str, Any]:
    """Return what every page has: style, script, the policy that lets it run, and packed data.

    The data are the images of the charts and the page's table of estimates.
    """
    style, script = read_template("style.css"), read_template("page.js")
    # Only the script with this digest runs, whatever a text in the page holds.
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest())
    return {
        "charts": charts,
        "style": trusted(style + colour_rules()),
        "script": trusted(script),
        "policy": f"'sha256-{digest.decode()}'",
        "data": packed(script_json({"charts": charts.images, "table": table})),
        "terms": Terms(),
    }


@cache
def read_template(name: str) -> str:
    """Return a file of the folder of templates."""
    return files(__package__).joinpath("templates", name).read_text(encoding="utf-8")


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
    if value is None:
        return ""
    return _words(value) if isinstance(value, str) else str(plain_cell(value))


@cache
def _words(text: str) -> str:
    cell = inert(visible(text))
    if any(c in cell for c in ',"\n\r'):
        return '"' + cell.replace('"', '""') + '"'
    return cell


def packed_csv(view: View) -> str:
    """Return the columns compressed: cells parted by U+001F, columns by U+001E."""
    return packed("\x1e".join("\x1f".join(cells) for cells in csv_columns(view)))


def plain_cell(value: Any) -> Any:
    """Return a value in six digits; words with what does not print made visible."""
    if isinstance(value, float):
        return "" if math.isnan(value) else float(f"{value:.6g}")
    return visible(value) if isinstance(value, str) else value


def headline_rows(view: View) -> dict[str, Any]:
    """Return the rows of the filterable table: text cells, one list for each estimate.

    It has the measures that ask for it (`Component.listed`).
    """
    rows = [
        [
            measure_title(e.measure),
            short(view.called(e.strata.get("model", "")), 40),
            short(place_words(e), 90),
            short(group_label(e.group)),
            number(e.value, form_of(e)) if e.value is not None else "undefined",
            interval(e.interval, form_of(e)),
            interval(e.null, form_of(e)),
            probability(q_of(e)),
            f"{e.n_units:,.0f}",
            str(e.n_clusters),
            short(e.undefined or "", 160),
        ]
        for name, estimates in view.by_measure.items()
        if (component := described(name)) is None or component.listed
        for e in estimates
    ]
    clusters = report_of(view).wording.clusters.capitalize()
    heads = ["Measure", "Model", "Where", "Group", "Value", "Interval", "Null range", "q", "n"]
    return {"heads": [*heads, clusters], "rows": rows}
