"""Passages to read beside the numbers, with people marked; texts with their words marked."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import numpy as np

import portrayal.report.formats as fmt
from portrayal.coding import Counts, Documents, MarkedWord, WordComparison, places_of
from portrayal.measure import Scope
from portrayal.report.formats import short
from portrayal.report.view import View
from portrayal.run.pages import templates
from portrayal.run.stages import Stage
from portrayal.shown import visible

MOST = 1200
"""Characters shown of one text."""
DRAWN = 4
"""Texts drawn at random."""

Piece = tuple[str, str]
"""A piece of text and its mark: "" for none."""
Span = tuple[int, int, str]
"""Where a mark starts and ends, and the mark."""


@dataclass(frozen=True)
class Passage:
    """One text as pieces, with its prompt and model; `cut` says how it was shortened."""

    model: str
    prompt: str
    pieces: tuple[Piece, ...]
    cut: str = ""


@dataclass(frozen=True)
class Reading:
    """The passages behind one finding, and how they were chosen."""

    title: str
    how: str
    passages: tuple[Passage, ...]


def random_texts(view: View) -> list[Reading]:
    """Return a few texts drawn at random by the seed; none where the run holds no text."""
    texts = [str(path) for path in view.run.texts.parts()]
    if not texts:
        return []
    prompts = str(view.run.prompts_path)
    parameters = {"texts": texts, "prompts": prompts, "seed": str(view.seed), "most": DRAWN}
    reading_line = "Whatever the numbers say, read some texts that no finding chose."
    passages = tuple(passage(row) for row in rows_of(_QUERY, parameters))
    return [Reading("Texts drawn at random", reading_line, passages)]


def rows_of(query: str, parameters: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the rows of a DuckDB query with the parameters that it names."""
    import duckdb

    with duckdb.connect() as connection:
        cursor = connection.execute(query, parameters)
        names = [column[0] for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def texts_by_id(stage: Stage, text_ids: Iterable[str], columns: str) -> dict[str, dict[str, Any]]:
    """Return columns of a stage's rows by text id; empty where the stage has no files."""
    parts = [str(path) for path in stage.parts()]
    if not parts:
        return {}
    query = (
        f"select text_id, {columns} from read_parquet($parts) "  # noqa: S608 - our own columns
        "where list_contains($ids, text_id)"
    )
    rows = rows_of(query, {"parts": parts, "ids": sorted(set(text_ids))})
    return {row["text_id"]: row for row in rows}


_QUERY = files(__package__).joinpath("passages.sql").read_text(encoding="utf-8")


def passage(row: dict[str, Any]) -> Passage:
    """Return a text as pieces.

    `row` has model, prompt, text and size, and perhaps the name and spans of the subject and the
    object.
    """
    text, size = row["text"], int(row["size"])
    spans = _spans(row, text)
    start = 0
    # A long text begins shortly before the first name in it.
    if len(text) > MOST and spans:
        start = max(0, spans[0][0] - 200)
    end = min(len(text), start + MOST)
    pieces = [("… ", "")] if start else []
    pieces += marked(text, spans, start, end)
    pieces += [(" …", "")] if end < len(text) else []
    cut = ""
    if end - start < size:
        cut = f"Shortened: {fmt.count(end - start)} of {size:,} characters."
    return Passage(short(row["model"], 60), short(row["prompt"], 400), tuple(pieces), cut)


def _spans(row: dict[str, Any], text: str) -> list[Span]:
    """Marks in order, none overlapping; names are looked up where no span was kept."""
    marks: list[Span] = []
    for slot in ("subject", "object"):
        # Labelled people have a name and no places in the text.
        spans = row.get(f"{slot}_spans")
        name = row.get(f"{slot}_name")
        if spans:
            marks += [(s["start"], s["end"], slot) for s in spans]
        elif name:
            pattern = rf"(?<!\w){re.escape(name)}(?!\w)"
            marks += [(m.start(), m.end(), slot) for m in re.finditer(pattern, text)]
    apart_marks: list[Span] = []
    for start, end, slot in sorted(marks):
        # Spans were kept for the whole text, and the row may hold its beginning alone.
        if 0 <= start < end <= len(text) and (not apart_marks or start >= apart_marks[-1][1]):
            apart_marks.append((start, end, slot))
    return apart_marks


def marked(text: str, spans: Iterable[Span], start: int, end: int) -> list[Piece]:
    """Return `text[start:end]` as pieces; a span that overlaps one before it has no mark."""
    pieces: list[Piece] = []
    done_to = start
    for low, high, mark in spans:
        # A mark that is cut in half would show half a name.
        if low < done_to or high > end:
            continue
        pieces += [(visible(text[done_to:low]), ""), (visible(text[low:high]), mark)]
        done_to = high
    pieces.append((visible(text[done_to:end]), ""))
    return [piece for piece in pieces if piece[0]]


AROUND = 90
"""Characters of a passage on either side of the word."""
EACH = 3
"""Passages for each word."""


@dataclass(frozen=True)
class Marked:
    """A passage: what stands before the word, the word, and what follows."""

    before: str
    word: str
    after: str


def words_page(
    compared: Sequence[WordComparison],
    documents: Documents,
    counts: Counts,
    scope: Scope,
    *,
    top: int = 20,
    passages: bool = True,
) -> str:
    """Return the comparisons as one HTML page that loads and runs nothing.

    Parameters
    ----------
    compared, documents, counts
        What `portrayal.coding.marked_words` gave, and what it was given.
    scope
        Level and seed; the passages are drawn by the seed.
    top
        Words of each comparison.
    passages
        Whether passages of the texts are in the page.
    """
    # By column: which texts have a word, without looking at all of them.
    columns = counts.matrix.tocsc()
    place = {word: i for i, word in enumerate(counts.words)}
    sections = []
    for c in compared:
        rows = []
        for word in c.words[:top]:
            # Words that the others have more stand in their comparison.
            if word.z <= 0:
                continue
            has = columns.indices[slice(*columns.indptr[place[word.word] :][:2])]
            word_passages = _passages(c, documents, word, has, scope) if passages else []
            rows.append({**_cells(word), "passages": word_passages})
        sections.append(
            {
                "title": short(c.title, 120),
                "against": short(c.against, 80),
                "n_texts": c.n_texts,
                "n_others": c.n_others,
                "undefined": c.undefined,
                "rows": rows,
            }
        )
    return (
        templates("portrayal.report")
        .get_template("words.html.j2")
        .render(
            name=short(documents.name, 120),
            n_texts=len(documents.texts),
            unit=documents.unit,
            unread=sum(documents.exclusions.values()),
            clustered_by=short(documents.clustered_by, 60),
            masked=sum(counts.masked.values()),
            level=scope.level,
            permutations=scope.permutations,
            seed=scope.seed,
            sections=sections,
        )
    )


def _cells(word: MarkedWord) -> dict[str, Any]:
    return {
        "word": visible(word.word),
        "count": word.count,
        "count_others": word.count_others,
        "texts": word.texts,
        "log_odds": f"{word.log_odds:.2f}",
        "interval": "–" if np.isnan(word.low) else f"{word.low:.2f} to {word.high:.2f}",
        "z": f"{word.z:.1f}",
        "z_clustered": "–" if np.isnan(word.z_clustered) else f"{word.z_clustered:.1f}",
        "q": "–" if np.isnan(word.q) else f"{word.q:.2g}",
        "p_shuffled": f"{word.p_shuffled:.2g}",
    }


def _passages(
    c: WordComparison, documents: Documents, word: MarkedWord, has: Any, scope: Scope
) -> list[Marked]:
    # Passages of the compared texts only, not of those they are compared with.
    inside = has if c.members is None else has[c.members[has]]
    # A stream of its own for each word: more words do not change the passages of others.
    rows = scope.rng("passages", c.title, word.word).permutation(np.sort(inside))[:EACH]
    marked_passages = []
    for i in sorted(rows.tolist()):
        text = documents.texts[i]
        # What was counted may not stand in the text just so; then nothing is shown of it.
        place = next(places_of(text, word.word), None)
        if place is None:
            continue
        start, end = place
        before = ("… " if start > AROUND else "") + text[max(0, start - AROUND) : start]
        after = text[end : end + AROUND] + (" …" if len(text) > end + AROUND else "")
        marked_passages.append(Marked(visible(before), visible(text[start:end]), visible(after)))
    return marked_passages
