"""Forms: the questions of a text, each with the article, section or control that asks it."""

from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Annotated

from portrayal.reference.datafile import Catalogue, DataFile, KeyName


@dataclass(frozen=True, slots=True)
class FormField:
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
class FormSection:
    """Some questions under one title."""

    title: str
    fields: Annotated[tuple[FormField, ...], KeyName("field")]


@dataclass(frozen=True, slots=True)
class LegalDate:
    """What is known of one or more dates of a law, by whom, and when that was last checked.

    Attributes
    ----------
    says
        The dates, in a sentence.
    source
        Address of the page that was read.
    checked
        Day on which it was last read, ISO 8601.
    """

    says: str
    source: str
    checked: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """The questions of one text.

    Attributes
    ----------
    name, title
        What `--for` takes, and what the pack is called.
    follows
        The version of the text that the form follows.
    changes
        Which later versions it does not follow.
    dates
        Each date of the text and of its later versions.
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
    changes: str = ""
    dates: Annotated[tuple[LegalDate, ...], KeyName("date")] = ()
    url: str = ""
    notes: tuple[str, ...] = ()
    sections: Annotated[tuple[FormSection, ...], KeyName("section")]

    @property
    def fields(self) -> tuple[FormField, ...]:
        """Every question in order."""
        return tuple(field for section in self.sections for field in section.fields)


def forms() -> tuple[str, ...]:
    """Return the names of the forms that come with the package.

    >>> forms()
    ('colorado', 'eu-ai-act', 'iso-42001', 'model-card')
    """
    return _FORMS.names


def form(name: str | Path) -> Form:
    """Return a form by its name, or read one of your own from a TOML file.

    Raises
    ------
    UnknownNameError
        When there is neither a form nor a file of that name.
    DataError
        When the file is no form: with file, line and key, and what was expected.

    Examples
    --------
    >>> form("eu-ai-act").follows.partition(",")[0]
    'Regulation (EU) 2024/1689'
    """
    return _FORMS.load(name)


def _read(name: str, file: DataFile) -> Form:
    made = file.record(Form, name=name)
    held: set[str] = set()
    for i, section in enumerate(made.sections):
        for j, field in enumerate(section.fields):
            if field.key in held:
                raise file.wrong(
                    ("section", i, "field", j, "key"), f"the key {field.key!r} stands twice."
                )
            held.add(field.key)
    return made


_FORMS = Catalogue("a form", files("portrayal.evidence").joinpath("forms"), _read)
