"""Figures 8–10: what a prompt form changes, as differences between forms."""

from collections.abc import Sequence

from portrayal.records import ALL, Estimate
from portrayal.report import formats as fmt
from portrayal.report.figures.figure import Figure, Spec
from portrayal.report.figures.tables import Table
from portrayal.report.figures.panels import Axis
from portrayal.report.figures.parts import INK
from portrayal.report.inert import short
from portrayal.report.view import View, q_of
from portrayal.report.words import measure_title
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
    WORSE,
    Printed,
    at,
    colours,
    forms,
    group_name,
    lexicons,
    numbers,
    of,
    printed_effects,
)

SAME = "same headlines"
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
        and all(e.strata.get(name, ALL) == ALL for name in ("domain", "source"))
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


MINUS = " minus "
ROWS = 12
"""Rows of a table of what is undefined."""
_PANELS = {
    "paired_distance": ("Distance", "+.2f"),
    "prejudice_rate": ("Prejudice rate", "+.2f"),
    "prejudice_change": ("Change in those texts", "+.2f"),
}


def prompt_effects(view: View, estimates: list[Estimate]) -> list[Figure]:
    """Return a figure of differences for each level and attribute."""
    own = effects(view, estimates)
    places = list(dict.fromkeys((e.strata["level"], e.strata["attribute"]) for e in own))
    return [_figure(view, place, at(own, place)) for place in places]


def effects(view: View, estimates: list[Estimate]) -> list[Estimate]:
    """Return the differences over all domains and sources, at full length, by the first lists."""
    first = lexicons(view)
    return [
        e
        for e in estimates
        if all(e.strata.get(name, ALL) == ALL for name in ("domain", "source"))
        and e.strata.get("length", "full") == "full"
        and e.strata.get("direction", WORSE) in (WORSE, "")
        and e.strata.get("lexicon") in (None, first.get(e.strata.get("attribute", "")))
    ]


def resolved(e: Estimate) -> bool:
    """Whether a difference can be told from 0: q below 0.05 and an interval that leaves out 0."""
    q, bounds = q_of(e), e.interval
    return (
        q is not None and q < 0.05 and bounds is not None and not bounds.low <= 0.0 <= bounds.high
    )


def contrast(view: View, e: Estimate) -> str:
    """Return the label of a difference: model, the form, and headlines where matched."""
    first, _, _ = e.strata.get("contrast", "").partition(MINUS)
    parts = [short(view.called(e.strata.get("model", "")), 24)] if len(view.models) > 1 else []
    matched = ", same headlines" if e.strata.get("matched") == "same headlines" else ""
    return " · ".join([*parts, short(first, 24)]) + matched


def base_of(own: Sequence[Estimate]) -> str:
    """Return the form that differences are from; "another form" where there are several."""
    bases = {e.strata.get("contrast", "").partition(MINUS)[2] for e in own} - {""}
    return f"“{short(bases.pop(), 24)}”" if len(bases) == 1 else "another form"


def _figure(view: View, place: tuple[str, str], own: list[Estimate]) -> Figure:
    level, attribute = place
    base, known = base_of(own), any(e.value is not None for e in own)
    asked = "biased" in forms(view)
    paper = {kind: printed_effects(kind, place) if asked else [] for kind in _PANELS}
    beside = any(paper.values())
    labels = list(dict.fromkeys(contrast(view, e) for e in _ordered(view, own)))
    labels += list(dict.fromkeys(row.label for rows in paper.values() for row in rows))
    present = {group_name(e.group) for e in own if e.group}
    colour = {name: c for name, c in colours(view).items() if name in present}
    charts = [
        _panel(view, kind, found, paper[kind], labels, colour, base)
        for kind in _PANELS
        if (found := [e for e in own if e.strata.get("of") == kind]) or paper[kind]
    ]
    spec = {"hconcat": charts, "resolve": {"scale": {"x": "independent"}}}
    note = "Grey: the differences that Fang et al. (2024) print for their seven models, not rerun."
    return Figure(
        f"forms-{level}-{attribute}".replace("_", "-"),
        f"Prompt forms, {LEVEL_TITLES.get(level, level).lower()}: {attribute}",
        _reading(view, own),
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


def _panel(
    view: View,
    kind: str,
    own: list[Estimate],
    paper: list[Printed],
    labels: list[str],
    colour: dict[str, str],
    base: str,
) -> Spec:
    title, form = _PANELS[kind]
    whole = kind == "paired_distance"
    data = [
        datum(view, e, colour.get(group_name(e.group), INK))
        | {"row": contrast(view, e), "s": resolved(e)}
        for e in own
    ]
    data += [printed_datum(row, "difference") for row in paper]
    return series_panel(
        view,
        data,
        labels,
        [WHOLE] if whole else list(colour),
        Axis(f"minus {base}", form=form, zero=True, line=0.0),
        title=title,
        labels=whole,
        places=len(colour),
        label_limit=230,
        width=165,
    )


def _reading(view: View, own: list[Estimate]) -> str:
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
