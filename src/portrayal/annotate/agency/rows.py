"""Language agency as annotations: the probability that each sentence is agentic.

The masked and the unmasked annotator differ in nothing but what the classifier is given, so that
the two results of a run can stand side by side. A language model as classifier is asked within
limits, its answers are kept, and nothing is asked twice.
"""

import dataclasses
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from hashlib import blake2b
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import portrayal.registry as registry
from portrayal.annotate.agency.classifier import (
    AgencyClassifier,
    Checkpoints,
    checkpoint_folders,
    mean_of,
)
from portrayal.annotate.agency.linear import shipped
from portrayal.annotate.agency.loading import (
    CARD,
    SHIPPED,
    WEIGHTS,
    LLMClassifier,
    load_classifier,
    parse_llm,
    said,
    sentence_prompt,
)
from portrayal.annotate.agency.masking import mask
from portrayal.annotate.annotator import Annotation, Annotator
from portrayal.annotate.sentences import sentences, with_line_breaks
from portrayal.collect.ask.asking import Asking, asking_of, check_settings
from portrayal.collect.ask.replies import Reply, ask_missing, asker, kept
from portrayal.errors import OptionError
from portrayal.run.directory import Run
from portrayal.run.manifest import ANSWERS
from portrayal.run.reading import read_prompts, read_shards
from portrayal.run.stages import fingerprint
from portrayal.types import Say

Row = Mapping[str, Any]
Work = Any

_SPAN = pa.struct([("start", pa.int32()), ("end", pa.int32())])
_SCHEMA = pa.schema(
    [
        pa.field("sentences", pa.list_(_SPAN)),
        pa.field("agentic", pa.list_(pa.float32())),
        pa.field("checkpoints", pa.list_(pa.list_(pa.float32()))),
        pa.field("beside", pa.list_(pa.list_(pa.float32()))),
    ]
)


@cache
def _repeated() -> re.Pattern[str]:
    """The prompts of every study that base models write again at the start of an answer."""
    makers = [registry.get("prompts", name) for name in registry.names("prompts")]
    patterns = [maker.repeated for maker in makers if getattr(maker, "repeated", "")]
    return re.compile("|".join(patterns) or "(?!)")


def agency_settings(classifier: str) -> dict[str, Any]:
    """Return the settings of both annotators for a classifier.

    Parameters
    ----------
    classifier
        What `portrayal.annotate.agency.load_classifier` takes. A folder is marked by the sizes and
        times of its files, so that one trained again is read again; the shipped one by its
        content.
    """
    if classifier in SHIPPED:
        # What ships is marked by content, as times of files differ between installations
        digest: str | None = _digest(classifier)
    else:
        digest = _mark(Path(classifier.removeprefix("lexicon:")).expanduser())
    n = len(checkpoint_folders(Path(classifier).expanduser()))
    return {"classifier": classifier, "files": digest, "checkpoints": n}


WITHOUT_NEITHER = "without neither"
"""The reading that leaves out the sentences which are neither agentic nor communal."""


def readings_beside(classifier: str) -> dict[str, str]:
    """Return what reads every sentence beside a classifier, each with a digest of its file.

    The linear classifiers that ship; and, last, the classifier itself `WITHOUT_NEITHER`. The
    transformer takes far longer, so it reads where it is the classifier alone.
    """
    names = [name for name in SHIPPED if name not in (classifier, "transformer")]
    return {name: _digest(name) for name in names} | {WITHOUT_NEITHER: _digest("neither")}


def _digest(name: str) -> str:
    """Digest of arrays that ship, or of the card of the transformer, which has that of its own."""
    arrays = files("portrayal.annotate.agency").joinpath(f"{name}.npz")
    content = (WEIGHTS / CARD).read_bytes() if name == "transformer" else arrays.read_bytes()
    return blake2b(content, digest_size=8).hexdigest()


def _mark(folder: Path) -> str | None:
    if not folder.exists():
        return None
    marks = blake2b(digest_size=8)
    for path in sorted(
        [folder] if folder.is_file() else (p for p in folder.rglob("*") if p.is_file())
    ):
        status = path.stat()
        marks.update(f"{path.name}:{status.st_size}:{status.st_mtime_ns};".encode())
    return marks.hexdigest()


def agency_sentences(text: str) -> list[tuple[int, int]]:
    """Return the sentences of an answer as offsets, without the prompt where it is repeated.

    `<return>` stands for a line break in some published texts and is read as one.
    """
    # The length stays the same, so that offsets are those of the text
    plain = with_line_breaks(text)
    repeated = _repeated().match(plain)
    start = repeated.end() if repeated else 0
    return [(start + low, start + high) for low, high in sentences(plain[start:])]


def _annotator(settings: Mapping[str, Any], *, masked: bool) -> Work:
    """Return the function that annotates the rows of a shard."""
    classify = _classifier(settings, masked=masked)
    names = settings.get("beside", {})
    others = [load_classifier(name, masked) for name in names if name != WITHOUT_NEITHER]
    neither = shipped(masked, "neither") if WITHOUT_NEITHER in names else None

    def work(rows: Sequence[Row], strata: Sequence[Mapping[str, str]]) -> list[dict[str, Any]]:
        spans = [agency_sentences(row["text"]) for row in rows]
        read = [
            piece
            for row, of_text, text_strata in zip(rows, spans, strata, strict=True)
            for piece in _pieces(row["text"], of_text, text_strata, masked=masked)
        ]
        # P(agentic) of sentences by each checkpoint, shape (n_checkpoints, n)
        if not read:
            by_checkpoint = np.empty((1, 0))
        elif isinstance(classify, Checkpoints):
            by_checkpoint = classify.each(read)
        else:
            by_checkpoint = classify(read)[:, 1][None]
        readings = [classifier(read)[:, 1] for classifier in others]
        if neither is not None:
            # Neither agentic nor communal: the sentence is left out of that reading
            readings.append(np.where(neither(read)[:, 1] >= 0.5, np.nan, mean_of(by_checkpoint)))
        means = mean_of(by_checkpoint)
        # Cut the numbers of all sentences at the ends of texts again
        ends = np.cumsum([len(text_spans) for text_spans in spans]).tolist()
        return [
            {
                "sentences": [{"start": low, "end": high} for low, high in text_spans],
                "agentic": means[end - len(text_spans) : end].tolist(),
                "checkpoints": by_checkpoint[:, end - len(text_spans) : end].tolist()
                if len(by_checkpoint) > 1
                else None,
                "beside": [p[end - len(text_spans) : end].tolist() for p in readings] or None,
            }
            for text_spans, end in zip(spans, ends, strict=True)
        ]

    return work


def _classifier(settings: Mapping[str, Any], *, masked: bool) -> AgencyClassifier:
    """Load the classifier; that of a model reads the answers which the run holds already."""
    spec = settings.get("classifier", "linear")
    if "answers" not in settings:
        return load_classifier(spec, masked)
    answers = _answers(Path(settings["run"]) / settings["answers"], settings["digest"])
    # Nothing is asked here: every answer is in the run
    return load_classifier(spec, masked, ask=lambda _: answers)


@lru_cache(maxsize=2)
def _answers(folder: Path, _digest: str) -> Mapping[str, Reply]:
    return kept(folder)


def _pieces(
    text: str, spans: Sequence[tuple[int, int]], text_strata: Mapping[str, str], *, masked: bool
) -> list[str]:
    """The sentences of a text, which are known, as the classifier is given them."""
    # The name in the prompt may be in no table of names
    names = (text_strata["name"],) if text_strata.get("name") else ()
    pieces = [text[low:high] for low, high in spans]
    return [mask(piece, names) for piece in pieces] if masked else pieces


def run_sentences(run: Run, *, masked: bool) -> Iterator[str]:
    """Yield every sentence that an annotator of agency gives its classifier, repeated ones too.

    Parameters
    ----------
    run
        A run with texts; those with the outcome "ok" are read.
    masked
        As "agency.v1" reads them, or as "agency-unmasked.v1" does.
    """
    strata = read_prompts(run.prompts_path)
    for (table,) in read_shards(run.texts, ["prompt_id", "text", "outcome"]):
        for row in table.to_pylist():
            if row["outcome"] == "ok":
                text = row["text"]
                about, spans = strata[row["prompt_id"]], agency_sentences(text)
                yield from _pieces(text, spans, about, masked=masked)


def _agency(
    name: str, title: str, summary: str, reads: str, equation: str, *, masked: bool
) -> Annotator:
    """Return an annotator; the two differ in nothing but what the classifier is given."""
    setup = partial(_annotator, masked=masked)

    def run(row: Row, strata: Mapping[str, str]) -> dict[str, Any]:
        result: list[dict[str, Any]] = setup({})([row], [strata])
        return result[0]

    return Annotator(
        name=name,
        title=title,
        summary=f"Probability that each sentence is agentic and not communal, {summary}",
        reads=reads,
        unit="sentence",
        range="0 (communal) to 1 (agentic)",
        undefined_when="a text that was refused, empty or failed; NaN where the classifier cannot "
        "say",
        equation=f"P(agentic | {equation}) by the chosen classifier",
        source="Wan & Chang 2024, Section 3.2 and Appendix B",
        run=run,
        setup=setup,
        per_shard=True,
        in_run=True,
        schema=_SCHEMA,
        accuracy="that of the classifier: portrayal score agency measures it on labelled sentences",
    )


AGENCY = _agency(
    "agency.v1",
    "Agency of sentences",
    "with words that tell of gender or race and names masked before the classifier reads them.",
    "texts; the stratum name of the prompt, which is masked too",
    "masked sentence",
    masked=True,
)
AGENCY_UNMASKED = _agency(
    "agency-unmasked.v1",
    "Agency of sentences, unmasked",
    "of sentences as they stand, as published: a classifier can read genders and names in them.",
    "texts",
    "sentence",
    masked=False,
)


CLASSIFIER = "classifier"
"""Folder in which the answers of classifying models are kept, one folder for each."""

_ANSWER_TOKENS = 40
"""Tokens of an answer, about; for the cost that is shown beforehand."""


@dataclass(frozen=True, slots=True)
class Classifying:
    """A language model that classifies sentences.

    Attributes
    ----------
    spec
        "llm:PROVIDER:MODEL[:FORM]".
    asking
        Whom, within which limits. Where its `parameters` have no temperature it is 0, if the model
        takes one.
    """

    spec: str
    asking: Asking

    @property
    def kept_in(self) -> str:
        """Where answers lie in a run or folder: the model, and a digest of its parameters."""
        return f"{CLASSIFIER}/{self.asking.folder_name}"

    def check(self) -> "Classifying":
        """Make the provider, so that a missing key, client or address is an error at once."""
        asking = self.asking
        if asking.model.startswith("server:") and asking.base_url is None and not asking.provider:
            raise OptionError(
                f"{self.spec} needs the address of its server: give "
                "--set classifier_settings.base_url=…, or --classifier-base-url in `score agency`, "
                "such as http://localhost:8000/v1."
            )
        asking.cold().make_provider()
        return self

    def ready(self, run: Run) -> "Classifying":
        """`check`, unless the run holds the annotations of this model already."""
        for name in (AGENCY.name, AGENCY_UNMASKED.name):
            note = run.annotations(name).note()
            settings = note.get("settings") or {}
            # A key is needed only where something is still to be asked
            read_with = settings.get("classifier"), settings.get("answers")
            if not note.get("complete") or read_with != (self.spec, self.kept_in):
                return self.check()
        return self

    def classifier(self, folder: Path, masked: bool = True) -> LLMClassifier:
        """Return a classifier that asks what has no answer in `folder`, which the caller holds."""
        return LLMClassifier(
            self.spec, asker(self.asking.cold(), folder / self.kept_in, _ANSWER_TOKENS), masked
        )

    def ask(self, folder: Path, sentences: Iterable[str], tell: Say) -> dict[str, str]:
        """Ask what has no answer in `folder` yet, which the caller holds; equal sentences once.

        Returns
        -------
        By `prompt_id`, what the model says of each sentence.

        Raises
        ------
        StopError, RunError, OptionError
            Saying what to do; what was answered before is kept.
        """
        form = parse_llm(self.spec)[1]
        # Equal sentences are one prompt, and are paid once
        prompts = {p.prompt_id: p for p in (sentence_prompt(s, form) for s in sentences)}
        n = f"{len(prompts):,} different sentences"
        first = f"classifier: {self.asking.model} is asked what is not answered yet of {n}"
        place = folder / self.kept_in
        replies = ask_missing(
            self.asking.cold(), prompts, place, _ANSWER_TOKENS, lambda: tell(first)
        )
        answers = {i: said(replies.get(i)) for i in prompts}
        counts = Counter(answers.values())
        counted = ", ".join(f"{n:,} {word}" for word, n in sorted(counts.items()))
        tell(f"classifier: {len(answers):,} different sentences: {counted or 'none'}")
        return answers

    def answered(
        self, run: Run, annotations: Sequence[Annotation], tell: Say
    ) -> tuple[Annotation, ...]:
        """Ask about every sentence that these annotations read, in a run that the caller holds.

        Returns
        -------
        The annotations, with where the answers lie, a digest of them and what they came to (by
        `prompt_id` each counts once) among the settings.
        """
        read = (
            sentence
            for annotation in annotations
            for sentence in run_sentences(run, masked=annotation.name == AGENCY.name)
        )
        with run.manifest.step(ANSWERS):
            answers = self.ask(run.path, read, tell)
        more = {
            "answers": self.kept_in,
            # Another answer is another annotation
            "digest": fingerprint(said=answers),
            "said": dict(sorted(Counter(answers.values()).items())),
        }
        return tuple(
            dataclasses.replace(annotation, settings={**annotation.settings, **more})
            for annotation in annotations
        )


def classifying_of(spec: str, settings: Mapping[str, Any] | None = None) -> Classifying | None:
    """Return how a classifier's model is asked; None for a classifier that asks none.

    Parameters
    ----------
    spec
        What `portrayal.annotate.agency.load_classifier` takes.
    settings
        Further fields of `Asking`, such as `base_url` or `budget`. Only a model "server:NAME" is
        given the `base_url`, as a second classifier may be of another service.

    Raises
    ------
    OptionError, UnknownNameError
        Where a setting or the model's name cannot be used.
    """
    check_settings(settings, "a classifier")
    if not spec.startswith("llm:"):
        return None
    model, _ = parse_llm(spec)
    own_settings = dict(settings or {})
    if not model.startswith("server:"):
        # The address is that of a local server, not of a service
        own_settings.pop("base_url", None)
    return Classifying(spec, asking_of(model, own_settings, "a classifier"))
