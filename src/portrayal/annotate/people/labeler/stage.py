"""Labelling as a stage of an audit: texts become annotations by the extractor, a model, or both.

The rows have the schema of the extractor's, and say who labelled what.
"""

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

import pyarrow as pa

import portrayal.annotate.people.labeler.people as people
from portrayal.annotate.annotator import annotate_run, count_errors
from portrayal.annotate.people.labeler.answer import local_sentence
from portrayal.annotate.people.reader.rows import READER
from portrayal.annotate.people.stories.rows import PEOPLE, people_columns
from portrayal.collect.ask.asking import Asking, asking_of, check_settings
from portrayal.errors import OptionError
from portrayal.reference.locales import HOME, load_locale
from portrayal.run.directory import Run
from portrayal.run.files import read_parquet, write_parquet
from portrayal.run.manifest import ANSWERS
from portrayal.run.reading import read_prompts
from portrayal.run.stages import Stage, fingerprint
from portrayal.types import Say
from portrayal.validate import check_choice, check_count

BY_WHOM = (pa.field("labeler", pa.string()), pa.field("label_note", pa.string()))
"""`labeler`: "embedded" or "llm". `label_note`: why the model, though asked, labelled nothing."""


def label_row(label: people.LabelledText) -> dict[str, Any]:
    """Return the annotation row of a text that the model labelled or failed on."""
    row: dict[str, Any] = {"labeler": label.labeler, "label_note": label.error}
    for name, value in people_columns(label.people).items() if label.people else ():
        # As rows that were read from a file have them
        row[name] = [span._asdict() for span in value] if name.endswith("_spans") else value
    return row


def _asks_a_model(*_: Any) -> NoReturn:
    """Say that these rows come from a stage of their own."""
    raise OptionError(
        "this annotator asks a model: use audit(…, labeler=…, labeler_model=…), "
        "`portrayal audit STUDY --labeler …`, or portrayal.annotate.people.labeler.label_run."
    )


LLM = dataclasses.replace(
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
    setup=None,
    schema=pa.schema([*PEOPLE.schema, *BY_WHOM]),
    accuracy="that of the model asked, which is not known here; the paper's gpt-3.5 had names "
    "97.1 %, 97.2 % and genders 92.3 %, 80.4 % (precision, recall), and fine-tuned 98.1 %, 99.3 % "
    "and 98.0 %, 97.0 % (Table S8)",
)
ROUTED = dataclasses.replace(
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


def labelling_of_run(run: Run, annotator: str) -> dict[str, Any]:
    """Return who labelled what in a run, as the stage of `annotator` notes it; empty for others."""
    labelling = run.annotations(annotator).note().get("labelling", {})
    return {name: value for name, value in labelling.items() if value is not None}


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
        ", ".join(f"{n:,} {kind}" for kind, n in sorted(labelling.get(counts, {}).items()) if n)
        for counts in ("removed", "unusable")
    )
    return (
        f"Removed from its answers: {removed or 'nothing'}. Answers that could not be used: "
        f"{unusable or 'none'}."
    )


def _share(labelling: Mapping[str, Any], name: str) -> str:
    n_texts = labelling["n_texts"]
    return f"{100 * labelling[name] / n_texts:.0f} %" if n_texts else "none"


LABELERS = {"embedded": PEOPLE.name, "reader": READER.name, "llm": LLM.name, "routed": ROUTED.name}
"""Who labels (the rules; rules and network; a language model; or the first and, where they are
least sure, the other), and the annotator whose stage holds the labels then."""

LABELS = "labels"
"""Folder of a run in which the answers of labelling models are kept, one folder for each."""


def label_run(
    run: Run,
    asking: Asking,
    *,
    embedded: str | None = None,
    share: float = 0.2,
    again: bool = True,
    locale: str | None = None,
) -> Stage:
    """Label the people of a run, which the caller holds.

    Parameters
    ----------
    run
        A run with texts.
    asking
        Whom, how often, within which limits. Its answers are kept in the run, below `labels/`.
    embedded
        Registered annotator whose complete annotations are routed: only the least confident
        `share` of the texts goes to the model. None labels every text by the model.
    share
        Fraction of the readable texts that goes to the model.
    again
        Whether a finished labelling is opened again, to ask once more what failed.
    locale
        A locale that ships, or a folder: language, country and titles that the model is told of.

    Returns
    -------
    Stage
        `annotations/people-llm.v1` or `annotations/people-routed.v1`, in the shards and rows of the
        texts. Its note says who labelled how many. A text without a usable answer is an error; a
        routed one keeps the extractor's label, and `label_note` says why.

    Raises
    ------
    StopError, RunError, OptionError
        Saying what to do; the labels answered before are kept.
    """
    base = None if embedded is None else run.annotations(embedded)
    kind = "llm" if base is None else "routed"
    stage, local = run.annotations(LABELERS[kind]), local_sentence(load_locale(locale or HOME))
    names = [part.name for part in run.texts.parts()]
    # Only what changes an answer: another order of shards asks nothing anew
    request_mark = fingerprint(
        texts=run.texts.note().get("fingerprint"),
        parts=names,
        n_texts=run.texts.note().get("n_texts"),
        labels=asking.folder_name,
        samples=asking.samples,
        base=None if base is None else base.note().get("fingerprint"),
        share=None if base is None else share,
        # Left out where empty, so that runs without a locale keep their mark
        **({"local": local} if local else {}),
    )
    note = stage.note()
    asked_all = note.get("asked") == request_mark and note.get("all_asked")
    if note.get("complete") and asked_all and not stage.damaged() and not again:
        return stage
    rows, confidences = _readable(run, base)
    route = None if base is None else (share, confidences)
    with run.manifest.step(ANSWERS):
        folder = run.path / LABELS / asking.folder_name
        result = people.label_people(rows, asking, folder, route=route, local=local)
    labels = {row["text_id"]: label for row, label in zip(rows, result.texts, strict=True)}
    # The mark of the rows holds the labels themselves: they are written only where one differs
    rows_by_text = {text_id: label_row(label) for text_id, label in labels.items()}
    labels_mark = fingerprint(asked=request_mark, labels=rows_by_text)
    with run.manifest.step(stage.folder.relative_to(run.path).as_posix()):
        if not stage.is_complete(labels_mark):
            stage.begin(labels_mark)
            # Parts of texts that are gone are removed
            stage.keep_parts(names)
            for name in names:
                _write(run, base, stage, name, labels)
        n_embedded = sum(label.labeler == "embedded" for label in result.texts)
        routing = {"embedded": embedded, "share": share, "n_embedded": n_embedded}
        labelling = {
            "kind": kind,
            "model": asking.model,
            "samples": asking.samples,
            "parameters": dict(asking.parameters),
            "n_texts": len(result.texts),
            "n_llm": result.n_llm,
            "removed": dict(result.removed),
            "unusable": dict(result.unusable),
            "cost": result.report and result.report.cost,
            **({} if base is None else routing),
            "n_unlabelled" if base is None else "n_fell_back": result.n_without,
        }
        facts = {"asked": request_mark, "annotator": LABELERS[kind], "labelling": labelling}
        all_asked = result.report is None or result.report.complete
        n_errors = count_errors(stage)
        stage.finish(labels_mark, facts | {"n_errors": n_errors, "all_asked": all_asked})
    return stage


def _readable(run: Run, base: Stage | None) -> tuple[list[dict[str, Any]], list[float]]:
    """Every text with the outcome "ok" and the roles of its prompt, and the confidence of each.

    That is the smallest of the text's characters; an error goes before every other.
    """
    strata = read_prompts(run.prompts_path)
    rows, confidences = [], []
    for part in run.texts.parts():
        columns = ["text_id", "prompt_id", "text", "outcome"]
        texts = read_parquet(part, columns=columns).to_pylist()
        if base is not None and not (base.folder / part.name).is_file():
            raise OptionError(
                f"{base.folder} lacks {part.name}: the extractor has not read every text yet."
            )
        columns = ["subject_confidence", "object_confidence", "error"]
        read = base and read_parquet(base.folder / part.name, columns=columns).to_pylist()
        for i, text in [(i, text) for i, text in enumerate(texts) if text["outcome"] == "ok"]:
            roles = strata[text["prompt_id"]]
            rows.append(text | {key: roles.get(key) for key in ("subject_role", "object_role")})
            if read:
                # A story is as sure as its least sure character. Failed texts go to the model
                # first: there the extractor has no label to lose.
                sure = [read[i][key] for key in columns[:2] if read[i][key] is not None]
                confidences.append(-1.0 if read[i]["error"] else min(sure, default=-1.0))
    return rows, confidences


def _write(
    run: Run, base: Stage | None, stage: Stage, name: str, labels: Mapping[str, people.LabelledText]
) -> None:
    """Write the annotations of one shard of texts."""
    read = [] if base is None else read_parquet(base.folder / name).to_pylist()
    extracted = {row["text_id"]: row for row in read}
    rows = []
    for text_id in read_parquet(run.texts.folder / name, columns=["text_id"])["text_id"]:
        key = text_id.as_py()
        # Texts that were refused or empty are never asked about: they are as the extractor has them
        row: dict[str, Any] = {"text_id": key, "error": None} | extracted.get(key, {})
        if (label := labels.get(key)) is not None:
            # A note stays where the model was asked and failed
            row |= label_row(label) | ({"error": label.error} if label.labeler == "llm" else {})
        rows.append(row)
    # The columns of the extractor first, so that whoever reads these reads both
    fields = [pa.field("text_id", pa.string()), *LLM.schema, pa.field("error", pa.string())]
    write_parquet(pa.Table.from_pylist(rows, schema=pa.schema(fields)), stage.folder / name)


@dataclass(frozen=True, slots=True)
class Labelling:
    """A model that labels, alone or where the extractor is least sure.

    Attributes
    ----------
    asking
        Whom, how often, within which limits.
    share
        Fraction of the texts that goes to the model; None where all do.
    locale
        Language and country of the texts, as `label_run`.
    """

    asking: Asking
    share: float | None
    locale: str | None = None

    @property
    def annotator(self) -> str:
        """Name of the annotator whose stage holds the labels."""
        return LABELERS["llm" if self.share is None else "routed"]

    def ready(self, run: Run) -> "Labelling":
        """Make the provider now if there may be something to ask, so that a missing key is told
        before any text is read.
        """
        # A finished run needs no key
        if run.annotations(self.annotator).note().get("complete"):
            return self
        asking = dataclasses.replace(self.asking, provider=self.asking.make_provider())
        return dataclasses.replace(self, asking=asking)

    def label(self, run: Run, embed: Callable[[], str], tell: Say, *, again: bool = False) -> str:
        """Label the run, which the caller holds, and return the annotator's name.

        `embed` runs the extractor and returns its name; it is called where texts are routed.
        `again` asks once more what failed in a labelling that is finished.
        """
        # Labels of the user's own are not overwritten by a model's
        if run.texts.note().get("labelled"):
            raise OptionError(
                "the texts came with labels of the people in them, so no labeler is asked. Leave "
                "the labeler out, or import the texts without those columns."
            )
        embedded, share = (None, 1.0) if self.share is None else (embed(), self.share)
        stage = label_run(
            run, self.asking, embedded=embedded, share=share, again=again, locale=self.locale
        )
        tell(f"labels: {labelling_sentence(stage.note()['labelling'])}")
        return self.annotator


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
    people.check_share(share)
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
    return Labelling(asking, share if labeler == "routed" else None)


def labelling_of_options(
    options: Any, settings: Mapping[str, Any] | None = None
) -> Labelling | None:
    """Return the labelling of an audit's options, as `labelling_of`; None where they have none."""
    # Studies of news or scores have no characters to label
    if not hasattr(options, "labeler"):
        return None
    how = options.labeler_samples, options.route_share, settings
    labelling = labelling_of(options.labeler, options.labeler_model, *how)
    return labelling and dataclasses.replace(labelling, locale=options.locale)


def label_texts_of(run: Run, labelling: Labelling | None, tell: Say) -> dict[str, Any]:
    """Label the texts of a run, which the caller holds, and return what the stage notes.

    The texts are routed by the extractor `people`, with the locale of the run. What failed before
    is asked again.
    """
    if labelling is None:
        raise OptionError("the embedded labeler asks no model.")
    settings = run.settings() if run.settings_path.is_file() else {}
    locale = settings.get("options", {}).get("locale")

    def embed() -> str:
        local = None if locale is None else load_locale(locale).mark()
        return str(annotate_run(run, LABELERS["embedded"], settings=local).note()["annotator"])

    name = dataclasses.replace(labelling, locale=locale).label(run, embed, tell, again=True)
    return {"annotator": name, **labelling_of_run(run, name)}
