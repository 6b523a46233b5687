"""Names: the common ones, how racialized they are, and ratios by the threshold of likelihood."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import portrayal.report.figures.svg as svg
import portrayal.report.formats as fmt
from portrayal.measure.stories.names import OTHER
from portrayal.records import ALL, Estimate
from portrayal.report.figures.declared import Declared, figure_of, reading
from portrayal.report.figures.figure import Figure, Table, tip
from portrayal.report.figures.svg import BAND, GREY, INK, Axis, Panel, Plot
from portrayal.report.formats import short
from portrayal.report.view import View, domain_of, is_sure
from portrayal.report.words import (
    OTHER_COLOUR,
    RACE_COLOURS,
    borne,
    group_label,
    people_of,
)

Rows = list[Estimate]
LIKELY = 0.5
"""Likelihood from which on a name tells its group."""
CHANCES = Axis("likelihood", 0.0, 1.0, (0.0, 0.25, 0.5, 0.75, 1.0), label=lambda x: f"{x:.0%}")


def _figure(
    view: View, key: str, rows: Rows, sentence: str, charts: Sequence[Panel], note: str = ""
) -> Figure:
    """A figure with its measure's words over the numbers of these rows."""
    columns = 1 if len(charts) == 1 else 2 if len(charts) in (2, 4) else 3
    chart = svg.tiled(charts, columns) if charts else None
    return replace(
        figure_of(view, Declared(measures=()), rows, sentence, chart, more=note), key=key
    )


def _by_race(rows: Rows) -> dict[str, Rows]:
    by_race: dict[str, Rows] = {}
    for e in rows:
        by_race.setdefault(borne(e.group), []).append(e)
    return by_race


def _colour(race: str) -> str:
    return RACE_COLOURS.get(race, OTHER_COLOUR)


def thresholds(view: View, estimates: Rows) -> Iterator[Figure]:
    """Yield ratios by the threshold of likelihood, one panel for each group that names tell."""
    # A ratio of 0 has no logarithm.
    valued = [e for e in view.only_main(estimates) if e.value]
    if not valued:
        return
    axis = Axis.ratio([e.value for e in valued], "", most=128)
    charts = []
    for race, rows in _by_race([e for e in estimates if e.value]).items():
        plot = Plot(CHANCES, axis, 220, 150)
        # A curve that ends below 0.2 is too short to show anything.
        if max((_threshold(e) for e in rows), default=0.0) < 0.2:
            continue
        main = sorted(view.only_main(rows), key=_threshold)
        plot.band([(_threshold(e), e.null.low, e.null.high) for e in main if e.null], BAND)
        bounds = [(_threshold(e), e.interval.low, e.interval.high) for e in main if e.interval]
        plot.band(bounds, _colour(race), 0.18)
        for model in view.models if len(view.models) > 1 else ():
            of_model = [e for e in rows if e.strata.get("model") == model]
            plot.line([(_threshold(e), e.value or 0.0) for e in of_model], GREY, 0.9)
        plot.line([(_threshold(e), e.value or 0.0) for e in main], _colour(race))
        # A point in ten says what stands there; a point for each would hide the line.
        for e in main:
            if round(100 * _threshold(e)) % 10 == 0:
                x, y = plot.at(_threshold(e), e.value or 0.0)
                fill = _colour(race) if is_sure(e) else "white"
                plot.parts.append(svg.dot(x, y, 3, fill, _colour(race), tip(view, e)))
        charts.append(plot.panel(race))
    tabled = [e for e in view.only_main(estimates) if e.group["threshold"][-1] == "0"]
    note = " Bands: interval, and in pale blue the null range; grey lines: each model."
    yield _figure(view, "thresholds", tabled, reading(view, valued), charts, note)


def _threshold(e: Estimate) -> float:
    return float(e.group["threshold"])


LISTED = 5
"""Names of each group in the table, as in Table S10."""


def common_names(view: View, estimates: Rows) -> Iterator[Figure]:
    """Yield the table of the most common names of each group, by role."""
    domains = dict.fromkeys(domain_of(e) for e in estimates)
    # Names are counted over all domains, where the run has that.
    widest = ALL if ALL in domains else next(iter(domains), ALL)
    roles: dict[tuple[str, str], dict[str, Estimate]] = {}
    for e in view.only_main(estimates):
        if domain_of(e) == widest and "gender" not in e.group:
            roles.setdefault((borne(e.group), e.group["name"]), {})[e.strata.get("role", "")] = e
    if not roles:
        return

    def first(key: tuple[str, str]) -> Estimate:
        return next(iter(roles[key].values()))

    def count(role: str) -> Callable[[tuple[str, str]], str]:
        return lambda key: fmt.count(roles[key][role].value) if role in roles[key] else fmt.NOTHING

    def expected(key: tuple[str, str]) -> str:
        null = roles[key]["neutral"].null if "neutral" in roles[key] else None
        return fmt.NOTHING if null is None else fmt.count(null.value)

    def other(key: tuple[str, str]) -> str:
        shares = {k.removeprefix(OTHER): x for k, x in first(key).details.items() if OTHER in k}
        return ", ".join(f"{fmt.share(x)} {race}" for race, x in shares.items()) or fmt.NOTHING

    columns: Mapping[str, Callable[[tuple[str, str]], str]] = {
        "Most borne by": lambda key: key[0],
        "Name": lambda key: short(key[1], 24),
        "Likelihood": lambda key: fmt.share(first(key).details.get("likelihood_of_name")),
        "In the other table": other,
        "Neutral": count("neutral"),
        "Expected": expected,
        "Dominant": count("dominant"),
        "Subordinate": count("subordinate"),
    }
    rows = [
        key
        for race in dict.fromkeys(race for race, _ in roles)
        for key in [key for key in roles if key[0] == race][:LISTED]
    ]
    totals = {key: sum(e.value or 0 for e in cells.values()) for key, cells in roles.items()}
    race, name = max(totals, key=lambda key: totals[key])
    times = fmt.plural(totals[race, name], "time")
    sentence = f"{short(name, 24)} (a name most borne by {race} people) occurs most often, {times}."
    figure = _figure(view, "common-names", estimates, sentence, ())
    note = (
        f"{figure.note} Expected: in neutral stories, if names were drawn at random from the name "
        "table. A likelihood describes the name’s bearers, never a character."
    )
    yield Figure(figure.key, figure.title, sentence, note, None, Table.of(rows, columns, 2))


MOST_NAMES, LABELLED = 300, 6
"""Names in the chart at most, the most common ones; names of a panel that have a label."""
RACIALIZED = 0.3
"""Likelihood that a group needs among the names to have a panel."""


def names(view: View, estimates: Rows) -> Iterator[Figure]:
    """Yield the scatter of names, one panel for each group that names tell."""
    main = [e for e in view.only_main(estimates) if e.value is not None]
    # Common names have narrow intervals, so the rarest are left out.
    main.sort(key=lambda e: (-_count(e), e.group.get("name", "")))
    most_common = main[:MOST_NAMES]
    if not most_common:
        return
    axis = Axis.ratio([e.value for e in most_common], "", most=512)
    # Every name stands in each group's panel, at its likelihood for that group.
    shares = dict.fromkeys(
        key for e in most_common for key in e.details if key.startswith("share_")
    )
    charts = []
    for share in shares:
        race, plot = share.removeprefix("share_"), Plot(CHANCES, axis, 220, 180)
        likely = {e.group.get("name", ""): e.details.get(share, math.nan) for e in most_common}
        if not any(x >= RACIALIZED for x in likely.values()):
            continue
        labelled: list[tuple[float, float]] = []
        for e in most_common:
            name, radius = e.group.get("name", ""), min(2.0 + _count(e) ** 0.5 / 2.0, 9.0)
            likelihood = 0.0 if math.isnan(likely[name]) else likely[name]
            x, y = plot.at(likelihood, e.value or 0.0)
            words = tip(view, e, Likelihood=fmt.share(likelihood), Characters=fmt.count(_count(e)))
            look: dict[str, Any] = {
                "fill_opacity": 0.85 if is_sure(e) else 0.0,
                "stroke_width": 1.3,
            }
            look |= {"fill": _colour(race), "stroke": _colour(race)}
            plot.parts.append(svg.element("circle", words, cx=x, cy=y, r=radius, **look))
            # Labels of about 58 by 18 pixels must not touch.
            free = all(abs(x - a) > 58 or abs(y - b) > 18 for a, b in labelled)
            if likelihood >= RACIALIZED and free and len(labelled) < LABELLED:
                labelled.append((x, y))
                label = short(name, 12)
                look = {"anchor": "middle", "stroke": "white", "stroke_width": 3}
                plot.parts.append(svg.words(x, y - 9, label, 11, INK, paint_order="stroke", **look))
        charts.append(plot.panel(race))
    note = (
        " Each point is a first name, in every panel at its likelihood for that group; higher: "
        "more often subordinate; filled: can be told from 1; size: how often it occurs."
    )
    if len(main) > MOST_NAMES:
        note += f" The {MOST_NAMES} most common of {len(main):,} names are drawn."
    yield _figure(view, "names", main, reading(view, main), charts, note)


def _count(e: Estimate) -> float:
    return e.details.get("count_subordinate", 0.0) + e.details.get("count_dominant", 0.0)


def likelihoods(view: View, estimates: Rows) -> Iterator[Figure]:
    """Yield how many characters have a name of each likelihood, beside what chance gives."""
    main = [e for e in view.only_main(estimates) if e.value is not None]
    everyone = _by_race([e for e in main if "gender" not in e.group])
    if not everyone:
        return
    crossed = _by_race([e for e in main if "gender" in e.group])
    # Few characters of a gender may have a name that a table has.
    crossed = {race: rows for race, rows in crossed.items() if any(e.value for e in rows)}
    charts = [_bars(view, race, rows) for race, rows in everyone.items()]
    for race, rows in crossed.items():
        gender = group_label({"gender": rows[0].group["gender"]}).lower()
        charts.append(_bars(view, f"{race}, {gender}", rows))
    high = {
        race: sum(e.value or 0 for e in rows if _edges(e)[0] >= LIKELY)
        for race, rows in everyone.items()
    }
    rare = min(high, key=lambda race: high[race])
    sentence = (
        f"{fmt.count(high[rare])} of {fmt.plural(everyone[rare][0].n_units, 'character')} "
        f"{'bears' if high[rare] == 1 else 'bear'} a name above {LIKELY:.0%} likelihood for "
        f"{people_of(rare)}, for whom there are fewest."
    )
    tabled = [
        e for rows in everyone.values() for e in rows if e.value or (e.null and e.null.value >= 0.5)
    ]
    note = " Bars: counted, on a log scale; dark line: expected if names were drawn at random."
    yield _figure(view, "likelihoods", tabled, sentence, charts, note)


def _bars(view: View, title: str, rows: Rows) -> Panel:
    """Counted and expected characters by the likelihood of their names."""
    highest = max(max(e.value or 0, e.null.value if e.null else 0) for e in rows)
    top, floor = max(1.6 * highest, 10.0), 0.6
    counts = tuple(10.0**k for k in range(7) if 10**k <= top)
    plot = Plot(CHANCES, Axis("", floor, top, counts, log=True, label=fmt.count), 220, 100)
    colour = _colour(borne(rows[0].group))
    for e in rows:
        low, high = _edges(e)
        (x_low, base), (right, height) = plot.at(low, floor), plot.at(high, e.value or floor)
        words = tip(view, e)
        if e.value:
            size: dict[str, Any] = {"width": right - x_low, "height": base - height}
            plot.parts.append(
                svg.box(x_low, height, tip=words, fill=colour, stroke="white", **size)
            )
        if e.null is not None and e.null.value > floor:
            plot.line([(low, e.null.value), (high, e.null.value)], INK, 1.6)
    return plot.panel(title)


def _edges(e: Estimate) -> tuple[float, float]:
    low, _, high = e.group["likelihood"].partition("–")
    return float(low), float(high)
