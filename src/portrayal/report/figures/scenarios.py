"""Who appears in which scenario: shares by occupation, subject or activity."""

from typing import Any

from portrayal.records import Estimate
from portrayal.report import formats as fmt
from portrayal.report.figures.figure import Figure, Spec, estimate_table, facts, tooltip
from portrayal.report.figures.parts import INK
from portrayal.report.figures.ratios import tiled
from portrayal.report.inert import short
from portrayal.report.view import View, domain_of, domains
from portrayal.report.words import column_label, group_words

ROLES = ("neutral", "dominant", "subordinate")
POINTS = ["#2166ac", "#d1e5f0", "#f7f7f7", "#fddbc7", "#b2182b"]
MOST = 60
"""Scenarios of a domain at most."""


def scenario_likelihood(view: View, estimates: list[Estimate]) -> Figure | None:
    """Return the heatmap of shares by scenario and group; None where there is no estimate."""
    main = [e for e in estimates if e.strata.get("model") == view.main]
    if not main:
        return None
    columns = list(dict.fromkeys(column_label(next(iter(e.group.values()))) for e in main))
    present = {e.strata.get("role", "") for e in main if e.value is not None}
    roles = [role for role in ROLES if role in present] or sorted(present)
    if not roles:
        return None
    charts = [
        _domain(view, [e for e in main if domain_of(e) == d], d, columns)
        for d in domains(view, main)
    ]
    spec = tiled(charts)
    if len(roles) > 1:
        bind = {"input": "radio", "options": roles, "name": "Role of the characters: "}
        spec["params"] = [{"name": "role", "value": roles[0], "bind": bind}]
    else:
        spec["params"] = [{"name": "role", "value": roles[0]}]
    outside = [e for e in main if e.strata.get("role") == roles[0] and _differs(e)]
    return Figure(
        "scenarios",
        "Who appears in which scenario",
        _reading(main, outside, roles[0]),
        "Share of each group among the characters of a scenario. Coloured where it lies outside "
        "what characters drawn at random from the whole domain would give (red: more than in the "
        "domain, blue: fewer, in percentage points). One scenario is one prompt: a difference "
        "between scenarios may be one between wordings.",
        spec,
        estimate_table(view, sorted(outside, key=_gap), "domain", "scenario"),
    )


def _domain(view: View, here: list[Estimate], domain: str, columns: list[str]) -> Spec:
    scenarios = list(dict.fromkeys(e.strata.get("scenario", "") for e in here))[:MOST]
    data = [_datum(view, e) for e in here if e.strata.get("scenario", "") in set(scenarios)]
    return {
        "title": short(domain, 40),
        "data": {"values": data},
        "transform": [{"filter": "datum.r === role"}],
        "width": {"step": 54},
        "height": {"step": 20},
        "encoding": {
            "x": {
                "field": "col",
                "type": "nominal",
                "title": None,
                "scale": {"domain": columns},
                "axis": {"orient": "top", "labelAngle": 0},
            },
            "y": {
                "field": "row",
                "type": "nominal",
                "title": None,
                "sort": None,
                "axis": {"labelLimit": 230},
            },
            "tooltip": tooltip(Scenario="row"),
        },
        "layer": _layers(),
    }


def _layers() -> list[Spec]:
    legend = {
        "title": "percentage points from the domain’s share",
        "orient": "top",
        "direction": "horizontal",
        "gradientLength": 260,
        "gradientThickness": 9,
        "offset": 14,
    }
    colour = {
        "condition": {
            "test": "datum.o",
            "field": "g",
            "type": "quantitative",
            "scale": {"domain": [-50, -12, 0, 12, 50], "range": POINTS, "clamp": True},
            "legend": legend,
        },
        "value": "#f2f2f2",
    }
    ink = {"condition": {"test": "datum.o && abs(datum.g) > 38", "value": "white"}, "value": INK}
    return [
        {"mark": {"type": "rect", "stroke": "white"}, "encoding": {"color": colour}},
        {
            "mark": {"type": "text", "fontSize": 11.5},
            "encoding": {"text": {"field": "t", "type": "nominal"}, "color": ink},
        },
    ]


def _datum(view: View, e: Estimate) -> dict[str, Any]:
    found = facts(view, e)
    keep = ("domain", "group", "value", "ci", "null", "n", "why")
    return {name: found[name] for name in keep if name in found} | {
        "row": short(e.strata.get("scenario", ""), 36),
        "col": column_label(next(iter(e.group.values()))),
        "r": e.strata.get("role", ""),
        "t": "–" if e.value is None else f"{100 * e.value:.0f} %",
        "g": round(-_gap(e) if (e.value or 0) >= _null(e) else _gap(e), 1),
        "o": _differs(e),
    }


def _null(e: Estimate) -> float:
    return e.null.value if e.null is not None else (e.value or 0.0)


def _gap(e: Estimate) -> float:
    """Minus the distance from the domain's share in percentage points (largest first)."""
    return -abs(100 * ((e.value or 0.0) - _null(e)))


def _differs(e: Estimate) -> bool:
    if e.value is None or e.null is None:
        return False
    return not e.null.low <= e.value <= e.null.high


def _reading(main: list[Estimate], outside: list[Estimate], role: str) -> str:
    known = [e for e in main if e.strata.get("role") == role and e.value is not None]
    if not outside:
        return f"No share among {len(known)} lies outside what chance within the domain gives."
    far = min(outside, key=_gap)
    group = group_words(far.group)
    return (
        f"{len(outside)} of {len(known)} shares among {role} characters lie outside what chance "
        f"within the domain gives; the furthest: {group} in “"
        f"{short(far.strata.get('scenario', ''), 40)}” "
        f"({fmt.share(far.value)} against {fmt.share(_null(far))})."
    )
