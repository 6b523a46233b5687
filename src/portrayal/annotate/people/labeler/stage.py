"""Labelling: texts and the roles of their prompts become characters, by a model's answers.

A labelling reads rows in memory (`label`), or all texts of a run (`answered`), whose annotators
`people-llm.v1` and `people-routed.v1` then give the labels in the columns of the extractor's rows,
and say who labelled what.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, NoReturn

import pyarrow as pa

from portrayal.annotate.annotator import Annotation, annotate_run
from portrayal.annotate.llm import ModelReader, asked_of, counted_words, read_replies
from portrayal.annotate.people.labeler.answer import (
    characters_of,
    label_prompt,
    local_sentence,
    read_answer,
    vote,
)
from portrayal.annotate.people.reader.rows import READER
from portrayal.annotate.people.shared.model import People, Roles, Span
from portrayal.annotate.people.shared.scan import locale_of
from portrayal.annotate.people.stories.rows import PEOPLE, people_columns
from portrayal.collect.ask.asking import asking_of, check_settings
from portrayal.errors import DataError, OptionError
from portrayal.run.directory import Run
from portrayal.run.files import read_parquet, write_parquet
from portrayal.run.manifest import ANSWERS
from portrayal.run.reading import read_prompts, read_shards
from portrayal.types import Say
from portrayal.validate import check_choice, check_count

BY_WHOM = (pa.field("labeler", pa.string()), pa.field("label_note", pa.string()))
"""`labeler`: "embedded" or "llm". `label_note`: why the model, though asked, labelled nothing."""

LABELS_FILE = "labels.parquet"
"""The labels of the texts that were asked about, beside the answers."""


def _labelled(settings: Mapping[str, Any]) -> Callable[..., dict[str, Any]]:
    """Return the function that gives a text its label, or the extractor's."""
    assert PEOPLE.setup is not None
    asked, extract = settings["asked"], PEOPLE.setup(settings)
    labels = _labels(Path(settings["run"]) / asked["answers"] / LABELS_FILE, asked["digest"])

    def annotate(row: Mapping[str, Any], strata: Mapping[str, str]) -> dict[str, Any]:
        label = labels.get(row["text_id"], {"label_note": None})
        if label.get("labeler") == "llm":
            return label
        # A routed text that the model failed on keeps the label that the extractor gives it
        if asked["share"] is None:
            raise DataError(label["label_note"])
        return {**extract(row, strata), "labeler": "embedded", "label_note": label["label_note"]}

    return annotate


@lru_cache(maxsize=2)
def _labels(path: Path, _digest: str) -> dict[str, dict[str, Any]]:
    labels = {row["text_id"]: row for row in read_parquet(path).to_pylist()}
    for row in labels.values():
        for name in ("subject_spans", "object_spans"):
            # As the extractor's rows have them, which stand beside
            row[name] = row[name] and [Span(**span) for span in row[name]]
    return labels


def _asks_a_model(*_: Any) -> NoReturn:
    """Say that its settings come of asking."""
    raise OptionError(
        "this annotator asks a model: use audit(…, labeler=…, labeler_model=…), or "
        "`portrayal audit STUDY --labeler …`."
    )


LLM = replace(
    PEOPLE,
    name="people-llm.v1",
    summary="First name and gender of the characters a prompt asks for, as a language model labels "
    "them.",
    reads="texts; subject_role and object_role of the prompt; a model's answers to Table S7",
    undefined_when="a text that was refused, empty or failed has no people; a text for which no "
    "answer of the model can be used is an error, not Unspecified",
    equation="majority of n answers, field by field; ties give no name and Unsure; references of "
    "the word list in Table S6a that stand in the text",
    source="Shieh et al. 2025, Supplement B.1 and B.3, Table S7",
    run=_asks_a_model,
    setup=_labelled,
    in_run=True,
    schema=pa.schema([*PEOPLE.schema, *BY_WHOM]),
    accuracy="that of the model asked, which is not known here; the paper's gpt-3.5 had names "
    "97.1 %, 97.2 % and genders 92.3 %, 80.4 % (precision, recall), and fine-tuned 98.1 %, 99.3 % "
    "and 98.0 %, 97.0 % (Table S8)",
)
ROUTED = replace(
    LLM,
    name="people-routed.v1",
    summary="First name and gender of the characters a prompt asks for: extracted, and labelled by "
    "a language model where the extractor is least sure.",
    reads="what the extractor reads; a model's answers to Table S7 for the least confident texts",
    undefined_when="as the extractor; a text the model fails on keeps the extractor's label",
    equation="the share of texts with the smallest confidence (over a text's characters) takes "
    "people-llm.v1, the others the extractor's",
    source="Shieh et al. 2025, Supplement B.1 and B.3, Table S7; the routing is Portrayal's",
    accuracy="not known here, as it depends on the model asked",
)
LABELERS = {"embedded": PEOPLE.name, "reader": READER.name, "llm": LLM.name, "routed": ROUTED.name}
"""Who labels (the rules; rules and network; a language model; or the first and, where they are
least sure, the other), and the annotator whose stage holds the labels then."""


@dataclass(frozen=True, slots=True)
class LabelledText:
    """The label of one text.

    Attributes
    ----------
    people
        Subject and object as the model labels them; None where it was not asked or failed.
    error
        Why the model, though asked, gave no label: how many answers were refused, malformed, ….
    """

    people: People | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class LabelResult:
    """Labels in the order of the rows.

    Attributes
    ----------
    texts
        One for each row.
    removed
        What was removed from the answers, by kind.
    unusable
        Answers that could not be used, by reason.
    """

    texts: tuple[LabelledText, ...]
    removed: Mapping[str, int]
    unusable: Mapping[str, int]

    @property
    def n_llm(self) -> int:
        """Texts that the model labelled."""
        return sum(text.people is not None for text in self.texts)

    @property
    def n_without(self) -> int:
        """Texts that the model was asked about and gave no usable label."""
        return sum(text.error is not None for text in self.texts)


def least_confident(
    confidences: Sequence[float], share: float, text_ids: Sequence[str]
) -> list[int]:
    """Return the places of the least confident texts, in ascending order.

    Parameters
    ----------
    confidences
        Of each text, the smallest over its characters.
    share
        Fraction of the texts to return, rounded to the nearest whole number of texts.
    text_ids
        Decide among equal confidences.
    """
    # Half rounds up; `round` would go to the even number
    n_wanted = int(len(confidences) * share + 0.5)
    order = sorted(range(len(confidences)), key=lambda i: (confidences[i], text_ids[i], i))
    return sorted(order[:n_wanted])


@dataclass(frozen=True)
class Labelling(ModelReader):
    """A model that labels, alone or where the extractor is least sure.

    Attributes
    ----------
    asking
        Whom, how often, within which limits.
    share
        Fraction of the texts that goes to the model; None where all do.
    """

    purpose: str = "people"
    answer_tokens: int | None = 120
    settings: str = "labeler_settings"
    share: float | None = None

    @property
    def annotators(self) -> tuple[str, ...]:
        """The annotator that gives its labels."""
        return (LABELERS["llm" if self.share is None else "routed"],)

    @property
    def marks(self) -> dict[str, Any]:
        """What distinguishes its answers."""
        return {**super().marks, "samples": self.asking.samples, "share": self.share}

    def label(
        self,
        rows: Sequence[Mapping[str, Any]],
        folder: Path,
        confidences: Sequence[float] = (),
        local: str = "",
        tell: Say = lambda _: None,
    ) -> LabelResult:
        """Label the characters of texts.

        Parameters
        ----------
        rows
            Each with `text`, `subject_role` and `object_role` (None or missing where the prompt has
            none); `text_id`, where there is one, decides among equal confidences.
        folder
            Where the answers are kept. The same call continues there after it was stopped or
            killed, and asks nothing twice.
        confidences
            How sure the extractor is of each row, for `share`.
        local
            What the prompts say of the language and country of the texts (`local_sentence`).
        tell
            Told what is asked.

        Raises
        ------
        StopError, RunError, OptionError
            As asking a model does; what was answered before is kept.
        """
        chosen = list(range(len(rows)))
        if self.share is not None:
            ids = [str(row.get("text_id", "")) for row in rows]
            chosen = least_confident(confidences, self.share, ids)
        # Without the role of its subject a text cannot be asked about
        roles: dict[int, Roles] = {}
        for i in chosen:
            subject, other = rows[i].get("subject_role"), rows[i].get("object_role")
            if isinstance(subject, str) and subject.strip():
                roles[i] = Roles(subject, other if isinstance(other, str) else None)
        prompts = {i: label_prompt(rows[i]["text"], of, local) for i, of in roles.items()}
        replies = self.ask(folder, prompts.values(), tell)
        removed, unusable = Counter[str](), Counter[str]()
        texts = [LabelledText()] * len(rows)
        samples = self.asking.samples
        for i in chosen:
            if i not in prompts:
                texts[i] = LabelledText(error="unlabelled: its prompt has no subject_role")
                continue
            text, characters = rows[i]["text"], characters_of(roles[i])
            answers, reasons = read_replies(
                replies.get(prompts[i].prompt_id, ()),
                samples,
                lambda reply: read_answer(reply, characters, text, removed),  # noqa: B023
            )
            # Shares are of the answers asked for, so that lost ones lower the confidence
            people = vote(answers, samples, text)
            if people is not None:
                texts[i] = LabelledText((people[0], people[1] if len(people) > 1 else None))
            else:
                reasons += Counter(incomplete=len(answers))
                words = counted_words(reasons)
                texts[i] = LabelledText(error=f"unlabelled: of {samples} answers {words}")
            unusable.update(reasons)
        return LabelResult(tuple(texts), dict(removed), dict(unusable))

    def answered(self, run: Run, annotation: Annotation, tell: Say, **work: Any) -> Annotation:
        """Label the readable texts of a run, which the caller holds.

        Parameters
        ----------
        run
            A run with texts.
        annotation
            The annotation that gives the labels; language, country and titles of the locale in its
            settings are told to the model.
        tell
            Told what is asked, and what came of it.
        **work
            How the extractor is run where texts are routed; see `annotate_run`.

        Returns
        -------
        The annotation, with who labelled how many texts among its settings.
        """
        # Labels of the user's own are not overwritten by a model's
        if run.texts.note().get("labelled"):
            raise OptionError(
                "the texts came with labels of the people in them, so no labeler is asked. Leave "
                "the labeler out, or import the texts without those columns."
            )
        sure: dict[str, float] = {}
        if self.share is not None:
            base = annotate_run(run, PEOPLE.name, settings=annotation.settings, **work)
            columns = ["text_id", "subject_confidence", "object_confidence"]
            for part in base.parts():
                for row in read_parquet(part, columns=columns).to_pylist():
                    slots = [row[name] for name in columns[1:] if row[name] is not None]
                    # A story is as sure as its least sure character. Failed texts go to the model
                    # first: there the extractor has no label to lose
                    sure[row["text_id"]] = min(slots, default=-1.0)
        strata = read_prompts(run.prompts_path)
        rows = [
            {**strata[row["prompt_id"]], **row}
            for (table,) in read_shards(run.texts, ["text_id", "prompt_id", "text", "outcome"])
            for row in table.to_pylist()
            if row["outcome"] == "ok"
        ]
        confidences = [sure[row["text_id"]] for row in rows] if sure else ()
        local = local_sentence(locale_of(annotation.settings))
        with run.manifest.step(ANSWERS):
            result = self.label(rows, run.path, confidences, local, tell)
            labels = [
                {
                    "text_id": row["text_id"],
                    "labeler": None if text.people is None else "llm",
                    "label_note": text.error,
                    **({} if text.people is None else people_columns(text.people)),
                }
                for row, text in zip(rows, result.texts, strict=True)
                if text != LabelledText()
            ]
            folder = run.path / self.kept_in
            folder.mkdir(parents=True, exist_ok=True)
            schema = pa.schema([pa.field("text_id", pa.string()), *LLM.schema])
            write_parquet(pa.Table.from_pylist(labels, schema=schema), folder / LABELS_FILE)
        n_texts, n_without = len(rows), result.n_without
        facts = {"kind": "llm", "n_unlabelled": n_without}
        if self.share is not None:
            n_embedded = n_texts - result.n_llm
            facts = {"kind": "routed", "embedded": PEOPLE.name, "n_embedded": n_embedded}
            facts |= {"n_fell_back": n_without}
        facts |= {"n_texts": n_texts, "n_llm": result.n_llm}
        facts |= {"removed": result.removed, "unusable": result.unusable}
        tell(f"people: {labelling_sentence(self.marks | facts)}")
        return self.noted(annotation, labels, **facts)


def labelling_of_run(run: Run, annotator: str) -> dict[str, Any]:
    """Return who labelled what in a run, as the annotations of `annotator` note it."""
    asked = asked_of(run, annotator) if annotator in (LLM.name, ROUTED.name) else {}
    beside = ("answers", "digest")
    return {name: fact for name, fact in asked.items() if fact is not None and name not in beside}


def labeler_instrument(run: Run, annotator: str) -> str:
    """Return the labeler as the instruments of an estimate name it."""
    labelling = labelling_of_run(run, annotator)
    if not labelling:
        return annotator
    model = f"{labelling['model']}, {labelling['samples']} answers each"
    if labelling["kind"] == "llm":
        return model
    return (
        f"{labelling['embedded']} {_share(labelling, 'n_embedded')}; "
        f"{_share(labelling, 'n_llm')} {model}"
    )


def labelling_sentence(labelling: Mapping[str, Any]) -> str:
    """Return which labeler labelled how many texts, as a sentence."""
    by_model = (
        f"{_share(labelling, 'n_llm')} ({labelling['n_llm']:,}), "
        f"asked {labelling['samples']} times about each text"
    )
    if labelling["kind"] == "llm":
        n, n_texts = labelling["n_unlabelled"], labelling["n_texts"]
        return (
            f"The readable texts were labelled by {labelling['model']}, {by_model}; {n:,} of "
            f"{n_texts:,} texts got no usable answer and are unlabelled."
        )
    return (
        f"The embedded extractor {labelling['embedded']} labelled "
        f"{_share(labelling, 'n_embedded')} of the readable texts ({labelling['n_embedded']:,}), "
        f"{labelling['model']} {by_model}. It was sent the {100 * labelling['share']:g} % of which "
        f"the extractor was least sure; {labelling['n_fell_back']:,} of these kept the extractor’s "
        "label for want of a usable answer."
    )


def labelling_removed(labelling: Mapping[str, Any]) -> str:
    """Return what was removed from the model's answers and what could not be used."""
    removed, unusable = (
        counted_words(+Counter(labelling.get(name, {}))) for name in ("removed", "unusable")
    )
    return f"Removed from its answers: {removed}. Answers that could not be used: {unusable}."


def _share(labelling: Mapping[str, Any], name: str) -> str:
    n_texts = labelling["n_texts"]
    return f"{100 * labelling[name] / n_texts:.0f} %" if n_texts else "none"


def labelling_of(
    labeler: str,
    model: str | None,
    samples: int = 3,
    share: float = 0.2,
    settings: Mapping[str, Any] | None = None,
) -> Labelling | None:
    """Return the labelling that these options ask for; None where no language model is asked.

    Parameters
    ----------
    labeler
        "embedded", "reader", "llm" or "routed"; "routed" without a model is routed to the reader.
    model, samples
        The model, "SERVICE:MODEL", and how many of its answers about each text are put to a vote.
    share
        Fraction of the texts, the least sure ones, that "routed" sends to the model.
    settings
        Further fields of `Asking`, such as `base_url`, `budget` or `confirm`.

    Raises
    ------
    OptionError, UnknownNameError
        Where an option cannot be used, or says nothing without another one.
    """
    check_choice("labeler", labeler, tuple(LABELERS))
    check_count("labeler_samples", samples, minimum=1)
    if isinstance(share, bool) or not isinstance(share, (int, float)) or not 0 < share <= 1:
        raise OptionError(
            "route_share is the fraction of the texts that goes to the model, above 0 and at most "
            f"1, such as 0.2; got {share!r}."
        )
    check_settings(settings, "a labeler")
    if labeler in ("embedded", "reader") and model is not None:
        raise OptionError(
            f"the labeler {labeler!r} asks no model, but a model was given: {model!r}. "
            'Give the labeler "llm" or "routed", or leave the model out.'
        )
    # "routed" without a model is the reader's affair, which asks nobody
    if labeler in ("embedded", "reader") or (labeler == "routed" and model is None):
        return None
    if model is None:
        raise OptionError(
            f"the labeler {labeler!r} asks a model, and none was named: give SERVICE:MODEL, such "
            "as openai:gpt-5-mini (--labeler-model in an audit, else --model; labeler_model=)."
        )
    asking = asking_of(model, settings, "a labeler", samples)
    return Labelling(asking, share=share if labeler == "routed" else None)
