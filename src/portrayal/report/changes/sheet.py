"""The page that reports of changes share, and the words of changes, places and groups in it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import portrayal.report.formats as fmt
from portrayal._version import __version__
from portrayal.collect.tables import csv_text
from portrayal.comparison.result import form_of_change
from portrayal.records import ALL
from portrayal.reference.labels import strata_words
from portrayal.registry import form_of
from portrayal.report.charts import Charts, frame, packed, plain_cell
from portrayal.report.figures.figure import Figure, Table
from portrayal.report.formats import short
from portrayal.report.sentences import place_phrase
from portrayal.report.words import capital, group_label, group_words, measure_title
from portrayal.run.files import replacing
from portrayal.run.pages import templates

Row = TypeVar("Row", bound=Any)
Cell = Callable[[Any], str]


def figure_key(measure: str) -> str:
    """Return the anchor of a measure's figure."""
    return "change-" + "".join(c if c.isalnum() else "-" for c in measure)


def row_label(strata: Mapping[str, str], group: Mapping[str, str], *, placed: bool = True) -> str:
    """Return the label of a row ("Latine, masculine · Labor"), the place where it is asked for."""
    place = strata_words(strata, group) if placed else ""
    return short(group_label(group) + (f" · {place}" if place else ""), 60)


def subject(measure: str, strata: Mapping[str, str], group: Mapping[str, str]) -> str:
    """Return what a sentence is about ("Women in stories about work: representation ratio")."""
    # Of an outcome, the group's own words say what is counted.
    title = "share" if "outcome" in group else measure_title(measure, inside=True)
    return f"{capital(group_words(group))}{place_phrase(strata, group)}: {title}"


def change_words(row: Any, change: float | None) -> str:
    """Return a change of a row in its form ("1.32 times", "+0.013", "+1.3 points")."""
    form = form_of_change(row)
    return fmt.number(change, form) + " times" * (form == "ratio" and change is not None)


def span_words(row: Any) -> str:
    """Return the bounds of a row's change; a dash where there are none."""
    if row.low is None or row.high is None:
        return fmt.NOTHING
    return fmt.span(row.low, row.high, form_of_change(row))


def places_of(rows: Iterable[Any]) -> list[str]:
    """Return the places that rows of changes are of, each once, in words."""
    return list(dict.fromkeys(strata_words(row.place, row.group) for row in rows))


def by_measure(rows: Iterable[Row]) -> dict[str, list[Row]]:
    """Return rows of changes by their measure."""
    grouped: dict[str, list[Row]] = {}
    for row in rows:
        grouped.setdefault(row.measure, []).append(row)
    return grouped


MEASURE: Mapping[str, Cell] = {"Measure": lambda row: measure_title(row.measure)}
GROUP: Mapping[str, Cell] = {"Group": lambda row: row_label(row.place, row.group)}
AMOUNT: Mapping[str, Cell] = {
    "Change": lambda row: change_words(row, row.change),
    "Interval": span_words,
}
BOTH: Mapping[str, Cell] = {
    "First": lambda row: fmt.number(row.value_a, form_of(row)),
    "Second": lambda row: fmt.number(row.value_b, form_of(row)),
}
Q: Mapping[str, Cell] = {"q": lambda row: fmt.probability(row.judged_q)}
PROMPTS: Mapping[str, Cell] = {"Prompts": lambda row: fmt.count(row.n_prompts)}
WHERE: Mapping[str, Cell] = {
    "Where": lambda row: short(strata_words(row.place, row.group), 90),
    "Group": lambda row: short(group_label(row.group)),
}
SPAN: Mapping[str, Cell] = {
    "Change": lambda row: f"{change_words(row, row.change)} ({span_words(row)})"
}
# Why a row is undefined is the last cell of the table that can be filtered, without a heading.
UNDEFINED: Mapping[str, Cell] = {"Undefined, as": lambda row: short(row.undefined or "", 160)}

CHANGE = {**GROUP, **BOTH, **AMOUNT, **Q, **PROMPTS}
OPEN = {**MEASURE, **GROUP, **AMOUNT, **Q, **PROMPTS}
SAME: Mapping[str, Cell] = {
    **MEASURE,
    **GROUP,
    **AMOUNT,
    "Margin": lambda row: f"up to {change_words(row, row.margin)}",
    "p": lambda row: fmt.probability(row.p_equivalent),
}
CHANGES: Mapping[str, Cell] = {
    **MEASURE,
    "Model": lambda row: short(
        "all models" if row.model_a == row.model_b == ALL else row.model, 60
    ),
    **WHERE,
    **BOTH,
    **SPAN,
    **Q,
    "Same": lambda row: {True: "yes", False: "no"}.get(row.equivalent, fmt.NOTHING),
    **PROMPTS,
    **UNDEFINED,
}
"""Columns of the tables of changes."""


def table(rows: Sequence[Any], columns: Mapping[str, Cell], most: int = 80) -> Table:
    """Return rows as a table, whose words stand in the columns of measure and group."""
    return Table.of(rows, columns, sum(name in ("Measure", "Group") for name in columns), most)


def list_of(rows: Sequence[Any], columns: Mapping[str, Cell]) -> dict[str, Any]:
    """Return rows as the table that can be filtered: why one is undefined has no heading."""
    lines = [[cell(row) for cell in columns.values()] for row in rows]
    return {"heads": list(columns)[:-1], "rows": lines}


def attribute_values(groups: Iterable[Mapping[str, str]]) -> dict[str, list[str]]:
    """Return every value of each attribute of groups, in alphabetical order, for colours."""
    by_attribute: dict[str, set[str]] = {}
    for group in groups:
        for attribute, value in group.items():
            by_attribute.setdefault(attribute, set()).add(value)
    return {attribute: sorted(values) for attribute, values in by_attribute.items()}


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
    # Measures have different strata, so no row has every column.
    names = list(dict.fromkeys(name for row in rows for name in row))
    return csv_text(names, ({name: plain_cell(row[name]) for name in row} for row in rows))


def write_sheet(
    path: str | Path,
    template: str,
    fields: Mapping[str, Any],
    figures: Sequence[Figure],
    rows: Mapping[str, Any],
    downloads: Sequence[Download],
) -> Path:
    """Fill a template that extends `sheet.html.j2` and write it in one step.

    Parameters
    ----------
    path
        The HTML file; its folder is made where it is missing.
    template, fields
        File in the report's folder of templates, and what only it prints.
    figures
        Figures in their order.
    rows
        Heads and rows of the table that can be filtered, in the columns that `page.js` knows.
    downloads
        Files to download.
    """
    chart = fields["first"].chart
    page = templates("portrayal.report").get_template(template)
    text = page.render(
        **fields,
        head=fields["title"],
        citation=f"{fields['brand'].capitalize()} of {fields['title']}, {fields['question']}. "
        f"Portrayal {__version__}.",
        short=False,
        downloads=downloads,
        **frame(Charts(figures, chart["svg"] if chart is not None else ""), rows),
    )
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    with replacing(target) as temporary:
        temporary.write_text(text, encoding="utf-8", errors="replace")
    return target
