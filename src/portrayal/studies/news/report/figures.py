"""Figures 2–10, A.1 and A.2: distance, rate and change by level, and what a prompt form changes."""

from collections import Counter
from collections.abc import Iterator, Sequence

import portrayal.report.formats as fmt
from portrayal.measure.pairs.table import DOCUMENT
from portrayal.records import Estimate
from portrayal.report.figures.figure import Figure, Table
from portrayal.report.figures.panels import INK, Axis, Datum
from portrayal.report.formats import short
from portrayal.report.view import View, is_sure, q_of
from portrayal.report.words import measure_title
from portrayal.studies.news.report.series import (
    LEVEL_TITLES,
    MINUS,
    NOTE,
    SAME,
    WHOLE,
    WORSE,
    at,
    colours,
    datum,
    effects,
    forms,
    group_name,
    has_band,
    key,
    lexicons,
    numbers,
    of,
    over_all,
    places,
    printed_at,
    printed_datum,
    printed_effects,
    quantity,
    resolved,
    rows_of,
    series,
    series_panel,
    shown,
    title_of,
)
from portrayal.studies.news.report.tables import biased_forms, by_lexicon

Place = tuple[str, str]


def group_changes(view: View, estimates: list[Estimate]) -> Iterator[Figure]:
    """Yield one figure with a panel for each level and attribute."""
    own = shown(view, estimates)
    found = list(dict.fromkeys((e.strata["level"], e.strata["attribute"]) for e in own))
    if not found:
        return
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
                title=title_of(place),
                width=205,
                label_limit=150,
            )
        )
    present = {group_name(e.group) for e in own}
    named = {name: c for name, c in colour.items() if name in present}
    yield Figure(
        "group-change",
        "Change of each group",
        _changes_reading(view, own),
        "Mean over all pairs in which both texts have a value, whichever way it went; right of "
        f"the line the generated texts have more. {NOTE if paper else ''}",
        {"concat": charts, "columns": 2, "resolve": {"scale": {"yOffset": "independent"}}},
        numbers(view, own),
        key(named, null=has_band(own), paper=paper),
    )


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


_PANELS = {
    "paired_distance": ("a  Distance from the original", "mean distance", ".2f", "distance"),
    "prejudice_rate": ("b  Prejudice rate", "share of texts", "%", "share"),
    "prejudice_change": ("c  Change in those texts", "mean change", "+.2f", "difference"),
}
_WHOLE_TEXTS = (
    " The null exchanges each original at random with one of its texts; the topic model, and which "
    "topics go with which group, stay as they were fitted. With one text per original a distance "
    "has no null, as it is the same whichever of the two texts is the original."
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


def distances(view: View, estimates: list[Estimate]) -> Iterator[Figure]:
    """Yield a figure for each level and attribute, then one at equal length and one by list."""
    yield from (_level(view, place) for place in places(view))
    yield from _equal_length(view, estimates)
    yield from by_lexicon(view, estimates)


def _level(view: View, place: Place) -> Figure:
    level, attribute = place
    own = {kind: _own(view, kind, place) for kind in _PANELS}
    paper = {kind: printed_at(kind, place, forms(view)) for kind in _PANELS}
    every = [e for rows in own.values() for e in rows]
    rows = rows_of(view, every)
    rows += list(dict.fromkeys(row.label for found in paper.values() for row in found))
    present = {group_name(e.group) for e in every}
    colour = {name: c for name, c in colours(view).items() if name in present}
    charts = [
        series_panel(
            view,
            [datum(view, e, colour.get(group_name(e.group), INK)) for e in own[kind]]
            + [printed_datum(row, statistic) for row in paper[kind]],
            rows,
            [WHOLE] if i == 0 else list(colour),
            Axis(axis, form=form, zero=True, line=0.0 if kind == "prejudice_change" else None),
            title=title,
            labels=i == 0,
            places=len(colour),
        )
        for i, (kind, (title, axis, form, statistic)) in enumerate(_PANELS.items())
        if own[kind] or paper[kind]
    ]
    null = has_band(every)
    return Figure(
        f"level-{level}-{attribute}".replace("_", "-"),
        title_of(place),
        _reading(view, own["paired_distance"], place),
        f"a: mean distance between the {quantity(level, attribute)} of a text and of its original. "
        f"b: of the originals that mention a group, the share whose generated text has "
        f"{_fell(level)}. c: the mean change among those. {NOTE if any(paper.values()) else ''}"
        + (_WHOLE_TEXTS if level == DOCUMENT else ""),
        {"hconcat": charts, "resolve": {"scale": {"x": "independent"}}},
        numbers(view, every),
        key(colour, null=null, paper=any(paper.values())),
    )


def _own(view: View, kind: str, place: Place) -> list[Estimate]:
    found = at(shown(view, of(view, kind)), place)
    return [e for e in found if e.strata.get("direction", WORSE) == WORSE]


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


def _equal_length(view: View, estimates: list[Estimate]) -> Iterator[Figure]:
    """Distances with both texts at full length, and with the longer one cut to the shorter."""
    both = shown(view, estimates, "")
    if not any(e.strata.get("length") == "equal" for e in both):
        return
    colour = dict(zip(_LENGTHS.values(), _LENGTH_COLOURS, strict=True))
    charts = [
        series_panel(
            view,
            [_by_length(view, e, colour) for e in at(both, place)],
            rows_of(view, both),
            list(colour),
            Axis("mean distance", form=".2f", zero=True),
            title=title_of(place),
            labels=i % 2 == 0,
            width=270,
        )
        for i, place in enumerate(places(view))
        if at(both, place)
    ]
    yield Figure(
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


SHOWN = 0.0005
"""Differences below this are shown as 0.000, and change no order."""
Turn = tuple[Estimate, Estimate]


def turned(view: View) -> str:
    """Return a sentence on forms that change places at equal length; "" where none does.

    The differences between forms are read, on the same headlines where they are known. The order is
    said to reverse only where the difference can be told from 0 at full and at equal length.
    """
    found = sorted(_turns(view), key=lambda turn: -_sure(turn))
    if not found:
        return ""
    said = f" {_said(view, *found[0])}"
    if len(found) > 1:
        sure = sum(_sure(turn) == 2 for turn in found[1:])
        said += (
            f" The sign changes in {fmt.plural(len(found) - 1, 'other comparison')} of forms; "
            f"{sure or 'none'} of these can be told from 0 at both lengths."
        )
    return said


def _turns(view: View) -> list[Turn]:
    """Differences in distance at full and at equal length whose signs differ."""
    first = lexicons(view)
    own = [
        e
        for e in of(view, "prompt_effect")
        if e.value is not None
        and e.strata.get("of") == "paired_distance"
        and e.strata.get("lexicon") == first.get(e.strata.get("attribute", ""))
        and over_all(e)
    ]
    own = [e for e in own if e.strata.get("matched") == SAME] or own
    names = ("level", "attribute", "model", "contrast", "matched")
    known = {(*(e.strata.get(n) for n in names), e.strata.get("length")): e for e in own}
    pairs = [
        (e, known[*key[:-1], "equal"])
        for key, e in known.items()
        if key[-1] == "full" and (*key[:-1], "equal") in known
    ]
    return [
        (full, equal)
        for full, equal in pairs
        if (full.value or 0) * (equal.value or 0) < 0
        and min(abs(full.value or 0), abs(equal.value or 0)) >= SHOWN
    ]


def _sure(turn: Turn) -> int:
    return sum(resolved(e) for e in turn)


def _said(view: View, full: Estimate, equal: Estimate) -> str:
    form, _, base = (short(part, 28) for part in full.strata["contrast"].partition(MINUS))
    level = full.strata["level"]
    place = f"{LEVEL_TITLES.get(level, level)}, {full.strata['attribute']}"
    who = (
        f", {short(view.called(full.strata.get('model', '')), 28)}" if len(view.models) > 1 else ""
    )
    return (
        f"{place}{who}: texts of the form “{form}” stand {_way(view, full)} than those of “{base}” "
        f"at full length, and {_way(view, equal)} at equal length: {_verdict(full, equal)}."
    )


def _way(view: View, e: Estimate) -> str:
    way = "closer to" if (e.value or 0) < 0 else "further from"
    q = q_of(e)
    tail = "" if q is None else f", q {'' if q < 0.001 else '= '}{fmt.probability(q)}"
    return (
        f"{fmt.distance(abs(e.value or 0))} {way} their originals (difference with "
        f"{fmt.level(view.level)} interval {fmt.interval(e.interval, e.statistic)}{tail})"
    )


def _verdict(full: Estimate, equal: Estimate) -> str:
    number = fmt.plural(equal.n_clusters, "headline")
    if resolved(full) and resolved(equal):
        return "the order of the two reverses"
    if resolved(equal):
        return "only the second can be told from 0, so it is not said that the order reverses"
    return f"not resolved with {number}, so it is not said that the order reverses"


ROWS = 12
"""Rows of a table of what is undefined."""
_EFFECTS = {
    "paired_distance": "Distance",
    "prejudice_rate": "Prejudice rate",
    "prejudice_change": "Change in those texts",
}


def prompt_effects(view: View, estimates: list[Estimate]) -> Iterator[Figure]:
    """Yield a figure of differences for each level and attribute."""
    own = effects(view, estimates)
    found = dict.fromkeys((e.strata["level"], e.strata["attribute"]) for e in own)
    for place in found:
        yield _form_figure(view, place, at(own, place))
        beside = biased_forms(view, place)
        if beside is not None:
            yield beside


def contrast(view: View, e: Estimate) -> str:
    """Return the label of a difference: model, the form, and headlines where matched."""
    first, _, _ = e.strata.get("contrast", "").partition(MINUS)
    parts = [short(view.called(e.strata.get("model", "")), 24)] if len(view.models) > 1 else []
    matched = ", same headlines" if e.strata.get("matched") == SAME else ""
    return " · ".join([*parts, short(first, 24)]) + matched


def base_of(own: Sequence[Estimate]) -> str:
    """Return the form that differences are from; "another form" where there are several."""
    bases = {e.strata.get("contrast", "").partition(MINUS)[2] for e in own} - {""}
    return f"“{short(bases.pop(), 24)}”" if len(bases) == 1 else "another form"


def _form_figure(view: View, place: tuple[str, str], own: list[Estimate]) -> Figure:
    level, attribute = place
    base, known = base_of(own), any(e.value is not None for e in own)
    asked = "biased" in forms(view)
    paper = {kind: printed_effects(kind, place) if asked else [] for kind in _EFFECTS}
    beside = any(paper.values())
    labels = list(dict.fromkeys(contrast(view, e) for e in _ordered(view, own)))
    labels += list(dict.fromkeys(row.label for rows in paper.values() for row in rows))
    present = {group_name(e.group) for e in own if e.group}
    colour = {name: c for name, c in colours(view).items() if name in present}
    found = {kind: [e for e in own if e.strata.get("of") == kind] for kind in _EFFECTS}
    charts = [
        series_panel(
            view,
            [
                datum(view, e, colour.get(group_name(e.group), INK))
                | {"row": contrast(view, e), "s": resolved(e)}
                for e in found[kind]
            ]
            + [printed_datum(row, "difference") for row in paper[kind]],
            labels,
            [WHOLE] if i == 0 else list(colour),
            Axis(f"minus {base}", form="+.2f", zero=True, line=0.0),
            title=title,
            labels=i == 0,
            places=len(colour),
            label_limit=230,
            width=165,
        )
        for i, (kind, title) in enumerate(_EFFECTS.items())
        if found[kind] or paper[kind]
    ]
    spec = {"hconcat": charts, "resolve": {"scale": {"x": "independent"}}}
    note = "Grey: the differences that Fang et al. (2024) print for their seven models, not rerun."
    return Figure(
        f"forms-{level}-{attribute}".replace("_", "-"),
        f"Prompt forms, {LEVEL_TITLES.get(level, level).lower()}: {attribute}",
        _form_reading(view, own),
        f"Differences of each form of the prompt from {base}: right of the line it has more. "
        "“Same headlines” keeps only headlines answered under both, so that refusals do "
        f"not choose what is compared. {note if beside else ''}",
        spec if known or beside else None,
        numbers(view, own) if known else _undefined(view, own),
        key(colour, null=has_band(own), paper=beside, against="0"),
    )


def _undefined(view: View, own: list[Estimate]) -> Table:
    """Which differences are undefined, and why, each once."""
    rows = dict.fromkeys(
        (contrast(view, e), measure_title(e.strata.get("of", "")), short(e.undefined or "", 160))
        for e in own
    )
    heads = ("Form", "Measure", "Undefined, as")
    return Table(heads, tuple(rows)[:ROWS], 3, max(len(rows) - ROWS, 0))


def _ordered(view: View, own: list[Estimate]) -> list[Estimate]:
    models = list(view.strata_models)

    def place(e: Estimate) -> tuple[int, str]:
        model = e.strata.get("model", "")
        return models.index(model) if model in models else len(models), e.strata.get("contrast", "")

    return sorted(own, key=place)


def _form_reading(view: View, own: list[Estimate]) -> str:
    whole = [e for e in own if e.strata.get("of") == "paired_distance" and e.value is not None]
    if not whole:
        why = next((e.undefined for e in own if e.undefined), "none was measured")
        return f"No difference of distances is known: {why}."
    clear = [e for e in whole if resolved(e)]
    e = max(clear or whole, key=lambda found: abs(found.value or 0.0))
    said = (
        f"{contrast(view, e)}: the distance from the original differs from that of {base_of(own)} "
        f"by {fmt.difference(e.value)} ({fmt.level(view.level)} interval "
        f"{fmt.interval(e.interval, 'difference')})"
    )
    if clear:
        return f"{said}, which can be told from 0."
    return f"{said}; {fmt.plural(e.n_clusters, 'headline')} cannot tell it from 0."
