"""Locales: the names, titles and places of a language and country, as a folder of data.

A locale brings what tells people from what is no person, the tables of its names, and what shares
are compared with. `en-US` ships; one of your own is a folder with `locale.toml`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Annotated

from portrayal.reference.datafile import Catalogue, DataFile, Holds, Word
from portrayal.reference.matching import name_key
from portrayal.reference.shipped import data_file

NO_PEOPLE = ("places", "peoples", "feasts", "gods")
"""Lists of what is no person."""
HOME = "en-US"
"""The locale whose words the rules for English stand on."""


def _by_kind(lists: Mapping[str, str | tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """Words as they are compared; those that open with a hyphen keep it."""
    split = {kind: w.split() if isinstance(w, str) else w for kind, w in lists.items()}
    # A key has no hyphen at its end, and this one says that the word is a suffix
    return {k: tuple("-" * w.startswith("-") + name_key(w) for w in ws) for k, ws in split.items()}


_WORDS = Mapping[str, str | tuple[str, ...]]
"""Lists of words by kind: each a list of texts, or words between blanks."""
Lists = Annotated[
    Mapping[str, frozenset[str]],
    Holds(
        reads=_WORDS,
        convert=lambda lists: {kind: frozenset(words) for kind, words in _by_kind(lists).items()},
    ),
]


@dataclass(frozen=True)
class LocaleNames:
    """The names of a locale, the table [names] of its file.

    Attributes
    ----------
    tables, baselines
        Name tables (registered, or files and factors of its folder), and names of baselines; the
        first of each is the default of an audit.
    """

    tables: tuple[str, ...] = ()
    baselines: tuple[str, ...] = ()


@dataclass(frozen=True)
class PronounForms:
    """The pronouns that refer to one person."""

    subject: Word
    object: Word
    possessive: Word
    reflexive: Word


@dataclass(frozen=True, eq=False, kw_only=True)
class Locale:
    """A language and country.

    Attributes
    ----------
    name, language, country, source
        Its folder's name, codes ("en", "US"), and where its data come from.
    names
        Its name tables and baselines; a locale may bring words alone, and no names.
    titles, honorifics
        Words before a name and behind it, by kind: those of the kinds "F", "M" and "NB" tell a
        gender, a title of the kind "formal" stands before surnames, one of the kind "sacred" before
        gods as well. An honorific that opens with a
        hyphen is written together with the name.
    pronouns
        Words of each gender group that refer to a person, in their order.
    forms
        Pronouns of each gender group as requests write them: `subject`, `object`, `possessive` and
        `reflexive`.
    exchange
        Words of a woman ("F") and of a man ("M") in pairs, by which a text is told of the other;
        those of them that name whom a text is about ("naming"), and words before which "her" is an
        object ("no_noun").
    places, peoples, feasts, gods
        Words and names of what is no person, by kind; in small letters.
    folder
        Where it lies; "" for one that ships.
    digest
        Tells one state of its file from another.
    """

    name: str
    language: str
    country: str = ""
    source: str = ""
    names: LocaleNames = LocaleNames()
    titles: Lists = field(default_factory=dict)
    honorifics: Lists = field(default_factory=dict)
    exchange: Annotated[
        Mapping[str, tuple[str, ...]],
        Holds(
            "as many words of one gender as of the other",
            lambda lists: len({len(w.split()) for kind, w in lists.items() if kind.isupper()}) == 1,
            lambda lists: {kind: tuple(words.split()) for kind, words in lists.items()},
            reads=Mapping[str, str],
        ),
    ] = field(default_factory=dict)
    pronouns: Annotated[Mapping[str, tuple[str, ...]], Holds(reads=_WORDS, convert=_by_kind)] = (
        field(default_factory=dict)
    )
    forms: Mapping[str, PronounForms] = field(default_factory=dict)
    places: Lists = field(default_factory=dict)
    peoples: Lists = field(default_factory=dict)
    feasts: Lists = field(default_factory=dict)
    gods: Lists = field(default_factory=dict)
    folder: str = ""
    digest: str = ""

    def every(self, *kinds: str) -> frozenset[str]:
        """Return all words of some lists, such as "titles" or "places"."""
        lists = (getattr(self, kind).values() for kind in kinds)
        return frozenset[str]().union(*chain.from_iterable(lists))

    @property
    def spec(self) -> str:
        """What `load_locale` finds it by."""
        return self.folder or self.name

    def mark(self) -> dict[str, str]:
        """Return what a run keeps of it: where it lies, and the state of its file."""
        return {"locale": self.spec, "state": self.digest}


def locales() -> tuple[str, ...]:
    """Return the names of the locales that ship.

    >>> locales()
    ('de', 'en-IN', 'en-US', 'es', 'fr', 'hi', 'pt')
    """
    return _LOCALES.names


def load_locale(spec: str | Path = "en-US") -> Locale:
    """Return a locale that ships, or read one from a folder.

    Parameters
    ----------
    spec
        A name from `locales()`, or the path of a folder with `locale.toml`.

    Raises
    ------
    UnknownNameError
        If `spec` is neither.
    DataError
        With file, line and key, and what was expected.

    Examples
    --------
    >>> "dr" in load_locale("en-US").titles["formal"]
    True
    """
    return _LOCALES.load(spec)


def _read(name: str, file: DataFile) -> Locale:
    folder = "" if file.path is None else str(file.path.parent)
    locale = file.record(Locale, name=name, folder=folder, digest=file.digest)
    tables = (
        file.beside(("names", "tables", i), table, or_name=True)
        for i, table in enumerate(locale.names.tables)
    )
    return replace(locale, names=replace(locale.names, tables=tuple(tables)))


_LOCALES = Catalogue("a locale", data_file("locales"), _read, file="locale.toml")
