"""Figure: a chart or table with its one-line reading and its text alternative."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from portrayal.records import Estimate
from portrayal.report import formats as fmt
from portrayal.report.inert import short
from portrayal.report.view import View, domain_of, q_of
from portrayal.report.words import group_label

Spec = dict[str, Any]
Builder = Callable[[View, list[Estimate]], "Figure | None"]

ROWS = 150
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
    alt
        What a screen reader says in place of the chart.
    """

    key: str
    title: str
    reading: str
    note: str
    spec: Spec | None
    table: Table
    legend: tuple[tuple[str, str], ...] = ()
    alt: str = field(default="")

    @property
    def label(self) -> str:
        """The text alternative: title and reading."""
        return self.alt or f"{self.title}. {self.reading}"


def facts(view: View, e: Estimate) -> dict[str, Any]:
    """Return what a tooltip shows of an estimate, as text."""
    found = {
        "model": short(view.called(e.strata.get("model", "")), 40),
        "group": short(group_label(e.group), 60),
        "value": fmt.number(e.value, e.statistic),
        "ci": fmt.interval(e.interval, e.statistic),
        "null": fmt.interval(e.null, e.statistic),
        "q": fmt.probability(q_of(e)),
        "n": fmt.plural(e.n_units, e.unit, "stories" if e.unit == "story" else ""),
        "k": fmt.count(e.n_clusters),
    }
    if domain_of(e):
        found["domain"] = short(domain_of(e), 40)
    if e.undefined:
        found["why"] = short(e.undefined, 200)
    return found


_TITLES = {
    "model": "Model",
    "domain": "Domain",
    "group": "Group",
    "value": "Value",
    "ci": "Interval",
    "null": "Null range",
    "q": "q",
    "n": "Rests on",
    "k": "Prompts",
    "why": "Undefined, as",
}


def tooltip(**more: str) -> Spec:
    """Return the tooltip as an encoding: every fact that a datum has, then `more` fields.

    Parameters
    ----------
    **more
        Title → field of the datum.
    """
    fields = {**_TITLES, **{field: title for title, field in more.items()}}
    shown = ", ".join(f"'{title}': datum.{field}" for field, title in fields.items())
    return {"value": {"expr": f"{{{shown}}}"}}


def estimate_table(view: View, estimates: Sequence[Estimate], *strata: str) -> Table:
    """Return the numbers of these estimates as a table: strata, group, value, interval, ….

    Models are named only where there are several.
    """
    several = len(view.models) > 1
    shown = [name for name in strata if name != "model" or several]
    titles = {"model": "Model", "domain": "Domain", "role": "Role", "scenario": "Scenario"}
    rows = tuple(
        (
            *(short(_stratum(view, e, name), 40) for name in shown),
            short(group_label(e.group)),
            fmt.number(e.value, e.statistic) if e.value is not None else "undefined",
            fmt.interval(e.interval, e.statistic),
            fmt.interval(e.null, e.statistic),
            fmt.probability(q_of(e)),
            fmt.count(e.n_units),
            fmt.count(e.n_clusters),
        )
        for e in estimates[:ROWS]
    )
    columns = (*(titles.get(n, n) for n in shown), "Group", "Value")
    level = f"{fmt.level(view.level)} interval"
    return Table(
        (*columns, level, "Null range", "q", "n", "Prompts"),
        rows,
        len(shown) + 1,
        max(len(estimates) - ROWS, 0),
    )


def _stratum(view: View, e: Estimate, name: str) -> str:
    value = e.strata.get(name, "")
    return view.called(value) if name == "model" else value
