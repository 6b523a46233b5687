"""The report of a comparison: what changed, and the prompts that carry it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import portrayal.report.changes.sheet as sheet
import portrayal.report.formats as fmt
from portrayal.comparison import Change, Comparison, Numbering, Side, Sums, flat_change, measured
from portrayal.comparison import rows_of as side_rows
from portrayal.comparison.result import CHANGED, OPEN, SAME, THESE_ALONE, by_evidence, verdict
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
from portrayal.reference.labels import speaking_of
from portrayal.report.about import day_of
from portrayal.report.changes.dumbbells import dumbbells
from portrayal.report.changes.sheet import Download, change_words, span_words, subject
from portrayal.report.findings import q_words
from portrayal.report.formats import short
from portrayal.report.passages import Passage, passage, rows_of
from portrayal.report.sentences import change_sentence
from portrayal.report.strength import CLEAR, SOME, STRONG, FirstScreen, Stated
from portrayal.report.view import study_named
from portrayal.report.words import capital
from portrayal.run import read_prompts
from portrayal.shown import json_text

PROMPTS = 3
"""Prompts shown."""


@dataclass(frozen=True)
class Moved:
    """A prompt with what it added to a change, and one answer of each side to it."""

    prompt: str
    numbers: str
    passages: tuple[Passage, ...]


def moved_prompts(
    change: Change, rows: Sequence[int], sides: tuple[Side, Side], seed: int = 0
) -> list[Moved]:
    """Return the prompts that moved most in the direction of a change, the first by far first.

    None where a run keeps no sums of it, where its units are no prompts, or where no text is kept.
    """
    runs = sides[0].run, sides[1].run
    # Without sums by prompt nobody knows what a prompt added.
    if not rows or why_not(runs, (rows[0], rows[1])) is not None:
        return []
    numbering = Numbering(runs)
    sums = [numbering.sums(s, [row]) for s, row in enumerate(rows)]
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
        # An answer of each side; a prompt of which one is gone tells nothing.
        passages = [
            _answer(side, model, shared[i][1], seed)
            for side, model in zip(sides, (change.model_a, change.model_b), strict=True)
        ]
        shown_passages = [passage for passage in passages if passage is not None]
        if len(shown_passages) == len(passages):
            numbers = _numbers(parts[0], parts[1], i)
            prompt = short(words[1][shared[i][1]]["words"], 400)
            prompts.append(Moved(prompt, numbers, tuple(shown_passages)))
    return prompts


def _rows_of(sides: tuple[Side, Side]) -> Callable[[Change], list[int]]:
    """What finds the rows of both runs that a change is between; none where one has it not."""
    # Rows are looked up once for each side and model, not for each change.
    index = cache(lambda side, model: side_rows(sides[side], model))

    def find(row: Change) -> list[int]:
        place = frozenset(row.strata.items()), frozenset(row.group.items())
        key = (row.measure, row.statistic, *place)
        rows_by_side = [index(side, model) for side, model in enumerate((row.model_a, row.model_b))]
        return (
            [index_of_side[key] for index_of_side in rows_by_side]
            if all(key in index_of_side for index_of_side in rows_by_side)
            else []
        )

    return find


def _numbers(one: Sums, two: Sums, i: int) -> str:
    """What the two sides have for one prompt, where it is a share of counts."""
    # Influences are no counts that a reader could check.
    if one.form == "influence":
        return ""
    shares = []
    for side in (one, two):
        a, n = (float(cell[i, 0]) for cell in side.cells[:2])
        shares.append("nobody" if n <= 0 else f"{fmt.count(a)} of {fmt.count(n)}")
    return f"{shares[0]}, then {shares[1]}."


def _answer(side: Side, model: str, prompt_id: str, seed: int) -> Passage | None:
    """One readable answer to a prompt, drawn at random by the seed."""
    parts = [str(path) for path in side.run.texts.parts()]
    if not parts:
        return None
    parameters: dict[str, Any] = {
        "texts": parts,
        "id": prompt_id,
        "seed": str(seed),
        "model": model,
    }
    answers = rows_of(_QUERY.replace("$every", str(model == ALL).lower()), parameters)
    if not answers:
        return None
    # The prompt stands above both answers already.
    row = answers[0] | {"prompt": ""}
    return passage(row | {"model": f"{side.run.path.name}: {row['model']}"})


_QUERY = """
    select model, left(text, 100000) as text, length(text) as size
    from read_parquet($texts)
    where outcome = 'ok' and prompt_id = $id and ($every or model = $model)
    order by md5(text_id || $seed), text_id limit 1
"""


MOST, EACH = 4, 2
"""Changes in sentences at most, and of one measure before others had their turn."""
ROWS = 5
"""Rows of the chart on the first screen."""


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
        return _write(comparison, sides, path, seed)


def _write(comparison: Comparison, sides: tuple[Side, Side], path: str | Path, seed: int) -> Path:
    # What an audit may state comes first; where it states nothing, all that was tested.
    stated_rows = [row for row in comparison.rows if row.stated]
    rows = stated_rows or [row for row in comparison.rows if row.p is not None]
    rows_by_verdict = {
        kind: [row for row in rows if verdict(row, comparison.level) == kind]
        for kind in (CHANGED, SAME, OPEN)
    }
    changed, same, unresolved = (
        rows_by_verdict[CHANGED],
        rows_by_verdict[SAME],
        rows_by_verdict[OPEN],
    )
    # Ratios and differences are on other scales, so each is ordered by itself.
    changed.sort(key=lambda row: (row.scale != "ratio", -row.size, row.measure))
    labels = _labels(comparison, sides)
    unresolved.sort(key=by_evidence)
    # The clearest change is shown by its prompts, or what comes nearest to one.
    about = next((row for row in [*changed, *unresolved] if row.p is not None), None)
    find = _rows_of(sides)
    prompts = [] if about is None else moved_prompts(about, find(about), sides, seed)
    # Whatever else differs between the sides may be what changed a number.
    warnings = []
    if comparison.population == THESE:
        warnings.append(f"{capital(THESE_ALONE)}.")
    if comparison.instruments:
        differences = "; ".join(map(str, comparison.instruments))
        warnings.append(
            f"The sides measured with different instruments: {short(differences, 600)}."
        )
    if comparison.asked:
        differences = "; ".join(map(str, comparison.asked))
        warnings.append(f"The sides were asked otherwise: {short(differences, 600)}.")
    if comparison.prompts.reworded:
        counted = fmt.plural(comparison.prompts.reworded, "prompt")
        warnings.append(f"{counted} of both have other words under the same name.")
    counts = {
        **{"all": len(rows), "changed": len(changed), "same": len(same), "open": len(unresolved)},
        "untested": sum(row.p is None for row in unresolved),
    }
    fields = {
        "brand": "comparison",
        "title": f"{labels[0]} and {labels[1]}",
        "question": getattr(study_named(comparison.study), "title", comparison.study),
        "facts": _facts(comparison, sides),
        "warnings": warnings,
        "n": counts,
        "counted": {kind: fmt.plural(n, "comparison") for kind, n in counts.items()},
        "about": "" if about is None else subject(about.measure, about.place, about.group),
        "tests": "; ".join(dict.fromkeys(row.method for row in comparison.rows if row.method))
        or "none",
        "first": _first(comparison, sides, labels, rows, changed, unresolved, find),
        "same": sheet.table(same, sheet.SAME, 40),
        "open": sheet.table(unresolved, sheet.OPEN, 40),
        "moved": prompts,
    }
    figures = dumbbells(rows, labels, comparison.level)
    rows_of_table = sheet.list_of(comparison.rows, sheet.CHANGES)
    files = _files(comparison)
    return sheet.write_sheet(path, "compared.html.j2", fields, figures, rows_of_table, files)


def _labels(comparison: Comparison, sides: tuple[Side, Side]) -> tuple[str, str]:
    """What the sides are called: their model where these differ, else their folder."""
    models = [side.models for side in sides]
    # Two models are called by their names, two rounds of one by their folders.
    if all(len(names) == 1 for names in models) and models[0] != models[1]:
        return short(models[0][0], 60), short(models[1][0], 60)
    one, two = (side.run.path.name for side in sides)
    return (short(comparison.a), short(comparison.b)) if one == two else (short(one), short(two))


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


def _first(
    comparison: Comparison,
    sides: tuple[Side, Side],
    labels: tuple[str, str],
    rows: Sequence[Change],
    changed: Sequence[Change],
    unresolved: Sequence[Change],
    find: Callable[[Change], list[int]],
) -> FirstScreen:
    """What changed, in sentences; or what comes nearest to a change."""
    records = [side.run.records for side in sides]
    # Said is what enough people stand behind on both sides, of groups that the reader can tell.
    sure = [
        (row, behind)
        for row in changed
        for behind in [
            [side_records[k] for side_records, k in zip(records, find(row), strict=False)]
        ]
        if all(e.enough and e.status.reader_error is None for e in behind)
    ]
    in_sentences = _chosen(sure)
    findings = [
        _sentence(row, records_behind, labels, comparison.level)
        for row, records_behind in in_sentences
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
    texts = [_n_texts(side) for side in sides]
    # Alike is what was shown to be alike, not what merely did not change.
    same = sum(verdict(row, comparison.level) == SAME for row in rows)
    read = (
        f"{labels[0]} ({texts[0]:,} texts) and {labels[1]} ({texts[1]:,}) · "
        f"{fmt.plural(comparison.prompts.both, 'prompt')} of both · they differ in {len(changed)} "
        f"of {fmt.plural(len(rows), 'comparison')}, are alike in {same}, and "
        f"{len(rows) - len(changed) - same} are open"
    )
    if n_more := len(sure) - len(in_sentences):
        read += f" · {fmt.plural(n_more, 'more change')} in the figures below"
    # The changes of the sentences as a chart, of the first one's measure.
    glance_rows = [row for row, _ in in_sentences] or list(unresolved)
    charted = [
        r for r in glance_rows if r.measure == glance_rows[0].measure and r.change is not None
    ][:ROWS]
    figures = [figure for figure in dumbbells(charted, labels, comparison.level) if figure.svg]
    glance = None
    if figures:
        parts = {name: getattr(figures[0], name) for name in ("label", "svg", "legend")}
        glance = {"key": "glance", **parts}
    return FirstScreen(read, tuple(findings), none, tuple(cannot), glance)


def _n_texts(side: Side) -> int:
    """Texts of a side: those of its model where one was chosen."""
    parts = [str(path) for path in side.run.texts.parts()]
    # The run's own count is of all its models.
    if side.model in (None, ALL) or not parts:
        return int(side.run.texts.note().get("n_texts", 0))
    query = "select count(*) as n from read_parquet($texts) where model = $model"
    return int(rows_of(query, {"texts": parts, "model": side.model})[0]["n"])


Behind = list[Estimate]
"""The estimate of each side that a change compares; [] where unknown."""


def _chosen(sure: Sequence[tuple[Change, Behind]]) -> list[tuple[Change, Behind]]:
    """The changes that are said in sentences, no measure crowding out the others.

    Where women are more men are fewer: of the groups of one attribute in one place, one is said.
    """
    counts: dict[str, int] = {}
    questions: set[tuple[object, ...]] = set()
    first: list[tuple[Change, Behind]] = []
    later: list[tuple[Change, Behind]] = []
    for row, behind in sure:
        question = (row.measure, frozenset(row.strata.items()), frozenset(row.group))
        # The first of each question, and no more of a measure than its share.
        fresh = question not in questions and counts.get(row.measure, 0) < EACH
        if fresh:
            questions.add(question)
            counts[row.measure] = counts.get(row.measure, 0) + 1
        (first if fresh else later).append((row, behind))
    return (first + later)[:MOST]


def _sentence(row: Change, behind: Behind, labels: tuple[str, str], level: float) -> Stated:
    pairs = "prompts of both" if row.paired else "prompts, unpaired"
    facts = [f"{change_words(row, row.change)} ({span_words(row)})", q_words(row.audit_q)]
    evidence = f"{fmt.level(level)} interval of the change over {fmt.count(row.n_prompts)} {pairs}."
    if row.equivalent:
        evidence += " It is shown to be smaller than the margin."
    if row.n_prompts < FEW_PROMPTS:
        evidence += f" It rests on fewer than {FEW_PROMPTS} prompts."
    q = row.judged_q
    # Few prompts never make a change strong, however small its q.
    strong = q is not None and q < CLEAR and row.n_prompts >= FEW_CLUSTERS
    return Stated(
        change_sentence(row, behind, labels), tuple(facts), evidence, STRONG if strong else SOME
    )


def _files(comparison: Comparison) -> list[Download]:
    rows = [flat_change(row) for row in comparison.rows]
    facts = {
        **{name: getattr(comparison, name) for name in ("study", "a", "b", "level")},
        "instruments": [str(instrument) for instrument in comparison.instruments],
        "asked": [str(difference) for difference in comparison.asked],
        "changes": rows,
    }
    return [
        Download("changes.csv", "text/csv", "All changes as CSV", sheet.csv_of(rows)),
        Download("changes.json", "application/json", "As JSON", json_text(finite(facts))),
    ]
