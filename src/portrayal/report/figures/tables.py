"""Tables: text cells under headings, and the cells that tables of estimates share."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import portrayal.report.formats as fmt
from portrayal.records import Estimate
from portrayal.report.inert import short
from portrayal.report.view import View, q_of
from portrayal.report.words import group_label

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
        cells = tuple(tuple(cell(row) for cell in columns.values()) for row in rows[:most])
        return cls(tuple(columns), cells, words, max(len(rows) - most, 0))


def value(e: Estimate) -> str:
    """Return the cell of a value; "undefined" where there is none."""
    return fmt.number(e.value, e.statistic) if e.value is not None else "undefined"


def interval(e: Estimate) -> str:
    """Return the cell of a clustered interval."""
    return fmt.interval(e.interval, e.statistic)


def null(e: Estimate) -> str:
    """Return the cell of a null range."""
    return fmt.interval(e.null, e.statistic)


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
    shown = [name for name in strata if name != "model" or len(view.models) > 1]

    def stratum(name: str) -> Callable[[Estimate], str]:
        called = view.called if name == "model" else str
        return lambda e: short(called(e.strata.get(name, "")), 40)

    columns = {
        **{name.replace("_", " ").capitalize(): stratum(name) for name in shown},
        "Group": lambda e: short(group_label(e.group)),
        "Value": value,
        interval_head(view): interval,
        "Null range": null,
        "q": q,
        "n": units,
        "Prompts": clusters,
    }
    return Table.of(estimates, columns, len(shown) + 1)
