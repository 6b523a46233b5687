"""Labelling: texts and the roles of their prompts become characters, by a model's answers.

A labelling reads rows in memory (`label`), or all texts of a run (`answered`), whose annotator
`people-llm.v1` then gives the labels in the columns of the extractor's rows.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from portrayal.annotate.annotator import Annotation, description
from portrayal.annotate.llm import ModelReader, asked_of, counted_words, read_replies
from portrayal.annotate.people.labeler.answer import characters_of, label_prompt, read_answer, vote
from portrayal.annotate.people.shared.model import People, Roles
from portrayal.annotate.people.stories.rows import PEOPLE, people_columns
from portrayal.collect.ask.asking import Asking, check_settings
from portrayal.errors import DataError, OptionError
from portrayal.run.directory import Run, read_prompts, read_shards
from portrayal.run.files import read_parquet, write_parquet
from portrayal.run.manifest import ANSWERS
from portrayal.types import Say
from portrayal.validate import check_choice, check_count

LABELS_FILE = "labels.parquet"
"""The labels of all texts, or why there is none, beside the answers."""


def _labelled(settings: Mapping[str, Any]) -> Callable[..., dict[str, Any]]:
    """Return the function that gives a text its label."""
    question = settings["asked"]
    labels = _labels(Path(settings["run"]) / question["answers"] / LABELS_FILE, question["digest"])

    def annotate(row: Mapping[str, Any], _: Mapping[str, str]) -> dict[str, Any]:
        label = labels[row["text_id"]]
        if label["why_not"] is not None:
            raise DataError(label["why_not"])
        return label

    return annotate


@lru_cache(maxsize=2)
def _labels(path: Path, _digest: str) -> dict[str, dict[str, Any]]:
    return {row["text_id"]: row for row in read_parquet(path).to_pylist()}


LLM = replace(PEOPLE, **description("people-llm.v1"), setup=_labelled, in_run=True)
LABELERS = {"embedded": PEOPLE.name, "llm": LLM.name}
"""Who labels (the reader that ships, or a language model), and the annotator of its labels."""


@dataclass(frozen=True, slots=True)
class LabelResult:
    """Labels in the order of the rows.

    Attributes
    ----------
    labels
        One for each row: its people, or why the model gave no label, as how many of its answers
        were refused, malformed, ….
    removed
        What was removed from the answers, by kind.
    unusable
        Answers that could not be used, by reason.
    """

    labels: tuple[People | str, ...]
    removed: Mapping[str, int]
    unusable: Mapping[str, int]

    @property
    def n_llm(self) -> int:
        """Texts that the model labelled."""
        return sum(not isinstance(label, str) for label in self.labels)


@dataclass(frozen=True)
class Labelling(ModelReader):
    """A model that labels all texts."""

    purpose: str = "people"
    answer_tokens: int | None = 120

    @property
    def annotators(self) -> tuple[str, ...]:
        """The annotator that gives its labels."""
        return (LLM.name,)

    @property
    def marks(self) -> dict[str, Any]:
        """What distinguishes its answers."""
        return {**super().marks, "samples": self.asking.samples}

    def label(
        self, rows: Sequence[Mapping[str, Any]], folder: Path, tell: Say = lambda _: None
    ) -> LabelResult:
        """Label the characters of texts.

        Parameters
        ----------
        rows
            Each with `text`, `subject_role` and `object_role` (None or missing where the prompt has
            none).
        folder
            Where the answers are kept. The same call continues there after it was stopped or
            killed, and asks nothing twice.
        tell
            Told what is asked.

        Raises
        ------
        StopError, RunError, OptionError
            As asking a model does; what was answered before is kept.
        """
        # Without the role of its subject a text cannot be asked about
        roles: dict[int, Roles] = {}
        for i, row in enumerate(rows):
            subject, other = row.get("subject_role"), row.get("object_role")
            if isinstance(subject, str) and subject.strip():
                roles[i] = Roles(subject, other if isinstance(other, str) else None)
        prompts = {i: label_prompt(rows[i]["text"], of) for i, of in roles.items()}
        replies = self.ask(folder, prompts.values(), tell)
        removed, unusable = Counter[str](), Counter[str]()
        labels: list[People | str] = []
        samples = self.asking.samples
        for i, row in enumerate(rows):
            if i not in prompts:
                labels.append("unlabelled: its prompt has no subject_role")
                continue
            text, characters = row["text"], characters_of(roles[i])
            read = partial(read_answer, characters=characters, text=text, removed=removed)
            answers, reasons = read_replies(replies.get(prompts[i].prompt_id, ()), samples, read)
            # Shares are of the answers asked for, so that lost ones lower the confidence
            people = vote(answers, samples, text)
            if people is not None:
                labels.append((people[0], people[1] if len(people) > 1 else None))
            else:
                reasons += Counter(incomplete=len(answers))
                labels.append(f"unlabelled: of {samples} answers {counted_words(reasons)}")
            unusable.update(reasons)
        return LabelResult(tuple(labels), dict(removed), dict(unusable))

    def answered(self, run: Run, annotation: Annotation, tell: Say) -> Annotation:
        """Label the readable texts of a run, which the caller holds.

        Parameters
        ----------
        run
            A run with texts.
        annotation
            The annotation that gives the labels.
        tell
            Told what is asked, and what came of it.

        Returns
        -------
        The annotation, with how many texts were labelled among its settings.
        """
        # Labels of the user's own are not overwritten by a model's
        if run.texts.note().get("labelled"):
            raise OptionError(
                "the texts came with labels of the people in them, so no labeler is asked. Leave "
                "the labeler out, or import the texts without those columns."
            )
        strata = read_prompts(run.prompts_path)
        rows = [
            {**strata[row["prompt_id"]], **row}
            for (table,) in read_shards(run.texts, ["text_id", "prompt_id", "text", "outcome"])
            for row in table.to_pylist()
            if row["outcome"] == "ok"
        ]
        with run.manifest.step(ANSWERS):
            result = self.label(rows, run.path, tell)
            labels = [
                {"text_id": row["text_id"]}
                | ({"why_not": label} if isinstance(label, str) else people_columns(label))
                for row, label in zip(rows, result.labels, strict=True)
            ]
            folder = run.path / self.kept_in
            folder.mkdir(parents=True, exist_ok=True)
            schema = pa.schema([("text_id", pa.string()), ("why_not", pa.string()), *LLM.schema])
            write_parquet(pa.Table.from_pylist(labels, schema=schema), folder / LABELS_FILE)
        n_llm = result.n_llm
        counts = {"n_texts": len(rows), "n_llm": n_llm, "n_unlabelled": len(rows) - n_llm}
        facts = {**counts, "removed": result.removed, "unusable": result.unusable}
        tell(f"people: {labelling_sentence(self.marks | facts)}")
        return self.noted(annotation, labels, **facts)


def labelling_of_run(run: Run, annotator: str) -> dict[str, Any]:
    """Return who labelled what in a run, as the annotations of `annotator` note it."""
    question = asked_of(run, annotator) if annotator == LLM.name else {}
    return {name: fact for name, fact in question.items() if name not in ("answers", "digest")}


def labeler_instrument(run: Run, annotator: str) -> str:
    """Return the labeler as the instruments of an estimate name it."""
    labelling = labelling_of_run(run, annotator)
    return "{model}, {samples} answers each".format_map(labelling) if labelling else annotator


def labelling_sentence(labelling: Mapping[str, Any]) -> str:
    """Return which model labelled how many texts, as a sentence."""
    n_texts, n_llm = labelling["n_texts"], labelling["n_llm"]
    share = f"{100 * n_llm / n_texts:.0f} %" if n_texts else "none"
    times = "once" if labelling["samples"] == 1 else f"{labelling['samples']} times"
    return (
        f"The readable texts were labelled by {labelling['model']}, {share} ({n_llm:,}), asked "
        f"{times} about each text; {labelling['n_unlabelled']:,} of "
        f"{n_texts:,} texts got no usable answer and are unlabelled."
    )


def labelling_removed(labelling: Mapping[str, Any]) -> str:
    """Return what was removed from the model's answers and what could not be used."""
    removed = counted_words(+Counter(labelling.get("removed", {})))
    unusable = counted_words(+Counter(labelling.get("unusable", {})))
    return f"Removed from its answers: {removed}. Answers that could not be used: {unusable}."


def labelling_of(
    labeler: str, model: str | None, samples: int = 3, settings: Mapping[str, Any] | None = None
) -> Labelling | None:
    """Return the labelling that these options ask for; None where no language model is asked.

    Parameters
    ----------
    labeler
        "embedded" or "llm"; only the latter asks a model.
    model, samples
        The model, "SERVICE:MODEL", and how many of its answers about each text are put to a vote.
    settings
        Further fields of `Asking`, such as `base_url`, `budget` or `confirm`.

    Raises
    ------
    OptionError, UnknownNameError
        Where an option cannot be used, or says nothing without another one.
    """
    check_choice("labeler", labeler, tuple(LABELERS))
    check_count("labeler_samples", samples, minimum=1)
    check_settings(settings, "a labeler")
    if labeler != "llm":
        if model is not None:
            raise OptionError(
                f"the labeler {labeler!r} asks no model, but a model was given: {model!r}. "
                'Give the labeler "llm", or leave the model out.'
            )
        return None
    if model is None:
        raise OptionError(
            "the labeler 'llm' asks a model, and none was named: give SERVICE:MODEL, such "
            "as openai:gpt-5-mini (--labeler-model in an audit, else --model; labeler_model=)."
        )
    return Labelling(Asking(model, samples, **(settings or {})))
