"""Series: which estimates of a paired audit a figure shows, and how they are called.

A *series* is one writer of texts, a model under one prompt form. Figures show series over all
domains, at full length, by the study's own word lists; the tables have the rest.
"""

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import portrayal.report.figures.figure as tables
import portrayal.report.formats as fmt
from portrayal.records import ALL, Estimate
from portrayal.reference import published
from portrayal.report.figures.figure import Spec, Table
from portrayal.report.figures.panels import Axis, Datum, dot, panel
from portrayal.report.formats import short
from portrayal.report.view import View, q_of
from portrayal.report.words import colour_class, colour_of_group, measure_title, stem

PAPER = " (paper)"
PLAIN = "un" + "biased"
"""Fang et al.'s name of the form that adds nothing to the headline."""
NOTE = (
    "Grey: the seven models of Fang et al. (2024), as printed, on 8,629 articles of The New York "
    "Times and Reuters. Headlines, word lists of people and lengths differ; read them as context."
)
_KINDS = {
    "wasserstein": "paired_distance",
    "max_abs_difference": "paired_distance",
    "prejudice_rate_female": "prejudice_rate",
    "prejudice_rate_black": "prejudice_rate",
    "prejudice_change_female": "prejudice_change",
    "prejudice_change_black": "prejudice_change",
}
_GROUPS = {"female": "female", "black": "Black"}


@dataclass(frozen=True)
class Printed:
    """One printed figure; bounds are None where the paper prints none."""

    kind: str
    level: str
    attribute: str
    form: str
    model: str
    group: str
    value: float
    low: float | None
    high: float | None
    n: int

    @classmethod
    def of(cls, kind: str, row: Mapping[str, Any], group: str, value: str = "value") -> "Printed":
        """Return the figure of one row of a published table."""
        place, form = (row["level"], row["attribute"]), row.get("prompt", PLAIN)
        bounds = row.get("ci_low"), row.get("ci_high")
        return cls(kind, *place, form, row["model"], group, row[value], *bounds, row.get("n", 0))

    @property
    def label(self) -> str:
        """The row it stands in."""
        return self.model + (" · biased" if self.form == "biased" else "") + PAPER


@cache
def printed() -> tuple[Printed, ...]:
    """Return every printed distance, prejudice rate, change, and Table 1's changes of groups."""
    found = [
        Printed.of(_KINDS[row["metric"]], row, _GROUPS.get(row["metric"].rpartition("_")[2], ""))
        for row in published("fang_news_bias").to_pylist()
    ]
    table_1 = published("fang_group_change").to_pylist()
    return (*found, *(Printed.of("group_change", row, row["group"]) for row in table_1))


def printed_at(kind: str, place: tuple[str, str], forms: Collection[str]) -> list[Printed]:
    """Return what is printed of a kind at a level and attribute, for forms that the run has.

    The plain form stands beside any run.
    """
    return [
        row
        for row in printed()
        if row.kind == kind
        and (row.level, row.attribute) == place
        and (row.form == PLAIN or row.form in forms)
    ]


def printed_effects(kind: str, place: tuple[str, str]) -> list[Printed]:
    """Return the printed differences between the biased and the plain form."""
    return [
        Printed.of(kind, row, "female", "difference")
        for row in published("fang_biased_prompts").to_pylist()
        if _KINDS[row["metric"]] == kind and (row["level"], row["attribute"]) == place
    ]


def printed_words() -> dict[str, int]:
    """Return Table 3: average words by writer."""
    return {row["writer"]: row["words"] for row in published("fang_word_counts").to_pylist()}


FULL, EQUAL = "full", "equal"
WORSE = "worse"
SAME = "same headlines"
"""The matching in which both forms answered the headlines."""
MINUS = " minus "

LEVELS = {
    "word": "words",
    "sentence_sentiment": "sentiment of sentences",
    "sentence_toxicity": "toxicity of sentences",
    "document": "topics",
}
LEVEL_TITLES = {
    "word": "Word level",
    "sentence_sentiment": "Sentence level, sentiment",
    "sentence_toxicity": "Sentence level, toxicity",
    "document": "Document level",
}
GENDER_NAMES = {"F": "female", "M": "male", "NB": "non-binary"}


def of(view: View, kind: str) -> list[Estimate]:
    """Return the estimates of a measure, by its name without version."""
    return [e for name, rows in view.by_measure.items() if stem(name) == kind for e in rows]


def shown(view: View, estimates: Iterable[Estimate], length: str = FULL) -> list[Estimate]:
    """Return the estimates of single forms over all domains and sources, by the first word lists.

    `length` is "full", "equal" or "" for both.
    """
    first, names = lexicons(view), forms(view)
    return [
        e
        for e in estimates
        if over_all(e)
        and (not names or e.strata.get("form") in (None, *names))
        and length in ("", e.strata.get("length", length))
        and e.strata.get("lexicon") in (None, first.get(e.strata.get("attribute", "")))
    ]


def lexicons(view: View) -> dict[str, str]:
    """Return each attribute's first word list: the study's own."""
    found: dict[str, str] = {}
    for e in of(view, "paired_distance"):
        found.setdefault(e.strata["attribute"], e.strata["lexicon"])
    return found


def places(view: View) -> list[tuple[str, str]]:
    """Return (level, attribute) in the order of the estimates."""
    pairs = [(e.strata["level"], e.strata["attribute"]) for e in of(view, "paired_distance")]
    return list(dict.fromkeys(pairs))


def at(estimates: Iterable[Estimate], place: tuple[str, str]) -> list[Estimate]:
    """Return the estimates of one level and attribute."""
    return [e for e in estimates if (e.strata["level"], e.strata["attribute"]) == place]


def forms(view: View) -> list[str]:
    """Return the prompt forms, the one the others are compared with first."""
    found = list(dict.fromkeys(e.strata.get("form", ALL) for e in of(view, "paired_distance")))
    names = [form for form in found if form != ALL]
    base = base_form(view, names)
    return [base, *(form for form in names if form != base)] if names else []


def base_form(view: View, names: Sequence[str]) -> str:
    """Return the form that prompt effects subtract, else the paper's plain one, else the first."""
    contrasts = [e.strata.get("contrast", "") for e in of(view, "prompt_effect")]
    bases = {text.partition(MINUS)[2] for text in contrasts}
    known = [name for name in names if name in bases] or [n for n in names if n == PLAIN]
    return known[0] if known else names[0] if names else ""


def series(view: View, e: Estimate) -> str:
    """Return the label of an estimate's series: model and form, what varies of them."""
    model, form = e.strata.get("model", ""), e.strata.get("form", ALL)
    parts = [short(view.called(model), 28)] if len(view.models) > 1 else []
    if len(forms(view)) > 1:
        parts.append("all forms" if form == ALL else short(form, 28))
    return " · ".join(parts) or short(view.called(model), 28)


def rows_of(view: View, estimates: Iterable[Estimate]) -> list[str]:
    """Return the labels of the series in order: the main model first, forms in order."""
    models, names = list(view.strata_models), [*forms(view), ALL]

    def key(e: Estimate) -> tuple[int, int]:
        model, form = e.strata.get("model", ""), e.strata.get("form", ALL)
        return (
            models.index(model) if model in models else len(models),
            names.index(form) if form in names else len(names),
        )

    return list(dict.fromkeys(series(view, e) for e in sorted(estimates, key=key)))


def effects(view: View, estimates: list[Estimate]) -> list[Estimate]:
    """Return the differences over all domains and sources, at full length, by the first lists."""
    first = lexicons(view)
    return [
        e
        for e in estimates
        if over_all(e)
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


def group_name(group: dict[str, str] | Any) -> str:
    """Return a group as the figures name it ("female", "Black")."""
    return ", ".join(
        GENDER_NAMES.get(value, value) if attribute == "gender" else str(value)
        for attribute, value in group.items()
    )


def colours(view: View) -> dict[str, str]:
    """Return the colour of each group of the run, by its name."""
    found: dict[str, str] = {}
    own: list[str] = []
    for kind in ("group_change", "prejudice_rate"):
        for e in of(view, kind):
            own += [value for value in e.group.values() if value not in own]
            found.setdefault(group_name(e.group), colour_of_group(e.group, own))
    return found


def quantity(level: str, attribute: str) -> str:
    """Return what a level compares, in words ("share of gender words")."""
    if level == "word":
        return f"share of {attribute} words"
    if level == "document":
        return f"share of {attribute} topics"
    return "mean " + LEVELS.get(level, level).replace("sentences", f"sentences about a {attribute}")


def table_place(e: Estimate) -> str:
    """Return what an estimate is of: level, form, and whatever is not pooled or usual."""
    of_measure = [measure_title(e.strata["of"])] if "of" in e.strata else []
    usual = ("", ALL, FULL, WORSE)
    rest = [
        value.replace("_", " ")
        for name, value in e.strata.items()
        if name not in ("attribute", "model", "of") and value not in usual
    ]
    return ", ".join([*of_measure, *rest])


def over_all(e: Estimate) -> bool:
    """Whether an estimate is over all domains and sources."""
    return all(e.strata.get(name, ALL) == ALL for name in ("domain", "source"))


def title_of(place: tuple[str, str]) -> str:
    """Return a level and attribute as a title ("Word level: gender")."""
    return f"{LEVEL_TITLES.get(place[0], place[0])}: {place[1]}"


def numbers(view: View, estimates: Sequence[Estimate]) -> Table:
    """Return estimates as a table: what, of whom, value, interval, null, q, pairs."""
    columns: dict[str, Callable[[Estimate], str]] = {}
    if len(view.models) > 1:
        columns["Model"] = lambda e: short(view.called(e.strata.get("model", "")), 40)
    if len(forms(view)) > 1:
        columns["Form"] = lambda e: short(e.strata.get("form", ALL), 40)
    words = len(columns) + 2
    columns |= {
        "Measure": _what,
        "Group": lambda e: short(group_name(e.group)) or fmt.NOTHING,
        "Value": tables.value,
        tables.interval_head(view): tables.interval,
        "Null range": tables.null,
        "q": tables.q,
        "Pairs": tables.units,
        "Headlines": tables.clusters,
    }
    return Table.of(estimates, columns, words)


def _what(e: Estimate) -> str:
    what = measure_title(e.strata.get("of", e.measure))
    if e.strata.get("matched") == SAME:
        what += ", same headlines"
    if "direction" in e.strata:
        what += " (as published)" if e.strata["direction"] == WORSE else " (the other way)"
    return what


WHOLE = ""
"""The place, within a row, of a value that is of no single group."""


def datum(view: View, e: Estimate, colour: str) -> Datum:
    """Return where the dot, interval and null band of an estimate stand."""
    name = group_name(e.group)
    found = dot(view, e, series(view, e), colour, Axis(None))
    found |= {"g": name or WHOLE, "form": e.strata.get("form", "")}
    return found | {"group": short(name, 60) or "all"}


def printed_datum(row: Printed, statistic: str) -> Datum:
    """Return where a published figure stands."""
    known = row.low is not None and row.high is not None
    return {
        "row": row.label,
        "g": row.group or WHOLE,
        "d": row.value,
        "pl": row.low,
        "ph": row.high,
        "model": f"{row.model}, as published",
        "group": row.group or "all",
        "value": fmt.number(row.value, statistic),
        "ci": fmt.span(row.low or 0.0, row.high or 0.0, statistic) if known else fmt.NOTHING,
        "n": fmt.plural(row.n, "pair"),
    }


def series_panel(
    view: View,
    data: Sequence[Datum],
    rows: Sequence[str],
    groups: Sequence[str],
    axis: Axis,
    *,
    title: str,
    labels: bool = True,
    places: int = 0,
    label_limit: float = 176,
    width: float = 172,
) -> Spec:
    """Return one panel; a row is high enough for `places` groups, as many as it has by default."""
    return panel(
        view,
        data,
        rows,
        axis,
        size=(width, 11 * max(places, len(groups)) + 9),
        title=title,
        groups=groups,
        labels=labels,
        label_limit=label_limit,
        more={"Headlines": "k", "Form": "form"},
    )


def has_band(estimates: Iterable[Estimate]) -> bool:
    """Whether any estimate has a null range to draw."""
    return any(e.null is not None and not math.isnan(e.null.low) for e in estimates)


def key(
    groups: Mapping[str, str], *, null: bool, paper: bool, against: str = "its null"
) -> tuple[tuple[str, str], ...]:
    """Return what each mark is, for the key under the chart."""
    return (
        *((f"dot {colour_class(colour)}", name) for name, colour in groups.items()),
        ("dot", f"can be told from {against}"),
        ("ring", "cannot"),
        *((("band", "null range: what chance gives"),) if null else ()),
        *((("dot paper", "published models, not rerun"),) if paper else ()),
    )
