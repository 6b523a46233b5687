"""Figures 2–7, A.1 and A.2: distance, prejudice rate and change at each level."""

from collections import Counter
from collections.abc import Sequence

from portrayal.records import Estimate
from portrayal.report import formats as fmt
from portrayal.report.figures.figure import Figure, Spec
from portrayal.report.figures.panels import Axis, Datum
from portrayal.report.figures.parts import INK
from portrayal.report.inert import short
from portrayal.report.view import View, is_sure
from portrayal.studies.news.report.forms import turned
from portrayal.studies.news.report.panels import (
    WHOLE,
    datum,
    has_band,
    key,
    printed_datum,
    series_panel,
)
from portrayal.studies.news.report.series import (
    LEVEL_TITLES,
    NOTE,
    WORSE,
    Printed,
    at,
    colours,
    forms,
    group_name,
    numbers,
    of,
    places,
    printed_at,
    quantity,
    rows_of,
    series,
    shown,
)
from portrayal.studies.news.report.tables import by_lexicon


def group_changes(view: View, estimates: list[Estimate]) -> list[Figure]:
    """Return one figure with a panel for each level and attribute."""
    own = shown(view, estimates)
    found = list(dict.fromkeys((e.strata["level"], e.strata["attribute"]) for e in own))
    if not found:
        return []
    colour = colours(view)
    charts, paper = [], False
    for place in found:
        here, printed = at(own, place), printed_at("group_change", place, ())
        paper = paper or bool(printed)
        groups = list(dict.fromkeys(group_name(e.group) for e in here))
        data = [datum(view, e, colour.get(group_name(e.group), INK)) for e in here]
        data += [printed_datum(row, "difference") for row in printed]
        charts.append(
            series_panel(
                view,
                data,
                [*rows_of(view, here), *dict.fromkeys(row.label for row in printed)],
                groups,
                Axis("mean change, generated minus original", form="+.2f", zero=True, line=0.0),
                title=_title(place),
                width=205,
                label_limit=150,
            )
        )
    present = {group_name(e.group) for e in own}
    named = {name: c for name, c in colour.items() if name in present}
    return [
        Figure(
            "group-change",
            "Change of each group",
            _changes_reading(view, own),
            "Mean over all pairs in which both texts have a value, whichever way it went; right of "
            f"the line the generated texts have more. {NOTE if paper else ''}",
            {
                "concat": charts,
                "columns": 2,
                "resolve": {"scale": {"yOffset": "independent"}},
            },
            numbers(view, own),
            key(named, null=has_band(own), paper=paper),
        )
    ]


def _changes_reading(view: View, own: list[Estimate]) -> str:
    sure = [e for e in own if is_sure(e) and e.value is not None]
    if not sure:
        return "No group’s change can be told from chance by this number of headlines."
    e = max(sure, key=lambda found: abs(found.value or 0.0))
    way = "rises" if (e.value or 0.0) > 0 else "falls"
    what = quantity(e.strata["level"], e.strata["attribute"])
    return (
        f"{series(view, e)}: the {what} {way} most for {group_name(e.group)}, by "
        f"{fmt.difference(e.value)} ({fmt.level(view.level)} interval "
        f"{fmt.interval(e.interval, 'difference')}); {len(sure)} of {len(own)} changes can be told "
        "from chance."
    )


Place = tuple[str, str]

_PANELS = {
    "paired_distance": ("a  Distance from the original", "mean distance", ".2f", "distance"),
    "prejudice_rate": ("b  Prejudice rate", "share of texts", "%", "share"),
    "prejudice_change": ("c  Change in those texts", "mean change", "+.2f", "difference"),
}
_FIXED = (
    " The null deals the sentences of a pair to its two texts again and infers their topics; the "
    "topic model, and which topics go with which group, stay as they were fitted."
)
_HELP = {
    "race": " The paper’s list counts a race word only directly before an occupation (“Black "
    "doctor”), which is rare, and the people whom the authors looked up. In place of these a table "
    "of yours (--people FILE) counts, or, without one, named people count by the race shares of "
    "the bearers of their first names, a departure from the paper (--named-people lists: neither)."
}
_LENGTHS = {"full": "full length", "equal": "equal length"}
_LENGTH_COLOURS = ("#777777", "#1f4e79")
"""Colours of full and equal length."""


def distances(view: View, estimates: list[Estimate]) -> list[Figure]:
    """Return a figure for each level and attribute, then one at equal length and one by list."""
    found = [_level(view, place) for place in places(view)]
    more = (_equal_length(view, estimates), by_lexicon(view, estimates))
    return [*found, *(figure for figure in more if figure is not None)]


def _level(view: View, place: Place) -> Figure:
    level, attribute = place
    own = {kind: _own(view, kind, place) for kind in _PANELS}
    paper = {kind: printed_at(kind, place, forms(view)) for kind in _PANELS}
    every = [e for rows in own.values() for e in rows]
    rows = rows_of(view, every)
    rows += list(dict.fromkeys(row.label for found in paper.values() for row in found))
    colour = {name: c for name, c in colours(view).items() if name in _groups(every)}
    charts = [
        _panel(view, kind, own[kind], paper[kind], rows, colour)
        for kind in _PANELS
        if own[kind] or paper[kind]
    ]
    spec: Spec = {"hconcat": charts, "resolve": {"scale": {"x": "independent"}}}
    null = has_band(every)
    return Figure(
        f"level-{level}-{attribute}".replace("_", "-"),
        _title(place),
        _reading(view, own["paired_distance"], place),
        f"a: mean distance between the {quantity(level, attribute)} of a text and of its original. "
        f"b: of the originals that mention a group, the share whose generated text has "
        f"{_fell(level)}. c: the mean change among those. {NOTE if any(paper.values()) else ''}"
        + (_FIXED if level == "document" and null else ""),
        spec,
        numbers(view, every),
        key(colour, null=null, paper=any(paper.values())),
    )


def _title(place: Place) -> str:
    return f"{LEVEL_TITLES.get(place[0], place[0])}: {place[1]}"


def _own(view: View, kind: str, place: Place) -> list[Estimate]:
    found = at(shown(view, of(view, kind)), place)
    return [e for e in found if e.strata.get("direction", WORSE) == WORSE]


def _groups(estimates: Sequence[Estimate]) -> set[str]:
    return {group_name(e.group) for e in estimates if e.group}


def _panel(
    view: View,
    kind: str,
    own: Sequence[Estimate],
    paper: Sequence[Printed],
    rows: Sequence[str],
    colour: dict[str, str],
) -> Spec:
    title, axis, form, statistic = _PANELS[kind]
    whole = kind == "paired_distance"
    groups = [WHOLE] if whole else list(colour)
    data = [datum(view, e, _colour(e, colour)) for e in own]
    data += [printed_datum(row, statistic) for row in paper]
    line = 0.0 if kind == "prejudice_change" else None
    scale = Axis(axis, form=form, zero=True, line=line)
    return series_panel(
        view, data, rows, groups, scale, title=title, labels=whole, places=len(colour)
    )


def _colour(e: Estimate, colour: dict[str, str]) -> str:
    return colour.get(group_name(e.group), INK)


def _fell(level: str) -> str:
    if level == "sentence_toxicity":
        return "more toxic sentences about it on average"
    return "less favourable sentences about it" if level == "sentence_sentiment" else "less of it"


def _reading(view: View, own: Sequence[Estimate], place: Place) -> str:
    known = [e for e in own if e.value is not None]
    if not known:
        why = next((e.undefined for e in own if e.undefined), "nothing was measured")
        return (
            f"No distance is known at this level: {why}{_left_out(own)}.{_HELP.get(place[1], '')}"
        )
    order = rows_of(view, known)
    first = min(known, key=lambda e: order.index(series(view, e)))
    said = (
        f"{series(view, first)}: texts stand {fmt.distance(first.value)} from their originals in "
        f"the {quantity(*place)} ({fmt.level(view.level)} interval "
        f"{fmt.interval(first.interval, 'distance')}"
    )
    if first.null is not None and first.null.low == first.null.low:
        said += f"; dealt again at random, {fmt.interval(first.null, 'distance')}"
    return f"{said}; {fmt.plural(first.n_units, 'pair')})."


def _left_out(own: Sequence[Estimate]) -> str:
    """Why the pairs do not count, most frequent first, over all series."""
    total: Counter[str] = Counter()
    for e in own:
        total.update({why: n for why, n in e.exclusions.items() if why.startswith("no ")})
    said = [f"{short(why, 60)} in {n:,}" for why, n in total.most_common(3)]
    return f" ({fmt.listed(said)} of {sum(e.n_texts for e in own):,} pairs)" if said else ""


def _equal_length(view: View, estimates: list[Estimate]) -> Figure | None:
    """Distances with both texts at full length, and with the longer one cut to the shorter."""
    both = shown(view, estimates, "")
    if not any(e.strata.get("length") == "equal" for e in both):
        return None
    colour = dict(zip(_LENGTHS.values(), _LENGTH_COLOURS, strict=True))
    charts = [
        series_panel(
            view,
            [_by_length(view, e, colour) for e in at(both, place)],
            rows_of(view, both),
            list(colour),
            Axis("mean distance", form=".2f", zero=True),
            title=_title(place),
            labels=i % 2 == 0,
            width=270,
        )
        for i, place in enumerate(places(view))
        if at(both, place)
    ]
    return Figure(
        "equal-length",
        "At equal length",
        "Shares of few words are far from any other by chance alone. Here sentences of the longer "
        "text of each pair are drawn at random until both are about equally long."
        + _drawn(both)
        + turned(view),
        "Where a distance shrinks at equal length, part of it was length. Distances at full length "
        "are those of the paper.",
        {"concat": charts, "columns": 2},
        numbers(view, [e for e in both if e.strata.get("length") == "equal"]),
        key(colour, null=has_band(both), paper=False),
    )


def _drawn(both: Sequence[Estimate]) -> str:
    """How often sentences were drawn, and how far distances hang on which were."""
    found = [e.details for e in both if e.strata.get("length") == "equal" and e.value is not None]
    spread = [each["sd_between_draws"] for each in found if "sd_between_draws" in each]
    spread = [sd for sd in spread if sd == sd]  # noqa: PLR0124 - NaN
    if not spread:
        return ""
    times = max(each.get("sentence_draws", 0.0) for each in found)
    return (
        f" Values are means over {times:.0f} such draws, fixed by the seed; between draws they "
        f"vary with a standard deviation of at most {max(spread):.3f}."
    )


def _by_length(view: View, e: Estimate, colour: dict[str, str]) -> Datum:
    name = _LENGTHS.get(e.strata.get("length", ""), "")
    return datum(view, e, colour.get(name, INK)) | {"g": name, "group": name}
