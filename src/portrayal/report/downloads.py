"""Downloads: every estimate as CSV inside the page, and the table that can be filtered."""

import math
from functools import cache
from typing import Any

from portrayal.collect.tables import inert
from portrayal.report.charts import packed
from portrayal.report.formats import interval, number, probability
from portrayal.report.inert import short
from portrayal.report.study import report_of
from portrayal.report.view import View, place_words, q_of
from portrayal.report.words import described, group_label, measure_title
from portrayal.run.estimates import flat_row
from portrayal.run.pages import visible


def csv_text(view: View) -> str:
    """Return every estimate as CSV; text cells are safe to open in a spreadsheet.

    Columns are those of `flatten_estimates`; a name that one measure groups by and another gives
    as a detail stands in one column.
    """
    rows = zip(*csv_columns(view), strict=True)
    return "".join(f"{','.join(row)}\n" for row in rows)


def csv_columns(view: View) -> list[list[str]]:
    """Return the columns of that CSV: the heading, then the cells, as they are written.

    Column by column it packs to three quarters of what it does row by row.
    """
    rows = [flat_row(estimate) for estimate in view.estimates]
    labels = dict.fromkeys(n for e in view.estimates for n in (*e.strata, *e.group))
    details = dict.fromkeys(n for e in view.estimates for n in e.details if n not in labels)
    fixed = ("study", "measure", "statistic", "unit")
    numbers = [n for row in rows[:1] for n in row if n not in (*fixed, *labels, *details)]
    names = [*fixed, *labels, *numbers, *details]
    return [[_written(name), *(_written(row.get(name)) for row in rows)] for name in names]


def _written(value: Any) -> str:
    """A value as a cell of a CSV file that no spreadsheet runs; empty where it is unknown."""
    if isinstance(value, str):
        return _words(value)
    known = plain_cell(value)
    return "" if known is None else str(known)


@cache
def _words(text: str) -> str:
    cell = inert(visible(text))
    if any(c in cell for c in ',"\n\r'):
        return '"' + cell.replace('"', '""') + '"'
    return cell


def packed_csv(view: View) -> str:
    """Return the columns compressed: cells parted by U+001F, columns by U+001E."""
    return packed("\x1e".join("\x1f".join(cells) for cells in csv_columns(view)))


def plain_cell(value: Any) -> Any:
    """Return a value in six digits; words with what does not print made visible."""
    if isinstance(value, float):
        return "" if math.isnan(value) else float(f"{value:.6g}")
    return visible(value) if isinstance(value, str) else value


def headline_rows(view: View) -> dict[str, Any]:
    """Return the rows of the filterable table: text cells, one list for each estimate.

    It has the measures that ask for it (`Component.listed`), with places and groups as the study
    calls them.
    """
    own = report_of(view)
    place, group = own.place or place_words, own.group or group_label
    rows = [
        [
            measure_title(e.measure),
            short(view.called(e.strata.get("model", "")), 40),
            short(place(e), 90),
            short(group(e.group)),
            number(e.value, e.statistic) if e.value is not None else "undefined",
            interval(e.interval, e.statistic),
            interval(e.null, e.statistic),
            probability(q_of(e)),
            f"{e.n_units:,.0f}",
            str(e.n_clusters),
            short(e.undefined or "", 160),
        ]
        for name, estimates in view.by_measure.items()
        if (component := described(name)) is None or component.listed
        for e in estimates
    ]
    heads = ["Measure", "Model", own.wording.place, "Group", "Value", "Interval", "Null range"]
    return {"heads": [*heads, "q", "n", own.wording.clusters.capitalize()], "rows": rows}
