"""Texts beside their originals: group words and scores of sentences marked, the furthest first."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import portrayal.report.formats as fmt
from portrayal.reference.labels import group_label
from portrayal.report.formats import short
from portrayal.report.passages import (
    Passage,
    Reading,
    Readings,
    Sentence,
    at_even_steps,
    shown_text,
    texts_by_id,
)
from portrayal.report.view import View
from portrayal.report.words import colour_class, colour_of_group
from portrayal.run.files import read_parquet
from portrayal.run.reading import read_prompts

WORDS, SENTIMENT, TOXICITY = "group_words.v1", "sentiment.v1", "toxicity.v1"
PER_SERIES, MOST = 8, 64
"""Pairs of one model and form at most; pairs in all."""
FAINT = 0.1
"""Sentiment from which a sentence is shaded."""

Vector = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True)
class _Counted:
    """A readable text with its counts of group words, shape (n_columns,)."""

    pair: str
    model: str
    form: str
    text_id: str
    counts: Vector


def beside_originals(view: View) -> Readings | None:
    """Return pairs to read; None where texts, originals or their annotations are missing."""
    run, stage = view.run, view.run.annotations(WORDS)
    settings_columns = (stage.note().get("settings") or {}).get("columns") or ()
    columns: list[tuple[str, ...]] = [tuple(name.split("/", 2)) for name in settings_columns]
    if not (columns and run.texts.parts() and run.reference.parts() and stage.parts()):
        return None
    # The columns of each attribute's first word list: pairs are told apart by these.
    lists: dict[str, str] = {}
    first: dict[str, list[int]] = {}
    for i, (lexicon, attribute, _) in enumerate(columns):
        if lists.setdefault(attribute, lexicon) == lexicon:
            first.setdefault(attribute, []).append(i)
    originals = {row.pair: row for row in _counted(view, len(columns), reference=True)}
    ranked: dict[tuple[str, str], list[tuple[float, _Counted]]] = {}
    for row in _counted(view, len(columns), reference=False):
        if row.pair in originals:
            other = originals[row.pair].counts
            distances = [_distance(row.counts[of], other[of]) for of in first.values()]
            # The attribute that moved most decides how far a pair is.
            if defined := [x for x in distances if x is not None]:
                ranked.setdefault((row.model, row.form), []).append((max(defined), row))
    per_series = max(1, min(PER_SERIES, MOST // max(len(ranked), 1)))
    picked: list[tuple[float, _Counted]] = []
    for series in ranked.values():
        # Ties go by id, so that a report does not change when it is written again.
        series.sort(key=lambda pair: (-pair[0], pair[1].text_id))
        picked += at_even_steps(series, per_series)
    if not picked:
        return None
    picked.sort(key=lambda pair: (-pair[0], pair[1].text_id))
    own_groups = [group for _, attribute, group in columns if attribute not in ("gender", "race")]
    marks = {
        i: colour_class(colour_of_group({attribute: columns[i][2]}, own_groups))
        for attribute, of in first.items()
        for i in of
    }
    ids = [row.text_id for _, row in picked]
    generated = _passages(view, ids, marks, reference=False)
    ids = [originals[row.pair].text_id for _, row in picked]
    human = _passages(view, ids, marks, reference=True)
    readings = tuple(
        Reading(
            f"{short(row.pair, 120)} · {distance:.2f} apart",
            _shifts(first, columns, originals[row.pair], row),
            (human[originals[row.pair].text_id], generated[row.text_id]),
            {"Model": short(row.model, 60), "Form": short(row.form, 60)},
        )
        for distance, row in picked
    )
    selection = (
        f"{len(readings)} of {sum(map(len, ranked.values())):,} pairs with group words on both "
        "sides, the furthest first; for each model and form they are taken at even steps from the "
        "furthest to the nearest. Hold the pointer over a sentence for its scores."
    )
    key = [
        (marks[i], f"{group_label(a, columns[i][2])}: words") for a, of in first.items() for i in of
    ]
    key += [("good", "favourable sentence"), ("bad", "unfavourable sentence")]
    return Readings(selection, readings, tuple(key))


def _counted(view: View, n_columns: int, *, reference: bool) -> Iterator[_Counted]:
    """Yield the readable texts of a side with their counts, shard by shard."""
    run = view.run
    texts = run.reference if reference else run.texts
    words = (run.reference_annotations if reference else run.annotations)(WORDS)
    strata = read_prompts(run.reference_prompts_path if reference else run.prompts_path)
    for part in texts.parts():
        text_rows = read_parquet(part, columns=["prompt_id", "model", "outcome"]).to_pylist()
        counted = read_parquet(words.folder / part.name, columns=["text_id", "counts", "error"])
        for text, row in zip(text_rows, counted.to_pylist(), strict=True):
            about = strata.get(text["prompt_id"], {})
            # Refusals and unread texts have no words to compare.
            if text["outcome"] != "ok" or row["error"] is not None or "pair" not in about:
                continue
            # Counts are kept by sentence; a pair is compared by whole texts.
            counts = np.array(row["counts"] or [], np.float64).reshape(-1, n_columns).sum(axis=0)
            form = about.get("form", "")
            yield _Counted(about["pair"], text["model"], form, row["text_id"], counts)


def _distance(one: Vector, other: Vector) -> float | None:
    """How far the shares of the groups lie apart; None without words on both sides."""
    if one.sum() == 0 or other.sum() == 0:
        return None
    # Total variation, which for two and three groups is the distance that the paper prints.
    return float(np.abs(one / one.sum() - other / other.sum()).sum() / 2.0)


def _shifts(
    first: Mapping[str, list[int]],
    columns: Sequence[tuple[str, ...]],
    original: _Counted,
    generated: _Counted,
) -> str:
    """Each group's share before and after, of attributes with words on both sides."""
    parts = []
    for attribute, of in first.items():
        before, after = original.counts[of], generated.counts[of]
        if _distance(before, after) is None:
            continue
        shares = zip(of, before / before.sum(), after / after.sum(), strict=True)
        groups = [
            f"{short(group_label(attribute, columns[i][2]), 40)} {fmt.share(float(b))} → "
            f"{fmt.share(float(a))}"
            for i, b, a in shares
        ]
        parts.append(f"{attribute}: {', '.join(groups)}")
    return "; ".join(parts)


def _passages(
    view: View, text_ids: Sequence[str], marks: Mapping[int, str], *, reference: bool
) -> dict[str, Passage]:
    """Texts by id, of the reference or of the audited texts, with words and sentences marked."""
    run = view.run
    of = run.reference_annotations if reference else run.annotations
    texts = texts_by_id(run.reference if reference else run.texts, text_ids, "text, model")
    words = texts_by_id(of(WORDS), text_ids, "words, sentences, spans")
    # Scores are of sentences, in the order in which they stand.
    polarity = texts_by_id(of(SENTIMENT), text_ids, "polarity as score")
    toxicity = texts_by_id(of(TOXICITY), text_ids, "toxicity as score")
    passages = {}
    for text_id, text in texts.items():
        annotation = words.get(text_id, {})
        tones = polarity.get(text_id, {}).get("score") or ()
        toxic = toxicity.get(text_id, {}).get("score") or ()
        spans = [
            (s["start"], s["end"], marks[s["column"]])
            for s in annotation.get("spans") or ()
            if s["column"] in marks
        ]
        sentences = []
        for i, span in enumerate(annotation.get("sentences") or ()):
            scores, shade = [], ""
            if i < len(tones) and tones[i] is not None and abs(tones[i]) >= FAINT:
                shade = "good" if tones[i] > 0 else "bad"
                scores.append(f"sentiment {fmt.signed(tones[i])}")
            if i < len(toxic) and toxic[i] is not None and toxic[i] >= 0.01:
                scores.append(f"toxicity {toxic[i]:.2f}")
                shade = shade or "scored"
            sentences.append(Sentence(span["start"], span["end"], shade, ", ".join(scores)))
        writer = "Original" if reference else short(text["model"], 60)
        heading = f"{writer}, {fmt.plural(annotation.get('words') or 0, 'word')}"
        passages[text_id] = shown_text(heading, text["text"], spans, sentences)
    return passages
