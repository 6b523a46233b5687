"""Texts beside their originals: group words and tone of sentences marked, the furthest first."""

from collections.abc import Mapping, Sequence

import numpy as np

import portrayal.report.formats as fmt
from portrayal.measure.pairs.estimates import distances
from portrayal.measure.pairs.levels import text_levels
from portrayal.measure.pairs.table import SENTIMENT, WORD, WORDS, Level, pair_texts
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
from portrayal.run.directory import read_shards
from portrayal.run.files import Stage
from portrayal.types import IntArray

PER_SERIES, MOST = 4, 24
"""Pairs of one model and form at most; pairs in all."""
FAINT = 0.1
"""Sentiment from which a sentence is shaded."""


def texts_to_read(view: View) -> Readings | None:
    """Return pairs to read; None where texts, originals or their annotations are missing."""
    run = view.run
    stages = run.texts, run.reference, run.annotations(WORDS), run.reference_annotations(WORDS)
    if not all(stage.parts() for stage in stages):
        return None
    paired = pair_texts(run, sentiment=False)
    # The first word list of each attribute: pairs are told apart by these.
    levels: dict[str, Level] = {}
    for level in text_levels(paired, [WORD]):
        levels.setdefault(level.attribute, level)
    by_list = [distances(x, x.generated, x.reference)[:, 0] for x in levels.values()]
    # The attribute that moved most decides how far a pair is.
    distance = np.fmax.reduce([np.full(len(paired.pair), np.nan), *by_list])
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
    rows = [i for i in ranked if i in picked]
    marks, key = {}, []
    own_groups = [x for _, attribute, x in paired.columns if attribute not in ("gender", "race")]
    for column, (lexicon, attribute, group) in enumerate(paired.columns):
        if levels[attribute].lexicon == lexicon:
            marks[column] = colour_class(colour_of_group({attribute: group}, own_groups))
            key.append((marks[column], f"{group_label(attribute, group)}: words"))
    human = _passages(view, [original_ids[i] for i in rows], marks, reference=True)
    generated = _passages(view, [text_ids[i] for i in rows], marks, reference=False)
    readings = []
    for i in rows:
        shifts = (_shifts(level, i) for level in levels.values())
        model, form = paired.models[paired.model[i]], paired.forms[paired.form[i]]
        reading = Reading(
            f"{short(paired.pairs[paired.pair[i]], 120)} · {short(model, 60)}, {short(form, 60)} · "
            f"{distance[i]:.2f} apart",
            "; ".join(shift for shift in shifts if shift),
            (human[original_ids[i]], generated[text_ids[i]]),
        )
        readings.append(reading)
    selection = (
        f"{len(readings)} of {len(ranked):,} pairs with group words on both "
        "sides, the furthest first; for each model and form they are taken at even steps from the "
        "furthest to the nearest. Hold the pointer over a sentence for its sentiment."
    )
    tones = ("good", "favourable sentence"), ("bad", "unfavourable sentence")
    return Readings(selection, tuple(readings), (*key, *tones))


def _ids(texts: Stage, numbers: IntArray) -> list[str]:
    """Ids of the texts of these numbers, in the order of the run."""
    ids = [i for (part,) in read_shards(texts, ["text_id"]) for i in part["text_id"].to_pylist()]
    return [ids[i] for i in numbers.tolist()]


def _shifts(level: Level, row: int) -> str:
    """Each group's share in the original and in the text of a row; "" where either has none."""
    before, after = level.reference[row], level.generated[row]
    if np.isnan(before + after).any():
        return ""
    shares = zip(level.groups, before.tolist(), after.tolist(), strict=True)
    shifts = (
        f"{short(group_label(level.attribute, group), 40)} {fmt.share(b)} → {fmt.share(a)}"
        for group, b, a in shares
    )
    return f"{level.attribute}: {', '.join(shifts)}"


def _passages(
    view: View, text_ids: Sequence[str], marks: Mapping[int, str], *, reference: bool
) -> dict[str, Passage]:
    """Texts by id, of the reference or of the audited texts, with words and sentences marked."""
    run = view.run
    of = run.reference_annotations if reference else run.annotations
    texts = texts_by_id(run.reference if reference else run.texts, text_ids, "text, model")
    words = texts_by_id(of(WORDS), text_ids, "words, sentences, spans")
    # Scores are of sentences, in the order in which they stand.
    polarity = texts_by_id(of(SENTIMENT), text_ids, "polarity")
    passages = {}
    for text_id, text in texts.items():
        annotation = words.get(text_id, {})
        spans = [
            (s["start"], s["end"], marks[s["column"]])
            for s in annotation.get("spans") or ()
            if s["column"] in marks
        ]
        places = annotation.get("sentences") or ()
        tones = polarity.get(text_id, {}).get("polarity") or [None] * len(places)
        sentences = []
        for place, tone in zip(places, tones, strict=False):
            clear = tone is not None and abs(tone) >= FAINT
            shade = ("good" if tone > 0 else "bad") if clear else ""
            words_of_tone = f"sentiment {fmt.signed(tone)}" if clear else ""
            sentences.append(Sentence(place["start"], place["end"], shade, words_of_tone))
        writer = "Original" if reference else short(text["model"], 60)
        heading = f"{writer}, {fmt.plural(annotation.get('words') or 0, 'word')}"
        passages[text_id] = shown_text(heading, text["text"], spans, sentences)
    return passages
