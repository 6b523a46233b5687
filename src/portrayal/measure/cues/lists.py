"""Cue lists: terms that name an identity, with the spellings under which they count.

A *cue* is a term that a text uses of a group, such as "Navajo". A list is a small TOML or CSV file.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from pathlib import Path

from portrayal.collect.tables import read_table
from portrayal.errors import DataError
from portrayal.reference.datafile import Catalogue, DataFile, Line, Word

_CHUNK = 24
_APOSTROPHES = "'’‘ʼʻ`´"
_DASHES = "\u2010\u2011\u2012\u2013\u2014-"
_GAP = f"[\\s\u00a0{_DASHES}]{{1,3}}"


@dataclass(frozen=True)
class Cue:
    """One term.

    Attributes
    ----------
    group, term
        What it stands for, and the term as it is shown.
    variants
        Further spellings that count as the term.
    case
        Whether capitals matter ("Polish", not "polish").
    published
        Stories that the list's source found it in; None where it says nothing.
    """

    group: str
    term: str
    variants: tuple[str, ...] = ()
    case: bool = False
    published: int | None = None

    @property
    def pattern(self) -> str:
        """Regular expression of the term and its variants, without word boundaries."""
        # The longest first, as an expression takes the first alternative that fits
        spellings = sorted((self.term, *self.variants), key=lambda s: (-len(s), s))
        joined = "|".join(dict.fromkeys(_pattern(spelling) for spelling in spellings))
        return f"(?:{joined})" if self.case else f"(?i:{joined})"


@dataclass(frozen=True)
class CueList:
    """Cues with their source; those that ship are `english`, others of any language."""

    name: str
    title: str
    source: str
    cues: tuple[Cue, ...]
    english: bool = False

    @property
    def groups(self) -> tuple[str, ...]:
        """Groups in the list's order."""
        return tuple(dict.fromkeys(cue.group for cue in self.cues))

    @property
    def chunks(self) -> tuple[tuple[Cue, ...], ...]:
        """The cues in lots of `_CHUNK`: an engine's tables outgrow its memory with more at once."""
        order = self.by_length
        return tuple(order[i : i + _CHUNK] for i in range(0, len(order), _CHUNK))

    @property
    def by_length(self) -> tuple[Cue, ...]:
        """Cues, those with the longest terms first, so that a longer term wins over its part."""
        return tuple(sorted(self.cues, key=lambda cue: (-len(cue.term), cue.term, cue.group)))


def superset(cues: Iterable[Cue]) -> str:
    """Return an expression that every text with a cue matches, and some without; RE2 takes it."""
    return "|".join(cue.pattern for cue in cues)


def matcher(cues: Iterable[Cue]) -> re.Pattern[str]:
    """Return the cues between word boundaries; `lastindex` - 1 is the place of the one found."""
    body = "|".join(f"({cue.pattern})" for cue in cues)
    return re.compile(rf"(?<!\w)(?:{body})(?!\w)")


@dataclass(frozen=True)
class _ListedTerm:
    term: Word
    variants: tuple[Word, ...] = ()
    case: bool = False
    published: int | None = None


@dataclass(frozen=True)
class _ListedGroup:
    name: Line
    terms: tuple[Word | _ListedTerm, ...]


@dataclass(frozen=True)
class _CueFile:
    """The keys of a cue list."""

    groups: tuple[_ListedGroup, ...]
    title: Line = ""
    source: Line = ""


def _read(name: str, file: DataFile) -> CueList:
    record = file.record(_CueFile)
    rows = [
        (group.name, _ListedTerm(term) if isinstance(term, str) else term)
        for group in record.groups
        for term in group.terms
    ]
    cues = (Cue(group, **vars(term)) for group, term in rows)
    words = record.title or name, record.source or file.name
    return _checked(name, *words, cues, file.name, english=file.path is None)


_CUE_LISTS = Catalogue("a cue list", files("portrayal.measure.cues").joinpath("cuelists"), _read)


def cue_list(spec: str | Path = "laissez-faire") -> CueList:
    """Return a shipped cue list by name, or read one from a TOML or CSV file.

    A CSV has the columns `group` and `term`; further spellings of a term follow it, joined by `;`.

    Raises
    ------
    UnknownNameError
        When `spec` is neither a shipped name nor a file.
    DataError
        When the file is not a cue list; says which entry and what is expected.

    Examples
    --------
    >>> "Navajo" in {cue.term for cue in cue_list("laissez-faire").cues}
    True
    """
    path = Path(spec)
    return _read_rows(path) if path.suffix.casefold() == ".csv" else _CUE_LISTS.load(spec)


def _read_rows(path: Path) -> CueList:
    rows = read_table(str(path), ("group", "term"), columns=())
    cues = list[Cue]()
    for number, row in enumerate(rows, 2):
        if row.keys() & {"variants", "case"} or not row["group"].strip():
            raise DataError(
                f"{path}, row {number}: expected the columns group and term, both filled. Write "
                "further spellings behind their term, joined by ';', and case = true in a TOML "
                "file."
            )
        term, *spellings = (spelling.strip() for spelling in row["term"].split(";"))
        cues.append(Cue(row["group"].strip(), term, tuple(spellings)))
    return _checked(path.stem, path.stem, str(path), cues, str(path))


def cues_of(terms: Iterable[str]) -> CueList:
    """Return plain terms as a list of the one group "own".

    >>> cues_of(["Navajo", "Diné"]).groups
    ('own',)
    """
    cues = (Cue("own", term.strip()) for term in terms)
    return _checked("own terms", "Own terms", "", cues, "the terms")


def _checked(
    name: str, title: str, source: str, cues: Iterable[Cue], origin: str, *, english: bool = False
) -> CueList:
    entries = tuple(cues)
    if not entries:
        raise DataError(f"{origin}: the list has no terms.")
    by_spelling: dict[str, Cue] = {}
    for cue in entries:
        for spelling in (cue.term, *cue.variants):
            if not re.search(r"\w", spelling):
                raise DataError(f"{origin}: {cue.group}: {spelling!r} is not a term.")
            # A spelling of two cues would count for whichever comes first
            earlier = by_spelling.setdefault(spelling if cue.case else spelling.casefold(), cue)
            if earlier is not cue:
                raise DataError(f"{origin}: {spelling!r} stands for {earlier.term!r} already.")
    return CueList(name, title, source, entries, english)


def _pattern(spelling: str) -> str:
    """Return the expression of a spelling: dashes and apostrophes aside, with its plural.

    A plain letter stands for its accented forms too; an accent in the spelling is needed.
    """
    plain = unicodedata.normalize("NFC", spelling.strip())
    words = re.split(rf"[\s{_DASHES}]+", plain)
    stem, ending = _plural(words[-1])
    return _GAP.join([*(_letters(word) for word in words[:-1]), _letters(stem) + ending])


def _plural(word: str) -> tuple[str, str]:
    """Return what a word's singular and plural share, and an expression of both endings."""
    low = word.casefold()
    if low.endswith("man"):  # Englishman, Englishmen
        return word[:-2], "[ae]n"
    if re.search(r"[^aeiou]y$", low):
        return word[:-1], "(?:y|ies)"
    if re.search(r"(s|x|z|ch|sh)$", low):
        return word, "(?:es)?"
    return word, "s?"


def _letters(word: str) -> str:
    return "".join(_letter(character) for character in word)


@lru_cache(maxsize=256)
def _letter(character: str) -> str:
    """Return an expression of a letter in its composed and decomposed forms."""
    if character in _APOSTROPHES:
        return f"[{_APOSTROPHES}]?"  # texts write it in many ways, or leave it out
    accented = _accented().get(character, "")
    if accented:
        return f"[{character}{accented}][\u0300-\u036f]*"
    # A letter with an accent is one code point or two, and texts have either.
    decomposed = unicodedata.normalize("NFD", character)
    composed = re.escape(character)
    return composed if decomposed == character else f"(?:{composed}|{re.escape(decomposed)})"


@lru_cache(maxsize=1)
def _accented() -> Mapping[str, str]:
    """Letters of Latin-1 and Latin Extended-A by the plain letter they are based on."""
    accents: dict[str, str] = {}
    for code in range(0xC0, 0x180):
        base = unicodedata.normalize("NFKD", chr(code))
        if len(base) > 1 and base[0].isascii() and all(map(unicodedata.combining, base[1:])):
            accents[base[0]] = accents.get(base[0], "") + chr(code)
    return accents
