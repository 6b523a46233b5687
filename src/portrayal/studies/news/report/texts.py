"""Examples: texts beside their originals, group words and sentence scores marked, furthest first.

For each model and prompt form pairs are taken at even steps of rank, from the furthest to the
nearest, so that what is shown is no choice of the worst.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import portrayal.report.formats as fmt
from portrayal.report.formats import short
from portrayal.report.passages import marked, texts_by_id
from portrayal.report.view import View
from portrayal.report.words import colour_class, colour_of_group
from portrayal.run.files import read_parquet
from portrayal.run.reading import read_prompts
from portrayal.shown import visible
from portrayal.studies.news.report.series import GENDER_NAMES, quantity

WORDS, SENTIMENT, TOXICITY = "group_words.v1", "sentiment.v1", "toxicity.v1"
EACH, MOST = 8, 64
"""Pairs of one model and form at most; pairs in all."""
LONGEST = 3000
"""Characters shown of one text."""
FAINT, STRONG = 0.1, 0.4
"""Sentiment from which a sentence is shaded, and shaded strongly."""

Column = tuple[str, str, str]
"""Word list, attribute and group."""
Vector = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True)
class ScoredSentence:
    """A sentence as (text, class) pieces, its shade, and its scores in words."""

    pieces: tuple[tuple[str, str], ...]
    shade: str = ""
    score: str = ""


@dataclass(frozen=True)
class TextSide:
    """One text: who wrote it, its length, its sentences, and how it was shortened."""

    writer: str
    words: str
    sentences: tuple[ScoredSentence, ...]
    cut: str


@dataclass(frozen=True)
class Example:
    """A text beside its original; `model` and `form` are codes of the filters."""

    title: str
    model: int
    form: int
    distance: float
    moved: tuple[str, ...]
    original: TextSide
    generated: TextSide


@dataclass(frozen=True)
class Examples:
    """Example pairs, the furthest first, with the labels of the filters and the colour key."""

    pairs: tuple[Example, ...]
    models: tuple[str, ...]
    forms: tuple[str, ...]
    key: tuple[tuple[str, str], ...]
    how: str


@dataclass(frozen=True)
class _Row:
    pair: str
    model: str
    form: str
    text_id: str
    counts: Vector


def examples(view: View) -> Examples | None:
    """Return example pairs; None where texts, originals or their annotations are missing."""
    run, stage = view.run, view.run.annotations(WORDS)
    settings_columns = (stage.note().get("settings") or {}).get("columns") or ()
    columns: list[Column] = [tuple(name.split("/", 2)) for name in settings_columns]
    if not (columns and run.texts.parts() and run.reference.parts() and stage.parts()):
        return None
    # The columns of each attribute's first word list: pairs are told apart by these.
    lists: dict[str, str] = {}
    first: dict[str, list[int]] = {}
    for i, (lexicon, attribute, _) in enumerate(columns):
        if lists.setdefault(attribute, lexicon) == lexicon:
            first.setdefault(attribute, []).append(i)
    originals: dict[str, _Row] = {}
    for row in _rows(view, len(columns), reference=True):
        originals.setdefault(row.pair, row)
    rows = []
    for row in _rows(view, len(columns), reference=False):
        if row.pair in originals:
            distances = [
                _apart(row.counts[columns_of], originals[row.pair].counts[columns_of])
                for columns_of in first.values()
            ]
            # The attribute that moved most decides how far a pair is.
            defined = [distance for distance in distances if distance is not None]
            rows += [(max(defined), row)] if defined else []
    examples_of_rows = _chosen(rows)
    if not examples_of_rows:
        return None
    own_groups = [group for _, attribute, group in columns if attribute not in ("gender", "race")]
    marks = {
        i: colour_class(colour_of_group({attribute: columns[i][2]}, own_groups))
        for attribute, columns_of in first.items()
        for i in columns_of
    }
    models = tuple(dict.fromkeys(row.model for _, row in examples_of_rows))
    forms = tuple(dict.fromkeys(row.form for _, row in examples_of_rows))
    generated = _sides(view, [row.text_id for _, row in examples_of_rows], marks, reference=False)
    human = _sides(
        view, [originals[row.pair].text_id for _, row in examples_of_rows], marks, reference=True
    )
    pairs = tuple(
        Example(
            short(row.pair, 160),
            models.index(row.model),
            forms.index(row.form),
            distance,
            _moved(row, originals[row.pair], first, columns),
            human[originals[row.pair].text_id],
            generated[row.text_id],
        )
        for distance, row in examples_of_rows
    )
    selection = (
        f"{len(pairs)} of {len(rows):,} pairs with group words on both sides, the furthest first; "
        "for each model and form they are taken at even steps from the furthest to the nearest."
    )
    labels = [tuple(short(name, 60) for name in names) for names in (models, forms)]
    key = tuple(
        (marks[i], _group_name(columns[i])) for columns_of in first.values() for i in columns_of
    )
    return Examples(pairs, labels[0], labels[1], key, selection)


def _rows(view: View, n_columns: int, *, reference: bool) -> Iterator[_Row]:
    """Yield the readable texts of a side with their counts, shard by shard."""
    run = view.run
    texts = run.reference if reference else run.texts
    words = (run.reference_annotations if reference else run.annotations)(WORDS)
    strata = read_prompts(run.reference_prompts_path if reference else run.prompts_path)
    for part in texts.parts():
        text_rows = read_parquet(part, columns=["prompt_id", "model", "outcome"]).to_pylist()
        counted = read_parquet(words.folder / part.name, columns=["text_id", "counts", "error"])
        for text, counts_row in zip(text_rows, counted.to_pylist(), strict=True):
            about = strata.get(text["prompt_id"], {})
            # Refusals and unread texts have no words to compare.
            if text["outcome"] != "ok" or counts_row["error"] is not None or "pair" not in about:
                continue
            # Counts are kept by sentence; a pair is compared by whole texts.
            counts = np.array(counts_row["counts"] or [], dtype=np.float64).reshape(-1, n_columns)
            form = about.get("form", "")
            yield _Row(
                about["pair"], text["model"], form, counts_row["text_id"], counts.sum(axis=0)
            )


def _apart(one: Vector, other: Vector) -> float | None:
    """How far the shares of the groups lie apart; None without words on both sides."""
    if one.sum() == 0 or other.sum() == 0:
        return None
    # Total variation, which for two and three groups is the distance that the paper prints.
    return float(np.abs(one / one.sum() - other / other.sum()).sum() / 2.0)


def _chosen(rows: Sequence[tuple[float, _Row]]) -> list[tuple[float, _Row]]:
    """Pairs of each model and form at even steps of rank, then all with the furthest first."""

    # Ties go by id, so that a report does not change when it is written again.
    def order(ranked_row: tuple[float, _Row]) -> tuple[float, str]:
        return (-ranked_row[0], ranked_row[1].text_id)

    series: dict[tuple[str, str], list[tuple[float, _Row]]] = {}
    for ranked_row in sorted(rows, key=order):
        series.setdefault((ranked_row[1].model, ranked_row[1].form), []).append(ranked_row)
    # Every series has its share of the page, however many there are.
    per_series = max(1, min(EACH, MOST // max(len(series), 1)))
    picked: list[tuple[float, _Row]] = []
    for key in sorted(series)[:MOST]:
        ranked = series[key]
        steps = np.unique(np.linspace(0, len(ranked) - 1, min(per_series, len(ranked))).astype(int))
        picked += [ranked[i] for i in steps.tolist()]
    return sorted(picked, key=order)


def _moved(
    row: _Row, original: _Row, first: Mapping[str, list[int]], columns: Sequence[Column]
) -> tuple[str, ...]:
    """What moved, for each attribute: the distance, and each group's share before and after."""
    lines = []
    for attribute, columns_of in first.items():
        distance = _apart(row.counts[columns_of], original.counts[columns_of])
        if distance is None:
            continue
        before, after = (
            side[columns_of] / side[columns_of].sum() for side in (original.counts, row.counts)
        )
        groups = [
            f"{_group_name(columns[i])} {fmt.share(float(b))} → {fmt.share(float(a))}"
            for i, b, a in zip(columns_of, before, after, strict=True)
            if a or b
        ]
        title = quantity("word", attribute)
        lines.append(f"{title}: distance {fmt.distance(distance)} ({', '.join(groups)})")
    return tuple(lines)


def _group_name(column: Column) -> str:
    _, attribute, group = column
    return short(GENDER_NAMES.get(group, group) if attribute == "gender" else group, 40)


def _sides(
    view: View, text_ids: Sequence[str], marks: Mapping[int, str], *, reference: bool
) -> dict[str, TextSide]:
    """Texts by id, of the reference or of the audited texts, with their words marked."""
    run = view.run
    of = run.reference_annotations if reference else run.annotations
    texts = texts_by_id(run.reference if reference else run.texts, text_ids, "text, model")
    words = texts_by_id(of(WORDS), text_ids, "words, sentences, spans")
    # Scores are of sentences, in the order in which they stand.
    polarity, toxicity = (
        {name: row["score"] or () for name, row in texts_by_id(of(stage), text_ids, column).items()}
        for stage, column in ((SENTIMENT, "polarity as score"), (TOXICITY, "toxicity as score"))
    )
    sides = {}
    for name, text in texts.items():
        scores = polarity.get(name, ()), toxicity.get(name, ())
        body, annotation = text["text"], words.get(name, {})
        # The sentences of the text with their marks and scores, up to where they reach.
        spans = sorted((s["start"], s["end"], s["column"]) for s in annotation.get("spans") or ())
        places = [(low, high, marks[column]) for low, high, column in spans if column in marks]
        sentences: list[ScoredSentence] = []
        shown_to = 0
        for i, span in enumerate(annotation.get("sentences") or ()):
            # One sentence at least, however long.
            if span["end"] > LONGEST and sentences:
                break
            tone, toxic = (values[i] if i < len(values) else None for values in scores)
            # What lies between sentences, such as line breaks, is shown too.
            if span["start"] > shown_to:
                sentences.append(ScoredSentence(((visible(body[shown_to : span["start"]]), ""),)))
            shade, scores_words = "", []
            if tone is not None and abs(tone) >= FAINT:
                shade = "good" if tone > 0 else "bad"
                shade += " strong" if abs(tone) >= STRONG else ""
                scores_words = [fmt.signed(tone)]
            # Nearly all sentences score about 0, which would be said everywhere.
            if toxic is not None and toxic >= 0.01:
                scores_words.append(f"toxicity {toxic:.2f}")
            shown_to = min(span["end"], LONGEST)
            pieces = tuple(marked(body, places, span["start"], shown_to))
            sentences.append(ScoredSentence(pieces, shade, ", ".join(scores_words)))
        if shown_to < len(body) <= LONGEST:
            sentences.append(ScoredSentence(tuple(marked(body, places, shown_to, len(body)))))
            shown_to = len(body)
        cut = ""
        if shown_to < len(body.rstrip()):
            cut = f"Shortened: {fmt.count(shown_to)} of {fmt.count(len(body))} characters."
        writer = "Original" if reference else short(text["model"], 60)
        n_words = fmt.plural(annotation.get("words") or 0, "word")
        sides[name] = TextSide(writer, n_words, tuple(sentences), cut)
    return sides
