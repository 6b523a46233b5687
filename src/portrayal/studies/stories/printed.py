"""Published values of Shieh et al. (2025), which stand beside a run of the paper's own prompts."""

from collections.abc import Iterator

from portrayal.records import Estimate
from portrayal.reference import GENDERS, RACES, published
from portrayal.report.figures.figure import printed
from portrayal.report.view import View

_GENDERS = {"Fem.": "F", "Masc.": "M", "NB": "NB"}
_PAPER = "laissez-faire"


def _values(view: View, table: str, column: str, measure: str) -> Iterator[Estimate]:
    """Yield the printed ratios of a table; none in a study whose prompts are not the paper's."""
    rows = published(table).to_pylist() if view.settings.get("study") == _PAPER else []
    for row in rows:
        name = _GENDERS.get(row.get("group", ""), row.get("group", ""))
        # Printed tables mix races, genders and couples in one column.
        kind = "race" if name in RACES else "gender" if name in GENDERS else "pair"
        group = {kind: name}
        # Tables of race by gender have a column for each.
        if "group" not in row:
            group = {"race": row["race"], "gender": _GENDERS.get(row["gender"], row["gender"])}
        strata = {"domain": row["domain"], "model": row["model"]}
        if row[column] is not None:
            bounds = row["ci_low"], row["ci_high"]
            n = int(row["n"] or 0)
            yield printed(measure, "ratio", strata, group, row[column], bounds, n)


def representation(view: View) -> list[Estimate]:
    """Return representation ratios of races and genders (Tables S13a to S13d)."""
    table = "shieh_representation_ratios", "representation_ratio"
    rows = _values(view, *table, "representation.v1")
    return [e for e in rows if "pair" not in e.group]


def couples(view: View) -> list[Estimate]:
    """Return representation ratios of couples."""
    table = "shieh_representation_ratios", "representation_ratio"
    rows = _values(view, *table, "pair_representation.v1")
    return [e for e in rows if "pair" in e.group]


def subordination(view: View) -> Iterator[Estimate]:
    """Yield subordination ratios by race and gender."""
    table = "shieh_subordination_ratios", "subordination_ratio"
    return _values(view, *table, "subordination.v1")


def medians(view: View) -> Iterator[Estimate]:
    """Yield median racialized subordination ratios."""
    table = "shieh_median_racialized_subordination_ratios", "median_ratio"
    return _values(view, *table, "median_racialized_subordination.v1")


PRINTED = {
    "representation": representation,
    "couples": couples,
    "subordination": subordination,
    "medians": medians,
}
"""Published values by the name that figures give."""
