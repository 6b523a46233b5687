"""The command that lists the people of texts: parse, call, print."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from portrayal import show_people
from portrayal.errors import OptionError

ENDINGS = (".jsonl", ".csv")
"""Endings of the files that --out writes."""


def people(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="A plain text, CSV, JSON lines, Parquet or Excel file, or - (stdin).",
        ),
    ],
    out: Annotated[
        Path | None, typer.Option(help="File to write, one row per person: .jsonl or .csv.")
    ] = None,
    unnamed: Annotated[
        bool, typer.Option("--unnamed", help="Also people without a name: a woman, his wife.")
    ] = False,
    column: Annotated[
        list[str] | None,
        typer.Option(
            "--column", metavar="FIELD=NAME", help="Column NAME holds FIELD: text or text_id."
        ),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """List the people of any text: names, gender, and which sentences are about whom."""
    from portrayal.collect.plain import read_plain

    if out is not None and out.suffix.casefold() not in ENDINGS:
        raise OptionError(f"--out writes {' or '.join(ENDINGS)} files; got {str(out)!r}.")
    counts = {"n_texts": 0, "n_blank": 0, "n_nobody": 0}
    rows = _rows(read_plain(file, column or ()), counts, unnamed=unnamed)
    if out is not None:
        written = show_people.write(rows, out)
        show_people.written(out, written, counts, as_object=json)
    elif json:
        found = list(rows)
        show_people.as_object(found, counts)
    else:
        found = list(rows)
        show_people.table(found, counts)


def _rows(texts: Any, counts: dict[str, int], *, unnamed: bool) -> Iterator[dict[str, Any]]:
    """One row per person; counts texts, those that are blank, and those without people."""
    from portrayal.annotate.everyone_rows import person_facts
    from portrayal.annotate.people import find_everyone, main_person
    from portrayal.annotate.sentences import sentences

    for text_id, text in texts:
        counts["n_texts"] += 1
        if not text.strip():
            counts["n_blank"] += 1
            continue
        everyone = find_everyone(text, unnamed=unnamed, writer=True)
        counts["n_nobody"] += not everyone
        main = main_person(everyone)
        total = len(sentences(text))
        for person in everyone:
            facts = person_facts(person, main=person is main)
            yield {"text_id": text_id, "n_sentences": total} | facts
