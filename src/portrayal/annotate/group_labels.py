"""Groups by a language model: what it is asked of a text or person, and what its answer says.

An answer counts only where it is one of the labels as they were shown, or several where the factor
allows that. Every other answer is "unknown", with the reason.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from portrayal.collect.ask.replies import Reply, kept, prompt_of
from portrayal.records import Prompt
from portrayal.reference.factors import Factor, ModelSource, spelling_key
from portrayal.run.directory import Run

GROUP, SEVERAL, NONE, UNKNOWN, UNREAD = "group", "several", "none", "unknown", "unread"
"""What a source says of a text: one group, more than one, none, nothing that is understood; and a
text that was refused, empty or failed, whose words nobody can read."""

STATUSES = (GROUP, SEVERAL, NONE, UNKNOWN, UNREAD)

MALFORMED, NOT_ASKED, UNNAMED = "malformed", "not asked", "unnamed"
"""Why a model's answer is unknown, beside "refused", "empty" and "failed": it is no label; there is
none, as the budget did not reach it; the person has neither name nor role to ask by."""

ASKED_FILE = "asked.parquet"
ASKED = pa.schema([(name, pa.string()) for name in ("text_id", "asked_by", "person", "prompt_id")])
"""What was asked of which text or person, beside the answers; no prompt of the unnamed."""

_AROUND = re.compile(r"^[\s\"'“”‘’`*-]+|[\s\"'“”‘’`*.]+$")
_KEPT = 200
"""Characters of an answer that are kept beside what it was read as."""


class Said(NamedTuple):
    """What a source says of one text or person.

    Attributes
    ----------
    status
        One of `STATUSES`.
    places
        Places of the groups in the factor, one for each mention.
    why
        Why it is unknown, of a model's answer; "" elsewhere.
    """

    status: str
    places: tuple[int, ...] = ()
    why: str = ""

    def short(self) -> str:
        """Return it as `said_of` reads it."""
        return f"{self.status}{'=' * bool(self.why)}{self.why}:{','.join(map(str, self.places))}"


def said_of(said: str) -> list[tuple[Said, ...]]:
    """Read what every source says in short, by which texts that say the same are counted together.

    Returns
    -------
    list
        By source what it says of the text; of a source that is asked of people, of each of them.

    Examples
    --------
    >>> [each.places for (each,) in said_of("several:0,0,2|none:")]
    [(0, 0, 2), ()]
    >>> [each.why for each in said_of("group:1&unknown=refused:")[0]]
    ['', 'refused']
    """
    return [
        tuple(_said(unit) for unit in part.split("&") if unit)
        for part in (said.split("|") if said else ())
    ]


def _said(unit: str) -> Said:
    what, _, at = unit.partition(":")
    status, _, why = what.partition("=")
    return Said(status, tuple(map(int, at.split(","))) if at else (), why)


Asked = tuple[str, str | None]
"""A person ("" where the text is meant) and the digest of what is asked; None for the unnamed."""


@dataclass(frozen=True)
class Answers:
    """What a model has answered about the texts of a run.

    Attributes
    ----------
    replies
        Its answers by prompt.
    asked
        What was asked of each text, or of each person in it, by `text_id` and `asked_by`.
    """

    replies: Mapping[str, Reply] = field(default_factory=dict)
    asked: Mapping[tuple[str, str], Sequence[Asked]] = field(default_factory=dict)

    def said(
        self, factor: Factor, source: ModelSource, text_id: str, text: str
    ) -> Iterator[tuple[Said, str]]:
        """Yield what is said of a text, or of each person in it, and the words of the answer."""
        if not text:
            if source.unit == "text":
                yield Said(UNREAD), ""
            return
        for person, prompt_id in self.asked.get((text_id, asked_by(factor, source)), ()):
            reply = None if prompt_id is None else self.replies.get(prompt_id)
            said = (
                Said(UNKNOWN, (), UNNAMED)
                if prompt_id is None
                else read_label(factor, source, reply)
            )
            words = said.why if reply is None else " ".join(reply.text.split())[:_KEPT] or said.why
            yield said, f"{person}: {words}" if person else words


def asked_by(factor: Factor, source: ModelSource) -> str:
    """Return what counts and answers call a source."""
    return f"{factor.name}/{source.name}"


@cache
def labels_of(factor: Factor) -> dict[str, str | None]:
    """Return the labels that are shown, with the group that each stands for.

    The two last stand for "no group", as "", and for "unknown", as None. They are called otherwise
    where the factor has groups of these names.

    Examples
    --------
    >>> from portrayal.reference.factors import load_factor
    >>> list(labels_of(load_factor("age")))[-2:], list(labels_of(load_factor("religion")))[-2:]
    (['none', 'unknown'], ['none of these', 'unknown'])
    """
    none = "none" if factor.find("none") is None else "none of these"
    unknown = "unknown" if factor.find("unknown") is None else "cannot tell"
    shown: dict[str, str | None] = {group.label: group.key for group in factor.groups}
    return shown | {none: "", unknown: None}


@cache
def _spelled(factor: Factor) -> dict[str, str | None]:
    return {spelling_key(label): group for label, group in labels_of(factor).items()}


def group_prompt(factor: Factor, source: ModelSource, text: str, person: str = "") -> Prompt:
    """Return what is asked about a text, or a person in it, named by the digest of its words."""
    templates = _templates()
    none, unknown = list(labels_of(factor))[-2:]
    of = "person" if source.unit == "person" else "text"
    listed = [f"- {group.label}" for group in factor.groups]
    listed += [f"- {none} (if the {of} shows none of them)", f"- {unknown} (if you cannot tell)"]
    words = templates[source.answer].split("{text}")
    about = templates["about"].replace("{person}", " ".join(person.split())) if person else ""
    frame = words[0].replace("{labels}", "\n".join(listed)).replace("{about}", about)
    return prompt_of(frame.replace("{question}", source.question) + text.strip() + words[1])


def read_label(factor: Factor, source: ModelSource, reply: Reply | None) -> Said:
    """Return what an answer says.

    Parameters
    ----------
    factor, source
        What was asked.
    reply
        The answer; None where there is none.

    Examples
    --------
    >>> from portrayal.reference.factors import load_factor
    >>> asked = ModelSource(kind="model", name="model", question="Which?")
    >>> read_label(load_factor("religion"), asked, Reply("Hindu.", "ok")).status
    'group'
    >>> read_label(load_factor("religion"), asked, Reply("Hindu; Muslim", "ok")).why
    'malformed'
    """
    if reply is None or reply.outcome != "ok":
        return Said(UNKNOWN, (), NOT_ASKED if reply is None else reply.outcome)
    shown = _spelled(factor)
    pieces = re.split(r"[;\n]", reply.text) if source.answer == "several" else [reply.text]
    spelled = [spelling_key(_AROUND.sub("", piece)) for piece in pieces if piece.strip()]
    if not spelled or any(each not in shown for each in spelled):
        return Said(UNKNOWN, (), MALFORMED)
    groups = dict.fromkeys(shown[each] for each in spelled)
    if len(groups) > 1 and not all(groups):
        return Said(UNKNOWN, (), MALFORMED)
    places = tuple(sorted(factor.keys.index(group) for group in groups if group))
    if not places:
        return Said(NONE if "" in groups else UNKNOWN)
    return Said(GROUP if len(places) == 1 else SEVERAL, places)


def answers_of(run: Run, answers: str, **_counted: Any) -> Answers:
    """Return what a model answered about the texts of a run.

    Parameters
    ----------
    run
        A run in which a model was asked about groups.
    answers
        Folder in the run where its answers lie.
    """
    asked: dict[tuple[str, str], list[Asked]] = {}
    for row in pq.read_table(run.path / answers / ASKED_FILE).to_pylist():
        listed = asked.setdefault((row["text_id"], row["asked_by"]), [])
        listed.append((row["person"] or "", row["prompt_id"]))
    return Answers(kept(run.path / answers), asked)


@cache
def _templates() -> dict[str, str]:
    text = files(__package__).joinpath("group_labels.toml").read_text(encoding="utf-8")
    return {name: words.removesuffix("\n") for name, words in tomllib.loads(text).items()}
