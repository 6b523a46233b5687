"""Grids: ratios of pairs, the values of one factor across and of the other down."""

import math
from itertools import groupby

from portrayal.records import Estimate
import portrayal.report.formats as fmt
from portrayal.report.figures.figure import Figure, facts
from portrayal.report.figures.generic import MOST_PANELS, MOST_ROWS, figure_key, table
from portrayal.report.figures.heat import heat, log2_within
from portrayal.report.figures.parts import reach, tiled
from portrayal.report.figures.tables import estimate_table
from portrayal.report.inert import short
from portrayal.report.view import View, is_sure, place_words
from portrayal.report.words import described, measure_title

_HOW = (
    "Blue: below 1; red: above; grey: cannot be told from 1; dashed and empty: undefined, the "
    "tooltip says why."
)


def grid(view: View, estimates: list[Estimate]) -> list[Figure]:
    """Return ratios of pairs as heatmaps, one for each two factors; what is resolved has colour."""
    shown = [e for e in view.only_main(estimates) if len(e.group) == 2]
    known = [e for e in shown if e.value is not None]
    if not known:
        return table(view, estimates)
    limit = max(1, math.ceil(math.log2(reach(e.value for e in known))))
    parts = [list(rows) for _, rows in groupby(sorted(shown, key=_axes), key=_axes)]
    charts = []
    for rows in parts[:MOST_PANELS]:
        across, down = rows[0].group
        columns = list(dict.fromkeys(short(e.group[across], 14) for e in rows))[:MOST_ROWS]
        lines = list(dict.fromkeys(short(e.group[down], 28) for e in rows))[:MOST_ROWS]
        cells = [
            {
                **facts(view, e),
                "col": short(e.group[across], 14),
                "row": short(e.group[down], 28),
                "l": log2_within(e.value, limit),
                "t": " " if e.value is None else fmt.ratio(e.value),
                "c": "undefined" if e.value is None else "sure" if is_sure(e) else "unsure",
            }
            for e in rows
        ]
        where = place_words(rows[0])
        title = f"{down} by {across}{f', {where}' if where else ''}"
        kept = [c for c in cells if c["col"] in columns and c["row"] in lines]
        charts.append(
            heat(
                kept,
                columns,
                lines,
                title=short(title, 60),
                limit=limit,
                legend=measure_title(rows[0].measure),
                cell=(84, 23),
            )
        )
    sure = sum(map(is_sure, known))
    name = known[0].measure
    component = described(name)
    words = f"{component.summary} {component.reading} " if component is not None else ""
    return [
        Figure(
            figure_key(name),
            measure_title(name),
            f"{sure} of {fmt.plural(len(known), 'pair')} can be told from 1.",
            words + _HOW,
            tiled(charts),
            estimate_table(view, view.only_main(estimates), "model"),
        )
    ]


def _axes(e: Estimate) -> tuple[str, ...]:
    return (*e.group, place_words(e))
