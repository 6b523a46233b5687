"""Recompute the published figures of Wan & Chang (2024) from their own printed figures.

No text and no model is needed. The variances of Tables 1 and 2 are made for three checkpoints and
averaged (Section 4, "averaged on random seeds 0, 1, and 2"), while Tables 19–28 print gaps that
are averaged over the runs already. The variance of averages is never more than the average of
variances, and the difference is the groups' variance between runs: every figure of Table 1 has to
lie at or just above what Tables 19–27 lead to.
"""

import tomllib
from collections.abc import Callable, Mapping
from importlib.resources import files
from typing import Any

import numpy as np

from portrayal.reference import published
from portrayal.studies.study import Check, Row

HALF_DIGIT = 0.005
"""Figures are printed with two decimals."""
NEAR = 1e-9
DIMENSIONS = ("gender", "race", "intersectional")
MITIGATION = {"none": "", "prompt": "prompt mitigation", "selective_rewrite": "selective rewriting"}

Printed = dict[str, Any]
Why = Callable[[float, float], str]


def reproduce() -> list[Check]:
    """Run every check: within tables, and between them."""
    groups = _numbers(published("wan_agency_by_group").to_pylist())
    variances = _numbers(published("wan_variance").to_pylist())
    mitigated = _numbers(published("wan_mitigation_variance").to_pylist())
    strata = _numbers(published("wan_human_strata").to_pylist())
    here = files("portrayal.studies.agency").joinpath("expected.toml")
    said = tomllib.loads(here.read_text(encoding="utf-8"))
    return [
        _overall("Table 1", variances),
        _averages(variances),
        _per_run("Table 1", variances, groups, "none"),
        _overall("Table 2", mitigated),
        _per_run(
            "Table 2", [r for r in mitigated if r["mitigation"] == "prompt"], groups, "prompt"
        ),
        _race_spread(said["race_spread"], variances, mitigated),
        _margins(groups),
        _gaps("Tables 19-28", groups),
        _differences(said["gender_difference"], groups),
        _table_16(groups),
        _table_3(groups),
        _gaps("Tables 17-18", strata),
        _strata_differences(strata),
        _strata_overall(strata, groups),
    ]


def _numbers(rows: list[Printed]) -> list[Printed]:
    return [{name: "" if value is None else value for name, value in r.items()} for r in rows]


def variance_floors(
    groups: list[Printed], model: str, text_type: str, mitigation: str
) -> dict[str, float]:
    """Return the variance of the printed, averaged gaps by dimension: a floor for Tables 1, 2."""
    own = [
        row
        for row in groups
        if (row["model"], row["text_type"], row["mitigation"]) == (model, text_type, mitigation)
    ]
    found = {}
    for dimension in DIMENSIONS:
        gaps = [r["ratio_gap"] for r in own if _dimension(r) == dimension]
        found[dimension] = float(np.var(gaps, ddof=1)) if len(gaps) > 1 else float("nan")
    return found


def _dimension(row: Printed) -> str:
    if row["race"] == "All":
        return "gender"
    return "race" if row["gender"] == "All" else "intersectional"


def _check(table: str, statistic: str, rows: list[tuple[Row, float, float, float]]) -> Check:
    """Keep the rows whose figures differ by more than `slack`: (row, printed, ours, slack)."""
    missed = tuple(row for row, printed, ours, slack in rows if abs(printed - ours) > slack + NEAR)
    return Check(table, statistic, len(rows), missed)


def _row(
    table: Any, place: Mapping[str, Any], group: str, printed: float, ours: float, why: str
) -> Row:
    mitigation = MITIGATION.get(str(place.get("mitigation", "none")), "")
    model = " ".join(part for part in (str(place.get("model", "")), mitigation) if part)
    name = f"Table {table}" if isinstance(table, int) else str(table)
    text_type = str(place.get("text_type", ""))
    return Row(name, text_type, model, group, f"{printed:.2f}", f"{ours:.2f}", why)


def _overall(table: str, rows: list[Printed]) -> Check:
    """The overall figure is the mean of the three dimensions."""
    made = []
    for row in rows:
        ours = float(np.mean([row[name] for name in DIMENSIONS]))
        why = "the mean of the three printed dimensions is another"
        printed = row["overall"]
        made.append((_row(table, row, "overall", printed, ours, why), printed, ours, 0.01))
    return _check(table, "overall is the mean of gender, race and intersectional", made)


def _averages(rows: list[Printed]) -> Check:
    """The row "Average" is the mean over the three kinds of text."""
    made = []
    for row in rows:
        if row["text_type"] != "Average":
            continue
        own = [r for r in rows if r["model"] == row["model"] and r["text_type"] != "Average"]
        for name in (*DIMENSIONS, "overall"):
            ours, printed = float(np.mean([r[name] for r in own])), row[name]
            why = "the mean over the printed kinds of text is another"
            made.append((_row("Table 1", row, name, printed, ours, why), printed, ours, 0.01))
    return _check("Table 1", "average over the kinds of text", made)


def _per_run(table: str, rows: list[Printed], groups: list[Printed], mitigation: str) -> Check:
    """A mean of variances per run is no less than the variance of the averaged gaps."""
    listed, missed = [], []
    for row in rows:
        if row["text_type"] == "Average":
            continue
        floors = variance_floors(groups, row["model"], row["text_type"], mitigation)
        for name in DIMENSIONS:
            printed, ours = row[name], floors[name]
            between = "the rest varies between the three runs" if printed >= ours else ""
            listed.append(_row(table, row, name, printed, ours, between))
            if printed < ours - _rounding(ours):
                why = "a mean over runs cannot lie below the variance of the averaged gaps"
                missed.append(_row(table, row, name, printed, ours, why))
    statistic = "variance per run is at or above that of averaged gaps"
    return Check(table, statistic, len(listed), tuple(missed), tuple(listed))


def _rounding(variance: float) -> float:
    """How far gaps of two decimals can move a variance: about 2 √V × half a digit."""
    return HALF_DIGIT + 2.0 * float(np.sqrt(max(variance, 0.0))) * HALF_DIGIT


def _race_spread(said: list[Printed], variances: list[Printed], mitigated: list[Printed]) -> Check:
    """The column "Std. Dev" of Tables 21 and 22 repeats the variance of Tables 1 and 2."""
    made = []
    for entry in said:
        rows = variances if entry["table"] == 21 else mitigated
        for text_type, printed in entry["values"].items():
            (ours,) = (
                r["race"]
                for r in rows
                if (r["model"], r["text_type"]) == (entry["model"], text_type)
                and r.get("mitigation", "prompt") == "prompt"
            )
            place = {"model": entry["model"], "text_type": text_type}
            other = "Table 1" if entry["table"] == 21 else "Table 2"
            why = f"{other} prints another variance for the same texts"
            row = _row(entry["table"], place, "race", printed, ours, why)
            made.append((row, printed, ours, 0.0))
    return _check("Tables 21-22", "last column is the variance by race", made)


def _margins(groups: list[Printed]) -> Check:
    """Groups are equally large, so a race is the mean of its genders, a gender of its races."""
    made = []
    for row in groups:
        if _dimension(row) == "intersectional" or row["model"] == "Human":
            continue
        same = ("model", "text_type", "mitigation")
        parts = [
            r["ratio_gap"]
            for r in groups
            if _dimension(r) == "intersectional"
            and all(r[name] == row[name] for name in same)
            and row["race"] in ("All", r["race"])
            and row["gender"] in ("All", r["gender"])
        ]
        printed, ours = row["ratio_gap"], float(np.mean(parts))
        group = row["gender"] if row["race"] == "All" else row["race"]
        why = "the crossed groups lead to another mean"
        made.append((_row(row["table"], row, group, printed, ours, why), printed, ours, 0.015))
    return _check("Tables 19-22", "gap is the mean of Tables 23-28", made)


def _gaps(table: str, rows: list[Printed]) -> Check:
    """The ratio gap is the agentic minus the communal percentage."""
    made = []
    for row in rows:
        printed = row["ratio_gap"]
        ours = row["agentic_percent"] - row["communal_percent"]
        group = " ".join(
            str(row[name])
            for name in ("stratum", "race", "gender")
            if row.get(name, "All") != "All"
        )
        why = "the printed percentages lead to another gap"
        made.append((_row(row["table"], row, group, printed, ours, why), printed, ours, 0.015))
    return _check(table, "gap is agentic minus communal", made)


def _gap(groups: list[Printed], table: int, model: str, text_type: str, gender: str) -> float:
    (found,) = (
        r["ratio_gap"]
        for r in groups
        if (r["table"], r["model"], r["text_type"], r["gender"])
        == (table, model, text_type, gender)
    )
    return float(found)


def _differences(said: list[Printed], groups: list[Printed]) -> Check:
    """The gender difference of Tables 19 and 20 is male minus female."""
    made = []
    for entry in said:
        table, model = entry["table"], entry["model"]
        for text_type, printed in entry["values"].items():
            first = _gap(groups, table, model, text_type, "Male")
            ours = first - _gap(groups, table, model, text_type, "Female")
            place = {"model": model, "text_type": text_type}
            why = "the printed gaps of men and women lead to another difference"
            row = _row(table, place, "male − female", printed, ours, why)
            made.append((row, printed, ours, 0.015))
    return _check("Tables 19-20", "gender difference", made)


def _table_16(groups: list[Printed]) -> Check:
    """Table 16 repeats the differences of Table 19."""
    made = []
    for entry in published("wan_gender_difference").to_pylist():
        model, _, source = entry["model"].partition(" (")
        text_type = f"{entry['text_type']} ({source}" if source else entry["text_type"]
        ours = _gap(groups, 19, model, text_type, "Male")
        ours -= _gap(groups, 19, model, text_type, "Female")
        printed = entry["gender_difference"]
        why = "Table 19 leads to another difference"
        row = _row(16, {"model": model, "text_type": entry["text_type"]}, "", printed, ours, why)
        made.append((row, printed, ours, 0.015))
    return _check("Table 16", "gender difference of Table 19", made)


def _table_3(groups: list[Printed]) -> Check:
    """The original percentages of Table 3 are those of Table 25."""
    made = []
    for entry in published("wan_rewrite_agentic").to_pylist():
        if entry["mitigation"] != "none":
            continue
        names = ("model", "text_type", "race", "gender")
        (ours,) = (
            r["agentic_percent"]
            for r in groups
            if r["table"] == 25 and all(r[name] == entry[name] for name in names)
        )
        printed = entry["agentic_percent"]
        why = "Table 25 prints another percentage"
        group = f"{entry['race']} {entry['gender']}"
        made.append((_row(3, entry, group, printed, ours, why), printed, ours, 0.0))
    return _check("Table 3", "original is that of Table 25", made)


def _strata_differences(rows: list[Printed]) -> Check:
    """The gender difference of Tables 17 and 18 is male minus female."""
    made = []
    for row, other in zip(rows[::2], rows[1::2], strict=True):
        printed, ours = row["gender_difference"], row["ratio_gap"] - other["ratio_gap"]
        why = "the printed gaps lead to another difference"
        made.append(
            (_row(row["table"], row, row["stratum"], printed, ours, why), printed, ours, 0.015)
        )
    return _check("Tables 17-18", "gender difference", made)


def _strata_overall(rows: list[Printed], groups: list[Printed]) -> Check:
    """Table 19 repeats the overall rows of Tables 17 and 18."""
    made = []
    for row in rows:
        if row["stratum"] != "Overall":
            continue
        printed = row["ratio_gap"]
        ours = _gap(groups, 19, "Human", row["text_type"], row["gender"])
        why = "Table 19 prints another gap for the same human texts"
        place = {**row, "model": "Human"}
        made.append(
            (_row(row["table"], place, row["gender"], printed, ours, why), printed, ours, 0.0)
        )
    return _check("Tables 17-18", "overall is that of Table 19", made)
