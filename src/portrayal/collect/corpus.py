"""Texts of a study, a run or any file, asked for by no study, with what is known of each."""

import hashlib
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from portrayal.collect.fields import LABELS, TextFields, parse_columns
from portrayal.collect.logs import Row
from portrayal.collect.sources import TextSource, encoding_of, open_source
from portrayal.collect.tables import in_row, label, story
from portrayal.collect.texts import TextReader
from portrayal.errors import DataError, OptionError
from portrayal.run import Run, read_chosen, read_prompts, read_shards
from portrayal.types import Tabular

STDIN = Path("-")
"""Stands for standard input."""

_PLAIN = ("", ".txt", ".text", ".md")


class PlainText(NamedTuple):
    """A text and what it is called: its id, the number of its row, or the name of its file."""

    text_id: str
    text: str


def read_plain(path: Tabular, columns: Iterable[str] = ()) -> Iterator[PlainText]:
    """Yield the texts of a file; blank ones too.

    Parameters
    ----------
    path
        A plain text in UTF-8 (.txt, .md or no ending; "-" is standard input), which is one text; or
        a table, rows, a CSV, JSON lines, JSON, Parquet or Excel file or folder of them, which has
        one in each row.
    columns
        "FIELD=NAME" strings for columns with other names; fields: text, text_id.

    Raises
    ------
    DataError
        When the file is missing, empty, not in UTF-8, or has no column of texts.
    OptionError
        When a column is mapped that is not there to be mapped.
    """
    mapped = parse_columns(columns)
    if isinstance(path, str):
        path = Path(path)
    if isinstance(path, Path) and (
        path == STDIN or (path.suffix.casefold() in _PLAIN and not path.is_dir())
    ):
        if mapped:
            raise OptionError(f"{path}: a plain text has no columns, so --column fits nothing.")
        yield PlainText(path.name, _whole(path))
        return
    source = open_source(path)
    mapping = source.find(("text", "text_id"), columns=mapped, needed=("text",))
    for number, row in enumerate(source.rows(), 1):
        with in_row(source.name, number):
            text_id = label(row.get(mapping["text_id"])) if "text_id" in mapping else None
            text = story(row.get(mapping["text"])) or ""
        yield PlainText(text_id or str(number), text)


def _whole(path: Path) -> str:
    """The whole of a plain text."""
    if path != STDIN and not (path.is_file() or path.is_fifo()):
        raise DataError(f"{path}: there is no such file.")
    content = sys.stdin.buffer.read() if path == STDIN else path.read_bytes()
    name = "standard input" if path == STDIN else str(path)
    if not content.strip():
        raise DataError(f"{name}: there is no text in it.")
    try:
        return content.decode(encoding_of(content[:2048], name))
    except UnicodeDecodeError as error:
        raise DataError(
            f"{name}: not a text in {error.encoding} (byte {error.start}). Save it as UTF-8, "
            "or give a file whose ending says what it is, such as .csv or .xlsx."
        ) from error


COLUMNS = ("text_id", "prompt_id", "model", "outcome", "text")
SLOTS = ("subject", "object")
_SCHEMA = pa.schema([(name, pa.string()) for name in COLUMNS])
_FIELDS = TextFields(strata=("domain", "condition"), required=())
_ROWS = 5_000

Spans = Mapping[str, Sequence[tuple[int, int]]]
"""Where a text refers to its "subject" and its "object"."""


@dataclass(frozen=True)
class Corpus:
    """Texts with their prompts.

    Attributes
    ----------
    name
        How tables and messages speak of it.
    prompts
        Strata of each prompt by its prompt_id: `domain`, `condition`, …; its words as `text`.
    tables
        Starts a fresh pass over the texts: Arrow tables of `COLUMNS`.
    cluster
        What texts are clustered by: "prompt", or "text" where no prompt is known.
    people
        Function of text_ids to the spans of their people, by text_id; None where people were not
        annotated.
    """

    name: str
    prompts: Mapping[str, Mapping[str, str]]
    tables: Callable[[], Iterator[pa.Table]]
    cluster: str = "prompt"
    people: Callable[[pa.Array], Mapping[str, Spans]] | None = None


def run_corpus(run: Run, annotator: str | None = None) -> Corpus:
    """Return the texts of a run, with their people where they were annotated.

    Parameters
    ----------
    run
        The run.
    annotator
        Name of what found its people; as its settings say, unless given.

    Raises
    ------
    DataError
        When the run has no texts yet.
    """
    parts = run.texts.parts()
    if not parts:
        raise DataError(
            f"{run.path} has no texts yet. Run its `portrayal audit` or `collect` first."
        )
    prompts = read_prompts(run.prompts_path, words="text")
    people = people_parts(run) if annotator is None else run.annotations(annotator).parts()
    return Corpus(
        str(run.path),
        prompts,
        # One part after the other, so that no run has to fit in memory
        lambda: (pq.ParquetFile(part).read(columns=list(COLUMNS)) for part in parts),
        people=partial(_spans, people) if people else None,
    )


def people_parts(run: Run) -> list[Path]:
    """Return the files of the run's annotated people; none where they were not annotated."""
    names = [name for name in run.settings().get("annotators", ()) if name.startswith("people")]
    return run.annotations(names[0]).parts() if names else []


def file_corpus(path: Tabular, columns: Mapping[str, str] | None = None) -> Corpus:
    """Return the texts of a file or table.

    Parameters
    ----------
    path
        What `portrayal.collect.sources.open_source` reads.
    columns
        Field → column for `text`, `text_id`, `prompt`, `model`, `outcome`, `domain`, `condition`,
        over what is guessed from well-known names.

    Raises
    ------
    DataError
        When there is no column of texts, or an outcome is none of `OUTCOMES`.
    """
    source = open_source(path)
    mapping = source.find(_FIELDS.known, columns=columns, needed=("text",), unguessed=LABELS)
    by_prompt = "prompt" in mapping or "prompt_id" in mapping
    if "prompt_id" in mapping:  # as its words, as one prompt of two domains is two prompts
        mapping["prompt"] = mapping.pop("prompt_id")
    prompts: dict[str, dict[str, str]] = {}

    def rows() -> Iterator[dict[str, str]]:
        reader = TextReader(_FIELDS, mapping, (), source.name)
        for row in reader.read(source.rows()):
            text_id = row["source_id"] or row["text_id"]
            prompt = reader.prompts[row["prompt_id"]]
            # Without prompts every text is a unit of its own
            unit = prompt.prompt_id if by_prompt else text_id
            prompts.setdefault(unit, {**prompt.strata, "text": prompt.text})
            yield {**row, "text_id": text_id, "prompt_id": unit}

    def tables() -> Iterator[pa.Table]:
        all_rows = rows()
        while chunk := list(islice(all_rows, _ROWS)):
            yield pa.Table.from_pylist(chunk, schema=_SCHEMA)

    return Corpus(source.name, prompts, tables, "prompt" if by_prompt else "text")


def _spans(parts: list[Path], text_ids: pa.Array) -> Mapping[str, Spans]:
    """Spans of the people of some texts."""
    columns = ["text_id", *(f"{slot}_spans" for slot in SLOTS)]
    spans_of: dict[str, Spans] = {}
    for row in read_chosen(parts, columns, text_ids.to_pylist()):
        spans_of[row["text_id"]] = {
            slot: [(span["start"], span["end"]) for span in row[f"{slot}_spans"] or ()]
            for slot in SLOTS
        }
    return spans_of


_OF_TEXT = ("model", "text", "outcome")


def is_asked(path: str | Path) -> bool:
    """Whether a folder holds prompts and their answers, as `portrayal collect` writes them."""
    return Path(path).is_dir() and Run(Path(path)).prompts_path.is_file()


def asked_source(path: str | Path) -> TextSource:
    """Return the answers of a run, each with its prompt and what the prompt file says of it.

    Raises
    ------
    DataError
        When it holds no answers yet.
    RunError
        When a file of it is not as it was written.
    """
    run = Run(Path(path))
    run.check(under_way=True)
    if not run.texts.parts():
        raise DataError(f"{path}: nothing was answered yet. Ask again: portrayal collect ….")
    prompts = read_prompts(run.prompts_path, words="prompt")
    strata = dict.fromkeys(name for about in prompts.values() for name in about)
    columns = (*_OF_TEXT, *(name for name in strata if name not in _OF_TEXT))
    digest = hashlib.blake2b(digest_size=16)
    for part in (run.prompts_path, *run.texts.parts()):
        digest.update(part.read_bytes())

    def rows() -> Iterator[Row]:
        for (table,) in read_shards(run.texts, ("prompt_id", *_OF_TEXT)):
            for row in table.to_pylist():
                yield dict.fromkeys(columns, "") | prompts[row.pop("prompt_id")] | row

    return TextSource(str(path), digest.hexdigest(), columns, rows)
