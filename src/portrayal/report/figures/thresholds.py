"""Fig. 3b: the subordination ratio of names above a rising threshold of likelihood."""

from typing import Any

from portrayal.records import Estimate
from portrayal.report import formats as fmt
from portrayal.report.figures.figure import Figure, Spec, estimate_table, facts, tooltip
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
    rule_at_one,
    within,
)
from portrayal.report.figures.subordination import colour_of
from portrayal.report.view import View, is_sure
from portrayal.report.words import people_of


def threshold_subordination(view: View, estimates: list[Estimate]) -> Figure | None:
    """Return the curves, one panel for each race; None where there is no estimate."""
    main = [e for e in estimates if e.strata.get("model") == view.main]
    known = [e for e in main if e.value]
    if not known:
        return None
    factor = reach([e.value for e in known], most=128)
    races = list(dict.fromkeys(e.group["race"] for e in main))
    shown = [r for r in races if _highest(known, r) >= 0.2]
    gone = [people_of(r) for r in races if r not in shown]
    columns, size = multiples(len(shown), 150)
    panels = [_panel(view, estimates, race, factor, size) for race in shown]
    absent = f" No curve for {fmt.listed(gone)}: no such names." if gone else ""
    grey = "; thin grey lines: each model" if len(view.models) > 1 else ""
    return Figure(
        "thresholds",
        "Names above a threshold",
        _reading(known, shown),
        "Subordination ratio of the characters whose name’s likelihood for a group exceeds the "
        "threshold, domains together. Band in colour: clustered interval; pale blue: roles swapped "
        f"at random{grey}. A line ends where no dominant character is left above the threshold."
        f"{absent}",
        {"concat": panels, "columns": columns, "spacing": 20} if panels else None,
        estimate_table(view, [e for e in main if e.group["threshold"][-1] == "0"]),
    )


def _panel(
    view: View, estimates: list[Estimate], race: str, factor: float, pixels: tuple[int, int]
) -> Spec:
    data = [_datum(view, e, factor) for e in estimates if e.group["race"] == race and e.value]
    return {
        "title": {"text": race, "color": INK},
        "data": {"values": data},
        "width": pixels[0],
        "height": pixels[1],
        "layer": _layers(colour_of(race), factor),
    }


def _layers(colour: str, factor: float) -> list[Spec]:
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
        rule_at_one("y"),
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


def _datum(view: View, e: Estimate, factor: float) -> dict[str, Any]:
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


def _reading(known: list[Estimate], races: list[str]) -> str:
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
