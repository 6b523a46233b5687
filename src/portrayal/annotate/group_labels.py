"""Groups by a language model: what it is asked of a text or person, and what its answer says.

An answer counts only where it is one of the labels as they were shown, or several where the factor
allows that. Every other answer is "unknown", with the reason. The model is asked within limits, its
answers are kept, and nothing is asked twice.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from portrayal.annotate.annotator import Annotation
from portrayal.annotate.llm import ModelReader, asked_of, counted_words, read_replies, templates
from portrayal.collect.ask.asking import Asking, check_settings
from portrayal.collect.ask.replies import Replies, Reply, kept_replies, prompt_of
from portrayal.errors import OptionError
from portrayal.records import Prompt
from portrayal.reference.factors import Factor, ModelSource, factor_mark, sources_of, spelling_key
from portrayal.run.directory import Run, read_prompts, read_shards
from portrayal.run.files import read_parquet, write_parquet
from portrayal.run.manifest import ANSWERS
from portrayal.types import Say

GROUP, SEVERAL, NONE, UNKNOWN, UNREAD = "group", "several", "none", "unknown", "unread"
"""What a source says of a text: one group, more than one, none, nothing that is understood; and a
text that was refused, empty or failed, whose words nobody can read."""

STATUSES = (GROUP, SEVERAL, NONE, UNKNOWN, UNREAD)

UNNAMED = "unnamed"
"""Why a model's answer is unknown, beside those of `read_replies`: the person has neither name nor
role to ask by."""

ASKED_FILE = "asked.parquet"
ASKED = pa.schema([(name, pa.string()) for name in ("text_id", "asked_by", "person", "prompt_id")])
"""What was asked of which text or person, beside the answers; no prompt of the unnamed."""

_AROUND = re.compile(r"^[\s\"'“”‘’`*-]+|[\s\"'“”‘’`*.]+$")
_KEPT = 200
"""Characters of an answer that are kept beside what it was read as."""


class GroupResponse(NamedTuple):
    """What a source says of one text or person.

    Attributes
    ----------
    status
        One of `STATUSES`.
    places
        Places of the groups in the factor, one for each mention.
    why
        Why it is unknown, of a model's answer, or unread, of a text in another language.
    """

    status: str
    places: tuple[int, ...] = ()
    reason: str = ""

    @classmethod
    def of(cls, places: Iterable[int], none: str = NONE) -> "GroupResponse":
        """Return what mentions of groups come to, in their order; `none` where there are none."""
        ordered = tuple(sorted(places))
        return cls((none, GROUP, SEVERAL)[min(len({*ordered}), 2)], ordered)

    def short(self) -> str:
        """Return it as `said_of` reads it."""
        reason = f"={self.reason}" if self.reason else ""
        return f"{self.status}{reason}:{','.join(map(str, self.places))}"


def said_of(short: str) -> list[tuple[GroupResponse, ...]]:
    """Read what every source says in short, by which texts that say the same are counted together.

    Returns
    -------
    list
        By source what it says of the text; of a source that is asked of people, of each of them.

    Examples
    --------
    >>> [each.places for (each,) in said_of("several:0,0,2|none:")]
    [(0, 0, 2), ()]
    >>> [each.reason for each in said_of("group:1&unknown=refused:")[0]]
    ['', 'refused']
    """
    responses = []
    for part in short.split("|") if short else ():
        of_people = []
        for unit in filter(None, part.split("&")):
            status_text, _, numbers = unit.partition(":")
            status, _, reason = status_text.partition("=")
            places = tuple(map(int, numbers.split(","))) if numbers else ()
            of_people.append(GroupResponse(status, places, reason))
        responses.append(tuple(of_people))
    return responses


@dataclass(frozen=True)
class Answers:
    """What a model has answered about the texts of a run.

    Attributes
    ----------
    replies
        Its answers by prompt.
    posed
        What was asked of each text, or of each person in it, by `text_id` and `asked_by`: a person
        ("" where the text is meant) and the prompt; None for the unnamed.
    """

    replies: Replies = field(default_factory=dict)
    posed: Mapping[tuple[str, str], Sequence[tuple[str, str | None]]] = field(default_factory=dict)

    def said(
        self, factor: Factor, source: ModelSource, text_id: str, text: str
    ) -> Iterator[tuple[GroupResponse, str]]:
        """Yield what is said of a text, or of each person in it, and the words of the answer."""
        if not text:
            if source.unit == "text":
                yield GroupResponse(UNREAD), ""
            return
        # What was asked is kept beside the answers, so people are not found again
        for person, prompt_id in self.posed.get((text_id, asked_by(factor, source)), ()):
            replies = () if prompt_id is None else self.replies.get(prompt_id, ())
            response = read_label(factor, source, replies)
            if prompt_id is None:
                response = GroupResponse(UNKNOWN, (), UNNAMED)
            words = " ".join(replies[0].text.split())[:_KEPT] if replies else ""
            words = words or response.reason
            yield response, f"{person}: {words}" if person else words


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
    # A group may be called "none": an answer must mean one thing
    none = "none" if factor.find("none") is None else "none of these"
    unknown = "unknown" if factor.find("unknown") is None else "cannot tell"
    labels: dict[str, str | None] = {group.label: group.key for group in factor.groups}
    return labels | {none: "", unknown: None}


def group_prompt(factor: Factor, source: ModelSource, text: str, person: str = "") -> Prompt:
    """Return what is asked about a text, or a person in it, named by the digest of its words."""
    words = templates("portrayal.annotate", "group_labels.toml")
    none, unknown = list(labels_of(factor))[-2:]
    of = "person" if source.unit == "person" else "text"
    lines = [f"- {group.label}" for group in factor.groups]
    lines += [f"- {none} (if the {of} shows none of them)", f"- {unknown} (if you cannot tell)"]
    return prompt_of(
        words[source.answer].format(
            labels="\n".join(lines),
            about=words["about"].format(person=" ".join(person.split())) if person else "",
            question=source.question,
            text=text.strip(),
        )
    )


def read_label(factor: Factor, source: ModelSource, replies: Sequence[Reply]) -> GroupResponse:
    """Return what an answer says.

    Parameters
    ----------
    factor, source
        What was asked.
    replies
        The answer; none where there is none.

    Examples
    --------
    >>> from portrayal.reference.factors import load_factor
    >>> asked = ModelSource(kind="model", name="model", question="Which?")
    >>> read_label(load_factor("religion"), asked, [Reply("Hindu.", "ok")]).status
    'group'
    >>> read_label(load_factor("religion"), asked, [Reply("Hindu; Muslim", "ok")]).reason
    'malformed'
    """
    group_of = {spelling_key(label): group for label, group in labels_of(factor).items()}

    def read(text: str) -> GroupResponse | None:
        pieces = re.split(r"[;\n]", text) if source.answer == "several" else [text]
        spelled = [spelling_key(_AROUND.sub("", piece)) for piece in pieces if piece.strip()]
        # One piece that is no label spoils the answer: nothing is guessed of the rest
        if not spelled or any(label not in group_of for label in spelled):
            return None
        groups = dict.fromkeys(group_of[label] for label in spelled)
        # "Hindu; none of these" contradicts itself
        if len(groups) > 1 and not all(groups):
            return None
        places = (factor.keys.index(group) for group in groups if group)
        return GroupResponse.of(places, NONE if "" in groups else UNKNOWN)

    # A refusal is no "none": it would count as a text without the group
    responses, reasons = read_replies(replies, 1, read)
    return responses[0] if responses else GroupResponse(UNKNOWN, (), next(iter(reasons)))


def answers_of(run: Run, answers: str, **_counted: Any) -> Answers:
    """Return what a model answered about the texts of a run.

    Parameters
    ----------
    run
        A run in which a model was asked about groups.
    answers
        Folder in the run where its answers lie.
    """
    questions: dict[tuple[str, str], list[tuple[str, str | None]]] = {}
    for row in read_parquet(run.path / answers / ASKED_FILE).to_pylist():
        of_text = questions.setdefault((row["text_id"], row["asked_by"]), [])
        of_text.append((row["person"] or "", row["prompt_id"]))
    return Answers(kept_replies(run.path / answers), questions)


@dataclass(frozen=True)
class GroupLabelling(ModelReader):
    """A language model that labels texts, or people in them, with the groups of factors.

    Attributes
    ----------
    asking
        Whom, within which limits.
    factors
        The factors of the audit; those without a source of the kind "model" are left alone.
    """

    purpose: str = "factors"
    answer_tokens: int | None = 15
    cold: bool = True
    factors: tuple[Factor, ...] = ()

    @property
    def annotators(self) -> tuple[str, ...]:
        """The annotator that reads its answers."""
        return ("groups.v3",)

    @property
    def marks(self) -> dict[str, Any]:
        """What distinguishes its answers; factors may have been edited since."""
        return {**super().marks, "state": [factor_mark(factor) for factor in self.factors]}

    @property
    def sources(self) -> dict[str, tuple[Factor, ModelSource]]:
        """What is asked, each with its factor, as counts and answers call it."""
        return {
            asked_by(factor, source): (factor, source)
            for factor, source in sources_of(self.factors, ModelSource)
        }

    def answered(self, run: Run, annotation: Annotation, tell: Say) -> Annotation:
        """Ask about every text of a run, or every person, in a run that the caller holds.

        Parameters
        ----------
        run
            A run with texts.
        annotation
            The annotation that reads the answers; its setting "people" names the annotator of the
            people of the run, complete, or is "" where only texts are asked about.
        tell
            Told what is asked, and what the answers come to.

        Returns
        -------
        The annotation, with where the answers lie, a digest of them and what they came to among its
        settings; every answer that is no label is counted there by its reason.

        Raises
        ------
        StopError, RunError, OptionError
            Saying what to do; what was answered before is kept.
        """
        people, sources = annotation.settings["people"], self.sources
        # Equal texts give equal prompts, and each is asked once
        table, prompts = self._asked(run, people)
        with run.manifest.step(ANSWERS):
            replies = self.ask(run.path, prompts.values(), tell)
            place = run.path / self.kept_in
            place.mkdir(parents=True, exist_ok=True)
            write_parquet(table, place / ASKED_FILE)
        # What the answers come to, by source
        counts: dict[str, Counter[str]] = {name: Counter() for name in sources}
        read: dict[str, str] = {}
        asked_rows = zip(*(table[n].to_pylist() for n in ("asked_by", "prompt_id")), strict=True)
        for (name, prompt_id), times in Counter(asked_rows).items():
            words = UNNAMED
            if prompt_id is not None:
                factor, source = sources[name]
                response = read_label(factor, source, replies.get(prompt_id, ()))
                keys = [factor.keys[place] for place in response.places]
                words = read[prompt_id] = (
                    response.reason or " and ".join(keys) or f"({response.status})"
                )
            counts[name][words] += times
        for line in _counted(counts):
            tell(f"factors: {line}")
        # Other people in the texts are other questions
        people_mark = run.annotations(people).note().get("fingerprint") if people else ""
        return self.noted(annotation, (read, people_mark), said=counts)

    def _asked(self, run: Run, people: str) -> tuple[pa.Table, dict[str, Prompt]]:
        """What is asked of each text or person, in the order of the texts, and every question."""
        # First who is in which text
        people_of_text: dict[str, list[str | None]] = {}
        strata = read_prompts(run.prompts_path) if people else {}
        for part in run.annotations(people).parts() if people else ():
            texts = read_parquet(run.texts.folder / part.name, columns=["text_id", "prompt_id"])
            pairs = (texts[name].to_pylist() for name in texts.column_names)
            prompt_of_text = dict(zip(*pairs, strict=True))
            for row in read_parquet(part).to_pylist():
                # A text whose people could not be read is not asked about
                if row["error"] is None:
                    people_of_text[row["text_id"]] = _called(
                        row, strata[prompt_of_text[row["text_id"]]]
                    )
        prompts: dict[str, Prompt] = {}
        rows: list[dict[str, str | None]] = []
        for (table,) in read_shards(run.texts, ["text_id", "text", "outcome"]):
            for row in table.filter(pc.field("outcome") == "ok").to_pylist():
                for name, (factor, source) in self.sources.items():
                    of_text = source.unit == "text"
                    for person in ("",) if of_text else people_of_text.get(row["text_id"], ()):
                        question = {"text_id": row["text_id"], "asked_by": name}
                        rows.append(question)
                        if person is not None:
                            prompt = group_prompt(factor, source, row["text"], person)
                            prompt = prompts.setdefault(prompt.prompt_id, prompt)
                            question |= {"person": person, "prompt_id": prompt.prompt_id}
        return pa.Table.from_pylist(rows, ASKED), prompts


def group_labels_sentence(run: Run, annotator: str) -> str | None:
    """Return who labelled groups in a run and what the answers came to; None where nobody did."""
    labelling = asked_of(run, annotator)
    return (
        f"{labelling['model']} labelled {'; '.join(_counted(labelling['said']))}"
        if labelling
        else None
    )


def _called(row: Mapping[str, Any], roles: Mapping[str, str]) -> list[str | None]:
    """What a text calls its people: by name, or by role in the prompt."""
    # `everyone` lists people; the writer of a text is not whom it is about
    if "people" in row:
        return [person["name"] for person in row["people"] or () if not person["writer"]]
    slots = [slot for slot in ("subject", "object") if row[f"{slot}_gender"] is not None]
    return [row[f"{slot}_name"] or roles.get(f"{slot}_role") for slot in slots]


def _counted(counts: Mapping[str, Mapping[str, int]]) -> Iterator[str]:
    for name, words_n in counts.items():
        yield f"{name}, {sum(words_n.values()):,} answers: {counted_words(words_n)}"


def group_labelling(
    factors: Sequence[Factor], model: str | None, settings: Mapping[str, Any] | None = None
) -> GroupLabelling | None:
    """Return how a model is asked about the groups of factors; None where no factor asks one.

    Parameters
    ----------
    factors
        The factors of an audit.
    model
        "SERVICE:MODEL".
    settings
        Further fields of `Asking`, such as `base_url`, `budget` or `confirm`.

    Raises
    ------
    OptionError, UnknownNameError
        Where a factor asks a model and none is named, or one is named that nothing asks.
    """
    check_settings(settings, "a model that labels groups")
    sources = sources_of(factors, ModelSource)
    if not sources:
        if model is not None:
            raise OptionError(
                f"--factor-model {model} says nothing: no factor has a source of the kind 'model'."
            )
        return None
    if model is None:
        factor, source = sources[0]
        raise OptionError(
            f"the factor {factor.name} asks a language model (its source {source.name!r}): name it "
            "with --factor-model SERVICE:MODEL (factor_model=), or leave the source out."
        )
    return GroupLabelling(Asking(model, **(settings or {})), factors=tuple(factors))
