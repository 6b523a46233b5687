"""Questions asked beforehand: what no estimate could answer is refused, and when each was asked."""

from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from portrayal.errors import OptionError
from portrayal.measure.scope import Question, sides_of
from portrayal.records import ALL, OTHERS
from portrayal.run import Run

_MOST_NAMED = 20


def check_questions(
    questions: Sequence[Question], measures: Sequence[str], values: Mapping[str, Collection[str]]
) -> None:
    """Refuse a question that no estimate could answer, before any text is read.

    Parameters
    ----------
    questions
        As they were asked.
    measures
        Registered names of what the audit measures.
    values
        What is known of the values of strata and groups (`Options.group_values`); a key that is not
        among them is of the measure's own strata, and is not checked.

    Raises
    ------
    OptionError
        Naming what exists.

    Examples
    --------
    >>> asked = [Question.of("subordination race=Klingon")]
    >>> check_questions(asked, ["subordination.v1"], {"race": ["Black", "White"]})
    Traceback (most recent call last):
    portrayal.errors.OptionError: --question 'subordination race=Klingon': no race is 'Klingon'; \
there are: Black, White.
    """
    for question in questions:
        option = f"--question {question.text!r}"
        if question.measure not in measures:
            raise OptionError(
                f"{option}: this audit does not measure {question.measure}; it measures: "
                f"{_some(measures)}."
            )
        for key, value in question.where.items():
            if key not in values:  # a stratum of the measure's own, which only the measure knows
                continue
            names = sorted(values[key])
            for side in sides_of(value):
                if side not in (*names, ALL, OTHERS):
                    raise OptionError(f"{option}: no {key} is {side!r}; there are: {_some(names)}.")


def asked_when(run: Run, questions: Sequence[Question]) -> list[dict[str, Any]]:
    """Return when each question was asked first, and whether the run was audited before that.

    Parameters
    ----------
    run
        The run, before its estimates are made anew; it keeps what was asked in `audit.toml`, and
        in its manifest when it was first measured.
    questions
        Those that are asked now.
    """
    if not questions:  # so that a damaged `audit.toml` is written anew
        return []
    first = run.manifest.first_measured
    audited = bool(first) or run.estimates_path.is_file()
    earlier = run.settings().get("questions", []) if run.settings_path.is_file() else []
    first_asked = {Question.of(record["text"]).key: record for record in earlier}
    today = datetime.now(tz=UTC).date().isoformat()
    now: dict[str, Any] = {"on": today, "after_an_audit": audited}
    if first:
        now["first_audit"] = first
    # The first day stays, also when a question is put in other words
    return [{**first_asked.get(question.key, now), "text": question.text} for question in questions]


def _some(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
