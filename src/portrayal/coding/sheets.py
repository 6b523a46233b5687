"""Sheets: a codebook and the texts to label as label files that raters fill in."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from portrayal.coding.project import CodingItem
from portrayal.collect.tables import write_table
from portrayal.errors import OptionError
from portrayal.raters import Codebook
from portrayal.raters.labels import DRAWN, DRAWN_COLUMNS, NO, YES
from portrayal.run.files import write_atomically

COLUMNS = (
    *("text_id", "unit", "field", "question", "choices"),
    *("label", "note", "rater", "text"),
)


def write_sheets(
    items: Sequence[CodingItem], book: Codebook, out: Path, raters: Sequence[str]
) -> list[Path]:
    """Write a sheet for each rater, what was drawn with which chance, and the instructions.

    Sheets are named as `out` with the rater at the end, and have a row for each question about each
    text. The chances tell of the strata, so they stand in a file of their own, which reading adds.

    Parameters
    ----------
    items
        The texts, in the order of the sheet.
    book
        What is asked.
    out
        CSV file after which the files are named.
    raters
        Who labels.

    Raises
    ------
    OptionError
        When a file is there already, as it may hold a rater's labels.
    """
    *paths, draw_path = (out.with_name(f"{out.stem}-{name}.csv") for name in (*raters, DRAWN))
    for path in (*paths, draw_path):
        if path.exists():
            raise OptionError(f"{path} is there already and may hold labels; give another --out.")
    rows = [row for item in items for row in _rows(item, book)]
    for path, rater in zip(paths, raters, strict=True):
        write_table(path, COLUMNS, ({**row, "rater": rater} for row in rows))
    chances = ({**_name(item), "chance": repr(1.0 / item.weight)} for item in items)
    write_table(draw_path, DRAWN_COLUMNS, chances)
    write_atomically(out.with_suffix(".md"), _instructions(book))
    return [*paths, draw_path, out.with_suffix(".md")]


def _name(item: CodingItem) -> dict[str, str]:
    names = {name: item.strata.get(name, "") for name in ("text_id", "unit", "prompt_id")}
    return names | {"text_id": names["text_id"] or item.item_id}


def _rows(item: CodingItem, book: Codebook) -> Iterator[dict[str, str]]:
    """One row for each question about a text; the text itself stands in the first."""
    roles = {person.slot: person.role for person in item.people}
    questions = [(code.key, code.name, f"{YES}; {NO}") for code in book.codes]
    for field in book.fields:
        if not field.slot or field.slot in roles:
            role = roles.get(field.key.partition("_")[0])
            about = f" ({role})" if role else ""
            questions.append((field.key, field.label + about, "; ".join(field.choices)))
    text = "\n\n".join(filter(None, (item.title, item.text)))
    for key, question, choices in questions:
        cells = {"field": key, "question": question, "choices": choices, "label": "", "note": ""}
        yield {**_name(item), **cells, "text": text}
        text = ""


def _instructions(book: Codebook) -> str:
    """How a sheet is filled in, as Markdown."""
    parts = [f"# {book.title}", book.warning or "", book.instructions]
    parts.append(
        "Write one of the `choices` under `label`, words of your own where there are none, and "
        f"{YES} for yes and {NO} for no. A row that you leave empty is not labelled."
    )
    questions = [(code.name, code.definition) for code in book.codes]
    questions += [(field.label, field.help) for field in book.fields]
    for question, words in questions:
        parts.append("\n\n".join(filter(None, (f"## {question}", " ".join(words.split())))))
    return "\n\n".join(filter(None, parts)) + "\n"
