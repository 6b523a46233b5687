"""Series: which estimates of a paired audit a figure shows, and how they are called.

A *series* is one writer of texts, a model under one prompt form. Figures show series over all
domains, at full length, by the study's own word lists; the tables have the rest.
"""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import portrayal.report.formats as fmt
import portrayal.report.words as words
from portrayal.annotate.group_words import DEFAULT_LEXICONS
from portrayal.records import ALL, Estimate
from portrayal.reference import published
from portrayal.report.figures.declared import Declarations
from portrayal.report.figures.figure import Spec, Table
from portrayal.report.figures.panels import INK, Axis, Datum, dot, panel
from portrayal.report.formats import short
from portrayal.report.study import words_of
from portrayal.report.view import View, q_of

SAID = words_of(__package__)
NOTE: str = SAID["note"]
LEVELS: dict[str, str] = SAID["levels"]
LEVEL_TITLES: dict[str, str] = SAID["level_titles"]
PAPER = " (paper)"
PLAIN = "un" + "biased"
"""Fang et al.'s name of the form that adds nothing to the headline."""
FULL, EQUAL = "full", "equal"
WORSE = "worse"
SAME = "same headlines"
"""The matching in which both forms answered the headlines."""
MINUS = " minus "
WHOLE = ""
"""The place, within a row, of a value that is of no single group."""
GENDER_NAMES = {"F": "female", "M": "male", "NB": "non-binary"}
Place = tuple[str, str]
"""A level and an attribute."""


@dataclass(frozen=True)
class Printed:
    """One printed figure of a table; bounds are None where the paper prints none."""

    table: str
    kind: str
    place: Place
    form: str
    model: str
    group: str
    value: float
    low: float | None
    high: float | None
    n: int

    @property
    def label(self) -> str:
        """The row it stands in."""
        return self.model + (" · biased" if self.form == "biased" else "") + PAPER

    def datum(self, statistic: str) -> Datum:
        """Return where it stands in a panel, in grey."""
        # Some figures are printed without an interval.
        has_bounds = self.low is not None and self.high is not None
        bounds = (
            fmt.span(self.low or 0.0, self.high or 0.0, statistic) if has_bounds else fmt.NOTHING
        )
        return {
            **{"row": self.label, "g": self.group or WHOLE, "d": self.value},
            **{"pl": self.low, "ph": self.high, "model": f"{self.model}, as published"},
            **{"group": self.group or "all", "value": fmt.number(self.value, statistic)},
            **{"ci": bounds, "n": fmt.plural(self.n, "pair")},
        }


RATES, GROUPS, EFFECTS = "fang_news_bias", "fang_group_change", "fang_biased_prompts"
"""Tables of distances, rates and changes; of Table 1's groups; of biased minus plain prompts."""


@cache
def printed() -> tuple[Printed, ...]:
    """Return every printed figure of the three tables."""
    rows = []
    for table in (RATES, GROUPS, EFFECTS):
        for row in published(table).to_pylist():
            # One table has the metric in a column, another the group.
            metric = row.get("metric", f"group_change_{row.get('group')}")
            kind, _, group = metric.rpartition("_")
            if kind not in ("group_change", "prejudice_rate", "prejudice_change"):
                kind, group = "paired_distance", ""
            # The experiment with biased prompts is about women alone.
            group = "female" if table == EFFECTS else {"black": "Black"}.get(group, group)
            place, form = (row["level"], row["attribute"]), row.get("prompt", PLAIN)
            value = row["difference" if table == EFFECTS else "value"]
            bounds = row.get("ci_low"), row.get("ci_high")
            labels = form, row["model"], group
            rows.append(Printed(table, kind, place, *labels, value, *bounds, row.get("n", 0)))
    return tuple(rows)


def printed_at(
    kind: str, place: Place, forms: Collection[str] = (), table: str = ""
) -> list[Printed]:
    """Return what is printed of a kind at a level and attribute, for forms that the run has.

    The plain form stands beside any run; effects are asked for by their table.
    """
    return [
        row
        for row in printed()
        if (row.kind, row.place) == (kind, place)
        and (row.table == table if table else row.table != EFFECTS)
        and (row.form == PLAIN or row.form in forms)
    ]


def of(view: View, kind: str) -> list[Estimate]:
    """Return the estimates of a measure, by its name without version."""
    return [e for name, rows in view.by_measure.items() if words.stem(name) == kind for e in rows]


def over_all(e: Estimate) -> bool:
    """Whether an estimate is over all domains and sources."""
    return all(e.strata.get(name, ALL) == ALL for name in ("domain", "source"))


def shown(view: View, estimates: Iterable[Estimate], length: str = FULL) -> list[Estimate]:
    """Return the estimates of single forms over all domains and sources, by the first word lists.

    `length` is "full", "equal" or "" for both. What labels by hand correct stands corrected.
    """
    # Further word lists and pooled forms stand in tables, or a figure would show one thing twice.
    first, names = lexicons(view), forms(view)
    return [
        e
        for e in words.standing(estimates)
        if over_all(e)
        and (not names or e.strata.get("form") in (None, *names))
        and length in ("", e.strata.get("length", length))
        and e.strata.get("lexicon") in (None, first.get(e.strata.get("attribute", "")))
    ]


def worse(estimates: Iterable[Estimate]) -> list[Estimate]:
    """Return those that count what is worse than in the original, or that have no direction."""
    return [e for e in estimates if e.strata.get("direction", WORSE) in (WORSE, "")]


def lexicons(view: View) -> dict[str, str]:
    """Return each attribute's first word list: the study's own."""
    by_attribute: dict[str, str] = {}
    for e in of(view, "paired_distance"):
        by_attribute.setdefault(e.strata["attribute"], e.strata["lexicon"])
    return by_attribute


def place_of(e: Estimate) -> Place:
    """Return the level and attribute of an estimate."""
    return e.strata["level"], e.strata["attribute"]


def places(view: View) -> list[Place]:
    """Return (level, attribute) in the order of the estimates."""
    return list(dict.fromkeys(map(place_of, of(view, "paired_distance"))))


def at(estimates: Iterable[Estimate], place: Place) -> list[Estimate]:
    """Return the estimates of one level and attribute."""
    return [e for e in estimates if place_of(e) == place]


def forms(view: View) -> list[str]:
    """Return the prompt forms, the one the others are compared with first."""
    names_of_forms = dict.fromkeys(e.strata.get("form", ALL) for e in of(view, "paired_distance"))
    names = [form for form in names_of_forms if form != ALL]
    base = base_form(view, names)
    return [base, *(form for form in names if form != base)] if names else []


def base_form(view: View, names: Sequence[str]) -> str:
    """Return the form that prompt effects subtract, else the paper's plain one, else the first."""
    # The user may name the base, which only the effects' names still tell.
    contrasts = [e.strata.get("contrast", "") for e in of(view, "prompt_effect")]
    bases = {text.partition(MINUS)[2] for text in contrasts}
    base_names = [name for name in names if name in bases] or [n for n in names if n == PLAIN]
    return (base_names or [*names, ""])[0]


def series(view: View, e: Estimate) -> str:
    """Return the label of an estimate's series: model and form, what varies of them."""
    model, form = e.strata.get("model", ""), e.strata.get("form", ALL)
    # What all series share is left out of every label.
    parts = [short(view.called(model), 28)] if len(view.models) > 1 else []
    if len(forms(view)) > 1:
        parts.append("all forms" if form == ALL else short(form, 28))
    return " · ".join(parts) or short(view.called(model), 28)


def ordered(view: View, estimates: Iterable[Estimate]) -> list[Estimate]:
    """Return estimates in the order of their series: the main model first, forms in order."""
    models, names = list(view.strata_models), [*forms(view), ALL]

    def key(e: Estimate) -> tuple[int, int, str]:
        model, contrast = e.strata.get("model", ""), e.strata.get("contrast", "")
        # Contrasts are no form, and follow by their own name.
        form = "" if contrast else e.strata.get("form", ALL)
        return (
            models.index(model) if model in models else len(models),
            names.index(form) if form in names else len(names),
            contrast,
        )

    return sorted(estimates, key=key)


def rows_of(view: View, estimates: Iterable[Estimate]) -> list[str]:
    """Return the labels of the series in order."""
    return list(dict.fromkeys(series(view, e) for e in ordered(view, estimates)))


def resolved(e: Estimate) -> bool:
    """Whether a difference can be told from 0: q below 0.05 and an interval that leaves out 0."""
    # Both: q allows for many tests, the interval shows what is drawn.
    q, bounds = q_of(e), e.interval
    clear = bounds is not None and not bounds.low <= 0.0 <= bounds.high
    return q is not None and q < 0.05 and clear


def group_name(group: Mapping[str, str]) -> str:
    """Return a group as the figures name it ("female", "Black")."""
    return ", ".join(
        GENDER_NAMES.get(value, value) if attribute == "gender" else str(value)
        for attribute, value in group.items()
    )


def colours(view: View, present: Iterable[Estimate]) -> dict[str, str]:
    """Return the colour of each group of these estimates, by its name, as in all of the run."""
    by_group: dict[str, str] = {}
    # Colours are dealt over the whole run, so that a group keeps its own in every figure.
    own_values: list[str] = []
    for kind in ("group_change", "prejudice_rate"):
        for e in of(view, kind):
            own_values += [value for value in e.group.values() if value not in own_values]
            by_group.setdefault(group_name(e.group), words.colour_of_group(e.group, own_values))
    names = {group_name(e.group) for e in present}
    return {name: colour for name, colour in by_group.items() if name in names}


def quantity(level: str, attribute: str) -> str:
    """Return what a level compares, in words ("share of gender words")."""
    if level in ("word", "document"):
        return f"share of {attribute} {LEVELS[level]}"
    return "mean " + LEVELS.get(level, level).replace("sentences", f"sentences about a {attribute}")


def table_place(e: Estimate) -> str:
    """Return what an estimate is of: level, form, and whatever is not pooled or usual."""
    of_measure = [words.measure_title(e.strata["of"])] if "of" in e.strata else []
    further = [
        value.replace("_", " ")
        for name, value in e.strata.items()
        if name not in ("attribute", "model", "of") and value not in ("", ALL, FULL, WORSE)
    ]
    return ", ".join([*of_measure, *further])


def title_of(place: Place, mark: str = ": ") -> str:
    """Return a level and attribute as a title ("Word level: gender")."""
    return f"{LEVEL_TITLES.get(place[0], place[0])}{mark}{place[1]}"


ORIGINALS = "reference"
"""The model stratum of the originals."""
ORIGINAL_ROW = "the originals"


def _what(e: Estimate) -> str:
    title = words.measure_title(e.strata.get("of", e.measure))
    title += ", same headlines" if e.strata.get("matched") == SAME else ""
    if "direction" in e.strata:
        title += " (as published)" if e.strata["direction"] == WORSE else " (the other way)"
    return title


def label(e: Estimate) -> str:
    """Return what an estimate is of ("Change of a group: female, share of gender words")."""
    names = ("lexicon", "form", "contrast", "seen_by", "domain", "source")
    further = [x for name in names if (x := e.strata.get(name, "")) not in DEFAULT_LEXICONS]
    further += ["at equal length"] * (e.strata.get("length") == EQUAL)
    parts = (group_name(e.group), quantity(*place_of(e)) if "level" in e.strata else "", *further)
    return f"{_what(e)}: {', '.join(part for part in parts if part not in ('', ALL, PLAIN))}"


def writer(view: View, e: Estimate) -> tuple[str, str]:
    """Return who wrote the texts of an estimate: model and form, or the originals."""
    model, form = e.strata.get("model", ""), e.strata.get("form", ALL)
    if model == ORIGINALS:
        return (ORIGINAL_ROW, fmt.NOTHING)
    return (short(view.called(model), 40), "all forms" if form == ALL else short(form, 40))


def _corpus(view: View, e: Estimate) -> str:
    corpus, form = e.strata.get("corpus") or e.strata.get("model", ""), e.strata.get("form", ALL)
    if corpus == ORIGINALS:
        return ORIGINAL_ROW
    return short(view.called(corpus), 40) + ("" if form == ALL else f" · {short(form, 30)}")


FIGURES = Declarations(
    "portrayal.studies.news.report",
    {
        "what": lambda _, e: _what(e),
        "corpus": _corpus,
        "writer": lambda view, e: writer(view, e)[0],
        "writer form": lambda view, e: writer(view, e)[1],
        "group name": lambda _, e: short(group_name(e.group)) or fmt.NOTHING,
        "level title": lambda _, e: LEVEL_TITLES.get(e.strata["level"], e.strata["level"]),
        "place": lambda _, e: title_of(place_of(e), ", "),
        "series": series,
        "form": lambda _, e: short(e.strata.get("form", ALL), 40),
        "measure at level": lambda _, e: (
            f"{words.measure_title(e.measure)}, {e.strata['level'].replace('_', ' ')}"
        ),
    },
)


def numbers(view: View, estimates: Sequence[Estimate]) -> Table:
    """Return estimates as a table: what, of whom, value, interval, null, q, pairs."""
    several = {"model": len(view.models) > 1, "form": len(forms(view)) > 1}
    heads = {name: name.capitalize() if is_shown else "" for name, is_shown in several.items()}
    return FIGURES.table("numbers", view, estimates, **heads)


def datum(view: View, e: Estimate, groups: Mapping[str, str], **more: Any) -> Datum:
    """Return where the dot, interval and null band of an estimate stand; `more` overrules."""
    name = group_name(e.group)
    point = dot(view, e, series(view, e), groups.get(name, INK), Axis(None))
    # Dots of several groups share a row, each in a place of its own.
    point |= {"g": name or WHOLE, "form": e.strata.get("form", ""), "group": short(name, 60)}
    return point | {"group": point["group"] or "all"} | more


def series_panel(
    view: View,
    data: Sequence[Datum],
    rows: Sequence[str],
    groups: Sequence[str],
    axis: Axis,
    places: int = 0,
    width: float = 172,
    **layout: Any,
) -> Spec:
    """Return one panel; a row is high enough for `places` groups, as many as it has by default."""
    size = (width, 11 * max(places, len(groups)) + 9)
    more = {"Headlines": "k", "Form": "form"}
    layout = {"label_limit": 176, **layout}
    return panel(view, data, rows, axis, size=size, groups=groups, more=more, **layout)


def key(
    groups: Mapping[str, str],
    estimates: Iterable[Estimate],
    *,
    paper: bool,
    against: str = "its null",
) -> tuple[tuple[str, str], ...]:
    """Return what each mark is, for the key under the chart."""
    # A key to a mark that no panel has would send readers looking for it.
    null = any(e.null is not None and not math.isnan(e.null.low) for e in estimates)
    return (
        *((f"dot {words.colour_class(colour)}", name) for name, colour in groups.items()),
        ("dot", f"can be told from {against}"),
        ("ring", "cannot"),
        *((("band", "null range: what chance gives"),) if null else ()),
        *((("dot paper", "published models, not rerun"),) if paper else ()),
    )
