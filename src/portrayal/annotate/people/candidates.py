"""Runs of capitalised words in any text that may be the names of people.

Unlike the names of a story's characters, those of a news article stand among organisations, places
and headlines; what the words of a run rule out is left out here.
"""

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType

from portrayal.annotate.people.nominals import PERSON_NOUNS, TITLES
from portrayal.annotate.people.notpeople import (
    HEADS_OF_PLACES,
    LAND,
    NOT_FIRST,
    NOT_LAST,
    NOT_NAMES,
    ORGANISATIONS,
)
from portrayal.annotate.people.scan import QUOTES, Tokens
from portrayal.annotate.people.words import FUNCTION_WORDS
from portrayal.annotate.people.wordset import word_set

PARTICLES = word_set("al ap ben bin da dal de del della den der di dos du el ibn la le ter van von")
"""Small words inside a name: "Ursula von der Leyen"."""

SUFFIXES = word_set("jr sr ii iii iv phd")
"""Words behind a name that are no surname."""

OFFICES = word_set(
    """
    senator secretary governor minister president chancellor ambassador administrator director
    commissioner spokesman spokeswoman spokesperson congressman congresswoman representative
    chairman chairwoman ceo manager coach
    """
)
"""Offices that are never part of a name."""

_MOST = 5
"""Words of the longest name."""

_KNOWN = ORGANISATIONS | LAND | NOT_LAST | NOT_FIRST
_HEADS = LAND | ORGANISATIONS | NOT_LAST
_TAILS = LAND | ORGANISATIONS
_OFFICE = TITLES | PERSON_NOUNS
_POLITE = word_set("mr mrs ms miss mx dr")
_NOT_PARTS = NOT_NAMES | (FUNCTION_WORDS - {"little", "young", "long", "small", "may", "love"})


@dataclass(slots=True)
class Candidate:
    """One run of capitalised words.

    Attributes
    ----------
    start, end
        Token positions of the first word of the name, and behind the last.
    parts
        Positions of its words without titles, initials and suffixes.
    titles
        Positions of the titles before it.
    score
        What this mention says for a person (above 0) or against it.
    plural
        Whether it is a family: "the Smiths".
    opening
        Whether it opens a sentence, where any word is capitalised.
    words
        The words of `parts` in lower case.
    """

    start: int
    end: int
    parts: list[int]
    titles: list[int]
    score: float = 0.0
    plural: bool = False
    opening: bool = False
    words: list[str] = field(default_factory=list)


@lru_cache(maxsize=1)
def given_names() -> Mapping[str, int]:
    """Casefolded first names of the US Census 2020, which are known to name people → bearers.

    Nothing but that is read from the list: neither a gender nor a race.
    """
    import pyarrow.parquet as pq

    from portrayal.reference._files import data_file

    with data_file("census_2020_first_names.parquet").open("rb") as stream:
        table = pq.read_table(stream, columns=["name", "count"])
    names = (name.casefold() for name in table["name"].to_pylist())
    return MappingProxyType(dict(zip(names, table["count"].to_pylist(), strict=True)))


def bearers(word: str) -> int:
    """Bearers of a casefolded first name, with or without its accents; 0 where it is unknown."""
    names = given_names()
    if word in names:
        return names[word]
    plain = "".join(c for c in unicodedata.normalize("NFD", word) if not unicodedata.combining(c))
    return names.get(plain) or names.get(plain.partition("-")[0], 0)


def is_given(word: str) -> bool:
    """Whether the casefolded word is a known first name, with or without its accents."""
    return bearers(word) > 0


def find_candidates(text: str, tokens: Tokens, opens: frozenset[int]) -> list[Candidate]:
    """Runs of capitalised words that may name people, in order.

    `opens` holds the positions of the first tokens of sentences. A run that is ruled out by its
    own words is left out.
    """
    words, low = tokens.words, tokens.low
    lower = {word for word in words if word[0].islower()}
    found: list[Candidate] = []
    behind = 0
    for at, word in enumerate(words):
        if at < behind or not word[0].isupper() or (low[at] in _NOT_PARTS):
            continue
        run = _take(text, tokens, at)
        behind = max(run.end, at + 1)
        if not run.parts:
            continue
        run.opening = at in opens or (at > 0 and words[at - 1] in QUOTES)
        if _trim(tokens, run, lower) and not _ruled_out(text, tokens, run):
            run.words = [low[part] for part in run.parts]
            found.append(run)
    return found


def _gap(text: str, tokens: Tokens, at: int) -> str:
    """What stands between token `at` and the next one."""
    return text[tokens.starts[at] + len(tokens.words[at]) : tokens.starts[at + 1]]


def _take(text: str, tokens: Tokens, at: int) -> Candidate:
    """The run that opens at `at`."""
    words, low = tokens.words, tokens.low
    n = len(words)
    run = Candidate(at, at, [], [])
    end = at
    while end < n and words[end][0].isupper() and low[end] in TITLES:
        run.titles.append(end)
        end += 1
        if end < n and low[end] == "." and not _gap(text, tokens, end - 1):
            end += 1
    run.start = run.end = end
    while end < n:
        word = words[end]
        if end > at and not _joined(text, tokens, end):
            break
        if word[0].isupper() and low[end] not in _NOT_PARTS:
            if len(word) == 1:
                end += 2 if end + 1 < n and words[end + 1] == "." else 1
            elif low[end] in SUFFIXES and run.parts:
                end += 2 if low[end] in ("jr", "sr") and words[end + 1 : end + 2] == ["."] else 1
            elif word.isupper() and len(word) > 1 and word not in ("JJ", "DJ", "AJ", "TJ", "CJ"):
                break
            else:
                run.parts.append(end)
                end += 1
            run.end = end
        elif run.parts and low[end] in PARTICLES and word.islower():
            end += 1
        else:
            break
    return run


def _joined(text: str, tokens: Tokens, at: int) -> bool:
    """Whether only blanks, or the full stop of an initial, stand before the token at `at`."""
    return _gap(text, tokens, at - 1).strip() == ""


def _trim(tokens: Tokens, run: Candidate, lower: set[str]) -> bool:
    """Drop words that only open the sentence or describe the bearer; whether a name is left."""
    low, parts = tokens.low, run.parts
    while parts:
        word = low[parts[0]]
        describes = word in PERSON_NOUNS and (len(parts) > 1 or not is_given(word))
        opens = run.opening and not run.titles and parts[0] == run.start and word in lower
        if describes and len(parts) > 1:
            run.score = max(run.score, 0.8)
        elif not (describes or (opens and not (len(parts) > 1 and is_given(word)))):
            break
        run.start = parts.pop(0) + 1
    office = [
        at
        for at in parts[1:-1]
        if low[at] in _OFFICE and (low[at] in OFFICES or not is_given(low[parts[0]]))
    ]
    if office:
        run.titles = office[-1:]
        run.parts = [at for at in parts if at > office[-1]]
        run.start = run.parts[0]
    return bool(parts)


def _ruled_out(text: str, tokens: Tokens, run: Candidate) -> bool:
    """Whether the run's own words, or what it is joined to, name no person."""
    low = tokens.low
    named = [low[part] for part in run.parts]
    first = named[0]
    if len(named) == 1:
        if first in _KNOWN and not (run.titles and low[run.titles[-1]] in _POLITE):
            return True
        return _continues(text, tokens, run) or (
            low[run.end : run.end + 1] in (["of"], ["for"]) and not is_given(first)
        )
    if len(named) > _MOST or _names_a_body(named):
        return not (run.titles and is_given(first) and len(named) <= _MOST)
    return _continues(text, tokens, run)


def _names_a_body(named: list[str]) -> bool:
    """Whether several words name an organisation, place or event."""
    first, last = named[0], named[-1]
    if any(part in NOT_LAST for part in named[1:]) or first in NOT_FIRST:
        return True
    if first in HEADS_OF_PLACES or (first in _HEADS and not is_given(first)):
        return True
    return last in _TAILS and not is_given(last)


def _continues(text: str, tokens: Tokens, run: Candidate) -> bool:
    """Whether the run is joined to more of a name that is no person's: "Ernst & Young", "WHO"."""
    words, low, end = tokens.words, tokens.low, run.end
    if run.start and "&" in _gap(text, tokens, run.start - 1):
        return True
    if end >= len(words):
        return False
    gap = _gap(text, tokens, end - 1)
    after = words[end]
    second = words[end + 1] if end + 1 < len(words) else ""
    if "&" in gap or (after.isupper() and len(after) > 1 and not gap.strip()):
        return True
    if low[end] == "'s":
        return second[:1].isupper() and second.lower() in NOT_LAST
    return after == "(" and second.isupper() and len(second) > 1
