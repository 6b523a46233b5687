"""Names by threshold: median racialized ratios, and Fig. 3b's ratios above a rising threshold."""

from collections.abc import Iterator
from typing import Any

import portrayal.report.formats as fmt
from portrayal.records import Estimate
from portrayal.report.figures.figure import Figure, Spec, estimate_table, facts, tooltip
from portrayal.report.figures.heat import ratio_heat
from portrayal.report.figures.panels import (
    BAND,
    INK,
    PUBLISHED,
    kept,
    likelihood_channel,
    log_channel,
    multiples,
    reach,
    rule_at,
    tiled,
    within,
)
from portrayal.report.findings import distance
from portrayal.report.view import View, domain_of, domains, is_sure
from portrayal.report.words import GENDER_LABELS, borne, group_label, people_of
from portrayal.studies.laissez_faire.report.ratios import colour_of, note, published_ratios

LIMIT = 4.0
"""log2 of the ratio at which the colours end: one sixteenth, and sixteen times."""


def median_racialized(view: View, estimates: list[Estimate]) -> Iterator[Figure]:
    """Yield the heatmap of median racialized ratios, one for each domain and gender."""
    known = [e for e in estimates if e.value is not None]
    main = view.only_main(estimates)
    if not main:
        return
    races = list(dict.fromkeys(borne(e.group) for e in estimates))
    genders = dict.fromkeys(e.group["gender"] for e in known)
    charts: list[Spec] = []
    for domain in domains(view, estimates):
        defined = {e.group["gender"] for e in known if domain_of(e) == domain}
        row = [
            ratio_heat(
                view,
                [e for e in estimates if domain_of(e) == domain and e.group["gender"] == gender],
                races,
                borne,
                printed=[
                    row
                    for row in published_ratios(view, "median_racialized_subordination")
                    if row.domain == domain and row.group[1][1] == gender
                ],
                title=f"{domain}, {GENDER_LABELS.get(gender, gender).lower()}",
                limit=LIMIT,
                legend="times as common in the subordinate role",
                width=47,
                labels=i % 2 == 0,
            )
            for i, gender in enumerate(g for g in genders if g in defined)
        ]
        charts += [tiled(row, 2, 20)] if row else []
    yield Figure(
        "median-racialized",
        "The more racialized the name: median ratios",
        _median_racialized_reading(main),
        "Within one gender, names whose likelihood for a race exceeds a threshold: how much more "
        "common they are in the subordinate than in the dominant role, as the median over "
        "thresholds from 1 % to 100 %. Grey cell: not distinguishable from 1; dashed and empty: "
        f"undefined, the tooltip says why.{note(view)}",
        tiled(charts) if charts else None,
        estimate_table(view, main, "domain"),
    )


def _median_racialized_reading(main: list[Estimate]) -> str:
    known = [e for e in main if e.value is not None]
    sure = [e for e in known if is_sure(e)]
    if not known:
        return "No median is defined."
    if not sure:
        said = f"None of the {len(known)} medians can be told from 1"
        return f"{said} once all tests are allowed for."
    above = sum((e.value or 0) > 1 for e in sure)
    far = max(sure, key=distance)
    return (
        f"{len(sure)} of {len(known)} medians can be told from 1, {above} of them above it; "
        f"the furthest is {fmt.ratio(far.value)} ({group_label(far.group)}, "
        f"{domain_of(far)})."
    )


def threshold_subordination(view: View, estimates: list[Estimate]) -> Iterator[Figure]:
    """Yield the curves, one panel for each race."""
    main = view.only_main(estimates)
    known = [e for e in main if e.value]
    if not known:
        return
    factor = reach([e.value for e in known], most=128)
    races = list(dict.fromkeys(borne(e.group) for e in main))
    shown = [r for r in races if _highest(known, r) >= 0.2]
    gone = [people_of(r) for r in races if r not in shown]
    columns, size = multiples(len(shown), 150)
    panels = [_thresholds_panel(view, estimates, race, factor, size) for race in shown]
    absent = f" No curve for {fmt.listed(gone)}: no such names." if gone else ""
    grey = "; thin grey lines: each model" if len(view.models) > 1 else ""
    yield Figure(
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


def _thresholds_panel(
    view: View, estimates: list[Estimate], race: str, factor: float, pixels: tuple[int, int]
) -> Spec:
    data = [
        _thresholds_datum(view, e, factor) for e in estimates if borne(e.group) == race and e.value
    ]
    return {
        "title": {"text": race, "color": INK},
        "data": {"values": data},
        "width": pixels[0],
        "height": pixels[1],
        "layer": _thresholds_layers(colour_of(race), factor),
    }


def _thresholds_layers(colour: str, factor: float) -> list[Spec]:
    def layer(mark: Spec, test: str, field: str, more: Spec) -> Spec:
        x = likelihood_channel("t", "likelihood above")
        return kept(mark, test, {"x": x, "y": log_channel(field, factor), **more})

    own = {"type": "area", "color": colour, "opacity": 0.18}
    grey = {"type": "line", "color": PUBLISHED, "strokeWidth": 0.9, "opacity": 0.8}
    points = {"size": 22, "filled": True, "color": colour}
    line = {"type": "line", "color": colour, "strokeWidth": 2, "point": points}
    band, to = {"type": "area", "color": BAND}, "datum.main && isValid"
    return [
        layer(band, f"{to}(datum.nl)", "nl", {"y2": {"field": "nh"}}),
        rule_at("y"),
        layer(own, f"{to}(datum.lo)", "lo", {"y2": {"field": "hi"}}),
        layer(grey, "!datum.main", "v", {"detail": {"field": "model"}}),
        layer(line, "datum.main", "v", {"tooltip": tooltip()}),
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
    for bounds, low, high in ((e.interval, "lo", "hi"), (e.null, "nl", "nh")):
        if bounds is not None:
            found |= {low: within(bounds.low, factor), high: within(bounds.high, factor)}
    return facts(view, e) | found


def _highest(known: list[Estimate], race: str) -> float:
    return max((float(e.group["threshold"]) for e in known if borne(e.group) == race), default=0.0)


def _thresholds_reading(known: list[Estimate], races: list[str]) -> str:
    rises = []
    for race in races:
        sure = [e for e in known if borne(e.group) == race and is_sure(e)]
        if sure:
            last = max(sure, key=lambda e: float(e.group["threshold"]))
            rises.append(
                f"{race} {fmt.ratio(last.value)} above {100 * float(last.group['threshold']):.0f} %"
            )
    if not rises:
        return "At no threshold can a ratio be told from 1."
    return f"At the highest threshold where it can be told from 1: {fmt.listed(rises)}."
