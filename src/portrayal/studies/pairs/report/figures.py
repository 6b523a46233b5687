"""Figures: differences by score, model and part; means of the groups; spread of single pairs."""

from collections.abc import Iterator
from math import isnan
from typing import Any

import numpy as np

import portrayal.report.formats as fmt
from portrayal.measure.matched import MatchedSets
from portrayal.measure.matched.differences import contrasts, within_sets
from portrayal.measure.matched.sets import REFUSED
from portrayal.records import ALL, Estimate
from portrayal.report.figures.figure import Figure, Spec, Table, chart, tooltip
from portrayal.report.figures.panels import OWN, in_lines, panel, rule_at
from portrayal.report.formats import short
from portrayal.report.view import View, is_sure
from portrayal.report.words import colour_class, colour_of_group
from portrayal.studies.pairs.report.series import (
    FIGURES,
    STANDARD,
    called,
    contrast,
    datum,
    differences,
    drawable,
    heads,
    leading,
    score_of,
    sets_of,
    shelves,
    size,
    unit_of,
    written,
)
from portrayal.types import BoolArray, FloatArray

LEADING = 6
"""Differences whose parts and single pairs are drawn."""
BINS = 24
ACROSS = 3
"""Panels beside one another."""


def pair_figures(view: View, _: list[Estimate]) -> Iterator[Figure]:
    """Yield the figures of differences within pairs."""
    every, named = differences(view), heads(view)
    first = [e for e in leading(view, LEADING) if drawable(e)]
    yield _by_score(view, every, named)
    if any(e.strata["part"] != ALL for e in view.estimates):
        yield _by_part(view, first, named)
    every_set = sets_of(view)
    if every_set is not None:
        yield _means(view, every_set, [e for e in every if drawable(e)])
        yield _distribution(every_set, first, named)


def _by_score(view: View, every: list[Estimate], named: dict[str, Any]) -> Figure:
    """All scores on one axis, a panel for each model and contrast."""
    known = [e for e in every if drawable(e)]
    rows = list(dict.fromkeys(e.strata["score"] for e in known))
    places = list(dict.fromkeys((contrast(e), e.strata["model"]) for e in known))
    columns = min(len(places), 4)
    width = {1: 440, 2: 280, 3: 190}.get(columns, 145)
    panels = []
    for i, (pair, model) in enumerate(places):
        here = [e for e in known if (contrast(e), e.strata["model"]) == (pair, model)]
        title = f"{model}: {pair}" if named["groups"] else model
        data = [datum(view, e, e.strata["score"]) for e in here]
        own = panel(view, data, rows, STANDARD, size=(width, 22), labels=i % columns == 0)
        panels.append(_titled(own, title, width))
    sure = sorted(filter(is_sure, known), key=size, reverse=True)
    said = "; ".join(called(e) for e in sure[:4])
    said += f"; and {len(sure) - 4} more" if sure[4:] else ""
    return FIGURES.figure(
        "differences",
        view,
        every,
        _one_title(shelves(panels, columns)) if panels else None,
        counted=fmt.plural(len(known), "difference"),
        sure=len(sure),
        named=f": {said}" if sure else "",
        **named,
    )


def _titled(spec: Spec, title: str, width: float) -> Spec:
    return spec | {"title": {"text": in_lines(short(title, 60), max(width, 110)), "fontSize": 13}}


def _one_title(spec: Spec) -> Spec:
    """Panels whose axes have short titles: the note under the chart says what they are of."""
    for row in spec["vconcat"]:
        for each in row["hconcat"]:
            for layer in each["layer"]:
                x = layer.get("encoding", {}).get("x")
                if isinstance(x, dict) and x.get("title"):
                    x["title"], x["axis"] = "SD", x["axis"] | {"tickCount": 3}
    return spec


def _by_part(view: View, first: list[Estimate], named: dict[str, Any]) -> Figure:
    """The leading differences, whole and in each part."""
    panels, rows_of_table, same, n = [], [], 0, 0
    parts = list(dict.fromkeys(e.strata["part"] for e in view.estimates if "part" in e.strata))
    columns = sorted({part.partition(" = ")[0] for part in parts if part != ALL})
    for i, e in enumerate(first):
        beside = [
            other
            for part in parts
            for other in differences(view, part)
            if drawable(other)
            and other.group == e.group
            and all(other.strata[name] == e.strata[name] for name in ("model", "score"))
        ]
        rows_of_table += beside
        others = [other for other in beside if other.strata["part"] != ALL]
        n += len(others)
        same += sum((other.value or 0.0) * (e.value or 0.0) > 0 for other in others)
        data = [datum(view, other, _part(other.strata["part"])) for other in beside]
        rows = [_part(part) for part in parts]
        own = panel(view, data, rows, STANDARD, size=(190, 20), labels=i % ACROSS == 0)
        panels.append(_titled(own, called(e), 190))
    return FIGURES.figure(
        "parts",
        view,
        rows_of_table,
        _one_title(shelves(panels, ACROSS)) if panels else None,
        columns=fmt.listed([short(name, 40) for name in columns]),
        same=same,
        n=n,
        **named,
    )


def _part(part: str) -> str:
    return "all pairs" if part == ALL else short(part, 30)


def values_of(every: MatchedSets, score: str) -> tuple[FloatArray, str]:
    """Return a score of each half, shape (n_sets, n_groups), as differences are made of it.

    That is without what the words of a person make of it, where these could be exchanged.
    """
    at = [each.name for each in every.scores].index(score)
    if score == REFUSED:
        return 100.0 * every.value[at], "%"
    exchanged = every.exchanged and every.scores[at].exchanged
    return (every.neutral if exchanged else every.value)[at], every.scores[at].unit


def spread_of(every: MatchedSets, e: Estimate) -> tuple[FloatArray, BoolArray]:
    """Return the difference of each set, shape (n_sets,), and which sets an estimate rests on."""
    value, _ = values_of(every, e.strata["score"])
    d = within_sets(value, dict(contrasts(every))[next(iter(e.group.values()))])
    here = every.model == every.models.index(e.strata["model"])
    return d, here & ~np.isnan(d)


def _means(view: View, every: MatchedSets, known: list[Estimate]) -> Figure:
    """Means of the groups, a panel for each score with a row for each model."""
    rows = [short(name, 24) for name in every.models]
    colours = [
        colour_of_group({every.attribute: name}, every.groups) for name in every.groups
    ]  # fmt: skip
    panels: list[Spec] = []
    cells: list[tuple[str, ...]] = []
    for name in dict.fromkeys(e.strata["score"] for e in known):
        value, unit = values_of(every, name)
        data = []
        for code, row in enumerate(rows):
            # Two groups: the pairs with both halves; of more, whatever a group has.
            here = value[every.model == code]
            if len(every.groups) == 2:
                here = here[~np.isnan(here).any(1)]
            means = [float(np.nanmean(x)) if (~np.isnan(x)).any() else np.nan for x in here.T]
            cells.append(
                (row, name, unit, *(fmt.difference(mean, "") for mean in means), f"{len(here):,}")
            )
            there = [mean for mean in means if not isnan(mean)]
            for group, mean, colour in zip(every.groups, means, colours, strict=True):
                if not isnan(mean):
                    found = {"row": row, "v": mean, "c": colour, "lo": min(there)}
                    said = f"{fmt.difference(mean, '')} {unit}"
                    data.append(found | {"hi": max(there), "group": group, "value": said})
        i = len(panels)
        y = chart(OWN, "rows", rows=rows, labels=i % ACROSS == 0, limit=150, padding=8)
        title = {"text": short(name, 26), "fontSize": 13, "subtitle": unit, "subtitleFontSize": 12}
        x = {"field": "lo", "type": "quantitative", "title": None, "axis": {"tickCount": 3}}
        width = 420 if len(known) == 1 else 190
        panels.append(
            FIGURES.chart(
                "means", data=data, title=title, width=width, y=y, low=x, tooltip=tooltip()
            )
        )
    far = max(known, key=size, default=None)
    said = "No score has a mean."
    if far is not None:
        pair = contrast(far)
        said = (
            f"The groups lie furthest apart, for the spread of the texts, in {called(far)}: "
            f"{pair} {written(far, far.value)} {unit_of(far)}."
        )
    columns = ("Model", "Score", "Unit", *(short(name, 30) for name in every.groups), "Pairs")
    legend = [
        (f"dot {colour_class(colour)}", name)
        for colour, name in zip(colours, every.groups, strict=True)
    ]
    return FIGURES.figure(
        "means",
        view,
        known,
        shelves(panels, ACROSS, shared=False) if panels else None,
        table=Table(columns, tuple(cells), 3),
        legend=legend,
        said=said,
    )


def _distribution(every: MatchedSets, first: list[Estimate], named: dict[str, Any]) -> Figure:
    """Differences of single pairs, a histogram for each leading difference."""
    panels, cells = [], []
    for e in first:
        d, here = spread_of(every, e)
        own = d[here]
        # Both sides alike, without the outermost hundredth, which is counted in the last bins.
        reach = float(np.quantile(np.abs(own), 0.99)) or float(np.abs(own).max()) or 1.0
        count, edges = np.histogram(np.clip(own, -reach, reach), BINS + 1, (-reach, reach))
        data = [
            {
                "lo": low,
                "hi": high,
                "n": n,
                "value": f"{fmt.difference(low)} to {fmt.difference(high)}",
                "k": str(n),
            }
            for low, high, n in zip(
                edges[:-1].tolist(), edges[1:].tolist(), count.tolist(), strict=True
            )
        ]
        above, below = int((own > 0).sum()), int((own < 0).sum())
        quarters = [fmt.difference(float(x)) for x in np.quantile(own, [0.25, 0.5, 0.75])]
        equal = f"{len(own) - above - below:,}"
        cells.append((called(e), written(e, e.value), *quarters, f"{above:,}", f"{below:,}", equal))
        unit = score_of(e.strata["score"]).unit
        panels.append(
            FIGURES.chart(
                "histogram",
                data=data,
                title={"text": in_lines(called(e), 190), "fontSize": 13},
                width=190,
                unit=unit,
                mean=float(own.mean()),
                none=rule_at("x", 0),
                tooltip={"value": {"expr": "{'Difference': datum.value, 'Pairs': datum.k}"}},
            )
        )
    columns = (
        "Of",
        "Mean",
        "Lower quarter",
        "Median",
        "Upper quarter",
        "Above 0",
        "Below 0",
        "Equal",
    )
    said = "No pair can be drawn."
    if cells:
        said = f"{cells[0][0]}: {cells[0][5]} pairs lie above 0, {cells[0][6]} below."
    return FIGURES.figure(
        "distribution",
        None,
        first,
        shelves(panels, ACROSS, shared=False) if panels else None,
        table=Table(columns, tuple(cells)),
        said=said,
        **named,
    )
