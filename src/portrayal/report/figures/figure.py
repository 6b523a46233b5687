"""A figure and its table: what a builder returns, and the cells that both share."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, TypeVar

import portrayal.report.formats as fmt
from portrayal.records import Estimate
from portrayal.reference.labels import place_value
from portrayal.registry import form_of
from portrayal.report.formats import short
from portrayal.report.view import View, domain_of, place_words, q_of
from portrayal.report.words import colour_of_group, group_label

Row = TypeVar("Row")
ROWS = 80
"""Rows of a data table at most; the download has them all."""


@dataclass(frozen=True)
class Table:
    """A table of text cells.

    Attributes
    ----------
    columns, rows
        Headings, and cells as text.
    words
        How many leading columns hold words; the others hold numbers.
    left_out
        Rows that were left out for length.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    words: int = 1
    left_out: int = 0

    @classmethod
    def of(
        cls,
        rows: Sequence[Row],
        columns: Mapping[str, Callable[[Row], str]],
        words: int = 1,
        most: int = ROWS,
    ) -> "Table":
        """Return a table of `rows`: each heading with what its cell says of a row.

        Examples
        --------
        >>> Table.of(["F", "M"], {"Group": str, "Code": lambda group: f"{group}1"}).rows
        (('F', 'F1'), ('M', 'M1'))
        """
        # Only rows that are shown are written out.
        cells = tuple(tuple(cell(row) for cell in columns.values()) for row in rows[:most])
        return cls(tuple(columns), cells, words, max(len(rows) - most, 0))


def value(e: Estimate) -> str:
    """Return the cell of a value; "undefined" where there is none."""
    return fmt.number(e.value, form_of(e)) if e.value is not None else "undefined"


def interval(e: Estimate) -> str:
    """Return the cell of a clustered interval."""
    return fmt.interval(e.interval, form_of(e))


def null(e: Estimate) -> str:
    """Return the cell of a null range."""
    return fmt.interval(e.null, form_of(e))


def p(e: Estimate) -> str:
    """Return the cell of the p of the clustered test."""
    return fmt.probability(e.tests[0].p if e.tests else None)


def q(e: Estimate) -> str:
    """Return the cell of the q of the clustered test."""
    return fmt.probability(q_of(e))


def units(e: Estimate) -> str:
    """Return the cell of how many units an estimate rests on."""
    return fmt.count(e.n_units)


def clusters(e: Estimate) -> str:
    """Return the cell of how many clusters an estimate rests on."""
    return fmt.count(e.n_clusters)


def interval_head(view: View) -> str:
    """Return the heading of intervals ("95 % interval")."""
    return f"{fmt.level(view.level)} interval"


def estimate_table(view: View, estimates: Sequence[Estimate], *strata: str) -> Table:
    """Return the numbers of these estimates as a table: strata, group, value, interval, ….

    Models are named only where there are several.
    """
    # A column that says the same in each row says nothing.
    columns_of_strata = [name for name in strata if name != "model" or len(view.models) > 1]

    def stratum(name: str) -> Callable[[Estimate], str]:
        def cell(e: Estimate) -> str:
            value = e.strata.get(name, "")
            # How a group was seen is called after the factor it is of.
            if name == "seen_by":
                return short(place_value(name, value, e.group).removeprefix("by "))
            return short(view.called(value) if name == "model" else value, 40)

        return cell

    columns = {
        **{name.replace("_", " ").capitalize(): stratum(name) for name in columns_of_strata},
        "Group": lambda e: short(group_label(e.group)),
        "Value": value,
        interval_head(view): interval,
        "Null range": null,
        "q": q,
        "n": units,
        "Prompts": clusters,
    }
    return Table.of(estimates, columns, len(columns_of_strata) + 1)


Spec = dict[str, Any]
Builder = Callable[[View, list[Estimate]], "Iterable[Figure]"]
"""Function of the view and a measure's estimates to its figures."""


def chart(package: str, name: str, **fields: Any) -> Spec:
    """Return a Vega-Lite chart of the `charts.json` of a package, with its blanks filled.

    "$rows" stands for the field `rows`; what is None is left out of a list, such as of layers.

    >>> chart("portrayal.report.figures", "config")["concat"]
    {'spacing': 18}
    """

    def filled(part: Any) -> Any:
        if isinstance(part, str):
            # A whole value takes the blank's place, be it a list or a chart.
            return fields[part[1:]] if part.startswith("$") else part
        # None leaves a layer out, so that one chart serves runs with and without it.
        if isinstance(part, list):
            return [item for item in map(filled, part) if item is not None]
        return {k: filled(v) for k, v in part.items()} if isinstance(part, dict) else part

    spec: Spec = filled(_charts(package)[name])
    return spec


@cache
def _charts(package: str) -> dict[str, Spec]:
    """Every chart that a package draws, by name."""
    charts: dict[str, Spec] = json.loads(files(package).joinpath("charts.json").read_text("utf-8"))
    return charts


@dataclass(frozen=True)
class Figure:
    """One figure of the report.

    Attributes
    ----------
    key
        Its anchor in the page.
    title, reading, note
        Heading; one sentence generated from the numbers; how to read the marks.
    spec
        Vega-Lite; None for a figure that is a table.
    table
        The numbers behind it.
    legend
        (symbol class, words) of each mark.
    broken
        The error, of a figure that could not be drawn.
    """

    key: str
    title: str
    reading: str
    note: str
    spec: Spec | None
    table: Table
    legend: tuple[tuple[str, str], ...] = ()
    broken: str = ""

    @property
    def label(self) -> str:
        """The text alternative: title and reading."""
        return f"{self.title}. {self.reading}"

    @property
    def empty(self) -> bool:
        """Whether it shows no number: one line then says all that there is."""
        if self.broken:
            return False
        # A chart of undefined values alone shows nothing either.
        if "Value" in self.table.columns:
            place = self.table.columns.index("Value")
            return all(row[place] == "undefined" for row in self.table.rows)
        numbers = len(self.table.columns) > self.table.words
        return self.spec is None and not (self.table.rows and numbers)


@dataclass(frozen=True)
class Published:
    """One published value; bounds are NaN where none is printed.

    `group` is as in an estimate; `unit` is what `n` counts.
    """

    domain: str
    model: str
    group: tuple[tuple[str, str], ...]
    value: float
    low: float
    high: float
    n: int
    unit: str = "character"

    @property
    def label(self) -> str:
        """The group in words."""
        return group_label(dict(self.group))

    def facts(self) -> dict[str, Any]:
        """Return what a tooltip shows of it, as text."""
        return {
            "model": f"{self.model}, as published",
            "domain": self.domain,
            "group": self.label,
            "value": fmt.ratio(self.value),
            "ci": fmt.span(self.low, self.high),
            "n": fmt.plural(self.n, self.unit),
        }


def facts(view: View, e: Estimate) -> dict[str, Any]:
    """Return what a tooltip shows of an estimate, as text."""
    words = {
        "model": short(view.called(e.strata.get("model", "")), 40),
        "group": short(group_label(e.group), 60),
        "value": fmt.number(e.value, form_of(e)),
        "ci": fmt.interval(e.interval, form_of(e)),
        "null": fmt.interval(e.null, form_of(e)),
        "q": fmt.probability(q_of(e)),
        "n": fmt.plural(e.n_units, e.unit, "stories" if e.unit == "story" else ""),
        "k": fmt.count(e.n_clusters),
    }
    # A domain says more than the list of all strata.
    if domain_of(e):
        words["domain"] = short(domain_of(e), 40)
    elif place_words(e):
        words["place"] = short(place_words(e), 60)
    if e.undefined:
        words["why"] = short(e.undefined, 200)
    return words


_TITLES = {
    "model": "Model",
    "domain": "Domain",
    "place": "Where",
    "group": "Group",
    "value": "Value",
    "ci": "Interval",
    "null": "Null range",
    "q": "q",
    "n": "Rests on",
    "k": "Prompts",
    "why": "Undefined, as",
}


def colour_of(view: View, e: Estimate) -> str:
    """Return the one colour that a group keeps in every figure of the run."""
    return colour_of_group(e.group, next((view.values.get(name, []) for name in e.group), []))


def tooltip(**more: str) -> Spec:
    """Return the tooltip as an encoding: every fact that a datum has, then `more` fields.

    Parameters
    ----------
    **more
        Title → field of the datum.
    """
    # Named by field, so that a figure may call a fact otherwise.
    fields = {**_TITLES, **{field: title for title, field in more.items()}}
    pairs = ", ".join(f"'{title}': datum.{field}" for field, title in fields.items())
    return {"value": {"expr": f"{{{pairs}}}"}}
