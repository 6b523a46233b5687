"""Forms: the questions of a text, each with the article, section or control that asks it."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from portrayal.errors import DataError, UnknownNameError

_FIELD = {"key", "answers", "asks", "fill", "measures", "left"}
_SECTION = {"title", "field"}
_FORM = {"title", "follows", "changes", "url", "notes", "section"}


@dataclass(frozen=True, slots=True)
class Field:
    """One question of a text.

    Attributes
    ----------
    key
        Its name in the form.
    answers
        The article, section or control that asks it.
    asks
        What it asks, in our words.
    fill
        What of a run answers it, by the names of `portrayal.evidence.pack.FILLS`; none where no run
        can.
    measures
        Measures that "estimates" lists, without their versions.
    left
        What of the question a run cannot answer; "" where it answers all.
    """

    key: str
    answers: str
    asks: str
    fill: tuple[str, ...] = ()
    measures: tuple[str, ...] = ()
    left: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """Some questions under one title."""

    title: str
    fields: tuple[Field, ...]


@dataclass(frozen=True, slots=True)
class Form:
    """The questions of one text.

    Attributes
    ----------
    name, title
        What `--for` takes, and what the pack is called.
    follows
        The version of the text that the form follows.
    changes
        What is known of later versions, which it does not follow.
    url
        Where the text is.
    notes
        What readers of this form must know.
    sections
        The questions.
    """

    name: str
    title: str
    follows: str
    changes: str
    url: str
    notes: tuple[str, ...]
    sections: tuple[Section, ...]

    @property
    def fields(self) -> tuple[Field, ...]:
        """Every question in order."""
        return tuple(field for section in self.sections for field in section.fields)


def forms() -> tuple[str, ...]:
    """Return the names of the forms that come with the package.

    >>> forms()
    ('colorado', 'eu-ai-act', 'iso-42001', 'model-card')
    """
    folder = files("portrayal.evidence").joinpath("forms")
    return tuple(sorted(path.name.removesuffix(".toml") for path in folder.iterdir()))


def form(name: str | Path) -> Form:
    """Return a form by its name, or read one of your own from a TOML file.

    Raises
    ------
    UnknownNameError
        When there is neither a form nor a file of that name.
    DataError
        When the file is no form; names the file, the entry and what is wrong.

    Examples
    --------
    >>> form("eu-ai-act").follows.partition(",")[0]
    'Regulation (EU) 2024/1689'
    """
    if str(name) in forms():
        text = files("portrayal.evidence").joinpath("forms", f"{name}.toml").read_text("utf-8")
        return _form(str(name), text, str(name))
    path = Path(name)
    if not path.is_file():
        raise UnknownNameError(
            f"{str(name)!r} is neither a form ({', '.join(forms())}) nor a file that exists."
        )
    try:
        return _form(path.stem, path.read_text(encoding="utf-8"), str(path))
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: not UTF-8 (byte {error.start}). Save it as UTF-8.") from error


def _form(name: str, text: str, where: str) -> Form:
    try:
        told = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{where}: not valid TOML ({error}).") from error
    _check(told, _FORM, {"title", "follows", "section"}, where)
    sections = tuple(
        _section(each, f"{where}: section {number}")
        for number, each in enumerate(_tables(told, "section", where), 1)
    )
    made = Form(
        name,
        told["title"],
        told["follows"],
        told.get("changes", ""),
        told.get("url", ""),
        tuple(told.get("notes", ())),
        sections,
    )
    keys = [field.key for field in made.fields]
    twice = next((key for key in keys if keys.count(key) > 1), None)
    if twice is not None:
        raise DataError(f"{where}: the key {twice!r} stands twice.")
    return made


def _section(told: Mapping[str, Any], where: str) -> Section:
    _check(told, _SECTION, _SECTION, where)
    fields = []
    for number, each in enumerate(_tables(told, "field", where), 1):
        place = f"{where}, field {number}"
        _check(each, _FIELD, {"key", "answers", "asks"}, place)
        lists = {name: tuple(each.get(name, ())) for name in ("fill", "measures")}
        fields.append(Field(**{**each, **lists}))
    return Section(told["title"], tuple(fields))


def _tables(told: Mapping[str, Any], name: str, where: str) -> list[Mapping[str, Any]]:
    found = told[name]
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        raise DataError(f"{where}: each {name} is a table of its own, headed [[{name}]].")
    return found


def _check(told: Mapping[str, Any], known: set[str], needed: set[str], where: str) -> None:
    """Refuse an entry that lacks a key, has one that is not known, or one of another type."""
    if missing := sorted(needed - told.keys()):
        raise DataError(f"{where}: {missing[0]} is missing.")
    if unknown := sorted(told.keys() - known):
        raise DataError(f"{where}: no key is called {unknown[0]!r}; {', '.join(sorted(known))}.")
    for name, value in told.items():
        if name in ("fill", "measures", "notes"):
            fits = isinstance(value, list) and all(isinstance(each, str) for each in value)
        else:
            fits = name in ("section", "field") or isinstance(value, str)
        if not fits:
            raise DataError(
                f"{where}: {name} is {value!r}, which is of another kind than expected."
            )
