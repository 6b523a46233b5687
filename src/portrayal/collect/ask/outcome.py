"""The outcome of an answer: what the endpoint says first, then what the text says."""

from portrayal.collect.ask.provider import Answer
from portrayal.collect.outcomes import outcome_of
from portrayal.records import Outcome


def answer_outcome(answer: Answer) -> Outcome:
    """Return "refused", "empty" or "ok".

    "refused" when the endpoint reports a refusal or a content filter, even after some text; else
    what `portrayal.collect.outcome_of` finds in the text. A text cut off at its length is "ok".
    """
    return outcome_of(answer.text, answer.finish_reason)
