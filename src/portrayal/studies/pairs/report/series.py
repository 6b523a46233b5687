"""Series: the differences of a run by model and score, in their own units and standardised."""

from collections.abc import Iterable, Sequence
from math import isnan
from typing import Any

import portrayal.report.formats as fmt
from portrayal.annotate.scores import PER, SCORERS, TEXT_SCORES, TextScore, scores_of
from portrayal.collect.tables import UNNAMED
from portrayal.measure.matched import MatchedSets, matched_sets
from portrayal.measure.matched.differences import (
    AT_MOST,
    FLOOR,
    RAW,
    REACTION,
    REACTION_P,
    STANDARDISED,
    UNMASKED,
)
from portrayal.measure.matched.sets import REFUSED
from portrayal.measure.matched.units import SOURCE
from portrayal.records import ALL, TEXT_SD, Estimate, Interval, Null
from portrayal.reference.locales import HOME
from portrayal.registry import form_of
from portrayal.report.figures.declared import Declarations
from portrayal.report.figures.figure import Spec
from portrayal.report.figures.panels import Axis, Datum, dot
from portrayal.report.formats import short
from portrayal.report.strength import SOME, STRONG, strength_of
from portrayal.report.view import View
from portrayal.report.words import standing

OWN = "#1f4e79"
"""Colour of a difference."""
STANDARD = Axis("difference in standard deviations of the texts", line=0.0, zero=True)
_KNOWN = {score.name: score for score in scores_of({"scorers": SCORERS, "lexicons": ()})}


def differences(view: View, part: str = ALL) -> list[Estimate]:
    """Return the differences of all pairs, or those of a part, by model and score."""
    of_scores = (e for e in view.estimates if "score" in e.strata and e.strata["part"] == part)
    return standing(of_scores)


def drawable(e: Estimate) -> bool:
    """Whether a difference has a place on the axis of standard deviations."""
    return e.value is not None and STANDARDISED in e.details


def size(e: Estimate) -> float:
    """Return how large a difference is in standard deviations of the texts; 0 where unknown."""
    return abs(e.details.get(STANDARDISED, 0.0))


def score_of(name: str) -> TextScore:
    """Return what a score is: one of a text's own, the share of refusals, or words of a theme."""
    # Not a score of the words, so nothing in it can be exchanged.
    if name == REFUSED:
        return TextScore(REFUSED, "percentage points", exchanged=False)
    return _KNOWN.get(name) or TextScore(name, f"words in {PER:.0f}")


def contrast(e: Estimate) -> str:
    """Return which groups a difference compares ("female − male")."""
    return short(next(iter(e.group.values())), 60)


def what_of(e: Estimate) -> str:
    """Return what is compared: a score, or a word or phrase."""
    word = e.strata.get("word")
    return e.strata.get("score") or f"“{word}”"


def called(e: Estimate) -> str:
    """Return model, score and part of a difference ("gemma, length")."""
    model, part = e.strata["model"], e.strata["part"]
    parts = ("" if model == UNNAMED else model, what_of(e), "" if part == ALL else part)
    return short(", ".join(part for part in parts if part), 80)


def label(e: Estimate) -> str:
    """Return what a difference is of ("gemma, length: female − male")."""
    return called(e) if contrast(e) == ALL else f"{called(e)}: {contrast(e)}"


def place(e: Estimate) -> str:
    """Return score and part of a difference ("length, words = 100")."""
    part = e.strata["part"]
    return what_of(e) if part == ALL else f"{what_of(e)}, {part}"


def written(e: Estimate, value: float | None, sign: str = "+") -> str:
    """Return a number in `unit_of` an estimate: a difference of shares in percentage points."""
    return fmt.points(value, sign) if form_of(e) == "points" else fmt.difference(value, sign)


def deviations(value: float | None) -> str:
    """Return a difference in standard deviations of the texts ("−0.23 SD")."""
    return fmt.NOTHING if value is None or isnan(value) else f"{fmt.signed(value)} SD"


def span(e: Estimate, bounds: Interval | Null | None) -> str:
    """Return the bounds of a difference ("−8.08 to −2.21")."""
    if bounds is None or isnan(bounds.low):
        return fmt.NOTHING
    return f"{written(e, bounds.low)} to {written(e, bounds.high)}"


def sayable(view: View, estimates: Iterable[Estimate]) -> list[Estimate]:
    """Return what may be stated, the strong first, then the largest and the surest."""
    stateable = [
        e
        for e in estimates
        if strength_of(view, e) in (STRONG, SOME)
        and e.status.may_be_stated
        and e.tests
        and e.tests[0].audit_q is not None
    ]
    order = {id(e): (strength_of(view, e) != STRONG, -size(e), e.tests[0].p) for e in stateable}
    return sorted(stateable, key=lambda e: (*order[id(e)], label(e)))


def established(view: View) -> list[Estimate]:
    """Return the differences in scores that may be stated, spread over models and scores.

    First the largest of each model, then of each score, then the others by size.
    """
    remaining = sayable(view, differences(view))
    ordered: list[Estimate] = []
    # Each step takes what speaks of a model or score that none before does.
    while remaining:
        models = {e.strata["model"] for e in ordered}
        scores = {e.strata["score"] for e in ordered}
        fresh = [(e.strata["model"] in models, e.strata["score"] in scores) for e in remaining]
        ordered.append(remaining.pop(min(range(len(remaining)), key=lambda i: (fresh[i], i))))
    return ordered


def unasked(view: View) -> list[Estimate]:
    """Return what else may be stated: words, phrases and openings.

    First one of each model, as its openings and their parts say the same.
    """
    stateable = sayable(view, [e for e in view.estimates if "score" not in e.strata])
    first = {id(e) for e in {e.strata["model"]: e for e in reversed(stateable)}.values()}
    return sorted(stateable, key=lambda e: id(e) not in first)


def leading(view: View, most: int) -> list[Estimate]:
    """Return the differences to look at: those established, and the largest of other models."""
    leaders = established(view)[:most]
    models = {e.strata["model"] for e in leaders}
    largest: dict[str, Estimate] = {}
    for e in sorted(filter(drawable, differences(view)), key=size, reverse=True):
        # A model without a finding is shown too, with what is largest in it.
        if e.strata["model"] not in models and e.status.detail is None:
            largest.setdefault(e.strata["model"], e)
    return [*leaders, *largest.values()][:most]


def sets_of(view: View) -> MatchedSets | None:
    """Return the pairs that the differences rest on, read again; None where the texts are gone."""
    return view.once(_read_sets)


def _read_sets(view: View) -> MatchedSets | None:
    gaps, stage = differences(view), view.run.annotations(TEXT_SCORES.name)
    if not (gaps and view.run.texts.parts() and stage.parts()):
        return None
    names = dict.fromkeys(e.strata["score"] for e in gaps)
    return matched_sets(
        view.run,
        stage,
        [score_of(name) for name in names if name != REFUSED],
        group=next(iter(gaps[0].group)),
        source=view.options.get("source") or SOURCE,
        pronouns=not view.options.get("keep_others", False),
        locale=view.options.get("locale") or HOME,
    )


def datum(view: View, e: Estimate, row: str) -> Datum:
    """Return the datum of a difference, in standard deviations of the texts."""
    # Divided by the spread of the texts, so that all scores share an axis.
    point = dot(view, e, row, OWN, STANDARD, times=1.0 / e.details[TEXT_SD])
    return point | {
        "model": called(e),
        "group": contrast(e),
        "value": f"{written(e, e.value)} {unit_of(e)}; {deviations(e.details[STANDARDISED])}",
        "ci": span(e, e.interval),
        "null": span(e, e.null),
    }


def unit_of(e: Estimate) -> str:
    """Return what a difference counts ("words")."""
    if "score" in e.strata:
        return score_of(e.strata["score"]).unit
    return "percentage points of the answers"


def heads(view: View) -> dict[str, Any]:
    """Return the heads of columns, "" of those with one value alone, and the groups in words."""
    gaps = differences(view)
    contrasts = list(dict.fromkeys(map(contrast, gaps)))
    return {
        "models": "Model" if len({e.strata["model"] for e in gaps}) > 1 else "",
        "groups": "Groups" if len(contrasts) > 1 else "",
        "floors": "Two answers" if any(FLOOR in e.details for e in gaps) else "",
        "contrast": fmt.listed(contrasts[:4]) if contrasts else "",
    }


def shelves(panels: Sequence[Spec], columns: int, *, shared: bool = True) -> Spec:
    """Return panels in rows of so many, with one axis where it is shared."""
    rows = [list(panels[i : i + columns]) for i in range(0, len(panels), columns)]
    axes = {"x": "shared" if shared else "independent", "y": "independent"}
    resolve = {"resolve": {"scale": axes}}
    return {"vconcat": [{"hconcat": row, "spacing": 22, **resolve} for row in rows], **resolve}


def exclusions(estimates: Iterable[Estimate]) -> dict[str, dict[str, int]]:
    """Return how many texts were left out, by model and reason."""
    return {e.strata["model"]: dict(e.exclusions) for e in estimates if e.exclusions}


def floor_words(e: Estimate) -> str:
    """Return how far two answers to the identical request lie apart, or that nobody knows."""
    if FLOOR not in e.details:
        return "the floor is the exchange of halves, as no request was answered twice"
    return (
        "two answers to the identical request lie "
        f"{written(e, e.details[FLOOR], '')} {unit_of(e)} apart (standard deviation)"
    )


FIGURES = Declarations(
    __package__,
    {
        "model": lambda _, e: short(e.strata["model"], 40),
        "amount": lambda _, e: "undefined" if e.value is None else written(e, e.value),
        "unit": lambda _, e: unit_of(e),
        "span": lambda _, e: span(e, e.interval),
        "null": lambda _, e: span(e, e.null),
        "deviations": lambda _, e: deviations(e.details.get(STANDARDISED)),
        "at most": lambda _, e: written(e, e.details.get(AT_MOST), ""),
        "contrast": lambda _, e: contrast(e),
        "unmasked": lambda _, e: written(e, e.details.get(UNMASKED, e.details.get(RAW))),
        "raw": lambda _, e: written(e, e.details.get(RAW)),
        "reaction": lambda _, e: written(e, e.details.get(REACTION)),
        "reaction p": lambda _, e: fmt.probability(e.details.get(REACTION_P)),
        "may": lambda _, e: "yes" if e.status.detail is None else "no",
        "floor": lambda _, e: written(e, e.details.get(FLOOR), ""),
    },
)
