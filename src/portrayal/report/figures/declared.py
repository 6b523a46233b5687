"""Declared: what a figure is called, says and lists, read from the `figures.toml` of a folder.

Each table of such a file is one figure: `title`; `note`, how to read the marks; `reading`, its
sentence, or a table of sentences (`undefined`, `none` and `some`, by how many values differ from
their null); `legend`, pairs of mark and words; and for its table `columns`, pairs of heading and
cell, `words`, how many of them hold words, and `most`, the rows at most. Texts may name fields in
braces; words of a legend that are empty then are left out.
"""

import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from importlib.resources import files
from typing import Any

import portrayal.report.figures.figure as tables
import portrayal.report.formats as fmt
from portrayal.records import Estimate
from portrayal.registry import form_of
from portrayal.report.figures.figure import ROWS, Builder, Figure, Spec, Table
from portrayal.report.findings import distance
from portrayal.report.formats import short
from portrayal.report.view import View, domain_of, is_sure, no_difference
from portrayal.report.words import borne, group_label, group_words, measure_title

Cell = Callable[[Any, Any], str]
"""Function of the view, None where two runs are compared, and what a row is of to its cell."""
CELLS: Mapping[str, Cell] = {
    "value": lambda _, e: tables.value(e),
    "interval": lambda _, e: tables.interval(e),
    "paper": lambda _, e: fmt.interval(e.paper_interval, form_of(e)),
    "null": lambda _, e: tables.null(e),
    "p": lambda _, e: tables.p(e),
    "q": lambda _, e: tables.q(e),
    "n": lambda _, e: tables.units(e),
    "k": lambda _, e: tables.clusters(e),
    "group": lambda _, e: short(group_label(e.group)),
    "borne": lambda _, e: borne(e.group),
    "measure": lambda _, e: measure_title(e.measure),
    "model": lambda view, e: short(view.called(e.strata.get("model", "")), 40),
}
"""Cells that any table can have; any other name is that of a stratum."""


class Declarations:
    """The figures that a folder declares, and the cells that its tables have of their own."""

    def __init__(self, package: str, cells: Mapping[str, Cell] | None = None) -> None:
        self.package = package
        self.cells = {**CELLS, **(cells or {})}

    @cached_property
    def figures(self) -> dict[str, dict[str, Any]]:
        """What is declared, by name."""
        return tomllib.loads(files(self.package).joinpath("figures.toml").read_text("utf-8"))

    def table(self, name: str, view: View | None, rows: Sequence[Any], **fields: Any) -> Table:
        """Return a declared table; a column whose heading is empty by `fields` is left out."""
        declared = self.figures[name]
        # Headings may name the level of the run's intervals.
        values = {"level": "" if view is None else fmt.level(view.level), **fields}
        heads = [(head.format(**values), cell) for head, cell in declared["columns"]]
        columns = {head: self._cell(view, cell) for head, cell in heads if head}
        # A heading left out is one column of words fewer.
        words = sum(bool(head) for head, _ in heads[: declared.get("words", 1)])
        return Table.of(rows, columns, words, declared.get("most", ROWS))

    def _cell(self, view: View | None, name: str) -> Callable[[Any], str]:
        cell = self.cells.get(name)
        # Any stratum is a column by its own name.
        if cell is None:
            return lambda e: short(e.strata.get(name, ""), 40)
        return lambda row: cell(view, row)

    def figure(
        self,
        name: str,
        view: View | None,
        rows: Sequence[Any],
        spec: Spec | None = None,
        *,
        table: Table | None = None,
        reading: str = "",
        legend: Sequence[tuple[str, str]] | None = None,
        key: str = "",
        **fields: Any,
    ) -> Figure:
        """Return a declared figure.

        Parameters
        ----------
        name, view
            Its name, and the report's view; None where two runs are compared.
        rows
            The estimates that its reading is of, and its table where that is not given.
        spec
            The chart; None for a figure that is a table.
        table, reading, legend, key
            In place of what is declared; the key is the name by default.
        **fields
            What its texts name.
        """
        declared = self.figures[name]
        values = {"published": "", **fields}
        if view is not None:
            # With one model no mark is of another.
            several = "each model" if len(view.models) > 1 else ""
            values = {"main": view.called(view.main), "each_model": several, **values}
        if legend is None:
            # A mark that stands for nothing in this run leaves the key.
            marks = ((mark, text.format(**values)) for mark, text in declared.get("legend", ()))
            legend = [(mark, words) for mark, words in marks if words]
        return Figure(
            key or name,
            declared["title"].format(**values),
            reading or statement(declared["reading"], rows, declared.get("noun", ""), values),
            declared["note"].format(**values),
            spec,
            self.table(name, view, rows, **fields) if table is None else table,
            tuple(legend),
        )

    def chart(self, name: str, **fields: Any) -> Spec:
        """Return a chart of the folder's `charts.json`; see `figure.chart`."""
        return tables.chart(self.package, name, **fields)

    def tabled(
        self, name: str, rows: Callable[[View, list[Estimate]], Sequence[Any]] = View.only_main
    ) -> Builder:
        """Return the builder of a figure that is a table of some of a measure's estimates."""

        def build(view: View, estimates: list[Estimate]) -> Iterator[Figure]:
            if matching := rows(view, estimates):
                yield self.figure(name, view, matching)

        return build


def statement(
    texts: str | Mapping[str, str], rows: Sequence[Estimate], noun: str, fields: Mapping[str, Any]
) -> str:
    """Return a declared reading of estimates: how many differ, and which stands furthest.

    Of several sentences the one that fits is taken: `undefined` where no value is known, `none`
    where none can be told from its null, else `some`.
    """
    if isinstance(texts, str):
        return texts.format(**fields)
    valued = [e for e in rows if e.value is not None]
    if not valued:
        return texts["undefined"].format(**fields)
    sure = [e for e in valued if is_sure(e)]
    # A sentence names one: the furthest of those that differ, of all where none does.
    far = max(sure or valued, key=distance)
    above = sum((e.value or 0) > no_difference(e) for e in sure)
    values = {
        "n": len(valued),
        "counted": fmt.plural(len(valued), noun),
        "sure": len(sure),
        "above": above,
        "below": len(sure) - above,
        "group": group_words(far.group),
        "label": group_label(far.group),
        "domain": domain_of(far) or "all",
        "value": fmt.number(far.value, form_of(far)),
        "interval": fmt.interval(far.interval, form_of(far)),
    }
    return texts["some" if sure else "none"].format(**values | dict(fields))
