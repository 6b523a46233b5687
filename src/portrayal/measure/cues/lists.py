"""Cue lists: terms that name an identity, with the spellings under which they count.

A *cue* is a term that a text uses of a group, such as "Navajo". A list is a small TOML or CSV file.
"""

import csv
import io
import re
import tomllib
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from portrayal.errors import DataError, UnknownNameError
from portrayal.run.files import read_utf8

_CHUNK = 24
_ENTRY = {"term", "variants", "case", "published"}
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
    """Cues with their source."""

    name: str
    title: str
    source: str
    cues: tuple[Cue, ...]

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


@lru_cache(maxsize=1)
def cue_list_names() -> tuple[str, ...]:
    """Return the names of the shipped cue lists."""
    names = [entry.name for entry in files("portrayal.measure.cues").joinpath("cuelists").iterdir()]
    return tuple(sorted(n.removesuffix(".toml") for n in names if n.endswith(".toml")))


def cue_list(spec: str | Path = "laissez-faire") -> CueList:
    """Return a shipped cue list by name, or read one from a TOML or CSV file.

    A CSV has the columns `group` and `term`, and may have `variants` (joined by `;`) and `case`.

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
    if str(spec) in cue_list_names():
        shipped = files("portrayal.measure.cues").joinpath("cuelists", f"{spec}.toml")
        return _from_toml(shipped.read_text(encoding="utf-8"), str(spec), f"{spec}.toml")
    path = Path(spec)
    if not path.is_file():
        raise UnknownNameError(
            f"there is no cue list {str(spec)!r}; shipped are {', '.join(cue_list_names())}. "
            "Or give a TOML or CSV file."
        )
    text = read_utf8(path)
    read = _from_csv if path.suffix.casefold() == ".csv" else _from_toml
    return read(text, path.stem, str(path))


def cues_of(terms: Iterable[str]) -> CueList:
    """Return plain terms as a list of the one group "own".

    >>> cues_of(["Navajo", "Diné"]).groups
    ('own',)
    """
    cues = (Cue("own", term.strip()) for term in terms)
    return _checked("own terms", "Own terms", "", cues, "the terms")


def _from_toml(text: str, name: str, origin: str) -> CueList:
    try:
        data = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise DataError(f"{origin}: is not TOML ({error}).") from None
    groups = data.get("groups", [])
    if not isinstance(groups, list) or not all(isinstance(entry, dict) for entry in groups):
        raise DataError(f"{origin}: groups is a list of tables; write each as [[groups]].")
    title, source = str(data.get("title", name)), str(data.get("source", ""))
    return _checked(name, title, source, _toml_cues(groups, origin), origin)


def _toml_cues(groups: list[Mapping[str, Any]], origin: str) -> Iterator[Cue]:
    for number, entry in enumerate(groups, 1):
        place = f"{origin}: group {number}"
        name, terms = entry.get("name"), entry.get("terms")
        if not isinstance(name, str) or not isinstance(terms, list):
            raise DataError(f"{place}: expected name (text) and terms (a list); got {dict(entry)}.")
        # A term is a plain string, or a table where it has variants or other facts.
        for term in terms:
            record = {"term": term} if isinstance(term, str) else term
            if not isinstance(record, dict) or not set(record) <= _ENTRY or "term" not in record:
                expected = ", ".join(sorted(_ENTRY))
                raise DataError(f"{place}: a term is text or a table of {expected}; got {term!r}.")
            variants = tuple(record.get("variants", ()))
            published = record.get("published")
            yield Cue(name, record["term"], variants, bool(record.get("case")), published)


def _from_csv(text: str, name: str, origin: str) -> CueList:
    reader = csv.DictReader(io.StringIO(text))
    if not {"group", "term"} <= set(reader.fieldnames or ()):
        columns = ", ".join(reader.fieldnames or ()) or "none"
        raise DataError(f"{origin}: expected the columns group and term; found {columns}.")
    cues = (
        Cue(
            (row["group"] or "").strip(),
            (row["term"] or "").strip(),
            tuple(v.strip() for v in (row.get("variants") or "").split(";") if v.strip()),
            (row.get("case") or "").strip().casefold() in ("true", "yes", "1"),
        )
        for row in reader
    )
    return _checked(name, name, "list supplied by the user", cues, origin)


def _checked(name: str, title: str, source: str, cues: Iterable[Cue], origin: str) -> CueList:
    entries = tuple(cues)
    if not entries:
        raise DataError(f"{origin}: the list has no terms.")
    by_spelling: dict[str, Cue] = {}
    for cue in entries:
        for spelling in (cue.term, *cue.variants):
            if not isinstance(spelling, str) or not re.search(r"\w", spelling):
                raise DataError(f"{origin}: {cue.group}: {spelling!r} is not a term.")
            # A spelling of two cues would count for whichever comes first
            earlier = by_spelling.setdefault(spelling if cue.case else spelling.casefold(), cue)
            if earlier is not cue:
                raise DataError(f"{origin}: {spelling!r} stands for {earlier.term!r} already.")
    return CueList(name, title, source, entries)


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
