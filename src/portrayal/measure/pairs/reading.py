"""Pairing: reads texts, originals and their annotations from a run, and joins them by key."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
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
    originals, texts = (_read(run, scores, len(columns), reference=r) for r in (True, False))
    # Originals first: their labels come first, and texts look theirs up
    both = [*originals.strata, *texts.strata]
    pairs, pair = _coded(s.get("pair") for s in both)
    domains, domain = _coded(s.get("domain", _UNKNOWN) for s in both)
    sources, source = _coded(s.get("source", _UNKNOWN) for s in both)
    models, model = _coded(texts.models)
    forms, form = _coded(s.get("form", PLAIN_FORM) for s in texts.strata)
    n = len(originals.strata)
    none = np.zeros(n, dtype=np.int64)
    reference = Texts(pair=pair[:n], model=none, form=none, **originals.arrays)
    generated = Texts(pair=pair[n:], model=model, form=form, **texts.arrays)
    original_of, excluded = _originals(reference, len(pairs))
    text, original, dispositions = _match(generated, original_of, reference, models, forms)
    if excluded:
        dispositions[REFERENCE, ALL] = excluded
    return Paired(
        pairs=pairs,
        models=models,
        forms=forms,
        domains=domains,
        sources=sources,
        pair=generated.pair[text],
        model=model[text],
        form=form[text],
        domain=_first_known(domains, domain[:n][original], domain[n:][text]),
        source=_first_known(sources, source[:n][original], source[n:][text]),
        text=text,
        original=original,
        dispositions=dispositions,
        generated=generated,
        reference=reference,
        columns=columns,
    )


@dataclass(frozen=True)
class _Side:
    """The texts of one side: strata and model of each, and the numbers of `Texts`."""

    strata: Sequence[Mapping[str, str]]
    models: Sequence[str]
    arrays: Mapping[str, Any]


def _coded(labels: Iterable[str | None]) -> tuple[tuple[str, ...], IntArray]:
    """Labels in the order of their first occurrence, and the code of each; -1 for None."""
    codes: dict[str, int] = {}
    of_rows = [-1 if label is None else codes.setdefault(label, len(codes)) for label in labels]
    return tuple(codes), np.array(of_rows, dtype=np.int64)


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


def _read(run: Run, scores: Sequence[str], n_columns: int, *, reference: bool) -> _Side:
    stage = run.reference if reference else run.texts
    annotations = run.reference_annotations if reference else run.annotations
    for name in scores:
        _settings(annotations(name))
    path = run.reference_prompts_path if reference else run.prompts_path
    prompts = read_prompts(path, only=_USED)
    annotated = [(annotations(WORDS), ["words", "sentence_words", "counts"])]
    annotated += [(annotations(name), [_SCORES[name][1]]) for name in scores]
    shards = read_shards(stage, ["prompt_id", "model", "outcome"], *annotated)
    texts, words, *scored = map(pa.concat_tables, zip(*shards, strict=True))
    lengths = _lengths(words["counts"])
    arrays = {
        "outcome": np.array([OUTCOMES.index(name) for name in texts["outcome"].to_pylist()]),
        "words": _flat(words["words"]),
        "start": np.concatenate([[0], np.cumsum(lengths)]),
        "sentence_words": _flat(words["sentence_words"]),
        "counts": _flat(words["counts"]).reshape(-1, n_columns),
        "scores": {
            _SCORES[name][0]: _aligned(table[_SCORES[name][1]], lengths)
            for name, table in zip(scores, scored, strict=True)
        },
    }
    strata = [prompts[name] for name in texts["prompt_id"].to_pylist()]
    return _Side(strata, texts["model"].to_pylist(), arrays)


def _lengths(column: pa.ChunkedArray) -> IntArray:
    return np.asarray(pc.fill_null(pc.list_value_length(column), 0), dtype=np.int64)


def _flat(column: pa.ChunkedArray) -> FloatArray:
    """Every number of a column, also of lists, or of lists of lists, in order."""
    while pa.types.is_list(column.type):
        column = pc.list_flatten(column)
    return np.asarray(column.cast(pa.float64()).to_numpy(), dtype=np.float64)


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
    excluded: Counter[str] = Counter()
    # Readable ones first, and among these the first of the file
    for text in np.argsort(np.isnan(reference.words), kind="stable").tolist():
        pair = int(reference.pair[text])
        if pair < 0:
            excluded[NO_KEY] += 1
        elif original_of[pair] >= 0:
            excluded[DUPLICATE] += 1
        else:
            original_of[pair] = text
    return original_of, dict(excluded)


def _faults(texts: Texts) -> list[str]:
    """Why each text cannot be read; "" where it can."""
    ok, unreadable = OUTCOMES.index("ok"), np.isnan(texts.words)
    return [
        OUTCOMES[outcome] if outcome != ok else UNREADABLE * bad
        for outcome, bad in zip(texts.outcome.tolist(), unreadable.tolist(), strict=True)
    ]


def _match(
    generated: Texts,
    original_of: IntArray,
    reference: Texts,
    models: Sequence[str],
    forms: Sequence[str],
) -> tuple[IntArray, IntArray, dict[tuple[str, str], dict[str, int]]]:
    """Rows as (text, original), those of an original together; dispositions by (model, form)."""
    theirs = _faults(reference)
    original = np.where(generated.pair >= 0, original_of[generated.pair], -1)
    counts: dict[tuple[str, str], Counter[str]] = {}
    pairs_by_key: dict[tuple[str, str], set[int]] = {}
    rows = []
    for text, unread in enumerate(_faults(generated)):
        key = models[generated.model[text]], forms[generated.form[text]]
        pairs_by_key.setdefault(key, set()).add(int(generated.pair[text]))
        if unread:  # what is wrong with a text itself comes before what its pair lacks
            disposition = unread
        elif generated.pair[text] < 0:
            disposition = NO_KEY
        elif original[text] < 0:
            disposition = NO_ORIGINAL
        elif theirs[original[text]]:
            disposition = f"original: {theirs[original[text]]}"
        else:
            disposition = PAIRED
            rows.append(text)
        counts.setdefault(key, Counter())[disposition] += 1
    with_original = set(np.flatnonzero(original_of >= 0).tolist())
    for key, pairs in pairs_by_key.items():
        # An original without a text is told too: a model may have refused just that headline
        if lacking := len(with_original - pairs):
            counts[key][NO_TEXT] = lacking
    text_of_row = np.array(rows, dtype=np.int64)
    _, first, code = np.unique(original[text_of_row], return_index=True, return_inverse=True)
    text_of_row = text_of_row[np.argsort(first[code], kind="stable")]
    by_key = {key: dict(of_key) for key, of_key in counts.items()}
    return text_of_row, original[text_of_row], by_key


def _first_known(labels: Sequence[str], first: IntArray, second: IntArray) -> IntArray:
    """Codes of the original, or of the text where the original has no label."""
    unknown = labels.index(_UNKNOWN) if _UNKNOWN in labels else -1
    return np.where(first == unknown, second, first)
