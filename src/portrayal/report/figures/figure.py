"""A figure and its table: what a builder returns, and the cells that both share."""

import html
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import portrayal.report.formats as fmt
from portrayal.records import Estimate
from portrayal.registry import form_of
from portrayal.report.figures.svg import Panel
from portrayal.report.formats import short
from portrayal.report.view import View, counted_unit, place_words, q_of
from portrayal.report.words import colour_of_group, group_label
from portrayal.run.pages import trusted
from portrayal.shown import visible

if TYPE_CHECKING:
    from markupsafe import Markup

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


Cell = Callable[[Estimate], str]
NUMBERS: Mapping[str, Cell] = {
    "Value": lambda e: fmt.number(e.value, form_of(e)) if e.value is not None else "undefined",
    "Interval": lambda e: fmt.interval(e.interval, form_of(e)),
    "Null range": lambda e: fmt.interval(e.null, form_of(e)),
    "p": lambda e: fmt.probability(e.tests[0].p if e.tests else None),
    "q": lambda e: fmt.probability(q_of(e)),
    "n": lambda e: fmt.count(e.n_units) if e.n_units else fmt.NOTHING,
    "Prompts": lambda e: fmt.count(e.n_clusters) if e.n_clusters else fmt.NOTHING,
}
"""Cells of an estimate's numbers, by heading."""


@dataclass(frozen=True)
class Figure:
    """One figure of the report.

    Attributes
    ----------
    key
        Its anchor in the page.
    title, reading, note
        Heading; one sentence generated from the numbers; how to read the marks.
    chart
        What is drawn; None for a figure that is a table.
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
    chart: Panel | None
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
        return self.chart is None and not (self.table.rows and numbers)

    @property
    def svg(self) -> str:
        """The chart as an SVG file; "" without one."""
        return "" if self.chart is None else self.chart.image

    @property
    def inline(self) -> "Markup":
        """The chart for a page itself."""
        return trusted(self.svg)

    def _repr_html_(self) -> str:
        lines = [f"<p><strong>{html.escape(visible(self.title))}</strong></p>", self.svg]
        texts = (self.reading, self.note)
        return "".join([*lines, *(f"<p>{html.escape(visible(text))}</p>" for text in texts)])


Builder = Callable[[View, list[Estimate]], Figure | None]
"""Function of the view and a measure's estimates to its figure; None where it shows none."""


def tip(view: View, e: Estimate, **more: str) -> str:
    """Return what a mark says of its estimate when it is pointed at, a line for each fact.

    `more` are further facts, by title.
    """
    facts = {
        "Model": short(view.called(e.strata.get("model", "")), 40),
        "Where": short(place_words(e), 90),
        "Group": short(group_label(e.group), 60),
        **{name: NUMBERS[name](e) for name in ("Value", "Interval", "Null range", "q")},
        "Rests on": fmt.plural(e.n_units, counted_unit(e), "stories" if e.unit == "story" else ""),
        "Prompts": fmt.count(e.n_clusters),
        "Undefined, as": short(e.undefined or "", 200),
        **more,
    }
    return "\n".join(
        f"{name}: {fact}" for name, fact in facts.items() if fact not in ("", "0", fmt.NOTHING)
    )


def colour_of(view: View, e: Estimate) -> str:
    """Return the one colour that a group keeps in every figure of the run."""
    return colour_of_group(e.group, next((view.values.get(name, []) for name in e.group), []))
