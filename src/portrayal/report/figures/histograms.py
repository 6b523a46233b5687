"""Fig. 1c, d: how many characters bear names of each likelihood."""

from typing import Any

from portrayal.records import Estimate
from portrayal.report import formats as fmt
from portrayal.report.figures.figure import Figure, Spec, Table, tooltip
from portrayal.report.figures.parts import INK, kept, likelihood_channel
from portrayal.report.figures.subordination import colour_of
from portrayal.report.view import View
from portrayal.report.words import people_of

OMITTED = ("NH/PI", "AI/AN")
"""Groups whose names Fig. 1c shows."""
HIGH = 0.5
_FLOOR = 0.6


def likelihood_histogram(view: View, estimates: list[Estimate]) -> Figure | None:
    """Return the histograms of the paper; None where there is no estimate."""
    main = [e for e in estimates if e.strata.get("model") == view.main and e.value is not None]
    everyone = [e for e in main if "gender" not in e.group]
    if not everyone:
        return None
    races = [r for r in OMITTED if any(e.group["race"] == r for e in everyone)]
    races = races or list(dict.fromkeys(e.group["race"] for e in everyone))[:2]
    charts: list[Spec] = [_group("All characters", [_of(everyone, r) for r in races])]
    binary = [e for e in main if e.group.get("gender") == "NB"]
    any_nb = sum(e.value or 0 for e in binary if e.group["race"] == binary[0].group["race"])
    if binary and any_nb:
        kinds = list(dict.fromkeys(e.group["race"] for e in binary))
        charts.append(_group("Non-binary characters alone", [_of(binary, r) for r in kinds]))
    none = "" if any_nb else " No non-binary character with a matched name occurs."
    return Figure(
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
