"""Charts and downloads: what a page carries, drawn once and packed together."""

import base64
import gzip
import hashlib
import logging
import math
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from portrayal.collect.tables import inert
from portrayal.registry import described, form_of
from portrayal.report.figures.drawing import DrawingError, drawings
from portrayal.report.figures.figure import Figure
from portrayal.report.figures.generic import BrokenFigureWarning
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

_LOG = logging.getLogger("portrayal")


@dataclass(frozen=True)
class Charts:
    """The figures of a page, the images of those that are charts by key, and why there are none."""

    figures: tuple[Figure, ...]
    images: Mapping[str, str]
    undrawn: str = ""

    @classmethod
    def of(cls, figures: Sequence[Figure], glance: Mapping[str, Any] | None = None) -> "Charts":
        """Draw figures; one that cannot be drawn says so, over its numbers."""
        specs = {} if glance is None else {glance["key"]: glance["spec"]}
        specs |= {figure.key: figure.spec for figure in figures if figure.spec is not None}
        try:
            images = drawings(specs)
        # Without charts the report still has all of its tables.
        except DrawingError as error:
            undrawn = f"No chart was drawn: {error}"
            _LOG.warning(undrawn)
            return cls(tuple(replace(figure, spec=None) for figure in figures), {}, undrawn)
        drawable = []
        for figure in figures:
            image = images.get(figure.key)
            # One chart that cannot be drawn costs its own place alone.
            if isinstance(image, Exception):
                text = f"the figure {figure.key} could not be drawn: {image!r}"
                warnings.warn(text, BrokenFigureWarning, stacklevel=2)
                broken = f"{type(image).__name__}: {short(str(image), 300)}"
                figure = replace(figure, spec=None, broken=broken)  # noqa: PLW2901
            drawable.append(figure)
        return cls(tuple(drawable), {k: v for k, v in images.items() if isinstance(v, str)})

    @property
    def full(self) -> list[Figure]:
        """The figures that show something."""
        return [figure for figure in self.figures if not figure.empty]

    @property
    def empty(self) -> list[Figure]:
        """The figures that show nothing, of which one line is said."""
        return [figure for figure in self.figures if figure.empty]

    def inline(self, key: str) -> "Markup":
        """Return the image of a chart for the page itself."""
        return trusted(self.images[key])

    def packed(self, table: Mapping[str, Any]) -> str:
        """Return the images and the page's table of estimates, compressed."""
        return packed(script_json({"charts": dict(self.images), "table": table}))


def packed(text: str) -> str:
    """Return a text compressed with gzip, as base64."""
    # No time inside, so that the same run gives the same page.
    raw = gzip.compress(text.encode("utf-8", "replace"), compresslevel=9, mtime=0)
    return base64.b64encode(raw).decode("ascii")


def frame(data: str, extra_files: Iterable[tuple[str, str]] = ()) -> dict[str, Any]:
    """Return what every page has: styles, scripts, the policy that lets these run, and packed data.

    `extra_files` names further files in folders of templates, each by its package: `.css` or `.js`.
    """
    shared = [("portrayal.report", name) for name in ("style.css", "first_screen.css", "page.js")]
    texts = {
        (package, name): read_template(package, name) for package, name in (*shared, *extra_files)
    }
    style = "".join(text for (_, name), text in texts.items() if name.endswith(".css"))
    scripts = [text for (_, name), text in texts.items() if name.endswith(".js")]
    # Only scripts with these digests run, whatever a text in the page holds.
    digests = [base64.b64encode(hashlib.sha256(text.encode()).digest()) for text in scripts]
    return {
        "style": trusted(style + colour_rules()),
        "scripts": [trusted(text) for text in scripts],
        "policy": " ".join(f"'sha256-{digest.decode()}'" for digest in digests),
        "data": data,
        "terms": Terms(),
    }


@cache
def read_template(package: str, name: str) -> str:
    """Return a file of a package's folder of templates."""
    return files(package).joinpath("templates", name).read_text(encoding="utf-8")


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

    It has the measures that ask for it (`Component.listed`), with places and groups as the study
    calls them.
    """
    study_report = report_of(view)
    place, group = study_report.place or place_words, study_report.group or group_label
    rows = [
        [
            measure_title(e.measure),
            short(view.called(e.strata.get("model", "")), 40),
            short(place(e), 90),
            short(group(e.group)),
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
    heads = [
        "Measure",
        "Model",
        study_report.wording.place,
        "Group",
        "Value",
        "Interval",
        "Null range",
    ]
    return {"heads": [*heads, "q", "n", study_report.wording.clusters.capitalize()], "rows": rows}
