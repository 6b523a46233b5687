"""Lexicons: which words tell a group, for counting them in texts.

A *lexicon* lists words and phrases for each group of one attribute. A word may count only where an
occupation follows it ("black teacher", not "black ball"). Lexicons of the user's own come from a
TOML or JSON file and are checked when they are read.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

from portrayal.reference.datafile import Catalogue, DataFile, Holds, KeyName, Line, Term, Word
from portrayal.reference.factors import spelling_key
from portrayal.reference.groups import gender_words
from portrayal.reference.shipped import data_file, occupations

_TABLES = {"gender": gender_words}


_WORDS_OF = Holds(
    "two groups or more, each with words",
    lambda groups: len(groups) > 1 and all(groups.values()),
    lambda groups: {
        group: tuple(dict.fromkeys(" ".join(word.casefold().split()) for word in words))
        for group, words in groups.items()
    },
    reads=Mapping[str, tuple[Term, ...]],
)

_FOLLOWING = Holds(
    '"occupations" or a list of phrases',
    lambda terms: terms == "occupations" or not isinstance(terms, str),
    lambda terms: occupations() if isinstance(terms, str) else frozenset(map(spelling_key, terms)),
    reads=str | tuple[Word, ...],
)


@dataclass(frozen=True)
class GroupLexicon:
    """Words and phrases of each group of one attribute.

    Attributes
    ----------
    name
        Registered name, or the file's name without its ending.
    attribute
        What the groups are groups of: "gender", "race", or the user's own.
    words_of
        Words and phrases of each group, in lower case.
    source
        Paper and table, or the file.
    followed_by
        What must follow a word for it to count, in lower case; None where nothing must.
    """

    name: str
    attribute: Line
    words_of: Annotated[Mapping[str, tuple[str, ...]], KeyName("groups"), _WORDS_OF]
    source: Line = ""
    followed_by: Annotated[frozenset[str] | None, _FOLLOWING] = None

    @property
    def groups(self) -> tuple[str, ...]:
        """Labels of the groups, in order."""
        return tuple(self.words_of)

    @property
    def words(self) -> tuple[tuple[str, ...], ...]:
        """Words and phrases of each group, aligned with `groups`."""
        return tuple(self.words_of.values())


def lexicons() -> tuple[str, ...]:
    """Return the names of the registered lexicons.

    Examples
    --------
    >>> lexicons()
    ('liang-2022', 'race-occupations', 'story-list', 'themes')
    """
    return _LEXICONS.names


def lexicon(spec: str | Path) -> GroupLexicon:
    """Return a registered lexicon, or read one from a file.

    Parameters
    ----------
    spec
        A name from `lexicons()`, or the path of a TOML or JSON file with `attribute`, `groups` (a
        table of group → list of words) and perhaps `source` and `followed_by` ("occupations" or a
        list of phrases).

    Raises
    ------
    UnknownNameError
        If `spec` is neither registered nor a file that exists.
    DataError
        If the file is not a lexicon; says what was expected, what came and what to do.

    Examples
    --------
    >>> lexicon("race-occupations").groups
    ('White', 'Black', 'Asian')
    """
    return _LEXICONS.load(spec)


def _read(name: str, file: DataFile) -> GroupLexicon:
    """The lexicon of a file; a word is of one group."""
    table = dict(file.table)
    # One that ships may take the words of a table in code, which is not written twice
    if "words_of" in table and file.path is None:
        words = _TABLES[table.pop("words_of")]()
        table["groups"] = {group: sorted(terms) for group, terms in words.items()}
    lexicon = replace(file, table=table).record(GroupLexicon, name=name)
    owner: dict[str, str] = {}
    for group, terms in lexicon.words_of.items():
        for i, word in enumerate(terms):
            # A word of two groups would count for both and tell neither
            if owner.setdefault(word, group) != group:
                raise file.wrong(
                    ("groups", group, i), f"{word!r} is listed for {owner[word]!r} and {group!r}."
                )
    return lexicon if lexicon.source else replace(lexicon, source=file.name)


_LEXICONS = Catalogue("a registered lexicon", data_file("lexicons"), _read)
