"""Names: the common ones, how racialized they are, and ratios by the threshold of likelihood."""

import math
from collections.abc import Iterator
from typing import Any

import portrayal.report.figures.figure as tables
import portrayal.report.figures.panels as panels
import portrayal.report.formats as fmt
from portrayal.measure.stories.names import OTHER
from portrayal.records import ALL, Estimate
from portrayal.report.figures.declared import Declarations
from portrayal.report.figures.figure import Figure, Spec, facts, tooltip
from portrayal.report.figures.panels import likelihood_channel, reach
from portrayal.report.findings import distance
from portrayal.report.formats import short
from portrayal.report.view import View, domain_of, is_sure
from portrayal.report.words import borne, people_of
from portrayal.studies.stories.report.ratios import race_colour

Rows = list[Estimate]


def _of_name(role: str) -> Any:
    """The cell of how often a name occurs in a role."""
    return lambda _, row: fmt.count(row[2][role].value) if role in row[2] else fmt.NOTHING


def _elsewhere(of: dict[str, Estimate]) -> list[tuple[str, float]]:
    """Groups that another name table gives a name to, with their shares."""
    details = next(iter(of.values())).details
    return [(key.removeprefix(OTHER), x) for key, x in details.items() if key.startswith(OTHER)]


def _expected(e: Estimate | None) -> str:
    return fmt.count(e.null.value) if e is not None and e.null else fmt.NOTHING


FIGURES = Declarations(
    "portrayal.studies.stories.report",
    {
        "race": lambda _, row: row[0],
        "name": lambda _, row: short(row[1], 24),
        "likelihood": lambda _, row: fmt.share(
            next(iter(row[2].values())).details.get("likelihood_of_name")
        ),
        "other": lambda _, row: (
            ", ".join(f"{fmt.share(x)} {race}" for race, x in _elsewhere(row[2])) or fmt.NOTHING
        ),
        **{role: _of_name(role) for role in ("neutral", "dominant", "subordinate")},
        "expected": lambda _, row: _expected(row[2].get("neutral")),
        "percent": lambda _, e: _percent(e),
        "expected count": lambda _, e: _expected(e),
    },
)
"""Rows of the table of common names are (race, name, estimates by role)."""


def threshold_subordination(view: View, estimates: Rows) -> Iterator[Figure]:
    """Yield the curves, one panel for each race."""
    main = view.only_main(estimates)
    # A ratio of 0 has no logarithm.
    valued = [e for e in main if e.value]
    if not valued:
        return
    factor = reach([e.value for e in valued], most=128)
    races = list(dict.fromkeys(borne(e.group) for e in main))
    of_race = {race: [e for e in valued if borne(e.group) == race] for race in races}
    # A curve that ends below 0.2 is too short to show anything.
    high_races = [r for r in races if max((_threshold(e) for e in of_race[r]), default=0.0) >= 0.2]
    gone = [people_of(race) for race in races if race not in high_races]
    columns, size = panels.multiples(len(high_races), 150)
    charts = [_curves(view, estimates, race, factor, size) for race in high_races]
    rises = []
    for race in high_races:
        sure = [e for e in of_race[race] if is_sure(e)]
        if sure:
            # Names of high likelihood say most clearly whom they are borne by.
            last = max(sure, key=_threshold)
            rises.append(f"{race} {fmt.ratio(last.value)} above {100 * _threshold(last):.0f} %")
    rise_words = (
        f"At the highest threshold where it can be told from 1: {fmt.listed(rises or [''])}."
    )
    yield FIGURES.figure(
        # Steps of a tenth are enough for the table.
        "thresholds",
        view,
        [e for e in main if e.group["threshold"][-1] == "0"],
        {"concat": charts, "columns": columns, "spacing": 20} if charts else None,
        rises=rise_words if rises else "At no threshold can a ratio be told from 1.",
        grey="; thin grey lines: each model" if len(view.models) > 1 else "",
        absent=f" No curve for {fmt.listed(gone)}: no such names." if gone else "",
    )


def _threshold(e: Estimate) -> float:
    return float(e.group["threshold"])


def _curves(view: View, estimates: Rows, race: str, factor: float, pixels: tuple[int, int]) -> Spec:
    """The panel of one race: its curve with interval and null range, other models in grey."""

    def datum(e: Estimate) -> dict[str, Any]:
        is_main, estimate_facts = e.strata.get("model") == view.main, facts(view, e)
        point: dict[str, Any] = {
            "t": _threshold(e),
            "v": panels.within(e.value, factor),
            "main": is_main,
            "model": estimate_facts["model"],
        }
        for bounds, low, high in ((e.interval, "lo", "hi"), (e.null, "nl", "nh")):
            # Bands of every model would hide one another.
            if bounds is not None and is_main:
                point[low] = panels.within(bounds.low, factor)
                point[high] = panels.within(bounds.high, factor)
        return estimate_facts | point if is_main else point

    return FIGURES.chart(
        "curves",
        title=race,
        data=[datum(e) for e in estimates if borne(e.group) == race and e.value],
        width=pixels[0],
        height=pixels[1],
        x=likelihood_channel("t", "likelihood above"),
        null=panels.log_channel("nl", factor),
        low=panels.log_channel("lo", factor),
        value=panels.log_channel("v", factor),
        one=panels.rule_at("y"),
        colour=race_colour(race),
        tooltip=tooltip(),
    )


LISTED = 5
"""Names for each race, as in Table S10."""


def common_names(view: View, estimates: Rows) -> Iterator[Figure]:
    """Yield the table of names."""
    domains = dict.fromkeys(domain_of(e) for e in estimates)
    # Names are counted over all domains, where the run has that.
    widest = ALL if ALL in domains else next(iter(domains), ALL)
    counts: dict[tuple[str, str], dict[str, Estimate]] = {}
    for e in view.only_main(estimates):
        if domain_of(e) == widest and "gender" not in e.group:
            cells = counts.setdefault((borne(e.group), e.group["name"]), {})
            cells[e.strata.get("role", "")] = e
    if not counts:
        return
    # Over all roles.
    totals = {key: sum(e.value or 0 for e in cells.values()) for key, cells in counts.items()}
    race, name = max(totals, key=lambda key: totals[key])
    reading = f"{short(name, 24)} occurs most often, {fmt.plural(totals[race, name], 'time')}"
    neutral = counts[race, name].get("neutral")
    if neutral is not None and neutral.null is not None and neutral.value:
        reading += (
            f"; in neutral stories {fmt.count(neutral.value)} times, where "
            f"{fmt.count(neutral.null.value)} would be expected"
        )
    rows = [
        (*key, counts[key])
        for race in dict.fromkeys(race for race, _ in counts)
        for key in [key for key in counts if key[0] == race][:LISTED]
    ]
    most = f"{reading} (a name most borne by {race} people)."
    yield FIGURES.figure("common-names", view, rows, most=most)


MOST_NAMES = 300
"""Names in the chart at most, the most common ones."""
RACIALIZED = 0.3
"""Likelihood that a race needs among the names to have a panel."""


def name_subordination(view: View, estimates: Rows) -> Iterator[Figure]:
    """Yield the scatter of names, one panel for each race."""
    main = [e for e in view.only_main(estimates) if e.value is not None]
    # Common names have narrow intervals, so the rarest are left out.
    main.sort(key=lambda e: (-_count(e), e.group.get("name", "")))
    most_common = main[:MOST_NAMES]
    if not most_common:
        return
    factor = 1.7 * reach([e.value for e in most_common], most=512)
    shares = (key for e in most_common for key in e.details if key.startswith("share_"))
    # Every name stands in each race's panel, at its likelihood for that race.
    races = [key.removeprefix("share_") for key in dict.fromkeys(shares)]
    high = {race: max(_likelihood(e, race) for e in most_common) for race in races}
    high_races = [race for race in races if high[race] >= RACIALIZED]
    columns, size = panels.multiples(len(high_races), 180)
    charts = [_scatter(view, most_common, race, factor, size) for race in high_races]
    rare = [people_of(race) for race in races if high[race] < RACIALIZED]
    low = f"no name here reaches a likelihood of {100 * RACIALIZED:.0f} %"
    cut = f" The {MOST_NAMES} most common of {len(main):,} names are drawn."
    sure = [e for e in main if is_sure(e)]
    # Only names whose ratio is told from 1 are called by name.
    lesser = [e.group.get("name", "") for e in sure if (e.value or 0) > 1]
    greater = [e.group.get("name", "") for e in sure if (e.value or 0) < 1]
    parts = [
        f"{len(names)} more often {role} ({fmt.listed([short(n, 20) for n in names[:4]])}"
        + (", …)" if len(names) > 4 else ")")
        for names, role in ((lesser, "subordinate"), (greater, "dominant"))
        if names
    ]
    yield FIGURES.figure(
        "names",
        view,
        main,
        {"concat": charts, "columns": columns, "spacing": 20} if charts else None,
        which=fmt.listed(parts or [""]),
        least=view.options.get("min_name_count", 5),
        absent=f" No panel for {fmt.listed(rare)}: {low}." if rare else "",
        cut=cut if len(main) > MOST_NAMES else "",
    )


def _scatter(view: View, names: Rows, race: str, factor: float, pixels: tuple[int, int]) -> Spec:
    # Up to six names of high likelihood are labelled, whose labels do not touch one another.
    labelled: dict[str, tuple[float, float]] = {}
    eligible = [e for e in names if _likelihood(e, race) >= 0.3]
    for e in sorted(eligible, key=lambda e: -_count(e) * (0.2 + distance(e))):
        x = _likelihood(e, race) * pixels[0]
        # Places in pixels, as labels must not touch on the screen.
        y_value = panels.within(e.value, factor) or 1.0
        y = (math.log(y_value) / math.log(factor) + 1) / 2 * pixels[1]
        # A label is about 58 pixels wide and 18 high.
        if all(abs(x - a) > 58 or abs(y - b) > 18 for a, b in labelled.values()):
            labelled[e.group.get("name", "")] = (x, y)
        if len(labelled) == 6:
            break
    data = []
    for e in names:
        estimate_facts, name = facts(view, e), e.group.get("name", "")
        point = {
            field: estimate_facts[field] for field in ("group", "value", "ci", "null", "q", "k")
        }
        likelihood = _likelihood(e, race)
        point |= {"x": round(likelihood, 3), "lk": fmt.share(likelihood), "w": _count(e)}
        point |= {"y": panels.within(e.value, factor), "s": is_sure(e)}
        data.append(point | ({"label": short(name, 12)} if name in labelled else {}))
    return FIGURES.chart(
        "scatter",
        title=race,
        data=data,
        width=pixels[0],
        height=pixels[1],
        x=likelihood_channel("x", "likelihood of the name", 0.04),
        y=panels.log_channel("y", factor),
        one=panels.rule_at("y"),
        colour=race_colour(race),
        tooltip=tooltip(Likelihood="lk", Characters="w"),
    )


def _likelihood(e: Estimate, race: str) -> float:
    share = e.details.get(f"share_{race}", math.nan)
    return 0.0 if math.isnan(share) else share


def _count(e: Estimate) -> float:
    return e.details.get("count_subordinate", 0.0) + e.details.get("count_dominant", 0.0)


OMITTED = ("NH/PI", "AI/AN")
"""Groups whose names Fig. 1c shows."""
HIGH = 0.5
_FLOOR = 0.6


def likelihood_histogram(view: View, estimates: Rows) -> Iterator[Figure]:
    """Yield the histograms of the paper."""
    main = [e for e in view.only_main(estimates) if e.value is not None]
    everyone = [e for e in main if "gender" not in e.group]
    if not everyone:
        return
    races = [r for r in OMITTED if any(borne(e.group) == r for e in everyone)]
    # Groups of another table: its first two in place of the paper's.
    races = races or list(dict.fromkeys(borne(e.group) for e in everyone))[:2]
    bins = {race: [e for e in everyone if borne(e.group) == race] for race in races}
    charts: list[Spec] = [_bars("All characters", list(bins.values()))]
    sentences = []
    for race, race_bins in bins.items():
        # Bins from HIGH on: names that tell the group.
        counted = sum(e.value or 0 for e in race_bins if _edges(e)[0] >= HIGH)
        people = "No character" if counted == 0 else fmt.plural(counted, "character")
        upper_ends = [_edges(e)[1] for e in race_bins if e.value]
        most = f"; the highest stand at {100 * max(upper_ends):.0f} % or less" if upper_ends else ""
        sentences.append(
            f"{people} of {fmt.count(race_bins[0].n_units)} "
            f"{'bears' if counted in (0, 1) else 'bear'} a name above {100 * HIGH:.0f} % "
            f"likelihood for {people_of(race)}{most}."
        )
    # Names that non-binary characters bear (Fig. 1d).
    binary = [e for e in main if e.group.get("gender") == "NB"]
    by_race: dict[str, Rows] = {}
    for e in binary:
        by_race.setdefault(borne(e.group), []).append(e)
    any_nb = any(e.value for e in next(iter(by_race.values()), []))
    if any_nb:
        charts.append(_bars("Non-binary characters alone", list(by_race.values())))
    n_binary = max((e.n_units for e in binary), default=0.0)
    if n_binary:
        high = {
            race: sum(e.value or 0 for e in race_bins if _edges(e)[0] >= HIGH)
            for race, race_bins in by_race.items()
        }
        race = max(high, key=lambda race_name: high[race_name])
        sentences.append(
            f"Of {fmt.plural(n_binary, 'non-binary character')} with a matched name "
            f"{high[race]:.0f} bear one above {100 * HIGH:.0f} % for {people_of(race)}, "
            "more than for any other group."
        )
    yield FIGURES.figure(
        "likelihoods",
        view,
        [e for e in everyone if e.value or (e.null and e.null.value >= 0.5)],
        {"vconcat": charts, "spacing": 20},
        said=" ".join(sentences),
        none="" if any_nb else " No non-binary character with a matched name occurs.",
    )


def _bars(title: str, bins: list[Rows]) -> Spec:
    """A panel for the bins of each race, on one scale."""
    # Room for the highest bar and for what is expected; 10 at least, or a log axis has no tick.
    top = 1.6 * max(
        max(e.value or 0, e.null.value if e.null else 0) for race_bins in bins for e in race_bins
    )
    top, wide = max(top, 10), len(bins) <= 2
    values = [10**k for k in range(7) if 10**k <= top * 0.8]
    scale = {"type": "log", "domain": [_FLOOR, top], "clamp": True, "nice": False}
    axis = {"values": values, "grid": True, "gridColor": "#eeeeee", "format": "~s"}
    of_count = {"value": "v", "null": "e", "null_low": "el"}
    y = {name: panels.channel(field, scale, axis) for name, field in of_count.items()}
    charts = []
    for race_bins in bins:
        race, data = borne(race_bins[0].group), []
        for e in race_bins:
            low, high = _edges(e)
            bar: dict[str, Any] = {"a": low, "b": high, "mid": (low + high) / 2, "v": e.value}
            bar |= {"group": f"{race}, {_percent(e)}", "value": fmt.count(e.value)}
            bar |= {"ci": tables.interval(e), "null": tables.null(e)}
            bar["n"] = fmt.plural(e.n_units, "character")
            if e.null is not None:
                bar |= {"e": e.null.value, "el": max(e.null.low, _FLOOR), "eh": e.null.high}
            data.append(bar)
        bars = FIGURES.chart(
            "bars",
            title=race,
            data=data,
            width=330 if wide else 158,
            height=120 if wide else 90,
            **{"from": likelihood_channel("a"), "middle": likelihood_channel("mid"), **y},
            colour=race_colour(race),
            floor=_FLOOR,
            expected=f"datum.e > {_FLOOR}",
            tooltip=tooltip(),
        )
        charts.append(bars)
    return {"title": title, "concat": charts, "columns": 2 if wide else 4, "spacing": 16}


def _edges(e: Estimate) -> tuple[float, float]:
    low, _, high = e.group["likelihood"].partition("–")
    return float(low), float(high)


def _percent(e: Estimate) -> str:
    low, high = _edges(e)
    return f"{100 * low:.0f}–{100 * high:.0f} %"
