"""Factors: what people are grouped by, as data.

A *factor* lists its groups, how a group is seen in texts (its *sources*: a column, words, names,
references, a model) and the shares of the groups in some population (its *baselines*). One
TOML file says all of it; a user's own file is read and checked as the shipped ones are.

A lexicon counts mentions, not identities. Shares of a name's bearers describe these bearers, never
a person.
"""

import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from portrayal.reference.datafile import (
    KEY,
    Catalogue,
    DataFile,
    Holds,
    KeyName,
    Keys,
    Line,
    Name,
    Problems,
    Share,
    Term,
    Word,
    file_states,
)
from portrayal.reference.patterns import PEOPLE_LISTS, WordContext, check_context
from portrayal.reference.shipped import data_file, read_toml

EVERYWHERE = "all"
"""The stratum of a baseline that has none."""

_TOLERANCE = 0.005
"""How far rounded shares may sum from 1."""


def is_color(text: str) -> bool:
    """Whether text is a colour as factors write it ("#rrggbb")."""
    return re.fullmatch(r"#[0-9A-Fa-f]{6}", text) is not None


def spelling_key(spelling: str) -> str:
    """Return a spelling as it is compared: any script, without capitals and needless spaces.

    >>> spelling_key("  Scheduled   CASTE ")
    'scheduled caste'
    """
    return " ".join(unicodedata.normalize("NFKC", spelling).casefold().split())


_FOLDED = Holds(
    reads=Mapping[str, tuple[Term, ...]],
    convert=lambda words: {group: frozenset(map(str.casefold, w)) for group, w in words.items()},
)
_SPELLINGS = Holds(
    reads=tuple[Word, ...], convert=lambda words: frozenset(map(spelling_key, words))
)
_BY_GROUP = Holds(reads=Mapping[str, tuple[Word, ...]])
_ONE_OR_MORE = Holds(
    reads=str | tuple[str, ...], convert=lambda signs: (signs,) if isinstance(signs, str) else signs
)
_AS_TEXT = Holds(reads=Mapping[str, Any], convert=lambda by: {k: str(v) for k, v in by.items()})


@dataclass(frozen=True, slots=True)
class Group:
    """One group of a factor.

    Attributes
    ----------
    key
        What estimates and files call it.
    label, color
        Name in tables and charts (the key by default), and the colour it keeps ("#rrggbb"; "" takes
        one by its place).
    also
        Other spellings: in columns, in headers of tables, by raters.
    note
        What a reader must know of it.
    said
        Words that sentences and narrow tables use in place of the label, by where they stand.
    """

    key: Annotated[str, KEY]
    label: Line = ""
    color: Annotated[str, Holds('a colour as "#rrggbb"', lambda c: not c or is_color(c))] = ""
    also: tuple[Word, ...] = ()
    note: Line = ""
    said: Mapping[str, Line] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Take the key for a label where none is given."""
        object.__setattr__(self, "label", self.label or self.key)


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A way to see which group a text is about.

    Attributes
    ----------
    kind, name
        "column", "words", …; and what tells it from the factor's other sources (by default the
        kind).
    note
        How to read what this source sees.
    """

    kind: str
    name: Line = ""
    note: Line = ""

    def __post_init__(self) -> None:
        """Take the kind for a name where none is given."""
        object.__setattr__(self, "name", self.name or self.kind)


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
    none, unknown
        Spellings of "no group", and of what is not known.
    """

    kind: Literal["column"] = "column"
    column: Line
    values: Annotated[Mapping[str, str], _BY_GROUP] = field(default_factory=dict)
    none: Annotated[frozenset[str], _SPELLINGS] = frozenset()
    unknown: Annotated[frozenset[str], _SPELLINGS] = frozenset()
    separators: Annotated[tuple[str, ...], KeyName("separator"), _ONE_OR_MORE] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class WordSource(Source):
    """Words and phrases of each group; in English texts not where they name a person.

    Attributes
    ----------
    words
        Group → words and phrases.
    contexts
        Further ones, that count only beside certain other words.
    lists
        Name → words that patterns of the contexts call by it: "{name}".
    excluded
        Phrases that do not count, though a word stands in them.
    as_written
        Those of the words that count only with these capitals.
    plural
        Whether plurals count.
    """

    kind: Literal["words"] = "words"
    words: Mapping[str, tuple[Term, ...]] = field(default_factory=dict)
    contexts: tuple[WordContext, ...] = ()
    lists: Mapping[Name, tuple[Word, ...]] = field(default_factory=dict)
    excluded: Annotated[tuple[Word, ...], KeyName("not")] = ()
    as_written: frozenset[Word] = frozenset()
    plural: bool = True

    @property
    def listed(self) -> dict[str, tuple[str, ...]]:
        """Group → words, those that need a context among them; () where numbers alone tell it."""
        groups = dict.fromkeys(self.words)
        for context in self.contexts:
            groups |= dict.fromkeys((*context.words, *context.numbers))
        lists = [self.words, *(context.words for context in self.contexts)]
        return {g: tuple(word for words in lists for word in words.get(g, ())) for g in groups}


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

    kind: Literal["names"] = "names"
    part: Literal["first", "last"] = "first"
    table: Line = ""
    names: Mapping[str, tuple[Term, ...]] = field(default_factory=dict)
    spellings: Mapping[str, tuple[Term, ...]] = field(default_factory=dict)
    by: Annotated[Mapping[str, str], _AS_TEXT] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceSource(Source):
    """Pronouns and role words that refer to a person.

    Attributes
    ----------
    words
        Group → words, in lower case without punctuation.
    """

    kind: Literal["references"] = "references"
    words: Annotated[Mapping[str, frozenset[str]], _FOLDED]

    @property
    def listed(self) -> Mapping[str, Collection[str]]:
        """Group → words."""
        return self.words


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

    kind: Literal["model"] = "model"
    question: Line
    unit: Literal["text", "person"] = "text"
    answer: Literal["one", "several"] = "one"


@dataclass(frozen=True)
class _BaselineTable:
    """A baseline as a file says it: shares, or tables of shares by the value of a stratum."""

    name: Line
    source: Line
    date: Any = ""
    note: Line = ""
    stratum: Line = ""
    missing: tuple[Word, ...] = ()
    whole: bool = True
    shares: Mapping[str, Share] | None = None
    of: Mapping[str, Mapping[str, Any]] | None = None


@dataclass(frozen=True, slots=True)
class FactorBaseline:
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


_AnySource = ColumnSource | WordSource | NameSource | ReferenceSource | ModelSource


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
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
    exchange
        Words by group that stand in one another's place, as many of each.
    path
        The file; "" for one that ships.
    digest
        Tells one content of the file from another.
    """

    name: Name
    label: Line
    note: Line
    source: Line = ""
    language: Line = ""
    groups: tuple[Group, ...]
    sources: Annotated[tuple[Source, ...], Holds(reads=tuple[_AnySource, ...])] = ()
    baselines: Annotated[tuple[FactorBaseline, ...], Holds(reads=tuple[_BaselineTable, ...])] = ()
    also: tuple[Word, ...] = ()
    rest: tuple[Word, ...] = ()
    exchange: Annotated[
        Mapping[str, tuple[Word, ...]],
        Holds("as many words of each group", lambda lists: len({*map(len, lists.values())}) < 2),
    ] = field(default_factory=dict)
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
        read = (source.column for source in self.sources if isinstance(source, ColumnSource))
        return tuple(dict.fromkeys(read))

    @property
    def files(self) -> tuple[str, ...]:
        """Files beside its own that its sources read."""
        tables = (source.table for source in self.sources if isinstance(source, NameSource))
        return tuple(path for path in tables if path and Path(path).exists())

    def said(self, context: str) -> dict[str, str]:
        """How sentences or tables name each group there, by its key; its label by default."""
        return {group.key: group.said.get(context, group.label) for group in self.groups}

    def find(self, spelling: str) -> str | None:
        """Return the key of the group that is spelled so: its key, label or another spelling.

        >>> old = Group("old", "Elders")
        >>> Factor(name="age", label="Age", note="", groups=(old,), sources=()).find(" elders ")
        'old'
        """
        for group in reversed(self.groups):
            spellings = (group.key, group.label, *group.also)
            if spelling_key(spelling) in map(spelling_key, spellings):
                return group.key
        return None


Kind = TypeVar("Kind", bound=Source)


def sources_of(factors: Iterable[Factor], *kinds: type[Kind]) -> tuple[tuple[Factor, Kind], ...]:
    """Return the sources of some kinds, in order, each with its factor."""
    return tuple((f, source) for f in factors for source in f.sources if isinstance(source, kinds))


def factor_mark(factor: Factor) -> dict[str, Any]:
    """Return what tells one state of a factor and its files from another, JSON-like."""
    return {"digest": factor.digest, "files": file_states(factor.files)}


def factors() -> tuple[str, ...]:
    """Return the names of the factors that ship, sorted.

    >>> {"gender", "race", "religion"} <= set(factors())
    True
    """
    return _FACTORS.names


def load_factor(spec: str | Path) -> Factor:
    """Return a factor that ships, or read one from a file.

    Parameters
    ----------
    spec
        A name from `factors()`, or the path of a TOML file; see docs/factors.md for its keys.

    Raises
    ------
    UnknownNameError
        If `spec` is neither.
    DataError
        If the file is no factor: one line with file, line, key and what was expected.

    Examples
    --------
    >>> load_factor("gender").keys
    ('F', 'M', 'NB')
    """
    return _FACTORS.load(spec)


def _read(_: str, file: DataFile) -> Factor:
    """The factor that a file says, its parts checked against one another."""
    path = "" if file.path is None else str(file.path.absolute())
    factor = file.record(Factor, path=path, digest=file.digest)
    if not factor.groups:
        raise file.wrong(("groups",), "expected at least one group, headed [groups.NAME].")
    # Couples, which ship, are read by the measures of stories alone
    if not factor.sources and file.path is not None:
        raise file.wrong(("sources",), "expected at least one source, headed [[sources]].")
    problems, spellings = Problems(file), dict[str, str]()
    for group in factor.groups:
        place: Keys = ("groups", group.key)
        also = [((*place, "also", i), spelling) for i, spelling in enumerate(group.also)]
        for keys, spelling in [(place, group.key), ((*place, "label"), group.label), *also]:
            _hold(problems, keys, spelling, group.key, spellings)
    sources = []
    for i, source in enumerate(factor.sources):
        with problems.noted():
            source_place: Keys = ("sources", i)
            sources.append(_checked_source(problems, source_place, source, factor, spellings))
    several = any(isinstance(e, ModelSource) and e.answer == "several" for e in factor.sources)
    words = [e.listed for e in factor.sources if isinstance(e, (WordSource, ReferenceSource))]
    # A group without words is an oversight only where words are the only way to see one
    by_words = 0 < len(words) == len(factor.sources)
    for group in factor.groups:
        place = ("groups", group.key)
        if several and ";" in group.label:
            problems.add(
                place, f"semicolons part the labels of an answer; {group.label!r} has one."
            )
        if by_words and not any(group.key in keys for keys in words):
            problems.add(place, "the group is empty: no source lists a word for it.")
    for key in factor.exchange:
        _known_group(problems, ("exchange", key), key, factor)
    baselines = []
    for i in range(len(factor.baselines)):
        with problems.noted():
            baselines.append(_checked_baseline(file, ("baselines", i), factor))
    for key, parts in (("sources", factor.sources), ("baselines", factor.baselines)):
        with problems.noted():
            file.differ((key,), [part.name for part in parts])
    problems.tell()
    return replace(factor, sources=tuple(sources), baselines=tuple(baselines))


_FACTORS = Catalogue("a factor", data_file("factors"), _read)


def _hold(
    problems: Problems, keys: Keys, spelling: str, group: str, group_of: dict[str, str]
) -> None:
    """Let a spelling mean a group, unless it means another one."""
    other = group_of.setdefault(spelling_key(spelling), group)
    if other != group:
        problems.add(
            keys,
            f"{spelling!r} stands for the group {other!r} already, and here for {group!r}. "
            "Groups must not overlap: keep it in one.",
        )


def _known_group(problems: Problems, keys: Keys, group: str, factor: Factor) -> None:
    if group not in factor.keys:
        problems.add(keys, f"{group!r} is no group; the groups are {', '.join(factor.keys)}.")


def _checked_source(
    problems: Problems, place: Keys, source: Source, factor: Factor, spellings: Mapping[str, str]
) -> Source:
    """A source whose words, names and values are of the factor's groups, each of one."""
    table, values = problems.file.at(place), dict(spellings)
    for key in ("words", "names", "spellings", "values"):
        # Cells are read by labels as well, so that a value may not mean another group than a label.
        group_of = values if key == "values" else {}
        for group, words in table.get(key, {}).items():
            keys: Keys = (*place, key, group)
            _known_group(problems, keys, group, factor)
            if not words and key != "values":
                problems.add(keys, f"the group {group!r} is empty; list at least one.")
            for i, word in enumerate(words):
                _hold(problems, (*keys, i), word, group, group_of)
    if isinstance(source, ColumnSource):
        for key in ("none", "unknown"):
            for i, spelling in enumerate(table.get(key, ())):
                if group := values.get(spelling_key(spelling)):
                    message = f"{spelling!r} stands for the group {group!r} already."
                    problems.add((*place, key, i), message)
        return replace(source, values=values)
    if isinstance(source, WordSource):
        _check_words(problems, place, source, factor)
        # A word that is listed twice counts once
        return replace(source, words={g: tuple(dict.fromkeys(w)) for g, w in source.words.items()})
    if isinstance(source, NameSource):
        if bool(source.table) == bool(source.names):
            problems.add(place, "expected either the key 'table' or the key 'names'.")
        registered = tuple(read_toml("name_tables.toml"))
        if source.table and source.table not in registered:
            need = f"none of the registered tables ({', '.join(registered)})"
            path = problems.file.beside((*place, "table"), source.table, need)
            return replace(source, table=path)
    return source


def _check_words(problems: Problems, place: Keys, source: WordSource, factor: Factor) -> None:
    """Note contexts of words that are of no group, and patterns that say nothing."""
    if not source.listed:
        problems.add(place, "the key 'words' is missing.")
    spellings = {spelling_key(word): g for g, words in source.words.items() for word in words}
    for number, context in enumerate(source.contexts):
        keys: Keys = (*place, "contexts", number)
        for group, (least, most) in context.numbers.items():
            _known_group(problems, (*keys, "numbers", group), group, factor)
            if least > most:
                problems.add((*keys, "numbers", group), f"{least} is greater than {most}.")
        for group, words in context.words.items():
            _known_group(problems, (*keys, "words", group), group, factor)
            for i, word in enumerate(words):
                _hold(problems, (*keys, "words", group, i), word, group, spellings)
        with problems.noted():
            check_context(problems.file, keys, context, (*PEOPLE_LISTS, *source.lists))
    for i, word in enumerate(problems.file.at(place).get("as_written", ())):
        if spelling_key(word) not in spellings:
            problems.add((*place, "as_written", i), f"{word!r} is none of the words.")


def _checked_baseline(file: DataFile, place: Keys, factor: Factor) -> FactorBaseline:
    """A baseline whose shares are of the factor's groups and sum to 1, or a note says why not."""
    table = file.record(_BaselineTable, place)
    if (table.shares is None) == (table.of is None):
        raise file.wrong(place, "expected either the key 'shares' or tables [baselines.of.NAME].")
    if (table.of is None) == bool(table.stratum):
        message = "'stratum' says what [baselines.of.NAME] are: give both or neither."
        raise file.wrong(place, message)
    problems = Problems(file)
    for i, group in enumerate(table.missing):
        _known_group(problems, (*place, "missing", i), group, factor)
    if not table.whole and not table.note:
        raise file.wrong(place, "shares that are not whole need a 'note' that says why.")
    shares: dict[str, dict[str, float]] = {}
    also, notes = dict[str, str](), dict[str, str]()
    places = [(value, (*place, "of", value)) for value in table.of or ()]
    for value, keys in places or [(EVERYWHERE, (*place, "shares"))]:
        shares[value] = {}
        for group in file.at(keys):
            if table.of and group == "also":
                also |= dict.fromkeys(file.value(tuple[Word, ...], (*keys, "also")), value)
            elif table.of and group == "note":
                notes[value] = file.value(Line, (*keys, "note"))
            else:
                _known_group(problems, (*keys, group), group, factor)
                shares[value][group] = file.value(Share, (*keys, group))
        problems.tell()
        lacking = [g for g in factor.keys if g not in {*shares[value], *table.missing}]
        if lacking and table.whole:
            raise file.wrong(
                keys,
                f"no share for the group {lacking[0]!r}. Add it, or list it under 'missing' if the "
                "source does not report it.",
            )
        total = sum(shares[value].values())
        # Printed shares are rounded, so they may miss 1 by a little
        if table.whole and abs(total - 1.0) > _TOLERANCE:
            raise file.wrong(
                keys,
                f"the shares sum to {total:.4g}, not to 1. Correct them, or set whole = false and "
                "say in 'note' why groups overlap or people are in none.",
            )
    facts = shares, str(table.date), table.note, table.stratum, also, notes
    return FactorBaseline(table.name, table.source, *facts)
