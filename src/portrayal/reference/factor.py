"""Factors: what people are grouped by, as data.

A *factor* lists its groups, how a group is seen in texts (its *sources*: a column, words, names,
references, codes, a model) and the shares of the groups in some population (its *baselines*). One
TOML file says all of it; a user's own file is read and checked as the shipped ones are.

A lexicon counts mentions, not identities. Shares of a name's bearers describe these bearers, never
a person.
"""

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from portrayal.errors import UnknownNameError

EVERYWHERE = "all"
"""The stratum of a baseline that has none."""

Several = Literal["split", "each", "apart"]
"""How a text counts in which k groups are seen: 1/k for each, 1 for each, or for none of them."""


@dataclass(frozen=True, slots=True)
class Group:
    """One group of a factor.

    Attributes
    ----------
    key
        What estimates and files call it.
    label, color
        Name in tables and charts, and the colour it keeps ("#rrggbb"; "" takes one by its place).
    also
        Other spellings: in columns, in headers of tables, by raters.
    note
        What a reader must know of it.
    said
        Words that sentences and narrow tables use in place of the label, by where they stand.
    """

    key: str
    label: str
    color: str = ""
    also: tuple[str, ...] = ()
    note: str = ""
    said: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A way to see which group a text is about.

    Attributes
    ----------
    kind, name
        "column", "words", …; and what tells it from the factor's other sources.
    several
        How a text with several groups counts.
    note
        How to read what this source sees.
    """

    kind: str
    name: str
    several: Several = "split"
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnSource(Source):
    """A column of the texts.

    Attributes
    ----------
    column
        Its name.
    separators
        What stands between two values of one cell.
    values
        Spellings → group, as `spelling_key` writes them; with keys, labels and `also` of groups.
    none
        Spellings of "no group".
    """

    column: str
    separators: tuple[str, ...] = ()
    values: Mapping[str, str] = field(default_factory=dict)
    none: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class WordSource(Source):
    """Words and phrases of each group.

    Attributes
    ----------
    words
        Group → words and phrases.
    excluded
        Phrases that do not count, though a word stands in them.
    as_written
        Those of the words that count only with these capitals.
    followed_by
        What must follow a word for it to count; None where nothing must.
    plural
        Whether plurals count.
    """

    words: Mapping[str, tuple[str, ...]]
    excluded: tuple[str, ...] = ()
    as_written: frozenset[str] = frozenset()
    followed_by: frozenset[str] | None = None
    plural: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class NameSource(Source):
    """Names of people: shares describe the people who bear a name, never one of them.

    Attributes
    ----------
    part
        "first" or "last".
    table
        Registered name table, or a file; "" where `names` lists them.
    names
        Group → names.
    spellings
        Group → codes in tables that mean it, beside the group's own spellings.
    by
        Column → value of the rows of the table that are meant, such as a region.
    """

    part: Literal["first", "last"] = "first"
    table: str = ""
    names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    spellings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    by: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceSource(Source):
    """Pronouns and role words that refer to a person.

    Attributes
    ----------
    words
        Group → words, in lower case without punctuation.
    pairs_of
        The factor whose groups the two people of a text are of, for a factor of pairs; or "".
    among
        Words in roles or relationship of a prompt that say that its people are such a pair.
    """

    words: Mapping[str, frozenset[str]] = field(default_factory=dict)
    pairs_of: str = ""
    among: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeSource(Source):
    """Answers of raters.

    Attributes
    ----------
    asked
        The field of their codebook.
    file
        Their answers (CSV: text_id, rater, field, value).
    values, none
        As in `ColumnSource`.
    """

    asked: str
    file: str = ""
    values: Mapping[str, str] = field(default_factory=dict)
    none: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSource(Source):
    """Answers of a language model, which is named when it is asked.

    Attributes
    ----------
    question
        What it is asked; the labels of the groups, "none" and "unknown" are listed below it.
    unit
        Whether it is asked of each text or of each person in it.
    answer
        Whether it may name several groups.
    """

    question: str
    unit: Literal["text", "person"] = "text"
    answer: Literal["one", "several"] = "one"


@dataclass(frozen=True, slots=True)
class Baseline:
    """Shares of the groups in a population.

    Attributes
    ----------
    name, source, date, note
        What it is called, who published it, of when, and what a reader must know.
    stratum
        What its shares are split by, such as "state"; "" for one set of shares.
    shares
        Stratum's value → group → share in 0–1; the value is `EVERYWHERE` without a stratum. Groups
        that the source does not report are absent.
    also
        Further names of a stratum's value.
    notes
        What a reader must know of one stratum.
    """

    name: str
    source: str
    shares: Mapping[str, Mapping[str, float]]
    date: str = ""
    note: str = ""
    stratum: str = ""
    also: Mapping[str, str] = field(default_factory=dict)
    notes: Mapping[str, str] = field(default_factory=dict)

    def of(self, value: str = EVERYWHERE) -> Mapping[str, float] | None:
        """Return the shares of a stratum's value, or None where the baseline has none for it."""
        if not self.stratum:
            return self.shares[EVERYWHERE]
        return self.shares.get(self.also.get(value, value)) or None


@dataclass(frozen=True, slots=True, eq=False)
class Factor:
    """What people are grouped by.

    Attributes
    ----------
    name, label
        Name in files and estimates, and in tables.
    note, source, language
        How it can be misread, where its words and groups come from, and of which language.
    groups, sources, baselines
        Its parts, in the order of the file.
    also
        What else columns of it are called.
    rest
        What tables call people of several groups, of another one, or of none that is known.
    path
        The file; "" for one that ships.
    digest
        Tells one content of the file from another.
    """

    name: str
    label: str
    note: str
    source: str
    language: str
    groups: tuple[Group, ...]
    sources: tuple[Source, ...]
    baselines: tuple[Baseline, ...] = ()
    also: tuple[str, ...] = ()
    rest: tuple[str, ...] = ()
    path: str = ""
    digest: str = ""

    @property
    def keys(self) -> tuple[str, ...]:
        """Keys of the groups, in order."""
        return tuple(group.key for group in self.groups)

    @property
    def labels(self) -> dict[str, str]:
        """Label of each group, by its key."""
        return {group.key: group.label for group in self.groups}

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns of the texts that its sources read."""
        read = (each.column for each in self.sources if isinstance(each, ColumnSource))
        return tuple(dict.fromkeys(read))

    @property
    def files(self) -> tuple[str, ...]:
        """Files beside its own that its sources read."""
        tables = (each.table for each in self.sources if isinstance(each, NameSource))
        codes = (each.file for each in self.sources if isinstance(each, CodeSource))
        return tuple(path for path in (*tables, *codes) if path and Path(path).exists())

    def said(self, where: str) -> dict[str, str]:
        """How sentences or tables name each group there, by its key; its label by default."""
        return {group.key: group.said.get(where, group.label) for group in self.groups}

    def group(self, key: str) -> Group:
        """Return the group of this key.

        Raises
        ------
        UnknownNameError
            Naming the groups there are.
        """
        for group in self.groups:
            if group.key == key:
                return group
        raise self._unknown("group", key, self.keys)

    def find(self, spelling: str) -> str | None:
        """Return the key of the group that is spelled so: its key, label or another spelling.

        >>> Factor("age", "Age", "", "", "", (Group("old", "Elders"),), ()).find(" elders ")
        'old'
        """
        return _spellings(self).get(spelling_key(spelling))

    def baseline(self, name: str) -> Baseline:
        """Return one of its baselines; UnknownNameError names those there are."""
        for each in self.baselines:
            if each.name == name:
                return each
        raise self._unknown("baseline", name, tuple(each.name for each in self.baselines))

    def source_named(self, name: str) -> Source:
        """Return one of its sources; UnknownNameError names those there are."""
        for each in self.sources:
            if each.name == name:
                return each
        raise self._unknown("source", name, tuple(each.name for each in self.sources))

    def _unknown(self, what: str, name: str, known: tuple[str, ...]) -> UnknownNameError:
        return UnknownNameError(
            f"the factor {self.name} has no {what} {name!r}; it has {', '.join(known) or 'none'}."
        )


def spelling_key(spelling: str) -> str:
    """Return a spelling as it is compared: any script, without capitals and needless spaces.

    >>> spelling_key("  Scheduled   CASTE ")
    'scheduled caste'
    """
    return " ".join(unicodedata.normalize("NFKC", spelling).casefold().split())


def _spellings(factor: Factor) -> dict[str, str]:
    return {
        spelling_key(spelling): group.key
        for group in factor.groups
        for spelling in (group.key, group.label, *group.also)
    }


def factor_mark(factor: Factor) -> dict[str, Any]:
    """Return what tells one state of a factor and its files from another, JSON-like."""
    stats = {path: Path(path).stat() for path in factor.files}
    files = {path: f"{stat.st_size}:{stat.st_mtime_ns}" for path, stat in stats.items()}
    return {"digest": factor.digest, "files": files}
