"""Codebook: what raters look for in a text, as a small TOML file."""

from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Literal

from portrayal.errors import OptionError
from portrayal.reference.datafile import Catalogue, DataFile, Holds, matching

Key = Annotated[str, matching("[a-z0-9][a-z0-9_-]{0,59}", "small letters, digits, _ and -")]


@dataclass(frozen=True, slots=True)
class CodebookQuestion:
    """One question about a text.

    Attributes
    ----------
    key, name
        Short name in files, and name on sheets.
    definition
        What counts.
    source, examples
        Where the definition comes from, and short examples, written for the codebook.
    kind
        "code": whether the text shows a pattern, where codes may overlap; "choice": one of
        `choices`; "text": a word of the rater's own.
    choices
        The answers to choose from.
    needed
        Whether a text is done only with an answer, as an audit cannot use it without; codes always
        need one.
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
        Name in files, and title of the instructions.
    instructions
        What raters read before they start; paragraphs are parted by an empty line.
    questions
        What is asked.
    warning
        What raters read about the texts before they see one; "" where nothing is needed.
    """

    name: str
    title: str
    instructions: Annotated[str, Holds(convert=str.strip)] = ""
    questions: tuple[CodebookQuestion, ...] = ()
    warning: Annotated[str, Holds(convert=str.strip)] = ""

    def __post_init__(self) -> None:
        """Refuse a codebook that asks nothing, or one thing under two names."""
        if not self.questions:
            raise OptionError("it asks nothing: add [[questions]].")
        keys = [question.key for question in self.questions]
        if twice := sorted({key for key in keys if keys.count(key) > 1}):
            raise OptionError(f"the key {twice[0]!r} occurs twice.")

    @property
    def codes(self) -> tuple[CodebookQuestion, ...]:
        """The questions that are answered with yes or no."""
        return tuple(question for question in self.questions if question.kind == "code")


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
