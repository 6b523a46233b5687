"""Ratios as labelled and as corrected by hand labels, side by side."""

import math
from dataclasses import replace

from portrayal.records import Estimate, Interval
from portrayal.report import formats as fmt
from portrayal.report.figures.figure import ROWS, Figure, Spec, Table
from portrayal.report.figures.panels import Axis, dot_by_model, panel
from portrayal.report.figures.parts import reach
from portrayal.report.inert import short
from portrayal.report.view import View, domain_of, domains
from portrayal.report.words import group_label

NAIVE_COLOUR, COLOUR = "#9aa0a6", "#0b6e4f"


def corrected_representation(view: View, estimates: list[Estimate]) -> list[Figure]:
    """Return representation ratios before and after the correction."""
    return _figure(
        view,
        estimates,
        key="corrected-representation",
        title="Who appears, corrected by hand labels",
    )


def corrected_subordination(view: View, estimates: list[Estimate]) -> list[Figure]:
    """Return subordination ratios before and after the correction."""
    return _figure(
        view,
        estimates,
        key="corrected-subordination",
        title="Who depends on whom, corrected by hand labels",
    )


def _figure(
    view: View,
    estimates: list[Estimate],
    *,
    key: str,
    title: str,
) -> list[Figure]:
    main = [e for e in estimates if e.strata.get("model") == view.main]
    if not main:
        return []
    figure = Figure(
        key,
        title,
        _reading(main),
        "Each ratio twice: as the labels of all texts give it (grey), and with the errors of these "
        "labels taken out, as the texts that people labelled by hand show them (green, "
        "prediction-powered). The first interval holds for the labels as they are; the second has "
        "the errors of labelling in it as well, so it is the wider one where few texts were "
        "labelled by hand.",
        _chart(view, [e for e in main if len(e.group) == 1]),
        _table(view, main),
        (("dot naive", "as labelled"), ("dot corrected", "corrected")),
    )
    return [figure]


def naive_interval(e: Estimate) -> Interval | None:
    """Return the interval before the correction; without an upper bound it goes on for ever."""
    if "naive_low" not in e.details or e.null is None:
        return None
    low, high = e.details["naive_low"], e.details.get("naive_high", math.inf)
    return Interval(low, high, e.null.level, "before the correction")


def _chart(view: View, estimates: list[Estimate]) -> Spec | None:
    known = [e for e in estimates if e.value is not None]
    if not known:
        return None
    factor = reach([e.value for e in known] + [e.details.get("naive") for e in known])
    axis = Axis("ratio (log scale)", factor)
    panels = []
    for domain in domains(view, known):
        here = [e for e in known if domain_of(e) == domain]
        rows, data = [], []
        for e in here:
            label = group_label(e.group)
            rows += [label, f"{label} (as labelled)"]
            data.append(dot_by_model(view, e, label, COLOUR, axis))
            data.append(dot_by_model(view, _before(e), rows[-1], NAIVE_COLOUR, axis))
        panels.append(panel(view, data, rows, axis, size=(520, 17), title=domain))
    return {"vconcat": panels}


def _before(e: Estimate) -> Estimate:
    naive = e.details.get("naive")
    return replace(
        e,
        value=naive,
        interval=naive_interval(e),
        tests=(),
        undefined=None if naive is not None else "undefined as labelled",
    )


def _table(view: View, main: list[Estimate]) -> Table:
    rows = tuple(
        (
            short(domain_of(e), 40),
            short(group_label(e.group)),
            fmt.number(e.details.get("naive"), e.statistic),
            fmt.interval(naive_interval(e), e.statistic),
            fmt.number(e.value, e.statistic) if e.value is not None else "undefined",
            fmt.interval(e.interval, e.statistic),
            fmt.count(sum(n for name, n in e.details.items() if name.startswith("n_labelled"))),
            fmt.count(e.n_clusters),
        )
        for e in main[:ROWS]
    )
    interval = f"{fmt.level(view.level)} interval"
    columns = ("Domain", "Group", "As labelled", interval, "Corrected", f"Corrected {interval}")
    more = ("By hand", "Prompts")
    return Table((*columns, *more), rows, 2, max(len(main) - ROWS, 0))


def _reading(main: list[Estimate]) -> str:
    known = [e for e in main if e.value is not None]
    if not known:
        return "Nothing could be corrected: there are too few hand labels."
    both = [(e, bounds) for e in known if (bounds := e.interval) and "naive" in e.details]
    outside = [e for e, bounds in both if not bounds.low <= e.details["naive"] <= bounds.high]
    told = len(outside) or "none"
    return (
        f"Of {fmt.plural(len(both), 'ratio')} with an interval, {told} "
        f"{'lies' if len(outside) == 1 else 'lie'}, as labelled, outside the corrected interval."
    )
