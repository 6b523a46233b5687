"""Passages to read beside the numbers, with people, words and sentences marked."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar

import numpy as np

import portrayal.report.formats as fmt
from portrayal.report.formats import short
from portrayal.report.view import View
from portrayal.run.files import Stage
from portrayal.shown import visible

MOST = 1200
"""Characters shown of one text."""
LONGEST = 3000
"""Characters shown of a text whose sentences or differences are marked."""
DRAWN = 4
"""Texts drawn at random."""

T = TypeVar("T")
Span = tuple[int, int, str]
"""Where a mark starts and ends, and the mark."""


class TextPiece(NamedTuple):
    """A piece of text: the class of its mark, of its sentence, and what that is pointed at for."""

    text: str
    mark: str = ""
    shade: str = ""
    title: str = ""


class Sentence(NamedTuple):
    """A sentence of a text: where it starts and ends, its class, and its scores in words."""

    start: int
    end: int
    shade: str = ""
    title: str = ""


@dataclass(frozen=True)
class Passage:
    """One text as pieces, who wrote it and to which prompt; `cut` says how it was shortened."""

    heading: str
    pieces: tuple[TextPiece, ...]
    cut: str = ""
    prompt: str = ""


@dataclass(frozen=True)
class Reading:
    """Passages that belong together, and why they stand here."""

    title: str
    note: str
    passages: tuple[Passage, ...]


@dataclass(frozen=True)
class Readings:
    """Texts to read: how they were chosen, and what their marks are.

    Attributes
    ----------
    selection
        How they were chosen.
    readings
        The texts, in the order in which they are shown.
    key
        Class and words of each mark.
    """

    selection: str
    readings: tuple[Reading, ...]
    key: tuple[tuple[str, str], ...] = ()


def random_texts(view: View) -> Readings | None:
    """Return a few texts drawn at random by the seed; None where the run holds no text."""
    texts = [str(path) for path in view.run.texts.parts()]
    if not texts:
        return None
    prompts = str(view.run.prompts_path)
    parameters = {"texts": texts, "prompts": prompts, "seed": str(view.seed), "most": DRAWN}
    passages = tuple(passage(row) for row in rows_of(_QUERY, parameters))
    reading = Reading("Texts drawn at random", "", passages)
    return Readings("Whatever the numbers say, read some texts that no finding chose.", (reading,))


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


def passage(row: Mapping[str, Any]) -> Passage:
    """Return a text as pieces.

    `row` has model, prompt, text and size, and perhaps the name and spans of the subject and the
    object.
    """
    text, size = row["text"], int(row["size"])
    spans: list[Span] = []
    for slot in ("subject", "object"):
        # Labelled people have a name and no places in the text.
        places, name = row.get(f"{slot}_spans"), row.get(f"{slot}_name")
        if places:
            spans += [(s["start"], s["end"], slot) for s in places]
        elif name:
            pattern = rf"(?<!\w){re.escape(name)}(?!\w)"
            spans += [(m.start(), m.end(), slot) for m in re.finditer(pattern, text)]
    # A long text begins shortly before the first name in it.
    start = max(0, min(spans)[0] - 200) if len(text) > MOST and spans else 0
    pieces, end = pieces_of(text, spans, start=start, longest=MOST)
    pieces = [*([TextPiece("… ")] if start else []), *pieces]
    pieces += [TextPiece(" …")] if end < len(text) else []
    cut = (
        f"Shortened: {fmt.count(end - start)} of {size:,} characters." if end - start < size else ""
    )
    return Passage(short(row["model"], 60), tuple(pieces), cut, short(row["prompt"], 400))


def pieces_of(
    text: str,
    spans: Iterable[Span],
    sentences: Sequence[Sentence] = (),
    start: int = 0,
    longest: int = LONGEST,
) -> tuple[list[TextPiece], int]:
    """Return a text as pieces, and where they end: after the last sentence that has room.

    Spans that overlap one before them, or lie outside, have no mark.
    """
    end = min(len(text), start + longest)
    if sentences and end < len(text):
        # One sentence at least, however long.
        ends = [sentence.end for sentence in sentences if sentence.end <= end]
        end = ends[-1] if ends else min(sentences[0].end, len(text))
    pieces: list[TextPiece] = []
    marks: list[Span] = []
    for span in sorted(spans):
        if max(start, marks[-1][1] if marks else 0) <= span[0] < span[1] <= end:
            marks.append(span)
    # Between two cuts a piece has one mark and one sentence.
    cuts = {start, end, *(x for low, high, _ in marks for x in (low, high))}
    cuts |= {x for s in sentences for x in (s.start, s.end) if start < x < end}
    ordered = sorted(cuts)
    for low, high in pairwise(ordered):
        mark = next((name for a, b, name in marks if a <= low < b), "")
        inside = next((s for s in sentences if s.start <= low < s.end), Sentence(0, 0))
        pieces.append(TextPiece(visible(text[low:high]), mark, inside.shade, inside.title))
    return pieces, end


def shown_text(
    heading: str, text: str, spans: Iterable[Span] = (), sentences: Sequence[Sentence] = ()
) -> Passage:
    """Return the beginning of a text as a passage, its words and sentences marked."""
    pieces, end = pieces_of(text, spans, sentences)
    cut = ""
    if end < len(text.rstrip()):
        cut = f"Shortened: {fmt.count(end)} of {fmt.count(len(text))} characters."
    return Passage(heading, tuple(pieces), cut)


def at_even_steps(ranked: Sequence[T], most: int) -> list[T]:
    """Return so many of a ranked list, from the first to the last at even steps of rank.

    What is shown is so no choice of the worst.

    >>> at_even_steps("abcde", 3)
    ['a', 'c', 'e']
    """
    steps = np.unique(np.linspace(0, len(ranked) - 1, min(most, len(ranked))).astype(int))
    return [ranked[i] for i in steps.tolist()]
