"""Published values of Wan & Chang (2024), which stand beside those of a run, in grey."""

from collections.abc import Iterator

from portrayal.records import Estimate
from portrayal.reference import published
from portrayal.report.figures.figure import printed
from portrayal.report.view import View

MALE = "male − female"


def _by_group(statistic: str, column: str) -> Iterator[Estimate]:
    """Yield a column of Tables 19 to 27, in fractions."""
    for row in published("wan_agency_by_group").to_pylist():
        group = {} if row["gender"] == "All" else {"gender": row["gender"].casefold()}
        group |= {} if row["race"] == "All" else {"race": row["race"]}
        if row["mitigation"] == "none" and row[column] is not None:
            strata = {"task": row["text_type"], "model": row["model"]}
            yield printed("agency_share.v1", statistic, strata, group, row[column] / 100.0)


def groups(_view: View) -> Iterator[Estimate]:
    """Yield mean ratio gaps by group."""
    return _by_group("ratio_gap", "ratio_gap")


def shares(_view: View) -> Iterator[Estimate]:
    """Yield shares of agentic sentences by group, and those after selective rewriting."""
    yield from _by_group("agentic", "agentic_percent")
    for row in published("wan_rewrite_agentic").to_pylist():
        if row["mitigation"] != "none":
            strata = {"task": row["text_type"], "model": f"{row['model']}, rewritten"}
            group = {"race": row["race"], "gender": row["gender"].casefold()}
            share = row["agentic_percent"] / 100.0
            yield printed("agency_share.v1", "agentic", strata, group, share)


def differences(_view: View) -> Iterator[Estimate]:
    """Yield differences between men and women by writer (Table 16)."""
    for row in published("wan_gender_difference").to_pylist():
        strata = {"task": row["text_type"], "model": row["model"]}
        difference = row["gender_difference"] / 100.0
        yield printed("agency_gap.v1", "difference", strata, {"gender": MALE}, difference)


def strata(_view: View) -> Iterator[Estimate]:
    """Yield differences in human texts by profession or department (Tables 17 and 18)."""
    for row in published("wan_human_strata").to_pylist():
        difference = row["gender_difference"]
        if difference is not None and row["stratum"] != "Overall":
            place = {"task": row["text_type"], "stratum": row["stratum"], "model": "Human"}
            yield printed(
                "agency_gap.v1", "difference", place, {"gender": MALE}, difference / 100.0
            )


def variances(view: View) -> Iterator[Estimate]:
    """Yield variances between groups (Table 1), and beside rewritten texts those of Table 2."""
    rows = published("wan_variance").to_pylist()
    if len({e.strata["condition"] for e in view.estimates if "condition" in e.strata}) > 1:
        rows += published("wan_mitigation_variance").to_pylist()
    for row in rows:
        mitigation = row.get("mitigation", "").replace("_", " ")
        more = f", 96 prompts, {mitigation}" if mitigation else ""
        place = {"task": row["text_type"], "model": row["model"] + more}
        for name in ("gender", "race", "intersectional", "overall"):
            if row.get(name) is not None:
                group = {"attribute": name}
                yield printed("agency_variance.v1", "variance", place, group, row[name])


PRINTED = {
    "groups": groups,
    "shares": shares,
    "differences": differences,
    "strata": strata,
    "variances": variances,
}
"""Published values by the name that figures give."""
