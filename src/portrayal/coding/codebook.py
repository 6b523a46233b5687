"""Codebook: what raters look for in a text, as a small TOML file."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from portrayal.errors import DataError, UnknownNameError
from portrayal.validate import check_choice

KINDS = ("choice", "text")
_KEY = re.compile(r"[a-z0-9][a-z0-9_-]{0,59}")


@dataclass(frozen=True, slots=True)
class Code:
    """One code: a pattern that a text shows or does not; codes may overlap.

    Attributes
    ----------
    key, name
        Short name in files, and name on the page.
    definition, source
        What counts, and where the definition comes from.
    examples
        Short examples, written for the codebook.
    shortcut
        The key that sets it on the raters' page; None gives it the next free digit.
    """

    key: str
    name: str
    definition: str
    source: str
    examples: tuple[str, ...] = ()
    shortcut: str | None = None


@dataclass(frozen=True, slots=True)
class Field:
    """One question with an answer: a word of the rater's own, or one of `choices`."""

    key: str
    label: str
    kind: str
    choices: tuple[str, ...] = ()
    help: str = ""


@dataclass(frozen=True, slots=True)
class Codebook:
    """The questions that raters answer about each text.

    Attributes
    ----------
    name, title
        Name in files, and title of the page.
    instructions
        What raters read before they start; paragraphs are parted by an empty line.
    codes, fields
        Questions with yes or no, and questions with an answer.
    warning
        What raters read about the texts before they see one; None where nothing is needed.
    show_people
        Whether the page marks the people that an annotator found; not where raters find them.
    """

    name: str
    title: str
    instructions: str
    codes: tuple[Code, ...] = ()
    warning: str | None = None
    fields: tuple[Field, ...] = ()
    show_people: bool = True

    @property
    def shortcuts(self) -> dict[str, str]:
        """Keys of the keyboard by code; a code without one has the next free digit, then letter."""
        taken = {code.shortcut for code in self.codes if code.shortcut}
        free = (key for key in "123456789abcdefghijklmnopqrstuvwxyz" if key not in taken)
        return {code.key: code.shortcut or next(free, "") for code in self.codes}


def codebook_names() -> tuple[str, ...]:
    """Return the names of the codebooks that come with Portrayal, sorted."""
    folder = files("portrayal.coding").joinpath("codebooks")
    found = (Path(path.name) for path in folder.iterdir())
    return tuple(sorted(path.stem for path in found if path.suffix == ".toml"))


def codebook(spec: str | Path) -> Codebook:
    """Return a codebook by its name, or from a TOML file.

    Parameters
    ----------
    spec
        One of `codebook_names()`, or the path of a TOML file.

    Raises
    ------
    UnknownNameError
        When there is neither such a codebook nor such a file.
    DataError
        When the file is not a codebook; the message says where.

    Examples
    --------
    >>> [code.key for code in codebook("stereotypes").codes][:2]
    ['white_savior', 'perpetual_foreigner']
    """
    name = str(spec)
    if name in codebook_names():
        folder = files("portrayal.coding").joinpath("codebooks")
        return parse_codebook(folder.joinpath(f"{name}.toml").read_text("utf-8"), name)
    path = Path(spec)
    if not path.is_file():
        raise UnknownNameError(
            f"no codebook is called {name!r}, and no file. Known: {', '.join(codebook_names())}; "
            "or give the path of a TOML file."
        )
    try:
        return parse_codebook(path.read_text("utf-8"), path.stem, str(path))
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is not UTF-8 text: {error.reason}.") from error


def parse_codebook(text: str, name: str, origin: str = "codebook") -> Codebook:
    """Return the codebook that TOML text holds; `origin` names it in errors."""
    try:
        table = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise DataError(f"{origin} is not TOML: {error}.") from error
    made = Codebook(
        name=_text(table, "name", origin, name),
        title=_text(table, "title", origin),
        instructions=_text(table, "instructions", origin, "").strip(),
        codes=tuple(_code(row, f"{origin}, code {i}") for i, row in _rows(table, "codes", origin)),
        warning=_text(table, "warning", origin, "").strip() or None,
        fields=tuple(
            _field(row, f"{origin}, field {i}") for i, row in _rows(table, "fields", origin)
        ),
        show_people=bool(table.get("show_people", True)),
    )
    _check(made, origin)
    return made


def codebook_table(book: Codebook) -> dict[str, Any]:
    """Return a codebook as the table that `parse_codebook` reads."""
    table: dict[str, Any] = {
        "name": book.name,
        "title": book.title,
        "instructions": book.instructions,
        "show_people": book.show_people,
    }
    if book.warning:
        table["warning"] = book.warning
    table["codes"] = [_plain(code, ("key", "name", "definition", "source")) for code in book.codes]
    for row, code in zip(table["codes"], book.codes, strict=True):
        row["examples"] = list(code.examples)
        row.update({"shortcut": code.shortcut} if code.shortcut else {})
    table["fields"] = [_plain(field, ("key", "label", "kind", "help")) for field in book.fields]
    for row, field in zip(table["fields"], book.fields, strict=True):
        row["choices"] = list(field.choices)
    return table


def _plain(row: Code | Field, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: getattr(row, name) for name in names}


def _rows(table: Mapping[str, Any], key: str, origin: str) -> list[tuple[int, Mapping[str, Any]]]:
    rows = table.get(key, [])
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise DataError(f"{origin}: write each of the {key} as a table headed [[{key}]].")
    return list(enumerate(rows, 1))


def _text(table: Mapping[str, Any], key: str, origin: str, default: str | None = None) -> str:
    value = table.get(key, default)
    if not isinstance(value, str) or (default is None and not value.strip()):
        got = "nothing" if value is None else repr(value)
        raise DataError(f"{origin}: {key} must be text; got {got}.")
    return value


def _texts(table: Mapping[str, Any], key: str, origin: str) -> tuple[str, ...]:
    value = table.get(key, [])
    if not isinstance(value, list) or not all(isinstance(one, str) and one for one in value):
        raise DataError(f'{origin}: {key} must be a list of texts, such as ["…"]; got {value!r}.')
    return tuple(value)


def _key(table: Mapping[str, Any], origin: str) -> str:
    key = _text(table, "key", origin)
    if not _KEY.fullmatch(key):
        raise DataError(f"{origin}: key takes small letters, digits, _ and -; got {key!r}.")
    return key


def _code(row: Mapping[str, Any], origin: str) -> Code:
    shortcut = row.get("shortcut")
    if shortcut is not None and not (
        isinstance(shortcut, str) and re.fullmatch("[a-z0-9]", shortcut)
    ):
        raise DataError(f"{origin}: shortcut is one digit or small letter; got {shortcut!r}.")
    return Code(
        key=_key(row, origin),
        name=_text(row, "name", origin),
        definition=_text(row, "definition", origin),
        source=_text(row, "source", origin, ""),
        examples=_texts(row, "examples", origin),
        shortcut=shortcut,
    )


def _field(row: Mapping[str, Any], origin: str) -> Field:
    kind = check_choice(f"{origin}: kind", _text(row, "kind", origin), KINDS)
    choices = _texts(row, "choices", origin)
    if (kind == "choice") != (len(choices) >= 2):
        raise DataError(f'{origin}: kind "choice" takes two choices or more, "text" takes none.')
    label, help_ = _text(row, "label", origin), _text(row, "help", origin, "")
    return Field(_key(row, origin), label, kind, choices, help_)


def _check(book: Codebook, origin: str) -> None:
    if not book.codes and not book.fields:
        raise DataError(f"{origin} asks nothing: add [[codes]] or [[fields]].")
    keys = [code.key for code in book.codes] + [field.key for field in book.fields]
    shortcuts = [code.shortcut for code in book.codes if code.shortcut]
    for what, values in (("key", keys), ("shortcut", shortcuts)):
        twice = sorted({value for value in values if values.count(value) > 1})
        if twice:
            raise DataError(f"{origin}: the {what} {twice[0]!r} occurs twice.")
