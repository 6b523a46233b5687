"""Fig. 3b: the subordination ratio of names above a rising threshold of likelihood."""

from typing import Any

from portrayal.records import Estimate
from portrayal.report import formats as fmt
from portrayal.report.figures.figure import Figure, Spec, Table, estimate_table, facts, tooltip
from portrayal.report.figures.heat import cell, published_cell, ratio_heat
from portrayal.report.figures.parts import (
    BAND,
    INK,
    PUBLISHED,
    kept,
    likelihood_channel,
    log_axis,
    log_channel,
    multiples,
    reach,
    rule_at,
    tiled,
    within,
)
from portrayal.report.findings import distance
from portrayal.report.view import View, domain_of, domains, is_sure
from portrayal.report.words import GENDER_LABELS, group_label, people_of
from portrayal.studies.laissez_faire.report.ratios import NOTE, colour_of, published_ratios

LIMIT = 4.0
"""log2 of the ratio at which the colours end: one sixteenth, and sixteen times."""


def median_racialized(view: View, estimates: list[Estimate]) -> list[Figure]:
    """Return the heatmap of median racialized ratios; none where there is no estimate."""
    known = [e for e in estimates if e.value is not None]
    main = [e for e in estimates if e.strata.get("model") == view.main]
    if not main:
        return []
    races = list(dict.fromkeys(e.group["race"] for e in estimates))
    genders = list(dict.fromkeys(e.group["gender"] for e in known))
    legend = "times as common in the subordinate role"
    charts: list[Spec] = []
    for domain in domains(view, estimates):
        defined = {e.group["gender"] for e in known if domain_of(e) == domain}
        row: list[Spec] = []
        for gender in (g for g in genders if g in defined):
            cells = [
                cell(view, e, e.group["race"], LIMIT)
                for e in estimates
                if domain_of(e) == domain and e.group["gender"] == gender
            ]
            cells += [
                published_cell(row, row.group[0][1])
                for row in published_ratios("median_racialized_subordination")
                if row.domain == domain and row.group[1][1] == gender
            ]
            title = f"{domain}, {GENDER_LABELS.get(gender, gender).lower()}"
            first = len(row) % 2 == 0
            row.append(
                ratio_heat(
                    view,
                    cells,
                    races,
                    title=title,
                    limit=LIMIT,
                    legend=legend,
                    width=47,
                    labels=first,
                )
            )
        charts += [tiled(row, 2, 20)] if row else []
    figure = Figure(
        "median-racialized",
        "The more racialized the name: median ratios",
        _median_racialized_reading(main),
        "Within one gender, names whose likelihood for a race exceeds a threshold: how much more "
        "common they are in the subordinate than in the dominant role, as the median over "
        "thresholds from 1 % to 100 %. Grey cell: not distinguishable from 1; dashed and empty: "
        f"undefined, the tooltip says why. {NOTE}",
        tiled(charts) if charts else None,
        estimate_table(view, main, "domain"),
    )
    return [figure]


def _median_racialized_reading(main: list[Estimate]) -> str:
    known = [e for e in main if e.value is not None]
    sure = [e for e in known if is_sure(e)]
    if not known:
        return "No median is defined."
    if not sure:
        return (
            f"None of the {len(known)} medians can be told from 1 once all tests are allowed for."
        )
    above = sum((e.value or 0) > 1 for e in sure)
    far = max(sure, key=distance)
    return (
        f"{len(sure)} of {len(known)} medians can be told from 1, {above} of them above it; "
        f"the furthest is {fmt.ratio(far.value)} ({group_label(far.group)}, "
        f"{domain_of(far)})."
    )


def threshold_subordination(view: View, estimates: list[Estimate]) -> list[Figure]:
    """Return the curves, one panel for each race; none where there is no estimate."""
    main = [e for e in estimates if e.strata.get("model") == view.main]
    known = [e for e in main if e.value]
    if not known:
        return []
    factor = reach([e.value for e in known], most=128)
    races = list(dict.fromkeys(e.group["race"] for e in main))
    shown = [r for r in races if _highest(known, r) >= 0.2]
    gone = [people_of(r) for r in races if r not in shown]
    columns, size = multiples(len(shown), 150)
    panels = [_thresholds_panel(view, estimates, race, factor, size) for race in shown]
    absent = f" No curve for {fmt.listed(gone)}: no such names." if gone else ""
    grey = "; thin grey lines: each model" if len(view.models) > 1 else ""
    figure = Figure(
        "thresholds",
        "Names above a threshold",
        _thresholds_reading(known, shown),
        "Subordination ratio of the characters whose name’s likelihood for a group exceeds the "
        "threshold, domains together. Band in colour: clustered interval; pale blue: roles swapped "
        f"at random{grey}. A line ends where no dominant character is left above the threshold."
        f"{absent}",
        {"concat": panels, "columns": columns, "spacing": 20} if panels else None,
        estimate_table(view, [e for e in main if e.group["threshold"][-1] == "0"]),
    )
    return [figure]


def _thresholds_panel(
    view: View, estimates: list[Estimate], race: str, factor: float, pixels: tuple[int, int]
) -> Spec:
    data = [
        _thresholds_datum(view, e, factor) for e in estimates if e.group["race"] == race and e.value
    ]
    return {
        "title": {"text": race, "color": INK},
        "data": {"values": data},
        "width": pixels[0],
        "height": pixels[1],
        "layer": _thresholds_layers(colour_of(race), factor),
    }


def _thresholds_layers(colour: str, factor: float) -> list[Spec]:
    x = likelihood_channel("t", "likelihood above")
    axis = log_axis(factor, title=None)

    def y(field: str) -> Spec:
        return {"x": x, "y": log_channel(field, factor, axis)}

    points = {"size": 22, "filled": True, "color": colour}
    return [
        kept(
            {"type": "area", "color": BAND},
            "datum.main && isValid(datum.nl)",
            {**y("nl"), "y2": {"field": "nh"}},
        ),
        rule_at("y"),
        kept(
            {"type": "area", "color": colour, "opacity": 0.18},
            "datum.main && isValid(datum.lo)",
            {**y("lo"), "y2": {"field": "hi"}},
        ),
        kept(
            {"type": "line", "color": PUBLISHED, "strokeWidth": 0.9, "opacity": 0.8},
            "!datum.main",
            {**y("v"), "detail": {"field": "model"}},
        ),
        kept(
            {"type": "line", "color": colour, "strokeWidth": 2, "point": points},
            "datum.main",
            {**y("v"), "tooltip": tooltip()},
        ),
    ]


def _thresholds_datum(view: View, e: Estimate, factor: float) -> dict[str, Any]:
    is_main = e.strata.get("model") == view.main
    found: dict[str, Any] = {
        "t": float(e.group["threshold"]),
        "v": within(e.value, factor),
        "main": is_main,
        "model": facts(view, e)["model"],
    }
    if not is_main:
        return found
    if e.interval is not None:
        found |= {"lo": within(e.interval.low, factor), "hi": within(e.interval.high, factor)}
    if e.null is not None:
        found |= {"nl": within(e.null.low, factor), "nh": within(e.null.high, factor)}
    return facts(view, e) | found


def _highest(known: list[Estimate], race: str) -> float:
    return max((float(e.group["threshold"]) for e in known if e.group["race"] == race), default=0.0)


def _thresholds_reading(known: list[Estimate], races: list[str]) -> str:
    rises = []
    for race in races:
        sure = [e for e in known if e.group["race"] == race and is_sure(e)]
        if sure:
            last = max(sure, key=lambda e: float(e.group["threshold"]))
            rises.append(
                f"{race} {fmt.ratio(last.value)} above {100 * float(last.group['threshold']):.0f} %"
            )
    if not rises:
        return "At no threshold can a ratio be told from 1."
    return f"At the highest threshold where it can be told from 1: {fmt.listed(rises)}."


OMITTED = ("NH/PI", "AI/AN")
"""Groups whose names Fig. 1c shows."""
HIGH = 0.5
_FLOOR = 0.6


def likelihood_histogram(view: View, estimates: list[Estimate]) -> list[Figure]:
    """Return the histograms of the paper; none where there is no estimate."""
    main = [e for e in estimates if e.strata.get("model") == view.main and e.value is not None]
    everyone = [e for e in main if "gender" not in e.group]
    if not everyone:
        return []
    races = [r for r in OMITTED if any(e.group["race"] == r for e in everyone)]
    races = races or list(dict.fromkeys(e.group["race"] for e in everyone))[:2]
    charts: list[Spec] = [_group("All characters", [_of(everyone, r) for r in races])]
    binary = [e for e in main if e.group.get("gender") == "NB"]
    any_nb = sum(e.value or 0 for e in binary if e.group["race"] == binary[0].group["race"])
    if binary and any_nb:
        kinds = list(dict.fromkeys(e.group["race"] for e in binary))
        charts.append(_group("Non-binary characters alone", [_of(binary, r) for r in kinds]))
    none = "" if any_nb else " No non-binary character with a matched name occurs."
    figure = Figure(
        "likelihoods",
        "How racialized the names are",
        " ".join(_reading(everyone, race) for race in races),
        "Characters of power-neutral stories by the likelihood of their first name (share of the "
        "name’s bearers). Bars: counted, on a log scale; dark line: expected if names were drawn "
        f"at random from the name table, with its range.{none}",
        {"vconcat": charts, "spacing": 20},
        _table(everyone),
        (("bar", "characters counted"), ("line", "expected from the name table")),
    )
    return [figure]


def _of(estimates: list[Estimate], race: str) -> list[Estimate]:
    return [e for e in estimates if e.group["race"] == race]


def _group(title: str, panels: list[list[Estimate]]) -> Spec:
    top = 1.6 * max(max(e.value or 0, e.null.value if e.null else 0) for p in panels for e in p)
    wide = len(panels) <= 2
    return {
        "title": title,
        "concat": [_panel(p, top, (330, 120) if wide else (158, 90)) for p in panels],
        "columns": 2 if wide else 4,
        "spacing": 16,
    }


def _panel(bins: list[Estimate], top: float, size: tuple[int, int]) -> Spec:
    race = bins[0].group["race"]
    return {
        "title": {"text": race, "fontSize": 12},
        "data": {"values": [_datum(e) for e in bins]},
        "width": size[0],
        "height": size[1],
        "layer": _layers(colour_of(race), max(top, 10)),
    }


def _layers(colour: str, top: float) -> list[Spec]:
    values = [10**k for k in range(7) if 10**k <= top * 0.8]

    def y(field: str) -> Spec:
        return {
            "field": field,
            "type": "quantitative",
            "scale": {"type": "log", "domain": [_FLOOR, top], "clamp": True, "nice": False},
            "axis": {"values": values, "grid": True, "gridColor": "#eeeeee", "format": "~s"},
            "title": None,
        }

    wide = {"x": likelihood_channel("a"), "x2": {"field": "b"}, "tooltip": tooltip()}
    expected = f"datum.e > {_FLOOR}"
    return [
        kept(
            {"type": "rect", "color": colour, "stroke": "white"},
            "datum.v > 0",
            {**wide, "y": y("v"), "y2": {"datum": _FLOOR}},
        ),
        kept({"type": "rule", "color": INK, "strokeWidth": 1.6}, expected, {**wide, "y": y("e")}),
        kept(
            {"type": "rule", "color": INK, "strokeWidth": 0.8, "opacity": 0.6},
            expected,
            {"x": likelihood_channel("mid"), "y": y("el"), "y2": {"field": "eh"}},
        ),
    ]


def _datum(e: Estimate) -> dict[str, Any]:
    low, high = _edges(e)
    found: dict[str, Any] = {
        "a": low,
        "b": high,
        "mid": (low + high) / 2,
        "v": e.value,
        "group": f"{e.group['race']}, {100 * low:.0f}–{100 * high:.0f} %",
        "value": fmt.count(e.value),
        "ci": fmt.interval(e.interval, "count"),
        "null": fmt.interval(e.null, "count"),
        "n": fmt.plural(e.n_units, "character"),
    }
    if e.null is not None:
        found |= {"e": e.null.value, "el": max(e.null.low, _FLOOR), "eh": e.null.high}
    return found


def _edges(e: Estimate) -> tuple[float, float]:
    low, _, high = e.group["likelihood"].partition("–")
    return float(low), float(high)


def _reading(everyone: list[Estimate], race: str) -> str:
    bins = _of(everyone, race)
    above = [e for e in bins if _edges(e)[0] >= HIGH]
    counted = sum(e.value or 0 for e in above)
    who = "No character" if counted == 0 else fmt.plural(counted, "character")
    verb = "bears" if counted in (0, 1) else "bear"
    return (
        f"{who} of {fmt.count(bins[0].n_units)} {verb} a name above {100 * HIGH:.0f} % likelihood "
        f"for {people_of(race)}."
    )


def _table(everyone: list[Estimate]) -> Table:
    rows = [
        (
            e.group["race"],
            f"{100 * _edges(e)[0]:.0f}–{100 * _edges(e)[1]:.0f} %",
            fmt.count(e.value),
            fmt.interval(e.interval, "count"),
            fmt.count(e.null.value) if e.null else fmt.NOTHING,
        )
        for e in everyone
        if e.value or (e.null and e.null.value >= 0.5)
    ]
    return Table(("Group", "Likelihood", "Characters", "Interval", "Expected"), tuple(rows), 2)
