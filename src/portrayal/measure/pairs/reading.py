"""Pairing: reads texts, originals and their annotations from a run, and joins them by key."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from portrayal.errors import RunError
from portrayal.measure.pairs.table import (
    DUPLICATE,
    NO_KEY,
    NO_ORIGINAL,
    NO_TEXT,
    PAIRED,
    PLAIN_FORM,
    UNREADABLE,
    Paired,
    Texts,
)
from portrayal.records import ALL, OUTCOMES, REFERENCE
from portrayal.run import Run, Stage, read_prompts, read_shards
from portrayal.run.files import Column
from portrayal.types import FloatArray, IntArray

WORDS, SENTIMENT, TOXICITY = "group_words.v1", "sentiment.v1", "toxicity.v1"
_SCORES = {SENTIMENT: ("sentiment", "polarity"), TOXICITY: ("toxicity", "toxicity")}
_UNKNOWN = "unknown"
_USED = ("pair", "form", "domain", "source")


def pair_texts(run: Run, *, sentiment: bool = True, toxicity: bool = False) -> Paired:
    """Join every generated text of a run with its original, without levels yet.

    Parameters
    ----------
    run
        A run with texts and reference, both annotated by `group_words.v1`.
    sentiment, toxicity
        Whether both were annotated by `sentiment.v1` and `toxicity.v1`.

    Returns
    -------
    Paired
        Rows of a pair together, otherwise in the order of the texts; no number depends on shards.
        Of several originals of one pair the first readable one is kept, the others are counted. A
        text without readable original, or unreadable itself, is in no row, and counted.

    Raises
    ------
    RunError
        When an annotation is missing or not complete.
    """
    scores = [name for name, flag in ((SENTIMENT, sentiment), (TOXICITY, toxicity)) if flag]
    columns = _columns(run)
    codes = _Codes()
    # Originals first: codes of pairs are then those of originals, and texts look them up
    reference = _read(run, scores, len(columns), codes, reference=True)
    generated = _read(run, scores, len(columns), codes, reference=False)
    original_of, of_originals = _originals(reference.texts, len(codes.pairs.labels))
    text, original, fates = _match(generated.texts, original_of, reference.texts, codes)
    if of_originals:
        fates[REFERENCE, ALL] = of_originals
    return Paired(
        pairs=codes.pairs.labels,
        models=codes.models.labels,
        forms=codes.forms.labels,
        domains=codes.domains.labels,
        sources=codes.sources.labels,
        pair=generated.texts.pair[text],
        model=generated.texts.model[text],
        form=generated.texts.form[text],
        domain=_first_known(codes.domains, reference.domain[original], generated.domain[text]),
        source=_first_known(codes.sources, reference.source[original], generated.source[text]),
        text=text,
        original=original,
        fates=fates,
        generated=generated.texts,
        reference=reference.texts,
        columns=columns,
        folder=run.path,
    )


class _Labels:
    """Labels in the order they were met, and their codes."""

    def __init__(self) -> None:
        self._codes: dict[str, int] = {}

    def __call__(self, label: str) -> int:
        return self._codes.setdefault(label, len(self._codes))

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(self._codes)


@dataclass(frozen=True)
class _Codes:
    """Codes of everything that texts are labelled with, shared by both sides."""

    pairs: _Labels = field(default_factory=_Labels)
    models: _Labels = field(default_factory=_Labels)
    forms: _Labels = field(default_factory=_Labels)
    domains: _Labels = field(default_factory=_Labels)
    sources: _Labels = field(default_factory=_Labels)


@dataclass(frozen=True)
class _Side:
    """The texts of one side with their domains and sources."""

    texts: Texts
    domain: IntArray
    source: IntArray


def _columns(run: Run) -> tuple[tuple[str, str, str], ...]:
    stages = [run.annotations(WORDS), run.reference_annotations(WORDS)]
    columns = [_settings(stage).get("columns", []) for stage in stages]
    if columns[0] != columns[1]:
        raise RunError(
            f"{run.path}: texts and reference were annotated by {WORDS} with other lexicons. "
            "Run the audit again."
        )
    parts = (name.split("/", 2) for name in columns[0])
    return tuple((lexicon, attribute, group) for lexicon, attribute, group in parts)


def _settings(stage: Stage) -> Mapping[str, Any]:
    note = stage.note()
    if not note.get("complete"):
        raise RunError(f"{stage.folder} is not complete: run the audit again to annotate the rest.")
    return note.get("settings") or {}


def _read(
    run: Run, scores: Sequence[str], n_columns: int, codes: _Codes, *, reference: bool
) -> _Side:
    texts = run.reference if reference else run.texts
    of = run.reference_annotations if reference else run.annotations
    for name in scores:
        _settings(of(name))
    prompts = read_prompts(
        run.reference_prompts_path if reference else run.prompts_path, only=_USED
    )
    # On disk, as the sentences of all texts may not fit into memory.
    sentences = {"sentence_words": Column(run.path, np.float32)}
    sentences["counts"] = Column(run.path, np.float32, n_columns)
    sentences |= {_SCORES[name][0]: Column(run.path, np.float32) for name in scores}
    chunks = []
    stages = [(of(WORDS), ["words", "sentence_words", "counts"])]
    stages += [(of(name), [_SCORES[name][1]]) for name in scores]
    for tables in read_shards(texts, ["prompt_id", "model", "outcome"], *stages):
        chunk = _shard(tables, scores, n_columns, prompts, codes, reference)
        for name, column in sentences.items():
            column.append(chunk.pop(name))
        chunks.append(chunk)
    return _join(chunks, sentences)


def _shard(
    tables: tuple[pa.Table, ...],
    scores: Sequence[str],
    n_columns: int,
    prompts: Mapping[str, Mapping[str, str]],
    codes: _Codes,
    reference: bool,
) -> dict[str, Any]:
    """Codes, counts and scores of one shard of texts; sentences are numbered by their text."""
    table, words, *scored = tables
    strata = [prompts[name] for name in table["prompt_id"].to_pylist()]
    models = table["model"].to_pylist()
    lengths = _lengths(words["counts"])
    shard = dict(zip(scores, scored, strict=True))
    return {
        "pair": _codes_of((s.get("pair") for s in strata), codes.pairs),
        "model": np.zeros(len(strata), dtype=np.int64)
        if reference
        else _codes_of(models, codes.models),
        "form": np.zeros(len(strata), dtype=np.int64)
        if reference
        else _codes_of((s.get("form", PLAIN_FORM) for s in strata), codes.forms),
        "domain": _codes_of((s.get("domain", _UNKNOWN) for s in strata), codes.domains),
        "source": _codes_of((s.get("source", _UNKNOWN) for s in strata), codes.sources),
        "outcome": np.array([OUTCOMES.index(o) for o in table["outcome"].to_pylist()], np.int64),
        "words": _floats(words["words"]),
        "lengths": lengths,
        "sentence_words": _flat(words["sentence_words"]),
        "counts": _flat(words["counts"]).reshape(-1, n_columns),
        **{_SCORES[name][0]: _aligned(shard[name][_SCORES[name][1]], lengths) for name in scores},
    }


def _join(chunks: Sequence[Mapping[str, Any]], sentences: Mapping[str, Column]) -> _Side:
    def joined(name: str) -> npt.NDArray[Any]:
        return np.concatenate([chunk[name] for chunk in chunks])

    columns = dict(sentences)
    texts = Texts(
        pair=joined("pair"),
        model=joined("model"),
        form=joined("form"),
        outcome=joined("outcome"),
        words=joined("words"),
        start=np.concatenate([[0], np.cumsum(joined("lengths"))]).astype(np.int64),
        sentence_words=columns.pop("sentence_words"),
        counts=columns.pop("counts"),
        scores=columns,
    )
    return _Side(texts, joined("domain"), joined("source"))


def _codes_of(labels: Iterator[str | None] | Sequence[str], code_of: _Labels) -> IntArray:
    return np.array([-1 if label is None else code_of(label) for label in labels], dtype=np.int64)


def _lengths(column: pa.ChunkedArray) -> IntArray:
    return np.asarray(pc.fill_null(pc.list_value_length(column), 0), dtype=np.int64)


def _flat(column: pa.ChunkedArray) -> FloatArray:
    """Every number of a column of lists, or of lists of lists, in order; null lists hold none."""
    while pa.types.is_list(column.type):
        column = pc.list_flatten(column)
    return _floats(column)


def _floats(column: pa.ChunkedArray) -> FloatArray:
    numbers = column.cast(pa.float64()).to_numpy(zero_copy_only=False)
    return np.asarray(numbers, dtype=np.float64)


def _aligned(column: pa.ChunkedArray, lengths: IntArray) -> FloatArray:
    """Scores of each sentence; NaN for the sentences of a text without one score for each."""
    n_scores = _lengths(column)
    scores = np.full(int(lengths.sum()), np.nan)
    # With a score too few or too many it is not known which sentence has which.
    same = n_scores == lengths
    scores[np.repeat(same, lengths)] = _flat(column)[np.repeat(same, n_scores)]
    return scores


def _originals(reference: Texts, n_pairs: int) -> tuple[IntArray, dict[str, int]]:
    """The original of each pair (-1: none), the first readable one; and what was left out."""
    original_of = np.full(n_pairs, -1, dtype=np.int64)
    fates: Counter[str] = Counter()
    readable = ~np.isnan(reference.words)
    # Readable ones first, and among these the first of the file
    for text in sorted(range(reference.n_texts), key=lambda i: (not readable[i], i)):
        pair = int(reference.pair[text])
        if pair < 0:
            fates[NO_KEY] += 1
        elif original_of[pair] >= 0:
            fates[DUPLICATE] += 1
        else:
            original_of[pair] = text
    return original_of, dict(fates)


def _fate(texts: Texts, text: int) -> str | None:
    """Why a text cannot be read; None where it can."""
    outcome = OUTCOMES[int(texts.outcome[text])]
    if outcome != "ok":
        return outcome
    return UNREADABLE if np.isnan(texts.words[text]) else None


def _match(
    generated: Texts, original_of: IntArray, reference: Texts, codes: _Codes
) -> tuple[IntArray, IntArray, dict[tuple[str, str], dict[str, int]]]:
    """Rows as (text, original), those of an original together, and fates by (model, form)."""
    models, forms = codes.models.labels, codes.forms.labels
    fates: dict[tuple[str, str], Counter[str]] = {}
    pairs_by_key: dict[tuple[str, str], set[int]] = {}
    rows: list[tuple[int, int]] = []
    for text in range(generated.n_texts):
        key = models[generated.model[text]], forms[generated.form[text]]
        pair = int(generated.pair[text])
        pairs_by_key.setdefault(key, set()).add(pair)
        original = int(original_of[pair]) if pair >= 0 else -1
        # What is wrong with a text itself comes before what its pair lacks.
        fate = _fate(generated, text) or (NO_KEY if pair < 0 else None)
        if fate is None and original < 0:
            fate = NO_ORIGINAL
        if fate is None and (reason := _fate(reference, original)):
            fate = f"original: {reason}"
        fates.setdefault(key, Counter())[fate or PAIRED] += 1
        if fate is None:
            rows.append((text, original))
    with_original = set(np.flatnonzero(original_of >= 0).tolist())
    for key, pairs in pairs_by_key.items():
        # An original without a text is told too: a model may have refused just that headline
        if lacking := len(with_original - pairs):
            fates[key][NO_TEXT] = lacking
    joined = np.array(rows, dtype=np.int64).reshape(-1, 2)
    _, first, code = np.unique(joined[:, 1], return_index=True, return_inverse=True)
    # Rows of an original together, as blocks end between originals only.
    joined = joined[np.argsort(first[code], kind="stable")]
    return joined[:, 0], joined[:, 1], {key: dict(counts) for key, counts in fates.items()}


def _first_known(labels: _Labels, first: IntArray, second: IntArray) -> IntArray:
    """Codes of the original, or of the text where the original has no label."""
    unknown = labels.labels.index(_UNKNOWN) if _UNKNOWN in labels.labels else -1
    return np.where(first == unknown, second, first)
