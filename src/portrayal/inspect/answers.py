"""Answers: what a model said in one sample of Inspect, and with which outcome.

The scorers and the import read samples through these functions, so that a log's metrics and the
audit of the imported log count the same refusals.
"""

from dataclasses import dataclass

from inspect_ai.log import EvalSample
from inspect_ai.model import ChatMessage, ModelOutput

from portrayal.collect import outcome_of
from portrayal.records import Outcome


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer: its text, and whether it can be read."""

    text: str
    outcome: Outcome


def answers_of(output: ModelOutput, *, failed: bool = False) -> list[Answer]:
    """Return the answers of a model's output, one for each choice.

    Parameters
    ----------
    output
        What the model gave; several choices where several were asked for at once.
    failed
        Whether the sample ended in an error or was invalidated.

    Returns
    -------
    list of Answer
        At least one. "failed" for an error or where no answer was made at all, "refused" where the
        provider's content filter stopped it; else what the audit reads from the text alone.
    """
    if not output.choices:
        return [Answer(output.completion, "failed")]
    found = []
    for choice in output.choices:
        text = choice.message.text
        if failed:
            found.append(Answer(text, "failed"))
        elif choice.stop_reason == "content_filter":
            found.append(Answer(text, "refused"))
        else:
            found.append(Answer(text, outcome_of(text)))
    return found


def sample_answers(sample: EvalSample) -> list[Answer]:
    """Return the answers of a logged sample."""
    failed = sample.error is not None or sample.invalidation is not None
    return answers_of(sample.output, failed=failed)


def prompt_of(asked: str | list[ChatMessage]) -> str:
    """Return the request of a sample: its text, or what the user said in its messages."""
    if isinstance(asked, str):
        return asked
    return "\n\n".join(message.text for message in asked if message.role == "user")
