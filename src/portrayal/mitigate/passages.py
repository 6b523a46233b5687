"""Passages: the texts to mitigate, with the groups they are about, from a file or a run."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from portrayal.annotate.agency import mask
from portrayal.annotate.agency.rows import agency_sentences
from portrayal.collect.fields import find_columns
from portrayal.collect.sources import open_source
from portrayal.collect.tables import missing
from portrayal.errors import DataError, OptionError
from portrayal.run import Run, read_rows
from portrayal.types import FloatArray, Tabular

Classify = Callable[[Sequence[str]], FloatArray]

_COLUMNS = ("text_id", "prompt_id", "sample", "model", "text", "outcome")


@dataclass(frozen=True, slots=True)
class GroupedText:
    """One text.

    Attributes
    ----------
    row, column
        The row it came from, whose other columns are kept, and the column of the text.
    text
        As it stands.
    cluster
        Its prompt, or itself where it has none; the unit that is resampled.
    group
        Value of each group column.
    block
        Within which groups are exchangeable: the stratum, "" for all.
    names
        Names of the people it is about.
    unread
        Why it is left as it is ("refused", "empty", no group); "" where it is read.
    run
        Repetition of all prompts that it belongs to (its `sample`); "" where texts have none.
    """

    row: Mapping[str, Any]
    column: str
    text: str
    cluster: str
    group: tuple[str, ...]
    block: str
    names: tuple[str, ...]
    unread: str
    run: str = ""


@dataclass(frozen=True, slots=True)
class AgencyReading:
    """The sentences of a text as offsets, and the probability of each that it is agentic."""

    spans: tuple[tuple[int, int], ...]
    agentic: tuple[float, ...]

    @property
    def share(self) -> float:
        """Share of agentic sentences among those that could be told; NaN where none could."""
        told = [p >= 0.5 for p in self.agentic if not math.isnan(p)]
        return sum(told) / len(told) if told else float("nan")

    def communal(self) -> list[int]:
        """Numbers of the communal sentences."""
        return [i for i, p in enumerate(self.agentic) if p < 0.5]

    def acting(self) -> list[int]:
        """Numbers of the agentic sentences."""
        return [i for i, p in enumerate(self.agentic) if p >= 0.5]


_FIELDS = ("text", "prompt", "prompt_id", "sample", "outcome", "name")


def read_passages(
    source: Tabular,
    group: Sequence[str],
    *,
    stratum: str | None = None,
    columns: Iterable[str] = (),
) -> list[GroupedText]:
    """Read the texts of a file, or of a run.

    Parameters
    ----------
    source
        A file or table of texts, or a run directory.
    group
        Columns (in a run: strata of the prompts) that hold the groups.
    stratum
        Column within whose values groups are exchangeable.
    columns
        "FIELD=NAME" strings; fields are text, prompt, prompt_id, sample, outcome and name.

    Raises
    ------
    DataError, OptionError
        When a column is missing or there is no text.
    """
    path = Path(source) if isinstance(source, (str, Path)) else None
    if path is not None and (path / "texts").is_dir():
        run = Run(path)
        run.check()
        name, rows = str(path), [*map(dict, read_rows(run, _COLUMNS, words="prompt"))]
    else:
        table = open_source(source)
        name, rows = table.name, [*map(dict, table.rows())]
    known = dict.fromkeys(name for row in rows for name in row)
    field = find_columns(_FIELDS, known, columns=columns, needed=("text",), file=name)
    for column in (*group, *((stratum,) if stratum else ())):
        if column not in known:
            raise DataError(
                f"{name}: there is no column {column!r}; found {', '.join(known)}. Name the "
                "columns with --by and --stratum."
            )
    if not group:
        raise OptionError("say which columns hold the groups: --by gender --by race.")
    passages = []
    for number, row in enumerate(rows):

        def cell(name: str | None, row: Mapping[str, Any] = row) -> str:
            value = row.get(name or "")
            return "" if missing(value) else str(value)

        read = {name: cell(field.get(name)) for name in _FIELDS}
        groups = tuple(cell(name).strip() for name in group)
        outcome = read["outcome"].strip() or "ok"
        unread = "" if outcome == "ok" else outcome
        if not read["text"].strip():
            unread = unread or "empty"
        elif not all(groups):
            unread = unread or "no value in a group column"
        prompt = read["prompt_id"] or read["prompt"]
        passages.append(
            GroupedText(
                row={**row, "prompt": read["prompt"]} if read["prompt"] else row,
                column=field["text"],
                text=read["text"],
                cluster=prompt or f"text {number}",
                group=groups,
                block=cell(stratum),
                names=(read["name"],) if read["name"] else (),
                unread=unread,
                run=read["sample"] if prompt else "",
            )
        )
    return passages


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
        mask(text[low:high], known) if masked else text[low:high]
        for text, own, known in zip(texts, spans, names, strict=True)
        for low, high in own
    ]
    agentic = iter(classify(sentences)[:, 1].tolist() if sentences else [])
    return [AgencyReading(own, tuple(next(agentic) for _ in own)) for own in spans]
