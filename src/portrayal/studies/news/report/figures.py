"""Figures 2–10, A.1 and A.2, and tables of what became of the texts."""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

import portrayal.report.figures.figure as tables
import portrayal.report.formats as fmt
import portrayal.studies.news.report.series as series
from portrayal.measure.pairs.table import DOCUMENT
from portrayal.records import ALL, Estimate
from portrayal.reference import published
from portrayal.registry import form_of
from portrayal.report.figures.figure import Figure, Spec, Table
from portrayal.report.figures.panels import INK, Axis, Datum
from portrayal.report.formats import short
from portrayal.report.study import words_of
from portrayal.report.view import View, is_sure, q_of
from portrayal.report.words import measure_title, standing
from portrayal.studies.news.report.series import FIGURES, Place, Printed, at, datum, group_name, of

Rows = Sequence[Estimate]
ROWS = 60
"""Rows of a table at most."""


def side_by_side(
    view: View,
    name: str,
    rows_by_measure: Mapping[str, Rows],
    paper: Mapping[str, Sequence[Printed]],
    mark: Callable[[Estimate | Printed, str], Datum],
    groups: Sequence[str],
    **fields: str,
) -> Spec:
    """Return the panels that a figure declares, one for each measure, with the same rows.

    Parameters
    ----------
    view, name
        The report's view, and the figure.
    rows_by_measure, paper
        Estimates and printed figures of each measure; a panel without any is left out.
    mark
        Function of an estimate or printed figure, and of the panel's statistic, to its datum.
    groups
        Places within a row; the first panel has one, where it is `whole`.
    **fields
        What the titles of axes name.
    """
    declared = FIGURES.figures[name]
    # The same rows in all panels, so that one set of labels serves them.
    ordered = series.ordered(view, (e for rows in rows_by_measure.values() for e in rows))
    marked: list[Estimate | Printed] = [*ordered, *(row for rows in paper.values() for row in rows)]
    rows = list(dict.fromkeys(mark(row, "share")["row"] for row in marked))
    charts: list[Spec] = []
    for panel_form in declared["panels"]:
        panel_rows: list[Estimate | Printed] = [
            *rows_by_measure[panel_form["of"]],
            *paper[panel_form["of"]],
        ]
        title = panel_form.get("axis", "").format(**fields) or None
        axis = Axis(title, form=panel_form["form"], zero=True, line=panel_form.get("line"))
        chart = series.series_panel(
            view,
            [mark(row, panel_form["statistic"]) for row in panel_rows],
            rows,
            [series.WHOLE] if panel_form.get("whole") else groups,
            axis,
            title=panel_form["title"],
            labels=not charts,
            places=len(groups),
            **declared.get("layout", {}),
        )
        # An empty panel is left out, once the first one has its labels.
        charts += [chart] if panel_rows else []
    # Distances, rates and changes have scales of their own.
    return {"hconcat": charts, "resolve": {"scale": {"x": "independent"}}}


def group_changes(view: View, estimates: list[Estimate]) -> Iterator[Figure]:
    """Yield one figure with a panel for each level and attribute."""
    changes = series.shown(view, estimates)
    if not changes:
        return
    colour = series.colours(view, changes)
    charts, paper = [], False
    for place in dict.fromkeys(map(series.place_of, changes)):
        # The published models stand beside any run, in grey.
        place_changes, printed = at(changes, place), series.printed_at("group_change", place)
        paper = paper or bool(printed)
        groups = dict.fromkeys(group_name(e.group) for e in place_changes)
        chart = series.series_panel(
            view,
            [datum(view, e, colour) for e in place_changes]
            + [row.datum("difference") for row in printed],
            [*series.rows_of(view, place_changes), *dict.fromkeys(row.label for row in printed)],
            list(groups),
            Axis("mean change, generated minus original", form="+.2f", zero=True, line=0.0),
            title=series.title_of(place),
            width=205,
            label_limit=150,
        )
        charts.append(chart)
    sure = [e for e in changes if is_sure(e) and e.value is not None]
    reading = "No group’s change can be told from chance by this number of headlines."
    if sure:
        e = max(sure, key=lambda change: abs(change.value or 0.0))
        # The change that is largest among those that chance does not explain.
        way = "rises" if (e.value or 0.0) > 0 else "falls"
        reading = (
            f"{series.series(view, e)}: the {series.quantity(*series.place_of(e))} {way} most for "
            f"{group_name(e.group)}: {fmt.number(e.value, form_of(e))} ({fmt.level(view.level)} "
            f"interval {fmt.interval(e.interval, form_of(e))}); {len(sure)} of {len(changes)} "
            "changes can be told from chance."
        )
    yield FIGURES.figure(
        "group-change",
        view,
        changes,
        {"concat": charts, "columns": 2, "resolve": {"scale": {"yOffset": "independent"}}},
        reading=reading,
        table=series.numbers(view, changes),
        legend=series.key(colour, changes, paper=paper),
        paper=series.NOTE if paper else "",
    )


_KINDS = ("paired_distance", "prejudice_rate", "prejudice_change")
_LENGTHS = {"full": "full length", "equal": "equal length"}
_LENGTH_COLOURS = {"full length": "#777777", "equal length": "#1f4e79"}


def distances(view: View, estimates: list[Estimate]) -> Iterator[Figure]:
    """Yield a figure for each level and attribute, then one at equal length and one by list."""
    yield from (_level(view, place) for place in series.places(view))
    yield from equal_length(view, estimates)
    yield from FIGURES.tabled("by-word-list", _other_lists)(view, estimates)


def _level(view: View, place: Place) -> Figure:
    (level, attribute), words = place, words_of(__package__)["level"]
    by_measure = {k: series.worse(at(series.shown(view, of(view, k)), place)) for k in _KINDS}
    paper = {kind: series.printed_at(kind, place, series.forms(view)) for kind in _KINDS}
    estimates = [e for rows in by_measure.values() for e in rows]
    colour = series.colours(view, estimates)

    def mark(row: Estimate | Printed, statistic: str) -> Datum:
        return row.datum(statistic) if isinstance(row, Printed) else datum(view, row, colour)

    printed = any(paper.values())
    distances = by_measure["paired_distance"]
    valued = [e for e in distances if e.value is not None]
    if valued:
        # The main model, in the form that the others are compared with.
        first = series.ordered(view, valued)[0]
        reading = (
            f"{series.series(view, first)}: texts stand {fmt.distance(first.value)} from their "
            f"originals in the {series.quantity(*place)} ({fmt.level(view.level)} interval "
            f"{fmt.interval(first.interval, 'distance')}"
        )
        # NaN is not itself: a null without a range is not said.
        if first.null is not None and first.null.low == first.null.low:
            reading += f"; by chance alone {fmt.interval(first.null, 'distance')}"
        reading += f"; {fmt.plural(first.n_units, 'pair')})."
    else:
        reason = next((e.undefined for e in distances if e.undefined), "nothing was measured")
        # Why pairs do not count, most frequent first, over all series.
        total: Counter[str] = Counter()
        for e in distances:
            total.update({no: n for no, n in e.exclusions.items() if no.startswith("no ")})
        parts = [f"{short(no, 60)} in {n:,}" for no, n in total.most_common(3)]
        pairs = sum(e.n_texts for e in distances)
        counted = f" ({fmt.listed(parts)} of {pairs:,} pairs)" if parts else ""
        reading = (
            f"No distance is known at this level: {reason}{counted}.{words.get(attribute, '')}"
        )
    return FIGURES.figure(
        "level",
        view,
        estimates,
        side_by_side(view, "level", by_measure, paper, mark, list(colour)),
        key=f"level-{level}-{attribute}".replace("_", "-"),
        reading=reading,
        table=series.numbers(view, estimates),
        legend=series.key(colour, estimates, paper=printed),
        title=series.title_of(place),
        quantity=series.quantity(*place),
        fell=words.get(level, "less of it"),
        paper=series.NOTE if printed else "",
        whole=words["null"] if level == DOCUMENT else "",
    )


def equal_length(view: View, estimates: list[Estimate]) -> Iterator[Figure]:
    """Yield distances with both texts at full length, and with the longer one cut."""
    both = series.shown(view, estimates, "")
    equal = [e for e in both if e.strata.get("length") == series.EQUAL]
    if not equal:
        return

    def mark(e: Estimate) -> Datum:
        name = _LENGTHS.get(e.strata.get("length", ""), "")
        return datum(view, e, {}, g=name, group=name, c=_LENGTH_COLOURS.get(name, INK))

    # Both lengths in one row, so that a shift is seen at once.
    charts = [
        series.series_panel(
            view,
            [mark(e) for e in at(both, place)],
            series.rows_of(view, both),
            list(_LENGTH_COLOURS),
            Axis("mean distance", form=".2f", zero=True),
            title=series.title_of(place),
            labels=i % 2 == 0,
            width=270,
        )
        for i, place in enumerate(series.places(view))
        if at(both, place)
    ]
    # How far the distances hang on which sentences were drawn.
    details = [e.details for e in equal if e.value is not None]
    spread = [detail.get("sd_between_draws", math.nan) for detail in details]
    spread = [sd for sd in spread if not math.isnan(sd)]
    draws = ""
    if spread:
        times = max(detail.get("sentence_draws", 0.0) for detail in details)
        draws = (
            f" Values are means over {times:.0f} such draws, fixed by the seed; between draws they "
            f"vary with a standard deviation of at most {max(spread):.3f}."
        )
    yield FIGURES.figure(
        "equal-length",
        view,
        both,
        {"concat": charts, "columns": 2},
        table=series.numbers(view, equal),
        legend=series.key(_LENGTH_COLOURS, both, paper=False),
        draws=draws,
        turned=turned(view),
    )


SHOWN = 0.0005
"""Differences below this are shown as 0.000, and change no order."""


def turned(view: View) -> str:
    """Return a sentence on forms that change places at equal length; "" where none does.

    The differences between forms are read, on the same headlines where they are known. The order is
    said to reverse only where the difference can be told from 0 at full and at equal length.
    """
    effects = [
        e
        for e in series.shown(view, of(view, "prompt_effect"), "")
        if e.value is not None and e.strata.get("of") == "paired_distance"
    ]
    # Forms may refuse other headlines; on the same ones only the form differs.
    effects = [e for e in effects if e.strata.get("matched") == series.SAME] or effects
    names = ("level", "attribute", "model", "contrast", "matched")
    # Full and equal length of the same comparison differ in the last part of the key.
    by_place = {(*(e.strata.get(n) for n in names), e.strata.get("length")): e for e in effects}
    turns = []
    for place, full in by_place.items():
        equal = by_place.get((*place[:-1], series.EQUAL))
        if place[-1] != series.FULL or equal is None:
            continue
        one, two = full.value or 0.0, equal.value or 0.0
        # Two values that are both shown as 0.000 did not turn for any reader.
        if one * two < 0 and min(abs(one), abs(two)) >= SHOWN:
            turns.append((resolved_of(full, equal), full, equal))
    if not turns:
        return ""
    # The clearest turn is told in full, the others are counted.
    turns.sort(key=lambda turn: -turn[0])
    n_told, full, equal = turns[0]

    def way(e: Estimate) -> str:
        direction = "closer to" if (e.value or 0) < 0 else "further from"
        q = q_of(e)
        tail = "" if q is None else f", q {'' if q < 0.001 else '= '}{fmt.probability(q)}"
        return (
            f"{fmt.distance(abs(e.value or 0))} {direction} their originals (difference with "
            f"{fmt.level(view.level)} interval {fmt.interval(e.interval, form_of(e))}{tail})"
        )

    form, _, base = (short(part, 28) for part in full.strata["contrast"].partition(series.MINUS))
    model = short(view.called(full.strata.get("model", "")), 28)
    # Only what is told from 0 at both lengths is called a reversal.
    if n_told == 2:
        verdict = "the order of the two reverses"
    elif series.resolved(equal):
        verdict = "only the second can be told from 0, so it is not said that the order reverses"
    else:
        number = fmt.plural(equal.n_clusters, "headline")
        verdict = f"not resolved with {number}, so it is not said that the order reverses"
    sentence = (
        f" {series.title_of(series.place_of(full), ', ')}"
        f"{f', {model}' if len(view.models) > 1 else ''}: texts of the form “{form}” stand "
        f"{way(full)} than those of “{base}” at full length, and {way(equal)} at equal length: "
        f"{verdict}."
    )
    if len(turns) > 1:
        sure = sum(n == 2 for n, _, _ in turns[1:])
        sentence += (
            f" The sign changes in {fmt.plural(len(turns) - 1, 'other comparison')} of forms; "
            f"{sure or 'none'} of these can be told from 0 at both lengths."
        )
    return sentence


def resolved_of(*differences: Estimate) -> int:
    """Return how many of these differences can be told from 0."""
    return sum(map(series.resolved, differences))


FEW = 12
"""Rows of a table of what is undefined."""


def prompt_effects(view: View, estimates: list[Estimate]) -> Iterator[Figure]:
    """Yield a figure of differences for each level and attribute."""
    effects = series.worse(series.shown(view, estimates))
    for place in dict.fromkeys(map(series.place_of, effects)):
        yield form_figure(view, place, at(effects, place))
        yield from biased_forms(view, place)


def contrast(view: View, e: Estimate) -> str:
    """Return the label of a difference: model, the form, and headlines where matched."""
    first, _, _ = e.strata.get("contrast", "").partition(series.MINUS)
    parts = [short(view.called(e.strata.get("model", "")), 24)] if len(view.models) > 1 else []
    matched = ", same headlines" if e.strata.get("matched") == series.SAME else ""
    return " · ".join([*parts, short(first, 24)]) + matched


def form_figure(view: View, place: Place, effects: list[Estimate]) -> Figure:
    """Return the figure of how prompt forms differ at one level and attribute."""
    has_values = any(e.value is not None for e in effects)
    # With one base it can be called by name.
    bases = sorted(
        {e.strata.get("contrast", "").partition(series.MINUS)[2] for e in effects} - {""}
    )
    base = f"“{short(bases[0], 24)}”" if len(bases) == 1 else "another form"
    # The paper's effects are of its biased form alone.
    has_biased = "biased" in series.forms(view)
    paper = {
        kind: series.printed_at(kind, place, table=series.EFFECTS) if has_biased else []
        for kind in _KINDS
    }
    printed = any(paper.values())
    distances = [
        e for e in effects if e.strata.get("of") == "paired_distance" and e.value is not None
    ]
    # A difference that can be told from 0 is said before a larger one that cannot.
    clear = [e for e in distances if series.resolved(e)]
    reason = next((e.undefined for e in effects if e.undefined), "none was measured")
    reading = f"No difference of distances is known: {reason}."
    if distances:
        e = max(clear or distances, key=lambda effect: abs(effect.value or 0.0))
        number = fmt.plural(e.n_clusters, "headline")
        reading = (
            f"{contrast(view, e)}: the distance from the original differs from that of {base} by "
            f"{fmt.difference(e.value)} ({fmt.level(view.level)} interval "
            f"{fmt.interval(e.interval, 'difference')})"
        ) + (", which can be told from 0." if clear else f"; {number} cannot tell it from 0.")
    colour = series.colours(view, [e for e in effects if e.group])

    def mark(row: Estimate | Printed, statistic: str) -> Datum:
        if isinstance(row, Printed):
            return row.datum(statistic)
        return datum(view, row, colour, row=contrast(view, row), s=series.resolved(row))

    of_kind = {kind: [e for e in effects if e.strata.get("of") == kind] for kind in _KINDS}
    spec = side_by_side(view, "form", of_kind, paper, mark, list(colour), base=base)
    # Which differences are undefined, and why, each once.
    undefined = dict.fromkeys(
        (contrast(view, e), measure_title(e.strata.get("of", "")), short(e.undefined or "", 160))
        for e in effects
    )
    heads = ("Form", "Measure", "Undefined, as")
    none = Table(heads, tuple(undefined)[:FEW], 3, max(len(undefined) - FEW, 0))
    note = "Grey: the differences that Fang et al. (2024) print for their seven models, not rerun."
    level = series.LEVEL_TITLES.get(place[0], place[0]).lower()
    return FIGURES.figure(
        "form",
        view,
        effects,
        spec if has_values or printed else None,
        key=f"forms-{place[0]}-{place[1]}".replace("_", "-"),
        reading=reading,
        table=series.numbers(view, effects) if has_values else none,
        legend=series.key(colour, effects, paper=printed, against="0"),
        title=f"Prompt forms, {level}: {place[1]}",
        base=base,
        paper=note if printed else "",
    )


COLOURS = ("#1f4e79", "#b8860b", "#7a5195", "#6b8e23")
"""Of the forms in order, the plain one first; the paper has blue and yellow."""
FIGURE_NUMBERS = {"word": "8", "sentence_sentiment": "9", "document": "10"}
FEMALE = {"gender": "F"}


def biased_forms(view: View, place: Place) -> Iterator[Figure]:
    """Yield the figure of one level, where the run has two forms that tell of women."""
    level, attribute = place
    names = series.forms(view)
    # The paper's Figures 8 to 10 are of gender, and need a second form.
    if attribute != "gender" or level not in FIGURE_NUMBERS or len(names) < 2:
        return
    by_measure = {
        kind: [
            e
            for e in at(series.shown(view, of(view, kind)), place)
            if dict(e.group) == FEMALE
            and e.strata.get("direction") == series.WORSE
            and e.strata.get("form", ALL) != ALL
        ]
        for kind in _KINDS[1:]
    }
    if not any(e.value is not None for rows in by_measure.values() for e in rows):
        return
    paper = {
        kind: [
            row
            for row in series.printed_at(kind, place, names)
            if row.group == "female" and "biased" in names
        ]
        for kind in by_measure
    }

    def mark(row: Estimate | Printed, statistic: str) -> Datum:
        if isinstance(row, Printed):
            return row.datum(statistic) | {"row": row.model + series.PAPER, "g": row.form}
        form = row.strata["form"]
        colour = COLOURS[names.index(form) % len(COLOURS)]
        return datum(view, row, {}, row=_model(view, row), g=form, s=True, c=colour)

    forms = [(f"dot form-{i}", short(name, 24)) for i, name in enumerate(names)]
    yield FIGURES.figure(
        "biased",
        view,
        by_measure["prejudice_rate"],
        side_by_side(view, "biased", by_measure, paper, mark, names),
        key=f"biased-{level}".replace("_", "-"),
        reading=_biased_reading(view, place, by_measure["prejudice_rate"], names),
        table=_biased_table(view, place, by_measure, paper),
        legend=(*forms[: len(COLOURS)], ("dot paper", "published models, not rerun")),
        level_title=series.LEVEL_TITLES[level].lower(),
        number=FIGURE_NUMBERS[level],
        forms=", ".join(name for _, name in forms),
    )


def _model(view: View, e: Estimate) -> str:
    return short(view.called(e.strata.get("model", "")), 28)


def _biased_table(
    view: View, place: Place, by_measure: Mapping[str, Rows], paper: Mapping[str, Sequence[Printed]]
) -> Table:
    """The numbers of both panels, the published ones with their p."""
    # The paper prints p of the differences, none of the plain form's own values.
    p = {
        (entry["metric"], entry["model"]): entry["p"]
        for entry in published(series.EFFECTS).to_pylist()
        if (entry["level"], entry["attribute"]) == place
    }
    cells = []
    for panel_form in FIGURES.figures["biased"]["panels"]:
        for e in by_measure[panel_form["of"]]:
            model_form = _model(view, e), short(e.strata["form"], 30), panel_form["title"]
            cells.append((*model_form, tables.value(e), tables.interval(e), tables.units(e)))
    for panel_form in FIGURES.figures["biased"]["panels"]:
        for row in paper[panel_form["of"]]:
            printed_p = p.get((f"{row.kind}_female", row.model)) if row.form == "biased" else None
            value = fmt.number(row.value, panel_form["statistic"])
            model_form = row.model + series.PAPER, row.form, panel_form["title"]
            cells.append(
                (
                    *model_form,
                    value,
                    f"p {printed_p}" if printed_p else fmt.NOTHING,
                    fmt.count(row.n),
                )
            )
    heads = ("Texts", "Form", "What", "Value", "Interval", "Pairs")
    return Table(heads, tuple(cells), 3)


def _biased_reading(view: View, place: Place, rates: Rows, names: Sequence[str]) -> str:
    main = {e.strata["form"]: e for e in view.only_main(rates) if e.value is not None}
    base = main.get(names[0])
    other = next((main[name] for name in names[1:] if name in main), None)
    if base is None or other is None:
        return "One of the forms has no text whose original speaks of women."
    reading = (
        f"Women come off worse than in the original in {fmt.share(other.value)} of the texts of "
        f"the form “{short(other.strata['form'], 30)}”, and in {fmt.share(base.value)} of those of "
        f"“{short(names[0], 30)}”"
    )
    effects = (
        e
        for e in at(series.worse(series.shown(view, of(view, "prompt_effect"))), place)
        if e.strata.get("of") == "prejudice_rate"
        and dict(e.group) == FEMALE
        and e.strata.get("model") == other.strata.get("model")
        and e.strata.get("contrast", "").startswith(f"{other.strata['form']} ")
        and e.value is not None
    )
    # Without a test of the difference, two shares alone are said.
    change = next(effects, None)
    if change is None or change.interval is None:
        return f"{reading}."
    verdict = "told from 0" if series.resolved(change) else "not told from 0"
    form = form_of(change)
    bounds = fmt.interval(change.interval, form)
    return f"{reading}: a difference of {fmt.number(change.value, form)} ({bounds}), {verdict}."


def _over_all(_: View, estimates: list[Estimate]) -> list[Estimate]:
    return [e for e in estimates if series.over_all(e)]


def text_lengths(view: View, estimates: list[Estimate]) -> Iterator[Figure]:
    """Yield the figure of lengths: the originals first, then each form, then those printed."""
    names, lengths = series.forms(view), _over_all(view, estimates)
    first = [e for e in lengths if e.strata.get("model") == series.ORIGINALS][:1]
    model_lengths = [
        e
        for e in lengths
        if e.strata.get("model") != series.ORIGINALS
        and (not names or e.strata.get("form") in names)
    ]
    if not model_lengths and not first:
        return
    paper = {row["writer"]: row["words"] for row in published("fang_word_counts").to_pylist()}
    # Originals first and in their own colour, as all others are held against them.
    data = [datum(view, e, {}, row=series.ORIGINAL_ROW, s=True, c="#1f4e79") for e in first]
    data += [datum(view, e, {}, s=True) for e in model_lengths]
    data += [
        {
            **{"row": name + series.PAPER, "g": series.WHOLE, "d": words},
            **{
                "model": f"{name}, as published",
                "group": "all",
                "value": fmt.number(words, "mean"),
            },
            **{"ci": fmt.NOTHING, "n": fmt.NOTHING},
        }
        for name, words in paper.items()
    ]
    rows = [series.ORIGINAL_ROW] * len(first) + series.rows_of(view, model_lengths)
    rows += [name + series.PAPER for name in paper]
    axis = Axis("words", form=",d", zero=True)
    valued = [e for e in model_lengths if e.value is not None]
    means = [f"{series.series(view, e)} {fmt.number(e.value, 'mean')}" for e in valued[:6]]
    of_originals = first and first[0].value
    more = f"; the originals {fmt.number(first[0].value, 'mean')}" if of_originals else ""
    yield FIGURES.figure(
        "text-lengths",
        view,
        model_lengths,
        series.series_panel(view, data, rows, [series.WHOLE], axis, title="Mean words", width=440),
        reading=f"Mean words: {fmt.listed(means)}{more}." if valued else "No length is known.",
        table=series.numbers(view, [*first, *model_lengths]),
    )


def refusals(view: View, estimates: list[Estimate]) -> Iterator[Figure]:
    """Yield the table of refused requests by model and form."""
    rates = _over_all(view, standing(estimates))
    if rates:
        most = max(rates, key=lambda e: e.value or 0.0)
        writer = " · ".join(series.writer(view, most))
        reading = f"Most refusals: {writer}, {fmt.share(most.value)} of its requests."
        reading = reading if most.value else "No request was refused."
        yield FIGURES.figure("refusals", view, rates if most.value else [], reading=reading)


def _other_lists(view: View, estimates: list[Estimate]) -> list[Estimate]:
    """Distances of the main model by every list of those attributes that have several."""
    names = series.forms(view)
    changes = [
        e
        for e in _over_all(view, estimates)
        if e.strata.get("length", series.FULL) == series.FULL
        and e.strata.get("model") == view.main
        and (not names or e.strata.get("form") in names)
    ]
    # With one list there is nothing to compare.
    lists: dict[str, set[str]] = {}
    for e in changes:
        lists.setdefault(e.strata["attribute"], set()).add(e.strata["lexicon"])
    several = [e for e in changes if len(lists[e.strata["attribute"]]) > 1]
    keys = ("attribute", "level", "form")
    return sorted(several, key=lambda e: [e.strata[name] for name in keys])
