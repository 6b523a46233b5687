"""The page that reports of changes share, and the words of changes, places and groups in it."""

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any, TypeVar

import portrayal.report.formats as fmt
from portrayal._version import __version__
from portrayal.collect.tables import write_rows
from portrayal.comparison import Change
from portrayal.reference.labels import strata_words
from portrayal.report.charts import Charts, Script, packed, plain_cell, read_template
from portrayal.report.figures.figure import ROWS, Figure, Spec, Table
from portrayal.report.formats import short
from portrayal.report.words import colour_rules, group_label, group_words, measure_title
from portrayal.run.files import replacing
from portrayal.run.pages import templates, trusted

C = TypeVar("C", bound=Change)


def row_label(strata: Mapping[str, str], group: Mapping[str, str], *, placed: bool = True) -> str:
    """Return the label of a row ("Latine, masculine · Labor"), the place where it is asked for."""
    place = strata_words(strata, group) if placed else ""
    return short(group_label(group) + (f" · {place}" if place else ""), 60)


def subject(measure: str, strata: Mapping[str, str], group: Mapping[str, str]) -> str:
    """Return what a sentence is about ("representation ratio of feminized characters in Labor")."""
    title = measure_title(measure)
    if title[1:2].islower():
        title = title[:1].lower() + title[1:]
    place = strata_words(strata, group, "in ")
    return f"{title} of {group_words(group)}" + (f" {place}" if place else "")


def capital(text: str) -> str:
    """Return text with a capital first letter."""
    return text[:1].upper() + text[1:]


def change_words(change: float | None, scale: str) -> str:
    """Return a change as a cell ("× 1.32", "+0.013")."""
    if change is None:
        return fmt.NOTHING
    return f"×\u00a0{fmt.ratio(change)}" if scale == "ratio" else fmt.difference(change)


def span_words(low: float | None, high: float | None, scale: str) -> str:
    """Return the bounds of a change; a dash where there are none."""
    if low is None or high is None:
        return fmt.NOTHING
    return fmt.span(low, high, "ratio" if scale == "ratio" else "difference")


def attribute_values(groups: Iterable[Mapping[str, str]]) -> dict[str, list[str]]:
    """Return every value of each attribute of groups, in alphabetical order, for colours."""
    found: dict[str, set[str]] = {}
    for group in groups:
        for attribute, value in group.items():
            found.setdefault(attribute, set()).add(value)
    return {attribute: sorted(values) for attribute, values in found.items()}


COLUMNS: dict[str, Callable[[Change], str]] = {
    "Measure": lambda row: measure_title(row.measure),
    "Group": lambda row: row_label(row.strata, row.group),
    "Before": lambda row: fmt.number(row.value_a, row.statistic),
    "After": lambda row: fmt.number(row.value_b, row.statistic),
    "Change": lambda row: change_words(row.change, row.scale),
    "Interval": lambda row: span_words(row.low, row.high, row.scale),
    "p": lambda row: fmt.probability(row.p),
    "q": lambda row: fmt.probability(row.audit_q),
    "Prompts": lambda row: fmt.count(row.n_prompts),
}
"""What a table, or the note at a dot, says of a change."""


def table_of(
    rows: Sequence[Any],
    names: str,
    n_left: int,
    most: int = ROWS,
    own: Mapping[str, Callable[[Any], str]] | None = None,
) -> Table:
    """Return changes as a table: columns by name (of `COLUMNS`, or of its own), in this order."""
    columns = {name: (own or {}).get(name) or COLUMNS[name] for name in names.split(", ")}
    return Table.of(rows, columns, n_left, most)


def by_measure(rows: Iterable[C]) -> list[list[C]]:
    """Return changes by their measure, in the order in which measures first occur."""
    found: dict[str, list[C]] = {}
    for row in rows:
        found.setdefault(row.measure, []).append(row)
    return list(found.values())


def only_stratum(rows: Iterable[Change]) -> str:
    """Return " in Labor" where all rows are of one stratum, "" else."""
    strata = {strata_words(row.strata, row.group) for row in rows}
    return f" in {next(iter(strata))}" if len(strata) == 1 and any(strata) else ""


def with_notes(layers: Sequence[Spec], shared: Spec, names: Iterable[str]) -> list[Spec]:
    """Return the layers of a chart that show data with what they share, and a note at each mark."""
    note = ", ".join(f"'{name}': datum.tip['{name}']" for name in names)
    shared = {**shared, "tooltip": {"value": {"expr": f"{{{note}}}"}}}
    return [
        {**layer, "encoding": {**shared, **layer["encoding"]}} if "transform" in layer else layer
        for layer in layers
    ]


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

    def plain(value: Any) -> Any:
        if isinstance(value, float) and not math.isfinite(value):
            return None if math.isnan(value) else str(value)
        if isinstance(value, dict):
            return {str(name): plain(item) for name, item in value.items()}
        return [plain(item) for item in value] if isinstance(value, (list, tuple)) else value

    return json.dumps(plain(value), ensure_ascii=False, indent=1, allow_nan=False)


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
