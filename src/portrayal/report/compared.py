"""The page of a comparison: what changed, what did not, and every change with its interval."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import portrayal.report.figures.panels as panels
import portrayal.report.figures.svg as svg
import portrayal.report.formats as fmt
from portrayal._version import __version__
from portrayal.collect.tables import csv_text
from portrayal.comparison import Change, Comparison, Side, flat_change
from portrayal.comparison.result import (
    CHANGED,
    OPEN,
    SAME,
    THESE_ALONE,
    by_evidence,
    form_of_change,
    verdict,
)
from portrayal.records import (
    FEW_CLUSTERS,
    FEW_PEOPLE,
    FEW_PROMPTS,
    THESE,
    Estimate,
)
from portrayal.reference.labels import speaking_of, strata_words
from portrayal.registry import form_of
from portrayal.report.about import day_of
from portrayal.report.figures.figure import Figure, Table
from portrayal.report.figures.panels import DotMark
from portrayal.report.figures.svg import Axis, Panel
from portrayal.report.findings import q_words
from portrayal.report.first import Report
from portrayal.report.formats import short
from portrayal.report.page import Charts, filled, packed, write_page
from portrayal.report.sentences import change_sentence
from portrayal.report.view import CLEAR, SOME, STRONG, Finding, study_named
from portrayal.report.words import (
    capital,
    colour_of_group,
    group_label,
    measure_title,
    values_of,
)

MOST = 4
"""Changes in sentences at most."""
ROWS, MOST_ROWS = 5, 40
"""Rows of the chart on the first screen, and of a figure; the table and the download have all."""


def _label(row: Change, place: str = "") -> str:
    return short(group_label(row.group) + (f" · {place}" if place else ""), 60)


def _change_words(row: Change, change: float | None) -> str:
    form = form_of_change(row)
    return fmt.number(change, form) + " times" * (form == "ratio" and change is not None)


def _span_words(row: Change) -> str:
    if row.low is None or row.high is None:
        return fmt.NOTHING
    return fmt.span(row.low, row.high, form_of_change(row))


def _cells(level: float) -> Mapping[str, Callable[[Change], str]]:
    """Cells of the table of changes, by heading."""
    return {
        "Group": lambda row: _label(row, strata_words(row.place, row.group)),
        "Result": lambda row: verdict(row, level),
        "First": lambda row: fmt.number(row.value_a, form_of(row)),
        "Second": lambda row: fmt.number(row.value_b, form_of(row)),
        "Change": lambda row: _change_words(row, row.change),
        "Interval": _span_words,
        "q": lambda row: fmt.probability(row.judged_q),
        "Margin": lambda row: f"up to {_change_words(row, row.margin)}",
        "Prompts": lambda row: fmt.count(row.n_prompts),
    }


def write_comparison(comparison: Comparison, sides: tuple[Side, Side], path: str | Path) -> Path:
    """Write the page of a comparison in one step and return its path.

    Parameters
    ----------
    comparison
        What `portrayal.compare` returned.
    sides
        The sides that it compared, for their dates and texts.
    path
        The HTML file; its folder is made where it is missing.
    """
    with speaking_of(comparison.factors, comparison.study):
        return write_page(path, _page(comparison, sides))


def _page(comparison: Comparison, sides: tuple[Side, Side]) -> str:
    # What an audit may state comes first; where it states nothing, all that was tested.
    rows = [row for row in comparison.rows if row.stated]
    rows = rows or [row for row in comparison.rows if row.p is not None]
    labels = _labels(comparison, sides)
    # Whatever else differs between the sides may be what changed a number.
    warnings = [f"{capital(THESE_ALONE)}."] * (comparison.population == THESE)
    for words, differences in (
        ("The sides measured with different instruments", comparison.instruments),
        ("The sides were asked otherwise", comparison.asked),
    ):
        if differences:
            warnings.append(f"{words}: {short('; '.join(map(str, differences)), 600)}.")
    if comparison.prompts.reworded:
        counted = fmt.plural(comparison.prompts.reworded, "prompt")
        warnings.append(f"{counted} of both have other words under the same name.")
    title = f"{labels[0]} and {labels[1]}"
    question = getattr(study_named(comparison.study), "title", comparison.study)
    first = _first(comparison, sides, labels, rows)
    flat = [flat_change(row) for row in comparison.rows]
    columns = list(dict.fromkeys(name for row in flat for name in row))
    fields = {
        "brand": "comparison",
        "title": title,
        "head": title,
        "citation": f"Comparison of {title}, {question}. Portrayal {__version__}.",
        "question": question,
        "facts": _facts(comparison, sides),
        "warnings": warnings,
        "tests": "; ".join(dict.fromkeys(row.method for row in comparison.rows if row.method))
        or "none",
        "first": first,
        "n_changes": len(flat),
        "csv": packed(csv_text(columns, flat)),
    }
    charts = Charts(forests(rows, comparison.level), first.chart)
    return filled("compared.html.j2", fields, charts)


def _labels(comparison: Comparison, sides: tuple[Side, Side]) -> tuple[str, str]:
    """What the sides are called: their model where these differ, else their folder."""
    models = [side.models for side in sides]
    # Two models are called by their names, two rounds of one by their folders.
    if all(len(names) == 1 for names in models) and models[0] != models[1]:
        return short(models[0][0], 60), short(models[1][0], 60)
    one, two = (side.run.path.name for side in sides)
    return (short(comparison.a), short(comparison.b)) if one == two else (short(one), short(two))


def _facts(comparison: Comparison, sides: tuple[Side, Side]) -> list[tuple[str, str]]:
    rows = []
    for word, side, name in (("First", sides[0], comparison.a), ("Second", sides[1], comparison.b)):
        n_texts = int(side.run.texts.note().get("n_texts", 0))
        models = short(", ".join(side.models), 120) or fmt.NOTHING
        measured = f"{n_texts:,} texts, measured {day_of(side.run)}"
        rows.append((word, f"{models}: {short(name, 120)}, {measured}"))
    n = comparison.prompts
    only = " and ".join(f"{sum(x.values()):,}" for x in (comparison.only_a, comparison.only_b))
    return [
        *rows,
        ("Prompts of both", f"{n.both:,}"),
        ("Prompts of one alone", f"{n.only_a:,} and {n.only_b:,}"),
        ("Numbers compared", f"{len(comparison.rows):,}"),
        ("Numbers of one alone", only),
        ("Confidence level", fmt.level(comparison.level)),
    ]


def _behind(row: Change, sides: tuple[Side, Side]) -> list[Estimate]:
    """The estimate of each side that a change compares; none where that is not known."""
    return [side.run.records[i] for side, i in zip(sides, row.rows, strict=False)]


def _first(
    comparison: Comparison,
    sides: tuple[Side, Side],
    labels: tuple[str, str],
    rows: Sequence[Change],
) -> Report:
    """What changed, in sentences; or what comes nearest to a change."""
    of_verdict: dict[str, list[Change]] = {CHANGED: [], SAME: [], OPEN: []}
    for row in rows:
        of_verdict[verdict(row, comparison.level)].append(row)
    changed, same, unresolved = of_verdict.values()
    # Ratios and differences are on other scales, so each is ordered by itself.
    changed.sort(key=lambda row: (row.scale != "ratio", -row.size, row.measure))
    unresolved.sort(key=by_evidence)
    # Said is what enough people stand behind on both sides, of groups that the reader can tell.
    sure = [
        row
        for row in changed
        if all(e.enough and e.status.reader_error is None for e in _behind(row, sides))
    ]
    in_sentences = _in_sentences(sure)
    findings = [
        _finding(row, _behind(row, sides), labels, comparison.level) for row in in_sentences
    ]
    # Strong ones first; the sort keeps the order within both.
    findings.sort(key=lambda finding: finding.strength != STRONG)
    cannot = []
    if few := len(changed) - len(sure):
        cannot.append(
            f"{fmt.plural(few, 'more change')} not stated: fewer than {FEW_PEOPLE} people stand "
            "behind it, or the reader cannot recognise the group."
        )
    if unresolved:
        cannot.append(
            f"For {fmt.plural(len(unresolved), 'comparison')} these texts do not settle whether "
            "anything changed. That is no evidence that nothing did."
        )
    none = "" if findings else f"No clear change found in {fmt.plural(len(rows), 'comparison')}."
    if not findings and unresolved and unresolved[0].p is not None:
        nearest = change_sentence(unresolved[0], (), labels)
        none += f" The nearest to one, which luck may explain: {nearest}."
    # Alike is what was shown to be alike, not what merely did not change.
    read = (
        f"{fmt.plural(comparison.prompts.both, 'prompt')} of both · they differ in {len(changed)} "
        f"of {fmt.plural(len(rows), 'comparison')}, are alike in {len(same)}, and "
        f"{len(unresolved)} are open"
    )
    if n_more := len(sure) - len(in_sentences):
        read += f" · {fmt.plural(n_more, 'more change')} in the figures below"
    # The changes of the sentences as a chart, of the first one's measure.
    charted = in_sentences or unresolved
    charted = [r for r in charted if r.measure == charted[0].measure and r.change is not None]
    figures = [f for f in forests(charted[:ROWS], comparison.level) if f.chart is not None]
    chart = replace(figures[0], key="glance") if figures else None
    return Report(read, tuple(findings), none, tuple(cannot), chart=chart)


def _in_sentences(sure: Sequence[Change]) -> list[Change]:
    """The changes that are said in sentences, one of each attribute in one place before others.

    Where women are more men are fewer.
    """
    questions: set[tuple[object, ...]] = set()
    first: list[Change] = []
    later: list[Change] = []
    for row in sure:
        question = (row.measure, frozenset(row.strata.items()), frozenset(row.group))
        (later if question in questions else first).append(row)
        questions.add(question)
    # Groups before their intersections, which often say the same again.
    first.sort(key=lambda row: len(row.group) > 1)
    return (first + later)[:MOST]


def _finding(
    row: Change, behind: Sequence[Estimate], labels: tuple[str, str], level: float
) -> Finding:
    pairs = "prompts of both" if row.paired else "prompts, unpaired"
    facts = (f"{_change_words(row, row.change)} ({_span_words(row)})", q_words(row.audit_q))
    evidence = f"{fmt.level(level)} interval of the change over {fmt.count(row.n_prompts)} {pairs}."
    if row.equivalent:
        evidence += " It is shown to be smaller than the margin."
    if row.n_prompts < FEW_PROMPTS:
        evidence += f" It rests on fewer than {FEW_PROMPTS} prompts."
    q = row.judged_q
    # Few prompts never make a change strong, however small its q.
    strong = q is not None and q < CLEAR and row.n_prompts >= FEW_CLUSTERS
    sentence = change_sentence(row, behind, labels)
    return Finding(sentence, facts, evidence, STRONG if strong else SOME)


def forests(rows: Sequence[Change], level: float) -> list[Figure]:
    """Return a figure for each measure of these rows: every change with its interval."""
    by_measure: dict[str, list[Change]] = {}
    for row in rows:
        by_measure.setdefault(row.measure, []).append(row)
    figures = []
    for measure, of_measure in by_measure.items():
        charted = [row for row in of_measure if row.change is not None]
        verdicts = [verdict(row, level) for row in of_measure]
        n_more = max(len(charted) - MOST_ROWS, 0)
        note = (
            f"The second over or less the first, with its {fmt.level(level)} interval; filled "
            "where there is a change. Shaded: changes that count as none."
        )
        figures.append(
            Figure(
                "change-" + "".join(c if c.isalnum() else "-" for c in measure),
                measure_title(measure),
                f"Of {fmt.plural(len(of_measure), 'comparison')} {verdicts.count(CHANGED)} differ "
                f"and {verdicts.count(SAME)} are alike.",
                note + (f" {fmt.plural(n_more, 'more row')} in the table." if n_more else ""),
                _chart(charted[:MOST_ROWS], level) if charted else None,
                Table.of(of_measure, _cells(level), 2),
                (("dot", "changed"), ("ring", "not settled"), ("band", "counts as none")),
            )
        )
    return figures


def _chart(rows: Sequence[Change], level: float) -> Panel:
    values, first = values_of(row.group for row in rows), rows[0]
    changes = [x for row in rows for x in (row.low, row.high, row.change)]
    axis = Axis.linear(changes, "second − first", line=first.null)
    if first.scale == "ratio":
        axis = Axis.ratio(changes, "second / first (log scale)", most=16)
    by_place: dict[str, list[Change]] = {}
    for row in rows:
        by_place.setdefault(strata_words(row.place, row.group), []).append(row)
    cells = _cells(level)
    charts = []
    for place, of_place in by_place.items():
        marks = [
            DotMark(
                row=_label(row),
                look="dot" if verdict(row, level) == CHANGED else "ring",
                value=row.change,
                colour=colour_of_group(
                    row.group, next((values.get(name, []) for name in row.group), [])
                ),
                tip="\n".join(f"{name}: {cell(row)}" for name, cell in cells.items()),
                bounds=None if row.low is None or row.high is None else (row.low, row.high),
                null=None
                if row.margin is None
                else (1 / row.margin if row.scale == "ratio" else -row.margin, row.margin),
            )
            for row in of_place
        ]
        order = list(dict.fromkeys(mark.row for mark in marks))
        charts.append(panels.dots(marks, order, axis, width=440, title=short(place, 60)))
    return svg.tiled(charts)
