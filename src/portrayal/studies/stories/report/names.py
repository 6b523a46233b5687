"""Names: the common ones, how racialized they are, and ratios by the threshold of likelihood."""

import math
from collections.abc import Iterator
from typing import Any

import portrayal.report.figures.figure as tables
import portrayal.report.formats as fmt
from portrayal.records import ALL, Estimate
from portrayal.report.figures.figure import Figure, Spec, Table, estimate_table, facts, tooltip
from portrayal.report.figures.heat import ratio_heat
from portrayal.report.figures.panels import (
    BAND,
    INK,
    PUBLISHED,
    channel,
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
from portrayal.report.formats import short
from portrayal.report.view import View, domain_of, domains, is_sure
from portrayal.report.words import GENDER_LABELS, borne, group_label, people_of
from portrayal.studies.stories.report.ratios import colour_of, note, published_ratios

LISTED = 5
"""Names for each race, as in Table S10."""


def common_names(view: View, estimates: list[Estimate]) -> Iterator[Figure]:
    """Yield the table of names."""
    domains = {domain_of(e) for e in estimates}
    whole = ALL if ALL in domains else next(iter(domains), ALL)
    counts: dict[tuple[str, str], dict[str, Estimate]] = {}
    for e in view.only_main(estimates):
        if domain_of(e) == whole and "gender" not in e.group:
            cells = counts.setdefault((borne(e.group), e.group["name"]), {})
            cells[e.strata.get("role", "")] = e
    if not counts:
        return
    rows: list[tuple[str, ...]] = []
    for race in dict.fromkeys(race for race, _ in counts):
        names = [key for key in counts if key[0] == race][:LISTED]
        rows += [_row(race, name, counts[race, name]) for _, name in names]
    heads = ("Most borne by", "Name", "Likelihood", "Neutral", "Expected", "Dominant")
    yield Figure(
        "common-names",
        "The most common racialized names",
        _common_names_reading(counts),
        "Names that more than 60 % of bearers share with one group, by how often they occur. "
        "Expected: how often the name would occur in neutral stories if their names were drawn at "
        "random from the name table. A likelihood describes the name’s bearers, never a character.",
        None,
        Table((*heads, "Subordinate"), tuple(rows), 2),
    )


def _row(race: str, name: str, cells: dict[str, Estimate]) -> tuple[str, ...]:
    first, neutral = next(iter(cells.values())), cells.get("neutral")

    def count(role: str) -> str:
        return fmt.count(cells[role].value) if role in cells else fmt.NOTHING

    return (
        race,
        short(name, 24),
        fmt.share(first.details.get("likelihood_of_name")),
        count("neutral"),
        fmt.count(neutral.null.value) if neutral and neutral.null else fmt.NOTHING,
        count("dominant"),
        count("subordinate"),
    )


def _common_names_reading(counts: dict[tuple[str, str], dict[str, Estimate]]) -> str:
    def total(cells: dict[str, Estimate]) -> float:
        return sum(e.value or 0 for e in cells.values())

    (race, name), cells = max(counts.items(), key=lambda item: total(item[1]))
    said = f"{short(name, 24)} occurs most often, {fmt.plural(total(cells), 'time')}"
    neutral = cells.get("neutral")
    if neutral is not None and neutral.null is not None and neutral.value:
        said += (
            f"; in neutral stories {fmt.count(neutral.value)} times, where "
            f"{fmt.count(neutral.null.value)} would be expected"
        )
    return f"{said} (a name most borne by {race} people)."


MOST = 300
"""Names in the chart at most, the most common ones."""
RACIALIZED = 0.3
"""Likelihood that a race needs among the names to have a panel."""


def name_subordination(view: View, estimates: list[Estimate]) -> Iterator[Figure]:
    """Yield the scatter of names, one panel for each race."""
    main = [e for e in view.only_main(estimates) if e.value is not None]
    main.sort(key=lambda e: (-_count(e), e.group.get("name", "")))
    shown = main[:MOST]
    if not shown:
        return
    factor = 1.7 * reach([e.value for e in shown], most=512)
    shares = (key for e in shown for key in e.details if key.startswith("share_"))
    races = [key.removeprefix("share_") for key in dict.fromkeys(shares)]
    high = {race: max(_likelihood(e, race) for e in shown) for race in races}
    drawn = [race for race in races if high[race] >= RACIALIZED]
    columns, size = multiples(len(drawn), 180)
    panels = [_panel(view, shown, race, factor, size) for race in drawn]
    rare = [people_of(race) for race in races if high[race] < RACIALIZED]
    low = f"no name here reaches a likelihood of {100 * RACIALIZED:.0f} %"
    absent = f" No panel for {fmt.listed(rare)}: {low}." if rare else ""
    cut = f" The {MOST} most common of {len(main):,} names are drawn." if len(main) > MOST else ""
    yield Figure(
        "names",
        "Names: likelihood and role",
        _reading(main),
        "Each point is a first name, in every panel at its likelihood for that group (the share "
        "of the name’s bearers, never of a person); higher: more often subordinate. Size: how "
        f"often it occurs; filled: can be told from 1; a zero count is smoothed; names that occur "
        f"fewer than {view.options.get('min_name_count', 5)} times are left out."
        f"{absent}{cut}",
        {"concat": panels, "columns": columns, "spacing": 20} if panels else None,
        estimate_table(view, main),
    )


def _panel(
    view: View, names: list[Estimate], race: str, factor: float, pixels: tuple[int, int]
) -> Spec:
    labelled = _labelled(names, race, factor, pixels)
    data = [_point(view, e, race, factor, e.group.get("name", "") in labelled) for e in names]
    x, y = likelihood_channel("x", "likelihood of the name", 0.04), log_channel("y", factor)
    colour = {"value": colour_of(race)}
    size = {
        "field": "w",
        "type": "quantitative",
        "scale": {"type": "sqrt", "range": [18, 260]},
        "legend": None,
    }
    fill = {"condition": {"test": "datum.s", **colour}, "value": "rgba(255,255,255,0.6)"}
    shown = tooltip(Likelihood="lk", Characters="w")
    return {
        "title": {"text": race, "color": INK},
        "data": {"values": data},
        "width": pixels[0],
        "height": pixels[1],
        "encoding": {"x": x, "y": y},
        "layer": [
            rule_at("y"),
            {
                "mark": {"type": "point", "filled": True, "strokeWidth": 1.3, "opacity": 0.85},
                "encoding": {"size": size, "stroke": colour, "fill": fill, "tooltip": shown},
            },
            *(_label(style) for style in _HALO),
        ],
    }


_HALO: tuple[Spec, ...] = (
    {"stroke": "white", "strokeWidth": 3.5, "strokeJoin": "round", "color": "white"},
    {"color": INK},
)


def _label(style: Spec) -> Spec:
    """A layer of name labels: first their white outline, then the letters."""
    return {
        "transform": [{"filter": "isValid(datum.label)"}],
        "mark": {"type": "text", "fontSize": 11, "dy": -12, **style},
        "encoding": {"text": {"field": "label", "type": "nominal"}},
    }


def _point(view: View, e: Estimate, race: str, factor: float, labelled: bool) -> dict[str, Any]:
    found = facts(view, e)
    point = {name: found[name] for name in ("group", "value", "ci", "null", "q", "k")}
    point |= {
        "x": round(_likelihood(e, race), 3),
        "lk": fmt.share(_likelihood(e, race)),
        "y": within(e.value, factor),
        "w": _count(e),
        "s": is_sure(e),
    }
    return point | ({"label": short(e.group.get("name", ""), 12)} if labelled else {})


def _labelled(names: list[Estimate], race: str, factor: float, pixels: tuple[int, int]) -> set[str]:
    """Up to six names of high likelihood whose labels do not touch one another."""
    chosen: list[tuple[float, float, str]] = []
    eligible = [e for e in names if _likelihood(e, race) >= 0.3]
    for e in sorted(eligible, key=lambda e: -_count(e) * (0.2 + distance(e))):
        name = e.group.get("name", "")
        x = _likelihood(e, race) * pixels[0]
        at = within(e.value, factor) or 1.0
        y = (math.log(at) / math.log(factor) + 1) / 2 * pixels[1]
        if all(abs(x - a) > 58 or abs(y - b) > 18 for a, b, _ in chosen):
            chosen.append((x, y, name))
        if len(chosen) == 6:
            break
    return {name for _, _, name in chosen}


def _likelihood(e: Estimate, race: str) -> float:
    found = e.details.get(f"share_{race}", math.nan)
    return 0.0 if math.isnan(found) else found


def _count(e: Estimate) -> float:
    return e.details.get("count_subordinate", 0.0) + e.details.get("count_dominant", 0.0)


def _reading(main: list[Estimate]) -> str:
    sure = [e for e in main if is_sure(e)]
    if not sure:
        return f"None of {fmt.plural(len(main), 'name')} can be told from 1."
    lesser = [e.group.get("name", "") for e in sure if (e.value or 0) > 1]
    greater = [e.group.get("name", "") for e in sure if (e.value or 0) < 1]
    parts = [
        f"{len(names)} more often {role} ({fmt.listed([short(n, 20) for n in names[:4]])}"
        + (", …)" if len(names) > 4 else ")")
        for names, role in ((lesser, "subordinate"), (greater, "dominant"))
        if names
    ]
    return (
        f"{len(sure)} of {fmt.plural(len(main), 'name')} can be told from 1: {fmt.listed(parts)}."
    )


OMITTED = ("NH/PI", "AI/AN")
"""Groups whose names Fig. 1c shows."""
HIGH = 0.5
_FLOOR = 0.6


def likelihood_histogram(view: View, estimates: list[Estimate]) -> Iterator[Figure]:
    """Yield the histograms of the paper."""
    main = [e for e in view.only_main(estimates) if e.value is not None]
    everyone = [e for e in main if "gender" not in e.group]
    if not everyone:
        return
    races = [r for r in OMITTED if any(borne(e.group) == r for e in everyone)]
    races = races or list(dict.fromkeys(borne(e.group) for e in everyone))[:2]
    charts: list[Spec] = [_bars("All characters", [_of(everyone, r) for r in races])]
    binary = [e for e in main if e.group.get("gender") == "NB"]
    any_nb = any(e.value for e in binary if borne(e.group) == borne(binary[0].group))
    if any_nb:
        kinds = dict.fromkeys(borne(e.group) for e in binary)
        charts.append(_bars("Non-binary characters alone", [_of(binary, r) for r in kinds]))
    none = "" if any_nb else " No non-binary character with a matched name occurs."
    yield Figure(
        "likelihoods",
        "How racialized the names are",
        " ".join(
            [*(_likelihoods_reading(everyone, race) for race in races), *_binary_reading(binary)]
        ),
        "Characters of power-neutral stories by the likelihood of their first name (share of the "
        "name’s bearers). Bars: counted, on a log scale; dark line: expected if names were drawn "
        f"at random from the name table, with its range.{none}",
        {"vconcat": charts, "spacing": 20},
        _likelihoods_table(everyone),
        (("bar", "characters counted"), ("line", "expected from the name table")),
    )


def _of(estimates: list[Estimate], race: str) -> list[Estimate]:
    return [e for e in estimates if borne(e.group) == race]


def _bars(title: str, panels: list[list[Estimate]]) -> Spec:
    """A panel for the bins of each race, on one scale."""
    top = 1.6 * max(max(e.value or 0, e.null.value if e.null else 0) for p in panels for e in p)
    wide = len(panels) <= 2
    width, height = (330, 120) if wide else (158, 90)
    charts = [
        {
            "title": {"text": borne(bins[0].group), "fontSize": 12},
            "data": {"values": [_bar(e) for e in bins]},
            "width": width,
            "height": height,
            "layer": _bar_layers(colour_of(borne(bins[0].group)), max(top, 10)),
        }
        for bins in panels
    ]
    return {"title": title, "concat": charts, "columns": 2 if wide else 4, "spacing": 16}


def _bar_layers(colour: str, top: float) -> list[Spec]:
    values = [10**k for k in range(7) if 10**k <= top * 0.8]
    scale = {"type": "log", "domain": [_FLOOR, top], "clamp": True, "nice": False}
    axis = {"values": values, "grid": True, "gridColor": "#eeeeee", "format": "~s"}

    def y(field: str) -> Spec:
        return {"y": channel(field, scale, axis)}

    wide = {"x": likelihood_channel("a"), "x2": {"field": "b"}, "tooltip": tooltip()}
    middle = {"x": likelihood_channel("mid"), **y("el"), "y2": {"field": "eh"}}
    bar = {"type": "rect", "color": colour, "stroke": "white"}
    line: Spec = {"type": "rule", "color": INK}
    expected = f"datum.e > {_FLOOR}"
    return [
        kept(bar, "datum.v > 0", {**wide, **y("v"), "y2": {"datum": _FLOOR}}),
        kept({**line, "strokeWidth": 1.6}, expected, {**wide, **y("e")}),
        kept({**line, "strokeWidth": 0.8, "opacity": 0.6}, expected, middle),
    ]


def _bar(e: Estimate) -> dict[str, Any]:
    low, high = _edges(e)
    found: dict[str, Any] = {
        "a": low,
        "b": high,
        "mid": (low + high) / 2,
        "v": e.value,
        "group": f"{borne(e.group)}, {_percent(e)}",
        "value": fmt.count(e.value),
        "ci": tables.interval(e),
        "null": tables.null(e),
        "n": fmt.plural(e.n_units, "character"),
    }
    if e.null is not None:
        found |= {"e": e.null.value, "el": max(e.null.low, _FLOOR), "eh": e.null.high}
    return found


def _edges(e: Estimate) -> tuple[float, float]:
    low, _, high = e.group["likelihood"].partition("–")
    return float(low), float(high)


def _likelihoods_reading(everyone: list[Estimate], race: str) -> str:
    bins = _of(everyone, race)
    above = [e for e in bins if _edges(e)[0] >= HIGH]
    counted = sum(e.value or 0 for e in above)
    who = "No character" if counted == 0 else fmt.plural(counted, "character")
    verb = "bears" if counted in (0, 1) else "bear"
    seen = [_edges(e)[1] for e in bins if e.value]
    most = f"; the highest stand at {100 * max(seen):.0f} % or less" if seen else ""
    return (
        f"{who} of {fmt.count(bins[0].n_units)} {verb} a name above {100 * HIGH:.0f} % likelihood "
        f"for {people_of(race)}{most}."
    )


def _binary_reading(binary: list[Estimate]) -> list[str]:
    """What names non-binary characters bear (Fig. 1d)."""
    high = {
        race: sum(e.value or 0 for e in _of(binary, race) if _edges(e)[0] >= HIGH)
        for race in dict.fromkeys(e.group["race"] for e in binary)
    }
    known = max((e.n_units for e in binary), default=0.0)
    if not known:
        return []
    race = max(high, key=lambda each: high[each])
    return [
        f"Of {fmt.plural(known, 'non-binary character')} with a matched name {high[race]:.0f} bear "
        f"one above {100 * HIGH:.0f} % for {people_of(race)}, more than for any other group."
    ]


def _percent(e: Estimate) -> str:
    low, high = _edges(e)
    return f"{100 * low:.0f}–{100 * high:.0f} %"


def _likelihoods_table(everyone: list[Estimate]) -> Table:
    columns = {
        "Group": lambda e: borne(e.group),
        "Likelihood": _percent,
        "Characters": tables.value,
        "Interval": tables.interval,
        "Expected": lambda e: fmt.count(e.null.value) if e.null else fmt.NOTHING,
    }
    shown = [e for e in everyone if e.value or (e.null and e.null.value >= 0.5)]
    return Table.of(shown, columns, 2, len(shown))


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
