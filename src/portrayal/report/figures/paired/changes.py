"""Table 1 as a figure: the mean change of each group over all pairs."""

from portrayal.records import Estimate
from portrayal.report import formats as fmt
from portrayal.report.figures.figure import Figure
from portrayal.report.figures.paired.panels import datum, has_band, key, panel, printed_datum
from portrayal.report.figures.paired.printed import NOTE, printed_at
from portrayal.report.figures.paired.series import (
    LEVEL_TITLES,
    at,
    colours,
    group_name,
    numbers,
    quantity,
    rows_of,
    series,
    shown,
)
from portrayal.report.figures.parts import INK
from portrayal.report.view import View, is_sure


def group_changes(view: View, estimates: list[Estimate]) -> list[Figure]:
    """Return one figure with a panel for each level and attribute."""
    own = shown(view, estimates)
    found = list(dict.fromkeys((e.strata["level"], e.strata["attribute"]) for e in own))
    if not found:
        return []
    colour = colours(view)
    charts, paper = [], False
    for place in found:
        here, printed = at(own, place), printed_at("group_change", place, ())
        paper = paper or bool(printed)
        groups = list(dict.fromkeys(group_name(e.group) for e in here))
        data = [datum(view, e, colour.get(group_name(e.group), INK)) for e in here]
        data += [printed_datum(row, "difference") for row in printed]
        charts.append(
            panel(
                data,
                [*rows_of(view, here), *dict.fromkeys(row.label for row in printed)],
                groups,
                title=f"{LEVEL_TITLES.get(place[0], place[0])}: {place[1]}",
                axis="mean change, generated minus original",
                form="+.2f",
                labels=True,
                zero=True,
                width=205,
                label_limit=150,
            )
        )
    present = {group_name(e.group) for e in own}
    named = {name: c for name, c in colour.items() if name in present}
    return [
        Figure(
            "group-change",
            "Change of each group",
            _reading(view, own),
            "Mean over all pairs in which both texts have a value, whichever way it went; right of "
            f"the line the generated texts have more. {NOTE if paper else ''}",
            {
                "concat": charts,
                "columns": 2,
                "resolve": {"scale": {"yOffset": "independent"}},
            },
            numbers(view, own),
            key(named, null=has_band(own), paper=paper),
        )
    ]


def _reading(view: View, own: list[Estimate]) -> str:
    sure = [e for e in own if is_sure(e) and e.value is not None]
    if not sure:
        return "No group’s change can be told from chance by this number of headlines."
    e = max(sure, key=lambda found: abs(found.value or 0.0))
    way = "rises" if (e.value or 0.0) > 0 else "falls"
    what = quantity(e.strata["level"], e.strata["attribute"])
    return (
        f"{series(view, e)}: the {what} {way} most for {group_name(e.group)}, by "
        f"{fmt.difference(e.value)} ({fmt.level(view.level)} interval "
        f"{fmt.interval(e.interval, 'difference')}); {len(sure)} of {len(own)} changes can be told "
        "from chance."
    )
