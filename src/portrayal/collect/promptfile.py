"""Prompt files: one's own prompts in the format of the studies', read, checked and written.

A *prompt file* holds one entry per prompt: `id`, `text`, and the strata that the study varies. As
TOML it has one `[[prompt]]` table per entry; as CSV, JSON lines, Parquet or Excel one row with a
column for each.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from portrayal.collect.fields import TextFields
from portrayal.collect.sources import open_source
from portrayal.collect.tables import label, restored
from portrayal.errors import DataError
from portrayal.records import Prompt
from portrayal.reference.datafile import DataFile, Keys, read_datafile
from portrayal.types import Tabular


@dataclass(frozen=True)
class PromptEntry:
    """A prompt as a file writes it.

    Attributes
    ----------
    table
        Its cells by key or column.
    file, keys
        The data file and the way to the entry in it; a name and () for a table.
    row
        Its number in a table, from 1.
    """

    table: Mapping[str, Any]
    file: DataFile | str
    keys: Keys = ()
    row: int = 0

    @property
    def place(self) -> str:
        """Where it stands: "line 3", or "row 2" of a table; for messages, as lines take long."""
        if isinstance(self.file, str):
            return f"row {self.row}"
        return f"line {self.file.line(self.keys)}"

    def wrong(self, key: str, message: str) -> DataError:
        """Return the error of one of its cells, or of the entry where it lacks the key."""
        if isinstance(self.file, str):
            return DataError(f"{self.file}, {self.place}: {key}: {message}")
        return self.file.wrong((*self.keys, key), message)

    @property
    def cells(self) -> dict[str, str]:
        """What it states as text, without blank and missing cells.

        Raises
        ------
        DataError
            Where a cell holds a list or a table.
        """
        cells = {}
        for name, value in self.table.items():
            if isinstance(value, (Mapping, list, tuple, set, bytes, bool)):
                raise self.wrong(name, f"expected text or a number; got {value!r}.")
            if text := (label(value) or "").strip():
                cells[str(name).strip()] = text
        return cells


def read_prompts(path: Tabular, fields: TextFields) -> tuple[Prompt, ...]:
    """Read and check the prompts of a file.

    Parameters
    ----------
    path
        A `.toml` file as `studies/laissez_faire/prompts.toml`, or any file or table that
        `open_source` reads, with the columns `text` (or `prompt`), `id` (or `prompt_id`; else its
        row) and one for each stratum. Blank cells count as absent; columns the study does not
        know become strata too.
    fields
        What the study wants to know of each prompt.

    Returns
    -------
    tuple of Prompt
        In the order of the file, strata spelled as the study spells them.

    Raises
    ------
    DataError
        Naming file, entry and what to do: no text, a text or id that occurs twice, a stratum that
        is missing, or a value the study does not know.
    """
    if isinstance(path, str):
        path = Path(path)
    name = str(path) if isinstance(path, Path) else "the prompts"
    entries: Iterable[PromptEntry] = ()
    if isinstance(path, Path) and path.suffix.casefold() == ".toml":
        file = read_datafile(path)
        entries = (
            PromptEntry(table, file, ("prompt", i))
            for i, table in enumerate(file.record(_PromptFile).prompt)
        )
    else:
        entries = rows_of(path, name)
    prompts = distinct((prompt_of(entry, fields), entry) for entry in entries)
    if not prompts:
        raise DataError(f"{name}: no prompts were found; expected one [[prompt]] table for each.")
    return prompts


MOST_PROMPTS = 100_000
"""Prompts of one study, after templates were filled."""


def distinct(prompts: Iterable[tuple[Prompt, PromptEntry]]) -> tuple[Prompt, ...]:
    """Return prompts, of which no two may share an id or a text.

    Raises
    ------
    DataError
        With the place of both.
    """
    unique: list[Prompt] = []
    places: dict[tuple[str, str], PromptEntry] = {}
    for prompt, entry in prompts:
        # With its system prompt: the same request under another one is another prompt
        words = " ".join(" ".join(prompt.asked).split())
        for kind, value in (("id", prompt.prompt_id), ("text", words)):
            if (kind, value) in places:
                raise entry.wrong(
                    kind,
                    f"the prompt {prompt.prompt_id!r} has the same {kind} as that of "
                    f"{places[kind, value].place}. Each "
                    f"prompt needs its own {kind}: it is the unit of intervals. Ask one "
                    "prompt several times with --samples.",
                )
            places[kind, value] = entry
        unique.append(prompt)
        if len(unique) > MOST_PROMPTS:
            raise entry.wrong(
                "text",
                f"this makes more than {MOST_PROMPTS:,} prompts, which are the most: each list of "
                "values multiplies them. Shorten a list, or ask in several studies.",
            )
    return tuple(unique)


_SLOT = re.compile(r"(\b[Aa] )?\{\s*(\w[\w .-]*?)\s*\}")
# As read aloud: an 8, an 80, an 11 and an 18, but a 110.
_AN = re.compile(r"[aeiou]|8|1[18](?!\d)", re.I)


def slots_of(template: str) -> tuple[str, ...]:
    """Return the slots of a template, each once; other words in braces are text.

    >>> slots_of('A {job} helps {a friend}. Answer as {"score": 1}.')
    ('job', 'a friend')
    """
    return tuple(dict.fromkeys(slot for _, slot in _SLOT.findall(template)))


def fill(template: str, values: Mapping[str, str]) -> str:
    """Return a template with its slots filled; a slot without a value stays.

    Where the slot opens with a capital, so does the value. As read aloud, "a" stands before
    consonants only; templates say "a {job}" for both.

    >>> fill("{Pronoun} is a {job}.", {"pronoun": "she", "job": "engineer"})
    'She is an engineer.'
    """

    def filled(slot: re.Match[str]) -> str:
        article, name = slot[1] or "", slot[2]
        value = values.get(name, values.get(name[0].lower() + name[1:]))
        if value is None:
            return slot[0]
        if name not in values:
            value = value[:1].upper() + value[1:]
        return (f"{article[0]}n " if article and _AN.match(value) else article) + value

    return _SLOT.sub(filled, template)


@dataclass(frozen=True)
class _PromptFile:
    prompt: tuple[Mapping[str, Any], ...] = ()


def rows_of(table: Tabular, name: str) -> Iterator[PromptEntry]:
    """Yield the rows of a table that `open_source` reads; messages call it `name`."""
    for number, row in enumerate(open_source(table).rows(), 1):
        # A table that we wrote has apostrophes before what a spreadsheet would run
        cells = {k: restored(v) if isinstance(v, str) else v for k, v in row.items()}
        yield PromptEntry(cells, name, row=number)


def prompt_of(entry: PromptEntry, fields: TextFields) -> Prompt:
    """Return the prompt of an entry, its strata spelled as the study spells them.

    Raises
    ------
    DataError
        When it has no id or text, or lacks a stratum; or of a value that the study does not know.
    """
    cells = entry.cells
    fixed = {}
    for key, names in (("id", ("id", "prompt_id")), ("text", ("text", "prompt"))):
        # Taken out, as all that is left are strata
        fixed[key] = next((cells.pop(name) for name in names if name in cells), "")
        if key == "id" and entry.row and not fixed[key]:
            fixed[key] = f"row {entry.row}"  # of a table, whose rows have an order of their own
        if not fixed[key]:
            raise entry.wrong(key, f"expected text; the prompt has no {key}.")
    strata: dict[str, str] = {}
    for name, value in cells.items():
        allowed = fields.values.get(name, {})
        if allowed and value.casefold() not in allowed:
            expected = ", ".join(sorted(set(allowed.values())))
            raise entry.wrong(name, f"expected one of {expected}; got {value!r}.")
        strata[name] = allowed[value.casefold()] if allowed else value
    if lacking := fields.missing(strata, labelled=False):
        raise entry.wrong(
            lacking[0],
            f"the prompt {fixed['id']!r} lacks {' and '.join(lacking)}, which the study needs; "
            f"its strata: {', '.join(strata) or 'none'}.",
        )
    return Prompt(fixed["id"], fixed["text"], strata)
