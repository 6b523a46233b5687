"""Runs of capitalised words in any text that may be the names of people.

Unlike the names of a story's characters, those of a news article stand among organisations, places
and headlines; what the words of a run rule out is left out here.
"""

import unicodedata
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from types import MappingProxyType

from portrayal.annotate.people.shared.capitals import Candidate, gap, leading, openings, take
from portrayal.annotate.people.shared.nominals import GENDER, KIN, PERSON_NOUNS, TITLES
from portrayal.annotate.people.shared.notnames import (
    HEADS_OF_PLACES,
    LAND,
    NOT_FIRST,
    NOT_LAST,
    ORGANISATIONS,
)
from portrayal.annotate.people.shared.scan import QUOTES, Tokens
from portrayal.annotate.people.shared.words import word_set

OFFICES = word_set(
    """
    senator secretary governor minister president chancellor ambassador administrator director
    commissioner spokesman spokeswoman spokesperson congressman congresswoman representative
    chairman chairwoman ceo manager coach
    """
)
"""Offices that are never part of a name."""

FREQUENT = 2_000
"""Bearers of a first name that is a person's wherever nothing speaks against it."""

_MOST = 5
"""Words of the longest name."""

_KNOWN = ORGANISATIONS | LAND | NOT_LAST | NOT_FIRST
_HEADS = LAND | ORGANISATIONS | NOT_LAST
_TAILS = LAND | ORGANISATIONS
_OFFICE = TITLES | PERSON_NOUNS
_POLITE = word_set(
    "mr mrs ms miss mx dr prof professor rev lord lady sir monsieur madame herr frau señor señora "
    "senor senora signor signora"
)
_BEFORE_NOUNS = word_set("the a an this that his her their my our your its")
_STORMS = word_set("hurricane typhoon cyclone storm")
_SAINTS = word_set("st ste saint")
_WHERE = word_set("in at near from of to outside around across through via for")
_BEHIND_PLACES = word_set(
    ", . ; : ) ( ! ? — – in on and but where when with for is was has had to as"
) | {"\n"}


@lru_cache(maxsize=1)
def given_names() -> Mapping[str, int]:
    """Casefolded first names of the US Census 2020, which are known to name people → bearers.

    Nothing but that is read from the list: neither a gender nor a race.
    """
    import pyarrow.parquet as pq

    from portrayal.reference.shipped import data_file

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
    own words is left out, and so is a single word that names a place or storm elsewhere.
    """
    words, low = tokens.words, tokens.low
    lower = {word for word in set(words) if word[0].islower()}
    found: list[Candidate] = []
    others: set[str] = set()
    behind = 0
    for at in openings(text, tokens):
        if at < behind:
            continue
        run = take(text, tokens, at)
        behind = max(run.end, at + 1)
        if not run.parts:
            run = _title_alone(tokens, run)
        if not run.parts:
            continue
        run.opening = at in opens or (at > 0 and words[at - 1] in QUOTES)
        if not run.bound and not _trim(tokens, run, lower):
            continue
        run.words = [low[part] for part in run.parts]
        run.initials = _initials(tokens, run)
        if _names_another_thing(tokens, run):
            others.add(run.words[-1])
        elif run.bound or not _ruled_out(text, tokens, run):
            run.told = told_gender(tokens, run)
            found += _couple(tokens, run)
    if not others:
        return found
    return [run for run in found if len(run.words) > 1 or run.titles or run.words[0] not in others]


def _initials(tokens: Tokens, run: Candidate) -> str:
    """Initials that stand for a first name: not "U.S.", nor one before a frequent first name."""
    letters = leading(tokens, run)
    return "" if len(letters) == 1 and bearers(run.words[0]) >= FREQUENT else letters


def _title_alone(tokens: Tokens, run: Candidate) -> Candidate:
    """The run with its last title as its word, as that of "Martin Luther King" may stand alone."""
    at = run.titles[-1] if run.titles else -1
    if at < 0 or (at and tokens.low[at - 1] in _BEFORE_NOUNS):
        return run
    return Candidate(at, at + 1, [at], run.titles[:-1], named=at + 1, bound=True)


def _couple(tokens: Tokens, run: Candidate) -> list[Candidate]:
    """The run, or two where it names a couple: "Mr. and Mrs. Patel"."""
    low = tokens.low
    at = run.titles[0] - 1 if run.titles else -1
    if at < 1 or low[at] != "and" or low[run.titles[0]] not in _POLITE:
        return [run]
    back = at - 2 if low[at - 1] == "." and at > 1 else at - 1
    if low[back] not in _POLITE or not tokens.words[back][0].isupper():
        return [run]
    other = replace(run, titles=[back])
    other.told = told_gender(tokens, other)
    if len(run.parts) > 1:
        last = run.parts[-1]
        run.start, run.parts, run.words, run.initials = last, [last], run.words[-1:], ""
    return [other, run]


def told_gender(tokens: Tokens, run: Candidate) -> str:
    """Gender that the titles of a run, or a noun of kinship beside it, tell, or ""."""
    low = tokens.low
    for at in run.titles:
        if low[at] in GENDER:
            return GENDER[low[at]]
    first = run.titles[0] if run.titles else run.start
    if first and low[first - 1] in KIN:
        return GENDER.get(low[first - 1], "")
    if low[run.end : run.end + 1] == [","] and low[run.end + 1 : run.end + 2]:
        at = run.end + 1 + (low[run.end + 1] in _BEFORE_NOUNS)
        if low[at : at + 1] and low[at] in KIN and low[at + 1 : at + 2] in ([","], ["."], ["of"]):
            return GENDER.get(low[at], "")
    return ""


def _names_another_thing(tokens: Tokens, run: Candidate) -> bool:
    """Whether a storm, saint or place has the name: "Hurricane Ida", "St. Louis", "Troy, Ohio"."""
    low, first = tokens.low, run.words[0]
    before = low[run.start - 1] if run.start else "."
    if len(run.words) > 1:
        return first in _STORMS or (first in _SAINTS and not run.titles)
    if before in _STORMS:
        return True
    end = run.end
    if run.titles or low[end : end + 1] != [","] or not (run.opening or before in _WHERE):
        return False
    land = low[end + 1 : end + 2]
    if not land or land[0] not in LAND or not tokens.words[end + 1][0].isupper():
        return False
    return end + 2 >= len(low) or low[end + 2] in _BEHIND_PLACES


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
        if parts and not tokens.words[run.start][0].isalpha():
            run.start, run.nickname = parts[0], ""
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
    if run.start and "&" in gap(text, tokens, run.start - 1):
        return True
    if end >= len(words):
        return False
    between = gap(text, tokens, end - 1)
    after = words[end]
    second = words[end + 1] if end + 1 < len(words) else ""
    if "&" in between or (after.isupper() and len(after) > 1 and not between.strip()):
        return True
    if low[end] == "'s":
        return second[:1].isupper() and second.lower() in NOT_LAST
    return after == "(" and second.isupper() and len(second) > 1
