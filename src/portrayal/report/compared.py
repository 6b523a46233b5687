"""The page of a comparison: what changed, what did not, and the prompts that carry a change."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

import portrayal.report.figures.panels as panels
import portrayal.report.figures.svg as svg
import portrayal.report.formats as fmt
from portrayal._version import __version__
from portrayal.collect.tables import csv_text
from portrayal.comparison import Change, Comparison, Numbering, Side, flat_change, measured
from portrayal.comparison.result import (
    CHANGED,
    OPEN,
    SAME,
    THESE_ALONE,
    by_evidence,
    form_of_change,
    verdict,
)
from portrayal.comparison.sums import why_not
from portrayal.records import (
    ALL,
    FEW_CLUSTERS,
    FEW_PEOPLE,
    FEW_PROMPTS,
    THESE,
    Estimate,
    finite,
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
from portrayal.report.passages import Passage, passage, rows_of
from portrayal.report.sentences import change_sentence, place_phrase
from portrayal.report.view import CLEAR, SOME, STRONG, Finding, study_named
from portrayal.report.words import (
    capital,
    colour_of_group,
    group_label,
    group_words,
    measure_title,
    values_of,
)
from portrayal.run import read_prompts
from portrayal.run.pages import SHARES
from portrayal.shown import json_text

PROMPTS = 3
"""Prompts shown."""
MOST, EACH = 4, 2
"""Changes in sentences at most, and of one measure before others had their turn."""
ROWS, MOST_ROWS = 5, 40
"""Rows of the chart on the first screen, and of a figure; the table and the downloads have all."""


def _label(row: Change, place: str = "") -> str:
    return short(group_label(row.group) + (f" · {place}" if place else ""), 60)


def _change_words(row: Change, change: float | None) -> str:
    form = form_of_change(row)
    return fmt.number(change, form) + " times" * (form == "ratio" and change is not None)


def _span_words(row: Change) -> str:
    if row.low is None or row.high is None:
        return fmt.NOTHING
    return fmt.span(row.low, row.high, form_of_change(row))


CELLS: Mapping[str, Callable[[Change], str]] = {
    "Measure": lambda row: measure_title(row.measure),
    "Model": lambda row: short(
        "all models" if row.model_a == row.model_b == ALL else row.model, 60
    ),
    "Group": lambda row: _label(row, strata_words(row.place, row.group)),
    "First": lambda row: fmt.number(row.value_a, form_of(row)),
    "Second": lambda row: fmt.number(row.value_b, form_of(row)),
    "Change": lambda row: _change_words(row, row.change),
    "Interval": _span_words,
    "Margin": lambda row: f"up to {_change_words(row, row.margin)}",
    "q": lambda row: fmt.probability(row.judged_q),
    "p": lambda row: fmt.probability(row.p_equivalent),
    "Same": lambda row: {None: fmt.NOTHING, True: "yes", False: "no"}[row.equivalent],
    "Prompts": lambda row: fmt.count(row.n_prompts),
    "Undefined, as": lambda row: short(row.undefined or "", 160),
}
"""Cells of the tables of changes, by heading."""
NUMBERS = ("Change", "Interval", "q", "Prompts")
LISTED = ("Measure", "Model", "Group", "First", "Second", *NUMBERS[:3], "Same", "Prompts")
"""Columns of the table that can be filtered; why a row is undefined stands behind them."""


def _table(rows: Sequence[Change], *columns: str, most: int = 80) -> Table:
    words = sum(name in ("Measure", "Group") for name in columns)
    return Table.of(rows, {name: CELLS[name] for name in columns}, words, most)


def write_comparison(
    comparison: Comparison, sides: tuple[Side, Side], path: str | Path, seed: int = 0
) -> Path:
    """Write the page of a comparison in one step and return its path.

    Parameters
    ----------
    comparison
        What `portrayal.compare` returned.
    sides
        The sides that it compared, for their dates and texts.
    path
        The HTML file; its folder is made where it is missing.
    seed
        Of which answers are shown.
    """
    with speaking_of(comparison.factors, comparison.study):
        return write_page(path, _page(comparison, sides, seed))


def _page(comparison: Comparison, sides: tuple[Side, Side], seed: int) -> str:
    # What an audit may state comes first; where it states nothing, all that was tested.
    rows = [row for row in comparison.rows if row.stated]
    rows = rows or [row for row in comparison.rows if row.p is not None]
    of_verdict: dict[str, list[Change]] = {CHANGED: [], SAME: [], OPEN: []}
    for row in rows:
        of_verdict[verdict(row, comparison.level)].append(row)
    # Ratios and differences are on other scales, so each is ordered by itself.
    of_verdict[CHANGED].sort(key=lambda row: (row.scale != "ratio", -row.size, row.measure))
    of_verdict[OPEN].sort(key=by_evidence)
    changed, same, unresolved = of_verdict.values()
    labels = _labels(comparison, sides)
    # The clearest change is shown by its prompts, or what comes nearest to one.
    about = next((row for row in [*changed, *unresolved] if row.p is not None), None)
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
    counts = {
        **{"all": len(rows), "changed": len(changed), "same": len(same), "open": len(unresolved)},
        "untested": sum(row.p is None for row in unresolved),
    }
    title = f"{labels[0]} and {labels[1]}"
    question = getattr(study_named(comparison.study), "title", comparison.study)
    first = _first(comparison, sides, labels, of_verdict)
    fields = {
        "brand": "comparison",
        "title": title,
        "head": title,
        "citation": f"Comparison of {title}, {question}. Portrayal {__version__}.",
        "question": question,
        "short": False,
        "facts": _facts(comparison, sides),
        "warnings": warnings,
        "n": counts,
        "counted": {kind: fmt.plural(n, "comparison") for kind, n in counts.items()},
        "about": "" if about is None else _subject(about),
        "tests": "; ".join(dict.fromkeys(row.method for row in comparison.rows if row.method))
        or "none",
        "first": first,
        "same": _table(same, "Measure", "Group", *NUMBERS[:2], "Margin", "p", most=40),
        "open": _table(unresolved, "Measure", "Group", *NUMBERS, most=40),
        "moved": [] if about is None else moved_prompts(about, sides, seed),
        "downloads": _downloads(comparison),
    }
    table_rows = [
        [CELLS[name](row) for name in (*LISTED, "Undefined, as")] for row in comparison.rows
    ]
    charts = Charts(dumbbells(rows, labels, comparison.level), first.chart)
    table = {"heads": LISTED, "words": 3, "rows": table_rows}
    return filled("compared.html.j2", fields, charts, table)


def _downloads(comparison: Comparison) -> list[dict[str, str]]:
    """The files inside the page: name, type, what the button says, and the text, packed."""
    flat = [flat_change(row) for row in comparison.rows]
    facts = {name: getattr(comparison, name) for name in ("study", "a", "b", "level")}
    facts |= {name: list(map(str, getattr(comparison, name))) for name in ("instruments", "asked")}
    columns = list(dict.fromkeys(name for row in flat for name in row))
    table_text, facts_text = csv_text(columns, flat), json_text(finite(facts | {"changes": flat}))
    files = (
        ("changes.csv", "text/csv", "All changes as CSV", table_text),
        ("changes.json", "application/json", "As JSON", facts_text),
    )
    return [
        {"name": name, "kind": kind, "label": label, "packed": packed(text)}
        for name, kind, label, text in files
    ]


def _labels(comparison: Comparison, sides: tuple[Side, Side]) -> tuple[str, str]:
    """What the sides are called: their model where these differ, else their folder."""
    models = [side.models for side in sides]
    # Two models are called by their names, two rounds of one by their folders.
    if all(len(names) == 1 for names in models) and models[0] != models[1]:
        return short(models[0][0], 60), short(models[1][0], 60)
    one, two = (side.run.path.name for side in sides)
    return (short(comparison.a), short(comparison.b)) if one == two else (short(one), short(two))


def _subject(row: Change) -> str:
    """What a sentence is about ("Women in stories about work: representation ratio")."""
    # Of an outcome, the group's own words say what is counted.
    title = "share" if "outcome" in row.group else measure_title(row.measure, inside=True)
    return f"{capital(group_words(row.group))}{place_phrase(row.place, row.group)}: {title}"


def _facts(comparison: Comparison, sides: tuple[Side, Side]) -> list[tuple[str, str]]:
    rows = [("Study", comparison.study)]
    for word, side, name in (("First", sides[0], comparison.a), ("Second", sides[1], comparison.b)):
        n_texts = int(side.run.texts.note().get("n_texts", 0))
        models = short(", ".join(side.models), 120)
        rows.append((word, f"{models or fmt.NOTHING}: {short(name, 120)}"))
        rows.append((f"{word}: texts", f"{n_texts:,}, measured {day_of(side.run)}"))
    n = comparison.prompts
    only = (comparison.only_a, comparison.only_b)
    margins = {row.margin for row in comparison.rows if row.margin and row.scale == "ratio"}
    rows += [
        ("Prompts of both", f"{n.both:,}"),
        ("Prompts of one alone", f"{n.only_a:,} and {n.only_b:,}"),
        ("Numbers compared", f"{len(comparison.rows):,}"),
        ("Numbers of one alone", " and ".join(f"{sum(x.values()):,}" for x in only)),
        ("Confidence level", fmt.level(comparison.level)),
        ("Counts as the same", ", ".join(f"within {m:g} times" for m in sorted(margins))),
    ]
    return [(name, value) for name, value in rows if value]


def _behind(row: Change, sides: tuple[Side, Side]) -> list[Estimate]:
    """The estimate of each side that a change compares; none where that is not known."""
    return [side.run.records[i] for side, i in zip(sides, row.rows, strict=False)]


def _first(
    comparison: Comparison,
    sides: tuple[Side, Side],
    labels: tuple[str, str],
    of_verdict: Mapping[str, Sequence[Change]],
) -> Report:
    """What changed, in sentences; or what comes nearest to a change."""
    changed, same, unresolved = of_verdict.values()
    n_rows = sum(map(len, of_verdict.values()))
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
    none = "" if findings else f"No clear change found in {fmt.plural(n_rows, 'comparison')}."
    if not findings and unresolved and unresolved[0].p is not None:
        nearest = change_sentence(unresolved[0], (), labels)
        none += f" The nearest to one, which luck may explain: {nearest}."
    texts = [_n_texts(side) for side in sides]
    # Alike is what was shown to be alike, not what merely did not change.
    read = (
        f"{labels[0]} ({texts[0]:,} texts) and {labels[1]} ({texts[1]:,}) · "
        f"{fmt.plural(comparison.prompts.both, 'prompt')} of both · they differ in {len(changed)} "
        f"of {fmt.plural(n_rows, 'comparison')}, are alike in {len(same)}, and "
        f"{len(unresolved)} are open"
    )
    if n_more := len(sure) - len(in_sentences):
        read += f" · {fmt.plural(n_more, 'more change')} in the figures below"
    # The changes of the sentences as a chart, of the first one's measure.
    charted = in_sentences or list(unresolved)
    charted = [r for r in charted if r.measure == charted[0].measure and r.change is not None]
    figures = [
        f for f in dumbbells(charted[:ROWS], labels, comparison.level) if f.chart is not None
    ]
    chart = replace(figures[0], key="glance") if figures else None
    return Report(read, tuple(findings), none, tuple(cannot), chart)


def _n_texts(side: Side) -> int:
    """Texts of a side: those of its model where one was chosen."""
    parts = [str(path) for path in side.run.texts.parts()]
    # The run's own count is of all its models.
    if side.model in (None, ALL) or not parts:
        return int(side.run.texts.note().get("n_texts", 0))
    query = "select count(*) as n from read_parquet($texts) where model = $model"
    return int(rows_of(query, {"texts": parts, "model": side.model})[0]["n"])


def _in_sentences(sure: Sequence[Change]) -> list[Change]:
    """The changes that are said in sentences, no measure crowding out the others.

    Where women are more men are fewer: of the groups of one attribute in one place, one is said.
    """
    n_of_measure: Counter[str] = Counter()
    questions: set[tuple[object, ...]] = set()
    later: list[Change] = []
    first: list[Change] = []
    for row in sure:
        question = (row.measure, frozenset(row.strata.items()), frozenset(row.group))
        # The first of each question, and no more of a measure than its share.
        is_new = question not in questions and n_of_measure[row.measure] < EACH
        if is_new:
            questions.add(question)
            n_of_measure[row.measure] += 1
        (first if is_new else later).append(row)
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


def dumbbells(rows: Sequence[Change], labels: tuple[str, str], level: float) -> list[Figure]:
    """Return a figure for each measure of these rows: values of both sides, and the change."""
    by_measure: dict[str, list[Change]] = {}
    for row in rows:
        by_measure.setdefault(row.measure, []).append(row)
    figures = []
    for measure, of_measure in by_measure.items():
        # A side without a value leaves a dumbbell with one end.
        paired = [r for r in of_measure if r.value_a is not None and r.value_b is not None]
        drawn_rows = paired[:MOST_ROWS]
        verdicts = [verdict(row, level) for row in of_measure]
        n_more = len(of_measure) - len(drawn_rows)
        places = list(dict.fromkeys(strata_words(row.place, row.group) for row in of_measure))
        place = f" in {places[0]}" if len(places) == 1 and places[0] else ""
        note = (
            f"Left: the value in {labels[0]} (ring) and in {labels[1]} (dot). Right: the second "
            f"over or less the first with its {fmt.level(level)} interval; filled where there is a "
            "change. Shaded: changes that count as none."
        )
        figures.append(
            Figure(
                "change-" + "".join(c if c.isalnum() else "-" for c in measure),
                measure_title(measure),
                f"Of {fmt.plural(len(of_measure), 'comparison')}{place} "
                f"{verdicts.count(CHANGED)} differ and {verdicts.count(SAME)} are alike.",
                note + (f" {fmt.plural(n_more, 'more row')} in the table." if n_more else ""),
                _chart(drawn_rows, level) if drawn_rows else None,
                _table(of_measure, "Group", "First", "Second", *NUMBERS),
                (("ring", labels[0]), ("dot", labels[1]), ("band", "so small a change is none")),
            )
        )
    return figures


def _chart(rows: Sequence[Change], level: float) -> Panel:
    values, first = values_of(row.group for row in rows), rows[0]
    # One axis for both sides, or the dots of a row could not be compared.
    both = [value for row in rows for value in (row.value_a, row.value_b)]
    form = "share" if first.statistic in SHARES else ""
    value_axis = Axis.linear(both, "value", form)
    if first.statistic == "ratio":
        value_axis = Axis.ratio(both, "value (log scale)")
    # The change has an axis of its own, since it is in another unit than the values.
    changes = [x for row in rows for x in (row.low, row.high, row.change)]
    change_axis = Axis.linear(changes, "second − first", line=first.null)
    if first.scale == "ratio":
        change_axis = Axis.ratio(changes, "second / first (log scale)", most=16)
    by_place: dict[str, list[Change]] = {}
    for row in rows:
        by_place.setdefault(strata_words(row.place, row.group), []).append(row)
    charts = []
    for place, of_place in by_place.items():
        of_values, of_changes = list[DotMark](), list[DotMark]()
        for row in of_place:
            colour = colour_of_group(row.group, next((values.get(n, []) for n in row.group), []))
            cells = ("Group", "First", "Second", *NUMBERS)
            tip = "\n".join(f"{name}: {CELLS[name](row)}" for name in cells)
            mark = DotMark(row=_label(row), look="ring", value=row.value_a, colour=colour, tip=tip)
            ends = sorted((row.value_a or 0.0, row.value_b or 0.0))
            of_values.append(replace(mark, bounds=(ends[0], ends[1])))
            of_values.append(replace(mark, look="dot", value=row.value_b))
            bounds = None if row.low is None or row.high is None else (row.low, row.high)
            none = None
            if row.margin is not None:
                none = (1 / row.margin if row.scale == "ratio" else -row.margin, row.margin)
            look = "dot" if verdict(row, level) == CHANGED else "ring"
            of_changes.append(
                replace(mark, look=look, value=row.change, bounds=bounds, null=panels.finite(none))
            )
        order = list(dict.fromkeys(map(_label, of_place)))
        one = panels.dots(of_values, order, value_axis, width=290)
        two = panels.dots(of_changes, order, change_axis, width=190, labels=False)
        # One title over both, so that the rows of the two stand level.
        title = short(place, 60) if len(by_place) > 1 else ""
        charts.append(svg.headed(svg.tiled((one, two), 2, 18), title, indent=one.width - 300))
    return svg.tiled(charts)


@dataclass(frozen=True)
class Moved:
    """A prompt with what it added to a change, and one answer of each side to it."""

    prompt: str
    numbers: str
    passages: tuple[Passage, ...]


def moved_prompts(change: Change, sides: tuple[Side, Side], seed: int = 0) -> list[Moved]:
    """Return the prompts that moved most in the direction of a change, the first by far first.

    None where a run keeps no sums of it, where its units are no prompts, or where no text is kept.
    """
    runs = sides[0].run, sides[1].run
    # Without sums by prompt nobody knows what a prompt added.
    if not change.rows or why_not(runs, change.rows) is not None:
        return []
    numbering = Numbering(runs)
    sums = [numbering.sums(s, [row]) for s, row in enumerate(change.rows)]
    words = [read_prompts(run.prompts_path, words="words", only=()) for run in runs]
    # Only prompts of both runs whose words are kept can be shown side by side.
    shared = [
        (code, str(numbering.keys[code]))
        for code in sums[0].prompts.tolist()
        if code in sums[1].prompts and all(numbering.keys[code] in texts for texts in words)
    ]
    if not shared:
        return []
    parts = [side.at(np.array([code for code, _ in shared])) for side in sums]
    one, two = (measured(part) for part in parts)
    # What a prompt adds: its influence, and its part of the change itself.
    shift = (two.influence - one.influence)[:, 0]
    total = two.value[0] - one.value[0]
    shift = shift + (one.weight + two.weight)[:, 0] / 2.0 * np.nan_to_num(total)
    direction = 1.0 if not total < 0 else -1.0
    # The prompts that carry the change first; a stable order keeps ties as they are in the run.
    order = np.argsort(-direction * shift, kind="stable")
    prompts: list[Moved] = []
    for i in order.tolist():
        # From here on prompts moved the other way.
        if direction * shift[i] <= 0 or len(prompts) == PROMPTS:
            break
        name, counts = shared[i][1], []
        # Influences are no counts that a reader could check.
        for part in parts if parts[0].form != "influence" else ():
            a, n = (float(cell[i, 0]) for cell in part.cells[:2])
            counts.append("nobody" if n <= 0 else f"{fmt.count(a)} of {fmt.count(n)}")
        # An answer of each side; a prompt of which one is gone tells nothing.
        answers = [
            answer
            for side, model in zip(sides, (change.model_a, change.model_b), strict=True)
            if (answer := _answer(side, model, name, seed)) is not None
        ]
        if len(answers) == len(sides):
            numbers = f"{counts[0]}, then {counts[1]}." if counts else ""
            prompts.append(Moved(short(words[1][name]["words"], 400), numbers, tuple(answers)))
    return prompts


def _answer(side: Side, model: str, prompt_id: str, seed: int) -> Passage | None:
    """One readable answer to a prompt, drawn at random by the seed."""
    parts = [str(path) for path in side.run.texts.parts()]
    if not parts:
        return None
    parameters = {"texts": parts, "id": prompt_id, "seed": str(seed), "model": model}
    answers = rows_of(_QUERY.replace("$every", str(model == ALL).lower()), parameters)
    if not answers:
        return None
    heading = f"{side.run.path.name}: {answers[0]['model']}"
    # The prompt stands above both answers already.
    return passage(answers[0] | {"prompt": "", "model": heading})


_QUERY = """
    select model, left(text, 100000) as text, length(text) as size
    from read_parquet($texts)
    where outcome = 'ok' and prompt_id = $id and ($every or model = $model)
    order by md5(text_id || $seed), text_id limit 1
"""
