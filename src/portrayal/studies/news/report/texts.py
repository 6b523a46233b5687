"""Examples: texts beside their originals, group words and sentence scores marked, furthest first.

For each model and prompt form pairs are taken at even steps of rank, from the furthest to the
nearest, so that what is shown is no choice of the worst.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import portrayal.report.formats as fmt
from portrayal.report.formats import short
from portrayal.report.passages import Piece, marked, texts_by_id
from portrayal.report.view import View
from portrayal.report.words import colour_class, colour_of_group
from portrayal.run.pages import visible
from portrayal.run.reading import read_prompts
from portrayal.run.stages import Stage
from portrayal.studies.news.report.series import GENDER_NAMES, quantity

WORDS, SENTIMENT, TOXICITY = "group_words.v1", "sentiment.v1", "toxicity.v1"
EACH, MOST = 8, 64
"""Pairs of one model and form at most; pairs in all."""
LONGEST = 3000
"""Characters shown of one text."""
FAINT, STRONG = 0.1, 0.4
"""Sentiment from which a sentence is shaded, and shaded strongly."""

Column = tuple[str, str, str]
Vector = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True)
class Scored:
    """A sentence as (text, class) pieces, its shade, and its scores in words."""

    pieces: tuple[tuple[str, str], ...]
    shade: str
    score: str


@dataclass(frozen=True)
class Side:
    """One text: who wrote it, its length, its sentences, and how it was shortened."""

    writer: str
    words: str
    sentences: tuple[Scored, ...]
    cut: str


@dataclass(frozen=True)
class Example:
    """A text beside its original; `model` and `form` are codes of the filters."""

    title: str
    model: int
    form: int
    distance: float
    moved: tuple[str, ...]
    original: Side
    generated: Side


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
    run = view.run
    stage = run.annotations(WORDS)
    columns = _columns(stage)
    if not (columns and run.texts.parts() and run.reference.parts() and stage.parts()):
        return None
    first = _first_lists(columns)
    originals: dict[str, _Row] = {}
    sides = (run.reference, run.reference_annotations(WORDS), run.reference_prompts_path)
    for row in _rows(*sides, len(columns)):
        originals.setdefault(row.pair, row)
    rows = [
        (distance, row)
        for row in _rows(run.texts, stage, run.prompts_path, len(columns))
        if row.pair in originals
        and (distance := _furthest(row, originals[row.pair], first)) is not None
    ]
    chosen = _chosen(rows)
    if not chosen:
        return None
    models = tuple(dict.fromkeys(row.model for _, row in chosen))
    forms = tuple(dict.fromkeys(row.form for _, row in chosen))
    read = _Reader(view, columns, first)
    generated = read.sides([row.text_id for _, row in chosen], reference=False)
    human = read.sides([originals[row.pair].text_id for _, row in chosen], reference=True)
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
        for distance, row in chosen
    )
    how = (
        f"{len(pairs)} of {len(rows):,} pairs with group words on both sides, the furthest first; "
        "for each model and form they are taken at even steps from the furthest to the nearest."
    )
    shown = tuple(short(name, 60) for name in models)
    return Examples(pairs, shown, tuple(short(form, 60) for form in forms), read.key, how)


def _columns(stage: Stage) -> tuple[Column, ...]:
    listed = (stage.note().get("settings") or {}).get("columns") or ()
    found = [name.split("/", 2) for name in listed]
    return tuple((name[0], name[1], name[2]) for name in found)


def _first_lists(columns: Sequence[Column]) -> dict[str, list[int]]:
    """Columns of each attribute's first word list."""
    lists: dict[str, str] = {}
    found: dict[str, list[int]] = {}
    for i, (lexicon, attribute, _) in enumerate(columns):
        if lists.setdefault(attribute, lexicon) == lexicon:
            found.setdefault(attribute, []).append(i)
    return found


def _rows(texts: Stage, words: Stage, prompts: Path, n_columns: int) -> Iterator[_Row]:
    """Yield the readable texts with their counts, shard by shard."""
    import pyarrow.parquet as pq

    strata = read_prompts(prompts)
    for part in texts.parts():
        found = pq.read_table(part, columns=["prompt_id", "model", "outcome"]).to_pylist()
        counted = pq.read_table(words.folder / part.name, columns=["text_id", "counts", "error"])
        for text, made in zip(found, counted.to_pylist(), strict=True):
            about = strata.get(text["prompt_id"], {})
            if text["outcome"] != "ok" or made["error"] is not None or "pair" not in about:
                continue
            counts = np.array(made["counts"] or [], dtype=np.float64).reshape(-1, n_columns)
            form = about.get("form", "")
            yield _Row(about["pair"], text["model"], form, made["text_id"], counts.sum(axis=0))


def _furthest(row: _Row, original: _Row, first: Mapping[str, list[int]]) -> float | None:
    """The largest distance of any attribute; None where none has words on both sides."""
    found = [_apart(row.counts[at], original.counts[at]) for at in first.values()]
    return max((d for d in found if d is not None), default=None)


def _apart(one: Vector, other: Vector) -> float | None:
    if one.sum() == 0 or other.sum() == 0:
        return None
    return float(np.abs(one / one.sum() - other / other.sum()).sum() / 2.0)


def _chosen(rows: Sequence[tuple[float, _Row]]) -> list[tuple[float, _Row]]:
    """Pairs of each model and form at even steps of rank, then all with the furthest first."""

    def order(found: tuple[float, _Row]) -> tuple[float, str]:
        return (-found[0], found[1].text_id)

    series: dict[tuple[str, str], list[tuple[float, _Row]]] = {}
    for found in sorted(rows, key=order):
        series.setdefault((found[1].model, found[1].form), []).append(found)
    each = max(1, min(EACH, MOST // max(len(series), 1)))
    kept: list[tuple[float, _Row]] = []
    for key in sorted(series)[:MOST]:
        ranked = series[key]
        steps = np.unique(np.linspace(0, len(ranked) - 1, min(each, len(ranked))).astype(int))
        kept += [ranked[i] for i in steps.tolist()]
    return sorted(kept, key=order)


def _moved(
    row: _Row, original: _Row, first: Mapping[str, list[int]], columns: Sequence[Column]
) -> tuple[str, ...]:
    """What moved, for each attribute: the distance, and each group's share before and after."""
    said = []
    for attribute, at in first.items():
        apart = _apart(row.counts[at], original.counts[at])
        if apart is None:
            continue
        before, after = (side[at] / side[at].sum() for side in (original.counts, row.counts))
        groups = [
            f"{_called(columns[i])} {fmt.share(float(b))} → {fmt.share(float(a))}"
            for i, b, a in zip(at, before, after, strict=True)
            if a or b
        ]
        what = quantity("word", attribute)
        said.append(f"{what}: distance {fmt.distance(apart)} ({', '.join(groups)})")
    return tuple(said)


def _called(column: Column) -> str:
    _, attribute, group = column
    return short(GENDER_NAMES.get(group, group) if attribute == "gender" else group, 40)


class _Reader:
    """Reads chosen texts and marks them."""

    def __init__(
        self, view: View, columns: Sequence[Column], first: Mapping[str, list[int]]
    ) -> None:
        own = [group for _, attribute, group in columns if attribute not in ("gender", "race")]
        self.view = view
        self.marks = {
            i: colour_class(colour_of_group({attribute: columns[i][2]}, own))
            for attribute, at in first.items()
            for i in at
        }
        self.key = tuple((self.marks[i], _called(columns[i])) for at in first.values() for i in at)

    def sides(self, text_ids: Sequence[str], *, reference: bool) -> dict[str, Side]:
        """Return the texts of these ids, from the reference or from the audited texts."""
        run = self.view.run
        stage = run.reference if reference else run.texts
        of = run.reference_annotations if reference else run.annotations
        texts = texts_by_id(stage, text_ids, "text, model")
        words = texts_by_id(of(WORDS), text_ids, "words, sentences, spans")
        sentiment = texts_by_id(of(SENTIMENT), text_ids, "polarity as score")
        toxicity = texts_by_id(of(TOXICITY), text_ids, "toxicity as score")
        return {
            name: self._side(
                texts[name],
                words.get(name, {}),
                sentiment.get(name, {}).get("score") or (),
                toxicity.get(name, {}).get("score") or (),
                reference=reference,
            )
            for name in texts
        }

    def _side(
        self,
        text: Mapping[str, Any],
        words: Mapping[str, Any],
        sentiment: Sequence[float | None],
        toxicity: Sequence[float | None],
        *,
        reference: bool,
    ) -> Side:
        body, spans = text["text"], words.get("spans") or ()
        found: list[Scored] = []
        at = 0
        for i, where in enumerate(words.get("sentences") or ()):
            if where["end"] > LONGEST and found:
                break
            polarity = sentiment[i] if i < len(sentiment) else None
            toxic = toxicity[i] if i < len(toxicity) else None
            if where["start"] > at:
                found.append(Scored(((visible(body[at : where["start"]]), ""),), "", ""))
            end = min(where["end"], LONGEST)
            pieces = self._pieces(body, spans, where["start"], end)
            found.append(Scored(pieces, _shade(polarity), _score(polarity, toxic)))
            at = end
        if at < len(body) <= LONGEST:
            found.append(Scored(self._pieces(body, spans, at, len(body)), "", ""))
            at = len(body)
        cut = ""
        if at < len(body.rstrip()):
            cut = f"Shortened: {fmt.count(at)} of {fmt.count(len(body))} characters."
        writer = "Original" if reference else short(text["model"], 60)
        return Side(writer, fmt.plural(words.get("words") or 0, "word"), tuple(found), cut)

    def _pieces(
        self, body: str, spans: Sequence[Mapping[str, int]], start: int, end: int
    ) -> tuple[Piece, ...]:
        own = [s for s in spans if s["column"] in self.marks]
        own.sort(key=lambda s: (s["start"], s["end"]))
        places = ((s["start"], s["end"], self.marks[s["column"]]) for s in own)
        return tuple(marked(body, places, start, end))


def _shade(polarity: float | None) -> str:
    if polarity is None or not abs(polarity) >= FAINT:
        return ""
    way = "good" if polarity > 0 else "bad"
    return f"{way} strong" if abs(polarity) >= STRONG else way


def _score(polarity: float | None, toxic: float | None) -> str:
    """The scores of a sentence in words; toxicity from 0.01 only."""
    said = [fmt.signed(polarity)] if polarity is not None and abs(polarity) >= FAINT else []
    if toxic is not None and toxic >= 0.01:
        said.append(f"toxicity {toxic:.2f}")
    return ", ".join(said)
