"""Biased: Figures 8 to 10, texts of each prompt form beside those of the plain one, by level."""

from collections.abc import Sequence
from typing import Any

import portrayal.report.formats as fmt
from portrayal.records import ALL, Estimate
from portrayal.reference import published
from portrayal.report.figures.figure import Figure, Table
from portrayal.report.figures.panels import Axis, Datum
from portrayal.report.inert import short
from portrayal.report.view import View
from portrayal.studies.news.report.series import (
    LEVEL_TITLES,
    PAPER,
    WORSE,
    Printed,
    at,
    datum,
    effects,
    forms,
    of,
    printed_at,
    printed_datum,
    resolved,
    series_panel,
    shown,
)

PANELS = {"prejudice_rate": "Share of prejudiced texts", "prejudice_change": "Change in those"}
COLOURS = ("#1f4e79", "#b8860b", "#882255", "#117A8B")
"""Of the forms in order, the plain one first; the paper has blue and yellow."""
FIGURES = {"word": "8", "sentence_sentiment": "9", "document": "10"}
FEMALE = {"gender": "F"}


def biased_forms(view: View, place: tuple[str, str]) -> Figure | None:
    """Return the figure of one level; None where the run has no two forms that tell of women."""
    level, attribute = place
    names = forms(view)
    if attribute != "gender" or level not in FIGURES or len(names) < 2:
        return None
    own = {kind: _of(view, kind, place) for kind in PANELS}
    if not any(e.value is not None for rows in own.values() for e in rows):
        return None
    paper = {kind: _printed(kind, place, names) for kind in PANELS}
    rows = list(dict.fromkeys(_row(view, e) for each in own.values() for e in each))
    rows += list(dict.fromkeys(_printed_row(row) for each in paper.values() for row in each))
    charts = [
        series_panel(
            view,
            [_datum(view, e, names) for e in own[kind]]
            + [_printed_datum(row) for row in paper[kind]],
            rows,
            names,
            Axis(None, form=".0%" if kind == "prejudice_rate" else "+.2f", zero=True),
            title=title,
            labels=i == 0,
            width=230,
        )
        for i, (kind, title) in enumerate(PANELS.items())
    ]
    return Figure(
        f"biased-{level}".replace("_", "-"),
        f"Prejudice against women by prompt form: {LEVEL_TITLES[level].lower()}",
        _reading(view, place, own["prejudice_rate"], names),
        f"The form of Figure {FIGURES[level]}. Left: of the texts whose original speaks of women, "
        "the share in which they come off worse than in the original; right: by how much in "
        f"those. In each row from above: {', '.join(short(n, 24) for n in names)}. Grey: the seven "
        "models of Fang et al. (2024), as printed.",
        {"hconcat": charts, "resolve": {"scale": {"x": "independent"}}},
        _table(view, own, paper, place),
        (
            *((f"dot form-{i}", short(name, 24)) for i, name in enumerate(names[: len(COLOURS)])),
            ("dot paper", "published models, not rerun"),
        ),
    )


def _of(view: View, kind: str, place: tuple[str, str]) -> list[Estimate]:
    return [
        e
        for e in at(shown(view, of(view, kind)), place)
        if dict(e.group) == FEMALE
        and e.strata.get("direction") == WORSE
        and e.strata.get("form", ALL) != ALL
    ]


def _printed(kind: str, place: tuple[str, str], names: Sequence[str]) -> list[Printed]:
    rows = [row for row in printed_at(kind, place, names) if row.group == "female"]
    return rows if "biased" in names else []


def _row(view: View, e: Estimate) -> str:
    return short(view.called(e.strata.get("model", "")), 28)


def _printed_row(row: Printed) -> str:
    return row.model + PAPER


def _datum(view: View, e: Estimate, names: Sequence[str]) -> Datum:
    form = e.strata["form"]
    colour = COLOURS[names.index(form) % len(COLOURS)]
    return datum(view, e, colour) | {"row": _row(view, e), "g": form, "s": True}


def _printed_datum(row: Printed) -> Datum:
    return printed_datum(row, "share") | {"row": _printed_row(row), "g": row.form}


def _reading(
    view: View, place: tuple[str, str], rates: Sequence[Estimate], names: Sequence[str]
) -> str:
    main = {e.strata["form"]: e for e in view.only_main(rates) if e.value is not None}
    base = main.get(names[0])
    other = next((main[name] for name in names[1:] if name in main), None)
    if base is None or other is None:
        return "One of the forms has no text whose original speaks of women."
    said = (
        f"Women come off worse than in the original in {fmt.share(other.value)} of the texts of "
        f"the form “{short(other.strata['form'], 30)}”, and in {fmt.share(base.value)} of those of "
        f"“{short(names[0], 30)}”"
    )
    change = _effect(view, place, "prejudice_rate", other.strata)
    if change is None or change.interval is None:
        return f"{said}."
    told = "told from 0" if resolved(change) else "not told from 0"
    bounds = fmt.interval(change.interval, "difference")
    return f"{said}: a difference of {fmt.difference(change.value)} ({bounds}), {told}."


def _effect(view: View, place: tuple[str, str], kind: str, strata: Any) -> Estimate | None:
    same = (
        e
        for e in at(effects(view, of(view, "prompt_effect")), place)
        if e.strata.get("of") == kind
        and dict(e.group) == FEMALE
        and e.strata.get("model") == strata.get("model")
        and e.strata.get("contrast", "").startswith(f"{strata['form']} ")
        and e.value is not None
    )
    return next(same, None)


def _table(
    view: View,
    own: dict[str, list[Estimate]],
    paper: dict[str, list[Printed]],
    place: tuple[str, str],
) -> Table:
    rows = [
        (
            _row(view, e),
            short(e.strata["form"], 30),
            PANELS[kind],
            fmt.number(e.value, e.statistic),
            fmt.interval(e.interval, e.statistic),
            fmt.count(e.n_units),
        )
        for kind, each in own.items()
        for e in each
    ]
    p = {
        (row["metric"], row["model"]): row["p"]
        for row in published("fang_biased_prompts").to_pylist()
        if (row["level"], row["attribute"]) == place
    }
    rows += [
        (
            _printed_row(row),
            row.form,
            PANELS[kind],
            fmt.number(row.value, "share" if kind == "prejudice_rate" else "difference"),
            _p_words(p.get((f"{kind}_female", row.model)) if row.form == "biased" else None),
            fmt.count(row.n),
        )
        for kind, each in paper.items()
        for row in each
    ]
    return Table(("Texts", "Form", "What", "Value", "Interval", "Pairs"), tuple(rows), 3)


def _p_words(p: str | None) -> str:
    return f"p {p}" if p else fmt.NOTHING
