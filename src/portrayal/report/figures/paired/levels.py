"""Figures 2–7, A.1 and A.2: distance, prejudice rate and change at each level."""

from collections.abc import Sequence
from itertools import combinations, product

from portrayal.records import Estimate
from portrayal.report import formats as fmt
from portrayal.report.figures.figure import Figure, Spec
from portrayal.report.figures.paired.panels import WHOLE, datum, has_band, key, panel, printed_datum
from portrayal.report.figures.paired.printed import NOTE, Printed, printed_at
from portrayal.report.figures.paired.series import (
    LEVEL_TITLES,
    WORSE,
    at,
    colours,
    forms,
    group_name,
    numbers,
    of,
    places,
    quantity,
    rows_of,
    series,
    shown,
)
from portrayal.report.figures.paired.tables import by_lexicon
from portrayal.report.figures.parts import INK
from portrayal.report.inert import short
from portrayal.report.view import View
from portrayal.report.words import LENGTH_COLOURS

Place = tuple[str, str]

_PANELS = {
    "paired_distance": ("a  Distance from the original", "mean distance", ".2f", "distance"),
    "prejudice_rate": ("b  Prejudice rate", "share of texts", "%", "share"),
    "prejudice_change": ("c  Change in those texts", "mean change", "+.2f", "difference"),
}
_LENGTHS = {"full": "full length", "equal": "equal length"}


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
        f"{LEVEL_TITLES.get(level, level)}: {attribute}",
        _reading(view, own["paired_distance"], place),
        f"a: mean distance between the {quantity(level, attribute)} of a text and of its original. "
        f"b: of the originals that mention a group, the share whose generated text has "
        f"{_fell(level)}. c: the mean change among those. {NOTE if any(paper.values()) else ''}",
        spec,
        numbers(view, every),
        key(colour, null=null, paper=any(paper.values())),
    )


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
    return panel(
        data,
        rows,
        groups,
        title=title,
        axis=axis,
        form=form,
        labels=whole,
        zero=kind == "prejudice_change",
        places=len(colour),
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
        return f"No distance is known at this level: {why}."
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


def _equal_length(view: View, estimates: list[Estimate]) -> Figure | None:
    """Distances with both texts at full length, and with the longer one cut to the shorter."""
    both = shown(view, estimates, "")
    if not any(e.strata.get("length") == "equal" for e in both):
        return None
    colour = dict(zip(_LENGTHS.values(), LENGTH_COLOURS, strict=True))
    charts = [
        panel(
            [_by_length(view, e, colour) for e in at(both, place)],
            rows_of(view, both),
            list(colour),
            title=f"{LEVEL_TITLES.get(place[0], place[0])}: {place[1]}",
            axis="mean distance",
            form=".2f",
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
        + _turned(view, both),
        "Where a distance shrinks at equal length, part of it was length. Distances at full length "
        "are those of the paper; which sentences are drawn depends on the seed.",
        {"concat": charts, "columns": 2},
        numbers(view, [e for e in both if e.strata.get("length") == "equal"]),
        key(colour, null=has_band(both), paper=False),
    )


def _turned(view: View, both: Sequence[Estimate]) -> str:
    """Which forms change places at equal length, in a sentence; nothing where none does."""
    found = []
    for place in places(view):
        rows = [e for e in at(both, place) if e.value is not None]
        known = {tuple(e.strata.get(n) for n in ("model", "form", "length")): e.value for e in rows}
        models = dict.fromkeys(e.strata.get("model") for e in rows)
        for model, pair in product(models, combinations(forms(view), 2)):
            full, equal = (
                [known.get((model, form, length)) for form in pair] for length in ("full", "equal")
            )
            gaps = [a - b for a, b in (full, equal) if a is not None and b is not None]
            if len(gaps) == 2 and gaps[0] * gaps[1] < 0:
                nearer, further = pair if gaps[0] < 0 else pair[::-1]
                found.append((place, view.called(model or ""), nearer, further))
    if not found:
        return ""
    (level, attribute), model, nearer, further = found[0]
    more = f" So do {len(found) - 1} other comparisons of forms." if len(found) > 1 else ""
    return (
        f" {LEVEL_TITLES.get(level, level)}, {attribute}, {short(model, 28)}: texts of the form "
        f"“{short(nearer, 28)}” stand closer to their originals than those of "
        f"“{short(further, 28)}” at full length, but further away at equal length: the order of "
        f"the two reverses.{more}"
    )


def _by_length(view: View, e: Estimate, colour: dict[str, str]) -> dict[str, object]:
    name = _LENGTHS.get(e.strata.get("length", ""), "")
    return datum(view, e, colour.get(name, INK)) | {"g": name, "group": name}
