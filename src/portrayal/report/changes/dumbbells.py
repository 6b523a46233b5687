"""Dumbbells: two values for each group, and beside them the change with its interval."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import portrayal.report.changes.sheet as sheet
import portrayal.report.figures.panels as panels
import portrayal.report.figures.svg as svg
import portrayal.report.formats as fmt
from portrayal.comparison import Change
from portrayal.comparison.result import CHANGED, SAME, verdict
from portrayal.reference.labels import strata_words
from portrayal.report.figures.figure import Figure
from portrayal.report.figures.panels import DotMark
from portrayal.report.figures.svg import Axis, Panel
from portrayal.report.formats import short
from portrayal.report.words import colour_of_group, measure_title
from portrayal.run.pages import SHARES

MOST_ROWS = 40
"""Rows of one figure; the table and the downloads have the rest."""


def dumbbells(rows: Sequence[Change], sides: tuple[str, str], level: float) -> list[Figure]:
    """Return a figure for each measure of these rows, values of both sides by group."""
    figures = []
    for measure, of_measure in sheet.by_measure(rows).items():
        # A side without a value leaves a dumbbell with one end.
        paired = [r for r in of_measure if r.value_a is not None and r.value_b is not None]
        verdicts = [verdict(row, level) for row in of_measure]
        n_more = len(of_measure) - len(paired[:MOST_ROWS])
        places = sheet.places_of(of_measure)
        place = f" in {places[0]}" if len(places) == 1 and places[0] else ""
        note = (
            f"Left: the value in {sides[0]} (ring) and in {sides[1]} (dot). Right: the second over "
            f"or less the first with its {fmt.level(level)} interval; filled where there is a "
            "change. Shaded: changes that count as none."
        )
        note += f" {fmt.plural(n_more, 'more row')} in the table." if n_more else ""
        figures.append(
            Figure(
                sheet.figure_key(measure),
                measure_title(measure),
                f"Of {fmt.plural(len(of_measure), 'comparison')}{place} "
                f"{verdicts.count(CHANGED)} differ and {verdicts.count(SAME)} are alike.",
                note,
                _chart(paired[:MOST_ROWS], level) if paired else None,
                sheet.table(of_measure, sheet.CHANGE),
                (("ring", sides[0]), ("dot", sides[1]), ("band", "so small a change is none")),
            )
        )
    return figures


def _chart(rows: Sequence[Change], level: float) -> Panel:
    values = sheet.attribute_values(row.group for row in rows)
    first = rows[0]
    # One axis for both sides, or the dots of a row could not be compared.
    both = [value for row in rows for value in (row.value_a, row.value_b)]
    form = "share" if first.statistic in SHARES else ""
    value_axis = (
        Axis.ratio(both, "value (log scale)")
        if first.statistic == "ratio"
        else Axis.linear(both, "value", form)
    )
    # The change has an axis of its own, since it is in another unit than the values.
    changes = [x for row in rows for x in (row.low, row.high, row.change)]
    by_ratio = first.scale == "ratio"
    change_axis = (
        Axis.ratio(changes, "second / first (log scale)", most=16)
        if by_ratio
        else Axis.linear(changes, "second − first", line=first.null)
    )
    charts = []
    places = sheet.places_of(rows)
    for place in places:
        of_place = [row for row in rows if strata_words(row.place, row.group) == place]
        labels = [sheet.row_label(row.strata, row.group, placed=False) for row in of_place]
        marks = [
            _marks(row, label, values, level) for row, label in zip(of_place, labels, strict=True)
        ]
        order = list(dict.fromkeys(labels))
        title = short(place, 60) if len(places) > 1 else ""
        values_of = [mark for pair, _ in marks for mark in pair]
        pair = (
            panels.dots(values_of, order, value_axis, width=290, title=title),
            panels.dots(
                [mark for _, mark in marks],
                order,
                change_axis,
                width=190,
                labels=False,
                title=title and " ",
            ),
        )
        charts.append(svg.tiled(pair, 2, 18))
    return svg.tiled(charts)


def _marks(
    row: Change, label: str, values: Mapping[str, list[str]], level: float
) -> tuple[list[DotMark], DotMark]:
    """The marks of both values of a change, and that of the change."""
    colour = colour_of_group(row.group, next((values.get(name, []) for name in row.group), []))
    cells = sheet.table([row], sheet.CHANGE)
    facts = zip(cells.columns, cells.rows[0], strict=True)
    tip = "\n".join(f"{head}: {cell}" for head, cell in facts)
    mark = DotMark(row=label, look="ring", value=row.value_a, colour=colour, tip=tip)
    low, high = sorted((row.value_a or 0.0, row.value_b or 0.0))
    both = [replace(mark, bounds=(low, high)), replace(mark, look="dot", value=row.value_b)]
    bounds = None if row.low is None or row.high is None else (row.low, row.high)
    margin = None
    if row.margin is not None:
        margin = (1 / row.margin if row.scale == "ratio" else -row.margin, row.margin)
    look = "dot" if verdict(row, level) == CHANGED else "ring"
    shaded = panels.finite(margin)
    return both, replace(mark, look=look, value=row.change, bounds=bounds, null=shaded)
