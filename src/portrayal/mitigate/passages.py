"""Passages: the texts to mitigate, from a file or a run, and the agency of their sentences."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from portrayal.annotate.agency import mask
from portrayal.annotate.agency.rows import agency_sentences
from portrayal.collect.fields import find_columns
from portrayal.collect.sources import open_source
from portrayal.collect.tables import missing
from portrayal.run import Run, read_rows
from portrayal.types import FloatArray, Tabular

Classify = Callable[[Sequence[str]], FloatArray]

_COLUMNS = ("text_id", "prompt_id", "sample", "model", "text", "outcome")


@dataclass(frozen=True, slots=True)
class AgencyText:
    """One text.

    Attributes
    ----------
    row, column
        The row it came from, whose other columns are kept, and the column of the text.
    text
        As it stands.
    names
        Names of the people it is about.
    unread
        Why it is left as it is ("refused", "empty"); "" where it is read.
    """

    row: Mapping[str, Any]
    column: str
    text: str
    names: tuple[str, ...]
    unread: str


@dataclass(frozen=True, slots=True)
class AgencyReading:
    """The sentences of a text as offsets, and the probability of each that it is agentic."""

    spans: tuple[tuple[int, int], ...]
    agentic: tuple[float, ...]

    def communal(self) -> list[int]:
        """Numbers of the communal sentences."""
        return [i for i, p in enumerate(self.agentic) if p < 0.5]


_FIELDS = ("text", "prompt", "outcome", "name")


def read_passages(source: Tabular, columns: Iterable[str] = ()) -> list[AgencyText]:
    """Read the texts of a file, or of a run.

    Parameters
    ----------
    source
        A file or table of texts, or a run directory.
    columns
        "FIELD=NAME" strings; fields are text, prompt, outcome and name.

    Raises
    ------
    DataError
        When a column is missing or there is no text.
    """
    path = Path(source) if isinstance(source, (str, Path)) else None
    if path is not None and (path / "texts").is_dir():  # a run, by the folder that every run has
        run = Run(path)
        run.check()
        # Of a run with their prompts, as they may be asked again
        name, rows = str(path), [*map(dict, read_rows(run, _COLUMNS, words="prompt"))]
    else:
        table = open_source(source)
        name, rows = table.name, [*map(dict, table.rows())]
    columns_there = dict.fromkeys(column for row in rows for column in row)
    field = find_columns(_FIELDS, columns_there, columns=columns, needed=("text",), file=name)
    texts = []
    for row in rows:
        cells = {of: row.get(column) for of, column in field.items()}
        read = {of: "" if missing(value) else str(value) for of, value in cells.items()}
        outcome = read.get("outcome", "").strip() or "ok"
        unread = "" if outcome == "ok" else outcome
        if not read["text"].strip():
            unread = unread or "empty"
        prompt, person = read.get("prompt", ""), read.get("name", "")
        full_row = {**row, "prompt": prompt} if prompt else row
        texts.append(
            AgencyText(full_row, field["text"], read["text"], (person,) if person else (), unread)
        )
    return texts


def read_agency(
    texts: Sequence[str], names: Sequence[Sequence[str]], classify: Classify, *, masked: bool = True
) -> list[AgencyReading]:
    """Return the agency of the sentences of each text.

    Parameters
    ----------
    texts
        n texts.
    names
        Names of the people of each, which are masked.
    classify
        Returns P(communal), P(agentic) of sentences, shape (n_sentences, 2).
    masked
        Whether sentences are masked first.
    """
    spans = [tuple(agency_sentences(text)) for text in texts]
    sentences = [
        mask(text[low:high], text_names) if masked else text[low:high]
        for text, text_spans, text_names in zip(texts, spans, names, strict=True)
        for low, high in text_spans
    ]
    # The sentences of all texts in one call, and dealt out again in their order
    agentic = iter(classify(sentences)[:, 1].tolist() if sentences else [])
    return [
        AgencyReading(text_spans, tuple(next(agentic) for _ in text_spans)) for text_spans in spans
    ]
