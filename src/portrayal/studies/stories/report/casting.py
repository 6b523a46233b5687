"""Who appears in which scenario: shares by occupation, subject or activity."""

import math
from collections.abc import Iterator
from typing import Any

import portrayal.report.formats as fmt
from portrayal.records import Estimate
from portrayal.report.figures.figure import Figure, Spec, estimate_table, facts, tooltip
from portrayal.report.figures.heat import heat
from portrayal.report.figures.panels import INK, tiled
from portrayal.report.formats import short
from portrayal.report.view import SURE, View, domain_of, domains, q_of
from portrayal.report.words import column_label, group_words

LIMIT = 2.0
"""log2 of the asymmetry at which the colours end: a quarter, and four times."""


def pair_roles(view: View, estimates: list[Estimate]) -> Iterator[Figure]:
    """Yield the matrices by gender and by race."""
    main = view.only_main(estimates)
    if not main:
        return
    known = [e for e in main if e.value is not None]
    named = (next(iter(e.group)) for e in known)
    pairs = dict.fromkeys(n.removeprefix("dominant_") for n in named if n.startswith("dominant_"))
    attributes = {each: 58.0 if each == "gender" else 43.0 for each in pairs}
    rows = [
        _matrices(view, [e for e in main if f"dominant_{attribute}" in e.group], attribute, width)
        for attribute, width in attributes.items()
    ]
    yield Figure(
        "who-over-whom",
        "Who stands over whom",
        _pair_roles_reading(main),
        "Rows: the dominant group; columns: the subordinate one; number: share of the stories with "
        "both known (races count fractionally, by the bearers of both names). Red: more often this "
        "way round than the reverse; blue: less often; grey: cannot be told from an even split, or "
        "the diagonal.",
        tiled(rows) if rows else None,
        estimate_table(view, known, "domain"),
    )


def _matrices(view: View, mine: list[Estimate], attribute: str, width: float) -> Spec:
    labels = list(dict.fromkeys(column_label(e.group[f"dominant_{attribute}"]) for e in mine))
    charts = [
        heat(
            [_cell(view, e, attribute) for e in mine if domain_of(e) == domain],
            labels,
            labels,
            title=domain,
            limit=LIMIT,
            legend="times as often as the reverse",
            cell=(width, 26.0),
        )
        for domain in domains(view, mine)
    ]
    return tiled(charts, 3, 24)


def _cell(view: View, e: Estimate, attribute: str) -> dict[str, Any]:
    above, below = e.group[f"dominant_{attribute}"], e.group[f"subordinate_{attribute}"]
    there, back = e.details.get("count", 0.0), e.details.get("count_reversed", 0.0)
    lean = math.log2(there / back) if there > 0 and back > 0 else LIMIT if there else -LIMIT
    kind = "undefined" if e.value is None else "sure" if _is_asymmetric(e) else "unsure"
    return {
        **facts(view, e),
        "group": f"{column_label(above)} over {column_label(below)}",
        "row": column_label(above),
        "col": column_label(below),
        "l": max(-LIMIT, min(LIMIT, lean)),
        "t": " " if e.value is None else _percent(e.value),
        "c": kind,
    }


def _percent(share: float) -> str:
    return "<1 %" if 0 < share < 0.005 else f"{100 * share:.0f} %"


def _is_asymmetric(e: Estimate) -> bool:
    """Whether one way round is told from the other: q, and outside the coin's range."""
    q = q_of(e)
    return q is not None and q < SURE and _differs(e)


def _pair_roles_reading(main: list[Estimate]) -> str:
    sure = [e for e in main if _is_asymmetric(e) and (e.value or 0) > _reverse(e)]
    tested = [e for e in main if e.tests and e.value is not None]
    if not sure:
        return f"None of {len(tested) // 2} pairs leans one way round beyond chance."
    far = max(sure, key=lambda e: (e.value or 0) - _reverse(e))
    above, below = map(column_label, far.group.values())
    return (
        f"{len(sure)} of {len(tested) // 2} pairs lean one way round; the widest is {above} over "
        f"{below} in {domain_of(far)}: {fmt.share(far.value)} of stories, and "
        f"{fmt.share(_reverse(far))} the other way round."
    )


def _reverse(e: Estimate) -> float:
    return e.details.get("count_reversed", 0.0) / e.n_units if e.n_units else 0.0


ROLES = ("neutral", "dominant", "subordinate")
POINTS = ["#2166ac", "#d1e5f0", "#f7f7f7", "#fddbc7", "#b2182b"]
MOST = 60
"""Scenarios of a domain at most."""


def scenario_likelihood(view: View, estimates: list[Estimate]) -> Iterator[Figure]:
    """Yield a heatmap of shares by scenario and group for each role."""
    main = view.only_main(estimates)
    columns = list(dict.fromkeys(column_label(next(iter(e.group.values()))) for e in main))
    present = {e.strata.get("role", "") for e in main if e.value is not None}
    roles = [role for role in ROLES if role in present] or sorted(present)
    if not roles:
        return
    for role in roles:
        here = [e for e in main if e.strata.get("role", "") == role]
        outside = [e for e in here if _differs(e)]
        yield Figure(
            f"scenarios-{role}".rstrip("-"),
            "Who appears in which scenario" + (f": {role} roles" if role else ""),
            _reading(main, outside, role),
            "Share of each group among the characters of a scenario. Coloured where it lies "
            "outside what characters drawn at random from the whole domain would give (red: more "
            "than in the domain, blue: fewer, in percentage points). One scenario is one prompt: "
            "a difference between scenarios may be one between wordings.",
            tiled([_domain(view, here, domain, columns) for domain in domains(view, here)]),
            estimate_table(view, sorted(outside, key=_gap), "domain", "scenario"),
        )


def _domain(view: View, main: list[Estimate], domain: str, columns: list[str]) -> Spec:
    here = [e for e in main if domain_of(e) == domain]
    scenarios = list(dict.fromkeys(e.strata.get("scenario", "") for e in here))[:MOST]
    data = [_datum(view, e) for e in here if e.strata.get("scenario", "") in scenarios]
    axis = {"orient": "top", "labelAngle": 0}
    nominal = {"type": "nominal", "title": None}
    return {
        "title": short(domain, 40),
        "data": {"values": data},
        "width": {"step": 54},
        "height": {"step": 20},
        "encoding": {
            "x": {"field": "col", **nominal, "scale": {"domain": columns}, "axis": axis},
            "y": {"field": "row", **nominal, "sort": None, "axis": {"labelLimit": 230}},
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
    sure = {
        "test": "datum.o",
        "field": "g",
        "type": "quantitative",
        "scale": {"domain": [-50, -12, 0, 12, 50], "range": POINTS, "clamp": True},
        "legend": legend,
    }
    colour = {"condition": sure, "value": "#f2f2f2"}
    ink = {"condition": {"test": "datum.o && abs(datum.g) > 38", "value": "white"}, "value": INK}
    text = {"text": {"field": "t", "type": "nominal"}, "color": ink}
    return [
        {"mark": {"type": "rect", "stroke": "white"}, "encoding": {"color": colour}},
        {"mark": {"type": "text", "fontSize": 11.5}, "encoding": text},
    ]


def _datum(view: View, e: Estimate) -> dict[str, Any]:
    found = facts(view, e)
    keep = ("domain", "group", "value", "ci", "null", "n", "why")
    return {name: found[name] for name in keep if name in found} | {
        "row": short(e.strata.get("scenario", ""), 36),
        "col": column_label(next(iter(e.group.values()))),
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
