"""Fig. 3a: every name by its likelihood for a race and its subordination ratio."""

import math
from typing import Any

from portrayal.records import ALL, Estimate
from portrayal.report import formats as fmt
from portrayal.report.figures.figure import Figure, Spec, Table, estimate_table, facts, tooltip
from portrayal.report.figures.parts import (
    INK,
    likelihood_channel,
    log_axis,
    log_channel,
    multiples,
    reach,
    rule_at,
    within,
)
from portrayal.report.findings import distance
from portrayal.report.inert import short
from portrayal.report.view import View, domain_of, is_sure
from portrayal.report.words import people_of
from portrayal.studies.laissez_faire.report.ratios import colour_of

LISTED = 5
"""Names for each race, as in Table S10."""


def common_names(view: View, estimates: list[Estimate]) -> list[Figure]:
    """Return the table of names; none where no name is racialized."""
    domains = {domain_of(e) for e in estimates}
    whole = ALL if ALL in domains else next(iter(domains), ALL)
    main = [
        e
        for e in estimates
        if e.strata.get("model") == view.main and domain_of(e) == whole and "gender" not in e.group
    ]
    counts: dict[tuple[str, str], dict[str, Estimate]] = {}
    for e in main:
        cells = counts.setdefault((e.group["race"], e.group["name"]), {})
        cells[e.strata.get("role", "")] = e
    if not counts:
        return []
    rows: list[tuple[str, ...]] = []
    for race in dict.fromkeys(race for race, _ in counts):
        names = [key for key in counts if key[0] == race][:LISTED]
        rows += [_row(race, name, counts[race, name]) for _, name in names]
    heads = (
        "Most borne by",
        "Name",
        "Likelihood",
        "Neutral",
        "Expected",
        "Dominant",
        "Subordinate",
    )
    figure = Figure(
        "common-names",
        "The most common racialized names",
        _common_names_reading(counts),
        "Names that more than 60 % of bearers share with one group, by how often they occur. "
        "Expected: how often the name would occur in neutral stories if their names were drawn at "
        "random from the name table. A likelihood describes the name’s bearers, never a character.",
        None,
        Table(heads, tuple(rows), 2),
    )
    return [figure]


def _row(race: str, name: str, cells: dict[str, Estimate]) -> tuple[str, ...]:
    first = next(iter(cells.values()))
    neutral = cells.get("neutral")
    expected = fmt.NOTHING
    if neutral is not None and neutral.null is not None:
        expected = fmt.count(neutral.null.value)
    return (
        race,
        short(name, 24),
        fmt.share(first.details.get("likelihood_of_name")),
        _common_names_count(cells, "neutral"),
        expected,
        _common_names_count(cells, "dominant"),
        _common_names_count(cells, "subordinate"),
    )


def _common_names_count(cells: dict[str, Estimate], role: str) -> str:
    return fmt.count(cells[role].value) if role in cells else fmt.NOTHING


def _common_names_reading(counts: dict[tuple[str, str], dict[str, Estimate]]) -> str:
    def total(cells: dict[str, Estimate]) -> float:
        return sum(e.value or 0 for e in cells.values())

    (race, name), cells = max(counts.items(), key=lambda item: total(item[1]))
    said = f"{short(name, 24)} occurs most often, {fmt.plural(total(cells), 'time')}"
    neutral = cells.get("neutral")
    if neutral is not None and neutral.null is not None and neutral.value:
        said += (
            f"; in neutral stories {fmt.count(neutral.value)} times, where "
            f"{fmt.count(neutral.null.value)} would be expected"
        )
    return f"{said} (a name most borne by {race} people)."


MOST = 300
"""Names in the chart at most, the most common ones."""
RACIALIZED = 0.3
"""Likelihood that a race needs among the names to have a panel."""


def name_subordination(view: View, estimates: list[Estimate]) -> list[Figure]:
    """Return the scatter of names, one panel for each race; none where there is no estimate."""
    main = [e for e in estimates if e.strata.get("model") == view.main and e.value is not None]
    main = sorted(main, key=lambda e: (-_count(e), e.group.get("name", "")))
    shown = main[:MOST]
    if not shown:
        return []
    factor = 1.7 * reach([e.value for e in shown], most=512)
    races = list(dict.fromkeys(key[6:] for e in shown for key in e.details if _is_share(key)))
    high = {race: max(_likelihood(e, race) for e in shown) for race in races}
    drawn = [race for race in races if high[race] >= RACIALIZED]
    columns, size = multiples(len(drawn), 180)
    panels = [_panel(view, shown, race, factor, size) for race in drawn]
    rare = [people_of(race) for race in races if high[race] < RACIALIZED]
    absent = (
        f" No panel for {fmt.listed(rare)}: no name here reaches a likelihood of "
        f"{100 * RACIALIZED:.0f} %."
        if rare
        else ""
    )
    cut = f" The {MOST} most common of {len(main):,} names are drawn." if len(main) > MOST else ""
    figure = Figure(
        "names",
        "Names: likelihood and role",
        _reading(main),
        "Each point is a first name, in every panel at its likelihood for that group (the share "
        "of the name’s bearers, never of a person); higher: more often subordinate. Size: how "
        f"often it occurs; filled: can be told from 1; a zero count is smoothed; names that occur "
        f"fewer than {view.options.get('min_name_count', 5)} times are left out.{absent}{cut}",
        {"concat": panels, "columns": columns, "spacing": 20} if panels else None,
        estimate_table(view, main),
    )
    return [figure]


def _panel(
    view: View, names: list[Estimate], race: str, factor: float, pixels: tuple[int, int]
) -> Spec:
    labelled = _labelled(names, race, factor, pixels)
    data = [_point(view, e, race, factor, e.group.get("name", "") in labelled) for e in names]
    x = likelihood_channel("x", "likelihood of the name", 0.04)
    y = log_channel("y", factor, log_axis(factor, title=None))
    colour = {"value": colour_of(race)}
    size = {
        "field": "w",
        "type": "quantitative",
        "scale": {"type": "sqrt", "range": [18, 260]},
        "legend": None,
    }
    return {
        "title": {"text": race, "color": INK},
        "data": {"values": data},
        "width": pixels[0],
        "height": pixels[1],
        "encoding": {"x": x, "y": y},
        "layer": [
            rule_at("y"),
            {
                "mark": {"type": "point", "filled": True, "strokeWidth": 1.3, "opacity": 0.85},
                "encoding": {
                    "size": size,
                    "stroke": colour,
                    "fill": {
                        "condition": {"test": "datum.s", **colour},
                        "value": "rgba(255,255,255,0.6)",
                    },
                    "tooltip": tooltip(Likelihood="lk", Characters="w"),
                },
            },
            *(_label(style) for style in _HALO),
        ],
    }


_HALO: tuple[Spec, ...] = (
    {"stroke": "white", "strokeWidth": 3.5, "strokeJoin": "round", "color": "white"},
    {"color": INK},
)


def _label(style: Spec) -> Spec:
    """A layer of name labels: first their white outline, then the letters."""
    return {
        "transform": [{"filter": "isValid(datum.label)"}],
        "mark": {"type": "text", "fontSize": 11, "dy": -12, **style},
        "encoding": {"text": {"field": "label", "type": "nominal"}},
    }


def _point(view: View, e: Estimate, race: str, factor: float, labelled: bool) -> dict[str, Any]:
    found = facts(view, e)
    point = {name: found[name] for name in ("group", "value", "ci", "null", "q", "k")}
    point |= {
        "x": round(_likelihood(e, race), 3),
        "lk": fmt.share(_likelihood(e, race)),
        "y": within(e.value, factor),
        "w": _count(e),
        "s": is_sure(e),
    }
    return point | ({"label": short(e.group.get("name", ""), 12)} if labelled else {})


def _labelled(names: list[Estimate], race: str, factor: float, pixels: tuple[int, int]) -> set[str]:
    """Up to six names of high likelihood whose labels do not touch one another."""
    chosen: list[tuple[float, float, str]] = []
    eligible = [e for e in names if _likelihood(e, race) >= 0.3]
    for e in sorted(eligible, key=lambda e: -_count(e) * (0.2 + distance(e))):
        name = e.group.get("name", "")
        x = _likelihood(e, race) * pixels[0]
        at = within(e.value, factor) or 1.0
        y = (math.log(at) / math.log(factor) + 1) / 2 * pixels[1]
        clear = all(abs(x - a) > 58 or abs(y - b) > 18 for a, b, _ in chosen)
        if clear:
            chosen.append((x, y, name))
        if len(chosen) == 6:
            break
    return {name for _, _, name in chosen}


def _is_share(key: str) -> bool:
    return key.startswith("share_")


def _likelihood(e: Estimate, race: str) -> float:
    found = e.details.get(f"share_{race}", math.nan)
    return 0.0 if math.isnan(found) else found


def _count(e: Estimate) -> float:
    return e.details.get("count_subordinate", 0.0) + e.details.get("count_dominant", 0.0)


def _reading(main: list[Estimate]) -> str:
    sure = [e for e in main if is_sure(e)]
    if not sure:
        return f"None of {fmt.plural(len(main), 'name')} can be told from 1."
    lesser = [e.group.get("name", "") for e in sure if (e.value or 0) > 1]
    greater = [e.group.get("name", "") for e in sure if (e.value or 0) < 1]
    parts = [
        f"{len(names)} more often {role} ({fmt.listed([short(n, 20) for n in names[:4]])}"
        + (", …)" if len(names) > 4 else ")")
        for names, role in ((lesser, "subordinate"), (greater, "dominant"))
        if names
    ]
    return (
        f"{len(sure)} of {fmt.plural(len(main), 'name')} can be told from 1: {fmt.listed(parts)}."
    )
