"""Sheet: a page of facts, sentences, figures, one table and downloads, complete in one file."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

from portrayal._version import __version__
from portrayal.collect.tables import write_rows
from portrayal.report.charts import Charts, Script, packed, read_template
from portrayal.report.downloads import plain_cell
from portrayal.report.figures.figure import Figure
from portrayal.report.words import colour_rules
from portrayal.run.files import replacing
from portrayal.run.pages import templates, trusted


@dataclass(frozen=True)
class Download:
    """A file inside the page: its name, its type, what its button says, and its text."""

    name: str
    kind: str
    label: str
    text: str

    @property
    def packed(self) -> str:
        """The text compressed with gzip, as base64."""
        return packed(self.text)


def csv_of(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return rows as CSV, with every column that some row has; text cells are safe to open."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    stream = StringIO()
    write_rows(stream, names, [{name: plain_cell(row[name]) for name in row} for row in rows])
    return stream.getvalue()


def json_of(value: Any) -> str:
    """Return a value as JSON: NaN as null, infinite numbers as words."""
    return json.dumps(_plain(value), ensure_ascii=False, indent=1, allow_nan=False)


def _plain(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    if isinstance(value, dict):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value


def write_sheet(
    path: str | Path,
    template: str,
    own: Mapping[str, Any],
    figures: Sequence[Figure],
    table: Mapping[str, Any],
    downloads: Sequence[Download],
) -> Path:
    """Fill a template that extends `sheet.html.j2` and write it in one step.

    Parameters
    ----------
    path
        The HTML file; its folder is made where it is missing.
    template, own
        File in the report's folder of templates, and what only it prints.
    figures
        Figures in their order.
    table
        Heads and rows of the table that can be filtered, in the columns that `table.js` knows.
    downloads
        Files to download.
    """
    charts = Charts.of(figures, own["first"].chart)
    scripts = [Script(read_template("portrayal.report", "page.js"))]
    names = ("style.css", "first_screen.css")
    style = "".join(read_template("portrayal.report", name) for name in names)
    page = templates("portrayal.report").get_template(template)
    text = page.render(
        **own,
        head=own["title"],
        citation=f"{own['brand'].capitalize()} of {own['title']}, {own['question']}. "
        f"Portrayal {__version__}.",
        charts=charts,
        short=False,
        downloads=downloads,
        style=trusted(style + colour_rules()),
        scripts=[trusted(script.text) for script in scripts],
        policy=" ".join(script.digest for script in scripts),
        data=charts.packed(table),
    )
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    with replacing(target) as temporary:
        temporary.write_text(text, encoding="utf-8", errors="replace")
    return target
