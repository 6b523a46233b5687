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
    differences_of, labels = differences(view), heads(view)
    first = [e for e in leading(view, LEADING) if drawable(e)]
    yield _by_score(view, differences_of, labels)
    if any(e.strata["part"] != ALL for e in view.estimates):
        yield _by_part(view, first, labels)
    # Means and histograms need the texts' scores again, which a run may no longer hold.
    every_set = sets_of(view)
    if every_set is not None:
        yield _means(view, every_set, [e for e in differences_of if drawable(e)])
        yield _distribution(every_set, first, labels)


def _by_score(view: View, estimates: list[Estimate], labels: dict[str, Any]) -> Figure:
    """All scores on one axis, a panel for each model and contrast."""
    drawn_estimates = [e for e in estimates if drawable(e)]
    rows = list(dict.fromkeys(e.strata["score"] for e in drawn_estimates))
    places = list(dict.fromkeys((contrast(e), e.strata["model"]) for e in drawn_estimates))
    # More panels beside each other would be too narrow for their ticks.
    columns = min(len(places), 4)
    width = {1: 440, 2: 280, 3: 190}.get(columns, 145)
    panels = []
    for i, (pair, model) in enumerate(places):
        panel_estimates = [
            e for e in drawn_estimates if (contrast(e), e.strata["model"]) == (pair, model)
        ]
        title = f"{model}: {pair}" if labels["groups"] else model
        data = [datum(view, e, e.strata["score"]) for e in panel_estimates]
        spec = panel(view, data, rows, STANDARD, size=(width, 22), labels=i % columns == 0)
        panels.append(_titled(spec, title, width))
    # The note names the clearest, the largest first.
    sure = sorted(filter(is_sure, drawn_estimates), key=size, reverse=True)
    names = "; ".join(called(e) for e in sure[:4])
    names += f"; and {len(sure) - 4} more" if sure[4:] else ""
    return FIGURES.figure(
        "differences",
        view,
        estimates,
        _one_title(shelves(panels, columns)) if panels else None,
        counted=fmt.plural(len(drawn_estimates), "difference"),
        sure=len(sure),
        named=f": {names}" if sure else "",
        **labels,
    )


def _titled(spec: Spec, title: str, width: float) -> Spec:
    return spec | {"title": {"text": in_lines(short(title, 60), max(width, 110)), "fontSize": 13}}


def _one_title(spec: Spec) -> Spec:
    """Panels whose axes have short titles: the note under the chart says what they are of."""
    for row in spec["vconcat"]:
        for cell in row["hconcat"]:
            # Rules and marks without an axis of their own are left alone.
            for layer in cell["layer"]:
                x = layer.get("encoding", {}).get("x")
                if isinstance(x, dict) and x.get("title"):
                    x["title"], x["axis"] = "SD", x["axis"] | {"tickCount": 3}
    return spec


def _by_part(view: View, first: list[Estimate], labels: dict[str, Any]) -> Figure:
    """The leading differences, whole and in each part."""
    # How many parts point the same way as all pairs is what the note says.
    panels, rows_of_table, same, n = [], [], 0, 0
    parts = list(dict.fromkeys(e.strata["part"] for e in view.estimates if "part" in e.strata))
    columns = sorted({part.partition(" = ")[0] for part in parts if part != ALL})
    for i, e in enumerate(first):
        part_estimates = [
            other
            for part in parts
            for other in differences(view, part)
            if drawable(other)
            and other.group == e.group
            and all(other.strata[name] == e.strata[name] for name in ("model", "score"))
        ]
        rows_of_table += part_estimates
        further = [other for other in part_estimates if other.strata["part"] != ALL]
        n += len(further)
        same += sum((other.value or 0.0) * (e.value or 0.0) > 0 for other in further)
        data = [datum(view, other, _part(other.strata["part"])) for other in part_estimates]
        rows = [_part(part) for part in parts]
        spec = panel(view, data, rows, STANDARD, size=(190, 20), labels=i % ACROSS == 0)
        panels.append(_titled(spec, called(e), 190))
    return FIGURES.figure(
        "parts",
        view,
        rows_of_table,
        _one_title(shelves(panels, ACROSS)) if panels else None,
        columns=fmt.listed([short(name, 40) for name in columns]),
        same=same,
        n=n,
        **labels,
    )


def _part(part: str) -> str:
    return "all pairs" if part == ALL else short(part, 30)


def values_of(sets: MatchedSets, score: str) -> tuple[FloatArray, str]:
    """Return a score of each half, shape (n_sets, n_groups), as differences are made of it.

    That is without what the words of a person make of it, where these could be exchanged.
    """
    column = [score_column.name for score_column in sets.scores].index(score)
    # A refusal is not a word count: exchanging words of a person cannot change it.
    if score == REFUSED:
        return 100.0 * sets.value[column], "%"
    # Some scores cannot be made on exchanged texts; those stay as they are.
    exchanged = sets.exchanged and sets.scores[column].exchanged
    return (sets.neutral if exchanged else sets.value)[column], sets.scores[column].unit


def spread_of(sets: MatchedSets, e: Estimate) -> tuple[FloatArray, BoolArray]:
    """Return the difference of each set, shape (n_sets,), and which sets an estimate rests on."""
    value, _ = values_of(sets, e.strata["score"])
    # Sets that lack a half have no difference, and drop out as NaN.
    d = within_sets(value, dict(contrasts(sets))[next(iter(e.group.values()))])
    inside = sets.model == sets.models.index(e.strata["model"])
    return d, inside & ~np.isnan(d)


def _means(view: View, sets: MatchedSets, estimates: list[Estimate]) -> Figure:
    """Means of the groups, a panel for each score with a row for each model."""
    rows = [short(name, 24) for name in sets.models]
    colours = [colour_of_group({sets.attribute: name}, sets.groups) for name in sets.groups]
    panels: list[Spec] = []
    cells: list[tuple[str, ...]] = []
    for name in dict.fromkeys(e.strata["score"] for e in estimates):
        value, unit = values_of(sets, name)
        data = []
        # A row for each model.
        for code, row in enumerate(rows):
            # Two groups: the pairs with both halves; of more, whatever a group has.
            values = value[sets.model == code]
            if len(sets.groups) == 2:
                values = values[~np.isnan(values).any(1)]
            means = [float(np.nanmean(x)) if (~np.isnan(x)).any() else np.nan for x in values.T]
            means_written = (fmt.difference(mean, "") for mean in means)
            cells.append((row, name, unit, *means_written, f"{len(values):,}"))
            # A bar from the lowest to the highest group, the dots on it.
            defined = [mean for mean in means if not isnan(mean)]
            for group, mean, colour in zip(sets.groups, means, colours, strict=True):
                if not isnan(mean):
                    point = {"row": row, "v": mean, "c": colour, "lo": min(defined)}
                    text = f"{fmt.difference(mean, '')} {unit}"
                    data.append(point | {"hi": max(defined), "group": group, "value": text})
        i = len(panels)
        y = chart(OWN, "rows", rows=rows, labels=i % ACROSS == 0, limit=150, padding=8)
        title = {"text": short(name, 26), "fontSize": 13, "subtitle": unit, "subtitleFontSize": 12}
        x = {"field": "lo", "type": "quantitative", "title": None, "axis": {"tickCount": 3}}
        width = 420 if len(estimates) == 1 else 190
        panels.append(
            FIGURES.chart(
                "means", data=data, title=title, width=width, y=y, low=x, tooltip=tooltip()
            )
        )
    # Scores have units of their own; only in standard deviations can they be ranked.
    far = max(estimates, key=size, default=None)
    text = "No score has a mean."
    if far is not None:
        pair = contrast(far)
        text = (
            f"The groups lie furthest apart, for the spread of the texts, in {called(far)}: "
            f"{pair} {written(far, far.value)} {unit_of(far)}."
        )
    columns = ("Model", "Score", "Unit", *(short(name, 30) for name in sets.groups), "Pairs")
    legend = [
        (f"dot {colour_class(colour)}", name)
        for colour, name in zip(colours, sets.groups, strict=True)
    ]
    return FIGURES.figure(
        "means",
        view,
        estimates,
        shelves(panels, ACROSS, shared=False) if panels else None,
        table=Table(columns, tuple(cells), 3),
        legend=legend,
        said=text,
    )


def _distribution(sets: MatchedSets, first: list[Estimate], labels: dict[str, Any]) -> Figure:
    """Differences of single pairs, a histogram for each leading difference."""
    panels, cells = [], []
    for e in first:
        d, inside = spread_of(sets, e)
        values = d[inside]
        # Both sides alike, without the outermost hundredth, which is counted in the last bins.
        reach = float(np.quantile(np.abs(values), 0.99)) or float(np.abs(values).max()) or 1.0
        # An odd number of bins puts one in the middle, with the pairs that do not differ.
        count, edges = np.histogram(np.clip(values, -reach, reach), BINS + 1, (-reach, reach))
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
        # Means hide how many pairs go the other way.
        above, below = int((values > 0).sum()), int((values < 0).sum())
        quarters = [fmt.difference(float(x)) for x in np.quantile(values, [0.25, 0.5, 0.75])]
        equal = f"{len(values) - above - below:,}"
        cells.append((called(e), written(e, e.value), *quarters, f"{above:,}", f"{below:,}", equal))
        unit = score_of(e.strata["score"]).unit
        panels.append(
            FIGURES.chart(
                "histogram",
                data=data,
                title={"text": in_lines(called(e), 190), "fontSize": 13},
                width=190,
                unit=unit,
                mean=float(values.mean()),
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
    reading = "No pair can be drawn."
    if cells:
        reading = f"{cells[0][0]}: {cells[0][5]} pairs lie above 0, {cells[0][6]} below."
    return FIGURES.figure(
        "distribution",
        None,
        first,
        shelves(panels, ACROSS, shared=False) if panels else None,
        table=Table(columns, tuple(cells)),
        said=reading,
        **labels,
    )
