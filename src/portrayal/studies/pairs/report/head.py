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
    every = established(view)
    words, own = unasked(view), differences(view)
    in_front = (*every[:MOST], *words[:UNASKED])
    folded = (*every[MOST:], *words[UNASKED:])
    stated = tuple(_finding(view, e) for e in in_front)
    stated += tuple(replace(_finding(view, e), folded=True) for e in folded)
    cannot = _hidden(view, every)
    unclear = sum(not is_sure(e) for e in own)
    if not unclear and not every:
        cannot.append("No difference between groups was measured in this run.")
    if unclear:
        cannot.append(
            f"For {unclear} of {fmt.plural(len(own), 'difference')} these texts do not settle "
            "whether there is one. That is no evidence that groups are treated alike."
        )
    largest = max(own, key=clusters, default=None)
    pairs = sum(max(e.n_units for e in own if e.strata["model"] == model) for model in _models(own))
    reasons: Counter[str] = Counter()
    for of_model in exclusions(own).values():
        reasons.update(of_model)
    named = [f"{n:,} ({reason})" for reason, n in reasons.most_common()]
    left = [f"left out: {fmt.listed(named)}"] if named else []
    counted = [fmt.plural(pairs, "pair")]
    if largest is not None:
        units = clusters_of(replace(largest, tests=()), noun="source")
        if UNITS + "pair" not in largest.details:
            counted.insert(0, units)
        elif clusters(largest) < largest.n_units:
            counted.append(f"of one model {units} independent of each other")
    read = " · ".join([read_line(view, 0), *counted, *left])
    lead = _by_model(every, words, _models(own)) if stated else ""
    return FirstScreen(read, stated, lead, tuple(cannot), _glance(view, stated))


def clusters(e: Estimate) -> float:
    """Return how many independent units an estimate rests on, whatever population it is of."""
    known = [n for name, n in e.details.items() if name.startswith(UNITS)]
    return known[0] if known else e.n_clusters


def _by_model(scores: list[Estimate], words: list[Estimate], models: list[str]) -> str:
    """How many differences are established of each model, the one with most first."""
    of_scores, of_words = (Counter(e.strata["model"] for e in own) for own in (scores, words))
    said = []
    for model in sorted(models, key=lambda m: (-of_scores[m], -of_words[m])):
        counted = [fmt.plural(of_scores[model], "score")] if of_scores[model] else []
        if of_words[model]:
            counted.append(fmt.plural(of_words[model], "word"))
        who = f"{short(model, 40)}, " if len(models) > 1 else ""
        said.append(who + (fmt.listed(counted) if counted else "nothing"))
    return f"Established differences: {'; '.join(said)}."


def _models(own: list[Estimate]) -> list[str]:
    return list(dict.fromkeys(e.strata["model"] for e in own))


def _finding(view: View, e: Estimate) -> Stated:
    """A difference in a sentence, with its size, its range and what it rests on."""
    unit, sources = unit_of(e), clusters_of(replace(e, tests=()), noun="source")
    # As the sentence, of the group with more over the one with less.
    turned = (e.value or 0.0) < 0
    bounds, sign = e.interval, -1.0 if turned else 1.0
    if bounds is not None and turned:
        bounds = replace(bounds, low=-bounds.high, high=-bounds.low)
    facts = [
        f"{written(e, sign * (e.value or 0.0))} {unit} ({span(e, bounds)})",
        *([deviations(sign * e.details[STANDARDISED])] if STANDARDISED in e.details else []),
        fmt.plural(e.n_units, "pair") + (f" of {sources}" if clusters(e) < e.n_units else ""),
        q_words(e.tests[0].audit_q),
    ]
    how = ""
    if e.null is not None and not isnan(e.null.low):
        how = f"; if nothing differed it would read {span(e, e.null)} ({e.null.method})"
    least = f"; {floor_words(e)}" if "score" in e.strata else ""
    evidence = (
        f"{label(e)}; {fmt.level(view.level)} interval over "
        f"{clusters_of(e, noun='source')}{how}{least}."
    )
    flags = (e.warning,) if e.warning else ()
    return Stated(sentence_of(e), tuple(facts), evidence, strength_of(view, e), (e,), flags)


def _hidden(view: View, stated: list[Estimate]) -> list[str]:
    """Of each model without a finding, the largest differences that it could hide."""
    said, models = [], {e.strata["model"] for e in stated}
    own = [e for e in differences(view) if drawable(e) and AT_MOST in e.details]
    for model in (name for name in _models(own) if name not in models):
        here = [e for e in own if e.strata["model"] == model]
        here.sort(key=lambda e: -e.details[AT_MOST] / e.details[TEXT_SD])
        named = [
            f"{e.strata['score']} {e.details[AT_MOST] / e.details[TEXT_SD]:.2f} SD "
            f"({written(e, e.details[AT_MOST], '')} {unit_of(e)})"
            for e in here[:LARGEST]
        ]
        who = "Nothing" if model == UNNAMED else f"{short(model, 40)}: nothing"
        said.append(
            f"{who} stated in {fmt.plural(len(here), 'score')}; the largest differences it could "
            f"hide are {fmt.listed(named)}."
        )
    return said


def _glance(view: View, stated: tuple[Stated, ...]) -> dict[str, Any] | None:
    """The findings, or what is largest, with the same score of other models as small marks."""
    first = [each.first for each in stated if not each.folded] or [
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
                found = datum(view, other, row)
                found["m"], found["o"] = short(other.strata["model"], 28), found.pop("v")
                for name in ("lo", "hi", "nl", "nh"):
                    found.pop(name, None)
                data.append(found)
    rows = list(dict.fromkeys(called(e) for e in first))
    contrasts = fmt.listed(list(dict.fromkeys(contrast(e) for e in first)))
    legend = [
        ("dot", f"{contrasts}, with its interval"),
        *([("ring", "the same, not established")] if not all(map(is_sure, first)) else []),
        *([("small", "other models")] if len(view.models) > 1 else []),
        ("band", "what exchanged halves give"),
    ]
    said = " ".join(f"{each.headline}." for each in stated[:ROWS])
    spec = panel(view, data, rows, STANDARD, size=(500, 32))
    return {"key": "glance", "label": f"At a glance. {said}", "spec": spec, "legend": legend}


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
    own = differences(view)
    rows = [(model, reason, n) for model, of in exclusions(own).items() for reason, n in of.items()]
    said = {
        "Model": lambda row: short(row[0], 40),
        "Reason": lambda row: short(row[1], 120),
        "Texts": lambda row: f"{row[2]:,}",
    }
    known = [e for e in own if e.value is not None]
    reacts = [e for e in known if e.details.get(REACTION)]
    same = {e.strata["score"]: None for e in known if e.details.get(REACTION) == 0.0}
    for e in reacts:
        same.pop(e.strata["score"], None)
    changed = int(max((e.details.get(CHANGED, 0.0) for e in known), default=0.0))
    exchanged = f"{known[0].instruments.get('exchange', '')}: {changed:,} texts" if changed else ""
    floors = [f"{called(e)}: {floor_words(e)}" for e in leading(view, MOST) if FLOOR in e.details]
    floor = "; ".join(floors) or capital(floor_words(known[0]) if known else "")
    return PairsHead(
        FIGURES.table("instruments", view, reacts, **heads(view)),
        exchanged,
        fmt.listed(list(same)) if same else "",
        Table.of(rows, said, 2),
        floor,
    )


def instruments(view: View) -> tuple[str, ...]:
    """Return what is known of the error of what the numbers rest on."""
    said = [fact for fact in facts(view) if fact[0] not in ("Groups", "Units")]
    named = "; ".join(f"{what.lower()}: {value}" for what, value in said)
    scored = (f"Scored by {named}.",) if named else ()
    return (*scored, *words_of(__package__)["instruments"])


def facts(view: View) -> list[Fact]:
    """Return the groups, how units were recognised, and the instruments of the audit."""
    own = differences(view)
    used = {name: str(value) for e in own[:1] for name, value in e.instruments.items()}
    names = ("lexicons", "sentiment", "classifier", "exchange")
    groups = ", ".join(dict.fromkeys(map(contrast, own)))
    return [
        ("Groups", groups),
        *(("Units", line) for line in getattr(sets_of(view), "recognised", ())),
        *((name.capitalize(), short(used[name], 80)) for name in names if name in used),
    ]
