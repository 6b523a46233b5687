"""Texts beside their originals: group words and scores of sentences marked, the furthest first."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

import portrayal.report.formats as fmt
from portrayal.measure.pairs.levels import LexiconColumns, lexicon_columns, text_levels
from portrayal.measure.pairs.table import SENTIMENT, TOXICITY, WORD, WORDS, pair_texts
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
from portrayal.run.reading import read_shards
from portrayal.run.stages import Stage
from portrayal.types import FloatArray, IntArray

PER_SERIES, MOST = 4, 24
"""Pairs of one model and form at most; pairs in all."""
FAINT = 0.1
"""Sentiment from which a sentence is shaded."""


def beside_originals(view: View) -> Readings | None:
    """Return pairs to read; None where texts, originals or their annotations are missing."""
    run = view.run
    stages = run.texts, run.reference, run.annotations(WORDS), run.reference_annotations(WORDS)
    if not all(stage.parts() for stage in stages):
        return None
    paired = pair_texts(run, sentiment=False)
    # The first word list of each attribute: pairs are told apart by these.
    lists: dict[str, LexiconColumns] = {}
    for lexicon in lexicon_columns(paired):
        lists.setdefault(lexicon.attribute, lexicon)
    # Shares of originals and of texts, as the level of words has them: (n_rows, M) each
    levels = {(level.attribute, level.lexicon): level for level in text_levels(paired, [WORD])}
    of_lists = {name: levels[name, lexicon.name] for name, lexicon in lists.items()}
    shares = {name: (level.reference, level.generated) for name, level in of_lists.items()}
    distances = [np.abs(after - before).sum(axis=1) / 2.0 for before, after in shares.values()]
    # The attribute that moved most decides how far a pair is.
    distance = np.fmax.reduce([np.full(len(paired.pair), np.nan), *distances])
    original_ids, text_ids = _ids(run.reference, paired.original), _ids(run.texts, paired.text)
    # Ties go by id, so that a report does not change when it is written again.
    ranked = sorted(
        np.flatnonzero(~np.isnan(distance)).tolist(), key=lambda i: (-distance[i], text_ids[i])
    )
    series: dict[tuple[int, int], list[int]] = {}
    for i in ranked:
        series.setdefault((int(paired.model[i]), int(paired.form[i])), []).append(i)
    per_series = max(1, min(PER_SERIES, MOST // max(len(series), 1)))
    picked = {i for rows in series.values() for i in at_even_steps(rows, per_series)}
    if not picked:
        return None
    marks, key = _colours(lists.values(), paired.columns)
    rows = [i for i in ranked if i in picked]
    human = _passages(view, [original_ids[i] for i in rows], marks, reference=True)
    generated = _passages(view, [text_ids[i] for i in rows], marks, reference=False)
    readings = []
    for i in rows:
        shifts = [
            f"{attribute}: {', '.join(_shifts(lists[attribute], before[i], after[i]))}"
            for attribute, (before, after) in shares.items()
            if not np.isnan(before[i] + after[i]).any()
        ]
        model, form = paired.models[paired.model[i]], paired.forms[paired.form[i]]
        reading = Reading(
            f"{short(paired.pairs[paired.pair[i]], 120)} · {short(model, 60)}, {short(form, 60)} · "
            f"{distance[i]:.2f} apart",
            "; ".join(shifts),
            (human[original_ids[i]], generated[text_ids[i]]),
        )
        readings.append(reading)
    selection = (
        f"{len(readings)} of {len(ranked):,} pairs with group words on both "
        "sides, the furthest first; for each model and form they are taken at even steps from the "
        "furthest to the nearest. Hold the pointer over a sentence for its scores."
    )
    return Readings(selection, tuple(readings), key)


def _colours(
    lists: Iterable[LexiconColumns], columns: Sequence[tuple[str, str, str]]
) -> tuple[dict[int, str], tuple[tuple[str, str], ...]]:
    """The mark of the words of each column, and what marks mean."""
    own_groups = [group for _, attribute, group in columns if attribute not in ("gender", "race")]
    marks, key = {}, []
    for lexicon in lists:
        for column, group in enumerate(lexicon.groups, lexicon.columns.start):
            colour = colour_of_group({lexicon.attribute: group}, own_groups)
            marks[column] = colour_class(colour)
            key.append((marks[column], f"{group_label(lexicon.attribute, group)}: words"))
    return marks, (*key, ("good", "favourable sentence"), ("bad", "unfavourable sentence"))


def _ids(texts: Stage, numbers: IntArray) -> list[str]:
    """Ids of the texts of these numbers, in the order of the run."""
    ids = [i for (part,) in read_shards(texts, ["text_id"]) for i in part["text_id"].to_pylist()]
    return [ids[i] for i in numbers.tolist()]


def _shifts(lexicon: LexiconColumns, before: FloatArray, after: FloatArray) -> Iterator[str]:
    """Each group's share before and after, shape (M,) each."""
    for group, b, a in zip(lexicon.groups, before.tolist(), after.tolist(), strict=True):
        yield f"{short(group_label(lexicon.attribute, group), 40)} {fmt.share(b)} → {fmt.share(a)}"


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
