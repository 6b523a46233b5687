"""Head: the first screen of a report of pairs, and what stands behind it."""

from collections import Counter
from dataclasses import dataclass, replace
from math import isnan
from typing import Any

import portrayal.report.formats as fmt
from portrayal.collect.tables import UNNAMED
from portrayal.measure.matched.differences import AT_MOST, CHANGED, FLOOR, REACTION, STANDARDISED
from portrayal.records import TEXT_SD, UNITS, Estimate
from portrayal.report.figures.figure import Table
from portrayal.report.figures.panels import panel
from portrayal.report.findings import q_words
from portrayal.report.first import read_line
from portrayal.report.formats import short
from portrayal.report.sentences import sentence_of
from portrayal.report.strength import FirstScreen, Stated, clusters_of, strength_of
from portrayal.report.study import Fact, words_of
from portrayal.report.view import View, is_sure, place_of
from portrayal.report.words import capital
from portrayal.studies.pairs.report.series import (
    FIGURES,
    STANDARD,
    called,
    contrast,
    datum,
    deviations,
    differences,
    drawable,
    established,
    exclusions,
    floor_words,
    heads,
    label,
    leading,
    sets_of,
    span,
    unasked,
    unit_of,
    written,
)

MOST, UNASKED = 8, 3
"""Findings of scores on the first screen, and of words, phrases and openings."""
ROWS = 5
"""Rows of its chart."""
LARGEST = 3
"""Scores that are named of a model of which nothing is stated."""


def pairs_first(view: View) -> FirstScreen:
    """Return the first screen: a finding for each model and score that differ between halves."""
    score_findings = established(view)
    words, gaps = unasked(view), differences(view)
    in_front = (*score_findings[:MOST], *words[:UNASKED])
    folded = (*score_findings[MOST:], *words[UNASKED:])
    findings = tuple(_finding(view, e) for e in in_front)
    findings += tuple(replace(_finding(view, e), folded=True) for e in folded)
    cannot = _hidden(view, score_findings)
    # What is not shown is counted, or it would be read as equal treatment.
    unclear = sum(not is_sure(e) for e in gaps)
    if not unclear and not score_findings:
        cannot.append("No difference between groups was measured in this run.")
    if unclear:
        cannot.append(
            f"For {unclear} of {fmt.plural(len(gaps), 'difference')} these texts do not settle "
            "whether there is one. That is no evidence that groups are treated alike."
        )
    largest = max(gaps, key=clusters, default=None)
    # Scores of a model rest on the same pairs, so the most of any is their number.
    pairs = sum(
        max(e.n_units for e in gaps if e.strata["model"] == model) for model in _models(gaps)
    )
    reasons: Counter[str] = Counter()
    for of_model in exclusions(gaps).values():
        reasons.update(of_model)
    reasons_words = [f"{n:,} ({reason})" for reason, n in reasons.most_common()]
    left_out = [f"left out: {fmt.listed(reasons_words)}"] if reasons_words else []
    counted = [fmt.plural(pairs, "pair")]
    if largest is not None:
        units = clusters_of(replace(largest, tests=()), noun="source")
        # Where each pair is a unit, pairs and units are one number.
        if UNITS + "pair" not in largest.details:
            counted.insert(0, units)
        elif clusters(largest) < largest.n_units:
            counted.append(f"of one model {units} independent of each other")
    read = " · ".join([read_line(view, 0), *counted, *left_out])
    lead = _by_model(score_findings, words, _models(gaps)) if findings else ""
    return FirstScreen(read, findings, lead, tuple(cannot), _glance(view, findings))


def clusters(e: Estimate) -> float:
    """Return how many independent units an estimate rests on, whatever population it is of."""
    unit_counts = [n for name, n in e.details.items() if name.startswith(UNITS)]
    return unit_counts[0] if unit_counts else e.n_clusters


def _by_model(scores: list[Estimate], words: list[Estimate], models: list[str]) -> str:
    """How many differences are established of each model, the one with most first."""
    of_scores, of_words = (Counter(e.strata["model"] for e in part) for part in (scores, words))
    clauses = []
    # A model with nothing established is named as well.
    for model in sorted(models, key=lambda m: (-of_scores[m], -of_words[m])):
        counted = [fmt.plural(of_scores[model], "score")] if of_scores[model] else []
        if of_words[model]:
            counted.append(fmt.plural(of_words[model], "word"))
        writer = f"{short(model, 40)}, " if len(models) > 1 else ""
        clauses.append(writer + (fmt.listed(counted) if counted else "nothing"))
    return f"Established differences: {'; '.join(clauses)}."


def _models(estimates: list[Estimate]) -> list[str]:
    return list(dict.fromkeys(e.strata["model"] for e in estimates))


def _finding(view: View, e: Estimate) -> Stated:
    """A difference in a sentence, with its size, its range and what it rests on."""
    unit, sources = unit_of(e), clusters_of(replace(e, tests=()), noun="source")
    # As the sentence, of the group with more over the one with less.
    turned = (e.value or 0.0) < 0
    bounds, sign = e.interval, -1.0 if turned else 1.0
    # Turned round, the upper end becomes the lower.
    if bounds is not None and turned:
        bounds = replace(bounds, low=-bounds.high, high=-bounds.low)
    facts = [
        f"{written(e, sign * (e.value or 0.0))} {unit} ({span(e, bounds)})",
        *([deviations(sign * e.details[STANDARDISED])] if STANDARDISED in e.details else []),
        fmt.plural(e.n_units, "pair") + (f" of {sources}" if clusters(e) < e.n_units else ""),
        q_words(e.tests[0].audit_q),
    ]
    null_words = ""
    if e.null is not None and not isnan(e.null.low):
        null_words = f"; if nothing differed it would read {span(e, e.null)} ({e.null.method})"
    least = f"; {floor_words(e)}" if "score" in e.strata else ""
    evidence = (
        f"{label(e)}; {fmt.level(view.level)} interval over "
        f"{clusters_of(e, noun='source')}{null_words}{least}."
    )
    flags = (e.warning,) if e.warning else ()
    return Stated(sentence_of(e), tuple(facts), evidence, strength_of(view, e), (e,), flags)


def _hidden(view: View, score_findings: list[Estimate]) -> list[str]:
    """Of each model without a finding, the largest differences that it could hide."""
    lines, models = [], {e.strata["model"] for e in score_findings}
    gaps = [e for e in differences(view) if drawable(e) and AT_MOST in e.details]
    for model in (name for name in _models(gaps) if name not in models):
        model_gaps = [e for e in gaps if e.strata["model"] == model]
        # In standard deviations, as the scores' own units cannot be ranked.
        model_gaps.sort(key=lambda e: -e.details[AT_MOST] / e.details[TEXT_SD])
        largest = [
            f"{e.strata['score']} {e.details[AT_MOST] / e.details[TEXT_SD]:.2f} SD "
            f"({written(e, e.details[AT_MOST], '')} {unit_of(e)})"
            for e in model_gaps[:LARGEST]
        ]
        writer = "Nothing" if model == UNNAMED else f"{short(model, 40)}: nothing"
        lines.append(
            f"{writer} stated in {fmt.plural(len(model_gaps), 'score')}; the largest differences "
            f"it could hide are {fmt.listed(largest)}."
        )
    return lines


def _glance(view: View, findings: tuple[Stated, ...]) -> dict[str, Any] | None:
    """The findings, or what is largest, with the same score of other models as small marks."""
    first = [finding.first for finding in findings if not finding.folded] or [
        e for e in leading(view, ROWS) if drawable(e)
    ]
    first = [e for e in first if drawable(e)][:ROWS]
    if len(first) < 2:
        return None
    data = []
    for e in first:
        row = called(e)
        data.append(datum(view, e, row))
        for other in differences(view):
            same = place_of(other) == place_of(e) and other.group == e.group
            if same and other is not e and drawable(other):
                point = datum(view, other, row)
                point["m"], point["o"] = short(other.strata["model"], 28), point.pop("v")
                # Other models are context: their intervals would hide the finding's own.
                for name in ("lo", "hi", "nl", "nh"):
                    point.pop(name, None)
                data.append(point)
    rows = list(dict.fromkeys(called(e) for e in first))
    contrasts = fmt.listed(list(dict.fromkeys(contrast(e) for e in first)))
    legend = [
        ("dot", f"{contrasts}, with its interval"),
        *([("ring", "the same, not established")] if not all(map(is_sure, first)) else []),
        *([("small", "other models")] if len(view.models) > 1 else []),
        ("band", "what exchanged halves give"),
    ]
    sentences = " ".join(f"{finding.headline}." for finding in findings[:ROWS])
    spec = panel(view, data, rows, STANDARD, size=(500, 32))
    return {"key": "glance", "label": f"At a glance. {sentences}", "spec": spec, "legend": legend}


@dataclass(frozen=True)
class PairsHead:
    """What stands behind the findings: the instruments, what was left out, and the floor.

    `instruments` has the scores that react to the words of a person; `same` names those that do
    not. `exchange` says which words were exchanged, and in how many texts that changed something.
    """

    instruments: Table
    exchange: str
    same: str
    left_out: Table
    floor: str


def pairs_head(view: View) -> PairsHead:
    """Return how far scorers react to the words of a person, and which texts were left out."""
    gaps = differences(view)
    rows = [
        (model, reason, n) for model, of in exclusions(gaps).items() for reason, n in of.items()
    ]
    columns = {
        "Model": lambda row: short(row[0], 40),
        "Reason": lambda row: short(row[1], 120),
        "Texts": lambda row: f"{row[2]:,}",
    }
    valued = [e for e in gaps if e.value is not None]
    reacts = [e for e in valued if e.details.get(REACTION)]
    same = {e.strata["score"]: None for e in valued if e.details.get(REACTION) == 0.0}
    for e in reacts:
        same.pop(e.strata["score"], None)
    changed = int(max((e.details.get(CHANGED, 0.0) for e in valued), default=0.0))
    exchanged = f"{valued[0].instruments.get('exchange', '')}: {changed:,} texts" if changed else ""
    floors = [f"{called(e)}: {floor_words(e)}" for e in leading(view, MOST) if FLOOR in e.details]
    floor = "; ".join(floors) or capital(floor_words(valued[0]) if valued else "")
    return PairsHead(
        FIGURES.table("instruments", view, reacts, **heads(view)),
        exchanged,
        fmt.listed(list(same)) if same else "",
        Table.of(rows, columns, 2),
        floor,
    )


def instruments(view: View) -> tuple[str, ...]:
    """Return what is known of the error of what the numbers rest on."""
    facts_of_scores = [fact for fact in facts(view) if fact[0] not in ("Groups", "Units")]
    scorers = "; ".join(f"{label.lower()}: {value}" for label, value in facts_of_scores)
    scored = (f"Scored by {scorers}.",) if scorers else ()
    return (*scored, *words_of(__package__)["instruments"])


def facts(view: View) -> list[Fact]:
    """Return the groups, how units were recognised, and the instruments of the audit."""
    gaps = differences(view)
    used = {name: str(value) for e in gaps[:1] for name, value in e.instruments.items()}
    names = ("lexicons", "sentiment", "classifier", "exchange")
    groups = ", ".join(dict.fromkeys(map(contrast, gaps)))
    return [
        ("Groups", groups),
        *(("Units", line) for line in getattr(sets_of(view), "recognised", ())),
        *((name.capitalize(), short(used[name], 80)) for name in names if name in used),
    ]
