"""What the command that lists people prints and writes."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Column, Table

import portrayal.cli.printing as show
from portrayal.cli.options import Columns, Format
from portrayal.cli.printing import CONTROL, as_json, line
from portrayal.errors import OptionError

if TYPE_CHECKING:
    from portrayal.reference.locales import Locale

ENDINGS = (".jsonl", ".csv")
"""Endings of the files that --out writes."""


def people(
    texts: Annotated[
        Path,
        typer.Option(
            metavar="FILE",
            help="A plain text, CSV, JSON lines, Parquet or Excel file, or - (stdin).",
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="File to write, one row per person: .jsonl or .csv."),
    ] = None,
    unnamed: Annotated[
        bool, typer.Option("--unnamed", help="Also people without a name: a woman, his wife.")
    ] = False,
    locale: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|DIR",
            help="Folder of data of a country: its titles, places, peoples, feasts.",
        ),
    ] = None,
    column: Columns = None,
    format: Format = "table",
) -> None:
    """List the people of any text: names, gender, and which sentences are about whom.

    Example: portrayal find people --texts letters.csv --out people.csv
    """
    from portrayal.collect.plain import read_plain
    from portrayal.reference.locales import load_locale

    json = format == "json"
    if out is not None and out.suffix.casefold() not in ENDINGS:
        raise OptionError(f"--out writes {' or '.join(ENDINGS)} files; got {str(out)!r}.")
    lists = None if locale is None else load_locale(locale)
    counts = {"n_texts": 0, "n_blank": 0, "n_nobody": 0}
    rows = _rows(read_plain(texts, column or ()), counts, unnamed=unnamed, locale=lists)
    with show.working("reading people", quiet=json):
        written = 0 if out is None else write(rows, out)
        found = list(rows)
    if out is not None:
        print_written(out, written, counts, as_object=json)
    elif json:
        as_object(found, counts)
    else:
        print_table(found, counts)


def _rows(
    texts: Any, counts: dict[str, int], *, unnamed: bool, locale: "Locale | None"
) -> Iterator[dict[str, Any]]:
    """One row per person; counts texts, those that are blank, and those without people."""
    from portrayal.annotate.people import find_everyone, main_person
    from portrayal.annotate.people.any_text.rows import person_facts
    from portrayal.annotate.sentences import sentences

    for text_id, text in texts:
        counts["n_texts"] += 1
        if not text.strip():
            counts["n_blank"] += 1
            continue
        everyone = find_everyone(text, unnamed=unnamed, writer=True, locale=locale)
        counts["n_nobody"] += not everyone
        main = main_person(everyone)
        total = len(sentences(text))
        for person in everyone:
            facts = person_facts(person, main=person is main)
            yield {"text_id": text_id, "n_sentences": total} | facts


_CELLS = (
    "text_id",
    "name",
    "first",
    "last",
    "title",
    "gender",
    "main",
    "writer",
    "n_mentions",
    "n_sentences_about",
    "n_sentences",
    "sentences",
    "references",
    "confidence",
)
_HEADERS = ("text", "name", "gender", "words", "mentions", "sentences")
Row = Mapping[str, Any]


def print_table(rows: Sequence[Row], counts: Mapping[str, int]) -> None:
    """Print people as a table, and how many texts there were."""
    shown = Table(*(Column(header, overflow="fold") for header in _HEADERS), box=None)
    for row in rows:
        about = f"{len(row['sentences']):,} of {row['n_sentences']:,}"
        words = ", ".join(row["references"])
        cells = (row["text_id"], _called(row), row["gender"], words, len(row["mentions"]), about)
        shown.add_row(*(escape(str(cell).translate(CONTROL)) for cell in cells))
    if rows:
        Console(emoji=False, highlight=False).print(shown)
    line(_summary(len(rows), counts))


def _called(row: Row) -> str:
    """The name for people to read."""
    name = row["name"] or ("(who writes)" if row["writer"] else "(no name)")
    return f"{row['title']} {name}" if row["title"] else str(name)


def as_object(rows: Sequence[Row], counts: Mapping[str, int]) -> None:
    """Print counts and people as one JSON object."""
    as_json({**counts, "people": list(rows)})


def write(rows: Iterable[Row], path: Path) -> int:
    """Write one row per person as JSON lines or CSV; return how many.

    The file is there when it is complete, so that one of this name may have been read. In CSV,
    lists are joined by blanks and mentions are given by their number.
    """
    from portrayal.collect.tables import write_rows
    from portrayal.run.files import replacing

    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as part, part.open("w", encoding="utf-8", newline="") as stream:
        return (
            write_rows(stream, _CELLS, map(_cells, rows))
            if _is_csv(path)
            else _write_lines(rows, stream)
        )


def _is_csv(path: Path) -> bool:
    """Whether the name of the file says CSV."""
    return path.suffix.casefold() == ".csv"


def _write_lines(rows: Iterable[Row], stream: TextIO) -> int:
    """Write one JSON object per row; return how many."""
    number = 0
    for number, row in enumerate(rows, 1):  # noqa: B007
        stream.write(json.dumps(row, ensure_ascii=False) + "\n")
    return number


def _cells(row: Row) -> dict[str, Any]:
    """A row of the CSV file."""
    more = {
        "n_mentions": len(row["mentions"]),
        "n_sentences_about": len(row["sentences"]),
        "sentences": " ".join(map(str, row["sentences"])),
        "references": " ".join(row["references"]),
    }
    cells = {**row, **more}
    return {name: cells[name] for name in _CELLS}


def print_written(path: Path, number: int, counts: Mapping[str, int], *, as_object: bool) -> None:
    """Say what was written where."""
    if as_object:
        as_json({**counts, "n_people": number, "out": str(path)})
    else:
        line(f"{_summary(number, counts)}: {path}")


def _summary(number: int, counts: Mapping[str, int]) -> str:
    """Counts of people and texts in a few words."""
    parts = [f"{number:,} people in {counts['n_texts']:,} text(s)"]
    if counts["n_blank"]:
        parts.append(f"{counts['n_blank']:,} blank")
    if counts["n_nobody"]:
        parts.append(f"{counts['n_nobody']:,} with no one in it")
    return ", ".join(parts)
