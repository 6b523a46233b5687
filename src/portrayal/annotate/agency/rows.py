"""Language agency as annotations: the probability that each sentence is agentic.

The masked and the unmasked annotator differ in nothing but what the classifier is given, so that
the two results of a run can stand side by side.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
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
from portrayal.annotate.agency.loading import load_classifier
from portrayal.annotate.agency.masking import mask
from portrayal.annotate.annotator import Annotator
from portrayal.annotate.sentences import sentences
from portrayal.collect.ask.replies import Reply, kept
from portrayal.run.directory import Run
from portrayal.run.reading import read_prompts, read_shards
from portrayal.types import FloatArray

Row = Mapping[str, Any]
Work = Any

_SPAN = pa.struct([("start", pa.int32()), ("end", pa.int32())])
_SCHEMA = pa.schema(
    [
        pa.field("sentences", pa.list_(_SPAN)),
        pa.field("agentic", pa.list_(pa.float32())),
        pa.field("checkpoints", pa.list_(pa.list_(pa.float32()))),
    ]
)
_RETURN = "<return>"


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
    if classifier == "linear":
        shipped = files("portrayal.annotate.agency").joinpath("linear.npz").read_bytes()
        found: str | None = blake2b(shipped, digest_size=8).hexdigest()
    else:
        found = _mark(Path(classifier.removeprefix("lexicon:")).expanduser())
    n = len(checkpoint_folders(Path(classifier).expanduser()))
    return {"classifier": classifier, "files": found, "checkpoints": n}


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


@lru_cache(maxsize=8192)
def agency_sentences(text: str) -> list[tuple[int, int]]:
    """Return the sentences of an answer as offsets, without the prompt where it is repeated.

    `<return>` stands for a line break in some published texts and is read as one.
    """
    plain = text.replace(_RETURN, "\n" + " " * (len(_RETURN) - 1))
    repeated = _repeated().match(plain)
    start = repeated.end() if repeated else 0
    return [(start + low, start + high) for low, high in sentences(plain[start:])]


def _annotator(settings: Mapping[str, Any], *, masked: bool) -> Work:
    """Return the function that annotates the rows of a shard."""
    classify = _classifier(settings, masked=masked)

    def work(rows: Sequence[Row], strata: Sequence[Mapping[str, str]]) -> list[dict[str, Any]]:
        spans = [agency_sentences(row["text"]) for row in rows]
        read = [
            piece
            for row, known in zip(rows, strata, strict=True)
            for piece in _pieces(row["text"], known, masked=masked)
        ]
        each = _each(classify, read)
        ends = np.cumsum([len(found) for found in spans]).tolist()
        return [
            {
                "sentences": [{"start": low, "end": high} for low, high in found],
                "agentic": mean_of(each[:, end - len(found) : end]).tolist(),
                "checkpoints": each[:, end - len(found) : end].tolist() if len(each) > 1 else None,
            }
            for found, end in zip(spans, ends, strict=True)
        ]

    return work


def _each(classify: AgencyClassifier, read: Sequence[str]) -> FloatArray:
    """P(agentic) of sentences by each checkpoint, shape (n_checkpoints, n); one row without any."""
    if not read:
        return np.empty((1, 0))
    return classify.each(read) if isinstance(classify, Checkpoints) else classify(read)[:, 1][None]


def _classifier(settings: Mapping[str, Any], *, masked: bool) -> AgencyClassifier:
    """Load the classifier; that of a model reads the answers which the run holds already."""
    spec = settings.get("classifier", "linear")
    if "answers" not in settings:
        return load_classifier(spec, masked)
    answers = _answers(Path(settings["run"]) / settings["answers"], settings["digest"])
    return load_classifier(spec, masked, ask=lambda _: answers)


@lru_cache(maxsize=2)
def _answers(folder: Path, _digest: str) -> Mapping[str, Reply]:
    return kept(folder)


def _pieces(text: str, known: Mapping[str, str], *, masked: bool) -> list[str]:
    """The sentences of a text as the classifier is given them."""
    names = (known["name"],) if known.get("name") else ()
    pieces = [text[low:high] for low, high in agency_sentences(text)]
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
                yield from _pieces(row["text"], strata[row["prompt_id"]], masked=masked)


def _agency(
    name: str, title: str, summary: str, reads: str, equation: str, *, masked: bool
) -> Annotator:
    """Return an annotator; the two differ in nothing but what the classifier is given."""
    setup = partial(_annotator, masked=masked)

    def run(row: Row, strata: Mapping[str, str]) -> dict[str, Any]:
        made: list[dict[str, Any]] = setup({})([row], [strata])
        return made[0]

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
