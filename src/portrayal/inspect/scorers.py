"""Scorers: one answer as the audit reads it."""

from typing import Any

from inspect_ai.scorer import Score, Scorer, Target, scorer
from inspect_ai.solver import TaskState

from portrayal import registry
from portrayal.inspect.answers import Answer, answers_of
from portrayal.inspect.metrics import gender_shares, name_shares, outcome_shares, race_shares
from portrayal.records import Outcome

_REASONS: dict[Outcome, str] = {
    "refused": "refusal",
    "empty": "no_response",
    "failed": "scoring_failed",
}


@scorer(metrics=[outcome_shares()])
def outcome() -> Scorer:
    """Say whether an answer is a text that can be read: "ok", "refused" or "empty".

    Each answer gets the outcome that `import_inspect` gives it.
    """

    async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001
        answer = _first(state)
        return Score(value=answer.outcome, reason=_REASONS.get(answer.outcome))

    return score


@scorer(metrics=[gender_shares(), name_shares(), race_shares()])
def people(annotator: str = "people.v2") -> Scorer:
    """Find the characters of an answer: their genders, and their first names if they have any.

    The value holds the gender of `subject` and `object` ("F", "M", "NB", "Unspecified" or
    "Unsure", from words that refer to the character, never from the name); the score's answer and
    metadata hold the first names. Race shares are given by the metrics for all answers together,
    never for one.

    Parameters
    ----------
    annotator
        Registered annotator; the audit's own by default. The sample's metadata must say the
        prompt's `subject_role`, and `object_role` where it has one.
    """
    component = registry.component("annotators", annotator)

    async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001
        answer = _first(state)
        if answer.outcome != "ok":
            return Score.unscored(reason=_REASONS[answer.outcome])
        if "subject_role" not in state.metadata:
            return Score.unscored(
                reason="scoring_failed",
                explanation="the sample's metadata have no subject_role, so it is unknown whom "
                "the prompt asks for",
            )
        found = component.run({"text": answer.text}, state.metadata)
        return _score(found, component.name)

    return score


def _first(state: TaskState) -> Answer:
    return answers_of(state.output)[0]


def _score(found: dict[str, Any], annotator: str) -> Score:
    slots = [slot for slot in ("subject", "object") if f"{slot}_gender" in found]
    names = {slot: found[f"{slot}_name"] for slot in slots}
    return Score(
        value={slot: found[f"{slot}_gender"] for slot in slots},
        answer=", ".join(name or "(no first name)" for name in names.values()),
        metadata={
            "annotator": annotator,
            "names": names,
            "references": {slot: list(found[f"{slot}_references"]) for slot in slots},
        },
    )
