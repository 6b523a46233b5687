"""Codebook: what raters look for in a text, as a small TOML file."""

from dataclasses import asdict, dataclass
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, Literal

from portrayal.errors import OptionError
from portrayal.reference.datafile import Catalogue, DataFile, Holds, Keys, matching

Key = Annotated[str, matching("[a-z0-9][a-z0-9_-]{0,59}", "small letters, digits, _ and -")]


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

    key: Key
    name: str
    definition: str
    source: str = ""
    examples: tuple[str, ...] = ()
    shortcut: Annotated[str | None, matching("[a-z0-9]", "one digit or small letter")] = None


@dataclass(frozen=True, slots=True)
class CodebookField:
    """One question with an answer: a word of the rater's own, or one of `choices`.

    Attributes
    ----------
    key, label, help
        Short name in files, the question on the page, and a line below it.
    kind, choices
        Whether one of `choices` is picked, or words are written.
    needed
        Whether a text is done only with an answer, as an audit cannot use it without.
    slot
        Which person of a text it asks of; it is needed only where a text has that person.
    """

    key: Key
    label: str
    kind: Literal["choice", "text"]
    choices: tuple[str, ...] = ()
    help: str = ""
    needed: bool = False
    slot: str = ""

    def __post_init__(self) -> None:
        """Refuse a choice between fewer than two."""
        if (self.kind == "choice") != (len(self.choices) >= 2):
            raise OptionError('kind "choice" takes two choices or more, "text" takes none.')


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
    instructions: Annotated[str, Holds(convert=str.strip)] = ""
    codes: tuple[Code, ...] = ()
    warning: Annotated[str | None, Holds(convert=lambda text: text.strip() or None)] = None
    fields: tuple[CodebookField, ...] = ()
    show_people: bool = True

    def __post_init__(self) -> None:
        """Refuse a codebook that asks nothing, or one thing under two names."""
        if not self.codes and not self.fields:
            raise OptionError("it asks nothing: add [[codes]] or [[fields]].")
        keys = [code.key for code in self.codes] + [field.key for field in self.fields]
        shortcuts = [code.shortcut for code in self.codes if code.shortcut]
        for field_name, values in (("key", keys), ("shortcut", shortcuts)):
            if twice := sorted({value for value in values if values.count(value) > 1}):
                raise OptionError(f"the {field_name} {twice[0]!r} occurs twice.")

    @property
    def shortcuts(self) -> dict[str, str]:
        """Keys of the keyboard by code; a code without one has the next free digit, then letter."""
        # Chosen keys first, so that a code without one does not take the key of a later code
        used = {code.shortcut for code in self.codes if code.shortcut}
        free = (key for key in "123456789abcdefghijklmnopqrstuvwxyz" if key not in used)
        return {code.key: code.shortcut or next(free, "") for code in self.codes}


def read_codebook(name: str, file: DataFile, keys: Keys = ()) -> Codebook:
    """Return the codebook at `keys` of a file, by its own name or else `name`."""
    defaults = {} if "name" in file.at(keys) else {"name": name}
    return file.record(Codebook, keys, **defaults)


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
    # TOML has no null: what is None is left out, and is None when read again
    table = {key: value for key, value in asdict(book).items() if value is not None}
    codes = [
        {key: value for key, value in code.items() if value is not None} for code in table["codes"]
    ]
    return table | {"codes": codes}
