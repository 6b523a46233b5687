"""Locales: the names, titles and places of a language and country, as a folder of data.

A locale brings what tells people from what is no person, the tables of its names, and what shares
are compared with. `en-US` ships; one of your own is a folder with `locale.toml`.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from portrayal.errors import UnknownNameError
from portrayal.reference.located import Keys, Located, parse_located, read_located
from portrayal.reference.matching import name_key
from portrayal.reference.shipped import data_file

_KEYS = ("language", "country", "source", "names", "titles", "honorifics", "pronouns", "places",
         "peoples", "feasts", "gods")  # fmt: skip
_NAMES = ("tables", "baselines", "prefixes", "words")
_LISTS = ("titles", "honorifics", "places", "peoples", "feasts", "gods")
NO_PEOPLE = ("places", "peoples", "feasts", "gods")
"""Lists of what is no person."""
HOME = "en-US"
"""The locale whose words the rules for English stand on."""

Lists = Mapping[str, frozenset[str]]


@dataclass(frozen=True, eq=False)
class Locale:
    """A language and country.

    Attributes
    ----------
    name, language, country, source
        Its folder's name, codes ("en", "US"), and where its data come from.
    tables, baselines
        Name tables (registered, or files and factors of its folder), and names of baselines; the
        first of each is the default of an audit.
    prefixes
        Letters that the language writes together with the word after them.
    words
        Names of the tables that are words of the language first; they count behind a title.
    titles, honorifics
        Words before a name and behind it, by kind: those of the kinds "F", "M" and "NB" tell a
        gender, a title of the kind "formal" stands before surnames, one of the kind "sacred" before
        gods as well. An honorific that opens with a
        hyphen is written together with the name.
    pronouns
        Words of each gender group that refer to a person, in their order.
    places, peoples, feasts, gods
        Words and names of what is no person, by kind; in small letters.
    folder
        Where it lies; "" for one that ships.
    digest
        Tells one state of its file from another.
    """

    name: str
    language: str
    country: str
    source: str
    tables: tuple[str, ...]
    baselines: tuple[str, ...]
    prefixes: tuple[str, ...]
    words: frozenset[str]
    titles: Lists
    honorifics: Lists
    pronouns: Mapping[str, tuple[str, ...]]
    places: Lists
    peoples: Lists
    feasts: Lists
    gods: Lists
    folder: str = ""
    digest: str = ""

    def every(self, *kinds: str) -> frozenset[str]:
        """Return all words of some lists, such as "titles" or "places"."""
        lists: list[Lists] = [getattr(self, kind) for kind in kinds]
        return frozenset[str]().union(*(words for each in lists for words in each.values()))

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
    ('en-IN', 'en-US')
    """
    return tuple(sorted(entry.name for entry in data_file("locales").iterdir()))


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
    if str(spec) in locales():
        return _shipped(str(spec))
    file = Path(spec) / "locale.toml"
    if not file.is_file():
        raise UnknownNameError(
            f"{str(spec)!r} is neither a locale that ships ({', '.join(locales())}) nor a folder "
            "with a file locale.toml."
        )
    return _read(read_located(file), file.absolute().parent.name, file.parent)


@lru_cache(maxsize=4)
def _shipped(name: str) -> Locale:
    text = data_file(f"locales/{name}/locale.toml").read_text(encoding="utf-8")
    return _read(parse_located(text, f"{name}/locale.toml"), name, None)


def _read(file: Located, name: str, folder: Path | None) -> Locale:
    file.check_keys((), _KEYS, ("language",))
    names = file.table.get("names", {})
    if names:
        file.check_keys(("names",), _NAMES)
    tables = [
        _beside(file, ("names", "tables", i), each, folder)
        for i, each in enumerate(_texts(file, ("names", "tables"), names.get("tables", [])))
    ]
    return Locale(
        name=name,
        folder=str(folder or ""),
        digest=hashlib.blake2b(repr(file.table).encode(), digest_size=8).hexdigest(),
        language=_text(file, "language"),
        country=_text(file, "country"),
        source=_text(file, "source"),
        tables=tuple(tables),
        baselines=_texts(file, ("names", "baselines"), names.get("baselines", [])),
        prefixes=_texts(file, ("names", "prefixes"), names.get("prefixes", [])),
        words=frozenset(map(name_key, _texts(file, ("names", "words"), names.get("words", [])))),
        pronouns=_lists(file, "pronouns"),
        **{
            kind: {name: frozenset(words) for name, words in _lists(file, kind).items()}
            for kind in _LISTS
        },
    )


def _beside(file: Located, keys: Keys, said: str, folder: Path | None) -> str:
    """A registered table, or a file of the locale's folder."""
    if folder is None or not Path(said).suffix:
        return said
    if not (folder / said).is_file():
        raise file.wrong(keys, f"there is no file {folder / said}.")
    return str(folder / said)


def _lists(file: Located, kind: str) -> dict[str, tuple[str, ...]]:
    table = file.table.get(kind, {})
    if not isinstance(table, dict):
        raise file.wrong((kind,), f"expected lists by kind, headed [{kind}]; got {table!r}.")
    found = {}
    for name, value in table.items():
        words = value.split() if isinstance(value, str) else _texts(file, (kind, name), value)
        found[name] = tuple("-" * word.startswith("-") + name_key(word) for word in words)
    return found


def _text(file: Located, key: str) -> str:
    value = file.table.get(key, "")
    if not isinstance(value, str):
        raise file.wrong((key,), f"expected text; got {value!r}.")
    return value


def _texts(file: Located, keys: Keys, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise file.wrong(keys, f"expected a list of texts, or words between blanks; got {value!r}.")
    return tuple(value)
