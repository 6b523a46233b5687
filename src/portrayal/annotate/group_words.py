"""Group words: how often each sentence of a text mentions each group of one or more lexicons."""

import json
import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import isnan
from pathlib import Path
from typing import Any

import pyarrow as pa

from portrayal.annotate.agency.masking import name_spans
from portrayal.annotate.annotator import SPAN, Annotator, description
from portrayal.annotate.people.shared.words import NEVER_NAMES
from portrayal.annotate.sentences import sentences
from portrayal.annotate.word_match import Entry, Token, WordTable, tokens, variants
from portrayal.collect.tables import read_table
from portrayal.errors import DataError, OptionError
from portrayal.reference.datafile import file_states
from portrayal.reference.groups import RACES
from portrayal.reference.lexicons import GroupLexicon, lexicon, lexicons
from portrayal.reference.names import mena_nhpi_table, name_table, race_likelihoods


def first_names(text: str, inside: Sequence[Token], used: set[int]) -> Iterator[Token]:
    """Yield the first word of each name of two words or more in a sentence.

    Names are those of `portrayal.annotate.agency.masking.name_spans`, of no place, month or paper.
    Positions in `used` are passed over.

    Parameters
    ----------
    text, inside
        A text, and the words of one of its sentences.
    used
        Positions of words that are counted already.
    """
    if not inside:
        return
    starts, begin = [token.start for token in inside], inside[0].start
    for start, end in name_spans(text[begin : inside[-1].end], usual=NEVER_NAMES):
        first, last = (bisect_left(starts, begin + place) for place in (start, end))
        if last - first > 1 and used.isdisjoint(range(first, last)):
            yield inside[first]


@lru_cache(maxsize=65536)
def name_shares(name: str, labels: tuple[str, ...]) -> tuple[float, ...] | None:
    """Return the shares of a first name's bearers in `labels`; None where no table lists it.

    Labels of which no table speaks have the share 0.

    Examples
    --------
    >>> [round(share, 2) for share in name_shares("Maria", ("White", "Latine"))]
    [0.14, 0.81]
    """
    row = race_likelihoods([name], name_table(), mena_nhpi_table())[0]
    share_of = dict(zip(RACES, row.tolist(), strict=True))
    # Two tables speak of a name; without the first there is no share of most races
    if isnan(share_of[RACES[0]]):
        return None
    # Never renormalised: the two tables are of different people
    shares = (share_of.get(label, 0.0) for label in labels)
    return tuple(0.0 if isnan(share) else share for share in shares)


def people_table(path: str | Path) -> dict[str, str]:
    """Read the user's own table of people: full name → race, as they decided it.

    Parameters
    ----------
    path
        A file with the columns person and race.

    Raises
    ------
    DataError
        If a column or a value is missing, or a person has two races.
    """
    table: dict[str, str] = {}
    # The header is row 1, as in a spreadsheet
    for number, row in enumerate(read_table(str(path), ("person", "race"), columns=()), 2):
        person, race = row["person"].strip(), row["race"].strip()
        if not (person and race):
            raise DataError(f"{path}, row {number}: expected a person and a race; a cell is empty.")
        if table.setdefault(person, race) != race:
            raise DataError(
                f"{path}, row {number}: {person!r} has the race {race!r} here and "
                f"{table[person]!r} above. Keep one row for each person."
            )
    return table


RACE = "race"
RACE_LEXICON = "race-occupations"
DEFAULT_LEXICONS = ("liang-2022", RACE_LEXICON)
NAMED = -1
"""What stands for a column where a person counts by a first name, in fractions of several."""
PEOPLE, NAMES = "+people", "+names"
"""Endings of a race lexicon's name where named people count as well, from the user's table or,
a departure from the paper, by the race shares of the bearers of their first names."""

_WRITTEN_WORD = re.compile(r"[^\W_]\S*")
_HIT = pa.struct([("start", pa.int32()), ("end", pa.int32()), ("column", pa.int16())])


def group_word_settings(
    lexicons: Sequence[str] = DEFAULT_LEXICONS,
    people: str | Path | None = None,
    name_likelihoods: bool = False,
) -> dict[str, Any]:
    """Return the settings of `group_words.v2`, checked.

    Parameters
    ----------
    lexicons
        Names of registered lexicons, or paths of the user's own.
    people
        The user's table of people (CSV: person, race); they count for race.
    name_likelihoods
        Whether people named by first and last name count for race by the shares of the bearers
        of the first name, in fractions: a departure from the paper, which looked each person up.

    Returns
    -------
    dict
        With `columns`, the names "lexicon/attribute/group" of what is counted, in order, and the
        state of each file, so that a changed file is counted again.

    Raises
    ------
    OptionError
        When no lexicon is named, or two have one name.
    DataError, UnknownNameError
        When a lexicon or the table of people cannot be read.

    Examples
    --------
    >>> group_word_settings(("race-occupations",))["columns"]
    ['race-occupations/race/White', 'race-occupations/race/Black', 'race-occupations/race/Asian']
    """
    specs = [str(spec) for spec in lexicons]
    if not specs and people is None and not name_likelihoods:
        raise OptionError("name at least one lexicon, such as liang-2022.")
    settings: dict[str, Any] = {
        "lexicons": specs,
        "people": None if people is None else str(people),
        "name_likelihoods": bool(name_likelihoods),
    }
    counted = _counted(settings)
    # Columns are named by lexicon, so two of one name could not be told apart
    names = [counter.name for counter in counted]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise OptionError(f"two lexicons are called {twice[0]!r}: rename one of the files.")
    files = [Path(spec) for spec in [*specs, *([str(people)] if people else [])]]
    settings["columns"] = [f"{x.name}/{x.attribute}/{group}" for x in counted for group in x.groups]
    # A file that was edited is read again
    settings["files"] = file_states(path for path in files if path.is_file())
    return settings


@dataclass(frozen=True)
class Counter:
    """Counts group words; `names` lists the first column and labels of each race lexicon."""

    table: WordTable
    n_columns: int
    names: tuple[tuple[int, tuple[str, ...]], ...] = ()

    def __call__(self, row: Mapping[str, Any], _: Mapping[str, str]) -> dict[str, Any]:
        """Return the annotation of one text row."""
        text = row["text"]
        spans = sentences(text)
        text_tokens = tokens(text)
        starts = [token.start for token in text_tokens]
        counts: list[list[float]] = []
        hits: list[dict[str, int]] = []
        for span in spans:
            # Tokens and sentences are both in order
            n_before = bisect_left(starts, span[1])
            counts.append(self._sentence(text, text_tokens[:n_before], hits))
            text_tokens, starts = text_tokens[n_before:], starts[n_before:]
        return {
            "words": sum(len(_WRITTEN_WORD.findall(text, *span)) for span in spans),
            "sentences": [{"start": start, "end": end} for start, end in spans],
            "counts": counts,
            "spans": hits,
        }

    def _sentence(self, text: str, inside: list[Token], hits: list[dict[str, int]]) -> list[float]:
        counts = [0.0] * self.n_columns
        hits_found = self.table.find(text, inside)
        for hit in hits_found:
            column = hit.entry.column
            counts[column] += 1.0
            hits.append({"start": hit.start, "end": hit.end, "column": column})
        for first, labels in self.names:
            columns = range(first, first + len(labels))
            own_hits = [hit for hit in hits_found if hit.entry.column in columns]
            # Whoever the user's table names is not counted again by the first name
            used = {position for hit in own_hits for position in range(hit.first, hit.last)}
            for name in first_names(text, inside, used):
                shares = name_shares(name.written, labels)
                if shares is None:
                    continue
                for column, share in zip(columns, shares, strict=True):
                    counts[column] += share
                hits.append({"start": name.start, "end": name.end, "column": NAMED})
        return counts


@lru_cache(maxsize=4)
def _counter(settings_json: str) -> Counter:
    settings = json.loads(settings_json)
    races = people_table(settings["people"]) if settings["people"] is not None else {}
    table, column, names = WordTable(), 0, []
    for number, group_lexicon in enumerate(_counted(settings)):
        by_race = group_lexicon.attribute == RACE
        if settings["name_likelihoods"] and by_race:
            names.append((column, group_lexicon.groups))
        followed_by = group_lexicon.followed_by
        # What must follow ("Black" before an occupation) is checked and not marked
        tails = [()] if followed_by is None else [v for f in followed_by for v in variants(f)]
        for group, words in zip(group_lexicon.groups, group_lexicon.words, strict=True):
            people = [name for name, race in races.items() if by_race and race == group]
            for phrases, endings in ((words, tails), (people, [()])):
                for form in (form for phrase in phrases for form in variants(phrase)):
                    for ending in endings:
                        table.add(number, (*form, *ending), Entry(column, len(form)))
            column += 1
    return Counter(table, column, tuple(names))


def _counted(settings: Mapping[str, Any]) -> list[GroupLexicon]:
    """The lexicons by name, with the races of the user's table as further groups."""
    group_lexicons = [lexicon(spec) for spec in settings["lexicons"]]
    people = settings["people"]
    if people is None and not settings["name_likelihoods"]:
        return group_lexicons
    if not any(group_lexicon.attribute == RACE for group_lexicon in group_lexicons):
        group_lexicons.append(GroupLexicon("named-people", RACE, {}, "named people"))
    races = tuple(dict.fromkeys(people_table(people).values())) if people is not None else ()
    ending = (PEOPLE if people is not None else "") + (
        NAMES if settings["name_likelihoods"] else ""
    )
    # Without a table the races are those of the paper's words
    base = () if races else lexicon(RACE_LEXICON).groups
    for place, group_lexicon in enumerate(group_lexicons):
        if group_lexicon.attribute == RACE:
            # Races of the table that no word stands for are columns too
            more = {race: () for race in (*base, *races) if race not in group_lexicon.words_of}
            words = {**group_lexicon.words_of, **more}
            group_lexicons[place] = replace(
                group_lexicon, name=group_lexicon.name + ending, words_of=words
            )
    return group_lexicons


GROUP_WORDS = Annotator(
    **description("group_words.v2"),
    schema=pa.schema(
        [
            pa.field("words", pa.int32()),
            pa.field("sentences", pa.list_(SPAN)),
            pa.field("counts", pa.list_(pa.list_(pa.float32()))),
            pa.field("spans", pa.list_(_HIT)),
        ]
    ),
    setup=lambda settings: _counter(json.dumps(settings, sort_keys=True)),
    # Lists that ship are English, and first names are told from other words by English ones
    any_language=lambda settings: (
        not settings["name_likelihoods"] and {*lexicons()}.isdisjoint(settings["lexicons"])
    ),
)
