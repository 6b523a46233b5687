"""The rows of labelled texts: the schema of the extractor's, and who labelled what."""

from collections.abc import Mapping
from typing import Any, NoReturn

import pyarrow as pa

from portrayal.annotate.annotator import Annotator
from portrayal.annotate.people.labeler.people import LabelledText
from portrayal.annotate.people.stories.rows import PEOPLE
from portrayal.errors import OptionError
from portrayal.run.directory import Run

BY_WHOM = (pa.field("labeler", pa.string()), pa.field("label_note", pa.string()))
"""`labeler`: "embedded" or "llm". `label_note`: why the model, though asked, labelled nothing."""


def with_labeler(schema: pa.Schema) -> pa.Schema:
    """Return the schema of an annotator of people with the columns of `BY_WHOM`."""
    return pa.schema([*(field for field in schema if field.name not in _OURS), *BY_WHOM])


_OURS = tuple(field.name for field in BY_WHOM)


def label_row(label: LabelledText) -> dict[str, Any]:
    """Return the annotation row of a text that the model labelled or failed on."""
    row: dict[str, Any] = {"labeler": label.labeler, "label_note": label.error}
    for slot, character in zip(("subject", "object"), label.people or (), strict=False):
        if character is not None:
            row |= {
                f"{slot}_name": character.name,
                f"{slot}_gender": character.gender,
                f"{slot}_references": character.references,
                f"{slot}_spans": [
                    {"start": span.start, "end": span.end, "kind": span.kind}
                    for span in character.spans
                ],
                f"{slot}_confidence": character.confidence,
            }
    return row


def _asks_a_model(*_: Any) -> NoReturn:
    """Say that these rows come from a stage of their own."""
    raise OptionError(
        "this annotator asks a model: use audit(…, labeler=…, labeler_model=…), "
        "`portrayal audit STUDY --labeler …`, or portrayal.annotate.people.labeler.label_run."
    )


LLM = Annotator(
    name="people-llm.v1",
    summary="First name and gender of the characters a prompt asks for, as a language model labels "
    "them.",
    reads="texts; subject_role and object_role of the prompt; a model's answers to Table S7",
    unit="story",
    range="names; F, M, NB, Unspecified or Unsure",
    undefined_when="a text that was refused, empty or failed has no people; a text for which no "
    "answer of the model can be used is an error, not Unspecified",
    equation="majority of n answers, field by field; ties give no name and Unsure; references of "
    "the word list in Table S6a that stand in the text",
    source="Shieh et al. 2025, Supplement B.1 and B.3, Table S7",
    run=_asks_a_model,
    schema=with_labeler(PEOPLE.schema),
    accuracy="that of the model asked, which is not known here; the paper's gpt-3.5 had names "
    "97.1 %, 97.2 % and genders 92.3 %, 80.4 % (precision, recall), and fine-tuned 98.1 %, 99.3 % "
    "and 98.0 %, 97.0 % (Table S8)",
    title="Who is in a story",
)
ROUTED = Annotator(
    name="people-routed.v1",
    summary="First name and gender of the characters a prompt asks for: extracted, and labelled by "
    "a language model where the extractor is least sure.",
    reads="what the extractor reads; a model's answers to Table S7 for the least confident texts",
    unit="story",
    range="names; F, M, NB, Unspecified or Unsure",
    undefined_when="as the extractor; a text the model fails on keeps the extractor's label",
    equation="the share of texts with the smallest confidence (over a text's characters) takes "
    "people-llm.v1, the others the extractor's",
    source="Shieh et al. 2025, Supplement B.1 and B.3, Table S7; the routing is Portrayal's",
    run=_asks_a_model,
    schema=with_labeler(PEOPLE.schema),
    accuracy="not known here, as it depends on the model asked",
    title="Who is in a story",
)


def labelling_of_run(run: Run, annotator: str) -> dict[str, Any]:
    """Return who labelled what in a run, as the stage of `annotator` notes it; empty for others."""
    found = run.annotations(annotator).note().get("labelling", {})
    return {name: value for name, value in found.items() if value is not None}


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
    removed = [f"{n:,} {what}" for what, n in sorted(labelling.get("removed", {}).items()) if n]
    unusable = [f"{n:,} {why}" for why, n in sorted(labelling.get("unusable", {}).items()) if n]
    return (
        f"Removed from its answers: {', '.join(removed) or 'nothing'}. Answers that could not be "
        f"used: {', '.join(unusable) or 'none'}."
    )


def _share(labelling: Mapping[str, Any], name: str) -> str:
    n_texts = labelling["n_texts"]
    return f"{100 * labelling[name] / n_texts:.0f} %" if n_texts else "none"
