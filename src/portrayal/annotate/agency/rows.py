"""Language agency as annotations: the probability that each sentence is agentic.

The masked and the unmasked annotator differ in nothing but what the classifier is given, so that
the two results of a run can stand side by side. A language model as classifier is asked within
limits, its answers are kept, and nothing is asked twice.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache, partial
from hashlib import blake2b
from itertools import chain, compress
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import portrayal.registry as registry
from portrayal.annotate.agency.linear import AgencyClassifier
from portrayal.annotate.agency.loading import (
    CARD,
    SHIPPED,
    WEIGHTS,
    checkpoint_folders,
    lexicon_classifier,
    llm_classifier,
    load_classifier,
    mean_of,
    parse_llm,
    said,
    sentence_prompt,
)
from portrayal.annotate.agency.masking import mask
from portrayal.annotate.annotator import SPAN, Annotation, Annotator, description
from portrayal.annotate.llm import ModelReader, counted_words
from portrayal.annotate.sentences import sentences, with_line_breaks
from portrayal.collect.ask.asking import Asking, check_settings
from portrayal.collect.ask.replies import Replies, kept_replies
from portrayal.reference.datafile import file_states
from portrayal.run.directory import Run, read_prompts, read_shards
from portrayal.run.files import fingerprint
from portrayal.run.manifest import ANSWERS
from portrayal.types import FloatArray, Say

Row = Mapping[str, Any]
Work = Any

_SCHEMA = pa.schema(
    [
        pa.field("sentences", pa.list_(SPAN)),
        pa.field("agentic", pa.list_(pa.float32())),
        pa.field("checkpoints", pa.list_(pa.list_(pa.float32()))),
        pa.field("beside", pa.list_(pa.float32())),
        pa.field("chance", pa.float64()),
        pa.field("bare", pa.int32()),
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
    path = Path(classifier.removeprefix("lexicon:")).expanduser()
    paths = [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.is_file())
    digest = fingerprint(files=file_states(paths)) if paths else None
    if classifier in SHIPPED:
        # What ships is marked by content, as times of files differ between installations
        digest = _digest(classifier)
    n = len(checkpoint_folders(Path(classifier).expanduser()))
    return {"classifier": classifier, "files": digest, "checkpoints": n}


def reading_beside(classifier: str) -> dict[str, Any]:
    """Return what reads every sentence beside a classifier, with a digest of its file.

    That is the classifier trained on LAC alone; where it is the one that was chosen, the other.
    """
    name = "linear" if classifier == "untaught" else "untaught"
    return {"classifier": name, "files": _digest(name)}


def _digest(name: str) -> str:
    """Digest of arrays that ship, or of the card of the transformer, which has that of its own."""
    file = WEIGHTS / CARD if name == "transformer" else Path(__file__).with_name(f"{name}.npz")
    return blake2b(file.read_bytes(), digest_size=8).hexdigest()


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
    of_other, words = settings.get("beside", {}), lexicon_classifier()
    other = load_classifier(of_other["classifier"], masked) if of_other else None
    # Whoever reads beside reads all sentences, or a sample with these chances
    chance_of, by, seed = (of_other.get(name) for name in ("chance", "by", "seed"))

    def work(rows: Sequence[Row], strata: Sequence[Mapping[str, str]]) -> list[dict[str, Any]]:
        spans = [agency_sentences(row["text"]) for row in rows]
        read = [
            piece
            for row, of_text, text_strata in zip(rows, spans, strata, strict=True)
            for piece in _pieces(row["text"], of_text, text_strata, masked=masked)
        ]
        sizes = [len(text_spans) for text_spans in spans]
        # P(agentic) of sentences by each checkpoint, shape (n_checkpoints, n)
        by_checkpoint = classify.by_checkpoint(read) if read else np.empty((1, 0))
        means = mean_of(by_checkpoint)
        chances = [
            chance_of[cell_of(row["model"], text_strata, by)] if chance_of else 1.0
            for row, text_strata in zip(rows, strata, strict=True)
        ]
        is_drawn = [
            share < chance
            for row, size, chance in zip(rows, sizes, chances, strict=True)
            for share in (_draws(seed, row["text_id"], size) if chance_of else np.zeros(size))
        ]
        again = np.full(len(read), None, dtype=object)
        if other is not None and any(is_drawn):
            again[is_drawn] = other([*compress(read, is_drawn)])[:, 1]
        # Sentences that are classed without a word of either list most likely say neither
        is_bare = np.isnan(words(read)[:, 1]) & ~np.isnan(means)
        # Cut the numbers of all sentences at the ends of texts again
        ends = np.cumsum(sizes)
        parts = [slice(end - size, end) for size, end in zip(sizes, ends, strict=True)]
        return [
            {
                "sentences": [{"start": low, "end": high} for low, high in text_spans],
                "agentic": means[part].tolist(),
                "checkpoints": by_checkpoint[:, part].tolist() if len(by_checkpoint) > 1 else None,
                "beside": None if other is None else again[part].tolist(),
                "chance": chance,
                "bare": int(is_bare[part].sum()),
            }
            for text_spans, part, chance in zip(spans, parts, chances, strict=True)
        ]

    return work


def cell_of(model: str, text_strata: Mapping[str, str], names: Sequence[str]) -> str:
    """Return what a text's sentences are drawn within: its model, and its values of these names."""
    return " · ".join((model, *(text_strata.get(name, "") for name in names)))


def _draws(seed: int, text_id: str, n: int) -> FloatArray:
    """Random numbers of the sentences of a text, which neither shards nor workers change.

    Those below the chance are drawn, so that a larger sample holds a smaller one.
    """
    return np.random.default_rng([seed, *text_id.encode()]).random(n)


def _classifier(settings: Mapping[str, Any], *, masked: bool) -> AgencyClassifier:
    """Load the classifier; that of a model reads the answers which the run holds already."""
    spec = settings.get("classifier", "linear")
    if "asked" not in settings:
        return load_classifier(spec, masked)
    answers_note = settings["asked"]
    replies = _replies(Path(settings["run"]) / answers_note["answers"], answers_note["digest"])
    # Nothing is asked here: every answer is in the run
    return load_classifier(spec, masked, ask=lambda _: replies)


@lru_cache(maxsize=2)
def _replies(folder: Path, _digest: str) -> Replies:
    return kept_replies(folder)


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


AGENCY = Annotator(
    **description("agency.v1"),
    setup=partial(_annotator, masked=True),
    per_shard=True,
    in_run=True,
    schema=_SCHEMA,
)
AGENCY_UNMASKED = replace(
    AGENCY,
    **description("agency-unmasked.v1"),
    setup=partial(_annotator, masked=False),
    any_language=lambda settings: settings.get("classifier", "linear") not in (*SHIPPED, "lexicon"),
)


@dataclass(frozen=True)
class Classifying(ModelReader):
    """A language model that classifies sentences.

    Attributes
    ----------
    asking
        Whom, within which limits.
    spec
        "llm:PROVIDER:MODEL[:FORM]".
    """

    purpose: str = "agency"
    answer_tokens: int | None = 40
    cold: bool = True
    spec: str = ""

    @property
    def annotators(self) -> tuple[str, ...]:
        """The annotators that read its answers."""
        return AGENCY.name, AGENCY_UNMASKED.name

    @property
    def marks(self) -> dict[str, Any]:
        """What distinguishes its answers: also the form of the prompt."""
        return {**super().marks, "spec": self.spec}

    def classifier(self, folder: Path, masked: bool = True) -> AgencyClassifier:
        """Return a classifier that asks what has no answer in `folder` yet."""
        return llm_classifier(self.spec, partial(self.ask, folder), masked)

    def answered(self, run: Run, annotation: Annotation, tell: Say) -> Annotation:
        """Ask about every sentence of a run, which the caller holds.

        Returns
        -------
        The annotation, with where the answers lie, a digest of them and what they came to (equal
        sentences count once) among its settings.
        """
        form = parse_llm(self.spec)[1]
        # Masked and unmasked sentences in one go, as batches of a service take hours each
        prompts = {
            name: [sentence_prompt(s, form) for s in run_sentences(run, masked=name == AGENCY.name)]
            for name in self.annotators
        }
        with run.manifest.step(ANSWERS):
            replies = self.ask(run.path, chain(*prompts.values()), tell)
        words = {p.prompt_id: said(replies.get(p.prompt_id, ())) for p in prompts[annotation.name]}
        counts = Counter(words.values())
        tell(
            f"agency: {len(words):,} different sentences of {annotation.name}: "
            f"{counted_words(counts)}"
        )
        return self.noted(annotation, words, said=dict(counts))


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
    return Classifying(Asking(model, **own_settings), spec=spec)
