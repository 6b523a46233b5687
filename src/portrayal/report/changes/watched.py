"""The report of a watch: every headline estimate over time, and which rounds changed."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import portrayal.report.changes.sheet as sheet
import portrayal.report.formats as fmt
from portrayal.comparison import Round, Timeline, Watch, flat_rounds, watch_values
from portrayal.records import ALL, Estimate, finite
from portrayal.reference.labels import speaking_of
from portrayal.registry import form_of
from portrayal.report.changes.dumbbells import figure_key, where_all
from portrayal.report.changes.sheet import Download, change_words, row_label, span_words
from portrayal.report.figures.declared import Declarations
from portrayal.report.figures.figure import Figure, Spec
from portrayal.report.figures.panels import Axis, reach, rule_at, tiled
from portrayal.report.findings import q_words
from portrayal.report.formats import short
from portrayal.report.sentences import change_sentence
from portrayal.report.strength import CLEAR, SOME, STRONG, FirstScreen, Stated
from portrayal.report.view import study_named
from portrayal.report.words import colour_of_group, measure_title
from portrayal.run.pages import SHARES
from portrayal.shown import json_text

MOST_PANELS = 30
"""Panels of one figure; the table and the downloads have the rest."""


def timelines(watch: Watch) -> list[Figure]:
    """Return a figure for each measure, a panel for each of its groups and places."""
    figures = []
    for measure, rows in sheet.by_measure(watch.rows).items():
        # What changed stands in front, as panels are cut at MOST_PANELS.
        with_values = sorted(
            (row for row in rows if any(row.values)), key=lambda row: row.alarm is None
        )
        paneled = with_values[:MOST_PANELS]
        tested, n_more = sum(row.p is not None for row in rows), len(rows) - len(paneled)
        changed = sum(row.alarm is not None for row in rows)
        counted = f"{changed} of {fmt.plural(tested, 'tested number')}{where_all(rows)} changed."
        figure = sheet.CHANGES.figure(
            "rounds",
            None,
            rows,
            _spec(watch, paneled) if paneled else None,
            key=figure_key(measure),
            reading=counted if tested else f"None of these is tested: {rows[0].undefined}.",
            title=measure_title(measure),
            left=f" {fmt.plural(n_more, 'more row')} in the table." if n_more else "",
        )
        figures.append(figure)
    return figures


def _spec(watch: Watch, rows: list[Timeline]) -> Spec:
    values = sheet.attribute_values(row.group for row in rows)
    ratio = rows[0].statistic == "ratio"
    ends = [x for row in rows for x in (*row.values, *row.lows, *row.highs)]
    percent = "%" if rows[0].statistic in SHARES else ""
    axis = Axis(None, reach(ends, most=32.0) if ratio else None, percent)
    days = [look.when for look in watch.rounds]
    # Two rounds of one day would stand on each other, so rounds are numbered then.
    by_day = len(set(days)) == len(days)
    placed = len(sheet.places_of(rows)) > 1
    x: Spec = (
        {"field": "day", "type": "temporal", "scale": {"type": "utc"}}
        if by_day
        else {"field": "round", "type": "quantitative", "scale": {"zero": False}}
    )
    x |= {"title": None, "axis": {"tickCount": 3, "labelFontSize": 11, "labelOverlap": True}}
    shared = {"x": x, "tooltip": sheet.told(("Round", "Run", "Value", "Interval"))}
    panels = []
    for row in rows:
        # A point for each round, and a rule where the change begins.
        data = [_datum(watch, row, number, axis) for number in range(len(watch.rounds))]
        attribute_values = next((values.get(name, []) for name in row.group), [])
        changed = any(datum["at"] for datum in data)
        panel = sheet.CHANGES.chart(
            "rounds",
            data=data,
            title=row_label(row.place, row.group, placed=placed),
            colour=colour_of_group(row.group, attribute_values),
            one=rule_at("y") if axis.factor is not None else None,
            since=sheet.CHANGES.chart("since", **shared) if changed else None,
            value=axis.channel("v"),
            low=axis.channel("lo"),
            **shared,
        )
        panels.append(panel)
    return {**tiled(panels, 3, 26), "resolve": {"scale": {"y": "shared"}}}


def _datum(watch: Watch, row: Timeline, number: int, axis: Axis) -> dict[str, Any]:
    look, value = watch.rounds[number], row.values[number]
    low, high = row.lows[number], row.highs[number]
    changed = row.alarm is not None and row.start is not None
    datum: dict[str, Any] = {
        "day": look.when.isoformat(),
        "round": number + 1,
        "s": changed and number + 1 >= (row.start or 0),
        "at": changed and number + 1 == row.start,
        "v": axis.place(value),
        "tip": {
            "Round": f"{number + 1} ({look.when.isoformat()})",
            "Run": look.name,
            "Value": fmt.number(value, form_of(row)),
            "Interval": fmt.NOTHING
            if low is None or high is None
            else fmt.span(low, high, form_of(row)),
        },
    }
    # JSON has no infinity, so that an open end is a very large number.
    if low is not None and high is not None and not math.isnan(low):
        datum |= {"lo": axis.place(low), "hi": axis.place(min(high, 1e9))}
    return datum


MOST = 5
"""Changes in sentences at most."""


def write_watch(watch: Watch, path: str | Path) -> Path:
    """Write the page of a repeated audit in one step and return its path.

    Parameters
    ----------
    watch
        What `portrayal.comparison.watch` returned.
    path
        The HTML file; its folder is made where it is missing.
    """
    with speaking_of(watch.factors, watch.study):
        return _write(watch, path)


def _write(watch: Watch, path: str | Path) -> Path:
    tested = [row for row in watch.rows if row.p is not None]
    # Not changed is said of what was tested; the others have their reasons.
    quiet = [row for row in tested if row.alarm is None]
    reasons = Counter(
        row.undefined for row in watch.rows if row.undefined and len(watch.rounds) > 1
    )
    study = study_named(watch.study)
    title = getattr(study, "title", watch.study)
    fields = {
        "brand": "watch",
        "title": f"{fmt.plural(len(watch.rounds), 'round')} of {short(title, 80)}",
        "question": getattr(study, "question", ""),
        "facts": _facts(watch, len(tested)),
        "warnings": [short(text, 600) for text in watch.differences]
        + [
            f"Rounds measured with different instruments: {instruments}."
            for instruments in watch.instruments
        ],
        "rounds": sheet.CHANGES.table("round-list", None, list(enumerate(watch.rounds, 1))),
        "summary": " ".join(watch.said),
        "first": _first(watch, len(tested)),
        "same": sheet.CHANGES.table("quiet", None, quiet),
        "quiet": fmt.plural(len(quiet), "number"),
        "level": fmt.level(watch.level),
        "untested": [f"{fmt.plural(n, 'number')} without a test: {x}." for x, n in reasons.items()],
    }

    def seen(_: Any, row: Timeline) -> str:
        if row.alarm is None:
            return fmt.NOTHING
        return f"changed, seen {watch.rounds[row.alarm - 1].when.isoformat()}"

    declarations = Declarations(sheet.CHANGES.package, {**sheet.CHANGES.cells, "seen": seen})
    table = sheet.list_of(declarations.table("watched", None, watch.rows))
    rows = flat_rounds(watch)
    files = [
        Download("rounds.csv", "text/csv", "Every number of each round as CSV", sheet.csv_of(rows)),
        Download(
            "watch.json", "application/json", "As JSON", json_text(finite(watch_values(watch)))
        ),
    ]
    return sheet.write_sheet(path, "watched.html.j2", fields, timelines(watch), table, files)


def _facts(watch: Watch, n_tested: int) -> list[tuple[str, str]]:
    rows = [
        ("Study", watch.study),
        ("Folder", short(watch.folder, 100)),
        ("Rounds", str(len(watch.rounds))),
        ("Prompts of all rounds", f"{watch.n_prompts:,}"),
        ("Numbers tested", f"{n_tested:,}"),
        ("Confidence level, of all looks together", fmt.level(watch.level)),
        ("Left out, not finished", short(", ".join(watch.left_out), 200)),
    ]
    return [(name, value) for name, value in rows if value]


def _first(watch: Watch, n_tested: int) -> FirstScreen:
    """What changed, in sentences."""
    first, last = watch.rounds[0], watch.rounds[-1]
    read = (
        f"{first.when.isoformat()} to {last.when.isoformat()} · the same "
        f"{fmt.plural(watch.n_prompts, 'prompt')} in each · {len(watch.alarms)} of "
        f"{fmt.plural(n_tested, 'number')} changed"
    )
    none = f"No change found in {fmt.plural(n_tested, 'number')} over {len(watch.rounds)} rounds."
    findings = [_sentence(watch, row) for row in watch.alarms[:MOST]]
    # How texts are written comes first: it changes with the model, whoever they are about.
    way = watch.writing
    if way.alarm is not None:
        # A change is seen later than it began.
        since, seen_in = (watch.rounds[(n or 1) - 1] for n in (way.start, way.alarm))
        headline = (
            f"The texts are written otherwise from round {way.start} ({since.when.isoformat()}) on"
        )
        facts = (
            *(f"{name}: {before:.3g}, then {after:.3g}" for name, before, after in way.moved),
            f"first seen in round {way.alarm} ({seen_in.when.isoformat()})",
        )
        evidence = (
            f"By how long texts are and how often common words occur; {q_words(way.p, 'p')}, for "
            "all looks together. Ask whether it is the same model."
        )
        findings.insert(0, Stated(headline, facts, evidence, STRONG))
    if (n_more := len(watch.alarms) - MOST) > 0:
        read += f" · {fmt.plural(n_more, 'more change')} in the table below"
    could = watch.could_be_seen
    # Nothing changed: then what could have been seen is the news.
    if not findings:
        none = f"{none} {could}".strip() if len(watch.rounds) > 1 else watch.said[0]
        return FirstScreen(read, (), none, ())
    cannot = [*([] if watch.alarms else [none]), *([could] if could else [])]
    return FirstScreen(read, tuple(findings), "", tuple(cannot))


def watched_sentence(
    row: Timeline, behind: Sequence[Estimate], rounds: tuple[str, str, str]
) -> str:
    """Return a watched change as a sentence without a full stop, the counts of both rounds first.

    Parameters
    ----------
    row
        The number over all rounds.
    behind
        Its estimates in the first and in the last round that have one.
    rounds
        What these two are called, and the round from which on it is changed.
    """
    # The sentence has the first and the last round's own counts, not means of many.
    sides = replace(row, value_a=behind[0].value, value_b=behind[-1].value)
    sentence = change_sentence(sides, behind, rounds[:2])
    return f"{sentence}; it changed from {rounds[2]} on"


def _sentence(watch: Watch, row: Timeline) -> Stated:
    seen_in = watch.rounds[(row.alarm or 1) - 1]
    # A round without anybody of the group has no value to set beside others.
    have = [number for number, value in enumerate(row.values, 1) if value is not None]
    first, last, start = (
        f"round {n} ({watch.rounds[n - 1].when.isoformat()})"
        for n in (have[0], have[-1], row.start or 1)
    )
    behind = [_record(watch.rounds[n - 1], row) for n in (have[0], have[-1])]
    headline = watched_sentence(row, behind, (first, last, start))
    facts = (
        f"{change_words(row, row.change)} ({span_words(row)})",
        f"first seen in round {row.alarm} ({seen_in.when.isoformat()})",
        fmt.plural(row.n_prompts, "prompt"),
    )
    evidence = f"{fmt.level(watch.level)} interval, for all looks together; {q_words(row.q)}."
    if not row.is_still_changed:
        evidence += " The interval at the last round holds no change again."
    # A change that went back is no strong one any more.
    strong = row.q is not None and row.q < CLEAR and row.is_still_changed
    return Stated(headline, facts, evidence, STRONG if strong else SOME)


def _record(look: Round, row: Timeline) -> Estimate:
    """The estimate of a round behind a number that it has."""
    # A round of one model has that model's estimates and none of all.
    model = row.model_a if row.model_a != ALL or len(look.models) > 1 else look.models[0]
    identity = (row.measure, row.statistic, row.strata, row.group)
    return next(
        e
        for e in look.run.records
        if (e.measure, e.statistic, {k: v for k, v in e.strata.items() if k != "model"}, e.group)
        == identity
        and e.strata.get("model", model) == model
    )
