"""Groups: which groups of one or more factors a text shows, by each way of seeing them.

The words of all factors are looked up in one pass over a text. Columns are read by their spellings.
People (their names and references) are read from the annotation of people instead, when
groups are measured.

A lexicon counts mentions, not identities.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import takewhile
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from portrayal.annotate.annotator import UNREAD as WHY_UNREAD
from portrayal.annotate.annotator import Annotator, description
from portrayal.annotate.contexts import LEAST_BEARERS, Context, people_lists, read_context
from portrayal.annotate.group_labels import (
    NONE,
    UNKNOWN,
    UNREAD,
    Answers,
    GroupResponse,
    answers_of,
)
from portrayal.annotate.language import NOT_ENGLISH, is_english
from portrayal.annotate.people.any_text.everyone import find_everyone
from portrayal.annotate.people.shared.words import FUNCTION_WORDS, TITLES, bearers
from portrayal.annotate.word_match import TOKEN, Entry, Words, WordTable, fold, tokens, variants
from portrayal.errors import OptionError
from portrayal.reference.factors import (
    ColumnSource,
    Factor,
    ModelSource,
    Source,
    WordSource,
    factor_mark,
    load_factor,
    sources_of,
    spelling_key,
)
from portrayal.reference.shipped import plural
from portrayal.run.directory import Run

EXCLUDED = -1
"""Column of phrases that do not count."""


class WordMatch(NamedTuple):
    """Words of a text that stand for a group.

    Attributes
    ----------
    lexicon, column
        Of which lexicon, and its column.
    start, end
        Where they stand.
    nameable
        Whether a person may be called so, as nothing beside them says what they mean.
    """

    lexicon: int
    column: int
    start: int
    end: int
    nameable: bool = False


@dataclass
class GroupWordTable:
    """The words of the groups of several factors, looked up together.

    Attributes
    ----------
    words
        What each phrase stands for.
    telling
        The rarest word of each phrase that counts; a text without any of them shows no group.
    """

    words: WordTable = field(default_factory=WordTable)
    telling: set[str] = field(default_factory=set)

    def add(self, lexicon: int, source: WordSource, groups: Sequence[str]) -> None:
        """Add the words of a source, whose columns are the places of its groups in `groups`."""
        # Excluded phrases first: what was put in before stays
        for phrase in source.excluded:
            for words in variants(phrase):
                self.words.add(lexicon, words, Entry(EXCLUDED, len(words)))
        counted: list[tuple[Mapping[str, tuple[str, ...]], Context | None]] = [(source.words, None)]
        counted += [(word_context.compounded, None) for word_context in source.contexts]
        counted += [(of.phrases, read_context(of, source.lists)) for of in source.contexts]
        for words_of, context in counted:
            for group, phrases in words_of.items():
                for phrase in phrases:
                    written = phrase if phrase in source.as_written else ""
                    place = (context.holds, bool(context.required)) if context else ()
                    # The rarest word of each form tells whether a text need be read at all
                    for words in sorted(_forms(phrase, plurals=source.plural)):
                        entry = Entry(groups.index(group), len(words), written, *place)
                        self.words.add(lexicon, words, entry)
                        # Figures are rarer than "years" or "boy" beside them
                        rarity = {
                            w: (w not in FUNCTION_WORDS, w[0].isdigit(), len(w)) for w in words
                        }
                        self.telling.add(max(words, key=rarity.__getitem__))

    def find(self, text: str) -> list[WordMatch]:
        """Return the words of a text that stand for groups; of overlapping phrases the longest."""
        # Most texts end here: what follows is slow
        flat = text.replace("_", " ")
        plain = flat.isascii()
        words = TOKEN.findall(flat.lower()) if plain else map(fold, TOKEN.findall(flat))
        if self.telling.isdisjoint(words):
            return []
        matches: list[WordMatch] = []
        text_tokens = tokens(text)
        for hit in self.words.find(text, text_tokens):
            # Excluded phrases use up their words too: that is what they are for
            if hit.entry.column == EXCLUDED:
                continue
            is_name = None
            if hit.last == hit.first + 1 and not hit.entry.in_context:
                before, after = (
                    text_tokens[i].word if 0 <= i < len(text_tokens) else ""
                    for i in (hit.first - 1, hit.last)
                )
                is_name = _as_name(text, hit.start, hit.end, (before, after))
            if is_name is not True:
                place = hit.lexicon, hit.entry.column, hit.start, hit.end
                matches.append(WordMatch(*place, is_name is False))
        return matches


def _as_name(text: str, start: int, end: int, words_beside: tuple[str, str]) -> bool | None:
    """Whether a word opens a full name; False where a person may have it, None where none has.

    "Muslim Ahmed" is a name, as the word is a first name and no word for people follows; "Islam" or
    the last name in "Frank Church" may be one.
    """
    if not text[start].isupper():
        return None
    before, after = words_beside
    if bearers(text[start:end].casefold()) > 0:
        # A capital behind it: the word may be a first name
        full = text[end : end + 1] == " " and text[end + 1 : end + 2].isupper()
        return full and after not in people_lists()["person"]
    first = start - len(before) - 1
    is_name = first >= 0 and text[first].isupper() and bearers(before) >= LEAST_BEARERS
    is_name = is_name or before in TITLES
    return False if is_name else None


def without_names(text: str, matches: Sequence[WordMatch]) -> list[WordMatch]:
    """Return matches but those that are the name of a person of the text.

    Examples
    --------
    >>> table = GroupWordTable()
    >>> table.add(0, WordSource(kind="words", words={"here": ("church",)}), ("here",))
    >>> text = "Frank Church walked past the church."
    >>> [match.start for match in without_names(text, table.find(text))]
    [29]
    """
    # To find people takes long, and is done only where a match may be a name, and in English
    if not any(match.nameable for match in matches) or not is_english(text):
        return [*matches]
    names: list[tuple[int, int]] = []
    # By rules: a name that only a pronoun tells is one in a hundred, and takes twenty times as long
    for person in find_everyone(text, refer=None):
        for span in (span for span in person.spans if span.kind == "name"):
            name = text[span.start : span.end].split()
            # Titles stand before a name and are no part of it
            titles = takewhile(lambda word: word.strip(".").lower() in TITLES, name[:-1])
            names.append((span.start + sum(len(title) + 1 for title in titles), span.end))
    return [
        match
        for match in matches
        if not match.nameable
        or not any(start < match.end and match.start < end for start, end in names)
    ]


def _forms(phrase: str, *, plurals: bool) -> set[Words]:
    """Ways of writing a phrase, in singular and, if wanted, plural."""
    forms = variants(phrase)
    if plurals:
        last = [(words[:-1], words[-1]) for words in sorted(forms)]
        forms = forms | {(*head, end + "s") for head, end in last}
        forms |= {(*head, plural(end)) for head, end in last if len(end) > 1}
    return forms


@dataclass(frozen=True)
class GroupReader:
    """Reads texts for the groups of factors.

    Attributes
    ----------
    sources
        The sources that texts themselves answer: (factor, source), in order.
    """

    sources: tuple[tuple[Factor, Source], ...]
    _table: GroupWordTable
    _answers: Answers

    def __call__(
        self, rows: Sequence[Mapping[str, Any]], strata: Sequence[Mapping[str, str]]
    ) -> list[dict[str, Any]]:
        """Return the annotation of each text row."""
        return [self._row(row, text_strata) for row, text_strata in zip(rows, strata, strict=True)]

    def _row(self, row: Mapping[str, Any], strata: Mapping[str, str]) -> dict[str, Any]:
        text = row["text"] if row["outcome"] == "ok" else ""
        words: dict[int, list[WordMatch]] = {}
        for match in without_names(text, self._table.find(text)) if text else ():
            words.setdefault(match.lexicon, []).append(match)
        own_columns = dict(row.get("columns") or ())
        observations: list[dict[str, Any]] = []
        short: list[str] = []
        for number, (factor, source) in enumerate(self.sources):
            keys, hits = factor.keys, words.get(number, ())
            responses: list[tuple[GroupResponse, str | None]] = []
            if isinstance(source, ModelSource):
                # What it said of the text, or of each person in it
                responses += self._answers.said(factor, source, row["text_id"], text)
            elif isinstance(source, WordSource):
                response = GroupResponse.of((hit.column for hit in hits), NONE if text else UNREAD)
                # The words of a factor that ships are English: in other texts they would be none
                if row.get(WHY_UNREAD) and not factor.path:
                    response, hits = GroupResponse(UNREAD, (), NOT_ENGLISH), ()
                mentioned = dict.fromkeys(text[hit.start : hit.end] for hit in hits)
                responses.append((response, "; ".join(mentioned) if hits else None))
            else:
                assert isinstance(source, ColumnSource)
                # The text's own column goes before that of its prompt
                cell = own_columns.get(source.column) or strata.get(source.column, "")
                responses.append((of_cell(source, cell, keys), cell or None))
            # Said in short, so that texts that say the same are counted together
            short.append("&".join(response.short() for response, _ in responses))
            spans = [
                {"start": hit.start, "end": hit.end, "group": keys[hit.column]} for hit in hits
            ]
            observations += [
                {
                    **{"factor": factor.name, "source": source.name, "status": response.status},
                    **{
                        "groups": [keys[place] for place in response.places],
                        "value": value or None,
                    },
                    "spans": spans,
                }
                for response, value in responses
                if value is not None  # a model's answer stands there also where it is empty
            ]
        return {"seen": observations, "said": "|".join(short)}


def of_cell(source: ColumnSource, cell: str, keys: Sequence[str]) -> GroupResponse:
    """Return what a cell of a column says.

    A cell of several values counts those that are known; it is unknown where none is.

    Examples
    --------
    >>> source = load_factor("religion").sources[1]
    >>> of_cell(source, "hindu/Buddhist", load_factor("religion").keys).status
    'several'
    """
    spelled = [spelling_key(cell)]
    # A value with a separator in its name is looked up whole first
    if spelled[0] not in source.values and spelled[0] not in source.none:
        for separator in source.separators:
            spelled = [piece for part in spelled for piece in part.split(separator.casefold())]
        spelled = [spelling_key(part) for part in spelled]
    places = [keys.index(source.values[key]) for key in spelled if key in source.values]
    has_none = bool(cell) and any(key in source.none for key in spelled)
    return GroupResponse.of(places if cell else (), NONE if has_none else UNKNOWN)


def group_settings(factors: Sequence[str | Path]) -> dict[str, Any]:
    """Return the settings of `groups.v3`: the factors, and the state of their files.

    Raises
    ------
    OptionError
        When two factors have one name, or one has no source.
    DataError, UnknownNameError
        When one cannot be read.

    Examples
    --------
    >>> group_settings(["religion"])["factors"]
    ['religion']
    """
    read = [load_factor(spec) for spec in factors]
    names = [factor.name for factor in read]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise OptionError(f"two factors are called {twice[0]!r}: give one of them another name.")
    if bare := [factor.name for factor in read if not factor.sources]:
        raise OptionError(
            f"the factor {bare[0]} names groups that only studies of stories count; leave it out."
        )
    specs = [factor.path or factor.name for factor in read]
    return {"factors": specs, "state": [factor_mark(factor) for factor in read]}


def text_sources(factors: Sequence[Factor]) -> tuple[tuple[Factor, Source], ...]:
    """Return the sources that texts themselves answer, in order, each with its factor."""
    return sources_of(factors, WordSource, ColumnSource, ModelSource)


def group_reader(factors: Sequence[Factor], answers: Answers | None = None) -> GroupReader:
    """Return the reader of the groups of these factors, with what a model has answered."""
    sources = text_sources(factors)
    table = GroupWordTable()
    for number, (factor, source) in enumerate(sources):
        if isinstance(source, WordSource):
            table.add(number, source, factor.keys)
    return GroupReader(sources, table, answers or Answers())


@lru_cache(maxsize=4)
def _reader(settings: str) -> GroupReader:
    parameters = json.loads(settings)
    answers = None
    if "asked" in parameters:
        answers = answers_of(Run(Path(parameters["run"])), **parameters["asked"])
    return group_reader([load_factor(spec) for spec in parameters["factors"]], answers)


_SPAN = pa.struct([("start", pa.int32()), ("end", pa.int32()), ("group", pa.string())])
SEEN = pa.struct(
    [
        ("factor", pa.string()),
        ("source", pa.string()),
        ("status", pa.string()),
        ("groups", pa.list_(pa.string())),
        ("value", pa.string()),
        ("spans", pa.list_(_SPAN)),
    ]
)
GROUPS = Annotator(
    **description("groups.v3"),
    schema=pa.schema([pa.field("seen", pa.list_(SEEN)), pa.field("said", pa.string())]),
    setup=lambda settings: _reader(json.dumps(settings, sort_keys=True)),
    per_shard=True,
    every_row=True,
    in_run=True,
    # The words of factors that ship are English
    any_language=lambda settings: all(
        factor.path
        for factor, _ in sources_of([*map(load_factor, settings["factors"])], WordSource)
    ),
)
