"""Sheets: a folder of CSV files that raters fill in, with the codebook and what was drawn.

`RATER.csv` is a label file with the texts and what is asked of each. `drawn.csv` says what was
drawn with which chance, which tells of the strata and of what a scorer says, so that raters are not
given it. `codebook.toml` is what is asked, and `instructions.md` says it to the raters.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import tomli_w

from portrayal.collect.tables import write_table
from portrayal.errors import OptionError
from portrayal.raters.codebook import Codebook
from portrayal.raters.labels import DRAWN, DRAWN_COLUMNS, NO, YES, YES_OR_NO
from portrayal.run.files import write_atomically

CODEBOOK, INSTRUCTIONS = "codebook.toml", "instructions.md"
COLUMNS = (
    *("text_id", "unit", "field", "question", "choices", "needed"),
    *("label", "note", "rater", "prompt", "text"),
)


@dataclass(frozen=True, slots=True)
class SheetItem:
    """One text to label, or a sentence of one.

    Attributes
    ----------
    text_id, unit
        Whose, and its number in the text; "" for the text itself.
    text, prompt
        What raters read: the text, and what was asked for; "" where they are not to see it.
    prompt_id, chance
        Of which prompt it is, and with which probability it was drawn.
    roles
        Person of the text ("subject", "object") → role, such as "doctor"; "" where none is known.
    """

    text_id: str
    text: str
    unit: str = ""
    prompt: str = ""
    prompt_id: str = ""
    chance: float = 1.0
    roles: Mapping[str, str] = field(default_factory=dict)


def write_sheets(
    items: Sequence[SheetItem], book: Codebook, folder: Path, raters: Sequence[str]
) -> list[Path]:
    """Write a sheet for each rater, what was drawn, and what is asked; return the paths.

    A sheet has a row for each question about each text, in the order of `items`.

    Parameters
    ----------
    items
        The texts.
    book
        What is asked.
    folder
        Where the files are written.
    raters
        Who labels; each is a file.

    Raises
    ------
    OptionError
        When sheets stand there already, as they may hold labels, or a rater's name is no name of a
        file.
    """
    if (folder / DRAWN).exists():
        raise OptionError(f"{folder} holds sheets already, with labels maybe; give another --out.")
    for rater in raters:
        if not re.fullmatch(r"\w[\w .-]{0,59}", rater) or f"{rater}.csv" == DRAWN:
            raise OptionError(
                f"a rater is named by letters, digits, blanks, points and hyphens; got {rater!r}."
            )
    rows = [row for item in items for row in _rows(item, book)]
    paths = [folder / f"{rater}.csv" for rater in raters]
    for path, rater in zip(paths, raters, strict=True):
        write_table(path, COLUMNS, ({**row, "rater": rater} for row in rows))
    parts = [f"# {book.title}", book.warning, book.instructions]
    parts.append(
        "Write one of the `choices` under `label`, words of your own where there are none, and "
        f"{YES} for yes and {NO} for no. Answer all that is `needed` of a text, or nothing of it."
    )
    for question in book.questions:
        parts += [f"## {question.name}", " ".join(question.definition.split())]
        parts += [f"For example: {example}" for example in question.examples]
    write_atomically(folder / INSTRUCTIONS, "\n\n".join(filter(None, parts)) + "\n")
    write_atomically(folder / CODEBOOK, tomli_w.dumps(asdict(book)))
    drawn = (
        {name: getattr(item, name) for name in (*DRAWN_COLUMNS, "text")}
        | {"chance": repr(float(item.chance))}
        for item in items
    )
    # Last, as it says that sheets stand here
    write_table(folder / DRAWN, (*DRAWN_COLUMNS, "text"), drawn)
    return [*paths, folder / DRAWN, folder / CODEBOOK, folder / INSTRUCTIONS]


def _rows(item: SheetItem, book: Codebook) -> Iterator[dict[str, str]]:
    """One row for each question about a text; the text itself stands in the first."""
    text = {"prompt": item.prompt, "text": item.text}
    for question in book.questions:
        if question.slot and question.slot not in item.roles:
            continue
        is_code = question.kind == "code"
        role = "" if is_code else item.roles.get(question.key.partition("_")[0])
        yield {
            "text_id": item.text_id,
            "unit": item.unit,
            "field": question.key,
            "question": question.name + (f" ({role})" if role else ""),
            "choices": YES_OR_NO if is_code else "; ".join(question.choices),
            # A code that nobody decided is no "no"
            "needed": "yes" if is_code or question.needed else "",
            **text,
        }
        text = {}
