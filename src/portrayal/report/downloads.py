"""Downloads: every estimate as CSV inside the page, and the table that can be filtered."""

import base64
import gzip
from typing import Any

from portrayal.records import ALL, Estimate
from portrayal.report.findings import headline_measures
from portrayal.report.formats import interval, number, probability
from portrayal.report.inert import csv_cell, short
from portrayal.report.view import View, q_of
from portrayal.report.words import group_label, measure_title, stem
from portrayal.run.estimates import flat_row
from portrayal.studies.news.report.series import group_name

AGENCY = ("agency_share", "agency_gap", "agency_variance")
"""Measures of agency, which the table of estimates lists."""
COMPARED = (
    "paired_distance",
    "prejudice_rate",
    "prejudice_change",
    "group_change",
    "prompt_effect",
)
"""Paired measures that the table of estimates lists."""


def csv_text(view: View) -> str:
    """Return every estimate as CSV; text cells are safe to open in a spreadsheet.

    Columns are those of `flatten_estimates`; a name that one measure groups by and another gives
    as a detail stands in one column.
    """
    rows = [flat_row(estimate) for estimate in view.estimates]
    labels = dict.fromkeys(n for e in view.estimates for n in (*e.strata, *e.group))
    details = dict.fromkeys(n for e in view.estimates for n in e.details if n not in labels)
    fixed = ("study", "measure", "statistic", "unit")
    numbers = [n for row in rows[:1] for n in row if n not in (*fixed, *labels, *details)]
    names = [*fixed, *labels, *numbers, *details]
    lines = [",".join(csv_cell(name) for name in names)]
    lines += [",".join([csv_cell(row.get(name)) for name in names]) for row in rows]
    return "\r\n".join([*lines, ""])


def packed_csv(view: View) -> str:
    """Return the CSV compressed with gzip, as base64."""
    raw = csv_text(view).encode("utf-8", "replace")
    return base64.b64encode(gzip.compress(raw, compresslevel=9, mtime=0)).decode("ascii")


def headline_rows(view: View) -> dict[str, Any]:
    """Return the rows of the filterable table: text cells, one list for each estimate."""
    agency = [name for name in view.by_measure if stem(name) in AGENCY]
    paired = [name for name in view.by_measure if stem(name) in COMPARED]
    place = _of_agency if agency else _where if paired else _domain
    rows = [
        [
            measure_title(e.measure),
            short(view.called(e.strata.get("model", "")), 40),
            short(place(e), 90),
            short(group_name(e.group) if paired else group_label(e.group)),
            number(e.value, e.statistic) if e.value is not None else "undefined",
            interval(e.interval, e.statistic),
            interval(e.null, e.statistic),
            probability(q_of(e)),
            f"{e.n_units:,.0f}",
            str(e.n_clusters),
            short(e.undefined or "", 160),
        ]
        for name in agency or paired or headline_measures(view)
        for e in view.by_measure[name]
    ]
    where = "Where" if paired else "Domain"
    heads = ["Measure", "Model", where, "Group", "Value", "Interval", "Null range", "q", "n"]
    return {"heads": [*heads, "Headlines" if paired else "Prompts"], "rows": rows}


def _domain(e: Estimate) -> str:
    return e.strata.get("domain", "")


def _where(e: Estimate) -> str:
    """What a paired estimate is of: level, form, and whatever is not pooled or usual."""
    of = [measure_title(e.strata["of"])] if "of" in e.strata else []
    usual = ("", ALL, "full", "worse")
    rest = [
        value.replace("_", " ")
        for name, value in e.strata.items()
        if name not in ("attribute", "model", "of") and value not in usual
    ]
    return ", ".join([*of, *rest])


def _of_agency(e: Estimate) -> str:
    """What an estimate of agency is of: statistic, task, stratum and masking."""
    names = ("task", "condition", "stratum", "masking", "run")
    parts = (e.strata.get(name, ALL) for name in names)
    return ", ".join([e.statistic.replace("_", " "), *(part for part in parts if part != ALL)])
