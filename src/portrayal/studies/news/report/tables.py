"""Tables of a paired audit, and the biased answers with their published values."""

from collections.abc import Iterator, Sequence
from typing import Any

import portrayal.report.figures.figure as tables
import portrayal.report.formats as fmt
from portrayal.records import ALL, Estimate
from portrayal.reference import published
from portrayal.report.figures.figure import Figure, Table
from portrayal.report.figures.panels import INK, Axis, Datum
from portrayal.report.formats import short
from portrayal.report.view import View
from portrayal.studies.news.report.series import (
    FULL,
    LEVEL_TITLES,
    PAPER,
    WHOLE,
    WORSE,
    Printed,
    at,
    datum,
    effects,
    forms,
    numbers,
    of,
    over_all,
    printed_at,
    printed_datum,
    printed_words,
    resolved,
    rows_of,
    series,
    series_panel,
    shown,
)

ORIGINALS = "reference"
"""The model stratum of the originals."""
ORIGINAL_ROW = "the originals"


def text_lengths(view: View, estimates: list[Estimate]) -> Iterator[Figure]:
    """Yield the figure of lengths."""
    names = forms(view)
    whole = [e for e in estimates if over_all(e)]
    first = [e for e in whole if e.strata.get("model") == ORIGINALS][:1]
    own = [
        e
        for e in whole
        if e.strata.get("model") != ORIGINALS and (not names or e.strata.get("form") in names)
    ]
    if not own and not first:
        return
    paper = printed_words()
    rows = [ORIGINAL_ROW] * len(first) + rows_of(view, own) + [name + PAPER for name in paper]
    data = [datum(view, e, "#1f4e79") | {"row": ORIGINAL_ROW, "s": True} for e in first]
    data += [datum(view, e, INK) | {"s": True} for e in own]
    data += [_printed(name, words) for name, words in paper.items()]
    axis = Axis("words", form=",d", zero=True)
    spec = series_panel(view, data, rows, [WHOLE], axis, title="Mean words", width=440)
    yield Figure(
        "text-lengths",
        "Length of texts",
        _reading(view, own, first),
        "Mean words of readable texts with interval; grey: Table 3 of Fang et al. (2024). "
        "Compare levels at equal length before reading a distance as a choice of words.",
        spec,
        numbers(view, [*first, *own]),
        (("dot", "mean and interval"), ("dot paper", "published models, not rerun")),
    )


def _printed(name: str, words: int) -> Datum:
    return {
        "row": name + PAPER,
        "g": WHOLE,
        "d": words,
        "model": f"{name}, as published",
        "group": "all",
        "value": fmt.whole(words),
        "ci": fmt.NOTHING,
        "n": fmt.NOTHING,
    }


def _reading(view: View, own: list[Estimate], first: list[Estimate]) -> str:
    known = [e for e in own if e.value is not None]
    if not known:
        return "No length is known."
    said = [f"{series(view, e)} {fmt.whole(e.value)}" for e in known[:6]]
    text = f"Mean words: {fmt.listed(said)}"
    if first and first[0].value:
        text += f"; the originals {fmt.whole(first[0].value)}"
    return text + "."


ROWS = 60
Cells = tuple[str, ...]


def refusals(view: View, estimates: list[Estimate]) -> Iterator[Figure]:
    """Yield the table of refused requests by model and form."""
    own = [e for e in estimates if over_all(e)]
    if not own:
        return
    most = max(own, key=lambda e: e.value or 0.0)
    where = " · ".join(_writer(view, most))
    columns = {
        "Model": lambda e: _writer(view, e)[0],
        "Form": lambda e: _writer(view, e)[1],
        "Refused": tables.value,
        tables.interval_head(view): tables.interval,
        "Requests": tables.units,
    }
    yield Figure(
        "refusals",
        "Refusals",
        f"Most refusals: {where}, {fmt.share(most.value)} of its requests."
        if most.value
        else "No request was refused.",
        "Refused texts are counted here and left out of every other number. Fang et al. (2024): "
        "ChatGPT refused 89.13 % of requests with the “biased” prompt, no other model any.",
        None,
        Table.of(own if most.value else [], columns, 2, ROWS),
    )


def pair_fates(view: View, estimates: list[Estimate]) -> Iterator[Figure]:
    """Yield the table of what became of every text: paired, or left out and why."""
    own = [e for e in estimates if over_all(e)]
    rows: dict[Cells, dict[str, Estimate]] = {}
    for e in own:
        rows.setdefault(_writer(view, e), {})[e.group.get("fate", "")] = e
    if not rows:
        return
    fates = list(dict.fromkeys(fate for cells in rows.values() for fate in cells))
    table = tuple(
        (*who, *(fmt.count(cells[f].value) if f in cells else "0" for f in fates))
        for who, cells in list(rows.items())[:ROWS]
    )
    heads = ("Model", "Form", *(short(fate, 30).capitalize() for fate in fates))
    lost = sum(
        e.value or 0.0
        for e in own
        if e.group.get("fate") != "paired"
        and ALL not in (e.strata.get("model"), e.strata.get("form"))
    )
    yield Figure(
        "pair-fates",
        "What became of the pairs",
        f"{fmt.plural(lost, 'text')} could not be compared, for the reasons given."
        if lost
        else "Every text stands beside its original.",
        "A text is compared when both it and its original can be read; the others are counted "
        "here.",
        None,
        Table(heads, table if lost else (), 2, max(len(rows) - ROWS, 0)),
    )


def by_lexicon(view: View, estimates: list[Estimate]) -> Iterator[Figure]:
    """Yield the distances by each word list, where an attribute has several."""
    names = forms(view)
    own = [
        e
        for e in estimates
        if over_all(e)
        and e.strata.get("length", FULL) == FULL
        and e.strata.get("model") == view.main
        and (not names or e.strata.get("form") in names)
    ]
    lists: dict[str, set[str]] = {}
    for e in own:
        lists.setdefault(e.strata["attribute"], set()).add(e.strata["lexicon"])
    compared = [e for e in own if len(lists[e.strata["attribute"]]) > 1]
    if not compared:
        return
    compared.sort(key=lambda e: (e.strata["attribute"], e.strata["level"], e.strata["form"]))
    columns = {
        "Level": lambda e: LEVEL_TITLES.get(e.strata["level"], e.strata["level"]),
        "Attribute": lambda e: short(e.strata["attribute"], 20),
        "Form": lambda e: short(e.strata.get("form", ""), 30),
        "Word list": lambda e: short(e.strata["lexicon"], 40),
        "Distance": tables.value,
        tables.interval_head(view): tables.interval,
        "Null range": tables.null,
        "Pairs": tables.units,
    }
    yield Figure(
        "by-word-list",
        "By word list",
        "The same distances by other word lists: what one list alone shows rests on that list.",
        "The figures above use the first list of each attribute.",
        None,
        Table.of(compared, columns, 4, ROWS),
    )


def topic_use(view: View, estimates: list[Estimate]) -> Iterator[Figure]:
    """Yield the table of chi-squared tests: whether topics and groups go together."""
    columns = {
        "Corpus": lambda e: _corpus(view, e),
        "Attribute": lambda e: short(e.strata.get("attribute", ""), 20),
        "Word list": lambda e: short(e.strata.get("lexicon", ""), 40),
        "χ²": tables.value,
        "p": tables.p,
        "q": tables.q,
        "Sentences": tables.units,
    }
    yield Figure(
        "topic-use",
        "Topics by group",
        "Whether sentences about the groups take different topics, in each corpus.",
        "A topic is a group’s where its standardized residual exceeds 3. The run’s folder "
        "topics/ has the topics with their most relevant words.",
        None,
        Table.of(estimates, columns, 3, ROWS),
    )


def _corpus(view: View, e: Estimate) -> str:
    corpus, form = e.strata.get("corpus") or e.strata.get("model", ""), e.strata.get("form", ALL)
    if corpus == ORIGINALS:
        return ORIGINAL_ROW
    return short(view.called(corpus), 40) + ("" if form == ALL else f" · {short(form, 30)}")


def _writer(view: View, e: Estimate) -> Cells:
    model = e.strata.get("model", "")
    if model == ORIGINALS:
        return (ORIGINAL_ROW, fmt.NOTHING)
    form = e.strata.get("form", ALL)
    return (short(view.called(model), 40), "all forms" if form == ALL else short(form, 40))


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
    paper = {kind: _biased_printed(kind, place, names) for kind in PANELS}
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
        _biased_reading(view, place, own["prejudice_rate"], names),
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


def _biased_printed(kind: str, place: tuple[str, str], names: Sequence[str]) -> list[Printed]:
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


def _biased_reading(
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
