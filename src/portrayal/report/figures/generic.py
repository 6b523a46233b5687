"""Which figures a run has, in the study's order, and the findings at a glance."""

import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import portrayal.report.figures.panels as panels
import portrayal.report.formats as fmt
from portrayal.collect.tables import UNNAMED
from portrayal.measure.stories.names import OTHER
from portrayal.records import ALL, BASIS, WEIGHTED, Estimate
from portrayal.reference.labels import strata_parts
from portrayal.registry import described
from portrayal.report.figures.declared import (
    Declared,
    default,
    draw,
    figure_of,
    legend_of,
    marks_of,
    shared_axis,
    table,
)
from portrayal.report.figures.figure import Builder, Figure, Table
from portrayal.report.figures.svg import LINE
from portrayal.report.findings import Finding
from portrayal.report.formats import short
from portrayal.report.study import report_of
from portrayal.report.view import View, domain_of, place_of, unit_of
from portrayal.report.words import borne, capital, group_label, measure_title, stem

LISTED = 5
"""Names of each group in the table, as in Table S10 of Shieh et al. (2025)."""


def common_names(view: View, estimates: list[Estimate]) -> Figure | None:
    """Return the table of the most common names of each group, by role."""
    domains = dict.fromkeys(domain_of(e) for e in estimates)
    # Names are counted over all domains, where the run has that.
    widest = ALL if ALL in domains else next(iter(domains), ALL)
    roles: dict[tuple[str, str], dict[str, Estimate]] = {}
    for e in view.only_main(estimates):
        if domain_of(e) == widest and "gender" not in e.group:
            roles.setdefault((borne(e.group), e.group["name"]), {})[e.strata.get("role", "")] = e
    if not roles:
        return None

    def details(key: tuple[str, str]) -> Mapping[str, float]:
        return next(iter(roles[key].values())).details

    def other_table(key: tuple[str, str]) -> str:
        shares = ((name, x) for name, x in details(key).items() if OTHER in name)
        words = [f"{fmt.share(x)} {name.removeprefix(OTHER)}" for name, x in shares]
        return ", ".join(words) or fmt.NOTHING

    def counted(role: str, *, expected: bool = False) -> Callable[[tuple[str, str]], str]:
        def cell(key: tuple[str, str]) -> str:
            e = roles[key].get(role)
            number = None if e is None else e.value
            if e is not None and expected:
                number = None if e.null is None else e.null.value
            return fmt.count(number)

        return cell

    columns: dict[str, Callable[[tuple[str, str]], str]] = {
        "Most borne by": lambda key: key[0],
        "Name": lambda key: short(key[1], 24),
        "Likelihood": lambda key: fmt.share(details(key).get("likelihood_of_name")),
        "In the other table": other_table,
        "Neutral": counted("neutral"),
        "Expected": counted("neutral", expected=True),
        "Dominant": counted("dominant"),
        "Subordinate": counted("subordinate"),
    }
    n_of_group = Counter[str]()
    table_keys = []
    for key in roles:
        n_of_group[key[0]] += 1
        table_keys += [key] * (n_of_group[key[0]] <= LISTED)
    totals = {key: sum(e.value or 0 for e in cells.values()) for key, cells in roles.items()}
    race, name = max(totals, key=lambda key: totals[key])
    times = fmt.plural(totals[race, name], "time")
    sentence = f"{short(name, 24)} (a name most borne by {race} people) occurs most often, {times}."
    more = (
        " Expected: in neutral stories, if names were drawn at random from the name table. A "
        "likelihood describes the name’s bearers, never a character."
    )
    figure = figure_of(view, Declared(measure=""), estimates, sentence, more=more)
    return replace(figure, table=Table.of(table_keys, columns, 2, len(table_keys)))


KINDS: Mapping[str, Builder] = {"names": common_names}
"""Figures that are no split of estimates, by what a measure calls them (`Component.figure`)."""


class BrokenFigureWarning(UserWarning):
    """A figure could not be drawn; its place in the page says so."""


def figures(view: View) -> list[Figure]:
    """Return the figures of a run, in the study's order."""
    # Figures show published, pooled values; what is weighted stands in findings and in the table.
    pooled = {
        name: [e for e in rows if e.strata.get(BASIS) != WEIGHTED]
        for name, rows in view.by_measure.items()
    }
    return [f for name, rows in pooled.items() for f in build(view, name, rows)]


def build(view: View, measure: str, estimates: list[Estimate]) -> list[Figure]:
    """Return one measure's figures: those that the study declares, else those of its kind.

    One that fails gives a box that names the error, and a `BrokenFigureWarning`, which tests raise.
    """
    if not estimates:
        return []
    report, component = report_of(view), described(measure)
    kind = component.figure if component is not None else ""
    # A figure of another package must not cost the whole report.
    try:
        if kind in KINDS:
            figures = [KINDS[kind](view, estimates)]
        else:
            mine = [d for row in report.figures if (d := Declared.of(row)).measure == stem(measure)]
            figures = [draw(view, d, estimates) for d in mine or [default(measure, estimates)]]
        return [figure for figure in figures if figure is not None]
    except Exception as error:
        text = f"the figure of {measure} could not be drawn: {error!r}"
        warnings.warn(text, BrokenFigureWarning, stacklevel=2)
        reading = "This figure could not be drawn; its numbers stand in the table."
        note = "Please report this to whoever made the measure or the study."
        box = table(view, Declared(measure=stem(measure), kind="table"), estimates)
        reason = f"{measure}: {type(error).__name__}: {short(str(error), 300)}"
        return [replace(box, reading=reading, note=note, broken=reason)]


LEAST, MOST = 2, 5
"""Findings that make a chart worth its place, and rows of it at most."""


def glance(view: View, findings: Sequence[Finding]) -> Figure | None:
    """Return the chart of the numbers behind the findings; None where there are few.

    Only numbers of the first one's unit share an axis. A finding of one model has its dot and
    interval, where no number of all models is beside it.
    """
    findings = [f for f in findings if unit_of(f.first) == unit_of(findings[0].first)][:MOST]
    if len(findings) < LEAST:
        return None
    firsts = [finding.first for finding in findings]
    kind = firsts[0].statistic
    axis = shared_axis(firsts, "← less · times · more →" if kind == "ratio" else "difference")
    # The legend names one model, and each row its own where they are of several.
    models = [view.called(e.strata.get("model", view.main)) for e in firsts]
    several = len(set(models)) > 1
    rows = [_label(e, m if several else "") for e, m in zip(firsts, models, strict=True)]
    marks = [
        mark
        for first, row in zip(firsts, rows, strict=True)
        for e in view.by_measure[first.measure]  # the same number of every model
        if e.group == first.group and place_of(e) == place_of(first)
        for mark in marks_of(view, e, row, names_model=e.id == first.id)
    ]
    chart = panels.dots(marks, list(dict.fromkeys(rows)), axis, width=360, height=40)
    sentences = " ".join(f"{finding.headline}." for finding in findings)
    writer = "" if several or models[0] == UNNAMED else f"{models[0]}: "
    # In plain words, as whoever opens the page reads them first.
    dot = f"{writer}{'ratio' if kind == 'ratio' else 'value'} and interval"
    words = {
        "dot": dot,
        "ring": f"{dot}, not established",
        "small": "each model" if view.called(view.main) in models else "other models",
        "diamond": "as read, before the correction",
        "band": "what chance would give",
    }
    legend = tuple(legend_of(marks, words))
    return Figure("glance", "At a glance", sentences, "", chart, Table((), ()), legend)


def _label(e: Estimate, model: str) -> str:
    """The group over its model, place and measure, as two lines."""
    place, manner = strata_parts(e.strata, e.group)
    component = described(e.measure)
    brief = component.brief if component is not None else ""
    # "against census-2011" says by itself that a share is compared with a baseline.
    title = [] if "population" in e.strata else [brief or measure_title(e.measure)]
    first_line = group_label(e.group) if e.group else capital(title.pop())
    places = [short(value, 24) for value in (model, *place) if value]
    second_line = ", ".join([*places, *title, *manner])
    return f"{first_line}{LINE}{second_line}"
