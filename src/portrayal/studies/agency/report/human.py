"""Human: Figure 2, differences in texts by models beside those in texts that people wrote."""

from collections.abc import Iterator

import portrayal.report.formats as fmt
from portrayal.records import ALL, Estimate
from portrayal.reference import published
from portrayal.report.figures.figure import Figure, Spec, Table
from portrayal.report.figures.panels import Datum, rule_at
from portrayal.report.view import View, is_sure
from portrayal.studies.agency.report.panels import (
    DIFFERENCES,
    datum,
    legend,
    points_panel,
    published_datum,
    stacked,
)
from portrayal.studies.agency.report.series import (
    MODELS,
    NOTE,
    Where,
    at,
    called,
    group_name,
    of,
    other,
    points,
    primary,
    span,
    wheres,
)

HUMAN = "human"
COLOUR = "#b8860b"
"""Of texts that people wrote."""
MALE = "male − female"


def beside_human(view: View) -> Iterator[Figure]:
    """Yield differences by model and task, human texts first; none where no one wrote any."""
    whole = of(view, "agency_gap", stratum=ALL)
    beside = [e for e in whole if "beside" in e.group and e.strata["masking"] == primary(view)]
    if not beside:
        return
    pairs = dict.fromkeys(group_name(_bare(e)) for e in beside)
    tasks = dict.fromkeys(e.strata["task"] for e in beside)
    panels = [
        panel for task in tasks for pair in pairs if (panel := _panel(view, whole, task, pair))
    ]
    known = [e for e in beside if e.value is not None]
    sure = [e for e in known if is_sure(e)]
    said = f"{len(sure)} of {fmt.plural(len(known), 'difference')} of models from human texts can "
    named = "; ".join(
        f"{called(wheres([e])[0])}, {group_name(_bare(e))}: {points(e.value)}" for e in sure[:4]
    )
    yield Figure(
        "agency-human",
        "Models beside people: differences between groups",
        f"{said}be told from 0{f': {named}' if named else ''}.",
        "Difference in mean ratio gap between two groups, in percentage points, for texts that "
        "people wrote (yellow, with a line) and for each model; the form of Figure 2. The table "
        f"has how far each model lies from human texts. {NOTE}",
        stacked(panels) if panels else None,
        _table(view, beside),
        legend(primary(view), other(view), "0"),
    )


def _bare(e: Estimate) -> dict[str, str]:
    return {name: value for name, value in e.group.items() if name != "beside"}


def _panel(view: View, whole: list[Estimate], task: str, pair: str) -> Spec | None:
    here = [
        e
        for e in whole
        if e.strata["task"] == task and "beside" not in e.group and group_name(e.group) == pair
    ]
    here.sort(key=lambda e: e.strata["model"].casefold() != HUMAN)
    rows: list[str] = []
    data: list[Datum] = []
    line: float | None = None
    for e in here:
        where: Where = (ALL, e.strata.get("condition", ""), e.strata["model"])
        row = called(where)
        rows.append(row)
        found = datum(view, e, row)
        if e.strata["model"].casefold() == HUMAN and e.strata["masking"] == primary(view):
            found |= {"c": COLOUR}
            line = None if e.value is None else 100 * e.value
        data.append(found)
    printed = [r for r in published("wan_gender_difference").to_pylist() if r["text_type"] == task]
    if pair == MALE:
        printed.sort(key=lambda r: MODELS.index(r["model"].partition(" (")[0]))
        for entry in printed:
            rows.append(f"{entry['model'].partition(' (')[0]} (paper)")
            data.append(published_datum(rows[-1], entry["model"], entry["gender_difference"], pair))
    rows = list(dict.fromkeys(rows))
    if not rows:
        return None
    title = pair if task == ALL else f"{task}: {pair}"
    spec = points_panel(view, data, rows, DIFFERENCES, title)
    if line is not None:
        spec["layer"].append(rule_at("x", line))
    return spec


def _table(view: View, beside: list[Estimate]) -> Table:
    whole = of(view, "agency_gap", stratum=ALL, masking=primary(view))

    def own(e: Estimate, model: str) -> str:
        where = wheres([e])[0]
        rows = at(whole, (where[0], where[1], model))
        same = [x for x in rows if x.group == _bare(e)]
        return points(same[0].value) if same else fmt.NOTHING

    human = next((e.strata["model"] for e in whole if e.strata["model"].casefold() == HUMAN), HUMAN)
    columns = {
        "Texts": lambda e: called(wheres([e])[0]),
        "Difference": lambda e: group_name(_bare(e)),
        "Model": lambda e: own(e, e.strata["model"]),
        "Human": lambda e: own(e, human),
        "Model − human": lambda e: points(e.value),
        "Interval": lambda e: span(e.interval),
    }
    return Table.of(beside, columns, 2)
