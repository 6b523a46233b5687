"""Questions asked beforehand: when each was asked, and what came out, also where nothing did."""

from typing import Any

import portrayal.report.formats as fmt
from portrayal.errors import UnknownNameError
from portrayal.measure.scope import Question
from portrayal.records import FEW_PEOPLE, FEW_PROMPTS, Estimate
from portrayal.registry import form_of
from portrayal.report.findings import q_words
from portrayal.report.headline import label_of
from portrayal.report.strength import CANNOT, UNCLEAR, clusters_of, strength_of
from portrayal.report.view import View, q_of, when_asked


def answers(view: View) -> tuple[str, ...]:
    """Return a line for each question that was asked of a run beforehand.

    Parameters
    ----------
    view
        The run, whose settings keep what was asked, and when.
    """
    return tuple(_answer(view, record) for record in view.settings.get("questions", ()))


def _answer(view: View, record: dict[str, Any]) -> str:
    """What a question was, when it was asked, and what came out."""
    text = record["text"]
    try:
        question = Question.of(text)
    except UnknownNameError as error:  # of a measure that is not installed here
        return f"“{text}” ({when_asked(view, text)}): {error}"
    # No number of it is an answer too, and must be said.
    matching = [e for e in view.estimates if question.names(e, view.main)]
    results = [_result(view, e) for e in matching] or [_nothing_named(view, question)]
    return f"“{text}” ({when_asked(view, text)}): {'; '.join(results)}."


def _nothing_named(view: View, question: Question) -> str:
    """Why no number of a run is of what a question names."""
    rows = view.by_measure.get(question.measure, [])
    keys = list(dict.fromkeys(key for e in rows for key in (*e.strata, *e.group)))
    unknown = [key for key in question.where if key not in keys]
    if keys and unknown:
        return f"{question.measure} has no {unknown[0]} here; it has {fmt.listed(keys)}"
    return "no number of this run answers it"


def _result(view: View, e: Estimate) -> str:
    """The number, its interval, p and q, and how sure it is; or why there is none."""
    label = label_of(view, e)
    if e.value is None:
        return f"{label} has no value, as {e.undefined}"
    value = f"{label} is {fmt.number(e.value, form_of(e))}"
    if e.interval is not None:
        value += f" ({fmt.interval(e.interval, form_of(e))})"
    # Of the questions asked beforehand alone: a family of its own, and a small one.
    q = q_of(e)
    if q is None:
        return f"{value} without a test: {e.status.no_test or 'there is none of it'}"
    strength = strength_of(view, e)
    sure = {UNCLEAR: "not settled by these texts", CANNOT: f"not stated, as {_why_not(e)}"}.get(
        strength, strength
    )
    return f"{value}, {q_words(e.tests[0].p, 'p')}, {q_words(q)} among the questions asked: {sure}"


def _why_not(e: Estimate) -> str:
    """Why a number is not stated whatever its test says."""
    if e.n_clusters < FEW_PROMPTS:
        return f"{clusters_of(e)} are fewer than {FEW_PROMPTS}"
    if not e.enough:
        return f"fewer than {FEW_PEOPLE} people are expected in a role"
    return "errors of who read the texts could have made it"
