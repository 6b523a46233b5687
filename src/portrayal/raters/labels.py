"""Labels: what each rater says of each text, by whatever door it came, and what raters settle on.

A page, a sheet, a file and a language model all give rows of one form, `Label`; agreement, majority
and files are made from those alone.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeVar

KINDS = ("human", "llm", "adjudicated")
"""Kinds of raters; an adjudicator decides where people differ."""
Answer = TypeVar("Answer", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Label:
    """One label.

    Attributes
    ----------
    rater
        Who (the key of the name).
    text_id
        Of which text.
    code
        What was asked: the key of a code or a field; "" where it says that the rater is done.
    value
        The answer; of a code "1" or "0". A text that a rater is done with has a label for every
        code: one that was not set is "0".
    unit
        What in the text it is about, as "subject"; "" for the text itself.
    note
        The rater's note on the text; "" without one.
    at
        When, in UTC (ISO 8601).
    kind
        One of `KINDS`.
    """

    rater: str
    text_id: str
    code: str
    value: str
    unit: str = ""
    note: str = ""
    at: str = ""
    kind: str = "human"


@dataclass(frozen=True)
class Labels:
    """Everything that raters say of the texts they are done with.

    Attributes
    ----------
    rows
        The labels, ordered by text and rater.
    done
        Which texts each rater is done with, as labels without a code.
    codes
        Names of the questions with yes or no, by key.
    fields
        Keys of the questions with an answer.
    prompts
        Prompt of each text whose prompt is known, by text_id.
    started
        How many texts were begun by a rater who is not done with them; they count for nothing else.
    """

    rows: tuple[Label, ...]
    done: tuple[Label, ...]
    codes: Mapping[str, str] = field(default_factory=dict)
    fields: tuple[str, ...] = ()
    prompts: Mapping[str, str] = field(default_factory=dict)
    started: int = 0

    @cached_property
    def raters(self) -> tuple[str, ...]:
        """Raters who are done with a text or more, sorted."""
        return tuple(sorted({one.rater for one in self.done}))

    def of(self, *kinds: str) -> "Labels":
        """Return the labels of raters of these kinds alone."""
        rows, texts_coded = (
            tuple(one for one in part if one.kind in kinds) for part in (self.rows, self.done)
        )
        return replace(self, rows=rows, done=texts_coded)


@dataclass(frozen=True, slots=True)
class Consensus:
    """What people say of one text together.

    Attributes
    ----------
    text_id
        The text.
    codes
        Whether the text shows each code that is settled.
    open
        Codes that as many raters give as do not.
    """

    text_id: str
    codes: Mapping[str, bool]
    open: tuple[str, ...] = ()

    @property
    def given(self) -> tuple[str, ...]:
        """The codes that the text shows, in the order of the codebook."""
        return tuple(key for key, value in self.codes.items() if value)


def consensus(labels: Labels) -> dict[str, Consensus]:
    """Return what people settle on, by text_id, for each text that a person is done with.

    An adjudicator decides, the last one where there are several; otherwise a code is given, or not
    given, where more than half of the human raters say so. Language models have no vote.
    """
    votes: dict[tuple[str, str], list[bool]] = {}
    last: dict[str, tuple[str, str]] = {}
    for entry in labels.of("adjudicated").done:
        # The latest, and of two at one time the last by name
        last[entry.text_id] = max(last.get(entry.text_id, ("", "")), (entry.at, entry.rater))
    for one in labels.rows:
        # A text that someone adjudicated has one vote, that of the last adjudicator.
        by_people = one.kind == "human" and one.text_id not in last
        if by_people or (one.kind == "adjudicated" and last[one.text_id][1] == one.rater):
            votes.setdefault((one.text_id, one.code), []).append(one.value == "1")
    result = {}
    for name in dict.fromkeys(one.text_id for one in labels.of("human", "adjudicated").done):
        # Over every code of the codebook: one on which nobody voted stays open
        majorities = {key: majority(votes.get((name, key), ())) for key in labels.codes}
        settled = {key: value for key, value in majorities.items() if value is not None}
        unsettled = tuple(key for key in majorities if key not in settled)
        result[name] = Consensus(name, settled, unsettled)
    return result


def majority(answers: Iterable[Answer]) -> Answer | None:
    """Return what more than half say; None where no answer has so many.

    >>> majority(["F", "F", "M"]), majority(["F", "M"])
    ('F', None)
    """
    counts = Counter(answers)
    for value, count in counts.most_common(1):
        if 2 * count > counts.total():
            return value
    return None
