"""Codebook: what raters look for in a text, as a small TOML file."""

from dataclasses import asdict, dataclass
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, Literal

from portrayal.errors import OptionError
from portrayal.reference.datafile import Catalogue, DataFile, Holds, matching

Key = Annotated[str, matching("[a-z0-9][a-z0-9_-]{0,59}", "small letters, digits, _ and -")]


@dataclass(frozen=True, slots=True)
class CodebookQuestion:
    """One question about a text.

    Attributes
    ----------
    key, name
        Short name in files, and name on the page.
    definition
        What counts; of a choice or words a line below the question.
    source, examples
        Where the definition comes from, and short examples, written for the codebook.
    kind
        "code": whether the text shows a pattern, where codes may overlap; "choice": one of
        `choices`; "text": a word of the rater's own.
    choices
        The answers to choose from.
    shortcut
        The key that sets a code on the raters' page; None gives it the next free digit.
    needed
        Whether a text is done only with an answer, as an audit cannot use it without.
    slot
        Which person of a text it asks of; it is needed only where a text has that person.
    """

    key: Key
    name: str
    definition: str = ""
    source: str = ""
    examples: tuple[str, ...] = ()
    kind: Literal["code", "choice", "text"] = "code"
    choices: tuple[str, ...] = ()
    shortcut: Annotated[str | None, matching("[a-z0-9]", "one digit or small letter")] = None
    needed: bool = False
    slot: str = ""

    def __post_init__(self) -> None:
        """Refuse a choice between fewer than two, and a code without a definition."""
        if (self.kind == "choice") != (len(self.choices) >= 2):
            raise OptionError('kind "choice" takes two choices or more, the others take none.')
        if self.kind == "code" and not self.definition.strip():
            raise OptionError('kind "code" takes a definition: what counts.')


@dataclass(frozen=True, slots=True)
class Codebook:
    """The questions that raters answer about each text.

    Attributes
    ----------
    name, title
        Name in files, and title of the page.
    instructions
        What raters read before they start; paragraphs are parted by an empty line.
    questions
        What is asked.
    warning
        What raters read about the texts before they see one; None where nothing is needed.
    show_people
        Whether the page marks the people that an annotator found; not where raters find them.
    """

    name: str
    title: str
    instructions: Annotated[str, Holds(convert=str.strip)] = ""
    questions: tuple[CodebookQuestion, ...] = ()
    warning: Annotated[str | None, Holds(convert=lambda text: text.strip() or None)] = None
    show_people: bool = True

    def __post_init__(self) -> None:
        """Refuse a codebook that asks nothing, or one thing under two names."""
        if not self.questions:
            raise OptionError("it asks nothing: add [[questions]].")
        keys = [question.key for question in self.questions]
        shortcuts = [code.shortcut for code in self.codes if code.shortcut]
        for field_name, values in (("key", keys), ("shortcut", shortcuts)):
            if twice := sorted({value for value in values if values.count(value) > 1}):
                raise OptionError(f"the {field_name} {twice[0]!r} occurs twice.")

    @property
    def codes(self) -> tuple[CodebookQuestion, ...]:
        """The questions that are answered with yes or no."""
        return tuple(question for question in self.questions if question.kind == "code")

    @property
    def fields(self) -> tuple[CodebookQuestion, ...]:
        """The questions that are answered with one of some choices, or with words."""
        return tuple(question for question in self.questions if question.kind != "code")

    @property
    def shortcuts(self) -> dict[str, str]:
        """Keys of the keyboard by code; a code without one has the next free digit, then letter."""
        # Chosen keys first, so that a code without one does not take the key of a later code
        used = {code.shortcut for code in self.codes if code.shortcut}
        free = (key for key in "123456789abcdefghijklmnopqrstuvwxyz" if key not in used)
        return {code.key: code.shortcut or next(free, "") for code in self.codes}


def read_codebook(name: str, file: DataFile) -> Codebook:
    """Return the codebook of a file, by its own name or else `name`."""
    return file.record(Codebook, (), **({} if "name" in file.table else {"name": name}))


CODEBOOKS = Catalogue("a codebook", files("portrayal.raters") / "codebooks", read_codebook)
"""The codebooks that ship."""


def codebook(spec: str | Path) -> Codebook:
    """Return a codebook by its name, or from a TOML file.

    Parameters
    ----------
    spec
        One of `CODEBOOKS.names`, or the path of a TOML file.

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
    return CODEBOOKS.load(spec)


def codebook_table(book: Codebook) -> dict[str, Any]:
    """Return a codebook as the table that `read_codebook` reads."""
    return asdict(book, dict_factory=_said)


def _said(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    # TOML has no null: what is None is left out, and is None when read again
    return {key: value for key, value in pairs if value is not None}
